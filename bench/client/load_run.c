#include "bench/client/load_run.h"

#include "lib/base/clock.h"
#include "lib/base/cpu.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SECOND_NS 1000000000
#define DESCRIPTORS_SPARE 64

struct running {
    const struct load_run *run;
    struct load_thread *threads;
    unsigned started; /* threads that run */
    struct load_control control;
    struct timeline *timeline;
    uint64_t requests_total;
    int64_t start_ns, start_ms, stop_ns;
    double cpu_s;
    bool interrupted;
    struct load_progress last;
    int64_t last_ns;
};

uint64_t load_requests_total(const struct load_options *options, const struct workload *workload)
{
    uint64_t clients = (uint64_t)options->threads * options->clients;
    if (!options->all_keys)
        return options->requests * clients;
    uint64_t keys = workload->space.max - workload->space.min + 1;
    return workload->options.set_letter == 'P' ? keys : keys * clients;
}

int load_descriptors_raise(const struct load_options *options, uint64_t *needed)
{
    struct rlimit limit;
    *needed = (uint64_t)options->threads * options->clients + options->threads * 4ull + DESCRIPTORS_SPARE;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -errno;
    if (limit.rlim_cur >= *needed)
        return 0;
    limit.rlim_cur = *needed;
    if (limit.rlim_max < *needed)
        limit.rlim_max = *needed;
    return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? -errno : 0;
}

static double process_cpu_s(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) < 0)
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* ---- watching ---------------------------------------------------------------------------------------------------- */

static void progress_read(const struct running *running, struct load_progress *progress)
{
    for (unsigned i = 0; i < running->started; i++) {
        const struct recorder_live *live = &running->threads[i].live;
        progress->threads += atomic_load_explicit(&live->active, memory_order_relaxed);
        progress->operations += atomic_load_explicit(&live->operations, memory_order_relaxed);
        progress->bytes += atomic_load_explicit(&live->bytes, memory_order_relaxed);
        progress->latency_us += atomic_load_explicit(&live->latency_us, memory_order_relaxed);
        progress->connection_errors += atomic_load_explicit(&live->connection_errors, memory_order_relaxed);
    }
}

static void progress_show(struct running *running, int64_t now_ns, bool last)
{
    struct load_progress progress = {0};
    progress_read(running, &progress);
    progress.elapsed_s = running->start_ns ? (double)(now_ns - running->start_ns) / 1e9 : 0;
    progress.last_s = (double)(now_ns - running->last_ns) / 1e9;
    progress.last_operations = progress.operations - running->last.operations;
    progress.last_bytes = progress.bytes - running->last.bytes;
    progress.last_latency_us = progress.latency_us - running->last.latency_us;
    unsigned test_time_s = running->run->options->test_time_s;
    if (test_time_s > 0)
        progress.percent = progress.elapsed_s * 100 / test_time_s;
    else if (running->requests_total > 0)
        progress.percent = (double)progress.operations * 100 / (double)running->requests_total;
    if (progress.percent > 100 || (last && test_time_s > 0 && !running->interrupted))
        progress.percent = 100;
    running->run->hooks->progress(running->run->hooks->owner, &progress);
    running->last = progress;
    running->last_ns = now_ns;
}

static void wake_all(const struct running *running)
{
    for (unsigned i = 0; i < running->started; i++)
        loop_wake(running->threads[i].loop);
}

static void run_stop(struct running *running)
{
    running->stop_ns = clock_monotonic_ns();
    running->interrupted = true;
    atomic_store_explicit(&running->control.stop, true, memory_order_release);
    wake_all(running);
}

static void interrupt_take(struct running *running, int fd)
{
    struct signalfd_siginfo information;
    if (read(fd, &information, sizeof(information)) < 0 || running->interrupted)
        return;
    int64_t now_ns = clock_monotonic_ns();
    double elapsed_s = running->start_ns ? (double)(now_ns - running->start_ns) / 1e9 : 0;
    running->run->hooks->interrupted(running->run->hooks->owner, elapsed_s);
    run_stop(running);
}

/* Waits until a thread has something to say, the user interrupts or deadline_ns has come. */
static void wait_events(struct running *running, int64_t deadline_ns)
{
    struct pollfd fds[2] = {{.fd = running->control.notify_fd, .events = POLLIN},
                            {.fd = running->run->hooks->interrupt_fd, .events = POLLIN}};
    int64_t left_ns = deadline_ns - clock_monotonic_ns();
    struct timespec limit = {.tv_sec = left_ns > 0 ? left_ns / SECOND_NS : 0,
                             .tv_nsec = left_ns > 0 ? left_ns % SECOND_NS : 0};
    if (ppoll(fds, 2, &limit, NULL) <= 0)
        return;
    uint64_t count;
    if (fds[0].revents && read(fds[0].fd, &count, sizeof(count)) < 0)
        return;
    if (fds[1].revents)
        interrupt_take(running, fds[1].fd);
}

static unsigned counted(const _Atomic unsigned *count)
{
    return atomic_load_explicit(count, memory_order_acquire);
}

/* Connecting, until all threads are ready; then the start. */
static void run_begin(struct running *running)
{
    while (counted(&running->control.ready) < running->started && !running->interrupted &&
           counted(&running->control.ended) < running->started)
        wait_events(running, clock_monotonic_ns() + SECOND_NS);
    running->start_ms = clock_realtime_ms();
    running->cpu_s = process_cpu_s();
    running->start_ns = clock_monotonic_ns();
    running->last_ns = running->start_ns;
    atomic_store_explicit(&running->control.start_ns, running->start_ns, memory_order_release);
    wake_all(running);
}

