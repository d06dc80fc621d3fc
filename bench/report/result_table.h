/* result_table.h - results as text tables, laid out as memtier_benchmark's, which scripts parse. */
#ifndef KETCH_BENCH_REPORT_RESULT_TABLE_H
#define KETCH_BENCH_REPORT_RESULT_TABLE_H

#include "bench/report/report.h"

#include <stdio.h>

/* Threads, connections, requests or seconds. */
void result_table_head(const struct report_options *options, FILE *to);

/* One section: title, table, distribution unless hidden, errors, verdict. */
void result_table_section(const struct report_options *options, const struct report_section *section, FILE *to);

#endif
