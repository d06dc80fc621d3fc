/* store.h - the keyspace: 16,384 slots, each with a lock and a table per database.
 *
 *   slot (one cache line)                 bucket (one cache line)                entry (one allocation)
 *   +------+----------------------+      +----+---------+---+------------------+   +--------+--------+-----+-------+
 *   | lock | table of database 0 -|----> |tags| 16 bits | 6 | more entries or  |-->| header | expiry?| key | value |
 *   +------+----------------------+      |x7  | + entry |...| overflow bucket  |   +--------+--------+-----+-------+
 *
 * Owns:       slots, tables, entries.
 * Threads:    a thread works through its own struct store_user (allocation caches, counters). Tables and entries of a
 *             slot are touched only while its lock is held.
 * Invariants: a thread holding several slot locks took them in ascending order. Nothing waits or does I/O under a lock.
 * Fails by:   -ENOMEM when memory for a value is refused; the old value stays.
 * Limits:     keys and values of 512 MiB; databases as configured. */
#ifndef KETCH_SERVER_STORE_STORE_H
#define KETCH_SERVER_STORE_STORE_H

#include "server/store/entry.h"
#include "server/store/table.h"

#include "lib/option/option.h"

#define STORE_SLOTS 16384
#define STORE_NO_EXPIRY INT64_MIN

struct store;

struct store_options {
#define OPTION OPTION_FIELD
#include "server/store/store.def"
#undef OPTION
};

/* A key with everything that is computed from it once. */
struct key {
    struct bytes name;
    uint64_t hash;
    uint32_t slot;
};

/* Counters of one thread; others read them relaxed. */
struct store_counters {
    _Atomic uint64_t expired;      /* keys removed because their time had come */
    _Atomic uint64_t hits, misses; /* of reads, as INFO keyspace_hits and _misses */
    _Atomic uint64_t changes;      /* keys changed (rdb_changes_since_last_save) */
};

/* One thread's handle on the store. */
struct store_user;

/* Where a key is, or would go. Valid while the slot's lock is held and the slot is not changed otherwise. */
struct place {
    struct table *table;
    uint32_t order;
    union {
        struct table_place found;
        struct {
            struct bucket *bucket;
            unsigned at;
            struct entry *entry; /* NULL: not there */
        };
    };
};

/* `cluster`: slots by CRC16 of the hash tag instead of the key's hash. Keeps a pointer to the options. */
struct store *store_create(const struct store_options *options, bool cluster);
void store_destroy(struct store *store);

struct store_user *store_user_create(struct store *store);
void store_user_destroy(struct store_user *user);
struct store *store_of(const struct store_user *user);
const struct store_counters *store_user_counters(const struct store_user *user);
/* Zeroes what CONFIG RESETSTAT zeroes: all but `changes`. Any thread; an increment in the same moment may survive. */
void store_user_reset_counters(struct store_user *user);

/* Whether reads from now on note the access: off while a client asked for CLIENT NO-TOUCH. */
void store_user_touches(struct store_user *user, bool on);

uint32_t store_databases(const struct store *store);

void store_key(const struct store *store, struct bytes name, struct key *key);

/* ---- locks ------------------------------------------------------------------------------------------------------- */

extern struct capability slot_held; /* declared, never defined: clang checks that it is held (style.md) */

void store_lock_slot(struct store *store, uint32_t slot) ACQUIRES(slot_held);
void store_unlock_slot(struct store *store, uint32_t slot) RELEASES(slot_held);
/* Sorts `slots`, drops doubles and locks them; *count becomes what is left. */
void store_lock_slots(struct store *store, uint16_t *slots, uint32_t *count) ACQUIRES(slot_held);
void store_unlock_slots(struct store *store, const uint16_t *slots, uint32_t count) RELEASES(slot_held);
void store_lock_all(struct store *store) ACQUIRES(slot_held);
void store_unlock_all(struct store *store) RELEASES(slot_held);

/* ---- staged prefetch: hints for keys about to be looked up in database `db` ----------------------------------------
 */

void store_prefetch_slot(const struct store *store, uint32_t slot);
/* Reads the table pointer under no lock, but only to compute an address. */
void store_prefetch_bucket(const struct store *store, uint32_t db, const struct key *key);
/* The first `lines` cache lines of the entry; skipped when somebody else holds the slot. */
void store_prefetch_entry(const struct store *store, uint32_t db, const struct key *key, unsigned lines);

/* ---- one key ----------------------------------------------------------------------------------------------------- */

/* Finds a key that has not expired; an expired one is removed on the way. Counts no hit or miss, touches no clock. */
struct entry *store_find(struct store_user *user, uint32_t db, const struct key *key, int64_t now_ms,
                         struct place *place) REQUIRES(slot_held);

/* The same for a read command: counts the hit or miss and notes the access. */
struct entry *store_read(struct store_user *user, uint32_t db, const struct key *key, int64_t now_ms)
    REQUIRES(slot_held);

