#include "lib/base/random.h"

#include "lib/base/check.h"

#include <errno.h>
#include <sys/random.h>

void random_seed(struct random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        random->state[i] = z ^ (z >> 31);
    }
}

void random_secret(void *to, size_t size)
{
    uint8_t *at = to;
    while (size > 0) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        CHECK(got > 0);
        at += got;
        size -= (size_t)got;
    }
}

void random_hex(char *to, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte;
        random_secret(&byte, 1);
        to[i] = "0123456789abcdef"[byte & 15];
    }
    to[size] = '\0';
}
