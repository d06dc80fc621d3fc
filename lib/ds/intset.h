/* intset.h - a set of integers, sorted, in one run of bytes laid out as RDB files hold it.
 *
 *   | bytes per member: 2, 4 or 8 (4, LE) | members (4, LE) | members ascending, LE |
 *
 * Owns:       one allocation of lib/base/mem.h.
 * Threads:    one at a time.
 * Invariants: strictly ascending; the width fits the widest member there ever was (removing does not narrow).
 * Fails by:   false when memory is refused; nothing changed.
 * Limits:     INTSET_MEMBERS_MAX; adding and removing move what lies behind. */
#ifndef KETCH_LIB_DS_INTSET_H
#define KETCH_LIB_DS_INTSET_H

#include "lib/base/bytes.h"
#include "lib/base/check.h"
#include "lib/base/random.h"

#define INTSET_MEMBERS_MAX (1u << 27)

struct intset {
    uint8_t *at;
};

MUST_USE bool intset_init(struct intset *set);
void intset_deinit(struct intset *set);

/* A copy of bytes that intset_valid accepted. */
MUST_USE bool intset_init_copy(struct intset *set, struct bytes bytes);

/* Whether the bytes are a set with members and nothing else; `deep` checks the order too. Never reads outside them. */
bool intset_valid(struct bytes bytes, bool deep);

/* Everything, as it goes into a snapshot. */
struct bytes intset_bytes(const struct intset *set);

size_t intset_memory(const struct intset *set);
uint32_t intset_length(const struct intset *set);

/* Sets *added to whether it was not there. False when memory is refused. */
MUST_USE bool intset_add(struct intset *set, int64_t member, bool *added);

/* Whether it was there. */
bool intset_remove(struct intset *set, int64_t member);
bool intset_contains(const struct intset *set, int64_t member);

/* The member at an index under the length, in ascending order. */
int64_t intset_get(const struct intset *set, uint32_t index);

/* Of a set with members. */
int64_t intset_min(const struct intset *set);
int64_t intset_max(const struct intset *set);
int64_t intset_random(const struct intset *set, struct random *random);

#endif
