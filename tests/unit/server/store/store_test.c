#include "lib/base/buf.h"
#include "lib/base/clock.h"
#include "lib/base/number.h"
#include "lib/base/random.h"
#include "server/store/store.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define NOW 1000000

struct fixture {
    struct store_options options;
    struct store *store;
    struct store_user *user;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    atomic_store(&fixture->options.databases, 16);
    atomic_store(&fixture->options.active_expire, 1);
    fixture->store = store_create(&fixture->options, false);
    fixture->user = store_user_create(fixture->store);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    bool good = store_check(fixture->user);
    store_user_destroy(fixture->user);
    store_destroy(fixture->store);
    free(fixture);
    return good ? 0 : -1;
}

static struct key key_of(struct store *store, const char *name)
{
    struct key key;
    store_key(store, bytes_of(name), &key);
    return key;
}

static void put(struct store_user *user, uint32_t db, const char *name, struct bytes value, int64_t expires_at)
{
    struct store *store = store_of(user);
    struct key key = key_of(store, name);
    struct place place;
    store_lock_slot(store, key.slot);
    (void)store_find(user, db, &key, NOW, &place);
    assert_int_equal(store_put_string(user, db, &key, &place, value, ENTRY_PLAIN, expires_at), 0);
    assert_true(bytes_equal(entry_string(place.entry), value));
    assert_true(bytes_equal(entry_key(place.entry), bytes_of(name)));
    store_unlock_slot(store, key.slot);
}

/* The value is copied to `to`; false when the key is not there. */
static bool get(struct store_user *user, uint32_t db, const char *name, int64_t now_ms, struct buf *to)
{
    struct store *store = store_of(user);
    struct key key = key_of(store, name);
    store_lock_slot(store, key.slot);
    struct entry *entry = store_read(user, db, &key, now_ms);
    buf_clear(to);
    if (entry)
        assert_int_equal(buf_append_bytes(to, entry_string(entry)), 0);
    store_unlock_slot(store, key.slot);
    return entry != NULL;
}

static void values_of_every_size_are_kept_and_overwritten(void **state)
{
    struct fixture *fixture = *state;
    static const size_t sizes[] = {0, 1, 7, 8, 44, 100, 1024, 1025, 1030, 16383, 16384, 20000, 300000, 3, 16384, 0};
    uint8_t *data = malloc(300000);
    struct buf copy;
    buf_init(&copy, 1 << 20);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        memset(data, (int)i + 1, sizes[i]);
        put(fixture->user, 0, "key", bytes_make(data, sizes[i]), i % 3 == 0 ? NOW + 5 : STORE_NO_EXPIRY);
        assert_true(get(fixture->user, 0, "key", NOW, &copy));
        assert_true(bytes_equal(buf_bytes(&copy), bytes_make(data, sizes[i])));
    }
    buf_deinit(&copy);
    free(data);
}

static void long_keys_work(void **state)
{
    struct fixture *fixture = *state;
    char name[2000];
    struct buf copy;
    buf_init(&copy, 1 << 20);
    for (size_t size = 250; size < 260; size++) {
        memset(name, 'k', size);
        name[size] = '\0';
        put(fixture->user, 3, name, bytes_of(name + 100), NOW + 100);
        assert_true(get(fixture->user, 3, name, NOW, &copy));
        assert_int_equal(copy.size, size - 100);
        assert_false(get(fixture->user, 3, name, NOW + 100, &copy));
    }
    buf_deinit(&copy);
}

static void a_key_is_gone_the_millisecond_it_expires(void **state)
{
    struct fixture *fixture = *state;
    struct buf copy;
    buf_init(&copy, 1000);
    put(fixture->user, 0, "k", BYTES("v"), NOW + 10);
    assert_true(get(fixture->user, 0, "k", NOW + 9, &copy));
    assert_false(get(fixture->user, 0, "k", NOW + 10, &copy));
    uint64_t keys, expires;
    store_count(fixture->store, 0, &keys, &expires, NULL);
    assert_int_equal(keys, 0);
    assert_int_equal(expires, 0);
    buf_deinit(&copy);
}

