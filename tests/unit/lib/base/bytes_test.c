#include "lib/base/bytes.h"

#include "lib/base/check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void order_is_that_of_memcmp_then_size(void **state)
{
    (void)state;
    assert_true(bytes_compare(BYTES("a"), BYTES("b")) < 0);
    assert_true(bytes_compare(BYTES("b"), BYTES("a")) > 0);
    assert_true(bytes_compare(BYTES("a"), BYTES("ab")) < 0);
    assert_true(bytes_compare(BYTES("\xff"), BYTES("a")) > 0);
    assert_int_equal(bytes_compare(BYTES("a\0b"), BYTES("a\0b")), 0);
    assert_int_equal(bytes_compare(bytes_make(NULL, 0), BYTES("")), 0);
}

static void case_is_folded_for_ascii_letters_only(void **state)
{
    (void)state;
    assert_true(bytes_equal_nocase(BYTES("GeT"), BYTES("gEt")));
    assert_false(bytes_equal_nocase(BYTES("get"), BYTES("gets")));
    assert_false(bytes_equal_nocase(BYTES("[@"), BYTES("{`")));
    assert_false(bytes_equal_nocase(BYTES("\xc4"), BYTES("\xe4")));
    assert_true(bytes_is(BYTES("EX"), "ex"));
    assert_true(bytes_equal(bytes_make(NULL, 0), BYTES("")));
}

static void globs_match_as_in_redis(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool matches, nocase;
    } cases[] = {
        {"*", "anything", true, false},
        {"a*c", "abbc", true, false},
        {"a*c", "abbcd", false, false},
        {"a**c*", "ac", true, false},
        {"h?llo", "hello", true, false},
        {"h?llo", "hllo", false, false},
        {"h[ae]llo", "hallo", true, false},
        {"h[ae]llo", "hillo", false, false},
        {"h[^e]llo", "hello", false, false},
        {"h[^e]llo", "hallo", true, false},
        {"h[a-c]llo", "hbllo", true, false},
        {"h[c-a]llo", "hbllo", true, false},
        {"h[a-c]llo", "hdllo", false, false},
        {"h\\*llo", "h*llo", true, false},
        {"h\\*llo", "hallo", false, false},
        {"a\\", "a\\", true, false},
        {"[\\]]", "]", true, false},
        {"[a-", "a", true, false},
        {"[abc", "c", true, false},
        {"[", "[", false, false},
        {"[^", "x", true, false},
        {"*[0-9]*end", "x1 the end", true, false},
        {"H*O", "hello", true, true},
        {"[A-C]x", "bX", true, true},
        {"[a-Z]", "b", false, true},
        {"[a-b\\C]", "C", true, true},
        {"[a-b\\C]", "c", false, true},
        {"", "", true, false},
        {"", "a", false, false},
        {"a", "", false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (bytes_glob(bytes_of(cases[i].pattern), bytes_of(cases[i].text), cases[i].nocase) != cases[i].matches)
            fail_msg("pattern \"%s\", text \"%s\"", cases[i].pattern, cases[i].text);
}

static void hostile_globs_take_no_exponential_time(void **state)
{
    (void)state;
    enum { STARS = 200, SIZE = 5000 };
    char *pattern = malloc(2 * STARS + 1), *text = malloc(SIZE);
    for (int i = 0; i < STARS; i++)
        memcpy(pattern + 2 * i, "*a", 2);
    pattern[2 * STARS] = 'b';
    memset(text, 'a', SIZE);
    assert_false(bytes_glob(bytes_make(pattern, 2 * STARS + 1), bytes_make(text, SIZE), false));
    free(pattern);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_that_of_memcmp_then_size),
        cmocka_unit_test(case_is_folded_for_ascii_letters_only),
        cmocka_unit_test(globs_match_as_in_redis),
        cmocka_unit_test(hostile_globs_take_no_exponential_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
