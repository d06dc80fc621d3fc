#include "bench/report/json_writer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What the writer made of one string. */
static void escaped(const char *text, const char *expected)
{
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    struct json_writer json;
    json_init(&json, file);
    json_text(&json, NULL, text);
    fclose(file);
    assert_string_equal(out, expected);
    free(out);
}

static void strings_are_escaped(void **state)
{
    (void)state;
    escaped("plain", "\"plain\"");
    escaped("a\"b\\c", "\"a\\\"b\\\\c\"");
    escaped("\n\t\x01\x7f", "\"\\u000a\\u0009\\u0001\\u007f\"");
    escaped("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    /* Not UTF-8: alone, cut short, overlong, a surrogate, past the last. */
    escaped("\xff", "\"\\u00ff\"");
    escaped("\xc3", "\"\\u00c3\"");
    escaped("\xc0\xaf", "\"\\u00c0\\u00af\"");
    escaped("\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\"");
    escaped("\xf4\x90\x80\x80", "\"\\u00f4\\u0090\\u0080\\u0080\"");
    escaped(NULL, "null");
}

static void structure_has_commas_and_indentation(void **state)
{
    (void)state;
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);
    struct json_writer json;
    json_init(&json, file);
    json_open_object(&json, NULL);
    json_integer(&json, "a", -5);
    json_real(&json, "b", 1.0 / 3, 2);
    json_real(&json, "c", NAN, 2);
    json_open_array(&json, "d");
    json_boolean(&json, NULL, true);
    json_open_object(&json, NULL);
    json_close(&json);
    json_close(&json);
    json_close(&json);
    fclose(file);
    assert_string_equal(out,
                        "{\n\t\"a\": -5,\n\t\"b\": 0.33,\n\t\"c\": null,\n\t\"d\": [\n\t\ttrue,\n\t\t{}\n\t]\n}\n");
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(structure_has_commas_and_indentation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
