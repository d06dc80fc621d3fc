"""CONFIG GET, SET and REWRITE, against the oracle."""
import os
import socket

import pytest

from resp_client import RespClient
from server_process import free_port

# Directives whose default and form must be Redis's own.
DEFAULTS = """maxmemory maxmemory-policy maxmemory-samples appendfsync dbfilename databases timeout tcp-keepalive maxclients
requirepass notify-keyspace-events slowlog-log-slower-than slowlog-max-len latency-monitor-threshold client-output-buffer-limit
proto-max-bulk-len client-query-buffer-limit hz tcp-backlog protected-mode unixsocket unixsocketperm daemonize loglevel logfile
repl-backlog-size replica-read-only slave-read-only min-replicas-to-write min-slaves-to-write lua-time-limit busy-reply-threshold
hash-max-listpack-entries hash-max-listpack-value hash-max-ziplist-entries hash-max-ziplist-value list-max-listpack-size
list-max-ziplist-size set-max-intset-entries zset-max-listpack-entries zset-max-listpack-value zset-max-ziplist-entries
stream-node-max-bytes stream-node-max-entries activedefrag lfu-log-factor lfu-decay-time lazyfree-lazy-eviction
lazyfree-lazy-expire lazyfree-lazy-server-del lazyfree-lazy-user-del lazyfree-lazy-user-flush cluster-enabled
cluster-node-timeout cluster-require-full-coverage save appendonly""".split()


@pytest.mark.parametrize("name", DEFAULTS)
def test_config_get_default(both, name):
    both.compare(f"""
        CONFIG GET {name}
        CONFIG GET {name.upper()}
    """)


def test_config_get(both):
    both.compare("""
        CONFIG GET
        CONFIG GET nosuch
        CONFIG GET nosuch*
        CONFIG GET maxclients timeout                    ~ pairs
        CONFIG GET timeout timeout                       ~ pairs
        CONFIG GET time* timeout nosuch                  ~ pairs
        CONFIG GET [t]imeou?                             ~ pairs
        CONFIG GET maxmemory*                            ~ kind
        CONFIG GET *                                     ~ kind
        CONFIG
        CONFIG NOSUCH
        CONFIG HELP                                      ~ kind
        CONFIG GET "tim\\x00eout"
    """)
    with both.ketch.client(3) as client:
        everything = dict(client.call("CONFIG", "GET", "*"))
        assert everything[b"port"] == b"%d" % both.ketch.port
        assert everything[b"bind"] == b"127.0.0.1"
        assert everything[b"dir"] == both.ketch.directory.encode()


def test_config_get_globs_give_each_directive_once(ketch):
    with ketch.client() as client:
        names = client.call("CONFIG", "GET", "*")[::2]
        assert len(names) == len(set(names))
        assert client.call("CONFIG", "GET", "timeout", "time*", "*out") .count(b"timeout") == 1


