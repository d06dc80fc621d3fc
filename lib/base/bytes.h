/* bytes.h - a borrowed run of bytes.
 *
 * Owns:       nothing; whoever made the bytes says how long they live.
 * Threads:    any.
 * Invariants: at may be NULL only when size is 0. Contents are binary: no terminator is implied. */
#ifndef KETCH_LIB_BASE_BYTES_H
#define KETCH_LIB_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *at;
    size_t size;
};

/* The bytes of a string literal, without its terminator. */
#define BYTES(literal) ((struct bytes){(const uint8_t *)("" literal), sizeof(literal) - 1})

static inline struct bytes bytes_make(const void *at, size_t size)
{
    return (struct bytes){(const uint8_t *)at, size};
}

/* The bytes of a C string, without its terminator. */
static inline struct bytes bytes_of(const char *text)
{
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

/* memcmp order, the shorter first among equals: negative, 0 or positive. */
int bytes_compare(struct bytes a, struct bytes b);

/* Equal but for the case of ASCII letters. */
bool bytes_equal_nocase(struct bytes a, struct bytes b);

/* The same against a C string. */
bool bytes_is(struct bytes a, const char *text);

/* Glob match as Redis does it: * ? [abc] [^a] [a-z] and backslash. Work is bounded by pattern times text:
 * a hostile pattern cannot take exponential time. */
bool bytes_glob(struct bytes pattern, struct bytes text, bool nocase);

#endif
