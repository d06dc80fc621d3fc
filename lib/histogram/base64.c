#include "lib/histogram/base64.h"

#include <errno.h>

static const char alphabet[64] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int digit_of(uint8_t c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int base64_encode(struct bytes from, struct buf *to)
{
    if (from.size == 0)
        return 0;
    int status = buf_reserve(to, (from.size + 2) / 3 * 4);
    if (status < 0)
        return status;
    uint8_t *out = to->data + to->size;
    for (size_t i = 0; i < from.size; i += 3) {
        size_t there = from.size - i < 3 ? from.size - i : 3;
        unsigned group = (unsigned)from.at[i] << 16;
        if (there > 1)
            group |= (unsigned)from.at[i + 1] << 8;
        if (there > 2)
            group |= from.at[i + 2];
        *out++ = (uint8_t)alphabet[group >> 18];
        *out++ = (uint8_t)alphabet[group >> 12 & 63];
        *out++ = there > 1 ? (uint8_t)alphabet[group >> 6 & 63] : '=';
        *out++ = there > 2 ? (uint8_t)alphabet[group & 63] : '=';
    }
    to->size = (size_t)(out - to->data);
    return 0;
}

int base64_decode(struct bytes text, struct buf *to)
{
    if (text.size % 4 != 0)
        return -EBADMSG;
    if (text.size == 0)
        return 0;
    int status = buf_reserve(to, text.size / 4 * 3);
    if (status < 0)
        return status;
    uint8_t *out = to->data + to->size;
    for (size_t i = 0; i < text.size; i += 4) {
        bool last = i + 4 == text.size;
        size_t padding = last && text.at[i + 3] == '=' ? 1 + (text.at[i + 2] == '=') : 0;
        unsigned group = 0;
        for (size_t j = 0; j < 4; j++) {
            int digit = j >= 4 - padding ? 0 : digit_of(text.at[i + j]);
            if (digit < 0)
                return -EBADMSG;
            group = group << 6 | (unsigned)digit;
        }
        /* Bits behind the last byte must be 0: one text for one run of bytes. */
        if (group & ((1u << (8 * padding)) - 1))
            return -EBADMSG;
        *out++ = (uint8_t)(group >> 16);
        if (padding < 2)
            *out++ = (uint8_t)(group >> 8);
        if (padding < 1)
            *out++ = (uint8_t)group;
    }
    to->size = (size_t)(out - to->data);
    return 0;
}
