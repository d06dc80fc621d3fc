/* Listeners, connects, timers, wakes and the turn itself. */
#include "loop_end.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

struct acceptor {
    struct loop_listener listener;
    int count;
    int fds[512];
    bool close_at_first;
};

static void acceptor_accepted(struct loop_listener *listener, int fd)
{
    struct acceptor *acceptor = CONTAINER_OF(listener, struct acceptor, listener);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    acceptor->fds[acceptor->count++] = fd;
    if (acceptor->close_at_first) {
        loop_listener_close(listener);
    }
}

static void acceptor_close(struct acceptor *acceptor)
{
    for (int i = 0; i < acceptor->count; i++) {
        close(acceptor->fds[i]);
    }
    loop_listener_close(&acceptor->listener);
}

static void many_connects_are_accepted_and_connected(void **state)
{
    enum { ENDS = 400 };
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    struct sockaddr_in address;
    struct acceptor acceptor = {0};
    int fd = listen_somewhere(&address);
    assert_int_equal(loop_listener_open(f.loop, &acceptor.listener, fd, acceptor_accepted), 0);
    struct end *ends = calloc(ENDS, sizeof(*ends));
    for (int i = 0; i < ENDS; i++) {
        ends[i].f = &f;
        assert_int_equal(
            loop_conn_connect(f.loop, &ends[i].conn, &end_handler, (struct sockaddr *)&address, sizeof(address)), 0);
        assert_int_equal(ends[i].connected, 0); /* never inside the call */
    }
    int connected = 0;
    while (connected < ENDS || acceptor.count < ENDS) {
        turn(&f);
        connected = 0;
        for (int i = 0; i < ENDS; i++) {
            connected += ends[i].connected;
            assert_int_equal(ends[i].connect_error, 0);
        }
    }
    for (int i = 0; i < ENDS; i++) {
        assert_int_equal(send(acceptor.fds[i], "hi", 2, 0), 2);
    }
    for (int i = 0; i < ENDS; i++) {
        TURN_UNTIL(&f, ends[i].size == 2);
        end_close(&ends[i]);
    }
    acceptor_close(&acceptor);
    turn(&f);
    free(ends);
    fixture_close(&f);
}

static void a_refused_connect_is_told_by_connected(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    struct sockaddr_in address;
    close(listen_somewhere(&address));
    struct end end = {.f = &f};
    assert_int_equal(loop_conn_connect(f.loop, &end.conn, &end_handler, (struct sockaddr *)&address, sizeof(address)),
                     0);
    TURN_UNTIL(&f, end.connected);
    assert_int_equal(end.connect_error, -ECONNREFUSED);
    turn(&f);
    assert_int_equal(end.closed, 0);
    end_close(&end);

    struct sockaddr_un nowhere = {.sun_family = AF_UNIX, .sun_path = "/nonexistent/socket"};
    end = (struct end){.f = &f, .on_connected = close_end};
    assert_int_equal(loop_conn_connect(f.loop, &end.conn, &end_handler, (struct sockaddr *)&nowhere, sizeof(nowhere)),
                     0);
    assert_int_equal(end.connected, 0);
    TURN_UNTIL(&f, end.released);
    assert_int_equal(end.connect_error, -ENOENT);
    fixture_close(&f);
}

static void closing_while_connecting_and_inside_connected_works(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    struct sockaddr_in address;
    int fd = listen_somewhere(&address);
    struct end end = {.f = &f};
    assert_int_equal(loop_conn_connect(f.loop, &end.conn, &end_handler, (struct sockaddr *)&address, sizeof(address)),
                     0);
    end_close(&end);
    assert_int_equal(end.connected, 0);
    end = (struct end){.f = &f, .on_connected = close_end};
    assert_int_equal(loop_conn_connect(f.loop, &end.conn, &end_handler, (struct sockaddr *)&address, sizeof(address)),
                     0);
    TURN_UNTIL(&f, end.released);
    assert_int_equal(end.connected, 1);
    close(fd);
    fixture_close(&f);
}

