#include "bench/workload/request_template.h"

#include "lib/base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* All pieces of a batch in a row; the caller frees. */
static char *gathered(struct request_batch *batch, size_t *size)
{
    request_batch_close(batch);
    *size = 0;
    for (unsigned i = 0; i < batch->count; i++)
        *size += batch->pieces[i].iov_len;
    char *all = mem_alloc(*size + 1);
    size_t at = 0;
    for (unsigned i = 0; i < batch->count; i++) {
        memcpy(all + at, batch->pieces[i].iov_base, batch->pieces[i].iov_len);
        at += batch->pieces[i].iov_len;
    }
    all[at] = '\0';
    return all;
}

static void keys_of_every_length_have_the_right_header(void **state)
{
    (void)state;
    struct request_template get;
    template_init(&get, 2);
    template_add_literal(&get, BYTES("GET"));
    template_add_key(&get, BYTES("k:"));
    uint64_t key = 1;
    for (int digits = 1; digits <= 20; digits++) {
        uint8_t room[256];
        char expected[128];
        struct request_batch batch;
        struct request_values values = {.key = key};
        size_t size;
        request_batch_init(&batch, room, sizeof(room));
        assert_true(template_fits(&get, &batch));
        size_t written = template_write(&get, &values, &batch);
        char *text = gathered(&batch, &size);
        snprintf(expected, sizeof(expected), "*2\r\n$3\r\nGET\r\n$%d\r\nk:%llu\r\n", digits + 2,
                 (unsigned long long)key);
        assert_string_equal(text, expected);
        assert_int_equal(written, size);
        assert_true(size <= get.copied_max);
        mem_free(text);
        key = digits < 19 ? key * 10 : UINT64_MAX;
    }
    template_deinit(&get);
}

static void expiry_and_value_stand_where_they_belong(void **state)
{
    (void)state;
    struct request_template setex;
    template_init(&setex, 4);
    template_add_literal(&setex, BYTES("SETEX"));
    template_add_key(&setex, BYTES(""));
    template_add_expiry(&setex);
    template_add_value(&setex, 3, (struct bytes){0});
    static const struct {
        uint32_t expiry;
        const char *text;
    } cases[] = {{1, "$1\r\n1"}, {42, "$2\r\n42"}, {4294967295u, "$10\r\n4294967295"}};
    for (int i = 0; i < 3; i++) {
        uint8_t room[256];
        char expected[128];
        size_t size;
        struct request_batch batch;
        request_batch_init(&batch, room, sizeof(room));
        struct request_values values = {.key = 0, .expiry = cases[i].expiry, .value = BYTES("a\nb")};
        (void)template_write(&setex, &values, &batch);
        char *text = gathered(&batch, &size);
        snprintf(expected, sizeof(expected), "*4\r\n$5\r\nSETEX\r\n$1\r\n0\r\n%s\r\n$3\r\na\nb\r\n", cases[i].text);
        assert_string_equal(text, expected);
        mem_free(text);
    }
    template_deinit(&setex);
}

static void constant_values_are_compiled_in_and_large_ones_referenced(void **state)
{
    (void)state;
    uint8_t *large = mem_alloc(REFERENCE_BYTES);
    memset(large, 'y', REFERENCE_BYTES);
    struct request_template small_set, large_set;
    template_init(&small_set, 3);
    template_add_literal(&small_set, BYTES("SET"));
    template_add_key(&small_set, BYTES("p"));
    template_add_value(&small_set, 2, BYTES("xx"));
    template_init(&large_set, 3);
    template_add_literal(&large_set, BYTES("SET"));
    template_add_key(&large_set, BYTES("p"));
    template_add_value(&large_set, REFERENCE_BYTES, bytes_make(large, REFERENCE_BYTES));
    uint8_t room[512];
    struct request_batch batch;
    size_t size;
    request_batch_init(&batch, room, sizeof(room));
    struct request_values values = {.key = 7, .value = bytes_make(large, REFERENCE_BYTES)};
    size_t first = template_write(&small_set, &values, &batch);
    size_t second = template_write(&large_set, &values, &batch);
    size_t third = template_write(&small_set, &values, &batch);
    char *text = gathered(&batch, &size);
    assert_int_equal(batch.count, 3);
    assert_ptr_equal(batch.pieces[1].iov_base, large);
    assert_int_equal(first + second + third, size);
    assert_int_equal(first, third);
    static const char set[] = "*3\r\n$3\r\nSET\r\n$2\r\np7\r\n$2\r\nxx\r\n";
    assert_memory_equal(text, set, first);
    assert_memory_equal(text + first, "*3\r\n$3\r\nSET\r\n$2\r\np7\r\n$4096\r\nyyy", 31);
    assert_memory_equal(text + size - third - 4, "yy\r\n", 4);
    mem_free(text);
    template_deinit(&small_set);
    template_deinit(&large_set);
    mem_free(large);
}

static void a_batch_takes_no_more_than_it_has_room_for(void **state)
{
    (void)state;
    struct request_template get;
    template_init(&get, 2);
    template_add_literal(&get, BYTES("GET"));
    template_add_key(&get, BYTES("memtier-"));
    uint8_t room[300];
    struct request_batch batch;
    request_batch_init(&batch, room, sizeof(room));
    struct request_values values = {.key = UINT64_MAX};
    int written = 0;
    while (template_fits(&get, &batch)) {
        (void)template_write(&get, &values, &batch);
        assert_true(batch.at <= batch.end);
        written++;
    }
    assert_int_equal(written, (int)(sizeof(room) / get.copied_max));
    batch.count = REQUEST_PIECES_MAX;
    request_batch_init(&batch, room, sizeof(room));
    batch.count = REQUEST_PIECES_MAX;
    assert_false(template_fits(&get, &batch));
    template_deinit(&get);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_every_length_have_the_right_header),
        cmocka_unit_test(expiry_and_value_stand_where_they_belong),
        cmocka_unit_test(constant_values_are_compiled_in_and_large_ones_referenced),
        cmocka_unit_test(a_batch_takes_no_more_than_it_has_room_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
