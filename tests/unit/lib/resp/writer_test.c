#include "lib/resp/writer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct sink {
    struct resp_writer writer;
    uint8_t room[512];
    size_t limit;
};

static bool grow(struct resp_writer *writer, size_t size)
{
    struct sink *sink = CONTAINER_OF(writer, struct sink, writer);
    if ((size_t)(writer->at - sink->room) + size > sink->limit)
        return false;
    writer->end = sink->room + sink->limit;
    return true;
}

static void sink_init(struct sink *sink, uint8_t protocol)
{
    *sink = (struct sink){.limit = sizeof(sink->room)};
    sink->writer = (struct resp_writer){.at = sink->room, .end = sink->room, .grow = grow, .protocol = protocol};
}

static void expect(struct sink *sink, const char *text)
{
    struct bytes written = bytes_make(sink->room, (size_t)(sink->writer.at - sink->room));
    if (!bytes_equal(written, bytes_of(text)))
        fail_msg("wrote \"%.*s\", not \"%s\"", (int)written.size, (const char *)written.at, text);
    sink->writer.at = sink->room;
}

#define EXPECT(call, resp2, resp3)                                                                                     \
    do {                                                                                                               \
        struct sink sink;                                                                                              \
        struct resp_writer *w = &sink.writer;                                                                          \
        sink_init(&sink, 2);                                                                                           \
        call;                                                                                                          \
        expect(&sink, resp2);                                                                                          \
        sink_init(&sink, 3);                                                                                           \
        call;                                                                                                          \
        expect(&sink, resp3);                                                                                          \
    } while (0)

static void each_type_has_its_form_in_both_protocols(void **state)
{
    (void)state;
    EXPECT(resp_write_null(w), "$-1\r\n", "_\r\n");
    EXPECT(resp_write_null_array(w), "*-1\r\n", "_\r\n");
    EXPECT(resp_write_ok(w), "+OK\r\n", "+OK\r\n");
    EXPECT(resp_write_simple(w, "PONG"), "+PONG\r\n", "+PONG\r\n");
    EXPECT(resp_write_text(w, "abc"), "$3\r\nabc\r\n", "$3\r\nabc\r\n");
    EXPECT(resp_write_text(w, ""), "$0\r\n\r\n", "$0\r\n\r\n");
    EXPECT(resp_write_integer(w, INT64_MIN), ":-9223372036854775808\r\n", ":-9223372036854775808\r\n");
    EXPECT(resp_write_bulk_integer(w, -42), "$3\r\n-42\r\n", "$3\r\n-42\r\n");
    EXPECT(resp_write_array(w, 2), "*2\r\n", "*2\r\n");
    EXPECT(resp_write_map(w, 2), "*4\r\n", "%2\r\n");
    EXPECT(resp_write_set(w, 2), "*2\r\n", "~2\r\n");
    EXPECT(resp_write_push(w, 2), "*2\r\n", ">2\r\n");
    EXPECT(resp_write_boolean(w, true), ":1\r\n", "#t\r\n");
    EXPECT(resp_write_boolean(w, false), ":0\r\n", "#f\r\n");
    EXPECT(resp_write_verbatim(w, "txt", BYTES("ab")), "$2\r\nab\r\n", "=6\r\ntxt:ab\r\n");
}

static void doubles_are_written_as_redis_7_does(void **state)
{
    (void)state;
    EXPECT(resp_write_double(w, 3.1), "$18\r\n3.1000000000000001\r\n", ",3.1000000000000001\r\n");
    EXPECT(resp_write_double(w, 10), "$2\r\n10\r\n", ",10\r\n");
    EXPECT(resp_write_double(w, 1e22), "$5\r\n1e+22\r\n", ",1e+22\r\n");
    EXPECT(resp_write_double(w, HUGE_VAL), "$3\r\ninf\r\n", ",inf\r\n");
    EXPECT(resp_write_double(w, -HUGE_VAL), "$4\r\n-inf\r\n", ",-inf\r\n");
    EXPECT(resp_write_double(w, (double)NAN), "$3\r\nnan\r\n", ",nan\r\n");
}

static void errors_stay_one_line(void **state)
{
    (void)state;
    EXPECT(resp_write_error(w, "ERR a\r\nb\n"), "-ERR a  b\r\n", "-ERR a  b\r\n");
    EXPECT(resp_write_errorf(w, "ERR '%s' %d", "x\ny", 7), "-ERR 'x y' 7\r\n", "-ERR 'x y' 7\r\n");
}

static void a_full_sink_drops_and_says_so(void **state)
{
    (void)state;
    struct sink sink;
    sink_init(&sink, 2);
    sink.limit = 40;
    resp_write_text(&sink.writer, "abc");
    assert_false(sink.writer.failed);
    resp_write_simple(&sink.writer, "this text is longer than the room that is left for it");
    assert_true(sink.writer.failed);
    /* What is behind the gap would be misread. */
    resp_write_map(&sink.writer, 1);
    expect(&sink, "$3\r\nabc\r\n");
}

static void a_muted_writer_writes_nothing_and_does_not_fail(void **state)
{
    (void)state;
    struct sink sink;
    sink_init(&sink, 3);
    sink.writer.end = sink.room + sizeof(sink.room);
    sink.writer.muted = true;
    resp_write_double(&sink.writer, 1);
    resp_write_errorf(&sink.writer, "ERR %d", 1);
    resp_write_verbatim(&sink.writer, "txt", BYTES("a"));
    expect(&sink, "");
    assert_false(sink.writer.failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_has_its_form_in_both_protocols),
        cmocka_unit_test(doubles_are_written_as_redis_7_does),
        cmocka_unit_test(errors_stay_one_line),
        cmocka_unit_test(a_full_sink_drops_and_says_so),
        cmocka_unit_test(a_muted_writer_writes_nothing_and_does_not_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
