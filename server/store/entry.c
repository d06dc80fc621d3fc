#include "server/store/entry.h"

#include "lib/base/mem.h"
#include "lib/base/number.h"
#include "server/store/store_internal.h"

#define BLOB_LARGE (256u * 1024) /* bytes from which freeing goes to the background */

int64_t entry_idle_seconds(const struct entry *entry, int64_t now_ms)
{
    uint16_t now = (uint16_t)(now_ms / 1000 / ENTRY_CLOCK_SECONDS);
    return (int64_t)(uint16_t)(now - entry->clock) * ENTRY_CLOCK_SECONDS;
}

const char *entry_encoding_name(const struct entry *entry)
{
    struct bytes value = entry_string(entry);
    int64_t number;
    switch (entry_encoding(entry)) {
    case ENTRY_PLAIN:
        if (value.size <= 20 && number_parse_i64(value, &number))
            return "int";
        break;
    case ENTRY_RAW:
        return "raw";
    case ENTRY_EMBSTR:
        break;
    }
    return value.size <= 44 ? "embstr" : "raw";
}

const char *entry_type_name(const struct entry *entry)
{
    static const char *const names[] = {"string", "list", "set", "zset", "hash", "stream"};
    return names[entry_type(entry)];
}

struct entry *entry_create(struct store_user *user, const struct entry_plan *plan)
{
    bool expires = plan->expires_at != STORE_NO_EXPIRY;
    bool long_key = plan->name.size > ENTRY_KEY_SHORT_MAX;
    size_t head = sizeof(struct entry) + (expires ? 8 : 0) + (long_key ? 4 : 0);
    struct entry *entry = slab_alloc(user->cache, head + plan->name.size + plan->inline_size);
    if (UNLIKELY(!entry))
        return NULL;
    entry->kind = plan->kind;
    entry->flags = (uint8_t)(plan->flags | (expires ? ENTRY_EXPIRES : 0) | (long_key ? ENTRY_LONG_KEY : 0));
    entry->clock = 0;
    entry->sizes = (uint32_t)(long_key ? 255 : plan->name.size) | (uint32_t)plan->inline_size << 8;
    uint8_t *at = entry->body;
    if (expires) {
        memcpy(at, &plan->expires_at, 8);
        at += 8;
    }
    if (UNLIKELY(long_key)) {
        uint32_t size = (uint32_t)plan->name.size;
        memcpy(at, &size, 4);
        at += 4;
    }
    if (plan->name.size)
        memcpy(at, plan->name.at, plan->name.size);
    return entry;
}

void entry_destroy(struct store_user *user, struct entry *entry)
{
    if (UNLIKELY(entry->flags & ENTRY_BLOB))
        store_discard_blob(user->store, entry_blob(entry));
    slab_free(user->cache, entry, entry_size(entry));
}

struct blob *blob_create(size_t size)
{
    struct blob *blob = mem_try_alloc(sizeof(*blob) + size);
    if (!blob)
        return NULL;
    atomic_init(&blob->references, 1);
    blob->size = size;
    blob->capacity = mem_usable(blob) - sizeof(*blob);
    return blob;
}

void blob_keep(struct blob *blob)
{
    atomic_fetch_add_explicit(&blob->references, 1, memory_order_relaxed);
}

void blob_release(struct blob *blob)
{
    if (atomic_fetch_sub_explicit(&blob->references, 1, memory_order_acq_rel) == 1)
        mem_free(blob);
}

void store_discard_blob(struct store *store, struct blob *blob)
{
    if (blob->capacity < BLOB_LARGE) {
        blob_release(blob);
        return;
    }
    struct discarded *work = mem_alloc(sizeof(*work));
    *work = (struct discarded){.blob = blob};
    atomic_fetch_add_explicit(&store->free_pending, 1, memory_order_relaxed);
    mutex_lock(&store->mutex);
    *store->discarded_end = work;
    store->discarded_end = &work->next;
    pthread_cond_signal(&store->discarded_more);
    mutex_unlock(&store->mutex);
}
