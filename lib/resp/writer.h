/* writer.h - the reply writer: RESP2 and RESP3 into room that the caller's sink provides.
 *
 * Owns:       nothing; the sink owns the memory.
 * Threads:    one writer, one thread.
 * Invariants: at <= end. Where RESP2 lacks a type, the RESP2 form that Redis sends is written.
 * Fails by:   when the sink has no room (a client over its output limit), `failed` is set and the rest is dropped; the
 *             owner looks at it once per batch and closes the client. */
#ifndef KETCH_LIB_RESP_WRITER_H
#define KETCH_LIB_RESP_WRITER_H

#include "lib/base/bytes.h"
#include "lib/base/check.h"
#include "lib/base/number.h"

struct resp_writer {
    uint8_t *at;  /* next byte to write */
    uint8_t *end; /* first byte past the room */
    /* Makes at least `size` contiguous bytes of room at `at`; false when there is none to be had. */
    bool (*grow)(struct resp_writer *writer, size_t size);
    /* Takes bytes that stay where they are until they are sent, and a hold on what owns them; false when there is no
     * room. NULL: this sink copies everything. */
    bool (*refer)(struct resp_writer *writer, struct bytes bytes, void *owner);
    uint8_t protocol; /* 2 or 3 */
    bool failed;
    bool muted; /* CLIENT REPLY OFF or SKIP: everything is dropped */
};

/* Room for `size` bytes at writer->at, or false (nothing may be written then). */
static inline bool resp_room(struct resp_writer *writer, size_t size)
{
    if (LIKELY((size_t)(writer->end - writer->at) >= size && !writer->muted))
        return true;
    if (writer->muted || writer->failed)
        return false;
    if (writer->grow(writer, size))
        return true;
    writer->failed = true;
    writer->end = writer->at; /* a shorter reply behind the gap would be taken for the lost one */
    return false;
}

/* Bytes as they are, already encoded. */
static inline void resp_write_raw(struct resp_writer *writer, struct bytes bytes)
{
    if (resp_room(writer, bytes.size)) {
        if (bytes.size)
            memcpy(writer->at, bytes.at, bytes.size);
        writer->at += bytes.size;
    }
}

#define RESP_WRITE_LITERAL(writer, literal) resp_write_raw((writer), BYTES(literal))

/* One type byte, a decimal number and CRLF: lengths and integers. */
static inline void resp_write_head(struct resp_writer *writer, char type, int64_t number)
{
    if (resp_room(writer, 24)) {
        uint8_t *at = writer->at;
        *at++ = (uint8_t)type;
        at += number_format_i64((char *)at, number);
        *at++ = '\r';
        *at++ = '\n';
        writer->at = at;
    }
}

static inline void resp_write_integer(struct resp_writer *writer, int64_t value)
{
    resp_write_head(writer, ':', value);
}

static inline void resp_write_bulk(struct resp_writer *writer, struct bytes bytes)
{
    if (resp_room(writer, bytes.size + 32)) {
        uint8_t *at = writer->at;
        *at++ = '$';
        at += number_format_u64((char *)at, bytes.size);
        *at++ = '\r';
        *at++ = '\n';
        if (bytes.size)
            memcpy(at, bytes.at, bytes.size);
        at += bytes.size;
        *at++ = '\r';
        *at++ = '\n';
        writer->at = at;
    }
}

/* A bulk whose bytes are sent from where they are, if the sink can: `owner` is what the sink holds on to. */
void resp_write_bulk_referred(struct resp_writer *writer, struct bytes bytes, void *owner);

static inline void resp_write_ok(struct resp_writer *writer)
{
    RESP_WRITE_LITERAL(writer, "+OK\r\n");
}

/* The null of a missing value: $-1 or _. */
static inline void resp_write_null(struct resp_writer *writer)
{
    if (writer->protocol >= 3)
        RESP_WRITE_LITERAL(writer, "_\r\n");
    else
        RESP_WRITE_LITERAL(writer, "$-1\r\n");
}

/* The null of a missing list: *-1 or _. */
void resp_write_null_array(struct resp_writer *writer);
void resp_write_simple(struct resp_writer *writer, const char *text);
void resp_write_text(struct resp_writer *writer, const char *text); /* a bulk of a C string */
void resp_write_array(struct resp_writer *writer, size_t count);
/* A map of `pairs` pairs; in RESP2 an array of twice as many. */
void resp_write_map(struct resp_writer *writer, size_t pairs);
void resp_write_set(struct resp_writer *writer, size_t count);
void resp_write_push(struct resp_writer *writer, size_t count);
/* RESP3 double; RESP2 bulk. */
void resp_write_double(struct resp_writer *writer, double value);
/* RESP3 boolean; RESP2 :1 or :0. */
void resp_write_boolean(struct resp_writer *writer, bool value);
/* RESP3 "=" with the three letters of format ("txt", "mkd"); RESP2 bulk. */
void resp_write_verbatim(struct resp_writer *writer, const char *format, struct bytes text);
/* A bulk holding a decimal number. */
void resp_write_bulk_integer(struct resp_writer *writer, int64_t value);
/* "-" text CRLF; a text without its code word gets none added: write "ERR ..." in full. CR and LF at its end are
 * dropped, inside they become spaces. The formatted one is cut after 1,023 bytes. */
void resp_write_error(struct resp_writer *writer, const char *text);
void resp_write_errorf(struct resp_writer *writer, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
