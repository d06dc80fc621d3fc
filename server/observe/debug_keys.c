#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "lib/base/number.h"
#include "server/observe/debug_command.h"
#include "server/worker/server.h"

#include <stdio.h>

#define POPULATE_SIZE_MAX (512ll * 1024 * 1024)

/* Bytes an RDB file would hold of the string, without compression. */
static size_t serialized_size(struct bytes value)
{
    int64_t number;
    if (number_parse_i64(value, &number)) {
        if (number >= INT8_MIN && number <= INT8_MAX)
            return 2;
        if (number >= INT16_MIN && number <= INT16_MAX)
            return 3;
        if (number >= INT32_MIN && number <= INT32_MAX)
            return 5;
    }
    return value.size + (value.size < 64 ? 1u : value.size < 16384 ? 2u : 5u);
}

enum outcome debug_object(struct call *call)
{
    struct store *store = call->server->store;
    char text[256] = "";
    struct place place;
    struct key key;
    store_key(store, call->argv[2], &key);
    store_lock_slot(store, key.slot);
    const struct entry *entry = store_find(call->store, call->db, &key, call->now_ms, &place);
    if (entry) {
        int64_t idle = entry_idle_seconds(entry, call->now_ms);
        (void)snprintf(text, sizeof(text),
                       "Value at:%p refcount:1 encoding:%s serializedlength:%zu lru:%lld lru_seconds_idle:%lld",
                       (const void *)entry, entry_encoding_name(entry), serialized_size(entry_string(entry)),
                       (long long)(call->now_ms / 1000 - idle) & 0xffffff, (long long)idle);
    }
    store_unlock_slot(store, key.slot);
    if (!entry)
        return call_error(call, "ERR no such key");
    resp_write_simple(call->reply, text);
    return OUTCOME_DONE;
}

/* ---- POPULATE ---- */

static bool read_positive(struct call *call, uint32_t at, int64_t *value)
{
    if (number_parse_i64(call->argv[at], value) && *value >= 0)
        return true;
    (void)call_error(call, "ERR value is out of range, must be positive");
    return false;
}

/* Adds one key unless it is there. 0 or -ENOMEM. */
static int populate_one(struct call *call, struct bytes name, struct bytes value)
{
    struct store *store = call->server->store;
    struct place place;
    struct key key;
    int error = 0;
    store_key(store, name, &key);
    store_lock_slot(store, key.slot);
    if (!store_find(call->store, call->db, &key, call->now_ms, &place)) {
        error = store_put_string(call->store, call->db, &key, &place, value, ENTRY_PLAIN, STORE_NO_EXPIRY);
        if (error == 0) {
            store_touch(call->store, place.entry, call->now_ms);
            store_changed(call->store, 1);
        }
    }
    store_unlock_slot(store, key.slot);
    return error;
}

static int populate_all(struct call *call, int64_t count, struct bytes prefix, uint8_t *padded, int64_t size)
{
    struct buf name;
    int error = 0;
    buf_init(&name, prefix.size + 64);
    for (int64_t i = 0; error == 0 && i < count; i++) {
        char text[64];
        int length = snprintf(text, sizeof(text), "value:%lld", (long long)i);
        struct bytes value = bytes_make(text, (size_t)length);
        buf_clear(&name);
        error = buf_append_bytes(&name, prefix);
        if (error == 0)
            error = buf_printf(&name, ":%lld", (long long)i);
        if (padded) {
            memcpy(padded, text, size < length ? (size_t)size : (size_t)length);
            value = bytes_make(padded, (size_t)size);
        }
        if (error == 0)
            error = populate_one(call, buf_bytes(&name), value);
    }
    buf_deinit(&name);
    return error;
}

/* POPULATE count [prefix] [size]: "prefix:N" holds "value:N", cut or filled with zero bytes to the size. */
enum outcome debug_populate(struct call *call)
{
    int64_t count, size = 0;
    struct bytes prefix = call->argc > 3 ? call->argv[3] : BYTES("key");
    uint8_t *padded = NULL;
    if (!read_positive(call, 2, &count) || (call->argc == 5 && !read_positive(call, 4, &size)))
        return OUTCOME_DONE;
    if (size > POPULATE_SIZE_MAX)
        return call_error(call, "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    if (size > 0) {
        padded = mem_try_alloc((size_t)size);
        if (!padded)
            return call_out_of_memory(call);
        memset(padded, 0, (size_t)size);
    }
    int error = populate_all(call, count, prefix, padded, size);
    mem_free(padded);
    if (error < 0)
        return call_out_of_memory(call);
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

/* ---- HTSTATS ---- */

enum outcome debug_htstats(struct call *call)
{
    struct store *store = call->server->store;
    struct store_memory memory;
    uint64_t keys, expires;
    int64_t db, average_ttl_ms;
    if (!call_integer(call, 2, &db))
        return OUTCOME_DONE;
    if (db < 0 || db >= store_databases(store))
        return call_error(call, "ERR Out of range database");
    store_count(store, (uint32_t)db, &keys, &expires, &average_ttl_ms);
    store_memory_read(store, &memory);
    char text[512];
    int size =
        snprintf(text, sizeof(text),
                 "[Dictionary HT]\n number of elements: %llu\n tables: %u\n elements per table: %.2f\n"
                 "[Expires HT]\n number of elements: %llu\n"
                 "[All databases]\n bytes in tables: %llu\n buckets: %llu\n bytes in entries: %llu\n",
                 (unsigned long long)keys, (unsigned)STORE_SLOTS, (double)keys / STORE_SLOTS,
                 (unsigned long long)expires, (unsigned long long)memory.tables,
                 (unsigned long long)(memory.tables / sizeof(struct bucket)), (unsigned long long)memory.entries);
    resp_write_verbatim(call->reply, "txt", bytes_make(text, (size_t)size));
    return OUTCOME_DONE;
}
