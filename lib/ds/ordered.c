#include "lib/ds/ordered.h"

#include "lib/base/mem.h"

#define LEAF ORDERED_LEAF
#define INNER ORDERED_INNER
#define LEAF_MIN (LEAF / 3)
#define INNER_MIN (INNER / 3)
/* Two neighbours, one of them below its minimum, become one if that leaves a quarter free. */
#define LEAF_JOIN (LEAF * 3 / 4)
#define INNER_JOIN (INNER * 3 / 4)
/* A neighbour is worth giving to if it has this much room. */
#define LEAF_GIVE (LEAF / 8)
/* 12^HEIGHT_MAX leaves of 20 are more than 2^32 elements. */
#define HEIGHT_MAX 9u

struct ordered_inner {
    uint32_t used;
    uint32_t counts[INNER];
    void *children[INNER];
    double scores[INNER]; /* of the first element of each child */
    void *elements[INNER];
};
_Static_assert(sizeof(struct ordered_inner) <= 1024, "an inner node takes a size class without waste");

struct step {
    struct ordered_inner *node;
    uint32_t at;
};

/* From the root to a place in a leaf. */
struct path {
    struct step steps[HEIGHT_MAX];
    struct ordered_leaf *leaf;
    uint32_t at;
    uint32_t rank;
};

void ordered_init(struct ordered *tree, ordered_member member)
{
    *tree = (struct ordered){.member = member};
}

static void free_node(void *node, uint32_t height)
{
    if (height > 0) {
        struct ordered_inner *inner = node;
        for (uint32_t i = 0; i < inner->used; i++)
            free_node(inner->children[i], height - 1);
    }
    mem_free(node);
}

void ordered_deinit(struct ordered *tree)
{
    if (tree->root)
        free_node(tree->root, tree->height);
    ordered_init(tree, tree->member);
}

size_t ordered_memory(const struct ordered *tree)
{
    return tree->leaves * sizeof(struct ordered_leaf) + tree->inners * sizeof(struct ordered_inner);
}

/* ---- searching ------------------------------------------------------------------------------------------------------
 */

static inline bool is_before(const struct ordered *tree, const struct ordered_bound *bound, double score,
                             const void *element)
{
    if (bound->kind != ORDERED_LEX) {
        if (score != bound->score)
            return score < bound->score;
        if (bound->kind == ORDERED_SCORE)
            return bound->after;
    }
    int order = bytes_compare(tree->member(element), bound->member);
    return order < 0 || (order == 0 && bound->after);
}

/* How many of `used` ascending elements are before the bound. */
static inline uint32_t count_before(const struct ordered *tree, const struct ordered_bound *bound, const double *scores,
                                    void *const *elements, uint32_t used)
{
    uint32_t low = 0;
    while (used > 0) {
        uint32_t half = used / 2;
        if (is_before(tree, bound, scores[low + half], elements[low + half])) {
            low += half + 1;
            used -= half + 1;
        } else {
            used = half;
        }
    }
    return low;
}

static void descend(const struct ordered *tree, const struct ordered_bound *bound, struct path *path)
{
    void *node = tree->root;
    path->rank = 0;
    for (uint32_t level = 0; level < tree->height; level++) {
        struct ordered_inner *inner = node;
        /* The last child whose first element is before the bound: the bound is in it or right behind it. */
        uint32_t at = count_before(tree, bound, inner->scores + 1, inner->elements + 1, inner->used - 1);
        for (uint32_t i = 0; i < at; i++)
            path->rank += inner->counts[i];
        path->steps[level] = (struct step){inner, at};
        node = inner->children[at];
    }
    path->leaf = node;
    path->at = count_before(tree, bound, path->leaf->scores, path->leaf->elements, path->leaf->used);
    path->rank += path->at;
}

static void descend_to_rank(const struct ordered *tree, uint32_t rank, struct path *path)
{
    void *node = tree->root;
    path->rank = rank;
    for (uint32_t level = 0; level < tree->height; level++) {
        struct ordered_inner *inner = node;
        uint32_t at = 0;
        for (; rank >= inner->counts[at]; at++)
            rank -= inner->counts[at];
        path->steps[level] = (struct step){inner, at};
        node = inner->children[at];
    }
    path->leaf = node;
    path->at = rank;
}

static inline struct ordered_bound key_bound(double score, struct bytes member)
{
    return (struct ordered_bound){.kind = ORDERED_KEY, .score = score, .member = member};
}

