/* recorder.h - what one thread measures: per class of command one histogram of the running second and one of all the
 * seconds before, and counters.
 *
 * Owns:       its histograms.
 * Threads:    one. What other threads watch while the run lasts is published (recorder_publish) into recorder_live.
 * Invariants: a reply costs one histogram increment; seconds cost a merge each. */
#ifndef KETCH_BENCH_STATS_RECORDER_H
#define KETCH_BENCH_STATS_RECORDER_H

#include "bench/stats/error_tally.h"
#include "bench/stats/timeline.h"

#include <stdatomic.h>

enum reply_kind { REPLY_PLAIN, REPLY_HIT, REPLY_MISS, REPLY_ERROR };

struct recorder_class {
    struct histogram second, total; /* us */
    uint64_t bytes_rx, bytes_tx;    /* of the whole run */
    uint64_t rolled_rx, rolled_tx;  /* of these, in seconds already handed over */
    uint64_t replies[REPLY_ERROR + 1];
};

/* Read by the progress line; each written by one thread. */
struct recorder_live {
    _Atomic uint64_t operations, bytes, latency_us, connection_errors;
    _Atomic bool active;
};

struct recorder {
    struct recorder_class *classes;
    unsigned class_count;
    unsigned thread;
    struct timeline *timeline; /* shared */
    int64_t start_ns, roll_ns; /* of the run; when the running second ends */
    uint32_t second, second_last;
    int64_t last_reply_ns;
    uint64_t operations, bytes; /* running sums for recorder_live */
    uint64_t latency_ns;
    struct error_tally errors;
};

void recorder_init(struct recorder *recorder, unsigned class_count, unsigned thread, struct timeline *timeline);
void recorder_deinit(struct recorder *recorder);

/* The run begins: second 0 starts at start_ns (monotonic). With seconds > 0 it has that many, and what comes later
 * belongs to the last. */
void recorder_start(struct recorder *recorder, int64_t start_ns, uint32_t seconds);

/* Hands over the seconds that have passed. Cheap when none has: see recorder_tick. */
void recorder_roll(struct recorder *recorder, int64_t now_ns);

static inline void recorder_tick(struct recorder *recorder, int64_t now_ns)
{
    if (UNLIKELY(now_ns >= recorder->roll_ns))
        recorder_roll(recorder, now_ns);
}

/* No second ends any more: what comes late belongs to the last. */
void recorder_freeze(struct recorder *recorder);

/* Hands over the running second; nothing may be recorded afterwards. */
void recorder_finish(struct recorder *recorder);

static inline void recorder_sent(struct recorder *recorder, unsigned class_index, size_t size)
{
    recorder->classes[class_index].bytes_tx += size;
    recorder->bytes += size;
}

static inline void recorder_received(struct recorder *recorder, unsigned class_index, enum reply_kind kind, size_t size,
                                     int64_t latency_ns)
{
    struct recorder_class *class = &recorder->classes[class_index];
    histogram_record(&class->second, (latency_ns + 500) / 1000);
    class->bytes_rx += size;
    class->replies[kind]++;
    recorder->operations++;
    recorder->bytes += size;
    recorder->latency_ns += (uint64_t)latency_ns;
}

static inline void recorder_publish(const struct recorder *recorder, struct recorder_live *live)
{
    atomic_store_explicit(&live->operations, recorder->operations, memory_order_relaxed);
    atomic_store_explicit(&live->bytes, recorder->bytes, memory_order_relaxed);
    atomic_store_explicit(&live->latency_us, recorder->latency_ns / 1000, memory_order_relaxed);
}

#endif
