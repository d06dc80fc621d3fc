#include "server/store/slot_lock.h"

#include "lib/base/cpu.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS 200

void slot_lock_wait(_Atomic uint32_t *word)
{
    for (int i = 0; i < SPINS; i++) {
        uint32_t expected = 0;
        if (atomic_load_explicit(word, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_weak_explicit(word, &expected, 1, memory_order_acquire, memory_order_relaxed))
            return;
        cpu_relax();
    }
    /* From here on the word says that somebody sleeps, so that the holder wakes us. */
    while (atomic_exchange_explicit(word, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void slot_lock_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
