#include "bench/stats/run_result.h"

#include "lib/base/mem.h"

#define GENERATOR_BOUND_PERCENT 90

void run_result_init(struct run_result *result)
{
    *result = (struct run_result){0};
}

struct result_row *run_result_row_add(struct run_result *result, const char *name, const char *command, bool reads_key,
                                      bool exists)
{
    CHECK(result->row_count < RESULT_ROWS_MAX);
    struct result_row *row = &result->rows[result->row_count++];
    *row = (struct result_row){.name = name, .command = command, .reads_key = reads_key, .exists = exists};
    CHECK(histogram_init(&row->latency, LATENCY_HIGHEST_US, LATENCY_DIGITS) == 0);
    return row;
}

void run_result_deinit(struct run_result *result)
{
    for (unsigned i = 0; i < result->row_count; i++)
        histogram_deinit(&result->rows[i].latency);
    result->row_count = 0;
}

void run_result_take(struct run_result *result, const struct recorder *recorder)
{
    for (unsigned i = 0; i < recorder->class_count; i++) {
        const struct recorder_class *class = &recorder->classes[i];
        struct result_row *row = &result->rows[i];
        row->hits += class->replies[REPLY_HIT];
        row->misses += class->replies[REPLY_MISS];
        row->errors += class->replies[REPLY_ERROR];
        row->bytes_rx += class->bytes_rx;
        row->bytes_tx += class->bytes_tx;
        CHECK(histogram_add(&row->latency, &class->total) == 0);
    }
    error_tally_add(&result->errors, &recorder->errors);
}

static double per_second(double amount, double duration_s)
{
    return duration_s > 0 ? amount / duration_s : 0;
}

void run_result_complete(struct run_result *result)
{
    struct result_row *totals = run_result_totals(result);
    for (unsigned i = 0; i < result->row_count; i++) {
        struct result_row *row = &result->rows[i];
        row->count = row->latency.total;
        row->accumulated_us = row->latency.sum;
        row->operations_per_s = per_second((double)row->count, result->duration_s);
        row->hits_per_s = per_second((double)row->hits, result->duration_s);
        row->misses_per_s = per_second((double)row->misses, result->duration_s);
        row->rx_kb_per_s = per_second((double)row->bytes_rx / 1024, result->duration_s);
        row->tx_kb_per_s = per_second((double)row->bytes_tx / 1024, result->duration_s);
        if (row == totals)
            break;
        totals->hits += row->hits;
        totals->misses += row->misses;
        totals->errors += row->errors;
        totals->bytes_rx += row->bytes_rx;
        totals->bytes_tx += row->bytes_tx;
        CHECK(histogram_add(&totals->latency, &row->latency) == 0);
    }
}

static uint64_t mean_count(uint64_t sum, unsigned count)
{
    return (sum + count / 2) / count;
}

static void row_average(struct result_row *to, const struct run_result *const *from, unsigned runs, unsigned at)
{
    for (unsigned run = 0; run < runs; run++) {
        const struct result_row *row = &from[run]->rows[at];
        to->count += row->count;
        to->hits += row->hits;
        to->misses += row->misses;
        to->errors += row->errors;
        to->bytes_rx += row->bytes_rx;
        to->bytes_tx += row->bytes_tx;
        to->operations_per_s += row->operations_per_s / runs;
        to->hits_per_s += row->hits_per_s / runs;
        to->misses_per_s += row->misses_per_s / runs;
        to->rx_kb_per_s += row->rx_kb_per_s / runs;
        to->tx_kb_per_s += row->tx_kb_per_s / runs;
        to->accumulated_us += row->accumulated_us / runs;
        CHECK(histogram_add(&to->latency, &row->latency) == 0);
    }
    to->count = mean_count(to->count, runs);
    to->hits = mean_count(to->hits, runs);
    to->misses = mean_count(to->misses, runs);
    to->errors = mean_count(to->errors, runs);
    to->bytes_rx = mean_count(to->bytes_rx, runs);
    to->bytes_tx = mean_count(to->bytes_tx, runs);
}

void run_result_average(struct run_result *to, const struct run_result *const *from, unsigned from_count)
{
    const struct run_result *first = from[0], *last = from[from_count - 1];
    for (unsigned i = 0; i < first->row_count; i++) {
        const struct result_row *row = &first->rows[i];
        row_average(run_result_row_add(to, row->name, row->command, row->reads_key, row->exists), from, from_count, i);
    }
    const struct timeline **timelines = mem_alloc(from_count * sizeof(*timelines));
    for (unsigned run = 0; run < from_count; run++) {
        timelines[run] = &from[run]->timeline;
        to->duration_s += from[run]->duration_s / from_count;
        to->cpu_s += from[run]->cpu_s / from_count;
        if (from[run]->busiest_percent > to->busiest_percent)
            to->busiest_percent = from[run]->busiest_percent;
        if (from[run]->starved_percent > to->starved_percent)
            to->starved_percent = from[run]->starved_percent;
        to->interrupted |= from[run]->interrupted;
        error_tally_add(&to->errors, &from[run]->errors);
    }
    to->connections = first->connections;
    to->processors = first->processors;
    memcpy(to->io_name, first->io_name, sizeof(to->io_name));
    to->start_ms = first->start_ms;
    to->finish_ms = last->finish_ms;
    timeline_average(&to->timeline, timelines, from_count);
    mem_free(timelines);
}

void run_result_rank(const struct run_result *const *runs, unsigned count, unsigned *best, unsigned *worst)
{
    *best = *worst = 0;
    for (unsigned i = 1; i < count; i++) {
        double rate = runs[i]->rows[runs[i]->row_count - 1].operations_per_s;
        if (rate > runs[*best]->rows[runs[*best]->row_count - 1].operations_per_s)
            *best = i;
        if (rate < runs[*worst]->rows[runs[*worst]->row_count - 1].operations_per_s)
            *worst = i;
    }
}

double run_result_cpu_us(const struct run_result *result)
{
    uint64_t operations = result->rows[result->row_count - 1].count;
    return operations > 0 ? result->cpu_s * 1e6 / (double)operations : 0;
}

bool run_result_generator_bound(const struct run_result *result)
{
    double available_s = result->duration_s * result->processors;
    if (result->row_count > 0 && result->rows[result->row_count - 1].count == 0)
        return false;
    return result->busiest_percent >= GENERATOR_BOUND_PERCENT ||
           (available_s > 0 && result->cpu_s * 100 / available_s >= GENERATOR_BOUND_PERCENT);
}
