/* The io_uring backend. Everything a turn asks for is submitted by the system call that waits: one call a turn.
 *
 * Receiving: one multishot receive per connection, which takes its buffers from a ring that all connections share. The
 * ring is filled before each wait from the loop's pool, and no further than bursts have needed so far (`target`): the
 * kernel uses it first in, first out, so a large ring would walk through cold memory. When it runs dry the receive
 * ends with ENOBUFS and the connection starves until the next turn; its bytes stay in the socket.
 *
 * The ring is made disabled and enabled by the first turn, because the kernel takes the enabling thread as the only
 * one that may submit, and a loop may be created by another.
 *
 * A descriptor is closed when its last operation came back: an operation not yet submitted names it by number, and
 * the number may have a new owner as soon as it is closed. */
#include "lib/base/clock.h"
#include "lib/base/mem.h"
#include "lib/loop/loop_backend.h"

#include <errno.h>
#include <liburing.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SUBMISSIONS = 1024, COMPLETIONS = 4096, BUFFERS = 512, BUFFERS_AT_FIRST = 64, BUFFER_GROUP = 0 };

/* In the low bits of user_data. */
enum { TAG_RECEIVE = 0, TAG_SEND = 1, TAG_CONNECT = 2, TAG_ACCEPT = 3, TAG_WAKE = 4, TAG_IGNORED = 5, TAG_MASK = 7 };

/* A listener's operation outlives the listener. */
struct listening {
    struct loop_listener *listener; /* NULL when closed */
    struct loop *loop;
    int fd;
    bool armed;
    struct listening *previous, *next;
};

struct uring {
    struct io_uring ring;
    struct io_uring_buf_ring *buffers;
    bool enabled;
    uint32_t target; /* how many buffers the ring is filled up to */
    uint32_t limit;
    uint32_t given; /* in the ring */
    uint32_t free_count;
    uint16_t free_ids[BUFFERS];
    struct loop_chunk *by_id[BUFFERS];
    struct listening *listening;
    uint32_t listeners_ending;
};

static inline struct uring *of(const struct loop *loop)
{
    return loop->state;
}

static inline uint64_t tagged(const void *pointer, unsigned tag)
{
    return (uint64_t)(uintptr_t)pointer | tag;
}

static void enable(struct loop *loop);

/* Room for an operation; a full queue is submitted. */
static struct io_uring_sqe *operation(struct loop *loop)
{
    struct uring *uring = of(loop);
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
    if (UNLIKELY(sqe == NULL)) {
        enable(loop);
        (void)io_uring_submit(&uring->ring);
        sqe = io_uring_get_sqe(&uring->ring);
        CHECK(sqe != NULL);
    }
    return sqe;
}

static void cancel(struct loop *loop, const void *pointer, unsigned tag)
{
    struct io_uring_sqe *sqe = operation(loop);
    io_uring_prep_cancel64(sqe, tagged(pointer, tag), 0);
    io_uring_sqe_set_data64(sqe, TAG_IGNORED);
}

static void watch_wake(struct loop *loop)
{
    /* Multishot polls report each write, so the counter never has to be read. */
    struct io_uring_sqe *sqe = operation(loop);
    io_uring_prep_poll_multishot(sqe, loop->wake_fd, POLLIN);
    io_uring_sqe_set_data64(sqe, TAG_WAKE);
}

