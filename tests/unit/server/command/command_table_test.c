#include "server/command/command.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static enum outcome nothing(struct call *call)
{
    (void)call;
    return OUTCOME_DONE;
}

static int last_argument(const struct command *command, const struct bytes *argv, uint32_t argc, uint32_t *at,
                         uint32_t capacity)
{
    (void)command;
    (void)argv;
    if (capacity > 0)
        at[0] = argc - 1;
    return 1;
}

static const struct command_key_spec two_specs[] = {{1, 1, 1, KEY_RO}, {2, 2, 1, KEY_OW}, {0}};

static const struct command children[] = {
    {.name = "SETNAME", .arity = 3, .run = nothing},
    {.name = "NO-EVICT", .arity = 3, .flags = CMD_ADMIN, .run = nothing},
    {0},
};

static const struct command first_rows[] = {
    {.name = "GET", .arity = 2, .flags = CMD_READONLY | CMD_FAST | CAT_STRING, .keys = {1, 1, 1}, .run = nothing},
    {.name = "SET", .arity = -3, .flags = CMD_WRITE, .keys = {1, 1, 1}, .run = nothing},
    {.name = "MSET", .arity = -3, .flags = CMD_WRITE, .keys = {1, -1, 2}, .run = nothing},
    {.name = "COPY", .arity = -3, .key_specs = two_specs, .run = nothing},
    {.name = "LAST", .arity = -2, .find_keys = last_argument, .run = nothing},
    {.name = "CLIENT", .arity = -2, .subcommands = children},
    {0},
};

static const struct command second_rows[] = {
    {.name = "GEORADIUSBYMEMBER_RO", .arity = -5, .flags = CMD_READONLY, .keys = {1, 1, 1}, .run = nothing},
    {.name = "RESTORE-ASKING", .arity = -4, .run = nothing},
    {.name = "EVAL_RO", .arity = -3, .flags = CMD_READONLY | CAT_SCRIPTING, .run = nothing},
    {.name = "BLPOP", .arity = -3, .flags = CMD_WRITE | CMD_BLOCKING, .keys = {1, -2, 1}, .run = nothing},
    {.name = "A-NAME-THAT-RENAME-COMMAND-COULD-GIVE-TO-CONFIG", .arity = -1, .run = nothing},
    {0},
};

static const struct command_family first = {"string", first_rows};
static const struct command_family second = {"generic", second_rows};
static const struct command_family *const families[] = {&first, &second, NULL};

static int setup(void **state)
{
    *state = command_table_create(families);
    return 0;
}

static int teardown(void **state)
{
    command_table_destroy(*state);
    return 0;
}

static const char *found(void **state, const char *name)
{
    const struct command_entry *entry = command_find(*state, bytes_of(name));
    return entry ? entry->full_name : "";
}

static void every_command_is_found_in_any_case(void **state)
{
    for (const struct command_family *const *family = families; *family; family++)
        for (const struct command *row = (*family)->commands; row->name; row++) {
            char mixed[64];
            snprintf(mixed, sizeof(mixed), "%s", row->name);
            for (size_t i = 0; mixed[i]; i += 2)
                if (mixed[i] >= 'A' && mixed[i] <= 'Z')
                    mixed[i] |= 0x20;
            const struct command_entry *entry = command_find(*state, bytes_of(mixed));
            assert_non_null(entry);
            assert_ptr_equal(entry->command, row);
            assert_ptr_equal(entry->family, *family);
            assert_ptr_equal(command_at(*state, entry->number), entry);
        }
}

