#include "lib/ds/ring_list.h"

#include "lib/base/mem.h"

#define PLAIN 1u
#define PLAIN_HEADER sizeof(uint64_t)
#define CAPACITY_FIRST 4u
/* With a limit of entries, nodes still are no larger than this. */
#define BYTES_DEFAULT 8192u

/* ---- nodes ----------------------------------------------------------------------------------------------------------
 */

static inline struct ring_node *node_at(const struct ring_list *list, uint32_t index)
{
    return list->nodes + ((list->head + index) & (list->capacity - 1));
}

static inline bool is_plain(const struct ring_node *node)
{
    return (node->word & PLAIN) != 0;
}

static inline uint8_t *memory_of(const struct ring_node *node)
{
    return (uint8_t *)(node->word & ~(uintptr_t)PLAIN);
}

static inline struct listpack pack_of(const struct ring_node *node)
{
    return (struct listpack){memory_of(node)};
}

static struct bytes plain_of(const struct ring_node *node)
{
    uint64_t size;
    memcpy(&size, memory_of(node), sizeof(size));
    return bytes_make(memory_of(node) + PLAIN_HEADER, size);
}

static size_t node_bytes(const struct ring_node *node)
{
    struct listpack lp = pack_of(node);
    return is_plain(node) ? plain_of(node).size + PLAIN_HEADER : listpack_size(&lp);
}

static inline int64_t end_of(const struct ring_list *list, uint32_t index)
{
    return index + 1 < list->used ? node_at(list, index + 1)->start : list->end;
}

static inline int64_t length_of(const struct ring_list *list, uint32_t index)
{
    return end_of(list, index) - node_at(list, index)->start;
}

static bool reserve(struct ring_list *list, uint32_t more)
{
    if (list->used + more <= list->capacity)
        return true;
    uint32_t capacity = list->capacity ? list->capacity * 2 : CAPACITY_FIRST;
    struct ring_node *nodes = mem_try_alloc(capacity * sizeof(*nodes));
    if (!nodes)
        return false;
    for (uint32_t i = 0; i < list->used; i++)
        nodes[i] = *node_at(list, i);
    mem_free(list->nodes);
    list->nodes = nodes;
    list->capacity = capacity;
    list->head = 0;
    return true;
}

/* Opens a place for a node; the ring has room. */
static void open_node(struct ring_list *list, uint32_t index)
{
    if (index < list->used / 2 + 1 && index < list->used) {
        list->head = (list->head - 1) & (list->capacity - 1);
        for (uint32_t i = 0; i < index; i++)
            *node_at(list, i) = *node_at(list, i + 1);
    } else {
        for (uint32_t i = list->used; i > index; i--)
            *node_at(list, i) = *node_at(list, i - 1);
    }
    list->used++;
}

static void close_node(struct ring_list *list, uint32_t index)
{
    if (index < list->used / 2) {
        for (uint32_t i = index; i > 0; i--)
            *node_at(list, i) = *node_at(list, i - 1);
        list->head = (list->head + 1) & (list->capacity - 1);
    } else {
        for (uint32_t i = index; i + 1 < list->used; i++)
            *node_at(list, i) = *node_at(list, i + 1);
    }
    list->used--;
}

/* The node has `more` elements than its neighbours' starts say (fewer, when negative): renumbers the shorter side. */
static void renumber(struct ring_list *list, uint32_t index, int64_t more)
{
    if (index < list->used / 2) {
        for (uint32_t i = 0; i <= index; i++)
            node_at(list, i)->start -= more;
        list->begin -= more;
    } else {
        for (uint32_t i = index + 1; i < list->used; i++)
            node_at(list, i)->start += more;
        list->end += more;
    }
}

/* Puts a node with `count` new elements at an index; the ring has room. */
static void add_node(struct ring_list *list, uint32_t index, uintptr_t word, int64_t count)
{
    open_node(list, index);
    struct ring_node *node = node_at(list, index);
    node->word = word;
    node->start = index + 1 < list->used ? node_at(list, index + 1)->start : list->end;
    renumber(list, index, count);
    list->bytes += node_bytes(node);
}

