#include "lib/hash/crc64.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t bit_by_bit(struct bytes bytes)
{
    uint64_t crc = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        crc ^= bytes.at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x95ac9329ac4bc9b5u : crc >> 1; /* the polynomial with its bits reversed */
    }
    return crc;
}

static void the_check_value_is_that_of_rdb_files(void **state)
{
    (void)state;
    assert_true(crc64(0, BYTES("123456789")) == 0xe9c6d914c4b8d9cau);
}

static void every_size_agrees_with_the_definition(void **state)
{
    (void)state;
    uint8_t text[67];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(i * 151 + 7);
    for (size_t size = 0; size <= sizeof(text); size++)
        assert_true(crc64(0, bytes_make(text, size)) == bit_by_bit(bytes_make(text, size)));
    for (unsigned byte = 0; byte < 256; byte++) {
        memset(text, (int)byte, 8);
        assert_true(crc64(0, bytes_make(text, 8)) == bit_by_bit(bytes_make(text, 8)));
    }
}

static void pieces_add_up(void **state)
{
    (void)state;
    struct bytes text = BYTES("the quick brown fox jumps over the lazy dog");
    for (size_t cut = 0; cut <= text.size; cut++) {
        uint64_t crc = crc64(0, bytes_make(text.at, cut));
        assert_true(crc64(crc, bytes_make(text.at + cut, text.size - cut)) == crc64(0, text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_value_is_that_of_rdb_files),
        cmocka_unit_test(every_size_agrees_with_the_definition),
        cmocka_unit_test(pieces_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
