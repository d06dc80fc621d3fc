"""SET, GET and the commands that read or write one whole string, against the oracle."""
import itertools

import pytest


def test_get(both):
    both.compare(r"""
        GET missing
        SET k hello
        GET k
        get k
        GeT k
        GET "bin\x00\r\n\xff"
        SET "bin\x00\r\n\xff" "\x00\x01\r\n"
        GET "bin\x00\r\n\xff"
        SET "" emptykey
        GET ""
        SET k ""
        GET k
        GET
        GET k j
    """)


def test_set(both):
    both.compare(r"""
        SET
        SET k
        SET k v
        set k v2
        SET k v NX
        GET k
        SET k v3 XX
        GET k
        SET n v XX
        EXISTS n
        SET n v NX
        SET n v2 nx
        SET n v2 xx
        GET n
        SET k v BAD
        SET k v NX XX
        SET k v XX NX
        SET k v EX
        SET k v PX
        SET k v EXAT
        SET k v PXAT
        SET k v EX abc
        SET k v EX 0
        SET k v EX -1
        SET k v PX 0
        SET k v PX -5
        SET k v EXAT 0
        SET k v EXAT -1
        SET k v PXAT 0
        SET k v PXAT -1
        SET k v EX 1.5
        SET k v EX 9223372036854775807
        SET k v EX 9223372036854775808
        SET k v EX 9223372036854776
        SET k v EX 9223372036854775
        SET k v PX 9223372036854775807
        SET k v PXAT 9223372036854775807
        PEXPIRETIME k
        SET k v EXAT 9223372036854775
        EXPIRETIME k
        SET k v EXAT 9223372036854776
        SET k v EX 10 PX 10
        SET k v PX 10 EX 10
        SET k v EX 10 EX 10
        SET k v EX 10 KEEPTTL
        SET k v KEEPTTL EX 10
        SET k v KEEPTTL KEEPTTL
        SET k v PERSIST
        SET k v EX 100
        TTL k                         ~ near 1
        SET k v2 KEEPTTL
        TTL k                         ~ near 1
        SET k v3
        TTL k
        SET k v PX 100000
        PTTL k                        ~ near 1000
        SET k v EXAT 33177117420
        EXPIRETIME k
        SET k v PXAT 33177117420123
        PEXPIRETIME k
        SET k v EXAT 1
        EXISTS k
        SET k v PXAT 1
        EXISTS k
        SET k old
        SET k new GET
        SET missing v GET
        SET k v GET XX
        SET k v2 XX GET
        SET k v NX GET
        SET fresh v NX GET
        GET fresh
        SET absent v XX GET
        EXISTS absent
        SET k v GET EX 100 NX
        SET k v GET EX 100
        TTL k                         ~ near 1
        SET k v keepttl get
        SET k v eX 100 xX
        SET k v NX EX 100 GET BAD
        SET k v EX 100 PX
        SET k v GET GET
        SET k v NX NX
        DBSIZE
    """)


WORDS = ["NX", "XX", "GET", "KEEPTTL", "EX 100", "PX 100000", "EXAT 33177117420", "PXAT 33177117420123", "PERSIST"]


def test_set_every_pair_and_triple_of_options(both):
    lines = []
    for count in (1, 2, 3):
        for combination in itertools.permutations(WORDS, count):
            if count == 3 and combination[0] > combination[1]:
                continue
            for before in ("DEL k", "SET k old EX 500"):
                lines += [before, f"SET k v {' '.join(combination)}", "GET k", "TTL k   ~ near 2"]
    both.compare("\n".join(lines), protocols=(2,))


def test_setnx(both):
    both.compare("""
        SETNX k v
        SETNX k w
        GET k
        SETNX k
        SETNX
        SETNX k v w
        SET gone v PXAT 1
        SETNX gone v
        TTL gone
    """)


@pytest.mark.parametrize("name", ["SETEX", "PSETEX"])
def test_setex_psetex(both, name):
    both.compare(f"""
        {name} k 100000 v
        GET k
        TTL k                    ~ near 1
        PTTL k                   ~ near 1500
        {name} k 0 v
        {name} k -1 v
        {name} k abc v
        {name} k 1.5 v
        {name} k 9223372036854775807 v
        {name} k 9223372036854775808 v
        {name} k 9223372036854774 v
        {name} k 10
        {name} k
        {name}
        {name} k 10 v w
        GET k
        {name} k 0 v
        GET k
    """)


