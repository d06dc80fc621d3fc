/* keyhash.h - the keyed 64-bit hash of keys in tables: multiplies 64 by 64 bits and folds the halves of the product.
 * All 64 bits are good: tables may take their index, slot and tag from any of them.
 *
 * Threads:    any; pure.
 * Invariants: differs from process to process (the secret): never store it, never send it.
 * Limits:     keeps strangers from choosing keys that collide as long as they cannot see hashes; it is no MAC. Where
 *             hashes can be observed, use siphash.h. */
#ifndef KETCH_LIB_HASH_KEYHASH_H
#define KETCH_LIB_HASH_KEYHASH_H

#include "lib/base/bytes.h"
#include "lib/base/check.h"

struct keyhash_secret {
    uint64_t word[4];
};

/* A secret from the kernel's generator. */
void keyhash_secret_init(struct keyhash_secret *secret);

/* For keys over 32 bytes; call keyhash. */
uint64_t keyhash_long(const struct keyhash_secret *secret, struct bytes key);

static inline uint64_t keyhash_fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t keyhash_load8(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

static inline uint64_t keyhash_load4(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof(word));
    return word;
}

static inline uint64_t keyhash(const struct keyhash_secret *secret, struct bytes key)
{
    const uint64_t *w = secret->word;
    const uint8_t *at = key.at;
    size_t size = key.size;
    uint64_t a, b;

    if (size > 16) {
        if (UNLIKELY(size > 32))
            return keyhash_long(secret, key);
        a = keyhash_fold(keyhash_load8(at) ^ w[0], keyhash_load8(at + 8) ^ w[1]);
        b = keyhash_fold(keyhash_load8(at + size - 16) ^ w[2], keyhash_load8(at + size - 8) ^ w[3]);
        return keyhash_fold(a ^ w[1], b ^ w[2] ^ size);
    }
    /* Reads overlap instead of branching on each size; the size itself tells apart what overlaps alike. */
    if (size >= 8) {
        a = keyhash_load8(at);
        b = keyhash_load8(at + size - 8);
    } else if (size >= 4) {
        a = keyhash_load4(at);
        b = keyhash_load4(at + size - 4);
    } else if (size > 0) {
        a = (uint64_t)at[0] << 16 | (uint64_t)at[size >> 1] << 8 | at[size - 1];
        b = 0;
    } else {
        a = b = 0;
    }
    return keyhash_fold(keyhash_fold(a ^ w[0], b ^ w[1]) ^ w[2], w[3] ^ size);
}

#endif
