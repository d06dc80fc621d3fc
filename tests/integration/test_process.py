"""The process: how it is configured, what it says, how it ends."""
import ctypes
import os
import re
import signal
import socket
import subprocess
import time

import pytest

from resp_client import RespClient, encode
from server_process import ketch_binary, subject_is_redis


def run_to_end(*arguments, stdin=None, seconds=20):
    """Runs a server that should end by itself; (status, all output)."""
    done = subprocess.run([ketch_binary(), *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=seconds, check=False)
    return done.returncode, done.stdout + done.stderr


def config_value(server, name):
    with server.client() as client:
        return client.call("CONFIG", "GET", name)[1].decode()


def wait_until(condition, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


# -- configuration


CONFIG = """
# a comment
timeout 42
MaxClients 777
requirepass "with \\"quotes\\" and \\x41"
   tcp-keepalive   17

client-query-buffer-limit 10mb
loglevel verbose
client-output-buffer-limit pubsub 16mb 4mb 30
save 3600 1
save ""
databases 5
"""


def test_a_configuration_file(start_both):
    both = start_both(config=CONFIG, password='with "quotes" and A')
    lines = [f"CONFIG GET {name}" for name in ("timeout", "maxclients", "requirepass", "tcp-keepalive", "client-query-buffer-limit", "loglevel",
                                               "client-output-buffer-limit", "databases")]
    both.compare("\n".join(lines + ["SELECT 4", "SELECT 5"]), flush=False)


def test_a_configuration_with_a_memory_limit_and_events(start_both):
    both = start_both(config="maxmemory 100mb\nmaxmemory-policy allkeys-lru\nnotify-keyspace-events KEA\n")
    both.compare("""
        CONFIG GET maxmemory
        CONFIG GET maxmemory-policy
        CONFIG GET notify-keyspace-events
    """)


def test_the_command_line_overrides_the_file(start_server):
    server = start_server("--timeout", "99", config="timeout 42\nmaxclients 100\n")
    assert config_value(server, "timeout") == "99"
    assert config_value(server, "maxclients") == "100"


FORMS = [
    (["--timeout", "7", "--maxclients", "50"], {"timeout": "7", "maxclients": "50"}),
    (["--timeout 7"], {"timeout": "7"}),
    (["--timeout 7", "--maxclients", "50"], {"timeout": "7", "maxclients": "50"}),
    (["--TIMEOUT", "7"], {"timeout": "7"}),
    (["--requirepass", ""], {"requirepass": ""}),
    (["--client-output-buffer-limit", "pubsub", "1mb", "2mb", "3"], {"client-output-buffer-limit": "normal 0 0 0 slave 268435456 67108864 60 pubsub 1048576 2097152 3"}),
    (["--client-output-buffer-limit", "pubsub 1mb 2mb 3"], {"client-output-buffer-limit": "normal 0 0 0 slave 268435456 67108864 60 pubsub 1048576 2097152 3"}),
    (["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"], {"maxmemory": "104857600", "maxmemory-policy": "allkeys-lru"}),
    (["--notify-keyspace-events", "KEA"], {"notify-keyspace-events": "AKE"}),
    (["--save", ""], {"save": ""}),
    (["--timeout", "1", "--timeout", "2"], {"timeout": "2"}),
]


@pytest.mark.parametrize("number", range(len(FORMS)))
def test_forms_of_the_command_line(start_both, number):
    arguments, wanted = FORMS[number]
    for server in start_both(*arguments).servers:
        for name, value in wanted.items():
            assert config_value(server, name) == value, server.command


def test_a_configuration_on_standard_input(start_server):
    server = start_server(stdin="timeout 31\n# comment\nmaxclients 60\n")
    assert config_value(server, "timeout") == "31"
    assert config_value(server, "maxclients") == "60"


def test_include(start_server, tmp_path):
    (tmp_path / "more.conf").write_text("timeout 55\n")
    server = start_server(config=f"timeout 1\ninclude {tmp_path}/more.conf\nmaxclients 90\n")
    assert config_value(server, "timeout") == "55"
    assert config_value(server, "maxclients") == "90"


BAD = [("nosuchdirective 1", 3, "nosuchdirective 1"), ("timeout", 3, "timeout"), ("timeout abc", 3, "timeout abc"), ("timeout 1 2", 3, "timeout 1 2"),
       ("maxmemory 1x", 3, "maxmemory 1x"), ('requirepass "unbalanced', 3, "unbalanced"), ("loglevel nosuch", 3, "loglevel nosuch"),
       ("databases 0", 3, "databases 0"), ("port 99999", 3, "port 99999")]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_a_wrong_line_is_named(tmp_path, number):
    line, at, shown = BAD[number]
    path = tmp_path / "bad.conf"
    path.write_text(f"# first\n\n{line}\nhz 10\n")
    status, output = run_to_end(path)
    assert status != 0
    assert f"{at}" in output and shown in output, output
    if not subject_is_redis():
        assert "bad.conf" in output


def test_wrong_options_on_the_command_line_end_it():
    for arguments in (["--nosuchoption", "1"], ["--timeout", "abc"], ["--port"], ["/nonexistent/file.conf"]):
        status, output = run_to_end(*arguments)
        assert status != 0, arguments
        assert output, arguments


def test_directives_of_later_versions_are_accepted_with_a_warning(start_server, only_ketch):
    server = start_server(config="aof-use-rdb-preamble yes\nrdbcompression yes\nreplica-lazy-flush no\nlist-compress-depth 0\ntimeout 3\n")
    assert config_value(server, "timeout") == "3"


HARMFUL_WHEN_IGNORED = {
    "appendonly yes": "'appendonly' is accepted, but has no effect yet: nothing is written to disk",
    "maxmemory 1gb": "'maxmemory' is accepted, but has no effect yet: nothing limits the memory",
    "slaveof 127.0.0.1 1": "'replicaof' is accepted, but has no effect yet: nothing is replicated",
    "aclfile users.acl": "'aclfile' is accepted, but has no effect yet: its users do not exist",
    "user alice on": "'user' is accepted, but has no effect yet: this user does not exist",
    "tls-port 6380": "'tls-port' is accepted, but has no effect yet: nothing listens there",
    "cluster-enabled yes": "'cluster-enabled' is accepted, but has no effect yet: this server is no part of a cluster",
    "loadmodule x.so": "'loadmodule' is accepted, but has no effect yet: the module is not loaded",
    "min-slaves-to-write 1": "'min-replicas-to-write' is accepted, but has no effect yet",
    "lfu-log-factor 20": "without effect yet: lfu-log-factor",
}


def test_a_directive_without_effect_is_named_in_a_warning(start_server, only_ketch):
    server = start_server("--appendonly", "yes", config="\n".join(HARMFUL_WHEN_IGNORED) + "\n")
    log = server.output()
    for warning in HARMFUL_WHEN_IGNORED.values():
        assert warning in log
    with server.client() as client:
        before = len(log)
        assert client.call("CONFIG", "SET", "maxmemory", "0", "slave-read-only", "no") == b"OK"
        assert "maxmemory" not in server.output()[before:]
        assert "without effect yet: replica-read-only" in server.output()[before:]


def test_an_option_and_its_value_in_one_argument(start_both):
    for server in start_both("--timeout 7", "--tcp-keepalive", "77", "--save 900 1").servers:
        assert config_value(server, "timeout") == "7"
        assert config_value(server, "tcp-keepalive") == "77"
        assert config_value(server, "save") == "900 1"


def test_the_sample_configuration_of_debian_is_accepted(start_server, tmp_path):
    path = "/etc/redis/redis.conf"
    if not os.access(path, os.R_OK):
        pytest.skip("no /etc/redis/redis.conf here")
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^(daemonize|pidfile|logfile|dir|port|bind|supervised|dbfilename|include) .*$", "", file.read(), flags=re.M)
    start_server(config=text)


def test_version_and_help():
    for option in ("--version", "-v"):
        status, output = run_to_end(option)
        assert status == 0 and re.search(r"v=\d+\.\d+\.\d+|\d+\.\d+\.\d+", output)
    for option in ("--help", "-h"):
        status, output = run_to_end(option)
        assert "sage:" in output


# -- log


def test_log_lines_that_tools_wait_for(start_server):
    server = start_server()
    output = server.output()
    assert "Ready to accept connections" in output
    assert "Server initialized" in output
    assert re.search(r"pid=%d|PID: %d|^%d:" % (server.pid, server.pid, server.pid), output, re.M)
    assert re.search(r"^%d:M \d\d \w\w\w \d{4} \d\d:\d\d:\d\d\.\d{3} [*#.-] " % server.pid, output, re.M), output


def test_logfile(start_server, tmp_path):
    path = tmp_path / "the.log"
    start_server("--logfile", path)
    assert "Ready to accept connections" in path.read_text()


# -- signals and shutdown


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_signal_ends_it_cleanly(start_server, number):
    server = start_server()
    clients = [server.client() for _ in range(20)]
    for client in clients:
        client.call("PING")
    assert server.stop(number) == 0
    for client in clients:
        assert client.read_to_end() == b""
    output = server.output()
    assert "bye bye" in output.lower() or "exit" in output.lower()
    with pytest.raises(OSError):
        socket.create_connection(server.address, 1)


def test_a_signal_under_load_ends_it_cleanly(start_server):
    server = start_server()
    with server.client() as client:
        client.send(encode(["SET", "k", "v"]) * 20000)
        assert server.stop(signal.SIGTERM) == 0


def test_sighup_and_sigpipe_do_not_end_it(start_server):
    server = start_server()
    for number in (signal.SIGHUP, signal.SIGPIPE):
        server.process.send_signal(number)
    time.sleep(0.2)
    with server.client() as client:
        assert client.call("PING") == b"PONG"


# -- daemon


def test_daemonize_pidfile_and_logfile(start_server, tmp_path):
    pidfile, log = tmp_path / "the.pid", tmp_path / "the.log"
    server = start_server("--daemonize", "yes", "--pidfile", pidfile, "--logfile", log, wait=False)
    assert server.wait() == 0
    wait_until(lambda: log.exists() and "Ready to accept connections" in log.read_text())
    pid = int(pidfile.read_text())
    try:
        assert pid != server.pid
        with RespClient(server.address) as client:
            assert client.call("PING") == b"PONG"
            info = client.call("INFO", "server")
            assert b"process_id:%d\r\n" % pid in info
        assert os.getsid(pid) == pid
    finally:
        os.kill(pid, signal.SIGTERM)

    def ended():
        try:
            os.kill(pid, 0)
            return open(f"/proc/{pid}/stat", encoding="utf-8").read().split()[2] == "Z"
        except (ProcessLookupError, FileNotFoundError):
            return True
    wait_until(ended)
    assert not pidfile.exists()


def test_a_pidfile_in_the_foreground(start_server, tmp_path):
    pidfile = tmp_path / "the.pid"
    server = start_server("--pidfile", pidfile)
    assert int(pidfile.read_text()) == server.pid
    server.stop()
    assert not pidfile.exists()


# -- listening


def test_a_unix_socket(start_both, tmp_path):
    answers = []
    for number, server in enumerate(start_both("--unixsocket", "the.sock", "--unixsocketperm", "770").servers):
        path = os.path.join(server.directory, "the.sock")
        assert os.stat(path).st_mode & 0o777 == 0o770, number
        with RespClient(path) as client:
            client.call("SET", "k", "over unix")
            info = client.call("CLIENT", "INFO").decode()
            answers.append((client.call("GET", "k"), re.search(r"flags=(\w+)", info).group(1)))
            assert f"{path}:0" in info or "the.sock:0" in info
        with server.client() as client:
            assert client.call("GET", "k") == b"over unix"
        server.stop()
        assert not os.path.exists(path)
    assert answers[0] == answers[1]


def test_only_a_unix_socket(start_server, tmp_path):
    path = str(tmp_path / "only.sock")
    server = start_server("--port", "0", "--unixsocket", path, wait=False)
    wait_until(lambda: os.path.exists(path))
    with RespClient(path) as client:
        assert client.call("PING") == b"PONG"
    server.stop()


def test_a_port_in_use_ends_it(start_server):
    server = start_server()
    status, output = run_to_end("--port", server.port, "--bind", "127.0.0.1")
    assert status != 0
    assert "ddress already in use" in output


def test_bind_to_several_addresses(start_server):
    server = start_server("--bind", "127.0.0.1 127.0.0.2")
    for host in ("127.0.0.1", "127.0.0.2"):
        with RespClient((host, server.port)) as client:
            assert client.call("PING") == b"PONG"


def test_an_optional_address_that_is_not_there(start_server):
    server = start_server("--bind", "127.0.0.1 -192.0.2.55")
    with server.client() as client:
        assert client.call("PING") == b"PONG"


def outside_address():
    """An address of this machine that is not loopback, or None."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            address = probe.getsockname()[0]
        except OSError:
            return None
    return None if address.startswith("127.") else address


def test_protected_mode(start_both):
    address = outside_address()
    if not address:
        pytest.skip("this machine has only loopback addresses")
    answers = []
    for server in start_both("--bind", f"127.0.0.1 {address}", "--protected-mode", "yes").servers:
        with RespClient((address, server.port)) as client:
            found = [client.read_to_end()]
        with server.client() as local:
            assert local.call("CONFIG", "SET", "requirepass", "x") == b"OK"
            with RespClient((address, server.port)) as client:
                found.append(client.ask("PING").raw)
            assert local.call("AUTH", "x") == b"OK"
            local.call("CONFIG", "SET", "requirepass", "")
            local.call("CONFIG", "SET", "protected-mode", "no")
            with RespClient((address, server.port)) as client:
                found.append(client.ask("PING").raw)
        answers.append(found)
    assert answers[0][1:] == answers[1][1:]
    assert answers[0][0].startswith(b"-DENIED Redis is running in protected mode because protected mode is enabled and no password is set")


def test_maxclients(start_both):
    answers = []
    for server in start_both("--maxclients", "10").servers:
        clients = [server.client() for _ in range(10)]
        found = [client.call("PING") for client in clients]
        with server.client() as extra:
            found.append(extra.read_to_end())
        clients.pop().close()

        def free():
            with server.client() as client:
                try:
                    return client.ask("PING").raw == b"+PONG\r\n"
                except Exception:
                    return False
        wait_until(free)
        stats = clients[0].call("INFO", "stats")
        found.append(int(re.search(rb"rejected_connections:(\d+)", stats).group(1)) >= 1)
        answers.append(found)
        for client in clients:
            client.close()
    assert answers[0] == answers[1]


def test_timeout_closes_idle_clients_only(start_both):
    for server in start_both("--timeout", "1").servers:
        with server.client() as idle, server.client() as busy:
            idle.call("PING")
            begin = time.monotonic()
            while time.monotonic() - begin < 2.5:
                assert busy.call("PING") == b"PONG"
                time.sleep(0.1)
            assert idle.is_closed_within(5)
            assert busy.call("PING") == b"PONG"


def test_it_starts_and_stops_many_times(start_server):
    for _ in range(10):
        server = start_server()
        server.stop()


@pytest.mark.parametrize("arguments", [["--threads", "1"], ["--threads", "8"], ["--io", "epoll"], ["--io", "uring"], ["--io", "auto"]], ids=" ".join)
def test_every_way_to_run_the_loop(start_server, only_ketch, arguments):
    server = start_server(*arguments, wait=False)
    try:
        server.wait_ready()
    except AssertionError:
        if "uring" in arguments and "uring" in server.output():
            server.expect_exit = None
            pytest.skip("no io_uring here: " + server.output().strip().splitlines()[-1])
        raise
    clients = [server.client() for _ in range(50)]
    for number, client in enumerate(clients):
        client.send(encode(["SET", f"k{number}", b"x" * 20000]) + encode(["GET", f"k{number}"]) + encode(["INCR", "all"]))
    for client in clients:
        assert client.read().value == b"OK" and client.read().value == b"x" * 20000 and isinstance(client.read().value, int)
        client.close()


def test_a_crash_prints_a_stack_trace(start_server):
    server = start_server("--enable-debug-command", "yes", expect_exit=None)
    with server.client() as client:
        client.send(encode(["DEBUG", "SEGFAULT"]))
        client.read_to_end()
    assert server.wait(30) != 0
    output = server.output()
    assert "crashed by signal" in output or "STACK TRACE" in output or "AddressSanitizer" in output, output


def descriptor_of(process, number):
    """A duplicate of another process's descriptor (pidfd_getfd)."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(process)
    try:
        found = libc.syscall(438, pidfd, number, 0)
        if found < 0:
            pytest.skip("pidfd_getfd: " + os.strerror(ctypes.get_errno()))
        return found
    finally:
        os.close(pidfd)


def test_tcp_nodelay_is_set_on_every_connection(ketch):
    if subject_is_redis():
        pytest.skip("descriptors are compared on Ketch only")
    with ketch.client() as client:
        line = client.call("CLIENT", "INFO").decode()
        number = int(re.search(r" fd=(\d+)", line)[1])
        with socket.socket(fileno=descriptor_of(ketch.process.pid, number)) as peer:
            assert peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_systemd_is_told_of_start_and_stop(start_server, tmp_path, monkeypatch):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(path)
        listener.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", path)
        server = start_server("--supervised", "systemd")
        assert b"READY=1" in b"\n".join(iter_until(listener, b"READY=1"))
        server.stop()
        assert b"STOPPING=1" in b"\n".join(iter_until(listener, b"STOPPING=1"))


def iter_until(listener, word):
    """Datagrams up to the one that holds the word."""
    while True:
        data = listener.recv(4096)
        yield data
        if word in data:
            return
