#include "bench/stats/recorder.h"

#include "lib/base/mem.h"

#define SECOND_NS 1000000000

void recorder_init(struct recorder *recorder, unsigned class_count, unsigned thread, struct timeline *timeline)
{
    *recorder = (struct recorder){
        .classes = mem_alloc_zeroed(class_count * sizeof(struct recorder_class)),
        .class_count = class_count,
        .thread = thread,
        .timeline = timeline,
        .roll_ns = INT64_MAX,
    };
    for (unsigned i = 0; i < class_count; i++) {
        CHECK(histogram_init(&recorder->classes[i].second, LATENCY_HIGHEST_US, LATENCY_DIGITS) == 0);
        CHECK(histogram_init(&recorder->classes[i].total, LATENCY_HIGHEST_US, LATENCY_DIGITS) == 0);
    }
}

void recorder_deinit(struct recorder *recorder)
{
    for (unsigned i = 0; i < recorder->class_count; i++) {
        histogram_deinit(&recorder->classes[i].second);
        histogram_deinit(&recorder->classes[i].total);
    }
    mem_free(recorder->classes);
}

void recorder_start(struct recorder *recorder, int64_t start_ns, uint32_t seconds)
{
    recorder->start_ns = start_ns;
    recorder->second_last = seconds > 0 ? seconds - 1 : UINT32_MAX;
    recorder->roll_ns = seconds == 1 ? INT64_MAX : start_ns + SECOND_NS;
    recorder->second = 0;
    recorder->last_reply_ns = start_ns;
}

static void second_hand_over(struct recorder *recorder)
{
    for (unsigned i = 0; i < recorder->class_count; i++) {
        struct recorder_class *class = &recorder->classes[i];
        uint64_t rx = class->bytes_rx - class->rolled_rx, tx = class->bytes_tx - class->rolled_tx;
        if (class->second.total == 0 && rx == 0 && tx == 0)
            continue;
        timeline_add(recorder->timeline, recorder->second, i, &class->second, rx, tx);
        CHECK(histogram_add(&class->total, &class->second) == 0);
        histogram_reset(&class->second);
        class->rolled_rx = class->bytes_rx;
        class->rolled_tx = class->bytes_tx;
    }
}

void recorder_roll(struct recorder *recorder, int64_t now_ns)
{
    if (now_ns < recorder->roll_ns)
        return;
    second_hand_over(recorder);
    recorder->second = (uint32_t)((now_ns - recorder->start_ns) / SECOND_NS);
    if (recorder->second >= recorder->second_last) {
        recorder->second = recorder->second_last;
        recorder->roll_ns = INT64_MAX;
    } else {
        recorder->roll_ns = recorder->start_ns + ((int64_t)recorder->second + 1) * SECOND_NS;
    }
    timeline_pass(recorder->timeline, recorder->thread, recorder->second);
}

void recorder_freeze(struct recorder *recorder)
{
    recorder->roll_ns = INT64_MAX;
}

void recorder_finish(struct recorder *recorder)
{
    second_hand_over(recorder);
    recorder->roll_ns = INT64_MAX;
    timeline_pass(recorder->timeline, recorder->thread, UINT32_MAX);
}
