#include "lib/base/random.h"

#include "lib/base/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

static void one_seed_gives_one_stream(void **state)
{
    (void)state;
    struct random a, b, c;
    random_seed(&a, 42);
    random_seed(&b, 42);
    random_seed(&c, 43);
    bool differs = false;
    for (int i = 0; i < 100; i++) {
        uint64_t next = random_next(&a);
        assert_true(next == random_next(&b));
        differs |= next != random_next(&c);
    }
    assert_true(differs);
}

static void the_generator_is_xoshiro256_starstar(void **state)
{
    (void)state;
    /* From state 1, 2, 3, 4 by hand: the first is rotl(2 * 5, 7) * 9; the second starts from s[1] = 0. */
    struct random random = {{1, 2, 3, 4}};
    assert_true(random_next(&random) == 11520);
    assert_true(random_next(&random) == 0);
}

static void draws_below_a_limit_are_even(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 1);
    unsigned seen[10] = {0};
    for (int i = 0; i < 100000; i++) {
        uint64_t drawn = random_below(&random, 10);
        assert_in_range(drawn, 0, 9);
        seen[drawn]++;
    }
    for (size_t i = 0; i < COUNT_OF(seen); i++)
        assert_in_range(seen[i], 9500, 10500);
    assert_int_equal(random_below(&random, 1), 0);
}

static void units_stay_below_one(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 9);
    double sum = 0;
    for (int i = 0; i < 100000; i++) {
        double unit = random_unit(&random);
        assert_true(unit >= 0 && unit < 1);
        sum += unit;
    }
    assert_true(sum > 49000 && sum < 51000);
    struct random all = {{0, UINT64_MAX, 0, 0}};
    assert_true(random_unit(&all) < 1);
}

static void secrets_differ(void **state)
{
    (void)state;
    uint8_t a[300] = {0}, b[300] = {0};
    random_secret(a, sizeof(a));
    random_secret(b, sizeof(b));
    assert_memory_not_equal(a, b, sizeof(a));
    assert_memory_not_equal(a + 250, b + 250, 50);
    char hex[41];
    random_hex(hex, 40);
    assert_int_equal(strlen(hex), 40);
    assert_int_equal(strspn(hex, "0123456789abcdef"), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_seed_gives_one_stream),
        cmocka_unit_test(the_generator_is_xoshiro256_starstar),
        cmocka_unit_test(draws_below_a_limit_are_even),
        cmocka_unit_test(units_stay_below_one),
        cmocka_unit_test(secrets_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