static void remove_node(struct ring_list *list, uint32_t index)
{
    struct ring_node *node = node_at(list, index);
    list->bytes -= node_bytes(node);
    mem_free(memory_of(node));
    renumber(list, index, -length_of(list, index));
    close_node(list, index);
    if (list->used == 0)
        ring_list_deinit(list);
}

/* ---- limits ---------------------------------------------------------------------------------------------------------
 */

struct ring_limit ring_limit_from(int64_t setting)
{
    static const uint32_t sizes[] = {4096, 8192, 16384, 32768, 65536};
    if (setting >= 0)
        return (struct ring_limit){BYTES_DEFAULT, setting == 0           ? 1
                                                  : setting < UINT16_MAX ? (uint32_t)setting
                                                                         : UINT16_MAX};
    return (struct ring_limit){sizes[setting > -5 ? -setting - 1 : 4], UINT16_MAX - 1};
}

static bool is_large(const struct ring_list *list, struct bytes value)
{
    return value.size + LISTPACK_BYTES_EMPTY > list->limit.bytes;
}

/* Whether the node takes one more element of this size. */
static bool has_room(const struct ring_list *list, uint32_t index, size_t more)
{
    const struct ring_node *node = node_at(list, index);
    return !is_plain(node) && length_of(list, index) < list->limit.entries &&
           node_bytes(node) + more <= list->limit.bytes;
}

/* Memory of a node with this value alone; 0 when refused. */
static uintptr_t make_node(const struct ring_list *list, struct bytes value)
{
    struct listpack lp;
    if (is_large(list, value)) {
        uint8_t *memory = mem_try_alloc(PLAIN_HEADER + value.size);
        if (!memory)
            return 0;
        uint64_t size = value.size;
        memcpy(memory, &size, sizeof(size));
        memcpy(memory + PLAIN_HEADER, value.at, value.size);
        return (uintptr_t)memory | PLAIN;
    }
    if (!listpack_init(&lp))
        return 0;
    if (!listpack_append(&lp, value)) {
        listpack_deinit(&lp);
        return 0;
    }
    return (uintptr_t)lp.at;
}

/* Keeps what a change of a node's listpack left. */
static void keep(struct ring_list *list, uint32_t index, const struct listpack *lp, size_t size_before, int64_t more)
{
    node_at(list, index)->word = (uintptr_t)lp->at;
    list->bytes += listpack_size(lp) - size_before;
    if (more)
        renumber(list, index, more);
}

/* ---- the whole ------------------------------------------------------------------------------------------------------
 */

void ring_list_init(struct ring_list *list, struct ring_limit limit)
{
    *list = (struct ring_list){.limit = limit};
}

void ring_list_deinit(struct ring_list *list)
{
    for (uint32_t i = 0; i < list->used; i++)
        mem_free(memory_of(node_at(list, i)));
    mem_free(list->nodes);
    ring_list_init(list, list->limit);
}

bool ring_list_take_listpack(struct ring_list *list, struct listpack *lp)
{
    if (!reserve(list, 1))
        return false;
    add_node(list, list->used, (uintptr_t)lp->at, listpack_length(lp));
    lp->at = NULL;
    return true;
}

bool ring_list_release_listpack(struct ring_list *list, struct listpack *lp)
{
    if (list->used != 1 || is_plain(node_at(list, 0)))
        return false;
    *lp = pack_of(node_at(list, 0));
    list->used = 0;
    ring_list_deinit(list);
    return true;
}

struct bytes ring_list_node(const struct ring_list *list, uint32_t node, bool *plain)
{
    const struct ring_node *at = node_at(list, node);
    struct listpack lp = pack_of(at);
    *plain = is_plain(at);
    return *plain ? plain_of(at) : listpack_bytes(&lp);
}

bool ring_list_append_node(struct ring_list *list, struct bytes bytes, bool plain)
{
    struct listpack lp;
    if (plain) {
        struct ring_list as_large = {.limit = {0, 0}};
        uintptr_t word = reserve(list, 1) ? make_node(&as_large, bytes) : 0;
        if (word)
            add_node(list, list->used, word, 1);
        return word != 0;
    }
    if (!listpack_init_copy(&lp, bytes))
        return false;
    if (ring_list_take_listpack(list, &lp))
        return true;
    listpack_deinit(&lp);
    return false;
}

