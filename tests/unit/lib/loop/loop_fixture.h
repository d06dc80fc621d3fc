/* loop_fixture.h - what the tests of lib/loop share: a loop on the backend under test, and a connection that records. */
#ifndef KETCH_TESTS_LOOP_FIXTURE_H
#define KETCH_TESTS_LOOP_FIXTURE_H

#include "lib/base/clock.h"
#include "lib/loop/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

/* Each test runs once per backend; its state is the name of the backend. */
static char on_epoll[] = "epoll";
static char on_uring[] = "io_uring";
#define ON_BOTH(test) {#test " (epoll)", test, NULL, NULL, on_epoll}, {#test " (io_uring)", test, NULL, NULL, on_uring}

struct fixture {
    struct loop *loop;
    int turns_ended, woken;
};

static inline void fixture_woken(void *owner)
{
    ((struct fixture *)owner)->woken++;
}

static inline void fixture_turn_ended(void *owner)
{
    ((struct fixture *)owner)->turns_ended++;
}

/* Skips the test where the backend is not to be had. */
static inline void fixture_open(struct fixture *f, void **state, size_t chunk_size, size_t chunks_max)
{
    const char *name = *state;
    *f = (struct fixture){0};
    struct loop_options options = {
        .io = strcmp(name, "epoll") == 0 ? LOOP_IO_EPOLL : LOOP_IO_URING,
        .chunk_size = chunk_size,
        .chunks_max = chunks_max,
        .owner = f,
        .woken = fixture_woken,
        .turn_ended = fixture_turn_ended,
    };
    int error = 0;
    f->loop = loop_create(&options, &error);
    if (f->loop == NULL) {
        print_message("%s is not available here: %s\n", name, strerror(-error));
        assert_string_equal(name, "io_uring");
        skip();
    }
    assert_string_equal(loop_io_name(f->loop), name);
}

static inline void fixture_close(struct fixture *f)
{
    loop_destroy(f->loop);
}

static inline void turn(struct fixture *f)
{
    assert_int_equal(loop_turn(f->loop, 20 * MS), 0);
}

/* Turns until the condition holds; fails after ten seconds. */
#define TURN_UNTIL(f, condition)                                                                                       \
    do {                                                                                                               \
        int64_t turn_until_ = clock_monotonic_ns() + 10000 * MS;                                                       \
        while (!(condition)) {                                                                                         \
            assert_true(clock_monotonic_ns() < turn_until_);                                                           \
            turn(f);                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline int listen_somewhere(struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(fd, (struct sockaddr *)address, sizeof(*address)), 0);
    assert_int_equal(listen(fd, 512), 0);
    socklen_t size = sizeof(*address);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &size), 0);
    return fd;
}

/* A connected pair over TCP: ours is non-blocking, theirs blocks. */
static inline void tcp_pair(int *ours, int *theirs)
{
    struct sockaddr_in address;
    int listener = listen_somewhere(&address);
    *theirs = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(*theirs, (struct sockaddr *)&address, sizeof(address)), 0);
    *ours = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    assert_true(*ours >= 0);
    close(listener);
}

/* A connection that records what happens to it. */
struct end {
    struct loop_conn conn;
    struct fixture *f;
    uint8_t *bytes; /* all that came, when `collect` */
    size_t size, capacity;
    int connected, connect_error, sent, closed, close_error, released, received;
    int last_turn; /* turns_ended when bytes came last, plus one */
    bool collect, echo;
    void (*on_connected)(struct end *end);
    void (*on_received)(struct end *end);
    void (*on_sent)(struct end *end);
    void (*on_closed)(struct end *end);
    struct loop_chunk *queue, *queue_tail; /* kept or to be echoed */
    bool keep, sending;
};

