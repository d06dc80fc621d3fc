#include "lib/ds/intset.h"

#include "lib/base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void add_all(struct intset *set, const int64_t *members, size_t count)
{
    bool added;
    assert_true(intset_init(set));
    for (size_t i = 0; i < count; i++)
        assert_true(intset_add(set, members[i], &added) && added);
}

static void the_bytes_are_those_that_redis_dumps(void **state)
{
    (void)state;
    static const int64_t four[] = {1, 2, -70000, 5}, two[] = {3, -(1ll << 40)};
    struct intset set;
    add_all(&set, four, 4);
    struct bytes all = intset_bytes(&set);
    assert_int_equal(all.size, 24);
    assert_memory_equal(all.at, "\4\0\0\0\4\0\0\0\x90\xee\xfe\xff\1\0\0\0\2\0\0\0\5\0\0\0", 24);
    intset_deinit(&set);
    add_all(&set, two, 2);
    all = intset_bytes(&set);
    assert_int_equal(all.size, 24);
    assert_memory_equal(all.at, "\x8\0\0\0\2\0\0\0\0\0\0\0\0\xff\xff\xff\3\0\0\0\0\0\0\0", 24);
    intset_deinit(&set);
}

static void a_random_history_agrees_with_a_model(void **state)
{
    (void)state;
    enum { COUNT = 600 };
    int64_t all[COUNT];
    bool added;
    struct random random;
    random_seed(&random, 31);
    static const unsigned widest[] = {49, 33, 1};
    for (size_t k = 0; k < COUNT_OF(widest); k++) {
        struct intset set;
        assert_true(intset_init(&set));
        for (int i = 0; i < COUNT; i++) {
            all[i] = (int64_t)random_next(&random) >> (widest[k] + random_below(&random, 64 - widest[k]));
        }
        uint32_t count = 0;
        for (int i = 0; i < 20000; i++) {
            int at = (int)random_below(&random, COUNT);
            bool was = intset_contains(&set, all[at]);
            if (random_below(&random, 2)) {
                assert_true(intset_add(&set, all[at], &added) && added == !was);
                count += added;
            } else {
                assert_int_equal(intset_remove(&set, all[at]), was);
                count -= was;
            }
            assert_int_equal(intset_length(&set), count);
            assert_int_equal(intset_valid(intset_bytes(&set), true), count > 0);
            if (count) {
                int64_t one = intset_random(&set, &random);
                assert_true(intset_contains(&set, one) && intset_min(&set) <= one && one <= intset_max(&set));
            }
        }
        intset_deinit(&set);
    }
}

static void every_width_holds_its_limits(void **state)
{
    (void)state;
    static const int64_t members[] = {INT16_MAX,       INT16_MIN, INT16_MAX + 1, INT32_MIN, INT32_MAX,
                                      INT32_MAX + 1ll, INT64_MIN, INT64_MAX,     0};
    struct intset set;
    add_all(&set, members, COUNT_OF(members));
    bool added = true;
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        assert_true(intset_contains(&set, members[i]));
        assert_true(intset_add(&set, members[i], &added));
        assert_false(added);
    }
    assert_true(intset_min(&set) == INT64_MIN && intset_max(&set) == INT64_MAX);
    for (uint32_t i = 1; i < intset_length(&set); i++)
        assert_true(intset_get(&set, i - 1) < intset_get(&set, i));
    intset_deinit(&set);
}

static void broken_bytes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {
        {"", 0},
        {"\2\0\0\0\0\0\0\0", 8},          /* no members */
        {"\3\0\0\0\1\0\0\0\1\0\0", 11},   /* no such width */
        {"\2\0\0\0\2\0\0\0\1\0", 10},     /* cut */
        {"\2\0\0\0\1\0\0\0\1\0\0", 11},   /* more than said */
        {"\2\0\0\0\2\0\0\0\2\0\1\0", 12}, /* descending */
        {"\2\0\0\0\2\0\0\0\1\0\1\0", 12}, /* twice */
        {"\x8\0\0\0\0\0\0\x20", 8},       /* a length whose bytes overflow */
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (intset_valid(bytes_make(bad[i].bytes, bad[i].size), true))
            fail_msg("case %zu was taken", i);
    assert_true(intset_valid(bytes_make("\2\0\0\0\2\0\0\0\2\0\1\0", 12), false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_those_that_redis_dumps),
        cmocka_unit_test(a_random_history_agrees_with_a_model),
        cmocka_unit_test(every_width_holds_its_limits),
        cmocka_unit_test(broken_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
