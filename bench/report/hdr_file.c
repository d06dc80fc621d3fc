#include "bench/report/hdr_file.h"

#include <errno.h>
#include <time.h>

#define TICKS 10
#define ENCODED_BYTES_MAX (16u << 20)

void hdr_file_percentiles(const struct histogram *latency, FILE *to)
{
    fprintf(to, "%12s %12s %12s %12s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    struct histogram_percentile_iterator at = {0};
    while (histogram_next_percentile(latency, TICKS, &at)) {
        double quantile = at.percentile / 100;
        double inverse = 1 / (1 - quantile);
        fprintf(to, "%12.*f %12f %12llu %12.2f\n", LATENCY_DIGITS, (double)at.value / 1000, quantile,
                (unsigned long long)at.at.cumulative, inverse);
    }
    fprintf(to, "#[Mean    = %12.*f, StdDeviation   = %12.*f]\n", LATENCY_DIGITS, histogram_mean(latency) / 1000,
            LATENCY_DIGITS, histogram_stddev(latency) / 1000);
    fprintf(to, "#[Max     = %12.*f, Total count    = %12llu]\n", LATENCY_DIGITS, (double)latency->max / 1000,
            (unsigned long long)latency->total);
    fprintf(to, "#[Buckets = %12u, SubBuckets     = %12u]\n", latency->bucket_count, latency->sub_bucket_count);
}

int hdr_file_log(const struct run_result *result, const struct histogram *latency, FILE *to)
{
    char when[64];
    time_t seconds = (time_t)(result->start_ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(when, sizeof(when), "%a %b %e %H:%M:%S UTC %Y", &utc);
    struct buf encoded;
    buf_init(&encoded, ENCODED_BYTES_MAX);
    int status = histogram_encode(latency, &encoded);
    if (status == 0) {
        double start_s = (double)result->start_ms / 1000;
        fprintf(to, "#[Histogram log format version 1.2]\n");
        fprintf(to, "#[StartTime: %.3f (seconds since epoch), %s]\n", start_s, when);
        fprintf(to, "\"StartTimestamp\",\"EndTimestamp\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");
        fprintf(to, "%.3f,%.3f,%lld.0,%.*s\n", start_s, (double)result->finish_ms / 1000, (long long)latency->max,
                (int)encoded.size, (const char *)encoded.data);
    }
    buf_deinit(&encoded);
    return status;
}

static int file_close(FILE *file)
{
    bool failed = ferror(file) != 0;
    return fclose(file) != 0 ? -errno : failed ? -EIO : 0;
}

static int pair_write(const struct run_result *result, const struct histogram *latency, const char *path,
                      const char *what, FILE *messages)
{
    char name[4096];
    if (snprintf(name, sizeof(name), "%s.txt", path) >= (int)sizeof(name))
        return -ENAMETOOLONG;
    FILE *file = fopen(name, "we");
    if (!file)
        return -errno;
    fprintf(messages, "Writing %s HDR latency histogram results to %s...\n", what, name);
    hdr_file_percentiles(latency, file);
    int status = file_close(file);
    if (status < 0 || snprintf(name, sizeof(name), "%s.hgrm", path) >= (int)sizeof(name))
        return status < 0 ? status : -ENAMETOOLONG;
    file = fopen(name, "we");
    if (!file)
        return -errno;
    fprintf(messages, "Writing %s HDR latency histogram results in HistogramLogProcessor format to %s...\n", what,
            name);
    status = hdr_file_log(result, latency, file);
    int closed = file_close(file);
    return status < 0 ? status : closed;
}

int hdr_file_write_all(const struct run_result *result, const char *prefix, unsigned run, FILE *messages)
{
    for (unsigned i = 0; i < result->row_count; i++) {
        /* The whole run first, then command by command. */
        const struct result_row *row = &result->rows[i == 0 ? result->row_count - 1 : i - 1];
        char path[4080], what[64];
        if (row->count == 0)
            continue;
        int size = row->command ? snprintf(path, sizeof(path), "%s_%s_command_run_%u", prefix, row->command, run)
                                : snprintf(path, sizeof(path), "%s_FULL_RUN_%u", prefix, run);
        if (size >= (int)sizeof(path))
            return -ENAMETOOLONG;
        snprintf(what, sizeof(what), "%s command", row->command ? row->command : "Full Run");
        int status = pair_write(result, &row->latency, path, what, messages);
        if (status < 0)
            return status;
    }
    return 0;
}
