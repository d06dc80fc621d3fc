/* clock.h - time. Monotonic for durations, real time only for what outlives the process (expiry, logs). */
#ifndef KETCH_LIB_BASE_CLOCK_H
#define KETCH_LIB_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t clock_realtime_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline int64_t clock_realtime_ms(void)
{
    return clock_realtime_us() / 1000;
}

/* CPU time of the calling thread. */
static inline int64_t clock_thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The processor's constant-rate counter: cheap enough to read at every command boundary. */
static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return (uint64_t)clock_monotonic_ns();
#endif
}

/* Measures the counter against CLOCK_MONOTONIC for about 2 ms. Call once at start. */
void clock_calibrate(void);

/* Nanoseconds in a span of ticks. */
int64_t clock_ticks_ns(uint64_t ticks);

#endif
