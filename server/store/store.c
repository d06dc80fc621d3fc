#include "server/store/store.h"

#include "lib/base/mem.h"
#include "lib/slot/keyslot.h"
#include "server/store/store_internal.h"

#include <errno.h>
#include <stdlib.h>

/* ---- life ---- */

void table_init(struct table *table)
{
    memset(table, 0, sizeof(*table));
    atomic_init(&table->expires_at_least, INT64_MAX);
}

struct store *store_create(const struct store_options *options, bool cluster)
{
    struct store *store = mem_alloc_zeroed(sizeof(*store));
    store->options = options;
    store->databases = (uint32_t)option_get(&options->databases);
    store->cluster = cluster;
    keyhash_secret_init(&store->secret);
    store->slots = mem_alloc_aligned(4096, STORE_SLOTS * sizeof(*store->slots));
    memset(store->slots, 0, STORE_SLOTS * sizeof(*store->slots));
    for (uint32_t slot = 0; slot < STORE_SLOTS; slot++)
        table_init(&store->slots[slot].table);
    store->others = mem_alloc_zeroed(store->databases * sizeof(*store->others));
    store->keys_of_gone = mem_alloc_zeroed(store->databases * sizeof(int64_t));
    store->expires_of_gone = mem_alloc_zeroed(store->databases * sizeof(int64_t));
    store->slab = slab_create();
    mutex_init(&store->mutex, MUTEX_RANK_INBOX);
    store->discarded_end = &store->discarded;
    CHECK(pthread_cond_init(&store->discarded_more, NULL) == 0);
    CHECK(pthread_create(&store->background, NULL, store_background, store) == 0);
    return store;
}

static void free_entry(void *context, struct entry *entry)
{
    struct store_user *user = context;
    if (entry->flags & ENTRY_BLOB)
        blob_release(entry_blob(entry));
    slab_free(user->cache, entry, entry_size(entry));
}

void store_destroy(struct store *store)
{
    mutex_lock(&store->mutex);
    store->stopping = true;
    pthread_cond_signal(&store->discarded_more);
    mutex_unlock(&store->mutex);
    pthread_join(store->background, NULL);

    struct store_user *user = store_user_create(store);
    for (uint32_t db = 0; db < store->databases; db++) {
        for (uint32_t slot = 0; slot < STORE_SLOTS; slot++) {
            struct table *table = store_table(store, db, slot);
            if (!table)
                break;
            table_walk(table, free_entry, user);
            table_deinit(table, user->cache);
        }
        if (db > 0)
            mem_free(atomic_load(&store->others[db].tables));
    }
    store_user_destroy(user);
    CHECK(!store->users);
    slab_destroy(store->slab);
    pthread_cond_destroy(&store->discarded_more);
    mutex_deinit(&store->mutex);
    mem_free(store->keys_of_gone);
    mem_free(store->expires_of_gone);
    mem_free(store->others);
    mem_free(store->slots);
    mem_free(store);
}

struct store_user *store_user_create(struct store *store)
{
    /* On lines of its own: its counters are written by one thread and must not share a line with another's. */
    struct store_user *user = mem_alloc_aligned(CPU_CACHE_LINE, (sizeof(*user) + 63) & ~(size_t)63);
    memset(user, 0, sizeof(*user));
    user->store = store;
    size_t bytes = (store->databases * sizeof(int64_t) + 63) & ~(size_t)63;
    user->keys = mem_alloc_aligned(CPU_CACHE_LINE, bytes);
    user->expires = mem_alloc_aligned(CPU_CACHE_LINE, bytes);
    for (uint32_t db = 0; db < store->databases; db++) {
        atomic_init(&user->keys[db], 0);
        atomic_init(&user->expires[db], 0);
    }
    user->cache = slab_cache_create(store->slab);
    mutex_lock(&store->mutex);
    user->next = store->users;
    if (store->users)
        store->users->previous = user;
    store->users = user;
    mutex_unlock(&store->mutex);
    return user;
}

void store_user_destroy(struct store_user *user)
{
    struct store *store = user->store;
    mutex_lock(&store->mutex);
    for (uint32_t db = 0; db < store->databases; db++) {
        store->keys_of_gone[db] += atomic_load_explicit(&user->keys[db], memory_order_relaxed);
        store->expires_of_gone[db] += atomic_load_explicit(&user->expires[db], memory_order_relaxed);
    }
    if (user->previous)
        user->previous->next = user->next;
    else
        store->users = user->next;
    if (user->next)
        user->next->previous = user->previous;
    mutex_unlock(&store->mutex);
    slab_cache_destroy(user->cache);
    mem_free(user->keys);
    mem_free(user->expires);
    mem_free(user);
}

