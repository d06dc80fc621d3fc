/* signals.h - signals: the ones that ask for something are taken by a thread of their own, the ones that mean a crash
 * by a handler that prints a stack trace.
 *
 * Threads:    signals_block runs before any other thread is made, so that all inherit the mask.
 * Invariants: no handler runs but for crashes; SIGPIPE is ignored. */
#ifndef KETCH_SERVER_MAIN_SIGNALS_H
#define KETCH_SERVER_MAIN_SIGNALS_H

#include "lib/base/check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct server;

struct signals {
    struct server *server;
    pthread_t thread;
    _Atomic bool ending;
    bool running;
};

void signals_block(void);
MUST_USE int signals_start(struct signals *signals, struct server *server);
void signals_stop(struct signals *signals);

/* SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT log where they happened before they end the process. */
void signals_watch_crashes(void);

#endif
