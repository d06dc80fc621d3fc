#include "server/observe/sha1.h"

#define BLOCK 64u

static inline uint32_t rotate(uint32_t word, unsigned by)
{
    return word << by | word >> (32 - by);
}

static void add_block(uint32_t state[5], const uint8_t *block)
{
    uint32_t w[80];
    for (unsigned t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
               block[4 * t + 3];
    for (unsigned t = 16; t < 80; t++)
        w[t] = rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);

    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (unsigned t = 0; t < 80; t++) {
        uint32_t f, k;
        if (t < 20) {
            f = (b & c) | (~b & d);
            k = 0x5a827999;
        } else if (t < 40) {
            f = b ^ c ^ d;
            k = 0x6ed9eba1;
        } else if (t < 60) {
            f = (b & c) | (b & d) | (c & d);
            k = 0x8f1bbcdc;
        } else {
            f = b ^ c ^ d;
            k = 0xca62c1d6;
        }
        uint32_t next = rotate(a, 5) + f + e + k + w[t];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

void sha1(struct bytes message, uint8_t digest[SHA1_SIZE])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    uint8_t tail[2 * BLOCK] = {0};
    size_t whole = message.size / BLOCK * BLOCK, rest = message.size - whole;
    for (size_t at = 0; at < whole; at += BLOCK)
        add_block(state, message.at + at);
    /* The end of the message, one bit, zeros, and the length in bits. */
    if (rest)
        memcpy(tail, message.at + whole, rest);
    tail[rest] = 0x80;
    size_t tail_size = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    for (unsigned i = 0; i < 8; i++)
        tail[tail_size - 1 - i] = (uint8_t)((uint64_t)message.size * 8 >> 8 * i);
    for (size_t at = 0; at < tail_size; at += BLOCK)
        add_block(state, tail + at);
    for (unsigned i = 0; i < SHA1_SIZE; i++)
        digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}
