/* loop_timers.h - running timers by deadline: a binary heap whose entries carry the deadline, so that sifting does not
 * touch the timers.
 *
 * Owns:       the array; timers are the caller's.
 * Threads:    the loop's.
 * Invariants: timer->heap_index is the entry's place, from 1; 0 when not running.
 * Fails by:   aborts when memory is exhausted (mem.h).
 * Limits:     2^32 - 2 timers. */
#ifndef KETCH_LIB_LOOP_LOOP_TIMERS_H
#define KETCH_LIB_LOOP_LOOP_TIMERS_H

#include "lib/loop/loop.h"

struct loop_timer_entry {
    int64_t deadline_ns;
    struct loop_timer *timer;
};

struct loop_timers {
    struct loop_timer_entry *heap; /* [1 .. count] */
    uint32_t count;
    uint32_t capacity;
};

void loop_timers_deinit(struct loop_timers *timers);
void loop_timers_add(struct loop_timers *timers, struct loop_timer *timer, int64_t deadline_ns);
void loop_timers_remove(struct loop_timers *timers, struct loop_timer *timer);

/* Calls the timers due, at most as many as were running at the start: one that starts itself again in the past cannot
 * keep the loop from its connections. */
void loop_timers_run(struct loop_timers *timers, int64_t now_ns);

/* INT64_MAX when none runs. */
static inline int64_t loop_timers_next_ns(const struct loop_timers *timers)
{
    return timers->count == 0 ? INT64_MAX : timers->heap[1].deadline_ns;
}

#endif
