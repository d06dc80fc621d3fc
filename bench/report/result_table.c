#include "bench/report/result_table.h"

#include "bench/report/verdict.h"

#define NUMBER_WIDTH 12
#define LATENCY_WIDTH 15
#define TYPE_WIDTH_MIN 6
#define DISTRIBUTION_RULE 72
#define DISTRIBUTION_TICKS 10

void result_table_head(const struct report_options *options, FILE *to)
{
    fprintf(to, "%-9u Threads\n", options->threads);
    fprintf(to, "%-9u Connections per thread\n", options->clients);
    if (options->requests > 0)
        fprintf(to, "%-9llu Requests per client\n", (unsigned long long)options->requests);
    else
        fprintf(to, "%-9u Seconds\n", options->test_time_s);
}

static void rule(FILE *to, char mark, int width)
{
    for (int i = 0; i < width; i++)
        fputc(mark, to);
    fputc('\n', to);
}

static void number_cell(FILE *to, bool shown, double value)
{
    if (shown)
        fprintf(to, "%*.2f ", NUMBER_WIDTH, value);
    else
        fprintf(to, "%*s ", NUMBER_WIDTH, "---");
}

static void latency_cell(FILE *to, bool shown, double us)
{
    if (shown)
        fprintf(to, "%*.05f ", LATENCY_WIDTH, us / 1000);
    else
        fprintf(to, "%*s ", LATENCY_WIDTH, "---");
}

static void row_print(const struct report_options *options, const struct result_row *row, int type_width, FILE *to)
{
    bool sampled = row->count > 0;
    fprintf(to, "%-*s ", type_width, row->name);
    number_cell(to, true, row->operations_per_s);
    number_cell(to, row->reads_key, row->hits_per_s);
    number_cell(to, row->reads_key, row->misses_per_s);
    latency_cell(to, sampled, histogram_mean(&row->latency));
    for (unsigned i = 0; i < options->percentile_count; i++)
        latency_cell(to, sampled, (double)histogram_percentile(&row->latency, options->percentiles[i]));
    number_cell(to, row->exists, row->rx_kb_per_s + row->tx_kb_per_s);
    fputc('\n', to);
}

static void table_print(const struct report_options *options, const struct report_section *section, FILE *to)
{
    const struct run_result *result = section->result;
    int type_width = TYPE_WIDTH_MIN;
    for (unsigned i = 0; i < result->row_count; i++)
        if ((int)strlen(result->rows[i].name) > type_width)
            type_width = (int)strlen(result->rows[i].name);
    type_width++;
    int width = type_width + 1 + 4 * (NUMBER_WIDTH + 1) + (1 + (int)options->percentile_count) * (LATENCY_WIDTH + 1);
    fprintf(to, "\n\n%s\n", section->title);
    rule(to, '=', width);
    fprintf(to, "%-*s %*s %*s %*s %*s ", type_width, "Type", NUMBER_WIDTH, "Ops/sec", NUMBER_WIDTH, "Hits/sec",
            NUMBER_WIDTH, "Misses/sec", LATENCY_WIDTH, "Avg. Latency");
    for (unsigned i = 0; i < options->percentile_count; i++) {
        char label[PERCENTILE_NAME], head[PERCENTILE_NAME + 10];
        report_percentile_label(options->percentiles[i], label, sizeof(label));
        snprintf(head, sizeof(head), "%s Latency", label);
        fprintf(to, "%*s ", LATENCY_WIDTH, head);
    }
    fprintf(to, "%*s \n", NUMBER_WIDTH, "KB/sec");
    rule(to, '-', width);
    for (unsigned i = 0; i < result->row_count; i++)
        row_print(options, &result->rows[i], type_width, to);
}

static void distribution_print(const struct run_result *result, FILE *to)
{
    fprintf(to, "\n\nRequest Latency Distribution\n%-6s %12s %12s\n", "Type", "<= msec   ", "Percent");
    rule(to, '-', DISTRIBUTION_RULE);
    bool first = true;
    for (unsigned i = 0; i < result->row_count; i++) {
        const struct result_row *row = &result->rows[i];
        if (!row->command)
            continue;
        if (!first)
            fprintf(to, "---\n");
        first = false;
        if (row->count == 0) {
            fprintf(to, "%-6s %8.3f %12.3f\n", row->command, 0.0, 100.0);
            continue;
        }
        struct histogram_percentile_iterator at = {0};
        while (histogram_next_percentile(&row->latency, DISTRIBUTION_TICKS, &at))
            fprintf(to, "%-6s %8.3f %12.3f\n", row->command, (double)at.value / 1000, at.percentile);
    }
}

void result_table_section(const struct report_options *options, const struct report_section *section, FILE *to)
{
    table_print(options, section, to);
    if (!options->hide_histogram)
        distribution_print(section->result, to);
    verdict_print(section->result, to);
}
