#include "server/command/command_docs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define PARSE(grammar, to) command_arguments_parse((grammar), 1, (to), COUNT_OF(to))

static void assert_bytes(struct bytes bytes, const char *text)
{
    assert_int_equal(bytes.size, strlen(text));
    assert_memory_equal(bytes.at, text, bytes.size);
}

static void no_grammar_is_no_arguments(void **state)
{
    struct command_argument to[1];
    (void)state;
    assert_int_equal(PARSE(NULL, to), 0);
    assert_int_equal(PARSE("", to), 0);
    assert_int_equal(PARSE("  ", to), 0);
}

static void values_have_name_type_and_suffixes(void **state)
{
    struct command_argument to[8];
    (void)state;
    assert_int_equal(PARSE("key:k value:s count:i? at:d+ pattern:p* when:t@7.0.0 old/shown:s@-2.8.12?", to), 7);
    assert_int_equal(to[0].type, ARGUMENT_KEY);
    assert_int_equal(to[0].key_spec, 0);
    assert_bytes(to[0].name, "key");
    assert_int_equal(to[1].type, ARGUMENT_STRING);
    assert_int_equal(to[1].key_spec, -1);
    assert_int_equal(to[2].flags, ARGUMENT_OPTIONAL);
    assert_int_equal(to[3].flags, ARGUMENT_MULTIPLE);
    assert_int_equal(to[4].flags, ARGUMENT_OPTIONAL | ARGUMENT_MULTIPLE);
    assert_int_equal(to[5].type, ARGUMENT_UNIX_TIME);
    assert_bytes(to[5].since, "7.0.0");
    assert_bytes(to[6].name, "old");
    assert_bytes(to[6].shown, "shown");
    assert_bytes(to[6].deprecated_since, "2.8.12");
    assert_int_equal(to[6].flags, ARGUMENT_OPTIONAL);
}

static void tokens_stand_alone_or_before_a_value(void **state)
{
    struct command_argument to[8];
    (void)state;
    assert_int_equal(PARSE("KEEPTTL@6.0.0 EX%seconds:i approximately='~' ID='*' GET%pattern:p*!", to), 5);
    assert_int_equal(to[0].type, ARGUMENT_TOKEN);
    assert_true(to[0].name_from_token);
    assert_bytes(to[0].token, "KEEPTTL");
    assert_int_equal(to[1].type, ARGUMENT_INTEGER);
    assert_bytes(to[1].token, "EX");
    assert_bytes(to[1].name, "seconds");
    assert_bytes(to[2].name, "approximately");
    assert_bytes(to[2].token, "~");
    assert_bytes(to[3].token, "*");
    assert_int_equal(to[4].flags, ARGUMENT_OPTIONAL | ARGUMENT_MULTIPLE | ARGUMENT_MULTIPLE_TOKEN);
}

static void groups_are_one_of_or_all_of(void **state)
{
    struct command_argument to[16];
    (void)state;
    assert_int_equal(PARSE("(condition: NX | XX)?@2.6.12 LIMIT%(limit: offset:i (deep: a:s | b:s) count:i)? end:s", to),
                     10);
    assert_int_equal(to[0].type, ARGUMENT_ONE_OF);
    assert_int_equal(to[0].members, 2);
    assert_int_equal(to[0].size, 3);
    assert_bytes(to[0].since, "2.6.12");
    assert_int_equal(to[3].type, ARGUMENT_BLOCK);
    assert_bytes(to[3].token, "LIMIT");
    assert_bytes(to[3].name, "limit");
    assert_int_equal(to[3].members, 3);
    assert_int_equal(to[3].size, 6);
    assert_int_equal(to[5].type, ARGUMENT_ONE_OF);
    assert_bytes(to[9].name, "end");
}

static void keys_belong_to_specifications_in_order(void **state)
{
    struct command_argument to[8];
    (void)state;
    assert_int_equal(command_arguments_parse("a:k b:k c:k d:k#0", 2, to, 8), 4);
    assert_int_equal(to[0].key_spec, 0);
    assert_int_equal(to[1].key_spec, 1);
    assert_int_equal(to[2].key_spec, 1);
    assert_int_equal(to[3].key_spec, 0);
}

