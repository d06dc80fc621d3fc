#include "lib/resp/reply.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Parses one reply that arrives cut at `cut` (after the size: byte by byte), each input in memory of its exact size.
 * Returns the bytes it took. */
static size_t parse_cut(struct resp_reply *reply, struct bytes input, size_t cut, enum resp_status *status)
{
    size_t from = 0, until = cut > input.size ? 0 : cut;
    for (;;) {
        uint8_t *copy = malloc(until - from + !(until - from));
        memcpy(copy, input.at + from, until - from);
        *status = resp_reply_parse(reply, bytes_make(copy, until - from));
        free(copy);
        assert_in_range(reply->consumed, 0, until - from);
        from += reply->consumed;
        if (*status != RESP_MORE || until == input.size)
            return from;
        until = cut > input.size ? until + 1 : input.size;
    }
}

/* The reply ends at `input`'s end, behind which lies `behind` more. */
static void expect(struct bytes input, enum resp_type type, int64_t number, const char *text)
{
    struct resp_reply reply = {0};
    enum resp_status status;
    char *followed = malloc(input.size + 5);
    memcpy(followed, input.at, input.size);
    memcpy(followed + input.size, "+next", 5);
    for (size_t cut = 0; cut <= input.size + 6; cut++) {
        resp_reply_reset(&reply);
        assert_int_equal(parse_cut(&reply, bytes_make(followed, input.size + 5), cut, &status), input.size);
        assert_int_equal(status, RESP_OK);
        assert_int_equal(reply.type, type);
        assert_int_equal(reply.number, number);
    }
    free(followed);
    resp_reply_reset(&reply);
    assert_int_equal(resp_reply_parse(&reply, input), RESP_OK);
    assert_true(text ? bytes_is(reply.text, text) : reply.text.at == NULL);
    for (size_t size = 0; size < input.size; size++) {
        resp_reply_reset(&reply);
        assert_int_equal(resp_reply_parse(&reply, bytes_make(input.at, size)), RESP_MORE);
    }
}

#define EXPECT(literal, type, number, text) expect(BYTES(literal), type, number, text)

static void simple_replies_are_told_apart(void **state)
{
    (void)state;
    EXPECT("+OK\r\n", RESP_SIMPLE, 0, "OK");
    EXPECT("+QUEUED\r\n", RESP_SIMPLE, 0, "QUEUED");
    EXPECT("+\r\n", RESP_SIMPLE, 0, "");
    EXPECT("+a\r\n", RESP_SIMPLE, 0, "a");
    EXPECT(":0\r\n", RESP_INTEGER, 0, "0");
    EXPECT(":-1234567890123456789\r\n", RESP_INTEGER, -1234567890123456789, "-1234567890123456789");
    EXPECT(":9223372036854775807\r\n", RESP_INTEGER, INT64_MAX, "9223372036854775807");
    EXPECT(":-9223372036854775808\r\n", RESP_INTEGER, INT64_MIN, "-9223372036854775808");
    EXPECT("$0\r\n\r\n", RESP_BULK, 0, "");
    EXPECT("$5\r\na\r\nbc\r\n", RESP_BULK, 5, "a\r\nbc");
    EXPECT("$-1\r\n", RESP_NULL, -1, NULL);
    EXPECT("*-1\r\n", RESP_NULL, -1, NULL);
    EXPECT("_\r\n", RESP_NULL, 0, NULL);
    EXPECT("#t\r\n", RESP_BOOLEAN, 1, NULL);
    EXPECT("#f\r\n", RESP_BOOLEAN, 0, NULL);
    EXPECT(",1.5\r\n", RESP_DOUBLE, 0, "1.5");
    EXPECT("(123456789012345678901234567890\r\n", RESP_BIGNUMBER, 0, "123456789012345678901234567890");
    EXPECT("=7\r\ntxt:abc\r\n", RESP_BULK, 3, "abc");
}

static void aggregates_end_where_their_last_element_ends(void **state)
{
    (void)state;
    EXPECT("*0\r\n", RESP_ARRAY, 0, NULL);
    EXPECT("*2\r\n$1\r\na\r\n$-1\r\n", RESP_ARRAY, 2, NULL);
    EXPECT("*3\r\n*0\r\n*2\r\n:1\r\n*1\r\n+x\r\n%1\r\n+k\r\n~1\r\n#t\r\n", RESP_ARRAY, 3, NULL);
    EXPECT("%2\r\n+a\r\n:1\r\n+b\r\n*0\r\n", RESP_MAP, 4, NULL);
    EXPECT("~1\r\n_\r\n", RESP_SET, 1, NULL);
    EXPECT(">2\r\n+message\r\n=5\r\ntxt:a\r\n", RESP_PUSH, 2, NULL);
}

