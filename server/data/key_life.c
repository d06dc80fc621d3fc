/* Commands on any key: whether it is there, what it is, deleting it. */
#include "server/data/data.h"

REQUIRES(slot_held)
static enum outcome del(struct call *call)
{
    uint32_t removed = 0;
    for (uint32_t i = 0; i < call->key_count; i++) {
        struct place place;
        if (store_find(call->store, call->db, &call->keys[i], call->now_ms, &place)) {
            data_remove(call, i, &place);
            removed++;
        }
    }
    resp_write_integer(call->reply, removed);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome exists(struct call *call)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < call->key_count; i++)
        found += data_look(call, i) != NULL;
    resp_write_integer(call->reply, found);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome touch(struct call *call)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < call->key_count; i++)
        found += store_read(call->store, call->db, &call->keys[i], call->now_ms) != NULL;
    resp_write_integer(call->reply, found);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome type(struct call *call)
{
    const struct entry *entry = data_look(call, 0);
    resp_write_simple(call->reply, entry ? entry_type_name(entry) : "none");
    return OUTCOME_DONE;
}

/* ---- the table ---- */

static const char *const sum_tips[] = {"request_policy:multi_shard", "response_policy:agg_sum", NULL};
static const char *const exists_history[] = {"3.0.3", "Takes several keys.", NULL};

static const struct command key_life_commands[] = {
    {
        .name = "DEL",
        .summary = "Deletes keys.",
        .since = "1.0.0",
        .complexity = "O(N) in the number of keys; what is large is freed in the background.",
        .args = "key:k+",
        .tips = sum_tips,
        .arity = -2,
        .keys = {1, -1, 1},
        .key_flags = KEY_RM | KEY_DELETE,
        .flags = CMD_WRITE | CAT_KEYSPACE,
        .run = del,
    },
    {
        .name = "UNLINK",
        .summary = "Deletes keys; the same as DEL, which never waits for memory to be freed either.",
        .since = "4.0.0",
        .complexity = "O(N) in the number of keys; what is large is freed in the background.",
        .args = "key:k+",
        .tips = sum_tips,
        .arity = -2,
        .keys = {1, -1, 1},
        .key_flags = KEY_RM | KEY_DELETE,
        .flags = CMD_WRITE | CMD_FAST | CAT_KEYSPACE,
        .run = del,
    },
    {
        .name = "EXISTS",
        .summary = "Counts those of the given keys that exist.",
        .since = "1.0.0",
        .complexity = "O(N) in the number of keys.",
        .args = "key:k+",
        .tips = sum_tips,
        .arity = -2,
        .keys = {1, -1, 1},
        .key_flags = KEY_RO,
        .flags = CMD_READONLY | CMD_FAST | CAT_KEYSPACE,
        .run = exists,
        .history = exists_history,
    },
    {
        .name = "TYPE",
        .summary = "Returns the type of what a key holds.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k",
        .arity = 2,
        .keys = {1, 1, 1},
        .key_flags = KEY_RO,
        .flags = CMD_READONLY | CMD_FAST | CAT_KEYSPACE,
        .run = type,
    },
    {
        .name = "TOUCH",
        .summary = "Notes an access to keys and counts those that exist.",
        .since = "3.2.1",
        .complexity = "O(N) in the number of keys.",
        .args = "key:k+",
        .tips = sum_tips,
        .arity = -2,
        .keys = {1, -1, 1},
        .key_flags = KEY_RO,
        .flags = CMD_READONLY | CMD_FAST | CAT_KEYSPACE,
        .run = touch,
    },
    {0},
};

const struct command_family key_life_family = {"generic", key_life_commands};