static void a_listener_closed_inside_accepted_accepts_no_more(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    struct sockaddr_in address;
    struct acceptor *acceptor = calloc(1, sizeof(*acceptor));
    acceptor->close_at_first = true;
    int fd = listen_somewhere(&address);
    int theirs[5];
    for (int i = 0; i < 5; i++) {
        theirs[i] = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(theirs[i], (struct sockaddr *)&address, sizeof(address)), 0);
    }
    assert_int_equal(loop_listener_open(f.loop, &acceptor->listener, fd, acceptor_accepted), 0);
    TURN_UNTIL(&f, acceptor->count > 0);
    turn(&f);
    assert_int_equal(acceptor->count, 1);
    close(acceptor->fds[0]);
    free(acceptor);
    for (int i = 0; i < 3; i++) {
        turn(&f);
    }
    int late = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(late, (struct sockaddr *)&address, sizeof(address)), -1);
    close(late);
    for (int i = 0; i < 5; i++) {
        close(theirs[i]);
    }
    fixture_close(&f);
}

static void without_descriptors_accepting_rests_and_goes_on(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    struct sockaddr_in address;
    struct acceptor acceptor = {0};
    int fd = listen_somewhere(&address);
    turn(&f);
    int theirs = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){(rlim_t)theirs + 1, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int filler[64], fillers = 0;
    while (fillers < 64 && (filler[fillers] = dup(theirs)) >= 0) {
        fillers++;
    }
    /* Only now: io_uring's accept remembers the limit of when it was asked for. */
    assert_int_equal(loop_listener_open(f.loop, &acceptor.listener, fd, acceptor_accepted), 0);
    (void)connect(theirs, (struct sockaddr *)&address, sizeof(address));
    int turns = f.turns_ended;
    int64_t until = clock_monotonic_ns() + 60 * MS;
    while (clock_monotonic_ns() < until) {
        turn(&f);
    }
    assert_true(f.turns_ended - turns < 20);
    assert_int_equal(acceptor.count, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    while (fillers > 0) {
        close(filler[--fillers]);
    }
    TURN_UNTIL(&f, acceptor.count == 1);
    acceptor_close(&acceptor);
    close(theirs);
    fixture_close(&f);
}

/* ---- timers ------------------------------------------------------------------------------------------------------ */

struct alarm_clock {
    struct loop_timer timer;
    struct fixture *f;
    struct alarm_clock *stops;
    int64_t *last_deadline;
    int expired;
    int again;
};

static void alarm_expired(struct loop_timer *timer)
{
    struct alarm_clock *alarm_clock = CONTAINER_OF(timer, struct alarm_clock, timer);
    assert_false(loop_timer_running(timer));
    assert_true(loop_now_ns(alarm_clock->f->loop) >= timer->deadline_ns);
    alarm_clock->expired++;
    if (alarm_clock->last_deadline != NULL) {
        assert_true(*alarm_clock->last_deadline <= timer->deadline_ns);
        *alarm_clock->last_deadline = timer->deadline_ns;
    }
    if (alarm_clock->stops != NULL) {
        loop_timer_stop(alarm_clock->f->loop, &alarm_clock->stops->timer);
    }
    if (alarm_clock->again > 0) {
        alarm_clock->again--;
        loop_timer_start(alarm_clock->f->loop, timer, timer->deadline_ns);
    }
}

static void thousands_of_timers_run_in_order_of_their_deadlines(void **state)
{
    enum { COUNT = 5000 };
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    struct alarm_clock *clocks = calloc(COUNT, sizeof(*clocks));
    int64_t last = 0, start = clock_monotonic_ns();
    unsigned random = 12345;
    for (int i = 0; i < COUNT; i++) {
        clocks[i] = (struct alarm_clock){.timer.expired = alarm_expired, .f = &f, .last_deadline = &last};
        random = random * 1103515245 + 12345;
        loop_timer_start(f.loop, &clocks[i].timer, start + (random >> 8) % (20 * MS));
    }
    for (int i = 0; i < COUNT; i += 3) {
        loop_timer_stop(f.loop, &clocks[i].timer);
        assert_false(loop_timer_running(&clocks[i].timer));
        loop_timer_stop(f.loop, &clocks[i].timer);
    }
    for (int i = 1; i < COUNT; i += 3) {
        random = random * 1103515245 + 12345;
        loop_timer_start(f.loop, &clocks[i].timer, start + (random >> 8) % (30 * MS));
        assert_true(loop_timer_running(&clocks[i].timer));
    }
    int64_t until = start + 40 * MS;
    while (clock_monotonic_ns() < until) {
        turn(&f);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(clocks[i].expired, i % 3 != 0);
    }
    free(clocks);
    fixture_close(&f);
}

static void a_timer_may_stop_another_and_start_itself_again(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    int64_t now = clock_monotonic_ns();
    struct alarm_clock second = {.timer.expired = alarm_expired, .f = &f};
    struct alarm_clock first = {.timer.expired = alarm_expired, .f = &f, .stops = &second, .again = 3};
    loop_timer_start(f.loop, &first.timer, now - 2);
    loop_timer_start(f.loop, &second.timer, now - 1);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(loop_turn(f.loop, 0), 0);
    }
    assert_int_equal(first.expired, 4);
    assert_int_equal(second.expired, 0);
    fixture_close(&f);
}

