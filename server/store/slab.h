/* slab.h - the store's allocator: many objects of near sizes, with less waste than a general allocator's classes.
 *
 * jemalloc puts a 1,056-byte entry into a 1,280-byte class; here classes are 8 bytes apart up to 1 KB and about 3 %
 * apart to SLAB_SIZE_MAX. An object's class is a pure function of its size, so no size is stored: the caller gives it
 * back on freeing. Objects whose size is a multiple of 64 start on a cache line.
 *
 *   span (2 MB, mmap, huge page where the kernel has them) = regions of one size
 *   region (16, 64 or 256 KB, aligned to its size): 64-byte header | object | object | ...
 *
 * Owns:       spans. They are never unmapped before slab_destroy; empty regions give their pages back.
 * Threads:    a slab_cache belongs to one thread; an object may be freed through any cache. Class lists are under a
 *             mutex each (rank ALLOCATOR), reached once per batch of objects.
 * Fails by:   NULL when memory is refused.
 * Limits:     SLAB_SIZE_MAX; larger objects go to the general allocator by the same calls.
 * Sanitizers: builds with a sanitizer use the general allocator for everything, so that it sees each object. */
#ifndef KETCH_SERVER_STORE_SLAB_H
#define KETCH_SERVER_STORE_SLAB_H

#include "lib/base/check.h"

#include <stddef.h>
#include <stdint.h>

#define SLAB_SIZE_MAX 16384u

struct slab;
struct slab_cache;

struct slab *slab_create(void);
/* All caches are destroyed before. Frees every object. */
void slab_destroy(struct slab *slab);

struct slab_cache *slab_cache_create(struct slab *slab);
/* Gives what the cache holds back to the slab. */
void slab_cache_destroy(struct slab_cache *cache);

/* `size` bytes, at least 1. Aligned to 8, and to 64 when size is a multiple of 64. NULL when memory is refused. */
MUST_USE void *slab_alloc(struct slab_cache *cache, size_t size);

/* `size` is what slab_alloc was asked for, or any size of the same class. */
void slab_free(struct slab_cache *cache, void *object, size_t size);

/* Bytes an object of that size really takes (its class). Two sizes with the same result are interchangeable. */
size_t slab_class_size(size_t size);

struct slab_stats {
    uint64_t used;     /* bytes in live objects, by class size; what went to the general allocator is counted there */
    uint64_t reserved; /* bytes of regions that are in use */
};
void slab_stats_read(struct slab *slab, struct slab_stats *stats);

#endif
