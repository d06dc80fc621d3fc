/* load_run.h - one run of the load: starts the threads, lets them begin together, watches them, collects what they
 * measured.
 *
 * Owns:       the threads.
 * Threads:    the caller's; hooks are called on it, but note, which any thread calls.
 * Invariants: measuring begins when every connection is up or has failed; nothing is run again.
 * Fails by:   -errno when threads or loops cannot be made; what goes wrong later is in the result. */
#ifndef KETCH_BENCH_CLIENT_LOAD_RUN_H
#define KETCH_BENCH_CLIENT_LOAD_RUN_H

#include "bench/client/load_thread.h"
#include "bench/stats/run_result.h"

/* What the progress line shows. */
struct load_progress {
    double elapsed_s, percent;
    unsigned threads;                                      /* still active */
    uint64_t operations, bytes, latency_us;                /* since the run began */
    uint64_t last_operations, last_bytes, last_latency_us; /* since the progress before */
    double last_s;
    uint64_t connection_errors;
};

struct load_hooks {
    void *owner;
    void (*progress)(void *owner, const struct load_progress *progress); /* each second, and at the end */
    void (*note)(void *owner, const char *text);
    void (*interrupted)(void *owner, double elapsed_s);
    int interrupt_fd; /* readable (a signalfd): the run ends early; -1: none */
};

struct load_run {
    const struct load_options *options;
    const struct workload *workload;
    const struct target *target;
    const struct load_hooks *hooks;
    const double *percentiles; /* of the time series */
    unsigned percentile_count;
    bool keeps_buckets; /* several runs will be averaged */
    bool verbose;
};

/* Runs and fills `result`, which must be initialised; its timeline is made here. */
MUST_USE int load_run(const struct load_run *run, struct run_result *result);

/* Requests the options ask for, over all clients; 0 when time decides. */
uint64_t load_requests_total(const struct load_options *options, const struct workload *workload);

/* Raises the limit of descriptors to what the options need. 0, or -errno with the number needed in *needed. */
MUST_USE int load_descriptors_raise(const struct load_options *options, uint64_t *needed);

#endif
