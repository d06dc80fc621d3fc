/* verdict.h - plain sentences about a result: whether its figures are the server's, and what went wrong. */
#ifndef KETCH_BENCH_REPORT_VERDICT_H
#define KETCH_BENCH_REPORT_VERDICT_H

#include "bench/stats/run_result.h"

#include <stdio.h>

#define VERDICT_SIZE 400

/* Whether the generator was the bottleneck; and another sentence if its threads had to wait for processors. */
void verdict_generator(const struct run_result *result, char *to, size_t size);

/* The lines after a table: errors by class, if any, and the generator's own cost. */
void verdict_print(const struct run_result *result, FILE *to);

#endif
