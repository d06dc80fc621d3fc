/* keyslot.h - the slot that clients of Redis Cluster compute for a key.
 *
 * Threads:    any; pure. */
#ifndef KETCH_LIB_SLOT_KEYSLOT_H
#define KETCH_LIB_SLOT_KEYSLOT_H

#include "lib/base/bytes.h"

#define KEYSLOT_COUNT 16384

/* What is hashed of a key: the bytes between the first { and the first } behind it when there are any, else the key. */
struct bytes keyslot_hash_tag(struct bytes key);

/* 0 .. KEYSLOT_COUNT - 1. */
uint32_t keyslot_of(struct bytes key);

#endif