static void expiry_is_set_changed_and_dropped(void **state)
{
    struct fixture *fixture = *state;
    struct key key = key_of(fixture->store, "k");
    uint64_t expires;
    static const int64_t times[] = {NOW + 5, NOW + 7, STORE_NO_EXPIRY, STORE_NO_EXPIRY, NOW + 1};
    put(fixture->user, 0, "k", BYTES("some value"), STORE_NO_EXPIRY);
    for (size_t i = 0; i < 5; i++) {
        struct place place;
        store_lock_slot(fixture->store, key.slot);
        assert_non_null(store_find(fixture->user, 0, &key, NOW, &place));
        assert_int_equal(store_set_expiry(fixture->user, 0, &key, &place, times[i]), 0);
        assert_true(bytes_equal(entry_string(place.entry), BYTES("some value")));
        store_unlock_slot(fixture->store, key.slot);
        store_count(fixture->store, 0, NULL, &expires, NULL);
        assert_int_equal(expires, times[i] != STORE_NO_EXPIRY);
    }
}

static void a_hundred_thousand_keys_go_in_and_out(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    enum { COUNT = 100000 };
    char name[32];
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "key:%d", i);
        put(fixture->user, (uint32_t)i % 2, name, bytes_of(name), STORE_NO_EXPIRY);
    }
    assert_true(store_check(fixture->user));
    uint64_t keys;
    store_count(store, 1, &keys, NULL, NULL);
    assert_int_equal(keys, COUNT / 2);
    for (int i = 0; i < COUNT; i++) {
        if (i % 10 == 0)
            continue;
        snprintf(name, sizeof(name), "key:%d", i);
        struct key key = key_of(store, name);
        struct place place;
        store_lock_slot(store, key.slot);
        assert_non_null(store_find(fixture->user, (uint32_t)i % 2, &key, NOW, &place));
        store_remove(fixture->user, (uint32_t)i % 2, &key, &place);
        assert_null(store_find(fixture->user, (uint32_t)i % 2, &key, NOW, &place));
        store_unlock_slot(store, key.slot);
    }
    assert_true(store_check(fixture->user));
    store_lock_all(store);
    store_swap(fixture->user, 0, 1);
    store_unlock_all(store);
    store_count(store, 0, &keys, NULL, NULL);
    assert_int_equal(keys, 0);
    store_count(store, 1, &keys, NULL, NULL);
    assert_int_equal(keys, COUNT / 10);
    store_lock_all(store);
    store_flush(fixture->user, UINT32_MAX);
    store_unlock_all(store);
    store_count(store, 1, &keys, NULL, NULL);
    assert_int_equal(keys, 0);
}

struct seen {
    uint8_t *flags;
    int limit;
};

static void note_seen(void *context, const struct entry *entry)
{
    struct seen *seen = context;
    struct bytes name = entry_key(entry);
    char text[32] = {0};
    int number;
    memcpy(text, name.at, name.size < 31 ? name.size : 31);
    if (sscanf(text, "stay:%d", &number) == 1 && number < seen->limit)
        seen->flags[number] = 1;
}

/* Between two calls of scan many keys come and go, so that tables grow and shrink under the cursor. */
static void scan_shows_every_key_that_stays(void **state)
{
    struct fixture *fixture = *state;
    enum { STAY = 3000 };
    char name[32];
    struct random random;
    random_seed(&random, 7);
    /* One slot only: the hardest case for one table. */
    struct seen seen = {calloc(STAY, 1), STAY};
    for (int i = 0; i < STAY; i++) {
        snprintf(name, sizeof(name), "stay:%d", i);
        put(fixture->user, 0, name, BYTES("v"), STORE_NO_EXPIRY);
    }
    uint64_t cursor = 0;
    int moving = 0, calls = 0;
    do {
        cursor = store_scan(fixture->user, 0, cursor, 20, NOW, note_seen, &seen);
        bool growing = (calls / 50) % 2 == 0;
        for (int i = 0; i < 500; i++) {
            if (growing) {
                snprintf(name, sizeof(name), "move:%d", moving++);
                put(fixture->user, 0, name, BYTES("v"), STORE_NO_EXPIRY);
            } else if (moving > 0) {
                snprintf(name, sizeof(name), "move:%d", --moving);
                struct key key = key_of(fixture->store, name);
                struct place place;
                store_lock_slot(fixture->store, key.slot);
                if (store_find(fixture->user, 0, &key, NOW, &place))
                    store_remove(fixture->user, 0, &key, &place);
                store_unlock_slot(fixture->store, key.slot);
            }
        }
        calls++;
    } while (cursor != 0 && calls < 100000);
    assert_int_equal(cursor, 0);
    for (int i = 0; i < STAY; i++)
        assert_int_equal(seen.flags[i], 1);
    free(seen.flags);
}

