/* histogram.h - high dynamic range histogram: counts of values with a fixed number of significant digits, in fixed
 * memory, mergeable. The algorithm and the encodings are HdrHistogram's (G. Tene, public domain), so that its tools
 * read what is written here.
 *
 * Owns:       its counts.
 * Threads:    one writer; others may read only a copy.
 * Invariants: total == sum of counts. A value over the highest is counted at the highest and in `saturated`.
 * Limits:     values 1 .. highest (0 is counted as 0); 1 to 5 significant digits. */
#ifndef KETCH_LIB_HISTOGRAM_HISTOGRAM_H
#define KETCH_LIB_HISTOGRAM_HISTOGRAM_H

#include "lib/base/buf.h"
#include "lib/base/check.h"

struct histogram {
    uint64_t *counts;
    uint32_t counts_size;
    int32_t digits;
    int64_t highest;
    uint32_t sub_bucket_count, sub_bucket_half_count, sub_bucket_half_magnitude, bucket_count;
    uint64_t total;
    uint64_t saturated;
    int64_t min, max;           /* exact; max 0 and min INT64_MAX when empty */
    double sum, sum_of_squares; /* exact values, not bucket middles */
};

/* Highest trackable value (>= 2) and significant digits (1..5). 0, -EINVAL or -ENOMEM. */
MUST_USE int histogram_init(struct histogram *histogram, int64_t highest, int digits);
void histogram_deinit(struct histogram *histogram);
void histogram_reset(struct histogram *histogram);

void histogram_record(struct histogram *histogram, int64_t value);
void histogram_record_many(struct histogram *histogram, int64_t value, uint64_t count);

/* Adds `from` to `to`; same shape, else -EINVAL. */
MUST_USE int histogram_add(struct histogram *to, const struct histogram *from);

/* Smallest recorded-equivalent value (its bucket's highest) such that percentile % of the counts are at or below it;
 * percentile in [0, 100]. 0 when empty. The 100th is the exact maximum. */
int64_t histogram_percentile(const struct histogram *histogram, double percentile);

double histogram_mean(const struct histogram *histogram); /* of exact values; 0 when empty */
double histogram_stddev(const struct histogram *histogram);

/* Lowest and highest value that share the bucket of `value`. */
int64_t histogram_lowest_equivalent(const struct histogram *histogram, int64_t value);
int64_t histogram_highest_equivalent(const struct histogram *histogram, int64_t value);

/* Steps through recorded buckets, lowest first. Start with an all-zero iterator. */
struct histogram_iterator {
    uint32_t index;
    int64_t value;  /* the bucket's highest equivalent value */
    uint64_t count; /* in this bucket */
    uint64_t cumulative;
};
bool histogram_next(const struct histogram *histogram, struct histogram_iterator *iterator);

/* Steps through percentile points: `ticks` per half distance to 100 %, as HdrHistogram's percentile iterator does (0,
 * 5, 10 ... 50, 52.5 ... for 10 ticks), ending at 100. Start with an all-zero iterator. */
struct histogram_percentile_iterator {
    struct histogram_iterator at;
    double percentile; /* this point, 0..100 */
    int64_t value;     /* value at it */
    double next;
    bool last_shown;
    bool started;
};
bool histogram_next_percentile(const struct histogram *histogram, int ticks,
                               struct histogram_percentile_iterator *iterator);

/* HdrHistogram V2 payload, deflated and base64 encoded ("HISTFAAA..."), appended to `to`. 0 or -errno. */
MUST_USE int histogram_encode(const struct histogram *histogram, struct buf *to);
/* The reverse; initialises `histogram`. -EBADMSG for anything malformed (never trusts a length). */
MUST_USE int histogram_decode(struct histogram *histogram, struct bytes text);

#endif
