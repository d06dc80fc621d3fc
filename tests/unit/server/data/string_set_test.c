#include "tests/unit/server/data/data_fixture.h"

/* What a reply to SET should be, from its options and whether the key was there. */
static void every_mix_of_condition_get_and_expiry_does_what_it_says(void **state)
{
    static const char *const conditions[] = {"", " NX", " XX"};
    static const char *const gets[] = {"", " GET"};
    static const char *const expiries[] = {
        "", " EX 100", " PX 100000", " EXAT 1700000100", " PXAT 1700000100000", " KEEPTTL"};
    struct data_fixture *fixture = *state;
    for (unsigned mix = 0; mix < 3 * 2 * 6 * 2; mix++) {
        unsigned condition = mix % 3, get = mix / 3 % 2, expiry = mix / 6 % 6;
        bool there = mix / 36, stored = condition == 0 || there == (condition == 2);
        (void)fixture_run(fixture, "DEL k");
        if (there)
            (void)fixture_run(fixture, "SET k old EX 7");
        char line[128];
        (void)snprintf(line, sizeof(line), "SET k new%s%s%s", expiries[expiry], gets[get], conditions[condition]);
        FIXTURE_EXPECT(fixture, line, get ? (there ? "$3~old~" : "$-1~") : (stored ? "+OK~" : "$-1~"));
        FIXTURE_EXPECT(fixture, "GET k", stored ? "$3~new~" : there ? "$3~old~" : "$-1~");
        int64_t ttl = stored ? (expiry == 0 ? -1 : expiry == 5 ? (there ? 7 : -1) : 100) : there ? 7 : -2;
        char expected[32];
        (void)snprintf(expected, sizeof(expected), ":%lld~", (long long)ttl);
        FIXTURE_EXPECT(fixture, "TTL k", expected);
    }
}

static void options_that_exclude_each_other_are_a_syntax_error(void **state)
{
    static const char *const lines[] = {
        "SET k v NX XX",         "SET k v XX GET NX", "SET k v EX 10 PX 10",   "SET k v KEEPTTL EX 10",
        "SET k v EX 10 KEEPTTL", "SET k v EX",        "SET k v EXAT 9 PXAT 9", "SET k v BOGUS",
        "SET k v PERSIST",       "GETEX k EX 1 PX 1", "GETEX k PERSIST EX 10", "GETEX k EX 10 PERSIST",
        "GETEX k KEEPTTL",       "GETEX k EX",        "GETEX missing BOGUS",
    };
    struct data_fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        FIXTURE_EXPECT(fixture, lines[i], "-ERR syntax error~");
    assert_int_equal(fixture_changes(fixture), 0);
}

static void an_option_may_be_repeated_and_the_last_counts(void **state)
{
    struct data_fixture *fixture = *state;
    FIXTURE_EXPECT(fixture, "SET k v EX abc EX 10", "+OK~");
    FIXTURE_EXPECT(fixture, "TTL k", ":10~");
    FIXTURE_EXPECT(fixture, "SET k w XX XX GET GET KEEPTTL KEEPTTL", "$1~v~");
    FIXTURE_EXPECT(fixture, "TTL k", ":10~");
    FIXTURE_EXPECT(fixture, "GETEX k EX 20 EX 30", "$1~w~");
    FIXTURE_EXPECT(fixture, "TTL k", ":30~");
}

static void a_time_to_live_out_of_range_is_refused_by_name(void **state)
{
    static const char *const times[] = {"0", "-1", "9223372036854775807", "9223372036854775"};
    struct data_fixture *fixture = *state;
    (void)fixture_run(fixture, "SET k v");
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        char line[80];
        (void)snprintf(line, sizeof(line), "SET k w EX %s", times[i]);
        FIXTURE_EXPECT(fixture, line, "-ERR invalid expire time in 'set' command~");
        (void)snprintf(line, sizeof(line), "SETEX k %s w", times[i]);
        FIXTURE_EXPECT(fixture, line, "-ERR invalid expire time in 'setex' command~");
        (void)snprintf(line, sizeof(line), "GETEX k EX %s", times[i]);
        FIXTURE_EXPECT(fixture, line, "-ERR invalid expire time in 'getex' command~");
    }
    FIXTURE_EXPECT(fixture, "PSETEX k 9223372036854775807 w", "-ERR invalid expire time in 'psetex' command~");
    FIXTURE_EXPECT(fixture, "SETEX k ten w", "-ERR value is not an integer or out of range~");
    FIXTURE_EXPECT(fixture, "GETEX missing EX ten", "$-1~");
    FIXTURE_EXPECT(fixture, "GET k", "$1~v~");
}

static void a_time_in_the_past_leaves_no_key(void **state)
{
    struct data_fixture *fixture = *state;
    FIXTURE_EXPECT(fixture, "SET k v PXAT 1", "+OK~");
    FIXTURE_EXPECT(fixture, "EXISTS k", ":0~");
    FIXTURE_EXPECT(fixture, "SET k v", "+OK~");
    FIXTURE_EXPECT(fixture, "GETEX k EXAT 1", "$1~v~");
    FIXTURE_EXPECT(fixture, "DBSIZE", ":0~");
}

static void a_long_old_value_survives_being_replaced(void **state)
{
    struct data_fixture *fixture = *state;
    size_t size = 100000;
    uint8_t *old = mem_alloc(size), *new = mem_alloc(size);
    memset(old, 'o', size);
    memset(new, 'n', size);
    struct bytes argv[] = {BYTES("SET"), BYTES("k"), bytes_make(old, size), BYTES("GET")};
    (void)fixture_call(fixture, argv, 3);
    argv[2].at = new;
    struct bytes reply = fixture_call(fixture, argv, 4);
    assert_int_equal(reply.size, 9 + size + 2);
    assert_memory_equal(reply.at, "$100000\r\n", 9);
    assert_memory_equal(reply.at + 9, old, size);
    argv[0] = BYTES("GETDEL");
    reply = fixture_call(fixture, argv, 2);
    assert_memory_equal(reply.at + 9, new, size);
    FIXTURE_EXPECT(fixture, "DBSIZE", ":0~");
    mem_free(old);
    mem_free(new);
}

static void msetnx_sets_all_or_nothing_and_counts_doubles(void **state)
{
    struct data_fixture *fixture = *state;
    FIXTURE_EXPECT(fixture, "MSETNX a 1 b 2 a 3", ":1~");
    assert_int_equal(fixture_changes(fixture), 3);
    FIXTURE_EXPECT(fixture, "MSETNX c 1 b 2", ":0~");
    FIXTURE_EXPECT(fixture, "MGET a b c", "*3~$1~3~$1~2~$-1~");
    FIXTURE_EXPECT(fixture, "MSETNX a 1 b", "-ERR wrong number of arguments for 'msetnx' command~");
    FIXTURE_EXPECT(fixture, "MSET a 1 b", "-ERR wrong number of arguments for 'mset' command~");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(every_mix_of_condition_get_and_expiry_does_what_it_says),
        FIXTURE_TEST(options_that_exclude_each_other_are_a_syntax_error),
        FIXTURE_TEST(an_option_may_be_repeated_and_the_last_counts),
        FIXTURE_TEST(a_time_to_live_out_of_range_is_refused_by_name),
        FIXTURE_TEST(a_time_in_the_past_leaves_no_key),
        FIXTURE_TEST(a_long_old_value_survives_being_replaced),
        FIXTURE_TEST(msetnx_sets_all_or_nothing_and_counts_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
