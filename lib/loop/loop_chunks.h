/* loop_chunks.h - the pool of receive chunks.
 *
 * Owns:       the memory of all chunks of a loop, in slabs mapped from the kernel.
 * Threads:    the loop's.
 * Invariants: a chunk never received into has untouched pages, its header among them. Last released is first taken, so
 *             that a lightly loaded loop keeps using the same few cached chunks.
 * Fails by:   NULL when all chunks are in flight.
 * Limits:     the number of chunks given at init. */
#ifndef KETCH_LIB_LOOP_LOOP_CHUNKS_H
#define KETCH_LIB_LOOP_LOOP_CHUNKS_H

#include "lib/loop/loop.h"

#define LOOP_CHUNK_SIZE_DEFAULT 16384
#define LOOP_CHUNKS_DEFAULT 4096

/* The header stands before the bytes, a cache line. It also staggers the chunks: at a stride of a power of two the
 * first bytes of all of them, often the only ones used, would compete for the same few lines of the cache. */
#define LOOP_CHUNK_HEADER 64

struct loop_chunks {
    struct loop_chunk *free; /* last released first */
    size_t chunk_size;
    size_t stride;
    size_t limit;
    size_t carved;  /* taken off the slabs so far */
    size_t in_pool; /* in `free` */
    uint8_t **slabs;
    size_t slab_count;
};

void loop_chunks_init(struct loop_chunks *chunks, size_t chunk_size, size_t limit);
void loop_chunks_deinit(struct loop_chunks *chunks);

/* The header's fields are not set: call loop_chunks_fill after receiving. */
MUST_USE struct loop_chunk *loop_chunks_take(struct loop_chunks *chunks);
void loop_chunks_give(struct loop_chunks *chunks, struct loop_chunk *chunk);

static inline uint8_t *loop_chunks_bytes(struct loop_chunk *chunk)
{
    return (uint8_t *)chunk + LOOP_CHUNK_HEADER;
}

static inline void loop_chunks_fill(struct loop_chunk *chunk, size_t size)
{
    chunk->data = loop_chunks_bytes(chunk);
    chunk->size = size;
    chunk->next = NULL;
    chunk->detached = false;
}

/* A copy outside the pool, for bytes that may have to wait long; loop_chunk_release frees it. */
MUST_USE struct loop_chunk *loop_chunks_detach(const uint8_t *data, size_t size);

/* How many more could be taken. */
static inline size_t loop_chunks_available(const struct loop_chunks *chunks)
{
    return chunks->in_pool + (chunks->limit - chunks->carved);
}

#endif
