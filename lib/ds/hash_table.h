/* hash_table.h - the members of a large set or the fields of a large hash: buckets of one cache line, in segments that
 * grow and split one at a time, so that no insertion moves more than one segment.
 *
 *   table -> directory, by the top bits of the hash -> segment of at most 1,024 buckets
 *   bucket   | tags[0..6], 1 byte each, 0: free | passed | words[0..6]: 16 bits of the hash, 48 of the element's
 * address |
 *
 * Within a segment bucket = next bits of the hash * size / 2^bits, so a bucket holds a contiguous range of hashes. What
 * finds its bucket full goes on to the next one with room (around the segment's end), and every bucket it passes counts
 * it; a search ends at the first bucket that nobody passed. 24 bits of the hash are kept per element, from which
 * segments are rebuilt without touching the elements but for one doubling in sixteen of very large tables.
 *
 * Owns:       buckets and directory; not the elements, whose addresses have 48 bits.
 * Threads:    one at a time.
 * Invariants: used == number of elements; hash_table_check tells.
 * Fails by:   hash_table_insert false when memory is refused and no bucket has room; nothing changed.
 * Limits:     about 10.5 bytes per element in large tables; an insertion moves at most 7,168 words.
 *
 * Iteration:  callbacks of scan and walk must not change the table. Between calls of hash_table_scan anything may
 * happen. An iterator stays good over hash_table_take_at, and over nothing else that changes the table. */
#ifndef KETCH_LIB_DS_HASH_TABLE_H
#define KETCH_LIB_DS_HASH_TABLE_H

#include "lib/base/check.h"
#include "lib/base/random.h"
#include "lib/hash/keyhash.h"

#define HASH_BUCKET_ENTRIES 7u

struct hash_bucket {
    union {
        uint8_t tags[8]; /* tags[7]: how many passed by, 255 and more are 255 */
        uint64_t tag_word;
    };
    uint64_t words[HASH_BUCKET_ENTRIES];
};
_Static_assert(sizeof(struct hash_bucket) == 64, "a bucket is one cache line");

struct hash_segment {
    struct hash_bucket *buckets; /* NULL while size is 0 */
    uint32_t used;               /* right in the first of the directory's entries for this segment */
    uint32_t size;               /* buckets */
    uint32_t depth;              /* leading bits that all its hashes share */
    uint32_t window;             /* leading bits not kept, of which depth has at most 10 fewer */
};

struct hash_table_kind {
    struct bytes (*key)(const void *element);
    const struct keyhash_secret *secret;
};

struct hash_table {
    const struct hash_table_kind *kind;
    uint64_t used;
    struct hash_segment *directory; /* 2^depth entries; NULL while depth is 0 */
    struct hash_segment only;       /* the segment while depth is 0 */
    uint32_t depth;
    uint32_t deepest; /* segments whose depth is the directory's */
};

/* Position of an element; element is NULL when there is none. */
struct hash_place {
    void *element;
    struct hash_bucket *bucket;
    uint32_t segment; /* of the directory */
    uint32_t home;    /* bucket that the hash says */
    unsigned at;
};

struct hash_iterator {
    struct hash_place place;
    uint32_t bucket; /* of the segment */
};

typedef void (*hash_table_each)(void *context, void *element);

/* `kind` must outlive the table. Allocates nothing. */
void hash_table_init(struct hash_table *table, const struct hash_table_kind *kind);

/* Frees buckets and directory: O(segments). The elements are the caller's to free before (hash_table_drain). */
void hash_table_deinit(struct hash_table *table);

static inline uint64_t hash_table_hash(const struct hash_table *table, struct bytes key)
{
    return keyhash(table->kind->secret, key);
}

void *hash_table_find(const struct hash_table *table, uint64_t hash, struct bytes key);
void hash_table_find_place(const struct hash_table *table, uint64_t hash, struct bytes key, struct hash_place *place);

/* Hints for lookups to come: the bucket, then (once that is there) the elements that may match. */
void hash_table_prefetch(const struct hash_table *table, uint64_t hash);
void hash_table_prefetch_element(const struct hash_table *table, uint64_t hash);

/* Adds an element whose key is not in the table. */
MUST_USE bool hash_table_insert(struct hash_table *table, uint64_t hash, void *element);

/* Puts another element of the same key at a place: the element was reallocated, or replaced. */
void hash_table_replace(struct hash_place *place, void *element);

/* Takes the element out and returns it (NULL: not there). May move everything. */
void *hash_table_remove(struct hash_table *table, uint64_t hash, struct bytes key);

/* The same for a place, without moving anything: places and iterators stay good. Call hash_table_fit when done. */
void *hash_table_take_at(struct hash_table *table, const struct hash_place *place);

/* Gives back what many hash_table_take_at left empty. */
void hash_table_fit(struct hash_table *table);

/* Uniform among the elements, O(1); NULL when there are none. */
void *hash_table_random(const struct hash_table *table, struct random *random);

/* Calls `each` for the elements of one bucket's range of hashes at or above the cursor (0 to begin) and returns the
 * next cursor, 0 at the end. Cursors have 48 bits and no state: whatever happens to the table between calls, an element
 * that is there from the first call to the last is shown at least once. */
uint64_t hash_table_scan(const struct hash_table *table, uint64_t cursor, hash_table_each each, void *context);

/* All elements, in the order of memory. Begin with hash_iterator_init; false at the end. */
void hash_iterator_init(struct hash_iterator *iterator);
bool hash_iterator_next(const struct hash_table *table, struct hash_iterator *iterator);

/* Calls `each` for every element. */
void hash_table_walk(const struct hash_table *table, hash_table_each each, void *context);

/* Takes out at least `count` elements, or all, calling `each` on them: for freeing in bounded pieces. False when the
 * table is empty and holds no memory any more. Nothing but drain and deinit may be called in between. */
bool hash_table_drain(struct hash_table *table, uint32_t count, struct hash_iterator *iterator, hash_table_each each,
                      void *context);

/* Bytes of buckets and directory. */
size_t hash_table_memory(const struct hash_table *table);

/* Every invariant. */
bool hash_table_check(const struct hash_table *table);

#endif
