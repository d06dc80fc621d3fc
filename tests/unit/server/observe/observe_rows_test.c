/* Every row of the folder is complete, and its arguments are in the grammar of COMMAND DOCS. */
#include "server/observe/observe_module.h"

#include "server/command/command_docs.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void check_row(const struct command *row, bool is_container)
{
    struct command_argument to[COMMAND_ARGUMENTS_MAX];
    if (command_arguments_parse(row->args, 1, to, COMMAND_ARGUMENTS_MAX) < 0)
        fail_msg("%s: the arguments do not parse: %s", row->name, row->args);
    if (!row->summary || !row->since || !row->complexity)
        fail_msg("%s: a text is missing", row->name);
    if (row->arity == 0 || (!row->run && !is_container))
        fail_msg("%s: arity or handler is missing", row->name);
}

static void every_row_is_complete_and_its_arguments_parse(void **state)
{
    (void)state;
    for (const struct command_family *const *family = observe_module.families; *family; family++)
        for (const struct command *row = (*family)->commands; row->name; row++) {
            check_row(row, row->subcommands != NULL);
            for (const struct command *child = row->subcommands; child && child->name; child++)
                check_row(child, false);
        }
}

static void no_name_is_there_twice(void **state)
{
    (void)state;
    /* Aborts on a double. */
    struct command_table *table = command_table_create(observe_module.families);
    assert_true(command_count(table) > 0);
    command_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete_and_its_arguments_parse),
        cmocka_unit_test(no_name_is_there_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
