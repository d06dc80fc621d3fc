"""What the measuring scripts share: servers started in a folder of their own, CPU time of a process over a window, the load.

CPU time is the kernel's own account in nanoseconds (/proc/PID/task/*/schedstat), summed over the threads. The window begins
when the connections are up and the load has warmed up, and operations are counted over the same window by the server itself
(INFO), so that neither connecting nor starting is in a figure.
"""
import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("KETCH_BUILD", os.path.join(ROOT, "build", "release"))
KETCH_SERVER = os.path.join(BUILD, "ketch-server")
KETCH_BENCH = os.path.join(BUILD, "ketch-bench")
FLOOR_SERVER = os.path.join(BUILD, "perf-floor_server")
MAX_CLIENTS = 12_000
FORMULA_OVERHEAD = 300  # bytes beside the value that the sizing formula of the azure test allows for each key


class MeasureError(Exception):
    """Something that makes the figures worthless; the message is for the user."""


def size_bytes(text):
    """'256mb' -> 268435456, by the units of redis.conf."""
    units = {"": 1, "b": 1, "k": 1000, "kb": 1 << 10, "m": 1000 ** 2, "mb": 1 << 20, "g": 1000 ** 3, "gb": 1 << 30}
    lowered = text.strip().lower()
    digits = lowered.rstrip("bkmg")
    if not digits.isdigit() or lowered[len(digits):] not in units:
        raise MeasureError(f"not a size: {text} (write 256mb or 2gb)")
    return int(digits) * units[lowered[len(digits):]]


def keys_for(size, value_size=1024):
    """How many keys fill an instance to three quarters, by the published formula."""
    return max(int(size * 0.75 / (value_size + FORMULA_OVERHEAD)), 1)


def raise_descriptor_limit(wanted):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
            return
        raise MeasureError(f"{wanted} open files are needed and {hard} allowed: raise `ulimit -Hn`")
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def end_on_signals():
    """SIGTERM unwinds like Ctrl-C, so that servers are stopped either way."""
    def leave(number, _frame):
        raise SystemExit(128 + number)
    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGHUP, leave)


def need(*programs):
    for program in programs:
        if not (os.access(program, os.X_OK) or shutil.which(program)):
            raise MeasureError(f"{os.path.relpath(program, ROOT) if os.path.isabs(program) else program} is not there; "
                               "run `make` first (or `make perf`, which also builds and installs what the comparison needs)")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_ns(pid):
    """CPU time of all threads of a process that are alive, in nanoseconds."""
    total = 0
    folder = f"/proc/{pid}/task"
    try:
        for thread in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open(f"{folder}/{thread}/schedstat", encoding="ascii") as file:
                    total += int(file.read().split()[0])
    except FileNotFoundError:
        return 0
    return total


def rss_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    raise MeasureError(f"process {pid} has no resident memory")


