#include "lib/base/mutex.h"

#ifndef NDEBUG
/* How many locks of each rank this thread holds. Only slots may be held more than one at a time. */
static _Thread_local unsigned held[MUTEX_RANK_COUNT];

void mutex_rank_enter(enum mutex_rank rank)
{
    for (int higher = (int)rank + (rank == MUTEX_RANK_SLOT); higher < MUTEX_RANK_COUNT; higher++)
        CHECK(held[higher] == 0);
    held[rank]++;
}

void mutex_rank_leave(enum mutex_rank rank)
{
    CHECK(held[rank] > 0);
    held[rank]--;
}
#endif

void mutex_init(struct mutex *mutex, enum mutex_rank rank)
{
    CHECK(pthread_mutex_init(&mutex->pthread, NULL) == 0);
    mutex->rank = rank;
}

void mutex_deinit(struct mutex *mutex)
{
    pthread_mutex_destroy(&mutex->pthread);
}

void mutex_lock(struct mutex *mutex) NO_THREAD_SAFETY
{
    mutex_rank_enter(mutex->rank);
    CHECK(pthread_mutex_lock(&mutex->pthread) == 0);
}

void mutex_unlock(struct mutex *mutex) NO_THREAD_SAFETY
{
    CHECK(pthread_mutex_unlock(&mutex->pthread) == 0);
    mutex_rank_leave(mutex->rank);
}
