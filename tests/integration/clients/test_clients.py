"""The clients people use: redis-cli, redis-benchmark, redis-py, hiredis, node-redis and ioredis."""
import os
import re
import shutil
import subprocess
import threading

import pytest
import redis

from resp_client import encode
from server_process import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))


def run(*command, stdin=None, seconds=120, environment=None):
    done = subprocess.run([str(word) for word in command], input=stdin, capture_output=True, timeout=seconds, check=False,
                          env={**os.environ, **(environment or {})})
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout.decode()}\n{done.stderr.decode()}"
    return done.stdout.decode("utf-8", "replace")


def cli(server, *words, **options):
    return run("redis-cli", "-p", server.port, *words, **options)


# -- redis-cli


def test_redis_cli_commands_look_the_same(both):
    for words in (["SET", "k", "v"], ["GET", "k"], ["GET", "none"], ["MGET", "k", "none"], ["INCR", "n"], ["NOSUCH", "x"], ["DEL", "k"], ["PING"],
                  ["CONFIG", "GET", "maxclients"], ["EXPIRE", "n", "100"], ["-n", "3", "DBSIZE"], ["-3", "CONFIG", "GET", "maxclients"],
                  ["-3", "GET", "none"], ["--json", "CONFIG", "GET", "maxclients"], ["--csv", "MGET", "n", "none"], ["-r", "3", "INCR", "n"],
                  ["--no-raw", "MGET", "n", "none"], ["--no-raw", "-3", "CONFIG", "GET", "maxclients"], ["-e", "PING"]):
        assert cli(both.ketch, *words) == cli(both.oracle, *words), words


def test_redis_cli_reads_commands_from_its_input(both):
    script = b"SET a 1\nSET b \"two words\"\nGET b\nNOSUCH\nMGET a b c\nINCR a\n"
    assert cli(both.ketch, stdin=script) == cli(both.oracle, stdin=script)


def test_redis_cli_scan_bigkeys_and_memkeys(ketch):
    with ketch.client() as client:
        client.call("DEBUG", "POPULATE", 3000)
        client.call("SET", "biggest", "x" * 10000)
    keys = cli(ketch, "--scan").split()
    assert len(set(keys)) == 3001
    assert set(cli(ketch, "--scan", "--pattern", "key:1?").split()) == {f"key:{number}" for number in range(10, 20)}
    assert set(cli(ketch, "--scan", "--quoted-pattern", '"biggest"').split()) == {"biggest"}
    text = cli(ketch, "--bigkeys")
    assert "Sampled 3001 keys in the keyspace" in text
    assert re.search(r"Biggest string found .*biggest.* has 10000 bytes", text), text
    text = cli(ketch, "--memkeys")
    assert "Sampled 3001 keys in the keyspace" in text


def test_redis_cli_pipe(ketch):
    data = b"".join(encode(["SET", f"pipe:{number}", number]) for number in range(20000))
    text = cli(ketch, "--pipe", stdin=data)
    assert "errors: 0, replies: 20000" in text
    text = subprocess.run(["redis-cli", "-p", str(ketch.port), "--pipe"], input=encode(["INCR", "pipe:1", "x"]) + data, capture_output=True,
                          check=False).stdout.decode()
    assert "errors: 1, replies: 20001" in text
    with ketch.client() as client:
        assert client.call("DBSIZE") == 20000


def test_redis_cli_latency_and_stat(ketch):
    process = subprocess.Popen(["redis-cli", "-p", str(ketch.port), "--raw", "--latency"], stdout=subprocess.PIPE)
    try:
        out, _ = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
    assert len(out.split()) >= 4 and all(re.fullmatch(rb"[\d.]+", word) for word in out.split()[:3])
    process = subprocess.Popen(["redis-cli", "-p", str(ketch.port), "--stat", "-i", "0.1"], stdout=subprocess.PIPE)
    for _ in range(3):
        line = process.stdout.readline()
    process.kill()
    process.wait()
    assert re.match(rb"\d+ ", line), line


def test_redis_cli_password_and_resp3(start_server):
    server = start_server("--requirepass", "secret word", password="secret word")
    assert cli(server, "-a", "secret word", "--no-auth-warning", "PING") == "PONG\n"
    assert cli(server, "PING", environment={"REDISCLI_AUTH": "secret word"}) == "PONG\n"
    assert cli(server, "-3", "--user", "default", "--pass", "secret word", "--no-auth-warning", "PING") == "PONG\n"
    assert "NOAUTH" in cli(server, "PING")
    assert run("redis-cli", "-u", f"redis://default:secret%20word@127.0.0.1:{server.port}/2", "--no-auth-warning", "DBSIZE") == "0\n"


