/* hdr_file.h - a result's histograms as files of the HdrHistogram tools: percentile table (.txt) and interval log
 * (.hgrm).
 *
 * Fails by:   -errno of the first file that could not be written. */
#ifndef KETCH_BENCH_REPORT_HDR_FILE_H
#define KETCH_BENCH_REPORT_HDR_FILE_H

#include "bench/stats/run_result.h"

#include <stdio.h>

/* The table of percentiles: milliseconds, 10 ticks per half distance. */
void hdr_file_percentiles(const struct histogram *latency, FILE *to);

/* The interval log with one interval: microseconds. */
MUST_USE int hdr_file_log(const struct run_result *result, const struct histogram *latency, FILE *to);

/* Writes PREFIX_FULL_RUN_<run>, PREFIX_SET_command_run_<run> and so on, each .txt and .hgrm, for what has samples; says
 * so on `messages`. */
MUST_USE int hdr_file_write_all(const struct run_result *result, const char *prefix, unsigned run, FILE *messages);

#endif