static inline void end_echo(struct end *end)
{
    while (end->queue != NULL && !end->sending) {
        struct iovec pieces[LOOP_IOV_MAX];
        unsigned count = 0;
        for (struct loop_chunk *chunk = end->queue; chunk != NULL && count < LOOP_IOV_MAX; chunk = chunk->next) {
            pieces[count++] = (struct iovec){chunk->data, chunk->size};
        }
        end->sending = true;
        if (loop_conn_send(&end->conn, pieces, count) == LOOP_SEND_PENDING) {
            end->sent = -(int)count; /* chunks to release when sent */
            return;
        }
        end->sending = false;
        while (count-- > 0) {
            struct loop_chunk *next = end->queue->next;
            loop_chunk_release(end->f->loop, end->queue);
            end->queue = next;
        }
    }
}

static inline void end_on_connected(struct loop_conn *conn, int error)
{
    struct end *end = CONTAINER_OF(conn, struct end, conn);
    end->connected++;
    end->connect_error = error;
    if (end->on_connected != NULL) {
        end->on_connected(end);
    }
}

static inline void end_queue(struct end *end, struct loop_chunk *chunk)
{
    chunk->next = NULL;
    if (end->queue == NULL) {
        end->queue = chunk;
    } else {
        end->queue_tail->next = chunk;
    }
    end->queue_tail = chunk;
}

static inline void end_on_received(struct loop_conn *conn, struct loop_chunk *chunk)
{
    struct end *end = CONTAINER_OF(conn, struct end, conn);
    assert_int_equal(end->closed + end->released, 0);
    assert_true(chunk->size > 0);
    end->received++;
    end->last_turn = end->f->turns_ended + 1;
    if (end->collect) {
        while (end->size + chunk->size > end->capacity) {
            end->capacity = end->capacity == 0 ? 65536 : end->capacity * 2;
            end->bytes = realloc(end->bytes, end->capacity);
        }
        memcpy(end->bytes + end->size, chunk->data, chunk->size);
    }
    end->size += chunk->size;
    if (end->echo || end->keep) {
        end_queue(end, chunk);
        if (end->echo) {
            end_echo(end);
        }
    } else {
        loop_chunk_release(end->f->loop, chunk);
    }
    if (end->on_received != NULL) {
        end->on_received(end);
    }
}

static inline void end_on_sent(struct loop_conn *conn)
{
    struct end *end = CONTAINER_OF(conn, struct end, conn);
    assert_int_equal(end->closed + end->released, 0);
    if (end->echo) {
        for (; end->sent < 0; end->sent++) {
            struct loop_chunk *next = end->queue->next;
            loop_chunk_release(end->f->loop, end->queue);
            end->queue = next;
        }
        end->sending = false;
        end_echo(end);
        return;
    }
    end->sent++;
    if (end->on_sent != NULL) {
        end->on_sent(end);
    }
}

static inline void end_on_closed(struct loop_conn *conn, int error)
{
    struct end *end = CONTAINER_OF(conn, struct end, conn);
    assert_int_equal(end->closed + end->released, 0);
    if (error == 0) {
        assert_int_not_equal(end->last_turn, end->f->turns_ended + 1);
    }
    end->closed++;
    end->close_error = error;
    if (end->on_closed != NULL) {
        end->on_closed(end);
    }
}

static inline void end_on_released(struct loop_conn *conn)
{
    struct end *end = CONTAINER_OF(conn, struct end, conn);
    end->released++;
}

static const struct loop_conn_handler end_handler = {
    end_on_connected, end_on_received, end_on_sent, end_on_closed, end_on_released,
};

static inline void end_open(struct end *end, struct fixture *f, int fd)
{
    end->f = f;
    assert_int_equal(loop_conn_open(f->loop, &end->conn, &end_handler, fd), 0);
}

static inline void end_free(struct end *end)
{
    while (end->queue != NULL) {
        struct loop_chunk *next = end->queue->next;
        loop_chunk_release(end->f->loop, end->queue);
        end->queue = next;
    }
    free(end->bytes);
    end->bytes = NULL;
}

/* Closes, waits for the release and frees what was kept. */
static inline void end_close(struct end *end)
{
    loop_conn_close(&end->conn);
    TURN_UNTIL(end->f, end->released == 1);
    end_free(end);
}

static inline void close_end(struct end *end)
{
    loop_conn_close(&end->conn);
}

#endif