size_t ring_list_memory(const struct ring_list *list)
{
    return list->bytes + list->capacity * sizeof(*list->nodes);
}

/* ---- walking --------------------------------------------------------------------------------------------------------
 */

static void enter(const struct ring_list *list, struct ring_cursor *cursor, bool at_end)
{
    const struct ring_node *node = node_at(list, cursor->node);
    struct listpack lp = pack_of(node);
    cursor->place = is_plain(node) ? 0 : at_end ? listpack_last(&lp) : listpack_first(&lp);
}

bool ring_list_seek(const struct ring_list *list, int64_t index, struct ring_cursor *cursor)
{
    int64_t length = list->end - list->begin;
    if (index < 0)
        index += length;
    if (index < 0 || index >= length)
        return false;
    int64_t target = list->begin + index;
    uint32_t low = 0, high = list->used - 1;
    if (target >= node_at(list, high)->start)
        low = high;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (node_at(list, middle)->start <= target)
            low = middle;
        else
            high = middle - 1;
    }
    const struct ring_node *node = node_at(list, low);
    struct listpack lp = pack_of(node);
    *cursor = (struct ring_cursor){low, is_plain(node) ? 0 : listpack_seek(&lp, target - node->start)};
    return true;
}

bool ring_list_next(const struct ring_list *list, struct ring_cursor *cursor)
{
    const struct ring_node *node = node_at(list, cursor->node);
    struct listpack lp = pack_of(node);
    if (!is_plain(node) && (cursor->place = listpack_next(&lp, cursor->place)) != 0)
        return true;
    if (++cursor->node >= list->used)
        return false;
    enter(list, cursor, false);
    return true;
}

bool ring_list_prev(const struct ring_list *list, struct ring_cursor *cursor)
{
    const struct ring_node *node = node_at(list, cursor->node);
    struct listpack lp = pack_of(node);
    if (!is_plain(node) && (cursor->place = listpack_prev(&lp, cursor->place)) != 0)
        return true;
    if (cursor->node-- == 0)
        return false;
    enter(list, cursor, true);
    return true;
}

int64_t ring_list_index(const struct ring_list *list, const struct ring_cursor *cursor)
{
    const struct ring_node *node = node_at(list, cursor->node);
    struct listpack lp = pack_of(node);
    int64_t index = node->start - list->begin;
    for (uint32_t place = cursor->place; place && (place = listpack_prev(&lp, place)) != 0;)
        index++;
    return index;
}

void ring_list_get(const struct ring_list *list, const struct ring_cursor *cursor, struct listpack_value *value)
{
    const struct ring_node *node = node_at(list, cursor->node);
    struct listpack lp = pack_of(node);
    if (is_plain(node))
        *value = (struct listpack_value){.text = plain_of(node)};
    else
        listpack_get(&lp, cursor->place, value);
}

struct bytes ring_list_text(const struct ring_list *list, const struct ring_cursor *cursor,
                            char digits[NUMBER_I64_TEXT])
{
    const struct ring_node *node = node_at(list, cursor->node);
    struct listpack lp = pack_of(node);
    return is_plain(node) ? plain_of(node) : listpack_text(&lp, cursor->place, digits);
}

bool ring_list_equals(const struct ring_list *list, const struct ring_cursor *cursor, struct bytes value)
{
    const struct ring_node *node = node_at(list, cursor->node);
    struct listpack lp = pack_of(node);
    return is_plain(node) ? bytes_equal(plain_of(node), value) : listpack_equals(&lp, cursor->place, value);
}

/* ---- changing -------------------------------------------------------------------------------------------------------
 */

static bool insert_into(struct ring_list *list, uint32_t index, uint32_t place, struct bytes value)
{
    struct listpack lp = pack_of(node_at(list, index));
    size_t before = listpack_size(&lp);
    if (!listpack_insert(&lp, place, value))
        return false;
    keep(list, index, &lp, before, 1);
    return true;
}

