#include "tests/unit/server/data/data_fixture.h"

#include <stdlib.h>

#define STAYING 3000

struct scan_result {
    uint64_t cursor;
    uint32_t names;
    unsigned char seen[STAYING]; /* times each staying key was shown */
};

/* Takes one reply of SCAN apart: cursor, and names "stay:N" that it notes. */
static void note_scan(struct scan_result *result, const char *reply)
{
    assert_memory_equal(reply, "*2~$", 4);
    const char *at = strchr(reply + 4, '~') + 1;
    result->cursor = strtoull(at, NULL, 10);
    at = strchr(at, '~') + 2;
    unsigned long count = strtoul(at, NULL, 10);
    result->names += (uint32_t)count;
    for (unsigned long i = 0; i < count; i++) {
        at = strchr(at, '~') + 1;
        at = strchr(at, '~') + 1;
        if (memcmp(at, "stay:", 5) == 0)
            result->seen[strtoul(at + 5, NULL, 10)]++;
    }
}

static void set_numbered(struct data_fixture *fixture, const char *prefix, unsigned number)
{
    char line[64];
    (void)snprintf(line, sizeof(line), "SET %s:%u v", prefix, number);
    FIXTURE_EXPECT(fixture, line, "+OK~");
}

static void scan_shows_what_stays_while_other_keys_come_and_go(void **state)
{
    struct data_fixture *fixture = *state;
    struct scan_result *result = mem_alloc_zeroed(sizeof(*result));
    for (unsigned i = 0; i < STAYING; i++)
        set_numbered(fixture, "stay", i);
    /* Tables grow and shrink a few times during the scan. */
    bool growing = true;
    unsigned others = 0;
    do {
        char line[64];
        (void)snprintf(line, sizeof(line), "SCAN %llu COUNT 25", (unsigned long long)result->cursor);
        note_scan(result, fixture_run(fixture, line));
        for (unsigned i = 0; i < 400; i++) {
            if (growing) {
                set_numbered(fixture, "gone", others++);
            } else {
                (void)snprintf(line, sizeof(line), "DEL gone:%u", --others);
                FIXTURE_EXPECT(fixture, line, ":1~");
            }
        }
        growing = others == 0 || (growing && others < 20000);
    } while (result->cursor != 0);
    for (unsigned i = 0; i < STAYING; i++)
        assert_int_equal(result->seen[i], 1);
    mem_free(result);
}

static void scan_filters_by_pattern_and_type(void **state)
{
    struct data_fixture *fixture = *state;
    (void)fixture_run(fixture, "MSET stay:1 a stay:2 b other c");
    struct scan_result *result = mem_alloc_zeroed(sizeof(*result));
    note_scan(result, fixture_run(fixture, "SCAN 0 COUNT 1000 MATCH stay:[1-9] TYPE STRING"));
    assert_int_equal(result->names, 2);
    assert_int_equal(result->cursor, 0);
    FIXTURE_EXPECT(fixture, "SCAN 0 COUNT 1000 TYPE nothing", "*2~$1~0~*0~");
    FIXTURE_EXPECT(fixture, "SCAN 0 MATCH other COUNT 1000 TYPE string", "*2~$1~0~*1~$5~other~");
    FIXTURE_EXPECT(fixture, "KEYS oth?r", "*1~$5~other~");
    mem_free(result);
}

static void any_cursor_may_be_sent(void **state)
{
    static const char *const bad[] = {"abc", "-", "1x", "0x10", "99999999999999999999999", "1\t"};
    struct data_fixture *fixture = *state;
    (void)fixture_run(fixture, "MSET a 1 b 2 c 3");
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct bytes argv[] = {BYTES("SCAN"), bytes_of(bad[i]), BYTES("COUNT"), BYTES("0")};
        struct bytes reply = fixture_call(fixture, argv, 4);
        assert_memory_equal(reply.at, "-ERR invalid cursor\r\n", reply.size);
    }
    FIXTURE_EXPECT(fixture, "SCAN 18446744073709551615", "*2~$1~0~*0~");
    struct random random;
    random_seed(&random, 5);
    for (int i = 0; i < 2000; i++) {
        char line[64];
        (void)snprintf(line, sizeof(line), "SCAN %llu",
                       (unsigned long long)(random_next(&random) >> random_below(&random, 64)));
        assert_memory_equal(fixture_run(fixture, line), "*2~", 3);
    }
    FIXTURE_EXPECT(fixture, "SCAN 0 COUNT 0", "-ERR syntax error~");
    FIXTURE_EXPECT(fixture, "SCAN 0 MATCH", "-ERR syntax error~");
    FIXTURE_EXPECT(fixture, "SCAN 0 COUNT x", "-ERR value is not an integer or out of range~");
}

static void keys_move_between_names_and_databases_with_their_time(void **state)
{
    struct data_fixture *fixture = *state;
    (void)fixture_run(fixture, "SET a 1 EX 100");
    FIXTURE_EXPECT(fixture, "RENAME a b", "+OK~");
    FIXTURE_EXPECT(fixture, "TTL b", ":100~");
    FIXTURE_EXPECT(fixture, "RENAMENX b b", ":0~");
    FIXTURE_EXPECT(fixture, "RENAME b b", "+OK~");
    FIXTURE_EXPECT(fixture, "COPY b c DB 1", ":1~");
    FIXTURE_EXPECT(fixture, "COPY b c DB 1", ":0~");
    FIXTURE_EXPECT(fixture, "COPY b c DB 1 REPLACE", ":1~");
    FIXTURE_EXPECT(fixture, "COPY b b", "-ERR source and destination objects are the same~");
    FIXTURE_EXPECT(fixture, "COPY b c DB 4", "-ERR DB index is out of range~");
    FIXTURE_EXPECT(fixture, "MOVE b 0", "-ERR source and destination objects are the same~");
    FIXTURE_EXPECT(fixture, "MOVE b 1", ":1~");
    FIXTURE_EXPECT(fixture, "DBSIZE", ":0~");
    FIXTURE_EXPECT(fixture, "SWAPDB 0 1", "+OK~");
    FIXTURE_EXPECT(fixture, "DBSIZE", ":2~");
    FIXTURE_EXPECT(fixture, "TTL c", ":100~");
    FIXTURE_EXPECT(fixture, "SWAPDB 0 4", "-ERR DB index is out of range~");
    uint64_t changes = fixture_changes(fixture);
    FIXTURE_EXPECT(fixture, "FLUSHALL SYNC", "+OK~");
    assert_int_equal(fixture_changes(fixture), changes + 2);
    FIXTURE_EXPECT(fixture, "FLUSHDB SYNC ASYNC", "-ERR syntax error~");
    FIXTURE_EXPECT(fixture, "DBSIZE", ":0~");
}

static void a_random_key_is_any_of_them(void **state)
{
    struct data_fixture *fixture = *state;
    (void)fixture_run(fixture, "MSET 0 a 1 b 2 c 3 d");
    bool seen[4] = {false};
    for (int i = 0; i < 200; i++)
        seen[fixture_run(fixture, "RANDOMKEY")[3] - '0'] = true;
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(scan_shows_what_stays_while_other_keys_come_and_go),
        FIXTURE_TEST(scan_filters_by_pattern_and_type),
        FIXTURE_TEST(any_cursor_may_be_sent),
        FIXTURE_TEST(keys_move_between_names_and_databases_with_their_time),
        FIXTURE_TEST(a_random_key_is_any_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
