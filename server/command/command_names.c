#include "server/command/command_names.h"

const struct command_name command_flag_names[] = {
    {CMD_WRITE, "write"},
    {CMD_READONLY, "readonly"},
    {CMD_DENYOOM, "denyoom"},
    {CMD_ADMIN, "admin"},
    {CMD_PUBSUB, "pubsub"},
    {CMD_NOSCRIPT, "noscript"},
    {CMD_BLOCKING, "blocking"},
    {CMD_LOADING, "loading"},
    {CMD_STALE, "stale"},
    {CMD_SKIP_MONITOR, "skip_monitor"},
    {CMD_SKIP_SLOWLOG, "skip_slowlog"},
    {CMD_ASKING, "asking"},
    {CMD_FAST, "fast"},
    {CMD_NO_AUTH, "no_auth"},
    {CMD_NO_MANDATORY_KEYS, "no_mandatory_keys"},
    {CMD_NO_ASYNC_LOADING, "no_async_loading"},
    {CMD_NO_MULTI, "no_multi"},
    {CMD_MOVABLEKEYS, "movablekeys"},
    {CMD_ALLOW_BUSY, "allow_busy"},
    {0, NULL},
};

const struct command_name command_category_names[] = {
    {CAT_KEYSPACE, "keyspace"},
    {CAT_READ, "read"},
    {CAT_WRITE, "write"},
    {CAT_SET, "set"},
    {CAT_SORTEDSET, "sortedset"},
    {CAT_LIST, "list"},
    {CAT_HASH, "hash"},
    {CAT_STRING, "string"},
    {CAT_BITMAP, "bitmap"},
    {CAT_HYPERLOGLOG, "hyperloglog"},
    {CAT_GEO, "geo"},
    {CAT_STREAM, "stream"},
    {CAT_PUBSUB, "pubsub"},
    {CAT_ADMIN, "admin"},
    {CAT_FAST, "fast"},
    {CAT_SLOW, "slow"},
    {CAT_BLOCKING, "blocking"},
    {CAT_DANGEROUS, "dangerous"},
    {CAT_CONNECTION, "connection"},
    {CAT_TRANSACTION, "transaction"},
    {CAT_SCRIPTING, "scripting"},
    {0, NULL},
};

const struct command_name command_key_flag_names[] = {
    {KEY_RO, "RO"},
    {KEY_RW, "RW"},
    {KEY_OW, "OW"},
    {KEY_RM, "RM"},
    {KEY_ACCESS, "access"},
    {KEY_UPDATE, "update"},
    {KEY_INSERT, "insert"},
    {KEY_DELETE, "delete"},
    {KEY_NOT_KEY, "not_key"},
    {KEY_INCOMPLETE, "incomplete"},
    {KEY_VARIABLE, "variable_flags"},
    {0, NULL},
};

uint64_t command_category(struct bytes name)
{
    for (const struct command_name *row = command_category_names; row->name; row++)
        if (bytes_is(name, row->name))
            return row->flag;
    return 0;
}
