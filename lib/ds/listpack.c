#include "lib/ds/listpack.h"

#include "lib/base/mem.h"

#include <endian.h>

#define HEADER 6u
#define END_BYTE 0xFFu
#define COUNT_UNKNOWN 65535u
#define HEAD_MAX 9u /* encoding byte and the widest integer */
/* Room that deletions leave unused is given back from here on. */
#define SHRINK_FROM 64u

/* ---- the layout -----------------------------------------------------------------------------------------------------
 */

static inline uint32_t load32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return le32toh(value);
}

static inline void store32(uint8_t *at, uint32_t value)
{
    value = htole32(value);
    memcpy(at, &value, sizeof(value));
}

static inline uint32_t load_count(const uint8_t *lp)
{
    return (uint32_t)lp[4] | (uint32_t)lp[5] << 8;
}

static inline void store_count(uint8_t *lp, uint32_t count)
{
    lp[4] = (uint8_t)count;
    lp[5] = (uint8_t)(count >> 8);
}

/* Signed little endian of 2, 3, 4 or 8 bytes. */
static inline int64_t load_signed(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)at[i] << (8 * i);
    unsigned shift = 64 - 8 * size;
    return (int64_t)(value << shift) >> shift;
}

/* Bytes the backward size takes. The bounds are those of RDB writers: 16,383 already takes three. */
static inline uint32_t back_size(uint64_t size)
{
    if (size <= 127)
        return 1;
    if (size < 16383)
        return 2;
    if (size < 2097151)
        return 3;
    return size < 268435455 ? 4 : 5;
}

static void store_back(uint8_t *to, uint64_t size, uint32_t digits)
{
    for (uint32_t i = digits; i-- > 0; size >>= 7)
        to[i] = (uint8_t)((size & 127) | (i > 0 ? 128 : 0));
}

/* Bytes of encoding before the data, for strings; of the whole element's front for integers. */
static inline uint32_t head_size(uint8_t first)
{
    if (first < 0xC0)
        return 1;
    if (first < 0xF0)
        return 2;
    static const uint8_t sizes[16] = {5, 3, 4, 5, 9};
    return sizes[first & 15];
}

/* Encoding and data without the backward size. */
static inline uint64_t front_size(const uint8_t *at)
{
    uint8_t first = *at;
    if (first < 0x80)
        return 1;
    if (first < 0xC0)
        return 1 + (uint64_t)(first & 63);
    if (first < 0xE0)
        return 2;
    if (first < 0xF0)
        return 2 + ((uint64_t)(first & 15) << 8 | at[1]);
    if (first == 0xF0)
        return 5 + (uint64_t)load32(at + 1);
    return head_size(first);
}

static inline uint32_t element_size(const uint8_t *at)
{
    uint64_t front = front_size(at);
    return (uint32_t)front + back_size(front);
}

static void decode(const uint8_t *at, struct listpack_value *value)
{
    uint8_t first = *at;
    value->is_integer = true;
    value->text = bytes_make(NULL, 0);
    value->integer = 0;
    if (first < 0x80) {
        value->integer = first;
    } else if (first < 0xC0 || (first >= 0xE0 && first <= 0xF0)) {
        uint32_t head = head_size(first);
        value->is_integer = false;
        value->text = bytes_make(at + head, (size_t)front_size(at) - head);
    } else if (first < 0xE0) {
        uint32_t bits = (uint32_t)(first & 31) << 8 | at[1];
        value->integer = (int64_t)bits - (bits >= 4096 ? 8192 : 0);
    } else {
        value->integer = load_signed(at + 1, head_size(first) - 1);
    }
}

/* ---- encoding -------------------------------------------------------------------------------------------------------
 */

struct encoded {
    uint8_t head[HEAD_MAX];
    uint32_t head_size;
    struct bytes data;
    uint64_t size; /* all of the element */
};

static void encode_integer(struct encoded *e, int64_t value)
{
    e->data = bytes_make(NULL, 0);
    if (value >= 0 && value <= 127) {
        e->head[0] = (uint8_t)value;
        e->head_size = 1;
    } else if (value >= -4096 && value <= 4095) {
        e->head[0] = (uint8_t)(0xC0 | ((value >> 8) & 31));
        e->head[1] = (uint8_t)value;
        e->head_size = 2;
    } else {
        unsigned kind = value >= INT16_MIN && value <= INT16_MAX   ? 1
                        : value >= -(1 << 23) && value < 1 << 23   ? 2
                        : value >= INT32_MIN && value <= INT32_MAX ? 3
                                                                   : 4;
        e->head[0] = (uint8_t)(0xF0 | kind);
        e->head_size = head_size(e->head[0]);
        for (unsigned i = 1; i < e->head_size; i++)
            e->head[i] = (uint8_t)((uint64_t)value >> (8 * (i - 1)));
    }
    e->size = e->head_size + 1;
}

