"""COMMAND and its subcommands: what clients learn about commands must be what Redis tells them."""
import pytest

from implemented_commands import ALL, CONTAINERS, NEWER, PLAIN
from resp_client import Map
from server_process import subject_is_redis

# Tips that changed with 7.2.
CHANGED_TIPS = {"randomkey"}


def entries(server, names):
    with server.client() as client:
        return {entry[0].decode(): entry for entry in client.call("COMMAND", "INFO", *names) if entry}


@pytest.fixture
def described(both):
    names = PLAIN + list(CONTAINERS) + [f"{name}|{sub}" for name, subs in CONTAINERS.items() for sub in subs]
    ours, theirs = entries(both.ketch, names), entries(both.oracle, names)
    for answers in (ours, theirs):
        for name in CONTAINERS:
            answers[name + "|*"] = {entry[0].decode(): entry for entry in answers[name][9]} if name in answers else {}
    return names, ours, theirs


def differences(described, project):
    names, ours, theirs = described
    found = {}
    for name in names:
        if name not in ours:
            found[name] = "missing"
        elif project(ours[name], name) != project(theirs[name], name):
            found[name] = (project(ours[name], name), project(theirs[name], name))
    return found


def test_command_info_arity(described):
    assert not differences(described, lambda entry, name: entry[1])


def test_command_info_flags(described):
    assert not differences(described, lambda entry, name: sorted(entry[2]))


def test_command_info_first_last_step(described):
    assert not differences(described, lambda entry, name: entry[3:6])


def test_command_info_categories(described):
    assert not differences(described, lambda entry, name: sorted(entry[6]))


def test_command_info_tips(described):
    _, ours, theirs = described
    missing = {name: (ours[name][7], theirs[name][7]) for name in described[0] if name in ours and name not in CHANGED_TIPS
               and not set(theirs[name][7]) <= set(ours[name][7])}
    assert not missing


def plain(value):
    """Key specifications with their flags in any order and without the notes for humans."""
    if isinstance(value, list):
        if b"notes" in value:
            at = value.index(b"notes")
            value = value[:at] + value[at + 2:]
        return sorted(value) if value and all(type(item).__name__ == "Simple" for item in value) else [plain(item) for item in value]
    return value


def test_command_info_key_specs(described):
    assert not differences(described, lambda entry, name: plain(entry[8]))


def test_command_info_has_ten_elements_also_for_subcommands(described):
    names, ours, _ = described
    for name in names:
        assert name in ours and len(ours[name]) == 10, name
        for child in ours[name][9]:
            assert len(child) == 10 and child[0].startswith(name.encode() + b"|")


def test_command_info_containers_have_their_subcommands(described, ketch):
    _, ours, _ = described
    for name, subs in CONTAINERS.items():
        wanted = subs + ([] if subject_is_redis() else NEWER.get(name, []))
        assert {f"{name}|{sub}" for sub in wanted} <= set(ours[name + "|*"]), name


def test_command_info(both):
    both.compare("""
        COMMAND INFO nosuch
        COMMAND INFO nosuch get nosuch                  ~ kind
        COMMAND INFO GET                                ~ shape
        COMMAND INFO "get|x"
        COMMAND INFO "client|nosuch"
        COMMAND INFO                                    ~ kind
        COMMAND INFO ""
    """)
    with both.ketch.client() as client:
        assert len(client.call("COMMAND", "INFO")) == client.call("COMMAND", "COUNT") == len(client.call("COMMAND"))


def test_command_in_resp3_has_sets(both):
    both.compare("COMMAND INFO get incr mget             ~ shape", protocols=(3,))


def test_command_count_and_list(both):
    both.compare("""
        COMMAND COUNT                                   ~ kind
        COMMAND COUNT x
        COMMAND LIST                                    ~ kind
        COMMAND LIST x
        COMMAND LIST FILTERBY
        COMMAND LIST FILTERBY BAD x
        COMMAND LIST FILTERBY MODULE nosuch
        COMMAND LIST FILTERBY ACLCAT nosuch
        COMMAND LIST FILTERBY PATTERN nosuch*
        COMMAND LIST FILTERBY PATTERN getr*             ~ sorted
        COMMAND LIST FILTERBY PATTERN MSET*             ~ sorted
        COMMAND LIST FILTERBY ACLCAT connection         ~ kind
        COMMAND LIST FILTERBY PATTERN a b
        COMMAND NOSUCH
    """)
    with both.ketch.client() as client:
        names = {name.decode() for name in client.call("COMMAND", "LIST")}
        top = {name for name in names if "|" not in name}
        assert len(top) == client.call("COMMAND", "COUNT")
        assert set(ALL) <= names
        connection = set(client.call("COMMAND", "LIST", "FILTERBY", "ACLCAT", "connection"))
        assert {b"ping", b"auth", b"hello", b"client|setname"} <= connection and b"get" not in connection


