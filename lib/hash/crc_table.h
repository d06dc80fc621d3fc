/* crc_table.h - tables of a CRC at compile time. A CRC is linear over exclusive or, so the entry of a byte is the sum
 * of the entries of its bits: eight constants (entries 1, 2, 4 ... 128) give all 256. */
#ifndef KETCH_LIB_HASH_CRC_TABLE_H
#define KETCH_LIB_HASH_CRC_TABLE_H

#define CRC_LINEAR(i, b0, b1, b2, b3, b4, b5, b6, b7)                                                                  \
    (((i)&1 ? (b0) : 0) ^ ((i)&2 ? (b1) : 0) ^ ((i)&4 ? (b2) : 0) ^ ((i)&8 ? (b3) : 0) ^ ((i)&16 ? (b4) : 0) ^         \
     ((i)&32 ? (b5) : 0) ^ ((i)&64 ? (b6) : 0) ^ ((i)&128 ? (b7) : 0))

#define CRC_4(i, ...)                                                                                                  \
    CRC_LINEAR(i, __VA_ARGS__), CRC_LINEAR(i + 1, __VA_ARGS__), CRC_LINEAR(i + 2, __VA_ARGS__),                        \
        CRC_LINEAR(i + 3, __VA_ARGS__)
#define CRC_16(i, ...)                                                                                                 \
    CRC_4(i, __VA_ARGS__), CRC_4(i + 4, __VA_ARGS__), CRC_4(i + 8, __VA_ARGS__), CRC_4(i + 12, __VA_ARGS__)
#define CRC_64(i, ...)                                                                                                 \
    CRC_16(i, __VA_ARGS__), CRC_16(i + 16, __VA_ARGS__), CRC_16(i + 32, __VA_ARGS__), CRC_16(i + 48, __VA_ARGS__)

/* The 256 entries, from the eight constants. */
#define CRC_ROW(...) CRC_64(0, __VA_ARGS__), CRC_64(64, __VA_ARGS__), CRC_64(128, __VA_ARGS__), CRC_64(192, __VA_ARGS__)

#endif
