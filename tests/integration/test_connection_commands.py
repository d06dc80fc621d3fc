"""PING, ECHO, AUTH, HELLO, QUIT, RESET and CLIENT, against the oracle."""
import threading
import time

import pytest

from resp_client import CLOSED, Closed, Error, Map, encode


def test_ping(both):
    both.compare(r"""
        PING
        ping
        PING hello
        PING ""
        PING "\x00\r\n"
        PING a b
    """)


def test_echo(both):
    both.compare(r"""
        ECHO
        ECHO hello
        ECHO ""
        ECHO "\x00\r\n"
        ECHO a b
    """)


def test_quit(both):
    both.compare("""
        QUIT
        PING
        QUIT now
        quit
    """)


def test_what_follows_quit_in_a_pipeline_is_not_executed(both):
    both.same_bytes([encode(["SET", "k", "1"]) + encode(["QUIT"]) + encode(["SET", "k", "2"]) + encode(["GET", "k"])])
    both.compare("GET k", flush=False)


def test_auth_without_a_password(both):
    both.compare("""
        AUTH
        AUTH secret
        AUTH default secret
        AUTH default ""
        AUTH nobody secret
        AUTH a b c
        PING
    """)


def test_auth(start_both):
    both = start_both("--requirepass", "secret")
    for server in both.servers:
        server.password = None
    both.compare("""
        PING
        GET k
        BAD
        GET
        SELECT 1
        ECHO x
        CLIENT ID
        CLIENT BAD
        COMMAND COUNT
        HELLO                                    ~ code
        HELLO 2                                  ~ code
        HELLO 3                                  ~ code
        HELLO 4
        HELLO 3 AUTH default wrong
        HELLO 3 SETNAME me                       ~ code
        HELLO 2 AUTH
        AUTH
        AUTH wrong
        AUTH nobody secret
        AUTH default wrong
        AUTH a b c
        PING
        RESET
        AUTH secret
        PING
        AUTH wrong
        PING
        AUTH default secret
        RESET
        PING
        AUTH default secret
        GET k
        HELLO 2 AUTH default secret              ~ hello
        @b HELLO 3 AUTH default secret           ~ hello
        @b PING
        @b HELLO 2                               ~ hello
        @c HELLO 2 AUTH default secret SETNAME me ~ hello
        @c CLIENT GETNAME
        @d HELLO AUTH default secret
        @d QUIT
    """.replace("FLUSHALL", ""), protocols=(2,), flush=False)


def test_auth_after_a_password_was_set_at_run_time(start_both):
    both = start_both()
    both.compare("""
        @a SET k v
        @a CONFIG SET requirepass new
        @a CONFIG GET requirepass
        @a GET k
        @b GET k
        @b AUTH new
        @b GET k
        @b CONFIG SET requirepass ""
        @c GET k
        @c AUTH x
    """, protocols=(2,))


def test_hello(both):
    both.compare("""
        HELLO                                    ~ hello
        HELLO 2                                  ~ hello
        GET missing
        CONFIG GET maxclients
        HELLO 3                                  ~ hello
        GET missing
        CONFIG GET maxclients
        hello 3                                  ~ hello
        HELLO                                    ~ hello
        HELLO 1
        HELLO 4
        HELLO 0
        HELLO -1
        HELLO abc
        HELLO 2.0
        HELLO ""
        HELLO 99999999999999999999
        HELLO 3 BAD
        HELLO 3 AUTH
        HELLO 3 AUTH a
        HELLO 3 AUTH a b
        HELLO 3 AUTH default ""                  ~ hello
        HELLO 3 SETNAME
        HELLO 3 SETNAME "a b"
        HELLO 3 SETNAME me                       ~ hello
        CLIENT GETNAME
        HELLO 2 SETNAME you SETNAME they         ~ hello
        CLIENT GETNAME
        HELLO 2 setname x auth default wrong     ~ hello
        CLIENT GETNAME
        HELLO 2 SETNAME "bad name" AUTH default any
        HELLO SETNAME me
        HELLO 4 AUTH a b
        HELLO 3 AUTH default any SETNAME ok      ~ hello
        CLIENT GETNAME
        HELLO 2                                  ~ hello
    """)


def test_reset(both):
    both.compare("""
        RESET
        RESET now
        SET k zero
        SELECT 5
        CLIENT SETNAME me
        HELLO 3                                  ~ hello
        GET missing
        RESET
        GET missing
        GET k
        CLIENT GETNAME
        CLIENT NO-EVICT on
        CLIENT INFO                              ~ fields id addr laddr fd age idle qbuf qbuf-free argv-mem rbs rbp obl oll omem tot-mem multi-mem events
        RESET
        CLIENT INFO                              ~ fields flags id addr laddr fd age idle qbuf qbuf-free argv-mem rbs rbp obl oll omem tot-mem multi-mem events
        CLIENT INFO                              = /flags=N /
    """)


