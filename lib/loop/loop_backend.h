/* loop_backend.h - what the halves of lib/loop share: the loop itself, and what a backend has to offer.
 *
 * Owns:       nothing beyond loop.h.
 * Threads:    the loop's thread, but `asleep` and `wake_pending`.
 * Invariants: a conn is in at most one of the loop's lists; its memory is touched until `released` ran and never after.
 * Fails by:   as loop.h.
 * Limits:     as loop.h. */
#ifndef KETCH_LIB_LOOP_LOOP_BACKEND_H
#define KETCH_LIB_LOOP_LOOP_BACKEND_H

#include "lib/loop/loop.h"
#include "lib/loop/loop_chunks.h"
#include "lib/loop/loop_timers.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    CONN_CONNECTING = 1U << 0,
    CONN_PAUSED = 1U << 1,
    CONN_CLOSED = 1U << 2,  /* by its owner */
    CONN_DEAD = 1U << 3,    /* `closed` was told */
    CONN_ENDED = 1U << 4,   /* conn->error is still to be told */
    CONN_SENDING = 1U << 5, /* a send is pending */
    CONN_LISTED = 1U << 6,
    CONN_IN = 1U << 7,     /* the kernel watches for bytes: epoll interest, or the multishot receive */
    CONN_OUT = 1U << 8,    /* the kernel watches for room, or holds the send */
    CONN_CANCEL = 1U << 9, /* the receive was told to stop */
    CONN_GONE = CONN_CLOSED | CONN_DEAD,
    LISTENER_CLOSED = 1U << 0,
    LISTENER_LOGGED = 1U << 1,
};

/* A connection's pending pieces, more than one. */
struct loop_sending {
    struct msghdr message;
    struct iovec pieces[LOOP_IOV_MAX];
    struct loop_sending *next; /* in the loop's free list */
};

struct loop_backend {
    const char *name;
    /* Sets loop->state. 0 or -errno. */
    int (*open)(struct loop *loop);
    void (*close)(struct loop *loop);
    /* Before each wait: gives starved connections chunks. */
    void (*feed)(struct loop *loop);
    /* Blocks until something happened, at most wait_ns (-1: no limit). 0 or -errno; an interrupted wait is 0. */
    int (*wait)(struct loop *loop, int64_t wait_ns);
    /* Calls the handlers for what the wait found. */
    void (*deliver)(struct loop *loop);
    /* Calls the handlers for what was put off to this turn. */
    void (*deliver_due)(struct loop_conn *conn);
    int (*conn_open)(struct loop_conn *conn);
    enum loop_send (*conn_send)(struct loop_conn *conn, const struct iovec *pieces, unsigned count);
    void (*conn_resume)(struct loop_conn *conn);
    void (*conn_close)(struct loop_conn *conn);
    int (*listener_open)(struct loop_listener *listener);
    void (*listener_resume)(struct loop_listener *listener);
    void (*listener_close)(struct loop_listener *listener);
    /* True while the kernel still holds something that must end before close. */
    bool (*busy)(const struct loop *loop);
};

extern const struct loop_backend loop_backend_epoll;
extern const struct loop_backend loop_backend_uring;

struct loop {
    const struct loop_backend *backend;
    void *state;
    void *owner;
    void (*woken)(void *owner);
    void (*turn_ended)(void *owner);

    struct loop_chunks chunks;
    struct loop_timers timers;
    struct loop_sending *sendings; /* free ones */

    struct loop_link ready;    /* put off to the next turn */
    struct loop_link due;      /* those of this turn */
    struct loop_link starved;  /* want to receive and there was no chunk */
    struct loop_link closing;  /* closed, the kernel holds operations */
    struct loop_link released; /* closed, free to go */

    int64_t now_ns;
    int64_t resumed_ns; /* when the last wait ended */
    _Atomic int64_t busy_ns;
    uint32_t turn;
    _Atomic bool cpu_known; /* cpu_clock is valid */
    clockid_t cpu_clock;    /* of the turning thread */
    int64_t cpu_began_ns;

    int wake_fd;
    _Alignas(64) _Atomic bool wake_pending; /* written by other threads */
    _Atomic bool asleep;
};

static inline void link_init(struct loop_link *head)
{
    head->previous = head;
    head->next = head;
}

static inline bool link_empty(const struct loop_link *head)
{
    return head->next == head;
}

static inline struct loop_conn *link_conn(struct loop_link *link)
{
    return CONTAINER_OF(link, struct loop_conn, link);
}

/* Leaves its list, if in one. */
void loop_conn_unlist(struct loop_conn *conn);

/* Moves the conn to the end of a list. */
void loop_conn_list(struct loop_conn *conn, struct loop_link *head);

/* Tells `error` in the next turn: by `connected` while connecting, else by `closed`. */
void loop_conn_end_later(struct loop_conn *conn, int error);

/* Tells it now. The backend has stopped watching. */
void loop_conn_tell_closed(struct loop_conn *conn, int error);

/* Forgets chunks held back and the pending send. */
void loop_conn_drop_held(struct loop_conn *conn);
void loop_conn_drop_send(struct loop_conn *conn);

/* Ends connecting after the socket became writable: 0 or the socket's -errno. */
int loop_conn_connect_result(const struct loop_conn *conn);

/* ---- pieces of a send (loop_send.c) ------------------------------------------------------------------------------ */

/* Keeps what is left of the pieces after `skip` bytes as the pending send. At least one byte must be left. */
void loop_send_keep(struct loop_conn *conn, const struct iovec *pieces, unsigned count, size_t skip);

/* Takes `size` sent bytes off the pending send; true when nothing is left (the send then is not pending any more). */
bool loop_send_advance(struct loop_conn *conn, size_t size);

/* One attempt on the pending send by system call: bytes or -errno. */
ssize_t loop_send_try(struct loop_conn *conn);

/* ---- listeners --------------------------------------------------------------------------------------------------- */

/* After a failed accept: logs once, waits 100 ms and calls listener_resume. The backend has stopped watching. */
void loop_listener_rest(struct loop_listener *listener, int error);

/* Whether accept's errno is of the one connection that was about to be accepted (accept(2) lists them), or an
 * interruption, so that the listener can go on at once. */
MUST_USE bool loop_accept_passes(int error);

#endif