def test_redis_cli_over_a_unix_socket(start_server, tmp_path):
    path = str(tmp_path / "s")
    start_server("--unixsocket", path, "--unixsocketperm", "700")
    assert run("redis-cli", "-s", path, "PING") == "PONG\n"
    assert os.stat(path).st_mode & 0o777 == 0o700


# -- redis-benchmark


@pytest.mark.parametrize("arguments", [["-P", "16"], [], ["-P", "100", "-d", "1000"], ["-P", "16", "-3"]],
                         ids=["pipelined", "plain", "deep", "resp3"])
def test_redis_benchmark(ketch, arguments):
    count = 50000 if "-P" in arguments else 20000
    text = run("redis-benchmark", "-p", ketch.port, "-t", "set,get,incr,mset", "-c", "50", "-n", count, "-r", "1000", "--csv", *arguments)
    for name in ("SET", "GET", "INCR", "MSET (10 keys)"):
        rate = re.search(rf'^"{re.escape(name)}","([\d.]+)"', text, re.M)
        assert rate and float(rate.group(1)) > 100, text
    with ketch.client() as client:
        assert client.call("PING") == b"PONG"


def test_redis_benchmark_quiet_form_and_threads(ketch):
    text = run("redis-benchmark", "-p", ketch.port, "-t", "set,get", "-c", "20", "-n", "20000", "-P", "8", "--threads", "2", "-q")
    assert len(re.findall(r"requests per second", text)) >= 2
    text = run("redis-benchmark", "-p", ketch.port, "-n", "2000", "-r", "100", "-q", "SET", "key:__rand_int__", "v")
    assert "requests per second" in text
    with ketch.client() as client:
        assert client.call("DBSIZE") >= 100


# -- redis-py


@pytest.fixture
def python_client(ketch):
    with redis.Redis(port=ketch.port, decode_responses=True, health_check_interval=1, client_name="py", socket_timeout=10) as client:
        yield client


def test_redis_py_strings_and_keys(python_client):
    client = python_client
    assert client.set("k", "v") is True
    assert client.get("k") == "v"
    assert client.set("k", "w", nx=True) is None
    assert client.set("k", "w", xx=True, ex=100, get=True) == "v"
    assert 90 < client.ttl("k") <= 100
    assert client.getex("k", persist=True) == "w"
    assert client.ttl("k") == -1
    assert client.getdel("k") == "w"
    assert client.mset({"a": 1, "b": 2}) is True
    assert client.msetnx({"a": 1, "c": 2}) is False
    assert client.mget("a", "b", "c") == ["1", "2", None]
    assert client.incr("a", 5) == 6
    assert client.incrbyfloat("a", 0.5) == 6.5
    assert client.append("s", "hello") == 5 and client.strlen("s") == 5
    assert client.setrange("s", 1, "EL") == 5 and client.getrange("s", 0, 2) == "hEL"
    assert client.lcs("a", "b") == ""
    assert client.expire("a", 100) and client.expire("a", 50, gt=True) == 0
    assert client.expireat("a", 33177117420) and client.expiretime("a") == 33177117420
    assert client.persist("a") and client.pexpire("a", 100000) and client.pttl("a") > 90000
    assert client.rename("a", "z") and client.copy("z", "y", replace=True)
    assert client.exists("z", "y", "a") == 2 and client.touch("z", "y") == 2
    assert client.type("z") == "string" and client.object("encoding", "s") in ("raw", "embstr")
    assert sorted(client.keys("?")) == ["b", "s", "y", "z"]
    assert client.unlink("z", "y") == 2 and client.randomkey() in ("b", "s")
    assert client.move("b", 1) and client.swapdb(0, 1) and client.get("b") == "2"
    assert client.dbsize() == 1 and client.flushdb() and client.flushall(asynchronous=True)


