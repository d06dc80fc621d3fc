#include "bench/stats/timeline.h"

#include "lib/base/mem.h"

void timeline_init(struct timeline *timeline, unsigned class_count, unsigned thread_count, const double *percentiles,
                   unsigned percentile_count, bool keeps_buckets)
{
    *timeline = (struct timeline){
        .class_count = class_count,
        .thread_count = thread_count,
        .percentiles = percentiles,
        .percentile_count = percentile_count,
        .keeps_buckets = keeps_buckets,
        .passed = mem_alloc_zeroed(thread_count * sizeof(uint32_t) + 1),
    };
    mutex_init(&timeline->mutex, MUTEX_RANK_LEAF);
}

static size_t columns(const struct timeline *timeline)
{
    return timeline->class_count + 1;
}

void timeline_deinit(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->closed * columns(timeline); i++) {
        mem_free(timeline->cells[i].percentiles);
        mem_free(timeline->cells[i].buckets);
    }
    mem_free(timeline->cells);
    for (unsigned i = 0; i < TIMELINE_OPEN_MAX; i++) {
        struct timeline_open *open = &timeline->open[i];
        if (!open->latency)
            continue;
        for (unsigned class_index = 0; class_index < timeline->class_count; class_index++)
            histogram_deinit(&open->latency[class_index]);
        mem_free(open->latency);
        mem_free(open->bytes_rx);
        mem_free(open->bytes_tx);
    }
    mem_free(timeline->passed);
    mutex_deinit(&timeline->mutex);
}

static void latency_init(struct histogram *latency)
{
    CHECK(histogram_init(latency, LATENCY_HIGHEST_US, LATENCY_DIGITS) == 0);
}

static struct timeline_open *second_open(struct timeline *timeline, uint32_t second)
{
    struct timeline_open *open = &timeline->open[second % TIMELINE_OPEN_MAX];
    if (!open->latency) {
        unsigned classes = timeline->class_count;
        open->latency = mem_alloc(classes * sizeof(struct histogram));
        open->bytes_rx = mem_alloc_zeroed(classes * sizeof(uint64_t));
        open->bytes_tx = mem_alloc_zeroed(classes * sizeof(uint64_t));
        for (unsigned i = 0; i < classes; i++)
            latency_init(&open->latency[i]);
    }
    return open;
}

static void buckets_keep(struct timeline_cell *cell, const struct histogram *latency)
{
    struct histogram_iterator at = {0};
    uint32_t count = 0;
    while (histogram_next(latency, &at))
        count++;
    cell->buckets = mem_alloc(count * sizeof(struct timeline_bucket));
    at = (struct histogram_iterator){0};
    while (cell->bucket_count < count && histogram_next(latency, &at))
        cell->buckets[cell->bucket_count++] =
            (struct timeline_bucket){.value_us = (uint32_t)at.value, .count = (uint32_t)at.count};
}

/* The latency part of a cell. */
static void cell_fill(const struct timeline *timeline, struct timeline_cell *cell, const struct histogram *latency)
{
    cell->count = latency->total;
    if (latency->total == 0)
        return;
    cell->sum_us = latency->sum;
    cell->min_us = latency->min;
    cell->max_us = latency->max;
    cell->percentiles = mem_alloc((timeline->percentile_count + 1) * sizeof(int64_t));
    for (unsigned i = 0; i < timeline->percentile_count; i++)
        cell->percentiles[i] = histogram_percentile(latency, timeline->percentiles[i]);
    if (timeline->keeps_buckets)
        buckets_keep(cell, latency);
}

static struct timeline_cell *second_append(struct timeline *timeline)
{
    if (timeline->closed == timeline->capacity) {
        timeline->capacity = timeline->capacity ? timeline->capacity * 2 : 64;
        timeline->cells =
            mem_realloc(timeline->cells, timeline->capacity * columns(timeline) * sizeof(struct timeline_cell));
    }
    struct timeline_cell *cells = timeline->cells + timeline->closed * columns(timeline);
    memset(cells, 0, columns(timeline) * sizeof(*cells));
    timeline->closed++;
    return cells;
}

static void second_close(struct timeline *timeline)
{
    struct timeline_open *open = &timeline->open[timeline->closed % TIMELINE_OPEN_MAX];
    struct timeline_cell *cells = second_append(timeline);
    if (!open->latency)
        return;
    struct timeline_cell *total = &cells[timeline->class_count];
    struct histogram all;
    latency_init(&all);
    for (unsigned i = 0; i < timeline->class_count; i++) {
        cells[i].bytes_rx = open->bytes_rx[i];
        cells[i].bytes_tx = open->bytes_tx[i];
        total->bytes_rx += open->bytes_rx[i];
        total->bytes_tx += open->bytes_tx[i];
        open->bytes_rx[i] = open->bytes_tx[i] = 0;
        cell_fill(timeline, &cells[i], &open->latency[i]);
        if (open->latency[i].total > 0) {
            CHECK(histogram_add(&all, &open->latency[i]) == 0);
            histogram_reset(&open->latency[i]);
        }
    }
    cell_fill(timeline, total, &all);
    histogram_deinit(&all);
}

