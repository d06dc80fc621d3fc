"""Random sequences of the implemented commands over few keys; nothing in them depends on the order of concurrent work."""
from resp_client import Error
from reply_compare import COMPARATORS, exact

KEYS = [b"a", b"b", b"c", b"counter", b"float", b"\x00bin\r\n", b"", b"long-key-" + b"x" * 80]
TEXTS = [b"", b"x", b"hello", b"hello world", b"0", b"1", b"-1", b"42", b"9223372036854775807", b"-9223372036854775808", b"3.5", b"1e3", b"007", b" 1",
         b"y" * 43, b"y" * 44, b"y" * 45, b"z" * 300, b"\x00\xff\r\n", b"w" * 2000]
ODD = [b"", b"abc", b"-1", b"0", b"9223372036854775807", b"9223372036854775808", b"1.5", b"NX", b"EX", b"PX", b"GET", b"\xff", b"*", b"REPLACE", b"DB"]
NEAR = {b"TTL": "2", b"EXPIRETIME": "2", b"PTTL": "5000", b"PEXPIRETIME": "5000"}


def compare_replies(command, subject, oracle):
    """True when the two replies to a generated command agree."""
    name = command[0].upper()
    if name in NEAR:
        return COMPARATORS["near"](subject, oracle, NEAR[name])
    if name == b"KEYS":
        return COMPARATORS["sorted"](subject, oracle)
    if name == b"SCAN":
        return COMPARATORS["scan"](subject, oracle)
    if name == b"HELLO":
        return COMPARATORS["hello"](subject, oracle)
    if name == b"RANDOMKEY":
        return isinstance(subject.value, Error) == isinstance(oracle.value, Error) and (subject.value is None) == (oracle.value is None)
    if name == b"OBJECT" and len(command) > 1 and command[1].upper() == b"IDLETIME":
        return type(subject.value) is type(oracle.value)
    return exact(subject, oracle)


