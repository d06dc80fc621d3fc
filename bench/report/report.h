/* report.h - what all reports are made from: the options that shape them, and the finished runs.
 *
 * Owns:       nothing.
 * Threads:    one. */
#ifndef KETCH_BENCH_REPORT_REPORT_H
#define KETCH_BENCH_REPORT_REPORT_H

#include "bench/stats/run_result.h"

#define PERCENTILES_MAX 64
#define PERCENTILE_NAME 32

/* One value of the configuration as reports show it. */
struct report_setting {
    const char *name;
    char *text;  /* NULL: not set */
    bool number; /* JSON shows it without quotes */
};

struct report_options {
    double percentiles[PERCENTILES_MAX]; /* in the user's order */
    unsigned percentile_count;
    bool hide_histogram;
    unsigned threads, clients; /* per thread */
    uint64_t requests;         /* per client; 0: a run by time */
    unsigned test_time_s;
};

/* A titled result: "ALL STATS", "BEST RUN RESULTS" and so on. */
struct report_section {
    char title[64];
    const struct run_result *result;
};

/* "p50", "p99.9", "p99.990": a percentile as the table's head names it. */
void report_percentile_label(double percentile, char *to, size_t size);

/* JSON keys of all percentiles, e.g. "p99.90" (digits = 2) or "p99.900" cut to six characters (digits = 3); those that
 * would collide keep all their digits. */
void report_percentile_keys(const struct report_options *options, int digits, char (*keys)[PERCENTILE_NAME]);

/* Indexes of the percentiles in ascending order of value. */
void report_percentile_order(const struct report_options *options, unsigned *order);

#endif
