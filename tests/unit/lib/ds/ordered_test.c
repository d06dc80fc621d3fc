#include "lib/ds/ordered.h"

#include "lib/base/mem.h"
#include "lib/base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct element {
    double score;
    char name[12];
    bool in;
};

static struct bytes member_of(const void *element)
{
    return bytes_of(((const struct element *)element)->name);
}

static int by_order(const void *a, const void *b)
{
    const struct element *one = *(struct element *const *)a, *two = *(struct element *const *)b;
    if (one->score != two->score)
        return one->score < two->score ? -1 : 1;
    return bytes_compare(member_of(one), member_of(two));
}

static struct element *make(uint32_t count)
{
    struct element *all = mem_alloc_zeroed(count * sizeof(*all));
    for (uint32_t i = 0; i < count; i++)
        snprintf(all[i].name, sizeof(all[i].name), "m%u", i * 2654435761u);
    return all;
}

static struct ordered_bound key(const struct element *e)
{
    return (struct ordered_bound){.kind = ORDERED_KEY, .score = e->score, .member = member_of(e)};
}

/* The tree against a sorted array of the same elements. */
static void compare(const struct ordered *tree, struct element *all, uint32_t count)
{
    struct element **sorted = mem_alloc((count + 1) * sizeof(*sorted));
    uint32_t in = 0;
    for (uint32_t i = 0; i < count; i++)
        if (all[i].in)
            sorted[in++] = all + i;
    qsort(sorted, in, sizeof(*sorted), by_order);
    assert_true(ordered_check(tree));
    assert_int_equal(tree->count, in);
    uint32_t rank = 0;
    for (struct ordered_cursor c = ordered_first(tree); c.leaf; ordered_next(&c), rank++) {
        assert_ptr_equal(ordered_element(c), sorted[rank]);
        assert_true(ordered_score(c) == sorted[rank]->score);
    }
    assert_int_equal(rank, in);
    for (struct ordered_cursor c = ordered_last(tree); c.leaf; ordered_prev(&c))
        assert_ptr_equal(ordered_element(c), sorted[--rank]);
    for (uint32_t i = 0; i < in; i++) {
        struct ordered_bound bound = key(sorted[i]);
        assert_true(ordered_rank_of(tree, sorted[i]->score, member_of(sorted[i]), &rank));
        assert_int_equal(rank, i);
        assert_int_equal(ordered_rank(tree, &bound), i);
        assert_ptr_equal(ordered_element(ordered_seek(tree, &bound)), sorted[i]);
        assert_ptr_equal(ordered_element(ordered_at(tree, i)), sorted[i]);
        bound.kind = ORDERED_SCORE;
        uint32_t low = ordered_rank(tree, &bound);
        assert_true(low <= i && sorted[low]->score == bound.score &&
                    (low == 0 || sorted[low - 1]->score < bound.score));
        struct ordered_cursor before = ordered_seek_before(tree, &bound);
        assert_ptr_equal(before.leaf ? ordered_element(before) : NULL, low ? sorted[low - 1] : NULL);
        bound.after = true;
        uint32_t high = ordered_rank(tree, &bound);
        assert_true(high > i && sorted[high - 1]->score == bound.score &&
                    (high == in || sorted[high]->score > bound.score));
    }
    assert_null(ordered_at(tree, in).leaf);
    mem_free(sorted);
}

static void took(void *context, void *element)
{
    ((struct element *)element)->in = false;
    /* The tree must not look at it any more. */
    memset(((struct element *)element)->name + 8, '!', 2);
    ++*(uint32_t *)context;
}

static void a_random_history_agrees_with_a_model(void **state)
{
    (void)state;
    enum { COUNT = 20000 };
    struct random random;
    random_seed(&random, 17);
    static const uint32_t distinct[] = {1, 3, 100, 1u << 30};
    for (unsigned round = 0; round < 8; round++) {
        struct element *all = make(COUNT);
        struct ordered tree;
        ordered_init(&tree, member_of);
        uint32_t scores = distinct[round / 2];
        for (int phase = 0; phase < 6; phase++) {
            uint32_t chance = phase % 2 ? 25 : 85, range = phase < 2 ? 200 : COUNT;
            for (int i = 0; i < 25000; i++) {
                struct element *e = all + random_below(&random, range);
                double score = (double)random_below(&random, scores) - 50;
                if (random_below(&random, 100) >= chance) {
                    assert_ptr_equal(ordered_remove(&tree, e->score, member_of(e)), e->in ? e : NULL);
                    e->in = false;
                } else if (e->in) {
                    if (round & 1)
                        score = e->score + 1e-9;
                    assert_true(ordered_rescore(&tree, e->score, e, score));
                    e->score = score;
                } else {
                    e->score = score;
                    assert_true(ordered_insert(&tree, score, e));
                    e->in = true;
                }
            }
            compare(&tree, all, COUNT);
        }
        while (tree.count) {
            uint32_t rank = (uint32_t)random_below(&random, tree.count), count = (uint32_t)random_below(&random, 700);
            uint32_t before = tree.count, seen = 0;
            uint32_t gone = ordered_delete_ranks(&tree, rank, count, took, &seen);
            assert_int_equal(gone, count < before - rank ? count : before - rank);
            assert_int_equal(seen, gone);
            assert_int_equal(tree.count, before - gone);
            assert_true(ordered_check(&tree));
        }
        assert_int_equal(ordered_memory(&tree), 0);
        mem_free(all);
    }
}

