"""The reports: layout, keys and units of memtier_benchmark, and values that are right."""

import json
import re
import subprocess
import time

import pytest

from bench_process import KETCH_BENCH, bench_run

ROW_KEYS = ["Count", "Ops/sec", "Hits/sec", "Misses/sec", "Connection Errors/sec", "Connection Errors", "Latency",
            "Average Latency", "Accumulated Latency", "Min Latency", "Max Latency", "KB/sec", "KB/sec RX/TX",
            "KB/sec RX", "KB/sec TX", "Time-Serie", "Percentile Latencies"]
CONFIGURATION_KEYS = [
    "server", "port", "uri", "unix socket", "address family", "protocol", "out_file", "client_stats", "run_count",
    "debug", "requests", "rate_limit", "clients", "threads", "test_time", "ratio", "pipeline", "data_size",
    "data_offset", "random_data", "data_size_range", "data_size_list", "data_size_pattern", "expiry_range",
    "data_import", "data_verify", "verify_only", "generate_keys", "key_prefix", "key_minimum", "key_maximum",
    "key_pattern", "key_stddev", "key_median", "key_zipf_exp", "reconnect_interval", "connection_timeout",
    "thread_conn_start_min_jitter_micros", "thread_conn_start_max_jitter_micros", "multi_key_get", "authenticate",
    "select-db", "no-expiry", "wait-ratio", "num-slaves", "wait-timeout", "print-all-runs"]


def unique_keys(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), "a key twice"
    return dict(pairs)


def test_json_has_the_keys_in_order(server, bench):
    run = bench(server, "-t", 2, "-c", 3, "-n", 300)
    document = json.loads(run.json_text, object_pairs_hook=unique_keys)
    assert list(document) == ["configuration", "run information", "ALL STATS"]
    assert list(document["configuration"])[:len(CONFIGURATION_KEYS)] == CONFIGURATION_KEYS
    assert document["run information"] == {"Threads": 2, "Connections per thread": 3, "Requests per client": 300,
                                           "Format version": 2}
    stats = document["ALL STATS"]
    assert list(stats) == ["Runtime", "Sets", "Gets", "Waits", "Totals", "SET", "GET", "WAIT", "Errors",
                           "Load generator"]
    assert list(stats["Runtime"]) == ["Start time", "Finish time", "Total duration", "Time unit", "Interrupted"]
    for name in ("Sets", "Gets", "Waits", "Totals"):
        assert list(stats[name])[:len(ROW_KEYS)] == ROW_KEYS
        assert list(stats[name]["Percentile Latencies"]) == ["p50.00", "p99.00", "p99.90", "Histogram log format"]
    assert list(stats["Load generator"])[:3] == ["CPU seconds", "CPU us per operation", "Busiest thread percent"]
    assert stats["Load generator"]["Bottleneck"] in (True, False)
    assert abs(stats["Runtime"]["Start time"] / 1000 - time.time()) < 60


def test_figures_agree_with_each_other(server, bench):
    run = bench(server, "-t", 2, "-c", 10, "--test-time=3", "--ratio=1:3", "--key-maximum=1000")
    stats = run.stats
    totals, seconds = stats["Totals"], stats["Runtime"]["Total duration"] / 1000
    assert seconds == pytest.approx(3, abs=0.2)
    for key in ("Count", "Ops/sec", "KB/sec", "KB/sec RX", "KB/sec TX"):
        assert totals[key] == pytest.approx(stats["Sets"][key] + stats["Gets"][key], rel=1e-4, abs=0.02)
    assert totals["KB/sec"] == pytest.approx(totals["KB/sec RX"] + totals["KB/sec TX"], abs=0.02)
    assert totals["Ops/sec"] == pytest.approx(totals["Count"] / seconds, rel=0.001)
    assert totals["Latency"] == pytest.approx(totals["Accumulated Latency"] / totals["Count"], rel=0.01, abs=0.002)
    assert 0 < totals["Min Latency"] <= totals["Latency"] <= totals["Max Latency"]
    assert totals["Min Latency"] == min(stats["Sets"]["Min Latency"], stats["Gets"]["Min Latency"])
    for name in ("Sets", "Gets", "Totals"):
        row, series = stats[name], stats[name]["Time-Serie"]
        assert list(series) == ["0", "1", "2"]
        assert sum(second["Count"] for second in series.values()) == row["Count"]
        for second in series.values():
            assert list(second)[:3] == ["Bytes RX", "Bytes TX", "Count"]
            assert second["Min Latency"] <= second["p50.00"] <= second["p99.00"] <= second["p99.90"]
            assert second["p99.90"] <= second["Max Latency"]
        tx = sum(second["Bytes TX"] for second in series.values())
        assert row["KB/sec TX"] == pytest.approx(tx / 1024 / seconds, rel=0.001)
    server_side = server.client().info("stats")
    assert server_side["total_net_input_bytes"] == pytest.approx(
        sum(second["Bytes TX"] for second in totals["Time-Serie"].values()), rel=0.02)


