#include "lib/hash/crc16.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint16_t bit_by_bit(struct bytes bytes)
{
    unsigned crc = 0;
    for (size_t i = 0; i < bytes.size; i++) {
        crc ^= (unsigned)bytes.at[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
    }
    return (uint16_t)crc;
}

static void the_check_value_is_that_of_the_catalogue(void **state)
{
    (void)state;
    assert_int_equal(crc16(BYTES("123456789")), 0x31c3);
    assert_int_equal(crc16(BYTES("")), 0);
}

static void every_size_agrees_with_the_definition(void **state)
{
    (void)state;
    uint8_t text[67];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(i * 151 + 7);
    for (size_t size = 0; size <= sizeof(text); size++)
        assert_int_equal(crc16(bytes_make(text, size)), bit_by_bit(bytes_make(text, size)));
    for (unsigned byte = 0; byte < 256; byte++) {
        memset(text, (int)byte, 8);
        assert_int_equal(crc16(bytes_make(text, 8)), bit_by_bit(bytes_make(text, 8)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_value_is_that_of_the_catalogue),
        cmocka_unit_test(every_size_agrees_with_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
