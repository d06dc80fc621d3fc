/* OBJECT: how a value is kept. */
#include "server/data/data.h"

/* What REFCOUNT answers for the integers that Redis keeps one shared object of. */
#define OBJECT_SHARED_REFERENCES INT32_MAX
#define OBJECT_SHARED_INTEGERS 10000

static enum outcome object_help(struct call *call)
{
    static const char *const lines[] = {
        "ENCODING <key>",
        "    Name of the form in which the value of <key> is kept.",
        "FREQ <key>",
        "    How often <key> was accessed lately, on a logarithmic scale; needs an LFU",
        "    maxmemory-policy.",
        "IDLETIME <key>",
        "    Seconds since <key> was last accessed, about.",
        "REFCOUNT <key>",
        "    Number of references to the value of <key>.",
        NULL,
    };
    return call_help(call, lines);
}

REQUIRES(slot_held)
static enum outcome object_encoding(struct call *call)
{
    const struct entry *entry = data_look(call, 0);
    if (entry)
        resp_write_text(call->reply, entry_encoding_name(entry));
    else
        resp_write_null(call->reply);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome object_idletime(struct call *call)
{
    const struct entry *entry = data_look(call, 0);
    if (entry)
        resp_write_integer(call->reply, entry_idle_seconds(entry, call->now_ms));
    else
        resp_write_null(call->reply);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome object_freq(struct call *call)
{
    if (data_look(call, 0))
        return call_error(call,
                          "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note "
                          "that when switching between policies at runtime LRU and LFU data will take some time to "
                          "adjust.");
    resp_write_null(call->reply);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome object_refcount(struct call *call)
{
    const struct entry *entry = data_look(call, 0);
    if (!entry) {
        resp_write_null(call->reply);
        return OUTCOME_DONE;
    }
    int64_t number;
    bool shared = entry_type(entry) == ENTRY_STRING && entry_encoding(entry) == ENTRY_PLAIN &&
                  number_parse_i64(entry_string(entry), &number) && number >= 0 && number < OBJECT_SHARED_INTEGERS;
    resp_write_integer(call->reply, shared ? OBJECT_SHARED_REFERENCES : 1);
    return OUTCOME_DONE;
}

/* ---- the table ---- */

static const char *const object_tips[] = {"nondeterministic_output", NULL};

static const struct command object_subcommands[] = {
    {
        .name = "ENCODING",
        .summary = "Returns the name of the form in which a value is kept.",
        .since = "2.2.3",
        .complexity = "O(1)",
        .args = "key:k",
        .tips = object_tips,
        .arity = 3,
        .keys = {2, 2, 1},
        .key_flags = KEY_RO,
        .flags = CMD_READONLY | CAT_KEYSPACE,
        .run = object_encoding,
    },
    {
        .name = "FREQ",
        .summary = "Returns how often a key was accessed lately.",
        .since = "4.0.0",
        .complexity = "O(1)",
        .args = "key:k",
        .tips = object_tips,
        .arity = 3,
        .keys = {2, 2, 1},
        .key_flags = KEY_RO,
        .flags = CMD_READONLY | CAT_KEYSPACE,
        .run = object_freq,
    },
    {
        .name = "HELP",
        .summary = "Returns a text about the subcommands.",
        .since = "6.2.0",
        .complexity = "O(1)",
        .args = "",
        .arity = 2,
        .flags = CMD_LOADING | CMD_STALE | CAT_KEYSPACE,
        .run = object_help,
    },
    {
        .name = "IDLETIME",
        .summary = "Returns the seconds since a key was last accessed.",
        .since = "2.2.3",
        .complexity = "O(1)",
        .args = "key:k",
        .tips = object_tips,
        .arity = 3,
        .keys = {2, 2, 1},
        .key_flags = KEY_RO,
        .flags = CMD_READONLY | CAT_KEYSPACE,
        .run = object_idletime,
    },
    {
        .name = "REFCOUNT",
        .summary = "Returns the number of references to a value.",
        .since = "2.2.3",
        .complexity = "O(1)",
        .args = "key:k",
        .tips = object_tips,
        .arity = 3,
        .keys = {2, 2, 1},
        .key_flags = KEY_RO,
        .flags = CMD_READONLY | CAT_KEYSPACE,
        .run = object_refcount,
    },
    {0},
};

static const struct command object_commands[] = {
    {
        .name = "OBJECT",
        .summary = "Tells how a value is kept.",
        .since = "2.2.3",
        .complexity = "Depends on the subcommand.",
        .args = "",
        .arity = -2,
        .subcommands = object_subcommands,
    },
    {0},
};

const struct command_family object_family = {"generic", object_commands};
