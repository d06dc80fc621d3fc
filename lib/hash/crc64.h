/* crc64.h - the CRC64 of RDB files and DUMP payloads (polynomial 0xad93d23594c935a9 of D. T. Jones, reflected, start
 * 0).
 *
 * Threads:    any; pure. */
#ifndef KETCH_LIB_HASH_CRC64_H
#define KETCH_LIB_HASH_CRC64_H

#include "lib/base/bytes.h"

/* Goes on from `crc`, 0 at first. "123456789" gives 0xe9c6d914c4b8d9ca. */
uint64_t crc64(uint64_t crc, struct bytes bytes);

#endif
