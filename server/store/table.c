#include "server/store/table.h"

#include "lib/base/log.h"

#include <string.h>

#define POINTER_MASK ((1ull << 48) - 1)
/* A table grows when it holds more than 21/4 entries a bucket, and shrinks below 3/2. */
#define GROW_NUMERATOR 21u
#define GROW_DENOMINATOR 4u

static inline struct entry *word_entry(uint64_t word)
{
    return (struct entry *)(uintptr_t)(word & POINTER_MASK);
}

static inline uint64_t make_word(uint32_t order, const struct entry *entry)
{
    return ((uint64_t)(order >> 16) << 48) | (uint64_t)(uintptr_t)entry;
}

static inline uint8_t order_tag(uint32_t order)
{
    return (uint8_t)(order >> 8);
}

/* The 24 known bits of order, in their place. */
static inline uint32_t word_order(uint64_t word, uint8_t tag)
{
    return (uint32_t)(word >> 48) << 16 | (uint32_t)tag << 8;
}

static inline bool is_chained(const struct bucket *bucket)
{
    return (bucket->tags[7] & BUCKET_CHAINED) != 0;
}

static inline struct bucket *chain_of(const struct bucket *bucket)
{
    return (struct bucket *)(uintptr_t)bucket->words[6];
}

static inline unsigned entries_of(const struct bucket *bucket)
{
    return is_chained(bucket) ? BUCKET_ENTRIES - 1 : BUCKET_ENTRIES;
}

static inline void set_word(struct bucket *bucket, unsigned at, uint32_t order, const struct entry *entry)
{
    bucket->words[at] = make_word(order, entry);
    bucket->tags[at] = order_tag(order);
}

void table_find(const struct table *table, uint32_t order, struct bytes name, struct table_place *place)
{
    place->entry = NULL;
    uint32_t size = table_size(table);
    if (UNLIKELY(size == 0))
        return;
    struct bucket *bucket = table_buckets(table) + table_index(order, size);
    const uint64_t lows = 0x0101010101010101u, highs = 0x8080808080808080u;
    uint64_t wanted = lows * order_tag(order);
    for (;;) {
        /* A byte of `matches` is set where the tags are equal; one above a true match may be set wrongly, which the
         * comparison of the rest sorts out. The flags byte is masked off. */
        uint64_t difference = bucket->tag_word ^ wanted;
        uint64_t matches = (difference - lows) & ~difference & highs & (UINT64_MAX >> 8);
        while (matches) {
            unsigned at = (unsigned)__builtin_ctzll(matches) / 8;
            uint64_t word = bucket->words[at];
            matches &= matches - 1;
            if ((uint32_t)(word >> 48) != order >> 16 || (word & POINTER_MASK) == 0)
                continue;
            if (UNLIKELY(at == 6 && is_chained(bucket)))
                continue;
            struct entry *entry = word_entry(word);
            if (LIKELY(bytes_equal(entry_key(entry), name))) {
                *place = (struct table_place){bucket, at, entry};
                return;
            }
        }
        if (LIKELY(!is_chained(bucket)))
            return;
        bucket = chain_of(bucket);
    }
}

/* A free place in the bucket or its chain; false when all are taken, *last is then the end of the chain. */
static bool find_room(struct bucket *bucket, struct table_place *place, struct bucket **last)
{
    for (;;) {
        unsigned entries = entries_of(bucket);
        for (unsigned at = 0; at < entries; at++) {
            if (bucket->words[at] == 0) {
                *place = (struct table_place){bucket, at, NULL};
                return true;
            }
        }
        *last = bucket;
        if (!is_chained(bucket))
            return false;
        bucket = chain_of(bucket);
    }
}

/* Hangs a new bucket behind a full one, whose last entry moves there. */
static bool chain_bucket(struct table *table, struct slab_cache *cache, struct bucket *last, struct table_place *place)
{
    struct bucket *extra = slab_alloc(cache, sizeof(*extra));
    if (!extra)
        return false;
    memset(extra, 0, sizeof(*extra));
    extra->words[0] = last->words[6];
    extra->tags[0] = last->tags[6];
    last->words[6] = (uint64_t)(uintptr_t)extra;
    last->tags[7] |= BUCKET_CHAINED;
    table->chained++;
    *place = (struct table_place){extra, 1, NULL};
    return true;
}