void timeline_add(struct timeline *timeline, uint32_t second, unsigned class_index, const struct histogram *latency,
                  uint64_t bytes_rx, uint64_t bytes_tx)
{
    mutex_lock(&timeline->mutex);
    if (second < timeline->closed)
        second = timeline->closed;
    while (second >= timeline->closed + TIMELINE_OPEN_MAX)
        second_close(timeline);
    struct timeline_open *open = second_open(timeline, second);
    CHECK(histogram_add(&open->latency[class_index], latency) == 0);
    open->bytes_rx[class_index] += bytes_rx;
    open->bytes_tx[class_index] += bytes_tx;
    mutex_unlock(&timeline->mutex);
}

void timeline_pass(struct timeline *timeline, unsigned thread, uint32_t second)
{
    mutex_lock(&timeline->mutex);
    timeline->passed[thread] = second;
    uint32_t slowest = second;
    for (unsigned i = 0; i < timeline->thread_count; i++)
        if (timeline->passed[i] < slowest)
            slowest = timeline->passed[i];
    /* A thread that has ended passes UINT32_MAX: the end of the run is timeline_finish's to say. */
    while (slowest != UINT32_MAX && timeline->closed < slowest)
        second_close(timeline);
    mutex_unlock(&timeline->mutex);
}

void timeline_finish(struct timeline *timeline, uint32_t seconds)
{
    mutex_lock(&timeline->mutex);
    /* Samples may lie in any open second. */
    uint32_t last = seconds;
    for (uint32_t second = timeline->closed; second < timeline->closed + TIMELINE_OPEN_MAX; second++) {
        const struct timeline_open *open = &timeline->open[second % TIMELINE_OPEN_MAX];
        for (unsigned i = 0; open->latency && i < timeline->class_count; i++)
            if ((open->latency[i].total > 0 || open->bytes_tx[i] > 0) && second >= last)
                last = second + 1;
    }
    while (timeline->closed < last)
        second_close(timeline);
    mutex_unlock(&timeline->mutex);
}

const struct timeline_cell *timeline_cell(const struct timeline *timeline, uint32_t second, unsigned class_index)
{
    return &timeline->cells[second * columns(timeline) + class_index];
}

static void cell_average(const struct timeline *timeline, struct timeline_cell *to, const struct timeline *const *from,
                         unsigned from_count, size_t at)
{
    struct histogram latency;
    latency_init(&latency);
    uint64_t count = 0, bytes_rx = 0, bytes_tx = 0;
    double sum_us = 0;
    int64_t min_us = INT64_MAX, max_us = 0;
    for (unsigned run = 0; run < from_count; run++) {
        if (at >= from[run]->closed * columns(timeline))
            continue;
        const struct timeline_cell *cell = &from[run]->cells[at];
        for (uint32_t i = 0; i < cell->bucket_count; i++)
            histogram_record_many(&latency, cell->buckets[i].value_us, cell->buckets[i].count);
        count += cell->count;
        bytes_rx += cell->bytes_rx;
        bytes_tx += cell->bytes_tx;
        sum_us += cell->sum_us;
        if (cell->count > 0 && cell->min_us < min_us)
            min_us = cell->min_us;
        if (cell->count > 0 && cell->max_us > max_us)
            max_us = cell->max_us;
    }
    cell_fill(timeline, to, &latency);
    to->count = (count + from_count / 2) / from_count;
    to->bytes_rx = bytes_rx / from_count;
    to->bytes_tx = bytes_tx / from_count;
    to->sum_us = sum_us / from_count;
    to->min_us = count > 0 ? min_us : 0;
    to->max_us = max_us;
    /* Buckets stand for their highest value, which no sample need have reached. */
    for (unsigned i = 0; to->percentiles && i < timeline->percentile_count; i++)
        if (to->percentiles[i] > max_us)
            to->percentiles[i] = max_us;
    histogram_deinit(&latency);
}

void timeline_average(struct timeline *to, const struct timeline *const *from, unsigned from_count)
{
    uint32_t seconds = 0;
    for (unsigned run = 0; run < from_count; run++)
        if (from[run]->closed > seconds)
            seconds = from[run]->closed;
    for (uint32_t second = 0; second < seconds; second++) {
        struct timeline_cell *cells = second_append(to);
        for (unsigned i = 0; i < columns(to); i++)
            cell_average(to, &cells[i], from, from_count, second * columns(to) + i);
    }
}