def test_client_names(both):
    both.compare(r"""
        CLIENT GETNAME
        CLIENT SETNAME
        CLIENT SETNAME me
        CLIENT GETNAME
        CLIENT SETNAME "a b"
        CLIENT SETNAME "a\nb"
        CLIENT SETNAME "a\x00"
        CLIENT SETNAME "\xc3\xa9"
        CLIENT SETNAME "a\x7f"
        CLIENT SETNAME "!~"
        CLIENT GETNAME
        CLIENT SETNAME ""
        CLIENT GETNAME
        CLIENT SETNAME a b
        CLIENT GETNAME x
    """)


def test_client_subcommand_errors(both):
    both.compare("""
        CLIENT
        CLIENT BAD
        CLIENT bad x y
        CLIENT HELP                              ~ kind
        CLIENT HELP x
        CLIENT ID                                ~ kind
        CLIENT ID x
        CLIENT INFO x
        CLIENT LIST BAD
        CLIENT LIST TYPE
        CLIENT LIST TYPE bad
        CLIENT LIST TYPE master
        CLIENT LIST TYPE replica
        CLIENT LIST TYPE slave
        CLIENT LIST TYPE pubsub
        CLIENT LIST ID
        CLIENT LIST ID x
        CLIENT LIST ID -1
        CLIENT LIST ID 0
        CLIENT LIST ID 999999999
        CLIENT LIST ID 99999999999999999999
        CLIENT LIST TYPE normal ID 1
        CLIENT LIST ID 999999999 TYPE normal
        CLIENT KILL
        CLIENT KILL x
        CLIENT KILL 1.2.3.4:5
        CLIENT KILL ADDR
        CLIENT KILL ADDR 1.2.3.4:5
        CLIENT KILL LADDR 1.2.3.4:5
        CLIENT KILL ID
        CLIENT KILL ID x
        CLIENT KILL ID 0
        CLIENT KILL ID -1
        CLIENT KILL ID 999999999
        CLIENT KILL TYPE bad
        CLIENT KILL TYPE pubsub
        CLIENT KILL TYPE master
        CLIENT KILL TYPE replica
        CLIENT KILL USER nobody
        CLIENT KILL USER default ADDR 1.2.3.4:5
        CLIENT KILL SKIPME maybe
        CLIENT KILL BAD x
        CLIENT KILL ID 999999999 SKIPME
        CLIENT KILL ID 999999999 SKIPME yes
        CLIENT KILL ID 999999999 SKIPME no
        CLIENT KILL ADDR 1.2.3.4:5 ID 999999999 TYPE normal
        CLIENT REPLY
        CLIENT REPLY BAD
        CLIENT REPLY ON
        CLIENT REPLY ON x
        CLIENT NO-EVICT
        CLIENT NO-EVICT on
        CLIENT NO-EVICT OFF
        CLIENT NO-EVICT maybe
        CLIENT NO-EVICT on off
        client no-evict off
        PING
    """)


def test_client_help_lists_what_is_there(both):
    for server in both.servers:
        with server.client() as client:
            lines = client.call("CLIENT", "HELP")
            assert lines[0] == b"CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"
            assert lines[-2:] == [b"HELP", b"    Prints this help."]
            assert any(line.startswith(b"SETNAME") for line in lines)


def test_client_subcommands_that_have_little_to_do_yet(both):
    both.compare("""
        CLIENT GETREDIR
        CLIENT GETREDIR x
        CLIENT TRACKINGINFO                      ~ shape
        CLIENT TRACKINGINFO x
        CLIENT UNBLOCK
        CLIENT UNBLOCK x
        CLIENT UNBLOCK 999999999
        CLIENT UNBLOCK 999999999 TIMEOUT
        CLIENT UNBLOCK 999999999 ERROR
        CLIENT UNBLOCK 999999999 BAD
        CLIENT UNBLOCK 1 ERROR x
    """)


def test_client_setinfo(both):
    both.compare("""
        CLIENT SETINFO                           = -ERR wrong number of arguments for 'client|setinfo' command
        CLIENT SETINFO lib-name                  = -ERR wrong number of arguments for 'client|setinfo' command
        CLIENT SETINFO lib-name redis-py         = +OK
        CLIENT SETINFO LIB-VER 1.2.3             = +OK
        CLIENT SETINFO lib-name "has space"      = -ERR lib-name cannot contain spaces, newlines or special characters.
        CLIENT SETINFO lib-ver "has space"       = -ERR lib-ver cannot contain spaces, newlines or special characters.
        CLIENT SETINFO bad x                     = -ERR Unrecognized option 'bad'
        CLIENT INFO                              = /lib-name=redis-py lib-ver=1\\.2\\.3/
        CLIENT SETINFO lib-ver ""                = +OK
        CLIENT INFO                              = /lib-name=redis-py lib-ver=[ \\n]/
        RESET                                    = +RESET
        CLIENT INFO                              = /lib-name=redis-py lib-ver=[ \\n]/
    """)


