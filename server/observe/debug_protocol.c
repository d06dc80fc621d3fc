/* DEBUG PROTOCOL: one reply of each type, for tests of clients. */
#include "server/observe/debug_command.h"

static void write_numbers(struct call *call)
{
    for (int64_t i = 0; i < 3; i++)
        resp_write_integer(call->reply, i);
}

static void write_map(struct call *call)
{
    resp_write_map(call->reply, 3);
    for (int64_t i = 0; i < 3; i++) {
        resp_write_integer(call->reply, i);
        resp_write_boolean(call->reply, i == 1);
    }
}

/* RESP2 has no attributes: there only the reply follows. */
static void write_attribute(struct call *call)
{
    if (call->reply->protocol >= 3) {
        RESP_WRITE_LITERAL(call->reply, "|1\r\n");
        resp_write_text(call->reply, "key-popularity");
        resp_write_array(call->reply, 2);
        resp_write_text(call->reply, "key:123");
        resp_write_integer(call->reply, 90);
    }
    resp_write_text(call->reply, "Some real reply following the attribute");
}

static enum outcome write_push(struct call *call)
{
    if (call->reply->protocol < 3)
        return call_error(call, "ERR RESP2 is not supported by this command");
    resp_write_push(call->reply, 2);
    resp_write_text(call->reply, "server-cpu-usage");
    resp_write_integer(call->reply, 42);
    resp_write_text(call->reply, "Some real reply following the push reply");
    return OUTCOME_DONE;
}

/* A big number; RESP2 has it as a bulk. */
static void write_bignum(struct call *call)
{
    if (call->reply->protocol >= 3)
        RESP_WRITE_LITERAL(call->reply, "(1234567999999999999999999999999999999\r\n");
    else
        resp_write_text(call->reply, "1234567999999999999999999999999999999");
}

enum outcome debug_protocol(struct call *call)
{
    if (call_is(call, 2, "string")) {
        resp_write_text(call->reply, "Hello World");
    } else if (call_is(call, 2, "integer")) {
        resp_write_integer(call->reply, 12345);
    } else if (call_is(call, 2, "double")) {
        resp_write_double(call->reply, 3.141);
    } else if (call_is(call, 2, "null")) {
        resp_write_null(call->reply);
    } else if (call_is(call, 2, "array")) {
        resp_write_array(call->reply, 3);
        write_numbers(call);
    } else if (call_is(call, 2, "set")) {
        resp_write_set(call->reply, 3);
        write_numbers(call);
    } else if (call_is(call, 2, "map")) {
        write_map(call);
    } else if (call_is(call, 2, "attrib")) {
        write_attribute(call);
    } else if (call_is(call, 2, "push")) {
        return write_push(call);
    } else if (call_is(call, 2, "verbatim")) {
        resp_write_verbatim(call->reply, "txt", BYTES("This is a verbatim\nstring"));
    } else if (call_is(call, 2, "true") || call_is(call, 2, "false")) {
        resp_write_boolean(call->reply, call_is(call, 2, "true"));
    } else if (call_is(call, 2, "bignum")) {
        write_bignum(call);
    } else {
        return call_error(call, "ERR Wrong protocol type name. Please use one of the following: "
                                "string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false");
    }
    return OUTCOME_DONE;
}
