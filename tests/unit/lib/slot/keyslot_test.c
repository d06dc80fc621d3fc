#include "lib/slot/keyslot.h"

#include "lib/base/check.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void slots_are_those_that_redis_answers(void **state)
{
    (void)state;
    /* From CLUSTER KEYSLOT. */
    static const struct {
        const char *key;
        uint32_t slot;
    } cases[] = {
        {"", 0},
        {"foo", 12182},
        {"123456789", 12739},
        {"{user1000}.following", 3443},
        {"{user1000}.followers", 3443},
        {"foo{}{bar}", 8363},
        {"foo{{bar}}zap", 4015},
        {"foo{bar}{zap}", 5061},
        {"foo{bar", 15278},
        {"memtier-10000000", 6992},
        {"a key with a very long name, longer than eight bytes {and} a tag", 10332},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(keyslot_of(bytes_of(cases[i].key)), cases[i].slot);
}

static void only_a_closed_tag_that_is_not_empty_counts(void **state)
{
    (void)state;
    static const char *cases[][2] = {
        {"{user1000}.following", "user1000"},
        {"foo{}{bar}", "foo{}{bar}"},
        {"foo{{bar}}zap", "{bar"},
        {"foo{bar}{zap}", "bar"},
        {"foo{bar", "foo{bar"},
        {"foo}bar{", "foo}bar{"},
        {"a}b{c}d", "c"},
        {"", ""},
        {"{}", "{}"},
        {"{a}", "a"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes tag = keyslot_hash_tag(bytes_of(cases[i][0]));
        assert_true(bytes_equal(tag, bytes_of(cases[i][1])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_those_that_redis_answers),
        cmocka_unit_test(only_a_closed_tag_that_is_not_empty_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
