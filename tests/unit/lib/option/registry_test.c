#include "tests/unit/lib/option/sample_options.h"

#include <errno.h>

static struct option_error error;

static int set(struct sample *sample, const char *name, const char *value)
{
    struct option_pair pair = {bytes_of(name), bytes_of(value)};
    memset(&error, 0, sizeof(error));
    return option_registry_set(sample->registry, &pair, 1, false, &error);
}

static void options_have_their_defaults(void **state)
{
    struct sample *sample = *state;
    assert_int_equal(option_get(&sample->options.width), 10);
    assert_int_equal(option_get(&sample->options.memory), 1048576);
    assert_string_equal(sample->options.title.at, "none");
    assert_string_equal(sample_shown(sample, "colour"), "green");
    assert_string_equal(sample_shown(sample, "bright"), "yes");
}

static void a_number_outside_its_range_is_refused(void **state)
{
    struct sample *sample = *state;
    assert_int_equal(set(sample, "width", "101"), -EINVAL);
    assert_string_equal(error.text, "argument must be between 1 and 100 inclusive");
    assert_string_equal(error.name, "width");
    assert_int_equal(set(sample, "width", "x"), -EINVAL);
    assert_string_equal(error.text, "argument couldn't be parsed into an integer");
    assert_int_equal(set(sample, "width", ""), -EINVAL);
    assert_int_equal(set(sample, "width", "100"), 0);
    assert_int_equal(option_get(&sample->options.width), 100);
}

static void sizes_take_memory_units(void **state)
{
    struct sample *sample = *state;
    static const struct {
        const char *text;
        int64_t bytes;
    } sizes[] = {{"4096", 4096}, {"2k", 2000}, {"2kb", 2048}, {"3MB", 3 << 20}, {"1g", 1000000000}, {"1gb", 1 << 30}};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        assert_int_equal(set(sample, "memory", sizes[i].text), 0);
        assert_int_equal(option_get(&sample->options.memory), sizes[i].bytes);
    }
    assert_int_equal(set(sample, "memory", "1x"), -EINVAL);
    assert_string_equal(error.text, "argument must be a memory value");
    assert_int_equal(set(sample, "memory", "-1"), -EINVAL);
    assert_int_equal(set(sample, "memory", "1"), -EINVAL);
    assert_int_equal(set(sample, "memory", "18446744073709551615"), -EINVAL);
}

static void choices_and_booleans_are_words_in_any_case(void **state)
{
    struct sample *sample = *state;
    assert_int_equal(set(sample, "colour", "BLUE"), 0);
    assert_string_equal(sample_shown(sample, "colour"), "blue");
    assert_int_equal(set(sample, "colour", "pink"), -EINVAL);
    assert_string_equal(error.text, "argument(s) must be one of the following: red, green, blue");
    assert_int_equal(set(sample, "bright", "No"), 0);
    assert_int_equal(option_get(&sample->options.bright), 0);
    assert_int_equal(set(sample, "bright", "1"), -EINVAL);
    assert_string_equal(error.text, "argument must be 'yes' or 'no'");
}

static void a_text_is_bounded_and_has_no_zero_byte(void **state)
{
    struct sample *sample = *state;
    assert_int_equal(set(sample, "title", "sixteen bytes ok"), 0);
    assert_int_equal(set(sample, "title", "seventeen bytes !"), -EINVAL);
    struct option_pair pair = {BYTES("title"), BYTES("a\0b")};
    assert_int_equal(option_registry_set(sample->registry, &pair, 1, false, &error), -EINVAL);
    assert_string_equal(sample->options.title.at, "sixteen bytes ok");
}

static void several_options_are_set_all_or_none(void **state)
{
    struct sample *sample = *state;
    struct option_pair pairs[] = {
        {BYTES("width"), BYTES("20")}, {BYTES("title"), BYTES("new")}, {BYTES("pause"), BYTES("99")}};
    assert_int_equal(option_registry_set(sample->registry, pairs, 3, false, &error), -EINVAL);
    assert_string_equal(error.name, "pause");
    assert_int_equal(option_get(&sample->options.width), 10);
    assert_string_equal(sample->options.title.at, "none");
    assert_int_equal(sample->applied, 0);
    pairs[2].value = BYTES("9");
    assert_int_equal(option_registry_set(sample->registry, pairs, 3, false, &error), 0);
    assert_int_equal(option_get(&sample->options.width), 20);
    assert_int_equal(sample->applied, 1);
}

