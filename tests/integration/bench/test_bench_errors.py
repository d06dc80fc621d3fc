"""What goes wrong is counted by class, shown, and told by the exit status; nothing hangs and nothing is run again."""

import json
import signal
import socket
import threading
import time

import pytest

from bench_process import PASSWORD, bench_run, bench_start, free_port


def test_nobody_listens(tmp_path):
    run = bench_run("-h", "127.0.0.1", "-p", free_port(), "-t", 2, "-c", 3, "-n", 10, json_path=tmp_path / "r.json",
                    check=1)
    errors = run.stats["Errors"]
    assert errors["Connections"] == {"connection refused": 6}
    assert errors["Not sent"] == 60
    assert run.stats["Totals"]["Connection Errors"] == 6
    assert run.stats["Totals"]["Count"] == 0
    assert "connection refused" in run.stdout


def test_no_such_socket(tmp_path):
    run = bench_run("-S", tmp_path / "none", "-t", 1, "-c", 2, "-n", 1, json_path=tmp_path / "r.json", check=1)
    assert run.stats["Errors"]["Connections"] == {"server unreachable": 2}


def test_unknown_host(tmp_path):
    run = bench_run("-h", "no.such.host.invalid", "-n", 1, check=1)
    assert "cannot resolve no.such.host.invalid" in run.stderr


def test_wrong_password(locked_server, bench):
    run = bench(locked_server, "-t", 1, "-c", 3, "-n", 10, "-a", "wrong", check=1)
    assert run.stats["Errors"]["Replies"] == {"WRONGPASS": 3}
    assert run.stats["Errors"]["Connections"] == {"connection rejected by server": 3}
    assert run.stats["Totals"]["Count"] == 0


def test_no_password(locked_server, bench):
    run = bench(locked_server, "-t", 1, "-c", 2, "-n", 10, check=1)
    assert run.stats["Errors"]["Replies"] == {"NOAUTH": 20}
    assert run.stats["Totals"]["Error Replies"] == run.stats["Totals"]["Count"] == 20
    # Neither a hit nor a miss.
    assert run.stats["Gets"]["Hits/sec"] == run.stats["Gets"]["Misses/sec"] == 0
    assert len(run.stderr.splitlines()) < 30


@pytest.mark.parametrize("credentials", [":" + PASSWORD, "default:" + PASSWORD])
def test_right_password(locked_server, bench, credentials):
    run = bench(locked_server, "-t", 1, "-c", 2, "-n", 10, "-a", credentials, "--show-config")
    assert run.stats["Totals"]["Count"] == 20
    for text in (run.stdout, run.stderr, run.json_text):
        assert PASSWORD not in text
    assert run.json["configuration"]["authenticate"] == ("***" if credentials[0] == ":" else "default:***")


def test_uri_has_everything(locked_server, tmp_path):
    quoted = PASSWORD.replace(":", "%3A")
    uri = f"redis://default:{quoted}@127.0.0.1:{locked_server.port}/5"
    run = bench_run("-u", uri, "-t", 1, "-c", 1, "-n", 11, json_path=tmp_path / "r.json")
    assert locked_server.client(5).dbsize() == 1
    assert PASSWORD not in run.json_text and quoted not in run.json_text
    assert run.json["configuration"]["uri"].startswith("redis://default:***@127.0.0.1")


def test_too_many_clients(server, bench):
    server.client().config_set("maxclients", 10)
    run = bench(server, "-t", 1, "-c", 20, "--test-time=1", check=1)
    assert run.stats["Errors"]["Replies"].get("ERR", 0) + run.stats["Errors"]["Connections"].get(
        "connection reset", 0) >= 10
    assert run.stats["Totals"]["Count"] > 0


def test_the_server_dies(server, tmp_path):
    process = bench_start("-h", "127.0.0.1", "-p", server.port, "-t", 2, "-c", 4, "-n", 10_000_000,
                          f"--json-out-file={tmp_path / 'r.json'}")
    time.sleep(0.7)
    server.kill()
    out, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "connection reset" in out or "connection closed" in out
    assert "requests that could not be sent" in out
    assert err.count("Launching threads") == 1


def test_a_hung_server_does_not_hang_a_timed_run(server, bench):
    stopper = threading.Timer(0.5, server.suspend)
    stopper.start()
    # The server hangs until the run is over: that it ends at all is the point.
    run = bench(server, "-t", 2, "-c", 3, "--pipeline=4", "--test-time=2", check=1)
    server.resume()
    errors = run.stats["Errors"]
    assert errors["Unanswered"] == 24
    assert run.stats["Runtime"]["Total duration"] >= 2000
    series = run.stats["Totals"]["Time-Serie"]
    assert list(series) == ["0", "1"]
    assert series["1"]["Count"] == 0 and series["0"]["Count"] > 0


