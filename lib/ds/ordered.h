/* ordered.h - elements in order of score, then of member bytes: the sorted half of a sorted set, as a counted B+ tree.
 *
 *   inner node  36 children, each with its first element and score, and how many elements it holds
 *   leaf        62 scores beside 62 pointers to elements, linked to its neighbours
 *
 * Full leaves first give to their neighbours and only then split; ascending and descending insertion leaves them full.
 *
 * Owns:       nodes; not the elements, of which it keeps pointers and scores.
 * Threads:    one at a time.
 * Invariants: strictly ascending by (score, member); nodes are a third full or more, but the root and those at the
 *             ends. An element in the tree stays readable and its member unchanged.
 * Fails by:   false when memory is refused; nothing changed.
 * Limits:     2^32 - 1 elements; scores are never NaN; -0 equals 0. About 20 to 22 bytes per element. */
#ifndef KETCH_LIB_DS_ORDERED_H
#define KETCH_LIB_DS_ORDERED_H

#include "lib/base/bytes.h"
#include "lib/base/check.h"

#define ORDERED_LEAF 62u
#define ORDERED_INNER 36u

struct ordered_leaf {
    struct ordered_leaf *next;
    struct ordered_leaf *prev;
    uint32_t used;
    double scores[ORDERED_LEAF];
    void *elements[ORDERED_LEAF];
};
_Static_assert(sizeof(struct ordered_leaf) <= 1024, "a leaf takes a size class without waste");

struct ordered_inner; /* ordered.c */

typedef struct bytes (*ordered_member)(const void *element);
typedef void (*ordered_each)(void *context, void *element);

struct ordered {
    ordered_member member;
    void *root; /* NULL while empty; a leaf when height is 0 */
    struct ordered_leaf *first;
    struct ordered_leaf *last;
    uint32_t count;
    uint32_t height; /* levels of inner nodes */
    uint32_t leaves;
    uint32_t inners;
};

/* A position between elements. */
enum ordered_kind {
    ORDERED_KEY,   /* by score and member */
    ORDERED_SCORE, /* by score alone */
    ORDERED_LEX,   /* by member alone: only where all scores are the same */
};

struct ordered_bound {
    enum ordered_kind kind;
    bool after; /* behind what equals the bound, else before it */
    double score;
    struct bytes member;
};

/* An element, or the end when leaf is NULL. Void after every change but ordered_replace. */
struct ordered_cursor {
    struct ordered_leaf *leaf;
    uint32_t at;
};

/* Allocates nothing. */
void ordered_init(struct ordered *tree, ordered_member member);

/* Frees the nodes: O(elements / 50). */
void ordered_deinit(struct ordered *tree);

/* Adds an element whose (score, member) is not there. */
MUST_USE bool ordered_insert(struct ordered *tree, double score, void *element);

/* Takes the element out and returns it; NULL when there is none. */
void *ordered_remove(struct ordered *tree, double score, struct bytes member);

/* Moves the element to another score; it must be there under the old one. Cheap when its rank stays. */
MUST_USE bool ordered_rescore(struct ordered *tree, double old_score, void *element, double score);

/* Puts another element with the same member in the place of the one with this score; the old must still be readable.
 * Returns the old, NULL when there was none. */
void *ordered_replace(struct ordered *tree, double score, void *element);

/* How many elements are before the bound: the rank of the first one that is not. O(log n). */
uint32_t ordered_rank(const struct ordered *tree, const struct ordered_bound *bound);

/* Rank of the element; false when it is not there. */
bool ordered_rank_of(const struct ordered *tree, double score, struct bytes member, uint32_t *rank);

/* The first element not before the bound, and the last one before it. */
struct ordered_cursor ordered_seek(const struct ordered *tree, const struct ordered_bound *bound);
struct ordered_cursor ordered_seek_before(const struct ordered *tree, const struct ordered_bound *bound);

/* The element at a rank; the end from the count on. */
struct ordered_cursor ordered_at(const struct ordered *tree, uint32_t rank);

/* Takes out `count` elements from a rank on (fewer if there are no more), in order. `each` (may be NULL) is called for
 * every one and may free it. Returns how many went. In small counts it empties a tree in bounded pieces. */
uint32_t ordered_delete_ranks(struct ordered *tree, uint32_t rank, uint32_t count, ordered_each each, void *context);

/* Bytes in nodes. */
size_t ordered_memory(const struct ordered *tree);

/* Every invariant. */
bool ordered_check(const struct ordered *tree);

/* ---- cursors --------------------------------------------------------------------------------------------------------
 */

static inline struct ordered_cursor ordered_first(const struct ordered *tree)
{
    return (struct ordered_cursor){tree->first, 0};
}

static inline struct ordered_cursor ordered_last(const struct ordered *tree)
{
    return (struct ordered_cursor){tree->last, tree->last ? tree->last->used - 1 : 0};
}

static inline void *ordered_element(struct ordered_cursor cursor)
{
    return cursor.leaf->elements[cursor.at];
}

static inline double ordered_score(struct ordered_cursor cursor)
{
    return cursor.leaf->scores[cursor.at];
}

static inline void ordered_next(struct ordered_cursor *cursor)
{
    if (++cursor->at == cursor->leaf->used)
        *cursor = (struct ordered_cursor){cursor->leaf->next, 0};
}

static inline void ordered_prev(struct ordered_cursor *cursor)
{
    if (cursor->at > 0) {
        cursor->at--;
    } else {
        struct ordered_leaf *leaf = cursor->leaf->prev;
        *cursor = (struct ordered_cursor){leaf, leaf ? leaf->used - 1 : 0};
    }
}

#endif
