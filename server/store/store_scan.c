/* The whole keyspace: counting, scanning, emptying, swapping, checking. */
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/random.h"
#include "server/store/store_internal.h"

/* ---- counting ---- */

struct ttl_sample {
    int64_t now_ms, sum, count;
};

static void add_ttl(void *context, struct entry *entry)
{
    struct ttl_sample *sample = context;
    if (!(entry->flags & ENTRY_EXPIRES))
        return;
    int64_t left = entry_expires_at(entry) - sample->now_ms;
    sample->sum += left > 0 ? left : 0;
    sample->count++;
}

/* Mean time to live over the slots that hold expiries, some hundred keys of them. */
static int64_t sample_ttl(const struct store *store, uint32_t db) NO_THREAD_SAFETY
{
    struct ttl_sample sample = {.now_ms = clock_realtime_ms()};
    for (uint32_t slot = 0; slot < STORE_SLOTS && sample.count < 256; slot++) {
        const struct table *table = store_table(store, db, slot);
        if (!table)
            break;
        if (atomic_load_explicit(&table->expires, memory_order_relaxed) == 0)
            continue;
        slot_lock(&store->slots[slot].lock);
        table_walk(table, add_ttl, &sample);
        slot_unlock(&store->slots[slot].lock);
    }
    return sample.count > 0 ? sample.sum / sample.count : 0;
}

void store_count(const struct store *store, uint32_t db, uint64_t *keys, uint64_t *expires, int64_t *average_ttl_ms)
{
    struct store *all = (struct store *)(uintptr_t)store;
    mutex_lock(&all->mutex);
    int64_t key_sum = store->keys_of_gone[db], expire_sum = store->expires_of_gone[db];
    for (struct store_user *user = store->users; user; user = user->next) {
        key_sum += atomic_load_explicit(&user->keys[db], memory_order_relaxed);
        expire_sum += atomic_load_explicit(&user->expires[db], memory_order_relaxed);
    }
    mutex_unlock(&all->mutex);
    if (keys)
        *keys = key_sum > 0 ? (uint64_t)key_sum : 0;
    if (expires)
        *expires = expire_sum > 0 ? (uint64_t)expire_sum : 0;
    if (average_ttl_ms)
        *average_ttl_ms = expire_sum > 0 ? sample_ttl(store, db) : 0;
}

/* ---- emptying and swapping ---- */

static void flush_database(struct store_user *user, uint32_t db)
{
    struct store *store = user->store;
    int64_t keys = 0, expires = 0;
    struct table *tables = mem_alloc_aligned(CPU_CACHE_LINE, STORE_SLOTS * sizeof(*tables));
    for (uint32_t slot = 0; slot < STORE_SLOTS; slot++) {
        struct table *table = store_table(store, db, slot);
        if (!table) {
            mem_free(tables);
            return;
        }
        keys += table_used(table);
        expires += atomic_load_explicit(&table->expires, memory_order_relaxed);
        /* The background gets the tables as they are; the slot starts with an empty one. */
        memcpy(&tables[slot], table, sizeof(*table));
        atomic_store_explicit(&table->size, 0, memory_order_relaxed);
        atomic_store_explicit(&table->buckets, NULL, memory_order_relaxed);
        atomic_store_explicit(&table->used, 0, memory_order_relaxed);
        table->chained = 0;
        atomic_store_explicit(&table->expires, 0, memory_order_relaxed);
        atomic_store_explicit(&table->expires_at_least, INT64_MAX, memory_order_relaxed);
    }
    count_add(&user->keys[db], -keys);
    count_add(&user->expires[db], -expires);
    if (keys > 0) {
        store_discard_tables(store, tables);
        atomic_fetch_add_explicit(&store->free_pending, (uint64_t)keys, memory_order_relaxed);
    } else {
        mem_free(tables);
    }
}

void store_flush(struct store_user *user, uint32_t db)
{
    if (db != UINT32_MAX) {
        flush_database(user, db);
        return;
    }
    for (uint32_t each = 0; each < user->store->databases; each++)
        flush_database(user, each);
}

/* Field by field: prefetch hints and the expiry hand look at some of them without the lock. */
#define SWAP_RELAXED(a, b, type)                                                                                       \
    do {                                                                                                               \
        type kept = atomic_load_explicit(&(a), memory_order_relaxed);                                                  \
        atomic_store_explicit(&(a), atomic_load_explicit(&(b), memory_order_relaxed), memory_order_relaxed);           \
        atomic_store_explicit(&(b), kept, memory_order_relaxed);                                                       \
    } while (0)