/* Notes an access (OBJECT IDLETIME) without the rest. */
void store_touch(struct store_user *user, struct entry *entry, int64_t now_ms);

/* Counts the hit or miss of a read that used store_find: it shows no access (TTL, TYPE), or goes on to write (GETDEL).
 */
void store_count_read(struct store_user *user, bool hit);

/* Makes the key hold a string, over whatever was at the place (filled by store_find). expires_at: absolute real-time
 * ms, STORE_NO_EXPIRY, or STORE_KEEP_EXPIRY to leave it as it is. The value may not point into the entry itself.
 * place->entry is the new entry. 0 or -ENOMEM. */
#define STORE_KEEP_EXPIRY (INT64_MIN + 1)
MUST_USE int store_put_string(struct store_user *user, uint32_t db, const struct key *key, struct place *place,
                              struct bytes value, enum entry_encoding encoding, int64_t expires_at) REQUIRES(slot_held);

/* Gives the string at the place (or a new, empty one) `size` bytes: what was there stays, what is new is zero. Returns
 * where its bytes can be written until the lock is released, NULL when memory is refused. Expiry is kept. */
MUST_USE uint8_t *store_resize_string(struct store_user *user, uint32_t db, const struct key *key, struct place *place,
                                      size_t size, enum entry_encoding encoding) REQUIRES(slot_held);

/* Removes the entry at the place; big values are freed elsewhere. */
void store_remove(struct store_user *user, uint32_t db, const struct key *key, struct place *place) REQUIRES(slot_held);

/* Absolute real-time ms, or STORE_NO_EXPIRY to persist. place->entry may move. 0 or -ENOMEM. */
MUST_USE int store_set_expiry(struct store_user *user, uint32_t db, const struct key *key, struct place *place,
                              int64_t expires_at) REQUIRES(slot_held);

/* Moves the value at `from` to the key `to` of database `to_db` (whatever was there is removed), with its expiry; both
 * slots are held. `from` becomes empty. 0 or -ENOMEM. */
MUST_USE int store_move(struct store_user *user, uint32_t from_db, const struct key *from, struct place *from_place,
                        uint32_t to_db, const struct key *to, int64_t now_ms) REQUIRES(slot_held);

/* The same, leaving the original. */
MUST_USE int store_copy(struct store_user *user, const struct entry *from, uint32_t to_db, const struct key *to,
                        int64_t now_ms) REQUIRES(slot_held);

/* A command that changed `count` keys says so (INFO rdb_changes_since_last_save). */
void store_changed(struct store_user *user, uint64_t count);

/* ---- the whole keyspace ------------------------------------------------------------------------------------------ */

/* Keys and keys with an expiry of a database; exact when nothing is running, no lock needed. */
void store_count(const struct store *store, uint32_t db, uint64_t *keys, uint64_t *expires, int64_t *average_ttl_ms);

/* Empties one database, or all of them for db == UINT32_MAX; all slots are held. Memory is freed in the background. */
void store_flush(struct store_user *user, uint32_t db) REQUIRES(slot_held);

/* All slots are held. */
void store_swap(struct store_user *user, uint32_t a, uint32_t b) REQUIRES(slot_held);

/* Calls `each` for the entries of one database from a cursor (0: start) until at least `count` entries were seen or the
 * work bound is reached; returns the next cursor, 0 at the end. Locks one slot at a time, itself: no slot may be held.
 * Every key present throughout a full iteration is seen at least once, whatever else happens. Expired keys are not
 * shown. `each` runs under the slot's lock. */
typedef void (*store_each)(void *context, const struct entry *entry);
uint64_t store_scan(struct store_user *user, uint32_t db, uint64_t cursor, uint64_t count, int64_t now_ms,
                    store_each each, void *context);

/* A key chosen at random, near to uniform; copies its name to `name`. False when the database is empty. Takes locks. */
MUST_USE bool store_random_key(struct store_user *user, uint32_t db, uint64_t random, int64_t now_ms, struct buf *name);

/* Removes expired keys for at most budget_ns, going on where this user's last call stopped; holds a slot for some tens
 * of microseconds at most. Returns keys removed. No slot may be held. */
uint64_t store_expire_step(struct store_user *user, int64_t now_ms, int64_t budget_ns);

struct store_memory {
    uint64_t entries;                  /* bytes in entries, as allocated */
    uint64_t tables;                   /* bytes in buckets */
    uint64_t slots;                    /* fixed cost */
    uint64_t slab_used, slab_resident; /* of the store's own allocator: bytes in live objects, bytes in its regions */
    uint64_t free_pending;             /* objects waiting for the background to free them */
    uint64_t freed_in_background;
};
void store_memory_read(const struct store *store, struct store_memory *memory);

/* Bytes behind one entry, as allocated, with its share of the table. */
size_t store_entry_memory(const struct store *store, const struct entry *entry);

/* Called by tests and debug builds: every invariant of every table. Locks all slots. False with a log line if broken.
 */
bool store_check(struct store_user *user);

#endif
