/* run_result.h - what one run came to, or the mean of several.
 *
 * Owns:       its histograms and its timeline.
 * Threads:    one, after the threads of the run have ended.
 * Invariants: rows[row_count - 1] is the totals; its counts are the sums of the others. */
#ifndef KETCH_BENCH_STATS_RUN_RESULT_H
#define KETCH_BENCH_STATS_RUN_RESULT_H

#include "bench/stats/recorder.h"

#define RESULT_ROWS_MAX 64

struct result_row {
    const char *name;    /* "Sets" */
    const char *command; /* "SET"; NULL for the totals */
    bool reads_key;      /* hits and misses mean something */
    bool exists;         /* the run has this class of command (Waits so far do not) */
    uint64_t count, hits, misses, errors, bytes_rx, bytes_tx;
    double operations_per_s, hits_per_s, misses_per_s, rx_kb_per_s, tx_kb_per_s;
    double accumulated_us;
    struct histogram latency; /* us */
};

struct run_result {
    struct result_row rows[RESULT_ROWS_MAX];
    unsigned row_count;
    struct timeline timeline;    /* classes are the rows but the totals */
    int64_t start_ms, finish_ms; /* since the epoch */
    double duration_s;
    bool interrupted;
    struct error_tally errors;
    uint64_t connections;   /* that were up when measuring began */
    double cpu_s;           /* of the whole process while it measured */
    double busiest_percent; /* of its time a thread was on a processor, at most */
    double starved_percent; /* of its time a thread waited for a processor, at most */
    unsigned processors;    /* that the process may use */
    char io_name[16];       /* the loop backend in use */
};

/* Starts an empty result; then one result_row_add for each class, in the recorder's order, and result_totals_add. */
void run_result_init(struct run_result *result);
struct result_row *run_result_row_add(struct run_result *result, const char *name, const char *command, bool reads_key,
                                      bool exists);
void run_result_deinit(struct run_result *result);

/* Adds what a finished thread recorded; classes and rows in the same order. */
void run_result_take(struct run_result *result, const struct recorder *recorder);

/* After the last thread and with duration_s set: sums and rates. */
void run_result_complete(struct run_result *result);

/* Makes `to` (initialised, its timeline too, no rows yet) the mean of `from`: means of rates and counts, merged
 * histograms, sums of errors. */
void run_result_average(struct run_result *to, const struct run_result *const *from, unsigned from_count);

static inline struct result_row *run_result_totals(struct run_result *result)
{
    return &result->rows[result->row_count - 1];
}

/* Operations a second decide which of the runs was best and which worst: their indexes. */
void run_result_rank(const struct run_result *const *runs, unsigned count, unsigned *best, unsigned *worst);

/* CPU microseconds the generator spent per operation; 0 without operations. */
double run_result_cpu_us(const struct run_result *result);

/* A thread was on a processor nearly all the time, or the process on all it may use: the figures are the generator's,
 * not the server's. */
bool run_result_generator_bound(const struct run_result *result);

#endif
