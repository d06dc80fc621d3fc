/* store_internal.h - what the files of this folder share: slots, databases, users, entries being made.
 *
 * Owns:       see store.h.
 * Threads:    tables and entries under their slot's lock; `struct store` below the mutex under the mutex; the rest of a
 *             user by its own thread. */
#ifndef KETCH_SERVER_STORE_STORE_INTERNAL_H
#define KETCH_SERVER_STORE_STORE_INTERNAL_H

#include "lib/base/cpu.h"
#include "lib/hash/keyhash.h"
#include "server/store/slot_lock.h"
#include "server/store/store.h"

/* One cache line: the lock, and the table of database 0 that nearly everybody uses. */
struct slot {
    _Alignas(CPU_CACHE_LINE) _Atomic uint32_t lock;
    struct table table;
};
_Static_assert(sizeof(struct slot) == CPU_CACHE_LINE, "a slot is one cache line");

/* Tables of a database other than 0, made when the first key goes in. */
struct database {
    _Atomic(struct table *) tables; /* STORE_SLOTS of them, or NULL */
};

/* Work for the background thread: a database's tables, or one blob. */
struct discarded {
    struct discarded *next;
    struct table *tables;
    struct blob *blob;
};

struct store {
    const struct store_options *options;
    struct keyhash_secret secret;
    uint32_t databases;
    bool cluster;
    struct slot *slots;
    struct database *others; /* by database; entry 0 is unused */
    struct slab *slab;

    struct mutex mutex; /* rank INBOX: users, new databases, discarded */
    struct store_user *users;
    int64_t *keys_of_gone, *expires_of_gone; /* counts left by users that are destroyed */
    struct discarded *discarded, **discarded_end;
    pthread_cond_t discarded_more;
    bool stopping;
    pthread_t background;

    _Atomic uint64_t free_pending, freed_in_background;
    _Atomic uint32_t expire_slot; /* where the next expiry step of any user goes on */
};

struct store_user {
    struct store *store;
    struct slab_cache *cache;
    struct store_user *previous, *next;
    struct store_counters counters;
    bool untouched; /* reads leave the access clock alone */
    /* By database: what this user added minus what it removed. Others read them relaxed. */
    _Atomic int64_t *keys, *expires;
};

/* The slot's table of a database; NULL when the database has never held a key. */
static inline struct table *store_table(const struct store *store, uint32_t db, uint32_t slot)
{
    if (LIKELY(db == 0))
        return &store->slots[slot].table;
    struct table *tables = atomic_load_explicit(&store->others[db].tables, memory_order_acquire);
    return tables ? &tables[slot] : NULL;
}

/* The same, making the database's tables; NULL when memory is refused. */
struct table *store_table_made(struct store *store, uint32_t db, uint32_t slot);

void table_init(struct table *table);

static inline void count_add(_Atomic int64_t *counter, int64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

static inline void count_up(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

/* Bytes the entry was allocated with, as slab_free wants them. */
static inline size_t entry_size(const struct entry *entry)
{
    struct bytes value = entry_inline_value(entry);
    return (size_t)(value.at + value.size - (const uint8_t *)entry);
}

/* What a new entry is to hold. */
struct entry_plan {
    struct bytes name;
    uint8_t kind, flags; /* ENTRY_LONG_KEY is added here */
    int64_t expires_at;  /* STORE_NO_EXPIRY or ms */
    size_t inline_size;
};
/* Allocates an entry with its key and head filled, value bytes left to the caller. NULL when memory is refused. */
struct entry *entry_create(struct store_user *user, const struct entry_plan *plan);
/* Frees the entry and lets go of its blob. */
void entry_destroy(struct store_user *user, struct entry *entry);
static inline uint8_t *entry_value_bytes(struct entry *entry)
{
    return (uint8_t *)(uintptr_t)entry_inline_value(entry).at;
}

struct blob *blob_create(size_t size);
/* Lets go of a blob whose memory is freed on the background thread when it is large. */
void store_discard_blob(struct store *store, struct blob *blob);
/* Hands a database's tables to the background thread. */
void store_discard_tables(struct store *store, struct table *tables);
void *store_background(void *store);

/* Notes an expiry that was set on an entry of the table, or that one went away. */
void store_expiry_added(struct store_user *user, uint32_t db, struct table *table, int64_t expires_at);
void store_expiry_gone(struct store_user *user, uint32_t db, struct table *table);

/* Takes the entry out of its table and frees it. */
void store_take_out(struct store_user *user, uint32_t db, struct place *place);

#endif
