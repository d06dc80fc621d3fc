#include "lib/resp/request.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Joins the arguments with | between them; the storage has the line's exact size. */
static void expect(struct bytes line, const char *joined)
{
    uint8_t *storage = malloc(line.size + !line.size);
    struct bytes argv[8];
    char text[256] = "";
    size_t size = 0;
    int count = resp_split_line(line, storage, argv, COUNT_OF(argv));
    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        memcpy(text + size, argv[i].at, argv[i].size);
        size += argv[i].size;
        text[size++] = '|';
    }
    text[size] = '\0';
    assert_string_equal(text, joined);
    free(storage);
}

static void blanks_separate_arguments(void **state)
{
    (void)state;
    expect(BYTES(""), "");
    expect(BYTES(" \t\r\n"), "");
    expect(BYTES("  save 900\t1 \r\n"), "save|900|1|");
    expect(BYTES("a\vb \v c"), "a\vb|c|");
}

static void double_quotes_know_escapes(void **state)
{
    (void)state;
    expect(BYTES("\"a b\" \"\\x41\\x4g\\n\\q\\\\\\\"\""), "a b|Ax4g\nq\\\"|");
    expect(BYTES("x\"y z\" \"\""), "xy z||");
}

static void single_quotes_know_only_their_own(void **state)
{
    (void)state;
    expect(BYTES("'a\\'b' '\\n' 'c\"d'"), "a'b|\\n|c\"d|");
}

static void backslashes_outside_quotes_are_ordinary(void **state)
{
    (void)state;
    expect(BYTES("a\\x41 \\"), "a\\x41|\\|");
}

static void a_line_ends_at_a_zero_byte(void **state)
{
    (void)state;
    expect(BYTES("a b\0c d"), "a|b|");
}

static void unbalanced_quotes_are_refused(void **state)
{
    (void)state;
    static const char *lines[] = {"\"", "'", "\"a", "'a", "\"a\\\"", "'a\\'", "\"a\"b", "'a'b", "\"\\", "\"a\"\"b\""};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        uint8_t storage[16];
        struct bytes argv[4];
        assert_int_equal(resp_split_line(bytes_of(lines[i]), storage, argv, 4), -EINVAL);
    }
}

static void too_many_arguments_are_refused(void **state)
{
    (void)state;
    uint8_t storage[16];
    struct bytes argv[2];
    assert_int_equal(resp_split_line(BYTES("a b"), storage, argv, 2), 2);
    assert_int_equal(resp_split_line(BYTES("a b c"), storage, argv, 2), -E2BIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_separate_arguments),         cmocka_unit_test(double_quotes_know_escapes),
        cmocka_unit_test(single_quotes_know_only_their_own), cmocka_unit_test(backslashes_outside_quotes_are_ordinary),
        cmocka_unit_test(a_line_ends_at_a_zero_byte),        cmocka_unit_test(unbalanced_quotes_are_refused),
        cmocka_unit_test(too_many_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
