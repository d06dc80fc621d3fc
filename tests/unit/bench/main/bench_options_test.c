#include "bench/main/bench_config.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Parses words separated by single spaces; they are cut in place and must outlive the options. */
static int parse(struct bench_options *options, char *words, char *error)
{
    static char program[] = "ketch-bench";
    char *argv[64] = {program};
    int argc = 1;
    for (char *at = words; at; argc++) {
        argv[argc] = at;
        at = strchr(at, ' ');
        if (at)
            *at++ = '\0';
    }
    return bench_options_parse(options, argc, argv, error);
}

static void every_row_is_sound(void **state)
{
    (void)state;
    for (unsigned i = 0; i < bench_option_row_count; i++) {
        const struct option_row *row = &bench_option_rows[i];
        if (row->kind == OPTION_GROUP)
            continue;
        assert_non_null(row->name);
        assert_true(row->kind >= OPTION_TLS || row->help != NULL);
        assert_true(row->kind != OPTION_OTHER || row->read != NULL);
        assert_true((row->kind == OPTION_FLAG || row->kind == OPTION_REPEAT) == (row->argument == NULL) ||
                    row->kind >= OPTION_TLS);
        for (unsigned j = i + 1; j < bench_option_row_count; j++) {
            if (!bench_option_rows[j].name)
                continue;
            assert_string_not_equal(row->name, bench_option_rows[j].name);
            assert_true(row->letter == 0 || row->letter != bench_option_rows[j].letter);
        }
    }
}

static void one_dash_names_and_letters_with_values_do_not_clash(void **state)
{
    (void)state;
    struct bench_options options;
    char error[OPTION_ERROR_SIZE], words[] = "-clients=50 -threads=6 -data-size=1024 -hother -p1234 -n17 -x3";
    assert_int_equal(parse(&options, words, error), 0);
    assert_int_equal(options.load.clients, 50);
    assert_int_equal(options.load.threads, 6);
    assert_int_equal(options.workload.data_size, 1024);
    assert_string_equal(options.target.host, "other");
    assert_int_equal(options.target.port, 1234);
    assert_int_equal(options.load.requests, 17);
    assert_int_equal(options.run_count, 3);
}

static void values_may_begin_with_a_dash(void **state)
{
    (void)state;
    struct bench_options options;
    char error[OPTION_ERROR_SIZE], words[] = "-a -secret --key-prefix -x-";
    assert_int_equal(parse(&options, words, error), 0);
    assert_string_equal(options.authenticate, "-secret");
    assert_string_equal(options.workload.key_prefix, "-x-");
}

static void tls_is_the_first_thing_refused(void **state)
{
    (void)state;
    struct bench_options options;
    char error[OPTION_ERROR_SIZE], words[] = "--cluster-mode --tls";
    assert_int_equal(parse(&options, words, error), 0);
    assert_true(bench_options_refused(&options, error));
    assert_string_equal(error, "TLS is not available in this version (--tls)");
}

static void settings_hide_secrets(void **state)
{
    (void)state;
    static const char *const lines[] = {"-a hunter2",
                                        "-a me:hunter2",
                                        "-a :hun:ter2",
                                        "-u redis://hunter2@h",
                                        "-u redis://me:hunter2@h:5/1",
                                        "-u redis://me:hun%40ter2@h"};
    for (int line = 0; line < 6; line++) {
        struct bench_options options;
        struct bench_config config;
        struct report_setting settings[SETTINGS_MAX];
        char error[OPTION_ERROR_SIZE], words[128];
        snprintf(words, sizeof(words), "%s", lines[line]);
        assert_int_equal(parse(&options, words, error), 0);
        assert_int_equal(bench_config_init(&config, &options, error), 0);
        assert_non_null(options.target.password);
        unsigned count = bench_settings_list(&config, settings);
        for (unsigned i = 0; i < count; i++)
            assert_true(!settings[i].text || !strstr(settings[i].text, "hun"));
        bench_settings_free(settings, count);
        bench_config_deinit(&config);
    }
}

static void all_keys_are_shared_out(void **state)
{
    (void)state;
    struct bench_options options;
    struct bench_config config;
    char error[OPTION_ERROR_SIZE];
    char words[] = "-n allkeys --key-pattern P:P --key-minimum 1 --key-maximum 1000 -c 3 -t 2";
    assert_int_equal(parse(&options, words, error), 0);
    assert_int_equal(bench_config_init(&config, &options, error), 0);
    assert_int_equal(options.load.requests, 167);
    bench_config_deinit(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_sound),
        cmocka_unit_test(one_dash_names_and_letters_with_values_do_not_clash),
        cmocka_unit_test(values_may_begin_with_a_dash),
        cmocka_unit_test(tls_is_the_first_thing_refused),
        cmocka_unit_test(settings_hide_secrets),
        cmocka_unit_test(all_keys_are_shared_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
