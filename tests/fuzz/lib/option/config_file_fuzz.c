/* Any text may be given as a configuration file. What was read must survive a rewrite: the file written for the values
 * reads back to the same values. Includes are left out: they would open files by fuzzed names. */
#include "lib/option/registry.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const fuzz_colours[] = {"red", "green", NULL};

struct fuzz_options {
    option_number count, size, octal, boolean, choice;
    struct option_text word, words, lines;
};

#define OPTION_OWNER fuzz_options
static const struct option rows[] = {OPTION_ROW(count, count, "count", 5, -10, 1000, LIVE, "") OPTION_ROW(
    size, size, "size", 1024, 0, 9223372036854775807, LIVE, "") OPTION_ROW(octal, octal, "octal", 0, 0, 0777, LIVE, "")
                                         OPTION_ROW(boolean, boolean, "boolean", 0, 0, 1, LIVE, "")
                                             OPTION_ROW(choice, choice, "choice", 0, fuzz_colours, 0, LIVE, "")
                                                 OPTION_ROW(text, word, "word", "", 0, 100, LIVE, "")
                                                     OPTION_ROW(text, words, "words", "a b", 0, 100, LIVE, "")
                                                         OPTION_ROW(text, lines, "lines", "1 2", 0, 100, LIVE, "")};

static const struct option_rule rules[] = {
    {.name = "count", .alias = "number"},
    {.name = "words", .flags = OPTION_MANY_WORDS},
    {.name = "lines", .flags = OPTION_MANY_WORDS | OPTION_MANY_LINES},
};

static struct option_registry *make(struct fuzz_options *options)
{
    struct option_registry *registry = option_registry_create();
    option_registry_add(registry, rows, COUNT_OF(rows), options);
    option_registry_rules(registry, rules, COUNT_OF(rules), NULL);
    return registry;
}

static void compare(struct option_registry *a, struct option_registry *b)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf x, y;
        buf_init(&x, 65536);
        buf_init(&y, 65536);
        CHECK(option_registry_show(a, bytes_of(rows[i].name), &x) == 0);
        CHECK(option_registry_show(b, bytes_of(rows[i].name), &y) == 0);
        CHECK(bytes_equal(buf_bytes(&x), buf_bytes(&y)));
        buf_deinit(&x);
        buf_deinit(&y);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 65536 || bytes_glob(BYTES("*include*"), bytes_make(data, size), true))
        return 0;
    struct fuzz_options options, again;
    struct option_fault fault;
    struct option_registry *registry = make(&options);
    bool whole = option_text_load(registry, bytes_make(data, size), "fuzz", &fault) == 0;
    struct buf text;
    buf_init(&text, (size_t)1 << 20);
    /* Over the text itself when it was right, else over nothing: the bad line would stay. */
    if (option_text_rewrite(registry, whole ? bytes_make(data, size) : BYTES(""), &text) == 0) {
        struct option_registry *second = make(&again);
        CHECK(option_text_load(second, buf_bytes(&text), "rewritten", &fault) == 0);
        compare(registry, second);
        option_registry_destroy(second);
    }
    buf_deinit(&text);
    option_registry_destroy(registry);
    return 0;
}
