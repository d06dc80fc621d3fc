#include "bench/stats/timeline.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double percentiles[] = {50, 100};

static void samples_make(struct histogram *samples, int64_t low, int64_t high)
{
    assert_int_equal(histogram_init(samples, LATENCY_HIGHEST_US, LATENCY_DIGITS), 0);
    for (int64_t us = low; us <= high; us++)
        histogram_record(samples, us);
}

static void percentiles_are_of_all_threads_together(void **state)
{
    (void)state;
    struct timeline timeline;
    struct histogram low, high;
    samples_make(&low, 1, 100);
    samples_make(&high, 901, 1000);
    timeline_init(&timeline, 2, 2, percentiles, 2, false);
    timeline_add(&timeline, 0, 0, &low, 10, 20);
    timeline_pass(&timeline, 0, 1);
    assert_int_equal(timeline.closed, 0);
    timeline_add(&timeline, 0, 0, &high, 1, 2);
    timeline_add(&timeline, 0, 1, &high, 5, 6);
    timeline_pass(&timeline, 1, 1);
    assert_int_equal(timeline.closed, 1);
    const struct timeline_cell *first = timeline_cell(&timeline, 0, 0), *total = timeline_cell(&timeline, 0, 2);
    assert_int_equal(first->count, 200);
    assert_int_equal(first->percentiles[0], 100);
    assert_int_equal(first->percentiles[1], 1000);
    assert_int_equal(first->bytes_rx, 11);
    assert_int_equal(first->bytes_tx, 22);
    assert_int_equal(total->count, 300);
    assert_int_equal(total->min_us, 1);
    assert_int_equal(total->max_us, 1000);
    assert_int_equal(total->percentiles[0], 925);
    assert_int_equal(total->bytes_tx, 28);
    timeline_deinit(&timeline);
    histogram_deinit(&low);
    histogram_deinit(&high);
}

static void empty_seconds_are_there(void **state)
{
    (void)state;
    struct timeline timeline;
    struct histogram samples;
    samples_make(&samples, 5, 5);
    timeline_init(&timeline, 1, 1, percentiles, 2, false);
    timeline_add(&timeline, 1, 0, &samples, 1, 1);
    timeline_pass(&timeline, 0, 4);
    timeline_add(&timeline, 5, 0, &samples, 1, 1);
    timeline_pass(&timeline, 0, UINT32_MAX);
    timeline_finish(&timeline, 8);
    assert_int_equal(timeline.closed, 8);
    static const uint64_t counts[] = {0, 1, 0, 0, 0, 1, 0, 0};
    for (uint32_t second = 0; second < 8; second++)
        assert_int_equal(timeline_cell(&timeline, second, 0)->count, counts[second]);
    timeline_deinit(&timeline);
    histogram_deinit(&samples);
}

static void a_thread_that_lags_loses_nothing(void **state)
{
    (void)state;
    struct timeline timeline;
    struct histogram samples;
    samples_make(&samples, 1, 10);
    timeline_init(&timeline, 1, 2, percentiles, 2, false);
    for (uint32_t second = 0; second < 100; second++) {
        timeline_add(&timeline, second, 0, &samples, 1, 1);
        timeline_pass(&timeline, 0, second + 1);
    }
    timeline_add(&timeline, 3, 0, &samples, 1, 1); /* thread 1, long after second 3 closed */
    timeline_finish(&timeline, 100);
    uint64_t sum = 0;
    for (uint32_t second = 0; second < timeline.closed; second++)
        sum += timeline_cell(&timeline, second, 1)->count;
    assert_int_equal(timeline.closed, 100);
    assert_int_equal(sum, 101 * 10);
    timeline_deinit(&timeline);
    histogram_deinit(&samples);
}

static void the_mean_of_runs_has_percentiles_of_all_their_samples(void **state)
{
    (void)state;
    struct timeline runs[2], mean;
    struct histogram low, high;
    samples_make(&low, 1, 100);
    samples_make(&high, 901, 1000);
    for (int i = 0; i < 2; i++) {
        timeline_init(&runs[i], 1, 1, percentiles, 2, true);
        timeline_add(&runs[i], 0, 0, i ? &high : &low, 100, 50);
    }
    timeline_add(&runs[1], 1, 0, &high, 10, 10);
    timeline_finish(&runs[0], 1);
    timeline_finish(&runs[1], 2);
    timeline_init(&mean, 1, 1, percentiles, 2, false);
    const struct timeline *const both[] = {&runs[0], &runs[1]};
    timeline_average(&mean, both, 2);
    assert_int_equal(mean.closed, 2);
    const struct timeline_cell *cell = timeline_cell(&mean, 0, 0);
    assert_int_equal(cell->count, 100);
    assert_int_equal(cell->percentiles[0], 100);
    assert_int_equal(cell->percentiles[1], 1000);
    assert_int_equal(cell->min_us, 1);
    assert_int_equal(timeline_cell(&mean, 1, 1)->count, 50);
    timeline_deinit(&mean);
    for (int i = 0; i < 2; i++)
        timeline_deinit(&runs[i]);
    histogram_deinit(&low);
    histogram_deinit(&high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_are_of_all_threads_together),
        cmocka_unit_test(empty_seconds_are_there),
        cmocka_unit_test(a_thread_that_lags_loses_nothing),
        cmocka_unit_test(the_mean_of_runs_has_percentiles_of_all_their_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
