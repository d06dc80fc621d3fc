#include "tests/unit/server/data/data_fixture.h"

#define OVERFLOW_ERROR "-ERR increment or decrement would overflow~"
#define LENGTH_ERROR "-ERR string exceeds maximum allowed size (proto-max-bulk-len)~"

static void counting_stops_at_the_ends_of_64_bits(void **state)
{
    struct data_fixture *fixture = *state;
    FIXTURE_EXPECT(fixture, "INCR n", ":1~");
    FIXTURE_EXPECT(fixture, "INCRBY n 9223372036854775806", ":9223372036854775807~");
    FIXTURE_EXPECT(fixture, "INCR n", OVERFLOW_ERROR);
    FIXTURE_EXPECT(fixture, "DECRBY n -1", OVERFLOW_ERROR);
    FIXTURE_EXPECT(fixture, "DECRBY n -9223372036854775808", "-ERR decrement would overflow~");
    FIXTURE_EXPECT(fixture, "GET n", "$19~9223372036854775807~");
    FIXTURE_EXPECT(fixture, "SET n -9223372036854775808", "+OK~");
    FIXTURE_EXPECT(fixture, "DECR n", OVERFLOW_ERROR);
    FIXTURE_EXPECT(fixture, "INCRBY n 9223372036854775807", ":-1~");
}

static void only_canonical_integers_count(void **state)
{
    static const char *const values[] = {"abc", "1.0", "01", "+1", "-0", "''", "9223372036854775808", "1x"};
    struct data_fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        char line[64];
        (void)snprintf(line, sizeof(line), "SET n %s", values[i]);
        FIXTURE_EXPECT(fixture, line, "+OK~");
        FIXTURE_EXPECT(fixture, "INCR n", "-ERR value is not an integer or out of range~");
        (void)snprintf(line, sizeof(line), "INCRBY fresh %s", values[i]);
        FIXTURE_EXPECT(fixture, line, "-ERR value is not an integer or out of range~");
    }
    FIXTURE_EXPECT(fixture, "EXISTS fresh", ":0~");
}

static void counting_keeps_the_time_to_live(void **state)
{
    struct data_fixture *fixture = *state;
    FIXTURE_EXPECT(fixture, "SET n 9 EX 100", "+OK~");
    FIXTURE_EXPECT(fixture, "INCR n", ":10~");
    FIXTURE_EXPECT(fixture, "INCRBYFLOAT n 0.5", "$4~10.5~");
    FIXTURE_EXPECT(fixture, "APPEND n 5", ":5~");
    FIXTURE_EXPECT(fixture, "SETRANGE n 0 2", ":5~");
    FIXTURE_EXPECT(fixture, "GET n", "$5~20.55~");
    FIXTURE_EXPECT(fixture, "TTL n", ":100~");
}

static void floats_add_as_long_doubles_do(void **state)
{
    struct data_fixture *fixture = *state;
    FIXTURE_EXPECT(fixture, "INCRBYFLOAT f 0.1", "$3~0.1~");
    FIXTURE_EXPECT(fixture, "INCRBYFLOAT f 0.2", "$3~0.3~");
    FIXTURE_EXPECT(fixture, "INCRBYFLOAT f -0.3", "$1~0~");
    FIXTURE_EXPECT(fixture, "INCRBYFLOAT f 5.0e3", "$4~5000~");
    FIXTURE_EXPECT(fixture, "INCRBYFLOAT f inf", "-ERR increment would produce NaN or Infinity~");
    FIXTURE_EXPECT(fixture, "INCRBYFLOAT f nan", "-ERR value is not a valid float~");
    FIXTURE_EXPECT(fixture, "INCRBYFLOAT f ''", "-ERR value is not a valid float~");
    FIXTURE_EXPECT(fixture, "SET f 1e4000", "+OK~");
    assert_memory_equal(fixture_run(fixture, "INCRBYFLOAT f 1"), "$4000~", 6);
    assert_memory_equal(fixture_run(fixture, "INCRBYFLOAT f 1"), "$4000~", 6);
}

static void encodings_are_named_by_how_a_value_came_about(void **state)
{
    static const struct {
        const char *line, *encoding;
    } steps[] = {
        {"SET k 12", "$3~int~"},           {"APPEND k 3", "$3~raw~"},      {"INCR k", "$3~int~"},
        {"INCRBYFLOAT k 1", "$6~embstr~"}, {"SETRANGE k 0 7", "$3~raw~"},  {"GETSET k 7", "$3~int~"},
        {"SET k hello", "$6~embstr~"},     {"APPEND k ''", "$3~raw~"},     {"DEL k", "$-1~"},
        {"APPEND k 77", "$3~int~"},        {"SETRANGE k 0 ''", "$3~int~"},
    };
    struct data_fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        (void)fixture_run(fixture, steps[i].line);
        FIXTURE_EXPECT(fixture, "OBJECT ENCODING k", steps[i].encoding);
    }
}