GETKEYS = ["GET k", "SET k v", "SET k v EX 10", "MGET a b c", "MSET a 1 b 2", "MSETNX a 1 b 2", "MSET a 1 b", "DEL a b", "RENAME a b", "COPY a b", "COPY a b DB 1",
           "LCS a b IDX", "OBJECT ENCODING k", "OBJECT HELP", "MEMORY USAGE k", "EXISTS a b", "TOUCH a", "GETEX k EX 1", "INCRBYFLOAT k 1", "PING", "ECHO x",
           "SELECT 1", "KEYS *", "SCAN 0", "FLUSHALL", "CONFIG GET x", "CLIENT ID", "GET", "GET a b", "MGET", "NOSUCH a", "MOVE k 1", "EXPIRE k 1 NX",
           "SETRANGE k 1 x", "SWAPDB 0 1", "get k", "DEL", "set k v get", "SET k v GET", "APPEND k v", "UNLINK a b c", "PERSIST k", "CLIENT", "OBJECT"]


def test_command_getkeys(both):
    both.compare("\n".join(["COMMAND GETKEYS"] + [f"COMMAND GETKEYS {words}" for words in GETKEYS]))


def test_command_getkeysandflags(both):
    lines = ["COMMAND GETKEYSANDFLAGS"] + [f"COMMAND GETKEYSANDFLAGS {words}" for words in GETKEYS]
    for protocol in (2, 3):
        with both.ketch.client(protocol) as ketch, both.oracle.client(protocol) as oracle:
            for line in lines:
                ours, theirs = ketch.ask(line), oracle.ask(line)
                if isinstance(theirs.value, list):
                    assert [[key, sorted(flags)] for key, flags in ours.value] == \
                        [[key, sorted(flags)] for key, flags in theirs.value], line
                    assert ours.raw[:1] == theirs.raw[:1]
                else:
                    assert ours.raw == theirs.raw, line


def docs(server, *names):
    with server.client(3) as client:
        return dict(client.call("COMMAND", "DOCS", *names))


def argument_tree(arguments):
    tree = []
    for argument in arguments or []:
        argument = dict(argument)
        tree.append({name: (sorted(value) if name == b"flags" else argument_tree(value) if name == b"arguments" else value)
                     for name, value in argument.items() if name in (b"name", b"type", b"token", b"since", b"flags", b"arguments")})
    return tree


def test_command_docs_fields(both):
    ours, theirs = docs(both.ketch), docs(both.oracle)
    wrong = {}
    for name in map(str.encode, ALL):
        if name not in ours:
            wrong[name] = "missing"
            continue
        left, right = dict(ours[name]), dict(theirs[name])
        for field in (b"since", b"group"):
            if left.get(field) != right.get(field):
                wrong[name] = (field, left.get(field), right.get(field))
        if not left.get(b"summary") or not left.get(b"complexity", b"container"):
            wrong[name] = "no summary or complexity"
        if (b"deprecated_since" in left) != (b"deprecated_since" in right):
            wrong[name] = "deprecated_since"
    assert not wrong


def test_command_docs_arguments(both):
    ours, theirs = docs(both.ketch), docs(both.oracle)
    wrong = {}
    for name in map(str.encode, PLAIN):
        if name in ours:
            left, right = argument_tree(dict(ours[name]).get(b"arguments")), argument_tree(dict(theirs[name]).get(b"arguments"))
            if [shape_of(item) for item in left] != [shape_of(item) for item in right]:
                wrong[name.decode()] = (left, right)
    assert not wrong


def shape_of(argument):
    """Tokens, optionality and nesting: what a client can use; names are prose."""
    return (argument.get(b"token"), argument.get(b"flags", []), sorted(map(repr, map(shape_of, argument.get(b"arguments", [])))))


def test_command_docs(both):
    both.compare("""
        COMMAND DOCS nosuch
        COMMAND DOCS get                                ~ kind
        COMMAND DOCS get nosuch set                     ~ kind
        COMMAND DOCS "client|nosuch"
        COMMAND DOCS "client|setname"                   ~ kind
        COMMAND DOCS                                    ~ kind
        COMMAND HELP                                    ~ kind
        COMMAND HELP x
    """)
    with both.ketch.client(3) as client:
        assert isinstance(client.call("COMMAND", "DOCS", "get"), Map)
        answer = dict(client.call("COMMAND", "DOCS", "client"))[b"client"]
        assert b"client|setname" in dict(dict(answer)[b"subcommands"])