static void encode(struct encoded *e, struct bytes value)
{
    int64_t integer;
    /* The first byte decides for most texts, before the parser is asked. */
    if (value.size > 0 && value.size < NUMBER_I64_TEXT && value.at[0] <= '9' && number_parse_i64(value, &integer)) {
        encode_integer(e, integer);
        return;
    }
    e->data = value;
    if (value.size < 64) {
        e->head[0] = (uint8_t)(0x80 | value.size);
        e->head_size = 1;
    } else if (value.size < 4096) {
        e->head[0] = (uint8_t)(0xE0 | (value.size >> 8));
        e->head[1] = (uint8_t)value.size;
        e->head_size = 2;
    } else {
        e->head[0] = 0xF0;
        /* Sizes past the limit are refused before anything is stored. */
        store32(e->head + 1, (uint32_t)value.size);
        e->head_size = 5;
    }
    e->size = e->head_size + value.size + back_size(e->head_size + value.size);
}

static void store(uint8_t *to, const struct encoded *e)
{
    uint64_t front = e->head_size + e->data.size;
    memcpy(to, e->head, e->head_size);
    if (e->data.size)
        memcpy(to + e->head_size, e->data.at, e->data.size);
    store_back(to + front, front, back_size(front));
}

/* Replaces `old_size` bytes at `place` by a gap of `new_size`; the count changes by `more`. */
static bool splice(struct listpack *lp, uint32_t place, uint32_t old_size, uint64_t new_size, int64_t more)
{
    uint32_t total = load32(lp->at);
    uint64_t wanted = (uint64_t)total - old_size + new_size;
    if (wanted > total) {
        if (wanted > LISTPACK_BYTES_MAX)
            return false;
        /* The allocator's size classes are the reserve that keeps repeated growth from copying each time. */
        if (wanted > mem_usable(lp->at)) {
            uint8_t *moved = mem_try_realloc(lp->at, wanted);
            if (!moved)
                return false;
            lp->at = moved;
        }
    }
    uint8_t *at = lp->at + place;
    memmove(at + new_size, at + old_size, total - place - old_size);
    store32(lp->at, (uint32_t)wanted);
    uint32_t count = load_count(lp->at);
    if (count != COUNT_UNKNOWN) {
        int64_t after = (int64_t)count + more;
        store_count(lp->at, after < COUNT_UNKNOWN ? (uint32_t)after : COUNT_UNKNOWN);
    }
    return true;
}

static void give_back(struct listpack *lp)
{
    uint32_t total = load32(lp->at);
    size_t usable = mem_usable(lp->at);
    if (usable < SHRINK_FROM || (size_t)total * 2 > usable)
        return;
    uint8_t *moved = mem_try_realloc(lp->at, total);
    if (moved)
        lp->at = moved;
}