static void appending_and_overwriting_agree_with_a_plain_buffer(void **state)
{
    static uint8_t model[60000], part[4000];
    struct data_fixture *fixture = *state;
    size_t size = 0;
    struct random random;
    random_seed(&random, 3);
    for (int step = 0; step < 400; step++) {
        size_t length = random_below(&random, 300) + 1;
        memset(part, 'a' + step % 26, length);
        char offset[NUMBER_I64_TEXT];
        if (step % 2) {
            struct bytes argv[] = {BYTES("APPEND"), BYTES("k"), bytes_make(part, length)};
            (void)fixture_call(fixture, argv, 3);
            memcpy(model + size, part, length);
            size += length;
        } else {
            size_t at = random_below(&random, size + 50);
            struct bytes argv[] = {BYTES("SETRANGE"), BYTES("k"), bytes_make(offset, number_format_u64(offset, at)),
                                   bytes_make(part, length)};
            (void)fixture_call(fixture, argv, 4);
            memcpy(model + at, part, length);
            size = at + length > size ? at + length : size;
        }
        struct bytes get[] = {BYTES("GET"), BYTES("k")};
        struct bytes reply = fixture_call(fixture, get, 2);
        assert_true(reply.size > size + 5);
        assert_memory_equal(reply.at + reply.size - 2 - size, model, size);
    }
    assert_true(size > ENTRY_INLINE_MAX);
}

static void strings_cannot_grow_past_the_limit(void **state)
{
    struct data_fixture *fixture = *state;
    FIXTURE_EXPECT(fixture, "SETRANGE k 536870912 x", LENGTH_ERROR);
    FIXTURE_EXPECT(fixture, "SETRANGE k 9223372036854775807 x", LENGTH_ERROR);
    FIXTURE_EXPECT(fixture, "SETRANGE k 9223372036854775807 ''", ":0~");
    FIXTURE_EXPECT(fixture, "SETRANGE k -1 x", "-ERR offset is out of range~");
    FIXTURE_EXPECT(fixture, "EXISTS k", ":0~");
}

static void ranges_count_from_either_end(void **state)
{
    static const struct {
        const char *range, *reply;
    } cases[] = {
        {"0 -1", "$5~hello~"},     {"-3 -1", "$3~llo~"},
        {"-100 100", "$5~hello~"}, {"3 1", "$0~~"},
        {"5 10", "$0~~"},          {"-1 -3", "$0~~"},
        {"-100 -90", "$1~h~"},     {"2 -100", "$0~~"},
        {"4 4", "$1~o~"},          {"-9223372036854775808 9223372036854775807", "$5~hello~"},
    };
    struct data_fixture *fixture = *state;
    (void)fixture_run(fixture, "SET s hello");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char line[80];
        (void)snprintf(line, sizeof(line), "GETRANGE s %s", cases[i].range);
        FIXTURE_EXPECT(fixture, line, cases[i].reply);
        (void)snprintf(line, sizeof(line), "SUBSTR missing %s", cases[i].range);
        FIXTURE_EXPECT(fixture, line, "$0~~");
    }
}

static void the_longest_common_subsequence_is_told_in_all_forms(void **state)
{
    struct data_fixture *fixture = *state;
    (void)fixture_run(fixture, "MSET a ohmytext b mynewtext");
    FIXTURE_EXPECT(fixture, "LCS a b", "$6~mytext~");
    FIXTURE_EXPECT(fixture, "LCS a b LEN", ":6~");
    FIXTURE_EXPECT(fixture, "LCS a missing", "$0~~");
    FIXTURE_EXPECT(fixture, "LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN",
                   "*4~$7~matches~*1~*3~*2~:4~:7~*2~:5~:8~:4~$3~len~:6~");
    fixture->writer.protocol = 3;
    FIXTURE_EXPECT(fixture, "LCS a b IDX", "%2~$7~matches~*2~*2~*2~:4~:7~*2~:5~:8~*2~*2~:2~:3~*2~:0~:1~$3~len~:6~");
    FIXTURE_EXPECT(fixture, "LCS a b LEN IDX", "-ERR If you want both the length and indexes, please just use IDX.~");
    FIXTURE_EXPECT(fixture, "LCS a b MINMATCHLEN", "-ERR syntax error~");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(counting_stops_at_the_ends_of_64_bits),
        FIXTURE_TEST(only_canonical_integers_count),
        FIXTURE_TEST(counting_keeps_the_time_to_live),
        FIXTURE_TEST(floats_add_as_long_doubles_do),
        FIXTURE_TEST(encodings_are_named_by_how_a_value_came_about),
        FIXTURE_TEST(appending_and_overwriting_agree_with_a_plain_buffer),
        FIXTURE_TEST(strings_cannot_grow_past_the_limit),
        FIXTURE_TEST(ranges_count_from_either_end),
        FIXTURE_TEST(the_longest_common_subsequence_is_told_in_all_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
