#include "lib/ds/listpack.h"

#include "lib/base/mem.h"
#include "lib/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void the_bytes_are_those_that_redis_dumps(void **state)
{
    (void)state;
    /* The list of these values, as redis-server 7.0.15 dumped it. */
    static const char *values[] = {"a",
                                   "0",
                                   "127",
                                   "128",
                                   "-1",
                                   "4095",
                                   "-4096",
                                   "4096",
                                   "-4097",
                                   "32767",
                                   "-32769",
                                   "8388607",
                                   "-8388608",
                                   "8388608",
                                   "2147483647",
                                   "-2147483649",
                                   "9223372036854775807",
                                   "-9223372036854775808",
                                   "007",
                                   "-0",
                                   ""};
    static const char dumped[] =
        "ee000000170081610200017f01c08002dfff02cfff02d00002f1001003f1ffef03f1ff7f03f2ff7fff04f2ffff7f04f200008004f30000"
        "8000"
        "05f3ffffff7f05f4ffffff7fffffffff09f4ffffffffffffff7f09f40000000000000080098330303704822d30038001bf";
    struct listpack lp;
    assert_true(listpack_init(&lp));
    for (size_t i = 0; i < COUNT_OF(values); i++)
        assert_true(listpack_append(&lp, bytes_of(values[i])));
    char xs[65];
    memset(xs, 'x', sizeof(xs));
    assert_true(listpack_append(&lp, bytes_make(xs, 63)) && listpack_append(&lp, bytes_make(xs, 64)));
    struct bytes all = listpack_bytes(&lp);
    assert_int_equal(all.size, 0xee);
    for (size_t i = 0; i < sizeof(dumped) / 2; i++) {
        char hex[3];
        snprintf(hex, sizeof(hex), "%02x", all.at[i]);
        assert_memory_equal(hex, dumped + 2 * i, 2);
    }
    assert_memory_equal(all.at + all.size - 3, "x\x42\xff", 3);
    assert_true(listpack_valid(all, true));
    listpack_deinit(&lp);
}

static void the_size_of_an_element_is_repeated_as_redis_does(void **state)
{
    (void)state;
    /* Last bytes of a listpack that ends in a string of so many bytes, as redis-server 7.0.15 dumped it. */
    static const struct {
        uint32_t size;
        const char *end;
    } cases[] = {{126, "\x01\x80\xff"},       {128, "\x01\x82\xff"},         {4095, "\x20\x81\xff"},
                 {4096, "\x20\x85\xff"},      {16377, "\x7f\xfe\xff"},       {16378, "\x00\xff\xff\xff"},
                 {16379, "\x01\x80\x80\xff"}, {2097140, "\x7f\xff\xf9\xff"}, {2097146, "\x00\xff\xff\xff\xff"}};
    uint8_t *text = mem_alloc(1 << 22);
    memset(text, 'y', 1 << 22);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct listpack lp;
        assert_true(listpack_init(&lp));
        assert_true(listpack_append(&lp, BYTES("f")) && listpack_append(&lp, bytes_make(text, cases[i].size)));
        struct bytes all = listpack_bytes(&lp);
        size_t digits = cases[i].size < 16378 ? 2 : cases[i].size < 2097146 ? 3 : 4;
        assert_memory_equal(all.at + all.size - digits - 1, cases[i].end, digits + 1);
        assert_true(listpack_valid(all, true));
        uint32_t last = listpack_last(&lp);
        assert_true(listpack_equals(&lp, last, bytes_make(text, cases[i].size)));
        assert_true(listpack_equals(&lp, listpack_prev(&lp, last), BYTES("f")));
        listpack_deinit(&lp);
    }
    mem_free(text);
}

enum { MODEL_MAX = 400 };

struct model {
    uint32_t seeds[MODEL_MAX];
    uint32_t count;
};

static char text[20000];

static struct bytes value_of(uint32_t seed)
{
    if (seed % 3 == 0)
        return bytes_make(
            text, snprintf(text, sizeof(text), "%lld", (long long)(seed * 0x9e3779b97f4a7c15ull) >> (seed % 64)));
    size_t size = seed % 29 == 1 ? 4000 + seed % 16000 : seed % 7 == 1 ? seed % 300 : seed % 20;
    memset(text, 'a' + seed % 26, size);
    return bytes_make(text, size);
}

