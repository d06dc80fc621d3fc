/* reply_head.h - the short first line of a reply element: a type byte and a number. Shared by the parser and the walk.
 *
 * Threads:    any; pure. */
#ifndef KETCH_LIB_RESP_REPLY_HEAD_H
#define KETCH_LIB_RESP_REPLY_HEAD_H

#include "lib/resp/reply.h"

#define REPLY_LENGTH_MAX ((int64_t)1 << 40) /* bytes of a bulk, elements of an aggregate */
#define REPLY_LINE_MAX ((size_t)1 << 20)
#define REPLY_HEAD_MAX 32

struct reply_head {
    const uint8_t *body; /* behind the line */
    int64_t number;      /* integer, boolean, bulk length without its verbatim format, elements (two for each pair) */
    uint8_t mark;        /* type byte */
    bool streamed;       /* "?" instead of a length */
    enum resp_type type; /* RESP_NULL for a length of -1; RESP_MAP for an attribute */
};

/* Reads the line at `at`, which is before `end`. RESP_BAD for marks that begin a text line (+ - , and big numbers) too.
 */
MUST_USE enum resp_status reply_head_read(struct reply_head *head, const uint8_t *at, const uint8_t *end);

/* An integer and its CRLF. Behind it in *next. */
MUST_USE static inline enum resp_status reply_number_read(const uint8_t *at, const uint8_t *end, int64_t *number,
                                                          const uint8_t **next)
{
    const uint8_t *p = at;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    uint64_t sum = 0;
    const uint8_t *digits = p;
    for (; p < end; p++) {
        uint64_t digit = (uint64_t)*p - '0';
        if (digit > 9)
            break;
        /* Eighteen digits always fit. */
        if (p - digits < 18)
            sum = sum * 10 + digit;
        else if (__builtin_mul_overflow(sum, (uint64_t)10, &sum) || __builtin_add_overflow(sum, digit, &sum))
            return RESP_BAD;
    }
    if (p - at > REPLY_HEAD_MAX)
        return RESP_BAD;
    if (p == end)
        return RESP_MORE;
    if (*p != '\r' || p == digits || sum > (uint64_t)INT64_MAX + negative)
        return RESP_BAD;
    if (end - p < 2)
        return RESP_MORE;
    if (p[1] != '\n')
        return RESP_BAD;
    *number = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    *next = p + 2;
    return RESP_OK;
}

#endif
