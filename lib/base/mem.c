#include "lib/base/mem.h"

#include "lib/base/log.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef KETCH_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

static _Noreturn void exhausted(size_t size)
{
    log_write(LOG_WARNING, "Out of memory allocating %zu bytes", size);
    abort();
}

void *mem_alloc(size_t size)
{
    void *pointer = malloc(size ? size : 1);
    if (UNLIKELY(!pointer))
        exhausted(size);
    return pointer;
}

void *mem_alloc_zeroed(size_t size)
{
    void *pointer = calloc(1, size ? size : 1);
    if (UNLIKELY(!pointer))
        exhausted(size);
    return pointer;
}

void *mem_realloc(void *old, size_t size)
{
    void *pointer = realloc(old, size ? size : 1);
    if (UNLIKELY(!pointer))
        exhausted(size);
    return pointer;
}

char *mem_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(mem_alloc(size), text, size);
}

void *mem_try_alloc(size_t size)
{
    return malloc(size ? size : 1);
}

void *mem_try_realloc(void *old, size_t size)
{
    return realloc(old, size ? size : 1);
}

void *mem_try_alloc_aligned(size_t alignment, size_t size)
{
    void *pointer = NULL;
    return posix_memalign(&pointer, alignment, size ? size : 1) == 0 ? pointer : NULL;
}

void *mem_alloc_aligned(size_t alignment, size_t size)
{
    void *pointer = mem_try_alloc_aligned(alignment, size);
    if (UNLIKELY(!pointer))
        exhausted(size);
    return pointer;
}

void mem_free(void *pointer)
{
    free(pointer);
}

size_t mem_usable(const void *pointer)
{
    return malloc_usable_size((void *)(uintptr_t)pointer);
}

#ifdef KETCH_JEMALLOC

static size_t ctl_size(const char *name)
{
    size_t value = 0, size = sizeof(value);
    return mallctl(name, &value, &size, NULL, 0) == 0 ? value : 0;
}

void mem_stats_read(struct mem_stats *stats)
{
    /* jemalloc's figures are a snapshot that only a new epoch refreshes. */
    uint64_t epoch = 1;
    size_t size = sizeof(epoch);
    (void)mallctl("epoch", &epoch, &size, &epoch, size);
    stats->allocated = ctl_size("stats.allocated");
    stats->active = ctl_size("stats.active");
    stats->resident = ctl_size("stats.resident");
}

void mem_purge(void)
{
    char name[64];
    /* The statistics' pseudo-arena MALLCTL_ARENAS_ALL purges every arena. */
    snprintf(name, sizeof(name), "arena.%u.purge", (unsigned)MALLCTL_ARENAS_ALL);
    (void)mallctl(name, NULL, NULL, NULL, 0);
}

const char *mem_allocator_name(void)
{
    return "jemalloc-5.3.0";
}

#else

void mem_stats_read(struct mem_stats *stats)
{
    struct mallinfo2 info = mallinfo2();
    stats->allocated = info.uordblks + info.hblkhd;
    stats->active = info.arena + info.hblkhd;
    stats->resident = stats->active;
}

void mem_purge(void)
{
    malloc_trim(0);
}

const char *mem_allocator_name(void)
{
    return "libc";
}

#endif

size_t mem_allocated(void)
{
    struct mem_stats stats;
    mem_stats_read(&stats);
    return stats.allocated;
}
