/* Times to live: setting, removing and reading them. */
#include "server/data/data.h"

/* ---- setting ---- */

struct expire_options {
    bool nx, xx, gt, lt;
};

/* False after writing the error. */
static bool parse_expire_options(struct call *call, struct expire_options *options)
{
    for (uint32_t i = 3; i < call->argc; i++) {
        if (call_is(call, i, "NX")) {
            options->nx = true;
        } else if (call_is(call, i, "XX")) {
            options->xx = true;
        } else if (call_is(call, i, "GT")) {
            options->gt = true;
        } else if (call_is(call, i, "LT")) {
            options->lt = true;
        } else {
            struct bytes word = call->argv[i];
            call_errorf(call, "ERR Unsupported option %.*s", (int)(word.size < 1000 ? word.size : 1000),
                        (const char *)word.at);
            return false;
        }
    }
    if (options->nx && (options->xx || options->gt || options->lt)) {
        call_error(call, "ERR NX and XX, GT or LT options at the same time are not compatible");
        return false;
    }
    if (options->gt && options->lt) {
        call_error(call, "ERR GT and LT options at the same time are not compatible");
        return false;
    }
    return true;
}

/* Whether the options let the entry's time become `expires_at`. No time to live counts as an infinite one. */
static bool options_allow(const struct expire_options *options, const struct entry *entry, int64_t expires_at)
{
    bool expires = entry->flags & ENTRY_EXPIRES;
    if ((options->nx && expires) || (options->xx && !expires))
        return false;
    if (options->gt)
        return expires && expires_at > entry_expires_at(entry);
    if (options->lt)
        return !expires || expires_at < entry_expires_at(entry);
    return true;
}

REQUIRES(slot_held)
static enum outcome set_expiry(struct call *call, struct data_time time)
{
    struct expire_options options = {0};
    int64_t expires_at;
    if (!parse_expire_options(call, &options) || !call_integer(call, 2, &expires_at))
        return OUTCOME_DONE;
    if ((time.seconds && __builtin_mul_overflow(expires_at, (int64_t)1000, &expires_at)) ||
        (time.relative && __builtin_add_overflow(expires_at, call->now_ms, &expires_at)))
        return data_expire_error(call);

