#include "bench/workload/zipf.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DRAWS 200000
#define NUMBERS_MAX 64

/* Pearson's statistic of draws from [low, high] against k^-exponent. */
static double chi_square(uint64_t low, uint64_t high, double exponent)
{
    struct zipf zipf;
    struct random random;
    unsigned counts[NUMBERS_MAX] = {0};
    double weight = 0, sum = 0;
    zipf_init(&zipf, low, high, exponent);
    random_seed(&random, 7);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t k = zipf_draw(&zipf, &random);
        assert_in_range(k, low, high);
        counts[k - low]++;
    }
    for (uint64_t k = low; k <= high; k++)
        weight += pow((double)k, -exponent);
    for (uint64_t k = low; k <= high; k++) {
        double expected = DRAWS * pow((double)k, -exponent) / weight;
        sum += (counts[k - low] - expected) * (counts[k - low] - expected) / expected;
    }
    return sum;
}

static void draws_follow_the_power_law_for_every_exponent(void **state)
{
    (void)state;
    static const double exponents[] = {0.001, 0.5, 0.99, 1, 1.0000001, 1.5, 2, 3, 4.9};
    /* 49 degrees of freedom: 85.35 is the 99.9th percentile. Of the steepest the tail is nearly empty. */
    for (size_t i = 0; i < sizeof(exponents) / sizeof(exponents[0]); i++)
        assert_true(chi_square(1, exponents[i] > 2 ? 8 : 50, exponents[i]) < 86);
}

static void a_range_need_not_begin_at_one(void **state)
{
    (void)state;
    assert_true(chi_square(1000, 1049, 1) < 86);
    assert_true(chi_square(5, 54, 1.7) < 86);
}

static void one_number_is_always_that_number(void **state)
{
    (void)state;
    struct zipf zipf;
    struct random random;
    random_seed(&random, 1);
    zipf_init(&zipf, 42, 42, 1.2);
    for (int i = 0; i < 100; i++)
        assert_int_equal(zipf_draw(&zipf, &random), 42);
}

static void huge_ranges_stay_inside(void **state)
{
    (void)state;
    struct zipf zipf;
    struct random random;
    random_seed(&random, 1);
    uint64_t low = 1ull << 40, high = INT64_MAX;
    static const double exponents[] = {0.01, 1, 4.99};
    for (int e = 0; e < 3; e++) {
        zipf_init(&zipf, low, high, exponents[e]);
        for (int i = 0; i < 10000; i++)
            assert_in_range(zipf_draw(&zipf, &random), low, high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_follow_the_power_law_for_every_exponent),
        cmocka_unit_test(a_range_need_not_begin_at_one),
        cmocka_unit_test(one_number_is_always_that_number),
        cmocka_unit_test(huge_ranges_stay_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
