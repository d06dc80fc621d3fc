"""Fixtures shared by all integration tests.

KETCH_SERVER       the binary to test (default build/release/ketch-server); /usr/bin/redis-server makes the suite check itself.
KETCH_SERVER_ARGS  arguments added to every start, e.g. "--io uring".
KETCH_ORACLE       the redis-server to compare with (default /usr/bin/redis-server).
"""
import os

import pytest

from reply_compare import Both
from server_process import REDIS, ServerProcess, ketch_binary, subject_is_redis

# Everything that the oracle forbids by default and a comparison needs.
OPEN = ("--enable-debug-command", "yes")


def pytest_sessionstart(session):
    if not os.access(ketch_binary(), os.X_OK) and not session.config.option.collectonly:
        pytest.exit(f"no server at {ketch_binary()}: build it, or set KETCH_SERVER", returncode=4)


def pytest_report_header(config):
    return f"subject: {ketch_binary()} {os.environ.get('KETCH_SERVER_ARGS', '')}; oracle: {REDIS}"


def watched(server):
    """Gives the server to one test and looks afterwards whether it is well."""
    server.check()
    yield server
    server.check()


def restarting(factory):
    """A session's server that is started again when a test killed it, so that one crash fails one test only."""
    holder = {}

    def get():
        server = holder.get("server")
        if server is None or server.process.poll() is not None:
            holder["server"] = server = factory()
        return server

    def stop():
        if "server" in holder and holder["server"].process.poll() is None:
            holder["server"].stop()

    return get, stop


@pytest.fixture(scope="session")
def _ketch_source(tmp_path_factory):
    get, stop = restarting(lambda: ServerProcess(ketch_binary(), tmp_path_factory.mktemp("ketch"), *OPEN))
    yield get
    stop()


@pytest.fixture(scope="session")
def _oracle_source(tmp_path_factory):
    get, stop = restarting(lambda: ServerProcess(REDIS, tmp_path_factory.mktemp("oracle"), *OPEN))
    yield get
    stop()


@pytest.fixture
def ketch(_ketch_source):
    """The server under test, shared by the session and emptied before each test."""
    server = _ketch_source()
    with server.client() as client:
        client.call("FLUSHALL")
    yield from watched(server)


@pytest.fixture
def oracle(_oracle_source):
    """redis-server 7.0.15, shared by the session and emptied before each test."""
    server = _oracle_source()
    with server.client() as client:
        client.call("FLUSHALL")
    return server


@pytest.fixture
def both(ketch, oracle):
    return Both(ketch, oracle)


@pytest.fixture
def start_server(tmp_path):
    """A factory: start_server("--maxclients", 10, binary=..., config=...) -> ServerProcess, stopped and checked afterwards."""
    yield from factory(tmp_path / "subject", ketch_binary())


@pytest.fixture
def start_oracle(tmp_path):
    yield from factory(tmp_path / "oracle", REDIS)


def factory(tmp_path, binary):
    servers = []

    def start(*arguments, **options):
        directory = tmp_path / str(len(servers))
        server = ServerProcess(options.pop("binary", binary), directory, *arguments, **options)
        servers.append(server)
        return server

    yield start
    problems = []
    for server in servers:
        try:
            if server.process.poll() is None or server.expect_exit is not None:
                server.stop()
        except AssertionError as problem:
            problems.append(str(problem))
    assert not problems, "\n".join(problems)


@pytest.fixture
def start_both(start_server, start_oracle):
    """A factory of pairs with the same options: start_both("--requirepass", "x", password="x") -> Both."""
    def start(*arguments, **options):
        return Both(start_server(*arguments, **dict(options)), start_oracle(*arguments, **dict(options)))
    return start


@pytest.fixture
def only_ketch():
    """Skips what redis-server 7.0 cannot do when the suite checks itself."""
    if subject_is_redis():
        pytest.skip("newer than redis-server 7.0")
