/* bench_options.h - the command line of ketch-bench: one table row per option, read by the parser, the usage text and
 * whoever documents options.
 *
 * Owns:       nothing: texts point into argv or are literals.
 * Threads:    one.
 * Invariants: numbers are whole, in range and without trailing text, or the command line is refused. The last of
 *             several wins.
 * Fails by:   a text for the user. */
#ifndef KETCH_BENCH_MAIN_BENCH_OPTIONS_H
#define KETCH_BENCH_MAIN_BENCH_OPTIONS_H

#include "bench/client/load_run.h"
#include "bench/report/report.h"

#include <stdio.h>

#define OPTION_ROWS_MAX 160
#define OPTION_ERROR_SIZE 512

struct bench_options {
    struct target_options target;
    struct load_options load;
    struct workload_options workload;
    struct report_options report;
    const char *uri, *authenticate;
    const char *out_file, *json_file, *hdr_prefix;
    bool ipv4, ipv6;
    bool randomize, print_all_runs, show_config, help, version;
    unsigned run_count, debug;
    bool given[OPTION_ROWS_MAX]; /* by row */
};

enum option_kind {
    OPTION_GROUP, /* no option: a head line of the usage text */
    OPTION_FLAG,
    OPTION_REPEAT, /* a flag that counts */
    OPTION_NUMBER,
    OPTION_REAL,
    OPTION_TEXT,
    OPTION_OTHER, /* has its own reader */
    OPTION_TLS,   /* known and refused: needs TLS */
    OPTION_LATER  /* known and refused: not here yet */
};

struct option_row {
    const char *name;
    char letter; /* 0: none */
    enum option_kind kind;
    const char *argument; /* its name in the usage text; NULL: takes none */
    double min, max;      /* of numbers, both allowed; above_min: min itself is not */
    bool above_min;
    const char *initial; /* read like an argument before the command line is; NULL: stays 0 */
    const char *help;
    size_t offset, size; /* of the field */
    /* Of OPTION_OTHER: NULL or what is wrong with the text. */
    const char *(*read)(struct bench_options *options, const char *text);
};

extern const struct option_row bench_option_rows[];
extern const unsigned bench_option_row_count;

/* Reads argv[1..]. 0, or -1 with a text in error (size OPTION_ERROR_SIZE). */
MUST_USE int bench_options_parse(struct bench_options *options, int argc, char **argv, char *error);

/* Whether the command line had that option; name must exist. */
bool bench_option_given(const struct bench_options *options, const char *name);

/* The usage text, from the table. */
void bench_usage_print(FILE *to);

/* Options the command line had that this version refuses: true with the message in error. TLS comes first, since
 * without it the others do not matter. */
bool bench_options_refused(const struct bench_options *options, char *error);

#endif
