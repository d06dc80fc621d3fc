#include "lib/hash/crc64.h"

#include "lib/hash/crc_table.h"

/* table[k][b]: what byte b does to the CRC when k bytes follow it. */
static const uint64_t table[8][256] = {
    {CRC_ROW(0x7ad870c830358979, 0xf5b0e190606b12f2, 0xc038e5739841b68f, 0xab28ecb46814fe75, 0x7d08ff3b88be6f81,
             0xfa11fe77117cdf02, 0xdf7adabd7a6e2d6f, 0x95ac9329ac4bc9b5)},
    {CRC_ROW(0x89e99ffd73bddf69, 0x388a19a9bfec2db9, 0x711433537fd85b72, 0xe22866a6ffb0b6e4, 0xef09eb1ea7f6fea3,
             0xf54af06e177a6e2d, 0xc1ccc68f76634f31, 0xa8c0ab4db4510d09)},
    {CRC_ROW(0xf4125129ce4038be, 0xc37d8400c417e217, 0xada22e52d0b85745, 0x701d7af6f9e73de1, 0xe03af5edf3ce7bc2,
             0xeb2ccd88bf0b64ef, 0xfd00bd4226815ab5, 0xd1585cd715952601)},
    {CRC_ROW(0x8ce168638c796306, 0x329bf69440655567, 0x6537ed2880caaace, 0xca6fda510195559c, 0xbf8692f15bbd3853,
             0x545403b1efede3cd, 0xa8a80763dfdbc79a, 0x7a092894e7201c5f)},
    {CRC_ROW(0x3504e58b9ba6dd1e, 0x6a09cb17374dba3c, 0xd413962e6e9b7478, 0x837e0a0f85a17b9b, 0x2da5324c53d5645d,
             0x5b4a6498a7aac8ba, 0xb694c9314f559174, 0x4670b431c63cb183)},
    {CRC_ROW(0xe39d1389931b9354, 0xec6301407ea0b5c3, 0xf39f24d3a5d6f8ed, 0xcc676ff4133a62b1, 0xb397f9bb7ee35609,
             0x4c76d525a5513f79, 0x98edaa4b4aa27ef2, 0x1a8272c5cdd36e8f)},
    {CRC_ROW(0x62a95de6e302eff2, 0xc552bbcdc605dfe4, 0xa1fc51c8d49c2ca3, 0x68a185c2f1afca2d, 0xd1430b85e35f945a,
             0x89df31589e28bbdf, 0x38e744e264c6e4d5, 0x71ce89c4c98dc9aa)},
    {CRC_ROW(0x381d0015c96f4444, 0x703a002b92de8888, 0xe074005725bd1110, 0xebb126fd13edb14b, 0xfc3b6ba97f4cf1fd,
             0xd32ff101a60e7091, 0x8d06c450148b7249, 0x3154aef3718177f9)},
};

uint64_t crc64(uint64_t crc, struct bytes bytes)
{
    const uint8_t *at = bytes.at;
    size_t left = bytes.size;
    for (; left >= 8; at += 8, left -= 8) {
        uint64_t mixed = 0;
        for (unsigned i = 0; i < 8; i++)
            mixed ^= table[7 - i][at[i] ^ (uint8_t)(crc >> (8 * i))];
        crc = mixed;
    }
    for (; left > 0; at++, left--)
        crc = (crc >> 8) ^ table[0][(uint8_t)crc ^ *at];
    return crc;
}
