/* Commands that give a key a whole new string: SET and its older forms. */
#include "server/data/data.h"

/* ---- SET ---- */

struct set_options {
    bool nx, xx, get, keep_expiry;
    struct data_expiry_option expiry;
};

/* False when the options do not go together. */
static bool parse_set_options(const struct call *call, struct set_options *options)
{
    for (uint32_t i = 3; i < call->argc; i++) {
        if (call_is(call, i, "NX") && !options->xx)
            options->nx = true;
        else if (call_is(call, i, "XX") && !options->nx)
            options->xx = true;
        else if (call_is(call, i, "GET"))
            options->get = true;
        else if (call_is(call, i, "KEEPTTL") && options->expiry.at == 0)
            options->keep_expiry = true;
        else if (options->keep_expiry || !data_take_expiry(call, &i, &options->expiry))
            return false;
    }
    return true;
}

/* Stores a string and answers with the one that was there. The answer has to be written first, as storing frees the old
 * value; when memory is refused it is taken back: so room is made beforehand, lest the writer moves in between. */
REQUIRES(slot_held)
static enum outcome exchange(struct call *call, struct place *place, struct bytes value, int64_t expires_at)
{
    struct resp_writer *reply = call->reply;
    (void)resp_room(reply, 64 + (place->entry ? entry_string(place->entry).size : 0));
    uint8_t *before = reply->at;
    data_write_value(call, place->entry);
    if (UNLIKELY(!data_put(call, 0, place, value, ENTRY_PLAIN, expires_at))) {
        reply->at = before;
        return call_out_of_memory(call);
    }
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome set_with_options(struct call *call)
{
    struct set_options options = {0};
    if (!parse_set_options(call, &options))
        return call_syntax_error(call);
    int64_t expires_at = options.keep_expiry ? STORE_KEEP_EXPIRY : STORE_NO_EXPIRY;
    if (options.expiry.at != 0 && !data_expiry(call, options.expiry.at, options.expiry.time, &expires_at))
        return OUTCOME_DONE;

    struct place place;
    const struct entry *entry = options.get ? data_find_read(call, 0, &place) : data_find(call, 0, &place);
    if (options.get && entry && !data_is_string(entry))
        return call_wrong_type(call);
    if ((options.nx && entry) || (options.xx && !entry)) {
        data_write_value(call, options.get ? entry : NULL);
        return OUTCOME_DONE;
    }
    if (options.get)
        return exchange(call, &place, call->argv[2], expires_at);
    if (!data_put(call, 0, &place, call->argv[2], ENTRY_PLAIN, expires_at))
        return call_out_of_memory(call);
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome set(struct call *call)
{
    if (UNLIKELY(call->argc != 3))
        return set_with_options(call);
    struct place place;
    (void)store_find(call->store, call->db, call->keys, call->now_ms, &place);
    if (UNLIKELY(!data_put(call, 0, &place, call->argv[2], ENTRY_PLAIN, STORE_NO_EXPIRY)))
        return call_out_of_memory(call);
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

/* ---- older forms ---- */

REQUIRES(slot_held)
static enum outcome setnx(struct call *call)
{
    struct place place;
    if (data_find(call, 0, &place)) {
        resp_write_integer(call->reply, 0);
        return OUTCOME_DONE;
    }
    if (!data_put(call, 0, &place, call->argv[2], ENTRY_PLAIN, STORE_NO_EXPIRY))
        return call_out_of_memory(call);
    resp_write_integer(call->reply, 1);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome set_with_expiry(struct call *call, struct data_time time)
{
    int64_t expires_at;
    if (!data_expiry(call, 2, time, &expires_at))
        return OUTCOME_DONE;
    struct place place;
    (void)store_find(call->store, call->db, call->keys, call->now_ms, &place);
    if (!data_put(call, 0, &place, call->argv[3], ENTRY_PLAIN, expires_at))
        return call_out_of_memory(call);
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome setex(struct call *call)
{
    return set_with_expiry(call, (struct data_time){.seconds = true, .relative = true});
}

REQUIRES(slot_held)
static enum outcome psetex(struct call *call)
{
    return set_with_expiry(call, (struct data_time){.seconds = false, .relative = true});
}

REQUIRES(slot_held)
static enum outcome getset(struct call *call)
{
    struct place place;
    const struct entry *entry = data_find_read(call, 0, &place);
    if (entry && !data_is_string(entry))
        return call_wrong_type(call);
    return exchange(call, &place, call->argv[2], STORE_NO_EXPIRY);
}

/* ---- several keys ---- */

REQUIRES(slot_held)
static bool put_all(struct call *call)
{
    for (uint32_t i = 0; i < call->key_count; i++) {
        struct place place;
        (void)store_find(call->store, call->db, &call->keys[i], call->now_ms, &place);
        if (UNLIKELY(!data_put(call, i, &place, call->argv[2 + 2 * i], ENTRY_PLAIN, STORE_NO_EXPIRY)))
            return false;
    }
    return true;
}

REQUIRES(slot_held)
static enum outcome mset(struct call *call)
{
    if (call->argc % 2 == 0)
        return call_wrong_arity(call);
    if (!put_all(call))
        return call_out_of_memory(call);
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome msetnx(struct call *call)
{
    if (call->argc % 2 == 0)
        return call_wrong_arity(call);
    for (uint32_t i = 0; i < call->key_count; i++) {
        struct place place;
        if (data_find(call, i, &place)) {
            resp_write_integer(call->reply, 0);
            return OUTCOME_DONE;
        }
    }
    if (!put_all(call))
        return call_out_of_memory(call);
    resp_write_integer(call->reply, 1);
    return OUTCOME_DONE;
}

/* ---- the table ---- */

static const char *const set_history[] = {
    "2.6.12", "Added the EX, PX, NX and XX options.",  "6.0.0", "Added the KEEPTTL option.",
    "6.2.0",  "Added the GET, EXAT and PXAT options.", "7.0.0", "NX and GET may be given together.",
    NULL,
};
static const char *const mset_tips[] = {"request_policy:multi_shard", "response_policy:all_succeeded", NULL};
static const char *const msetnx_tips[] = {"request_policy:multi_shard", "response_policy:agg_min", NULL};

/* SET reads the old value only with GET. */
static uint32_t set_key_flags(const struct bytes *argv, uint32_t argc)
{
    for (uint32_t i = 3; i < argc; i++)
        if (bytes_is(argv[i], "get"))
            return KEY_RW | KEY_ACCESS | KEY_UPDATE;
    return KEY_OW | KEY_UPDATE;
}

static const struct command string_set_commands[] = {
    {
        .name = "SET",
        .summary = "Sets the string value of a key, whatever it held, and its time to live.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k value:s (condition: NX | XX)?@2.6.12 GET?@6.2.0 "
                "(expiration: EX%seconds:i@2.6.12 | PX%milliseconds:i@2.6.12 | EXAT%unix-time-seconds:t@6.2.0 | "
                "PXAT%unix-time-milliseconds:t@6.2.0 | KEEPTTL@6.0.0)?",
        .arity = -3,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_ACCESS | KEY_UPDATE | KEY_VARIABLE,
        .key_flags_of = set_key_flags,
        .flags = CMD_WRITE | CMD_DENYOOM | CAT_STRING,
        .run = set,
        .history = set_history,
    },
    {
        .name = "SETNX",
        .summary = "Sets the string value of a key that does not exist.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k value:s",
        .arity = 3,
        .keys = {1, 1, 1},
        .key_flags = KEY_OW | KEY_INSERT,
        .flags = CMD_WRITE | CMD_DENYOOM | CMD_FAST | CAT_STRING,
        .run = setnx,
    },
    {
        .name = "SETEX",
        .summary = "Sets the string value of a key and its time to live in seconds.",
        .since = "2.0.0",
        .complexity = "O(1)",
        .args = "key:k seconds:i value:s",
        .arity = 4,
        .keys = {1, 1, 1},
        .key_flags = KEY_OW | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_DENYOOM | CAT_STRING,
        .run = setex,
    },
    {
        .name = "PSETEX",
        .summary = "Sets the string value of a key and its time to live in milliseconds.",
        .since = "2.6.0",
        .complexity = "O(1)",
        .args = "key:k milliseconds:i value:s",
        .arity = 4,
        .keys = {1, 1, 1},
        .key_flags = KEY_OW | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_DENYOOM | CAT_STRING,
        .run = psetex,
    },
    {
        .name = "GETSET",
        .summary = "Sets the string value of a key and returns the one it had.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k value:s",
        .arity = 3,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_ACCESS | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_DENYOOM | CMD_FAST | CAT_STRING,
        .run = getset,
        .replaced_by = "`SET` with the `!GET` argument",
        .deprecated_since = "6.2.0",
    },
    {
        .name = "MSET",
        .summary = "Sets the string values of several keys at once.",
        .since = "1.0.1",
        .complexity = "O(N) in the number of keys.",
        .args = "(key_value: key:k value:s)+",
        .tips = mset_tips,
        .arity = -3,
        .keys = {1, -1, 2},
        .key_flags = KEY_OW | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_DENYOOM | CAT_STRING,
        .run = mset,
    },
    {
        .name = "MSETNX",
        .summary = "Sets the string values of several keys if none of them exists.",
        .since = "1.0.1",
        .complexity = "O(N) in the number of keys.",
        .args = "(key_value: key:k value:s)+",
        .tips = msetnx_tips,
        .arity = -3,
        .keys = {1, -1, 2},
        .key_flags = KEY_OW | KEY_INSERT,
        .flags = CMD_WRITE | CMD_DENYOOM | CAT_STRING,
        .run = msetnx,
    },
    {0},
};

const struct command_family string_set_family = {"string", string_set_commands};