static void a_turn_sleeps_until_the_timeout_or_the_first_deadline(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    int64_t start = clock_monotonic_ns();
    assert_int_equal(loop_turn(f.loop, 0), 0);
    assert_true(clock_monotonic_ns() - start < 1000 * MS);
    start = clock_monotonic_ns();
    int64_t left = 30 * MS;
    for (int i = 0; left > 0; i++) {
        assert_true(i < 4); /* the end of the last test's ring may interrupt once */
        assert_int_equal(loop_turn(f.loop, left), 0);
        left = start + 30 * MS - clock_monotonic_ns();
    }
    struct alarm_clock clock = {.timer.expired = alarm_expired, .f = &f};
    start = clock_monotonic_ns();
    loop_timer_start(f.loop, &clock.timer, start + 20 * MS + 300000);
    for (int i = 0; clock.expired == 0; i++) {
        assert_true(i < 4);
        assert_int_equal(loop_turn(f.loop, -1), 0);
    }
    assert_true(clock_monotonic_ns() - start >= 20 * MS + 300000);
    assert_true(loop_busy_ns(f.loop) < 1000 * MS);
    fixture_close(&f);
}

/* ---- wakes ------------------------------------------------------------------------------------------------------- */

struct waker {
    struct loop *loop;
    _Atomic int published, seen;
};

enum { WAKES = 100000 };

static void *waker_main(void *argument)
{
    struct waker *waker = argument;
    for (int i = 1; i <= WAKES; i++) {
        waker->published = i;
        loop_wake(waker->loop);
        if (i % 1000 == 0) {
            while (waker->seen < i) {
                usleep(10);
            }
        }
    }
    return NULL;
}

static void see_published(void *owner)
{
    struct waker *waker = owner;
    waker->seen = waker->published;
}

static void no_wake_of_another_thread_is_lost(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    loop_destroy(f.loop);
    struct waker waker = {0};
    int error = 0;
    struct loop_options options = {
        .io = *state == (void *)on_epoll ? LOOP_IO_EPOLL : LOOP_IO_URING, .owner = &waker, .woken = see_published};
    waker.loop = loop_create(&options, &error);
    assert_non_null(waker.loop);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, waker_main, &waker), 0);
    while (waker.seen < WAKES) {
        /* Without a limit: a lost wake hangs the test. */
        assert_int_equal(loop_turn(waker.loop, -1), 0);
    }
    pthread_join(thread, NULL);
    loop_destroy(waker.loop);
}

