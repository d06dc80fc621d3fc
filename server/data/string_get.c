/* Commands that read strings, and those that read one and then delete it or change its time to live. */
#include "server/data/data.h"

REQUIRES(slot_held)
static enum outcome get(struct call *call)
{
    const struct entry *entry = store_read(call->store, call->db, call->keys, call->now_ms);
    if (UNLIKELY(entry && !data_is_string(entry)))
        return call_wrong_type(call);
    data_write_value(call, entry);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome getdel(struct call *call)
{
    struct place place;
    const struct entry *entry = data_find_read(call, 0, &place);
    if (entry && !data_is_string(entry))
        return call_wrong_type(call);
    data_write_value(call, entry);
    if (entry)
        data_remove(call, 0, &place);
    return OUTCOME_DONE;
}

/* Changes the time to live of what stands at the place. */
REQUIRES(slot_held)
static bool set_expiry(struct call *call, struct place *place, bool persist, bool absolute, int64_t expires_at)
{
    if (persist) {
        if (!(place->entry->flags & ENTRY_EXPIRES))
            return true;
        expires_at = STORE_NO_EXPIRY;
    } else if (absolute && expires_at <= call->now_ms) {
        data_remove(call, 0, place);
        return true;
    }
    if (store_set_expiry(call->store, call->db, call->keys, place, expires_at) < 0)
        return false;
    store_changed(call->store, 1);
    return true;
}

REQUIRES(slot_held)
static enum outcome getex(struct call *call)
{
    bool persist = false;
    struct data_expiry_option option = {0};
    for (uint32_t i = 2; i < call->argc; i++) {
        if (call_is(call, i, "PERSIST") && option.at == 0)
            persist = true;
        else if (persist || !data_take_expiry(call, &i, &option))
            return call_syntax_error(call);
    }
    struct place place;
    const struct entry *entry = data_find_read(call, 0, &place);
    if (!entry) {
        resp_write_null(call->reply);
        return OUTCOME_DONE;
    }
    if (!data_is_string(entry))
        return call_wrong_type(call);
    int64_t expires_at = 0;
    if (option.at != 0 && !data_expiry(call, option.at, option.time, &expires_at))
        return OUTCOME_DONE;
    /* The reply goes out first, since the entry may be gone afterwards; room for it is made, so that it can be taken
     * back when memory is refused. */
    struct resp_writer *reply = call->reply;
    (void)resp_room(reply, 64 + entry_string(entry).size);
    uint8_t *before = reply->at;
    data_write_value(call, entry);
    if ((persist || option.at != 0) && !set_expiry(call, &place, persist, !option.time.relative, expires_at)) {
        reply->at = before;
        return call_out_of_memory(call);
    }
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome mget(struct call *call)
{
    resp_write_array(call->reply, call->key_count);
    for (uint32_t i = 0; i < call->key_count; i++) {
        const struct entry *entry = store_read(call->store, call->db, &call->keys[i], call->now_ms);
        data_write_value(call, entry && data_is_string(entry) ? entry : NULL);
    }
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome string_length(struct call *call)
{
    const struct entry *entry = store_read(call->store, call->db, call->keys, call->now_ms);
    if (entry && !data_is_string(entry))
        return call_wrong_type(call);
    resp_write_integer(call->reply, entry ? (int64_t)entry_string(entry).size : 0);
    return OUTCOME_DONE;
}

/* The bytes from `start` to `end`, both included and counted from the end when negative. */
static struct bytes range_of(struct bytes text, int64_t start, int64_t end)
{
    int64_t size = (int64_t)text.size;
    if (start < 0 && end < 0 && start > end)
        return bytes_make(NULL, 0);
    if (start < 0)
        start += size;
    if (end < 0)
        end += size;
    if (start < 0)
        start = 0;
    if (end < 0)
        end = 0;
    if (end >= size)
        end = size - 1;
    if (start > end)
        return bytes_make(NULL, 0);
    return bytes_make(text.at + start, (size_t)(end - start + 1));
}

REQUIRES(slot_held)
static enum outcome getrange(struct call *call)
{
    int64_t start, end;
    if (!call_integer(call, 2, &start) || !call_integer(call, 3, &end))
        return OUTCOME_DONE;
    const struct entry *entry = store_read(call->store, call->db, call->keys, call->now_ms);
    if (entry && !data_is_string(entry))
        return call_wrong_type(call);
    resp_write_bulk(call->reply, entry ? range_of(entry_string(entry), start, end) : bytes_make(NULL, 0));
    return OUTCOME_DONE;
}

/* ---- the table ---- */

static const char *const mget_tips[] = {"request_policy:multi_shard", NULL};

static const struct command string_get_commands[] = {
    {
        .name = "GET",
        .summary = "Returns the string value of a key.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k",
        .arity = 2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RO | KEY_ACCESS,
        .flags = CMD_READONLY | CMD_FAST | CAT_STRING,
        .run = get,
    },
    {
        .name = "GETDEL",
        .summary = "Returns the string value of a key and deletes the key.",
        .since = "6.2.0",
        .complexity = "O(1)",
        .args = "key:k",
        .arity = 2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_ACCESS | KEY_DELETE,
        .flags = CMD_WRITE | CMD_FAST | CAT_STRING,
        .run = getdel,
    },
    {
        .name = "GETEX",
        .summary = "Returns the string value of a key and sets or removes its time to live.",
        .since = "6.2.0",
        .complexity = "O(1)",
        .args = "key:k (expiration: EX%seconds:i | PX%milliseconds:i | EXAT%unix-time-seconds:t | "
                "PXAT%unix-time-milliseconds:t | PERSIST)?",
        .arity = -2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_ACCESS | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_FAST | CAT_STRING,
        .run = getex,
    },
    {
        .name = "MGET",
        .summary = "Returns the string values of several keys, as they are at one moment.",
        .since = "1.0.0",
        .complexity = "O(N) in the number of keys.",
        .args = "key:k+",
        .tips = mget_tips,
        .arity = -2,
        .keys = {1, -1, 1},
        .key_flags = KEY_RO | KEY_ACCESS,
        .flags = CMD_READONLY | CMD_FAST | CAT_STRING,
        .run = mget,
    },
    {
        .name = "STRLEN",
        .summary = "Returns the length of a string value in bytes.",
        .since = "2.2.0",
        .complexity = "O(1)",
        .args = "key:k",
        .arity = 2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RO,
        .flags = CMD_READONLY | CMD_FAST | CAT_STRING,
        .run = string_length,
    },
    {
        .name = "GETRANGE",
        .summary = "Returns a part of a string value.",
        .since = "2.4.0",
        .complexity = "O(N) in the number of bytes returned.",
        .args = "key:k start:i end:i",
        .arity = 4,
        .keys = {1, 1, 1},
        .key_flags = KEY_RO | KEY_ACCESS,
        .flags = CMD_READONLY | CAT_STRING,
        .run = getrange,
    },
    {
        .name = "SUBSTR",
        .summary = "Returns a part of a string value.",
        .since = "1.0.0",
        .complexity = "O(N) in the number of bytes returned.",
        .args = "key:k start:i end:i",
        .arity = 4,
        .keys = {1, 1, 1},
        .key_flags = KEY_RO | KEY_ACCESS,
        .flags = CMD_READONLY | CAT_STRING,
        .run = getrange,
        .replaced_by = "`GETRANGE`",
        .deprecated_since = "2.0.0",
    },
    {0},
};

const struct command_family string_get_family = {"string", string_get_commands};