def table_rows(text, title):
    section = text.split(title + "\n", 1)[1].split("\n\n")[0].splitlines()
    return section[0], section[1], {line.split()[0]: line for line in section[3:]}


def test_table_is_laid_out_for_scripts(server, bench):
    run = bench(server, "-t", 2, "-c", 2, "-n", 200, "--print-percentiles=50,99,99.9,99.99,100")
    text = run.stdout
    assert text.startswith("2         Threads\n2         Connections per thread\n200       Requests per client\n\n\n"
                           "ALL STATS\n")
    rule, heads, rows = table_rows(text, "ALL STATS")
    assert heads == ("Type         Ops/sec     Hits/sec   Misses/sec    Avg. Latency     p50 Latency     p99 Latency   "
                     "p99.9 Latency p99.990 Latency    p100 Latency       KB/sec ")
    assert rule == "=" * len(heads)
    assert list(rows) == ["Sets", "Gets", "Waits", "Totals"]
    assert rows["Sets"].split()[2:4] == ["---", "---"]
    assert rows["Waits"].split()[1:] == ["0.00"] + ["---"] * 9
    assert all(len(row) == len(heads) for row in rows.values())
    totals = rows["Totals"].split()
    assert float(totals[1]) == pytest.approx(run.stats["Totals"]["Ops/sec"], abs=0.01)
    assert float(totals[9]) == pytest.approx(run.stats["Totals"]["Max Latency"], abs=0.001)
    distribution = text.split("Request Latency Distribution\n")[1].splitlines()
    assert distribution[0] == "Type     <= msec         Percent"
    assert distribution[1] == "-" * 72
    assert re.fullmatch(r"SET +\d+\.\d{3} +0\.000", distribution[2])
    assert any(re.fullmatch(r"GET +\d+\.\d{3} +100\.000", line) for line in distribution)
    assert "WAIT      0.000      100.000" in distribution


def test_hidden_histogram(server, bench):
    run = bench(server, "-t", 1, "-c", 1, "-n", 20, "--hide-histogram")
    assert "Distribution" not in run.stdout
    assert not {"SET", "GET", "WAIT"} & set(run.stats)


def test_percentile_keys_do_not_collide(server, bench):
    run = bench(server, "-t", 1, "-c", 1, "-n", 20, "--print-percentiles=99.999,0,99.99,100,50")
    keys = list(run.stats["Totals"]["Percentile Latencies"])
    assert keys == ["p0.000", "p50.00", "p99.99", "p99.999", "p100.0", "Histogram log format"]
    assert list(run.stats["Gets"]["Time-Serie"]["0"])[-5:] == ["p0.00", "p50.00", "p99.99", "p99.999", "p100.0"]


def test_strings_are_escaped(server, bench):
    prefix = 'a"\\\t\x01é'
    run = bench(server, "-t", 1, "-c", 1, "-n", 2, "--key-prefix", prefix)
    assert run.json["configuration"]["key_prefix"] == prefix


def test_out_file_takes_the_tables(server, bench, tmp_path):
    run = bench(server, "-t", 1, "-c", 1, "-n", 2, "-o", tmp_path / "out")
    assert run.stdout == ""
    assert "ALL STATS" in (tmp_path / "out").read_text()
    assert f"Writing results to {tmp_path / 'out'}" in run.stderr


def test_messages_on_stderr(server, bench, tmp_path):
    run = bench(server, "-t", 2, "-c", 2, "-n", 200)
    lines = re.split(r"[\r\n]+", run.stderr)
    assert lines[0] == f"Json file {tmp_path / 'result.json'} created..."
    assert lines[1] == "Writing results to stdout"
    assert "[RUN #1] Preparing benchmark client..." in lines and "[RUN #1] Launching threads now..." in lines
    last = [line for line in lines if line.startswith("[RUN #1 ")][-1]
    assert re.fullmatch(r"\[RUN #1 100%,   0 secs\]  0 threads  2 conns:         800 ops, +\d+ \(avg: +\d+\) ops/sec, "
                        r"\d+\.\d\d[KMG]B/sec \(avg: \d+\.\d\d[KMG]B/sec\), +\d+\.\d\d \(avg: +\d+\.\d\d\) msec latency",
                        last), last
    assert lines[-3:-1] == [f"Saving JSON output file: {tmp_path / 'result.json'}", "Json file closed."]
    assert "nan" not in run.stderr


