"""What was sent is what the server counted and what the report says."""

import re

import pytest

from bench_process import bench_run


def test_sets_and_gets_follow_the_ratio(server, bench):
    run = bench(server, "-t", 2, "-c", 5, "-n", 200, "--ratio=1:10")
    calls = server.calls()
    assert run.stats["Sets"]["Count"] == calls["set"] == 10 * 19
    assert run.stats["Gets"]["Count"] == calls["get"] == 10 * 181
    assert run.stats["Totals"]["Count"] == 2000
    assert run.stats["Waits"]["Count"] == 0


@pytest.mark.parametrize("pipeline", [1, 2, 7, 150])
def test_pipelines_send_each_request_once(server, bench, pipeline):
    run = bench(server, "-t", 2, "-c", 3, "-n", 1003, "--pipeline", pipeline, "--ratio=3:2", "--key-maximum=50")
    calls = server.calls()
    assert run.stats["Sets"]["Count"] == calls["set"]
    assert run.stats["Gets"]["Count"] == calls["get"]
    assert calls["set"] + calls["get"] == 6 * 1003


@pytest.mark.parametrize("ratio,command", [("1:0", "set"), ("0:1", "get")])
def test_a_ratio_may_leave_one_side_out(server, bench, ratio, command):
    bench(server, "-t", 1, "-c", 2, "-n", 50, "--ratio", ratio)
    calls = server.calls()
    assert calls[command] == 100
    assert ("get" if command == "set" else "set") not in calls


def test_hits_and_misses_count_nulls(server, bench):
    client = server.client()
    client.mset({f"k{i}": "" if i % 2 else "x" for i in range(50)})
    run = bench(server, "-t", 1, "-c", 1, "-n", 100, "--ratio=0:1", "--key-prefix=k", "--key-pattern=S:S",
                "--key-maximum=99")
    row, seconds = run.stats["Gets"], run.stats["Runtime"]["Total duration"]
    # An empty value is a hit.
    assert row["Hits/sec"] == pytest.approx(row["Misses/sec"])
    assert row["Hits/sec"] + row["Misses/sec"] == pytest.approx(row["Ops/sec"], rel=0.01)
    assert seconds >= 0


@pytest.mark.parametrize("protocol", ["redis", "resp2", "resp3"])
def test_protocols(server, bench, protocol):
    run = bench(server, "-t", 1, "-c", 2, "-n", 100, "-P", protocol)
    calls = server.calls()
    assert calls.get("hello", 0) == (0 if protocol == "redis" else 2)
    assert calls["set"] + calls["get"] == 200
    assert run.stats["Gets"]["Misses/sec"] > 0


def test_allkeys_with_parts_covers_every_key_once(server, bench):
    run = bench(server, "-t", 3, "-c", 7, "-n", "allkeys", "--key-pattern=P:P", "--ratio=1:0", "--key-minimum=1",
                "--key-maximum=1000", "--pipeline=4")
    assert server.client().dbsize() == 1000
    assert server.calls()["set"] == 1000
    assert run.stats["Sets"]["Count"] == 1000
    assert "setting requests to 48\n" in run.stdout
    assert {int(key[8:]) for key in server.client().keys()} == set(range(1, 1001))


def test_more_clients_than_keys_stay_inside_the_keys(server, bench):
    bench(server, "-t", 2, "-c", 10, "-n", 10, "--key-pattern=P:P", "--ratio=1:0", "--key-minimum=1",
          "--key-maximum=5")
    assert {int(key[8:]) for key in server.client().keys()} == {1, 2, 3, 4, 5}
    assert server.calls()["set"] == 200


def test_allkeys_one_after_another_covers_the_maximum(server, bench):
    bench(server, "-t", 1, "-c", 1, "-n", "allkeys", "--key-pattern=S:S", "--ratio=1:0", "--key-minimum=1",
          "--key-maximum=300")
    assert server.client().dbsize() == 300


def test_a_second_run_stays_in_its_part(server, bench):
    bench(server, "-t", 1, "-c", 4, "-n", "allkeys", "--key-pattern=P:P", "--ratio=1:0", "--key-minimum=1",
          "--key-maximum=40", "-x", 2)
    assert {int(key[8:]) for key in server.client().keys()} == set(range(1, 41))


def test_clients_share_a_seed_unless_told_otherwise(server, bench):
    run = bench(server, "-t", 2, "-c", 5, "-n", 100, "--ratio=1:0")
    assert server.client().dbsize() == 100
    assert "--distinct-client-seed" in run.stderr
    server.client().flushall()
    run = bench(server, "-t", 2, "-c", 5, "-n", 100, "--ratio=1:0", "--distinct-client-seed")
    assert server.client().dbsize() > 990
    assert "--distinct-client-seed" not in run.stderr


