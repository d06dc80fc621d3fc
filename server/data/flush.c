/* Commands on whole databases: counting, emptying, swapping. The last two run with every slot locked. */
#include "server/data/data.h"

static enum outcome dbsize(struct call *call)
{
    uint64_t keys;
    store_count(store_of(call->store), call->db, &keys, NULL, NULL);
    resp_write_integer(call->reply, (int64_t)keys);
    return OUTCOME_DONE;
}

/* Empties databases `first` to `last`. SYNC and ASYNC are the same: what is freed is freed in the background. */
REQUIRES(slot_held)
static enum outcome flush(struct call *call, uint32_t first, uint32_t last)
{
    if (call->argc > 2 || (call->argc == 2 && !call_is(call, 1, "ASYNC") && !call_is(call, 1, "SYNC")))
        return call_syntax_error(call);
    for (uint32_t db = first; db <= last; db++) {
        uint64_t keys;
        store_count(store_of(call->store), db, &keys, NULL, NULL);
        if (keys == 0)
            continue;
        store_flush(call->store, db);
        store_changed(call->store, keys);
    }
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome flushdb(struct call *call)
{
    return flush(call, call->db, call->db);
}

REQUIRES(slot_held)
static enum outcome flushall(struct call *call)
{
    return flush(call, 0, store_databases(store_of(call->store)) - 1);
}

REQUIRES(slot_held)
static enum outcome swapdb(struct call *call)
{
    int32_t a, b, databases = (int32_t)store_databases(store_of(call->store));
    if (!data_int(call, 1, "ERR invalid first DB index", &a) || !data_int(call, 2, "ERR invalid second DB index", &b))
        return OUTCOME_DONE;
    if (a < 0 || b < 0 || a >= databases || b >= databases)
        return call_error(call, "ERR DB index is out of range");
    store_swap(call->store, (uint32_t)a, (uint32_t)b);
    store_changed(call->store, 1);
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

/* ---- the table ---- */

static const char *const dbsize_tips[] = {"request_policy:all_shards", "response_policy:agg_sum", NULL};
static const char *const flush_tips[] = {"request_policy:all_shards", "response_policy:all_succeeded", NULL};
static const char *const flush_history[] = {
    "4.0.0", "Added the ASYNC option.", "6.2.0", "Added the SYNC option.", NULL,
};

static const struct command flush_commands[] = {
    {
        .name = "DBSIZE",
        .summary = "Returns the number of keys in the database.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "",
        .tips = dbsize_tips,
        .arity = 1,
        .flags = CMD_READONLY | CMD_FAST | CAT_KEYSPACE,
        .run = dbsize,
    },
    {
        .name = "FLUSHDB",
        .summary = "Deletes all keys of the database.",
        .since = "1.0.0",
        .complexity = "O(1) in the number of keys, which are freed in the background.",
        .args = "(async: ASYNC@4.0.0 | SYNC@6.2.0)?",
        .tips = flush_tips,
        .arity = -1,
        .flags = CMD_WRITE | CMD_ALL_SLOTS | CAT_KEYSPACE | CAT_DANGEROUS,
        .run = flushdb,
        .history = flush_history,
    },
    {
        .name = "FLUSHALL",
        .summary = "Deletes all keys of all databases.",
        .since = "1.0.0",
        .complexity = "O(1) in the number of keys, which are freed in the background.",
        .args = "(async: ASYNC@4.0.0 | SYNC@6.2.0)?",
        .tips = flush_tips,
        .arity = -1,
        .flags = CMD_WRITE | CMD_ALL_SLOTS | CAT_KEYSPACE | CAT_DANGEROUS,
        .run = flushall,
        .history = flush_history,
    },
    {
        .name = "SWAPDB",
        .summary = "Swaps the contents of two databases.",
        .since = "4.0.0",
        .complexity = "O(1) in the number of keys.",
        .args = "index1:i index2:i",
        .arity = 3,
        .flags = CMD_WRITE | CMD_FAST | CMD_ALL_SLOTS | CAT_KEYSPACE | CAT_DANGEROUS,
        .run = swapdb,
    },
    {0},
};

const struct command_family flush_family = {"server", flush_commands};
