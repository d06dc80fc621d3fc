"""The command line: memtier_benchmark's forms, and what is refused."""

import re

import pytest

from bench_process import ROOT, bench_run

AZURE_FILL = ("-a KEY --hide-histogram --pipeline=10 -clients=50 -threads=6 --key-maximum=1699396 -n allkeys "
              "--key-pattern=P:P --ratio=1:0 -data-size=1024 --tls --cluster-mode")
AZURE_GET = ("-a KEY --hide-histogram --pipeline=10 -clients=50 -threads=6 -d 1024 --key-maximum=1699396 "
             "--key-pattern=R:R --ratio=0:1 --distinct-client-seed --test-time=300 --json-out-file=test_results.json "
             "--tls --tls-skip-verify --cluster-mode")
HUAWEI = "--cluster-mode --ratio=1:0 -n 10000000 -c 1000 -t 4 -d 32"


def shown(*arguments):
    """The configuration as --show-config prints it; nothing listens, so the run fails."""
    run = bench_run("-h", "127.0.0.1", "-p", "1", *arguments, "--show-config", check=1)
    return dict(line.split(" = ", 1) for line in run.stdout.splitlines() if " = " in line)


@pytest.mark.parametrize("line", [AZURE_FILL, AZURE_GET])
def test_published_tls_lines_are_refused_for_tls_only(line):
    run = bench_run("-h", "127.0.0.1", "-p", "10000", *line.split(), check=1)
    assert run.stderr == "error: TLS is not available in this version (--tls)\n"
    assert run.stdout == ""


def test_published_cluster_line_is_refused_for_cluster_mode():
    run = bench_run("-s", "127.0.0.1", *HUAWEI.split(), check=1)
    assert run.stderr == "error: --cluster-mode is not available in this version\n"


