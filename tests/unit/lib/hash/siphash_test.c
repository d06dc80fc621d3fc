#include "lib/hash/siphash.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void the_paper_s_test_vector_comes_out(void **state)
{
    (void)state;
    uint8_t key[16], text[15];
    for (unsigned i = 0; i < 16; i++)
        key[i] = (uint8_t)i;
    for (unsigned i = 0; i < 15; i++)
        text[i] = (uint8_t)i;
    assert_true(siphash_2_4(key, bytes_make(text, 15)) == 0xa129ca6149be45e5u);
    /* Of the empty text: the first vector of the reference implementation. */
    assert_true(siphash_2_4(key, bytes_make(NULL, 0)) == 0x726fdb47dd0e0e31u);
}

static void key_size_and_contents_all_matter(void **state)
{
    (void)state;
    uint8_t key[16] = {0}, text[32] = {0};
    uint64_t seen[33 + 32 + 16];
    size_t count = 0;
    for (size_t size = 0; size <= 32; size++)
        seen[count++] = siphash_1_3(key, bytes_make(text, size));
    for (size_t i = 0; i < 32; i++) {
        text[i] = 1;
        seen[count++] = siphash_1_3(key, bytes_make(text, 32));
        text[i] = 0;
    }
    for (size_t i = 0; i < 16; i++) {
        key[i] = 1;
        seen[count++] = siphash_1_3(key, bytes_make(text, 32));
        key[i] = 0;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_paper_s_test_vector_comes_out),
        cmocka_unit_test(key_size_and_contents_all_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
