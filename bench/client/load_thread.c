#include "bench/client/load_thread.h"

#include "lib/base/clock.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SECOND_NS 1000000000
#define PACE_NS 1000000                 /* between groups of connects */
#define BACKLOG 128                     /* the least a server's listen queue is likely to hold */
#define CONNECT_PATIENCE_NS 30000000000 /* without any connection coming up */
#define DRAIN_NS 1000000000             /* for replies that are outstanding when time is up */
#define BUFFER_BYTES_MAX 65536
#define BEGIN_TOGETHER 32
#define NOTES_MAX 10
#define CHUNKS_MAX 512

/* ---- output buffers ---------------------------------------------------------------------------------------------- */

static size_t buffer_size(const struct load_thread *thread)
{
    size_t one = thread->workload->request_copied_max, all = one * thread->options->pipeline;
    return all < BUFFER_BYTES_MAX ? all : one > BUFFER_BYTES_MAX ? one : BUFFER_BYTES_MAX;
}

struct lane_buffer *load_thread_buffer_take(struct load_thread *thread)
{
    struct lane_buffer *buffer = thread->buffers;
    if (!buffer)
        return mem_alloc(sizeof(*buffer) + thread->buffer_size);
    thread->buffers = buffer->next;
    return buffer;
}

void load_thread_buffer_give(struct load_thread *thread, struct lane_buffer *buffer)
{
    buffer->next = thread->buffers;
    thread->buffers = buffer;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

void load_thread_note(struct load_thread *thread, const char *format, ...)
{
    struct load_control *control = thread->control;
    unsigned shown = atomic_fetch_add_explicit(&control->notes, 1, memory_order_relaxed);
    if (shown > NOTES_MAX && !control->verbose)
        return;
    if (shown == NOTES_MAX && !control->verbose) {
        control->note(control->note_owner, "further messages are not shown; the result counts all of them");
        return;
    }
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    control->note(control->note_owner, text);
}

static void notify(const struct load_control *control)
{
    uint64_t one = 1;
    ssize_t written = write(control->notify_fd, &one, sizeof(one));
    (void)written; /* fails only when the counter is full, and then it is readable */
}

/* ---- measuring this thread --------------------------------------------------------------------------------------- */

/* Nanoseconds this thread waited for a processor that others used; 0 where the kernel does not tell. */
static int64_t starved_now_ns(void)
{
    char text[128];
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t size = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (size <= 0)
        return 0;
    text[size] = '\0';
    const char *second = strchr(text, ' ');
    return second ? strtoll(second, NULL, 10) : 0;
}

static void window_open(struct load_thread *thread)
{
    thread->window_ns = -clock_monotonic_ns();
    thread->starved_ns = -starved_now_ns();
    thread->cpu_ns = -clock_thread_cpu_ns();
}

static void window_close(struct load_thread *thread)
{
    thread->finish_ns = clock_monotonic_ns();
    thread->cpu_ns += clock_thread_cpu_ns();
    thread->starved_ns += starved_now_ns();
    thread->window_ns += thread->finish_ns;
}

/* ---- the phases -------------------------------------------------------------------------------------------------- */

static void thread_end(struct load_thread *thread)
{
    if (thread->phase == LOAD_ENDED)
        return;
    if (thread->phase >= LOAD_RUNNING) {
        window_close(thread);
        recorder_finish(&thread->recorder);
    }
    thread->phase = LOAD_ENDED;
    loop_timer_stop(thread->loop, &thread->pace);
    loop_timer_stop(thread->loop, &thread->begin);
    loop_timer_stop(thread->loop, &thread->second);
    loop_timer_stop(thread->loop, &thread->deadline);
    recorder_publish(&thread->recorder, &thread->live);
    atomic_store_explicit(&thread->live.active, false, memory_order_relaxed);
}

void load_thread_lane_ended(struct load_thread *thread)
{
    thread->unfinished--;
    if (thread->unfinished == 0 && thread->phase >= LOAD_RUNNING)
        thread_end(thread);
}

/* Time is up: nothing more is sent, and what is outstanding has a moment to arrive. */
static void thread_drain(struct load_thread *thread)
{
    if (thread->phase >= LOAD_DRAINING)
        return;
    bool ran = thread->phase == LOAD_RUNNING;
    thread->phase = LOAD_DRAINING;
    if (!ran)
        window_open(thread);
    recorder_freeze(&thread->recorder);
    loop_timer_stop(thread->loop, &thread->begin);
    loop_timer_start(thread->loop, &thread->deadline, clock_monotonic_ns() + DRAIN_NS);
    for (unsigned i = 0; i < thread->options->clients; i++) {
        struct lane *lane = &thread->lanes[i];
        if (lane->outstanding == 0)
            lane_end(lane);
        else
            loop_timer_stop(thread->loop, &lane->rate_timer);
    }
    if (thread->unfinished == 0)
        thread_end(thread);
}

static void deadline_expired(struct loop_timer *timer)
{
    struct load_thread *thread = CONTAINER_OF(timer, struct load_thread, deadline);
    if (thread->phase == LOAD_RUNNING) {
        thread_drain(thread);
        return;
    }
    for (unsigned i = 0; i < thread->options->clients; i++)
        lane_end(&thread->lanes[i]);
}

/* The first requests, a few clients at a time: the replies to the first must not wait, with their clock running, until
 * thousands of others have sent. */
static void begin_expired(struct loop_timer *timer)
{
    struct load_thread *thread = CONTAINER_OF(timer, struct load_thread, begin);
    unsigned clients = thread->options->clients;
    for (unsigned i = 0; i < BEGIN_TOGETHER && thread->begun < clients; i++) {
        struct lane *lane = &thread->lanes[thread->begun++];
        if (lane->state == LANE_UP)
            lane_begin(lane);
    }
    if (thread->begun < clients && thread->phase == LOAD_RUNNING)
        loop_timer_start(thread->loop, &thread->begin, clock_monotonic_ns());
}

static void thread_run(struct load_thread *thread, int64_t start_ns)
{
    thread->phase = LOAD_RUNNING;
    window_open(thread);
    recorder_start(&thread->recorder, start_ns, thread->options->test_time_s);
    loop_timer_start(thread->loop, &thread->second, start_ns + SECOND_NS);
    if (thread->options->test_time_s > 0)
        loop_timer_start(thread->loop, &thread->deadline, start_ns + thread->options->test_time_s * (int64_t)SECOND_NS);
    if (thread->unfinished == 0)
        thread_end(thread);
    else
        begin_expired(&thread->begin);
}

/* ---- connecting -------------------------------------------------------------------------------------------------- */

static void pace_start(struct load_thread *thread)
{
    if (!loop_timer_running(&thread->pace))
        loop_timer_start(thread->loop, &thread->pace, clock_monotonic_ns() + PACE_NS);
}

void load_thread_enqueue(struct load_thread *thread, struct lane *lane)
{
    lane->next_waiting = NULL;
    if (thread->waiting_last)
        thread->waiting_last->next_waiting = lane;
    else
        thread->waiting_first = lane;
    thread->waiting_last = lane;
    pace_start(thread);
}

void load_thread_settled(struct load_thread *thread)
{
    thread->connecting--;
    pace_start(thread);
}

static void ready_if_settled(struct load_thread *thread)
{
    if (thread->phase != LOAD_CONNECTING || thread->waiting_first || thread->connecting > 0)
        return;
    for (unsigned i = 0; i < thread->options->clients; i++) {
        if (thread->lanes[i].state == LANE_CLOSING)
            return;
        thread->up += thread->lanes[i].state == LANE_UP;
    }
    thread->phase = LOAD_READY;
    atomic_fetch_add_explicit(&thread->control->ready, 1, memory_order_release);
    notify(thread->control);
}

static void pace_expired(struct loop_timer *timer)
{
    struct load_thread *thread = CONTAINER_OF(timer, struct load_thread, pace);
    unsigned started = 0;
    while (thread->waiting_first && thread->connecting < thread->connecting_max && started < thread->connecting_max) {
        struct lane *lane = thread->waiting_first;
        thread->waiting_first = lane->next_waiting;
        if (!thread->waiting_first)
            thread->waiting_last = NULL;
        started++;
        if (lane->state == LANE_WAITING)
            lane_connect(lane);
    }
    if (thread->waiting_first && thread->connecting < thread->connecting_max)
        pace_start(thread);
    ready_if_settled(thread);
}

/* Connections that do not come up must not keep the run from starting, or a reconnecting client from being counted. */
static void connects_check(struct load_thread *thread, int64_t now_ns)
{
    bool stuck = now_ns - thread->progress_ns > CONNECT_PATIENCE_NS;
    for (unsigned i = 0; i < thread->options->clients; i++) {
        struct lane *lane = &thread->lanes[i];
        bool trying = lane->state == LANE_CONNECTING || lane->state == LANE_SETUP;
        if ((stuck && (trying || lane->state == LANE_WAITING)) ||
            (trying && now_ns - lane->connect_ns > CONNECT_PATIENCE_NS))
            lane_fail(lane, CONNECTION_TIMED_OUT, NULL);
    }
}

static void second_expired(struct loop_timer *timer)
{
    struct load_thread *thread = CONTAINER_OF(timer, struct load_thread, second);
    int64_t now_ns = clock_monotonic_ns();
    if (thread->phase == LOAD_RUNNING)
        recorder_tick(&thread->recorder, now_ns);
    if (thread->connecting > 0 || thread->waiting_first)
        connects_check(thread, now_ns);
    else
        thread->progress_ns = now_ns;
    if (thread->phase == LOAD_ENDED)
        return;
    bool rolls = thread->phase == LOAD_RUNNING && thread->recorder.roll_ns != INT64_MAX;
    loop_timer_start(thread->loop, &thread->second, rolls ? thread->recorder.roll_ns : now_ns + SECOND_NS);
}

/* ---- the thread -------------------------------------------------------------------------------------------------- */

static void on_woken(void *owner)
{
    struct load_thread *thread = owner;
    struct load_control *control = thread->control;
    if (atomic_load_explicit(&control->stop, memory_order_acquire)) {
        thread_drain(thread);
        return;
    }
    int64_t start_ns = atomic_load_explicit(&control->start_ns, memory_order_acquire);
    if (start_ns != 0 && thread->phase == LOAD_READY)
        thread_run(thread, start_ns);
}

static void on_turn_ended(void *owner)
{
    struct load_thread *thread = owner;
    if (thread->phase == LOAD_RUNNING || thread->phase == LOAD_DRAINING)
        recorder_publish(&thread->recorder, &thread->live);
}

static void lanes_make(struct load_thread *thread)
{
    unsigned clients = thread->options->clients;
    thread->lanes = mem_alloc(clients * sizeof(struct lane));
    thread->rings = mem_alloc((size_t)clients * thread->options->pipeline * sizeof(struct lane_request));
    thread->unfinished = clients;
    for (unsigned i = 0; i < clients; i++) {
        /* Clients are numbered thread by thread. */
        lane_init(&thread->lanes[i], thread, thread->index * clients + i,
                  thread->rings + (size_t)i * thread->options->pipeline);
        load_thread_enqueue(thread, &thread->lanes[i]);
    }
}

static void *thread_main(void *argument)
{
    struct load_thread *thread = argument;
    thread->progress_ns = clock_monotonic_ns();
    lanes_make(thread);
    loop_timer_start(thread->loop, &thread->second, thread->progress_ns + SECOND_NS);
    on_woken(thread); /* a stop may have come before */
    while (thread->error == 0 && (thread->phase != LOAD_ENDED || thread->open > 0))
        thread->error = loop_turn(thread->loop, -1);
    atomic_fetch_add_explicit(&thread->control->ended, 1, memory_order_release);
    notify(thread->control);
    return NULL;
}

int load_thread_start(struct load_thread *thread)
{
    const struct load_options *options = thread->options;
    thread->buffer_size = buffer_size(thread);
    unsigned window = BACKLOG / options->threads;
    thread->connecting_max = window > 0 ? window : 1;
    thread->pace.expired = pace_expired;
    thread->begin.expired = begin_expired;
    thread->second.expired = second_expired;
    thread->deadline.expired = deadline_expired;
    atomic_store_explicit(&thread->live.active, true, memory_order_relaxed);
    struct loop_options loop_options = {
        .io = options->io,
        .chunks_max = options->clients < 64           ? 64
                      : options->clients < CHUNKS_MAX ? options->clients
                                                      : CHUNKS_MAX,
        .owner = thread,
        .woken = on_woken,
        .turn_ended = on_turn_ended,
    };
    int error;
    thread->loop = loop_create(&loop_options, &error);
    if (!thread->loop)
        return error;
    snprintf(thread->io_name, sizeof(thread->io_name), "%s", loop_io_name(thread->loop));
    error = pthread_create(&thread->pthread, NULL, thread_main, thread);
    if (error != 0) {
        loop_destroy(thread->loop);
        thread->loop = NULL;
    }
    return -error;
}

void load_thread_join(struct load_thread *thread)
{
    pthread_join(thread->pthread, NULL);
}

void load_thread_deinit(struct load_thread *thread)
{
    loop_destroy(thread->loop);
    for (unsigned i = 0; thread->lanes && i < thread->options->clients; i++)
        lane_deinit(&thread->lanes[i]);
    mem_free(thread->lanes);
    mem_free(thread->rings);
    while (thread->buffers) {
        struct lane_buffer *next = thread->buffers->next;
        mem_free(thread->buffers);
        thread->buffers = next;
    }
}
