"""Runs one script on two servers and compares the replies, in RESP2 and RESP3.

A script is text, one command a line, words split as redis-cli does. After an unquoted `~` follows how the two replies may
differ, after an unquoted `=` what the reply must be (for what the oracle does not know yet):

    SET k v EX 100
    TTL k                       ~ near 1
    KEYS *                      ~ sorted
    CLIENT SETINFO lib-name x   = +OK
    @b GET k                    (on a second connection named b)
    .sleep 0.05

`~ name arguments` is a comparator below. `#` begins a comment line.
"""
import re
import time

from resp_client import CLOSED, Closed, Error, Map, RespClient, Set, encode, tokens
from server_process import subject_is_redis


def exact(subject, oracle):
    return subject.raw == oracle.raw


def sorted_elements(subject, oracle):
    """The same elements in any order (a flat or nested list, a set, a map)."""
    def key(reply):
        return reply.raw.split(b"\r\n", 1)[0], sorted(map(repr, reply.value or []))
    return type(subject.value) is type(oracle.value) and (
        key(subject) == key(oracle) if isinstance(oracle.value, list) else subject.raw == oracle.raw)


def pairs_any_order(subject, oracle):
    """A flat list of pairs (RESP2 map) in any order."""
    def pairs(value):
        if isinstance(value, Map):
            return sorted(map(repr, value))
        return sorted(repr((value[at], value[at + 1])) for at in range(0, len(value), 2))
    return type(subject.value) is type(oracle.value) and pairs(subject.value) == pairs(oracle.value)


def kind(subject, oracle):
    """The same RESP type; an error must be the same error."""
    if isinstance(oracle.value, Error) or isinstance(subject.value, Error):
        return subject.raw == oracle.raw
    return subject.raw[:1] == oracle.raw[:1]


def code(subject, oracle):
    """Both an error with the same first word, or both none."""
    if isinstance(oracle.value, Error) and isinstance(subject.value, Error):
        return subject.value.split(b" ")[0] == oracle.value.split(b" ")[0]
    return kind(subject, oracle)


def near(subject, oracle, distance):
    """Integers that far apart at most; 0 and negative ones are exact."""
    left, right = subject.value, oracle.value
    if type(left) is not int or type(right) is not int or left <= 0 or right <= 0:
        return subject.raw == oracle.raw
    return abs(left - right) <= int(distance)


def first(subject, oracle, count):
    """The first elements are the same."""
    count = int(count)
    return isinstance(subject.value, list) and subject.value[:count] == oracle.value[:count]


def shape(subject, oracle):
    """The same types all the way down, whatever the values and the lengths of strings."""
    def of(value):
        if isinstance(value, Map):
            return ["map"] + [(key, of(item)) for key, item in value]
        if isinstance(value, list):
            return [type(value).__name__] + [of(item) for item in value]
        return type(value).__name__
    return of(subject.value) == of(oracle.value)


def masked(subject, oracle, *patterns):
    """The same text when every match of the patterns is blanked out."""
    def blank(text):
        for pattern in patterns:
            text = re.sub(pattern.encode(), b"*", text)
        return re.sub(rb"^([$=])\d+", rb"\1", text)
    return blank(subject.raw) == blank(oracle.raw)


def fields(subject, oracle, *ignored):
    """CLIENT INFO lines: the oracle's field names are all there, and the values are the same but of those ignored."""
    ignored = set(ignored)

    def split(value):
        return [dict(item.split("=", 1) for item in line.split()) for line in value.decode().splitlines()]
    if not isinstance(oracle.value, bytes) or isinstance(oracle.value, Error):
        return subject.raw == oracle.raw
    left, right = split(subject.value), split(oracle.value)
    return subject.raw[:1] == oracle.raw[:1] and len(left) == len(right) and all(
        name in one and (name in ignored or one[name] == value)
        for one, two in zip(left, right) for name, value in two.items())


def hello(subject, oracle):
    """HELLO's map: everything but the version and the connection's id is the same."""
    def known(value):
        flat = [item for pair in value for item in pair] if isinstance(value, Map) else list(value)
        for at in (3, 7):
            flat[at] = type(flat[at])
        return flat
    if not isinstance(oracle.value, list) or not isinstance(subject.value, list):
        return subject.raw == oracle.raw
    return type(subject.value) is type(oracle.value) and known(subject.value) == known(oracle.value)


def scan(subject, oracle):
    """SCAN: when both finished at once, the same keys in any order; cursors are the server's own."""
    if not isinstance(oracle.value, list) or not isinstance(subject.value, list):
        return subject.raw == oracle.raw
    if subject.value[0] == oracle.value[0] == b"0":
        return sorted(subject.value[1]) == sorted(oracle.value[1])
    return len(subject.value) == 2 and subject.value[0].isdigit()


def anything(subject, oracle):
    return True


COMPARATORS = {
    "sorted": sorted_elements, "pairs": pairs_any_order, "kind": kind, "code": code, "near": near, "first": first,
    "shape": shape, "masked": masked, "fields": fields, "hello": hello, "scan": scan, "skip": anything,
}


