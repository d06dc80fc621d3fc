#include "bench/main/bench_session.h"

#include <signal.h>

enum { EXIT_GOOD = 0, EXIT_BAD = 1, EXIT_USAGE = 2 };

static void signals_prepare(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL); /* in all threads: the session reads them from a descriptor */
    signal(SIGPIPE, SIG_IGN);
}

int main(int argc, char **argv)
{
    static struct bench_options options;
    struct bench_config config;
    char error[OPTION_ERROR_SIZE];
    if (bench_options_parse(&options, argc, argv, error) < 0) {
        fprintf(stderr, "error: %s\n", error);
        bench_usage_print(stdout);
        return EXIT_USAGE;
    }
    if (options.help) {
        bench_usage_print(stdout);
        return EXIT_USAGE;
    }
    if (options.version) {
        printf("ketch-bench v=%s bits=%zu\n", KETCH_VERSION, sizeof(void *) * 8);
        return EXIT_GOOD;
    }
    if (bench_options_refused(&options, error)) {
        fprintf(stderr, "error: %s\n", error);
        return EXIT_BAD;
    }
    int status = EXIT_BAD;
    if (bench_config_init(&config, &options, error) < 0) {
        fprintf(stderr, "error: %s\n", error);
    } else {
        if (config.warning[0])
            fprintf(stderr, "%s\n", config.warning);
        signals_prepare();
        status = bench_session(&config) == 0 ? EXIT_GOOD : EXIT_BAD;
    }
    bench_config_deinit(&config);
    return status;
}