/* A new node for the value at an index. */
static bool insert_node(struct ring_list *list, uint32_t index, struct bytes value)
{
    uintptr_t word = reserve(list, 1) ? make_node(list, value) : 0;
    if (word)
        add_node(list, index, word, 1);
    return word != 0;
}

bool ring_list_push(struct ring_list *list, enum ring_end end, struct bytes value)
{
    uint32_t node = end == RING_TAIL && list->used ? list->used - 1 : 0;
    if (list->used && !is_large(list, value) && has_room(list, node, listpack_size_of(value))) {
        struct listpack lp = pack_of(node_at(list, node));
        return insert_into(list, node, end == RING_TAIL ? LISTPACK_END : listpack_first(&lp), value);
    }
    return insert_node(list, end == RING_TAIL ? list->used : 0, value);
}

/* Cuts a listpack node in two before `place`. */
static bool split_node(struct ring_list *list, uint32_t index, uint32_t place)
{
    if (!reserve(list, 1))
        return false;
    struct listpack lp = pack_of(node_at(list, index)), tail;
    size_t before = listpack_size(&lp);
    if (!listpack_split(&lp, place, &tail))
        return false;
    int64_t moved = listpack_length(&tail);
    keep(list, index, &lp, before, -moved);
    add_node(list, index + 1, (uintptr_t)tail.at, moved);
    return true;
}

/* Joins two neighbours if that fills half a node at most, so that removals do not leave a trail of small nodes. */
static bool join_nodes(struct ring_list *list, uint32_t left)
{
    if (left + 1 >= list->used)
        return false;
    const struct ring_node *one = node_at(list, left), *two = node_at(list, left + 1);
    if (is_plain(one) || is_plain(two) || node_bytes(one) + node_bytes(two) > list->limit.bytes / 2 ||
        length_of(list, left) + length_of(list, left + 1) > list->limit.entries)
        return false;
    struct listpack lp = pack_of(one), other = pack_of(two);
    size_t before = listpack_size(&lp);
    if (!listpack_append_all(&lp, &other))
        return false;
    int64_t moved = length_of(list, left + 1);
    keep(list, left, &lp, before, moved);
    remove_node(list, left + 1);
    return true;
}

bool ring_list_insert(struct ring_list *list, const struct ring_cursor *cursor, bool after, struct bytes value)
{
    uint32_t index = cursor->node, place = cursor->place;
    const struct ring_node *node = node_at(list, index);
    struct listpack lp = pack_of(node);
    bool large = is_large(list, value);
    size_t more = large ? 0 : listpack_size_of(value);
    if (!is_plain(node) && after && (place = listpack_next(&lp, place)) == 0)
        place = LISTPACK_END;
    if (!large && has_room(list, index, more))
        return insert_into(list, index, place, value);
    if (is_plain(node) ? !after : place == listpack_first(&lp)) {
        if (!large && index > 0 && has_room(list, index - 1, more))
            return insert_into(list, index - 1, LISTPACK_END, value);
        return insert_node(list, index, value);
    }
    if (is_plain(node) || place == LISTPACK_END) {
        if (!large && index + 1 < list->used && has_room(list, index + 1, more)) {
            lp = pack_of(node_at(list, index + 1));
            return insert_into(list, index + 1, listpack_first(&lp), value);
        }
        return insert_node(list, index + 1, value);
    }
    if (!split_node(list, index, place))
        return false;
    if (!large && has_room(list, index, more))
        return insert_into(list, index, LISTPACK_END, value);
    if (!large && has_room(list, index + 1, more)) {
        lp = pack_of(node_at(list, index + 1));
        return insert_into(list, index + 1, listpack_first(&lp), value);
    }
    return insert_node(list, index + 1, value);
}

