/* load_thread.h - a thread of the load: a loop, its lanes in one array, its recorder.
 *
 * Owns:       loop, lanes, rings, output buffers, recorder.
 * Threads:    its own, but `live` (relaxed atomics, anybody reads) and the results, after it has been joined.
 * Invariants: connects, waits until all threads are ready, runs, drains, ends; never waits for the server without a
 *             deadline except for replies of a run that has no test time.
 * Limits:     connects in flight: a backlog's worth over all threads. */
#ifndef KETCH_BENCH_CLIENT_LOAD_THREAD_H
#define KETCH_BENCH_CLIENT_LOAD_THREAD_H

#include "bench/client/lane.h"
#include "bench/client/target.h"
#include "bench/stats/recorder.h"

#include <pthread.h>

struct load_options {
    unsigned threads;
    unsigned clients; /* per thread */
    uint32_t pipeline;
    uint64_t requests; /* per client; 0: test_time_s decides */
    bool all_keys;     /* requests: each client's share of the keys under P, else all of them */
    unsigned test_time_s;
    uint64_t rate;               /* requests per second and client; 0: no limit */
    uint64_t reconnect_interval; /* requests; 0: never */
    enum loop_io io;
};

enum load_phase { LOAD_CONNECTING, LOAD_READY, LOAD_RUNNING, LOAD_DRAINING, LOAD_ENDED };

/* Between the threads and the one that runs them. */
struct load_control {
    _Atomic bool stop;        /* end early */
    _Atomic int64_t start_ns; /* monotonic; 0: not yet */
    _Atomic unsigned ready, ended;
    _Atomic unsigned notes;                      /* shown so far */
    int notify_fd;                               /* eventfd, written when ready or ended grows */
    bool verbose;                                /* no limit on notes */
    void (*note)(void *owner, const char *text); /* any thread: a line for the user */
    void *note_owner;
};

struct load_thread {
    const struct load_options *options;
    const struct workload *workload;
    const struct target *target;
    struct load_control *control;
    unsigned index;
    pthread_t pthread;
    int error; /* the loop could not be made or failed: -errno */
    char io_name[16];

    struct loop *loop;
    struct lane *lanes;
    struct lane_request *rings;
    struct lane_buffer *buffers; /* free ones */
    size_t buffer_size;
    enum load_phase phase;
    struct lane *waiting_first, *waiting_last; /* to connect, in order */
    unsigned connecting, connecting_max;       /* lanes between WAITING and UP */
    unsigned open;                             /* connections that are the loop's */
    unsigned unfinished;                       /* lanes not ended */
    unsigned up;                               /* lanes up when the run began */
    unsigned begun;                            /* lanes that were told to begin */
    struct loop_timer pace, begin, second, deadline;
    int64_t progress_ns; /* a connection last came up */

    struct recorder recorder;
    struct recorder_live live;
    int64_t finish_ns;                     /* when the last lane had ended */
    int64_t cpu_ns, starved_ns, window_ns; /* while it ran; for how long it ran */
};

/* Starts the thread. 0 or -errno. */
MUST_USE int load_thread_start(struct load_thread *thread);
/* Waits for its end; then its results may be read. */
void load_thread_join(struct load_thread *thread);
void load_thread_deinit(struct load_thread *thread);

/* For lanes. */
struct lane_buffer *load_thread_buffer_take(struct load_thread *thread);
void load_thread_buffer_give(struct load_thread *thread, struct lane_buffer *buffer);
void load_thread_enqueue(struct load_thread *thread, struct lane *lane);
/* A lane came up, failed or ended while connecting. */
void load_thread_settled(struct load_thread *thread);
void load_thread_lane_ended(struct load_thread *thread);
void load_thread_note(struct load_thread *thread, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
