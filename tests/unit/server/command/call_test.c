#include "server/command/call.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static bool no_room(struct resp_writer *writer, size_t size)
{
    (void)writer;
    (void)size;
    return false;
}

struct fixture {
    uint8_t room[8192];
    struct resp_writer writer;
    struct bytes argv[4];
    struct command_entry parent, entry;
    struct call call;
};

static const struct command container = {.name = "CLIENT"};
static const struct command child = {.name = "SETNAME"};

static int setup(void **state)
{
    static struct fixture fixture;
    memset(&fixture, 0, sizeof(fixture));
    fixture.writer = (struct resp_writer){
        .at = fixture.room, .end = fixture.room + sizeof(fixture.room), .grow = no_room, .protocol = 2};
    fixture.parent = (struct command_entry){.command = &container, .full_name = "client"};
    fixture.entry = (struct command_entry){.command = &child, .parent = &fixture.parent, .full_name = "client|setname"};
    fixture.call = (struct call){.entry = &fixture.entry, .argv = fixture.argv, .argc = 2, .reply = &fixture.writer};
    fixture.argv[0] = BYTES("client");
    fixture.argv[1] = BYTES("setname");
    *state = &fixture;
    return 0;
}

static void assert_reply(struct fixture *fixture, const char *expected)
{
    *fixture->writer.at = '\0';
    assert_string_equal((char *)fixture->room, expected);
    fixture->writer.at = fixture->room;
}

static void an_error_is_written_counted_and_its_code_kept(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(call_wrong_type(&fixture->call), OUTCOME_DONE);
    assert_reply(fixture, "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n");
    assert_string_equal(fixture->call.error_code, "WRONGTYPE");
    (void)call_errorf(&fixture->call, "ERR number %d", 5);
    assert_reply(fixture, "-ERR number 5\r\n");
    assert_string_equal(fixture->call.error_code, "ERR");
    assert_int_equal(fixture->call.error_count, 2);
}

static void a_code_longer_than_its_room_is_cut(void **state)
{
    struct fixture *fixture = *state;
    (void)call_error(&fixture->call, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOP rest");
    assert_int_equal(strlen(fixture->call.error_code), sizeof(fixture->call.error_code) - 1);
}

static void a_wrong_arity_names_the_subcommand(void **state)
{
    struct fixture *fixture = *state;
    (void)call_wrong_arity(&fixture->call);
    assert_reply(fixture, "-ERR wrong number of arguments for 'client|setname' command\r\n");
}

static void an_unknown_subcommand_is_shown_in_one_line(void **state)
{
    struct fixture *fixture = *state;
    fixture->call.entry = &fixture->parent;
    fixture->argv[1] = BYTES("a\r\nb");
    (void)call_unknown_subcommand(&fixture->call);
    assert_reply(fixture, "-ERR unknown subcommand 'a  b'. Try CLIENT HELP.\r\n");
    char big[300];
    memset(big, 'x', sizeof(big));
    fixture->argv[1] = bytes_make(big, sizeof(big));
    (void)call_unknown_subcommand(&fixture->call);
    assert_int_equal(fixture->writer.at - fixture->room,
                     strlen("-ERR unknown subcommand ''. Try CLIENT HELP.\r\n") + 128);
}

static void an_integer_is_read_or_refused(void **state)
{
    struct fixture *fixture = *state;
    int64_t value = 0;
    fixture->argv[1] = BYTES("-42");
    assert_true(call_integer(&fixture->call, 1, &value));
    assert_int_equal(value, -42);
    fixture->argv[1] = BYTES("4.2");
    assert_false(call_integer(&fixture->call, 1, &value));
    assert_reply(fixture, "-ERR value is not an integer or out of range\r\n");
}

static void help_has_a_head_and_a_tail(void **state)
{
    struct fixture *fixture = *state;
    (void)call_help(&fixture->call, (const char *const[]){"ID", "    Tells.", NULL});
    assert_reply(fixture,
                 "*5\r\n+CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:\r\n+ID\r\n+    Tells.\r\n"
                 "+HELP\r\n+    Prints this help.\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_error_is_written_counted_and_its_code_kept, setup),
        cmocka_unit_test_setup(a_code_longer_than_its_room_is_cut, setup),
        cmocka_unit_test_setup(a_wrong_arity_names_the_subcommand, setup),
        cmocka_unit_test_setup(an_unknown_subcommand_is_shown_in_one_line, setup),
        cmocka_unit_test_setup(an_integer_is_read_or_refused, setup),
        cmocka_unit_test_setup(help_has_a_head_and_a_tail, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
