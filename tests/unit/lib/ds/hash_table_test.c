#include "lib/ds/hash_table.h"

#include "lib/base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct element {
    uint64_t key;
    uint32_t shown;
    bool in;
};

static struct bytes key_of(const void *element)
{
    return bytes_make(&((const struct element *)element)->key, 8);
}

static const struct keyhash_secret secret = {
    {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u, 0x94d049bb133111ebu, 0x2545f4914f6cdd1du}};
static const struct hash_table_kind kind = {key_of, &secret};

static struct element *make(uint32_t count)
{
    struct element *all = mem_alloc_zeroed(count * sizeof(*all));
    for (uint32_t i = 0; i < count; i++)
        all[i].key = i;
    return all;
}

static uint64_t hash_of(const struct hash_table *table, const struct element *e)
{
    return hash_table_hash(table, key_of(e));
}

static void add(struct hash_table *table, struct element *e)
{
    assert_true(hash_table_insert(table, hash_of(table, e), e));
    e->in = true;
}

static void drop(struct hash_table *table, struct element *e)
{
    assert_ptr_equal(hash_table_remove(table, hash_of(table, e), key_of(e)), e->in ? e : NULL);
    e->in = false;
}

static void show(void *context, void *element)
{
    ((struct element *)element)->shown++;
    if (context)
        ++*(uint64_t *)context;
}

static void a_random_history_agrees_with_a_model(void **state)
{
    (void)state;
    enum { COUNT = 60000 };
    struct element *all = make(COUNT);
    struct hash_table table;
    struct random random;
    random_seed(&random, 3);
    hash_table_init(&table, &kind);
    uint64_t in = 0;
    for (int phase = 0; phase < 8; phase++) {
        unsigned chance = phase % 2 ? 20 : 80; /* mostly growing, mostly shrinking */
        for (int i = 0; i < 100000; i++) {
            struct element *e = all + random_below(&random, phase < 2 ? 300 : COUNT);
            assert_ptr_equal(hash_table_find(&table, hash_of(&table, e), key_of(e)), e->in ? e : NULL);
            if (random_below(&random, 100) < chance) {
                if (!e->in) {
                    add(&table, e);
                    in++;
                }
            } else {
                in -= e->in;
                drop(&table, e);
            }
        }
        assert_int_equal(table.used, in);
        assert_true(hash_table_check(&table));
    }
    for (uint32_t i = 0; i < COUNT; i++)
        drop(&table, all + i);
    assert_int_equal(hash_table_memory(&table), 0);
    assert_true(hash_table_check(&table));
    mem_free(all);
}

static void a_scan_shows_what_stays_whatever_the_table_does(void **state)
{
    (void)state;
    enum { COUNT = 40000 };
    struct random random;
    random_seed(&random, 5);
    for (int round = 0; round < 12; round++) {
        struct element *all = make(COUNT);
        struct hash_table table;
        hash_table_init(&table, &kind);
        uint32_t stay = 1 + (uint32_t)random_below(&random, round % 3 == 0 ? 20 : COUNT / 2);
        bool grows = round & 1;
        for (uint32_t i = 0; i < (grows ? stay : COUNT); i++)
            add(&table, all + i);
        uint64_t cursor = 0;
        uint32_t other = stay, calls = 0;
        do {
            cursor = hash_table_scan(&table, cursor, show, NULL);
            assert_true(cursor >> 48 == 0);
            for (int k = 0; k < 20 && other < COUNT; k++, other++) {
                if (grows)
                    add(&table, all + other);
                else
                    drop(&table, all + other);
            }
            assert_true(++calls < 3 * COUNT);
        } while (cursor);
        for (uint32_t i = 0; i < stay; i++)
            if (all[i].shown == 0)
                fail_msg("round %d: element %u of %u was not shown", round, i, stay);
        assert_true(hash_table_check(&table));
        hash_table_deinit(&table);
        mem_free(all);
    }
}

static void a_scan_of_a_table_at_rest_shows_each_element_once(void **state)
{
    (void)state;
    for (uint32_t count = 1; count < 70000; count = count * 3 + 1) {
        struct element *all = make(count);
        struct hash_table table;
        hash_table_init(&table, &kind);
        for (uint32_t i = 0; i < count; i++)
            add(&table, all + i);
        uint64_t cursor = 0;
        do {
            cursor = hash_table_scan(&table, cursor, show, NULL);
        } while (cursor);
        hash_table_walk(&table, show, NULL);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(all[i].shown, 2);
        hash_table_deinit(&table);
        mem_free(all);
    }
}

static void elements_may_be_taken_while_iterating(void **state)
{
    (void)state;
    enum { COUNT = 30000 };
    struct element *all = make(COUNT);
    struct hash_table table;
    hash_table_init(&table, &kind);
    for (uint32_t i = 0; i < COUNT; i++)
        add(&table, all + i);
    struct hash_iterator iterator;
    hash_iterator_init(&iterator);
    while (hash_iterator_next(&table, &iterator)) {
        struct element *e = iterator.place.element;
        e->shown++;
        if (e->key % 16)
            assert_ptr_equal(hash_table_take_at(&table, &iterator.place), e);
    }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(all[i].shown, 1);
    size_t before = hash_table_memory(&table);
    hash_table_fit(&table);
    assert_int_equal(table.used, COUNT / 16);
    assert_true(hash_table_memory(&table) < before / 4);
    assert_true(hash_table_check(&table));
    hash_iterator_init(&iterator);
    uint64_t drained = 0;
    int calls = 1;
    while (hash_table_drain(&table, 100, &iterator, show, &drained))
        calls++;
    assert_int_equal(drained, COUNT / 16);
    assert_int_equal(calls, COUNT / 16 / 100 + 1);
    assert_int_equal(hash_table_memory(&table), 0);
    mem_free(all);
}

