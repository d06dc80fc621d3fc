#include "lib/ds/intset.h"

#include "lib/base/mem.h"

#include <endian.h>

#define HEADER 8u
#define SHRINK_FROM 64u

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

static inline uint32_t width_of(const struct intset *set)
{
    return load32(set->at);
}

static inline uint32_t width_for(int64_t member)
{
    if (member >= INT16_MIN && member <= INT16_MAX)
        return 2;
    return member >= INT32_MIN && member <= INT32_MAX ? 4 : 8;
}

static inline int64_t load_member(const uint8_t *members, uint32_t width, uint32_t index)
{
    const uint8_t *at = members + (size_t)index * width;
    if (width == 2) {
        uint16_t value;
        memcpy(&value, at, sizeof(value));
        return (int16_t)le16toh(value);
    }
    if (width == 4)
        return (int32_t)load32(at);
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return (int64_t)le64toh(value);
}

static inline void store_member(uint8_t *members, uint32_t width, uint32_t index, int64_t member)
{
    uint64_t value = htole64((uint64_t)member);
    /* Little endian: the low bytes come first whatever the width. */
    memcpy(members + (size_t)index * width, &value, width);
}

bool intset_init(struct intset *set)
{
    set->at = mem_try_alloc(HEADER);
    if (!set->at)
        return false;
    store32(set->at, 2);
    store32(set->at + 4, 0);
    return true;
}

bool intset_init_copy(struct intset *set, struct bytes bytes)
{
    set->at = mem_try_alloc(bytes.size);
    if (!set->at)
        return false;
    memcpy(set->at, bytes.at, bytes.size);
    return true;
}

void intset_deinit(struct intset *set)
{
    mem_free(set->at);
    set->at = NULL;
}

bool intset_valid(struct bytes bytes, bool deep)
{
    if (bytes.size < HEADER)
        return false;
    uint32_t width = load32(bytes.at), length = load32(bytes.at + 4);
    if ((width != 2 && width != 4 && width != 8) || length == 0 || length > INTSET_MEMBERS_MAX ||
        bytes.size - HEADER != (uint64_t)width * length)
        return false;
    for (uint32_t i = 1; deep && i < length; i++)
        if (load_member(bytes.at + HEADER, width, i - 1) >= load_member(bytes.at + HEADER, width, i))
            return false;
    return true;
}

struct bytes intset_bytes(const struct intset *set)
{
    return bytes_make(set->at, HEADER + (size_t)width_of(set) * intset_length(set));
}

size_t intset_memory(const struct intset *set)
{
    return mem_usable(set->at);
}

uint32_t intset_length(const struct intset *set)
{
    return load32(set->at + 4);
}

int64_t intset_get(const struct intset *set, uint32_t index)
{
    return load_member(set->at + HEADER, width_of(set), index);
}

/* The first index whose member is not below; the length when all are. */
static uint32_t lower_bound(const struct intset *set, int64_t member)
{
    uint32_t width = width_of(set), low = 0, left = intset_length(set);
    /* Sets are mostly filled in ascending order. */
    if (left > 0 && load_member(set->at + HEADER, width, left - 1) < member)
        return left;
    while (left > 0) {
        uint32_t half = left / 2;
        if (load_member(set->at + HEADER, width, low + half) < member) {
            low += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return low;
}

static bool is_at(const struct intset *set, uint32_t index, int64_t member)
{
    return index < intset_length(set) && intset_get(set, index) == member;
}

static bool make_room(struct intset *set, size_t size)
{
    if (size <= mem_usable(set->at))
        return true;
    uint8_t *moved = mem_try_realloc(set->at, size);
    if (!moved)
        return false;
    set->at = moved;
    return true;
}

/* A member wider than all others is the least or the greatest. */
static void widen(struct intset *set, uint32_t width, int64_t member)
{
    uint32_t old_width = width_of(set), length = intset_length(set), before = member < 0;
    uint8_t *members = set->at + HEADER;
    for (uint32_t i = length; i-- > 0;)
        store_member(members, width, i + before, load_member(members, old_width, i));
    store_member(members, width, before ? 0 : length, member);
    store32(set->at, width);
}

bool intset_add(struct intset *set, int64_t member, bool *added)
{
    uint32_t width = width_of(set), length = intset_length(set), wanted = width_for(member);
    *added = false;
    uint32_t index = wanted <= width ? lower_bound(set, member) : 0;
    if (wanted <= width && is_at(set, index, member))
        return true;
    if (length >= INTSET_MEMBERS_MAX)
        return false;
    uint32_t new_width = wanted > width ? wanted : width;
    if (!make_room(set, HEADER + (size_t)new_width * (length + 1)))
        return false;
    if (wanted > width) {
        widen(set, wanted, member);
    } else {
        uint8_t *at = set->at + HEADER + (size_t)index * width;
        memmove(at + width, at, (size_t)(length - index) * width);
        store_member(set->at + HEADER, width, index, member);
    }
    store32(set->at + 4, length + 1);
    *added = true;
    return true;
}

bool intset_remove(struct intset *set, int64_t member)
{
    uint32_t width = width_of(set), length = intset_length(set);
    if (width_for(member) > width)
        return false;
    uint32_t index = lower_bound(set, member);
    if (!is_at(set, index, member))
        return false;
    uint8_t *at = set->at + HEADER + (size_t)index * width;
    memmove(at, at + width, (size_t)(length - index - 1) * width);
    store32(set->at + 4, length - 1);
    size_t size = intset_bytes(set).size, usable = mem_usable(set->at);
    if (usable >= SHRINK_FROM && size * 2 <= usable) {
        uint8_t *moved = mem_try_realloc(set->at, size);
        if (moved)
            set->at = moved;
    }
    return true;
}

bool intset_contains(const struct intset *set, int64_t member)
{
    return width_for(member) <= width_of(set) && is_at(set, lower_bound(set, member), member);
}

int64_t intset_min(const struct intset *set)
{
    return intset_get(set, 0);
}

int64_t intset_max(const struct intset *set)
{
    return intset_get(set, intset_length(set) - 1);
}

int64_t intset_random(const struct intset *set, struct random *random)
{
    return intset_get(set, (uint32_t)random_below(random, intset_length(set)));
}
