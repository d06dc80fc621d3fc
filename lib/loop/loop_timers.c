#include "lib/loop/loop_timers.h"

#include "lib/base/mem.h"

void loop_timers_deinit(struct loop_timers *timers)
{
    mem_free(timers->heap);
    *timers = (struct loop_timers){0};
}

static inline void place(struct loop_timers *timers, uint32_t at, struct loop_timer_entry entry)
{
    timers->heap[at] = entry;
    entry.timer->heap_index = at;
}

/* Returns where the entry belongs when it may move up only. */
static void sift_up(struct loop_timers *timers, uint32_t at, struct loop_timer_entry entry)
{
    while (at > 1 && timers->heap[at / 2].deadline_ns > entry.deadline_ns) {
        place(timers, at, timers->heap[at / 2]);
        at /= 2;
    }
    place(timers, at, entry);
}

static void sift_down(struct loop_timers *timers, uint32_t at, struct loop_timer_entry entry)
{
    for (;;) {
        uint64_t child = (uint64_t)at * 2;
        if (child > timers->count) {
            break;
        }
        if (child < timers->count && timers->heap[child + 1].deadline_ns < timers->heap[child].deadline_ns) {
            child++;
        }
        if (timers->heap[child].deadline_ns >= entry.deadline_ns) {
            break;
        }
        place(timers, at, timers->heap[child]);
        at = (uint32_t)child;
    }
    place(timers, at, entry);
}

static void settle(struct loop_timers *timers, uint32_t at, struct loop_timer_entry entry)
{
    if (at > 1 && timers->heap[at / 2].deadline_ns > entry.deadline_ns) {
        sift_up(timers, at, entry);
    } else {
        sift_down(timers, at, entry);
    }
}

void loop_timers_add(struct loop_timers *timers, struct loop_timer *timer, int64_t deadline_ns)
{
    timer->deadline_ns = deadline_ns;
    struct loop_timer_entry entry = {deadline_ns, timer};
    if (timer->heap_index != 0) {
        settle(timers, timer->heap_index, entry);
        return;
    }
    if (timers->count + 1 >= timers->capacity) {
        CHECK(timers->capacity < UINT32_MAX / 2);
        timers->capacity = timers->capacity == 0 ? 16 : timers->capacity * 2;
        timers->heap = mem_realloc(timers->heap, timers->capacity * sizeof(*timers->heap));
    }
    sift_up(timers, ++timers->count, entry);
}

void loop_timers_remove(struct loop_timers *timers, struct loop_timer *timer)
{
    uint32_t at = timer->heap_index;
    if (at == 0) {
        return;
    }
    assert(timers->heap[at].timer == timer);
    timer->heap_index = 0;
    struct loop_timer_entry last = timers->heap[timers->count--];
    if (last.timer != timer) {
        settle(timers, at, last);
    }
}

void loop_timers_run(struct loop_timers *timers, int64_t now_ns)
{
    for (uint32_t budget = timers->count; budget > 0 && loop_timers_next_ns(timers) <= now_ns; budget--) {
        struct loop_timer *timer = timers->heap[1].timer;
        loop_timers_remove(timers, timer);
        timer->expired(timer);
    }
}