def test_progress_each_second(server, bench):
    run = bench(server, "-t", 1, "-c", 2, "--test-time=3")
    progress = re.findall(r"\[RUN #1 (\d+)%, +(\d+) secs\]", run.stderr)
    assert [seconds for _, seconds in progress] in (["1", "2", "3"], ["1", "2", "3", "3"])
    assert progress[0][0] == "33" and progress[-1][0] == "100"
    assert "3         Seconds" in run.stdout
    assert run.json["run information"]["Seconds"] == 3


def test_several_runs(server, bench):
    run = bench(server, "-t", 1, "-c", 4, "-n", 2000, "-x", 3, "--print-all-runs")
    titles = [f"RUN #{i} RESULTS" for i in (1, 2, 3)] + ["BEST RUN RESULTS", "WORST RUN RESULTS",
                                                       "AGGREGATED AVERAGE RESULTS (3 runs)"]
    assert list(run.json)[2:] == titles
    assert [line for line in run.stdout.splitlines() if "RESULTS" in line] == titles
    runs = [run.json[title] for title in titles]
    rates = [section["Totals"]["Ops/sec"] for section in runs[:3]]
    assert runs[3]["Totals"]["Ops/sec"] == max(rates)
    assert runs[4]["Totals"]["Ops/sec"] == min(rates)
    mean = runs[5]["Totals"]
    assert mean["Ops/sec"] == pytest.approx(sum(rates) / 3, abs=0.02)
    assert mean["Count"] == 8000
    for key in ("KB/sec RX", "KB/sec TX", "Misses/sec"):
        assert mean[key] == pytest.approx(sum(section["Totals"][key] for section in runs[:3]) / 3, abs=0.02)
    assert mean["Min Latency"] == min(section["Totals"]["Min Latency"] for section in runs[:3])
    assert mean["Max Latency"] == max(section["Totals"]["Max Latency"] for section in runs[:3])
    assert mean["Time-Serie"]["0"]["Count"] > 0
    runtime = runs[5]["Runtime"]
    assert runtime["Start time"] == runs[0]["Runtime"]["Start time"]
    assert runtime["Finish time"] == runs[2]["Runtime"]["Finish time"]
    assert run.stderr.count("Launching threads") == 3


def test_without_all_runs_only_the_three(server, bench):
    run = bench(server, "-t", 1, "-c", 1, "-n", 100, "-x", 2)
    assert list(run.json)[2:] == ["BEST RUN RESULTS", "WORST RUN RESULTS", "AGGREGATED AVERAGE RESULTS (2 runs)"]


def test_hdr_files(server, bench, tmp_path):
    prefix = tmp_path / "hdr"
    run = bench(server, "-t", 1, "-c", 2, "-n", 500, "--ratio=0:1", f"--hdr-file-prefix={prefix}")
    names = sorted(path.name for path in tmp_path.glob("hdr_*"))
    assert names == ["hdr_FULL_RUN_1.hgrm", "hdr_FULL_RUN_1.txt", "hdr_GET_command_run_1.hgrm",
                     "hdr_GET_command_run_1.txt"]
    text = (tmp_path / "hdr_GET_command_run_1.txt").read_text().splitlines()
    assert text[0].split() == ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]
    rows = [line.split() for line in text[2:] if not line.startswith("#")]
    assert rows[0][1] == "0.000000" and rows[-1][1:3] == ["1.000000", "1000"]
    assert float(rows[-1][0]) == pytest.approx(run.stats["Gets"]["Max Latency"], rel=0.002)
    assert [line[:9] for line in text if line.startswith("#")] == ["#[Mean   ", "#[Max    ", "#[Buckets"]
    log = (tmp_path / "hdr_FULL_RUN_1.hgrm").read_text().splitlines()
    assert log[0] == "#[Histogram log format version 1.2]"
    start, finish, highest, encoded = log[3].split(",")
    assert float(start) < float(finish) and encoded.startswith("HISTFAAA")
    assert float(highest) / 1000 == pytest.approx(run.stats["Totals"]["Max Latency"])
    assert encoded == run.stats["Totals"]["Percentile Latencies"]["Histogram log format"]["Compressed Histogram"]
    assert "Writing Full Run command HDR latency histogram results to" in run.stderr


def test_a_full_disk_is_an_error(server):
    done = subprocess.run([KETCH_BENCH, "-h", "127.0.0.1", "-p", str(server.port), "-t", "1", "-c", "1", "-n", "2",
                           "--json-out-file=/dev/full"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "/dev/full" in done.stderr


def test_the_generator_notices_that_it_is_the_bottleneck(server, bench):
    # Far more threads than this test may count on having processors for are always too many.
    run = bench(server, "-t", 1, "-c", 1, "--test-time=1", "--rate-limiting=100")
    assert run.stats["Load generator"]["Bottleneck"] is False
    assert "The load generator was not the bottleneck." in run.stdout
    assert run.stats["Load generator"]["CPU us per operation"] > 0
