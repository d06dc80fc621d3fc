#include "lib/histogram/base64.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void the_vectors_of_the_rfc_come_out(void **state)
{
    (void)state;
    static const char *cases[][2] = {{"", ""},
                                     {"f", "Zg=="},
                                     {"fo", "Zm8="},
                                     {"foo", "Zm9v"},
                                     {"foob", "Zm9vYg=="},
                                     {"fooba", "Zm9vYmE="},
                                     {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buf text, bytes;
        buf_init(&text, 100);
        buf_init(&bytes, 100);
        assert_int_equal(base64_encode(bytes_of(cases[i][0]), &text), 0);
        assert_true(bytes_equal(buf_bytes(&text), bytes_of(cases[i][1])));
        assert_int_equal(base64_decode(buf_bytes(&text), &bytes), 0);
        assert_true(bytes_equal(buf_bytes(&bytes), bytes_of(cases[i][0])));
        buf_deinit(&text);
        buf_deinit(&bytes);
    }
}

static void anything_else_is_refused(void **state)
{
    (void)state;
    static const char *cases[] = {
        "Zg=", "Zg", "Z", "Zg==Zg==", "Z===", "====", "Zh==", "Zm9=", "Zm9\n", "Z=8=", "Zm-_"};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buf bytes;
        buf_init(&bytes, 100);
        assert_int_equal(base64_decode(bytes_of(cases[i]), &bytes), -EBADMSG);
        assert_int_equal(bytes.size, 0);
        buf_deinit(&bytes);
    }
}

static void a_full_buffer_is_reported(void **state)
{
    (void)state;
    struct buf bytes;
    buf_init(&bytes, 7);
    assert_int_equal(base64_encode(BYTES("abcdef"), &bytes), -ENOBUFS);
    assert_int_equal(bytes.size, 0);
    buf_deinit(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_rfc_come_out),
        cmocka_unit_test(anything_else_is_refused),
        cmocka_unit_test(a_full_buffer_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