static void a_value_that_cannot_be_applied_takes_the_others_back(void **state)
{
    struct sample *sample = *state;
    sample->apply_fails = true;
    struct option_pair pairs[] = {
        {BYTES("width"), BYTES("20")}, {BYTES("title"), BYTES("new")}, {BYTES("colour"), BYTES("red")}};
    assert_int_equal(option_registry_set(sample->registry, pairs, 3, false, &error), -22);
    assert_string_equal(error.name, "colour");
    assert_string_equal(error.text, "no red to be had");
    assert_int_equal(option_get(&sample->options.width), 10);
    assert_string_equal(sample->options.title.at, "none");
    assert_string_equal(sample_shown(sample, "colour"), "green");
    assert_int_equal(sample->applied, 2); /* the new value, then the old one again */
}

static void an_alias_is_another_name_of_the_same_option(void **state)
{
    struct sample *sample = *state;
    assert_int_equal(set(sample, "breadth", "33"), 0);
    assert_string_equal(sample_shown(sample, "width"), "33");
    assert_string_equal(sample_shown(sample, "BREADTH"), "33");
    struct option_pair twice[] = {{BYTES("width"), BYTES("1")}, {BYTES("width"), BYTES("2")}};
    assert_int_equal(option_registry_set(sample->registry, twice, 2, false, &error), -EINVAL);
    assert_string_equal(error.text, "duplicate parameter");
    twice[1].name = BYTES("breadth");
    assert_int_equal(option_registry_set(sample->registry, twice, 2, false, &error), 0);
    assert_int_equal(option_get(&sample->options.width), 2);
    bool seen = false;
    struct option_view view;
    for (size_t i = 0; option_registry_view(sample->registry, i, &view); i++)
        seen = seen || (view.is_alias && strcmp(view.name, "breadth") == 0);
    assert_true(seen);
}

static void what_may_not_change_says_why(void **state)
{
    struct sample *sample = *state;
    assert_int_equal(set(sample, "nothing", "1"), -ENOENT);
    assert_string_equal(error.name, "nothing");
    assert_int_equal(set(sample, "mode", "700"), -EPERM);
    assert_string_equal(error.text, "can't set immutable config");
    assert_int_equal(set(sample, "secret", "x"), -EPERM);
    assert_string_equal(error.text, "can't set protected config");
    assert_int_equal(set(sample, "durable", "yes"), -EINVAL);
    assert_int_equal(set(sample, "durable", "no"), 0);
    struct option_pair pair = {BYTES("secret"), BYTES("x")};
    assert_int_equal(option_registry_set(sample->registry, &pair, 1, true, &error), 0);
}

static void several_words_may_come_in_one_value(void **state)
{
    struct sample *sample = *state;
    assert_int_equal(set(sample, "hosts", " a  b "), 0);
    assert_string_equal(sample_shown(sample, "hosts"), "a b");
    assert_int_equal(set(sample, "hosts", ""), 0);
    assert_string_equal(sample_shown(sample, "hosts"), "");
}

static void texts_are_copied_out_cut_to_fit(void **state)
{
    struct sample *sample = *state;
    char text[3];
    assert_int_equal(option_text_copy(sample->registry, &sample->options.title, text, sizeof(text)), 4);
    assert_string_equal(text, "no");
    assert_false(option_text_empty(sample->registry, &sample->options.title));
    assert_true(option_text_empty(sample->registry, &sample->options.secret));
    assert_int_equal(option_registry_number(sample->registry, "width"), 10);
    assert_int_equal(option_registry_number(sample->registry, "unknown"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, sample_setup, sample_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(options_have_their_defaults),
        TEST(a_number_outside_its_range_is_refused),
        TEST(sizes_take_memory_units),
        TEST(choices_and_booleans_are_words_in_any_case),
        TEST(a_text_is_bounded_and_has_no_zero_byte),
        TEST(several_options_are_set_all_or_none),
        TEST(a_value_that_cannot_be_applied_takes_the_others_back),
        TEST(an_alias_is_another_name_of_the_same_option),
        TEST(what_may_not_change_says_why),
        TEST(several_words_may_come_in_one_value),
        TEST(texts_are_copied_out_cut_to_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
