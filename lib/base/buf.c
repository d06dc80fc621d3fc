#include "lib/base/buf.h"

#include "lib/base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void buf_init(struct buf *buf, size_t limit)
{
    *buf = (struct buf){.limit = limit};
}

void buf_deinit(struct buf *buf)
{
    mem_free(buf->data);
    buf->data = NULL;
    buf->size = 0;
    buf->capacity = 0;
}

int buf_reserve(struct buf *buf, size_t more)
{
    if (more <= buf->capacity - buf->size)
        return 0;
    if (more > buf->limit - buf->size)
        return -ENOBUFS;
    size_t wanted = buf->size + more;
    size_t doubled = buf->capacity > buf->limit / 2 ? buf->limit : buf->capacity * 2;
    if (doubled > wanted)
        wanted = doubled;
    uint8_t *data = mem_try_realloc(buf->data, wanted);
    if (!data)
        return -ENOMEM;
    buf->data = data;
    buf->capacity = wanted;
    return 0;
}

int buf_append(struct buf *buf, const void *from, size_t size)
{
    int status = buf_reserve(buf, size);
    if (status < 0)
        return status;
    if (size)
        memcpy(buf->data + buf->size, from, size);
    buf->size += size;
    return 0;
}

int buf_append_bytes(struct buf *buf, struct bytes bytes)
{
    return buf_append(buf, bytes.at, bytes.size);
}

int buf_append_text(struct buf *buf, const char *text)
{
    return buf_append(buf, text, strlen(text));
}

int buf_printf(struct buf *buf, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    int status = length < 0 ? -EINVAL : buf_reserve(buf, (size_t)length + 1);
    if (status == 0) {
        vsnprintf((char *)buf->data + buf->size, (size_t)length + 1, format, again);
        buf->size += (size_t)length;
    }
    va_end(again);
    return status;
}

void buf_consume(struct buf *buf, size_t size)
{
    assert(size <= buf->size);
    if (size && size < buf->size)
        memmove(buf->data, buf->data + size, buf->size - size);
    buf->size -= size;
}