static void what_is_not_in_the_grammar_is_refused(void **state)
{
    static const char *const wrong[] = {
        "a:",
        "a:x",
        ":k",
        "(a: b:s",
        "a:s)",
        "(a:)",
        "(: b:s)",
        "(a b:s)",
        "a:s | b:s",
        "(g: | a:s)",
        "(g: a:s |)",
        "(g: a:s | b:s c:s)",
        "(g: a:s b:s | c:s)",
        "EX%",
        "EX%NX",
        "x=",
        "a:s@",
        "a:s@x",
        "a:s#0",
        "a:k#x",
        "a",
        "key:k [",
        "a:s!",
        "a:s?b:s",
        "'x",
        "(g: a:s)x",
        "(a: (b: (c: (d: (e: (f: (g: (h: (i: x:s)))))))))",
        "|",
        "(a: ||)",
        "?",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct command_argument to[32];
        if (PARSE(wrong[i], to) != -EINVAL)
            fail_msg("accepted: %s", wrong[i]);
    }
}

static void more_arguments_than_there_is_room_for_are_refused(void **state)
{
    struct command_argument to[2];
    (void)state;
    assert_int_equal(PARSE("a:s b:s c:s", to), -E2BIG);
    assert_int_equal(PARSE("(g: a:s b:s)", to), -E2BIG);
}

/* ---- what is written ---- */

static bool no_room(struct resp_writer *writer, size_t size)
{
    (void)writer;
    (void)size;
    return false;
}

static const char *const history[] = {"6.0.0", "Changed.", NULL};
static const struct command rows[] = {
    {.name = "OLD",
     .summary = "Does.",
     .since = "1.0.0",
     .complexity = "O(1)",
     .args = "key:k [",
     .replaced_by = "`NEW`",
     .deprecated_since = "6.2.0",
     .history = history,
     .flags = CMD_SYSTEM},
    {.name = "NEW", .since = "1.0.0", .args = "key:k NX?", .keys = {1, 1, 1}},
    {0},
};
static const struct command_family family = {"generic", rows};
static const struct command_family *const families[] = {&family, NULL};

static void assert_docs(const char *name, uint8_t protocol, const char *expected)
{
    uint8_t room[4096];
    struct resp_writer writer = {.at = room, .end = room + sizeof(room), .grow = no_room, .protocol = protocol};
    struct command_table *table = command_table_create(families);
    command_docs_write(command_find(table, bytes_of(name)), &writer);
    assert_false(writer.failed);
    *writer.at = '\0';
    assert_string_equal((char *)room, expected);
    command_table_destroy(table);
}

static void docs_have_the_shape_of_redis(void **state)
{
    (void)state;
    assert_docs("old", 3,
                "%8\r\n$7\r\nsummary\r\n$5\r\nDoes.\r\n$5\r\nsince\r\n$5\r\n1.0.0\r\n$5\r\ngroup\r\n$7\r\ngeneric\r\n"
                "$10\r\ncomplexity\r\n$4\r\nO(1)\r\n$9\r\ndoc_flags\r\n~2\r\n+deprecated\r\n+syscmd\r\n"
                "$16\r\ndeprecated_since\r\n$5\r\n6.2.0\r\n$11\r\nreplaced_by\r\n$5\r\n`NEW`\r\n"
                "$7\r\nhistory\r\n~1\r\n*2\r\n$5\r\n6.0.0\r\n$8\r\nChanged.\r\n");
    assert_docs(
        "new", 2,
        "*6\r\n$5\r\nsince\r\n$5\r\n1.0.0\r\n$5\r\ngroup\r\n$7\r\ngeneric\r\n$9\r\narguments\r\n*2\r\n"
        "*8\r\n$4\r\nname\r\n$3\r\nkey\r\n$4\r\ntype\r\n$3\r\nkey\r\n$12\r\ndisplay_text\r\n$3\r\nkey\r\n"
        "$14\r\nkey_spec_index\r\n:0\r\n"
        "*10\r\n$4\r\nname\r\n$2\r\nnx\r\n$4\r\ntype\r\n$10\r\npure-token\r\n$12\r\ndisplay_text\r\n$2\r\nnx\r\n"
        "$5\r\ntoken\r\n$2\r\nNX\r\n$5\r\nflags\r\n*1\r\n+optional\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_grammar_is_no_arguments),
        cmocka_unit_test(values_have_name_type_and_suffixes),
        cmocka_unit_test(tokens_stand_alone_or_before_a_value),
        cmocka_unit_test(groups_are_one_of_or_all_of),
        cmocka_unit_test(keys_belong_to_specifications_in_order),
        cmocka_unit_test(what_is_not_in_the_grammar_is_refused),
        cmocka_unit_test(more_arguments_than_there_is_room_for_are_refused),
        cmocka_unit_test(docs_have_the_shape_of_redis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
