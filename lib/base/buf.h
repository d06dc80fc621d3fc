/* buf.h - an owned, growing run of bytes with a maximum.
 *
 * Owns:       its allocation.
 * Invariants: size <= capacity <= limit.
 * Fails by:   -ENOBUFS past the limit, -ENOMEM when memory is refused; the contents stay as they were. */
#ifndef KETCH_LIB_BASE_BUF_H
#define KETCH_LIB_BASE_BUF_H

#include "lib/base/bytes.h"
#include "lib/base/check.h"

struct buf {
    uint8_t *data;
    size_t size;
    size_t capacity;
    size_t limit; /* bytes */
};

void buf_init(struct buf *buf, size_t limit);
/* Frees the allocation; the buffer is empty and usable afterwards. */
void buf_deinit(struct buf *buf);
/* Room for `more` bytes after size. */
MUST_USE int buf_reserve(struct buf *buf, size_t more);
MUST_USE int buf_append(struct buf *buf, const void *from, size_t size);
MUST_USE int buf_append_bytes(struct buf *buf, struct bytes bytes);
MUST_USE int buf_append_text(struct buf *buf, const char *text);
MUST_USE int buf_printf(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
/* Drops the first `size` bytes. */
void buf_consume(struct buf *buf, size_t size);

static inline void buf_clear(struct buf *buf)
{
    buf->size = 0;
}

static inline struct bytes buf_bytes(const struct buf *buf)
{
    return bytes_make(buf->data, buf->size);
}

#endif
