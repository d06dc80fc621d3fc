"""Many connections do multi-key work at once: nothing may be torn, lost or doubled.

KETCH_TORTURE_SECONDS  how long each mode runs (default 2)
"""
import os
import subprocess

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = os.environ.get("KETCH_TORTURE_SECONDS", "2")
MODES = ["transfer", "version", "flush", "swapdb", "incr", "getset", "msetnx", "rename", "move"]


@pytest.fixture(scope="session")
def torture_program(tmp_path_factory):
    program = str(tmp_path_factory.mktemp("torture") / "torture")
    built = subprocess.run(["cc", "-std=gnu17", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, os.path.join(HERE, "torture.c"), "-lhiredis",
                            "-pthread"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, f"libhiredis-dev and a C compiler are needed:\n{built.stderr}"
    return program


def torture(program, server, mode, seconds, connections):
    done = subprocess.run([program, "127.0.0.1", str(server.port), mode, str(seconds), str(connections)], capture_output=True,
                          text=True, timeout=float(seconds) + 60, check=False)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("mode", MODES)
def test_torture(ketch, torture_program, mode):
    torture(torture_program, ketch, mode, SECONDS, 8)


@pytest.mark.parametrize("mode", ["transfer", "flush"])
def test_torture_with_many_connections(ketch, torture_program, mode):
    torture(torture_program, ketch, mode, SECONDS, 64)


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_long_torture(start_server, torture_program, mode):
    torture(torture_program, start_server("--threads", "4"), mode, 20, 32)