struct store *store_of(const struct store_user *user)
{
    return user->store;
}

const struct store_counters *store_user_counters(const struct store_user *user)
{
    return &user->counters;
}

void store_user_reset_counters(struct store_user *user)
{
    atomic_store_explicit(&user->counters.expired, 0, memory_order_relaxed);
    atomic_store_explicit(&user->counters.hits, 0, memory_order_relaxed);
    atomic_store_explicit(&user->counters.misses, 0, memory_order_relaxed);
}

void store_user_touches(struct store_user *user, bool on)
{
    user->untouched = !on;
}

uint32_t store_databases(const struct store *store)
{
    return store->databases;
}

void store_key(const struct store *store, struct bytes name, struct key *key)
{
    key->name = name;
    key->hash = keyhash(&store->secret, name);
    key->slot = UNLIKELY(store->cluster) ? keyslot_of(name) : (uint32_t)(key->hash & (STORE_SLOTS - 1));
}

struct table *store_table_made(struct store *store, uint32_t db, uint32_t slot)
{
    struct table *table = store_table(store, db, slot);
    if (LIKELY(table != NULL))
        return table;
    mutex_lock(&store->mutex);
    struct table *tables = atomic_load_explicit(&store->others[db].tables, memory_order_acquire);
    if (!tables) {
        tables = mem_try_alloc_aligned(CPU_CACHE_LINE, STORE_SLOTS * sizeof(*tables));
        if (tables) {
            for (uint32_t i = 0; i < STORE_SLOTS; i++)
                table_init(&tables[i]);
            atomic_store_explicit(&store->others[db].tables, tables, memory_order_release);
        }
    }
    mutex_unlock(&store->mutex);
    return tables ? &tables[slot] : NULL;
}

/* ---- locks ---- */

void store_lock_slot(struct store *store, uint32_t slot) NO_THREAD_SAFETY
{
    slot_lock(&store->slots[slot].lock);
}

void store_unlock_slot(struct store *store, uint32_t slot) NO_THREAD_SAFETY
{
    slot_unlock(&store->slots[slot].lock);
}

