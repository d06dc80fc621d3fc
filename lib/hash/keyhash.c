#include "lib/hash/keyhash.h"

#include "lib/base/random.h"

void keyhash_secret_init(struct keyhash_secret *secret)
{
    random_secret(secret, sizeof(*secret));
}

uint64_t keyhash_long(const struct keyhash_secret *secret, struct bytes key)
{
    const uint64_t *w = secret->word;
    const uint8_t *at = key.at;
    size_t left = key.size;
    /* Two lanes, so that the multiplications overlap. */
    uint64_t a = w[2], b = w[3];

    for (; left > 32; at += 32, left -= 32) {
        a = keyhash_fold(keyhash_load8(at) ^ w[0], keyhash_load8(at + 8) ^ a);
        b = keyhash_fold(keyhash_load8(at + 16) ^ w[1], keyhash_load8(at + 24) ^ b);
    }
    at += left;
    a = keyhash_fold(keyhash_load8(at - 32) ^ w[2], keyhash_load8(at - 24) ^ a);
    b = keyhash_fold(keyhash_load8(at - 16) ^ w[3], keyhash_load8(at - 8) ^ b);
    return keyhash_fold(a ^ w[1], b ^ w[2] ^ key.size);
}
