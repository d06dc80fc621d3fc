/* request_template.h - a request of which only the key's digits, the expiry and the value change: compiled once, then
 * written with a few copies.
 *
 * Owns:       its literal texts. A batch owns nothing: it writes into room that the caller lends.
 * Threads:    templates are read-only after the last template_add; a batch belongs to one thread.
 * Invariants: a request is written whole or not at all: ask template_fits first.
 * Limits:     REQUEST_PIECES_MAX pieces a batch; values of REFERENCE_BYTES or more are not copied but referenced. */
#ifndef KETCH_BENCH_WORKLOAD_REQUEST_TEMPLATE_H
#define KETCH_BENCH_WORKLOAD_REQUEST_TEMPLATE_H

#include "lib/base/buf.h"

#include <sys/uio.h>

#define REQUEST_PIECES_MAX 32
#define REFERENCE_BYTES 4096
#define KEY_DIGITS_MAX 20
#define KEY_PREFIX_MAX 229 /* with the digits, a key of at most 249 bytes */
#define TEMPLATE_PARTS_MAX 8

/* Requests being gathered for one send. */
struct request_batch {
    uint8_t *at, *end; /* where copying goes on, and where the room ends */
    uint8_t *open;     /* copied bytes from here to `at` are not yet a piece */
    unsigned count;
    struct iovec pieces[REQUEST_PIECES_MAX];
};

void request_batch_init(struct request_batch *batch, uint8_t *room, size_t size);
/* Makes what was copied last a piece: call before sending. */
void request_batch_close(struct request_batch *batch);

enum template_kind { TEMPLATE_LITERAL, TEMPLATE_KEY, TEMPLATE_EXPIRY, TEMPLATE_VALUE };

struct template_part {
    enum template_kind kind;
    struct bytes text;                      /* of a literal */
    struct bytes heads[KEY_DIGITS_MAX + 1]; /* of a key, by its number of digits: all that stands before the digits */
};

struct request_template {
    struct template_part parts[TEMPLATE_PARTS_MAX];
    unsigned part_count;
    size_t copied_max;   /* most bytes a request copies into the batch's room */
    unsigned pieces_max; /* most pieces it adds */
};

/* What changes between two requests of a template. */
struct request_values {
    uint64_t key;
    uint32_t expiry;
    struct bytes value;
};

/* Starts a request of `arguments` arguments; then one template_add_* for each, in order, and template_finish. Values
 * handed to template_write must have `value_size` bytes. */
void template_init(struct request_template *template, unsigned arguments);
void template_add_literal(struct request_template *template, struct bytes argument);
void template_add_key(struct request_template *template, struct bytes prefix);
void template_add_expiry(struct request_template *template);
/* A constant value is compiled in when it is small; it must live as long as the template when it is not. */
void template_add_value(struct request_template *template, size_t value_size, struct bytes constant);
void template_deinit(struct request_template *template);

static inline bool template_fits(const struct request_template *template, const struct request_batch *batch)
{
    return (size_t)(batch->end - batch->at) >= template->copied_max &&
           batch->count + template->pieces_max <= REQUEST_PIECES_MAX;
}

/* Writes one request; returns its size in bytes. */
size_t template_write(const struct request_template *template, const struct request_values *values,
                      struct request_batch *batch);

#endif
