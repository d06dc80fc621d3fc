"""INFO: sections, the fields tools rely on, and the shape of their values."""
import re
import time

import pytest

from resp_client import Verbatim

# Fields that have a meaning in this version and that clients, job queues and exporters read.
FIELDS = {
    "server": """redis_version redis_mode os arch_bits multiplexing_api process_id run_id tcp_port uptime_in_seconds
        uptime_in_days hz lru_clock config_file executable""",
    "clients": "connected_clients blocked_clients maxclients tracking_clients",
    "memory": """used_memory used_memory_human used_memory_rss used_memory_rss_human used_memory_peak used_memory_peak_human
        total_system_memory maxmemory maxmemory_human maxmemory_policy mem_fragmentation_ratio mem_allocator""",
    "persistence": "loading rdb_changes_since_last_save rdb_bgsave_in_progress rdb_last_save_time aof_enabled",
    "stats": """total_connections_received total_commands_processed instantaneous_ops_per_sec total_net_input_bytes
        total_net_output_bytes rejected_connections expired_keys evicted_keys keyspace_hits keyspace_misses
        total_error_replies""",
    "replication": "role connected_slaves master_replid master_repl_offset",
    "cpu": "used_cpu_sys used_cpu_user",
    "cluster": "cluster_enabled",
}


def info(client, *sections):
    text = client.call("INFO", *sections)
    return dict(line.split(":", 1) for line in text.decode().split("\r\n") if ":" in line and not line.startswith("#"))


def headings(client, *sections):
    return re.findall(r"^# (\w+)\r$", client.call("INFO", *sections).decode(), re.M)


def value_kind(value):
    for name, pattern in (("integer", r"-?\d+"), ("decimal", r"-?\d+\.\d+"), ("size", r"\d+(\.\d+)?[BKMG]"), ("percent", r"[\d.]+%"),
                          ("hex40", r"[0-9a-f]{40}"), ("empty", "")):
        if re.fullmatch(pattern, value):
            return name
    return "text"


@pytest.mark.parametrize("section", FIELDS)
def test_info_has_the_fields_tools_read(both, section):
    with both.ketch.client() as ketch, both.oracle.client() as oracle:
        left, right = info(ketch, section), info(oracle, section)
    missing = [name for name in FIELDS[section].split() if name not in left]
    assert not missing, f"INFO {section} lacks {missing}"
    free = {"config_file", "mem_allocator", "master_host"}
    wrong = {name: (left[name], right[name]) for name in left if name in right and name not in free
             and value_kind(left[name]) != value_kind(right[name])}
    assert not wrong, f"other kinds of values: {wrong}"


def test_info_values_are_true(ketch):
    with ketch.client() as client:
        found = info(client)
        assert int(found["process_id"]) == ketch.pid
        assert int(found["tcp_port"]) == ketch.port
        assert found["role"] == "master" and found["redis_mode"] == "standalone"
        assert found["loading"] == "0"
        assert int(found["connected_clients"]) >= 1
        if found["mem_allocator"].startswith("jemalloc"):  # others, as under sanitizers, may not know
            assert int(found["used_memory"]) > 0
        assert found["maxmemory_policy"] == "noeviction"


def test_info_sections_and_order(both):
    with both.ketch.client() as ketch, both.oracle.client() as oracle:
        for arguments in ((), ("all",), ("everything",), ("default",), ("server",), ("SERVER",), ("clients", "server"), ("nosuch",),
                          ("memory", "nosuch", "stats"), ("keyspace",), ("server", "server")):
            ours, theirs = headings(ketch, *arguments), headings(oracle, *arguments)
            may_lack = {"Modules", "Latencystats"}
            wanted = [name for name in theirs if name in ours or name not in may_lack]
            assert [name for name in ours if name in theirs] == wanted, arguments


def test_info_of_an_unknown_section_is_empty(both):
    both.compare("""
        INFO nosuch
        INFO nosuch neither
    """)


def test_info_is_verbatim_in_resp3(ketch):
    with ketch.client(3) as client:
        assert isinstance(client.call("INFO", "server"), Verbatim)


def test_info_keyspace(both):
    both.compare("""
        INFO keyspace
        SET a 1
        SET b 1 EX 1000
        SELECT 3
        SET c 1
        INFO keyspace                ~ masked avg_ttl=\\d+(,subexpiry=\\d+)?
        FLUSHALL
        INFO keyspace
    """, protocols=(2,))


def test_info_commandstats_counts_calls(start_both):
    script = [["SET", "k", "v"]] * 5 + [["GET", "k"]] * 7 + [["GET"]] * 2 + [["INCR", "k"]] * 3 + [["CLIENT", "SETNAME", "x"]] + \
        [["NOSUCH"]] + [["CONFIG", "GET", "port"]] * 2
    wanted = []
    for server in start_both().servers:
        with server.client() as client:
            client.call("CONFIG", "RESETSTAT")
            client.pipeline(script)
            stats = info(client, "commandstats")
            found = {}
            for name in ("cmdstat_set", "cmdstat_get", "cmdstat_incr", "cmdstat_client|setname", "cmdstat_config|get"):
                assert re.fullmatch(r"calls=\d+,usec=\d+,usec_per_call=\d+\.\d\d,rejected_calls=\d+,failed_calls=\d+", stats[name])
                numbers = dict(item.split("=") for item in stats[name].split(","))
                found[name] = [numbers[field] for field in ("calls", "rejected_calls", "failed_calls")]
            found["errors"] = info(client, "errorstats")
            found["total"] = info(client, "stats")["total_error_replies"]
            wanted.append(found)
    assert wanted[0] == wanted[1]


def test_info_counts_hits_misses_expirations_and_connections(start_both):
    found = []
    for server in start_both().servers:
        with server.client() as client:
            client.call("CONFIG", "RESETSTAT")
            client.pipeline([["SET", "k", "v"], ["GET", "k"], ["GET", "none"], ["MGET", "k", "none", "k"], ["EXISTS", "k", "none"],
                             ["SET", "t", "v", "PX", "1"], ["STRLEN", "k"], ["TTL", "k"], ["TYPE", "none"], ["GETRANGE", "k", 0, 1]])
            time.sleep(0.02)
            client.call("GET", "t")
            for _ in range(3):
                server.client().call("PING")
            stats = info(client, "stats")
            found.append({name: stats[name] for name in ("keyspace_hits", "keyspace_misses", "expired_keys",
                                                         "total_connections_received", "total_commands_processed",
                                                         "total_error_replies", "evicted_keys")})
    assert found[0] == found[1]


def test_config_resetstat(both):
    both.compare("""
        GET missing
        NOSUCH
        CONFIG RESETSTAT
        CONFIG RESETSTAT x
        INFO errorstats              ~ kind
    """)
    with both.ketch.client() as client:
        client.call("NOSUCH")
        client.call("GET", "missing")
        assert client.call("CONFIG", "RESETSTAT") == b"OK"
        stats = info(client, "stats")
        assert stats["keyspace_misses"] == "0" and stats["total_error_replies"] == "0"
        assert "errorstat_ERR" not in info(client, "errorstats")
