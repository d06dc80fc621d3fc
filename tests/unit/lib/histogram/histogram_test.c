#include "lib/histogram/histogram.h"

#include "lib/base/random.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define HOUR_US 3600000000

/* Twice 5, once 7, a million times 5000, up to an hour in microseconds, three digits: read alike by hdr-histogram-js.
 */
static const char golden[] = "HISTFAAAACl42pNpmSzMwMDAyQABzFCaEURcm7yEwf4DRICThYFps3FDZxUAgucHCA==";

static void the_shape_follows_range_and_digits(void **state)
{
    (void)state;
    struct histogram histogram;
    assert_int_equal(histogram_init(&histogram, HOUR_US, 3), 0);
    assert_int_equal(histogram.sub_bucket_count, 2048);
    assert_int_equal(histogram.bucket_count, 22);
    assert_int_equal(histogram.counts_size, 23 * 1024);
    histogram_deinit(&histogram);
    assert_int_equal(histogram_init(&histogram, 2, 1), 0);
    assert_int_equal(histogram.counts_size, 32);
    histogram_deinit(&histogram);
    assert_int_equal(histogram_init(&histogram, INT64_MAX, 2), 0);
    histogram_record(&histogram, INT64_MAX);
    assert_int_equal(histogram_percentile(&histogram, 50), INT64_MAX);
    histogram_deinit(&histogram);
    assert_int_equal(histogram_init(&histogram, 1, 3), -EINVAL);
    assert_int_equal(histogram_init(&histogram, 100, 0), -EINVAL);
    assert_int_equal(histogram_init(&histogram, 100, 6), -EINVAL);
}

static void values_share_buckets_within_the_digits(void **state)
{
    (void)state;
    struct histogram histogram;
    assert_int_equal(histogram_init(&histogram, HOUR_US, 3), 0);
    for (int64_t value = 0; value < HOUR_US; value += 1 + value / 997) {
        int64_t lowest = histogram_lowest_equivalent(&histogram, value);
        int64_t highest = histogram_highest_equivalent(&histogram, value);
        assert_true(lowest <= value && value <= highest);
        assert_true((highest - lowest) * 1000 <= value);
        if (value < 2048)
            assert_true(lowest == highest);
        /* Neighbours meet. */
        assert_int_equal(histogram_lowest_equivalent(&histogram, highest + 1), highest + 1);
        histogram_reset(&histogram);
        histogram_record(&histogram, value);
        struct histogram_iterator iterator = {0};
        assert_true(histogram_next(&histogram, &iterator));
        assert_int_equal(iterator.value, highest);
        assert_int_equal(iterator.cumulative, 1);
        assert_false(histogram_next(&histogram, &iterator));
    }
    histogram_deinit(&histogram);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void percentiles_are_those_of_the_sorted_values(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct histogram histogram;
    struct random random;
    random_seed(&random, 3);
    assert_int_equal(histogram_init(&histogram, HOUR_US, 3), 0);
    assert_int_equal(histogram_percentile(&histogram, 99), 0);
    int64_t *values = malloc(COUNT * sizeof(*values));
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        values[i] = (int64_t)random_below(&random, (uint64_t)1 << (1 + random_below(&random, 31)));
        sum += (double)values[i];
        histogram_record(&histogram, values[i]);
    }
    qsort(values, COUNT, sizeof(*values), by_value);
    for (int hundredths = 1; hundredths <= 10000; hundredths++) {
        size_t rank = ((size_t)hundredths * COUNT + 9999) / 10000; /* rounded up */
        int64_t exact = histogram_highest_equivalent(&histogram, values[rank - 1]);
        int64_t expected = exact < values[COUNT - 1] ? exact : values[COUNT - 1];
        assert_int_equal(histogram_percentile(&histogram, hundredths / 100.0), expected);
    }
    assert_int_equal(histogram.max, values[COUNT - 1]);
    assert_int_equal(histogram.min, values[0]);
    assert_true(fabs(histogram_mean(&histogram) - sum / COUNT) < 1e-6);
    free(values);
    histogram_deinit(&histogram);
}

