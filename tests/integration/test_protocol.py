"""The wire: cuts at every byte, protocol errors, limits, big values, half-closed and slow clients."""
import random
import threading
import time

import pytest

from random_commands import RandomCommands
from reply_compare import MARKER, exchange
from resp_client import Closed, RespClient, encode


def lines(*commands):
    return b"".join(encode(command.split()) for command in commands)


MIXED = (lines("SET k value", "GET k", "MGET k none k", "INCR n", "NOSUCH a b") + b"PING inline\r\n" + lines("ECHO x") +
         encode(["SET", b"\x00\r\n", b"\r\n*1\r\n$4\r\nPING\r\n"]) + encode(["GET", b"\x00\r\n"]) + b"\r\n" + b"*0\r\n" +
         b"*-1\r\n" + encode(["GET"]) + encode(["SET", "", ""]) + encode(["GET", ""]) + b"PING\n" + lines("STRLEN k"))


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_pipeline_cut_at_every_byte(both, protocol):
    for at in range(1, len(MIXED)):
        both.same_bytes([b"*1\r\n$8\r\nFLUSHALL\r\n" + MIXED[:at], MIXED[at:]], protocol=protocol)


def test_a_pipeline_byte_by_byte(both):
    both.flush()
    both.same_bytes([MIXED[at:at + 1] for at in range(len(MIXED))])


def test_a_pipeline_in_small_pieces_with_pauses(both):
    both.flush()
    both.same_bytes([MIXED[at:at + 23] for at in range(0, len(MIXED), 23)], pause=0.002)


def test_random_pipelines_in_random_pieces(both):
    seed = random.randrange(1 << 30)
    print("seed", seed)
    source = random.Random(seed)
    for _ in range(15):
        commands = RandomCommands(source, timeless=True).take(300)
        data = b"".join(encode(command) for command in commands)
        with both.ketch.client() as client:
            client.call("FLUSHALL")
            whole = exchange(client, [data])
        both.flush()
        cuts = sorted(source.randrange(len(data)) for _ in range(source.choice([3, 30, 300])))
        pieces = [data[start:end] for start, end in zip([0] + cuts, cuts + [len(data)])]
        assert both.same_bytes(pieces) == whole, seed


def test_a_pipeline_of_ten_thousand(both):
    both.flush()
    data = b"".join(encode(["SET", f"k{number % 97}", number]) + encode(["GET", f"k{(number * 7) % 97}"]) +
                    encode(["INCR", "n"]) for number in range(3400))
    both.same_bytes([data])


def test_a_deep_pipeline_of_small_and_large_replies(both):
    both.flush()
    data = encode(["SET", "big", b"x" * 20000]) + (encode(["GET", "big"]) + encode(["PING"]) * 50) * 200
    both.same_bytes([data])


