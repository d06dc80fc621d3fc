/* key_pattern.h - which key number comes next: R uniform, S sequential, P sequential on a private range, G Gaussian,
 * Z Zipf.
 *
 * Owns:       nothing. A key_space is shared and read-only; a key_cursor belongs to one client and one command.
 * Invariants: every number drawn lies in [min, max], whatever the numbers of keys and clients. */
#ifndef KETCH_BENCH_WORKLOAD_KEY_PATTERN_H
#define KETCH_BENCH_WORKLOAD_KEY_PATTERN_H

#include "bench/workload/zipf.h"

#include <stdbool.h>

struct key_space {
    uint64_t min, max; /* both inclusive */
    double median, stddev;
    struct zipf zipf;
};

/* Where one client is in its walk; unused by R, G and Z. */
struct key_cursor {
    uint64_t low, high, next;
};

/* min <= max. median and stddev of 0 mean the middle of the space and a sixth of it; exponent 0 means 1. */
void key_space_init(struct key_space *space, uint64_t min, uint64_t max, double median, double stddev, double exponent);

/* The share of client `client` of `clients` (its index is taken modulo their number): [*low, *high], shares differ by
 * at most one key and cover the space exactly. Returns how many keys; with more clients than keys, 0 for those that go
 * without, which then share a key with another. */
uint64_t key_space_share(const struct key_space *space, uint64_t client, uint64_t clients, uint64_t *low,
                         uint64_t *high);

void key_cursor_init(struct key_cursor *cursor, const struct key_space *space, char letter, uint64_t client,
                     uint64_t clients);

/* The next key number under `letter`. */
uint64_t key_draw(const struct key_space *space, char letter, struct key_cursor *cursor, struct random *random);

/* R, S, P, G or Z. */
bool key_letter_valid(char letter);

#endif
