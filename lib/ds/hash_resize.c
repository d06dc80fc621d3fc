/* Growing, splitting, shrinking and joining of segments. */
#include "lib/base/mem.h"
#include "lib/ds/hash_segment.h"

/* Kept bits begin at most this many bits above the segment's own, and are taken anew from the hash in steps of four. */
#define WINDOW_REACH 10u
#define WINDOW_STEP 4u
/* Elements there must be per segment for the directory to double. */
#define HASH_LOPSIDED 128u

struct hash_bucket *hash_buckets_create(uint32_t size)
{
    struct hash_bucket *buckets = mem_try_alloc_aligned(sizeof(*buckets), (size_t)size * sizeof(*buckets));
    if (buckets)
        memset(buckets, 0, (size_t)size * sizeof(*buckets));
    return buckets;
}

void hash_segment_put(struct hash_segment *segment, uint32_t known, uint64_t word)
{
    uint32_t index = hash_home(segment, known);
    for (;;) {
        struct hash_bucket *bucket = segment->buckets + index;
        uint64_t room = hash_match_tags(bucket, 0);
        if (room) {
            unsigned at = (unsigned)__builtin_ctzll(room) / 8;
            bucket->words[at] = word;
            bucket->tags[at] = (uint8_t)known;
            return;
        }
        if (bucket->tags[7] != UINT8_MAX)
            bucket->tags[7]++;
        if (++index == segment->size)
            index = 0;
    }
}

void hash_segment_clear(const struct hash_segment *segment, uint32_t home, struct hash_bucket *bucket, unsigned at)
{
    bucket->words[at] = 0;
    bucket->tags[at] = 0;
    for (uint32_t index = home; segment->buckets + index != bucket;) {
        /* Past 255 the count is lost and stays until the segment is rebuilt: searches go on further than they must. */
        if (segment->buckets[index].tags[7] != UINT8_MAX)
            segment->buckets[index].tags[7]--;
        if (++index == segment->size)
            index = 0;
    }
}

/* Sizes are those for which allocators have a class: 1 to 8, then four steps a doubling. */
static uint32_t size_up(uint32_t size)
{
    if (size < 8)
        return size + 1;
    return size + (1u << (31 - __builtin_clz(size))) / 4;
}

static uint32_t size_for(uint32_t used)
{
    uint32_t size = 1;
    while (hash_segment_limit(size) <= used)
        size = size_up(size);
    return size;
}

static uint32_t window_for(uint32_t depth)
{
    return depth <= WINDOW_REACH ? 0 : (depth - WINDOW_REACH + WINDOW_STEP - 1) / WINDOW_STEP * WINDOW_STEP;
}

/* A segment being filled. Without removals a bucket has no holes, so a count says where its next word goes. */
#define FILL_BUCKETS 2048u
struct filling {
    struct hash_segment *segment;
    uint8_t counts[FILL_BUCKETS];
};

static void filling_start(struct filling *filling, struct hash_segment *segment)
{
    filling->segment = segment;
    memset(filling->counts, 0, segment->size < FILL_BUCKETS ? segment->size : FILL_BUCKETS);
}

static inline void fill(struct filling *filling, uint32_t known, uint64_t word)
{
    struct hash_segment *segment = filling->segment;
    segment->used++;
    if (UNLIKELY(segment->size > FILL_BUCKETS)) {
        hash_segment_put(segment, known, word);
        return;
    }
    uint32_t index = hash_home(segment, known), at;
    while ((at = filling->counts[index]) == HASH_BUCKET_ENTRIES) {
        if (segment->buckets[index].tags[7] != UINT8_MAX)
            segment->buckets[index].tags[7]++;
        if (++index == segment->size)
            index = 0;
    }
    segment->buckets[index].words[at] = word;
    segment->buckets[index].tags[at] = (uint8_t)known;
    filling->counts[index] = (uint8_t)(at + 1);
}

/* Moves the words of one segment into others: `to[1]` takes those whose bit at the depth of `from` is set. Windows may
 * differ; then the hashes are computed anew. */
static void move_words(const struct hash_table *table, const struct hash_segment *from, struct filling *to)
{
    bool rehash = from->window != to[0].segment->window;
    bool split = to[0].segment->depth > from->depth;
    for (uint32_t i = 0; i < from->size; i++) {
        const struct hash_bucket *bucket = from->buckets + i;
        for (unsigned at = 0; at < HASH_BUCKET_ENTRIES; at++) {
            uint64_t word = bucket->words[at];
            if (word == 0)
                continue;
            uint32_t known = hash_word_known(word, bucket->tags[at]);
            unsigned side = 0;
            if (split)
                side = known >> (hash_free_bits(from) - 1) & 1;
            if (UNLIKELY(rehash)) {
                void *element = hash_word_element(word);
                known = hash_known(to[side].segment, hash_table_hash(table, table->kind->key(element)));
                word = (uint64_t)(known >> 8) << 48 | (uint64_t)(uintptr_t)element;
            }
            fill(&to[side], known, word);
        }
    }
}

/* Writes a segment into all entries of the directory that are its. */
static void publish(struct hash_table *table, uint32_t first, const struct hash_segment *segment)
{
    uint32_t span = 1u << (table->depth - segment->depth);
    for (uint32_t i = 0; i < span; i++)
        *hash_segment_at(table, first + i) = *segment;
}