def test_getset(both):
    both.compare("""
        GETSET k a
        GETSET k b
        EXPIRE k 100
        GETSET k c
        TTL k
        GETSET k
        GETSET
        GETSET k a b
    """)


def test_getdel(both):
    both.compare("""
        GETDEL k
        SET k v
        GETDEL k
        GETDEL k
        EXISTS k
        GETDEL
        GETDEL a b
    """)


def test_getex(both):
    both.compare("""
        GETEX missing
        GETEX missing EX 10
        SET k v
        GETEX k
        TTL k
        GETEX k EX 100
        TTL k                         ~ near 1
        GETEX k
        TTL k                         ~ near 1
        GETEX k PERSIST
        TTL k
        GETEX k PX 100000
        PTTL k                        ~ near 1000
        GETEX k EXAT 33177117420
        EXPIRETIME k
        GETEX k PXAT 33177117420123
        PEXPIRETIME k
        GETEX k persist
        GETEX k EX
        GETEX k EX abc
        GETEX k EX 0
        GETEX k EX -1
        GETEX k PX 0
        GETEX k EXAT 0
        GETEX k PXAT -1
        GETEX k EX 9223372036854775807
        GETEX k PX 9223372036854775807
        GETEX k PXAT 9223372036854775807
        PEXPIRETIME k
        GETEX k EX 10 PX 10
        GETEX k EX 10 PERSIST
        GETEX k PERSIST EX 10
        GETEX k PERSIST PERSIST
        GETEX k NX
        GETEX k XX
        GETEX k GET
        GETEX k KEEPTTL
        GETEX k BAD
        GETEX
        GETEX missing BAD
        GETEX missing EX abc
        GETEX missing EX 0
        GET k
        GETEX k EXAT 1
        EXISTS k
        SET k v
        GETEX k PXAT 1
        EXISTS k
    """)


def test_mget(both):
    both.compare("""
        MGET a
        SET a 1
        SET b ""
        MGET a b c a
        mget a
        MGET
        MGET c d e f g
    """)


def test_mset(both):
    both.compare("""
        MSET a 1
        MSET a 1 b 2 c 3
        MGET a b c
        MSET a 1 a 2 a 3
        GET a
        SET t v EX 100
        MSET t w
        TTL t
        MSET
        MSET a
        MSET a 1 b
        MSET a 1 b 2 c
        DBSIZE
    """)


def test_msetnx(both):
    both.compare("""
        MSETNX a 1 b 2
        MSETNX b 3 c 4
        EXISTS c
        MGET a b
        MSETNX c 1 c 2
        GET c
        MSETNX
        MSETNX a
        MSETNX a 1 b
        MSETNX x 1 y
        SET old v PXAT 1
        MSETNX old 1 new 2
        MGET old new
    """)


def test_strlen(both):
    both.compare(r"""
        STRLEN missing
        SET k hello
        STRLEN k
        SET k ""
        STRLEN k
        SET k 12345
        STRLEN k
        SET k -12345
        STRLEN k
        SET k "a\x00b"
        STRLEN k
        STRLEN
        STRLEN a b
    """)


def test_append(both):
    both.compare(r"""
        APPEND k hello
        APPEND k " world"
        GET k
        APPEND k ""
        APPEND new ""
        EXISTS new
        GET new
        SET n 10
        APPEND n 5
        GET n
        INCR n
        OBJECT ENCODING n
        APPEND n x
        OBJECT ENCODING n
        INCR n
        EXPIRE k 100
        APPEND k !
        TTL k                         ~ near 1
        APPEND
        APPEND k
        APPEND k a b
    """)


def test_append_grows_step_by_step(both):
    lines = []
    for size in (1, 7, 30, 44, 45, 100, 1000, 5000):
        lines += [f"APPEND grow {'x' * size}", "STRLEN grow", "GET grow"]
    both.compare("\n".join(lines))


def test_big_values_come_back_whole(both):
    for size in (43, 44, 45, 63, 64, 511, 512, 513, 4095, 4096, 16383, 16384, 65536, 1 << 20):
        value = bytes(range(256)) * (size // 256 + 1)
        value = value[:size]
        for protocol in (2, 3):
            for server in both.servers:
                with server.client(protocol) as client:
                    assert client.call("SET", b"big", value) == b"OK"
                    assert client.call("GET", b"big") == value
                    assert client.call("STRLEN", b"big") == size
                    assert client.call("GETRANGE", b"big", size - 10, size - 1) == value[-10:]
                    assert client.call("MGET", b"big", b"none", b"big") == [value, None, value]
                    assert client.call("GETDEL", b"big") == value
