#include "lib/hash/crc16.h"

#include "lib/hash/crc_table.h"

/* table[k][b]: what byte b does to the CRC when k bytes follow it. */
static const uint16_t table[8][256] = {
    {CRC_ROW(0x1021, 0x2042, 0x4084, 0x8108, 0x1231, 0x2462, 0x48c4, 0x9188)},
    {CRC_ROW(0x3331, 0x6662, 0xccc4, 0x89a9, 0x0373, 0x06e6, 0x0dcc, 0x1b98)},
    {CRC_ROW(0x3730, 0x6e60, 0xdcc0, 0xa9a1, 0x4363, 0x86c6, 0x1dad, 0x3b5a)},
    {CRC_ROW(0x76b4, 0xed68, 0xcaf1, 0x85c3, 0x1ba7, 0x374e, 0x6e9c, 0xdd38)},
    {CRC_ROW(0xaa51, 0x4483, 0x8906, 0x022d, 0x045a, 0x08b4, 0x1168, 0x22d0)},
    {CRC_ROW(0x45a0, 0x8b40, 0x06a1, 0x0d42, 0x1a84, 0x3508, 0x6a10, 0xd420)},
    {CRC_ROW(0xb861, 0x60e3, 0xc1c6, 0x93ad, 0x377b, 0x6ef6, 0xddec, 0xabf9)},
    {CRC_ROW(0x47d3, 0x8fa6, 0x0f6d, 0x1eda, 0x3db4, 0x7b68, 0xf6d0, 0xfd81)},
};

uint16_t crc16(struct bytes bytes)
{
    const uint8_t *at = bytes.at;
    size_t left = bytes.size;
    unsigned crc = 0;
    for (; left >= 8; at += 8, left -= 8)
        crc = (unsigned)(table[7][at[0] ^ (crc >> 8)] ^ table[6][at[1] ^ (crc & 255)] ^ table[5][at[2]] ^
                         table[4][at[3]] ^ table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]]);
    for (; left > 0; at++, left--)
        crc = ((crc << 8) & 0xffff) ^ table[0][(crc >> 8) ^ *at];
    return (uint16_t)crc;
}
