#include "bench/report/verdict.h"

/* Waiting so much of the time for a processor colours every latency. */
#define STARVED_PERCENT 20

void verdict_generator(const struct run_result *result, char *to, size_t size)
{
    int length = snprintf(to, size, "%s",
                          run_result_generator_bound(result)
                              ? "The load generator was the bottleneck: give it more threads, processors or machines "
                                "before you believe these figures."
                              : "The load generator was not the bottleneck.");
    if (result->starved_percent >= STARVED_PERCENT && length > 0 && (size_t)length < size)
        snprintf(to + length, size - (size_t)length,
                 " Its threads waited for a processor %.0f%% of the time: this machine has too few for all that runs "
                 "on it, and latencies include that.",
                 result->starved_percent);
}

static void error_line(FILE *to, const char *what, uint64_t count)
{
    if (count > 0)
        fprintf(to, "%-40s %12llu\n", what, (unsigned long long)count);
}

static void errors_print(const struct error_tally *errors, FILE *to)
{
    if (error_tally_clean(errors))
        return;
    fprintf(to, "\nErrors\n");
    for (unsigned i = 0; i < CONNECTION_ERRORS; i++)
        error_line(to, connection_error_name(i), errors->connections[i]);
    for (unsigned i = 0; i < errors->reply_words; i++) {
        char name[ERROR_WORD_SIZE + 16];
        snprintf(name, sizeof(name), "error reply %s", errors->replies[i].word);
        error_line(to, name, errors->replies[i].count);
    }
    error_line(to, "other error replies", errors->replies_other);
    error_line(to, "requests without a reply", errors->unanswered);
    error_line(to, "requests that could not be sent", errors->unsent);
}

void verdict_print(const struct run_result *result, FILE *to)
{
    char sentence[VERDICT_SIZE];
    errors_print(&result->errors, to);
    verdict_generator(result, sentence, sizeof(sentence));
    fprintf(
        to,
        "\nLoad generator: %.3f CPU us per operation, %.3f CPU seconds, busiest thread %.0f%% (%.0f%% waiting), %s\n",
        run_result_cpu_us(result), result->cpu_s, result->busiest_percent, result->starved_percent,
        result->io_name[0] ? result->io_name : "no loop");
    fprintf(to, "%s\n", sentence);
}
