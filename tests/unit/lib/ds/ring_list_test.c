#include "lib/ds/ring_list.h"

#include "lib/base/mem.h"
#include "lib/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MODEL_MAX = 6000 };

/* A plain array of the values' seeds: a value is a function of its seed. */
struct model {
    uint32_t seeds[MODEL_MAX];
    uint32_t count;
};

static uint8_t text[70000];

static struct bytes value_of(uint32_t seed)
{
    uint32_t kind = seed % 100;
    if (kind < 30)
        return bytes_make(text, snprintf((char *)text, sizeof(text), "%d", (int)(seed * 2654435761u) >> (seed % 31)));
    size_t size = kind < 95 ? seed % 40 : kind < 98 ? 100 + seed % 3000 : 4000 + seed % 60000;
    memset(text, 'a' + seed % 26, size);
    memcpy(text, &seed, size < 4 ? size : 4);
    return bytes_make(text, size);
}

static void model_insert(struct model *model, uint32_t at, uint32_t seed)
{
    memmove(model->seeds + at + 1, model->seeds + at, (model->count - at) * sizeof(uint32_t));
    model->seeds[at] = seed;
    model->count++;
}

static void model_remove(struct model *model, uint32_t at, uint32_t count)
{
    memmove(model->seeds + at, model->seeds + at + count, (model->count - at - count) * sizeof(uint32_t));
    model->count -= count;
}

static void compare(const struct ring_list *list, const struct model *model)
{
    assert_true(ring_list_check(list));
    assert_int_equal(ring_list_length(list), model->count);
    struct ring_cursor cursor;
    uint32_t at = 0;
    char digits[NUMBER_I64_TEXT];
    for (bool more = ring_list_seek(list, 0, &cursor); more; more = ring_list_next(list, &cursor), at++) {
        struct bytes value = value_of(model->seeds[at]);
        assert_true(bytes_equal(ring_list_text(list, &cursor, digits), value));
        assert_true(ring_list_equals(list, &cursor, value));
    }
    assert_int_equal(at, model->count);
    for (bool more = ring_list_seek(list, -1, &cursor); more; more = ring_list_prev(list, &cursor))
        at--;
    assert_int_equal(at, 0);
    for (at = 0; at < model->count; at += 13) {
        assert_true(ring_list_seek(list, at, &cursor));
        assert_int_equal(ring_list_index(list, &cursor), at);
        assert_true(ring_list_equals(list, &cursor, value_of(model->seeds[at])));
        assert_true(ring_list_seek(list, (int64_t)at - model->count, &cursor));
        assert_int_equal(ring_list_index(list, &cursor), at);
    }
    assert_false(ring_list_seek(list, model->count, &cursor));
    assert_false(ring_list_seek(list, -(int64_t)model->count - 1, &cursor));
}

static void step(struct ring_list *list, struct model *model, struct random *random, bool growing)
{
    uint32_t seed = (uint32_t)random_next(random), what = (uint32_t)random_below(random, 100);
    struct ring_cursor cursor;
    uint32_t at = model->count ? (uint32_t)random_below(random, model->count) : 0;
    if (model->count == 0 || (what < (growing ? 50u : 20u) && model->count < MODEL_MAX)) {
        bool tail = seed & 1;
        assert_true(ring_list_push(list, tail ? RING_TAIL : RING_HEAD, value_of(seed)));
        model_insert(model, tail ? model->count : 0, seed);
    } else if (what < (growing ? 75u : 40u) && model->count < MODEL_MAX) {
        assert_true(ring_list_seek(list, at, &cursor));
        assert_true(ring_list_insert(list, &cursor, seed & 1, value_of(seed)));
        model_insert(model, at + (seed & 1), seed);
    } else if (what < 80) {
        assert_true(ring_list_seek(list, at, &cursor));
        assert_true(ring_list_replace(list, &cursor, value_of(seed)));
        model->seeds[at] = seed;
        assert_true(ring_list_equals(list, &cursor, value_of(seed)));
        assert_int_equal(ring_list_index(list, &cursor), at);
    } else if (what < 90) {
        assert_true(ring_list_seek(list, at, &cursor));
        bool more = ring_list_remove(list, &cursor);
        model_remove(model, at, 1);
        assert_int_equal(more, at < model->count);
        if (more)
            assert_int_equal(ring_list_index(list, &cursor), at);
    } else if (what < 97) {
        bool tail = seed & 1;
        ring_list_drop(list, tail ? RING_TAIL : RING_HEAD);
        model_remove(model, tail ? model->count - 1 : 0, 1);
    } else {
        uint32_t count = (uint32_t)random_below(random, growing ? 20 : 300), left = model->count - at;
        assert_int_equal(ring_list_remove_range(list, at, count), count < left ? count : left);
        model_remove(model, at, count < left ? count : left);
    }
}