static void free_buckets(struct table *table, struct slab_cache *cache, struct bucket *buckets, uint32_t size)
{
    if (table->chained > 0) {
        for (uint32_t i = 0; i < size; i++) {
            struct bucket *bucket = is_chained(&buckets[i]) ? chain_of(&buckets[i]) : NULL;
            while (bucket) {
                struct bucket *next = is_chained(bucket) ? chain_of(bucket) : NULL;
                slab_free(cache, bucket, sizeof(*bucket));
                bucket = next;
            }
        }
    }
    slab_free(cache, buckets, (size_t)size * sizeof(*buckets));
}

/* Moves all entries into a table of `size` buckets. On failure nothing has changed. */
static bool resize(struct table *table, struct slab_cache *cache, uint32_t size)
{
    struct bucket *fresh = slab_alloc(cache, (size_t)size * sizeof(*fresh));
    if (!fresh)
        return false;
    memset(fresh, 0, (size_t)size * sizeof(*fresh));
    struct table grown = {.buckets = fresh, .size = size};
    uint32_t old_size = table_size(table);
    struct bucket *old = table_buckets(table);
    for (uint32_t i = 0; i < old_size; i++) {
        const struct bucket *bucket = &old[i];
        for (;;) {
            unsigned entries = entries_of(bucket);
            for (unsigned at = 0; at < entries; at++) {
                if (bucket->words[at] == 0)
                    continue;
                uint32_t order = word_order(bucket->words[at], bucket->tags[at]);
                struct table_place place;
                struct bucket *last;
                if (!find_room(&fresh[table_index(order, size)], &place, &last) &&
                    !chain_bucket(&grown, cache, last, &place)) {
                    free_buckets(&grown, cache, fresh, size);
                    return false;
                }
                place.bucket->words[place.at] = bucket->words[at];
                place.bucket->tags[place.at] = bucket->tags[at];
            }
            if (!is_chained(bucket))
                break;
            bucket = chain_of(bucket);
        }
    }
    if (old)
        free_buckets(table, cache, old, old_size);
    table->chained = grown.chained;
    atomic_store_explicit(&table->buckets, fresh, memory_order_relaxed);
    atomic_store_explicit(&table->size, size, memory_order_relaxed);
    return true;
}

bool table_insert(struct table *table, struct slab_cache *cache, uint32_t order, struct entry *entry,
                  struct table_place *place)
{
    uint32_t size = table_size(table), used = table_used(table);
    if ((uint64_t)used * GROW_DENOMINATOR >= (uint64_t)size * GROW_NUMERATOR) {
        uint32_t grown = size + size / 4 + 1;
        /* A table that cannot grow goes on with longer chains; only the very first bucket must be had. */
        if (!resize(table, cache, grown) && size == 0)
            return false;
        size = table_size(table);
    }
    struct bucket *bucket = table_buckets(table) + table_index(order, size), *last;
    if (!find_room(bucket, place, &last) && !chain_bucket(table, cache, last, place))
        return false;
    set_word(place->bucket, place->at, order, entry);
    place->entry = entry;
    atomic_store_explicit(&table->used, used + 1, memory_order_relaxed);
    return true;
}

void table_replace(struct table_place *place, struct entry *entry)
{
    uint64_t word = place->bucket->words[place->at];
    place->bucket->words[place->at] = (word & ~POINTER_MASK) | (uint64_t)(uintptr_t)entry;
    place->entry = entry;
}

void table_remove(struct table *table, struct slab_cache *cache, const struct table_place *place)
{
    place->bucket->words[place->at] = 0;
    place->bucket->tags[place->at] = 0;
    uint32_t used = table_used(table) - 1, size = table_size(table);
    atomic_store_explicit(&table->used, used, memory_order_relaxed);
    if (used == 0) {
        table_deinit(table, cache);
    } else if (size > 4 && (uint64_t)used * 2 < (uint64_t)size * 3) {
        /* Failing to shrink is harmless. */
        (void)resize(table, cache, used / 4 + 1);
    }
}

void table_deinit(struct table *table, struct slab_cache *cache)
{
    struct bucket *buckets = table_buckets(table);
    uint32_t size = table_size(table);
    atomic_store_explicit(&table->size, 0, memory_order_relaxed);
    atomic_store_explicit(&table->buckets, NULL, memory_order_relaxed);
    atomic_store_explicit(&table->used, 0, memory_order_relaxed);
    if (buckets)
        free_buckets(table, cache, buckets, size);
    table->chained = 0;
}