def test_client_no_touch(both):
    both.compare("""
        CLIENT NO-TOUCH                          = -ERR wrong number of arguments for 'client|no-touch' command
        CLIENT NO-TOUCH maybe                    = -ERR syntax error
        CLIENT NO-TOUCH on                       = +OK
        CLIENT INFO                              = /flags=T/
        CLIENT NO-TOUCH off                      = +OK
        CLIENT INFO                              = /flags=N/
    """)


def test_client_no_touch_leaves_the_idle_time(ketch, only_ketch):
    with ketch.client() as one, ketch.client() as other:
        one.call("SET", "k", "v")
        other.call("CLIENT", "NO-TOUCH", "on")
        time.sleep(2.1)
        other.call("GET", "k")
        assert one.call("OBJECT", "IDLETIME", "k") >= 1
        one.call("GET", "k")
        assert one.call("OBJECT", "IDLETIME", "k") == 0


LIVE = "id addr laddr fd age idle qbuf qbuf-free argv-mem rbs rbp obl oll omem tot-mem multi-mem events"


def test_client_info_and_list_id(both):
    both.compare(f"""
        CLIENT INFO                              ~ fields {LIVE}
        CLIENT SETNAME me
        SELECT 3
        CLIENT INFO                              ~ fields {LIVE}
        GET k
        client info                              ~ fields {LIVE}
        HELLO 3                                  ~ hello
        CLIENT INFO                              ~ fields {LIVE}
        CLIENT NO-EVICT on
        CLIENT INFO                              ~ fields {LIVE}
    """)


def field(line, name):
    return dict(item.split(b"=", 1) for item in line.split())[name]


def test_client_info_describes_the_connection(both):
    for server in both.servers:
        with server.client() as client:
            info = client.call("CLIENT", "INFO")
            assert info.endswith(b"\n") and info.count(b"\n") == 1
            assert field(info, b"addr") == b"%s:%d" % (client.socket.getsockname()[0].encode(), client.socket.getsockname()[1])
            assert field(info, b"laddr") == b"127.0.0.1:%d" % server.port
            assert int(field(info, b"id")) == client.call("CLIENT", "ID")
            assert int(field(info, b"fd")) > 0
            assert int(field(info, b"tot-mem")) > 0
            time.sleep(1.1)
            later = client.call("CLIENT", "INFO")
            # Redis reckons in whole seconds of a clock that it reads now and then: just past a second it says 1.
            assert int(field(later, b"age")) >= 1 and int(field(later, b"idle")) <= 1


def wait_for(condition, seconds=5):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def test_client_list_shows_everybody_at_once(both):
    for server in both.servers:
        clients = [server.client() for _ in range(20)]
        for number, client in enumerate(clients):
            assert client.call("CLIENT", "SETNAME", f"worker-{number}") == b"OK"
        ids = [client.call("CLIENT", "ID") for client in clients]
        assert len(set(ids)) == 20 and ids == sorted(ids)
        lines = clients[7].call("CLIENT", "LIST").splitlines()
        names = {field(line, b"name"): line for line in lines}
        for number in range(20):
            line = names[b"worker-%d" % number]
            assert int(field(line, b"id")) == ids[number]
            if number == 7:
                assert field(line, b"cmd") == b"client|list"
        some = clients[0].call("CLIENT", "LIST", "ID", *ids[3:6]).splitlines()
        assert [int(field(line, b"id")) for line in some] == ids[3:6]
        normal = clients[0].call("CLIENT", "LIST", "TYPE", "normal").splitlines()
        assert set(ids) <= {int(field(line, b"id")) for line in normal}
        for client in clients:
            client.close()


def is_closed(client):
    try:
        client.socket.settimeout(5)
        client.read()
        return False
    except Closed:
        return True


