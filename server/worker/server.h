/* server.h - what all workers share: options, store, command table, the register of sessions.
 *
 * Owns:       everything it points at.
 * Threads:    set up by the main thread before workers start, torn down after they stopped; what changes in between is
 *             atomic or says which mutex guards it. */
#ifndef KETCH_SERVER_WORKER_SERVER_H
#define KETCH_SERVER_WORKER_SERVER_H

#include "lib/base/mutex.h"
#include "lib/option/option.h"
#include "server/command/module.h"
#include "server/store/store.h"

struct command_table;
struct observer;
struct option_registry;
struct session;
struct worker;

struct worker_options {
#define OPTION OPTION_FIELD
#include "server/worker/worker.def"
#undef OPTION
};

/* What SHUTDOWN and signals ask of the main thread. */
enum server_stop { SERVER_RUNNING, SERVER_STOP_ASKED };

struct server {
    struct store_options store_options;
    struct worker_options options;
    struct option_registry *registry; /* every option of every module: CONFIG */

    struct store *store;
    struct command_table *commands;
    const struct module *const *modules; /* NULL-terminated */

    struct worker **workers;
    uint32_t worker_count;

    struct mutex sessions_mutex; /* rank REGISTRY: guards the list and the ids */
    struct session *sessions;    /* doubly linked, oldest first */
    struct session *sessions_last;
    _Atomic uint64_t next_session_id; /* ids ascend in the order of connecting and are never used again */
    _Atomic uint64_t session_count;

    _Atomic uint64_t connections_received, connections_rejected;
    _Atomic int stop;                          /* enum server_stop */
    void (*stop_asked)(struct server *server); /* wakes the main thread; set by server/main */
    void *main;                                /* server/main's own */
    struct observer *observer;                 /* server/observe's own */

    char run_id[41];    /* 40 hexadecimal digits */
    int64_t started_ms; /* real time */
    int64_t started_monotonic_ns;
    char *executable, *config_file; /* absolute paths, config_file "" when there is none */
};

/* The worker with the fewest sessions. */
struct worker *server_least_loaded(struct server *server);

/* Asks for a clean stop; any thread. */
void server_ask_stop(struct server *server);

#endif
