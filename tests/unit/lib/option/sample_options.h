/* sample_options.h - a small table that the tests of this folder share. */
#ifndef KETCH_TESTS_UNIT_LIB_OPTION_SAMPLE_OPTIONS_H
#define KETCH_TESTS_UNIT_LIB_OPTION_SAMPLE_OPTIONS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/option/registry.h"

static const char *const sample_colours[] = {"red", "green", "blue", NULL};

struct sample_options {
#define OPTION OPTION_FIELD
#include "tests/unit/lib/option/sample.def"
#undef OPTION
};

#define OPTION_OWNER sample_options
#define OPTION OPTION_ROW
static const struct option sample_rows[] = {
#include "tests/unit/lib/option/sample.def"
};
#undef OPTION
#undef OPTION_OWNER

struct sample {
    struct option_registry *registry;
    struct sample_options options;
    int applied;      /* calls of apply hooks */
    bool apply_fails; /* the colour cannot be applied */
};

static int sample_apply_width(void *context, const char *value, struct option_error *error)
{
    struct sample *sample = context;
    (void)value, (void)error;
    sample->applied++;
    return 0;
}

static int sample_apply_colour(void *context, const char *value, struct option_error *error)
{
    struct sample *sample = context;
    return sample->apply_fails && value[0] == 'r' ? option_fail(error, -22, "no %s to be had", value) : 0;
}

static const struct option_rule sample_rules[] = {
    {.name = "width", .alias = "breadth", .apply = sample_apply_width},
    {.name = "colour", .apply = sample_apply_colour},
    {.name = "hosts", .flags = OPTION_MANY_WORDS},
    {.name = "point", .flags = OPTION_MANY_WORDS | OPTION_MANY_LINES},
    {.name = "durable", .flags = OPTION_FIXED},
    {.name = "secret", .flags = OPTION_PROTECTED},
};

static inline int sample_setup(void **state)
{
    static struct sample sample;
    sample = (struct sample){.registry = option_registry_create()};
    option_registry_add(sample.registry, sample_rows, COUNT_OF(sample_rows), &sample.options);
    option_registry_rules(sample.registry, sample_rules, COUNT_OF(sample_rules), &sample);
    *state = &sample;
    return 0;
}

static inline int sample_teardown(void **state)
{
    option_registry_destroy(((struct sample *)*state)->registry);
    return 0;
}

/* The value of an option as CONFIG GET shows it. */
static inline const char *sample_shown(struct sample *sample, const char *name)
{
    static char text[256];
    struct buf value;
    buf_init(&value, sizeof(text) - 1);
    assert_int_equal(option_registry_show(sample->registry, bytes_of(name), &value), 0);
    memcpy(text, value.data ? value.data : (const uint8_t *)"", value.size);
    text[value.size] = '\0';
    buf_deinit(&value);
    return text;
}

static inline int sample_load(struct sample *sample, const char *text, struct option_fault *fault)
{
    return option_text_load(sample->registry, bytes_of(text), "test.conf", fault);
}

#endif