static void a_random_history_agrees_with_a_model(void **state)
{
    (void)state;
    static const int64_t settings[] = {-2, -1, -5, 1, 3, 128};
    struct model *model = mem_alloc_zeroed(sizeof(*model));
    struct random random;
    random_seed(&random, 23);
    for (size_t k = 0; k < COUNT_OF(settings); k++) {
        struct ring_list list;
        ring_list_init(&list, ring_limit_from(settings[k]));
        model->count = 0;
        for (int i = 0; i < 24000; i++) {
            step(&list, model, &random, i / 3000 % 2 == 0);
            if (i % 1000 == 0)
                compare(&list, model);
        }
        compare(&list, model);
        while (ring_list_remove_range(&list, 0, 64) == 64)
            assert_true(ring_list_check(&list));
        assert_int_equal(ring_list_memory(&list), 0);
    }
    mem_free(model);
}

static void a_queue_keeps_its_order_and_a_bounded_ring(void **state)
{
    (void)state;
    struct ring_list list;
    struct ring_cursor cursor;
    struct listpack_value value;
    ring_list_init(&list, ring_limit_from(-2));
    char digits[24];
    size_t most = 0;
    for (int i = 0; i < 300000; i++) {
        assert_true(ring_list_push(&list, RING_TAIL, bytes_make(digits, snprintf(digits, sizeof(digits), "%d", i))));
        if (i >= 5000) {
            assert_true(ring_list_seek(&list, 0, &cursor));
            ring_list_get(&list, &cursor, &value);
            assert_true(value.is_integer && value.integer == i - 5000);
            ring_list_drop(&list, RING_HEAD);
        }
        if (ring_list_memory(&list) > most)
            most = ring_list_memory(&list);
    }
    assert_true(most < 5000 * 6 + 3 * 8192);
    assert_true(ring_list_check(&list));
    ring_list_deinit(&list);
}

static void nodes_are_handed_over_and_copied(void **state)
{
    (void)state;
    struct ring_list list, copy;
    struct listpack lp;
    struct ring_cursor cursor;
    ring_list_init(&list, ring_limit_from(-2));
    ring_list_init(&copy, ring_limit_from(-2));
    assert_true(listpack_init(&lp) && listpack_append(&lp, BYTES("one")) && listpack_append(&lp, BYTES("2")));
    assert_true(ring_list_take_listpack(&list, &lp));
    assert_true(ring_list_push(&list, RING_TAIL, bytes_make(text, 9000)));
    assert_false(ring_list_release_listpack(&list, &lp));
    for (uint32_t i = 0; i < list.used; i++) {
        bool plain;
        struct bytes bytes = ring_list_node(&list, i, &plain);
        assert_int_equal(plain, i == 1);
        assert_true(ring_list_append_node(&copy, bytes, plain));
    }
    assert_true(ring_list_append_node(&copy, BYTES("short but plain"), true));
    assert_true(ring_list_check(&copy));
    assert_int_equal(ring_list_length(&copy), 4);
    assert_true(ring_list_seek(&copy, -1, &cursor) && ring_list_equals(&copy, &cursor, BYTES("short but plain")));
    assert_true(ring_list_seek(&copy, 1, &cursor) && ring_list_equals(&copy, &cursor, BYTES("2")));
    ring_list_drop(&list, RING_TAIL);
    assert_true(ring_list_release_listpack(&list, &lp));
    assert_int_equal(listpack_length(&lp), 2);
    assert_int_equal(ring_list_length(&list), 0);
    listpack_deinit(&lp);
    ring_list_deinit(&copy);
}

static void elements_cost_little_more_than_their_bytes(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    struct ring_list list;
    ring_list_init(&list, ring_limit_from(-2));
    for (int i = 0; i < COUNT; i++)
        assert_true(ring_list_push(&list, i % 3 ? RING_TAIL : RING_HEAD, BYTES("ten bytes.")));
    double bytes = (double)ring_list_memory(&list) / COUNT;
    print_message("ring_list: %.2f bytes per element of 10\n", bytes);
    assert_true(bytes < 12.3);
    ring_list_deinit(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_random_history_agrees_with_a_model),
        cmocka_unit_test(a_queue_keeps_its_order_and_a_bounded_ring),
        cmocka_unit_test(nodes_are_handed_over_and_copied),
        cmocka_unit_test(elements_cost_little_more_than_their_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
