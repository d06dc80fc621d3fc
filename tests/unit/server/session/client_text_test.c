#include "server/session/client_commands.h"
#include "server/session/connection_commands.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void names_are_printable_and_have_no_spaces(void **state)
{
    (void)state;
    assert_true(client_text_valid(BYTES("")));
    assert_true(client_text_valid(BYTES("!worker-1~")));
    assert_false(client_text_valid(BYTES("a b")));
    assert_false(client_text_valid(BYTES("a\n")));
    assert_false(client_text_valid(BYTES("a\x7f")));
    assert_false(client_text_valid(BYTES("\xc3\xa9")));
    assert_false(client_text_valid(bytes_make("a\0", 2)));
}

static bool no_room(struct resp_writer *writer, size_t size)
{
    (void)writer;
    (void)size;
    return false;
}

static void client_types_are_known_by_both_names_of_a_replica(void **state)
{
    uint8_t room[256];
    struct resp_writer writer = {.at = room, .end = room + sizeof(room), .grow = no_room, .protocol = 2};
    struct call call = {.reply = &writer};
    enum client_type type = CLIENT_TYPE_NORMAL;
    (void)state;
    assert_true(client_type_parse(&call, BYTES("SLAVE"), &type));
    assert_int_equal(type, CLIENT_TYPE_REPLICA);
    assert_true(client_type_parse(&call, BYTES("replica"), &type));
    assert_true(client_type_parse(&call, BYTES("PubSub"), &type));
    assert_int_equal(type, CLIENT_TYPE_PUBSUB);
    assert_false(client_type_parse(&call, BYTES("x"), &type));
    *writer.at = '\0';
    assert_string_equal((char *)room, "-ERR Unknown client type 'x'\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_printable_and_have_no_spaces),
        cmocka_unit_test(client_types_are_known_by_both_names_of_a_replica),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