static bool put(struct listpack *lp, uint32_t place, uint32_t old_size, const struct encoded *e)
{
    if (e->data.size > LISTPACK_BYTES_MAX || !splice(lp, place, old_size, e->size, old_size ? 0 : 1))
        return false;
    store(lp->at + place, e);
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------
 */

static void make_empty(uint8_t *at)
{
    store32(at, LISTPACK_BYTES_EMPTY);
    store_count(at, 0);
    at[HEADER] = END_BYTE;
}

bool listpack_init(struct listpack *lp)
{
    lp->at = mem_try_alloc(LISTPACK_BYTES_EMPTY);
    if (!lp->at)
        return false;
    make_empty(lp->at);
    return true;
}

bool listpack_init_copy(struct listpack *lp, struct bytes bytes)
{
    lp->at = mem_try_alloc(bytes.size);
    if (!lp->at)
        return false;
    memcpy(lp->at, bytes.at, bytes.size);
    return true;
}

void listpack_deinit(struct listpack *lp)
{
    mem_free(lp->at);
    lp->at = NULL;
}

/* The size of the element at `at` if it lies within `left` bytes and ends as it should, else 0. */
static uint32_t checked_size(const uint8_t *at, size_t left)
{
    uint8_t first = *at;
    uint32_t head = head_size(first);
    if (head == 0 || head > left)
        return 0;
    uint64_t front = front_size(at);
    uint32_t digits = back_size(front);
    if (front + digits > left)
        return 0;
    uint8_t expected[5];
    store_back(expected, front, digits);
    return memcmp(at + front, expected, digits) == 0 ? (uint32_t)front + digits : 0;
}

bool listpack_valid(struct bytes bytes, bool deep)
{
    if (bytes.size < LISTPACK_BYTES_EMPTY || bytes.size > LISTPACK_BYTES_MAX || load32(bytes.at) != bytes.size ||
        bytes.at[bytes.size - 1] != END_BYTE)
        return false;
    if (!deep)
        return true;
    size_t at = HEADER, end = bytes.size - 1;
    uint32_t count = 0;
    while (at < end) {
        uint32_t size = checked_size(bytes.at + at, end - at);
        if (size == 0)
            return false;
        at += size;
        count++;
    }
    uint32_t said = load_count(bytes.at);
    return said == COUNT_UNKNOWN || said == count;
}

struct bytes listpack_bytes(const struct listpack *lp)
{
    return bytes_make(lp->at, load32(lp->at));
}

uint32_t listpack_size(const struct listpack *lp)
{
    return load32(lp->at);
}

size_t listpack_memory(const struct listpack *lp)
{
    return mem_usable(lp->at);
}

uint32_t listpack_length(const struct listpack *lp)
{
    uint32_t count = load_count(lp->at);
    if (LIKELY(count != COUNT_UNKNOWN))
        return count;
    count = 0;
    for (uint32_t at = HEADER, end = load32(lp->at) - 1; at < end; at += element_size(lp->at + at))
        count++;
    return count;
}

size_t listpack_size_of(struct bytes value)
{
    struct encoded e;
    encode(&e, value);
    return e.size;
}

/* ---- reading --------------------------------------------------------------------------------------------------------
 */

uint32_t listpack_first(const struct listpack *lp)
{
    return lp->at[HEADER] == END_BYTE ? 0 : HEADER;
}

/* The start of the element that ends at `end`. */
static uint32_t back_from(const uint8_t *lp, uint32_t end)
{
    uint32_t size = 0, digits = 0;
    uint8_t byte;
    do {
        byte = lp[end - 1 - digits];
        size |= (uint32_t)(byte & 127) << (7 * digits);
        digits++;
    } while ((byte & 128) && digits < 5);
    return end - digits - size;
}

uint32_t listpack_last(const struct listpack *lp)
{
    uint32_t end = load32(lp->at) - 1;
    return end == HEADER ? 0 : back_from(lp->at, end);
}

uint32_t listpack_next(const struct listpack *lp, uint32_t place)
{
    place += element_size(lp->at + place);
    return lp->at[place] == END_BYTE ? 0 : place;
}

uint32_t listpack_prev(const struct listpack *lp, uint32_t place)
{
    return place == HEADER ? 0 : back_from(lp->at, place);
}

uint32_t listpack_seek(const struct listpack *lp, int64_t index)
{
    uint32_t count = load_count(lp->at);
    if (count != COUNT_UNKNOWN) {
        if (index >= count || index < -(int64_t)count)
            return 0;
        if (index > count / 2)
            index -= count;
        else if (index < -(int64_t)(count / 2) - 1)
            index += count;
    }
    uint32_t place;
    if (index >= 0) {
        for (place = listpack_first(lp); place && index > 0; index--)
            place = listpack_next(lp, place);
    } else {
        for (place = listpack_last(lp); place && index < -1; index++)
            place = listpack_prev(lp, place);
    }
    return place;
}

void listpack_get(const struct listpack *lp, uint32_t place, struct listpack_value *value)
{
    decode(lp->at + place, value);
}

struct bytes listpack_text(const struct listpack *lp, uint32_t place, char digits[NUMBER_I64_TEXT])
{
    struct listpack_value value;
    decode(lp->at + place, &value);
    return value.is_integer ? bytes_make(digits, number_format_i64(digits, value.integer)) : value.text;
}

/* Values are compared as they would be stored: only a stored integer can equal a text that reads as one. Foreign
 * writers may have left such a text as a string, so then both are tried. */
static bool matches(const uint8_t *at, struct bytes text, bool is_integer, int64_t integer)
{
    uint8_t first = *at;
    if (first >= 0x80 && first < 0xC0)
        return text.size == (size_t)(first & 63) && (text.size == 0 || memcmp(at + 1, text.at, text.size) == 0);
    struct listpack_value value;
    decode(at, &value);
    return value.is_integer ? is_integer && value.integer == integer : bytes_equal(value.text, text);
}

static bool reads_as_integer(struct bytes value, int64_t *integer)
{
    *integer = 0;
    return value.size > 0 && value.size < NUMBER_I64_TEXT && number_parse_i64(value, integer);
}

bool listpack_equals(const struct listpack *lp, uint32_t place, struct bytes value)
{
    int64_t integer;
    bool is_integer = reads_as_integer(value, &integer);
    return matches(lp->at + place, value, is_integer, integer);
}

uint32_t listpack_find(const struct listpack *lp, uint32_t place, struct bytes value, uint32_t skip)
{
    int64_t integer;
    bool is_integer = reads_as_integer(value, &integer);
    const uint8_t *end = lp->at + load32(lp->at) - 1;
    uint32_t skipped = 0;
    for (const uint8_t *at = lp->at + place; place && at < end; at += element_size(at)) {
        if (skipped > 0)
            skipped--;
        else if (matches(at, value, is_integer, integer))
            return (uint32_t)(at - lp->at);
        else
            skipped = skip;
    }
    return 0;
}

/* ---- changing -------------------------------------------------------------------------------------------------------
 */

bool listpack_insert(struct listpack *lp, uint32_t place, struct bytes value)
{
    struct encoded e;
    encode(&e, value);
    return put(lp, place == LISTPACK_END ? load32(lp->at) - 1 : place, 0, &e);
}

bool listpack_insert_after(struct listpack *lp, uint32_t place, struct bytes value)
{
    return listpack_insert(lp, place + element_size(lp->at + place), value);
}

bool listpack_append(struct listpack *lp, struct bytes value)
{
    return listpack_insert(lp, LISTPACK_END, value);
}

bool listpack_append_integer(struct listpack *lp, int64_t value)
{
    struct encoded e;
    encode_integer(&e, value);
    return put(lp, load32(lp->at) - 1, 0, &e);
}

bool listpack_prepend(struct listpack *lp, struct bytes value)
{
    return listpack_insert(lp, HEADER, value);
}

bool listpack_replace(struct listpack *lp, uint32_t place, struct bytes value)
{
    struct encoded e;
    encode(&e, value);
    return put(lp, place, element_size(lp->at + place), &e);
}

bool listpack_replace_integer(struct listpack *lp, uint32_t place, int64_t value)
{
    struct encoded e;
    encode_integer(&e, value);
    return put(lp, place, element_size(lp->at + place), &e);
}

static uint32_t delete_elements(struct listpack *lp, uint32_t place, uint32_t count)
{
    uint32_t end = load32(lp->at) - 1, to = place, gone = 0;
    for (; gone < count && to < end; gone++)
        to += element_size(lp->at + to);
    /* Getting smaller cannot fail. */
    (void)splice(lp, place, to - place, 0, -(int64_t)gone);
    give_back(lp);
    return gone;
}

uint32_t listpack_delete(struct listpack *lp, uint32_t place, uint32_t count)
{
    delete_elements(lp, place, count);
    return lp->at[place] == END_BYTE ? 0 : place;
}

uint32_t listpack_delete_range(struct listpack *lp, int64_t index, uint32_t count)
{
    uint32_t place = listpack_seek(lp, index);
    return place ? delete_elements(lp, place, count) : 0;
}

bool listpack_append_all(struct listpack *lp, const struct listpack *other)
{
    uint32_t place = load32(lp->at) - 1, size = load32(other->at) - LISTPACK_BYTES_EMPTY;
    uint32_t count = load_count(lp->at), more = load_count(other->at);
    if (count == COUNT_UNKNOWN || more == COUNT_UNKNOWN)
        more = COUNT_UNKNOWN;
    if (!splice(lp, place, 0, size, more))
        return false;
    memcpy(lp->at + place, other->at + HEADER, size);
    return true;
}

bool listpack_split(struct listpack *lp, uint32_t place, struct listpack *tail)
{
    uint32_t end = load32(lp->at) - 1, moved = 0;
    tail->at = mem_try_alloc(LISTPACK_BYTES_EMPTY + end - place);
    if (!tail->at)
        return false;
    make_empty(tail->at);
    for (uint32_t at = place; at < end; at += element_size(lp->at + at))
        moved++;
    memcpy(tail->at + HEADER, lp->at + place, end - place + 1);
    store32(tail->at, LISTPACK_BYTES_EMPTY + end - place);
    store_count(tail->at, moved < COUNT_UNKNOWN ? moved : COUNT_UNKNOWN);
    (void)splice(lp, place, end - place, 0, -(int64_t)moved);
    give_back(lp);
    return true;
}