def test_client_kill(both):
    results = []
    for server in both.servers:
        with server.client() as killer:
            def victim():
                client = server.client()
                client.call("PING")
                return client
            found = []
            one = victim()
            found.append(killer.call("CLIENT", "KILL", "%s:%d" % one.socket.getsockname()))
            found.append(is_closed(one))
            one = victim()
            found.append(killer.call("CLIENT", "KILL", "ID", one.call("CLIENT", "ID")))
            found.append(is_closed(one))
            one = victim()
            found.append(killer.call("CLIENT", "KILL", "ADDR", "%s:%d" % one.socket.getsockname(), "TYPE", "normal"))
            found.append(is_closed(one))
            one = victim()
            found.append(killer.call("CLIENT", "KILL", "ID", one.call("CLIENT", "ID"), "USER", "nobody"))
            found.append(killer.call("CLIENT", "KILL", "ID", one.call("CLIENT", "ID"), "ADDR", "1.2.3.4:5"))
            found.append(one.call("PING"))
            # Itself: skipped by default in the new form, not in the old one.
            found.append(killer.call("CLIENT", "KILL", "ID", killer.call("CLIENT", "ID")))
            found.append(killer.call("PING"))
            own = one.call("CLIENT", "ID")
            one.send(encode(["CLIENT", "KILL", "ID", own, "SKIPME", "no"]) + encode(["PING"]))
            found.append(one.read_to_end())
            one = victim()
            one.send(encode(["CLIENT", "KILL", "%s:%d" % one.socket.getsockname()]) + encode(["PING"]))
            found.append(one.read_to_end())
            results.append(found)
    assert results[0] == results[1]


def test_client_kill_by_type_and_laddr_takes_all_others(start_both):
    for server in start_both().servers:
        victims = [server.client() for _ in range(30)]
        for client in victims:
            client.call("PING")
        with server.client() as killer:
            assert killer.call("CLIENT", "KILL", "TYPE", "normal", "LADDR", "127.0.0.1:%d" % server.port) == 30
            assert all(is_closed(client) for client in victims)
            wait_for(lambda: len(killer.call("CLIENT", "LIST").splitlines()) == 1)


@pytest.mark.parametrize("io", ["epoll", "auto"])
def test_nothing_of_a_killed_client_runs_after_the_answer(start_server, only_ketch, io):
    server = start_server("--io", io, "--threads", "2")
    for _ in range(3):
        with server.client() as killer, server.client() as victim:
            own = victim.call("CLIENT", "ID")
            pipeline = encode(["INCR", "n"]) * 200_000

            def pour():
                try:
                    victim.socket.sendall(pipeline)
                except OSError:
                    pass
            writer = threading.Thread(target=pour)
            writer.start()
            time.sleep(0.03)
            assert killer.call("CLIENT", "KILL", "ID", own) == 1
            # One command may have been under way on the other worker.
            at_once = int(killer.call("GET", "n") or 0)
            writer.join()
            time.sleep(0.2)
            assert int(killer.call("GET", "n") or 0) - at_once <= 1
            killer.call("DEL", "n")


def test_client_kill_maxage(ketch, only_ketch):
    with ketch.client() as killer, ketch.client() as victim:
        victim.call("PING")
        assert isinstance(killer.call("CLIENT", "KILL", "MAXAGE", "x"), Error)
        own = victim.call("CLIENT", "ID")
        assert killer.call("CLIENT", "KILL", "ID", own, "MAXAGE", "100000") == 0
        time.sleep(1.2)
        assert killer.call("CLIENT", "KILL", "ID", own, "MAXAGE", "1") == 1
        assert is_closed(victim)


@pytest.mark.parametrize("protocol", [2, 3])
def test_client_reply(both, protocol):
    pipelines = [
        ["CLIENT REPLY OFF", "PING", "SET k v", "GET k", "BAD", "CLIENT REPLY ON", "GET k"],
        ["CLIENT REPLY SKIP", "PING", "GET k"],
        ["CLIENT REPLY SKIP", "CLIENT REPLY SKIP", "PING", "PING a"],
        ["CLIENT REPLY SKIP", "CLIENT REPLY ON", "PING"],
        ["CLIENT REPLY OFF", "CLIENT REPLY SKIP", "PING", "PING", "CLIENT REPLY ON"],
        ["CLIENT REPLY SKIP", "BAD", "PING"],
        ["CLIENT REPLY SKIP", "GET", "PING"],
        ["CLIENT REPLY OFF", "RESET", "PING"],
        ["CLIENT REPLY OFF", "CLIENT REPLY BAD", "CLIENT REPLY ON"],
        ["CLIENT REPLY OFF", "HELLO 2 SETNAME x", "CLIENT REPLY ON", "CLIENT GETNAME"],
    ]
    for pipeline in pipelines:
        both.same_bytes([b"".join(encode(line.split()) for line in pipeline)], protocol=protocol)


def test_resp3_types_of_replies(both):
    both.compare("""
        GET missing
        MGET missing missing
        CONFIG GET timeout
        INFO nosuchsection
        CLIENT GETNAME
        OBJECT ENCODING missing
        COMMAND INFO nosuch
        LCS a b IDX
        RANDOMKEY
    """)
    with both.ketch.client(3) as client:
        assert isinstance(client.call("HELLO"), Map)


def test_unix_socket_clients_are_described(start_both, tmp_path):
    for number, server in enumerate(start_both().servers):
        assert server.client().call("CONFIG", "GET", "unixsocket") == [b"unixsocket", b""], number


def test_closed_marker_is_not_a_reply():
    assert CLOSED.value == "closed"
