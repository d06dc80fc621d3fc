/* cpu.h - the processors this process may use. */
#ifndef KETCH_LIB_BASE_CPU_H
#define KETCH_LIB_BASE_CPU_H

#include "lib/base/check.h"

#define CPU_CACHE_LINE 64

/* Processors in the affinity mask (at least 1), so that taskset and cpusets are obeyed. */
unsigned cpu_count(void);

/* Pins the calling thread to the n-th processor of the process's mask; 0 or -errno. */
MUST_USE int cpu_pin(unsigned n);

/* Inside a spin loop. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield" ::: "memory");
#endif
}

#endif