static void a_value_over_the_highest_counts_as_the_highest(void **state)
{
    (void)state;
    struct histogram histogram;
    assert_int_equal(histogram_init(&histogram, 1000, 3), 0);
    histogram_record(&histogram, 5000);
    histogram_record(&histogram, -3);
    assert_int_equal(histogram.total, 2);
    assert_int_equal(histogram.saturated, 1);
    assert_int_equal(histogram.max, 1000);
    assert_int_equal(histogram.min, 0);
    histogram_deinit(&histogram);
}

static void mean_and_deviation_are_exact(void **state)
{
    (void)state;
    struct histogram histogram;
    assert_int_equal(histogram_init(&histogram, HOUR_US, 1), 0);
    assert_true(histogram_mean(&histogram) == 0 && histogram_stddev(&histogram) == 0);
    histogram_record_many(&histogram, 1000001, 2);
    histogram_record_many(&histogram, 1000003, 2);
    assert_true(histogram_mean(&histogram) == 1000002);
    assert_true(fabs(histogram_stddev(&histogram) - 1) < 1e-6);
    histogram_deinit(&histogram);
}

static void sums_are_as_if_recorded_together(void **state)
{
    (void)state;
    struct histogram a, b, other;
    assert_int_equal(histogram_init(&a, HOUR_US, 3), 0);
    assert_int_equal(histogram_init(&b, HOUR_US, 3), 0);
    assert_int_equal(histogram_init(&other, HOUR_US, 2), 0);
    histogram_record_many(&a, 10, 3);
    histogram_record_many(&b, 90000, 2);
    assert_int_equal(histogram_add(&a, &b), 0);
    assert_int_equal(a.total, 5);
    assert_int_equal(a.max, 90000);
    assert_int_equal(a.min, 10);
    assert_int_equal(histogram_percentile(&a, 60), 10);
    assert_int_equal(histogram_percentile(&a, 61), 90000);
    assert_int_equal(histogram_add(&a, &other), -EINVAL);
    histogram_deinit(&a);
    histogram_deinit(&b);
    histogram_deinit(&other);
}

static void percentile_points_come_closer_towards_the_end(void **state)
{
    (void)state;
    static const double expected[] = {0,    5,  10,   15, 20,   25, 30,   35, 40,    45,   50,    52.5, 55,
                                      57.5, 60, 62.5, 65, 67.5, 70, 72.5, 75, 76.25, 77.5, 78.75, 80};
    struct histogram histogram;
    assert_int_equal(histogram_init(&histogram, HOUR_US, 3), 0);
    struct histogram_percentile_iterator iterator = {0};
    assert_false(histogram_next_percentile(&histogram, 10, &iterator));
    for (int i = 1; i <= 1000; i++)
        histogram_record(&histogram, i);
    iterator = (struct histogram_percentile_iterator){0};
    int64_t before = 0;
    size_t count = 0;
    while (histogram_next_percentile(&histogram, 10, &iterator)) {
        if (count < COUNT_OF(expected)) {
            assert_true(iterator.percentile == expected[count]);
            assert_int_equal(iterator.value, count ? (int)(expected[count] * 10 + 0.5) : 1);
        }
        assert_true(iterator.value >= before);
        before = iterator.value;
        assert_true(++count < 200);
    }
    assert_true(iterator.percentile == 100);
    assert_int_equal(iterator.value, 1000);
    histogram_deinit(&histogram);
}

static void the_percentile_walk_ends_with_immense_counts(void **state)
{
    (void)state;
    struct histogram histogram;
    assert_int_equal(histogram_init(&histogram, HOUR_US, 3), 0);
    histogram_record_many(&histogram, 1, INT64_MAX - 2);
    histogram_record_many(&histogram, 2, 1);
    struct histogram_percentile_iterator iterator = {0};
    size_t count = 0;
    while (histogram_next_percentile(&histogram, 100, &iterator))
        assert_true(++count < 10000);
    histogram_deinit(&histogram);
}

