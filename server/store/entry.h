/* entry.h - what a bucket points at: header, expiry if there is one, key, and the value when it is a string.
 *
 *   byte 0      1        2..3           4..7                  [8..15]        [..4]            ..             ..
 *   +--------+--------+--------------+---------------------+--------------+----------------+------------+-----------+
 *   |type:4  | flags  | access clock | key size (8 bits),  | expiry ms    | key size, when | key bytes  | value     |
 *   |enc:4   |        |              | value size (24 bits)| if EXPIRES   | over 254 bytes |            |           |
 *   +--------+--------+--------------+---------------------+--------------+----------------+------------+-----------+
 *
 * A value past ENTRY_INLINE_MAX is a separate, reference-counted blob, so that a reply can send it from where it is.
 *
 * Owns:       nothing; the store owns entries.
 * Threads:    only under the slot's lock. */
#ifndef KETCH_SERVER_STORE_ENTRY_H
#define KETCH_SERVER_STORE_ENTRY_H

#include "lib/base/bytes.h"
#include "lib/base/check.h"

#include <stdatomic.h>

enum entry_type { ENTRY_STRING, ENTRY_LIST, ENTRY_SET, ENTRY_ZSET, ENTRY_HASH, ENTRY_STREAM };

/* How OBJECT ENCODING names a string. PLAIN: "int" when it reads as one, else by length. */
enum entry_encoding {
    ENTRY_PLAIN,  /* set as a whole */
    ENTRY_RAW,    /* changed in place: APPEND, SETRANGE */
    ENTRY_EMBSTR, /* a result that Redis does not try to encode as an integer: INCRBYFLOAT */
};

#define ENTRY_EXPIRES 1u
#define ENTRY_LONG_KEY 2u
#define ENTRY_BLOB 4u
#define ENTRY_VISITED 8u

#define ENTRY_KEY_SHORT_MAX 254
#define ENTRY_INLINE_MAX (16 * 1024 - 1) /* bytes of value inside the entry */

struct entry {
    uint8_t kind; /* type in the low, encoding in the high four bits */
    uint8_t flags;
    uint16_t clock; /* real time in units of ENTRY_CLOCK_SECONDS, modulo 65,536, of the last access */
    uint32_t sizes; /* key size (255: see the extension) in the low 8 bits, inline value size above */
    uint8_t body[];
};

#define ENTRY_CLOCK_SECONDS 1

struct blob {
    _Atomic uint32_t references;
    size_t size, capacity;
    uint8_t data[];
};

/* One more holder, one less: the last one frees it. Any thread; while there are several, nobody changes the bytes. */
void blob_keep(struct blob *blob);
void blob_release(struct blob *blob);

static inline enum entry_type entry_type(const struct entry *entry)
{
    return (enum entry_type)(entry->kind & 15);
}

static inline enum entry_encoding entry_encoding(const struct entry *entry)
{
    return (enum entry_encoding)(entry->kind >> 4);
}

static inline size_t entry_head_size(const struct entry *entry)
{
    return sizeof(struct entry) + (entry->flags & ENTRY_EXPIRES ? 8u : 0u) + (entry->flags & ENTRY_LONG_KEY ? 4u : 0u);
}

static inline struct bytes entry_key(const struct entry *entry)
{
    const uint8_t *at = (const uint8_t *)entry + entry_head_size(entry);
    uint32_t size = entry->sizes & 255;
    if (UNLIKELY(entry->flags & ENTRY_LONG_KEY))
        memcpy(&size, at - 4, 4);
    return bytes_make(at, size);
}

/* Bytes of the value inside the entry: a string, or a pointer to what is outside. */
static inline struct bytes entry_inline_value(const struct entry *entry)
{
    struct bytes key = entry_key(entry);
    return bytes_make(key.at + key.size, entry->sizes >> 8);
}

static inline struct blob *entry_blob(const struct entry *entry)
{
    struct blob *blob;
    memcpy(&blob, entry_inline_value(entry).at, sizeof(blob));
    return blob;
}

/* The string value; valid until the lock is released. */
static inline struct bytes entry_string(const struct entry *entry)
{
    if (UNLIKELY(entry->flags & ENTRY_BLOB)) {
        const struct blob *blob = entry_blob(entry);
        return bytes_make(blob->data, blob->size);
    }
    return entry_inline_value(entry);
}

/* Absolute real-time ms; only when ENTRY_EXPIRES is set. */
static inline int64_t entry_expires_at(const struct entry *entry)
{
    int64_t at;
    memcpy(&at, entry->body, sizeof(at));
    return at;
}

static inline bool entry_expired(const struct entry *entry, int64_t now_ms)
{
    return (entry->flags & ENTRY_EXPIRES) && entry_expires_at(entry) <= now_ms;
}

/* Seconds since the last access, as far as 16 bits of clock tell. */
int64_t entry_idle_seconds(const struct entry *entry, int64_t now_ms);

/* "int", "embstr", "raw". */
const char *entry_encoding_name(const struct entry *entry);

/* "string", "list", ... as TYPE answers. */
const char *entry_type_name(const struct entry *entry);

#endif