static void swap_tables(struct table *a, struct table *b)
{
    uint32_t chained = a->chained;
    a->chained = b->chained;
    b->chained = chained;
    SWAP_RELAXED(a->buckets, b->buckets, struct bucket *);
    SWAP_RELAXED(a->size, b->size, uint32_t);
    SWAP_RELAXED(a->used, b->used, uint32_t);
    SWAP_RELAXED(a->expires, b->expires, uint32_t);
    SWAP_RELAXED(a->expires_at_least, b->expires_at_least, int64_t);
}

void store_swap(struct store_user *user, uint32_t a, uint32_t b)
{
    struct store *store = user->store;
    if (a == b)
        return;
    /* Both must have tables; the counts are swapped in every user's cells, which nobody writes while all slots are
     * held. */
    CHECK(store_table_made(store, a, 0) && store_table_made(store, b, 0));
    for (uint32_t slot = 0; slot < STORE_SLOTS; slot++)
        swap_tables(store_table(store, a, slot), store_table(store, b, slot));
    mutex_lock(&store->mutex);
    int64_t gone = store->keys_of_gone[a];
    store->keys_of_gone[a] = store->keys_of_gone[b];
    store->keys_of_gone[b] = gone;
    gone = store->expires_of_gone[a];
    store->expires_of_gone[a] = store->expires_of_gone[b];
    store->expires_of_gone[b] = gone;
    for (struct store_user *each = store->users; each; each = each->next) {
        SWAP_RELAXED(each->keys[a], each->keys[b], int64_t);
        SWAP_RELAXED(each->expires[a], each->expires[b], int64_t);
    }
    mutex_unlock(&store->mutex);
}

/* ---- scanning ---- */

struct scan {
    store_each each;
    void *context;
    int64_t now_ms;
    uint64_t seen;
};

static void scan_entry(void *context, struct entry *entry)
{
    struct scan *scan = context;
    scan->seen++;
    if (!entry_expired(entry, scan->now_ms))
        scan->each(scan->context, entry);
}

/* A cursor is slot and order: 14 and 32 bits. Work per call is bounded by entries seen and by slots looked at. */
uint64_t store_scan(struct store_user *user, uint32_t db, uint64_t cursor, uint64_t count, int64_t now_ms,
                    store_each each, void *context) NO_THREAD_SAFETY
{
    struct store *store = user->store;
    struct scan scan = {.each = each, .context = context, .now_ms = now_ms};
    uint64_t slot = cursor >> 32;
    uint32_t order = (uint32_t)cursor;
    uint64_t buckets_left = count > UINT64_MAX / 16 ? UINT64_MAX : count * 10 + 16;
    while (slot < STORE_SLOTS && scan.seen < count && buckets_left > 0) {
        struct table *table = store_table(store, db, (uint32_t)slot);
        if (!table)
            return 0;
        if (table_used(table) == 0) {
            slot++;
            order = 0;
            continue;
        }
        slot_lock(&store->slots[slot].lock);
        bool more = true;
        while (more && scan.seen < count && buckets_left > 0) {
            more = table_scan_bucket(table, &order, scan_entry, &scan);
            buckets_left--;
        }
        slot_unlock(&store->slots[slot].lock);
        if (!more) {
            slot++;
            order = 0;
        }
    }
    return slot < STORE_SLOTS ? slot << 32 | order : 0;
}

/* ---- a random key ---- */

/* Copies the name of a random live entry of the slot; false when there is none. */
static bool random_of_slot(struct store *store, struct table *table, uint32_t slot, uint64_t random, int64_t now_ms,
                           struct buf *name) NO_THREAD_SAFETY
{
    bool found = false;
    slot_lock(&store->slots[slot].lock);
    uint32_t used = table_used(table);
    for (uint32_t i = 0; i < used && !found; i++) {
        const struct entry *entry = table_nth(table, (uint32_t)((random + i) % used));
        if (!entry_expired(entry, now_ms)) {
            buf_clear(name);
            found = buf_append_bytes(name, entry_key(entry)) == 0;
        }
    }
    slot_unlock(&store->slots[slot].lock);
    return found;
}