static int compare_slots(const void *a, const void *b)
{
    return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

void store_lock_slots(struct store *store, uint16_t *slots, uint32_t *count) NO_THREAD_SAFETY
{
    uint32_t kept = 0;
    if (*count > 16) {
        qsort(slots, *count, sizeof(*slots), compare_slots);
    } else {
        for (uint32_t i = 1; i < *count; i++) {
            uint16_t slot = slots[i];
            uint32_t at = i;
            for (; at > 0 && slots[at - 1] > slot; at--)
                slots[at] = slots[at - 1];
            slots[at] = slot;
        }
    }
    for (uint32_t i = 0; i < *count; i++)
        if (kept == 0 || slots[kept - 1] != slots[i])
            slots[kept++] = slots[i];
    for (uint32_t i = 0; i < kept; i++)
        slot_lock(&store->slots[slots[i]].lock);
    *count = kept;
}

void store_unlock_slots(struct store *store, const uint16_t *slots, uint32_t count) NO_THREAD_SAFETY
{
    for (uint32_t i = 0; i < count; i++)
        slot_unlock(&store->slots[slots[i]].lock);
}

void store_lock_all(struct store *store) NO_THREAD_SAFETY
{
    for (uint32_t slot = 0; slot < STORE_SLOTS; slot++)
        slot_lock(&store->slots[slot].lock);
}

void store_unlock_all(struct store *store) NO_THREAD_SAFETY
{
    for (uint32_t slot = 0; slot < STORE_SLOTS; slot++)
        slot_unlock(&store->slots[slot].lock);
}

/* ---- prefetch ---- */

void store_prefetch_slot(const struct store *store, uint32_t slot)
{
    __builtin_prefetch(&store->slots[slot], 1);
}

void store_prefetch_bucket(const struct store *store, uint32_t db, const struct key *key)
{
    const struct table *table = store_table(store, db, key->slot);
    const struct bucket *bucket = table ? table_bucket_hint(table, table_order(key->hash)) : NULL;
    if (bucket)
        __builtin_prefetch(bucket);
}

void store_prefetch_entry(const struct store *store, uint32_t db, const struct key *key,
                          unsigned lines) NO_THREAD_SAFETY
{
    const struct table *table = store_table(store, db, key->slot);
    /* Only a hint: when somebody else holds the slot it is not worth waiting. */
    _Atomic uint32_t *lock = &store->slots[key->slot].lock;
    if (!table || !slot_lock_try(lock))
        return;
    table_prefetch_entry(table, table_order(key->hash), lines);
    slot_unlock(lock);
}

/* ---- one key ---- */

void store_expiry_added(struct store_user *user, uint32_t db, struct table *table, int64_t expires_at)
{
    atomic_store_explicit(&table->expires, atomic_load_explicit(&table->expires, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (expires_at < atomic_load_explicit(&table->expires_at_least, memory_order_relaxed))
        atomic_store_explicit(&table->expires_at_least, expires_at, memory_order_relaxed);
    count_add(&user->expires[db], 1);
}

void store_expiry_gone(struct store_user *user, uint32_t db, struct table *table)
{
    uint32_t left = atomic_load_explicit(&table->expires, memory_order_relaxed) - 1;
    atomic_store_explicit(&table->expires, left, memory_order_relaxed);
    if (left == 0)
        atomic_store_explicit(&table->expires_at_least, INT64_MAX, memory_order_relaxed);
    count_add(&user->expires[db], -1);
}

void store_take_out(struct store_user *user, uint32_t db, struct place *place)
{
    struct entry *entry = place->entry;
    if (entry->flags & ENTRY_EXPIRES)
        store_expiry_gone(user, db, place->table);
    table_remove(place->table, user->cache, &place->found);
    entry_destroy(user, entry);
    place->entry = NULL;
    count_add(&user->keys[db], -1);
}

struct entry *store_find(struct store_user *user, uint32_t db, const struct key *key, int64_t now_ms,
                         struct place *place)
{
    place->table = store_table(user->store, db, key->slot);
    place->order = table_order(key->hash);
    place->entry = NULL;
    if (UNLIKELY(!place->table))
        return NULL;
    table_find(place->table, place->order, key->name, &place->found);
    if (place->entry && UNLIKELY(entry_expired(place->entry, now_ms))) {
        store_take_out(user, db, place);
        count_up(&user->counters.expired, 1);
    }
    return place->entry;
}

struct entry *store_read(struct store_user *user, uint32_t db, const struct key *key, int64_t now_ms)
{
    struct place place;
    struct entry *entry = store_find(user, db, key, now_ms, &place);
    if (!entry) {
        count_up(&user->counters.misses, 1);
        return NULL;
    }
    count_up(&user->counters.hits, 1);
    store_touch(user, entry, now_ms);
    return entry;
}

void store_count_read(struct store_user *user, bool hit)
{
    count_up(hit ? &user->counters.hits : &user->counters.misses, 1);
}

void store_touch(struct store_user *user, struct entry *entry, int64_t now_ms)
{
    if (UNLIKELY(user->untouched))
        return;
    /* Written only when it changes: a hot entry's line stays clean between two ticks of the clock. */
    uint16_t clock = (uint16_t)(now_ms / 1000 / ENTRY_CLOCK_SECONDS);
    if (entry->clock != clock)
        entry->clock = clock;
}

/* Puts a new entry where the place says, over the old one. On failure (false) nothing has changed but that `entry`
 * stays the caller's. */
static bool put_entry(struct store_user *user, uint32_t db, const struct key *key, struct place *place,
                      struct entry *entry)
{
    struct entry *old = place->entry;
    if (old) {
        if (old->flags & ENTRY_EXPIRES)
            store_expiry_gone(user, db, place->table);
        table_replace(&place->found, entry);
        entry_destroy(user, old);
    } else {
        if (!place->table)
            place->table = store_table_made(user->store, db, key->slot);
        if (!place->table || !table_insert(place->table, user->cache, place->order, entry, &place->found))
            return false;
        count_add(&user->keys[db], 1);
    }
    if (entry->flags & ENTRY_EXPIRES)
        store_expiry_added(user, db, place->table, entry_expires_at(entry));
    return true;
}

/* Builds an entry and puts it; value bytes are copied. `blob`, if not NULL, is the value (its reference is taken over
 * on success). */
static int put_value(struct store_user *user, uint32_t db, const struct key *key, struct place *place,
                     struct entry_plan *plan, struct bytes value, struct blob *blob, uint16_t clock)
{
    plan->name = key->name;
    plan->inline_size = blob ? sizeof(blob) : value.size;
    if (blob)
        plan->flags |= ENTRY_BLOB;
    struct entry *entry = entry_create(user, plan);
    if (!entry)
        return -ENOMEM;
    entry->clock = clock;
    if (blob)
        memcpy(entry_value_bytes(entry), &blob, sizeof(blob));
    else if (value.size)
        memcpy(entry_value_bytes(entry), value.at, value.size);
    if (!put_entry(user, db, key, place, entry)) {
        slab_free(user->cache, entry, entry_size(entry));
        return -ENOMEM;
    }
    return 0;
}

int store_put_string(struct store_user *user, uint32_t db, const struct key *key, struct place *place,
                     struct bytes value, enum entry_encoding encoding, int64_t expires_at)
{
    struct entry *old = place->entry;
    if (expires_at == STORE_KEEP_EXPIRY)
        expires_at = old && (old->flags & ENTRY_EXPIRES) ? entry_expires_at(old) : STORE_NO_EXPIRY;
    uint8_t kind = (uint8_t)(ENTRY_STRING | encoding << 4);
    if (LIKELY(old && value.size <= ENTRY_INLINE_MAX &&
               ((old->flags & (ENTRY_EXPIRES | ENTRY_BLOB)) == (expires_at != STORE_NO_EXPIRY ? ENTRY_EXPIRES : 0)))) {
        /* Same layout: overwrite in place when the size stays in its class. */
        struct bytes current = entry_inline_value(old);
        size_t head = (size_t)(current.at - (const uint8_t *)old);
        if (entry_type(old) == ENTRY_STRING &&
            (value.size == current.size ||
             slab_class_size(head + value.size) == slab_class_size(head + current.size))) {
            old->kind = kind;
            old->sizes = (old->sizes & 255) | (uint32_t)value.size << 8;
            if (value.size)
                memcpy((uint8_t *)old + head, value.at, value.size);
            if (expires_at != STORE_NO_EXPIRY) {
                store_expiry_gone(user, db, place->table);
                memcpy(old->body, &expires_at, 8);
                store_expiry_added(user, db, place->table, expires_at);
            }
            return 0;
        }
    }
    struct blob *blob = NULL;
    if (value.size > ENTRY_INLINE_MAX) {
        blob = blob_create(value.size);
        if (!blob)
            return -ENOMEM;
        memcpy(blob->data, value.at, value.size);
    }
    struct entry_plan plan = {.kind = kind, .expires_at = expires_at};
    int status = put_value(user, db, key, place, &plan, value, blob, old ? old->clock : 0);
    if (status < 0 && blob)
        blob_release(blob);
    return status;
}

/* A blob that only the entry refers to, of at least that size: the entry's own when it will do, else a copy. */
static struct blob *own_blob(struct bytes content, struct blob *current, size_t size)
{
    if (current && current->capacity >= size && atomic_load_explicit(&current->references, memory_order_acquire) == 1)
        return current;
    /* Room to grow: a string that is appended to is mostly appended to again. */
    size_t room = current ? size + size / 4 : size;
    struct blob *blob = blob_create(room);
    if (!blob)
        return NULL;
    size_t kept = content.size < size ? content.size : size;
    memcpy(blob->data, content.at, kept);
    blob->size = kept;
    return blob;
}

static uint8_t *resize_blob(struct store_user *user, uint32_t db, const struct key *key, struct place *place,
                            size_t size, uint8_t kind, int64_t expires_at)
{
    struct entry *old = place->entry;
    struct blob *current = old && (old->flags & ENTRY_BLOB) ? entry_blob(old) : NULL;
    struct bytes content = old ? entry_string(old) : bytes_make(NULL, 0);
    struct blob *blob = own_blob(content.at ? content : bytes_make("", 0), current, size);
    if (!blob)
        return NULL;
    if (size > blob->size)
        memset(blob->data + blob->size, 0, size - blob->size);
    blob->size = size;
    if (blob == current) {
        old->kind = kind;
        return blob->data;
    }
    struct entry_plan plan = {.kind = kind, .expires_at = expires_at};
    if (put_value(user, db, key, place, &plan, bytes_make(NULL, 0), blob, old ? old->clock : 0) < 0) {
        blob_release(blob);
        return NULL;
    }
    return blob->data;
}

uint8_t *store_resize_string(struct store_user *user, uint32_t db, const struct key *key, struct place *place,
                             size_t size, enum entry_encoding encoding)
{
    struct entry *old = place->entry;
    uint8_t kind = (uint8_t)(ENTRY_STRING | encoding << 4);
    int64_t expires_at = old && (old->flags & ENTRY_EXPIRES) ? entry_expires_at(old) : STORE_NO_EXPIRY;
    if (size > ENTRY_INLINE_MAX)
        return resize_blob(user, db, key, place, size, kind, expires_at);
    struct bytes content = old ? entry_string(old) : bytes_make(NULL, 0);
    size_t kept = content.size < size ? content.size : size;
    if (old && !(old->flags & ENTRY_BLOB)) {
        size_t head = (size_t)(content.at - (const uint8_t *)old);
        if (slab_class_size(head + size) == slab_class_size(head + content.size)) {
            old->kind = kind;
            old->sizes = (old->sizes & 255) | (uint32_t)size << 8;
            uint8_t *value = (uint8_t *)old + head;
            memset(value + kept, 0, size - kept);
            return value;
        }
    }
    struct entry_plan plan = {.name = key->name, .kind = kind, .expires_at = expires_at, .inline_size = size};
    struct entry *entry = entry_create(user, &plan);
    if (!entry)
        return NULL;
    uint8_t *value = entry_value_bytes(entry);
    if (kept)
        memcpy(value, content.at, kept);
    if (size > kept)
        memset(value + kept, 0, size - kept);
    entry->clock = old ? old->clock : 0;
    if (!put_entry(user, db, key, place, entry)) {
        slab_free(user->cache, entry, entry_size(entry));
        return NULL;
    }
    return value;
}

void store_remove(struct store_user *user, uint32_t db, const struct key *key, struct place *place)
{
    (void)key;
    store_take_out(user, db, place);
}

int store_set_expiry(struct store_user *user, uint32_t db, const struct key *key, struct place *place,
                     int64_t expires_at)
{
    struct entry *entry = place->entry;
    bool had = (entry->flags & ENTRY_EXPIRES) != 0, has = expires_at != STORE_NO_EXPIRY;
    if (had && has) {
        store_expiry_gone(user, db, place->table);
        memcpy(entry->body, &expires_at, 8);
        store_expiry_added(user, db, place->table, expires_at);
        return 0;
    }
    if (had == has)
        return 0;
    struct bytes value = entry_inline_value(entry);
    struct blob *blob = entry->flags & ENTRY_BLOB ? entry_blob(entry) : NULL;
    struct entry_plan plan = {.kind = entry->kind, .flags = entry->flags & ENTRY_VISITED, .expires_at = expires_at};
    if (blob)
        blob_keep(blob);
    int status = put_value(user, db, key, place, &plan, value, blob, entry->clock);
    if (status < 0 && blob)
        blob_release(blob);
    return status;
}

int store_copy(struct store_user *user, const struct entry *from, uint32_t to_db, const struct key *to, int64_t now_ms)
{
    struct place place;
    (void)store_find(user, to_db, to, now_ms, &place);
    struct blob *blob = from->flags & ENTRY_BLOB ? entry_blob(from) : NULL;
    int64_t expires_at = from->flags & ENTRY_EXPIRES ? entry_expires_at(from) : STORE_NO_EXPIRY;
    struct entry_plan plan = {.kind = from->kind, .expires_at = expires_at};
    if (blob)
        blob_keep(blob);
    int status = put_value(user, to_db, to, &place, &plan, entry_inline_value(from), blob, from->clock);
    if (status < 0 && blob)
        blob_release(blob);
    return status;
}

int store_move(struct store_user *user, uint32_t from_db, const struct key *from, struct place *from_place,
               uint32_t to_db, const struct key *to, int64_t now_ms)
{
    int status = store_copy(user, from_place->entry, to_db, to, now_ms);
    if (status < 0)
        return status;
    /* The copy may have moved what the place points at, if both are in one table. */
    if (store_find(user, from_db, from, now_ms, from_place))
        store_take_out(user, from_db, from_place);
    return 0;
}

void store_changed(struct store_user *user, uint64_t count)
{
    count_up(&user->counters.changes, count);
}
