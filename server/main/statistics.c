/* CONFIG RESETSTAT. */
#include "server/main/process.h"
#include "server/worker/worker.h"

static void zero(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, 0, memory_order_relaxed);
}

static void reset_worker(struct worker *worker, uint32_t numbers)
{
    struct worker_counters *counters = &worker->counters;
    zero(&counters->commands);
    zero(&counters->errors);
    zero(&counters->input_bytes);
    zero(&counters->output_bytes);
    zero(&counters->unknown_commands);
    zero(&counters->batches);
    for (uint32_t i = 0; i < numbers; i++) {
        zero(&counters->by_command[i].calls);
        zero(&counters->by_command[i].nanoseconds);
        zero(&counters->by_command[i].rejected);
        zero(&counters->by_command[i].failed);
    }
    for (uint32_t i = 0; i < WORKER_ERROR_KINDS; i++)
        zero(&counters->by_error[i].count);
}

void process_reset_statistics(struct server *server)
{
    for (uint32_t i = 0; i < server->worker_count; i++) {
        reset_worker(server->workers[i], command_numbers(server->commands));
        store_user_reset_counters(server->workers[i]->store);
    }
    zero(&server->connections_received);
    zero(&server->connections_rejected);
}
