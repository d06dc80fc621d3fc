#include "bench/report/result_json.h"

#include "bench/report/json_writer.h"
#include "bench/report/verdict.h"

#define FORMAT_VERSION 2
#define DISTRIBUTION_TICKS 10
#define ENCODED_BYTES_MAX (16u << 20)

/* What all rows of a document share. */
struct row_keys {
    const struct report_options *options;
    unsigned order[PERCENTILES_MAX];
    char seconds[PERCENTILES_MAX][PERCENTILE_NAME];
    char whole[PERCENTILES_MAX][PERCENTILE_NAME];
};

static void cell_write(struct json_writer *json, const struct row_keys *keys, const struct timeline_cell *cell,
                       uint32_t second)
{
    char name[16];
    snprintf(name, sizeof(name), "%u", second);
    json_open_object(json, name);
    json_integer(json, "Bytes RX", (int64_t)cell->bytes_rx);
    json_integer(json, "Bytes TX", (int64_t)cell->bytes_tx);
    json_integer(json, "Count", (int64_t)cell->count);
    if (cell->count > 0) {
        json_real(json, "Average Latency", cell->sum_us / 1000 / (double)cell->count, 3);
        json_real(json, "Accumulated Latency", cell->sum_us / 1000, 0);
        json_real(json, "Min Latency", (double)cell->min_us / 1000, 3);
        json_real(json, "Max Latency", (double)cell->max_us / 1000, 3);
        for (unsigned i = 0; cell->percentiles && i < keys->options->percentile_count; i++)
            json_real(json, keys->seconds[keys->order[i]], (double)cell->percentiles[keys->order[i]] / 1000, 3);
    }
    json_close(json);
}

static void time_serie_write(struct json_writer *json, const struct row_keys *keys, const struct run_result *result,
                             unsigned at)
{
    static const struct timeline_cell nothing = {0};
    /* The timeline's classes are the rows that exist, and last the totals. */
    unsigned class_index = 0;
    for (unsigned i = 0; i < at; i++)
        class_index += result->rows[i].exists;
    json_open_object(json, "Time-Serie");
    for (uint32_t second = 0; second < result->timeline.closed; second++) {
        bool exists = result->rows[at].exists;
        cell_write(json, keys, exists ? timeline_cell(&result->timeline, second, class_index) : &nothing, second);
    }
    json_close(json);
}

static void percentiles_write(struct json_writer *json, const struct row_keys *keys, const struct result_row *row)
{
    json_open_object(json, "Percentile Latencies");
    for (unsigned i = 0; i < keys->options->percentile_count; i++) {
        unsigned at = keys->order[i];
        int64_t us = histogram_percentile(&row->latency, keys->options->percentiles[at]);
        json_real(json, keys->whole[at], (double)us / 1000, 3);
    }
    struct buf encoded;
    buf_init(&encoded, ENCODED_BYTES_MAX);
    json_open_object(json, "Histogram log format");
    if (histogram_encode(&row->latency, &encoded) == 0 && buf_append(&encoded, "", 1) == 0)
        json_text(json, "Compressed Histogram", (const char *)encoded.data);
    json_close(json);
    buf_deinit(&encoded);
    json_close(json);
}

static void row_write(struct json_writer *json, const struct row_keys *keys, const struct run_result *result,
                      unsigned at)
{
    const struct result_row *row = &result->rows[at];
    uint64_t connection_errors = row->command ? 0 : error_tally_connections(&result->errors);
    double mean_ms = histogram_mean(&row->latency) / 1000, kb_per_s = row->rx_kb_per_s + row->tx_kb_per_s;
    json_open_object(json, row->name);
    json_integer(json, "Count", (int64_t)row->count);
    json_real(json, "Ops/sec", row->operations_per_s, 2);
    json_real(json, "Hits/sec", row->hits_per_s, 2);
    json_real(json, "Misses/sec", row->misses_per_s, 2);
    json_real(json, "Connection Errors/sec",
              result->duration_s > 0 ? (double)connection_errors / result->duration_s : 0, 2);
    json_integer(json, "Connection Errors", (int64_t)connection_errors);
    json_real(json, "Latency", mean_ms, 3);
    json_real(json, "Average Latency", mean_ms, 3);
    json_real(json, "Accumulated Latency", row->accumulated_us / 1000, 0);
    json_real(json, "Min Latency", row->count > 0 ? (double)row->latency.min / 1000 : 0, 3);
    json_real(json, "Max Latency", row->count > 0 ? (double)row->latency.max / 1000 : 0, 3);
    json_real(json, "KB/sec", kb_per_s, 2);
    json_real(json, "KB/sec RX/TX", kb_per_s, 2);
    json_real(json, "KB/sec RX", row->rx_kb_per_s, 2);
    json_real(json, "KB/sec TX", row->tx_kb_per_s, 2);
    time_serie_write(json, keys, result, at);
    percentiles_write(json, keys, row);
    json_integer(json, "Error Replies", (int64_t)row->errors);
    json_close(json);
}

