/* bench_session.h - the runs of one invocation and their reports.
 *
 * Owns:       results, output files.
 * Threads:    the main one; SIGINT and SIGTERM must be blocked in it before, so that they reach the session's signalfd.
 * Fails by:   a message on stderr and exit status 1. */
#ifndef KETCH_BENCH_MAIN_BENCH_SESSION_H
#define KETCH_BENCH_MAIN_BENCH_SESSION_H

#include "bench/main/bench_config.h"

/* Runs everything; returns the exit status: 0, or 1 when something failed or was lost. */
int bench_session(const struct bench_config *config);

#endif
