#include "server/command/command_docs.h"
#include "tests/unit/server/data/data_fixture.h"

static void check_row(const struct command *command, bool parent)
{
    static struct command_argument arguments[COMMAND_ARGUMENTS_MAX];
    assert_non_null(command->summary);
    assert_non_null(command->since);
    assert_non_null(command->complexity);
    assert_int_equal(command->summary[strlen(command->summary) - 1], '.');
    uint32_t specs = command->keys.first > 0;
    if (command->key_specs)
        for (specs = 0; command->key_specs[specs].first > 0;)
            specs++;
    if (command_arguments_parse(command->args, specs, arguments, COMMAND_ARGUMENTS_MAX) < 0)
        fail_msg("%s: %s", command->name, command->args);
    assert_true(parent || command->run);
    if (command->keys.first > 0)
        assert_true(command->key_flags || command->key_specs);
}

static void every_row_is_complete_and_its_grammar_parses(void **state)
{
    (void)state;
    uint32_t count = 0;
    for (uint32_t f = 0; data_families[f]; f++) {
        for (const struct command *command = data_families[f]->commands; command->name; command++) {
            check_row(command, command->subcommands != NULL);
            for (const struct command *child = command->subcommands; child && child->name; child++)
                check_row(child, false);
            count++;
        }
    }
    assert_int_equal(count, 48);
}

static void a_wrong_type_is_refused_by_every_string_command(void **state)
{
    static const char *const lines[] = {
        "GET l",          "GETSET l x",      "GETDEL l",       "GETEX l",        "GETEX l PERSIST", "SET l x GET",
        "SET l x NX GET", "STRLEN l",        "APPEND l x",     "SETRANGE l 0 x", "SETRANGE l 0 ''", "INCR l",
        "DECRBY l 3",     "INCRBYFLOAT l 1", "GETRANGE l 0 1", "SUBSTR l 0 1",
    };
    struct data_fixture *fixture = *state;
    FIXTURE_EXPECT(fixture, "SET l a", "+OK~");
    fixture_make_list(fixture, "l");
    uint64_t changes = fixture_changes(fixture);
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        FIXTURE_EXPECT(fixture, lines[i], "-WRONGTYPE Operation against a key holding the wrong kind of value~");
        assert_int_equal(fixture->errors, 1);
    }
    FIXTURE_EXPECT(fixture, "MGET l", "*1~$-1~");
    FIXTURE_EXPECT(fixture, "LCS l l", "-ERR The specified keys must contain string values~");
    assert_int_equal(fixture_changes(fixture), changes);
    FIXTURE_EXPECT(fixture, "SCAN 0 COUNT 9999 TYPE LIST", "*2~$1~0~*1~$1~l~");
    FIXTURE_EXPECT(fixture, "SCAN 0 COUNT 9999 TYPE string", "*2~$1~0~*0~");
    FIXTURE_EXPECT(fixture, "TYPE l", "+list~");
    FIXTURE_EXPECT(fixture, "SET l x", "+OK~");
    FIXTURE_EXPECT(fixture, "TYPE l", "+string~");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete_and_its_grammar_parses),
        FIXTURE_TEST(a_wrong_type_is_refused_by_every_string_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
