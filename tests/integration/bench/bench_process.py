"""Servers and the load generator, as the tests of this folder use them.

Every test runs against Debian's redis-server and against ketch-server, whichever of the two there is. KETCH_SERVER and
KETCH_BENCH name the programs; the defaults are those of the release build.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import redis

ROOT = Path(__file__).resolve().parents[3]
KETCH_SERVER = str(ROOT / os.environ.get("KETCH_SERVER", "build/release/ketch-server"))
KETCH_BENCH = str(ROOT / os.environ.get("KETCH_BENCH", "build/release/ketch-bench"))
SERVERS = [path for path in dict.fromkeys((shutil.which("redis-server"), KETCH_SERVER))
           if path and os.access(path, os.X_OK)]
PASSWORD = "s3cret:word"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server of its own in a temporary directory."""

    def __init__(self, program, directory, *options):
        self.program = program
        self.port = free_port()
        self.unix = str(directory / "socket")
        self.password = None
        if "--requirepass" in options:
            self.password = options[options.index("--requirepass") + 1]
        self.process = subprocess.Popen(
            [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--unixsocket", self.unix,
             "--dir", str(directory), *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while True:
            try:
                self.client().ping()
                break
            except redis.ConnectionError:
                assert self.process.poll() is None, "the server ended at once"
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.02)

    def client(self, database=0):
        return redis.Redis(port=self.port, password=self.password, db=database)

    def calls(self):
        """Calls by command since the last CONFIG RESETSTAT."""
        stats = self.client().info("commandstats")
        return {name.removeprefix("cmdstat_"): fields["calls"] for name, fields in stats.items()}

    def suspend(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Run:
    """What one invocation said."""

    def __init__(self, done, json_path):
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.json_text = json_path.read_text() if json_path and json_path.exists() else None
        self.json = json.loads(self.json_text) if self.json_text else None

    @property
    def stats(self):
        return self.json["ALL STATS"]


def bench_run(*arguments, json_path=None, timeout=60, check=0):
    command = [KETCH_BENCH, *map(str, arguments)]
    if json_path:
        command.append(f"--json-out-file={json_path}")
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, errors="replace")
    run = Run(done, json_path)
    assert check is None or run.status == check, f"status {run.status}\n{run.stdout}\n{run.stderr}"
    return run


def bench_start(*arguments):
    return subprocess.Popen([KETCH_BENCH, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, errors="replace")
