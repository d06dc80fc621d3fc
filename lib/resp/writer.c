#include "lib/resp/writer.h"

#include <stdarg.h>
#include <stdio.h>

void resp_write_null_array(struct resp_writer *writer)
{
    if (writer->protocol >= 3)
        RESP_WRITE_LITERAL(writer, "_\r\n");
    else
        RESP_WRITE_LITERAL(writer, "*-1\r\n");
}

void resp_write_text(struct resp_writer *writer, const char *text)
{
    resp_write_bulk(writer, bytes_of(text));
}

void resp_write_array(struct resp_writer *writer, size_t count)
{
    resp_write_head(writer, '*', (int64_t)count);
}

void resp_write_map(struct resp_writer *writer, size_t pairs)
{
    if (writer->protocol >= 3)
        resp_write_head(writer, '%', (int64_t)pairs);
    else
        resp_write_head(writer, '*', (int64_t)pairs * 2);
}

void resp_write_set(struct resp_writer *writer, size_t count)
{
    resp_write_head(writer, writer->protocol >= 3 ? '~' : '*', (int64_t)count);
}

void resp_write_push(struct resp_writer *writer, size_t count)
{
    resp_write_head(writer, writer->protocol >= 3 ? '>' : '*', (int64_t)count);
}

void resp_write_double(struct resp_writer *writer, double value)
{
    char text[40];
    struct bytes bytes = bytes_make(text, number_format_double(text, value));
    if (writer->protocol < 3) {
        resp_write_bulk(writer, bytes);
        return;
    }
    if (resp_room(writer, bytes.size + 3)) {
        uint8_t *at = writer->at;
        *at++ = ',';
        memcpy(at, bytes.at, bytes.size);
        at += bytes.size;
        *at++ = '\r';
        *at++ = '\n';
        writer->at = at;
    }
}

void resp_write_boolean(struct resp_writer *writer, bool value)
{
    if (writer->protocol < 3)
        resp_write_integer(writer, value);
    else if (value)
        RESP_WRITE_LITERAL(writer, "#t\r\n");
    else
        RESP_WRITE_LITERAL(writer, "#f\r\n");
}

void resp_write_verbatim(struct resp_writer *writer, const char *format, struct bytes text)
{
    assert(strlen(format) == 3);
    if (writer->protocol < 3) {
        resp_write_bulk(writer, text);
        return;
    }
    if (resp_room(writer, text.size + 32)) {
        uint8_t *at = writer->at;
        *at++ = '=';
        at += number_format_u64((char *)at, text.size + 4);
        *at++ = '\r';
        *at++ = '\n';
        memcpy(at, format, 3);
        at += 3;
        *at++ = ':';
        if (text.size)
            memcpy(at, text.at, text.size);
        at += text.size;
        *at++ = '\r';
        *at++ = '\n';
        writer->at = at;
    }
}

void resp_write_bulk_integer(struct resp_writer *writer, int64_t value)
{
    char text[NUMBER_I64_TEXT];
    resp_write_bulk(writer, bytes_make(text, number_format_i64(text, value)));
}

/* A line of text: line ends at its end are dropped, others become spaces, so that it stays one line. */
static void write_line(struct resp_writer *writer, char type, const char *text, size_t size)
{
    while (size && (text[size - 1] == '\r' || text[size - 1] == '\n'))
        size--;
    if (!resp_room(writer, size + 3))
        return;
    uint8_t *at = writer->at;
    *at++ = (uint8_t)type;
    for (size_t i = 0; i < size; i++)
        *at++ = text[i] == '\r' || text[i] == '\n' ? ' ' : (uint8_t)text[i];
    *at++ = '\r';
    *at++ = '\n';
    writer->at = at;
}

void resp_write_simple(struct resp_writer *writer, const char *text)
{
    write_line(writer, '+', text, strlen(text));
}

void resp_write_error(struct resp_writer *writer, const char *text)
{
    write_line(writer, '-', text, strlen(text));
}

void resp_write_errorf(struct resp_writer *writer, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length < 0)
        length = 0;
    write_line(writer, '-', text, (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

void resp_write_bulk_referred(struct resp_writer *writer, struct bytes bytes, void *owner)
{
    if (!writer->refer || writer->muted) {
        resp_write_bulk(writer, bytes);
        return;
    }
    resp_write_head(writer, '$', (int64_t)bytes.size);
    if (!writer->failed && !writer->refer(writer, bytes, owner)) {
        writer->failed = true;
        writer->end = writer->at;
    }
    RESP_WRITE_LITERAL(writer, "\r\n");
}
