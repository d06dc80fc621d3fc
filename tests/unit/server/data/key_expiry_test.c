#include "tests/unit/server/data/data_fixture.h"

/* Redis' rule: no time to live is an infinite one for GT and LT. */
static void conditions_compare_with_the_time_to_live_there_is(void **state)
{
    static const struct {
        const char *now, *options;
        bool done; /* of an attempt to set 50 seconds */
    } cases[] = {
        {"", "", true},
        {"", " NX", true},
        {"", " XX", false},
        {"", " GT", false},
        {"", " LT", true},
        {"", " XX LT", false},
        {" EX 100", "", true},
        {" EX 100", " NX", false},
        {" EX 100", " XX", true},
        {" EX 100", " GT", false},
        {" EX 100", " LT", true},
        {" EX 20", " GT", true},
        {" EX 20", " LT", false},
        {" EX 50", " GT", false},
        {" EX 50", " LT", false},
        {" EX 20", " XX GT", true},
        {" EX 20", " GT GT", true},
    };
    static const char *const commands[] = {"EXPIRE k 50", "PEXPIRE k 50000", "EXPIREAT k 1700000050",
                                           "PEXPIREAT k 1700000050000"};
    struct data_fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (size_t c = 0; c < COUNT_OF(commands); c++) {
            char line[80];
            (void)snprintf(line, sizeof(line), "SET k v%s", cases[i].now);
            (void)fixture_run(fixture, line);
            (void)snprintf(line, sizeof(line), "%s%s", commands[c], cases[i].options);
            FIXTURE_EXPECT(fixture, line, cases[i].done ? ":1~" : ":0~");
            if (cases[i].done)
                FIXTURE_EXPECT(fixture, "PEXPIRETIME k", ":1700000050000~");
        }
    }
}

static void conflicting_options_are_named(void **state)
{
    struct data_fixture *fixture = *state;
    const char *nx = "-ERR NX and XX, GT or LT options at the same time are not compatible~";
    FIXTURE_EXPECT(fixture, "EXPIRE k 1 NX XX", nx);
    FIXTURE_EXPECT(fixture, "EXPIRE k abc GT NX", nx);
    FIXTURE_EXPECT(fixture, "EXPIRE k 1 LT GT", "-ERR GT and LT options at the same time are not compatible~");
    FIXTURE_EXPECT(fixture, "EXPIRE k 1 NX XX Bogus", "-ERR Unsupported option Bogus~");
    FIXTURE_EXPECT(fixture, "EXPIRE k abc", "-ERR value is not an integer or out of range~");
}

static void a_time_in_the_past_deletes(void **state)
{
    static const char *const lines[] = {
        "EXPIRE k 0",    "EXPIRE k -1", "PEXPIRE k -9223372036854775808", "EXPIREAT k 0", "PEXPIREAT k 1700000000000",
        "EXPIRE k -5 LT"};
    struct data_fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        (void)fixture_run(fixture, "SET k v");
        uint64_t changes = fixture_changes(fixture);
        FIXTURE_EXPECT(fixture, lines[i], ":1~");
        FIXTURE_EXPECT(fixture, "DBSIZE", ":0~");
        assert_int_equal(fixture_changes(fixture), changes + 1);
        FIXTURE_EXPECT(fixture, lines[i], ":0~");
    }
}

static void times_that_overflow_are_refused_by_name(void **state)
{
    struct data_fixture *fixture = *state;
    FIXTURE_EXPECT(fixture, "EXPIRE k 9223372036854775807", "-ERR invalid expire time in 'expire' command~");
    FIXTURE_EXPECT(fixture, "EXPIRE k -9223372036854775808", "-ERR invalid expire time in 'expire' command~");
    FIXTURE_EXPECT(fixture, "PEXPIRE k 9223372036854775807", "-ERR invalid expire time in 'pexpire' command~");
    FIXTURE_EXPECT(fixture, "EXPIREAT k 9223372036854775807", "-ERR invalid expire time in 'expireat' command~");
    (void)fixture_run(fixture, "SET k v");
    FIXTURE_EXPECT(fixture, "PEXPIREAT k 9223372036854775807", ":1~");
    FIXTURE_EXPECT(fixture, "PEXPIRETIME k", ":9223372036854775807~");
}

