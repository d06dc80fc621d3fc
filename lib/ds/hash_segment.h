/* hash_segment.h - one segment of a hash table: placing, finding and moving words. For hash_table*.c only.
 *
 * Owns:       nothing; the table does.
 * Threads:    as the table. */
#ifndef KETCH_LIB_DS_HASH_SEGMENT_H
#define KETCH_LIB_DS_HASH_SEGMENT_H

#include "lib/ds/hash_table.h"

#define HASH_SEGMENT_BUCKETS 1024u
#define HASH_KNOWN_BITS 24u
#define HASH_DEPTH_MAX 24u
#define HASH_POINTER_MASK ((1ull << 48) - 1)

static inline void *hash_word_element(uint64_t word)
{
    return (void *)(uintptr_t)(word & HASH_POINTER_MASK);
}

/* The 24 bits of the hash that a segment may keep. */
static inline uint32_t hash_exact(const struct hash_segment *segment, uint64_t hash)
{
    return (uint32_t)(hash << segment->window >> (64 - HASH_KNOWN_BITS));
}

/* The 24 bits that it keeps. The tag is the last eight of them, and a tag of 0 marks a free place: 0 becomes 1, here
 * and hence everywhere. */
static inline uint32_t hash_known(const struct hash_segment *segment, uint64_t hash)
{
    uint32_t known = hash_exact(segment, hash);
    return known | ((known & 255) == 0);
}

#define HASH_LOW_BITS 0x0101010101010101u
#define HASH_HIGH_BITS 0x8080808080808080u

/* A bit set in each byte of the result where a tag of the bucket is this one. A byte above a true match may be set
 * wrongly; the lowest is right. The byte of passes is masked off. */
static inline uint64_t hash_match_tags(const struct hash_bucket *bucket, uint32_t tag)
{
    uint64_t difference = bucket->tag_word ^ HASH_LOW_BITS * tag;
    return (difference - HASH_LOW_BITS) & ~difference & HASH_HIGH_BITS & (UINT64_MAX >> 8);
}

static inline uint32_t hash_word_known(uint64_t word, uint8_t tag)
{
    return (uint32_t)(word >> 48) << 8 | tag;
}

/* Bits of the known ones that tell the buckets of the segment apart. */
static inline uint32_t hash_free_bits(const struct hash_segment *segment)
{
    return HASH_KNOWN_BITS - (segment->depth - segment->window);
}

static inline uint32_t hash_home(const struct hash_segment *segment, uint32_t known)
{
    uint32_t bits = hash_free_bits(segment);
    return (uint32_t)((uint64_t)(known & ((1u << bits) - 1)) * segment->size >> bits);
}

static inline uint32_t hash_directory_index(const struct hash_table *table, uint64_t hash)
{
    return table->depth ? (uint32_t)(hash >> (64 - table->depth)) : 0;
}

static inline struct hash_segment *hash_segment_at(const struct hash_table *table, uint32_t index)
{
    /* The table is ours; const says only that the caller does not change it. */
    return table->depth ? table->directory + index : (struct hash_segment *)(uintptr_t)&table->only;
}

/* The first of the directory's entries for the segment that `index` belongs to, and how many there are. */
static inline uint32_t hash_segment_span(const struct hash_table *table, uint32_t index)
{
    return 1u << (table->depth - hash_segment_at(table, index)->depth);
}

static inline uint32_t hash_segment_first(const struct hash_table *table, uint32_t index)
{
    return index & ~(hash_segment_span(table, index) - 1);
}

/* Words a segment takes before it grows: 15/16 of the places, and always one less than all. */
static inline uint32_t hash_segment_limit(uint32_t size)
{
    uint32_t places = size * HASH_BUCKET_ENTRIES;
    return places - (places + 15) / 16;
}

/* A free place from the home bucket on, counting the passes. The segment must have room. */
void hash_segment_put(struct hash_segment *segment, uint32_t known, uint64_t word);

/* Clears a place and takes back the passes. */
void hash_segment_clear(const struct hash_segment *segment, uint32_t home, struct hash_bucket *bucket, unsigned at);

/* Zeroed buckets for a segment of this size; NULL when memory is refused. */
MUST_USE struct hash_bucket *hash_buckets_create(uint32_t size);

/* After an insertion made it full, or removals made it empty: grows, splits, shrinks or joins the segment at `index`.
 * Not being able to is harmless. */
void hash_table_make_room(struct hash_table *table, uint32_t index);
void hash_table_give_back(struct hash_table *table, uint32_t index);

#endif
