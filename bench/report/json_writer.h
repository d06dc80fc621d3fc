/* json_writer.h - JSON, one member a line, indented with tabs; strings escaped, no number that is not one.
 *
 * Owns:       nothing; the stream is the caller's.
 * Threads:    one.
 * Fails by:   the stream's error indicator (ferror).
 * Limits:     JSON_DEPTH_MAX levels. */
#ifndef KETCH_BENCH_REPORT_JSON_WRITER_H
#define KETCH_BENCH_REPORT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 16

struct json_writer {
    FILE *to;
    unsigned depth;
    bool filled[JSON_DEPTH_MAX]; /* the level has a member */
    char close[JSON_DEPTH_MAX];
};

void json_init(struct json_writer *json, FILE *to);

/* name is NULL for elements of an array and for the outermost value. */
void json_open_object(struct json_writer *json, const char *name);
void json_open_array(struct json_writer *json, const char *name);
void json_close(struct json_writer *json);

void json_text(struct json_writer *json, const char *name, const char *text); /* NULL: null */
void json_integer(struct json_writer *json, const char *name, int64_t value);
/* Not finite: null. */
void json_real(struct json_writer *json, const char *name, double value, int digits);
/* The text as it is: a number already printed. */
void json_raw(struct json_writer *json, const char *name, const char *text);
void json_boolean(struct json_writer *json, const char *name, bool value);

#endif