    struct place place;
    const struct entry *entry = data_find(call, 0, &place);
    if (!entry || !options_allow(&options, entry, expires_at)) {
        resp_write_integer(call->reply, 0);
        return OUTCOME_DONE;
    }
    if (expires_at <= call->now_ms) {
        data_remove(call, 0, &place);
    } else {
        if (store_set_expiry(call->store, call->db, call->keys, &place, expires_at) < 0)
            return call_out_of_memory(call);
        store_changed(call->store, 1);
    }
    resp_write_integer(call->reply, 1);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome expire(struct call *call)
{
    return set_expiry(call, (struct data_time){.seconds = true, .relative = true});
}

REQUIRES(slot_held)
static enum outcome pexpire(struct call *call)
{
    return set_expiry(call, (struct data_time){.seconds = false, .relative = true});
}

REQUIRES(slot_held)
static enum outcome expireat(struct call *call)
{
    return set_expiry(call, (struct data_time){.seconds = true, .relative = false});
}

REQUIRES(slot_held)
static enum outcome pexpireat(struct call *call)
{
    return set_expiry(call, (struct data_time){.seconds = false, .relative = false});
}

REQUIRES(slot_held)
static enum outcome persist(struct call *call)
{
    struct place place;
    const struct entry *entry = data_find(call, 0, &place);
    if (!entry || !(entry->flags & ENTRY_EXPIRES)) {
        resp_write_integer(call->reply, 0);
        return OUTCOME_DONE;
    }
    if (store_set_expiry(call->store, call->db, call->keys, &place, STORE_NO_EXPIRY) < 0)
        return call_out_of_memory(call);
    store_changed(call->store, 1);
    resp_write_integer(call->reply, 1);
    return OUTCOME_DONE;
}

/* ---- reading ---- */

/* -2 for no key, -1 for no time to live, else that time. */
REQUIRES(slot_held)
static enum outcome answer_expiry(struct call *call, struct data_time time)
{
    const struct entry *entry = data_look(call, 0);
    int64_t answer;
    if (!entry) {
        answer = -2;
    } else if (!(entry->flags & ENTRY_EXPIRES)) {
        answer = -1;
    } else {
        answer = entry_expires_at(entry);
        if (time.relative)
            answer = answer > call->now_ms ? answer - call->now_ms : 0;
        if (time.seconds) /* to the nearest second */
            answer = answer / 1000 + (answer % 1000 >= 500);
    }
    resp_write_integer(call->reply, answer);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome ttl(struct call *call)
{
    return answer_expiry(call, (struct data_time){.seconds = true, .relative = true});
}

REQUIRES(slot_held)
static enum outcome pttl(struct call *call)
{
    return answer_expiry(call, (struct data_time){.seconds = false, .relative = true});
}

REQUIRES(slot_held)
static enum outcome expiretime(struct call *call)
{
    return answer_expiry(call, (struct data_time){.seconds = true, .relative = false});
}

REQUIRES(slot_held)
static enum outcome pexpiretime(struct call *call)
{
    return answer_expiry(call, (struct data_time){.seconds = false, .relative = false});
}

/* ---- the table ---- */

static const char *const expire_history[] = {"7.0.0", "Added the NX, XX, GT and LT options.", NULL};
static const char *const ttl_history[] = {"2.8.0", "Answers -2 for a key that does not exist.", NULL};
static const char *const ttl_tips[] = {"nondeterministic_output", NULL};

static const struct command key_expiry_commands[] = {
    {
        .name = "EXPIRE",
        .summary = "Sets the time to live of a key in seconds.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k seconds:i (condition: NX | XX | GT | LT)?@7.0.0",
        .arity = -3,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_FAST | CAT_KEYSPACE,
        .run = expire,
        .history = expire_history,
    },
    {
        .name = "PEXPIRE",
        .summary = "Sets the time to live of a key in milliseconds.",
        .since = "2.6.0",
        .complexity = "O(1)",
        .args = "key:k milliseconds:i (condition: NX | XX | GT | LT)?@7.0.0",
        .arity = -3,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_FAST | CAT_KEYSPACE,
        .run = pexpire,
        .history = expire_history,
    },
    {
        .name = "EXPIREAT",
        .summary = "Sets the time at which a key expires, in seconds since 1970.",
        .since = "1.2.0",
        .complexity = "O(1)",
        .args = "key:k unix-time-seconds:t (condition: NX | XX | GT | LT)?@7.0.0",
        .arity = -3,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_FAST | CAT_KEYSPACE,
        .run = expireat,
        .history = expire_history,
    },
    {
        .name = "PEXPIREAT",
        .summary = "Sets the time at which a key expires, in milliseconds since 1970.",
        .since = "2.6.0",
        .complexity = "O(1)",
        .args = "key:k unix-time-milliseconds:t (condition: NX | XX | GT | LT)?@7.0.0",
        .arity = -3,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_FAST | CAT_KEYSPACE,
        .run = pexpireat,
        .history = expire_history,
    },
    {
        .name = "TTL",
        .summary = "Returns the time to live of a key in seconds.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k",
        .tips = ttl_tips,
        .arity = 2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RO | KEY_ACCESS,
        .flags = CMD_READONLY | CMD_FAST | CAT_KEYSPACE,
        .run = ttl,
        .history = ttl_history,
    },
    {
        .name = "PTTL",
        .summary = "Returns the time to live of a key in milliseconds.",
        .since = "2.6.0",
        .complexity = "O(1)",
        .args = "key:k",
        .tips = ttl_tips,
        .arity = 2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RO | KEY_ACCESS,
        .flags = CMD_READONLY | CMD_FAST | CAT_KEYSPACE,
        .run = pttl,
        .history = ttl_history,
    },
    {
        .name = "EXPIRETIME",
        .summary = "Returns the time at which a key expires, in seconds since 1970.",
        .since = "7.0.0",
        .complexity = "O(1)",
        .args = "key:k",
        .arity = 2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RO | KEY_ACCESS,
        .flags = CMD_READONLY | CMD_FAST | CAT_KEYSPACE,
        .run = expiretime,
    },
    {
        .name = "PEXPIRETIME",
        .summary = "Returns the time at which a key expires, in milliseconds since 1970.",
        .since = "7.0.0",
        .complexity = "O(1)",
        .args = "key:k",
        .arity = 2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RO | KEY_ACCESS,
        .flags = CMD_READONLY | CMD_FAST | CAT_KEYSPACE,
        .run = pexpiretime,
    },
    {
        .name = "PERSIST",
        .summary = "Takes the time to live off a key.",
        .since = "2.2.0",
        .complexity = "O(1)",
        .args = "key:k",
        .arity = 2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_FAST | CAT_KEYSPACE,
        .run = persist,
    },
    {0},
};

const struct command_family key_expiry_family = {"generic", key_expiry_commands};