@pytest.mark.parametrize("line,expected", [
    (AZURE_FILL, {"clients": "50", "threads": "6", "data_size": "1024", "pipeline": "10", "key_pattern": "P:P",
                  "key_maximum": "1699396", "requests": "5665", "ratio": "1:0"}),
    (AZURE_GET, {"clients": "50", "threads": "6", "data_size": "1024", "test_time": "300", "ratio": "0:1",
                 "distinct-client-seed": "true"}),
    (HUAWEI, {"clients": "1000", "threads": "4", "requests": "10000000"}),
])
def test_published_lines_mean_what_they_say(line, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [word for word in line.split() if not word.startswith("--tls") and word != "--cluster-mode"]
    settings = shown(*words)
    assert {name: settings[name] for name in expected} == expected


def test_defaults_are_memtiers():
    settings = shown("-n", 1)
    assert shown()["requests"] == "10000"
    expected = {"threads": "4", "clients": "50", "ratio": "1:10", "data_size": "32", "key_prefix": "memtier-",
                "key_maximum": "10000000", "key_minimum": "0", "pipeline": "1", "key_pattern": "R:R",
                "unix socket": "(null)", "protocol": "redis", "run_count": "1"}
    assert {name: settings[name] for name in expected} == expected


@pytest.mark.parametrize("words,name,value", [
    ("--requests=5", "requests", "5"), ("--requests 5", "requests", "5"), ("--req 5", "requests", "5"),
    ("--req=5", "requests", "5"), ("-n5", "requests", "5"), ("-n 5", "requests", "5"), ("-requests=5", "requests", "5"),
    ("-requests 5", "requests", "5"), ("-n 1 -n 5", "requests", "5"), ("--clients=3 -c 9", "clients", "9"),
    ("-DDR", "debug", "2"), ("-DDR", "random_data", "true"), ("-x2", "run_count", "2"),
    ("--key-min=3 --key-max=9", "key_minimum", "3"), ("--io=epoll", "io", "epoll"), ("-4", "address family", "AF_INET"),
    ("-h host -h 127.0.0.1", "server", "127.0.0.1"), ("-h host -s 127.0.0.1", "server", "127.0.0.1"),
    ("--expiry-range=5-10", "expiry_range", "5:10"), ("--data=7", None, None),
])
def test_forms(words, name, value):
    if name is None:
        run = bench_run(*words.split(), check=2)
        assert "could be" in run.stderr
    else:
        assert shown(*words.split())[name] == value


@pytest.mark.parametrize("words", [
    "-c 0", "-c -1", "-c 5x", "-c 0x10", "-c 1e3", "-c", "--clients=", "-t 0", "-t 99999999999999999999", "-n 0", "-n abc",
    "--test-time=0", "--test-time=5 -n 5", "-n 5 --test-time=5", "--test-time 5 -n allkeys", "-p 0", "-p 65536",
    "--pipeline=0", "-d 0", "--ratio=0:0", "--ratio=1", "--ratio=1:x", "--ratio=-1:1", "--key-pattern=X:R",
    "--key-pattern=P:R", "--key-pattern=R", "--print-percentiles=101", "--print-percentiles=1,,2",
    "--print-percentiles=nan", "--expiry-range=10-5", "--expiry-range=5", "--key-zipf-exp=0", "--key-zipf-exp=5",
    "--key-stddev=inf", "--key-stddev=-1", "--run-count=-1", "-x 0", "--rate-limiting=0", "--reconnect-interval=0",
    "-P memcache_text", "-P http", "--io=poll", "--no-such-option", "-z", "--hide-histogram=yes", "stray", "--", "-a ''",
    "-a :", "--select-db=-1",
])
def test_faulty_command_lines(words):
    arguments = [word.replace("''", "") for word in words.split()]
    run = bench_run(*arguments, check=2)
    assert run.stderr.startswith("error: ")
    assert run.stdout.startswith("Usage: ketch-bench")


@pytest.mark.parametrize("words,message", [
    ("-S /tmp/x -p 6379", "UNIX domain socket and TCP cannot be used together"),
    ("--key-minimum=10 --key-maximum=5", "greater"), ("--key-stddev=5", "G in --key-pattern"),
    ("--key-pattern=G:G --key-median=99999999999", "outside"), ("-4 -6", "exclude"), ("-u http://x", "redis://"),
    ("-u redis://x:0", "port"), ("-u redis://x/abc", "database"), ("-u rediss://x", "TLS"), ("-u redis://", "host"),
    ("--wait-ratio=1:1", "--wait-ratio is not available"), ("--command=PING", "--command is not available"),
    ("--data-size-range=1-5", "not available"), ("--cert=x", "TLS"), ("--statsd-host=x", "not available"),
    ("-t 1024 -c 100000 --pipeline 1000", "threads x clients x pipeline"),
    ("-n 1 -o /no/such/file", "/no/such/file"), ("-n 1 --json-out-file=/no/such/file", "/no/such/file"),
])
def test_bad_configurations(words, message):
    run = bench_run(*words.split(), check=1)
    assert message in run.stderr
    assert "Usage" not in run.stdout


def test_help_and_version():
    text = bench_run("--help", check=2).stdout
    assert text.startswith("Usage: ketch-bench")
    for name in ("--requests", "-h, --host", "--key-pattern", "--io", "--hdr-file-prefix"):
        assert name in text
    assert max(map(len, text.splitlines())) <= 120
    assert re.match(r"ketch-bench v=\d+\.\d+\.\d+ ", bench_run("-v").stdout)


def test_percent_encoded_and_bracketed_uris():
    settings = shown("-u", "redis://u:p%40ss@[::1]:7/3")
    assert settings["server"] == "::1" and settings["port"] == "7" and settings["select-db"] == "3"
    assert settings["uri"] == "redis://u:***@[::1]:7/3" and settings["authenticate"] == "u:***"
    assert shown("-u", "redis://p@ss@127.0.0.1:1")["uri"] == "redis://***@127.0.0.1:1"


def test_the_documentation_has_the_usage_text():
    document = (ROOT / "docs/ketch-bench.md").read_text()
    usage = bench_run("--help", check=2).stdout
    assert "".join("    " + line + "\n" if line else "\n" for line in usage.splitlines()) in document
