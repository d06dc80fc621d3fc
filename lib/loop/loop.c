#include "lib/loop/loop.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/loop/loop_backend.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { ACCEPT_REST_NS = 100 * 1000 * 1000, DRAIN_STEP_NS = 100 * 1000 * 1000, DRAIN_STEPS = 50 };

/* ---- lists of connections ---------------------------------------------------------------------------------------- */

void loop_conn_unlist(struct loop_conn *conn)
{
    if (conn->flags & CONN_LISTED) {
        conn->flags &= ~CONN_LISTED;
        conn->link.previous->next = conn->link.next;
        conn->link.next->previous = conn->link.previous;
    }
}

void loop_conn_list(struct loop_conn *conn, struct loop_link *head)
{
    loop_conn_unlist(conn);
    conn->flags |= CONN_LISTED;
    conn->link.previous = head->previous;
    conn->link.next = head;
    head->previous->next = &conn->link;
    head->previous = &conn->link;
}

/* Moves all of `from` behind what is in `to`. */
static void link_splice(struct loop_link *from, struct loop_link *to)
{
    if (link_empty(from)) {
        return;
    }
    from->next->previous = to->previous;
    from->previous->next = to;
    to->previous->next = from->next;
    to->previous = from->previous;
    link_init(from);
}

/* ---- what backends share ----------------------------------------------------------------------------------------- */

void loop_conn_end_later(struct loop_conn *conn, int error)
{
    if (conn->flags & (CONN_GONE | CONN_ENDED)) {
        return;
    }
    conn->flags |= CONN_ENDED;
    conn->error = error;
    loop_conn_list(conn, &conn->loop->ready);
}

void loop_conn_tell_closed(struct loop_conn *conn, int error)
{
    loop_conn_unlist(conn);
    loop_conn_drop_held(conn);
    conn->flags = (conn->flags & ~CONN_ENDED) | CONN_DEAD;
    conn->handler->closed(conn, error);
}

void loop_conn_drop_held(struct loop_conn *conn)
{
    while (conn->held != NULL) {
        struct loop_chunk *chunk = conn->held;
        conn->held = chunk->next;
        loop_chunk_release(conn->loop, chunk);
    }
}

int loop_conn_connect_result(const struct loop_conn *conn)
{
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(conn->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0) {
        return -errno;
    }
    return -error;
}

static void listener_retry(struct loop_timer *timer)
{
    struct loop_listener *listener = CONTAINER_OF(timer, struct loop_listener, retry);
    listener->loop->backend->listener_resume(listener);
}

void loop_listener_rest(struct loop_listener *listener, int error)
{
    if (!(listener->flags & LISTENER_LOGGED)) {
        listener->flags |= LISTENER_LOGGED;
        log_write(LOG_WARNING, "Accepting client connection: accept: %s", strerror(-error));
    }
    loop_timer_start(listener->loop, &listener->retry, clock_monotonic_ns() + ACCEPT_REST_NS);
}

bool loop_accept_passes(int error)
{
    switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case ENONET:
    case EHOSTUNREACH:
    case EOPNOTSUPP:
    case ENETUNREACH:
        return true;
    default:
        return false;
    }
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* Automatic: io_uring where it works, because it took less CPU per request at every load measured (perf/floor); kernels
 * before 6.1, containers and sysctl settings that refuse it leave epoll. */
static int backend_open(struct loop *loop, enum loop_io io)
{
    if (io != LOOP_IO_EPOLL) {
        loop->backend = &loop_backend_uring;
        int error = loop->backend->open(loop);
        if (error == 0 || io == LOOP_IO_URING) {
            return error;
        }
    }
    loop->backend = &loop_backend_epoll;
    return loop->backend->open(loop);
}

static void loop_free(struct loop *loop)
{
    if (loop->wake_fd >= 0) {
        close(loop->wake_fd);
    }
    while (loop->sendings != NULL) {
        struct loop_sending *sending = loop->sendings;
        loop->sendings = sending->next;
        mem_free(sending);
    }
    loop_timers_deinit(&loop->timers);
    loop_chunks_deinit(&loop->chunks);
    mem_free(loop);
}

struct loop *loop_create(const struct loop_options *options, int *error)
{
    struct loop *loop = mem_alloc_aligned(64, sizeof(*loop));
    memset(loop, 0, sizeof(*loop));
    loop->owner = options->owner;
    loop->woken = options->woken;
    loop->turn_ended = options->turn_ended;
    link_init(&loop->ready);
    link_init(&loop->due);
    link_init(&loop->starved);
    link_init(&loop->closing);
    link_init(&loop->released);
    loop_chunks_init(&loop->chunks, options->chunk_size == 0 ? LOOP_CHUNK_SIZE_DEFAULT : options->chunk_size,
                     options->chunks_max == 0 ? LOOP_CHUNKS_DEFAULT : options->chunks_max);
    loop->now_ns = clock_monotonic_ns();
    loop->resumed_ns = loop->now_ns;
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    *error = loop->wake_fd < 0 ? -errno : backend_open(loop, options->io);
    if (*error != 0) {
        loop_free(loop);
        return NULL;
    }
    return loop;
}

