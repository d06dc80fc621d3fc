/* mutex.h - a mutex with a rank. Debug builds abort when a thread takes a rank at or below one that it holds: the order
 * that rules out deadlock is checked on every run, not only on the unlucky one.
 *
 * Threads:    any. Not recursive. */
#ifndef KETCH_LIB_BASE_MUTEX_H
#define KETCH_LIB_BASE_MUTEX_H

#include "lib/base/check.h"

#include <pthread.h>

/* Lowest first: a thread may take only higher ranks than it holds. Slot locks (server/store) stand between. */
enum mutex_rank {
    MUTEX_RANK_REWRITE = 1, /* the configuration file being written */
    MUTEX_RANK_CONFIG,      /* options being changed */
    MUTEX_RANK_REGISTRY,    /* list of clients */
    MUTEX_RANK_CLIENT,      /* one client's shared fields */
    MUTEX_RANK_SLOT,        /* slot locks, among themselves in ascending order */
    MUTEX_RANK_INBOX,       /* mail to a worker, background work queue */
    MUTEX_RANK_ALLOCATOR,   /* slab classes */
    MUTEX_RANK_LEAF,        /* takes nothing else */
    MUTEX_RANK_COUNT
};

struct CAPABILITY("mutex") mutex {
    pthread_mutex_t pthread;
    enum mutex_rank rank;
};

void mutex_init(struct mutex *mutex, enum mutex_rank rank);
void mutex_deinit(struct mutex *mutex);
void mutex_lock(struct mutex *mutex) ACQUIRES(*mutex);
void mutex_unlock(struct mutex *mutex) RELEASES(*mutex);

/* For locks of other kinds that stand in the same order. No-ops in release builds. */
#ifdef NDEBUG
static inline void mutex_rank_enter(enum mutex_rank rank)
{
    (void)rank;
}
static inline void mutex_rank_leave(enum mutex_rank rank)
{
    (void)rank;
}
#else
void mutex_rank_enter(enum mutex_rank rank);
void mutex_rank_leave(enum mutex_rank rank);
#endif

#endif
