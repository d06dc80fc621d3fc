#include "server/observe/sha1.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_sha1(struct bytes message, const char *expected)
{
    uint8_t digest[SHA1_SIZE];
    char text[2 * SHA1_SIZE + 1];
    sha1(message, digest);
    for (size_t i = 0; i < SHA1_SIZE; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, expected);
}

static void known_messages_have_their_known_digests(void **state)
{
    (void)state;
    assert_sha1(BYTES(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    assert_sha1(BYTES("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    assert_sha1(BYTES("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

static void a_message_of_a_million_letters_has_its_known_digest(void **state)
{
    (void)state;
    size_t size = 1000000;
    char *message = malloc(size);
    memset(message, 'a', size);
    assert_sha1(bytes_make(message, size), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    free(message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_messages_have_their_known_digests),
        cmocka_unit_test(a_message_of_a_million_letters_has_its_known_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
