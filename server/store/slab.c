#include "server/store/slab.h"

#include "lib/base/mem.h"
#include "lib/base/mutex.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#ifdef KETCH_SANITIZED
#define SLAB_POOLED false
#else
#define SLAB_POOLED true
#endif

#define SPAN_SIZE (2u * 1024 * 1024)
#define TIERS 3u
#define REGION_HEADER 64u
#define CLASS_COUNT 256u
#define CACHE_SLOTS 32u
/* Bytes of empty regions of a tier that keep their pages, for the next class that needs one. */
#define WARM_BYTES (512u * 1024)

struct object {
    struct object *next;
};

/* Header of a region. On the list of its class while it has room; on the slab's list when it is empty. */
struct region {
    struct region *previous, *next;
    struct object *free; /* freed objects */
    uint32_t class_index;
    uint32_t live;      /* objects handed out, those in caches included */
    uint32_t untouched; /* offset of the first byte never handed out */
    bool listed;
};
_Static_assert(sizeof(struct region) <= REGION_HEADER, "the region header is one cache line");

struct size_class {
    struct mutex mutex;
    struct region *partial; /* regions with room */
    uint32_t size;
    uint32_t tier, region_size;
    uint32_t batch; /* objects moved to or from a cache at once */
};

struct slab {
    struct size_class classes[CLASS_COUNT];
    struct mutex mutex; /* rank LEAF: regions and spans */
    struct region *empty[TIERS];
    uint32_t warm[TIERS]; /* bytes */
    uint64_t reserved;    /* bytes of regions in use */
    void **spans;
    uint32_t span_count, span_capacity;
    struct slab_cache *caches;
    int64_t used_by_gone; /* of caches that are destroyed */
};

struct cached_class {
    uint32_t count;
    struct object *objects[CACHE_SLOTS];
};

struct slab_cache {
    struct slab *slab;
    struct slab_cache *previous, *next;
    _Atomic int64_t used; /* bytes allocated minus freed through this cache; may be negative */
    struct cached_class classes[CLASS_COUNT];
};

/* 8 apart to 1,024, then 32 steps per doubling: see slab.h. */
static inline uint32_t class_of(size_t size)
{
    if (size <= 1024)
        return (uint32_t)((size + 7) / 8) - (size > 0);
    unsigned doubling = 63u - (unsigned)__builtin_clzll((uint64_t)size - 1) - 10; /* 0 for 1,025 .. 2,048 */
    unsigned step = 5 + doubling;
    return 128 + doubling * 32 + (uint32_t)((size - 1 - ((size_t)1024 << doubling)) >> step);
}

static uint32_t size_of_class(uint32_t index)
{
    if (index < 128)
        return (index + 1) * 8;
    uint32_t doubling = (index - 128) / 32;
    return (1024u << doubling) + ((index - 128) % 32 + 1) * (32u << doubling);
}

size_t slab_class_size(size_t size)
{
    return size <= SLAB_SIZE_MAX ? size_of_class(class_of(size)) : size;
}

/* Small objects live in small regions: when most of a class dies (the tables of all slots grow at about the same time),
 * the fewer share a region, the more regions come free whole. */
static uint32_t tier_of(uint32_t size)
{
    return size <= 512 ? 0 : size <= 2048 ? 1 : 2;
}

static uint32_t tier_region_size(uint32_t tier)
{
    static const uint32_t sizes[TIERS] = {16 * 1024, 64 * 1024, 256 * 1024};
    return sizes[tier];
}

struct slab *slab_create(void)
{
    struct slab *slab = mem_alloc_zeroed(sizeof(*slab));
    mutex_init(&slab->mutex, MUTEX_RANK_LEAF);
    for (uint32_t i = 0; i < CLASS_COUNT; i++) {
        struct size_class *class = &slab->classes[i];
        mutex_init(&class->mutex, MUTEX_RANK_ALLOCATOR);
        class->size = size_of_class(i);
        class->tier = tier_of(class->size);
        class->region_size = tier_region_size(class->tier);
        /* About 8 KB a batch: caches of big objects must not hold much. */
        uint32_t batch = 8192 / class->size;
        class->batch = batch > CACHE_SLOTS / 2 ? CACHE_SLOTS / 2 : batch < 1 ? 1 : batch;
    }
    return slab;
}

