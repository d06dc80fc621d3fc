#include "server/observe/observer.h"

#include "lib/base/mem.h"
#include "server/worker/worker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    struct server server;
    struct worker worker;
    struct worker *workers[1];
};

static int setup(void **state)
{
    struct fixture *fixture = mem_alloc_zeroed(sizeof(*fixture));
    struct server *server = &fixture->server;
    atomic_store(&server->store_options.databases, 2);
    server->store = store_create(&server->store_options, false);
    fixture->workers[0] = &fixture->worker;
    server->workers = fixture->workers;
    server->worker_count = 1;
    *state = fixture;
    return observer_start(server);
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    observer_stop(&fixture->server);
    store_destroy(fixture->server.store);
    mem_free(fixture);
    return 0;
}

static void rates_are_means_since_the_look_before(void **state)
{
    struct fixture *fixture = *state;
    struct observer_rates rates;
    worker_count(&fixture->worker.counters.commands, 1000);
    worker_count(&fixture->worker.counters.input_bytes, 1024 * 1024);
    usleep(120000);
    observer_rates(&fixture->server, &rates);
    /* 1,000 in at least 0.12 seconds; the upper bound of the time is the machine's affair. */
    assert_true(rates.commands > 0 && rates.commands <= 8334);
    assert_true(rates.input_kilobytes > 0 && rates.input_kilobytes <= 8534);
    assert_true(rates.output_kilobytes == 0);
    usleep(120000);
    observer_rates(&fixture->server, &rates);
    assert_int_equal(rates.commands, 0);
}

static void looks_in_quick_succession_see_the_same_rates(void **state)
{
    struct fixture *fixture = *state;
    struct observer_rates first, second;
    usleep(120000);
    worker_count(&fixture->worker.counters.commands, 1000);
    observer_rates(&fixture->server, &first);
    worker_count(&fixture->worker.counters.commands, 1000000);
    observer_rates(&fixture->server, &second);
    /* Unless the machine took a nap in between. */
    assert_true(first.commands == second.commands || second.commands > first.commands);
}

static void counters_that_were_reset_make_no_huge_rate(void **state)
{
    struct fixture *fixture = *state;
    struct observer_rates rates;
    worker_count(&fixture->worker.counters.commands, 1000000);
    usleep(120000);
    observer_rates(&fixture->server, &rates);
    atomic_store(&fixture->worker.counters.commands, 10);
    usleep(120000);
    observer_rates(&fixture->server, &rates);
    assert_true(rates.commands <= 84);
}

static void the_peak_is_never_below_what_was_seen(void **state)
{
    struct fixture *fixture = *state;
    uint64_t used = observer_used_memory(&fixture->server);
    assert_true(used > 0);
    assert_true(observer_peak_memory(&fixture->server) >= used);
    assert_true(observer_start_memory(&fixture->server) > 0);
}

static void the_replication_id_can_be_changed(void **state)
{
    struct fixture *fixture = *state;
    char before[OBSERVER_REPLICATION_ID + 1], after[OBSERVER_REPLICATION_ID + 1];
    observer_replication_id(&fixture->server, before);
    observer_change_replication_id(&fixture->server);
    observer_replication_id(&fixture->server, after);
    assert_int_equal(strlen(before), OBSERVER_REPLICATION_ID);
    assert_int_equal(strlen(after), OBSERVER_REPLICATION_ID);
    assert_string_not_equal(before, after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rates_are_means_since_the_look_before, setup, teardown),
        cmocka_unit_test_setup_teardown(looks_in_quick_succession_see_the_same_rates, setup, teardown),
        cmocka_unit_test_setup_teardown(counters_that_were_reset_make_no_huge_rate, setup, teardown),
        cmocka_unit_test_setup_teardown(the_peak_is_never_below_what_was_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(the_replication_id_can_be_changed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
