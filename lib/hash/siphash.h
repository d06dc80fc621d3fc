/* siphash.h - SipHash (J.-P. Aumasson, D. J. Bernstein: SipHash, a fast short-input PRF, 2012), with 1 and 3 rounds for
 * tables and 2 and 4 where a stronger margin is wanted.
 *
 * Threads:    any; pure. */
#ifndef KETCH_LIB_HASH_SIPHASH_H
#define KETCH_LIB_HASH_SIPHASH_H

#include "lib/base/bytes.h"

uint64_t siphash_1_3(const uint8_t key[16], struct bytes bytes);
uint64_t siphash_2_4(const uint8_t key[16], struct bytes bytes);

#endif