def test_redis_py_server_commands(python_client, ketch):
    client = python_client
    assert client.ping() and client.echo("x") == "x"
    assert client.client_getname() == "py" and client.client_id() > 0
    assert client.client_info()["name"] == "py"
    assert any(one["name"] == "py" for one in client.client_list())
    assert client.client_setname("other") and client.client_no_evict("on")
    info = client.info()
    assert info["redis_version"] and info["process_id"] == ketch.pid and info["role"] == "master"
    assert client.config_get("maxclients") == {"maxclients": "10000"}
    assert client.config_set("timeout", 0) and client.config_resetstat()
    assert len(client.time()) == 2 and client.lastsave()
    assert client.command_count() > 50 and client.command()["get"]["arity"] == 2
    assert client.command_getkeys("MSET", "a", 1, "b", 2) == ["a", "b"]
    client.set("k", "v")
    assert client.memory_usage("k") > 0
    with pytest.raises(redis.ResponseError, match="unknown command"):
        client.execute_command("NOSUCH")
    with pytest.raises(redis.ResponseError, match="not an integer"):
        client.incr("k")
    assert client.info("commandstats")["cmdstat_set"]["calls"] >= 1


def test_redis_py_pipelines_and_scan(python_client):
    client = python_client
    with client.pipeline(transaction=False) as pipe:
        for number in range(5000):
            pipe.set(f"key:{number}", number)
            pipe.get(f"key:{number}")
        answers = pipe.execute()
    assert answers[::2] == [True] * 5000 and answers[1::2] == [str(number) for number in range(5000)]
    assert len(set(client.scan_iter(match="key:*", count=77))) == 5000
    with client.pipeline(transaction=False) as pipe:
        answers = pipe.set("text", "x").incr("text").get("text").execute(raise_on_error=False)
    assert answers[0] is True and isinstance(answers[1], redis.ResponseError) and answers[2] == "x"


def test_redis_py_pool_shared_by_threads(ketch):
    pool = redis.BlockingConnectionPool(port=ketch.port, max_connections=8, timeout=30, health_check_interval=1)
    failures = []

    def work(number):
        try:
            client = redis.Redis(connection_pool=pool)
            for at in range(200):
                client.incr("shared")
                assert client.set(f"{number}:{at}", at) and client.get(f"{number}:{at}") == b"%d" % at
        except Exception as error:  # a thread's failure must reach the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert redis.Redis(connection_pool=pool).get("shared") == b"3200"
    pool.disconnect()


def test_redis_py_url_password_and_reconnect(start_server):
    server = start_server("--requirepass", "secret", password="secret")
    client = redis.Redis.from_url(f"redis://default:secret@127.0.0.1:{server.port}/7", decode_responses=True)
    assert client.set("k", "v") and client.client_info()["db"] == 7
    with pytest.raises(redis.RedisError, match="WRONGPASS|NOAUTH|[Aa]uthentication"):
        redis.Redis(port=server.port, password="wrong").ping()
    with pytest.raises(redis.RedisError, match="WRONGPASS|NOAUTH|[Aa]uthentication"):
        redis.Redis(port=server.port).ping()
    with server.client() as killer:
        assert killer.call("CLIENT", "KILL", "TYPE", "normal") >= 1
    client.connection_pool.disconnect()
    assert client.get("k") == "v"
    client.close()


# -- hiredis


def test_hiredis(ketch, tmp_path):
    program = tmp_path / "hiredis_client"
    run("cc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-o", program, os.path.join(HERE, "hiredis_client.c"), "-lhiredis")
    run(program, "127.0.0.1", ketch.port)


# -- Node.js


@pytest.fixture(scope="session")
def node_clients():
    """Installs the Node.js clients of the lock file into a cache, once for each lock file, and gives a runner of scripts."""
    if not shutil.which("npm"):
        pytest.fail("npm is needed for the Node.js clients (apt-get install npm)")
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.join(ROOT, "build"), "ketch-npm")
    os.makedirs(cache, exist_ok=True)
    fresh = []
    for name in ("package.json", "package-lock.json"):
        with open(os.path.join(HERE, name), "rb") as file:
            wanted = file.read()
        path = os.path.join(cache, name)
        if not os.path.exists(path) or open(path, "rb").read() != wanted:
            fresh.append((path, wanted))
    if fresh or not os.path.exists(os.path.join(cache, "node_modules", "ioredis")):
        for path, wanted in fresh:
            with open(path, "wb") as file:
                file.write(wanted)
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=cache, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def run_script(name, *arguments):
        shutil.copy(os.path.join(HERE, name), os.path.join(cache, name))
        return run("node", os.path.join(cache, name), *arguments)

    return run_script


def test_ioredis(ketch, node_clients):
    assert node_clients("ioredis_client.mjs", ketch.port) == "ok\n"


@pytest.mark.parametrize("protocol", [2, 3])
def test_node_redis(ketch, node_clients, protocol):
    assert node_clients("node_redis_client.mjs", ketch.port, protocol) == "ok\n"