/* Whether the place holds the element that the key says. */
static bool is_at(const struct ordered *tree, const struct path *path, double score, struct bytes member)
{
    return path->at < path->leaf->used && path->leaf->scores[path->at] == score &&
           bytes_equal(tree->member(path->leaf->elements[path->at]), member);
}

/* A key equal to the first of a leaf is found at the end of the leaf before: descending stops where the first is not
 * yet before the bound. To reach the element itself the bound is put behind it. */
static bool find(const struct ordered *tree, double score, struct bytes member, struct path *path)
{
    if (!tree->root)
        return false;
    struct ordered_bound bound = key_bound(score, member);
    bound.after = true;
    descend(tree, &bound, path);
    if (path->at == 0)
        return false;
    path->at--;
    path->rank--;
    return is_at(tree, path, score, member);
}

uint32_t ordered_rank(const struct ordered *tree, const struct ordered_bound *bound)
{
    struct path path;
    if (!tree->root)
        return 0;
    descend(tree, bound, &path);
    return path.rank;
}

bool ordered_rank_of(const struct ordered *tree, double score, struct bytes member, uint32_t *rank)
{
    struct path path;
    if (!find(tree, score, member, &path))
        return false;
    *rank = path.rank;
    return true;
}

struct ordered_cursor ordered_seek(const struct ordered *tree, const struct ordered_bound *bound)
{
    struct path path;
    if (!tree->root)
        return (struct ordered_cursor){NULL, 0};
    descend(tree, bound, &path);
    if (path.at < path.leaf->used)
        return (struct ordered_cursor){path.leaf, path.at};
    return (struct ordered_cursor){path.leaf->next, 0};
}

struct ordered_cursor ordered_seek_before(const struct ordered *tree, const struct ordered_bound *bound)
{
    struct path path;
    if (!tree->root)
        return (struct ordered_cursor){NULL, 0};
    descend(tree, bound, &path);
    if (path.at > 0)
        return (struct ordered_cursor){path.leaf, path.at - 1};
    struct ordered_leaf *leaf = path.leaf->prev;
    return (struct ordered_cursor){leaf, leaf ? leaf->used - 1 : 0};
}

struct ordered_cursor ordered_at(const struct ordered *tree, uint32_t rank)
{
    struct path path;
    if (rank >= tree->count)
        return (struct ordered_cursor){NULL, 0};
    descend_to_rank(tree, rank, &path);
    return (struct ordered_cursor){path.leaf, path.at};
}

/* ---- moving elements between nodes ----------------------------------------------------------------------------------
 */

/* Moves elements of a leaf; the ranges may overlap. */
static void leaf_move(struct ordered_leaf *to, uint32_t to_at, const struct ordered_leaf *from, uint32_t at,
                      uint32_t count)
{
    memmove(to->scores + to_at, from->scores + at, count * sizeof(to->scores[0]));
    memmove(to->elements + to_at, from->elements + at, count * sizeof(to->elements[0]));
}

static void inner_move(struct ordered_inner *to, uint32_t to_at, const struct ordered_inner *from, uint32_t at,
                       uint32_t count)
{
    memmove(to->counts + to_at, from->counts + at, count * sizeof(to->counts[0]));
    memmove(to->children + to_at, from->children + at, count * sizeof(to->children[0]));
    memmove(to->scores + to_at, from->scores + at, count * sizeof(to->scores[0]));
    memmove(to->elements + to_at, from->elements + at, count * sizeof(to->elements[0]));
}

/* Makes what the parent knows of a child right. */
static void note_child(struct ordered_inner *parent, uint32_t at, void *child, bool is_leaf)
{
    parent->children[at] = child;
    if (is_leaf) {
        const struct ordered_leaf *leaf = child;
        parent->counts[at] = leaf->used;
        parent->scores[at] = leaf->scores[0];
        parent->elements[at] = leaf->elements[0];
    } else {
        const struct ordered_inner *inner = child;
        parent->counts[at] = 0;
        for (uint32_t i = 0; i < inner->used; i++)
            parent->counts[at] += inner->counts[i];
        parent->scores[at] = inner->scores[0];
        parent->elements[at] = inner->elements[0];
    }
}

static void leaf_balance(struct ordered_leaf *left, struct ordered_leaf *right, uint32_t left_used)
{
    if (left->used < left_used) {
        uint32_t moved = left_used - left->used;
        leaf_move(left, left->used, right, 0, moved);
        leaf_move(right, 0, right, moved, right->used - moved);
        right->used -= moved;
    } else {
        uint32_t moved = left->used - left_used;
        leaf_move(right, moved, right, 0, right->used);
        leaf_move(right, 0, left, left_used, moved);
        right->used += moved;
    }
    left->used = left_used;
}