static void enable(struct loop *loop)
{
    struct uring *uring = of(loop);
    if (LIKELY(uring->enabled)) {
        return;
    }
    uring->enabled = true;
    /* Debian 12's liburing does not export io_uring_enable_rings. */
    long error = syscall(SYS_io_uring_register, uring->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
    CHECK(error == 0);
    (void)io_uring_register_ring_fd(&uring->ring); /* saves a look-up per call; not needed */
    watch_wake(loop);
    if (pthread_getcpuclockid(pthread_self(), &loop->cpu_clock) == 0) {
        loop->cpu_began_ns = clock_thread_cpu_ns();
        atomic_store_explicit(&loop->cpu_known, true, memory_order_release);
    }
}

/* ---- receiving --------------------------------------------------------------------------------------------------- */

static void arm_receive(struct loop_conn *conn)
{
    struct io_uring_sqe *sqe = operation(conn->loop);
    io_uring_prep_recv_multishot(sqe, conn->fd, NULL, 0, 0);
    sqe->flags |= IOSQE_BUFFER_SELECT;
    sqe->buf_group = BUFFER_GROUP;
    io_uring_sqe_set_data64(sqe, tagged(conn, TAG_RECEIVE));
    conn->flags |= CONN_IN;
    conn->ops++;
}

/* Receives again where nothing speaks against it. A listed connection is starved or has something to be told first. */
static void receive_on(struct loop_conn *conn)
{
    if (!(conn->flags & (CONN_IN | CONN_PAUSED | CONN_GONE | CONN_ENDED | CONN_CONNECTING | CONN_LISTED)) &&
        conn->held == NULL) {
        arm_receive(conn);
    }
}

/* Bytes that come while paused wait in memory of their own, so that connections that stay paused cannot exhaust the
 * pool. There are few: the receive is told to stop. */
static void hold(struct loop_conn *conn, const struct loop_chunk *chunk, size_t size)
{
    struct loop_chunk **last = &conn->held;
    while (*last != NULL) {
        last = &(*last)->next;
    }
    *last = loop_chunks_detach((const uint8_t *)chunk + LOOP_CHUNK_HEADER, size);
    if ((conn->flags & (CONN_IN | CONN_CANCEL)) == CONN_IN) {
        conn->flags |= CONN_CANCEL;
        cancel(conn->loop, conn, TAG_RECEIVE);
    }
}

/* The last operation of a closed connection came back. */
static void settle(struct loop_conn *conn)
{
    if ((conn->flags & CONN_CLOSED) && conn->ops == 0) {
        loop_conn_drop_send(conn);
        close(conn->fd);
        loop_conn_list(conn, &conn->loop->released);
    }
}

/* A reset is reported once, and a send that was waiting may have taken it: the receive then looks like a peer that
 * closed its side. The state of the socket tells. */
static bool reset_seen_by_send(const struct loop_conn *conn)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof(info);
    return (conn->flags & CONN_SENDING) && getsockopt(conn->fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           info.tcpi_state == TCP_CLOSE;
}

/* The stream is over. What came before is delivered first, and answered if it came in this turn. */
static void receive_ended(struct loop_conn *conn, int error)
{
    if (conn->held == NULL && !(conn->flags & CONN_PAUSED) && (error != 0 || conn->turn != conn->loop->turn)) {
        loop_conn_tell_closed(conn, error);
        return;
    }
    conn->flags |= CONN_ENDED;
    conn->error = error;
    if (!(conn->flags & CONN_PAUSED)) {
        loop_conn_list(conn, &conn->loop->ready);
    }
}

static void receive_failed(struct loop_conn *conn, int error)
{
    struct loop *loop = conn->loop;
    struct uring *uring = of(loop);
    switch (error) {
    case -ENOBUFS:
        uring->target = uring->target * 2 < uring->limit ? uring->target * 2 : uring->limit;
        if (!(conn->flags & (CONN_PAUSED | CONN_LISTED | CONN_ENDED)) && conn->held == NULL) {
            loop_conn_list(conn, &loop->starved);
        }
        return;
    case -ECANCELED:
    case -EAGAIN:
    case -EINTR:
        return;
    default:
        if (!(conn->flags & CONN_ENDED)) {
            receive_ended(conn, error == 0 && reset_seen_by_send(conn) ? -ECONNRESET : error);
        }
    }
}

/* Takes the chunk a completion filled out of the ring. */
static struct loop_chunk *chunk_of(struct uring *uring, uint32_t flags)
{
    if (!(flags & IORING_CQE_F_BUFFER)) {
        return NULL;
    }
    uint16_t id = (uint16_t)(flags >> IORING_CQE_BUFFER_SHIFT);
    uring->free_ids[uring->free_count++] = id;
    uring->given--;
    return uring->by_id[id];
}

static void on_receive(struct loop_conn *conn, int result, uint32_t flags)
{
    struct loop *loop = conn->loop;
    struct loop_chunk *chunk = chunk_of(of(loop), flags);
    if (!(flags & IORING_CQE_F_MORE)) {
        conn->flags &= ~(CONN_IN | CONN_CANCEL);
        conn->ops--;
    }
    if (LIKELY(result > 0 && chunk != NULL && !(conn->flags & (CONN_GONE | CONN_PAUSED)) && conn->held == NULL)) {
        loop_chunks_fill(chunk, (size_t)result);
        conn->turn = loop->turn;
        conn->handler->received(conn, chunk);
        receive_on(conn);
        return;
    }
    if (chunk != NULL) {
        if (result > 0 && !(conn->flags & CONN_GONE)) {
            hold(conn, chunk, (size_t)result);
        }
        loop_chunks_give(&loop->chunks, chunk);
    }
    if (conn->flags & CONN_GONE) {
        settle(conn);
        return;
    }
    if (result <= 0) {
        receive_failed(conn, result);
    }
    receive_on(conn);
}

static void uring_deliver_due(struct loop_conn *conn)
{
    if (conn->flags & CONN_CONNECTING) {
        conn->flags |= CONN_DEAD;
        conn->handler->connected(conn, conn->error);
        return;
    }
    if (conn->held == NULL && (conn->flags & CONN_ENDED)) {
        loop_conn_tell_closed(conn, conn->error);
        return;
    }
    while (conn->held != NULL && !(conn->flags & (CONN_PAUSED | CONN_GONE))) {
        struct loop_chunk *chunk = conn->held;
        conn->held = chunk->next;
        chunk->next = NULL;
        conn->turn = conn->loop->turn;
        conn->handler->received(conn, chunk);
    }
    if (conn->flags & (CONN_PAUSED | CONN_GONE | CONN_LISTED)) {
        return;
    }
    if (conn->flags & CONN_ENDED) {
        loop_conn_list(conn, &conn->loop->ready);
        return;
    }
    receive_on(conn);
}

static void uring_conn_resume(struct loop_conn *conn)
{
    if (conn->flags & CONN_LISTED) {
        return;
    }
    if (conn->held != NULL || (conn->flags & CONN_ENDED)) {
        loop_conn_list(conn, &conn->loop->ready);
        return;
    }
    receive_on(conn);
}

/* ---- sending ----------------------------------------------------------------------------------------------------- */

static void submit_send(struct loop_conn *conn)
{
    struct io_uring_sqe *sqe = operation(conn->loop);
    if (conn->sending != NULL) {
        io_uring_prep_sendmsg(sqe, conn->fd, &conn->sending->message, MSG_NOSIGNAL | MSG_WAITALL);
    } else {
        io_uring_prep_send(sqe, conn->fd, conn->rest.iov_base, conn->rest.iov_len, MSG_NOSIGNAL | MSG_WAITALL);
    }
    io_uring_sqe_set_data64(sqe, tagged(conn, TAG_SEND));
    conn->flags |= CONN_OUT;
    conn->ops++;
}

static enum loop_send uring_conn_send(struct loop_conn *conn, const struct iovec *pieces, unsigned count)
{
    unsigned empty = 0;
    while (empty < count && pieces[empty].iov_len == 0) {
        empty++;
    }
    if (UNLIKELY(empty == count)) {
        return LOOP_SEND_DONE;
    }
    loop_send_keep(conn, pieces + empty, count - empty, 0);
    submit_send(conn);
    return LOOP_SEND_PENDING;
}

static void on_send(struct loop_conn *conn, int result)
{
    conn->flags &= ~CONN_OUT;
    conn->ops--;
    if (UNLIKELY(conn->flags & CONN_GONE)) {
        loop_conn_drop_send(conn);
        settle(conn);
        return;
    }
    if (LIKELY(result > 0)) {
        if (LIKELY(loop_send_advance(conn, (size_t)result))) {
            conn->handler->sent(conn);
        } else {
            submit_send(conn);
        }
    } else if (result == -EAGAIN || result == -EINTR) {
        submit_send(conn);
    } else {
        loop_conn_drop_send(conn);
        loop_conn_tell_closed(conn, result == 0 ? -EPIPE : result);
    }
}

/* ---- connections ------------------------------------------------------------------------------------------------- */

static int uring_conn_open(struct loop_conn *conn)
{
    if (!(conn->flags & CONN_CONNECTING)) {
        arm_receive(conn);
        return 0;
    }
    struct io_uring_sqe *sqe = operation(conn->loop);
    io_uring_prep_poll_add(sqe, conn->fd, POLLOUT);
    io_uring_sqe_set_data64(sqe, tagged(conn, TAG_CONNECT));
    conn->ops++;
    return 0;
}

static void on_connect(struct loop_conn *conn, int result)
{
    conn->ops--;
    if (conn->flags & CONN_CLOSED) {
        settle(conn);
        return;
    }
    int error = result < 0 ? result : loop_conn_connect_result(conn);
    if (error == 0) {
        conn->flags &= ~CONN_CONNECTING;
        receive_on(conn);
    } else {
        conn->flags |= CONN_DEAD;
    }
    conn->handler->connected(conn, error);
}

static void uring_conn_close(struct loop_conn *conn)
{
    if (conn->ops == 0) {
        settle(conn);
        return;
    }
    loop_conn_list(conn, &conn->loop->closing);
    if (conn->flags & CONN_IN) {
        cancel(conn->loop, conn, TAG_RECEIVE);
    }
    if (conn->flags & CONN_OUT) {
        cancel(conn->loop, conn, TAG_SEND);
    }
    if (conn->flags & CONN_CONNECTING) {
        cancel(conn->loop, conn, TAG_CONNECT);
    }
}

/* ---- listeners --------------------------------------------------------------------------------------------------- */

static void arm_accept(struct listening *listening)
{
    struct io_uring_sqe *sqe = operation(listening->loop);
    io_uring_prep_multishot_accept(sqe, listening->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    io_uring_sqe_set_data64(sqe, tagged(listening, TAG_ACCEPT));
    listening->armed = true;
}

static int uring_listener_open(struct loop_listener *listener)
{
    struct uring *uring = of(listener->loop);
    struct listening *listening = mem_alloc(sizeof(*listening));
    *listening =
        (struct listening){.listener = listener, .loop = listener->loop, .fd = listener->fd, .next = uring->listening};
    if (uring->listening != NULL) {
        uring->listening->previous = listening;
    }
    uring->listening = listening;
    listener->state = listening;
    arm_accept(listening);
    return 0;
}

static void uring_listener_resume(struct loop_listener *listener)
{
    arm_accept(listener->state);
}

static void listening_free(struct listening *listening)
{
    struct uring *uring = of(listening->loop);
    if (listening->previous != NULL) {
        listening->previous->next = listening->next;
    } else {
        uring->listening = listening->next;
    }
    if (listening->next != NULL) {
        listening->next->previous = listening->previous;
    }
    close(listening->fd);
    mem_free(listening);
}

static void uring_listener_close(struct loop_listener *listener)
{
    struct listening *listening = listener->state;
    if (!listening->armed) {
        listening_free(listening);
        return;
    }
    listening->listener = NULL;
    of(listener->loop)->listeners_ending++;
    cancel(listener->loop, listening, TAG_ACCEPT);
}

static void on_accept(struct loop *loop, struct listening *listening, int result, uint32_t flags)
{
    bool last = !(flags & IORING_CQE_F_MORE);
    if (last && listening->listener == NULL) {
        if (result >= 0) {
            close(result);
        }
        of(loop)->listeners_ending--;
        listening_free(listening);
        return;
    }
    if (last && (result >= 0 || loop_accept_passes(-result))) {
        arm_accept(listening); /* before the callback, which may close the listener */
    } else if (last) {
        listening->armed = false;
        loop_listener_rest(listening->listener, result);
    }
    if (result >= 0 && listening->listener == NULL) {
        close(result);
    } else if (result >= 0) {
        listening->listener->accepted(listening->listener, result);
    }
}

/* ---- the queue --------------------------------------------------------------------------------------------------- */

static int buffers_open(struct uring *uring)
{
    size_t size = BUFFERS * sizeof(struct io_uring_buf);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return -errno;
    }
    struct io_uring_buf_reg registration = {
        .ring_addr = (uint64_t)(uintptr_t)memory, .ring_entries = BUFFERS, .bgid = BUFFER_GROUP};
    int error = io_uring_register_buf_ring(&uring->ring, &registration, 0);
    if (error != 0) {
        munmap(memory, size);
        return error;
    }
    uring->buffers = memory;
    io_uring_buf_ring_init(uring->buffers);
    for (uint32_t id = 0; id < BUFFERS; id++) {
        uring->free_ids[id] = (uint16_t)(BUFFERS - 1 - id);
    }
    uring->free_count = BUFFERS;
    return 0;
}

static int uring_open(struct loop *loop)
{
    struct uring *uring = mem_alloc_aligned(64, sizeof(*uring));
    memset(uring, 0, sizeof(*uring));
    /* DEFER_TASKRUN came with Linux 6.1, after every other thing that is used here. */
    struct io_uring_params params = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN |
                 IORING_SETUP_R_DISABLED | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
        .cq_entries = COMPLETIONS,
    };
    int error = io_uring_queue_init_params(SUBMISSIONS, &uring->ring, &params);
    if (error == 0) {
        error = buffers_open(uring);
        if (error != 0) {
            io_uring_queue_exit(&uring->ring);
        }
    }
    if (error != 0) {
        mem_free(uring);
        return error == -EINVAL ? -ENOSYS : error;
    }
    uring->limit = loop->chunks.limit < BUFFERS ? (uint32_t)loop->chunks.limit : BUFFERS;
    uring->target = uring->limit < BUFFERS_AT_FIRST ? uring->limit : BUFFERS_AT_FIRST;
    loop->state = uring;
    return 0;
}