const char *loop_io_name(const struct loop *loop)
{
    return loop->backend->name;
}

int64_t loop_now_ns(const struct loop *loop)
{
    return loop->now_ns;
}

int64_t loop_busy_ns(const struct loop *loop)
{
    int64_t busy_ns = atomic_load_explicit(&loop->busy_ns, memory_order_relaxed);
    struct timespec cpu;
    if (atomic_load_explicit(&loop->cpu_known, memory_order_acquire) && clock_gettime(loop->cpu_clock, &cpu) == 0) {
        int64_t cpu_ns = (int64_t)cpu.tv_sec * 1000000000 + cpu.tv_nsec - loop->cpu_began_ns;
        return cpu_ns > busy_ns ? cpu_ns : busy_ns;
    }
    return busy_ns;
}

/* The flags make a pair (Dekker): the waker sets `pending`, then looks at `asleep`; the loop sets `asleep`, then looks
 * at `pending`. With both sequentially consistent at least one sees the other, so a wake of a busy loop needs no
 * system call and none is lost. */
void loop_wake(struct loop *loop)
{
    if (atomic_exchange_explicit(&loop->wake_pending, true, memory_order_seq_cst)) {
        return;
    }
    if (atomic_load_explicit(&loop->asleep, memory_order_seq_cst)) {
        int saved = errno;
        uint64_t one = 1;
        ssize_t written = write(loop->wake_fd, &one, sizeof(one));
        (void)written; /* fails only when the counter is full, and then the loop is awake */
        errno = saved;
    }
}

static void run_woken(struct loop *loop)
{
    if (!atomic_load_explicit(&loop->wake_pending, memory_order_relaxed)) {
        return;
    }
    atomic_exchange_explicit(&loop->wake_pending, false, memory_order_seq_cst);
    if (loop->woken != NULL) {
        loop->woken(loop->owner);
    }
}

static void run_due(struct loop *loop)
{
    while (!link_empty(&loop->due)) {
        struct loop_conn *conn = link_conn(loop->due.next);
        loop_conn_unlist(conn);
        loop->backend->deliver_due(conn);
    }
}

static void run_released(struct loop *loop)
{
    if (link_empty(&loop->released)) {
        return;
    }
    struct loop_link batch;
    link_init(&batch);
    link_splice(&loop->released, &batch);
    while (!link_empty(&batch)) {
        struct loop_conn *conn = link_conn(batch.next);
        loop_conn_unlist(conn);
        conn->handler->released(conn);
    }
}

/* How long the wait may last. */
static int64_t wait_limit_ns(const struct loop *loop, int64_t timeout_ns, int64_t now_ns)
{
    if (!link_empty(&loop->ready) || !link_empty(&loop->released)) {
        return 0;
    }
    int64_t deadline_ns = loop_timers_next_ns(&loop->timers);
    if (deadline_ns == INT64_MAX) {
        return timeout_ns;
    }
    int64_t until_ns = deadline_ns <= now_ns ? 0 : deadline_ns - now_ns;
    return timeout_ns < 0 || until_ns < timeout_ns ? until_ns : timeout_ns;
}

/* Waits with `asleep` set, unless it is only a look. */
static int wait_for_events(struct loop *loop, int64_t wait_ns)
{
    if (wait_ns == 0) {
        return loop->backend->wait(loop, 0);
    }
    atomic_store_explicit(&loop->asleep, true, memory_order_seq_cst);
    if (atomic_load_explicit(&loop->wake_pending, memory_order_seq_cst)) {
        wait_ns = 0;
    }
    int error = loop->backend->wait(loop, wait_ns);
    atomic_store_explicit(&loop->asleep, false, memory_order_relaxed);
    return error;
}

