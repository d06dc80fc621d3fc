#include "lib/base/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void it_grows_up_to_its_limit(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 100);
    for (int i = 0; i < 25; i++)
        assert_int_equal(buf_append(&buf, "abcd", 4), 0);
    assert_int_equal(buf.size, 100);
    assert_in_range(buf.capacity, 100, 100);
    assert_int_equal(buf_append(&buf, "x", 1), -ENOBUFS);
    assert_int_equal(buf_reserve(&buf, SIZE_MAX), -ENOBUFS);
    assert_int_equal(buf.size, 100);
    assert_memory_equal(buf.data + 96, "abcd", 4);
    buf_deinit(&buf);
    assert_int_equal(buf.capacity, 0);
    assert_int_equal(buf_append_text(&buf, "again"), 0);
    buf_deinit(&buf);
}

static void text_is_printed_behind_what_is_there(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 40);
    assert_int_equal(buf_append_bytes(&buf, BYTES("a\0b")), 0);
    assert_int_equal(buf_printf(&buf, "%d-%s", 42, "x"), 0);
    assert_true(bytes_equal(buf_bytes(&buf), BYTES("a\0b42-x")));
    assert_int_equal(buf_printf(&buf, "%100d", 1), -ENOBUFS);
    assert_int_equal(buf.size, 7);
    buf_deinit(&buf);
}

static void its_front_can_be_dropped(void **state)
{
    (void)state;
    struct buf buf;
    buf_init(&buf, 40);
    buf_consume(&buf, 0);
    assert_int_equal(buf_append(&buf, NULL, 0), 0);
    assert_int_equal(buf_append_text(&buf, "abcdef"), 0);
    buf_consume(&buf, 2);
    assert_true(bytes_equal(buf_bytes(&buf), BYTES("cdef")));
    buf_consume(&buf, 4);
    assert_int_equal(buf.size, 0);
    assert_int_equal(buf_append_text(&buf, "g"), 0);
    buf_clear(&buf);
    assert_int_equal(buf.size, 0);
    buf_deinit(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_up_to_its_limit),
        cmocka_unit_test(text_is_printed_behind_what_is_there),
        cmocka_unit_test(its_front_can_be_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