size_t table_memory(const struct table *table)
{
    return slab_class_size((size_t)table_size(table) * sizeof(struct bucket)) * (table_size(table) > 0) +
           (size_t)table->chained * sizeof(struct bucket);
}

static void each_in_chain(const struct bucket *bucket, uint32_t from_order, table_each each, void *context)
{
    for (;;) {
        const struct bucket *next = is_chained(bucket) ? chain_of(bucket) : NULL;
        unsigned entries = entries_of(bucket);
        for (unsigned at = 0; at < entries; at++) {
            uint64_t word = bucket->words[at];
            if (word != 0 && word_order(word, bucket->tags[at]) >= from_order)
                each(context, word_entry(word));
        }
        if (!next)
            return;
        bucket = next;
    }
}

bool table_scan_bucket(const struct table *table, uint32_t *order, table_each each, void *context)
{
    uint32_t size = table_size(table);
    if (size == 0)
        return false;
    uint32_t from = *order & ~255u;
    uint32_t index = table_index(from, size);
    each_in_chain(table_buckets(table) + index, from, each, context);
    if (index + 1 >= size)
        return false;
    /* The least 24-bit order o with o * size / 2^24 == index + 1. */
    uint64_t first = (((uint64_t)(index + 1) << 24) + size - 1) / size;
    if (first >= 1u << 24)
        return false;
    *order = (uint32_t)first << 8;
    return true;
}

void table_walk(const struct table *table, table_each each, void *context)
{
    uint32_t size = table_size(table);
    for (uint32_t i = 0; i < size; i++)
        each_in_chain(table_buckets(table) + i, 0, each, context);
}

static void prefetch_one(void *context, struct entry *entry)
{
    (void)context;
    __builtin_prefetch(entry);
}

void table_prefetch_entries(const struct table *table)
{
    table_walk(table, prefetch_one, NULL);
}

struct entry *table_nth(const struct table *table, uint32_t n)
{
    uint32_t size = table_size(table);
    for (uint32_t i = 0; i < size; i++) {
        const struct bucket *bucket = table_buckets(table) + i;
        for (;;) {
            unsigned entries = entries_of(bucket);
            for (unsigned at = 0; at < entries; at++)
                if (bucket->words[at] != 0 && n-- == 0)
                    return word_entry(bucket->words[at]);
            if (!is_chained(bucket))
                break;
            bucket = chain_of(bucket);
        }
    }
    return NULL;
}

void table_prefetch_entry(const struct table *table, uint32_t order, unsigned lines)
{
    uint32_t size = table_size(table);
    if (size == 0)
        return;
    const struct bucket *bucket = table_buckets(table) + table_index(order, size);
    uint8_t tag = order_tag(order);
    for (unsigned at = 0; at < BUCKET_ENTRIES; at++) {
        uint64_t word = bucket->words[at];
        if (bucket->tags[at] != tag || (uint32_t)(word >> 48) != order >> 16 || word == 0)
            continue;
        const uint8_t *line = (const uint8_t *)word_entry(word);
        for (unsigned i = 0; i < lines; i++)
            __builtin_prefetch(line + i * 64);
        return;
    }
    if (is_chained(bucket))
        __builtin_prefetch(chain_of(bucket));
}

bool table_check(const struct table *table, uint32_t (*order_of)(void *context, const struct entry *entry),
                 void *context)
{
    uint32_t size = table_size(table), seen = 0, chained = 0;
    for (uint32_t i = 0; i < size; i++) {
        const struct bucket *bucket = table_buckets(table) + i;
        for (;;) {
            unsigned entries = entries_of(bucket);
            for (unsigned at = 0; at < entries; at++) {
                uint64_t word = bucket->words[at];
                if (word == 0)
                    continue;
                uint32_t order = order_of(context, word_entry(word));
                if (word_order(word, bucket->tags[at]) != (order & ~255u) || table_index(order, size) != i) {
                    log_write(LOG_WARNING, "table: entry in bucket %u of %u has order %08x", i, size, order);
                    return false;
                }
                seen++;
            }
            if (!is_chained(bucket))
                break;
            bucket = chain_of(bucket);
            chained++;
        }
    }
    if (seen != table_used(table) || chained != table->chained || (size == 0) != (table_buckets(table) == NULL)) {
        log_write(LOG_WARNING, "table: %u entries and %u chained buckets, counted %u and %u", table_used(table),
                  table->chained, seen, chained);
        return false;
    }
    return true;
}