static void zeros_infinities_and_ties_have_their_order(void **state)
{
    (void)state;
    struct element e[] = {{INFINITY, "z", true}, {-0.0, "b", true},      {0.0, "a", true},
                          {0.0, "c", true},      {-INFINITY, "y", true}, {0.0, "", true}};
    struct ordered tree;
    ordered_init(&tree, member_of);
    for (size_t i = 0; i < COUNT_OF(e); i++)
        assert_true(ordered_insert(&tree, e[i].score, e + i));
    compare(&tree, e, COUNT_OF(e));
    static const char *order[] = {"y", "", "a", "b", "c", "z"};
    for (uint32_t i = 0; i < COUNT_OF(e); i++)
        assert_string_equal(((struct element *)ordered_element(ordered_at(&tree, i)))->name, order[i]);
    assert_ptr_equal(ordered_remove(&tree, 0.0, BYTES("b")), &e[1]);
    assert_null(ordered_remove(&tree, 1.0, BYTES("c")));
    ordered_deinit(&tree);
}

static void members_bound_a_range_of_equal_scores(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct element *all = make(COUNT);
    struct ordered tree;
    ordered_init(&tree, member_of);
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(all[i].name, sizeof(all[i].name), "%04u", i * 2);
        assert_true(ordered_insert(&tree, 7, all + i));
    }
    for (uint32_t i = 0; i <= 2 * COUNT; i++) {
        char text[8];
        snprintf(text, sizeof(text), "%04u", i);
        struct ordered_bound bound = {.kind = ORDERED_LEX, .member = bytes_of(text)};
        assert_int_equal(ordered_rank(&tree, &bound), (i + 1) / 2);
        bound.after = true;
        assert_int_equal(ordered_rank(&tree, &bound), i / 2 + 1 < COUNT ? i / 2 + 1 : COUNT);
    }
    ordered_deinit(&tree);
    mem_free(all);
}

static void an_element_is_replaced_by_its_copy(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    struct element *all = make(COUNT), *copies = make(COUNT);
    struct ordered tree;
    ordered_init(&tree, member_of);
    for (uint32_t i = 0; i < COUNT; i++) {
        all[i].score = copies[i].score = i % 10;
        copies[i].in = true;
        assert_true(ordered_insert(&tree, all[i].score, all + i));
    }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_ptr_equal(ordered_replace(&tree, all[i].score, copies + i), all + i);
    mem_free(all);
    compare(&tree, copies, COUNT);
    ordered_deinit(&tree);
    mem_free(copies);
}

static double overhead(struct element *all, uint32_t count, int how)
{
    struct ordered tree;
    struct random random;
    random_seed(&random, 1);
    ordered_init(&tree, member_of);
    for (uint32_t i = 0; i < count; i++)
        assert_true(ordered_insert(&tree, how == 0 ? random_unit(&random) : how == 1 ? i : -(double)i, all + i));
    assert_true(ordered_check(&tree));
    double bytes = (double)tree.leaves * 1024 / count + (double)tree.inners * 1024 / count;
    ordered_deinit(&tree);
    return bytes;
}

static void nodes_cost_few_bytes_per_element(void **state)
{
    (void)state;
    enum { COUNT = 500000 };
    struct element *all = make(COUNT);
    double random = overhead(all, COUNT, 0), up = overhead(all, COUNT, 1), down = overhead(all, COUNT, 2);
    print_message("ordered: %.2f bytes per element at random, %.2f ascending, %.2f descending\n", random, up, down);
    assert_true(random < 24 && up < 18 && down < 18);
    mem_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_random_history_agrees_with_a_model),
        cmocka_unit_test(zeros_infinities_and_ties_have_their_order),
        cmocka_unit_test(members_bound_a_range_of_equal_scores),
        cmocka_unit_test(an_element_is_replaced_by_its_copy),
        cmocka_unit_test(nodes_cost_few_bytes_per_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
