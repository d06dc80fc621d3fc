"""The generic family for strings: deleting, naming, copying, looking, against the oracle."""
import pytest


@pytest.mark.parametrize("name", ["DEL", "UNLINK"])
def test_del_unlink(both, name):
    both.compare(f"""
        {name}
        {name} missing
        MSET a 1 b 2 c 3
        {name} a
        {name} a b c d
        {name} a a
        SET a 1
        {name} a a a
        SET gone v PXAT 1
        {name} gone
        DBSIZE
    """)


def test_exists(both):
    both.compare("""
        EXISTS
        EXISTS a
        MSET a 1 b 2
        EXISTS a
        EXISTS a b c
        EXISTS a a a
        SET gone v PXAT 1
        EXISTS gone a
    """)


def test_touch(both):
    both.compare("""
        TOUCH
        TOUCH a
        MSET a 1 b 2
        TOUCH a b c a
        OBJECT IDLETIME a
    """)


def test_type(both):
    both.compare("""
        TYPE
        TYPE a
        SET a 1
        TYPE a
        SET a text
        TYPE a
        TYPE a b
        SET gone v PXAT 1
        TYPE gone
    """)


def test_rename(both):
    both.compare("""
        RENAME
        RENAME a
        RENAME a b c
        RENAME missing b
        RENAME missing missing
        SET a 1
        RENAME a a
        GET a
        RENAME a b
        GET b
        EXISTS a
        SET a 2 EX 100
        RENAME a b
        GET b
        TTL b                      ~ near 1
        SET c 3
        RENAME c b
        TTL b
        GET b
        DBSIZE
        SET gone v PXAT 1
        RENAME gone x
    """)


def test_renamenx(both):
    both.compare("""
        RENAMENX
        RENAMENX a
        RENAMENX a b c
        RENAMENX missing b
        SET a 1
        RENAMENX a a
        SET b 2
        RENAMENX a b
        RENAMENX a c
        GET c
        EXISTS a
        EXPIRE c 100
        RENAMENX c d
        TTL d                      ~ near 1
        RENAMENX missing missing
    """)


def test_copy(both):
    both.compare("""
        COPY
        COPY a
        COPY missing b
        SET a 1
        COPY a a
        COPY a a REPLACE
        COPY a a DB 0
        COPY a b
        GET b
        SET a 2
        COPY a b
        GET b
        COPY a b REPLACE
        GET b
        COPY a b replace REPLACE
        COPY a b DB
        COPY a b DB x
        COPY a b DB -1
        COPY a b DB 16
        COPY a b DB 9223372036854775808
        COPY a b BAD
        COPY a b DB 1
        COPY a b DB 1
        COPY a b DB 1 REPLACE
        COPY a b REPLACE DB 2
        COPY a a DB 3
        COPY a b DB 1 DB 4
        SELECT 1
        GET b
        SELECT 3
        GET a
        SELECT 4
        GET b
        SELECT 0
        EXPIRE a 100
        COPY a t
        TTL t                      ~ near 1
        COPY a t DB 5 REPLACE
        SELECT 5
        TTL t                      ~ near 1
        SELECT 0
        SET plain x
        COPY plain t REPLACE
        TTL t
    """)


def test_move(both):
    both.compare("""
        MOVE
        MOVE a
        MOVE a 1 2
        MOVE missing 1
        SET a 1
        MOVE a 0
        MOVE missing 0
        MOVE a x
        MOVE a -1
        MOVE a 16
        MOVE a 1.5
        MOVE a 1
        EXISTS a
        SELECT 1
        GET a
        SELECT 0
        SET a 2
        MOVE a 1
        GET a
        SET t v EX 100
        MOVE t 1
        SELECT 1
        TTL t                      ~ near 1
        MOVE t 0
        SELECT 0
        TTL t                      ~ near 1
        MOVE a 9223372036854775808
    """)


def test_select(both):
    both.compare("""
        SELECT
        SELECT 0
        SELECT 15
        SET a 1
        SELECT 16
        SELECT -1
        SELECT x
        SELECT 1.5
        SELECT 9223372036854775808
        SELECT 99999999999
        SELECT "0 "
        SELECT 0 1
        GET a
        SELECT 00
        EXISTS a
        @b EXISTS a
        @b SELECT 15
        @b GET a
    """)