class Resp:
    """The few commands that measuring needs, over one connection."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.file = self.socket.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    @staticmethod
    def encode(*words):
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)

    def read(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise MeasureError("the server closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise MeasureError(f"the server answered {rest.decode()}")
        if kind == b"$":
            size = int(rest)
            return self.file.read(size + 2)[:-2] if size >= 0 else None
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        return int(rest) if kind == b":" else rest

    def call(self, *words):
        self.socket.sendall(self.encode(*words))
        return self.read()

    def pipeline(self, commands):
        self.socket.sendall(b"".join(self.encode(*command) for command in commands))
        return [self.read() for _ in commands]

    def info(self, section):
        text = self.call("INFO", section).decode()
        return dict(line.split(":", 1) for line in text.split("\r\n") if ":" in line and not line.startswith("#"))


class Server:
    """A server on a free loopback port, in a temporary folder; a context manager that ends it by its pid."""

    def __init__(self, name, command, core=None, ready=b"", answers_info=True):
        self.name, self.core, self.ready, self.answers_info = name, core, ready, answers_info
        self.port = free_port()
        self.folder = tempfile.mkdtemp(prefix="ketch-measure-")
        self.log_path = os.path.join(self.folder, "log")
        self.command = [part.replace("{port}", str(self.port)).replace("{folder}", self.folder) for part in command]
        self.process = self.resp = None

    def __enter__(self):
        command = (["taskset", "-c", str(self.core)] if self.core is not None else []) + self.command
        try:
            with open(self.log_path, "wb") as log:
                # A session of its own: Ctrl-C at the terminal reaches this script, which then ends the server in order.
                self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                                cwd=self.folder, start_new_session=True)
            self.wait_ready()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        code = None
        if self.resp:
            self.resp.close()
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                code = self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        return code

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()[-3000:]

    def alive(self):
        if self.process.poll() is not None:
            raise MeasureError(f"{self.name} ended with {self.process.returncode}:\n{self.log()}")

    def wait_ready(self):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            self.alive()
            with contextlib.suppress(OSError, MeasureError):
                if not self.answers_info:
                    if b"Ready" in self.log().encode():
                        return
                else:
                    self.resp = self.resp or Resp(self.port)
                    if self.resp.call("PING") == b"PONG":
                        return
            time.sleep(0.02)
        raise MeasureError(f"{self.name} did not get ready:\n{self.log()}")

    def operations(self):
        return int(self.resp.info("stats")["total_commands_processed"])

    def connections(self):
        return int(self.resp.info("clients")["connected_clients"])


def ketch(core=None, threads=None, io="auto"):
    command = [KETCH_SERVER, "--port", "{port}", "--bind", "127.0.0.1", "--dir", "{folder}", "--save", "", "--io", io,
               "--maxclients", str(MAX_CLIENTS)]
    if threads:
        command += ["--threads", str(threads)]
    return Server("ketch-server", command, core)


def redis(core=None):
    return Server("redis-server", ["redis-server", "--port", "{port}", "--bind", "127.0.0.1", "--dir", "{folder}", "--save", "",
                                   "--appendonly", "no", "--maxclients", str(MAX_CLIENTS)], core)


def floor(core, io, reply_size):
    return Server(f"floor ({io})", [FLOOR_SERVER, "--port", "{port}", "--io", io, "--reply-size", str(reply_size)], core,
                  answers_info=False)


class Load:
    """One run of a load generator beside a server; a context manager that ends it by its pid."""

    def __init__(self, command, core=None, show=False):
        self.command = (["taskset", "-c", str(core)] if core is not None else []) + command
        self.show = show
        self.log = None
        self.process = None

    def __enter__(self):
        self.log = None if self.show else tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.log:
            self.log.close()

    def output(self):
        if not self.log:
            return ""
        self.log.seek(0)
        return self.log.read().decode(errors="replace")[-2000:]

    def finish(self, timeout):
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise MeasureError(f"{self.command[0]} did not end within {timeout:.0f} s\n{self.output()}") from None
        if code != 0:
            raise MeasureError(f"{' '.join(self.command)}\nended with {code}\n{self.output()}")


def bench_command(port, *options, json_path=None):
    command = [KETCH_BENCH, "-h", "127.0.0.1", "-p", str(port), "--hide-histogram", *[str(option) for option in options]]
    return command + (["--json-out-file", json_path] if json_path else [])


def fill(server, keys, value_size, core=None, first=1, threads=1, show=False):
    """Writes each key once, as the published tests do it."""
    command = bench_command(server.port, "-t", threads, "-c", 10, "--pipeline", 20, "-n", "allkeys", "--key-pattern=P:P", "--ratio=1:0",
                            "-d", value_size, f"--key-minimum={first}", f"--key-maximum={first + keys - 1}")
    with Load(command, core, show) as load:
        load.finish(60 + keys / 2000)
    server.alive()
    found = server.resp.call("DBSIZE")
    if found != keys:
        raise MeasureError(f"{server.name} holds {found} keys after the fill; {keys} were to be written")


def read_result(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Sampler(threading.Thread):
    """Notes the CPU time of a server and of a load twenty times a second, by the wall clock, until told to stop."""

    def __init__(self, pids):
        super().__init__(daemon=True)
        self.pids, self.samples, self.done = pids, [], threading.Event()

    def run(self):
        while not self.done.wait(0.05):
            self.samples.append((time.time(), *[cpu_ns(pid) for pid in self.pids]))

    def at(self, moment, column):
        """Interpolated CPU time at a moment, or None outside of what was seen."""
        for before, after in zip(self.samples, self.samples[1:]):
            if before[0] <= moment <= after[0] and after[0] > before[0]:
                share = (moment - before[0]) / (after[0] - before[0])
                return before[column] + share * (after[column] - before[column])
        return None


def cpu_cores():
    """The processors this process may use, in order."""
    return sorted(os.sched_getaffinity(0))


def latency_of(section):
    percentiles = section["Percentile Latencies"]
    return {short: percentiles[key] for short, key in (("p50", "p50.00"), ("p99", "p99.00"), ("p99.9", "p99.90"))}


def fail(error):
    print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
    return 1
