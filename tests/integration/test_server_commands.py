"""TIME, LASTSAVE, LOLWUT, DEBUG and SHUTDOWN, against the oracle."""
import time

import pytest

from resp_client import encode


def test_time(both):
    both.compare("""
        TIME                         ~ shape
        TIME x
    """)
    with both.ketch.client() as client:
        seconds, micros = client.call("TIME")
        assert abs(int(seconds) + int(micros) / 1e6 - time.time()) < 2
        assert 0 <= int(micros) < 1000000


def test_lastsave(both):
    both.compare("""
        LASTSAVE                     ~ kind
        LASTSAVE x
    """)


def test_lolwut(both):
    both.compare("""
        LOLWUT                       ~ kind
        LOLWUT VERSION 5             ~ kind
        LOLWUT VERSION 6 1 2         ~ kind
        LOLWUT VERSION 99            ~ kind
        LOLWUT VERSION x
        LOLWUT 1                     ~ kind
    """)
    with both.ketch.client() as client:
        assert b"ver. " in client.call("LOLWUT")


def test_role(both):
    both.compare("""
        ROLE                         ~ shape
        ROLE x
    """)


def test_memory_subcommands(both):
    both.compare("""
        MEMORY DOCTOR                ~ kind
        MEMORY DOCTOR x
        MEMORY MALLOC-STATS          ~ kind
        MEMORY MALLOC-STATS x
        MEMORY PURGE
        MEMORY PURGE x
        MEMORY STATS                 ~ kind
        MEMORY STATS x
    """)


def test_debug(both):
    both.compare("""
        DEBUG
        DEBUG NOSUCH
        DEBUG nosuch x
        DEBUG HELP                   ~ kind
        DEBUG SLEEP 0
        DEBUG SLEEP 0.01
        debug sleep 0.001
        DEBUG SLEEP
        DEBUG SET-ACTIVE-EXPIRE 0
        DEBUG SET-ACTIVE-EXPIRE 1
        DEBUG SET-ACTIVE-EXPIRE
        DEBUG OBJECT missing
        DEBUG OBJECT
        DEBUG STRINGMATCH-LEN 10 *
    """.replace("DEBUG STRINGMATCH-LEN 10 *\n", ""))


def test_debug_object(both):
    for server in both.servers:
        with server.client() as client:
            client.call("SET", "k", "value")
            line = client.call("DEBUG", "OBJECT", "k")
            assert line.startswith(b"Value at:0x") and b" refcount:1 encoding:embstr serializedlength:" in line
            assert b" lru:" in line and b" lru_seconds_idle:" in line


def test_debug_sleep_takes_its_time(both):
    for server in both.servers:
        with server.client() as client:
            begin = time.monotonic()
            assert client.call("DEBUG", "SLEEP", "0.3") == b"OK"
            assert time.monotonic() - begin >= 0.29


def test_debug_populate(both):
    both.compare("""
        DEBUG POPULATE 10
        DBSIZE
        GET key:0
        GET key:9
        DEBUG POPULATE 5 other
        DBSIZE
        GET other:4
        DEBUG POPULATE 3 sized 20
        STRLEN sized:0
        GETRANGE sized:2 0 7
        DEBUG POPULATE
        DEBUG POPULATE x
        DEBUG POPULATE 12
        DBSIZE
    """)


@pytest.mark.parametrize("kind", "string integer double null array set map verbatim true false bignum attrib nosuch".split())
def test_debug_protocol(both, kind):
    both.same_bytes([encode(["DEBUG", "PROTOCOL", kind])], protocol=3)
    if kind != "attrib":
        both.same_bytes([encode(["DEBUG", "PROTOCOL", kind])], protocol=2)


def test_debug_digest(both):
    both.compare("""
        DEBUG DIGEST
        MSET a 1 b 2 c text
        DEBUG DIGEST
        DEBUG DIGEST-VALUE a c missing
        SELECT 3
        SET a 1
        DEBUG DIGEST
    """)


def test_debug_is_forbidden_by_default(start_both):
    both = start_both("--enable-debug-command", "no")
    both.compare("""
        DEBUG SLEEP 0
        DEBUG NOSUCH
        PING
    """)


def test_shutdown_errors(both):
    both.compare("""
        SHUTDOWN BAD
        SHUTDOWN SAVE NOSAVE
        SHUTDOWN NOSAVE SAVE
        SHUTDOWN ABORT
        SHUTDOWN ABORT NOSAVE
        SHUTDOWN NOW BAD
    """)


@pytest.mark.parametrize("how", ["SHUTDOWN", "SHUTDOWN NOSAVE", "shutdown nosave now force"])
def test_shutdown(start_server, how):
    server = start_server()
    with server.client() as client, server.client() as other:
        other.call("PING")
        client.send(encode(how.split()))
        assert client.read_to_end() == b""
        assert other.read_to_end() == b""
    assert server.wait() == 0
