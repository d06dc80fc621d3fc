/* zipf.h - whole numbers in [low, high] with P(k) proportional to k^-exponent, in constant time and memory.
 *
 * Rejection-inversion: W. Hoermann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
 * distributions", ACM TOMACS 6(3), 1996.
 *
 * Owns:       nothing but its constants.
 * Threads:    read-only after zipf_init. */
#ifndef KETCH_BENCH_WORKLOAD_ZIPF_H
#define KETCH_BENCH_WORKLOAD_ZIPF_H

#include "lib/base/random.h"

struct zipf {
    uint64_t low, high;
    double exponent;
    double area_low, area_high; /* the hat's integral at both ends */
    double squeeze;             /* candidates this near below their k need no second look */
};

/* 1 <= low <= high, 0 < exponent. */
void zipf_init(struct zipf *zipf, uint64_t low, uint64_t high, double exponent);

uint64_t zipf_draw(const struct zipf *zipf, struct random *random);

#endif
