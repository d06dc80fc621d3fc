#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "server/main/process.h"

#include <errno.h>

static struct process *process;
static struct option_error error;

static int setup(void **state)
{
    (void)state;
    process = mem_alloc_zeroed(sizeof(*process));
    settings_init(&process->settings, &process->server);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    command_line_deinit(&process->line);
    settings_deinit(&process->settings);
    mem_free(process);
    return 0;
}

#define PARSE(...)                                                                                                     \
    command_line_parse(&process->line, (int)COUNT_OF(((const char *[]){__VA_ARGS__})) + 1,                             \
                       (char *const *)(const char *[]){"ketch-server", __VA_ARGS__, NULL}, &error)

static int apply(void)
{
    struct option_fault fault;
    int failed = command_line_apply(&process->line, process->settings.registry, &fault);
    error = fault.error;
    return failed;
}

static void assert_shown(const char *name, const char *expected)
{
    struct buf value;
    buf_init(&value, 4096);
    assert_int_equal(option_registry_show(process->settings.registry, bytes_of(name), &value), 0);
    assert_int_equal(buf_append(&value, "", 1), 0);
    assert_string_equal((const char *)value.data, expected);
    buf_deinit(&value);
}

static void a_file_and_options_with_one_or_more_values(void **state)
{
    (void)state;
    assert_int_equal(
        PARSE("a.conf", "--port", "7000", "--bind", "127.0.0.1", "-::1", "--save", "", "--loglevel", "debug"), 0);
    assert_string_equal(process->line.file, "a.conf");
    assert_false(process->line.standard_input);
    assert_int_equal(process->line.option_count, 4);
    assert_int_equal(apply(), 0);
    assert_shown("port", "7000");
    assert_shown("bind", "127.0.0.1 -::1");
    assert_shown("save", "");
    assert_shown("loglevel", "debug");
}

static void values_behind_an_equals_sign(void **state)
{
    (void)state;
    assert_int_equal(PARSE("--port=7001", "--requirepass=a=b", "--save=900 1"), 0);
    assert_null(process->line.file);
    assert_int_equal(apply(), 0);
    assert_shown("port", "7001");
    assert_shown("requirepass", "a=b");
    assert_shown("save", "900 1");
}

static void a_dash_alone_reads_standard_input(void **state)
{
    (void)state;
    assert_int_equal(PARSE("-"), 0);
    assert_true(process->line.standard_input);
    command_line_deinit(&process->line);
    assert_int_equal(PARSE("a.conf", "--port", "1", "-"), 0);
    assert_true(process->line.standard_input);
    assert_int_equal(process->line.options[0].count, 2);
}

static void words_that_do_something_else(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        enum command_line_action action;
    } words[] = {{"-v", COMMAND_LINE_VERSION},
                 {"--version", COMMAND_LINE_VERSION},
                 {"-h", COMMAND_LINE_HELP},
                 {"--help", COMMAND_LINE_HELP},
                 {"--print-options", COMMAND_LINE_PRINT_OPTIONS},
                 {"--print-sample", COMMAND_LINE_PRINT_SAMPLE}};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        assert_int_equal(PARSE(words[i].word), 0);
        assert_int_equal(process->line.action, words[i].action);
        command_line_deinit(&process->line);
    }
    assert_int_equal(PARSE("--test-memory", "100"), -EINVAL);
    command_line_deinit(&process->line);
    assert_int_equal(PARSE("a.conf", "--sentinel"), -EINVAL);
    assert_string_equal(error.text, "'--sentinel' is not supported");
    command_line_deinit(&process->line);
    assert_int_equal(PARSE("a.conf", "stray"), -EINVAL);
}

static void what_is_refused_names_the_option(void **state)
{
    (void)state;
    struct option_fault fault;
    assert_int_equal(PARSE("--port", "7000", "--timeout", "x y"), 0);
    assert_int_equal(command_line_apply(&process->line, process->settings.registry, &fault), -EINVAL);
    assert_string_equal(fault.text, "timeout \"x y\"");
    assert_string_equal(fault.error.text, "argument couldn't be parsed into an integer");
    command_line_deinit(&process->line);
    assert_int_equal(PARSE("--nonsense", "1"), 0);
    assert_int_equal(apply(), -ENOENT);
    command_line_deinit(&process->line);
    assert_int_equal(PARSE("--port"), 0);
    assert_int_equal(apply(), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_and_options_with_one_or_more_values), TEST(values_behind_an_equals_sign),
        TEST(a_dash_alone_reads_standard_input),          TEST(words_that_do_something_else),
        TEST(what_is_refused_names_the_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
