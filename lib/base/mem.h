/* mem.h - the general allocator (jemalloc in release builds).
 *
 * Fails by:   mem_alloc and friends abort on exhaustion, in one place: use them for small bookkeeping. What a client
 *             sizes goes through mem_try_*, which return NULL.
 * Threads:    any. */
#ifndef KETCH_LIB_BASE_MEM_H
#define KETCH_LIB_BASE_MEM_H

#include "lib/base/check.h"

#include <stddef.h>
#include <stdint.h>

MUST_USE void *mem_alloc(size_t size);
MUST_USE void *mem_alloc_zeroed(size_t size);
MUST_USE void *mem_realloc(void *old, size_t size);
MUST_USE char *mem_copy_text(const char *text);
MUST_USE void *mem_try_alloc(size_t size);
MUST_USE void *mem_try_realloc(void *old, size_t size);
/* alignment is a power of two of at most 4096. */
MUST_USE void *mem_alloc_aligned(size_t alignment, size_t size);
MUST_USE void *mem_try_alloc_aligned(size_t alignment, size_t size);
void mem_free(void *pointer);

/* Bytes usable behind the pointer, at least what was asked for. */
size_t mem_usable(const void *pointer);

/* Bytes the process has allocated and not freed through the general allocator, as the allocator counts them. */
size_t mem_allocated(void);

struct mem_stats {
    size_t allocated; /* by the application */
    size_t active;    /* in pages that hold allocations */
    size_t resident;  /* mapped and touched by the allocator */
};
void mem_stats_read(struct mem_stats *stats);

/* Returns unused pages to the kernel. */
void mem_purge(void);

const char *mem_allocator_name(void);

#endif
