/* memory_figures.h - where memory goes, for INFO memory and MEMORY STATS alike.
 *
 * Threads:    any. */
#ifndef KETCH_SERVER_OBSERVE_MEMORY_FIGURES_H
#define KETCH_SERVER_OBSERVE_MEMORY_FIGURES_H

#include "server/worker/server.h"

/* Bytes, unless it says otherwise. */
struct memory_figures {
    uint64_t used, peak, start, resident;
    uint64_t clients;                 /* sessions with their buffers */
    uint64_t input_most, output_most; /* buffers of the session that has the largest */
    uint64_t tables;                  /* hash tables of all databases */
    uint64_t overhead, dataset;
    uint64_t keys, expires; /* number of keys */
    uint64_t allocator_allocated, allocator_active, allocator_resident;
    uint64_t free_pending, freed_in_background; /* objects */
};

void memory_figures_read(struct server *server, struct memory_figures *figures);

/* a / b, or 0 when b is 0. */
static inline double memory_ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

#endif
