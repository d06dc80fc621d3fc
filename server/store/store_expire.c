/* Reclaiming: keys whose time has come and nobody touches, and what was thrown away whole. */
#include "lib/base/clock.h"
#include "lib/base/mem.h"
#include "server/store/store_internal.h"

/* Entries of one slot looked at before the lock is let go: some tens of microseconds. */
#define EXPIRE_BATCH 256u

struct expire_walk {
    int64_t now_ms;
    int64_t earliest; /* of the entries that stay */
    uint32_t expired, seen;
    const struct entry *victims[EXPIRE_BATCH];
};

static void expire_look(void *context, struct entry *entry)
{
    struct expire_walk *walk = context;
    walk->seen++;
    if (!(entry->flags & ENTRY_EXPIRES))
        return;
    int64_t at = entry_expires_at(entry);
    if (at <= walk->now_ms && walk->expired < EXPIRE_BATCH)
        walk->victims[walk->expired++] = entry;
    else if (at < walk->earliest)
        walk->earliest = at;
}

/* Removes the expired keys of one table, in pieces. Returns how many. */
static uint64_t expire_table(struct store_user *user, uint32_t db, uint32_t slot, int64_t now_ms) NO_THREAD_SAFETY
{
    struct store *store = user->store;
    struct table *table = store_table(store, db, slot);
    uint64_t removed = 0;
    uint32_t order = 0;
    bool more = true, first = true;
    while (more) {
        struct expire_walk walk = {.now_ms = now_ms, .earliest = INT64_MAX};
        slot_lock(&store->slots[slot].lock);
        /* The bound starts anew: what comes in between two holds lowers it, what is seen and stays lowers it. */
        if (first)
            atomic_store_explicit(&table->expires_at_least, INT64_MAX, memory_order_relaxed);
        if (first && table_size(table) <= 64)
            table_prefetch_entries(table);
        /* A bucket's chain is bounded in practice; a longer one than the batch just takes another round. */
        while (more && walk.seen < EXPIRE_BATCH && walk.expired < EXPIRE_BATCH / 2)
            more = table_scan_bucket(table, &order, expire_look, &walk);
        for (uint32_t i = 0; i < walk.expired; i++) {
            struct key key;
            store_key(store, entry_key(walk.victims[i]), &key);
            struct place place = {.table = table, .order = table_order(key.hash)};
            table_find(table, place.order, key.name, &place.found);
            store_take_out(user, db, &place);
        }
        removed += walk.expired;
        if (walk.earliest < atomic_load_explicit(&table->expires_at_least, memory_order_relaxed))
            atomic_store_explicit(&table->expires_at_least, walk.earliest, memory_order_relaxed);
        slot_unlock(&store->slots[slot].lock);
        first = false;
    }
    if (removed > 0)
        count_up(&user->counters.expired, removed);
    return removed;
}

static bool any_expires(const struct store *store, uint32_t db)
{
    uint64_t expires;
    store_count(store, db, NULL, &expires, NULL);
    return expires > 0;
}

uint64_t store_expire_step(struct store_user *user, int64_t now_ms, int64_t budget_ns)
{
    struct store *store = user->store;
    uint64_t removed = 0;
    if (!option_get(&store->options->active_expire))
        return 0;
    int64_t deadline = clock_monotonic_ns() + budget_ns;
    for (uint32_t db = 0; db < store->databases; db++) {
        if (!store_table(store, db, 0) || !any_expires(store, db))
            continue;
        for (uint32_t i = 0; i < STORE_SLOTS; i++) {
            /* All users share one hand, so that they clean different slots. */
            uint32_t slot = atomic_fetch_add_explicit(&store->expire_slot, 1, memory_order_relaxed) & (STORE_SLOTS - 1);
            struct table *table = store_table(store, db, slot);
            if (atomic_load_explicit(&table->expires_at_least, memory_order_relaxed) > now_ms)
                continue;
            removed += expire_table(user, db, slot, now_ms);
            if (clock_monotonic_ns() >= deadline)
                return removed;
        }
    }
    return removed;
}

/* ---- the background thread ---- */

void store_discard_tables(struct store *store, struct table *tables)
{
    struct discarded *work = mem_alloc(sizeof(*work));
    *work = (struct discarded){.tables = tables};
    mutex_lock(&store->mutex);
    *store->discarded_end = work;
    store->discarded_end = &work->next;
    pthread_cond_signal(&store->discarded_more);
    mutex_unlock(&store->mutex);
}

struct background {
    struct store_user *user;
    uint64_t freed;
};

static void background_free(void *context, struct entry *entry)
{
    struct background *background = context;
    if (entry->flags & ENTRY_BLOB)
        blob_release(entry_blob(entry));
    slab_free(background->user->cache, entry, entry_size(entry));
    background->freed++;
}

static void free_discarded(struct store_user *user, struct discarded *work)
{
    struct store *store = user->store;
    struct background background = {.user = user};
    if (work->blob) {
        blob_release(work->blob);
        background.freed = 1;
        atomic_fetch_sub_explicit(&store->free_pending, 1, memory_order_relaxed);
    }
    for (uint32_t slot = 0; work->tables && slot < STORE_SLOTS; slot++) {
        uint64_t before = background.freed;
        table_walk(&work->tables[slot], background_free, &background);
        table_deinit(&work->tables[slot], user->cache);
        atomic_fetch_sub_explicit(&store->free_pending, background.freed - before, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&store->freed_in_background, background.freed, memory_order_relaxed);
    mem_free(work->tables);
    mem_free(work);
}

void *store_background(void *argument)
{
    struct store *store = argument;
    struct store_user *user = store_user_create(store);
    mutex_lock(&store->mutex);
    for (;;) {
        struct discarded *work = store->discarded;
        if (work) {
            store->discarded = work->next;
            if (!store->discarded)
                store->discarded_end = &store->discarded;
            mutex_unlock(&store->mutex);
            free_discarded(user, work);
            mutex_lock(&store->mutex);
            continue;
        }
        if (store->stopping)
            break;
        pthread_cond_wait(&store->discarded_more, &store->mutex.pthread);
    }
    mutex_unlock(&store->mutex);
    store_user_destroy(user);
    return NULL;
}