static void attributes_are_stepped_over(void **state)
{
    (void)state;
    EXPECT("|1\r\n+ttl\r\n:5\r\n$1\r\na\r\n", RESP_BULK, 1, "a");
    EXPECT("|0\r\n:7\r\n", RESP_INTEGER, 7, "7");
    EXPECT("*2\r\n|1\r\n+k\r\n|1\r\n+x\r\n+y\r\n*1\r\n:1\r\n:1\r\n:2\r\n", RESP_ARRAY, 2, NULL);
}

static void streamed_elements_end_at_their_marks(void **state)
{
    (void)state;
    EXPECT("$?\r\n;4\r\nHell\r\n;1\r\no\r\n;0\r\n", RESP_BULK, 5, NULL);
    EXPECT("*?\r\n:1\r\n*?\r\n.\r\n:2\r\n.\r\n", RESP_ARRAY, 3, NULL);
    EXPECT("%?\r\n+a\r\n$?\r\n;0\r\n.\r\n", RESP_MAP, 2, NULL);
}

static void error_lines_are_kept_whatever_the_pieces(void **state)
{
    (void)state;
    static const struct bytes inputs[] = {
        {(const uint8_t *)"-WRONGTYPE Operation\r\n", 22},
        {(const uint8_t *)"!19\r\nWRONGTYPE Operation\r\n", 26},
    };
    for (size_t i = 0; i < COUNT_OF(inputs); i++)
        for (size_t cut = 0; cut <= inputs[i].size; cut++) {
            struct resp_reply reply = {0};
            enum resp_status status;
            assert_int_equal(parse_cut(&reply, inputs[i], cut, &status), inputs[i].size);
            assert_int_equal(reply.type, RESP_ERROR);
            assert_string_equal(reply.line, "WRONGTYPE Operation");
        }
    char large[2000];
    memset(large, 'e', sizeof(large));
    large[0] = '-';
    memcpy(large + 1998, "\r\n", 2);
    struct resp_reply reply = {0};
    assert_int_equal(resp_reply_parse(&reply, bytes_make(large, 2000)), RESP_OK);
    assert_int_equal(strlen(reply.line), sizeof(reply.line) - 1);
    assert_int_equal(reply.text.size, 1997);
}

static void what_is_no_reply_is_refused(void **state)
{
    (void)state;
    static const char *inputs[] = {
        "x\r\n",
        "\r\n",
        "$\r\n",
        "$-2\r\n",
        "$1x\r\n",
        "$a\r\n",
        ":\r\n",
        ":-\r\n",
        ":1.5\r\n",
        ":9223372036854775808\r\n",
        ":-9223372036854775809\r\n",
        "$18446744073709551616\r\n",
        "$1099511627777\r\n",
        "*1099511627777\r\n",
        "*-2\r\n",
        "%-1\r\n",
        "~-1\r\n",
        "|-1\r\n",
        "$1\r\nabc",
        "$1\r\na\rx",
        "+a\rb",
        "#x\r\n",
        "#tt",
        "_x",
        ".\r\n",
        "*1\r\n.\r\n",
        ";1\r\n",
        "*?\r\n;1\r\n",
        "$?\r\n+a\r\n",
        "|?\r\n",
        "=?\r\n",
        "=3\r\nabc\r\n",
        ":1\rx",
        "!-1\r\n",
        ":0000000000000000000000000000000000000000001\r\n",
    };
    for (size_t i = 0; i < COUNT_OF(inputs); i++)
        for (size_t cut = 0; cut <= strlen(inputs[i]); cut++) {
            struct resp_reply reply = {0};
            enum resp_status status;
            parse_cut(&reply, bytes_of(inputs[i]), cut, &status);
            if (status != RESP_BAD)
                fail_msg("\"%s\" cut at %zu was taken", inputs[i], cut);
        }
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    char text[4 * RESP_DEPTH_MAX + 1] = "";
    for (size_t i = 0; i < RESP_DEPTH_MAX; i++)
        memcpy(text + 4 * i, "*1\r\n", 4);
    struct resp_reply reply = {0};
    assert_int_equal(resp_reply_parse(&reply, bytes_of(text)), RESP_MORE);
    assert_int_equal(resp_reply_parse(&reply, BYTES(":1\r\n")), RESP_OK);
    resp_reply_reset(&reply);
    assert_int_equal(resp_reply_parse(&reply, bytes_of(text)), RESP_MORE);
    assert_int_equal(resp_reply_parse(&reply, BYTES("*1\r\n")), RESP_BAD);
}

