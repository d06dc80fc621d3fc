#include "lib/ds/hash_table.h"

#include "lib/base/mem.h"
#include "lib/ds/hash_segment.h"

/* Orders of a scan are the top 48 bits of the hash. */
#define CURSOR_BITS 48u
/* Tries of the random choice before it settles for the next element it meets; each succeeds one time in five or so. */
#define RANDOM_TRIES 1000

void hash_table_init(struct hash_table *table, const struct hash_table_kind *kind)
{
    *table = (struct hash_table){.kind = kind, .deepest = 1};
}

void hash_table_deinit(struct hash_table *table)
{
    for (uint32_t i = 0; i < 1u << table->depth; i += hash_segment_span(table, i))
        mem_free(hash_segment_at(table, i)->buckets);
    mem_free(table->directory);
    hash_table_init(table, table->kind);
}

void hash_table_find_place(const struct hash_table *table, uint64_t hash, struct bytes key, struct hash_place *place)
{
    uint32_t index = hash_directory_index(table, hash);
    const struct hash_segment *segment = hash_segment_at(table, index);
    place->element = NULL;
    if (UNLIKELY(segment->size == 0))
        return;
    uint32_t known = hash_known(segment, hash), home = hash_home(segment, known), at_bucket = home;
    for (uint32_t seen = 0; seen < segment->size; seen++) {
        struct hash_bucket *bucket = segment->buckets + at_bucket;
        uint64_t matches = hash_match_tags(bucket, known & 255);
        while (matches) {
            unsigned at = (unsigned)__builtin_ctzll(matches) / 8;
            uint64_t word = bucket->words[at];
            matches &= matches - 1;
            if (word >> 48 != known >> 8 || bucket->tags[at] == 0)
                continue;
            void *element = hash_word_element(word);
            if (LIKELY(bytes_equal(table->kind->key(element), key))) {
                *place = (struct hash_place){element, bucket, index, home, at};
                return;
            }
        }
        if (LIKELY(bucket->tags[7] == 0))
            return;
        if (++at_bucket == segment->size)
            at_bucket = 0;
    }
}

void *hash_table_find(const struct hash_table *table, uint64_t hash, struct bytes key)
{
    struct hash_place place;
    hash_table_find_place(table, hash, key, &place);
    return place.element;
}

void hash_table_prefetch(const struct hash_table *table, uint64_t hash)
{
    const struct hash_segment *segment = hash_segment_at(table, hash_directory_index(table, hash));
    if (segment->size)
        __builtin_prefetch(segment->buckets + hash_home(segment, hash_known(segment, hash)));
}

void hash_table_prefetch_element(const struct hash_table *table, uint64_t hash)
{
    const struct hash_segment *segment = hash_segment_at(table, hash_directory_index(table, hash));
    if (segment->size == 0)
        return;
    uint32_t known = hash_known(segment, hash);
    const struct hash_bucket *bucket = segment->buckets + hash_home(segment, known);
    for (unsigned at = 0; at < HASH_BUCKET_ENTRIES; at++)
        if (bucket->tags[at] == (uint8_t)known && bucket->words[at] >> 48 == known >> 8)
            __builtin_prefetch(hash_word_element(bucket->words[at]));
}

bool hash_table_insert(struct hash_table *table, uint64_t hash, void *element)
{
    uint32_t index = hash_directory_index(table, hash);
    struct hash_segment *segment = hash_segment_at(table, index);
    if (UNLIKELY(segment->size == 0)) {
        segment->buckets = hash_buckets_create(1);
        if (!segment->buckets)
            return false;
        segment->size = 1;
    }
    uint32_t first = hash_segment_first(table, index);
    segment = hash_segment_at(table, first);
    if (UNLIKELY(segment->used >= hash_segment_limit(segment->size))) {
        hash_table_make_room(table, first);
        first = hash_segment_first(table, hash_directory_index(table, hash));
        segment = hash_segment_at(table, first);
        if (segment->used >= segment->size * HASH_BUCKET_ENTRIES)
            return false;
    }
    uint32_t known = hash_known(segment, hash);
    hash_segment_put(segment, known, (uint64_t)(known >> 8) << 48 | (uint64_t)(uintptr_t)element);
    segment->used++;
    table->used++;
    return true;
}