void slab_destroy(struct slab *slab)
{
    CHECK(!slab->caches);
    for (uint32_t i = 0; i < slab->span_count; i++)
        munmap(slab->spans[i], SPAN_SIZE);
    mem_free(slab->spans);
    for (uint32_t i = 0; i < CLASS_COUNT; i++)
        mutex_deinit(&slab->classes[i].mutex);
    mutex_deinit(&slab->mutex);
    mem_free(slab);
}

static void list_push(struct region **list, struct region *region)
{
    region->previous = NULL;
    region->next = *list;
    if (*list)
        (*list)->previous = region;
    *list = region;
}

static void list_remove(struct region **list, struct region *region)
{
    if (region->previous)
        region->previous->next = region->next;
    else
        *list = region->next;
    if (region->next)
        region->next->previous = region->previous;
    region->previous = NULL;
    region->next = NULL;
}

/* Maps 2 MB on a 2 MB boundary and cuts it into empty regions of the tier. */
static bool add_span(struct slab *slab, uint32_t tier)
{
    uint32_t region_size = tier_region_size(tier);
    if (slab->span_count == slab->span_capacity) {
        uint32_t capacity = slab->span_capacity ? slab->span_capacity * 2 : 64;
        void **spans = mem_try_realloc(slab->spans, capacity * sizeof(*spans));
        if (!spans)
            return false;
        slab->spans = spans;
        slab->span_capacity = capacity;
    }
    uint8_t *raw =
        mmap(NULL, SPAN_SIZE * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED)
        return false;
    uint8_t *span = (uint8_t *)(((uintptr_t)raw + SPAN_SIZE - 1) & ~(uintptr_t)(SPAN_SIZE - 1));
    if (span > raw)
        munmap(raw, (size_t)(span - raw));
    if (raw + SPAN_SIZE > span)
        munmap(span + SPAN_SIZE, (size_t)(raw + SPAN_SIZE - span));
    (void)madvise(span, SPAN_SIZE, MADV_HUGEPAGE);
    slab->spans[slab->span_count++] = span;
    for (uint32_t at = SPAN_SIZE; at > 0; at -= region_size) {
        struct region *region = (struct region *)(void *)(span + at - region_size);
        region->listed = false;
        list_push(&slab->empty[tier], region);
    }
    slab->warm[tier] += SPAN_SIZE;
    return true;
}

static struct region *take_region(struct slab *slab, uint32_t class_index)
{
    const struct size_class *class = &slab->classes[class_index];
    uint32_t tier = class->tier;
    mutex_lock(&slab->mutex);
    struct region *region = slab->empty[tier];
    if (!region && add_span(slab, tier))
        region = slab->empty[tier];
    if (region) {
        list_remove(&slab->empty[tier], region);
        slab->warm[tier] -= slab->warm[tier] > class->region_size ? class->region_size : slab->warm[tier];
        slab->reserved += class->region_size;
        *region = (struct region){.class_index = class_index, .untouched = REGION_HEADER};
    }
    mutex_unlock(&slab->mutex);
    return region;
}

static void give_region(struct slab *slab, struct region *region)
{
    const struct size_class *class = &slab->classes[region->class_index];
    mutex_lock(&slab->mutex);
    slab->reserved -= class->region_size;
    if (slab->warm[class->tier] >= WARM_BYTES) {
        /* All but the first page, which holds the header and the list. */
        (void)madvise((uint8_t *)region + 4096, class->region_size - 4096, MADV_DONTNEED);
    } else {
        slab->warm[class->tier] += class->region_size;
    }
    list_push(&slab->empty[class->tier], region);
    mutex_unlock(&slab->mutex);
}

/* Moves up to a batch of objects into the cache. */
static bool refill(struct slab_cache *cache, uint32_t index)
{
    struct size_class *class = &cache->slab->classes[index];
    struct cached_class *cached = &cache->classes[index];
    mutex_lock(&class->mutex);
    while (cached->count < class->batch) {
        struct region *region = class->partial;
        if (!region) {
            if (cached->count > 0)
                break;
            region = take_region(cache->slab, index);
            if (!region)
                break;
            region->listed = true;
            list_push(&class->partial, region);
        }
        struct object *object = region->free;
        if (object) {
            region->free = object->next;
        } else {
            object = (struct object *)(void *)((uint8_t *)region + region->untouched);
            region->untouched += class->size;
        }
        region->live++;
        cached->objects[cached->count++] = object;
        if (!region->free && region->untouched + class->size > class->region_size) {
            list_remove(&class->partial, region);
            region->listed = false;
        }
    }
    mutex_unlock(&class->mutex);
    return cached->count > 0;
}

