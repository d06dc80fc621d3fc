/* random.h - a fast seeded generator (xoshiro256**, Blackman and Vigna 2018), and secrets from the kernel.
 *
 * Threads:    a generator belongs to one thread. */
#ifndef KETCH_LIB_BASE_RANDOM_H
#define KETCH_LIB_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state[4];
};

/* Expands one seed with splitmix64, so that near seeds give unrelated streams. */
void random_seed(struct random *random, uint64_t seed);

static inline uint64_t random_next(struct random *random)
{
    uint64_t *s = random->state;
    uint64_t x = s[1] * 5;
    uint64_t result = ((x << 7) | (x >> 57)) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* Uniform in [0, limit); limit > 0. The bias of the multiply is below 2^-32 for limits under 2^32. */
static inline uint64_t random_below(struct random *random, uint64_t limit)
{
    return (uint64_t)(((unsigned __int128)random_next(random) * limit) >> 64);
}

/* Uniform in [0, 1), 53 bits. */
static inline double random_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1.0p-53;
}

/* Unpredictable bytes from getrandom(2); aborts if the kernel has none. */
void random_secret(void *to, size_t size);

/* `size` lower-case hexadecimal digits and a terminator. */
void random_hex(char *to, size_t size);

#endif
