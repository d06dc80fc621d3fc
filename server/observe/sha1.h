/* sha1.h - SHA-1 (FIPS 180-4), for DEBUG DIGEST only: it protects nothing.
 *
 * Threads:    any. */
#ifndef KETCH_SERVER_OBSERVE_SHA1_H
#define KETCH_SERVER_OBSERVE_SHA1_H

#include "lib/base/bytes.h"

#define SHA1_SIZE 20

void sha1(struct bytes message, uint8_t digest[SHA1_SIZE]);

#endif
