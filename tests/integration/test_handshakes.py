"""What well-known clients send when they connect, replayed; and that connections see each other's writes at once."""
import threading

import pytest

from resp_client import Error, encode, words
from server_process import subject_is_redis

# As the clients document or log it; replies of commands that are newer than the oracle are not compared.
HANDSHAKES = {
    "redis-py": ["CLIENT SETNAME py", "CLIENT SETINFO LIB-NAME redis-py ~ skip", "CLIENT SETINFO LIB-VER 5.0.0 ~ skip", "SELECT 1", "PING"],
    "redis-py-resp3": ["HELLO 3 ~ hello", "CLIENT SETINFO LIB-NAME redis-py ~ skip", "SELECT 1"],
    "jedis": ["HELLO 3 AUTH default x ~ hello", "CLIENT SETINFO LIB-NAME jedis ~ skip", "PING"],
    "go-redis": ["HELLO 3 ~ hello", "CLIENT SETINFO LIB-NAME go-redis(,go1.22) ~ skip", "CLIENT MAINT_NOTIFICATIONS on ~ code", "SELECT 0"],
    "lettuce": ["HELLO 3 ~ hello", "CLIENT SETINFO lib-name Lettuce ~ skip", "CLIENT SETNAME lettuce#ClusterTopologyRefresh", "INFO ~ kind"],
    "ioredis": ["INFO ~ kind", "CLIENT SETNAME io", "SELECT 2", "CLIENT SETINFO LIB-NAME ioredis ~ skip"],
    "node-redis": ["HELLO 2 SETNAME node ~ hello", "CLIENT SETINFO LIB-NAME node-redis ~ skip", "CLIENT SETINFO LIB-VER 4.6 ~ skip"],
    "stackexchange": ["CLIENT SETNAME host", "CLIENT SETINFO LIB-NAME SE.Redis ~ skip", "CONFIG GET timeout", "CONFIG GET slave-read-only",
                      "CONFIG GET databases", "INFO replication ~ kind", "INFO server ~ kind", "GET __Booksleeve_TieBreak",
                      "ECHO \"\\x01\\x02\""],
    "sidekiq": ["HELLO 3 ~ hello", "CLIENT SETINFO LIB-NAME sidekiq ~ skip", "INFO ~ kind", "CLIENT SETNAME sidekiq"],
    "spring-session": ["CONFIG GET notify-keyspace-events", "CONFIG SET notify-keyspace-events Egx", 'CONFIG SET notify-keyspace-events ""'],
    "redis-cli": ["COMMAND DOCS ~ kind", "COMMAND ~ kind", "INFO ~ kind"],
    "exporter": ["CLIENT SETNAME redis_exporter", "CONFIG GET * ~ kind", "INFO ALL ~ kind", "CLIENT LIST ~ kind", "COMMAND INFO NOSUCH ~ kind"],
}


@pytest.mark.parametrize("name", HANDSHAKES)
def test_handshake(both, name):
    both.compare("\n".join(HANDSHAKES[name]), protocols=(2,))


@pytest.mark.parametrize("name", HANDSHAKES)
def test_handshake_in_one_write(ketch, name):
    lines = [line.split(" ~ ")[0] for line in HANDSHAKES[name]]
    with ketch.client() as client:
        replies = client.pipeline([words(line) for line in lines])
        for line, reply in zip(lines, replies):
            newer = "SETINFO" in line and subject_is_redis()
            assert not isinstance(reply, Error) or newer or "MAINT" in line or "AUTH" in line, (line, reply)


def test_a_write_is_seen_by_other_connections_at_once(ketch):
    clients = [ketch.client() for _ in range(16)]
    for number in range(3000):
        writer, reader = clients[number % 16], clients[(number * 7 + 3) % 16]
        assert writer.call("SET", b"seen:%d" % (number % 50), number) == b"OK"
        assert reader.call("GET", b"seen:%d" % (number % 50)) == b"%d" % number
    for client in clients:
        client.close()


def test_a_pipeline_of_one_connection_runs_in_order(ketch):
    """Other connections may come between, but a connection's own commands never overtake each other."""
    failures = []

    def work(number):
        with ketch.client() as client:
            for turn in range(40):
                commands = []
                for at in range(50):
                    commands += [["SET", f"own:{number}:{at % 5}", f"{turn}:{at}"], ["GET", f"own:{number}:{at % 5}"], ["INCR", "shared"]]
                replies = client.pipeline(commands)
                if replies[1::3] != [b"%d:%d" % (turn, at) for at in range(50)]:
                    failures.append((number, turn))
                counts = replies[2::3]
                if counts != sorted(set(counts)):
                    failures.append((number, turn, "INCR went back"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with ketch.client() as client:
        assert client.call("GET", "shared") == b"%d" % (8 * 40 * 50)


def test_selected_databases_are_each_connections_own(ketch):
    clients = [ketch.client() for _ in range(16)]
    for db, client in enumerate(clients):
        client.send(encode(["SELECT", db]) + encode(["SET", "where", db]))
    for client in clients:
        assert client.read().value == b"OK" and client.read().value == b"OK"
    for db, client in enumerate(clients):
        assert client.call("GET", "where") == b"%d" % db
        assert client.call("DBSIZE") == 1
    assert clients[0].call("SWAPDB", 0, 5) == b"OK"
    assert clients[0].call("GET", "where") == b"5" and clients[5].call("GET", "where") == b"0"
    assert clients[9].call("FLUSHDB") == b"OK"
    assert clients[9].call("GET", "where") is None and clients[8].call("GET", "where") == b"8"
