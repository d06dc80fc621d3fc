#include "lib/histogram/histogram.h"

#include "lib/base/mem.h"

#include <errno.h>
#include <math.h>

/* Bucket 0 counts values up to sub_bucket_count one by one; each further bucket covers twice the range of the one
 * before with the upper half of its sub-buckets, so that a value keeps its significant digits at any magnitude. */

int histogram_init(struct histogram *histogram, int64_t highest, int digits)
{
    *histogram = (struct histogram){.min = INT64_MAX};
    if (highest < 2 || digits < 1 || digits > 5)
        return -EINVAL;
    uint64_t exact = 2; /* up to here the resolution is 1 */
    for (int i = 0; i < digits; i++)
        exact *= 10;
    uint32_t magnitude = 64 - (uint32_t)__builtin_clzll(exact - 1); /* of the power of two at or above it */
    histogram->digits = digits;
    histogram->highest = highest;
    histogram->sub_bucket_half_magnitude = magnitude - 1;
    histogram->sub_bucket_count = (uint32_t)1 << magnitude;
    histogram->sub_bucket_half_count = histogram->sub_bucket_count / 2;
    uint32_t highest_bits = 64 - (uint32_t)__builtin_clzll((uint64_t)highest);
    histogram->bucket_count = highest_bits > magnitude ? highest_bits - magnitude + 1 : 1;
    histogram->counts_size = (histogram->bucket_count + 1) * histogram->sub_bucket_half_count;
    histogram->counts = mem_try_alloc(histogram->counts_size * sizeof(*histogram->counts));
    if (!histogram->counts)
        return -ENOMEM;
    memset(histogram->counts, 0, histogram->counts_size * sizeof(*histogram->counts));
    return 0;
}

void histogram_deinit(struct histogram *histogram)
{
    mem_free(histogram->counts);
    *histogram = (struct histogram){.min = INT64_MAX};
}

void histogram_reset(struct histogram *histogram)
{
    memset(histogram->counts, 0, histogram->counts_size * sizeof(*histogram->counts));
    histogram->total = 0;
    histogram->saturated = 0;
    histogram->min = INT64_MAX;
    histogram->max = 0;
    histogram->sum = 0;
    histogram->sum_of_squares = 0;
}

/* The power of two by which values of this size are divided. */
static inline uint32_t shift_of(const struct histogram *histogram, int64_t value)
{
    uint64_t floor = histogram->sub_bucket_count - 1;
    return 63 - (uint32_t)__builtin_clzll((uint64_t)value | floor) - histogram->sub_bucket_half_magnitude;
}

static inline uint32_t index_of(const struct histogram *histogram, int64_t value)
{
    uint32_t shift = shift_of(histogram, value);
    return (shift << histogram->sub_bucket_half_magnitude) + (uint32_t)(value >> shift);
}

/* The lowest value counted at an index. */
static inline int64_t value_at(const struct histogram *histogram, uint32_t index)
{
    uint32_t bucket = index >> histogram->sub_bucket_half_magnitude;
    if (bucket < 2)
        return index;
    uint32_t shift = bucket - 1;
    return (int64_t)(index - (shift << histogram->sub_bucket_half_magnitude)) << shift;
}

/* Inlined twice, so that recording one value multiplies nothing. */
static inline void record(struct histogram *histogram, int64_t value, uint64_t count)
{
    if (UNLIKELY((uint64_t)value > (uint64_t)histogram->highest)) {
        histogram->saturated += value < 0 ? 0 : count;
        value = value < 0 ? 0 : histogram->highest;
    }
    histogram->counts[index_of(histogram, value)] += count;
    histogram->total += count;
    if (UNLIKELY(value < histogram->min))
        histogram->min = value;
    if (UNLIKELY(value > histogram->max))
        histogram->max = value;
    double real = (double)value, times = (double)count;
    histogram->sum += real * times;
    histogram->sum_of_squares += real * real * times;
}

void histogram_record(struct histogram *histogram, int64_t value)
{
    record(histogram, value, 1);
}

void histogram_record_many(struct histogram *histogram, int64_t value, uint64_t count)
{
    if (count > 0)
        record(histogram, value, count);
}

