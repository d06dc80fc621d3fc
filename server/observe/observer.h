/* observer.h - what INFO needs to remember: counters at an earlier moment for rates, the memory peak, the replication
 * id.
 *
 * There is no sampling thread: a rate is the mean since the last look that is at least 100 ms old (since the start at
 * first). A monitor that asks every ten seconds gets the mean of those ten seconds, and a server nobody asks does no
 * work for it. The memory peak is the highest that somebody asked for.
 *
 * Owns:       struct observer (server->observer).
 * Threads:    any; its mutex (rank LEAF) guards everything but the memory figures, which are atomic. */
#ifndef KETCH_SERVER_OBSERVE_OBSERVER_H
#define KETCH_SERVER_OBSERVE_OBSERVER_H

#include "server/worker/server.h"

struct observer_rates {
    uint64_t commands;      /* per second */
    double input_kilobytes; /* per second */
    double output_kilobytes;
};

/* Hangs itself on the server; 0. */
MUST_USE int observer_start(struct server *server);
void observer_stop(struct server *server);

void observer_rates(const struct server *server, struct observer_rates *rates);

/* Bytes of used_memory: now, at the start, and the highest that was asked for. */
uint64_t observer_used_memory(const struct server *server);
uint64_t observer_start_memory(const struct server *server);
uint64_t observer_peak_memory(const struct server *server);

#define OBSERVER_REPLICATION_ID 40 /* hexadecimal digits */

/* The replication id, terminated; and a new one instead (DEBUG CHANGE-REPL-ID). */
void observer_replication_id(const struct server *server, char *to);
void observer_change_replication_id(struct server *server);

#endif