def test_config_set(both):
    both.compare("""
        CONFIG SET
        CONFIG SET timeout
        CONFIG SET timeout 100 maxclients
        CONFIG SET timeout 100
        CONFIG GET timeout
        CONFIG SET TIMEOUT 200
        CONFIG GET timeout
        CONFIG SET timeout abc
        CONFIG SET timeout -1
        CONFIG SET timeout 1.5
        CONFIG SET timeout ""
        CONFIG SET timeout 99999999999999999999
        CONFIG SET nosuch 1
        CONFIG SET timeout 1 nosuch 2
        CONFIG SET timeout 1 timeout 2
        CONFIG GET timeout
        CONFIG SET timeout 0 tcp-keepalive 100
        CONFIG GET timeout tcp-keepalive                 ~ pairs
        CONFIG SET tcp-keepalive 50 timeout bad
        CONFIG GET tcp-keepalive
        CONFIG SET tcp-keepalive 300
        CONFIG SET client-query-buffer-limit 100mb
        CONFIG GET client-query-buffer-limit
        CONFIG SET client-query-buffer-limit 1GB
        CONFIG GET client-query-buffer-limit
        CONFIG SET client-query-buffer-limit 2000k
        CONFIG GET client-query-buffer-limit
        CONFIG SET client-query-buffer-limit 5000000000
        CONFIG SET client-query-buffer-limit 1x
        CONFIG SET client-query-buffer-limit -1
        CONFIG SET client-query-buffer-limit abc
        CONFIG SET client-query-buffer-limit 1gb
        CONFIG SET proto-max-bulk-len 1mb
        CONFIG GET proto-max-bulk-len
        CONFIG SET proto-max-bulk-len 1
        CONFIG SET proto-max-bulk-len 512mb
        CONFIG SET databases 32
        CONFIG SET daemonize yes
        CONFIG SET unixsocket /x
        CONFIG SET cluster-enabled yes
        CONFIG SET tcp-backlog 5
        CONFIG SET loglevel bad
        CONFIG SET loglevel verbose
        CONFIG GET loglevel
        CONFIG SET loglevel notice
        CONFIG SET protected-mode maybe
        CONFIG SET protected-mode no
        CONFIG GET protected-mode
        CONFIG SET protected-mode yes
        CONFIG SET appendonly maybe
        CONFIG SET hz 10
        CONFIG SET slave-read-only yes
        CONFIG SET replica-read-only yes slave-read-only no
        CONFIG SET slowlog-log-slower-than -1
        CONFIG SET slowlog-log-slower-than 10000
        CONFIG SET latency-monitor-threshold 100
        CONFIG GET latency-monitor-threshold
        CONFIG SET latency-monitor-threshold 0
    """)


def test_config_set_maxmemory_and_its_policy(both):
    both.compare("""
        CONFIG SET maxmemory 100mb
        CONFIG GET maxmemory
        CONFIG SET maxmemory 1GB
        CONFIG GET maxmemory
        CONFIG SET maxmemory 100k
        CONFIG SET maxmemory 5000000000
        CONFIG SET maxmemory 1x
        CONFIG SET maxmemory -1
        CONFIG SET maxmemory abc
        CONFIG SET maxmemory 0
        CONFIG SET maxmemory-policy allkeys-lru
        CONFIG GET maxmemory-policy
        CONFIG SET maxmemory-policy bad
        CONFIG SET maxmemory-policy NOEVICTION
        CONFIG SET maxmemory-policy noeviction
    """)


def test_config_set_at_the_limits(both):
    both.compare("""
        CONFIG SET hz 0
        CONFIG GET hz
        CONFIG SET hz 1000
        CONFIG GET hz
        CONFIG SET hz -1
        CONFIG SET hz 10
        CONFIG SET port 99999
        CONFIG SET port abc
        CONFIG SET maxclients 0
        CONFIG SET maxclients 10000
    """)


def test_config_set_maxmemory_clients(both):
    lines = []
    for value in ["10%", "100mb", "0%", "101%", "abc", "-1", "-5%", "50%x", "0"]:
        lines += [f"CONFIG SET maxmemory-clients {value}", "CONFIG GET maxmemory-clients"]
    both.compare("\n".join(lines))


def test_config_set_port_that_is_taken(start_both):
    for server in start_both().servers:
        with socket.create_server(("127.0.0.1", 0)) as taken, server.client() as client:
            assert client.ask("CONFIG", "SET", "port", taken.getsockname()[1]).raw == \
                b"-ERR CONFIG SET failed (possibly related to argument 'port') - " \
                b"Unable to listen on this port. Check server logs.\r\n"
            assert client.call("CONFIG", "GET", "port") == [b"port", b"%d" % server.port]
        with server.client() as client:
            assert client.call("PING") == b"PONG"


def test_config_set_port_there_and_back(start_server):
    server = start_server()
    fresh = free_port()
    with server.client() as client:
        for _ in range(20):
            assert client.call("CONFIG", "SET", "port", fresh) == b"OK"
            assert client.call("CONFIG", "SET", "port", server.port) == b"OK"
    with server.client() as client:
        assert client.call("PING") == b"PONG"


def test_config_set_port_listens_anew(start_both):
    for server in start_both().servers:
        old, fresh = server.port, free_port()
        with server.client() as client:
            assert client.call("CONFIG", "SET", "port", fresh) == b"OK"
            assert client.call("CONFIG", "GET", "port") == [b"port", b"%d" % fresh]
            assert client.call("PING") == b"PONG"
        server.port = fresh
        with server.client() as client:
            assert client.call("PING") == b"PONG"
        with pytest.raises(OSError):
            RespClient(("127.0.0.1", old))


