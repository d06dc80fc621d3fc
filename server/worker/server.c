#include "server/worker/server.h"

#include "server/worker/worker.h"

struct worker *server_least_loaded(struct server *server)
{
    struct worker *best = server->workers[0];
    for (uint32_t i = 1; i < server->worker_count; i++) {
        struct worker *worker = server->workers[i];
        if (atomic_load_explicit(&worker->assigned, memory_order_relaxed) <
            atomic_load_explicit(&best->assigned, memory_order_relaxed))
            best = worker;
    }
    return best;
}

void server_ask_stop(struct server *server)
{
    atomic_store_explicit(&server->stop, SERVER_STOP_ASKED, memory_order_release);
    if (server->stop_asked)
        server->stop_asked(server);
}

uint64_t server_sum(const struct server *server, size_t offset_in_counters)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < server->worker_count; i++) {
        const uint8_t *counters = (const uint8_t *)&server->workers[i]->counters;
        const _Atomic uint64_t *counter = (const _Atomic uint64_t *)(const void *)(counters + offset_in_counters);
        sum += atomic_load_explicit(counter, memory_order_relaxed);
    }
    return sum;
}
