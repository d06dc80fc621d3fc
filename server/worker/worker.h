/* worker.h - a thread with its loop and its sessions: reads, parses, prefetches, locks, runs, replies.
 *
 * Owns:       the loop, the sessions handed to it, its counters and its handle on the store.
 * Threads:    the worker's own; the inbox takes mail from any thread; counters are written by the owner, read relaxed.
 */
#ifndef KETCH_SERVER_WORKER_WORKER_H
#define KETCH_SERVER_WORKER_WORKER_H

#include "lib/base/random.h"
#include "lib/loop/loop.h"
#include "server/command/call.h"
#include "server/worker/server.h"

/* Counters of one command on one worker. */
struct worker_command_counters {
    _Atomic uint64_t calls, nanoseconds, rejected, failed;
};

#define WORKER_ERROR_KINDS 64

/* An error's first word and how often it was sent. */
struct worker_error_counter {
    _Atomic uint64_t count;
    _Atomic bool used; /* code is set before this is */
    char code[32];
};

struct worker_counters {
    _Atomic uint64_t commands, errors, input_bytes, output_bytes, unknown_commands, batches;
    _Atomic uint64_t sessions;                  /* open now */
    struct worker_command_counters *by_command; /* by command number */
    struct worker_error_counter by_error[WORKER_ERROR_KINDS];
};

/* Adds on a counter that only this thread writes. */
static inline void worker_count(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

struct worker {
    struct server *server;
    uint32_t number;
    struct loop *loop;
    struct store_user *store;
    struct random random;
    _Atomic uint64_t assigned; /* connections handed over and not closed: what balancing goes by */
    struct worker_counters counters;
    struct worker_state *state; /* batch, inbox, timers: worker_state.h, private to this folder */
};

struct worker *worker_create(struct server *server, uint32_t number, int *error);
MUST_USE int worker_start(struct worker *worker);
/* Asks it to close all sessions and end, and waits for it. Its counters can be read until it is destroyed. */
void worker_stop(struct worker *worker);
/* Frees it; not before all workers were stopped and nobody reads their counters any more. */
void worker_destroy(struct worker *worker);

/* Hands over a connected socket (any thread). `is_unix`: came over the Unix socket. */
void worker_adopt(struct worker *worker, int fd, bool is_unix);

/* Has the worker look at its sessions' kill flags. Any thread. */
void worker_poke(struct worker *worker);

/* Counts an error reply by its first word. Owner only. */
void worker_count_error(struct worker *worker, struct bytes text);

/* Sums one counter over all workers. */
uint64_t server_sum(const struct server *server, size_t offset_in_counters);
#define SERVER_SUM(server, field) server_sum((server), offsetof(struct worker_counters, field))

#endif
