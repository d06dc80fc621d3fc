#include "tests/unit/lib/option/sample_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void lines_set_options(void **state)
{
    struct sample *sample = *state;
    struct option_fault fault;
    assert_int_equal(sample_load(sample,
                                 "# a comment\n\n  width 42  \r\nTITLE \"a b\\x21\"\n"
                                 "hosts 127.0.0.1 -::1\nmode 750\nbright no",
                                 &fault),
                     0);
    assert_int_equal(option_get(&sample->options.width), 42);
    assert_string_equal(sample_shown(sample, "title"), "a b!");
    assert_string_equal(sample_shown(sample, "hosts"), "127.0.0.1 -::1");
    assert_int_equal(option_get(&sample->options.mode), 0750);
    assert_string_equal(sample_shown(sample, "mode"), "750");
    assert_string_equal(sample_shown(sample, "bright"), "no");
}

static void a_fault_names_the_line(void **state)
{
    struct sample *sample = *state;
    static const struct {
        const char *text, *line, *message;
        unsigned number;
    } faults[] = {
        {"width 1\n# x\nfoo bar\n", "foo bar", "Bad directive or wrong number of arguments", 3},
        {"width 1 2\n", "width 1 2", "wrong number of arguments", 1},
        {"\n\nwidth\n", "width", "wrong number of arguments", 3},
        {"width 500", "width 500", "argument must be between 1 and 100 inclusive", 1},
        {"title \"abc\n", "title \"abc", "Unbalanced quotes in configuration line", 1},
        {"durable yes\n", "durable yes", "Ketch does not support this setting of 'durable' yet", 1},
        {"\n  colour pink  \n", "colour pink", "argument(s) must be one of the following: red, green, blue", 2},
    };
    for (size_t i = 0; i < COUNT_OF(faults); i++) {
        struct option_fault fault;
        assert_int_not_equal(sample_load(sample, faults[i].text, &fault), 0);
        assert_string_equal(fault.error.text, faults[i].message);
        assert_string_equal(fault.text, faults[i].line);
        assert_string_equal(fault.source, "test.conf");
        assert_int_equal(fault.line, faults[i].number);
    }
}

static void lines_of_one_option_add_up_and_replace_the_default(void **state)
{
    struct sample *sample = *state;
    struct option_fault fault;
    assert_int_equal(sample_load(sample, "point 900 1\npoint 300 10\n", &fault), 0);
    assert_string_equal(sample_shown(sample, "point"), "900 1 300 10");
}

static void a_zero_byte_is_a_fault(void **state)
{
    struct sample *sample = *state;
    struct option_fault fault;
    assert_int_not_equal(option_text_load(sample->registry, BYTES("width 1\0 2"), "x", &fault), 0);
    assert_int_equal(fault.line, 1);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void includes_are_read_in_place(void **state)
{
    struct sample *sample = *state;
    struct option_fault fault;
    char folder[] = "/tmp/ketch-option-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char main_path[64], one[64], two[64], text[256];
    snprintf(main_path, sizeof(main_path), "%s/main.conf", folder);
    snprintf(one, sizeof(one), "%s/one.inc", folder);
    snprintf(two, sizeof(two), "%s/two.inc", folder);
    snprintf(text, sizeof(text), "width 1\ninclude %s/*.inc\ninclude %s/*.none\ntitle last\n", folder, folder);
    write_file(main_path, text);
    write_file(one, "width 2\npause 3\n");
    write_file(two, "width 3\n");
    assert_int_equal(option_file_load(sample->registry, main_path, &fault), 0);
    assert_int_equal(option_get(&sample->options.width), 3);
    assert_int_equal(option_get(&sample->options.pause), 3);
    assert_string_equal(sample_shown(sample, "title"), "last");

    write_file(two, "# two\nwidth nothing\n");
    assert_int_not_equal(option_file_load(sample->registry, main_path, &fault), 0);
    assert_string_equal(fault.source, two);
    assert_int_equal(fault.line, 2);

    snprintf(text, sizeof(text), "include %s\n", two);
    write_file(two, text); /* itself */
    assert_int_equal(option_file_load(sample->registry, two, &fault), -ELOOP);
    unlink(two);
    assert_int_equal(option_file_load(sample->registry, two, &fault), -ENOENT);
    assert_int_equal(fault.line, 0);
    unlink(one);
    unlink(main_path);
    rmdir(folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_setup, sample_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_set_options),
        TEST(a_fault_names_the_line),
        TEST(lines_of_one_option_add_up_and_replace_the_default),
        TEST(a_zero_byte_is_a_fault),
        TEST(includes_are_read_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
