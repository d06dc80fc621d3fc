#include "lib/hash/keyhash.h"

#include "lib/base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#ifdef KETCH_SANITIZED
enum { SEQUENTIAL = 1000000 };
#else
enum { SEQUENTIAL = 10000000 };
#endif

/* A fixed secret: the statistics below are the same on every run. */
static struct keyhash_secret fixed_secret(void)
{
    struct random random;
    struct keyhash_secret secret;
    random_seed(&random, 20261201);
    for (int i = 0; i < 4; i++)
        secret.word[i] = random_next(&random);
    return secret;
}

static void equal_keys_hash_alike_wherever_they_lie(void **state)
{
    (void)state;
    struct keyhash_secret secret = fixed_secret();
    uint8_t text[128 + 8];
    for (size_t size = 0; size <= 128; size++) {
        for (size_t i = 0; i < size; i++)
            text[i] = (uint8_t)(i * 31 + size);
        uint64_t hash = keyhash(&secret, bytes_make(text, size));
        uint8_t *copy = malloc(size + !size); /* exact, so that reading past it shows */
        memcpy(copy, text, size);
        assert_true(keyhash(&secret, bytes_make(copy, size)) == hash);
        memmove(text + 3, text, size);
        assert_true(keyhash(&secret, bytes_make(text + 3, size)) == hash);
        free(copy);
    }
}

static void runs_of_zeros_of_different_sizes_differ(void **state)
{
    (void)state;
    struct keyhash_secret secret = fixed_secret();
    static const uint8_t zeros[256];
    uint64_t hashes[257];
    for (size_t size = 0; size <= 256; size++) {
        hashes[size] = keyhash(&secret, bytes_make(zeros, size));
        for (size_t other = 0; other < size; other++)
            assert_true(hashes[other] != hashes[size]);
    }
}

static void another_secret_gives_another_hash(void **state)
{
    (void)state;
    struct keyhash_secret a, b;
    keyhash_secret_init(&a);
    keyhash_secret_init(&b);
    static const char *keys[] = {
        "", "a", "abcd", "memtier-1", "0123456789abcdefg", "0123456789abcdef0123456789abcdef0"};
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        assert_true(keyhash(&a, bytes_of(keys[i])) != keyhash(&b, bytes_of(keys[i])));
}

/* One input bit flips each output bit in half of the cases. */
static void every_bit_of_a_key_changes_every_bit_of_the_hash(void **state)
{
    (void)state;
    enum { TRIALS = 2000 };
    struct keyhash_secret secret = fixed_secret();
    struct random random;
    random_seed(&random, 7);
    static const size_t sizes[] = {1, 3, 4, 7, 8, 12, 16, 17, 24, 32, 33, 64, 100};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        size_t size = sizes[s];
        for (size_t bit = 0; bit<size * 8; bit += size> 16 ? 5 : 1) {
            unsigned flips[64] = {0};
            for (int trial = 0; trial < TRIALS; trial++) {
                uint8_t key[104];
                for (size_t i = 0; i < size; i += 8) {
                    uint64_t word = random_next(&random);
                    memcpy(key + i, &word, 8);
                }
                uint64_t before = keyhash(&secret, bytes_make(key, size));
                key[bit / 8] ^= (uint8_t)(1 << bit % 8);
                uint64_t change = before ^ keyhash(&secret, bytes_make(key, size));
                for (int i = 0; i < 64; i++)
                    flips[i] += change >> i & 1;
            }
            /* Six standard deviations are 6.7 %. One-byte keys have only 128 pairs to draw from. */
            double tolerance = size == 1 ? 0.3 : 0.075;
            for (int i = 0; i < 64; i++)
                if (fabs((double)flips[i] / TRIALS - 0.5) > tolerance)
                    fail_msg("size %zu, bit %zu: output bit %d flips %u of %d", size, bit, i, flips[i], TRIALS);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double chi_square(const uint64_t *hashes, size_t count, unsigned shift, unsigned bits)
{
    size_t cells = (size_t)1 << bits;
    uint32_t *seen = calloc(cells, sizeof(*seen));
    for (size_t i = 0; i < count; i++)
        seen[hashes[i] >> shift & (cells - 1)]++;
    double expected = (double)count / (double)cells, sum = 0;
    for (size_t i = 0; i < cells; i++)
        sum += ((double)seen[i] - expected) * ((double)seen[i] - expected) / expected;
    free(seen);
    /* In standard deviations from its mean. */
    return (sum - (double)(cells - 1)) / sqrt(2.0 * (double)(cells - 1));
}

static void check_uniform(const uint64_t *hashes, size_t count, const char *format)
{
    static const struct {
        unsigned shift, bits;
    } parts[] = {{0, 14}, {14, 16}, {30, 16}, {46, 16}, {48, 16}, {0, 8}, {56, 8}};
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        double deviation = chi_square(hashes, count, parts[i].shift, parts[i].bits);
        if (fabs(deviation) > 5)
            fail_msg("%s: %u bits from %u are %.1f deviations from uniform", format, parts[i].bits, parts[i].shift,
                     deviation);
    }
}

static void check_sequential(const char *format, size_t count)
{
    struct keyhash_secret secret = fixed_secret();
    uint64_t *hashes = malloc(count * sizeof(*hashes));
    assert_non_null(hashes);
    char prefix[64], digits[24];
    for (size_t i = 0; i < count; i++) {
        size_t head = strlen(format);
        memcpy(prefix, format, head);
        size_t size = 0;
        for (size_t rest = i; size == 0 || rest; rest /= 10)
            digits[size++] = (char)('0' + rest % 10);
        while (size)
            prefix[head++] = digits[--size];
        hashes[i] = keyhash(&secret, bytes_make(prefix, head));
    }
    check_uniform(hashes, count, format);
    qsort(hashes, count, sizeof(*hashes), by_value);
    for (size_t i = 1; i < count; i++)
        assert_true(hashes[i] != hashes[i - 1]);
    free(hashes);
}

static void sequential_keys_neither_collide_nor_cluster(void **state)
{
    (void)state;
    check_sequential("memtier-", SEQUENTIAL);
    check_sequential("", 1000000);
    check_sequential("user:session:0000:", 1000000);
    check_sequential("a-prefix-that-is-longer-than-thirty-two-bytes:", 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_keys_hash_alike_wherever_they_lie),
        cmocka_unit_test(runs_of_zeros_of_different_sizes_differ),
        cmocka_unit_test(another_secret_gives_another_hash),
        cmocka_unit_test(every_bit_of_a_key_changes_every_bit_of_the_hash),
        cmocka_unit_test(sequential_keys_neither_collide_nor_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
