"""The loads that compare and floor run, by name, and how a table cell is written."""
import statistics
from collections import namedtuple

# `reply_size` is what the do-nothing server answers to be comparable: 0 is +OK.
Scenario = namedtuple("Scenario", "name value_size connections pipeline ratio reply_size what")

LOADS = [
    Scenario("azure", 1024, 300, 10, "0:1", 1024, "GET of 1 KiB, 300 connections, pipeline 10"),
    Scenario("azure-nopipe", 1024, 300, 1, "0:1", 1024, "GET of 1 KiB, 300 connections, one at a time"),
    Scenario("ampere", 32, 20, 150, "10:1", 0, "SET:GET 10:1 of 32 B, 20 connections, pipeline 150"),
    Scenario("huawei-set-1000", 32, 1000, 1, "1:0", 0, "SET of 32 B, 1,000 connections, one at a time"),
    Scenario("huawei-get-1000", 32, 1000, 1, "0:1", 32, "GET of 32 B, 1,000 connections, one at a time"),
    Scenario("huawei-set-10000", 32, 10000, 1, "1:0", 0, "SET of 32 B, 10,000 connections, one at a time"),
    Scenario("huawei-get-10000", 32, 10000, 1, "0:1", 32, "GET of 32 B, 10,000 connections, one at a time"),
]
MEMORY = {"memory-32": 32, "memory-1024": 1024}
GENERATORS = {"load-azure": 10, "load-nopipe": 1}
FIRST_KEY = 10_000_000  # memtier-10000000: every key has 16 bytes


def bench_options(scenario, keys, seconds):
    """ketch-bench's options for a load; one thread, since it has one processor."""
    return ["-t", 1, "-c", scenario.connections, "--pipeline", scenario.pipeline, "--ratio", scenario.ratio, "-d", scenario.value_size,
            f"--key-minimum={FIRST_KEY}", f"--key-maximum={FIRST_KEY + keys - 1}", "--key-pattern=R:R", "--distinct-client-seed",
            f"--test-time={seconds}"]


def connecting_seconds(scenario):
    """Allowed for setting up the connections before the measurement."""
    return 1 + scenario.connections / 2500


def spread(values, digits=2):
    """'4.31 (4.22-4.56)': the median and the range of the rounds."""
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    low, middle, high = (f"{value:,.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return middle if len(values) == 1 else f"{middle} ({low}-{high})"


def table(heads, rows):
    print("| " + " | ".join(heads) + " |")
    print("|" + "|".join(" --- " if at < 2 else " ---: " for at in range(len(heads))) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)