int histogram_add(struct histogram *to, const struct histogram *from)
{
    if (to->counts_size != from->counts_size || to->digits != from->digits || to->highest != from->highest)
        return -EINVAL;
    for (uint32_t i = 0; i < to->counts_size; i++)
        to->counts[i] += from->counts[i];
    to->total += from->total;
    to->saturated += from->saturated;
    if (from->min < to->min)
        to->min = from->min;
    if (from->max > to->max)
        to->max = from->max;
    to->sum += from->sum;
    to->sum_of_squares += from->sum_of_squares;
    return 0;
}

int64_t histogram_lowest_equivalent(const struct histogram *histogram, int64_t value)
{
    uint32_t shift = shift_of(histogram, value);
    return value >> shift << shift;
}

int64_t histogram_highest_equivalent(const struct histogram *histogram, int64_t value)
{
    uint32_t shift = shift_of(histogram, value);
    return value | (((int64_t)1 << shift) - 1);
}

int64_t histogram_percentile(const struct histogram *histogram, double percentile)
{
    if (histogram->total == 0)
        return 0;
    if (percentile >= 100)
        return histogram->max;
    /* A hair below what was asked for: 99.9 % of 1,000 is the 999th, although 99.9 is not a double. */
    double share = percentile > 0 ? nextafter(percentile, -HUGE_VAL) : 0;
    double exact = ceil(share * (double)histogram->total / 100);
    uint64_t wanted = exact < 1 ? 1 : (uint64_t)exact;
    struct histogram_iterator iterator = {0};
    while (histogram_next(histogram, &iterator))
        if (iterator.cumulative >= wanted)
            break;
    return iterator.value < histogram->max ? iterator.value : histogram->max;
}

double histogram_mean(const struct histogram *histogram)
{
    return histogram->total ? histogram->sum / (double)histogram->total : 0;
}

double histogram_stddev(const struct histogram *histogram)
{
    if (histogram->total == 0)
        return 0;
    double mean = histogram_mean(histogram);
    double variance = histogram->sum_of_squares / (double)histogram->total - mean * mean;
    return variance > 0 ? sqrt(variance) : 0;
}

bool histogram_next(const struct histogram *histogram, struct histogram_iterator *iterator)
{
    if (iterator->cumulative >= histogram->total)
        return false;
    while (iterator->index < histogram->counts_size) {
        uint32_t index = iterator->index++;
        uint64_t count = histogram->counts[index];
        if (count == 0)
            continue;
        iterator->value = histogram_highest_equivalent(histogram, value_at(histogram, index));
        iterator->count = count;
        iterator->cumulative += count;
        return true;
    }
    return false;
}

/* Between two points lies a fixed share of the distance to 100 % that was left when it last halved. */
static double next_point(double percentile, int ticks)
{
    double halvings = floor(log2(100 / (100 - percentile))) + 1;
    double next = percentile + 100 / (ticks * exp2(halvings));
    return next > percentile ? next : 100; /* where doubles are too coarse to go on */
}

bool histogram_next_percentile(const struct histogram *histogram, int ticks,
                               struct histogram_percentile_iterator *iterator)
{
    assert(ticks > 0);
    if (!iterator->started) {
        iterator->started = true;
        if (!histogram_next(histogram, &iterator->at))
            iterator->last_shown = true; /* empty: no points */
    } else if (!iterator->last_shown && iterator->at.cumulative >= histogram->total) {
        iterator->last_shown = true;
        iterator->percentile = 100;
        iterator->value = iterator->at.value;
        return true;
    }
    if (iterator->last_shown)
        return false;
    /* Of immense counts the share below the last bucket can round to 100. */
    bool last = iterator->next >= 100;
    while (last || 100 * (double)iterator->at.cumulative / (double)histogram->total < iterator->next)
        if (!histogram_next(histogram, &iterator->at))
            break;
    iterator->percentile = iterator->next;
    iterator->value = iterator->at.value;
    iterator->last_shown = last;
    if (!last)
        iterator->next = next_point(iterator->next, ticks);
    return true;
}
