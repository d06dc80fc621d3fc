/* ring_list.h - a list: a ring of nodes, each a listpack up to a limit or one large element alone.
 *
 *   nodes   [ .. | head: start -3 | start 120 | start 300 | .. ]   a node: its bytes and the number of its first
 * element
 *
 * Elements are numbered from `begin` to `end`; pushing and popping move those two and leave the starts of the other
 * nodes alone, so an index is found by halving. A change in the middle renumbers the shorter side.
 *
 * Owns:       nodes and ring.
 * Threads:    one at a time.
 * Invariants: no node is empty; starts ascend.
 * Fails by:   false when memory is refused; the elements are as before.
 * Limits:     a value of 2^32 - 16 bytes; O(1) at the ends, O(log nodes) to an index, O(nodes) word moves in the
 * middle. Values given must not lie inside the list. */
#ifndef KETCH_LIB_DS_RING_LIST_H
#define KETCH_LIB_DS_RING_LIST_H

#include "lib/ds/listpack.h"

struct ring_limit {
    uint32_t bytes;   /* of a listpack */
    uint32_t entries; /* in a listpack */
};

struct ring_node {
    uintptr_t word; /* bytes of a listpack; with bit 0 set, a plain element: its size (8 bytes), then the element */
    int64_t start;
};

struct ring_list {
    struct ring_node *nodes; /* capacity of them, a power of two; NULL while that is 0 */
    uint32_t capacity;
    uint32_t head; /* where node 0 is */
    uint32_t used;
    struct ring_limit limit;
    int64_t begin;
    int64_t end;
    size_t bytes; /* in nodes */
};

enum ring_end { RING_HEAD, RING_TAIL };

/* An element. Void after every change that does not say otherwise. */
struct ring_cursor {
    uint32_t node;
    uint32_t place; /* in the node's listpack; 0 in a plain node */
};

/* The limit that a list-max-listpack-size means: entries (and 8 KB) when positive; -1 to -5 for 4, 8, 16, 32, 64 KB. */
struct ring_limit ring_limit_from(int64_t setting);

/* Allocates nothing. */
void ring_list_init(struct ring_list *list, struct ring_limit limit);
void ring_list_deinit(struct ring_list *list);

/* Takes over a listpack as the first node of an empty list; when it fails the listpack is still the caller's. */
MUST_USE bool ring_list_take_listpack(struct ring_list *list, struct listpack *lp);

/* Hands a list of a single listpack over as such, and is empty then; false (nothing done) for any other. */
bool ring_list_release_listpack(struct ring_list *list, struct listpack *lp);

/* Nodes as snapshots hold them: bytes of the listpack, or of the plain element. */
struct bytes ring_list_node(const struct ring_list *list, uint32_t node, bool *plain);

/* Adds a node at the tail: a plain element, or a listpack with elements that listpack_valid accepted. Copies it. */
MUST_USE bool ring_list_append_node(struct ring_list *list, struct bytes bytes, bool plain);

static inline uint64_t ring_list_length(const struct ring_list *list)
{
    return (uint64_t)(list->end - list->begin);
}

/* Bytes of nodes and ring. */
size_t ring_list_memory(const struct ring_list *list);

MUST_USE bool ring_list_push(struct ring_list *list, enum ring_end end, struct bytes value);

/* Removes the element at an end of a list that has some. */
void ring_list_drop(struct ring_list *list, enum ring_end end);

/* The element at an index, from the end when negative; false when there is none. */
bool ring_list_seek(const struct ring_list *list, int64_t index, struct ring_cursor *cursor);
bool ring_list_next(const struct ring_list *list, struct ring_cursor *cursor);
bool ring_list_prev(const struct ring_list *list, struct ring_cursor *cursor);
int64_t ring_list_index(const struct ring_list *list, const struct ring_cursor *cursor);

void ring_list_get(const struct ring_list *list, const struct ring_cursor *cursor, struct listpack_value *value);

/* The element as text; an integer is printed into `digits`. */
struct bytes ring_list_text(const struct ring_list *list, const struct ring_cursor *cursor,
                            char digits[NUMBER_I64_TEXT]);
bool ring_list_equals(const struct ring_list *list, const struct ring_cursor *cursor, struct bytes value);

/* Before or behind the element. */
MUST_USE bool ring_list_insert(struct ring_list *list, const struct ring_cursor *cursor, bool after,
                               struct bytes value);

/* The cursor stays on the element. */
MUST_USE bool ring_list_replace(struct ring_list *list, struct ring_cursor *cursor, struct bytes value);

/* Removes the element and moves the cursor to the next; false when that was the last. */
bool ring_list_remove(struct ring_list *list, struct ring_cursor *cursor);

/* Removes `count` elements from an index on (fewer if there are no more); returns how many went. In small counts from
 * an end it empties a list in bounded pieces. */
uint64_t ring_list_remove_range(struct ring_list *list, int64_t index, uint64_t count);

/* Every invariant. */
bool ring_list_check(const struct ring_list *list);

#endif