def test_swapdb(both):
    both.compare("""
        SWAPDB
        SWAPDB 0
        SWAPDB 0 1 2
        SWAPDB x 1
        SWAPDB 0 y
        SWAPDB -1 0
        SWAPDB 0 16
        SWAPDB 0 99999999999999999999
        SWAPDB 0 0
        SET a zero
        SELECT 1
        SET a one EX 100
        SET b one
        @b GET a
        SWAPDB 0 1
        GET a
        TTL a
        DBSIZE
        @b GET a
        @b TTL a                   ~ near 1
        @b DBSIZE
        SWAPDB 1 0
        GET a
        @b GET a
        SWAPDB 3 4
    """)


@pytest.mark.parametrize("name", ["FLUSHDB", "FLUSHALL"])
def test_flushdb_flushall(both, name):
    both.compare(f"""
        SET a 1
        SELECT 1
        SET b 1
        {name} BAD
        {name} ASYNC SYNC
        {name} SYNC ASYNC
        {name} ASYNC x
        DBSIZE
        {name}
        DBSIZE
        SELECT 0
        DBSIZE
        SET a 1
        {name} ASYNC
        DBSIZE
        SET a 1
        {name} sync
        DBSIZE
        {name} async
        GET a
    """)


def test_dbsize(both):
    both.compare("""
        DBSIZE
        MSET a 1 b 2
        DBSIZE
        DEL a
        DBSIZE
        SELECT 3
        DBSIZE
        DBSIZE x
    """)


def test_randomkey(both):
    both.compare("""
        RANDOMKEY
        SET only 1
        RANDOMKEY
        RANDOMKEY x
        SET gone v PXAT 1
        RANDOMKEY
        SELECT 7
        RANDOMKEY
    """)


def test_randomkey_reaches_every_key(both):
    for server in both.servers:
        with server.client() as client:
            keys = {b"key:%d" % number for number in range(20)}
            client.pipeline([["SET", key, 1] for key in keys])
            seen = set(client.pipeline([["RANDOMKEY"]] * 2000))
            assert seen == keys


PATTERNS = ["*", "", "a", "a*", "*a", "*a*", "?", "??", "a?c", "a[bc]d", "a[b-d]*", "a[^b]*", "[a-c]*", "[c-a]*", "[^a]*", "[]", "[]a",
            "[a", "[a-", "[^", "a\\\\*", "a\\*", "\\\\a", "\\a", "*?*", "***a***", "a**c", "h?llo", "h*llo", "h[ae]llo", "h[^e]llo", "h[a-b]llo",
            "\\[x\\]", "[\\]]", "[\\-a]", "*\\", "a\\", "?*", "*?", "key:1*", "key:?5", "*:*", "\\x00*", "\\xff*", "[\\x00-\\x10]*",
            "A*", "[A-Z]*", "key:[0-9][0-9]", "key:[^0-9]*", "a*b*c*d*e*f*g*h", "[[]*", "[a-z-9]*", "[--0]*"]
NAMES = ["a", "b", "ab", "abc", "abcd", "abd", "acd", "aXc", "hello", "hallo", "hbllo", "hllo", "heeeello", "A", "Abc", "a*", "a*c", "\\\\a",
         "[x]", "]", "-", "", "\\x00", "\\x00a", "\\xff\\xfe", "a\\nb", "key:", "key:x", "a-b", "a9", "?"]


def test_keys(both):
    lines = [f'SET "{name}" 1' for name in NAMES] + [f"SET key:{number} 1" for number in range(30)]
    lines += [f'KEYS "{pattern}"   ~ sorted' for pattern in PATTERNS]
    # The empty name goes first: redis-server's answer to whether "**" matches it is an accident.
    lines += ['DEL ""', 'KEYS "**"   ~ sorted', 'KEYS "***"   ~ sorted']
    lines += ["KEYS", "KEYS a b", "SET gone v PXAT 1", "KEYS gone", "KEYS g*", "SELECT 1", "KEYS *"]
    both.compare("\n".join(lines))