def test_randomize_changes_the_keys(server, bench):
    keys = []
    for options in ([], [], ["--randomize"]):
        server.client().flushall()
        bench(server, "-t", 1, "-c", 1, "-n", 50, "--ratio=1:0", *options)
        keys.append(set(server.client().keys()))
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("size", [1, 32, 4095, 4096, 100_000, 3_000_000])
@pytest.mark.parametrize("random", [False, True])
def test_values_have_the_size_asked_for(server, bench, size, random):
    run = bench(server, "-t", 1, "-c", 2, "-n", 20, "--ratio=1:1", "-d", size, "--pipeline=5", "--key-maximum=3",
                *(["-R"] if random else []))
    assert run.stats["Sets"]["Count"] == run.stats["Gets"]["Count"] == 20
    values = [server.client().get(key) for key in server.client().keys()]
    assert all(len(value) == size for value in values)
    if random and size > 100:
        assert all(len(set(value)) > 30 for value in values)
    elif not random:
        assert all(value == b"x" * size for value in values)


def test_expiry(server, bench):
    bench(server, "-t", 1, "-c", 1, "-n", 60, "--ratio=1:0", "--key-pattern=S:S", "--expiry-range=1000-1010")
    client = server.client()
    assert all(1000 - 20 < client.ttl(key) <= 1010 for key in client.keys())
    assert server.calls()["setex"] == 60
    client.flushall()
    bench(server, "-t", 1, "-c", 1, "-n", 60, "--ratio=1:0", "--key-pattern=S:S", "--expiry-range=0-1")
    calls = server.calls()
    assert calls["set"] > 10 and calls["setex"] > 60 + 10


def test_select_and_prefix(server, bench):
    bench(server, "-t", 1, "-c", 1, "-n", 10, "--ratio=1:0", "--key-pattern=S:S", "--select-db=3", '--key-prefix={a"}')
    assert server.client().dbsize() == 0
    assert b'{a"}0' in server.client(3).keys()


def test_reconnects_after_so_many_requests(server, bench):
    before = server.client().info("stats")["total_connections_received"]
    # 50 divides 200: the last reconnect must not begin a connection with nothing to send.
    run = bench(server, "-t", 1, "-c", 2, "-n", 200, "--reconnect-interval=50", "--pipeline=3")
    assert run.stats["Totals"]["Count"] == 400
    connections = server.client().info("stats")["total_connections_received"] - before
    assert 8 <= connections <= 8 + 8


@pytest.mark.parametrize("rate", [10, 75, 333])
def test_rate_limiting_is_exact(server, bench, rate):
    run = bench(server, "-t", 1, "-c", 4, "--test-time=2", "--rate-limiting", rate)
    expected = 4 * rate * 2
    # Never more; less only as far as a busy machine lets turns pass.
    assert expected * 0.85 - 4 <= run.stats["Totals"]["Count"] <= expected + 4


def test_rate_limited_runs_by_count_end(server, bench):
    run = bench(server, "-t", 1, "-c", 3, "-n", 31, "--rate-limiting=30", "--reconnect-interval=10")
    assert run.stats["Totals"]["Count"] == 93
    assert 900 < run.stats["Runtime"]["Total duration"] < 2500


def test_unix_socket_and_io(server, tmp_path):
    for io in ("uring", "epoll", "auto"):
        run = bench_run("-S", server.unix, "-t", 2, "-c", 20, "-n", 50, "--io", io, json_path=tmp_path / "u.json",
                        check=None if io == "uring" else 0)
        if run.status == 1 and run.json is None:
            assert io == "uring" and "cannot run" in run.stderr  # forbidden in many containers
            continue
        assert run.stats["Totals"]["Count"] == 2000
        assert run.stats["Load generator"]["I/O"] == {"uring": "io_uring", "epoll": "epoll"}.get(
            io, run.stats["Load generator"]["I/O"])
    assert run.json["configuration"]["unix socket"] == server.unix


def test_many_unix_connections_wait_for_the_backlog(server, tmp_path):
    run = bench_run("-S", server.unix, "-t", 2, "-c", 600, "-n", 2, json_path=tmp_path / "u.json")
    assert run.stats["Totals"]["Count"] == 2400


def test_a_thousand_connections(server, bench):
    run = bench(server, "-t", 2, "-c", 500, "-n", 10)
    assert run.stats["Totals"]["Count"] == 10_000
    assert run.stats["Load generator"]["Connections"] == 1000


def test_localhost_falls_back_to_the_address_that_listens(server, tmp_path):
    run = bench_run("-h", "localhost", "-p", server.port, "-t", 1, "-c", 4, "-n", 5, json_path=tmp_path / "l.json")
    assert run.stats["Totals"]["Count"] == 20
    assert re.search(r"Writing results to stdout", run.stderr)
