#include "bench/report/progress.h"
#include "bench/report/report.h"
#include "bench/report/verdict.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void labels_have_memtiers_digits(void **state)
{
    (void)state;
    static const struct {
        double percentile;
        const char *label;
    } cases[] = {{50, "p50"}, {99.9, "p99.9"}, {99.99, "p99.990"}, {100, "p100"}, {0, "p0"}, {99.999, "p99.999"}};
    for (int i = 0; i < 6; i++) {
        char label[PERCENTILE_NAME];
        report_percentile_label(cases[i].percentile, label, sizeof(label));
        assert_string_equal(label, cases[i].label);
    }
}

static void keys_are_six_characters_unless_they_collide(void **state)
{
    (void)state;
    struct report_options options = {.percentiles = {99.99, 50, 99.999, 100, 0, 99.9}, .percentile_count = 6};
    char keys[PERCENTILES_MAX][PERCENTILE_NAME];
    static const char *const three[] = {"p99.99", "p50.00", "p99.999", "p100.0", "p0.000", "p99.90"};
    static const char *const two[] = {"p99.99", "p50.00", "p99.999", "p100.0", "p0.00", "p99.90"};
    report_percentile_keys(&options, 3, keys);
    for (int i = 0; i < 6; i++)
        assert_string_equal(keys[i], three[i]);
    report_percentile_keys(&options, 2, keys);
    for (int i = 0; i < 6; i++)
        assert_string_equal(keys[i], two[i]);
    unsigned order[PERCENTILES_MAX];
    static const unsigned ascending[] = {4, 1, 5, 0, 2, 3};
    report_percentile_order(&options, order);
    for (int i = 0; i < 6; i++)
        assert_int_equal(order[i], ascending[i]);
}

static void the_progress_line_reads_like_memtiers(void **state)
{
    (void)state;
    char line[512];
    struct load_progress progress = {.elapsed_s = 2.0,
                                     .percent = 20,
                                     .threads = 4,
                                     .operations = 1000,
                                     .bytes = 3 << 20,
                                     .latency_us = 500000,
                                     .last_operations = 400,
                                     .last_bytes = 100 << 10,
                                     .last_latency_us = 400000,
                                     .last_s = 1.0};
    progress_format(&progress, 1, 50, line, sizeof(line));
    assert_string_equal(line, "[RUN #1 20%,   2 secs]  4 threads 50 conns:        1000 ops,     400 (avg:     500) "
                              "ops/sec, 100.00KB/sec (avg: 1.50MB/sec),  1.00 (avg:  0.50) msec latency");
    progress.connection_errors = 3;
    progress_format(&progress, 2, 50, line, sizeof(line));
    assert_non_null(strstr(line, "[RUN #2 20%,   2 secs]  4 threads 50 conns 3 conn errors:        1000 ops,"));
}

static void the_progress_line_of_nothing_has_no_nan(void **state)
{
    (void)state;
    char line[512];
    struct load_progress progress = {0};
    progress_format(&progress, 1, 1, line, sizeof(line));
    assert_null(strstr(line, "nan"));
    assert_null(strstr(line, "inf"));
}

static void the_generator_is_blamed_when_it_was_busy(void **state)
{
    (void)state;
    char text[VERDICT_SIZE];
    struct run_result result = {.duration_s = 10, .processors = 8, .busiest_percent = 50, .cpu_s = 20};
    verdict_generator(&result, text, sizeof(text));
    assert_string_equal(text, "The load generator was not the bottleneck.");
    result.busiest_percent = 95;
    verdict_generator(&result, text, sizeof(text));
    assert_non_null(strstr(text, "was the bottleneck"));
    /* Many threads on few processors: none is busy, all together are. */
    result.busiest_percent = 20;
    result.processors = 2;
    result.starved_percent = 70;
    verdict_generator(&result, text, sizeof(text));
    assert_non_null(strstr(text, "was the bottleneck"));
    assert_non_null(strstr(text, "waited for a processor 70%"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_have_memtiers_digits),
        cmocka_unit_test(keys_are_six_characters_unless_they_collide),
        cmocka_unit_test(the_progress_line_reads_like_memtiers),
        cmocka_unit_test(the_progress_line_of_nothing_has_no_nan),
        cmocka_unit_test(the_generator_is_blamed_when_it_was_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
