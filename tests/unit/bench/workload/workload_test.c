#include "bench/workload/workload.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct workload_options options_make(void)
{
    return (struct workload_options){.key_prefix = "k",
                                     .key_min = 1,
                                     .key_max = 1000,
                                     .set_letter = 'R',
                                     .get_letter = 'R',
                                     .set_ratio = 1,
                                     .get_ratio = 2,
                                     .data_size = 8,
                                     .seed = 5};
}

/* The commands of the next requests as letters: S and G. */
static void commands_draw(struct workload *workload, struct workload_stream *stream, char *to, int count)
{
    for (int i = 0; i < count; i++) {
        uint8_t room[512];
        struct request_batch batch;
        size_t size;
        request_batch_init(&batch, room, sizeof(room));
        int command = workload_next(workload, stream, &batch, &size);
        assert_in_range(command, 0, 1);
        to[i] = workload->commands[command].name[0];
    }
    to[count] = '\0';
}

static void the_ratio_is_kept_in_turns(void **state)
{
    (void)state;
    static const struct {
        uint64_t sets, gets;
        const char *turns;
    } cases[] = {{1, 2, "SGGSGGSGG"}, {3, 1, "SSSGSSSGS"}, {0, 1, "GGGGGGGGG"}, {5, 0, "SSSSSSSSS"}};
    for (int i = 0; i < 4; i++) {
        struct workload workload;
        struct workload_stream stream;
        char turns[10];
        struct workload_options options = options_make();
        options.set_ratio = cases[i].sets;
        options.get_ratio = cases[i].gets;
        assert_int_equal(workload_init(&workload, &options), 0);
        workload_stream_init(&stream, &workload, 0, 1);
        commands_draw(&workload, &stream, turns, 9);
        assert_string_equal(turns, cases[i].turns);
        workload_deinit(&workload);
    }
}

static void a_request_that_does_not_fit_changes_nothing(void **state)
{
    (void)state;
    struct workload workload;
    struct workload_stream stream, copy;
    struct workload_options options = options_make();
    assert_int_equal(workload_init(&workload, &options), 0);
    workload_stream_init(&stream, &workload, 0, 1);
    (void)memcpy(&copy, &stream, sizeof(stream));
    uint8_t room[8];
    struct request_batch batch;
    size_t size;
    request_batch_init(&batch, room, sizeof(room));
    assert_int_equal(workload_next(&workload, &stream, &batch, &size), -1);
    assert_memory_equal(&copy, &stream, sizeof(stream));
    assert_ptr_equal(batch.at, room);
    workload_deinit(&workload);
}

static uint64_t first_random(const struct workload *workload, uint64_t client)
{
    struct workload_stream stream;
    workload_stream_init(&stream, workload, client, 10);
    return random_next(&stream.random);
}

static void clients_share_a_seed_unless_they_are_distinct(void **state)
{
    (void)state;
    struct workload workload;
    struct workload_options options = options_make();
    assert_int_equal(workload_init(&workload, &options), 0);
    assert_true(first_random(&workload, 0) == first_random(&workload, 9));
    workload_deinit(&workload);
    options.distinct_seeds = true;
    assert_int_equal(workload_init(&workload, &options), 0);
    assert_true(first_random(&workload, 0) != first_random(&workload, 9));
    workload_deinit(&workload);
}

static void set_and_get_have_counters_of_their_own(void **state)
{
    (void)state;
    struct workload workload;
    struct workload_stream stream;
    struct workload_options options = options_make();
    options.set_letter = options.get_letter = 'S';
    options.get_ratio = 1;
    assert_int_equal(workload_init(&workload, &options), 0);
    workload_stream_init(&stream, &workload, 0, 1);
    char turns[7];
    commands_draw(&workload, &stream, turns, 6);
    assert_int_equal(stream.cursors[0].next, 4);
    assert_int_equal(stream.cursors[1].next, 4);
    workload_deinit(&workload);
}

static void expiry_of_zero_is_a_plain_set(void **state)
{
    (void)state;
    struct workload workload;
    struct workload_stream stream;
    struct workload_options options = options_make();
    options.get_ratio = 0;
    options.expiry_min = 0;
    options.expiry_max = 3;
    assert_int_equal(workload_init(&workload, &options), 0);
    workload_stream_init(&stream, &workload, 0, 1);
    int plain = 0;
    for (int i = 0; i < 4000; i++) {
        uint8_t room[512];
        struct request_batch batch;
        size_t size;
        request_batch_init(&batch, room, sizeof(room));
        (void)workload_next(&workload, &stream, &batch, &size);
        plain += memcmp(room, "*3", 2) == 0;
    }
    assert_in_range(plain, 850, 1150);
    workload_deinit(&workload);
}

static void random_values_differ_and_do_not_repeat_bytes(void **state)
{
    (void)state;
    struct payload payload;
    assert_int_equal(payload_init(&payload, 1000, true, 9), 0);
    assert_memory_not_equal(payload_value(&payload, 0).at, payload_value(&payload, 1).at, 1000);
    unsigned counts[256] = {0};
    struct bytes value = payload_value(&payload, 12345);
    for (size_t i = 0; i < value.size; i++)
        counts[value.at[i]]++;
    for (int i = 0; i < 256; i++)
        assert_true(counts[i] < 20);
    payload_deinit(&payload);
    assert_int_equal(payload_init(&payload, 5, false, 9), 0);
    assert_memory_equal(payload_value(&payload, 77).at, "xxxxx", 5);
    payload_deinit(&payload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ratio_is_kept_in_turns),
        cmocka_unit_test(a_request_that_does_not_fit_changes_nothing),
        cmocka_unit_test(clients_share_a_seed_unless_they_are_distinct),
        cmocka_unit_test(set_and_get_have_counters_of_their_own),
        cmocka_unit_test(expiry_of_zero_is_a_plain_set),
        cmocka_unit_test(random_values_differ_and_do_not_repeat_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
