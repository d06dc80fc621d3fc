/* The epoll backend. Level-triggered: what a turn leaves in a socket is reported again, so a receive may stop after a
 * short read, and a busy connection after a few chunks, without bookkeeping.
 *
 * A descriptor with no interest leaves the set instead of staying with an empty mask, because hang-ups are reported
 * whatever the mask says and would spin the loop. Descriptors are taken out before they are closed: a forked child may
 * still hold the socket, and then closing alone would leave an entry whose pointer dangles. */
#include "lib/base/mem.h"
#include "lib/loop/loop_backend.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS_MAX = 512, CHUNKS_PER_VISIT = 4, ACCEPTS_PER_VISIT = 64 };

/* In the low bits of an event's pointer. */
enum { TAG_CONN = 0, TAG_LISTENER = 1, TAG_WAKE = 2, TAG_MASK = 3 };

struct epoll {
    int fd;
    int count;                                          /* events of this turn */
    bool milliseconds;                                  /* epoll_pwait2 is missing or forbidden */
    _Alignas(64) struct epoll_event events[EVENTS_MAX]; /* packed on x86, so it would start at an odd address */
};

static inline struct epoll *of(const struct loop *loop)
{
    return loop->state;
}

static int control(const struct loop *loop, int operation, int fd, uint32_t events, void *pointer, unsigned tag)
{
    struct epoll_event event = {.events = events, .data.u64 = (uint64_t)(uintptr_t)pointer | tag};
    return epoll_ctl(of(loop)->fd, operation, fd, &event) < 0 ? -errno : 0;
}

/* Makes the interest exactly `want` (of CONN_IN | CONN_OUT). 0 or -errno. */
static int watch(struct loop_conn *conn, uint32_t want)
{
    uint32_t have = conn->flags & (CONN_IN | CONN_OUT);
    if (have == want) {
        return 0;
    }
    int operation = have == 0 ? EPOLL_CTL_ADD : want == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    uint32_t events = (want & CONN_IN ? EPOLLIN : 0U) | (want & CONN_OUT ? EPOLLOUT : 0U);
    int error = control(conn->loop, operation, conn->fd, events, conn, TAG_CONN);
    if (UNLIKELY(error != 0)) {
        return error;
    }
    conn->flags = (conn->flags & ~(CONN_IN | CONN_OUT)) | want;
    return 0;
}

/* The same where failing (memory, the user's limit of watches) means the end of the connection. */
static void watch_or_end(struct loop_conn *conn, uint32_t want)
{
    int error = watch(conn, want);
    if (UNLIKELY(error != 0)) {
        loop_conn_end_later(conn, error);
    }
}

static void conn_closed(struct loop_conn *conn, int error)
{
    (void)watch(conn, 0);
    loop_conn_drop_send(conn);
    loop_conn_tell_closed(conn, error);
}

/* ---- receiving --------------------------------------------------------------------------------------------------- */

static void conn_starved(struct loop_conn *conn)
{
    watch_or_end(conn, conn->flags & CONN_OUT);
    if (!(conn->flags & CONN_ENDED)) {
        loop_conn_list(conn, &conn->loop->starved);
    }
}

static inline ssize_t receive_once(const struct loop_conn *conn, struct loop_chunk *chunk)
{
    for (;;) {
        ssize_t size = recv(conn->fd, loop_chunks_bytes(chunk), conn->loop->chunks.chunk_size, 0);
        if (LIKELY(size >= 0)) {
            return size;
        }
        if (errno != EINTR) {
            return -errno;
        }
    }
}

static void conn_receive(struct loop_conn *conn)
{
    struct loop *loop = conn->loop;
    for (int visit = 0; visit < CHUNKS_PER_VISIT; visit++) {
        struct loop_chunk *chunk = loop_chunks_take(&loop->chunks);
        if (UNLIKELY(chunk == NULL)) {
            conn_starved(conn);
            return;
        }
        ssize_t size = receive_once(conn, chunk);
        if (LIKELY(size > 0)) {
            loop_chunks_fill(chunk, (size_t)size);
            conn->handler->received(conn, chunk);
            if ((size_t)size < loop->chunks.chunk_size || (conn->flags & (CONN_GONE | CONN_ENDED | CONN_PAUSED))) {
                return;
            }
            continue;
        }
        loop_chunks_give(&loop->chunks, chunk);
        /* The end waits a turn when bytes came in this one. */
        if (size != -EAGAIN && !(size == 0 && visit > 0)) {
            conn_closed(conn, (int)size);
        }
        return;
    }
}

/* ---- sending ----------------------------------------------------------------------------------------------------- */

static size_t total_of(const struct iovec *pieces, unsigned count)
{
    size_t total = 0;
    for (unsigned i = 0; i < count; i++) {
        total += pieces[i].iov_len;
    }
    return total;
}

