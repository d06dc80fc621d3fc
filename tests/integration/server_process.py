"""Starts and stops servers under test, each in a directory of its own, and notices when one dies or a sanitizer speaks."""
import os
import re
import signal
import socket
import subprocess
import time

from resp_client import TIMEOUT, RespClient

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
REDIS = os.environ.get("KETCH_ORACLE", "/usr/bin/redis-server")
SANITIZER = re.compile(
    r"ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:|SUMMARY: \w+Sanitizer|assertion .* failed|"
    r"Assertion .* failed|CHECK failed|crashed by signal", re.I)
START_SECONDS = float(os.environ.get("KETCH_START_SECONDS", "30"))


def ketch_binary():
    path = os.environ.get("KETCH_SERVER", "build/release/ketch-server")
    return path if os.path.isabs(path) else os.path.join(ROOT, path)


def subject_is_redis():
    """True when the suite checks itself: Redis on both sides."""
    return os.path.basename(os.path.realpath(ketch_binary())).startswith("redis")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ServerProcess:
    """One server. `arguments` go to the command line after the defaults; `config` is written to a file
    and given first; `config_path` is a file that is there already."""

    def __init__(self, binary, directory, *arguments, config=None, stdin=None, defaults=True, port=None, wait=True,
                 password=None, expect_exit=0, config_path=None):
        self.binary = binary
        self.directory = str(directory)
        os.makedirs(self.directory, exist_ok=True)
        self.port = port or free_port()
        self.password = password
        self.expect_exit = expect_exit
        self.output_path = os.path.join(self.directory, "output.txt")
        self.checked_to = 0
        command = [binary]
        if config is not None:
            self.config_path = os.path.join(self.directory, "server.conf")
            with open(self.config_path, "w", encoding="utf-8") as file:
                file.write(config)
            command.append(self.config_path)
        elif config_path is not None:
            command.append(str(config_path))
        if stdin is not None:
            command.append("-")
        if defaults:
            command += ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.directory, "--save", "",
                        "--appendonly", "no"]
        if not os.path.basename(os.path.realpath(binary)).startswith("redis"):
            command += os.environ.get("KETCH_SERVER_ARGS", "").split()
        command += [str(argument) for argument in arguments]
        self.command = command
        with open(self.output_path, "ab") as output:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                                            stdout=output, stderr=subprocess.STDOUT, cwd=self.directory,
                                            env={"ASAN_OPTIONS": "detect_leaks=1", **os.environ})
        if stdin is not None:
            self.process.stdin.write(stdin.encode())
            self.process.stdin.close()
        if wait:
            self.wait_ready()

    @property
    def address(self):
        return ("127.0.0.1", self.port)

    @property
    def pid(self):
        return self.process.pid

    def output(self):
        with open(self.output_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def wait_ready(self):
        end = time.monotonic() + START_SECONDS
        while True:
            if self.process.poll() is not None:
                raise AssertionError(f"{self.command} ended with {self.process.returncode}:\n{self.output()[-3000:]}")
            try:
                with RespClient(self.address, timeout=START_SECONDS) as client:
                    if client.ask("PING").raw[:1] in b"+-":
                        return
            except OSError:
                pass
            if time.monotonic() > end:
                self.process.kill()
                raise AssertionError(f"{self.command} did not get ready:\n{self.output()[-3000:]}")
            time.sleep(0.02)

    def client(self, protocol=2, timeout=TIMEOUT, receive_buffer=None):
        client = RespClient(self.address, 2, timeout, receive_buffer)
        if self.password:
            client.call("AUTH", self.password)
        if protocol == 3:
            client.call("HELLO", 3)
        return client

    def check(self):
        """Fails when the process died or its output has a sanitizer's report."""
        code = self.process.poll()
        text = self.output()
        fresh, self.checked_to = text[self.checked_to:], len(text)
        if SANITIZER.search(fresh):
            raise AssertionError(f"the server reported a fault:\n{fresh[-6000:]}")
        if code is not None:
            raise AssertionError(f"the server ended with {code}:\n{fresh[-3000:]}")

    def wait(self, seconds=20):
        return self.process.wait(seconds)

    def stop(self, signal_number=signal.SIGTERM, seconds=30):
        """Ends it by pid; the exit must be clean."""
        if self.process.poll() is None:
            self.process.send_signal(signal_number)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{self.command} did not stop within {seconds} s:\n{self.output()[-3000:]}") from None
        text = self.output()
        fault = SANITIZER.search(text)
        if fault:
            raise AssertionError(f"the server reported a fault:\n{text[max(0, fault.start() - 200):][:6000]}")
        if self.expect_exit is not None and code != self.expect_exit:
            raise AssertionError(f"{self.command} ended with {code}:\n{text[-3000:]}")
        return code
