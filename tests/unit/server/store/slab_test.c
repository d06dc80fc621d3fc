#include "lib/base/random.h"
#include "server/store/slab.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void classes_waste_little_and_are_stable(void **state)
{
    (void)state;
    for (size_t size = 1; size <= SLAB_SIZE_MAX; size++) {
        size_t class = slab_class_size(size);
        assert_true(class >= size);
        assert_int_equal(slab_class_size(class), class);
        if (size >= 512)
            assert_true(class - size <= size / 31);
        else
            assert_true(class - size < 8);
    }
    assert_int_equal(slab_class_size(SLAB_SIZE_MAX + 1), SLAB_SIZE_MAX + 1);
}

static void objects_do_not_overlap_and_come_back(void **state)
{
    (void)state;
    struct slab *slab = slab_create();
    struct slab_cache *cache = slab_cache_create(slab);
    enum { COUNT = 20000 };
    struct {
        uint8_t *at;
        size_t size;
    } *objects = calloc(COUNT, sizeof(*objects));
    struct random random;
    random_seed(&random, 1);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < COUNT; i++) {
            if (objects[i].at) {
                for (size_t at = 0; at < objects[i].size; at += 97)
                    assert_int_equal(objects[i].at[at], (uint8_t)i);
                slab_free(cache, objects[i].at, objects[i].size);
            }
            objects[i].size = 1 + random_below(&random, i % 50 == 0 ? 20000 : 300);
            objects[i].at = slab_alloc(cache, objects[i].size);
            assert_non_null(objects[i].at);
            assert_int_equal((uintptr_t)objects[i].at % 8, 0);
            if (objects[i].size % 64 == 0)
                assert_int_equal((uintptr_t)objects[i].at % 64, 0);
            memset(objects[i].at, i, objects[i].size);
        }
    }
    struct slab_stats stats;
    slab_stats_read(slab, &stats);
    assert_true(stats.reserved >= stats.used);
    for (int i = 0; i < COUNT; i++)
        slab_free(cache, objects[i].at, objects[i].size);
    slab_stats_read(slab, &stats);
    assert_int_equal(stats.used, 0);
    free(objects);
    slab_cache_destroy(cache);
    slab_destroy(slab);
}

struct worker {
    struct slab *slab;
    _Atomic(void *) *mailbox; /* COUNT objects that change hands */
    uint64_t seed;
};
enum { MAILBOX = 512, OBJECT = 200 };

static void *exchange(void *argument)
{
    struct worker *worker = argument;
    struct slab_cache *cache = slab_cache_create(worker->slab);
    struct random random;
    random_seed(&random, worker->seed);
    for (int i = 0; i < 100000; i++) {
        uint64_t *fresh = slab_alloc(cache, OBJECT);
        fresh[0] = fresh[OBJECT / 8 - 1] = worker->seed * 1000000 + (uint64_t)i;
        uint64_t *old = atomic_exchange(&worker->mailbox[random_below(&random, MAILBOX)], fresh);
        if (old) {
            CHECK(old[0] == old[OBJECT / 8 - 1]);
            slab_free(cache, old, OBJECT);
        }
    }
    slab_cache_destroy(cache);
    return NULL;
}

static void threads_free_each_others_objects(void **state)
{
    (void)state;
    struct slab *slab = slab_create();
    static _Atomic(void *) mailbox[MAILBOX];
    struct worker workers[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){slab, mailbox, (uint64_t)i + 1};
        pthread_create(&threads[i], NULL, exchange, &workers[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    struct slab_cache *cache = slab_cache_create(slab);
    for (int i = 0; i < MAILBOX; i++)
        if (mailbox[i])
            slab_free(cache, mailbox[i], OBJECT);
    slab_cache_destroy(cache);
    struct slab_stats stats;
    slab_stats_read(slab, &stats);
    assert_int_equal(stats.used, 0);
    slab_destroy(slab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_waste_little_and_are_stable),
        cmocka_unit_test(objects_do_not_overlap_and_come_back),
        cmocka_unit_test(threads_free_each_others_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