bool ring_list_replace(struct ring_list *list, struct ring_cursor *cursor, struct bytes value)
{
    struct ring_node *node = node_at(list, cursor->node);
    bool large = is_large(list, value);
    if (is_plain(node) || large) {
        if (length_of(list, cursor->node) == 1) {
            uintptr_t word = make_node(list, value);
            if (!word)
                return false;
            list->bytes -= node_bytes(node);
            mem_free(memory_of(node));
            node->word = word;
            list->bytes += node_bytes(node);
            enter(list, cursor, false);
            return true;
        }
    } else {
        struct listpack lp = pack_of(node);
        size_t before = listpack_size(&lp);
        if (before + listpack_size_of(value) <= list->limit.bytes || length_of(list, cursor->node) == 1) {
            if (!listpack_replace(&lp, cursor->place, value))
                return false;
            keep(list, cursor->node, &lp, before, 0);
            return true;
        }
    }
    int64_t index = ring_list_index(list, cursor);
    if (!ring_list_insert(list, cursor, false, value))
        return false;
    if (ring_list_seek(list, index + 1, cursor))
        (void)ring_list_remove(list, cursor);
    return ring_list_seek(list, index, cursor);
}

/* Takes elements out of one node, which goes when it is empty. */
static void remove_from(struct ring_list *list, uint32_t index, uint32_t place, int64_t count)
{
    if (count == length_of(list, index)) {
        remove_node(list, index);
        return;
    }
    struct listpack lp = pack_of(node_at(list, index));
    size_t before = listpack_size(&lp);
    (void)listpack_delete(&lp, place, (uint32_t)count);
    keep(list, index, &lp, before, -count);
}

void ring_list_drop(struct ring_list *list, enum ring_end end)
{
    struct ring_cursor cursor = {end == RING_TAIL ? list->used - 1 : 0, 0};
    enter(list, &cursor, end == RING_TAIL);
    remove_from(list, cursor.node, cursor.place, 1);
}

bool ring_list_remove(struct ring_list *list, struct ring_cursor *cursor)
{
    bool last = length_of(list, cursor->node) == 1;
    remove_from(list, cursor->node, cursor->place, 1);
    if (list->used == 0)
        return false;
    if (last) {
        if (cursor->node >= list->used)
            return false;
        enter(list, cursor, false);
        return true;
    }
    /* The cursor's place is that of the next element, or the end of the node, where a joined node would begin. */
    (void)join_nodes(list, cursor->node);
    if (cursor->node > 0) {
        struct listpack before = pack_of(node_at(list, cursor->node - 1));
        uint32_t moved = is_plain(node_at(list, cursor->node - 1)) ? 0 : listpack_size(&before) - LISTPACK_BYTES_EMPTY;
        if (join_nodes(list, cursor->node - 1)) {
            cursor->node--;
            cursor->place += moved;
        }
    }
    struct listpack lp = pack_of(node_at(list, cursor->node));
    if (cursor->place < listpack_size(&lp) - 1)
        return true;
    if (++cursor->node >= list->used)
        return false;
    enter(list, cursor, false);
    return true;
}

uint64_t ring_list_remove_range(struct ring_list *list, int64_t index, uint64_t count)
{
    struct ring_cursor cursor;
    uint64_t gone = 0;
    if (index < 0)
        index += list->end - list->begin;
    while (gone < count && ring_list_seek(list, index, &cursor)) {
        uint64_t here = (uint64_t)(end_of(list, cursor.node) - list->begin - index);
        if (here > count - gone)
            here = count - gone;
        remove_from(list, cursor.node, cursor.place, (int64_t)here);
        gone += here;
    }
    /* What the edges of the range left may go together. */
    if (gone > 0 && ring_list_seek(list, index, &cursor) && cursor.node > 0)
        (void)join_nodes(list, cursor.node - 1);
    return gone;
}

bool ring_list_check(const struct ring_list *list)
{
    size_t bytes = 0;
    if (list->used == 0)
        return list->begin == list->end && list->bytes == 0;
    if (node_at(list, 0)->start != list->begin || list->used > list->capacity)
        return false;
    for (uint32_t i = 0; i < list->used; i++) {
        const struct ring_node *node = node_at(list, i);
        struct listpack lp = pack_of(node);
        bytes += node_bytes(node);
        if (length_of(list, i) <= 0 || (is_plain(node) && length_of(list, i) != 1))
            return false;
        if (!is_plain(node) &&
            (!listpack_valid(listpack_bytes(&lp), true) || listpack_length(&lp) != length_of(list, i)))
            return false;
    }
    return bytes == list->bytes;
}