void hash_table_replace(struct hash_place *place, void *element)
{
    uint64_t *word = &place->bucket->words[place->at];
    *word = (*word & ~HASH_POINTER_MASK) | (uint64_t)(uintptr_t)element;
    place->element = element;
}

void *hash_table_take_at(struct hash_table *table, const struct hash_place *place)
{
    struct hash_segment *segment = hash_segment_at(table, hash_segment_first(table, place->segment));
    hash_segment_clear(segment, place->home, place->bucket, place->at);
    segment->used--;
    table->used--;
    return place->element;
}

void *hash_table_remove(struct hash_table *table, uint64_t hash, struct bytes key)
{
    struct hash_place place;
    hash_table_find_place(table, hash, key, &place);
    if (!place.element)
        return NULL;
    hash_table_take_at(table, &place);
    hash_table_give_back(table, place.segment);
    return place.element;
}

void hash_table_fit(struct hash_table *table)
{
    /* Joining changes the directory: the range of hashes done is what stays comparable. */
    uint64_t done = 0;
    do {
        uint32_t index = hash_directory_index(table, done), depth;
        do {
            depth = hash_segment_at(table, index)->depth;
            hash_table_give_back(table, index);
            index = hash_directory_index(table, done);
        } while (hash_segment_at(table, index)->depth < depth);
        if (depth == 0)
            return;
        done = ((done >> (64 - depth)) + 1) << (64 - depth);
    } while (done != 0);
}

void *hash_table_random(const struct hash_table *table, struct random *random)
{
    if (table->used == 0)
        return NULL;
    for (int i = 0; i < RANDOM_TRIES; i++) {
        /* A segment is met in proportion to its range of hashes; taking it in proportion to its places per hash makes
         * every place of the table as likely as any other. */
        const struct hash_segment *segment = hash_segment_at(table, (uint32_t)random_below(random, 1u << table->depth));
        uint64_t weight = (uint64_t)segment->size << segment->depth;
        if (weight == 0 ||
            (table->depth > 0 && random_below(random, (uint64_t)HASH_SEGMENT_BUCKETS << table->depth) >= weight))
            continue;
        uint64_t at = random_below(random, (uint64_t)segment->size * HASH_BUCKET_ENTRIES);
        uint64_t word = segment->buckets[at / HASH_BUCKET_ENTRIES].words[at % HASH_BUCKET_ENTRIES];
        if (word)
            return hash_word_element(word);
    }
    struct hash_iterator iterator;
    hash_iterator_init(&iterator);
    iterator.place.segment = hash_segment_first(table, (uint32_t)random_below(random, 1u << table->depth));
    if (!hash_iterator_next(table, &iterator)) {
        hash_iterator_init(&iterator);
        (void)hash_iterator_next(table, &iterator);
    }
    return iterator.place.element;
}

uint64_t hash_table_scan(const struct hash_table *table, uint64_t cursor, hash_table_each each, void *context)
{
    if (table->used == 0 || cursor >> CURSOR_BITS)
        return 0;
    uint64_t hash = cursor << (64 - CURSOR_BITS);
    const struct hash_segment *segment = hash_segment_at(table, hash_directory_index(table, hash));
    uint32_t bits = hash_free_bits(segment);
    uint64_t low = hash_exact(segment, hash) & ((1u << bits) - 1), next = 1ull << bits;
    if (segment->size) {
        uint32_t home = (uint32_t)(low * segment->size >> bits), index = home;
        for (uint32_t seen = 0; seen < segment->size; seen++) {
            const struct hash_bucket *bucket = segment->buckets + index;
            for (unsigned at = 0; at < HASH_BUCKET_ENTRIES; at++) {
                uint32_t known = hash_word_known(bucket->words[at], bucket->tags[at]);
                if (bucket->words[at] && hash_home(segment, known) == home && (known & ((1u << bits) - 1)) >= low)
                    each(context, hash_word_element(bucket->words[at]));
            }
            if (bucket->tags[7] == 0)
                break;
            if (++index == segment->size)
                index = 0;
        }
        /* The least value whose home is the next bucket. */
        next = (((uint64_t)(home + 1) << bits) + segment->size - 1) / segment->size;
    }
    uint64_t prefix = segment->depth ? hash >> (64 - segment->depth) : 0;
    uint32_t shift = CURSOR_BITS - segment->depth - bits;
    uint64_t after = ((prefix << bits) + next) << shift;
    return after >> CURSOR_BITS ? 0 : after;
}

