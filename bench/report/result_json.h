/* result_json.h - results as JSON: memtier_benchmark's keys and units, and after them our own ("Errors", "Load
 * generator").
 *
 * Owns:       nothing.
 * Threads:    one.
 * Fails by:   the stream's error indicator (ferror). */
#ifndef KETCH_BENCH_REPORT_RESULT_JSON_H
#define KETCH_BENCH_REPORT_RESULT_JSON_H

#include "bench/report/report.h"
#include "lib/base/check.h"

#include <stdio.h>

struct result_json {
    const struct report_options *options;
    const struct report_setting *settings;
    unsigned setting_count;
    const struct report_section *sections;
    unsigned section_count;
};

void result_json_write(const struct result_json *document, FILE *to);

#endif