static void compare(const struct listpack *lp, const struct model *model)
{
    assert_true(listpack_valid(listpack_bytes(lp), true));
    assert_int_equal(listpack_length(lp), model->count);
    uint32_t at = 0, total = LISTPACK_BYTES_EMPTY;
    char digits[NUMBER_I64_TEXT];
    for (uint32_t place = listpack_first(lp); place; place = listpack_next(lp, place), at++) {
        struct bytes value = value_of(model->seeds[at]);
        assert_true(bytes_equal(listpack_text(lp, place, digits), value));
        assert_int_equal(listpack_seek(lp, at), place);
        assert_int_equal(listpack_seek(lp, (int64_t)at - model->count), place);
        total += listpack_size_of(value);
    }
    assert_int_equal(at, model->count);
    assert_int_equal(total, listpack_size(lp));
    for (uint32_t place = listpack_last(lp); place; place = listpack_prev(lp, place))
        at--;
    assert_int_equal(at, 0);
    assert_int_equal(listpack_seek(lp, model->count), 0);
    assert_int_equal(listpack_seek(lp, -(int64_t)model->count - 1), 0);
}

static void step(struct listpack *lp, struct model *model, struct random *random)
{
    uint32_t seed = (uint32_t)random_next(random) >> 4, what = (uint32_t)random_below(random, 8);
    uint32_t at = model->count ? (uint32_t)random_below(random, model->count) : 0, n = 1;
    uint32_t place = model->count ? listpack_seek(lp, at) : LISTPACK_END;
    bool grows = model->count == 0 || (what < 5 && model->count < MODEL_MAX);
    if (grows) {
        if (what == 0) {
            assert_true(listpack_append(lp, value_of(seed)));
            at = model->count;
        } else if (what == 1) {
            assert_true(listpack_prepend(lp, value_of(seed)));
            at = 0;
        } else if (what == 2 && model->count) {
            assert_true(listpack_insert_after(lp, place, value_of(seed)));
            at++;
        } else {
            assert_true(listpack_insert(lp, place, value_of(seed)));
        }
        memmove(model->seeds + at + 1, model->seeds + at, (model->count++ - at) * sizeof(uint32_t));
        model->seeds[at] = seed;
    } else if (what == 5) {
        assert_true(listpack_replace(lp, place, value_of(seed)));
        model->seeds[at] = seed;
    } else if (what == 6) {
        struct listpack tail;
        assert_true(listpack_split(lp, place, &tail));
        assert_int_equal(listpack_length(lp), at);
        assert_true(listpack_valid(listpack_bytes(&tail), true));
        assert_true(listpack_append_all(lp, &tail));
        listpack_deinit(&tail);
    } else {
        n = 1 + seed % (seed & 1 ? 3 : 60);
        if (n > model->count - at)
            n = model->count - at;
        if (seed & 2)
            assert_int_equal(listpack_delete(lp, place, n), at + n < model->count ? place : 0);
        else
            assert_int_equal(listpack_delete_range(lp, at, n + (at + n == model->count)), n);
        memmove(model->seeds + at, model->seeds + at + n, (model->count - at - n) * sizeof(uint32_t));
        model->count -= n;
    }
}

static void a_random_history_agrees_with_a_model(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 29);
    struct model *model = mem_alloc_zeroed(sizeof(*model));
    struct listpack lp;
    assert_true(listpack_init(&lp));
    for (int i = 0; i < 20000; i++) {
        step(&lp, model, &random);
        if (i % 50 == 0)
            compare(&lp, model);
    }
    listpack_delete_range(&lp, 0, UINT32_MAX);
    model->count = 0;
    compare(&lp, model);
    assert_true(listpack_memory(&lp) <= 64);
    listpack_deinit(&lp);
    mem_free(model);
}