static void distribution_write(struct json_writer *json, const struct result_row *row)
{
    struct histogram_percentile_iterator at = {0};
    json_open_array(json, row->command);
    bool more = row->count > 0 && histogram_next_percentile(&row->latency, DISTRIBUTION_TICKS, &at);
    do {
        json_open_object(json, NULL);
        json_real(json, "<=msec", more ? (double)at.value / 1000 : 0, 3);
        json_real(json, "percent", more ? at.percentile : 100, 3);
        json_close(json);
    } while (more && histogram_next_percentile(&row->latency, DISTRIBUTION_TICKS, &at));
    json_close(json);
}

static void errors_write(struct json_writer *json, const struct error_tally *errors)
{
    json_open_object(json, "Errors");
    json_open_object(json, "Connections");
    for (unsigned i = 0; i < CONNECTION_ERRORS; i++)
        if (errors->connections[i] > 0)
            json_integer(json, connection_error_name(i), (int64_t)errors->connections[i]);
    json_close(json);
    json_open_object(json, "Replies");
    for (unsigned i = 0; i < errors->reply_words; i++)
        json_integer(json, errors->replies[i].word, (int64_t)errors->replies[i].count);
    if (errors->replies_other > 0)
        json_integer(json, "(other)", (int64_t)errors->replies_other);
    json_close(json);
    json_integer(json, "Unanswered", (int64_t)errors->unanswered);
    json_integer(json, "Not sent", (int64_t)errors->unsent);
    json_close(json);
}

static void generator_write(struct json_writer *json, const struct run_result *result)
{
    char sentence[VERDICT_SIZE];
    verdict_generator(result, sentence, sizeof(sentence));
    json_open_object(json, "Load generator");
    json_real(json, "CPU seconds", result->cpu_s, 3);
    json_real(json, "CPU us per operation", run_result_cpu_us(result), 3);
    json_real(json, "Busiest thread percent", result->busiest_percent, 1);
    json_real(json, "Waiting for a processor percent", result->starved_percent, 1);
    json_boolean(json, "Bottleneck", run_result_generator_bound(result));
    json_text(json, "Verdict", sentence);
    json_text(json, "I/O", result->io_name);
    json_integer(json, "Connections", (int64_t)result->connections);
    json_close(json);
}

static void section_write(struct json_writer *json, const struct row_keys *keys, const struct report_section *section)
{
    const struct run_result *result = section->result;
    json_open_object(json, section->title);
    json_open_object(json, "Runtime");
    json_integer(json, "Start time", result->start_ms);
    json_integer(json, "Finish time", result->finish_ms);
    json_real(json, "Total duration", result->duration_s * 1000, 0);
    json_text(json, "Time unit", "MILLISECONDS");
    json_text(json, "Interrupted", result->interrupted ? "true" : "false");
    json_close(json);
    for (unsigned i = 0; i < result->row_count; i++)
        row_write(json, keys, result, i);
    for (unsigned i = 0; !keys->options->hide_histogram && i < result->row_count; i++)
        if (result->rows[i].command)
            distribution_write(json, &result->rows[i]);
    errors_write(json, &result->errors);
    generator_write(json, result);
    json_close(json);
}

void result_json_write(const struct result_json *document, FILE *to)
{
    const struct report_options *options = document->options;
    struct row_keys keys = {.options = options};
    report_percentile_order(options, keys.order);
    report_percentile_keys(options, 2, keys.seconds);
    report_percentile_keys(options, 3, keys.whole);
    struct json_writer json;
    json_init(&json, to);
    json_open_object(&json, NULL);
    json_open_object(&json, "configuration");
    for (unsigned i = 0; i < document->setting_count; i++) {
        const struct report_setting *setting = &document->settings[i];
        if (setting->number && setting->text)
            json_raw(&json, setting->name, setting->text);
        else
            json_text(&json, setting->name, setting->text);
    }
    json_close(&json);
    json_open_object(&json, "run information");
    json_integer(&json, "Threads", options->threads);
    json_integer(&json, "Connections per thread", options->clients);
    if (options->requests > 0)
        json_integer(&json, "Requests per client", (int64_t)options->requests);
    else
        json_integer(&json, "Seconds", options->test_time_s);
    json_integer(&json, "Format version", FORMAT_VERSION);
    json_close(&json);
    for (unsigned i = 0; i < document->section_count; i++)
        section_write(&json, &keys, &document->sections[i]);
    json_close(&json);
}
