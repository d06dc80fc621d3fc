#include "lib/base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool number_parse_u64(struct bytes text, uint64_t *value)
{
    if (text.size == 0 || text.size > 20)
        return false;
    if (text.at[0] == '0') {
        *value = 0;
        return text.size == 1;
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned digit = (unsigned)text.at[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(sum, (uint64_t)10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)digit, &sum))
            return false;
    }
    *value = sum;
    return true;
}

bool number_parse_i64(struct bytes text, int64_t *value)
{
    bool negative = text.size > 0 && text.at[0] == '-';
    uint64_t magnitude;
    if (negative)
        text = bytes_make(text.at + 1, text.size - 1);
    if (!number_parse_u64(text, &magnitude))
        return false;
    if (negative) {
        if (magnitude == 0 || magnitude > (uint64_t)INT64_MAX + 1)
            return false;
        *value = (int64_t)(0 - magnitude);
        return true;
    }
    if (magnitude > INT64_MAX)
        return false;
    *value = (int64_t)magnitude;
    return true;
}

/* A terminated copy for strtod and friends: less than `capacity` bytes, none of them 0, no leading space. */
static bool number_text(struct bytes text, char *to, size_t capacity)
{
    if (text.size == 0 || text.size >= capacity || memchr(text.at, 0, text.size))
        return false;
    if (text.at[0] == ' ' || (text.at[0] >= '\t' && text.at[0] <= '\r'))
        return false;
    memcpy(to, text.at, text.size);
    to[text.size] = '\0';
    return true;
}

bool number_parse_double(struct bytes text, double *value)
{
    char copy[256], *end;
    if (!number_text(text, copy, sizeof(copy)))
        return false;
    errno = 0;
    double parsed = strtod(copy, &end);
    if (*end != '\0' || isnan(parsed))
        return false;
    if (errno == ERANGE && (isinf(parsed) || parsed == 0))
        return false;
    *value = parsed;
    return true;
}

bool number_parse_long_double(struct bytes text, long double *value)
{
    /* Long enough to read back what number_format_long_double wrote. */
    char copy[NUMBER_DOUBLE_TEXT], *end;
    if (!number_text(text, copy, sizeof(copy)))
        return false;
    errno = 0;
    long double parsed = strtold(copy, &end);
    if (*end != '\0' || isnan(parsed))
        return false;
    if (errno == ERANGE && (isinf(parsed) || parsed == 0))
        return false;
    *value = parsed;
    return true;
}

size_t number_format_u64(char *to, uint64_t value)
{
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    /* Lengths and small counters are most of what is written: no loop, no copy. */
    if (value < 10) {
        to[0] = (char)('0' + value);
        return 1;
    }
    if (value < 100) {
        memcpy(to, pairs + value * 2, 2);
        return 2;
    }
    if (value < 10000) {
        uint64_t high = value / 100, low = value % 100;
        size_t size = number_format_u64(to, high);
        memcpy(to + size, pairs + low * 2, 2);
        return size + 2;
    }
    char digits[20];
    size_t at = sizeof(digits);
    while (value >= 100) {
        at -= 2;
        memcpy(digits + at, pairs + (value % 100) * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(digits + at, pairs + value * 2, 2);
    } else {
        digits[--at] = (char)('0' + value);
    }
    memcpy(to, digits + at, sizeof(digits) - at);
    return sizeof(digits) - at;
}

size_t number_format_i64(char *to, int64_t value)
{
    if (value >= 0)
        return number_format_u64(to, (uint64_t)value);
    to[0] = '-';
    return 1 + number_format_u64(to + 1, 0 - (uint64_t)value);
}

size_t number_format_double(char *to, double value)
{
    if (isnan(value))
        return (size_t)snprintf(to, 40, "nan");
    if (isinf(value))
        return (size_t)snprintf(to, 40, value > 0 ? "inf" : "-inf");
    /* A double that is a whole number in the exact range prints as one. */
    if (value > -9007199254740992.0 && value < 9007199254740992.0 && value == (double)(int64_t)value &&
        !(value == 0 && signbit(value))) {
        size_t size = number_format_i64(to, (int64_t)value);
        to[size] = '\0';
        return size;
    }
    return (size_t)snprintf(to, 40, "%.17g", value);
}

size_t number_format_long_double(char *to, long double value)
{
    if (isinf(value))
        return (size_t)snprintf(to, 40, value > 0 ? "inf" : "-inf");
    int length = snprintf(to, NUMBER_DOUBLE_TEXT, "%.17Lf", value);
    if (memchr(to, '.', (size_t)length)) {
        while (to[length - 1] == '0')
            length--;
        if (to[length - 1] == '.')
            length--;
        to[length] = '\0';
    }
    if (length == 2 && to[0] == '-' && to[1] == '0') {
        to[0] = '0';
        to[1] = '\0';
        length = 1;
    }
    return (size_t)length;
}

bool number_parse_memory(struct bytes text, uint64_t *value)
{
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {{"", 1},        {"b", 1},        {"k", 1000},       {"kb", 1024},
                 {"m", 1000000}, {"mb", 1 << 20}, {"g", 1000000000}, {"gb", 1 << 30}};
    size_t digits = 0;
    while (digits < text.size && text.at[digits] >= '0' && text.at[digits] <= '9')
        digits++;
    /* Leading zeros are taken here, as strtoull takes them. */
    size_t zeros = 0;
    while (zeros + 1 < digits && text.at[zeros] == '0')
        zeros++;
    uint64_t number;
    if (!number_parse_u64(bytes_make(text.at + zeros, digits - zeros), &number))
        return false;
    struct bytes unit = bytes_make(text.at + digits, text.size - digits);
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (bytes_is(unit, units[i].unit))
            return !__builtin_mul_overflow(number, units[i].factor, value);
    return false;
}
