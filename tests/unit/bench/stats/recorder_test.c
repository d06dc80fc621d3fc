#include "bench/stats/run_result.h"

#include "lib/base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND_NS 1000000000ll
#define SAMPLES 20000

static const double percentiles[] = {0, 50, 90, 99, 99.9, 100};

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void percentiles_agree_with_an_exact_sort(void **state)
{
    (void)state;
    struct timeline timeline;
    struct recorder recorder;
    struct random random;
    struct run_result result;
    static int64_t exact_us[SAMPLES];
    random_seed(&random, 11);
    timeline_init(&timeline, 1, 1, percentiles, 6, false);
    recorder_init(&recorder, 1, 0, &timeline);
    recorder_start(&recorder, 0, 0);
    for (int i = 0; i < SAMPLES; i++) {
        /* Bimodal, over four decades. */
        double us = random_unit(&random) < 0.02 ? 1e6 * random_unit(&random) : 50 + 900 * random_unit(&random);
        int64_t ns = (int64_t)(us * 1000);
        exact_us[i] = (ns + 500) / 1000;
        recorder_received(&recorder, 0, REPLY_PLAIN, 5, ns);
        recorder_tick(&recorder, i * (3 * SECOND_NS / SAMPLES));
    }
    recorder_finish(&recorder);
    timeline_finish(&timeline, 3);
    run_result_init(&result);
    (void)run_result_row_add(&result, "Sets", "SET", false, true);
    (void)run_result_row_add(&result, "Totals", NULL, true, true);
    result.duration_s = 3;
    run_result_take(&result, &recorder);
    run_result_complete(&result);
    qsort(exact_us, SAMPLES, sizeof(exact_us[0]), ascending);
    const struct result_row *totals = run_result_totals(&result);
    assert_int_equal(totals->count, SAMPLES);
    for (int i = 1; i < 6; i++) {
        int rank = (int)ceil(percentiles[i] / 100 * SAMPLES - 1e-6) - 1;
        double measured = (double)histogram_percentile(&totals->latency, percentiles[i]);
        assert_true(fabs(measured - (double)exact_us[rank]) <= (double)exact_us[rank] * 0.001 + 0.5);
    }
    assert_int_equal(totals->latency.min, exact_us[0]);
    assert_int_equal(totals->latency.max, exact_us[SAMPLES - 1]);
    double sum = 0;
    for (int i = 0; i < SAMPLES; i++)
        sum += (double)exact_us[i];
    assert_true(fabs(totals->accumulated_us - sum) < 1);
    assert_true(fabs(totals->operations_per_s - SAMPLES / 3.0) < 0.01);
    run_result_deinit(&result);
    recorder_deinit(&recorder);
    timeline_deinit(&timeline);
}

static void seconds_roll_also_over_silence(void **state)
{
    (void)state;
    struct timeline timeline;
    struct recorder recorder;
    timeline_init(&timeline, 1, 1, percentiles, 6, false);
    recorder_init(&recorder, 1, 0, &timeline);
    int64_t start = 5 * SECOND_NS;
    recorder_start(&recorder, start, 0);
    recorder_sent(&recorder, 0, 30);
    recorder_received(&recorder, 0, REPLY_HIT, 5, 1000);
    recorder_tick(&recorder, start + SECOND_NS - 1);
    assert_int_equal(recorder.second, 0);
    recorder_tick(&recorder, start + 4 * SECOND_NS + 1);
    assert_int_equal(recorder.second, 4);
    recorder_received(&recorder, 0, REPLY_MISS, 5, 1000);
    recorder_finish(&recorder);
    timeline_finish(&timeline, 5);
    assert_int_equal(timeline.closed, 5);
    assert_int_equal(timeline_cell(&timeline, 0, 0)->count, 1);
    assert_int_equal(timeline_cell(&timeline, 0, 0)->bytes_tx, 30);
    assert_int_equal(timeline_cell(&timeline, 2, 0)->count, 0);
    assert_int_equal(timeline_cell(&timeline, 4, 0)->count, 1);
    recorder_deinit(&recorder);
    timeline_deinit(&timeline);
}

static void a_run_by_time_has_no_second_past_its_end(void **state)
{
    (void)state;
    for (uint32_t seconds = 1; seconds <= 2; seconds++) {
        struct timeline timeline;
        struct recorder recorder;
        timeline_init(&timeline, 1, 1, percentiles, 6, false);
        recorder_init(&recorder, 1, 0, &timeline);
        recorder_start(&recorder, 0, seconds);
        for (int64_t at = 0; at < 4; at++) {
            recorder_tick(&recorder, at * SECOND_NS);
            recorder_received(&recorder, 0, REPLY_PLAIN, 5, 1000);
        }
        recorder_finish(&recorder);
        timeline_finish(&timeline, seconds);
        assert_int_equal(timeline.closed, seconds);
        assert_int_equal(timeline_cell(&timeline, seconds - 1, 0)->count, 5 - seconds);
        recorder_deinit(&recorder);
        timeline_deinit(&timeline);
    }
}

