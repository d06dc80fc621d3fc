/* request.h - the request parser: bytes to an argument vector, RESP arrays of bulks and inline commands.
 *
 * Owns:       the argument array of a request, while it had to grow past what the caller lent.
 * Threads:    any; no globals, no I/O.
 * Invariants: arguments point into the input, nothing is copied. Parsing goes on where it stopped: an unfinished
 *             request costs each byte once, whatever the pieces it arrives in.
 * Fails by:   RESP_BAD with the text that Redis 7 sends (without "-ERR ").
 * Limits:     struct resp_limits. */
#ifndef KETCH_LIB_RESP_REQUEST_H
#define KETCH_LIB_RESP_REQUEST_H

#include "lib/base/bytes.h"
#include "lib/base/check.h"

enum resp_status { RESP_OK, RESP_MORE, RESP_BAD };

struct resp_limits {
    int64_t bulk_max;      /* bytes of one argument (proto-max-bulk-len) */
    int64_t multibulk_max; /* arguments of one request: 1,048,576 (Redis: INT_MAX since 7; the cap is ours), 10 before
                              authentication */
    size_t inline_max;     /* bytes of an inline request or a length line: 65,536 */
    bool authenticated; /* when false, what is over a maximum is "unauthenticated multibulk length" or "unauthenticated
                         * bulk length" (Redis then allows 10 and 16,384) */
};

struct resp_request {
    /* Valid after RESP_OK, until the input moves or the next call. argc may be 0 (an empty line, "*0"): skip it. */
    struct bytes *argv;
    uint32_t argc;
    size_t consumed;   /* input bytes this request took; after RESP_BAD those before the fault */
    size_t needed;     /* after RESP_MORE: total input bytes below which another call is pointless; at least size + 1 */
    const char *error; /* after RESP_BAD, e.g. "Protocol error: invalid bulk length"; lives until the next call */
    size_t large_bulk; /* after RESP_MORE inside a bulk of 32 KB or more: its length, else 0 */

    /* Private: where an unfinished request stands. Phase 0 between requests. */
    uint8_t phase;
    bool from_lent;    /* argv is the lent array */
    uint32_t capacity; /* entries of argv */
    uint32_t lent_capacity, owned_capacity;
    struct bytes *lent;
    struct bytes *owned; /* the array that requests grew into */
    int64_t remaining;   /* arguments still to come */
    int64_t bulk;        /* length of the bulk being read, -1 when a length line is next */
    size_t offset;       /* where parsing goes on, from the start of the input */
    size_t scanned;      /* input bytes already searched for the end of the line at offset */
    uint8_t *unquoted;   /* storage of an inline request's arguments when quotes or escapes changed them */
    char error_text[48];
};

/* `lent` is an argument array the parser may use before it allocates its own (may be NULL with 0). */
void resp_request_init(struct resp_request *request, struct bytes *lent, uint32_t lent_capacity);
void resp_request_deinit(struct resp_request *request);

/* Another array to lend, before any call of resp_request_parse: what batches use to lay the arguments of many requests
 * side by side. It is used within calls only: what an unfinished request holds moves to the parser's own array, so the
 * same lent array can serve many connections. A request whose argv is the lent array stays valid past the next call, as
 * long as the input stays; one that needed other storage (more arguments, inline quotes, finished in a later call) has
 * another argv and does not. */
void resp_request_lend(struct resp_request *request, struct bytes *lent, uint32_t lent_capacity);

/* Parses one request from the start of the input. After RESP_MORE call again with the same bytes and more behind them
 * (they may have moved). After RESP_OK the next call begins a new request. */
MUST_USE enum resp_status resp_request_parse(struct resp_request *request, struct bytes input,
                                             const struct resp_limits *limits);

/* True between RESP_MORE and the request's end. */
bool resp_request_unfinished(const struct resp_request *request);

/* Splits a line as Redis splits inline commands and redis.conf lines ("..." with \n \r \t \b \a \xHH, '...' with \').
 * Fills argv (capacity entries) with bytes that point into `storage`, which has at least line.size bytes. Returns the
 * count, or -EINVAL for unbalanced quotes, -E2BIG for too many. */
MUST_USE int resp_split_line(struct bytes line, uint8_t *storage, struct bytes *argv, size_t capacity);

#endif
