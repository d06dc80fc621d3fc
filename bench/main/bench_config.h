/* bench_config.h - from parsed options to a configuration that can run: what options say together.
 *
 * Owns:       the texts taken out of --uri and --authenticate.
 * Threads:    one.
 * Fails by:   a text for the user. */
#ifndef KETCH_BENCH_MAIN_BENCH_CONFIG_H
#define KETCH_BENCH_MAIN_BENCH_CONFIG_H

#include "bench/main/bench_options.h"

#define SETTINGS_MAX 80

struct bench_config {
    struct bench_options *options;
    char *uri_host, *user, *password; /* owned */
    char warning[OPTION_ERROR_SIZE];  /* for stderr; may be empty */
};

/* Checks and completes the options. 0, or -1 with a text in error (OPTION_ERROR_SIZE). */
MUST_USE int bench_config_init(struct bench_config *config, struct bench_options *options, char *error);
void bench_config_deinit(struct bench_config *config);

/* The configuration as reports show it, secrets masked; returns how many. Free with bench_settings_free. */
unsigned bench_settings_list(const struct bench_config *config, struct report_setting *settings);
void bench_settings_free(struct report_setting *settings, unsigned count);

#endif
