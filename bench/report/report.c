#include "bench/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define KEY_CUT 6

static bool is_whole(double value)
{
    return fabs(value - round(value)) < 1e-9;
}

void report_percentile_label(double percentile, char *to, size_t size)
{
    int digits = is_whole(percentile) ? 0 : is_whole(percentile * 10) ? 1 : 3;
    snprintf(to, size, "p%.*f", digits, percentile);
}

void report_percentile_order(const struct report_options *options, unsigned *order)
{
    for (unsigned i = 0; i < options->percentile_count; i++) {
        unsigned at = i;
        for (; at > 0 && options->percentiles[order[at - 1]] > options->percentiles[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static void key_cut(double percentile, int digits, char *to)
{
    snprintf(to, PERCENTILE_NAME, "p%.*f", digits, percentile);
    to[KEY_CUT] = '\0';
}

void report_percentile_keys(const struct report_options *options, int digits, char (*keys)[PERCENTILE_NAME])
{
    for (unsigned i = 0; i < options->percentile_count; i++) {
        char other[PERCENTILE_NAME];
        bool collides = false;
        key_cut(options->percentiles[i], digits, keys[i]);
        for (unsigned j = 0; j < options->percentile_count; j++) {
            key_cut(options->percentiles[j], digits, other);
            collides |= j != i && strcmp(keys[i], other) == 0 && options->percentiles[i] != options->percentiles[j];
        }
        /* The one that its key names exactly may have it. */
        if (collides && strtod(keys[i] + 1, NULL) != options->percentiles[i])
            snprintf(keys[i], PERCENTILE_NAME, "p%.12g", options->percentiles[i]);
    }
}
