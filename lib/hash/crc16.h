/* crc16.h - CRC16/XMODEM (polynomial 0x1021, start 0), by which Redis Cluster maps keys to slots.
 *
 * Threads:    any; pure. */
#ifndef KETCH_LIB_HASH_CRC16_H
#define KETCH_LIB_HASH_CRC16_H

#include "lib/base/bytes.h"

/* "123456789" gives 0x31c3. */
uint16_t crc16(struct bytes bytes);

#endif
