"""Random command sequences give the same replies and leave the same content on both servers.

KETCH_RANDOM_COMMANDS  how many commands for each protocol (default 30000)
KETCH_RANDOM_SEED      repeats a run
"""
import os
import random

import pytest

from random_commands import RandomCommands, compare_replies
from reply_compare import COMPARATORS
from resp_client import encode

COUNT = int(os.environ.get("KETCH_RANDOM_COMMANDS", "30000"))
CONNECTIONS = 3


def ask_all(client, commands):
    client.send(b"".join(encode(command) for command in commands))
    return [client.read() for _ in commands]


def content(server):
    """Everything in the 16 databases: value, encoding, and the time of expiry."""
    found = {}
    with server.client() as client:
        for db in range(16):
            client.call("SELECT", db)
            keys = sorted(client.call("KEYS", "*"))
            assert client.call("DBSIZE") == len(keys), f"DBSIZE of database {db} is not the number of its keys"
            for key in keys:
                value, encoding, expiry = client.pipeline([["GET", key], ["OBJECT", "ENCODING", key], ["PEXPIRETIME", key]])
                found[db, key] = (value, encoding, expiry)
    return found


@pytest.mark.parametrize("protocol", [2, 3])
def test_random_commands(both, protocol):
    seed = int(os.environ.get("KETCH_RANDOM_SEED", random.randrange(1 << 30)))
    print(f"KETCH_RANDOM_SEED={seed}")
    source = random.Random(seed)
    generator = RandomCommands(source)
    clients = [[server.client(protocol) for _ in range(CONNECTIONS)] for server in both.servers]
    history = []
    for done in range(0, COUNT, 100):
        turn = source.randrange(CONNECTIONS)
        commands = generator.take(source.choice([1, 10, 100, 100, 100]))
        ours, theirs = (ask_all(side[turn], commands) for side in clients)
        history = (history + [(turn, command) for command in commands])[-400:]
        for at, (command, left, right) in enumerate(zip(commands, ours, theirs)):
            if not compare_replies(command, left, right):
                before = history[:len(history) - len(commands) + at][-40:]
                raise AssertionError(f"KETCH_RANDOM_SEED={seed}, near command {done}\n" + "\n".join(f"  {one}" for one in before) +
                                     f"\n{command}\n  ketch {left}\n  redis {right}")
    for side in clients:
        for client in side:
            client.close()
    ours, theirs = content(both.ketch), content(both.oracle)
    assert ours.keys() == theirs.keys(), seed
    for where, (value, encoding, expiry) in theirs.items():
        assert ours[where][:2] == (value, encoding), (seed, where)
        assert abs(ours[where][2] - expiry) < 10000, (seed, where)


def test_the_generator_reaches_every_data_command():
    names = {command[0].upper() for command in RandomCommands(random.Random(1)).take(20000)}
    assert len(names) >= 50, sorted(names)
    assert COMPARATORS