static ssize_t send_now(int fd, const struct iovec *pieces, unsigned count)
{
    for (;;) {
        /* The kernel reads the array only, but struct msghdr has no const. */
        struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)pieces, .msg_iovlen = count};
        ssize_t sent = count == 1 ? send(fd, pieces->iov_base, pieces->iov_len, MSG_NOSIGNAL)
                                  : sendmsg(fd, &message, MSG_NOSIGNAL);
        if (LIKELY(sent >= 0)) {
            return sent;
        }
        if (errno != EINTR) {
            return -errno;
        }
    }
}

static enum loop_send epoll_conn_send(struct loop_conn *conn, const struct iovec *pieces, unsigned count)
{
    if (UNLIKELY(conn->flags & CONN_ENDED)) {
        conn->flags |= CONN_SENDING; /* given up; `closed` is on its way */
        return LOOP_SEND_PENDING;
    }
    size_t total = total_of(pieces, count);
    if (UNLIKELY(total == 0)) {
        return LOOP_SEND_DONE;
    }
    ssize_t sent = send_now(conn->fd, pieces, count);
    if (LIKELY(sent == (ssize_t)total)) {
        return LOOP_SEND_DONE;
    }
    if (sent < 0 && sent != -EAGAIN) {
        conn->flags |= CONN_SENDING;
        loop_conn_end_later(conn, (int)sent);
        return LOOP_SEND_PENDING;
    }
    loop_send_keep(conn, pieces, count, sent < 0 ? 0 : (size_t)sent);
    watch_or_end(conn, (conn->flags & CONN_IN) | CONN_OUT);
    return LOOP_SEND_PENDING;
}

static void conn_writable(struct loop_conn *conn)
{
    ssize_t sent = loop_send_try(conn);
    if (sent < 0) {
        if (sent != -EAGAIN) {
            conn_closed(conn, (int)sent);
        }
        return;
    }
    if (loop_send_advance(conn, (size_t)sent)) {
        watch_or_end(conn, conn->flags & CONN_IN);
        conn->handler->sent(conn);
    }
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static void conn_connected(struct loop_conn *conn)
{
    int error = loop_conn_connect_result(conn);
    if (error == 0) {
        conn->flags &= ~CONN_CONNECTING;
        error = watch(conn, conn->flags & CONN_PAUSED ? 0 : CONN_IN);
    }
    if (error != 0) {
        (void)watch(conn, 0);
        conn->flags |= CONN_DEAD;
    }
    conn->handler->connected(conn, error);
}

static void conn_event(struct loop_conn *conn, uint32_t events)
{
    if (UNLIKELY(conn->flags & (CONN_GONE | CONN_ENDED | CONN_CONNECTING))) {
        if ((conn->flags & (CONN_GONE | CONN_ENDED | CONN_CONNECTING)) == CONN_CONNECTING) {
            conn_connected(conn);
        }
        return;
    }
    if (UNLIKELY(events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) && (conn->flags & CONN_OUT)) {
        conn_writable(conn);
        if (conn->flags & (CONN_GONE | CONN_ENDED)) {
            return;
        }
    }
    if (!(events & (EPOLLIN | EPOLLERR | EPOLLHUP)) || !(conn->flags & CONN_IN)) {
        return;
    }
    if (UNLIKELY(conn->flags & CONN_PAUSED)) {
        watch_or_end(conn, conn->flags & CONN_OUT);
        return;
    }
    conn_receive(conn);
}

static void epoll_deliver_due(struct loop_conn *conn)
{
    if (!(conn->flags & CONN_ENDED)) {
        return;
    }
    if (conn->flags & CONN_CONNECTING) {
        conn->flags |= CONN_DEAD;
        conn->handler->connected(conn, conn->error);
        return;
    }
    conn_closed(conn, conn->error);
}

static int epoll_conn_open(struct loop_conn *conn)
{
    return watch(conn, conn->flags & CONN_CONNECTING ? CONN_OUT : CONN_IN);
}

static void epoll_conn_resume(struct loop_conn *conn)
{
    if (!(conn->flags & (CONN_ENDED | CONN_LISTED))) {
        watch_or_end(conn, conn->flags & CONN_OUT ? CONN_IN | CONN_OUT : CONN_IN);
    }
}

static void epoll_conn_close(struct loop_conn *conn)
{
    (void)watch(conn, 0);
    loop_conn_drop_send(conn);
    close(conn->fd);
    loop_conn_list(conn, &conn->loop->released);
}

/* ---- listeners --------------------------------------------------------------------------------------------------- */

static int epoll_listener_open(struct loop_listener *listener)
{
    return control(listener->loop, EPOLL_CTL_ADD, listener->fd, EPOLLIN, listener, TAG_LISTENER);
}

static void epoll_listener_resume(struct loop_listener *listener)
{
    int error = epoll_listener_open(listener);
    if (error != 0) {
        loop_listener_rest(listener, error);
    }
}

static void epoll_listener_close(struct loop_listener *listener)
{
    (void)control(listener->loop, EPOLL_CTL_DEL, listener->fd, 0, NULL, 0);
    close(listener->fd);
}

static void listener_event(struct loop_listener *listener)
{
    for (int visit = 0; visit < ACCEPTS_PER_VISIT && !(listener->flags & LISTENER_CLOSED); visit++) {
        int fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            listener->accepted(listener, fd);
        } else if (errno == EAGAIN) {
            return;
        } else if (!loop_accept_passes(errno)) {
            int error = -errno;
            (void)control(listener->loop, EPOLL_CTL_DEL, listener->fd, 0, NULL, 0);
            loop_listener_rest(listener, error);
            return;
        }
    }
}