static void inner_balance(struct ordered_inner *left, struct ordered_inner *right, uint32_t left_used)
{
    if (left->used < left_used) {
        uint32_t moved = left_used - left->used;
        inner_move(left, left->used, right, 0, moved);
        inner_move(right, 0, right, moved, right->used - moved);
        right->used -= moved;
    } else {
        uint32_t moved = left->used - left_used;
        inner_move(right, moved, right, 0, right->used);
        inner_move(right, 0, left, left_used, moved);
        right->used += moved;
    }
    left->used = left_used;
}

/* The first element of a leaf changed: the levels above keep it too. */
static void note_first(const struct ordered *tree, const struct path *path)
{
    for (uint32_t level = tree->height; level-- > 0;) {
        const struct step *step = &path->steps[level];
        step->node->scores[step->at] = path->leaf->scores[0];
        step->node->elements[step->at] = path->leaf->elements[0];
        if (step->at > 0)
            return;
    }
}

/* ---- insertion ------------------------------------------------------------------------------------------------------
 */

/* Gives part of a full leaf to a neighbour under the same parent. */
static bool give_to_neighbour(const struct ordered *tree, const struct path *path)
{
    if (tree->height == 0)
        return false;
    struct ordered_inner *parent = path->steps[tree->height - 1].node;
    uint32_t at = path->steps[tree->height - 1].at, left;
    const struct ordered_leaf *before = at > 0 ? parent->children[at - 1] : NULL;
    const struct ordered_leaf *behind = at + 1 < parent->used ? parent->children[at + 1] : NULL;
    if (before && before->used <= LEAF - LEAF_GIVE && (!behind || before->used <= behind->used))
        left = at - 1;
    else if (behind && behind->used <= LEAF - LEAF_GIVE)
        left = at;
    else
        return false;
    struct ordered_leaf *one = parent->children[left], *two = parent->children[left + 1];
    leaf_balance(one, two, (one->used + two->used) / 2);
    note_child(parent, left, one, true);
    note_child(parent, left + 1, two, true);
    return true;
}

/* Where to cut a full node: in the middle, but for what is filled from one end. */
static uint32_t cut_at(uint32_t used, bool at_end, bool at_start)
{
    return at_end ? used - 1 : at_start ? 1 : used / 2;
}

/* A new child behind the one at the path's step, up to the root. `spare` has as many nodes as that takes. */
static void insert_child(struct ordered *tree, const struct path *path, void *child, struct ordered_inner **spare,
                         bool at_end, bool at_start)
{
    bool is_leaf = true;
    for (uint32_t level = tree->height; level-- > 0; is_leaf = false) {
        struct ordered_inner *node = path->steps[level].node, *right = NULL;
        uint32_t at = path->steps[level].at;
        note_child(node, at, node->children[at], is_leaf);
        if (node->used == INNER) {
            right = *spare++;
            right->used = 0;
            tree->inners++;
            inner_balance(node, right, cut_at(INNER, at_end, at_start));
            if (at >= node->used) {
                at -= node->used;
                node = right;
            }
        }
        inner_move(node, at + 2, node, at + 1, node->used - at - 1);
        node->used++;
        note_child(node, at + 1, child, is_leaf);
        if (!right)
            return;
        child = right;
    }
    struct ordered_inner *root = *spare;
    tree->inners++;
    root->used = 2;
    note_child(root, 0, tree->root, is_leaf);
    note_child(root, 1, child, is_leaf);
    tree->root = root;
    tree->height++;
}

/* Counts of the nodes above the first one that is not split stay as they were; those of split ones are noted anew. */
static bool split_leaf(struct ordered *tree, const struct path *path)
{
    struct ordered_inner *spare[HEIGHT_MAX + 1];
    uint32_t spares = 0, level = tree->height;
    while (level > 0 && path->steps[level - 1].node->used == INNER)
        level--;
    uint32_t wanted = tree->height - level + (level == 0);
    struct ordered_leaf *leaf = path->leaf, *right = mem_try_alloc(sizeof(*right));
    bool had = right != NULL;
    for (; had && spares < wanted; spares++) {
        spare[spares] = mem_try_alloc(sizeof(*spare[0]));
        if (!spare[spares]) {
            had = false;
            break;
        }
    }
    if (!had) {
        while (spares > 0)
            mem_free(spare[--spares]);
        mem_free(right);
        return false;
    }
    bool at_end = !leaf->next && path->at == leaf->used, at_start = !leaf->prev && path->at == 0;
    right->used = 0;
    leaf_balance(leaf, right, cut_at(leaf->used, at_end, at_start));
    right->next = leaf->next;
    right->prev = leaf;
    *(leaf->next ? &leaf->next->prev : &tree->last) = right;
    leaf->next = right;
    tree->leaves++;
    insert_child(tree, path, right, spare, at_end, at_start);
    return true;
}