int loop_turn(struct loop *loop, int64_t timeout_ns)
{
    loop->turn++;
    loop->backend->feed(loop);
    int64_t began_ns = clock_monotonic_ns();
    int64_t busy_ns = atomic_load_explicit(&loop->busy_ns, memory_order_relaxed) + began_ns - loop->resumed_ns;
    atomic_store_explicit(&loop->busy_ns, busy_ns, memory_order_relaxed);
    int error = wait_for_events(loop, wait_limit_ns(loop, timeout_ns, began_ns));
    loop->now_ns = clock_monotonic_ns();
    loop->resumed_ns = loop->now_ns;

    link_splice(&loop->ready, &loop->due);
    if (LIKELY(error == 0)) {
        loop->backend->deliver(loop);
    }
    run_due(loop);
    loop_timers_run(&loop->timers, loop->now_ns);
    run_woken(loop);
    run_released(loop);
    if (loop->turn_ended != NULL) {
        loop->turn_ended(loop->owner);
    }
    return error;
}

void loop_destroy(struct loop *loop)
{
    if (loop == NULL) {
        return;
    }
    for (int step = 0; step < DRAIN_STEPS && loop->backend->busy(loop); step++) {
        if (loop->backend->wait(loop, DRAIN_STEP_NS) != 0) {
            break; /* its thread is gone, and with it whatever the kernel held */
        }
        loop->backend->deliver(loop);
    }
    while (!link_empty(&loop->closing)) {
        struct loop_conn *conn = link_conn(loop->closing.next);
        close(conn->fd);
        loop_conn_list(conn, &loop->released);
    }
    loop->backend->close(loop);
    while (!link_empty(&loop->released)) {
        run_released(loop);
    }
    loop_free(loop);
}

/* ---- the public operations --------------------------------------------------------------------------------------- */

void loop_chunk_release(struct loop *loop, struct loop_chunk *chunk)
{
    if (UNLIKELY(chunk->detached)) {
        mem_free(chunk);
        return;
    }
    loop_chunks_give(&loop->chunks, chunk);
}

int loop_conn_open(struct loop *loop, struct loop_conn *conn, const struct loop_conn_handler *handler, int fd)
{
    *conn = (struct loop_conn){.loop = loop, .handler = handler, .fd = fd, .turn = loop->turn - 1};
    return loop->backend->conn_open(conn);
}

int loop_conn_connect(struct loop *loop, struct loop_conn *conn, const struct loop_conn_handler *handler,
                      const struct sockaddr *address, socklen_t size)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    *conn = (struct loop_conn){
        .loop = loop, .handler = handler, .fd = fd, .turn = loop->turn - 1, .flags = CONN_CONNECTING};
    if (address->sa_family != AF_UNIX) {
        int on = 1;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    if (connect(fd, address, size) < 0 && errno != EINPROGRESS && errno != EINTR) {
        loop_conn_end_later(conn, -errno); /* by `connected`, as every other failure */
        return 0;
    }
    int error = loop->backend->conn_open(conn);
    if (error != 0) {
        close(fd);
        conn->fd = -1;
    }
    return error;
}

enum loop_send loop_conn_send(struct loop_conn *conn, const struct iovec *pieces, unsigned count)
{
    CHECK(count <= LOOP_IOV_MAX);
    assert(!(conn->flags & (CONN_GONE | CONN_SENDING | CONN_CONNECTING)));
    return conn->loop->backend->conn_send(conn, pieces, count);
}

void loop_conn_pause(struct loop_conn *conn)
{
    conn->flags |= CONN_PAUSED;
}

void loop_conn_resume(struct loop_conn *conn)
{
    if (!(conn->flags & CONN_PAUSED)) {
        return;
    }
    conn->flags &= ~CONN_PAUSED;
    if (!(conn->flags & (CONN_GONE | CONN_CONNECTING))) {
        conn->loop->backend->conn_resume(conn);
    }
}

void loop_conn_close(struct loop_conn *conn)
{
    if (conn->flags & CONN_CLOSED) {
        return;
    }
    loop_conn_unlist(conn);
    loop_conn_drop_held(conn);
    conn->flags |= CONN_CLOSED;
    conn->loop->backend->conn_close(conn);
}

int loop_listener_open(struct loop *loop, struct loop_listener *listener, int fd,
                       void (*accepted)(struct loop_listener *, int fd))
{
    *listener =
        (struct loop_listener){.loop = loop, .accepted = accepted, .fd = fd, .retry = {.expired = listener_retry}};
    return loop->backend->listener_open(listener);
}

void loop_listener_close(struct loop_listener *listener)
{
    if (listener->flags & LISTENER_CLOSED) {
        return;
    }
    listener->flags |= LISTENER_CLOSED;
    loop_timers_remove(&listener->loop->timers, &listener->retry);
    listener->loop->backend->listener_close(listener);
}

void loop_timer_start(struct loop *loop, struct loop_timer *timer, int64_t deadline_ns)
{
    loop_timers_add(&loop->timers, timer, deadline_ns);
}

void loop_timer_stop(struct loop *loop, struct loop_timer *timer)
{
    loop_timers_remove(&loop->timers, timer);
}