static void a_wake_before_and_inside_a_turn_is_told_once_per_turn(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    for (int i = 0; i < 10; i++) {
        loop_wake(f.loop);
    }
    assert_int_equal(loop_turn(f.loop, -1), 0);
    assert_int_equal(f.woken, 1);
    assert_int_equal(loop_turn(f.loop, MS), 0);
    assert_int_equal(f.woken, 1);
    loop_wake(f.loop);
    assert_int_equal(loop_turn(f.loop, 0), 0);
    assert_int_equal(f.woken, 2);
    assert_int_equal(f.turns_ended, 3);
    fixture_close(&f);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

static void *turner_main(void *argument)
{
    struct end *end = argument;
    while (end->closed == 0) {
        turn(end->f);
    }
    loop_conn_close(&end->conn);
    while (end->released == 0) {
        turn(end->f);
    }
    return NULL;
}

static void a_loop_may_be_created_and_destroyed_by_another_thread_than_turns_it(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    int ours, theirs;
    tcp_pair(&ours, &theirs);
    struct end end = {.echo = true};
    end_open(&end, &f, ours);
    struct sockaddr_in address;
    struct acceptor acceptor = {0};
    int fd = listen_somewhere(&address);
    assert_int_equal(loop_listener_open(f.loop, &acceptor.listener, fd, acceptor_accepted), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, turner_main, &end), 0);
    char back[5];
    assert_int_equal(send(theirs, "hello", 5, 0), 5);
    assert_int_equal(recv(theirs, back, 5, MSG_WAITALL), 5);
    close(theirs);
    pthread_join(thread, NULL);
    assert_int_equal(end.released, 1);
    assert_true(loop_busy_ns(f.loop) >= 0);
    loop_listener_close(&acceptor.listener);
    fixture_close(&f);
}

static void automatic_choice_gives_a_loop(void **state)
{
    (void)state;
    int error = 1;
    struct loop_options options = {.io = LOOP_IO_AUTO};
    struct loop *loop = loop_create(&options, &error);
    assert_non_null(loop);
    assert_int_equal(error, 0);
    assert_int_equal(loop_turn(loop, 0), 0);
    loop_destroy(loop);
    loop_destroy(NULL);
}

/* As container runtimes do it. */
static void forbid_io_uring(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {COUNT_OF(rules), rules};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void where_io_uring_is_forbidden_automatic_is_epoll_and_asking_fails(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        forbid_io_uring();
        int error = 0;
        struct loop_options options = {.io = LOOP_IO_URING};
        bool good = loop_create(&options, &error) == NULL && error == -EPERM;
        options.io = LOOP_IO_AUTO;
        struct loop *loop = loop_create(&options, &error);
        good = good && loop != NULL && error == 0 && strcmp(loop_io_name(loop), "epoll") == 0;
        loop_destroy(loop);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(many_connects_are_accepted_and_connected),
        ON_BOTH(a_refused_connect_is_told_by_connected),
        ON_BOTH(closing_while_connecting_and_inside_connected_works),
        ON_BOTH(a_listener_closed_inside_accepted_accepts_no_more),
        ON_BOTH(without_descriptors_accepting_rests_and_goes_on),
        ON_BOTH(thousands_of_timers_run_in_order_of_their_deadlines),
        ON_BOTH(a_timer_may_stop_another_and_start_itself_again),
        ON_BOTH(a_turn_sleeps_until_the_timeout_or_the_first_deadline),
        ON_BOTH(no_wake_of_another_thread_is_lost),
        ON_BOTH(a_wake_before_and_inside_a_turn_is_told_once_per_turn),
        ON_BOTH(a_loop_may_be_created_and_destroyed_by_another_thread_than_turns_it),
        cmocka_unit_test(automatic_choice_gives_a_loop),
        cmocka_unit_test(where_io_uring_is_forbidden_automatic_is_epoll_and_asking_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