static void latencies_are_rounded_to_the_nearest_microsecond(void **state)
{
    (void)state;
    struct timeline timeline;
    struct recorder recorder;
    timeline_init(&timeline, 1, 1, percentiles, 6, false);
    recorder_init(&recorder, 1, 0, &timeline);
    recorder_start(&recorder, 0, 0);
    recorder_received(&recorder, 0, REPLY_PLAIN, 5, 1499);
    recorder_received(&recorder, 0, REPLY_PLAIN, 5, 1500);
    assert_int_equal(recorder.classes[0].second.min, 1);
    assert_int_equal(recorder.classes[0].second.max, 2);
    recorder_finish(&recorder);
    recorder_deinit(&recorder);
    timeline_deinit(&timeline);
}

static void result_of(struct run_result *result, int count, int64_t us, double duration_s)
{
    run_result_init(result);
    timeline_init(&result->timeline, 1, 1, percentiles, 6, true);
    struct result_row *row = run_result_row_add(result, "Sets", "SET", false, true);
    (void)run_result_row_add(result, "Totals", NULL, true, true);
    row->bytes_rx = 1024u * (unsigned)count;
    histogram_record_many(&row->latency, us, (uint64_t)count);
    result->duration_s = duration_s;
    result->start_ms = 1000;
    result->finish_ms = 1000 + (int64_t)(duration_s * 1000);
    run_result_complete(result);
}

static void best_worst_and_mean_of_runs_are_right(void **state)
{
    (void)state;
    struct run_result runs[3], mean;
    result_of(&runs[0], 100, 10, 1);
    result_of(&runs[1], 300, 20, 1);
    result_of(&runs[2], 50, 30, 1);
    const struct run_result *const list[] = {&runs[0], &runs[1], &runs[2]};
    unsigned best, worst;
    run_result_rank(list, 3, &best, &worst);
    assert_int_equal(best, 1);
    assert_int_equal(worst, 2);
    run_result_init(&mean);
    timeline_init(&mean.timeline, 1, 1, percentiles, 6, false);
    run_result_average(&mean, list, 3);
    const struct result_row *totals = run_result_totals(&mean);
    assert_int_equal(totals->count, 150);
    assert_true(fabs(totals->operations_per_s - 150) < 1e-6);
    assert_true(fabs(totals->rx_kb_per_s - 150) < 1e-6);
    assert_int_equal(totals->latency.total, 450);
    assert_int_equal(totals->latency.min, 10);
    assert_int_equal(totals->latency.max, 30);
    assert_true(fabs(mean.duration_s - 1) < 1e-9);
    run_result_deinit(&mean);
    timeline_deinit(&mean.timeline);
    for (int i = 0; i < 3; i++) {
        run_result_deinit(&runs[i]);
        timeline_deinit(&runs[i].timeline);
    }
}

static void errors_are_counted_by_their_first_word(void **state)
{
    (void)state;
    struct error_tally tally = {0}, sum = {0};
    assert_true(error_tally_clean(&tally));
    assert_true(error_tally_reply(&tally, "ERR unknown command"));
    assert_false(error_tally_reply(&tally, "ERR other"));
    assert_true(error_tally_reply(&tally, "LOADING"));
    assert_true(error_tally_reply(&tally, "\x1b[31m"));
    for (int i = 0; i < 100; i++) {
        char word[64];
        snprintf(word, sizeof(word), "WORD%0*d", i % 40 + 1, i);
        (void)error_tally_reply(&tally, word);
    }
    tally.connections[CONNECTION_RESET] = 2;
    assert_false(error_tally_clean(&tally));
    assert_int_equal(tally.reply_words, ERROR_WORDS_MAX);
    assert_int_equal(error_tally_replies(&tally), 104);
    assert_string_equal(tally.replies[0].word, "ERR");
    assert_int_equal(tally.replies[0].count, 2);
    assert_string_equal(tally.replies[2].word, "?");
    error_tally_add(&sum, &tally);
    error_tally_add(&sum, &tally);
    assert_int_equal(error_tally_replies(&sum), 208);
    assert_int_equal(error_tally_connections(&sum), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_agree_with_an_exact_sort),
        cmocka_unit_test(seconds_roll_also_over_silence),
        cmocka_unit_test(a_run_by_time_has_no_second_past_its_end),
        cmocka_unit_test(latencies_are_rounded_to_the_nearest_microsecond),
        cmocka_unit_test(best_worst_and_mean_of_runs_are_right),
        cmocka_unit_test(errors_are_counted_by_their_first_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