/* ---- the queue --------------------------------------------------------------------------------------------------- */

static int epoll_open(struct loop *loop)
{
    struct epoll *epoll = mem_alloc_aligned(64, sizeof(*epoll));
    epoll->count = 0;
    epoll->milliseconds = false;
    epoll->fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll->fd < 0) {
        int error = -errno;
        mem_free(epoll);
        return error;
    }
    loop->state = epoll;
    /* Edge-triggered: each write is one event, and the counter never has to be read. */
    int error = control(loop, EPOLL_CTL_ADD, loop->wake_fd, EPOLLIN | EPOLLET, NULL, TAG_WAKE);
    if (error != 0) {
        close(epoll->fd);
        mem_free(epoll);
    }
    return error;
}

static void epoll_close(struct loop *loop)
{
    close(of(loop)->fd);
    mem_free(loop->state);
}

/* Connections that found no chunk: as many as can be served now are watched again. */
static void epoll_feed(struct loop *loop)
{
    if (LIKELY(link_empty(&loop->starved))) {
        return;
    }
    for (size_t room = loop_chunks_available(&loop->chunks); room > 0 && !link_empty(&loop->starved); room--) {
        struct loop_conn *conn = link_conn(loop->starved.next);
        loop_conn_unlist(conn);
        if (!(conn->flags & CONN_PAUSED)) {
            epoll_conn_resume(conn);
        }
    }
}

static int wait_exact(struct epoll *epoll, int64_t wait_ns)
{
    struct timespec limit = {.tv_sec = wait_ns / 1000000000, .tv_nsec = wait_ns % 1000000000};
    int count = epoll_pwait2(epoll->fd, epoll->events, EVENTS_MAX, &limit, NULL);
    if (count < 0 && (errno == ENOSYS || errno == EPERM)) {
        epoll->milliseconds = true; /* an old kernel, or a filter of system calls that does not know it */
    }
    return count;
}

static int wait_rounded(struct epoll *epoll, int64_t wait_ns)
{
    int64_t milliseconds = wait_ns < 0 ? -1 : wait_ns / 1000000 + (wait_ns % 1000000 != 0);
    return epoll_wait(epoll->fd, epoll->events, EVENTS_MAX, milliseconds > INT32_MAX ? INT32_MAX : (int)milliseconds);
}

static int epoll_wait_for(struct loop *loop, int64_t wait_ns)
{
    struct epoll *epoll = of(loop);
    int count = -1;
    if (wait_ns > 0 && !epoll->milliseconds) {
        count = wait_exact(epoll, wait_ns);
    }
    if (wait_ns <= 0 || epoll->milliseconds) {
        count = wait_rounded(epoll, wait_ns);
    }
    epoll->count = count < 0 ? 0 : count;
    return count < 0 && errno != EINTR ? -errno : 0;
}

static void epoll_deliver(struct loop *loop)
{
    struct epoll *epoll = of(loop);
    for (int i = 0; i < epoll->count; i++) {
        if (i + 1 < epoll->count) {
            __builtin_prefetch(epoll->events[i + 1].data.ptr);
        }
        uint64_t data = epoll->events[i].data.u64;
        void *pointer = (void *)(uintptr_t)(data & ~(uint64_t)TAG_MASK);
        switch (data & TAG_MASK) {
        case TAG_CONN:
            conn_event(pointer, epoll->events[i].events);
            break;
        case TAG_LISTENER:
            listener_event(pointer);
            break;
        default:
            break; /* the wake: the loop looks at its flag every turn */
        }
    }
    epoll->count = 0;
}

static bool epoll_busy(const struct loop *loop)
{
    (void)loop;
    return false;
}

const struct loop_backend loop_backend_epoll = {
    .name = "epoll",
    .open = epoll_open,
    .close = epoll_close,
    .feed = epoll_feed,
    .wait = epoll_wait_for,
    .deliver = epoll_deliver,
    .deliver_due = epoll_deliver_due,
    .conn_open = epoll_conn_open,
    .conn_send = epoll_conn_send,
    .conn_resume = epoll_conn_resume,
    .conn_close = epoll_conn_close,
    .listener_open = epoll_listener_open,
    .listener_resume = epoll_listener_resume,
    .listener_close = epoll_listener_close,
    .busy = epoll_busy,
};