static void the_expiry_step_reclaims_what_nobody_touches(void **state)
{
    struct fixture *fixture = *state;
    char name[32];
    int64_t now = clock_realtime_ms();
    for (int i = 0; i < 50000; i++) {
        snprintf(name, sizeof(name), "k:%d", i);
        put(fixture->user, 0, name, BYTES("v"), i % 2 ? now - 1 : now + 100000);
    }
    uint64_t removed = 0, keys;
    for (int i = 0; i < 1000 && removed < 25000; i++)
        removed += store_expire_step(fixture->user, now, 1000000);
    assert_int_equal(removed, 25000);
    store_count(fixture->store, 0, &keys, NULL, NULL);
    assert_int_equal(keys, 25000);
    assert_int_equal(store_expire_step(fixture->user, now, 1000000), 0);
    assert_int_equal(store_expire_step(fixture->user, now + 200000, 1000000000), 25000);
}

static void strings_grow_and_shrink_with_zeros(void **state)
{
    struct fixture *fixture = *state;
    struct key key = key_of(fixture->store, "s");
    static const size_t sizes[] = {5, 10, 1000, 40000, 40001, 20, 0, 17000, 3};
    struct place place;
    size_t previous = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        store_lock_slot(fixture->store, key.slot);
        (void)store_find(fixture->user, 0, &key, NOW, &place);
        uint8_t *data = store_resize_string(fixture->user, 0, &key, &place, sizes[i], ENTRY_RAW);
        assert_non_null(data);
        for (size_t at = previous; at < sizes[i]; at++)
            assert_int_equal(data[at], 0);
        for (size_t at = 0; at < previous && at < sizes[i]; at++)
            assert_int_equal(data[at], 'x');
        memset(data, 'x', sizes[i]);
        assert_int_equal(entry_string(place.entry).size, sizes[i]);
        previous = sizes[i];
        store_unlock_slot(fixture->store, key.slot);
    }
}

static void a_copied_blob_does_not_change_with_the_original(void **state)
{
    struct fixture *fixture = *state;
    struct store *store = fixture->store;
    uint8_t *data = malloc(100000);
    memset(data, 'a', 100000);
    put(fixture->user, 0, "from", bytes_make(data, 100000), STORE_NO_EXPIRY);
    struct key from = key_of(store, "from"), to = key_of(store, "to");
    uint16_t slots[2] = {(uint16_t)from.slot, (uint16_t)to.slot};
    uint32_t count = 2;
    struct place place;
    store_lock_slots(store, slots, &count);
    (void)store_find(fixture->user, 0, &from, NOW, &place);
    assert_int_equal(store_copy(fixture->user, place.entry, 5, &to, NOW), 0);
    (void)store_find(fixture->user, 0, &from, NOW, &place);
    uint8_t *changed = store_resize_string(fixture->user, 0, &from, &place, 100000, ENTRY_RAW);
    changed[0] = 'b';
    struct entry *copy = store_find(fixture->user, 5, &to, NOW, &place);
    assert_true(bytes_equal(entry_string(copy), bytes_make(data, 100000)));
    assert_int_equal(store_move(fixture->user, 5, &to, &place, 5, &from, NOW), 0);
    assert_null(store_find(fixture->user, 5, &to, NOW, &place));
    assert_non_null(store_find(fixture->user, 5, &from, NOW, &place));
    store_unlock_slots(store, slots, count);
    free(data);
}

static void random_keys_are_spread(void **state)
{
    struct fixture *fixture = *state;
    char name[32];
    int counts[10] = {0};
    struct buf chosen;
    buf_init(&chosen, 1000);
    assert_false(store_random_key(fixture->user, 0, 1, NOW, &chosen));
    for (int i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "%d", i);
        put(fixture->user, 0, name, BYTES("v"), STORE_NO_EXPIRY);
    }
    for (uint64_t i = 0; i < 2000; i++) {
        assert_true(store_random_key(fixture->user, 0, i, NOW, &chosen));
        counts[chosen.data[0] - '0']++;
    }
    for (int i = 0; i < 10; i++)
        assert_true(counts[i] > 0);
    buf_deinit(&chosen);
}

