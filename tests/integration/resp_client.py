"""A raw RESP client: it keeps the exact bytes of every reply beside the parsed value, and never repairs anything."""
import os
import re
import socket

# How long a reply may take before the test fails.
TIMEOUT = float(os.environ.get("KETCH_CLIENT_SECONDS", "30"))


class Simple(bytes):
    """A simple string (+OK)."""


class Error(bytes):
    """An error reply, without the leading '-'."""


class Double(float):
    """A RESP3 double."""


class BigNumber(int):
    """A RESP3 big number."""


class Verbatim(bytes):
    """A RESP3 verbatim string, without its "txt:" prefix."""


class Map(list):
    """A RESP3 map as a list of (key, value) pairs: order and doubles stay visible."""


class Set(list):
    """A RESP3 set in the order sent."""


class Push(list):
    """A RESP3 push message."""


class Closed(Exception):
    """The server closed the connection."""


class Reply:
    """One reply: `value` parsed, `raw` the bytes."""

    __slots__ = ("value", "raw")

    def __init__(self, value, raw):
        self.value = value
        self.raw = raw

    def __repr__(self):
        shown = self.raw if len(self.raw) <= 400 else self.raw[:200] + b"...(%d bytes)..." % len(self.raw) + self.raw[-150:]
        return repr(shown)


CLOSED = Reply("closed", b"(connection closed)")

TOKEN = re.compile(rb"""\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|(\S+))""", re.S)
ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|.)", re.S)
ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"0": b"\0"}


def unescape(text):
    def one(match):
        what = match.group(1)
        return bytes([int(what[1:], 16)]) if len(what) == 3 else ESCAPED.get(what, what)

    return ESCAPE.sub(one, text)


def tokens(line):
    """Splits a line as redis-cli does; yields (token, was_quoted, offset after it)."""
    at = 0
    line = line.rstrip()
    while at < len(line):
        match = TOKEN.match(line, at)
        at = match.end()
        double, single, bare = match.groups()
        if bare is not None:
            yield bare, False, at
        elif single is not None:
            yield single.replace(b"\\'", b"'"), True, at
        else:
            yield unescape(double), True, at


def words(line):
    return [token for token, _, _ in tokens(line if isinstance(line, bytes) else line.encode())]


def to_bytes(arg):
    if isinstance(arg, (bytes, bytearray)):
        return bytes(arg)
    if isinstance(arg, float):
        return repr(arg).encode()
    return str(arg).encode()


def encode(args):
    """A request: an array of bulk strings."""
    parts = [b"*%d\r\n" % len(args)]
    for arg in args:
        arg = to_bytes(arg)
        parts.append(b"$%d\r\n%s\r\n" % (len(arg), arg))
    return b"".join(parts)


class RespClient:
    """A blocking connection. `call` takes words, or one string that is split as redis-cli would."""

    def __init__(self, address, protocol=2, timeout=TIMEOUT, receive_buffer=None):
        self.address = address
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(timeout)
        self.socket.connect(address)
        if family == socket.AF_INET:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data = bytearray()
        self.at = 0
        if protocol == 3:
            hello = self.call("HELLO", 3)
            assert isinstance(hello, Map), f"HELLO 3 answered {hello!r}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    # -- sending

    def send(self, data):
        self.socket.sendall(data)

    def half_close(self):
        self.socket.shutdown(socket.SHUT_WR)

    # -- receiving

    def _fill(self):
        try:
            data = self.socket.recv(1 << 18)
        except (ConnectionResetError, BrokenPipeError) as error:
            raise Closed(str(error)) from error
        if not data:
            raise Closed("end of stream")
        self.data += data

    def _line(self):
        while True:
            end = self.data.find(b"\r\n", self.at)
            if end >= 0:
                line = bytes(self.data[self.at:end])
                self.at = end + 2
                return line
            self._fill()

    def _exact(self, size):
        while len(self.data) - self.at < size + 2:
            self._fill()
        chunk = bytes(self.data[self.at:self.at + size])
        assert self.data[self.at + size:self.at + size + 2] == b"\r\n", "a bulk does not end with CRLF"
        self.at += size + 2
        return chunk

    def _value(self):
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind == b"+":
            return Simple(rest)
        if kind == b"-":
            return Error(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self._exact(size)
        if kind == b"*":
            size = int(rest)
            return None if size < 0 else [self._value() for _ in range(size)]
        if kind == b"%":
            return Map((self._value(), self._value()) for _ in range(int(rest)))
        if kind == b"~":
            return Set(self._value() for _ in range(int(rest)))
        if kind == b">":
            return Push(self._value() for _ in range(int(rest)))
        if kind == b"_":
            return None
        if kind == b"#":
            return {b"t": True, b"f": False}[rest]
        if kind == b",":
            return Double(rest)
        if kind == b"(":
            return BigNumber(rest)
        if kind == b"=":
            return Verbatim(self._exact(int(rest))[4:])
        if kind == b"!":
            return Error(self._exact(int(rest)))
        if kind == b"|":
            for _ in range(int(rest)):
                self._value(), self._value()
            return self._value()
        raise AssertionError(f"not RESP: {line!r}")

    def read(self):
        """The next reply; raises Closed."""
        start = self.at
        value = self._value()
        raw = bytes(self.data[start:self.at])
        if self.at > 1 << 16 or self.at == len(self.data):
            del self.data[:self.at]
            self.at = 0
        return Reply(value, raw)

    def read_to_end(self):
        """All bytes until the server closes."""
        try:
            while True:
                self._fill()
        except Closed:
            pass
        data, self.data, self.at = bytes(self.data[self.at:]), bytearray(), 0
        return data

    def is_closed_within(self, seconds):
        """True when the server closes, with nothing more sent, within that time."""
        before = self.socket.gettimeout()
        self.socket.settimeout(seconds)
        try:
            self._fill()
            return False
        except Closed:
            return True
        except TimeoutError:
            return False
        finally:
            self.socket.settimeout(before)

    # -- calls

    def ask(self, *args):
        """Sends one command, returns its Reply."""
        if len(args) == 1 and isinstance(args[0], str) and " " in args[0]:
            args = words(args[0])
        self.send(encode(args))
        return self.read()

    def call(self, *args):
        """Sends one command, returns the parsed value."""
        return self.ask(*args).value

    def pipeline(self, commands):
        """Sends all at once; the parsed replies."""
        self.send(b"".join(encode(command) for command in commands))
        return [self.read().value for _ in commands]
