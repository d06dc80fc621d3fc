"""The commands that have to be there, by family; containers with their subcommands."""

STRING = """append decr decrby get getdel getex getrange getset incr incrby incrbyfloat lcs mget mset msetnx psetex set setex
setnx setrange strlen substr""".split()
GENERIC = """copy del exists expire expireat expiretime keys move persist pexpire pexpireat pexpiretime pttl randomkey rename
renamenx scan touch ttl type unlink""".split()
CONNECTION = "auth echo hello ping quit reset select".split()
SERVER = "dbsize flushall flushdb info lastsave lolwut shutdown swapdb time debug".split()
CONTAINERS = {
    "object": "encoding freq help idletime refcount".split(),
    "client": "getname help id info kill list no-evict reply setname".split(),
    "config": "get help resetstat rewrite set".split(),
    "command": "count docs getkeys getkeysandflags help info list".split(),
    "memory": "help usage".split(),
}
# Newer than the oracle.
NEWER = {"client": ["no-touch", "setinfo"]}
PLAIN = STRING + GENERIC + CONNECTION + SERVER
ALL = PLAIN + list(CONTAINERS)