bool store_random_key(struct store_user *user, uint32_t db, uint64_t random, int64_t now_ms, struct buf *name)
{
    struct store *store = user->store;
    struct random choices;
    random_seed(&choices, random);
    uint64_t keys;
    store_count(store, db, &keys, NULL, NULL);
    /* Slots are taken in proportion to what they hold, by rejection against a size that few exceed. */
    uint64_t cap = keys / STORE_SLOTS * 2 + 4;
    for (int attempt = 0; attempt < 256; attempt++) {
        uint32_t slot = (uint32_t)random_below(&choices, STORE_SLOTS);
        struct table *table = store_table(store, db, slot);
        if (!table)
            return false;
        uint32_t used = table_used(table);
        if (used == 0 || (used < cap && random_below(&choices, cap) >= used))
            continue;
        if (random_of_slot(store, table, slot, random_next(&choices), now_ms, name))
            return true;
    }
    /* Few keys: the first slot that has some, from a random one on. */
    uint32_t start = (uint32_t)random_below(&choices, STORE_SLOTS);
    for (uint32_t i = 0; i < STORE_SLOTS; i++) {
        uint32_t slot = (start + i) % STORE_SLOTS;
        struct table *table = store_table(store, db, slot);
        if (table && table_used(table) > 0 && random_of_slot(store, table, slot, random_next(&choices), now_ms, name))
            return true;
    }
    return false;
}

/* ---- memory and checks ---- */

void store_memory_read(const struct store *store, struct store_memory *memory) NO_THREAD_SAFETY
{
    *memory = (struct store_memory){.slots = STORE_SLOTS * sizeof(struct slot)};
    for (uint32_t db = 0; db < store->databases; db++) {
        for (uint32_t slot = 0; slot < STORE_SLOTS; slot++) {
            const struct table *table = store_table(store, db, slot);
            if (!table)
                break;
            if (db > 0 && slot == 0)
                memory->slots += STORE_SLOTS * sizeof(*table);
            memory->tables += (uint64_t)table_size(table) * sizeof(struct bucket);
        }
    }
    struct slab_stats stats;
    slab_stats_read(store->slab, &stats);
    memory->slab_used = stats.used;
    memory->slab_resident = stats.reserved;
    memory->entries = stats.used > memory->tables ? stats.used - memory->tables : 0;
    memory->free_pending = atomic_load_explicit(&store->free_pending, memory_order_relaxed);
    memory->freed_in_background = atomic_load_explicit(&store->freed_in_background, memory_order_relaxed);
}

size_t store_entry_memory(const struct store *store, const struct entry *entry)
{
    (void)store;
    size_t bytes = slab_class_size(entry_size(entry)) + sizeof(uint64_t) + 1;
    if (entry->flags & ENTRY_BLOB)
        bytes += sizeof(struct blob) + entry_blob(entry)->capacity;
    return bytes;
}

struct check_context {
    const struct store *store;
    uint32_t slot;
    uint32_t expires;
    bool wrong_slot;
};

static uint32_t check_order(void *context, const struct entry *entry)
{
    struct check_context *check = context;
    struct key key;
    store_key(check->store, entry_key(entry), &key);
    if (key.slot != check->slot)
        check->wrong_slot = true;
    check->expires += (entry->flags & ENTRY_EXPIRES) != 0;
    return table_order(key.hash);
}

static bool check_table(const struct store *store, uint32_t db, uint32_t slot, int64_t *keys)
{
    const struct table *table = store_table(store, db, slot);
    if (!table)
        return true;
    struct check_context check = {.store = store, .slot = slot};
    if (!table_check(table, check_order, &check))
        return false;
    *keys += table_used(table);
    /* expires_at_least is not checked: an expiry step in the middle of the slot has lowered only part of it. */
    if (check.wrong_slot || check.expires != atomic_load_explicit(&table->expires, memory_order_relaxed)) {
        log_write(LOG_WARNING, "store: slot %u of database %u: wrong slot %d, %u expiries counted", slot, db,
                  check.wrong_slot, check.expires);
        return false;
    }
    return true;
}

bool store_check(struct store_user *user) NO_THREAD_SAFETY
{
    struct store *store = user->store;
    bool good = true;
    store_lock_all(store);
    for (uint32_t db = 0; db < store->databases && good; db++) {
        int64_t keys = 0;
        for (uint32_t slot = 0; slot < STORE_SLOTS && good; slot++)
            good = check_table(store, db, slot, &keys);
        uint64_t counted = 0;
        store_count(store, db, &counted, NULL, NULL);
        if (good && counted != (uint64_t)keys) {
            log_write(LOG_WARNING, "store: database %u holds %lld keys, counters say %llu", db, (long long)keys,
                      (unsigned long long)counted);
            good = false;
        }
    }
    store_unlock_all(store);
    return good;
}