static void a_place_takes_another_element_of_the_same_key(void **state)
{
    (void)state;
    struct element one = {.key = 7}, two = {.key = 7};
    struct hash_table table;
    struct hash_place place;
    hash_table_init(&table, &kind);
    add(&table, &one);
    hash_table_find_place(&table, hash_of(&table, &one), key_of(&one), &place);
    hash_table_replace(&place, &two);
    assert_ptr_equal(hash_table_find(&table, hash_of(&table, &one), key_of(&one)), &two);
    hash_table_deinit(&table);
}

static void random_elements_are_uniform(void **state)
{
    (void)state;
    struct random random;
    random_seed(&random, 11);
    static const uint32_t counts[] = {1, 5, 100, 4000, 11000, 25000};
    for (size_t k = 0; k < COUNT_OF(counts); k++) {
        uint32_t count = counts[k], draws = count * 40;
        struct element *all = make(count);
        struct hash_table table;
        hash_table_init(&table, &kind);
        for (uint32_t i = 0; i < count; i++)
            add(&table, all + i);
        for (uint32_t i = 0; i < draws; i++)
            ((struct element *)hash_table_random(&table, &random))->shown++;
        double chi = 0;
        for (uint32_t i = 0; i < count; i++)
            chi += (all[i].shown - 40.0) * (all[i].shown - 40.0) / 40.0;
        /* Mean count - 1, deviation sqrt(2 count): six of them are chance no more. */
        double off = chi - (count - 1);
        if (off * off > 36.0 * 2 * count)
            fail_msg("%u elements: chi square %.0f", count, chi);
        hash_table_deinit(&table);
        mem_free(all);
    }
}

static struct bytes whole_key(const void *element)
{
    (void)element;
    return BYTES("same");
}

static void colliding_hashes_still_work(void **state)
{
    (void)state;
    /* Far more equal hashes than anyone will see: everything lands in one bucket's range. */
    static const struct hash_table_kind bad = {whole_key, &secret};
    enum { COUNT = 8000 };
    struct element *all = make(COUNT);
    struct hash_table table;
    hash_table_init(&table, &bad);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_true(hash_table_insert(&table, hash_table_hash(&table, BYTES("same")), all + i));
    assert_int_equal(table.used, COUNT);
    assert_non_null(hash_table_find(&table, hash_table_hash(&table, BYTES("same")), BYTES("same")));
    assert_null(hash_table_find(&table, hash_table_hash(&table, BYTES("same")), BYTES("other")));
    hash_table_deinit(&table);
    mem_free(all);
}

static void overhead_of_large_tables_is_small(void **state)
{
    (void)state;
    enum { COUNT = 1 << 21 };
    struct element *all = make(COUNT);
    struct hash_table table;
    hash_table_init(&table, &kind);
    double sum = 0;
    uint32_t samples = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        add(&table, all + i);
        if (i > COUNT / 8 && i % 8192 == 0) {
            sum += (double)hash_table_memory(&table) / (i + 1);
            samples++;
        }
    }
    print_message("hash_table: %.2f bytes per element on average, %.2f at %u\n", sum / samples,
                  (double)hash_table_memory(&table) / COUNT, COUNT);
    assert_true(sum / samples < 11.2);
    assert_true(hash_table_check(&table));
    hash_table_deinit(&table);
    mem_free(all);
}

/* The deep end: more segments than the kept bits can tell apart at first, so hashes are taken anew. Keys whose hashes
 * begin with the same six bits get there with a sixty-fourth of the elements. */
static void hashes_are_taken_anew_in_very_large_tables(void **state)
{
    (void)state;
    enum { COUNT = 150000 };
    struct element *all = make(COUNT);
    struct hash_table table;
    hash_table_init(&table, &kind);
    uint64_t key = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        do {
            all[i].key = key++;
        } while (hash_of(&table, all + i) >> 58 != 21);
        add(&table, all + i);
    }
    assert_true(table.depth > 10);
    assert_true(hash_table_check(&table));
    uint64_t cursor = 0, shown = 0;
    do {
        cursor = hash_table_scan(&table, cursor, show, &shown);
    } while (cursor);
    assert_int_equal(shown, COUNT);
    struct random random;
    random_seed(&random, 2);
    for (int i = 0; i < 1000; i++)
        assert_non_null(hash_table_random(&table, &random));
    for (uint32_t i = 0; i < COUNT; i++)
        if (i % 64)
            drop(&table, all + i);
    assert_true(table.depth < 11);
    assert_true(hash_table_check(&table));
    hash_table_deinit(&table);
    mem_free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_random_history_agrees_with_a_model),
        cmocka_unit_test(a_scan_shows_what_stays_whatever_the_table_does),
        cmocka_unit_test(a_scan_of_a_table_at_rest_shows_each_element_once),
        cmocka_unit_test(elements_may_be_taken_while_iterating),
        cmocka_unit_test(a_place_takes_another_element_of_the_same_key),
        cmocka_unit_test(random_elements_are_uniform),
        cmocka_unit_test(colliding_hashes_still_work),
        cmocka_unit_test(overhead_of_large_tables_is_small),
        cmocka_unit_test(hashes_are_taken_anew_in_very_large_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