static bool first_leaf(struct ordered *tree)
{
    struct ordered_leaf *leaf = mem_try_alloc(sizeof(*leaf));
    if (!leaf)
        return false;
    leaf->next = leaf->prev = NULL;
    leaf->used = 0;
    tree->root = tree->first = tree->last = leaf;
    tree->leaves = 1;
    return true;
}

bool ordered_insert(struct ordered *tree, double score, void *element)
{
    struct ordered_bound bound = key_bound(score, tree->member(element));
    struct path path;
    if (!tree->root && !first_leaf(tree))
        return false;
    descend(tree, &bound, &path);
    if (UNLIKELY(path.leaf->used == LEAF)) {
        bool at_edge = (!path.leaf->next && path.at == LEAF) || (!path.leaf->prev && path.at == 0);
        if ((at_edge || !give_to_neighbour(tree, &path)) && !split_leaf(tree, &path))
            return false;
        descend(tree, &bound, &path);
    }
    struct ordered_leaf *leaf = path.leaf;
    leaf_move(leaf, path.at + 1, leaf, path.at, leaf->used - path.at);
    leaf->scores[path.at] = score;
    leaf->elements[path.at] = element;
    leaf->used++;
    tree->count++;
    for (uint32_t level = 0; level < tree->height; level++)
        path.steps[level].node->counts[path.steps[level].at]++;
    if (path.at == 0)
        note_first(tree, &path);
    return true;
}

/* ---- removal --------------------------------------------------------------------------------------------------------
 */

static void drop_leaf(struct ordered *tree, struct ordered_leaf *leaf)
{
    *(leaf->prev ? &leaf->prev->next : &tree->first) = leaf->next;
    *(leaf->next ? &leaf->next->prev : &tree->last) = leaf->prev;
    mem_free(leaf);
    tree->leaves--;
}

/* A child below its minimum joins a neighbour or takes from it. */
static void mend_child(struct ordered *tree, struct ordered_inner *parent, uint32_t at, bool is_leaf)
{
    uint32_t left = at > 0 ? at - 1 : at;
    void *one = parent->children[left], *two = parent->children[left + 1];
    bool joined;
    if (is_leaf) {
        struct ordered_leaf *a = one, *b = two;
        uint32_t total = a->used + b->used;
        joined = total <= LEAF_JOIN;
        leaf_balance(a, b, joined ? total : total / 2);
        if (joined)
            drop_leaf(tree, b);
    } else {
        struct ordered_inner *a = one, *b = two;
        uint32_t total = a->used + b->used;
        joined = total <= INNER_JOIN;
        inner_balance(a, b, joined ? total : total / 2);
        if (joined) {
            mem_free(b);
            tree->inners--;
        }
    }
    note_child(parent, left, one, is_leaf);
    if (joined) {
        inner_move(parent, left + 1, parent, left + 2, parent->used - left - 2);
        parent->used--;
    } else {
        note_child(parent, left + 1, two, is_leaf);
    }
}

static void remove_span(struct ordered *tree, const struct path *path, uint32_t count)
{
    struct ordered_leaf *leaf = path->leaf;
    leaf_move(leaf, path->at, leaf, path->at + count, leaf->used - path->at - count);
    leaf->used -= count;
    tree->count -= count;
    bool lacking = leaf->used < LEAF_MIN, is_leaf = true;
    for (uint32_t level = tree->height; level-- > 0; is_leaf = false) {
        struct ordered_inner *node = path->steps[level].node;
        uint32_t at = path->steps[level].at;
        node->counts[at] -= count;
        if (UNLIKELY(lacking)) {
            mend_child(tree, node, at, is_leaf);
        } else if (is_leaf) {
            node->scores[at] = leaf->scores[0];
            node->elements[at] = leaf->elements[0];
        } else {
            const struct ordered_inner *child = node->children[at];
            node->scores[at] = child->scores[0];
            node->elements[at] = child->elements[0];
        }
        lacking = node->used < INNER_MIN && level > 0;
    }
    while (tree->height > 0 && ((struct ordered_inner *)tree->root)->used == 1) {
        struct ordered_inner *root = tree->root;
        tree->root = root->children[0];
        tree->height--;
        tree->inners--;
        mem_free(root);
    }
    if (tree->count == 0)
        ordered_deinit(tree);
}

