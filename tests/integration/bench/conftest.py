"""Fixtures of the load generator's tests."""
from pathlib import Path

import pytest

from bench_process import PASSWORD, SERVERS, Server, bench_run


@pytest.fixture(params=SERVERS, ids=[Path(path).name for path in SERVERS])
def program(request):
    return request.param


@pytest.fixture
def server(program, tmp_path):
    server = Server(program, tmp_path)
    server.client().config_resetstat()
    yield server
    server.kill()


@pytest.fixture
def locked_server(program, tmp_path):
    server = Server(program, tmp_path, "--requirepass", PASSWORD)
    yield server
    server.kill()


@pytest.fixture
def bench(tmp_path):
    """bench(server, options...) runs against a server and reads the JSON."""

    def run(server, *arguments, check=0, timeout=60):
        return bench_run("-h", "127.0.0.1", "-p", server.port, *arguments, json_path=tmp_path / "result.json",
                         check=check, timeout=timeout)

    return run
