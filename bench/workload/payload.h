/* payload.h - the bytes of values: 'x' repeated, or windows into a run of random bytes, which differ from value to
 * value and do not compress.
 *
 * Owns:       the bytes; values point into them.
 * Threads:    read-only after payload_init. */
#ifndef KETCH_BENCH_WORKLOAD_PAYLOAD_H
#define KETCH_BENCH_WORKLOAD_PAYLOAD_H

#include "lib/base/bytes.h"
#include "lib/base/check.h"

struct payload {
    uint8_t *data;
    size_t value_size;
    size_t windows; /* different values there are: 1 when constant */
};

/* 0, or -ENOMEM. */
MUST_USE int payload_init(struct payload *payload, size_t value_size, bool random, uint64_t seed);
void payload_deinit(struct payload *payload);

/* The n-th value. */
static inline struct bytes payload_value(const struct payload *payload, uint64_t n)
{
    /* An odd stride visits all windows, their number being a power of two, and keeps neighbours apart. */
    return bytes_make(payload->data + ((n * 0x9e3779b1u) & (payload->windows - 1)), payload->value_size);
}

#endif