void *ordered_remove(struct ordered *tree, double score, struct bytes member)
{
    struct path path;
    if (!find(tree, score, member, &path))
        return NULL;
    void *element = path.leaf->elements[path.at];
    remove_span(tree, &path, 1);
    return element;
}

uint32_t ordered_delete_ranks(struct ordered *tree, uint32_t rank, uint32_t count, ordered_each each, void *context)
{
    uint32_t gone = 0;
    while (gone < count && rank < tree->count) {
        struct path path;
        descend_to_rank(tree, rank, &path);
        uint32_t here = path.leaf->used - path.at;
        if (here > count - gone)
            here = count - gone;
        for (uint32_t i = 0; each && i < here; i++)
            each(context, path.leaf->elements[path.at + i]);
        remove_span(tree, &path, here);
        gone += here;
    }
    return gone;
}

/* ---- changes in place -----------------------------------------------------------------------------------------------
 */

void *ordered_replace(struct ordered *tree, double score, void *element)
{
    struct path path;
    if (!find(tree, score, tree->member(element), &path))
        return NULL;
    void *old = path.leaf->elements[path.at];
    path.leaf->elements[path.at] = element;
    if (path.at == 0)
        note_first(tree, &path);
    return old;
}

bool ordered_rescore(struct ordered *tree, double old_score, void *element, double score)
{
    struct bytes member = tree->member(element);
    struct ordered_bound bound = key_bound(score, member);
    struct path path;
    CHECK(find(tree, old_score, member, &path));
    struct ordered_cursor before = {path.leaf, path.at}, behind = before;
    ordered_prev(&before);
    ordered_next(&behind);
    if ((!before.leaf || is_before(tree, &bound, ordered_score(before), ordered_element(before))) &&
        (!behind.leaf || !is_before(tree, &bound, ordered_score(behind), ordered_element(behind)))) {
        path.leaf->scores[path.at] = score;
        if (path.at == 0)
            note_first(tree, &path);
        return true;
    }
    /* The new place first: that is the step which may fail. */
    if (!ordered_insert(tree, score, element))
        return false;
    (void)ordered_remove(tree, old_score, member);
    return true;
}

/* ---- checking -------------------------------------------------------------------------------------------------------
 */

static bool check_node(const struct ordered *tree, const void *node, uint32_t height, bool is_root, uint32_t *count,
                       const struct ordered_leaf **leaf)
{
    if (height == 0) {
        /* Leaves come in the order of their list. */
        if (node != *leaf || (!is_root && (*leaf)->used == 0))
            return false;
        *count = (*leaf)->used;
        *leaf = (*leaf)->next;
        return true;
    }
    const struct ordered_inner *inner = node;
    *count = 0;
    if (inner->used < 2 || inner->used > INNER)
        return false;
    for (uint32_t i = 0; i < inner->used; i++) {
        const struct ordered_leaf *first = *leaf;
        uint32_t below;
        if (!check_node(tree, inner->children[i], height - 1, false, &below, leaf) || below != inner->counts[i] ||
            first->scores[0] != inner->scores[i] || first->elements[0] != inner->elements[i])
            return false;
        *count += below;
    }
    return true;
}

bool ordered_check(const struct ordered *tree)
{
    if (!tree->root)
        return tree->count == 0 && !tree->first && !tree->last && tree->height == 0 && tree->leaves + tree->inners == 0;
    const struct ordered_leaf *leaf = tree->first;
    uint32_t count;
    if (!check_node(tree, tree->root, tree->height, true, &count, &leaf) || leaf || count != tree->count)
        return false;
    struct ordered_cursor cursor = ordered_first(tree), behind = cursor;
    for (ordered_next(&behind); behind.leaf; ordered_next(&cursor), ordered_next(&behind)) {
        struct ordered_bound bound = key_bound(ordered_score(behind), tree->member(ordered_element(behind)));
        if (!is_before(tree, &bound, ordered_score(cursor), ordered_element(cursor)))
            return false;
    }
    return cursor.leaf == tree->last;
}
