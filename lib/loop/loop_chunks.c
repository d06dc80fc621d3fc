#include "lib/loop/loop_chunks.h"

#include "lib/base/mem.h"

#include <string.h>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOOP_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define LOOP_ASAN 1
#endif

/* Under the address sanitizer a chunk in the pool may not be touched, which finds receivers that keep a pointer. */
#ifdef LOOP_ASAN
#include <sanitizer/asan_interface.h>
static void forbid(struct loop_chunk *chunk, size_t size)
{
    __asan_poison_memory_region(loop_chunks_bytes(chunk), size);
}

static void allow(struct loop_chunk *chunk, size_t size)
{
    __asan_unpoison_memory_region(loop_chunks_bytes(chunk), size);
}
#else
static inline void forbid(struct loop_chunk *chunk, size_t size)
{
    (void)chunk;
    (void)size;
}

static inline void allow(struct loop_chunk *chunk, size_t size)
{
    (void)chunk;
    (void)size;
}
#endif

enum { CHUNKS_PER_SLAB = 64 };

static_assert(sizeof(struct loop_chunk) <= LOOP_CHUNK_HEADER, "the header has its own line");

void loop_chunks_init(struct loop_chunks *chunks, size_t chunk_size, size_t limit)
{
    *chunks = (struct loop_chunks){
        .chunk_size = chunk_size,
        .stride = LOOP_CHUNK_HEADER + (chunk_size + 63) / 64 * 64,
        .limit = limit,
    };
    chunks->slabs = mem_alloc_zeroed((limit + CHUNKS_PER_SLAB - 1) / CHUNKS_PER_SLAB * sizeof(*chunks->slabs));
}

void loop_chunks_deinit(struct loop_chunks *chunks)
{
    for (size_t i = 0; i < chunks->slab_count; i++) {
        for (size_t j = 0; j < CHUNKS_PER_SLAB; j++) {
            allow((struct loop_chunk *)(void *)(chunks->slabs[i] + j * chunks->stride), chunks->chunk_size);
        }
        munmap(chunks->slabs[i], CHUNKS_PER_SLAB * chunks->stride);
    }
    mem_free(chunks->slabs);
    chunks->slabs = NULL;
    chunks->slab_count = 0;
}

static struct loop_chunk *carve(struct loop_chunks *chunks)
{
    if (chunks->carved == chunks->limit) {
        return NULL;
    }
    size_t slab = chunks->carved / CHUNKS_PER_SLAB;
    if (slab == chunks->slab_count) {
        size_t size = CHUNKS_PER_SLAB * chunks->stride;
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            return NULL; /* receiving waits, as with every shortage of chunks */
        }
        /* A huge page would make the first byte of a chunk cost two megabytes. */
        (void)madvise(memory, size, MADV_NOHUGEPAGE);
        chunks->slabs[chunks->slab_count++] = memory;
    }
    size_t at = chunks->carved++ % CHUNKS_PER_SLAB;
    return (struct loop_chunk *)(void *)(chunks->slabs[slab] + at * chunks->stride);
}

struct loop_chunk *loop_chunks_take(struct loop_chunks *chunks)
{
    struct loop_chunk *chunk = chunks->free;
    if (UNLIKELY(chunk == NULL)) {
        return carve(chunks);
    }
    chunks->free = chunk->next;
    chunks->in_pool--;
    allow(chunk, chunks->chunk_size);
    return chunk;
}

void loop_chunks_give(struct loop_chunks *chunks, struct loop_chunk *chunk)
{
    chunk->next = chunks->free;
    chunks->free = chunk;
    chunks->in_pool++;
    forbid(chunk, chunks->chunk_size);
}

struct loop_chunk *loop_chunks_detach(const uint8_t *data, size_t size)
{
    struct loop_chunk *chunk = mem_alloc(LOOP_CHUNK_HEADER + size);
    loop_chunks_fill(chunk, size);
    chunk->detached = true;
    memcpy(chunk->data, data, size);
    return chunk;
}
