#include "server/observe/info.h"
#include "server/observe/observer.h"
#include "server/worker/worker.h"

#include <stdlib.h>

typedef unsigned long long ull;

/* Different first words of errors that are shown; a worker counts fewer. */
#define ERROR_KINDS_SHOWN 128u

static uint64_t read_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

struct store_sums {
    uint64_t expired, hits, misses;
};

static struct store_sums sum_store(const struct server *server)
{
    struct store_sums sums = {0};
    for (uint32_t i = 0; i < server->worker_count; i++) {
        const struct store_counters *counters = store_user_counters(server->workers[i]->store);
        sums.expired += read_counter(&counters->expired);
        sums.hits += read_counter(&counters->hits);
        sums.misses += read_counter(&counters->misses);
    }
    return sums;
}

/* Time that workers were not waiting, of all workers since their loops were made. */
static int64_t busy_ms(const struct server *server)
{
    int64_t busy_ns = 0;
    for (uint32_t i = 0; i < server->worker_count; i++)
        busy_ns += loop_busy_ns(server->workers[i]->loop);
    return busy_ns / 1000000;
}

int info_write_stats(struct server *server, struct buf *to)
{
    struct observer_rates rates;
    struct store_sums store = sum_store(server);
    observer_rates(server, &rates);
    INFO_LINE(to, "total_connections_received:%llu\r\n", (ull)read_counter(&server->connections_received));
    INFO_LINE(to, "total_commands_processed:%llu\r\n", (ull)SERVER_SUM(server, commands));
    INFO_LINE(to, "instantaneous_ops_per_sec:%llu\r\n", (ull)rates.commands);
    INFO_LINE(to, "total_net_input_bytes:%llu\r\n", (ull)SERVER_SUM(server, input_bytes));
    INFO_LINE(to, "total_net_output_bytes:%llu\r\n", (ull)SERVER_SUM(server, output_bytes));
    INFO_LINE(to, "instantaneous_input_kbps:%.2f\r\ninstantaneous_output_kbps:%.2f\r\n", rates.input_kilobytes,
              rates.output_kilobytes);
    INFO_LINE(to, "rejected_connections:%llu\r\n", (ull)read_counter(&server->connections_rejected));
    INFO_LINE(to, "sync_full:0\r\nsync_partial_ok:0\r\nsync_partial_err:0\r\n");
    INFO_LINE(to, "expired_keys:%llu\r\nexpired_stale_perc:0.00\r\n", (ull)store.expired);
    INFO_LINE(to, "evicted_keys:0\r\nevicted_clients:0\r\n");
    INFO_LINE(to, "keyspace_hits:%llu\r\nkeyspace_misses:%llu\r\n", (ull)store.hits, (ull)store.misses);
    INFO_LINE(to, "pubsub_channels:0\r\npubsub_patterns:0\r\nlatest_fork_usec:0\r\ntotal_forks:0\r\n");
    INFO_LINE(to, "tracking_total_keys:0\r\ntracking_total_items:0\r\ntracking_total_prefixes:0\r\n");
    INFO_LINE(to, "total_error_replies:%llu\r\n", (ull)SERVER_SUM(server, errors));
    INFO_LINE(to, "acl_access_denied_auth:0\r\nacl_access_denied_cmd:0\r\nacl_access_denied_key:0\r\n"
                  "acl_access_denied_channel:0\r\n");
    INFO_LINE(to, "total_batches:%llu\r\nworker_busy_milliseconds:%lld\r\n", (ull)SERVER_SUM(server, batches),
              (long long)busy_ms(server));
    return 0;
}

int info_write_commandstats(struct server *server, struct buf *to)
{
    uint32_t numbers = command_numbers(server->commands);
    for (uint32_t number = 0; number < numbers; number++) {
        uint64_t calls = 0, nanoseconds = 0, rejected = 0, failed = 0;
        for (uint32_t i = 0; i < server->worker_count; i++) {
            const struct worker_command_counters *counters = &server->workers[i]->counters.by_command[number];
            calls += read_counter(&counters->calls);
            nanoseconds += read_counter(&counters->nanoseconds);
            rejected += read_counter(&counters->rejected);
            failed += read_counter(&counters->failed);
        }
        if (calls + rejected + failed == 0)
            continue;
        INFO_LINE(to, "cmdstat_%s:calls=%llu,usec=%llu,usec_per_call=%.2f,rejected_calls=%llu,failed_calls=%llu\r\n",
                  command_at(server->commands, number)->full_name, (ull)calls, (ull)nanoseconds / 1000,
                  calls ? (double)nanoseconds / 1000 / (double)calls : 0, (ull)rejected, (ull)failed);
    }
    return 0;
}

/* ---- errors ---- */

struct error_sum {
    const char *code;
    uint64_t count;
};

static void add_error(struct error_sum *sums, size_t *used, const struct worker_error_counter *counter)
{
    for (size_t i = 0; i < *used; i++)
        if (strcmp(sums[i].code, counter->code) == 0) {
            sums[i].count += read_counter(&counter->count);
            return;
        }
    if (*used < ERROR_KINDS_SHOWN)
        sums[(*used)++] = (struct error_sum){counter->code, read_counter(&counter->count)};
}

static int compare_errors(const void *a, const void *b)
{
    return strcmp(((const struct error_sum *)a)->code, ((const struct error_sum *)b)->code);
}

int info_write_errorstats(struct server *server, struct buf *to)
{
    struct error_sum sums[ERROR_KINDS_SHOWN];
    size_t used = 0;
    for (uint32_t i = 0; i < server->worker_count; i++)
        for (size_t j = 0; j < WORKER_ERROR_KINDS; j++) {
            const struct worker_error_counter *counter = &server->workers[i]->counters.by_error[j];
            if (atomic_load_explicit(&counter->used, memory_order_acquire))
                add_error(sums, &used, counter);
        }
    qsort(sums, used, sizeof(*sums), compare_errors);
    for (size_t i = 0; i < used; i++)
        if (sums[i].count)
            INFO_LINE(to, "errorstat_%s:count=%llu\r\n", sums[i].code, (ull)sums[i].count);
    return 0;
}

/* Latencies by command are not tracked yet: as with `latency-tracking no`, the section has no lines. */
int info_write_latencystats(struct server *server, struct buf *to)
{
    (void)server;
    (void)to;
    return 0;
}

int info_write_keyspace(struct server *server, struct buf *to)
{
    for (uint32_t db = 0; db < store_databases(server->store); db++) {
        uint64_t keys, expires;
        int64_t average_ttl_ms;
        store_count(server->store, db, &keys, &expires, &average_ttl_ms);
        if (keys)
            INFO_LINE(to, "db%u:keys=%llu,expires=%llu,avg_ttl=%lld,subexpiry=0\r\n", db, (ull)keys, (ull)expires,
                      (long long)average_ttl_ms);
    }
    return 0;
}
