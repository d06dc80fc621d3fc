/* timeline.h - a run second by second: counts, bytes and latencies of all threads together, with percentiles of the
 * merged samples.
 *
 * Owns:       the closed seconds, and the histograms of the few that are still open.
 * Threads:    timeline_add and timeline_pass: any; the rest: one, after the writers have ended.
 * Invariants: a second closes once every thread has passed it; every second up to the last is there, also an empty one.
 *             No sample is lost: one that comes for a closed second counts in the first open one.
 * Limits:     TIMELINE_OPEN_MAX open seconds: a thread that lags further behind closes seconds for all. */
#ifndef KETCH_BENCH_STATS_TIMELINE_H
#define KETCH_BENCH_STATS_TIMELINE_H

#include "lib/base/mutex.h"
#include "lib/histogram/histogram.h"

#define TIMELINE_OPEN_MAX 8

/* Latencies are microseconds from 1 to 10 minutes with 3 digits, everywhere in the program. */
#define LATENCY_HIGHEST_US 600000000
#define LATENCY_DIGITS 3

struct timeline_bucket {
    uint32_t value_us;
    uint32_t count;
};

/* One class of requests in one second. */
struct timeline_cell {
    uint64_t count, bytes_rx, bytes_tx;
    double sum_us;
    int64_t min_us, max_us;
    int64_t *percentiles;            /* us, as many as the timeline has; NULL when count is 0 */
    struct timeline_bucket *buckets; /* the samples, when the timeline keeps them; else NULL */
    uint32_t bucket_count;
};

struct timeline_open {
    struct histogram *latency; /* per class, made when first needed */
    uint64_t *bytes_rx, *bytes_tx;
};

struct timeline {
    struct mutex mutex;
    unsigned class_count; /* cells have one more: the totals come last */
    unsigned thread_count;
    const double *percentiles; /* the caller's */
    unsigned percentile_count;
    bool keeps_buckets; /* so that several runs can be merged */
    uint32_t *passed;   /* per thread: it has nothing more for seconds before this */
    uint32_t closed;    /* seconds that are final */
    uint32_t capacity;
    struct timeline_cell *cells;                  /* closed x (class_count + 1) */
    struct timeline_open open[TIMELINE_OPEN_MAX]; /* by second modulo their number */
};

void timeline_init(struct timeline *timeline, unsigned class_count, unsigned thread_count, const double *percentiles,
                   unsigned percentile_count, bool keeps_buckets);
void timeline_deinit(struct timeline *timeline);

/* A thread's samples and bytes of one class in one second. */
void timeline_add(struct timeline *timeline, uint32_t second, unsigned class_index, const struct histogram *latency,
                  uint64_t bytes_rx, uint64_t bytes_tx);

/* The thread is done with all seconds before `second`. */
void timeline_pass(struct timeline *timeline, unsigned thread, uint32_t second);

/* Closes every open second and makes the timeline at least `seconds` long. */
void timeline_finish(struct timeline *timeline, uint32_t seconds);

/* class_index == class_count: all together. */
const struct timeline_cell *timeline_cell(const struct timeline *timeline, uint32_t second, unsigned class_index);

/* Makes `to` (initialised alike, empty) the mean of several finished timelines that keep their buckets: counts and
 * bytes are means, percentiles those of all samples of that second. */
void timeline_average(struct timeline *to, const struct timeline *const *from, unsigned from_count);

#endif
