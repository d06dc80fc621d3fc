#include "server/observe/observer.h"

#include "lib/base/clock.h"
#include "lib/base/mem.h"
#include "lib/base/random.h"
#include "server/observe/process_facts.h"
#include "server/worker/worker.h"

#include <stddef.h>

/* Two looks that are nearer than this see the same rates. */
#define LOOK_INTERVAL_NS 100000000

struct look {
    int64_t at_ns;
    uint64_t commands, input, output;
};

struct observer {
    struct mutex mutex;
    struct look last;
    struct observer_rates rates; /* between the last look and the one before */
    char replication_id[OBSERVER_REPLICATION_ID + 1];

    _Atomic uint64_t start_memory, peak_memory;
};

/* ---- memory ---- */

/* What the application holds: the general allocator's count and the store's own regions, by live objects. An allocator
 * that does not count (under a sanitizer) leaves what the kernel knows. */
static uint64_t used_memory(const struct server *server)
{
    struct store_memory memory;
    store_memory_read(server->store, &memory);
    uint64_t used = mem_allocated() + memory.slab_used;
    return used ? used : process_resident_bytes();
}

uint64_t observer_used_memory(const struct server *server)
{
    struct observer *observer = server->observer;
    uint64_t used = used_memory(server);
    uint64_t peak = atomic_load_explicit(&observer->peak_memory, memory_order_relaxed);
    while (used > peak && !atomic_compare_exchange_weak_explicit(&observer->peak_memory, &peak, used,
                                                                 memory_order_relaxed, memory_order_relaxed))
        ;
    return used;
}

uint64_t observer_start_memory(const struct server *server)
{
    return atomic_load_explicit(&server->observer->start_memory, memory_order_relaxed);
}

uint64_t observer_peak_memory(const struct server *server)
{
    return atomic_load_explicit(&server->observer->peak_memory, memory_order_relaxed);
}

/* ---- rates ---- */

static void look(const struct server *server, struct look *look)
{
    look->at_ns = clock_monotonic_ns();
    look->commands = SERVER_SUM(server, commands);
    look->input = SERVER_SUM(server, input_bytes);
    look->output = SERVER_SUM(server, output_bytes);
}

/* CONFIG RESETSTAT takes counters back to zero. */
static double per_second(uint64_t before, uint64_t now, double seconds)
{
    return (double)(now >= before ? now - before : now) / seconds;
}

void observer_rates(const struct server *server, struct observer_rates *rates)
{
    struct observer *observer = server->observer;
    struct look now;
    mutex_lock(&observer->mutex);
    look(server, &now);
    if (now.at_ns - observer->last.at_ns >= LOOK_INTERVAL_NS) {
        double seconds = (double)(now.at_ns - observer->last.at_ns) / 1e9;
        observer->rates.commands = (uint64_t)per_second(observer->last.commands, now.commands, seconds);
        observer->rates.input_kilobytes = per_second(observer->last.input, now.input, seconds) / 1024;
        observer->rates.output_kilobytes = per_second(observer->last.output, now.output, seconds) / 1024;
        observer->last = now;
    }
    *rates = observer->rates;
    mutex_unlock(&observer->mutex);
}

/* ---- replication id ---- */

void observer_replication_id(const struct server *server, char *to)
{
    struct observer *observer = server->observer;
    mutex_lock(&observer->mutex);
    memcpy(to, observer->replication_id, sizeof(observer->replication_id));
    mutex_unlock(&observer->mutex);
}

void observer_change_replication_id(struct server *server)
{
    struct observer *observer = server->observer;
    mutex_lock(&observer->mutex);
    random_hex(observer->replication_id, OBSERVER_REPLICATION_ID);
    mutex_unlock(&observer->mutex);
}

/* ---- life ---- */

int observer_start(struct server *server)
{
    struct observer *observer = mem_alloc_zeroed(sizeof(*observer));
    server->observer = observer;
    mutex_init(&observer->mutex, MUTEX_RANK_LEAF);
    look(server, &observer->last);
    random_hex(observer->replication_id, OBSERVER_REPLICATION_ID);
    atomic_store_explicit(&observer->start_memory, observer_used_memory(server), memory_order_relaxed);
    return 0;
}

void observer_stop(struct server *server)
{
    if (!server->observer)
        return;
    mutex_deinit(&server->observer->mutex);
    mem_free(server->observer);
    server->observer = NULL;
}