def test_a_stall_shows_as_one_long_request_per_connection(server, bench):
    def stall():
        server.suspend()
        time.sleep(1.2)
        server.resume()

    threading.Timer(0.5, stall).start()
    run = bench(server, "-t", 1, "-c", 2, "--test-time=3")
    totals = run.stats["Totals"]
    assert totals["Max Latency"] > 1000
    assert list(totals["Time-Serie"]) == ["0", "1", "2"]
    assert sum(second["Count"] for second in totals["Time-Serie"].values()) == totals["Count"]


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_with_results(server, tmp_path, signal_number):
    process = bench_start("-h", "127.0.0.1", "-p", server.port, "-t", 2, "-c", 4, "-n", 100_000_000,
                          f"--json-out-file={tmp_path / 'r.json'}")
    time.sleep(1.3)
    process.send_signal(signal_number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert "[RUN #1] Interrupted by user (Ctrl+C) after 1." in err
    assert "ALL STATS" in out
    stats = json.loads((tmp_path / "r.json").read_text())["ALL STATS"]
    assert stats["Runtime"]["Interrupted"] == "true"
    assert stats["Totals"]["Count"] > 0
    calls = server.calls()
    assert calls["set"] + calls["get"] == stats["Totals"]["Count"]


def test_no_place_in_the_listen_queue(tmp_path):
    """Connections that hang in the making are given up by a signal at once."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        process = bench_start("-h", "127.0.0.1", "-p", listener.getsockname()[1], "-t", 1, "-c", 8, "-a", "x", "-n", 1)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
        assert "Interrupted" in err


class FakeServer(threading.Thread):
    """Answers every read with the same bytes, after a delay."""

    def __init__(self, answer, delay=0):
        super().__init__(daemon=True)
        self.answer = answer
        self.delay = delay
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(16)
        self.port = self.listener.getsockname()[1]
        self.start()

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        try:
            while connection.recv(65536):
                time.sleep(self.delay)
                for piece in self.answer:
                    connection.sendall(piece)
                    time.sleep(0.001)
        except OSError:
            pass


@pytest.mark.parametrize("answer,error", [
    ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "protocol error"),
    ([b"+OK\r\n+OK\r\n"], "protocol error"),
    ([b""], None),
])
def test_a_server_that_does_not_speak_redis(tmp_path, answer, error):
    fake = FakeServer(answer)
    run = bench_run("-h", "127.0.0.1", "-p", fake.port, "-t", 1, "-c", 2, "--test-time=1",
                    json_path=tmp_path / "r.json", check=1)
    assert run.stats["Errors"]["Connections"] == ({error: 2} if error else {})
    assert run.stats["Errors"]["Unanswered"] > 0 or error == "protocol error"


def test_latency_is_what_the_server_took(tmp_path):
    fake = FakeServer([b"+OK\r\n"], delay=0.02)
    run = bench_run("-h", "127.0.0.1", "-p", fake.port, "-t", 1, "-c", 4, "-n", 25, "--ratio=1:0",
                    json_path=tmp_path / "r.json")
    row = run.stats["Sets"]
    assert row["Count"] == 100
    assert 20 <= row["Min Latency"] <= row["Percentile Latencies"]["p50.00"] < 40
    assert 20 <= row["Latency"] < 60


@pytest.mark.parametrize("answer", [
    [b"$5\r\nhe", b"llo\r\n"], [b"$", b"1", b"\r", b"\n", b"x", b"\r", b"\n"], [b"-", b"LOADING w", b"ait\r", b"\n"],
    [b"$-", b"1\r\n"], [b"_\r", b"\n"], [b">2\r\n+message\r\n+x\r\n", b"+OK\r\n"], [b"*2\r\n$1\r\na\r\n", b":1\r\n"],
])
def test_replies_in_pieces(tmp_path, answer):
    fake = FakeServer(answer)
    run = bench_run("-h", "127.0.0.1", "-p", fake.port, "-t", 1, "-c", 2, "-n", 20, "--ratio=0:1",
                    json_path=tmp_path / "r.json", check=None)
    assert run.stats["Totals"]["Count"] == 40
    assert run.stats["Errors"]["Replies"] == ({"LOADING": 40} if answer[0] == b"-" else {})
    size = sum(map(len, answer)) - (len(answer[0]) if answer[0][:1] == b">" else 0)
    rx = sum(second["Bytes RX"] for second in run.stats["Totals"]["Time-Serie"].values())
    assert rx == 40 * size