static void uring_close(struct loop *loop)
{
    struct uring *uring = of(loop);
    while (uring->listening != NULL) {
        listening_free(uring->listening);
    }
    io_uring_queue_exit(&uring->ring);
    munmap(uring->buffers, BUFFERS * sizeof(struct io_uring_buf));
    mem_free(uring);
}

static void uring_feed(struct loop *loop)
{
    struct uring *uring = of(loop);
    int added = 0;
    while (uring->given < uring->target) {
        struct loop_chunk *chunk = loop_chunks_take(&loop->chunks);
        if (chunk == NULL) {
            break;
        }
        uint16_t id = uring->free_ids[--uring->free_count];
        uring->by_id[id] = chunk;
        io_uring_buf_ring_add(uring->buffers, loop_chunks_bytes(chunk), (unsigned)loop->chunks.chunk_size, id,
                              BUFFERS - 1, added++);
        uring->given++;
    }
    if (added > 0) {
        io_uring_buf_ring_advance(uring->buffers, added);
    }
    for (uint32_t room = uring->given; room > 0 && !link_empty(&loop->starved); room--) {
        struct loop_conn *conn = link_conn(loop->starved.next);
        loop_conn_unlist(conn);
        receive_on(conn);
    }
}

static int uring_wait(struct loop *loop, int64_t wait_ns)
{
    struct uring *uring = of(loop);
    enable(loop);
    int result;
    if (wait_ns < 0) {
        result = io_uring_submit_and_wait(&uring->ring, 1);
    } else if (wait_ns == 0) {
        result = io_uring_submit_and_get_events(&uring->ring);
    } else {
        struct __kernel_timespec limit = {.tv_sec = wait_ns / 1000000000, .tv_nsec = wait_ns % 1000000000};
        struct io_uring_cqe *first = NULL;
        result = io_uring_submit_and_wait_timeout(&uring->ring, &first, 1, &limit, NULL);
    }
    switch (result) {
    case -ETIME:
    case -EINTR:
    case -EAGAIN: /* out of memory for requests: those that did not fit stay queued */
    case -EBUSY:
        return 0;
    default:
        return result < 0 ? result : 0;
    }
}