ERRORS = [
    b"*x\r\n", b"*\r\n", b"*1.5\r\n", b"* 1\r\n", b"*1 \r\n", b"*+1\r\n", b"*01\r\n", b"*-2\r\n", b"*-10\r\n", b"*2147483648\r\n", b"*4294967296\r\n", b"*99999999999999999999\r\n",
    b"*1\r\n:1\r\n", b"*1\r\n+PING\r\n", b"*1\r\nPING\r\n", b"*1\r\n*1\r\n", b"*1\r\n\r\n", b"*1\r\n\xff\r\n", b"*1\r\n\n\r\n",
    b"*1\r\n$x\r\n", b"*1\r\n$\r\n", b"*1\r\n$-1\r\n", b"*1\r\n$-2\r\n", b"*1\r\n$536870913\r\n", b"*1\r\n$99999999999999999999\r\n", b"*1\r\n$ 4\r\n", b"*1\r\n$4 \r\n", b"*1\r\n$+4\r\n",
    b"*2\r\n$3\r\nGET\r\n:1\r\n", b"*2\r\n$3\r\nGET\r\n$-1\r\n", b"*1\r\n$4\r\nPING\r\n*x\r\n*1\r\n$4\r\nPING\r\n",
    b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$-5\r\nvalue\r\n",
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_protocol_errors(both, number):
    both.same_bytes([ERRORS[number]])


@pytest.mark.parametrize("start", [b"*", b"*1\r\n$", b"a", b"GET k\r\nGET "], ids=repr)
def test_a_line_without_an_end(both, start):
    both.flush()
    both.same_bytes([start + b"1" * 70000], end=b"")
    both.same_bytes([start] + [b"1" * 1000] * 70, pause=0.0005, end=b"")


@pytest.mark.parametrize("number", [0, 7, 12, 20, 23, 28, 30])
def test_protocol_errors_byte_by_byte(both, number):
    both.same_bytes([ERRORS[number][at:at + 1] for at in range(len(ERRORS[number]))])


@pytest.mark.parametrize("number", [0, 12, 20, 30])
def test_replies_before_a_protocol_error_arrive(both, number):
    both.same_bytes([lines("SET k v", "GET k", "PING") + ERRORS[number] + lines("SET k w")])
    both.compare("GET k", flush=False, protocols=(2,))


def test_empty_and_null_requests_have_no_reply(both):
    both.same_bytes([b"*0\r\n*-1\r\n*0\r\n" + lines("PING") + b"*0\r\n\r\n\r\n" + lines("PING")])


def test_wrong_terminators_of_bulks(both):
    for data in (b"*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n", b"*2\r\n$4\r\nECHO\r\n$2\r\nabXX"):
        both.same_bytes([data])


def test_the_smallest_bulk_limit(start_both):
    both = start_both("--proto-max-bulk-len", "1mb")
    just, over = encode(["SET", "k", b"x" * (1 << 20)]), encode(["SET", "k", b"x" * ((1 << 20) + 1)])
    both.same_bytes([just + lines("STRLEN k")])
    both.same_bytes([over[:100]])
    both.same_bytes([lines("SETRANGE k 1048575 x", "SETRANGE k 1048576 x", "APPEND k y", "STRLEN k")])
    for server in both.servers:
        with server.client() as client:
            assert client.call("CONFIG", "SET", "proto-max-bulk-len", "2mb") == b"OK"
    both.same_bytes([over + lines("STRLEN k")])


def test_limits_before_authentication(start_both):
    both = start_both("--requirepass", "secret")
    for server in both.servers:
        server.password = None
    for data in (b"*10\r\n" + b"$1\r\na\r\n" * 10, b"*11\r\n$4\r\nPING\r\n", b"*1000000\r\n", b"*2\r\n$4\r\nECHO\r\n$16384\r\n" + b"x" * 16384 + b"\r\n",
                 b"*2\r\n$4\r\nECHO\r\n$16385\r\n", b"*1\r\n$536870912\r\n", b"*11\r\n", b"PING\r\n", b"AUTH secret\r\n" + b"*11\r\n" + b"$1\r\na\r\n" * 11,
                 lines("AUTH secret") + b"*2\r\n$4\r\nECHO\r\n$16385\r\n" + b"x" * 16385 + b"\r\n", b"AUTH wrong\r\n*11\r\n"):
        both.same_bytes([data], end=lines("QUIT"))


def test_a_million_elements(both):
    both.flush()
    count = 1000000
    request = b"*%d\r\n$4\r\nMGET\r\n" % (count + 1) + b"$1\r\nk\r\n$1\r\nn\r\n" * (count // 2)
    for server in both.servers:
        with server.client(timeout=120) as client:
            client.call("SET", "k", "v")
            client.send(request)
            reply = client.read()
            assert len(reply.value) == count and reply.value[:4] == [b"v", None, b"v", None]
            assert reply.raw == b"*%d\r\n" % count + b"$1\r\nv\r\n$-1\r\n" * (count // 2)


def test_more_than_a_million_elements_are_refused(ketch, only_ketch):
    with ketch.client() as client:
        client.send(b"*1048577\r\n")
        assert client.read_to_end() == b"-ERR Protocol error: invalid multibulk length\r\n"


def test_a_million_announced_elements_cost_no_memory(ketch):
    with ketch.client() as watcher:
        def used():
            return int(dict(line.split(b":", 1) for line in watcher.call("INFO", "memory").split(b"\r\n") if b":" in line)[b"used_memory"])
        before = used()
        clients = [ketch.client() for _ in range(50)]
        for client in clients:
            client.send(b"*1000000\r\n$536870912\r\n")
        time.sleep(0.2)
        after = used()
        for client in clients:
            client.close()
    if "redis-server" not in ketch.binary:
        assert after - before < 64 << 20


@pytest.mark.parametrize("size", [1 << 20, 64 << 20])
def test_large_values(both, size):
    value = random.Random(size).randbytes(size)
    for server in both.servers:
        for protocol in (2, 3) if size <= 1 << 20 else (2,):
            with server.client(protocol, timeout=120) as client:
                assert client.call("SET", "big", value) == b"OK"
                assert client.call("GET", "big") == value
                assert client.call("STRLEN", "big") == size
                assert client.call("GETRANGE", "big", size // 2, size // 2 + 9) == value[size // 2:size // 2 + 10]
                assert client.call("APPEND", "big", "tail") == size + 4
                assert client.call("SETRANGE", "big", 5, "XY") == size + 4
                assert client.call("GETRANGE", "big", 0, 9) == value[:5] + b"XY" + value[7:10]
                assert client.call("GETDEL", "big")[-4:] == b"tail"


def test_a_large_value_arriving_slowly(ketch):
    value = random.Random(3).randbytes(3 << 20)
    request = encode(["SET", "slow", value]) + encode(["GET", "slow"]) + encode(["ECHO", MARKER])
    with ketch.client() as client, ketch.client() as other:
        for at in range(0, len(request), 100003):
            client.send(request[at:at + 100003])
            assert other.call("PING") == b"PONG"
        assert client.read().value == b"OK"
        assert client.read().value == value


def test_large_keys(both):
    for size in (100, 1000, 16000, 65535, 65536, 100000, 1 << 20):
        key = b"k" * size
        for server in both.servers:
            with server.client() as client:
                assert client.call("SET", key, "v") == b"OK"
                assert client.call("GET", key) == b"v"
                assert client.call("RENAME", key, key + b"2") == b"OK"
                assert client.call("GET", key + b"2") == b"v"
                assert client.call("SCAN", 0)[1] == [key + b"2"]
                assert client.call("DEL", key + b"2") == 1


def test_random_binary_keys_and_values(both):
    source = random.Random(5)
    pairs = {source.randbytes(source.choice([0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 63, 64, 200, 255, 256, 300])):
             source.randbytes(source.choice([0, 1, 8, 20, 44, 45, 100, 500, 5000])) for _ in range(2000)}
    for server in both.servers:
        with server.client() as client:
            assert set(client.pipeline([["SET", key, value] for key, value in pairs.items()])) == {b"OK"}
            assert client.call("DBSIZE") == len(pairs)
            assert client.pipeline([["GET", key] for key in pairs]) == list(pairs.values())
            assert sorted(client.call("KEYS", "*")) == sorted(pairs)


def test_a_half_closed_client_gets_its_replies(both):
    both.flush()
    both.same_bytes([lines("SET k v", "GET k", "PING")], half_close=True)
    both.same_bytes([lines("GET k") + b"*2\r\n$3\r\nGET"], half_close=True)


def test_clients_that_leave_in_the_middle(ketch):
    for cut in range(0, len(MIXED), 7):
        with RespClient(ketch.address) as client:
            client.send(MIXED[:cut])
    big = encode(["SET", "never", b"x" * 1000000])
    for cut in (10, 40, 1000, 500000, len(big) - 1):
        with RespClient(ketch.address) as client:
            client.send(big[:cut])
    with ketch.client() as client:
        assert client.call("EXISTS", "never") == 0


def test_clients_that_leave_without_reading(ketch):
    with ketch.client() as client:
        client.call("SET", "big", b"x" * 1000000)
        for _ in range(20):
            with RespClient(ketch.address, receive_buffer=4096) as rude:
                rude.send(encode(["GET", "big"]) * 20)
        assert client.call("PING") == b"PONG"


def test_a_slow_reader_gets_everything_and_delays_nobody(ketch):
    value = random.Random(9).randbytes(1 << 20)
    with ketch.client() as other, RespClient(ketch.address, receive_buffer=8192, timeout=60) as slow:
        other.call("SET", "big", value)
        writer = threading.Thread(target=slow.send, args=(encode(["GET", "big"]) * 48 + encode(["ECHO", MARKER]),))
        writer.start()
        time.sleep(0.5)
        # They are answered while the slow one still has everything to come: nobody waits for it.
        for _ in range(200):
            assert other.call("PING") == b"PONG"
        other.call("SET", "big", "overwritten")
        for _ in range(48):
            assert slow.read().value in (value, b"overwritten")
        assert slow.read().value == MARKER
        writer.join()


def test_the_output_buffer_limit_cuts_off_who_does_not_read(start_both):
    for server in start_both("--client-output-buffer-limit", "normal 4mb 0 0").servers:
        with server.client() as other, RespClient(server.address, receive_buffer=4096, timeout=30) as rude:
            other.call("SET", "big", b"x" * 1000000)
            rude.send(encode(["GET", "big"]) * 50)
            end = time.monotonic() + 10
            while len(other.call("CLIENT", "LIST").splitlines()) > 1:
                assert time.monotonic() < end, "the client is still there"
                time.sleep(0.02)
            try:
                assert len(rude.read_to_end()) < 50 * 1000000
            except Closed:
                pass


def test_the_query_buffer_limit(start_both):
    for server in start_both("--client-query-buffer-limit", "1mb").servers:
        with server.client(timeout=20) as client:
            try:
                client.send(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000000\r\n")
                for _ in range(100):
                    client.send(b"x" * 100000)
            except OSError:
                pass
            assert client.read_to_end() == b""
        with server.client() as client:
            assert client.call("EXISTS", "k") == 0


def test_a_thousand_connections(ketch):
    clients = [ketch.client() for _ in range(1000)]
    for number, client in enumerate(clients):
        client.send(encode(["SET", f"c{number}", number]) + encode(["GET", f"c{number}"]))
    for number, client in enumerate(clients):
        assert client.read().value == b"OK"
        assert client.read().value == b"%d" % number
        client.close()


def test_many_short_connections(ketch):
    for number in range(2000):
        with RespClient(ketch.address) as client:
            assert client.call("PING") == b"PONG", number
