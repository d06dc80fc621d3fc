#include "lib/base/number.h"

#include "lib/base/random.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void integers_are_read_in_canonical_form_only(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0}, {"7", 7}, {"-1", -1}, {"9223372036854775807", INT64_MAX}, {"-9223372036854775808", INT64_MIN}};
    static const char *bad[] = {"",
                                "-",
                                "+1",
                                "01",
                                "-0",
                                "-01",
                                " 1",
                                "1 ",
                                "1.0",
                                "0x1",
                                "9223372036854775808",
                                "-9223372036854775809",
                                "99999999999999999999",
                                "184467440737095516160"};
    int64_t value;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_true(number_parse_i64(bytes_of(good[i].text), &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (number_parse_i64(bytes_of(bad[i]), &value))
            fail_msg("\"%s\" was taken", bad[i]);
    uint64_t big;
    assert_true(number_parse_u64(BYTES("18446744073709551615"), &big) && big == UINT64_MAX);
    assert_false(number_parse_u64(BYTES("18446744073709551616"), &big));
    assert_false(number_parse_u64(BYTES("-1"), &big));
    assert_false(number_parse_i64(BYTES("1\0"), &value));
}

static void integers_print_as_printf_does(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 1);
    for (int i = 0; i < 20000; i++) {
        int64_t value = (int64_t)(random_next(&random) >> random_below(&random, 64));
        if (i & 1)
            value = (int64_t)(0 - (uint64_t)value);
        char ours[24], theirs[24];
        ours[number_format_i64(ours, value)] = '\0';
        snprintf(theirs, sizeof(theirs), "%" PRId64, value);
        assert_string_equal(ours, theirs);
        ours[number_format_u64(ours, (uint64_t)value)] = '\0';
        snprintf(theirs, sizeof(theirs), "%" PRIu64, (uint64_t)value);
        assert_string_equal(ours, theirs);
        int64_t back;
        ours[number_format_i64(ours, value)] = '\0';
        assert_true(number_parse_i64(bytes_of(ours), &back) && back == value);
    }
}

static void doubles_are_read_as_redis_reads_them(void **state)
{
    (void)state;
    static const char *good[] = {"0",    "01",       "+1", "1e5", "0x10", "inf",
                                 "-inf", "Infinity", ".5", "5.",  "-0",   "4.9e-324"};
    static const char *bad[] = {"", " 1", "1 ", "nan", "1e", "1e400", "1e-400", "1_0", "abc", "0b1", "\t1"};
    double value;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        if (!number_parse_double(bytes_of(good[i]), &value) || value != strtod(good[i], NULL))
            fail_msg("\"%s\" was not taken", good[i]);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (number_parse_double(bytes_of(bad[i]), &value))
            fail_msg("\"%s\" was taken", bad[i]);
    assert_false(number_parse_double(BYTES("1\0"
                                           "2"),
                                     &value));
    char large[400];
    memset(large, '1', sizeof(large));
    assert_false(number_parse_double(bytes_make(large, sizeof(large)), &value));
}

static void doubles_print_with_seventeen_digits_and_read_back(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {10, "10"},
                 {-3, "-3"},
                 {0.1, "0.10000000000000001"},
                 {1e22, "1e+22"},
                 {1.5, "1.5"},
                 {9007199254740993.0, "9007199254740992"},
                 {1e17, "1e+17"},
                 {-0.0, "-0"},
                 {HUGE_VAL, "inf"},
                 {-HUGE_VAL, "-inf"},
                 {(double)NAN, "nan"}};
    char text[40];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(number_format_double(text, cases[i].value), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
    struct random random;
    random_seed(&random, 5);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = random_next(&random);
        double value, back;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value) || fpclassify(value) == FP_SUBNORMAL)
            continue;
        char theirs[40];
        number_format_double(text, value);
        snprintf(theirs, sizeof(theirs), "%.17g", value);
        assert_string_equal(text, theirs);
        assert_true(number_parse_double(bytes_of(text), &back) && back == value);
    }
}

static void long_doubles_print_without_trailing_zeros(void **state)
{
    (void)state;
    static const struct {
        const char *text, *printed;
    } cases[] = {{"3.0e3", "3000"}, {"10.50", "10.5"}, {"-0", "0"},    {"0.1", "0.1"},
                 {"-5", "-5"},      {"100", "100"},    {"1e-20", "0"}, {"123456789012345678", "123456789012345678"}};
    static char text[NUMBER_DOUBLE_TEXT];
    long double value;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_true(number_parse_long_double(bytes_of(cases[i].text), &value));
        assert_int_equal(number_format_long_double(text, value), strlen(cases[i].printed));
        assert_string_equal(text, cases[i].printed);
    }
    assert_true(number_parse_long_double(BYTES("1e4900"), &value));
    assert_in_range(number_format_long_double(text, value), 4901, NUMBER_DOUBLE_TEXT - 1);
    assert_false(number_parse_long_double(BYTES("1e5000"), &value));
}

static void sizes_of_memory_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},        {"100", 100},     {"007", 7},         {"1k", 1000},        {"1Kb", 1024},
                {"2m", 2000000}, {"2MB", 2 << 20}, {"1g", 1000000000}, {"3gb", 3ull << 30}, {"5b", 5}};
    static const char *bad[] = {"", "k", "-1", "1kk", "1 k", "1t", "1.5k", "18446744073709551616", "99999999999999gb"};
    uint64_t value;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_true(number_parse_memory(bytes_of(good[i].text), &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (number_parse_memory(bytes_of(bad[i]), &value))
            fail_msg("\"%s\" was taken", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_read_in_canonical_form_only),
        cmocka_unit_test(integers_print_as_printf_does),
        cmocka_unit_test(doubles_are_read_as_redis_reads_them),
        cmocka_unit_test(doubles_print_with_seventeen_digits_and_read_back),
        cmocka_unit_test(long_doubles_print_without_trailing_zeros),
        cmocka_unit_test(sizes_of_memory_have_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
