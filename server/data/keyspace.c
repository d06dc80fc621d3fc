/* Commands that look through the keys of a database: they hold no slot, the store takes one at a time. */
#include "lib/base/buf.h"
#include "lib/base/random.h"
#include "server/data/data.h"

#include <errno.h>
#include <stdlib.h>

/* Encoded names kept for one reply, at most. */
#define KEYSPACE_REPLY_MAX (4ull * 1024 * 1024 * 1024)
/* Entries looked at per call of store_scan when everything is wanted. */
#define KEYSPACE_STEP 4096

/* Gathers the names that pass a filter, encoded as bulks: their number has to stand before them in the reply. */
struct name_list {
    bool every_name; /* else those that match the pattern */
    struct bytes pattern;
    struct bytes type; /* NULL: any */
    struct buf names;
    uint64_t count;
    bool full; /* memory was refused, or the limit reached */
};

static void name_list_init(struct name_list *list, struct bytes pattern)
{
    *list = (struct name_list){.pattern = pattern, .every_name = bytes_equal(pattern, BYTES("*"))};
    buf_init(&list->names, KEYSPACE_REPLY_MAX);
}

static void name_list_add(void *context, const struct entry *entry)
{
    struct name_list *list = context;
    struct bytes name = entry_key(entry);
    if (list->full || (!list->every_name && !bytes_glob(list->pattern, name, false)) ||
        (list->type.at && !bytes_is(list->type, entry_type_name(entry))))
        return;
    struct buf *names = &list->names;
    if (buf_reserve(names, name.size + 32) < 0) {
        list->full = true;
        return;
    }
    uint8_t *at = names->data + names->size;
    *at++ = '$';
    at += number_format_u64((char *)at, name.size);
    *at++ = '\r';
    *at++ = '\n';
    if (name.size)
        memcpy(at, name.at, name.size);
    at += name.size;
    *at++ = '\r';
    *at++ = '\n';
    names->size = (size_t)(at - names->data);
    list->count++;
}

/* Writes the array of names, in pieces, so that the writer needs no room for all of it at once. */
static void name_list_write(const struct name_list *list, struct resp_writer *reply)
{
    resp_write_array(reply, list->count);
    for (size_t done = 0; done < list->names.size;) {
        size_t piece = list->names.size - done < 16384 ? list->names.size - done : 16384;
        resp_write_raw(reply, bytes_make(list->names.data + done, piece));
        done += piece;
    }
}

static enum outcome keys(struct call *call)
{
    struct name_list list;
    name_list_init(&list, call->argv[1]);
    uint64_t cursor = 0;
    do {
        cursor = store_scan(call->store, call->db, cursor, KEYSPACE_STEP, call->now_ms, name_list_add, &list);
    } while (cursor != 0 && !list.full);
    if (!list.full)
        name_list_write(&list, call->reply);
    buf_deinit(&list.names);
    return list.full ? call_out_of_memory(call) : OUTCOME_DONE;
}

/* A cursor as strtoul reads one, which is what Redis takes: an empty argument is 0, a sign is allowed. */
static bool parse_cursor(struct bytes text, uint64_t *cursor)
{
    char copy[64], *end;
    const void *nul = text.size ? memchr(text.at, 0, text.size) : NULL;
    size_t size = nul ? (size_t)((const uint8_t *)nul - text.at) : text.size;
    if (size >= sizeof(copy))
        return false;
    if (size)
        memcpy(copy, text.at, size);
    copy[size] = '\0';
    if (copy[0] == ' ' || (copy[0] >= '\t' && copy[0] <= '\r'))
        return false;
    errno = 0;
    *cursor = strtoull(copy, &end, 10);
    return *end == '\0' && errno != ERANGE;
}

static enum outcome scan(struct call *call)
{
    uint64_t cursor;
    if (!parse_cursor(call->argv[1], &cursor))
        return call_error(call, "ERR invalid cursor");
    struct name_list list;
    name_list_init(&list, BYTES("*"));
    int64_t count = 10;
    for (uint32_t i = 2; i < call->argc; i += 2) {
        bool has_value = i + 1 < call->argc;
        if (has_value && call_is(call, i, "COUNT")) {
            if (!call_integer(call, i + 1, &count))
                return OUTCOME_DONE;
            if (count < 1)
                return call_syntax_error(call);
        } else if (has_value && call_is(call, i, "MATCH")) {
            list.pattern = call->argv[i + 1];
            list.every_name = bytes_equal(list.pattern, BYTES("*"));
        } else if (has_value && call_is(call, i, "TYPE")) {
            /* Any word is taken; one that is no type matches nothing. */
            list.type = call->argv[i + 1];
            if (!list.type.at)
                list.type = BYTES("");
        } else {
            return call_syntax_error(call);
        }
    }
    cursor = store_scan(call->store, call->db, cursor, (uint64_t)count, call->now_ms, name_list_add, &list);
    if (!list.full) {
        char text[NUMBER_I64_TEXT];
        resp_write_array(call->reply, 2);
        resp_write_bulk(call->reply, bytes_make(text, number_format_u64(text, cursor)));
        name_list_write(&list, call->reply);
    }
    buf_deinit(&list.names);
    return list.full ? call_out_of_memory(call) : OUTCOME_DONE;
}

static enum outcome randomkey(struct call *call)
{
    struct buf name;
    buf_init(&name, KEYSPACE_REPLY_MAX);
    if (store_random_key(call->store, call->db, random_next(call->random), call->now_ms, &name))
        resp_write_bulk(call->reply, buf_bytes(&name));
    else
        resp_write_null(call->reply);
    buf_deinit(&name);
    return OUTCOME_DONE;
}

/* ---- the table ---- */

static const char *const keys_tips[] = {"request_policy:all_shards", "nondeterministic_output_order", NULL};
static const char *const scan_tips[] = {"nondeterministic_output", "request_policy:special", NULL};
static const char *const scan_history[] = {"6.0.0", "Added the TYPE option.", NULL};
static const char *const randomkey_tips[] = {"request_policy:all_shards", "nondeterministic_output", NULL};

static const struct command keyspace_commands[] = {
    {
        .name = "KEYS",
        .summary = "Returns all names of keys that match a pattern.",
        .since = "1.0.0",
        .complexity = "O(N) in the number of keys of the database.",
        .args = "pattern:p",
        .tips = keys_tips,
        .arity = 2,
        .flags = CMD_READONLY | CAT_KEYSPACE | CAT_DANGEROUS,
        .run = keys,
    },
    {
        .name = "SCAN",
        .summary = "Goes through the names of keys step by step.",
        .since = "2.8.0",
        .complexity = "O(1) for one call; O(N) in the number of keys of the database for all of them.",
        .args = "cursor:i MATCH%pattern:p? COUNT%count:i? TYPE%type:s?@6.0.0",
        .tips = scan_tips,
        .arity = -2,
        .flags = CMD_READONLY | CAT_KEYSPACE,
        .run = scan,
        .history = scan_history,
    },
    {
        .name = "RANDOMKEY",
        .summary = "Returns the name of a key chosen at random.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "",
        .tips = randomkey_tips,
        .arity = 1,
        .flags = CMD_READONLY | CAT_KEYSPACE,
        .run = randomkey,
    },
    {0},
};

const struct command_family keyspace_family = {"generic", keyspace_commands};