static void find_skips_the_values_of_pairs(void **state)
{
    (void)state;
    struct listpack lp;
    assert_true(listpack_init(&lp));
    static const char *all[] = {"a", "b", "b", "17", "17", "a", "", "x"};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        assert_true(listpack_append(&lp, bytes_of(all[i])));
    uint32_t first = listpack_first(&lp);
    assert_int_equal(listpack_find(&lp, first, BYTES("b"), 1), listpack_seek(&lp, 2));
    assert_int_equal(listpack_find(&lp, first, BYTES("b"), 0), listpack_seek(&lp, 1));
    assert_int_equal(listpack_find(&lp, first, BYTES("17"), 1), listpack_seek(&lp, 4));
    assert_int_equal(listpack_find(&lp, first, BYTES(""), 1), listpack_seek(&lp, 6));
    assert_int_equal(listpack_find(&lp, first, BYTES("x"), 1), 0);
    assert_int_equal(listpack_find(&lp, first, BYTES("017"), 0), 0);
    assert_int_equal(listpack_find(&lp, 0, BYTES("a"), 0), 0);
    assert_true(listpack_replace_integer(&lp, first, -5000) && listpack_append_integer(&lp, 1));
    assert_true(listpack_equals(&lp, first, BYTES("-5000")) && listpack_equals(&lp, listpack_last(&lp), BYTES("1")));
    listpack_deinit(&lp);
}

static void more_elements_than_the_header_counts_are_counted(void **state)
{
    (void)state;
    struct listpack lp, tail;
    assert_true(listpack_init(&lp));
    for (int i = 0; i < 70000; i++)
        assert_true(listpack_append(&lp, BYTES("1")));
    assert_int_equal(listpack_length(&lp), 70000);
    assert_int_equal(listpack_bytes(&lp).at[4] & listpack_bytes(&lp).at[5], 0xFF);
    assert_true(listpack_valid(listpack_bytes(&lp), true));
    assert_int_equal(listpack_seek(&lp, 69999), listpack_last(&lp));
    assert_int_equal(listpack_seek(&lp, 70000), 0);
    assert_true(listpack_split(&lp, listpack_seek(&lp, 10), &tail));
    assert_int_equal(listpack_length(&tail), 69990);
    assert_int_equal(listpack_length(&lp), 10);
    listpack_deinit(&lp);
    listpack_deinit(&tail);
}

static void broken_bytes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {
        {"", 0},
        {"\x07\0\0\0\0\0", 6},                              /* too short */
        {"\x08\0\0\0\0\0\xff", 7},                          /* another size */
        {"\x07\0\0\0\0\0\xfe", 7},                          /* no end */
        {"\x07\0\0\0\1\0\xff", 7},                          /* another count */
        {"\x09\0\0\0\1\0\x05\x02\xff", 9},                  /* wrong backward size */
        {"\x09\0\0\0\1\0\x85\x01\xff", 9},                  /* a string past the end */
        {"\x09\0\0\0\1\0\xff\x01\xff", 9},                  /* an end inside */
        {"\x09\0\0\0\1\0\xf7\x01\xff", 9},                  /* no such encoding */
        {"\x0d\0\0\0\1\0\xf0\xff\xff\xff\xff\x05\xff", 13}, /* a long string past the end */
        {"\x08\0\0\0\1\0\xf4\xff", 8},                      /* an integer past the end */
        {"\x08\0\0\0\1\0\xe1\xff", 8},                      /* half an encoding */
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        uint8_t *copy = malloc(bad[i].size + 1);
        memcpy(copy + 1, bad[i].bytes, bad[i].size);
        if (listpack_valid(bytes_make(copy + 1, bad[i].size), true))
            fail_msg("case %zu was taken", i);
        free(copy);
    }
    assert_true(listpack_valid(bytes_make("\x09\0\0\0\1\0\x85\x01\xff", 9), false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_those_that_redis_dumps),
        cmocka_unit_test(the_size_of_an_element_is_repeated_as_redis_does),
        cmocka_unit_test(a_random_history_agrees_with_a_model),
        cmocka_unit_test(find_skips_the_values_of_pairs),
        cmocka_unit_test(more_elements_than_the_header_counts_are_counted),
        cmocka_unit_test(broken_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