static void times_are_rounded_to_the_nearest_second(void **state)
{
    struct data_fixture *fixture = *state;
    (void)fixture_run(fixture, "SET k v PX 1499");
    FIXTURE_EXPECT(fixture, "TTL k", ":1~");
    FIXTURE_EXPECT(fixture, "PTTL k", ":1499~");
    (void)fixture_run(fixture, "SET k v PX 1500");
    FIXTURE_EXPECT(fixture, "TTL k", ":2~");
    FIXTURE_EXPECT(fixture, "EXPIRETIME k", ":1700000002~");
    FIXTURE_EXPECT(fixture, "PERSIST k", ":1~");
    FIXTURE_EXPECT(fixture, "PERSIST k", ":0~");
    FIXTURE_EXPECT(fixture, "TTL k", ":-1~");
    FIXTURE_EXPECT(fixture, "EXPIRETIME missing", ":-2~");
}

static void an_expired_key_is_not_there_for_anybody(void **state)
{
    static const struct {
        const char *line, *reply;
    } cases[] = {
        {"GET k", "$-1~"},
        {"EXISTS k", ":0~"},
        {"TTL k", ":-2~"},
        {"DEL k", ":0~"},
        {"INCR k", ":1~"},
        {"APPEND k x", ":1~"},
        {"SET k v XX", "$-1~"},
        {"SETNX k v", ":1~"},
        {"RENAME k z", "-ERR no such key~"},
        {"COPY k z", ":0~"},
        {"MOVE k 1", ":0~"},
        {"PERSIST k", ":0~"},
        {"EXPIRE k 5", ":0~"},
        {"TYPE k", "+none~"},
        {"KEYS *", "*0~"},
        {"RANDOMKEY", "$-1~"},
        {"SCAN 0 COUNT 9999", "*2~$1~0~*0~"},
        {"GETRANGE k 0 -1", "$0~~"},
        {"SET k v KEEPTTL", "+OK~"},
        {"OBJECT ENCODING k", "$-1~"},
    };
    struct data_fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        (void)fixture_run(fixture, "SET k 7 PX 10");
        fixture->now_ms += 10;
        FIXTURE_EXPECT(fixture, cases[i].line, cases[i].reply);
        (void)fixture_run(fixture, "PERSIST k");
        (void)fixture_run(fixture, "DEL k");
    }
}

static void the_time_since_the_last_access_is_told_and_not_changed_by_asking(void **state)
{
    struct data_fixture *fixture = *state;
    (void)fixture_run(fixture, "SET k v EX 1000");
    fixture->now_ms += 20000;
    FIXTURE_EXPECT(fixture, "TTL k", ":980~");
    FIXTURE_EXPECT(fixture, "EXISTS k", ":1~");
    FIXTURE_EXPECT(fixture, "TYPE k", "+string~");
    FIXTURE_EXPECT(fixture, "OBJECT IDLETIME k", ":20~");
    FIXTURE_EXPECT(fixture, "TOUCH k missing", ":1~");
    FIXTURE_EXPECT(fixture, "OBJECT IDLETIME k", ":0~");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(conditions_compare_with_the_time_to_live_there_is),
        FIXTURE_TEST(conflicting_options_are_named),
        FIXTURE_TEST(a_time_in_the_past_deletes),
        FIXTURE_TEST(times_that_overflow_are_refused_by_name),
        FIXTURE_TEST(times_are_rounded_to_the_nearest_second),
        FIXTURE_TEST(an_expired_key_is_not_there_for_anybody),
        FIXTURE_TEST(the_time_since_the_last_access_is_told_and_not_changed_by_asking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