/* Gives the oldest `count` objects of the cache back to their regions. */
static void drain(struct slab_cache *cache, uint32_t index, uint32_t count)
{
    struct size_class *class = &cache->slab->classes[index];
    struct cached_class *cached = &cache->classes[index];
    mutex_lock(&class->mutex);
    for (uint32_t i = 0; i < count; i++) {
        struct object *object = cached->objects[i];
        struct region *region = (struct region *)((uintptr_t)object & ~((uintptr_t) class->region_size - 1));
        object->next = region->free;
        region->free = object;
        region->live--;
        if (region->live == 0 && (region->next || region->previous || class->partial != region)) {
            /* The last region of a class stays, so that one object going back and forth costs nothing. */
            if (region->listed)
                list_remove(&class->partial, region);
            region->listed = false;
            give_region(cache->slab, region);
        } else if (!region->listed) {
            region->listed = true;
            list_push(&class->partial, region);
        }
    }
    mutex_unlock(&class->mutex);
    memmove(cached->objects, cached->objects + count, (cached->count - count) * sizeof(cached->objects[0]));
    cached->count -= count;
}

struct slab_cache *slab_cache_create(struct slab *slab)
{
    struct slab_cache *cache = mem_alloc_zeroed(sizeof(*cache));
    cache->slab = slab;
    mutex_lock(&slab->mutex);
    cache->next = slab->caches;
    if (slab->caches)
        slab->caches->previous = cache;
    slab->caches = cache;
    mutex_unlock(&slab->mutex);
    return cache;
}

void slab_cache_destroy(struct slab_cache *cache)
{
    struct slab *slab = cache->slab;
    for (uint32_t i = 0; i < CLASS_COUNT; i++)
        if (cache->classes[i].count > 0)
            drain(cache, i, cache->classes[i].count);
    mutex_lock(&slab->mutex);
    if (cache->previous)
        cache->previous->next = cache->next;
    else
        slab->caches = cache->next;
    if (cache->next)
        cache->next->previous = cache->previous;
    slab->used_by_gone += atomic_load_explicit(&cache->used, memory_order_relaxed);
    mutex_unlock(&slab->mutex);
    mem_free(cache);
}

static inline void account(struct slab_cache *cache, int64_t bytes)
{
    atomic_store_explicit(&cache->used, atomic_load_explicit(&cache->used, memory_order_relaxed) + bytes,
                          memory_order_relaxed);
}

static void *alloc_large(size_t size)
{
    return size % 64 == 0 ? mem_try_alloc_aligned(64, size) : mem_try_alloc(size);
}

void *slab_alloc(struct slab_cache *cache, size_t size)
{
    if (UNLIKELY(!SLAB_POOLED || size > SLAB_SIZE_MAX))
        return alloc_large(slab_class_size(size));
    uint32_t index = class_of(size);
    struct cached_class *cached = &cache->classes[index];
    if (UNLIKELY(cached->count == 0) && !refill(cache, index))
        return NULL;
    account(cache, cache->slab->classes[index].size);
    return cached->objects[--cached->count];
}

void slab_free(struct slab_cache *cache, void *object, size_t size)
{
    if (UNLIKELY(!SLAB_POOLED || size > SLAB_SIZE_MAX)) {
        mem_free(object);
        return;
    }
    uint32_t index = class_of(size);
    struct size_class *class = &cache->slab->classes[index];
    struct cached_class *cached = &cache->classes[index];
    account(cache, -(int64_t) class->size);
    if (UNLIKELY(cached->count >= class->batch * 2))
        drain(cache, index, class->batch);
    cached->objects[cached->count++] = object;
}

void slab_stats_read(struct slab *slab, struct slab_stats *stats)
{
    mutex_lock(&slab->mutex);
    int64_t used = slab->used_by_gone;
    for (struct slab_cache *cache = slab->caches; cache; cache = cache->next)
        used += atomic_load_explicit(&cache->used, memory_order_relaxed);
    stats->used = used > 0 ? (uint64_t)used : 0;
    stats->reserved = slab->reserved;
    mutex_unlock(&slab->mutex);
}