static void deliver_one(struct loop *loop, uint64_t data, int result, uint32_t flags)
{
    void *pointer = (void *)(uintptr_t)(data & ~(uint64_t)TAG_MASK);
    switch (data & TAG_MASK) {
    case TAG_RECEIVE:
        on_receive(pointer, result, flags);
        break;
    case TAG_SEND:
        on_send(pointer, result);
        break;
    case TAG_CONNECT:
        on_connect(pointer, result);
        break;
    case TAG_ACCEPT:
        on_accept(loop, pointer, result, flags);
        break;
    case TAG_WAKE:
        if (!(flags & IORING_CQE_F_MORE)) {
            watch_wake(loop);
        }
        break;
    default:
        break;
    }
}

static void uring_deliver(struct loop *loop)
{
    struct uring *uring = of(loop);
    /* Only those that are there now: callbacks may submit, and so add more. */
    for (unsigned ready = io_uring_cq_ready(&uring->ring); ready > 0; ready--) {
        struct io_uring_cqe *cqe = NULL;
        if (io_uring_peek_cqe(&uring->ring, &cqe) != 0) {
            return;
        }
        uint64_t data = cqe->user_data;
        int result = cqe->res;
        uint32_t flags = cqe->flags;
        io_uring_cqe_seen(&uring->ring, cqe);
        deliver_one(loop, data, result, flags);
    }
}

static bool uring_busy(const struct loop *loop)
{
    return !link_empty(&loop->closing) || of(loop)->listeners_ending > 0;
}

const struct loop_backend loop_backend_uring = {
    .name = "io_uring",
    .open = uring_open,
    .close = uring_close,
    .feed = uring_feed,
    .wait = uring_wait,
    .deliver = uring_deliver,
    .deliver_due = uring_deliver_due,
    .conn_open = uring_conn_open,
    .conn_send = uring_conn_send,
    .conn_resume = uring_conn_resume,
    .conn_close = uring_conn_close,
    .listener_open = uring_listener_open,
    .listener_resume = uring_listener_resume,
    .listener_close = uring_listener_close,
    .busy = uring_busy,
};
