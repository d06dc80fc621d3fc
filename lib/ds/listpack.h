/* listpack.h - short values one after another in one run of bytes, laid out as RDB files hold them.
 *
 *   +-------------+---------------+----------+-----+----------+------+
 *   | total bytes | element count | element  | ... | element  | 0xFF |
 *   | 4, LE       | 2, LE         |          |     |          |      |
 *   +-------------+---------------+----------+-----+----------+------+
 *
 *   element = encoding and data | its size once more, to walk backwards: 7 bits a byte, 1 to 5 bytes
 *   0xxxxxxx 7-bit unsigned       110xxxxx +1 13-bit integer     F1 F2 F3 F4 integer of 2, 3, 4, 8 bytes
 *   10xxxxxx string up to 63      1110xxxx +1 string up to 4095  F0 +4 longer string
 *
 * What reads as a canonical int64_t is kept as an integer. A count of 65,535 means "count them".
 *
 * A place is the offset of an element, 0 for none. Every change makes void the places at and behind it, and all
 * borrowed bytes.
 *
 * Owns:       one allocation of lib/base/mem.h; its room is what the allocator says is usable, so the handle is a
 *             pointer.
 * Threads:    one at a time.
 * Fails by:   false when memory is refused or the limit would be passed; nothing changed. Never aborts.
 * Limits:     LISTPACK_BYTES_MAX in all. Values given must not lie inside the listpack that is changed. */
#ifndef KETCH_LIB_DS_LISTPACK_H
#define KETCH_LIB_DS_LISTPACK_H

#include "lib/base/bytes.h"
#include "lib/base/check.h"
#include "lib/base/number.h"

#define LISTPACK_BYTES_MAX (1u << 30)
#define LISTPACK_BYTES_EMPTY 7u
#define LISTPACK_END UINT32_MAX /* the place behind the last element, for insertion */

struct listpack {
    uint8_t *at;
};

struct listpack_value {
    bool is_integer;
    int64_t integer;
    struct bytes text; /* of a string; borrowed from the listpack */
};

/* An empty one. False when memory is refused. */
MUST_USE bool listpack_init(struct listpack *lp);
void listpack_deinit(struct listpack *lp);

/* A copy of bytes that listpack_valid accepted. */
MUST_USE bool listpack_init_copy(struct listpack *lp, struct bytes bytes);

/* Whether the bytes are a listpack and nothing else. Never reads outside them. Without `deep` only the frame is looked
 * at: enough for checksummed bytes that we wrote ourselves, never for a client's. */
bool listpack_valid(struct bytes bytes, bool deep);

/* Everything, as it goes into a snapshot. */
struct bytes listpack_bytes(const struct listpack *lp);

/* Size in bytes, and what it holds of the allocator. */
uint32_t listpack_size(const struct listpack *lp);
size_t listpack_memory(const struct listpack *lp);

/* Elements. O(1) up to 65,534. */
uint32_t listpack_length(const struct listpack *lp);

/* Bytes that an element of this value adds. */
size_t listpack_size_of(struct bytes value);

/* ---- reading --------------------------------------------------------------------------------------------------------
 */

uint32_t listpack_first(const struct listpack *lp);
uint32_t listpack_last(const struct listpack *lp);
uint32_t listpack_next(const struct listpack *lp, uint32_t place);
uint32_t listpack_prev(const struct listpack *lp, uint32_t place);

/* The element at an index, counted from the end when negative (-1 is the last); from the nearer end. */
uint32_t listpack_seek(const struct listpack *lp, int64_t index);

void listpack_get(const struct listpack *lp, uint32_t place, struct listpack_value *value);

/* The element as text; an integer is printed into `digits`. */
struct bytes listpack_text(const struct listpack *lp, uint32_t place, char digits[NUMBER_I64_TEXT]);

/* Whether the element has this text. */
bool listpack_equals(const struct listpack *lp, uint32_t place, struct bytes value);

/* The first element with this text at or after `place` (0: none), leaving `skip` elements out between comparisons:
 * 1 finds fields of field-value pairs. */
uint32_t listpack_find(const struct listpack *lp, uint32_t place, struct bytes value, uint32_t skip);

/* ---- changing -------------------------------------------------------------------------------------------------------
 */

/* Before the element at `place`, or at LISTPACK_END. The new element then is at `place`, which for LISTPACK_END was
 * listpack_size() - 1. */
MUST_USE bool listpack_insert(struct listpack *lp, uint32_t place, struct bytes value);
MUST_USE bool listpack_insert_after(struct listpack *lp, uint32_t place, struct bytes value);
MUST_USE bool listpack_append(struct listpack *lp, struct bytes value);
MUST_USE bool listpack_append_integer(struct listpack *lp, int64_t value);
MUST_USE bool listpack_prepend(struct listpack *lp, struct bytes value);

/* The element stays at `place`. */
MUST_USE bool listpack_replace(struct listpack *lp, uint32_t place, struct bytes value);
MUST_USE bool listpack_replace_integer(struct listpack *lp, uint32_t place, int64_t value);

/* Removes `count` elements from `place` on (fewer when there are no more). The next one then is at `place`; what is
 * returned is `place`, or 0 when none follows. Memory is given back when most of it is unused. */
uint32_t listpack_delete(struct listpack *lp, uint32_t place, uint32_t count);

/* The same by index (negative from the end); returns how many went. */
uint32_t listpack_delete_range(struct listpack *lp, int64_t index, uint32_t count);

/* Adds all elements of `other` behind the last, or before the first. */
MUST_USE bool listpack_append_all(struct listpack *lp, const struct listpack *other);

/* Moves the elements from `place` on into a new listpack. */
MUST_USE bool listpack_split(struct listpack *lp, uint32_t place, struct listpack *tail);

#endif
