"""Everything that sets, reads and removes a time to live, against the oracle."""
import pytest

NAMES = ["EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"]
FAR = {"EXPIRE": "1000", "PEXPIRE": "1000000", "EXPIREAT": "33177117420", "PEXPIREAT": "33177117420123"}
FARTHER = {"EXPIRE": "5000", "PEXPIRE": "5000000", "EXPIREAT": "33177119999", "PEXPIREAT": "33177119999123"}


@pytest.mark.parametrize("name", NAMES)
def test_expire_family(both, name):
    far, farther = FAR[name], FARTHER[name]
    both.compare(f"""
        {name}
        {name} k
        {name} missing {far}
        {name} missing abc
        SET k v
        {name} k abc
        {name} k ""
        {name} k 1.5
        {name} k {far} BAD
        {name} k {far} NX XX
        {name} k {far} NX GT
        {name} k {far} NX LT
        {name} k {far} GT LT
        {name} k {far} XX GT LT
        {name} k {far} NX NX
        TTL k                            ~ near 1
        PERSIST k
        {name} k {far} XX
        TTL k
        {name} k {far} GT
        TTL k
        {name} k {far} LT
        TTL k                            ~ near 1
        {name} k {farther} NX
        TTL k                            ~ near 1
        {name} k {farther} LT
        {name} k {farther} GT
        TTL k                            ~ near 1
        {name} k {far} GT
        {name} k {far} LT
        TTL k                            ~ near 1
        {name} k {farther} XX
        {name} k {far} xx lt
        {name} k {farther} XX GT
        PTTL k                           ~ near 1500
        PERSIST k
        {name} k {far} XX LT
        {name} k {far} XX GT
        TTL k
        {name} k {far} nx
        {name} k {far} LT LT
        {name} k {far} EX
        {name} k 9223372036854775807
        EXISTS k
        PTTL k                           ~ near 2000
        {name} k 9223372036854775808
        {name} k -9223372036854775808
        EXISTS k
        {name} k -9223372036854775809
        SET k v
        {name} k 9223372036854775
        PTTL k                           ~ near 2000
        {name} k 9223372036854776
        {name} k 9223370000000000
        PTTL k                           ~ near 2000
        {name} k -9223372036854775
        EXISTS k
        SET k v
        {name} k -9223372036854776
        EXISTS k
        SET k v
        {name} k 0
        EXISTS k
        GET k
        SET k v
        {name} k -1
        EXISTS k
        SET k v
        {name} k -1 NX
        EXISTS k
        SET k v
        {name} k -1 XX
        EXISTS k
        {name} k {far}
        {name} k -1 GT
        EXISTS k
        {name} k -1 LT
        EXISTS k
        DBSIZE
    """)


def test_ttl_pttl_expiretime_pexpiretime(both):
    both.compare("""
        TTL
        PTTL
        EXPIRETIME
        PEXPIRETIME
        TTL a b
        PTTL a b
        EXPIRETIME a b
        PEXPIRETIME a b
        TTL missing
        PTTL missing
        EXPIRETIME missing
        PEXPIRETIME missing
        SET k v
        TTL k
        PTTL k
        EXPIRETIME k
        PEXPIRETIME k
        PEXPIREAT k 33177117420499
        EXPIRETIME k
        PEXPIRETIME k
        PEXPIREAT k 33177117420500
        EXPIRETIME k
        PEXPIREAT k 33177117420999
        EXPIRETIME k
        PEXPIRETIME k
        EXPIREAT k 33177117420
        EXPIRETIME k
        PEXPIRETIME k
        PEXPIRE k 100499
        TTL k                            ~ near 1
        PTTL k                           ~ near 1500
        PEXPIRE k 1400
        TTL k                            ~ near 1
        PEXPIRETIME k                    ~ near 3000
    """)


def test_persist(both):
    both.compare("""
        PERSIST
        PERSIST a b
        PERSIST missing
        SET k v
        PERSIST k
        EXPIRE k 100
        PERSIST k
        PERSIST k
        TTL k
        GET k
        PEXPIREAT k 1
        PERSIST k
    """)


def test_which_writes_keep_the_time_to_live(both):
    script = []
    for write in ["APPEND k 1", "INCR k", "DECR k", "INCRBY k 2", "DECRBY k 2", "INCRBYFLOAT k 1", "SETRANGE k 0 1", "SET k 1", "SET k 1 KEEPTTL",
                  "SET k 1 XX", "GETSET k 1", "MSET k 1", "GETEX k", "GETEX k PERSIST", "SETNX k 1", "MSETNX k 1", "TOUCH k",
                  "RENAME k k", "COPY k j", "SET k 1 GET", "SET k 1 NX", "GET k"]:
        script += ["SET k 5 EX 1000", write, "TTL k    ~ near 1", "TTL j    ~ near 1", "DEL j"]
    both.compare("\n".join(script))


def test_a_key_is_gone_for_every_command_once_it_expired(both):
    script = ["DEBUG SET-ACTIVE-EXPIRE 0"]
    for command in ["GET k", "GETEX k", "GETEX k EX 100", "GETDEL k", "STRLEN k", "EXISTS k", "TYPE k", "TTL k", "PTTL k", "EXPIRETIME k",
                    "PEXPIRETIME k", "PERSIST k", "EXPIRE k 100", "PEXPIRE k 100 XX", "EXPIREAT k 33177117420", "RENAME k j", "RENAMENX k j",
                    "COPY k j", "MOVE k 1", "TOUCH k", "OBJECT ENCODING k", "OBJECT IDLETIME k", "OBJECT REFCOUNT k", "KEYS k", "SCAN 0",
                    "RANDOMKEY", "DEL k", "UNLINK k", "GETRANGE k 0 -1", "APPEND k x", "INCR k", "DECRBY k 3", "INCRBYFLOAT k 2",
                    "SETRANGE k 2 x", "SETNX k x", "SET k x XX", "SET k x NX", "SET k x GET", "GETSET k x", "MSETNX k x", "MGET k k",
                    "LCS k k", "SUBSTR k 0 1"]:
        script += ["SET k 7 PX 1", ".sleep 0.005", command, "EXISTS k j", "TTL k    ~ near 1", "DEL k j"]
    script += ["DEBUG SET-ACTIVE-EXPIRE 1"]
    both.compare("\n".join(script))


def test_an_expired_target_does_not_stop_a_rename_copy_or_move(both):
    both.compare("""
        DEBUG SET-ACTIVE-EXPIRE 0
        SET a 1
        SET b 2 PX 1
        .sleep 0.005
        RENAMENX a b
        GET b
        SET a 1
        SET b 2 PX 1
        .sleep 0.005
        COPY a b
        TTL b
        SELECT 1
        SET a other PX 1
        SELECT 0
        .sleep 0.005
        MOVE a 1
        SELECT 1
        GET a
        TTL a
        DEBUG SET-ACTIVE-EXPIRE 1
    """)


def test_dbsize_after_active_expiry(both):
    both.compare("""
        SET a 1 PX 20
        SET b 1
        .sleep 0.6
        DBSIZE
        EXISTS a b
    """, protocols=(2,))
