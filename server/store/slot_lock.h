/* slot_lock.h - the lock of a slot: a word that spins for about a microsecond, then sleeps on a futex.
 *
 * Threads:    any. Not recursive. Rank SLOT; among slots, ascending (debug builds check the rank, not the order).
 * Source:     the three-state mutex of U. Drepper, "Futexes are tricky" (2011): 0 free, 1 held, 2 held with waiters. */
#ifndef KETCH_SERVER_STORE_SLOT_LOCK_H
#define KETCH_SERVER_STORE_SLOT_LOCK_H

#include "lib/base/check.h"
#include "lib/base/mutex.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct CAPABILITY("slot") capability {
    char unused;
};

void slot_lock_wait(_Atomic uint32_t *word);
void slot_lock_wake(_Atomic uint32_t *word);

static inline bool slot_lock_try(_Atomic uint32_t *word)
{
    uint32_t expected = 0;
    if (atomic_load_explicit(word, memory_order_relaxed) != 0 ||
        !atomic_compare_exchange_strong_explicit(word, &expected, 1, memory_order_acquire, memory_order_relaxed))
        return false;
    mutex_rank_enter(MUTEX_RANK_SLOT);
    return true;
}

static inline void slot_lock(_Atomic uint32_t *word)
{
    uint32_t expected = 0;
    if (UNLIKELY(
            !atomic_compare_exchange_strong_explicit(word, &expected, 1, memory_order_acquire, memory_order_relaxed)))
        slot_lock_wait(word);
    mutex_rank_enter(MUTEX_RANK_SLOT);
}

static inline void slot_unlock(_Atomic uint32_t *word)
{
    mutex_rank_leave(MUTEX_RANK_SLOT);
    if (UNLIKELY(atomic_exchange_explicit(word, 0, memory_order_release) == 2))
        slot_lock_wake(word);
}

#endif
