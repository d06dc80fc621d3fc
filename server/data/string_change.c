/* Commands that change a string where it stands, and those that count with it. */
#include "server/data/data.h"

#include <math.h>

/* ---- bytes ---- */

REQUIRES(slot_held)
static enum outcome append(struct call *call)
{
    struct bytes more = call->argv[2];
    struct place place;
    const struct entry *entry = data_find(call, 0, &place);
    if (!entry) {
        if (!data_put(call, 0, &place, more, ENTRY_PLAIN, STORE_NO_EXPIRY))
            return call_out_of_memory(call);
        resp_write_integer(call->reply, (int64_t)more.size);
        return OUTCOME_DONE;
    }
    if (!data_is_string(entry))
        return call_wrong_type(call);
    size_t size = entry_string(entry).size;
    if (!data_string_fits(call, size, more.size))
        return OUTCOME_DONE;
    uint8_t *bytes = store_resize_string(call->store, call->db, call->keys, &place, size + more.size, ENTRY_RAW);
    if (!bytes)
        return call_out_of_memory(call);
    if (more.size)
        memcpy(bytes + size, more.at, more.size);
    store_changed(call->store, 1);
    resp_write_integer(call->reply, (int64_t)(size + more.size));
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome setrange(struct call *call)
{
    int64_t offset;
    if (!call_integer(call, 2, &offset))
        return OUTCOME_DONE;
    if (offset < 0)
        return call_error(call, "ERR offset is out of range");
    struct bytes part = call->argv[3];
    struct place place;
    const struct entry *entry = data_find(call, 0, &place);
    if (entry && !data_is_string(entry))
        return call_wrong_type(call);
    size_t size = entry ? entry_string(entry).size : 0;
    if (part.size == 0) {
        resp_write_integer(call->reply, (int64_t)size);
        return OUTCOME_DONE;
    }
    if (!data_string_fits(call, (uint64_t)offset, part.size))
        return OUTCOME_DONE;
    size_t end = (size_t)offset + part.size;
    if (end > size)
        size = end;
    uint8_t *bytes = store_resize_string(call->store, call->db, call->keys, &place, size, ENTRY_RAW);
    if (!bytes)
        return call_out_of_memory(call);
    memcpy(bytes + offset, part.at, part.size);
    if (!entry)
        store_touch(call->store, place.entry, call->now_ms);
    store_changed(call->store, 1);
    resp_write_integer(call->reply, (int64_t)size);
    return OUTCOME_DONE;
}

/* ---- integers ---- */

/* An integer reply from the digits that were just stored. */
static void write_digits(struct resp_writer *reply, struct bytes digits)
{
    if (resp_room(reply, NUMBER_I64_TEXT + 3)) {
        *reply->at++ = ':';
        memcpy(reply->at, digits.at, digits.size);
        reply->at += digits.size;
        *reply->at++ = '\r';
        *reply->at++ = '\n';
    }
}

REQUIRES(slot_held)
static enum outcome add(struct call *call, int64_t by)
{
    struct place place;
    const struct entry *entry = store_find(call->store, call->db, call->keys, call->now_ms, &place);
    int64_t value = 0;
    if (LIKELY(entry != NULL)) {
        if (!data_is_string(entry))
            return call_wrong_type(call);
        if (!number_parse_i64(entry_string(entry), &value))
            return call_not_integer(call);
    }
    if (__builtin_add_overflow(value, by, &value))
        return call_error(call, "ERR increment or decrement would overflow");
    char text[NUMBER_I64_TEXT];
    struct bytes sum = bytes_make(text, number_format_i64(text, value));
    if (UNLIKELY(!data_put(call, 0, &place, sum, ENTRY_PLAIN, STORE_KEEP_EXPIRY)))
        return call_out_of_memory(call);
    write_digits(call->reply, sum);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome incr(struct call *call)
{
    return add(call, 1);
}

REQUIRES(slot_held)
static enum outcome decr(struct call *call)
{
    return add(call, -1);
}

REQUIRES(slot_held)
static enum outcome incrby(struct call *call)
{
    int64_t by;
    return call_integer(call, 2, &by) ? add(call, by) : OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome decrby(struct call *call)
{
    int64_t by;
    if (!call_integer(call, 2, &by))
        return OUTCOME_DONE;
    if (by == INT64_MIN)
        return call_error(call, "ERR decrement would overflow");
    return add(call, -by);
}

/* ---- floats ---- */

REQUIRES(slot_held)
static enum outcome incrbyfloat(struct call *call)
{
    struct place place;
    const struct entry *entry = data_find(call, 0, &place);
    if (entry && !data_is_string(entry))
        return call_wrong_type(call);
    long double value = 0, by;
    if ((entry && !number_parse_long_double(entry_string(entry), &value)) ||
        !number_parse_long_double(call->argv[2], &by))
        return call_error(call, "ERR value is not a valid float");
    value += by;
    if (isnan(value) || isinf(value))
        return call_error(call, "ERR increment would produce NaN or Infinity");
    char text[NUMBER_DOUBLE_TEXT];
    struct bytes sum = bytes_make(text, number_format_long_double(text, value));
    if (!data_put(call, 0, &place, sum, ENTRY_EMBSTR, STORE_KEEP_EXPIRY))
        return call_out_of_memory(call);
    resp_write_bulk(call->reply, sum);
    return OUTCOME_DONE;
}

/* ---- the table ---- */

static const struct command string_change_commands[] = {
    {
        .name = "APPEND",
        .summary = "Adds bytes to the end of a string value, which is created if missing.",
        .since = "2.0.0",
        .complexity = "O(N) in the number of bytes added, amortized.",
        .args = "key:k value:s",
        .arity = 3,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_INSERT,
        .flags = CMD_WRITE | CMD_DENYOOM | CMD_FAST | CAT_STRING,
        .run = append,
    },
    {
        .name = "SETRANGE",
        .summary = "Overwrites a part of a string value, which grows as needed.",
        .since = "2.2.0",
        .complexity = "O(N) in the number of bytes written, and in the whole length when the value has to grow.",
        .args = "key:k offset:i value:s",
        .arity = 4,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_DENYOOM | CAT_STRING,
        .run = setrange,
    },
    {
        .name = "INCR",
        .summary = "Adds one to the integer a key holds, a missing one counting as 0.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k",
        .arity = 2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_ACCESS | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_DENYOOM | CMD_FAST | CAT_STRING,
        .run = incr,
    },
    {
        .name = "DECR",
        .summary = "Takes one from the integer a key holds, a missing one counting as 0.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k",
        .arity = 2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_ACCESS | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_DENYOOM | CMD_FAST | CAT_STRING,
        .run = decr,
    },
    {
        .name = "INCRBY",
        .summary = "Adds a number to the integer a key holds, a missing one counting as 0.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k increment:i",
        .arity = 3,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_ACCESS | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_DENYOOM | CMD_FAST | CAT_STRING,
        .run = incrby,
    },
    {
        .name = "DECRBY",
        .summary = "Takes a number from the integer a key holds, a missing one counting as 0.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k decrement:i",
        .arity = 3,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_ACCESS | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_DENYOOM | CMD_FAST | CAT_STRING,
        .run = decrby,
    },
    {
        .name = "INCRBYFLOAT",
        .summary = "Adds a number to the float a key holds, a missing one counting as 0.",
        .since = "2.6.0",
        .complexity = "O(1)",
        .args = "key:k increment:d",
        .arity = 3,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_ACCESS | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_DENYOOM | CMD_FAST | CAT_STRING,
        .run = incrbyfloat,
    },
    {0},
};

const struct command_family string_change_family = {"string", string_change_commands};
