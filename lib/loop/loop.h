/* loop.h - completions: what a thread waits for, behind one interface over epoll and io_uring.
 *
 * Owns:       the kernel queue, a pool of receive chunks, the timers. Handles (conn, listener, timer) are embedded in
 *             the caller's structures and owned by the caller.
 * Threads:    everything belongs to the thread that turns the loop, but loop_wake, which any thread may call.
 * Invariants: a callback never runs inside a call of the caller: completions are delivered by loop_turn only. The one
 *             exception, loop_conn_send, says in its result that the send is already done and then has no callback.
 * Fails by:   negative errno; what happens to a connection later comes by its `closed` callback.
 * Limits:     chunks in flight (loop_options.chunks_max); at LOOP_IOV_MAX pieces a send. */
#ifndef KETCH_LIB_LOOP_LOOP_H
#define KETCH_LIB_LOOP_LOOP_H

#include "lib/base/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define LOOP_IOV_MAX 32

enum loop_io { LOOP_IO_AUTO, LOOP_IO_EPOLL, LOOP_IO_URING };

struct loop;

struct loop_options {
    enum loop_io io;                 /* AUTO: io_uring where it works, else epoll, without noise */
    size_t chunk_size;               /* bytes of one receive chunk; 0 = 16,384 */
    size_t chunks_max;               /* chunks that may exist at once; 0 = 4,096 */
    void *owner;                     /* passed to the two hooks below */
    void (*woken)(void *owner);      /* after loop_wake, once per turn; may be NULL */
    void (*turn_ended)(void *owner); /* after the last completion of each turn; may be NULL */
};

/* NULL with *error = -errno on failure (URING asked for and not to be had: -ENOSYS or what the kernel said). */
struct loop *loop_create(const struct loop_options *options, int *error);

/* No conn, listener or timer may be open. Conns that are closed but not yet released get their `released` here. To be
 * called by the thread that turned the loop, or after that thread has ended; before the process exits, or io_uring may
 * keep a listener's port for some milliseconds longer. NULL is allowed. */
void loop_destroy(struct loop *loop);

/* "epoll" or "io_uring". */
const char *loop_io_name(const struct loop *loop);

/* Waits for at least one completion, at most timeout_ns (-1: no limit, 0: only looks), and delivers all that are there,
 * due timers among them. A signal may end the wait early. 0, or -errno when the kernel queue itself failed. */
MUST_USE int loop_turn(struct loop *loop, int64_t timeout_ns);

/* CLOCK_MONOTONIC nanoseconds as read after the last wait. */
int64_t loop_now_ns(const struct loop *loop);

/* Makes a running or the next loop_turn call `woken`. Any thread, async-signal-safe; cheap when already pending. */
void loop_wake(struct loop *loop);

/* Nanoseconds this loop spent outside waiting, since it was created (for "how busy is this thread"). With io_uring the
 * sends run inside the wait, so there it is at least the CPU time of the turning thread. Any thread. */
int64_t loop_busy_ns(const struct loop *loop);

/* ---- received bytes ---------------------------------------------------------------------------------------------- */

/* Borrowed from the loop's pool. The receiver owns it until loop_chunk_release; it may be kept over turns, but only
 * chunks_max exist: keep none for an idle connection. */
struct loop_chunk {
    uint8_t *data;
    size_t size;             /* bytes received, at least 1 */
    struct loop_chunk *next; /* the receiver's, to make lists */
    bool detached;           /* private: outside the pool */
};

void loop_chunk_release(struct loop *loop, struct loop_chunk *chunk);

/* ---- connections ------------------------------------------------------------------------------------------------- */

struct loop_conn;