struct contender {
    struct store *store;
    uint64_t seed;
};

/* Moves amounts between counters, two slots at a time, while others do the same, scan, expire and flush another
 * database. */
static void *contend(void *argument)
{
    struct contender *contender = argument;
    struct store *store = contender->store;
    struct store_user *user = store_user_create(store);
    struct random random;
    random_seed(&random, contender->seed);
    for (int i = 0; i < 20000; i++) {
        char names[2][16];
        struct key keys[2];
        uint16_t slots[2];
        uint32_t count = 2;
        int64_t values[2];
        for (int k = 0; k < 2; k++) {
            snprintf(names[k], sizeof(names[k]), "c:%u", (unsigned)random_below(&random, 50));
            keys[k] = key_of(store, names[k]);
            slots[k] = (uint16_t)keys[k].slot;
        }
        if (strcmp(names[0], names[1]) == 0)
            continue;
        store_prefetch_entry(store, 0, &keys[0], 2);
        store_lock_slots(store, slots, &count);
        for (int k = 0; k < 2; k++) {
            struct place place;
            struct entry *entry = store_find(user, 0, &keys[k], NOW, &place);
            CHECK(entry && number_parse_i64(entry_string(entry), &values[k]));
        }
        values[0] -= 1;
        values[1] += 1;
        for (int k = 0; k < 2; k++) {
            struct place place;
            char text[24];
            size_t size = number_format_i64(text, values[k]);
            (void)store_find(user, 0, &keys[k], NOW, &place);
            CHECK(store_put_string(user, 0, &keys[k], &place, bytes_make(text, size), ENTRY_PLAIN, STORE_NO_EXPIRY) ==
                  0);
        }
        store_unlock_slots(store, slots, count);
        if (i % 2000 == 0) {
            store_lock_all(store);
            store_flush(user, 2);
            store_unlock_all(store);
        }
        char other[16];
        snprintf(other, sizeof(other), "o:%d", i % 300);
        struct key key = key_of(store, other);
        struct place place;
        store_lock_slot(store, key.slot);
        (void)store_find(user, 2, &key, NOW, &place);
        CHECK(store_put_string(user, 2, &key, &place, BYTES("v"), ENTRY_PLAIN, NOW + i % 3) == 0);
        store_unlock_slot(store, key.slot);
        if (i % 500 == 0)
            store_expire_step(user, NOW + 1, 100000);
    }
    store_user_destroy(user);
    return NULL;
}

static void sum_entry(void *context, const struct entry *entry)
{
    int64_t value;
    if (number_parse_i64(entry_string(entry), &value))
        *(int64_t *)context += value;
}

static void transfers_between_slots_keep_their_sum(void **state)
{
    struct fixture *fixture = *state;
    struct contender contenders[4];
    pthread_t threads[4];
    char name[16];
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof(name), "c:%d", i);
        put(fixture->user, 0, name, BYTES("100"), STORE_NO_EXPIRY);
    }
    for (int i = 0; i < 4; i++) {
        contenders[i] = (struct contender){fixture->store, (uint64_t)i};
        pthread_create(&threads[i], NULL, contend, &contenders[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    int64_t sum = 0;
    uint64_t cursor = 0;
    do {
        cursor = store_scan(fixture->user, 0, cursor, 1000, NOW, sum_entry, &sum);
    } while (cursor);
    assert_int_equal(sum, 5000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_of_every_size_are_kept_and_overwritten),   TEST(long_keys_work),
        TEST(a_key_is_gone_the_millisecond_it_expires),        TEST(expiry_is_set_changed_and_dropped),
        TEST(a_hundred_thousand_keys_go_in_and_out),           TEST(scan_shows_every_key_that_stays),
        TEST(the_expiry_step_reclaims_what_nobody_touches),    TEST(strings_grow_and_shrink_with_zeros),
        TEST(a_copied_blob_does_not_change_with_the_original), TEST(random_keys_are_spread),
        TEST(transfers_between_slots_keep_their_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
