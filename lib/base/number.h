/* number.h - text to numbers and back, as strict as Redis is.
 *
 * Parsers take the whole run of bytes or fail: no spaces, no leading zeros or plus sign for integers. */
#ifndef KETCH_LIB_BASE_NUMBER_H
#define KETCH_LIB_BASE_NUMBER_H

#include "lib/base/bytes.h"
#include "lib/base/check.h"

#define NUMBER_I64_TEXT 21      /* digits, sign and terminator of an int64_t or uint64_t */
#define NUMBER_DOUBLE_TEXT 5200 /* a long double printed with %.17Lf, with room to spare */

/* Decimal int64_t, canonical form only (what printing it again would give). */
MUST_USE bool number_parse_i64(struct bytes text, int64_t *value);
MUST_USE bool number_parse_u64(struct bytes text, uint64_t *value);

/* A finite or infinite double in any form strtod takes, hexadecimal included; NaN, spaces and the empty run fail. */
MUST_USE bool number_parse_double(struct bytes text, double *value);
MUST_USE bool number_parse_long_double(struct bytes text, long double *value);

/* Writes decimal digits without a terminator; returns the length, at most 20. */
size_t number_format_i64(char *to, int64_t value);
size_t number_format_u64(char *to, uint64_t value);

/* Shortest of %.17g that reads back the same, "inf", "-inf", "nan": what a RESP double or ZSCORE shows. Terminated;
 * returns the length, under 40. */
size_t number_format_double(char *to, double value);

/* %.17Lf with trailing zeros dropped, "-0" as "0": what INCRBYFLOAT stores. `to` has NUMBER_DOUBLE_TEXT bytes. */
size_t number_format_long_double(char *to, long double value);

/* "100mb" and the like: b, k/kb, m/mb, g/gb as redis.conf reads them (k = 1000, kb = 1024), no sign; bytes. */
MUST_USE bool number_parse_memory(struct bytes text, uint64_t *value);

#endif
