#include "bench/report/json_writer.h"

#include "lib/base/check.h"

#include <math.h>

void json_init(struct json_writer *json, FILE *to)
{
    *json = (struct json_writer){.to = to};
}

/* Length of the well-formed UTF-8 sequence at `at`, 0 if there is none. */
static unsigned utf8_size(const unsigned char *at)
{
    unsigned size = at[0] < 0x80 ? 1 : at[0] >= 0xc2 && at[0] < 0xe0 ? 2 : at[0] < 0xf0 && at[0] >= 0xe0 ? 3 : 4;
    if (size == 4 && (at[0] < 0xf0 || at[0] > 0xf4))
        return 0;
    for (unsigned i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if (size == 3 && ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0)))
        return 0;
    if (size == 4 && ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] >= 0x90)))
        return 0;
    return size;
}

static void quoted(struct json_writer *json, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    fputc('"', json->to);
    while (*at) {
        unsigned size = utf8_size(at);
        if (*at == '"' || *at == '\\')
            fprintf(json->to, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f || size == 0)
            fprintf(json->to, "\\u%04x", *at); /* a stray byte shows as the character of its number */
        else
            fwrite(at, 1, size, json->to);
        at += size > 0 ? size : 1;
    }
    fputc('"', json->to);
}

static void member_begin(struct json_writer *json, const char *name)
{
    if (json->depth > 0) {
        bool *filled = &json->filled[json->depth - 1];
        fputs(*filled ? ",\n" : "\n", json->to);
        *filled = true;
        for (unsigned i = 0; i < json->depth; i++)
            fputc('\t', json->to);
    }
    if (name) {
        quoted(json, name);
        fputs(": ", json->to);
    }
}

static void level_open(struct json_writer *json, const char *name, char open, char close)
{
    CHECK(json->depth < JSON_DEPTH_MAX);
    member_begin(json, name);
    fputc(open, json->to);
    json->filled[json->depth] = false;
    json->close[json->depth++] = close;
}

void json_open_object(struct json_writer *json, const char *name)
{
    level_open(json, name, '{', '}');
}

void json_open_array(struct json_writer *json, const char *name)
{
    level_open(json, name, '[', ']');
}

void json_close(struct json_writer *json)
{
    CHECK(json->depth > 0);
    json->depth--;
    if (json->filled[json->depth]) {
        fputc('\n', json->to);
        for (unsigned i = 0; i < json->depth; i++)
            fputc('\t', json->to);
    }
    fputc(json->close[json->depth], json->to);
    if (json->depth == 0)
        fputc('\n', json->to);
}

void json_text(struct json_writer *json, const char *name, const char *text)
{
    member_begin(json, name);
    if (text)
        quoted(json, text);
    else
        fputs("null", json->to);
}

void json_integer(struct json_writer *json, const char *name, int64_t value)
{
    member_begin(json, name);
    fprintf(json->to, "%lld", (long long)value);
}

void json_real(struct json_writer *json, const char *name, double value, int digits)
{
    member_begin(json, name);
    if (isfinite(value))
        fprintf(json->to, "%.*f", digits, value);
    else
        fputs("null", json->to);
}

void json_raw(struct json_writer *json, const char *name, const char *text)
{
    member_begin(json, name);
    fputs(text, json->to);
}

void json_boolean(struct json_writer *json, const char *name, bool value)
{
    json_raw(json, name, value ? "true" : "false");
}
