/* table.h - a hash table of entries in buckets of one cache line.
 *
 *   bucket   +------------------------+-------+-------------------------------+----------------------------+
 *   (64 B)   | tags[0..6], 1 byte each| flags | words[0..5]                   | words[6]: an entry, or the |
 *            +------------------------+-------+-------------------------------+ overflow bucket (CHAINED)  |
 *                                             | 16 bits of order, 48 of entry | +--------------------------+
 *
 * A key's 32-bit order (bits of its hash) says where it goes: bucket = order * size / 2^32, so any number of buckets
 * will do, tables grow by a quarter, and a bucket holds a contiguous range of orders. A scan's cursor is an order:
 * whatever the table becomes meanwhile, keys at or above the cursor are those not shown yet. The top 16 bits of the
 * order stand in the word and the next 8 are the tag, so growing does not touch the entries.
 *
 * Owns:       buckets; not the entries.
 * Threads:    one at a time (the slot's lock). `buckets`, `size` and `used` may be read racily, relaxed.
 * Invariants: used == number of words set; every entry is in the bucket its order says, or in that bucket's chain.
 * Fails by:   table_insert false when memory is refused; nothing changed. */
#ifndef KETCH_SERVER_STORE_TABLE_H
#define KETCH_SERVER_STORE_TABLE_H

#include "server/store/entry.h"
#include "server/store/slab.h"

#define BUCKET_ENTRIES 7u
#define BUCKET_CHAINED 1u

struct bucket {
    union {
        uint8_t tags[8]; /* tags[7] is flags */
        uint64_t tag_word;
    };
    uint64_t words[BUCKET_ENTRIES];
};
_Static_assert(sizeof(struct bucket) == 64, "a bucket is one cache line");

struct table {
    _Atomic(struct bucket *) buckets; /* NULL while size is 0 */
    _Atomic uint32_t size;
    _Atomic uint32_t used;
    uint32_t chained;                 /* overflow buckets */
    _Atomic uint32_t expires;         /* entries with an expiry */
    _Atomic int64_t expires_at_least; /* no entry expires before this real time, ms */
};

/* Order of a key from its hash; the slot takes the low 14 bits. */
static inline uint32_t table_order(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

/* Position of an entry in the table. */
struct table_place {
    struct bucket *bucket;
    unsigned at;
    struct entry *entry; /* NULL: not found */
};

void table_find(const struct table *table, uint32_t order, struct bytes name, struct table_place *place);

/* Adds an entry that is not in the table. May move everything: places are void afterwards, but the one returned. */
MUST_USE bool table_insert(struct table *table, struct slab_cache *cache, uint32_t order, struct entry *entry,
                           struct table_place *place);

/* Puts another entry (same key) at a place. */
void table_replace(struct table_place *place, struct entry *entry);

/* Takes the entry at a place out. May move everything: places are void afterwards. */
void table_remove(struct table *table, struct slab_cache *cache, const struct table_place *place);

/* Frees the buckets; the table is empty afterwards. */
void table_deinit(struct table *table, struct slab_cache *cache);

/* Bytes in buckets. */
size_t table_memory(const struct table *table);

/* Calls `each` for the entries of the first bucket at or after *order whose own order is at or above it, then moves
 * *order to the next bucket's first. False when that was the last bucket. */
typedef void (*table_each)(void *context, struct entry *entry);
bool table_scan_bucket(const struct table *table, uint32_t *order, table_each each, void *context);

/* Calls `each` for every entry; `each` may free the entry if the table is thrown away afterwards. */
void table_walk(const struct table *table, table_each each, void *context);

/* Prefetches the entries of the whole table, for walks. */
void table_prefetch_entries(const struct table *table);

/* The n-th entry in table order, n < used. */
struct entry *table_nth(const struct table *table, uint32_t n);

/* Hints for lookups to come. The first is safe without the lock, the second needs it. */
static inline struct bucket *table_bucket_hint(const struct table *table, uint32_t order);
void table_prefetch_entry(const struct table *table, uint32_t order, unsigned lines);

/* Every invariant; `order_of` recomputes an entry's order. */
bool table_check(const struct table *table, uint32_t (*order_of)(void *context, const struct entry *entry),
                 void *context);

/* ---- inline ---------------------------------------------------------------------------------------------------------
 */

static inline uint32_t table_size(const struct table *table)
{
    return atomic_load_explicit(&table->size, memory_order_relaxed);
}

static inline uint32_t table_used(const struct table *table)
{
    return atomic_load_explicit(&table->used, memory_order_relaxed);
}

static inline struct bucket *table_buckets(const struct table *table)
{
    return atomic_load_explicit(&table->buckets, memory_order_relaxed);
}

/* 24 bits of order are kept beside the entry: enough to place it among 65,536 buckets without looking at its key. */
static inline uint32_t table_index(uint32_t order, uint32_t size)
{
    return (uint32_t)(((uint64_t)(order >> 8) * size) >> 24);
}

static inline struct bucket *table_bucket_hint(const struct table *table, uint32_t order)
{
    uint32_t size = table_size(table);
    struct bucket *buckets = table_buckets(table);
    return size ? buckets + table_index(order, size) : NULL;
}

#endif