static void run_watch(struct running *running)
{
    int64_t next_ns = running->start_ns + SECOND_NS;
    while (counted(&running->control.ended) < running->started) {
        wait_events(running, next_ns);
        int64_t now_ns = clock_monotonic_ns();
        if (now_ns >= next_ns) {
            progress_show(running, now_ns, false);
            next_ns += ((now_ns - next_ns) / SECOND_NS + 1) * SECOND_NS;
        }
    }
}

/* ---- collecting -------------------------------------------------------------------------------------------------- */

/* When the run was over: at its deadline, or when the last reply after it came; without a deadline when the last client
 * was done. */
static int64_t finish_ns(const struct running *running)
{
    int64_t deadline_ns = running->interrupted ? running->stop_ns : INT64_MAX;
    unsigned test_time_s = running->run->options->test_time_s;
    if (!running->interrupted && test_time_s > 0)
        deadline_ns = running->start_ns + test_time_s * (int64_t)SECOND_NS;
    int64_t ended_ns = running->start_ns, reply_ns = 0;
    for (unsigned i = 0; i < running->started; i++) {
        const struct load_thread *thread = &running->threads[i];
        if (thread->finish_ns > ended_ns)
            ended_ns = thread->finish_ns;
        if (thread->recorder.last_reply_ns > reply_ns)
            reply_ns = thread->recorder.last_reply_ns;
    }
    if (ended_ns <= deadline_ns)
        return ended_ns;
    if (reply_ns > deadline_ns)
        return reply_ns;
    return deadline_ns > running->start_ns ? deadline_ns : running->start_ns;
}

static void rows_make(const struct workload *workload, struct run_result *result)
{
    for (unsigned i = 0; i < workload->command_count; i++) {
        const struct workload_command *command = &workload->commands[i];
        (void)run_result_row_add(result, command->row, command->name, command->reads_key, true);
    }
    (void)run_result_row_add(result, "Waits", "WAIT", false, false);
    (void)run_result_row_add(result, "Totals", NULL, true, true);
}

/* The clocks are read one after the other: of a very short window a part may seem more than the whole. */
static double percent_of(int64_t part_ns, int64_t whole_ns)
{
    return part_ns < whole_ns ? (double)part_ns * 100 / (double)whole_ns : 100;
}

static void run_collect(struct running *running, struct run_result *result)
{
    const struct load_options *options = running->run->options;
    result->cpu_s = process_cpu_s() - running->cpu_s;
    int64_t end_ns = finish_ns(running);
    result->duration_s = (double)(end_ns - running->start_ns) / 1e9;
    result->start_ms = running->start_ms;
    result->finish_ms = running->start_ms + (end_ns - running->start_ns + 500000) / 1000000;
    result->interrupted = running->interrupted;
    result->processors = cpu_count();
    rows_make(running->run->workload, result);
    for (unsigned i = 0; i < running->started; i++) {
        const struct load_thread *thread = &running->threads[i];
        run_result_take(result, &thread->recorder);
        result->connections += thread->up;
        memcpy(result->io_name, thread->io_name, sizeof(result->io_name));
        if (thread->window_ns <= 0)
            continue;
        double busy = percent_of(thread->cpu_ns, thread->window_ns);
        double starved = percent_of(thread->starved_ns, thread->window_ns);
        if (busy > result->busiest_percent)
            result->busiest_percent = busy;
        if (starved > result->starved_percent)
            result->starved_percent = starved;
    }
    run_result_complete(result);
    int64_t covered_ns = end_ns - running->start_ns;
    uint32_t seconds = (uint32_t)((covered_ns + SECOND_NS - 1) / SECOND_NS);
    if (options->test_time_s > 0 && seconds > options->test_time_s)
        seconds = options->test_time_s;
    timeline_finish(&result->timeline, seconds);
}

/* ---- start and end ----------------------------------------------------------------------------------------------- */

static int threads_start(struct running *running)
{
    const struct load_run *run = running->run;
    for (unsigned i = 0; i < run->options->threads; i++) {
        struct load_thread *thread = &running->threads[i];
        *thread = (struct load_thread){
            .options = run->options,
            .workload = run->workload,
            .target = run->target,
            .control = &running->control,
            .index = i,
        };
        recorder_init(&thread->recorder, run->workload->command_count, i, running->timeline);
        int error = load_thread_start(thread);
        if (error < 0) {
            recorder_deinit(&thread->recorder);
            return error;
        }
        running->started++;
    }
    return 0;
}

static void threads_end(struct running *running)
{
    for (unsigned i = 0; i < running->started; i++) {
        load_thread_deinit(&running->threads[i]);
        recorder_deinit(&running->threads[i].recorder);
    }
    mem_free(running->threads);
}

int load_run(const struct load_run *run, struct run_result *result)
{
    struct running running = {.run = run, .timeline = &result->timeline};
    running.requests_total = load_requests_total(run->options, run->workload);
    running.control.verbose = run->verbose;
    running.control.note = run->hooks->note;
    running.control.note_owner = run->hooks->owner;
    running.control.notify_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (running.control.notify_fd < 0)
        return -errno;
    running.threads = mem_alloc_aligned(64, run->options->threads * sizeof(struct load_thread));
    timeline_init(&result->timeline, run->workload->command_count, run->options->threads, run->percentiles,
                  run->percentile_count, run->keeps_buckets);
    int error = threads_start(&running);
    if (error == 0) {
        run_begin(&running);
        run_watch(&running);
    } else {
        run_stop(&running);
    }
    for (unsigned i = 0; i < running.started; i++) {
        load_thread_join(&running.threads[i]);
        if (error == 0)
            error = running.threads[i].error;
    }
    if (error == 0) {
        progress_show(&running, clock_monotonic_ns(), true);
        run_collect(&running, result);
    }
    threads_end(&running);
    close(running.control.notify_fd);
    return error;
}
