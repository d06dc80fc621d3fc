#include "server/observe/memory_figures.h"

#include "lib/base/mem.h"
#include "server/observe/observer.h"
#include "server/observe/process_facts.h"
#include "server/worker/session.h"

static bool add_session(void *context, struct session *session)
{
    struct memory_figures *figures = context;
    uint64_t input = atomic_load_explicit(&session->input_size, memory_order_relaxed) +
                     atomic_load_explicit(&session->input_free, memory_order_relaxed);
    uint64_t output = atomic_load_explicit(&session->output_size, memory_order_relaxed);
    figures->clients += sizeof(*session) + input + output;
    if (input > figures->input_most)
        figures->input_most = input;
    if (output > figures->output_most)
        figures->output_most = output;
    return true;
}

void memory_figures_read(struct server *server, struct memory_figures *figures)
{
    struct mem_stats allocator;
    struct store_memory store;
    *figures = (struct memory_figures){0};
    session_each(server, add_session, figures);
    figures->used = observer_used_memory(server);
    figures->peak = observer_peak_memory(server);
    figures->start = observer_start_memory(server);
    figures->resident = process_resident_bytes();

    store_memory_read(server->store, &store);
    mem_stats_read(&allocator);
    figures->tables = store.tables;
    figures->free_pending = store.free_pending;
    figures->freed_in_background = store.freed_in_background;
    /* The store's regions are an allocator beside the general one. */
    figures->allocator_allocated = allocator.allocated + store.slab_used;
    figures->allocator_active = allocator.active + store.slab_resident;
    figures->allocator_resident = allocator.resident + store.slab_resident;

    for (uint32_t db = 0; db < store_databases(server->store); db++) {
        uint64_t keys, expires;
        int64_t average_ttl_ms;
        store_count(server->store, db, &keys, &expires, &average_ttl_ms);
        figures->keys += keys;
        figures->expires += expires;
    }
    figures->overhead = figures->start + figures->clients + figures->tables;
    if (figures->overhead > figures->used)
        figures->overhead = figures->used;
    figures->dataset = figures->used - figures->overhead;
}