static void names_that_are_near_a_command_are_unknown(void **state)
{
    const char *const names[] = {"",
                                 "g",
                                 "ge",
                                 "gett",
                                 "get ",
                                 "client|setname",
                                 "setname",
                                 "gEU",
                                 "georadiusbymember_rp",
                                 "georadiusbymember_ro_",
                                 "restore\rasking",
                                 ("restore\x0d"
                                  "asking"),
                                 "georadiusbymember\x7fro",
                                 "a-name-that-rename-command-could-give-to-confih",
                                 "a-name-that-rename-command"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_string_equal(found(state, names[i]), "");
    assert_null(command_find(*state, bytes_make("get\0", 4)));
    assert_string_equal(found(state, "GeT"), "get");
}

static void no_byte_of_a_name_can_be_another(void **state)
{
    for (int byte = 0; byte < 256; byte++) {
        uint8_t name[] = {'g', 'e', (uint8_t)byte};
        bool right = byte == 't' || byte == 'T';
        assert_int_equal(command_find(*state, bytes_make(name, 3)) != NULL, right);
    }
}

static void subcommands_have_numbers_of_their_own_side_by_side(void **state)
{
    const struct command_entry *client = command_find(*state, BYTES("client"));
    assert_int_equal(client->child_count, 2);
    assert_int_equal(command_count(*state), 11);
    assert_int_equal(command_numbers(*state), 13);
    assert_int_equal(client->children[0].number, 11);
    assert_int_equal(client->children[1].number, 12);
    assert_null(command_at(*state, 13));
    const struct command_entry *child = command_find_child(client, BYTES("no-EVICT"));
    assert_string_equal(child->full_name, "client|no-evict");
    assert_ptr_equal(child->parent, client);
    assert_null(command_find_child(client, BYTES("evict")));
    assert_null(command_find_child(command_find(*state, BYTES("get")), BYTES("x")));
}

static uint64_t flags_of(void **state, const char *name)
{
    return command_find(*state, bytes_of(name))->flags;
}

static void categories_follow_from_flags(void **state)
{
    assert_true(flags_of(state, "get") & CAT_READ);
    assert_true(flags_of(state, "get") & CAT_FAST);
    assert_false(flags_of(state, "get") & (CAT_SLOW | CAT_WRITE));
    assert_true(flags_of(state, "set") & CAT_WRITE);
    assert_true(flags_of(state, "set") & CAT_SLOW);
    assert_true(flags_of(state, "blpop") & CAT_BLOCKING);
    assert_false(flags_of(state, "eval_ro") & CAT_READ);
    const struct command_entry *child = command_find_child(command_find(*state, BYTES("client")), BYTES("no-evict"));
    assert_true((child->flags & CAT_ADMIN) && (child->flags & CAT_DANGEROUS));
}

static int keys_of(void **state, const char *const *words, uint32_t argc, uint32_t *at, uint32_t capacity)
{
    struct bytes argv[16];
    for (uint32_t i = 0; i < argc; i++)
        argv[i] = bytes_of(words[i]);
    return command_keys(command_find(*state, argv[0]), argv, argc, at, capacity);
}

static void keys_are_found_by_run_by_list_and_by_function(void **state)
{
    uint32_t at[8] = {0};
    assert_int_equal(keys_of(state, (const char *[]){"get", "k"}, 2, at, 8), 1);
    assert_int_equal(at[0], 1);
    assert_int_equal(keys_of(state, (const char *[]){"mset", "a", "1", "b", "2", "c"}, 6, at, 8), 3);
    assert_int_equal(at[1], 3);
    assert_int_equal(at[2], 5);
    assert_int_equal(keys_of(state, (const char *[]){"copy", "a", "b", "replace"}, 4, at, 8), 2);
    assert_int_equal(at[1], 2);
    assert_int_equal(keys_of(state, (const char *[]){"last", "a", "b", "c"}, 4, at, 8), 1);
    assert_int_equal(at[0], 3);
    assert_int_equal(keys_of(state, (const char *[]){"blpop", "a", "b", "0"}, 4, at, 8), 2);
    assert_int_equal(keys_of(state, (const char *[]){"client", "x"}, 2, at, 8), 0);
}

static void a_call_too_short_for_its_keys_is_refused(void **state)
{
    uint32_t at[8];
    assert_int_equal(keys_of(state, (const char *[]){"get"}, 1, at, 8), -EINVAL);
    assert_int_equal(keys_of(state, (const char *[]){"mset"}, 1, at, 8), -EINVAL);
    assert_int_equal(keys_of(state, (const char *[]){"copy", "a"}, 2, at, 8), -EINVAL);
    assert_int_equal(keys_of(state, (const char *[]){"blpop", "a"}, 2, at, 8), -EINVAL);
}

static void keys_past_the_capacity_are_counted_but_not_written(void **state)
{
    uint32_t at[4] = {7, 7, 7, 7};
    assert_int_equal(keys_of(state, (const char *[]){"mset", "a", "1", "b", "2", "c", "3"}, 7, at, 2), 3);
    assert_int_equal(at[1], 3);
    assert_int_equal(at[2], 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_command_is_found_in_any_case, setup, teardown),
        cmocka_unit_test_setup_teardown(names_that_are_near_a_command_are_unknown, setup, teardown),
        cmocka_unit_test_setup_teardown(no_byte_of_a_name_can_be_another, setup, teardown),
        cmocka_unit_test_setup_teardown(subcommands_have_numbers_of_their_own_side_by_side, setup, teardown),
        cmocka_unit_test_setup_teardown(categories_follow_from_flags, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_are_found_by_run_by_list_and_by_function, setup, teardown),
        cmocka_unit_test_setup_teardown(a_call_too_short_for_its_keys_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_past_the_capacity_are_counted_but_not_written, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
