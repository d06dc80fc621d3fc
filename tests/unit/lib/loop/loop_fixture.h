/* loop_fixture.h - what the tests of lib/loop share: a loop on the backend under test, sockets to give it. */
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
#define ON_BOTH(test)                                                                                                  \
    {#test " (epoll)", test, NULL, NULL, on_epoll},                                                                    \
    {                                                                                                                  \
#test " (io_uring)", test, NULL, NULL, on_uring                                                                \
    }

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

#endif
