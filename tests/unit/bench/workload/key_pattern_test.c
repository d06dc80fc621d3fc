#include "bench/workload/key_pattern.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void shares_cover_the_space_exactly(void **state)
{
    (void)state;
    for (uint64_t min = 0; min <= 3; min++) {
        for (uint64_t keys = 1; keys <= 40; keys++) {
            for (uint64_t clients = 1; clients <= 45; clients++) {
                struct key_space space;
                key_space_init(&space, min, min + keys - 1, 0, 0, 0);
                uint64_t next = min, total = 0, least = UINT64_MAX, most = 0;
                for (uint64_t client = 0; client < clients; client++) {
                    uint64_t low, high, count = key_space_share(&space, client, clients, &low, &high);
                    assert_in_range(low, min, min + keys - 1);
                    assert_in_range(high, low, min + keys - 1);
                    total += count;
                    least = count < least ? count : least;
                    most = count > most ? count : most;
                    if (count == 0)
                        continue;
                    assert_int_equal(low, next);
                    assert_int_equal(high - low + 1, count);
                    next = high + 1;
                }
                assert_int_equal(total, keys);
                assert_true(most - least <= 1);
            }
        }
    }
}

static void shares_of_the_greatest_space_do_not_overflow(void **state)
{
    (void)state;
    struct key_space space = {.min = 0, .max = UINT64_MAX};
    uint64_t low, high, next = 0;
    for (uint64_t client = 0; client < 7; client++) {
        (void)key_space_share(&space, client, 7, &low, &high);
        assert_true(low == next && high > low);
        next = high + 1;
    }
    assert_true(next == 0);
}

static void a_client_index_past_the_last_begins_again(void **state)
{
    (void)state;
    struct key_space space;
    key_space_init(&space, 1, 100, 0, 0, 0);
    uint64_t low, high, again_low, again_high;
    (void)key_space_share(&space, 2, 6, &low, &high);
    (void)key_space_share(&space, 8, 6, &again_low, &again_high);
    assert_true(low == again_low && high == again_high);
}

static void sequences_walk_and_wrap(void **state)
{
    (void)state;
    struct key_space space;
    struct key_cursor cursor;
    struct random random;
    random_seed(&random, 1);
    key_space_init(&space, 5, 8, 0, 0, 0);
    key_cursor_init(&cursor, &space, 'S', 3, 10);
    for (uint64_t i = 0; i < 20; i++)
        assert_int_equal(key_draw(&space, 'S', &cursor, &random), 5 + i % 4);
    key_cursor_init(&cursor, &space, 'P', 1, 2);
    for (uint64_t i = 0; i < 20; i++)
        assert_int_equal(key_draw(&space, 'P', &cursor, &random), 7 + i % 2);
}

#define DRAWS 100000

static void uniform_draws_are_flat(void **state)
{
    (void)state;
    struct key_space space;
    struct key_cursor cursor;
    struct random random;
    unsigned counts[50] = {0};
    double sum = 0, expected = DRAWS / 50.0;
    random_seed(&random, 3);
    key_space_init(&space, 100, 149, 0, 0, 0);
    key_cursor_init(&cursor, &space, 'R', 0, 1);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t key = key_draw(&space, 'R', &cursor, &random);
        assert_in_range(key, 100, 149);
        counts[key - 100]++;
    }
    for (int i = 0; i < 50; i++)
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    assert_true(sum < 86); /* the 99.9th percentile of 49 degrees of freedom */
}

static void gaussian_draws_have_median_and_deviation(void **state)
{
    (void)state;
    struct key_space space;
    struct key_cursor cursor;
    struct random random;
    random_seed(&random, 3);
    key_space_init(&space, 0, 100000, 40000, 5000, 0);
    key_cursor_init(&cursor, &space, 'G', 0, 1);
    double sum = 0, squares = 0;
    unsigned below = 0;
    for (int i = 0; i < DRAWS; i++) {
        double key = (double)key_draw(&space, 'G', &cursor, &random);
        assert_true(key >= 0 && key <= 100000);
        sum += key;
        squares += key * key;
        below += key < 40000;
    }
    double mean = sum / DRAWS;
    assert_true(fabs(mean - 40000) < 100);
    assert_true(fabs(sqrt(squares / DRAWS - mean * mean) - 5000) < 100);
    assert_true(below > DRAWS * 0.49 && below < DRAWS * 0.51);
}

static void gaussian_defaults_are_the_middle_and_a_sixth(void **state)
{
    (void)state;
    struct key_space space;
    key_space_init(&space, 10, 70, 0, 0, 0);
    assert_true(fabs(space.median - 40.5) < 1e-9);
    assert_true(fabs(space.stddev - 10) < 1e-9);
}

static void gaussian_draws_never_leave_a_small_or_odd_space(void **state)
{
    (void)state;
    static const double deviations[] = {0, 0.001, 1, 1e18};
    struct random random;
    random_seed(&random, 3);
    for (uint64_t keys = 1; keys <= 3; keys++) {
        for (int d = 0; d < 4; d++) {
            struct key_space space;
            struct key_cursor cursor;
            key_space_init(&space, 7, 7 + keys - 1, 7, deviations[d], 0);
            key_cursor_init(&cursor, &space, 'G', 0, 1);
            for (int i = 0; i < 200; i++)
                assert_in_range(key_draw(&space, 'G', &cursor, &random), 7, 7 + keys - 1);
        }
    }
}

static void zipf_prefers_the_lowest_and_leaves_out_zero(void **state)
{
    (void)state;
    struct key_space space;
    struct key_cursor cursor;
    struct random random;
    unsigned counts[101] = {0};
    random_seed(&random, 3);
    key_space_init(&space, 0, 100, 0, 0, 1.2);
    key_cursor_init(&cursor, &space, 'Z', 0, 1);
    for (int i = 0; i < DRAWS; i++)
        counts[key_draw(&space, 'Z', &cursor, &random)]++;
    assert_int_equal(counts[0], 0);
    assert_true(counts[1] > counts[2] && counts[2] > counts[4] && counts[4] > counts[20]);
}

static void every_letter_copes_with_one_key(void **state)
{
    (void)state;
    for (uint64_t only = 0; only < 2; only++) {
        for (const char *letter = "RSPGZ"; *letter; letter++) {
            struct key_space space;
            struct key_cursor cursor;
            struct random random;
            random_seed(&random, 3);
            key_space_init(&space, only, only, 0, 0, 0);
            key_cursor_init(&cursor, &space, *letter, 4, 9);
            for (int i = 0; i < 20; i++)
                assert_int_equal(key_draw(&space, *letter, &cursor, &random), only);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_cover_the_space_exactly),
        cmocka_unit_test(shares_of_the_greatest_space_do_not_overflow),
        cmocka_unit_test(a_client_index_past_the_last_begins_again),
        cmocka_unit_test(sequences_walk_and_wrap),
        cmocka_unit_test(uniform_draws_are_flat),
        cmocka_unit_test(gaussian_draws_have_median_and_deviation),
        cmocka_unit_test(gaussian_defaults_are_the_middle_and_a_sixth),
        cmocka_unit_test(gaussian_draws_never_leave_a_small_or_odd_space),
        cmocka_unit_test(zipf_prefers_the_lowest_and_leaves_out_zero),
        cmocka_unit_test(every_letter_copes_with_one_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