class RandomCommands:
    """take(n) gives n commands. timeless: none whose reply depends on the clock or has no fixed order."""

    def __init__(self, source, timeless=False):
        self.source = source
        self.timeless = timeless
        self.makers = [(self.string, 40), (self.number, 25), (self.expiry, 0 if timeless else 15), (self.generic, 25), (self.connection, 4)]
        self.weights = [weight for _, weight in self.makers]

    def take(self, count):
        commands = []
        for _ in range(count):
            make = self.source.choices(self.makers, self.weights)[0][0]
            commands.append(self.spoil(make()))
        return commands

    def pick(self, *items):
        return self.source.choice(items)

    def key(self):
        return self.source.choice(KEYS)

    def keys(self, most=4):
        return [self.key() for _ in range(self.source.randint(1, most))]

    def text(self):
        if self.source.random() < 0.3:
            return b"%d" % self.source.randint(-1000, 1000)
        return self.source.choice(TEXTS)

    def case(self, word):
        return self.pick(word, word, word, word.lower(), word.capitalize())

    def spoil(self, command):
        chance = self.source.random()
        if command[0].upper() in (b"FLUSHALL", b"HELLO", b"SWAPDB") or chance > 0.06:
            return command
        if chance < 0.02 and len(command) > 1:
            return command[:-1]
        if chance < 0.04:
            return command + [self.source.choice(ODD)]
        if len(command) > 1 and command[0].upper() != b"SETRANGE":
            at = self.source.randrange(1, len(command))
            return command[:at] + [self.source.choice(ODD)] + command[at + 1:]
        return command

    def time_option(self, persist):
        kinds = [[b"EX", b"%d" % self.source.randint(1000, 10 ** 7)], [b"PX", b"%d" % self.source.randint(10 ** 6, 10 ** 10)],
                 [b"EXAT", b"%d" % self.source.randint(33177117420, 33177999999)],
                 [b"PXAT", b"%d" % self.source.randint(33177117420000, 33177999999999)], [persist], [b"EXAT", b"1"], [b"EX", b"0"]]
        return self.source.choice(kinds)

    def string(self):
        key, text = self.key(), self.text()
        choice = self.source.randrange(16)
        if choice < 4:
            command = [self.case(b"SET"), key, text]
            if self.source.random() < 0.3:
                command.append(self.pick(b"NX", b"XX", b"nx", b"xx"))
            if self.source.random() < 0.2:
                command.append(b"GET")
            if not self.timeless and self.source.random() < 0.3:
                option = self.time_option(b"KEEPTTL")
                # A SET into the past leaves a key that is there for DBSIZE until somebody notices.
                command += option if option[-1] != b"1" else []
            return command
        if choice < 7:
            return [self.case(b"GET"), key]
        if choice == 7:
            return [self.case(b"MGET")] + self.keys(6)
        if choice == 8:
            return [self.pick(b"MSET", b"MSET", b"MSETNX")] + [word for one in self.keys() for word in (one, self.text())]
        if choice == 9:
            return [b"APPEND", key, self.source.choice(TEXTS[:12])]
        if choice == 10:
            return [self.pick(b"GETSET", b"SETNX"), key, text]
        if choice == 11:
            return [b"GETDEL", key]
        if choice == 12:
            return [b"GETEX", key] + (self.time_option(b"PERSIST") if not self.timeless and self.source.random() < 0.7 else [])
        if choice == 13:
            return [self.pick(b"GETRANGE", b"SUBSTR"), key, b"%d" % self.source.randint(-50, 50), b"%d" % self.source.randint(-50, 50)]
        if choice == 14:
            return [b"SETRANGE", key, b"%d" % self.source.choice([0, 1, 5, 44, 100, -1]), self.source.choice(TEXTS[:10])]
        options = self.pick([], [b"LEN"], [b"IDX"], [b"IDX", b"WITHMATCHLEN"], [b"IDX", b"MINMATCHLEN", b"2"])
        return self.pick([b"STRLEN", key], [b"LCS", key, self.key()] + options)

    def number(self):
        key = self.pick(b"counter", b"counter", self.key())
        choice = self.source.randrange(4)
        if choice == 0:
            return [self.case(self.pick(b"INCR", b"DECR")), key]
        if choice == 1:
            return [self.pick(b"INCRBY", b"DECRBY"), key, b"%d" % self.source.choice([1, 5, -3, 0, 1 << 40, 1 << 62, -(1 << 63)])]
        if choice == 2:
            return [b"INCRBYFLOAT", self.pick(b"float", key), self.source.choice([b"0.1", b"-1.5", b"3", b"1e10", b"-1e-5", b"2.25", b"abc", b"inf"])]
        return [b"SET", key, b"%d" % self.source.randint(-10 ** 6, 10 ** 6)]

    def expiry(self):
        key = self.key()
        choice = self.source.randrange(4)
        if choice == 0:
            name = self.pick(b"EXPIRE", b"PEXPIRE", b"EXPIREAT", b"PEXPIREAT")
            amount = {b"EXPIRE": (1000, 10 ** 7), b"PEXPIRE": (10 ** 6, 10 ** 10), b"EXPIREAT": (33177117420, 33177999999),
                      b"PEXPIREAT": (33177117420000, 33177999999999)}[name]
            when = self.source.randint(*amount) if self.source.random() < 0.93 else self.source.choice([-1, 0])
            flags = self.pick([], [], [b"NX"], [b"XX"], [b"GT"], [b"LT"], [b"XX", b"GT"], [b"NX", b"GT"], [b"gt", b"lt"])
            return [name, key, b"%d" % when] + flags
        if choice == 1:
            return [b"PERSIST", key]
        return [self.pick(b"TTL", b"PTTL", b"EXPIRETIME", b"PEXPIRETIME"), key]

    def generic(self):
        key = self.key()
        choice = self.source.randrange(16)
        if choice < 2:
            return [self.pick(b"DEL", b"UNLINK")] + self.keys()
        if choice < 4:
            return [self.pick(b"EXISTS", b"TOUCH")] + self.keys()
        if choice < 6:
            return [self.pick(b"RENAME", b"RENAMENX"), key, self.key()]
        if choice < 8:
            options = self.pick([], [b"REPLACE"], [b"DB", b"%d" % self.source.randrange(3)], [b"DB", b"1", b"REPLACE"])
            return [b"COPY", key, self.key()] + options
        if choice == 8:
            return [b"MOVE", key, b"%d" % self.source.randrange(3)]
        if choice == 9:
            return [self.pick(b"TYPE", b"TYPE", b"DBSIZE"), key][:self.pick(1, 2, 2)]
        if choice == 10:
            return [b"OBJECT", self.pick(b"ENCODING", b"ENCODING", b"FREQ", b"ENCODING" if self.timeless else b"IDLETIME"), key]
        if choice == 11:
            return [b"SELECT", b"%d" % self.source.choice([0, 0, 0, 1, 2])]
        if choice == 12:
            return [b"DBSIZE"]
        if choice == 13 and not self.timeless:
            return self.pick([b"KEYS", self.source.choice([b"*", b"?", b"c*", b"[a-c]", b"*\\x00*"])], [b"RANDOMKEY"],
                             [b"SCAN", b"0", b"COUNT", b"1000"], [b"SCAN", b"0", b"MATCH", b"c*", b"COUNT", b"1000", b"TYPE", b"string"])
        if choice == 14 and self.source.random() < 0.1:
            return self.pick([b"FLUSHDB"], [b"SWAPDB", b"0", b"1"], [b"FLUSHALL", b"ASYNC"], [b"SWAPDB", b"1", b"2"])
        return [b"EXISTS", key]

    def connection(self):
        return self.pick([b"PING"], [b"ECHO", self.text()], [b"PING", self.text()], [b"NOSUCH", self.key(), self.text()],
                         [b"CLIENT", b"GETNAME"], [b"CLIENT", b"SETNAME", self.pick(b"me", b"a b", b"")], [b"COMMAND", b"GETKEYS", b"MGET", self.key()],
                         [b"RESET"])
