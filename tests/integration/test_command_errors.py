"""Wrong arity, unknown commands and subcommands, letter case and inline commands, against the oracle."""
import pytest

from implemented_commands import ALL, CONTAINERS, NEWER, PLAIN
from resp_client import Error, encode


def oracle_arity(both, name):
    with both.oracle.client() as client:
        entry = client.call("COMMAND", "INFO", name)[0]
        return entry[1]


@pytest.mark.parametrize("name", PLAIN)
def test_wrong_arity(both, name):
    arity = oracle_arity(both, name)
    wrong = [count for count in range(1, 8) if (count != arity if arity > 0 else count < -arity)]
    lines = [" ".join([name.upper()] + ["1"] * (count - 1)) for count in wrong]
    if not lines:
        pytest.skip("any number of arguments is right")
    both.compare("\n".join(lines))


@pytest.mark.parametrize("container", CONTAINERS)
def test_wrong_arity_of_subcommands(both, container):
    lines = [container]
    for name in CONTAINERS[container]:
        arity = oracle_arity(both, f"{container}|{name}")
        for count in range(2, 8):
            if count != arity if arity > 0 else count < -arity:
                lines.append(" ".join([container, name.upper()] + ["1"] * (count - 2)))
    if container == "command":
        lines.remove("command")
    both.compare("\n".join(lines))


def test_wrong_arity_of_newer_subcommands(ketch, only_ketch):
    with ketch.client() as client:
        for container, names in NEWER.items():
            for name in names:
                assert client.call(container, name) == Error(
                    b"ERR wrong number of arguments for '%s|%s' command" % (container.encode(), name.encode()))


@pytest.mark.parametrize("container", CONTAINERS)
def test_unknown_subcommands(both, container):
    both.compare(f"""
        {container} nosuch
        {container} NoSuch a b c
        {container} ""
        {container} "with space"
        {container} "new\\r\\nline"
        {container} {'x' * 200}
        {container} get
    """.replace("config get\n", "config nosuch2\n"))


def test_unknown_commands(both):
    both.compare(rf"""
        NOSUCH
        nosuch
        NoSuch a
        NOSUCH a b c
        NOSUCH "" "" ""
        NOSUCH 'single' "dou\"ble"
        NOSUCH "new\r\nline" "\x00\x01\xff"
        NOSUCH {'x' * 127}
        NOSUCH {'x' * 128}
        NOSUCH {'x' * 129}
        NOSUCH {'x' * 300}
        NOSUCH {'x' * 100} {'y' * 100} {'z' * 100}
        NOSUCH {' '.join('abcdefgh' for _ in range(40))}
        {'N' * 127}
        {'N' * 128}
        {'N' * 129} a
        {'N' * 300} a
        "with space" a
        "new\r\nline" a
        "\x00" a
        "get|set" a
        "client|list"
        "" a
        ""
        GETT k
        GE k
    """)


def test_letter_case_of_commands_and_options(both):
    both.compare("""
        set k v ex 100 nx get
        SeT k v Ex 100 Xx
        gEt k
        Client SetName x
        cLIENT gETNAME
        config get MAXCLIENTS
        CONFIG GET MaxClients
        Object Encoding k
        cOPY k j rEPLACE
        expire k 100 Gt
        scan 0 mATCH * cOUNT 100 tYPE STRING      ~ scan
    """)


INLINE = [
    b"PING\r\n", b"PING\n", b"ping hello\r\n", b"  PING  \r\n", b"\tPING\t\r\n", b"SET k v\r\nGET k\r\n", b'SET k "a b"\r\nGET k\r\n', b"SET k 'a b'\r\nGET k\r\n",
    b'SET k "\\x41\\n\\r\\t\\a\\b\\"\\\\\\q"\r\nGET k\r\n', b"SET k 'it\\'s \\x41'\r\nGET k\r\n", b'SET k ""\r\nGET k\r\n', b"SET k ''\r\nGET k\r\n",
    b'SET k "unbalanced\r\n', b"SET k 'unbalanced\r\n", b'SET k "a"b\r\n', b"SET k 'a'b\r\n", b'SET k a"b"\r\nGET k\r\n', b'PING "\\x4"\r\n', b'PING "\\xzz"\r\n',
    b"\r\n", b"\n", b"\r\n\r\nPING\r\n", b"   \r\nPING\r\n", b"PING\r\r\n", b"NOSUCH a b\r\n", b"GET\r\n", b"PING a b c\r\n",
    b"PING\nPING\nPING\n", b"ECHO \xff\xfe\r\n", b"+PING\r\n", b"-PING\r\n", b":1\r\n", b"$4\r\n", b"GET / HTTP/1.0\r\n", b"QUIT\r\nPING\r\n", b"PING \\x41\r\n",
    b"ECHO a\tb\r\n", b"ECHO a\x0bb\r\n", b"ECHO 'a\tb'\r\n", b"echo " + b"x" * 60000 + b"\r\n", b"*1\r\n$4\r\nPING\r\nPING\r\n*1\r\n$4\r\nPING\r\n",
]


@pytest.mark.parametrize("number", range(len(INLINE)))
def test_inline_commands(both, number):
    both.flush()
    both.same_bytes([INLINE[number]])


@pytest.mark.parametrize("number", [0, 1, 5, 6, 8, 19, 21, 40])
def test_inline_commands_byte_by_byte(both, number):
    both.flush()
    both.same_bytes([INLINE[number][at:at + 1] for at in range(len(INLINE[number]))])


def test_cross_protocol_scripting_is_cut_off(both):
    for start in (b"POST / HTTP/1.1\r\n", b"Host: example\r\n", b"post /\r\n", b"HOST: x\r\nPING\r\n"):
        both.same_bytes([start + b"PING\r\n"])
    both.same_bytes([encode(["POST", "/"]) + encode(["PING"])])
    both.same_bytes([encode(["host:", "x"]) + encode(["PING"])])


def test_errors_are_counted_and_do_not_end_the_pipeline(both):
    commands = [["GET"], ["PING"], ["NOSUCH", "x"], ["PING"], ["INCR", "s"], ["CLIENT", "NOSUCH"], ["PING"]]
    both.flush()
    both.same_bytes([encode(["SET", "s", "x"]) + b"".join(encode(command) for command in commands)])


def test_every_command_is_known(ketch):
    with ketch.client() as client:
        known = {entry[0].decode() for entry in client.call("COMMAND", "INFO", *ALL) if entry}
    assert known >= set(ALL)