static bool rebuild(struct hash_table *table, uint32_t first, uint32_t size)
{
    struct hash_segment old = *hash_segment_at(table, first), fresh = old;
    fresh.buckets = hash_buckets_create(size);
    if (!fresh.buckets)
        return false;
    fresh.size = size;
    fresh.used = 0;
    struct filling filling;
    filling_start(&filling, &fresh);
    move_words(table, &old, &filling);
    mem_free(old.buckets);
    publish(table, first, &fresh);
    return true;
}

static bool double_directory(struct hash_table *table)
{
    uint32_t size = 1u << table->depth;
    struct hash_segment *fresh = mem_try_alloc(2 * (size_t)size * sizeof(*fresh));
    if (!fresh)
        return false;
    for (uint32_t i = 0; i < size; i++)
        fresh[2 * i] = fresh[2 * i + 1] = *hash_segment_at(table, i);
    mem_free(table->directory);
    table->directory = fresh;
    table->depth++;
    table->deepest = 0;
    return true;
}

static void halve_directory(struct hash_table *table)
{
    while (table->depth > 0 && table->deepest == 0) {
        uint32_t size = 1u << (table->depth - 1);
        if (size == 1) {
            table->only = table->directory[0];
            mem_free(table->directory);
            table->directory = NULL;
        } else {
            for (uint32_t i = 0; i < size; i++)
                table->directory[i] = table->directory[2 * i];
            struct hash_segment *moved = mem_try_realloc(table->directory, (size_t)size * sizeof(*moved));
            if (moved)
                table->directory = moved;
        }
        table->depth--;
        for (uint32_t i = 0; i < size; i++)
            table->deepest += hash_segment_at(table, i)->depth == table->depth;
    }
}

static bool split(struct hash_table *table, uint32_t index)
{
    if (hash_segment_at(table, index)->depth == table->depth) {
        if (!double_directory(table))
            return false;
        index *= 2;
    }
    uint32_t first = hash_segment_first(table, index);
    struct hash_segment old = *hash_segment_at(table, first), sides[2];
    /* One side may get nearly all, if the hash is bad or fate unkind; the size must hold that. */
    uint32_t counts[2] = {0, 0};
    for (uint32_t i = 0; i < old.size; i++)
        for (unsigned at = 0; at < HASH_BUCKET_ENTRIES; at++)
            if (old.buckets[i].words[at])
                counts[hash_word_known(old.buckets[i].words[at], old.buckets[i].tags[at]) >>
                           (hash_free_bits(&old) - 1) &
                       1]++;
    for (unsigned i = 0; i < 2; i++) {
        sides[i] = (struct hash_segment){.size = size_for(counts[i]), .depth = old.depth + 1};
        sides[i].window = window_for(sides[i].depth);
        sides[i].buckets = hash_buckets_create(sides[i].size);
        if (!sides[i].buckets) {
            if (i == 1)
                mem_free(sides[0].buckets);
            halve_directory(table);
            return false;
        }
    }
    struct filling fillings[2];
    filling_start(&fillings[0], &sides[0]);
    filling_start(&fillings[1], &sides[1]);
    move_words(table, &old, fillings);
    mem_free(old.buckets);
    publish(table, first, &sides[0]);
    publish(table, first + (1u << (table->depth - sides[0].depth)), &sides[1]);
    if (sides[0].depth == table->depth)
        table->deepest += 2;
    return true;
}

void hash_table_make_room(struct hash_table *table, uint32_t index)
{
    uint32_t first = hash_segment_first(table, index);
    const struct hash_segment *segment = hash_segment_at(table, first);
    if (segment->used < hash_segment_limit(segment->size))
        return;
    /* A segment far fuller than the others has equal hashes, which no directory can tell apart: it grows instead. */
    bool lopsided = segment->depth == table->depth && (uint64_t)HASH_LOPSIDED << table->depth > table->used;
    if (segment->size < HASH_SEGMENT_BUCKETS || segment->depth >= HASH_DEPTH_MAX || lopsided)
        (void)rebuild(table, first, size_up(segment->size));
    else
        (void)split(table, first);
}

/* Joins the segment with its sibling if both together leave half of a segment free. */
static bool join(struct hash_table *table, uint32_t index)
{
    struct hash_segment one = *hash_segment_at(table, index);
    if (one.depth == 0)
        return false;
    uint32_t span = 1u << (table->depth - one.depth), first = index & ~(2 * span - 1);
    struct hash_segment two = *hash_segment_at(table, first == index ? index + span : first);
    uint32_t used = one.used + two.used;
    if (two.depth != one.depth || used > HASH_SEGMENT_BUCKETS * HASH_BUCKET_ENTRIES / 2)
        return false;
    struct hash_segment joined = {.size = size_for(used + used / 8), .depth = one.depth - 1};
    joined.window = window_for(joined.depth);
    joined.buckets = hash_buckets_create(joined.size);
    if (!joined.buckets)
        return false;
    struct filling filling;
    filling_start(&filling, &joined);
    move_words(table, &one, &filling);
    move_words(table, &two, &filling);
    mem_free(one.buckets);
    mem_free(two.buckets);
    publish(table, first, &joined);
    if (one.depth == table->depth)
        table->deepest -= 2;
    halve_directory(table);
    return true;
}

void hash_table_give_back(struct hash_table *table, uint32_t index)
{
    uint32_t first = hash_segment_first(table, index);
    const struct hash_segment *segment = hash_segment_at(table, first);
    if (table->used == 0) {
        hash_table_deinit(table);
        return;
    }
    if (segment->used * 5 >= segment->size * HASH_BUCKET_ENTRIES * 2)
        return;
    if (join(table, first))
        return;
    uint32_t size = size_for(segment->used + segment->used / 8);
    if (size < segment->size)
        (void)rebuild(table, first, size);
}
