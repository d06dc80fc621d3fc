#include "lib/base/clock.h"

#include <math.h>

/* Fixed point: nanoseconds per tick times 2^24. Written once, before threads start. */
static uint64_t ns_per_tick_q24 = 1u << 24;

void clock_calibrate(void)
{
    int64_t start_ns = clock_monotonic_ns();
    uint64_t start = clock_ticks();
    int64_t now_ns;
    do {
        now_ns = clock_monotonic_ns();
    } while (now_ns - start_ns < 2000000);
    uint64_t ticks = clock_ticks() - start;
    if (ticks > 0)
        ns_per_tick_q24 = (uint64_t)llround((double)(now_ns - start_ns) / (double)ticks * (double)(1u << 24));
}

int64_t clock_ticks_ns(uint64_t ticks)
{
    return (int64_t)(((unsigned __int128)ticks * ns_per_tick_q24) >> 24);
}
