/* Splitting of inline commands and configuration lines. */
#include "lib/base/mem.h"
#include "lib/resp/request.h"

#include <errno.h>

struct splitter {
    struct bytes line;
    size_t at;
    uint8_t *out;
};

/* The byte `ahead` of the current one; 0 past the end, as in a terminated text. */
static uint8_t peek(const struct splitter *splitter, size_t ahead)
{
    return splitter->at + ahead < splitter->line.size ? splitter->line.at[splitter->at + ahead] : 0;
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void escape(struct splitter *splitter)
{
    uint8_t c = peek(splitter, 1);
    int high = hex_digit(peek(splitter, 2)), low = high < 0 ? -1 : hex_digit(peek(splitter, 3));
    if (c == 'x' && low >= 0) {
        *splitter->out++ = (uint8_t)(high * 16 + low);
        splitter->at += 4;
        return;
    }
    switch (c) {
    case 'n':
        c = '\n';
        break;
    case 'r':
        c = '\r';
        break;
    case 't':
        c = '\t';
        break;
    case 'b':
        c = '\b';
        break;
    case 'a':
        c = '\a';
        break;
    default:
        break;
    }
    *splitter->out++ = c;
    splitter->at += 2;
}

/* From behind an opening quote to behind the closing one, which must end the argument. */
static bool quoted(struct splitter *splitter, uint8_t quote)
{
    for (;;) {
        uint8_t c = peek(splitter, 0), next = peek(splitter, 1);
        if (c == 0)
            return false;
        if (c == quote) {
            splitter->at++;
            return next == 0 || is_blank(next);
        }
        if (c == '\\' && quote == '"' && next != 0) {
            escape(splitter);
        } else if (c == '\\' && quote == '\'' && next == '\'') {
            *splitter->out++ = '\'';
            splitter->at += 2;
        } else {
            *splitter->out++ = c;
            splitter->at++;
        }
    }
}

static bool argument(struct splitter *splitter)
{
    for (;;) {
        uint8_t c = peek(splitter, 0);
        switch (c) {
        case 0:
        case ' ':
        case '\t':
        case '\n':
        case '\r':
            return true;
        case '"':
        case '\'':
            splitter->at++;
            return quoted(splitter, c);
        default:
            *splitter->out++ = c;
            splitter->at++;
        }
    }
}

int resp_split_line(struct bytes line, uint8_t *storage, struct bytes *argv, size_t capacity)
{
    struct splitter splitter = {.line = line, .out = storage};
    int count = 0;
    for (;;) {
        while (is_blank(peek(&splitter, 0)))
            splitter.at++;
        if (peek(&splitter, 0) == 0)
            return count;
        uint8_t *start = splitter.out;
        if (!argument(&splitter))
            return -EINVAL;
        if ((size_t)count == capacity)
            return -E2BIG;
        argv[count++] = bytes_make(start, (size_t)(splitter.out - start));
    }
}