class Step:
    """One line of a script."""

    def __init__(self, number, text):
        self.number = number
        self.text = text
        self.connection = ""
        self.args = []
        self.compare = exact
        self.compare_args = ()
        self.expected = None
        line = text.encode()
        if line.startswith(b"@"):
            name, line = line.split(None, 1)
            self.connection = name.decode()
        for token, quoted, after in tokens(line):
            if not quoted and token == b"~":
                name, *arguments = [word.decode() for word, _, _ in tokens(line[after:])]
                self.compare, self.compare_args = COMPARATORS[name], arguments
                break
            if not quoted and token == b"=":
                self.expected = line[after:].strip().decode()
                break
            self.args.append(token)

    def accepts(self, subject, oracle):
        if self.expected is not None:
            return subject_is_redis() or matches_expected(subject, self.expected)
        if subject is CLOSED or oracle is CLOSED:
            return subject is oracle
        return self.compare(subject, oracle, *self.compare_args)


def matches_expected(reply, expected):
    """`+OK`, `:1`, `-ERR text`, `$bulk`, `_` (any null), `-ERR text...` and `$bulk...` (prefix), `/regex/` on the raw reply."""
    if expected.startswith("/"):
        return re.search(expected.strip("/").encode(), reply.raw, re.S) is not None
    if expected == "_":
        return reply.value is None
    if expected.startswith("$"):
        wanted, value = expected[1:].encode(), reply.value
        return isinstance(value, bytes) and (value == wanted or (wanted.endswith(b"...") and
                                                                 value.startswith(wanted[:-3])))
    if expected.endswith("..."):
        return reply.raw.startswith(expected[:-3].encode())
    return reply.raw == expected.encode() + b"\r\n"


def parse_script(text):
    steps = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line and not line.startswith("#"):
            steps.append(line if line.startswith(".") else Step(number, line))
    return steps


class Side:
    """One server's connections while a script runs."""

    def __init__(self, server, protocol):
        self.server = server
        self.protocol = protocol
        self.connections = {}

    def ask(self, name, args):
        client = self.connections.get(name)
        if client is None:
            client = self.connections[name] = self.server.client(self.protocol)
        try:
            client.send(encode(args))
            return client.read()
        except (Closed, OSError) as error:
            client.close()
            del self.connections[name]
            if isinstance(error, TimeoutError):
                raise AssertionError(f"no reply to {args!r} from {self.server.command[0]}") from error
            return CLOSED

    def close(self):
        for client in self.connections.values():
            client.close()


class Both:
    """The two servers."""

    def __init__(self, subject, oracle):
        self.ketch = subject
        self.oracle = oracle

    @property
    def servers(self):
        return (self.ketch, self.oracle)

    def flush(self):
        for server in self.servers:
            with server.client() as client:
                client.call("FLUSHALL")

    def compare(self, script, protocols=(2, 3), flush=True):
        """Runs the script on fresh connections in each protocol; raises with all differences at once."""
        steps = parse_script(script)
        assert steps, "an empty script"
        problems = []
        for protocol in protocols:
            if flush:
                self.flush()
            problems += self._run(steps, protocol)
        if problems:
            raise AssertionError(f"{len(problems)} replies differ\n" + "\n".join(problems[:40]))

    def _run(self, steps, protocol):
        problems = []
        sides = [Side(server, protocol) for server in self.servers]
        try:
            for step in steps:
                if isinstance(step, str):
                    directive(step)
                    continue
                subject = sides[0].ask(step.connection, step.args)
                oracle = CLOSED if step.expected is not None else sides[1].ask(step.connection, step.args)
                if not step.accepts(subject, oracle):
                    wanted = f"wanted {step.expected}" if step.expected is not None else f"redis  {oracle!r}"
                    problems.append(f"RESP{protocol} line {step.number}: {step.text[:200]}\n    ketch  {subject!r}\n"
                                    f"    {wanted}")
        finally:
            for side in sides:
                side.close()
        return problems

    def same_bytes(self, chunks, pause=0.0, protocol=2, half_close=False, end=None):
        """Sends the chunks as they are to both, then a marker (or `end`, which must make the server close), and compares
        all bytes until the marker or the close."""
        answers = []
        for server in self.servers:
            with server.client(protocol) as client:
                answers.append(exchange(client, chunks, pause, half_close, end))
        if answers[0] != answers[1]:
            at = next((at for at, (left, right) in enumerate(zip(*answers)) if left != right), min(map(len, answers)))
            start = max(0, at - 200)
            raise AssertionError(f"differs at byte {at}; sent {shorten(b''.join(chunks))}\n ketch ...{shorten(answers[0][start:])}\n"
                                 f" redis ...{shorten(answers[1][start:])}")
        return answers[1]


def shorten(data):
    return repr(data if len(data) < 600 else data[:300] + b" ... " + data[-280:])


MARKER = b"end-of-the-exchange"


def exchange(client, chunks, pause=0.0, half_close=False, end=None):
    """All bytes that the server answers to the chunks; ends at the echo of a marker or when the server closes."""
    closed = b"(open)"
    try:
        for chunk in chunks:
            client.send(chunk)
            if pause:
                time.sleep(pause)
        if half_close:
            client.half_close()
        else:
            client.send(encode(["ECHO", MARKER]) if end is None else end)
    except (BrokenPipeError, ConnectionResetError):
        pass
    data = bytearray()
    while MARKER not in data[-100:]:
        try:
            more = client.socket.recv(1 << 16)
        except ConnectionResetError:
            more = b""
        if not more:
            closed = b"(closed)"
            break
        data += more
    return bytes(data) + closed


def directive(line):
    word, *rest = line.split()
    if word == ".sleep":
        time.sleep(float(rest[0]))
    else:
        raise AssertionError(f"no such directive: {line}")


__all__ = ["Both", "Set", "RespClient", "exchange"]