def test_config_set_notify_keyspace_events(both):
    lines = []
    for flags in ["KEA", "Ex", "K", "", "g$lshzxet", "AKE", "bad!", "KEn", "Em", "nA", "KEnm", "d$g"]:
        lines += [f'CONFIG SET notify-keyspace-events "{flags}"', "CONFIG GET notify-keyspace-events"]
    both.compare("\n".join(lines + ['CONFIG SET notify-keyspace-events ""']))


def test_config_set_client_output_buffer_limit(both):
    both.compare("""
        CONFIG SET client-output-buffer-limit "normal 1mb 512kb 10"
        CONFIG GET client-output-buffer-limit
        CONFIG SET client-output-buffer-limit "normal 0 0"
        CONFIG SET client-output-buffer-limit "bad 0 0 0"
        CONFIG SET client-output-buffer-limit "normal 0 0 0 pubsub 32mb 8mb 60"
        CONFIG GET client-output-buffer-limit
    """)


def test_config_set_maxclients_takes_effect(start_both):
    outcomes = []
    for server in start_both().servers:
        with server.client() as client:
            found = [client.call("CONFIG", "SET", "maxclients", "5")]
            others = [server.client() for _ in range(4)]
            found += [other.call("PING") for other in others]
            found.append(server.client().read_to_end())
            found.append(client.call("CONFIG", "SET", "maxclients", "6"))
            found.append(server.client().call("PING"))
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]


REWRITE = """# A comment at the top.
   # An indented one.

timeout 10
maxclients 500
# Before a twice-given directive:
hz 20
hz 30

# save ""
save ""
client-query-buffer-limit 10mb
"""


def test_config_rewrite_keeps_comments(start_both):
    both = start_both(config=REWRITE)
    texts = []
    for server in both.servers:
        with server.client() as client:
            assert client.call("CONFIG", "SET", "timeout", "77", "client-query-buffer-limit", "20mb", "tcp-keepalive", "123") == b"OK"
            assert client.call("CONFIG", "REWRITE") == b"OK"
            assert client.ask("CONFIG", "REWRITE", "x").raw == \
                b"-ERR wrong number of arguments for 'config|rewrite' command\r\n"
        with open(server.config_path, encoding="utf-8") as file:
            texts.append(file.read())
    for text in texts:
        lines = text.splitlines()
        assert lines[0] == "# A comment at the top."
        assert "   # An indented one." in lines or "# An indented one." in lines
        assert "# Before a twice-given directive:" in lines
        assert lines.count("timeout 77") == 1 and "timeout 10" not in lines
        assert "maxclients 500" in lines
        assert "tcp-keepalive 123" in lines
        assert "client-query-buffer-limit 20mb" in lines or "client-query-buffer-limit 20971520" in lines
        assert len([line for line in lines if line.startswith("hz ")]) == 1
        assert "hz 30" in lines


def test_config_rewrite_can_be_read_again(start_server):
    server = start_server(config=REWRITE)
    with server.client() as client:
        client.call("CONFIG", "SET", "timeout", "77", "requirepass", 'with "quotes" and spaces')
        assert client.call("CONFIG", "REWRITE") == b"OK"
        client.call("CONFIG", "SET", "requirepass", "")
    path = server.config_path
    server.stop()
    again = start_server(config_path=path, defaults=False, port=server.port)
    with again.client() as client:
        assert client.call("AUTH", 'with "quotes" and spaces') == b"OK"
        assert client.call("CONFIG", "GET", "timeout") == [b"timeout", b"77"]
        assert client.call("CONFIG", "GET", "maxclients") == [b"maxclients", b"500"]


def test_config_rewrite_without_a_file(both):
    both.compare("CONFIG REWRITE")


def test_config_rewrite_leaves_the_file_whole_when_it_cannot_write(start_both):
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    both = start_both(config=REWRITE)
    for server in both.servers:
        os.chmod(server.directory, 0o500)
    both.compare("CONFIG REWRITE     ~ code", flush=False)
    for server in both.servers:
        os.chmod(server.directory, 0o700)
