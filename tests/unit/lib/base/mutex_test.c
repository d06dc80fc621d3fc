#include "lib/base/mutex.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct mutex config, client, leaf, other_leaf;

static void rising(void) NO_THREAD_SAFETY
{
    mutex_lock(&config);
    mutex_lock(&client);
    mutex_lock(&leaf);
    mutex_unlock(&leaf);
    mutex_unlock(&client);
    mutex_unlock(&config);
    mutex_lock(&client);
    mutex_unlock(&client);
}

static void falling(void) NO_THREAD_SAFETY
{
    mutex_lock(&client);
    mutex_lock(&config);
}

static void two_of_one_rank(void) NO_THREAD_SAFETY
{
    mutex_lock(&leaf);
    mutex_lock(&other_leaf);
}

static void two_slots(void)
{
    mutex_rank_enter(MUTEX_RANK_SLOT);
    mutex_rank_enter(MUTEX_RANK_SLOT);
    mutex_rank_leave(MUTEX_RANK_SLOT);
    mutex_rank_leave(MUTEX_RANK_SLOT);
}

static void client_under_slot(void) NO_THREAD_SAFETY
{
    mutex_rank_enter(MUTEX_RANK_SLOT);
    mutex_lock(&client);
}

static void leave_what_is_not_held(void)
{
    mutex_rank_leave(MUTEX_RANK_SLOT);
}

/* Runs it in a child. */
static bool aborts(void (*run)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        close(STDOUT_FILENO); /* the CHECK's line in the log is expected */
        run();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status);
}

static void rising_ranks_are_in_order(void **state)
{
    (void)state;
    assert_false(aborts(rising));
    assert_false(aborts(two_slots));
}

static void debug_builds_abort_on_disorder(void **state)
{
    (void)state;
#ifdef NDEBUG
    skip();
#endif
    assert_true(aborts(falling));
    assert_true(aborts(two_of_one_rank));
    assert_true(aborts(client_under_slot));
    assert_true(aborts(leave_what_is_not_held));
}

int main(void)
{
    mutex_init(&config, MUTEX_RANK_CONFIG);
    mutex_init(&client, MUTEX_RANK_CLIENT);
    mutex_init(&leaf, MUTEX_RANK_LEAF);
    mutex_init(&other_leaf, MUTEX_RANK_LEAF);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rising_ranks_are_in_order),
        cmocka_unit_test(debug_builds_abort_on_disorder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
