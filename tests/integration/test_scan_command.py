"""SCAN: its syntax, and its guarantee that every key present throughout is returned."""
import random
import threading

import pytest


def scan_all(client, *options):
    """All keys a full iteration returns, and the number of calls."""
    cursor, keys, calls = b"0", [], 0
    while True:
        cursor, some = client.call("SCAN", cursor, *options)
        keys += some
        calls += 1
        assert calls < 1000000, "the iteration does not end"
        if cursor == b"0":
            return keys, calls


def test_scan(both):
    both.compare("""
        SCAN
        SCAN 0
        SCAN abc
        SCAN -1                              ~ kind
        SCAN 1.5
        SCAN ""
        SCAN " 0"
        SCAN 18446744073709551616
        SCAN 99999999999999999999999
        SCAN 0 MATCH
        SCAN 0 COUNT
        SCAN 0 TYPE
        SCAN 0 COUNT 0
        SCAN 0 COUNT -1
        SCAN 0 COUNT abc
        SCAN 0 COUNT 9223372036854775808
        SCAN 0 BAD
        SCAN 0 BAD x
        SCAN 0 MATCH a COUNT
        SCAN 0 TYPE nosuchtype
        SCAN 0 NOVALUES
        MSET key:1 a key:2 b other c
        SCAN 0                               ~ scan
        SCAN 0 COUNT 100                     ~ scan
        SCAN 0 COUNT 9223372036854775807     ~ scan
        SCAN 0 COUNT 10 COUNT 100            ~ scan
        SCAN 0 MATCH key:* COUNT 100         ~ scan
        SCAN 0 MATCH key:1 COUNT 100         ~ scan
        SCAN 0 MATCH nothing COUNT 100       ~ scan
        SCAN 0 MATCH x MATCH * COUNT 100     ~ scan
        SCAN 0 MATCH "" COUNT 100            ~ scan
        SCAN 0 TYPE string COUNT 100         ~ scan
        SCAN 0 TYPE STRING COUNT 100         ~ scan
        SCAN 0 TYPE list COUNT 100           ~ scan
        SCAN 0 TYPE list MATCH key* COUNT 100 ~ scan
        SET gone v PXAT 1
        SCAN 0 COUNT 100                     ~ scan
        SELECT 2
        SCAN 0
    """)


@pytest.mark.parametrize("options", [(), ("COUNT", 1), ("COUNT", 3), ("COUNT", 1000), ("COUNT", 10000000), ("TYPE", "string"),
                                     ("MATCH", "*"), ("MATCH", "key:*", "COUNT", 50, "TYPE", "string")])
@pytest.mark.parametrize("size", [0, 1, 2, 10, 100, 3000])
def test_scan_returns_all_keys_of_a_quiet_database_once(ketch, options, size):
    with ketch.client() as client:
        wanted = {b"key:%d" % number for number in range(size)}
        client.pipeline([["SET", key, "v"] for key in wanted])
        keys, _ = scan_all(client, *options)
        assert set(keys) == wanted
        if "redis-server" not in ketch.binary:
            assert len(keys) <= 2 * size + 10


def test_scan_count_bounds_the_work_of_a_call(ketch):
    with ketch.client() as client:
        client.call("DEBUG", "POPULATE", 20000)
        _, calls = scan_all(client, "COUNT", 100)
        assert 20 <= calls <= 40000
        cursor, some = client.call("SCAN", 0, "COUNT", 10)
        assert cursor != b"0" and len(some) < 1000


def test_scan_match_finds_exactly_the_matching(ketch):
    with ketch.client() as client:
        client.call("DEBUG", "POPULATE", 5000)
        keys, _ = scan_all(client, "MATCH", "key:12?", "COUNT", 100)
        assert sorted(set(keys)) == [b"key:%d" % number for number in range(120, 130)]


def interleaved(client, writes, *options):
    cursor, keys = b"0", set()
    while True:
        cursor, some = client.call("SCAN", cursor, *options)
        keys.update(some)
        if cursor == b"0":
            return keys
        commands = next(writes, None)
        if commands:
            client.pipeline(commands)


STABLE = [b"stable:%d" % number for number in range(1000)]


@pytest.mark.parametrize("count", [1, 10, 100, 1000])
def test_scan_while_the_table_grows(ketch, count):
    with ketch.client() as client:
        client.pipeline([["SET", key, "v"] for key in STABLE])
        step = max(20, count * 5)
        writes = ([["SET", f"grow:{start + at}", "v"] for at in range(step)] for start in range(0, 60000, step))
        keys = interleaved(client, writes, "COUNT", count)
        assert set(STABLE) <= keys, f"{len(set(STABLE) - keys)} keys were not returned"


@pytest.mark.parametrize("count", [1, 10, 100, 1000])
def test_scan_while_the_table_shrinks(ketch, count):
    with ketch.client() as client:
        client.pipeline([["SET", key, "v"] for key in STABLE])
        client.pipeline([["SET", f"shrink:{number}", "v"] for number in range(40000)])
        step = max(40, count * 10)
        writes = ([["DEL", f"shrink:{start + at}"] for at in range(step)] for start in range(0, 40000, step))
        keys = interleaved(client, writes, "COUNT", count)
        assert set(STABLE) <= keys, f"{len(set(STABLE) - keys)} keys were not returned"


def test_scan_while_keys_are_overwritten_grow_and_expire(ketch):
    source = random.Random(4)
    with ketch.client() as client:
        client.pipeline([["SET", key, "v"] for key in STABLE])

        def writes():
            while True:
                yield ([["SET", source.choice(STABLE), b"x" * source.choice([1, 100, 3000])] for _ in range(20)] +
                       [["APPEND", source.choice(STABLE), b"y" * 50] for _ in range(20)] +
                       [["SET", f"brief:{source.randrange(100000)}", "v", "PX", source.choice([1, 5, 20])] for _ in range(20)] +
                       [["EXPIRE", source.choice(STABLE), 1000], ["PERSIST", source.choice(STABLE)]])
        keys = interleaved(client, writes(), "COUNT", 10)
        assert set(STABLE) <= keys


def test_scan_against_writers_on_other_connections(ketch):
    stop = threading.Event()
    failures = []

    def write(number):
        try:
            with ketch.client() as client:
                source = random.Random(number)
                while not stop.is_set():
                    low = source.randrange(50000)
                    client.pipeline([["SET", f"w{number}:{low + at}", "v"] for at in range(200)])
                    client.pipeline([["DEL", f"w{number}:{low + at}"] for at in range(0, 200, source.choice([1, 3]))])
        except Exception as error:  # a thread's failure must reach the test
            failures.append(error)

    with ketch.client() as client:
        client.pipeline([["SET", key, "v"] for key in STABLE])
        threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        try:
            for count in (100, 1000):
                keys, _ = scan_all(client, "COUNT", count)
                assert set(STABLE) <= set(keys), f"COUNT {count}: {len(set(STABLE) - set(keys))} keys were not returned"
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    assert not failures


def test_scan_cursors_that_were_never_given_do_no_harm(ketch):
    source = random.Random(6)
    with ketch.client() as client:
        client.call("DEBUG", "POPULATE", 1000)
        for _ in range(500):
            cursor = source.choice([source.randrange(1 << 64), source.randrange(1 << 20), (1 << 64) - 1, 1 << 63])
            reply = client.call("SCAN", cursor, "COUNT", source.choice([1, 10, 1000]))
            assert len(reply) == 2 and reply[0].isdigit()
