#include "server/main/descriptors.h"

#include <sys/resource.h>

int64_t descriptors_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 1024;
    return limit.rlim_cur > INT32_MAX ? INT32_MAX : (int64_t)limit.rlim_cur;
}

int64_t descriptors_reserved(int64_t workers)
{
    int64_t reserved = 16 + 4 * workers;
    return reserved < 32 ? 32 : reserved;
}

int64_t descriptors_raise(int64_t clients, int64_t reserved)
{
    rlim_t wanted = (rlim_t)(clients + reserved);
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        rlim_t old = limit.rlim_cur, hard = limit.rlim_max;
        limit.rlim_cur = wanted;
        if (limit.rlim_max < wanted)
            limit.rlim_max = wanted;
        if (setrlimit(RLIMIT_NOFILE, &limit)) {
            /* Not allowed to pass the hard limit: go as far as it lets us. */
            limit.rlim_max = hard;
            limit.rlim_cur = wanted < hard ? wanted : hard;
            if (setrlimit(RLIMIT_NOFILE, &limit))
                limit.rlim_cur = old;
        }
    }
    int64_t possible = descriptors_limit() - reserved;
    return possible < clients ? possible : clients;
}