struct loop_conn_handler {
    /* A connect ended: error is 0 or -errno. On failure `closed` does not come; call loop_conn_close all the same. */
    void (*connected)(struct loop_conn *conn, int error);
    /* Bytes arrived; the chunk is the callee's. Never called while paused. */
    void (*received)(struct loop_conn *conn, struct loop_chunk *chunk);
    /* All bytes of the pending send are with the kernel; the pieces are the caller's again. */
    void (*sent)(struct loop_conn *conn);
    /* The peer closed its side (0) or the connection failed (-errno). At most once; nothing else but `released` comes
     * after it. With a send pending it may still come: the send is then given up. 0 never comes in the same turn as
     * bytes of this connection, so that their answers can go out first. While paused only a failing send brings it. */
    void (*closed)(struct loop_conn *conn, int error);
    /* After loop_conn_close: the kernel holds nothing of the conn or its send any more; it may be freed here. */
    void (*released)(struct loop_conn *conn);
};

struct loop_link {
    struct loop_link *previous, *next;
};

/* Embedded in the caller's structure. Fields are private but fd, which may be read. */
struct loop_conn {
    struct loop *loop;
    const struct loop_conn_handler *handler;
    int fd;
    uint32_t flags;
    uint32_t ops;                 /* operations the kernel still holds */
    uint32_t turn;                /* in which bytes came last */
    int error;                    /* to be told in a later turn */
    struct iovec rest;            /* the pending send, when it is one piece */
    struct loop_sending *sending; /* the pending send, when it is several */
    struct loop_chunk *held;      /* arrived while paused */
    struct loop_link link;        /* in at most one list of the loop */
};

/* Takes the connected, non-blocking socket fd and starts receiving. 0 or -errno (then fd is still the caller's). */
MUST_USE int loop_conn_open(struct loop *loop, struct loop_conn *conn, const struct loop_conn_handler *handler, int fd);

/* Makes a non-blocking socket and connects it; `connected` tells. TCP_NODELAY is set. 0 or -errno (then nothing is
 * open). */
MUST_USE int loop_conn_connect(struct loop *loop, struct loop_conn *conn, const struct loop_conn_handler *handler,
                               const struct sockaddr *address, socklen_t size);

enum loop_send { LOOP_SEND_DONE, LOOP_SEND_PENDING };

/* Sends the pieces in order. One send at a time, and none before `connected` or after `closed`. DONE: the kernel has
 * taken all, no callback follows. PENDING: the bytes (not the iovec array) must stay until `sent`, or until `released`.
 * Failures come by `closed`. */
MUST_USE enum loop_send loop_conn_send(struct loop_conn *conn, const struct iovec *pieces, unsigned count);

/* Stops or resumes receiving (back-pressure). Cheap: the kernel is told only when bytes do arrive. */
void loop_conn_pause(struct loop_conn *conn);
void loop_conn_resume(struct loop_conn *conn);

/* Closes the socket. No callback but `released` comes afterwards, in this turn or a later one, never from inside this
 * call. Unsent bytes of a pending send are dropped. */
void loop_conn_close(struct loop_conn *conn);

/* ---- timers ------------------------------------------------------------------------------------------------------ */

struct loop_timer {
    void (*expired)(struct loop_timer *timer);
    int64_t deadline_ns;
    uint32_t heap_index; /* 0: not running */
};

/* Runs once at the monotonic time given; starting a running timer moves it. */
void loop_timer_start(struct loop *loop, struct loop_timer *timer, int64_t deadline_ns);
void loop_timer_stop(struct loop *loop, struct loop_timer *timer);

static inline bool loop_timer_running(const struct loop_timer *timer)
{
    return timer->heap_index != 0;
}

/* ---- listeners --------------------------------------------------------------------------------------------------- */

struct loop_listener {
    struct loop *loop;
    /* A connection arrived on a non-blocking, close-on-exec socket that is the callee's. */
    void (*accepted)(struct loop_listener *listener, int fd);
    int fd;
    uint32_t flags;
    void *state;             /* the backend's */
    struct loop_timer retry; /* runs while out of descriptors */
};

/* Takes the listening, non-blocking socket. Running out of descriptors pauses accepting for 100 ms and logs once. */
MUST_USE int loop_listener_open(struct loop *loop, struct loop_listener *listener, int fd,
                                void (*accepted)(struct loop_listener *, int fd));

/* Closes it; no callback comes afterwards. The structure may be freed once loop_turn has run again or the loop is
 * gone. */
void loop_listener_close(struct loop_listener *listener);

#endif