void hash_iterator_init(struct hash_iterator *iterator)
{
    *iterator = (struct hash_iterator){.bucket = UINT32_MAX};
}

/* `at` counts on from the element shown last; the bucket begins at UINT32_MAX for "none yet". */
bool hash_iterator_next(const struct hash_table *table, struct hash_iterator *iterator)
{
    struct hash_place *place = &iterator->place;
    if (iterator->bucket == UINT32_MAX)
        iterator->bucket = 0;
    else
        place->at++;
    for (; place->segment < 1u << table->depth; place->segment += hash_segment_span(table, place->segment)) {
        const struct hash_segment *segment = hash_segment_at(table, place->segment);
        for (; iterator->bucket < segment->size; iterator->bucket++, place->at = 0) {
            struct hash_bucket *bucket = segment->buckets + iterator->bucket;
            for (; place->at < HASH_BUCKET_ENTRIES; place->at++) {
                uint64_t word = bucket->words[place->at];
                if (!word)
                    continue;
                place->element = hash_word_element(word);
                place->bucket = bucket;
                place->home = hash_home(segment, hash_word_known(word, bucket->tags[place->at]));
                return true;
            }
        }
        iterator->bucket = 0;
        place->at = 0;
    }
    place->element = NULL;
    return false;
}

void hash_table_walk(const struct hash_table *table, hash_table_each each, void *context)
{
    struct hash_iterator iterator;
    hash_iterator_init(&iterator);
    while (hash_iterator_next(table, &iterator))
        each(context, iterator.place.element);
}

bool hash_table_drain(struct hash_table *table, uint32_t count, struct hash_iterator *iterator, hash_table_each each,
                      void *context)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!hash_iterator_next(table, iterator)) {
            hash_table_deinit(table);
            return false;
        }
        each(context, hash_table_take_at(table, &iterator->place));
    }
    return true;
}

size_t hash_table_memory(const struct hash_table *table)
{
    size_t size = table->depth ? (sizeof(struct hash_segment) << table->depth) : 0;
    for (uint32_t i = 0; i < 1u << table->depth; i += hash_segment_span(table, i))
        size += hash_segment_at(table, i)->size * sizeof(struct hash_bucket);
    return size;
}

/* Elements are where a search would find them, and the passes are those they make. */
static bool check_segment(const struct hash_table *table, uint32_t first)
{
    const struct hash_segment *segment = hash_segment_at(table, first);
    uint32_t used = 0;
    for (uint32_t i = 0; i < segment->size; i++) {
        const struct hash_bucket *bucket = segment->buckets + i;
        for (unsigned at = 0; at < HASH_BUCKET_ENTRIES; at++) {
            if (!bucket->words[at])
                continue;
            void *element = hash_word_element(bucket->words[at]);
            uint64_t hash = hash_table_hash(table, table->kind->key(element));
            struct hash_place place;
            hash_table_find_place(table, hash, table->kind->key(element), &place);
            if (place.bucket != bucket || place.at != at ||
                hash_segment_first(table, hash_directory_index(table, hash)) != first)
                return false;
            used++;
        }
    }
    return used == segment->used;
}

bool hash_table_check(const struct hash_table *table)
{
    uint64_t used = 0, deepest = 0;
    for (uint32_t i = 0; i < 1u << table->depth; i += hash_segment_span(table, i)) {
        const struct hash_segment *segment = hash_segment_at(table, i);
        uint32_t span = hash_segment_span(table, i);
        if (segment->depth > table->depth || (i & (span - 1)) != 0 || !check_segment(table, i))
            return false;
        for (uint32_t k = 1; k < span; k++) {
            const struct hash_segment *same = hash_segment_at(table, i + k);
            if (same->buckets != segment->buckets || same->size != segment->size || same->depth != segment->depth)
                return false;
        }
        used += segment->used;
        deepest += segment->depth == table->depth;
    }
    return used == table->used && deepest == table->deepest;
}
