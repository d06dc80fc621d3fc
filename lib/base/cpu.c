#include "lib/base/cpu.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

unsigned cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count > 0 ? (unsigned)count : 1;
}

int cpu_pin(unsigned n)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof(all), &all) != 0)
        return -errno;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &all) || n-- != 0)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        return -pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    }
    return -EINVAL;
}
