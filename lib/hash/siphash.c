#include "lib/hash/siphash.h"

static inline uint64_t rotated(uint64_t x, unsigned by)
{
    return (x << by) | (x >> (64 - by));
}

/* The paper reads words as little endian, wherever it runs. */
static inline uint64_t word_at(const uint8_t *at, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)at[i] << (8 * i);
    return word;
}

static inline void rounds(uint64_t v[4], int count)
{
    for (int i = 0; i < count; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotated(v[1], 13) ^ v[0];
        v[3] = rotated(v[3], 16) ^ v[2];
        v[0] = rotated(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotated(v[1], 17) ^ v[2];
        v[3] = rotated(v[3], 21) ^ v[0];
        v[2] = rotated(v[2], 32);
    }
}

static inline uint64_t siphash(const uint8_t key[16], struct bytes bytes, int per_word, int last)
{
    uint64_t k0 = word_at(key, 8), k1 = word_at(key + 8, 8);
    /* The initial state of the paper: "somepseudorandomlygeneratedbytes". */
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575u, k1 ^ 0x646f72616e646f6du, k0 ^ 0x6c7967656e657261u,
                     k1 ^ 0x7465646279746573u};
    size_t whole = bytes.size & ~(size_t)7;
    for (size_t i = 0; i < whole; i += 8) {
        uint64_t word = word_at(bytes.at + i, 8);
        v[3] ^= word;
        rounds(v, per_word);
        v[0] ^= word;
    }
    uint64_t tail = (uint64_t)bytes.size << 56;
    if (bytes.size > whole)
        tail |= word_at(bytes.at + whole, bytes.size - whole);
    v[3] ^= tail;
    rounds(v, per_word);
    v[0] ^= tail;
    v[2] ^= 0xff;
    rounds(v, last);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t siphash_1_3(const uint8_t key[16], struct bytes bytes)
{
    return siphash(key, bytes, 1, 3);
}

uint64_t siphash_2_4(const uint8_t key[16], struct bytes bytes)
{
    return siphash(key, bytes, 2, 4);
}
