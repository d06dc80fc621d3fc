/* Commands that give a value another key or another database. The locks of a key's slot cover it in all databases. */
#include "server/data/data.h"

static enum outcome same_object(struct call *call)
{
    return call_error(call, "ERR source and destination objects are the same");
}

REQUIRES(slot_held)
static enum outcome rename_key(struct call *call, bool only_if_new)
{
    /* The target first: finding it may remove it as expired, after which the place of the source would be void. */
    struct place target, source;
    bool taken = store_find(call->store, call->db, &call->keys[1], call->now_ms, &target) != NULL;
    if (!data_find(call, 0, &source))
        return call_error(call, "ERR no such key");
    bool same = bytes_equal(call->keys[0].name, call->keys[1].name);
    if (only_if_new && taken) {
        resp_write_integer(call->reply, 0);
        return OUTCOME_DONE;
    }
    if (!same) {
        if (store_move(call->store, call->db, &call->keys[0], &source, call->db, &call->keys[1], call->now_ms) < 0)
            return call_out_of_memory(call);
        store_changed(call->store, 1);
    }
    if (only_if_new)
        resp_write_integer(call->reply, 1);
    else
        resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome rename_any(struct call *call)
{
    return rename_key(call, false);
}

REQUIRES(slot_held)
static enum outcome renamenx(struct call *call)
{
    return rename_key(call, true);
}

/* False after writing the error. */
static bool parse_copy_options(struct call *call, bool *replace, uint32_t *db)
{
    for (uint32_t i = 3; i < call->argc; i++) {
        if (call_is(call, i, "REPLACE")) {
            *replace = true;
        } else if (call_is(call, i, "DB") && i + 1 < call->argc) {
            if (!data_database(call, ++i, db))
                return false;
        } else {
            call_syntax_error(call);
            return false;
        }
    }
    return true;
}

REQUIRES(slot_held)
static enum outcome copy(struct call *call)
{
    bool replace = false;
    uint32_t db = call->db;
    if (!parse_copy_options(call, &replace, &db))
        return OUTCOME_DONE;
    if (db == call->db && bytes_equal(call->keys[0].name, call->keys[1].name))
        return same_object(call);
    struct place target;
    bool taken = store_find(call->store, db, &call->keys[1], call->now_ms, &target) != NULL;
    const struct entry *source = store_read(call->store, call->db, &call->keys[0], call->now_ms);
    if (!source || (taken && !replace)) {
        resp_write_integer(call->reply, 0);
        return OUTCOME_DONE;
    }
    if (store_copy(call->store, source, db, &call->keys[1], call->now_ms) < 0)
        return call_out_of_memory(call);
    store_changed(call->store, 1);
    resp_write_integer(call->reply, 1);
    return OUTCOME_DONE;
}

REQUIRES(slot_held)
static enum outcome move(struct call *call)
{
    uint32_t db;
    if (!data_database(call, 2, &db))
        return OUTCOME_DONE;
    if (db == call->db)
        return same_object(call);
    struct place source, target;
    if (!data_find(call, 0, &source) || store_find(call->store, db, call->keys, call->now_ms, &target)) {
        resp_write_integer(call->reply, 0);
        return OUTCOME_DONE;
    }
    if (store_move(call->store, call->db, call->keys, &source, db, call->keys, call->now_ms) < 0)
        return call_out_of_memory(call);
    store_changed(call->store, 1);
    resp_write_integer(call->reply, 1);
    return OUTCOME_DONE;
}

/* ---- the table ---- */

static const struct command_key_spec rename_keys[] = {
    {1, 1, 1, KEY_RW | KEY_ACCESS | KEY_DELETE},
    {2, 2, 1, KEY_OW | KEY_UPDATE},
    {0},
};
static const struct command_key_spec renamenx_keys[] = {
    {1, 1, 1, KEY_RW | KEY_ACCESS | KEY_DELETE},
    {2, 2, 1, KEY_OW | KEY_INSERT},
    {0},
};
static const struct command_key_spec copy_keys[] = {
    {1, 1, 1, KEY_RO | KEY_ACCESS},
    {2, 2, 1, KEY_OW | KEY_UPDATE},
    {0},
};
static const char *const renamenx_history[] = {"3.2.0", "Two equal names are no error any more.", NULL};

static const struct command key_move_commands[] = {
    {
        .name = "RENAME",
        .summary = "Gives a key another name, over whatever has that name.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k newkey:k",
        .arity = 3,
        .keys = {1, 2, 1},
        .key_specs = rename_keys,
        .flags = CMD_WRITE | CAT_KEYSPACE,
        .run = rename_any,
    },
    {
        .name = "RENAMENX",
        .summary = "Gives a key another name unless something has that name.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k newkey:k",
        .arity = 3,
        .keys = {1, 2, 1},
        .key_specs = renamenx_keys,
        .flags = CMD_WRITE | CMD_FAST | CAT_KEYSPACE,
        .run = renamenx,
        .history = renamenx_history,
    },
    {
        .name = "COPY",
        .summary = "Copies what a key holds to another key, here or in another database.",
        .since = "6.2.0",
        .complexity = "O(N) in the size of the value; long strings are shared, not copied.",
        .args = "source:k destination:k DB%destination-db:i? REPLACE?",
        .arity = -3,
        .keys = {1, 2, 1},
        .key_specs = copy_keys,
        .flags = CMD_WRITE | CMD_DENYOOM | CAT_KEYSPACE,
        .run = copy,
    },
    {
        .name = "MOVE",
        .summary = "Moves a key to another database unless it exists there.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "key:k db:i",
        .arity = 3,
        .keys = {1, 1, 1},
        .key_flags = KEY_RW | KEY_ACCESS | KEY_UPDATE,
        .flags = CMD_WRITE | CMD_FAST | CAT_KEYSPACE,
        .run = move,
    },
    {0},
};

const struct command_family key_move_family = {"generic", key_move_commands};
