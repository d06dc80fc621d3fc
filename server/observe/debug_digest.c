/* DEBUG DIGEST: the fingerprint of a keyspace that Redis computes, so that the two can be compared. A digest is 20
 * bytes; unordered parts are combined by exclusive or of their hashes, ordered ones by hashing what there is so far
 * once more. */
#include "server/observe/debug_command.h"
#include "server/observe/sha1.h"
#include "server/worker/server.h"

#include <arpa/inet.h>
#include <stdio.h>

struct digest {
    uint8_t bytes[SHA1_SIZE];
};

static struct bytes digest_bytes(const struct digest *digest)
{
    return bytes_make(digest->bytes, SHA1_SIZE);
}

/* Order does not matter. */
static void add_unordered(struct digest *digest, struct bytes part)
{
    uint8_t hash[SHA1_SIZE];
    sha1(part, hash);
    for (size_t i = 0; i < SHA1_SIZE; i++)
        digest->bytes[i] ^= hash[i];
}

static void add_ordered(struct digest *digest, struct bytes part)
{
    struct digest before;
    add_unordered(digest, part);
    before = *digest;
    sha1(digest_bytes(&before), digest->bytes);
}

static void add_ordered_number(struct digest *digest, uint32_t number)
{
    uint32_t big_endian = htonl(number);
    add_ordered(digest, bytes_make(&big_endian, sizeof(big_endian)));
}

/* Type numbers are those of Redis, which the enum follows for strings. */
static void add_value(struct digest *digest, const struct entry *entry)
{
    add_ordered_number(digest, (uint32_t)entry_type(entry));
    add_ordered(digest, entry_string(entry));
    if (entry->flags & ENTRY_EXPIRES)
        add_unordered(digest, BYTES("!!expire!!"));
}

struct walk {
    struct digest digest;
    uint32_t db;
    bool any; /* the database has a key */
};

static void add_entry(void *context, const struct entry *entry)
{
    struct walk *walk = context;
    struct digest of_key = {{0}};
    if (!walk->any)
        add_ordered_number(&walk->digest, walk->db);
    walk->any = true;
    add_ordered(&of_key, entry_key(entry));
    add_value(&of_key, entry);
    add_unordered(&walk->digest, digest_bytes(&of_key));
}

static void write_digest(struct call *call, const struct digest *digest)
{
    char text[2 * SHA1_SIZE + 1];
    for (size_t i = 0; i < SHA1_SIZE; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", digest->bytes[i]);
    resp_write_simple(call->reply, text);
}

/* Exact while nobody writes: slots are locked one after the other. */
enum outcome debug_digest(struct call *call)
{
    struct walk walk = {0};
    for (walk.db = 0; walk.db < store_databases(call->server->store); walk.db++) {
        uint64_t cursor = 0;
        walk.any = false;
        do
            cursor = store_scan(call->store, walk.db, cursor, 1000, call->now_ms, add_entry, &walk);
        while (cursor);
    }
    write_digest(call, &walk.digest);
    return OUTCOME_DONE;
}

enum outcome debug_digest_value(struct call *call)
{
    struct store *store = call->server->store;
    resp_write_array(call->reply, call->argc - 2);
    for (uint32_t i = 2; i < call->argc; i++) {
        struct digest digest = {{0}};
        struct place place;
        struct key key;
        store_key(store, call->argv[i], &key);
        store_lock_slot(store, key.slot);
        const struct entry *entry = store_find(call->store, call->db, &key, call->now_ms, &place);
        if (entry)
            add_value(&digest, entry);
        store_unlock_slot(store, key.slot);
        write_digest(call, &digest);
    }
    return OUTCOME_DONE;
}