def test_keys_returns_everything_of_a_big_database(both):
    for server in both.servers:
        with server.client() as client:
            client.pipeline([["MSET", *[word for number in range(start, start + 500) for word in (f"k:{number}", "x")]]
                             for start in range(0, 50000, 500)])
            assert client.call("DBSIZE") == 50000
            assert len(set(client.call("KEYS", "*"))) == 50000
            assert len(client.call("KEYS", "k:4999*")) == 11


def test_keys_globs_with_many_stars_end_soon(both):
    both.compare(f"""
        SET {'a' * 60} 1
        KEYS {'a*' * 12}b
        KEYS {'*a' * 12}
    """)


def test_object_encoding(both):
    lines = ["OBJECT ENCODING missing"]
    for value in ["1", "0", "-1", "10000", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "01", "+1", "-0",
                  "1.0", "", " 1", "abc", "x" * 43, "x" * 44, "x" * 45, "1" * 19, "1" * 20, "1" * 21]:
        lines += [f'SET k "{value}"', "OBJECT ENCODING k", f'SETNX nx "{value}"', "OBJECT ENCODING nx", "DEL nx",
                  f'GETSET k "{value}"', "OBJECT ENCODING k", f'MSET m "{value}"', "OBJECT ENCODING m", "COPY k c REPLACE",
                  "OBJECT ENCODING c"]
    lines += ["SET k abc", "APPEND k d", "OBJECT ENCODING k", "SETRANGE k 0 x", "OBJECT ENCODING k", "SET k 5", "INCRBYFLOAT k 1",
              "OBJECT ENCODING k", "SETRANGE fresh 0 abc", "OBJECT ENCODING fresh", "APPEND fresh2 12",
              "OBJECT ENCODING fresh2", "RENAME k r", "OBJECT ENCODING r", "OBJECT ENCODING", "OBJECT ENCODING a b"]
    both.compare("\n".join(lines))


def test_object_subcommands(both):
    both.compare("""
        OBJECT
        OBJECT HELP                  ~ kind
        OBJECT help                  ~ kind
        OBJECT HELP x
        OBJECT BAD
        OBJECT BAD k
        OBJECT REFCOUNT missing
        OBJECT IDLETIME missing
        OBJECT FREQ missing
        SET k value
        OBJECT REFCOUNT k
        OBJECT IDLETIME k
        OBJECT FREQ k
        OBJECT REFCOUNT
        OBJECT REFCOUNT a b
        OBJECT IDLETIME
        OBJECT FREQ
        OBJECT freq k
    """)


def test_object_freq_and_idletime_without_an_lfu_policy(start_both):
    both = start_both("--maxmemory-policy", "allkeys-lru")
    both.compare("""
        SET k v
        OBJECT FREQ missing
        OBJECT IDLETIME missing
        OBJECT IDLETIME k
        OBJECT FREQ k
        CONFIG SET maxmemory-policy noeviction
        OBJECT IDLETIME k
        OBJECT FREQ k
    """)


def test_object_idletime_counts_seconds(both):
    both.compare("""
        SET k v
        .sleep 1.2
        OBJECT IDLETIME k            ~ near 1
        GET k
        OBJECT IDLETIME k            ~ near 1
    """, protocols=(2,))


def test_memory_usage(both):
    both.compare("""
        MEMORY USAGE missing
        SET k v
        MEMORY USAGE k               ~ kind
        MEMORY USAGE k SAMPLES 5     ~ kind
        MEMORY USAGE k SAMPLES 0     ~ kind
        MEMORY USAGE k SAMPLES -1
        MEMORY USAGE k SAMPLES x
        MEMORY USAGE k SAMPLES
        MEMORY USAGE k BAD 5
        MEMORY USAGE
        MEMORY
        MEMORY BAD
        MEMORY HELP                  ~ kind
    """)


def test_memory_usage_grows_with_the_value(ketch):
    with ketch.client() as client:
        client.call("SET", "small", "x" * 10)
        client.call("SET", "big", "x" * 100000)
        small, big = client.call("MEMORY", "USAGE", "small"), client.call("MEMORY", "USAGE", "big")
        assert 20 <= small < 200
        assert 100000 <= big < 150000