static void lines_have_a_limit(void **state)
{
    (void)state;
    size_t size = (1 << 20) + 2;
    char *text = malloc(size);
    memset(text, 'a', size);
    text[0] = '+';
    struct resp_reply reply = {0};
    assert_int_equal(resp_reply_parse(&reply, bytes_make(text, size - 1)), RESP_MORE);
    assert_int_equal(resp_reply_parse(&reply, BYTES("a")), RESP_BAD);
    free(text);
}

static void a_reply_is_whole_when_nothing_of_it_was_taken_before(void **state)
{
    (void)state;
    struct resp_reply reply = {0};
    assert_int_equal(resp_reply_parse(&reply, BYTES("$1")), RESP_MORE);
    assert_int_equal(reply.consumed, 0);
    assert_int_equal(resp_reply_parse(&reply, BYTES("$1\r\na\r\n")), RESP_OK);
    assert_true(bytes_is(reply.text, "a"));
}

static void a_walk_sees_every_element(void **state)
{
    (void)state;
    struct resp_walk walk = {
        BYTES("%3\r\n+a\r\n*2\r\n:1\r\n$1\r\nx\r\n|1\r\n+n\r\n*1\r\n+m\r\n+b\r\n,-1.5\r\n-ERR c\r\n=5\r\ntxt:y\r\n")};
    struct resp_element element;
    assert_true(resp_walk_next(&walk, &element));
    assert_true(element.type == RESP_MAP && element.number == 6);
    assert_true(resp_walk_next(&walk, &element));
    assert_true(element.type == RESP_SIMPLE && bytes_is(element.text, "a"));
    struct resp_walk other = walk;
    assert_true(resp_walk_next(&walk, &element));
    assert_true(element.type == RESP_ARRAY && element.number == 2);
    assert_true(resp_walk_next(&walk, &element));
    assert_true(element.type == RESP_INTEGER && element.number == 1 && bytes_is(element.text, "1"));
    assert_true(resp_walk_next(&walk, &element));
    assert_true(element.type == RESP_BULK && bytes_is(element.text, "x"));
    assert_true(resp_walk_skip(&other));
    assert_ptr_equal(other.rest.at, walk.rest.at);
    assert_true(resp_walk_next(&walk, &element));
    assert_true(element.type == RESP_SIMPLE && bytes_is(element.text, "b"));
    assert_true(resp_walk_next(&walk, &element));
    assert_true(element.type == RESP_DOUBLE && element.real == -1.5);
    assert_true(resp_walk_next(&walk, &element));
    assert_true(element.type == RESP_ERROR && bytes_is(element.text, "ERR c"));
    assert_true(resp_walk_next(&walk, &element));
    assert_true(element.type == RESP_BULK && element.number == 1 && bytes_is(element.text, "y"));
    assert_false(resp_walk_next(&walk, &element));
}

static void a_walk_ends_at_what_is_malformed(void **state)
{
    (void)state;
    static const char *inputs[] = {"$5\r\nab", "$1\r\nabc", "+a", "*?\r\n", ";1\r\na\r\n", ",x\r\n", "|1\r\n+a\r\n"};
    for (size_t i = 0; i < COUNT_OF(inputs); i++) {
        struct resp_walk walk = {bytes_of(inputs[i])};
        struct resp_element element;
        assert_false(resp_walk_next(&walk, &element));
    }
    struct resp_walk walk = {BYTES("*2\r\n:1\r\n")};
    assert_false(resp_walk_skip(&walk));
    walk.rest = BYTES(",nan\r\n");
    struct resp_element element;
    assert_true(resp_walk_next(&walk, &element));
    assert_true(isnan(element.real));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_replies_are_told_apart),
        cmocka_unit_test(aggregates_end_where_their_last_element_ends),
        cmocka_unit_test(attributes_are_stepped_over),
        cmocka_unit_test(streamed_elements_end_at_their_marks),
        cmocka_unit_test(error_lines_are_kept_whatever_the_pieces),
        cmocka_unit_test(what_is_no_reply_is_refused),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(lines_have_a_limit),
        cmocka_unit_test(a_reply_is_whole_when_nothing_of_it_was_taken_before),
        cmocka_unit_test(a_walk_sees_every_element),
        cmocka_unit_test(a_walk_ends_at_what_is_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