static void what_is_encoded_decodes_the_same(void **state)
{
    (void)state;
    for (int digits = 1; digits <= 4; digits++) {
        struct histogram histogram, copy;
        struct random random;
        struct buf text;
        buf_init(&text, 1 << 24);
        random_seed(&random, (uint64_t)digits);
        assert_int_equal(histogram_init(&histogram, (int64_t)1 << (10 * digits), digits), 0);
        for (int i = 0; i < 3000; i++)
            histogram_record_many(&histogram, (int64_t)random_below(&random, (uint64_t)1 << random_below(&random, 40)),
                                  random_next(&random) >> (10 + random_below(&random, 54)));
        histogram_record_many(&histogram, 1, (uint64_t)1 << 55); /* a count of nine bytes */
        assert_int_equal(histogram_encode(&histogram, &text), 0);
        assert_memory_equal(text.data, "HISTFAAA", 8);
        assert_int_equal(histogram_decode(&copy, buf_bytes(&text)), 0);
        assert_int_equal(copy.counts_size, histogram.counts_size);
        assert_memory_equal(copy.counts, histogram.counts, histogram.counts_size * sizeof(*copy.counts));
        assert_int_equal(copy.total, histogram.total);
        assert_int_equal(copy.highest, histogram.highest);
        assert_int_equal(copy.max, histogram_highest_equivalent(&histogram, histogram.max));
        buf_deinit(&text);
        histogram_deinit(&copy);
        histogram_deinit(&histogram);
    }
}

static void other_tools_text_is_understood(void **state)
{
    (void)state;
    struct histogram histogram;
    assert_int_equal(histogram_decode(&histogram, bytes_of(golden)), 0);
    assert_int_equal(histogram.highest, HOUR_US);
    assert_int_equal(histogram.digits, 3);
    assert_int_equal(histogram.total, 1000003);
    struct histogram_iterator iterator = {0};
    static const int64_t expected[][2] = {{5, 2}, {7, 1}, {5003, 1000000}};
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_true(histogram_next(&histogram, &iterator));
        assert_int_equal(iterator.value, expected[i][0]);
        assert_int_equal(iterator.count, expected[i][1]);
    }
    assert_false(histogram_next(&histogram, &iterator));
    histogram_deinit(&histogram);
}

static void damaged_text_is_refused(void **state)
{
    (void)state;
    struct histogram histogram;
    struct bytes whole = bytes_of(golden);
    for (size_t size = 0; size < whole.size; size++)
        assert_int_equal(histogram_decode(&histogram, bytes_make(golden, size)), -EBADMSG);
    char damaged[sizeof(golden)];
    for (size_t i = 0; i < whole.size; i++) {
        memcpy(damaged, golden, sizeof(golden));
        damaged[i] = '*';
        assert_int_equal(histogram_decode(&histogram, bytes_of(damaged)), -EBADMSG);
        damaged[i] = golden[i] == 'B' ? 'C' : 'B';
        /* deflate's checksum covers the contents; a change that is harmless must not crash. */
        if (histogram_decode(&histogram, bytes_of(damaged)) == 0)
            histogram_deinit(&histogram);
    }
    assert_int_equal(histogram_decode(&histogram, BYTES("HISTFAAAAAAA")), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shape_follows_range_and_digits),
        cmocka_unit_test(values_share_buckets_within_the_digits),
        cmocka_unit_test(percentiles_are_those_of_the_sorted_values),
        cmocka_unit_test(a_value_over_the_highest_counts_as_the_highest),
        cmocka_unit_test(mean_and_deviation_are_exact),
        cmocka_unit_test(sums_are_as_if_recorded_together),
        cmocka_unit_test(percentile_points_come_closer_towards_the_end),
        cmocka_unit_test(the_percentile_walk_ends_with_immense_counts),
        cmocka_unit_test(what_is_encoded_decodes_the_same),
        cmocka_unit_test(other_tools_text_is_understood),
        cmocka_unit_test(damaged_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
