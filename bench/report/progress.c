#include "bench/report/progress.h"

#include <stdio.h>

static void byte_rate(double bytes_per_s, char *to, size_t size)
{
    static const char *const units[] = {"KB", "MB", "GB"};
    double value = bytes_per_s / 1024;
    unsigned unit = 0;
    for (; value >= 1024 && unit + 1 < COUNT_OF(units); unit++)
        value /= 1024;
    snprintf(to, size, "%.2f%s", value, units[unit]);
}

static double per_s(uint64_t amount, double seconds)
{
    return seconds > 0 ? (double)amount / seconds : 0;
}

static double mean_ms(uint64_t sum_us, uint64_t count)
{
    return count > 0 ? (double)sum_us / 1000 / (double)count : 0;
}

void progress_format(const struct load_progress *progress, unsigned run, unsigned clients, char *to, size_t size)
{
    char errors[48] = "", last_rate[32], mean_rate[32];
    if (progress->connection_errors > 0)
        snprintf(errors, sizeof(errors), " %llu conn errors", (unsigned long long)progress->connection_errors);
    byte_rate(per_s(progress->last_bytes, progress->last_s), last_rate, sizeof(last_rate));
    byte_rate(per_s(progress->bytes, progress->elapsed_s), mean_rate, sizeof(mean_rate));
    snprintf(to, size,
             "[RUN #%u %.0f%%, %3u secs] %2u threads %2u conns%s: %11llu ops, %7llu (avg: %7llu) ops/sec, "
             "%s/sec (avg: %s/sec), %5.2f (avg: %5.2f) msec latency",
             run, progress->percent, (unsigned)progress->elapsed_s, progress->threads, clients, errors,
             (unsigned long long)progress->operations,
             (unsigned long long)per_s(progress->last_operations, progress->last_s),
             (unsigned long long)per_s(progress->operations, progress->elapsed_s), last_rate, mean_rate,
             mean_ms(progress->last_latency_us, progress->last_operations),
             mean_ms(progress->latency_us, progress->operations));
}
