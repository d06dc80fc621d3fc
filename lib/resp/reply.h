/* reply.h - the reply parser, for clients: finds where a reply ends and what it was, without building a tree, and walks
 * a complete reply where one is needed.
 *
 * Threads:    any; no globals, no I/O, no allocation.
 * Invariants: every byte of a reply is looked at once, whatever the pieces it arrives in; bulk contents are skipped.
 * Fails by:   RESP_BAD: not RESP2 or RESP3. The connection cannot be used any more.
 * Limits:     nesting of 32 levels; a bulk of 2^40 bytes; a line of 1 MB. */
#ifndef KETCH_LIB_RESP_REPLY_H
#define KETCH_LIB_RESP_REPLY_H

#include "lib/resp/request.h"

enum resp_type {
    RESP_SIMPLE,   /* + */
    RESP_ERROR,    /* - and ! */
    RESP_INTEGER,  /* : */
    RESP_BULK,     /* $ and = */
    RESP_NULL,     /* $-1, *-1, _ */
    RESP_ARRAY,    /* * */
    RESP_MAP,      /* % */
    RESP_SET,      /* ~ */
    RESP_PUSH,     /* > */
    RESP_DOUBLE,   /* , */
    RESP_BOOLEAN,  /* # */
    RESP_BIGNUMBER /* ( */
};

#define RESP_DEPTH_MAX 32

/* State of one reply being received. All zero at the start of each. */
struct resp_reply {
    enum resp_type type; /* of the outermost element, valid after RESP_OK */
    int64_t number;  /* an integer's or boolean's value, a bulk's length (without the format of a verbatim string), an
                      * aggregate's element count (pairs count as two) */
    size_t consumed; /* bytes of this input that are done with, after RESP_OK those of the reply */
    struct bytes
        text; /* after RESP_OK: the line of +, -, :, a double or a big number, or the bulk, when the whole reply lay in
               * this input; else empty with at == NULL (error lines are always whole: see line) */
    char line[128]; /* of a "-" or "!" reply: its first bytes, terminated, even when it came in pieces */

    /* Private. */
    uint8_t phase;
    uint8_t mark;        /* type byte of the element being read */
    uint32_t depth;      /* aggregates begun and not finished */
    uint32_t attributes; /* bit n: the aggregate at depth n is an attribute */
    uint32_t line_size;
    size_t line_seen; /* bytes of the text line being read */
    int64_t skip;     /* bytes of the bulk being read still to come, its CRLF included */
    int64_t left[RESP_DEPTH_MAX];
};

/* Parses from the start of the input. After RESP_MORE: `consumed` bytes are done with and need not be kept; call again
 * with what follows them. After RESP_OK reset the state for the next. Attributes (|) are skipped. */
MUST_USE enum resp_status resp_reply_parse(struct resp_reply *reply, struct bytes input);

/* Cheaper than zeroing the whole: what the parser reads before it writes. */
static inline void resp_reply_reset(struct resp_reply *reply)
{
    reply->phase = 0;
    reply->depth = 0;
    reply->attributes = 0;
    reply->line_size = 0;
    reply->line[0] = '\0';
}

/* Walks a complete reply element by element, depth first. Verbatim strings come without their format; attributes are
 * stepped over. Streamed elements (lengths of "?"), which no server sends yet, end the walk. */
struct resp_walk {
    struct bytes rest;
};
struct resp_element {
    enum resp_type type;
    int64_t number;    /* integer value or element count (pairs count as two) */
    struct bytes text; /* line or bulk */
    double real;       /* of a double */
};
/* The next element; false at the end or on malformed input. */
bool resp_walk_next(struct resp_walk *walk, struct resp_element *element);
/* Steps over the next element with everything inside it. */
bool resp_walk_skip(struct resp_walk *walk);

#endif
