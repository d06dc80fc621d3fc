#include "server/session/client_commands.h"

#include "server/session/connection_commands.h"
#include "server/worker/session.h"

static enum outcome client_id(struct call *call)
{
    resp_write_integer(call->reply, (int64_t)call->session->id);
    return OUTCOME_DONE;
}

static enum outcome client_getname(struct call *call)
{
    /* Only the owner writes the names: it may read them without the mutex. */
    const char *name = call->session->names.name;
    if (*name)
        resp_write_text(call->reply, name);
    else
        resp_write_null(call->reply);
    return OUTCOME_DONE;
}

static enum outcome client_setname(struct call *call)
{
    if (client_set_name(call, call->argv[2]))
        resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

static enum outcome client_setinfo(struct call *call)
{
    struct session *session = call->session;
    struct bytes option = call->argv[2], value = call->argv[3];
    size_t room = sizeof(session->names.library);
    char *to;
    if (call_is(call, 2, "lib-name"))
        to = session->names.library;
    else if (call_is(call, 2, "lib-ver"))
        to = session->names.library_version;
    else
        return call_errorf(call, "ERR Unrecognized option '%.*s'", (int)(option.size > 512 ? 512 : option.size),
                           (const char *)option.at);
    if (!client_text_valid(value))
        return call_errorf(call, "ERR %.*s cannot contain spaces, newlines or special characters.", (int)option.size,
                           (const char *)option.at);
    if (value.size >= room)
        return call_errorf(call, "ERR %.*s cannot be longer than %zu characters.", (int)option.size,
                           (const char *)option.at, room - 1);
    mutex_lock(&session->mutex);
    if (value.size)
        memcpy(to, value.at, value.size);
    to[value.size] = '\0';
    mutex_unlock(&session->mutex);
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

/* OFF and SKIP are not answered themselves: the executor mutes what follows by the flags. */
static enum outcome client_reply(struct call *call)
{
    struct session *session = call->session;
    if (call_is(call, 2, "ON")) {
        session_set(session, SESSION_REPLY_OFF | SESSION_REPLY_SKIP | SESSION_REPLY_SKIP_NEXT, false);
        call->reply->muted = false;
        resp_write_ok(call->reply);
    } else if (call_is(call, 2, "OFF")) {
        session_set(session, SESSION_REPLY_OFF, true);
    } else if (call_is(call, 2, "SKIP")) {
        if (!session_is(session, SESSION_REPLY_OFF))
            session_set(session, SESSION_REPLY_SKIP_NEXT, true);
    } else {
        return call_syntax_error(call);
    }
    return OUTCOME_DONE;
}

static enum outcome set_switch(struct call *call, uint32_t flag)
{
    bool on = call_is(call, 2, "ON");
    if (!on && !call_is(call, 2, "OFF"))
        return call_syntax_error(call);
    session_set(call->session, flag, on);
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

static enum outcome client_no_evict(struct call *call)
{
    return set_switch(call, SESSION_NO_EVICT);
}

static enum outcome client_no_touch(struct call *call)
{
    return set_switch(call, SESSION_NO_TOUCH);
}

/* Nobody can switch tracking on yet. */
static enum outcome client_getredir(struct call *call)
{
    resp_write_integer(call->reply, -1);
    return OUTCOME_DONE;
}

static enum outcome client_trackinginfo(struct call *call)
{
    resp_write_map(call->reply, 3);
    resp_write_text(call->reply, "flags");
    resp_write_set(call->reply, 1);
    resp_write_text(call->reply, "off");
    resp_write_text(call->reply, "redirect");
    resp_write_integer(call->reply, -1);
    resp_write_text(call->reply, "prefixes");
    resp_write_array(call->reply, 0);
    return OUTCOME_DONE;
}

/* No command blocks yet, so nobody can be woken. */
static enum outcome client_unblock(struct call *call)
{
    int64_t id;
    if (call->argc > 4)
        return call_errorf(call, "ERR unknown subcommand or wrong number of arguments for '%.*s'. Try CLIENT HELP.",
                           call->argv[1].size < 128 ? (int)call->argv[1].size : 128, (const char *)call->argv[1].at);
    if (call->argc == 4 && !call_is(call, 3, "TIMEOUT") && !call_is(call, 3, "ERROR"))
        return call_error(call, "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    if (!call_integer(call, 2, &id))
        return OUTCOME_DONE;
    resp_write_integer(call->reply, 0);
    return OUTCOME_DONE;
}

static enum outcome client_help(struct call *call)
{
    static const char *const lines[] = {
        "GETNAME",
        "    Tells the name of this connection.",
        "GETREDIR",
        "    Tells which client gets the invalidation messages of this one.",
        "ID",
        "    Tells the number of this connection.",
        "INFO",
        "    Describes this connection, as LIST does.",
        "KILL <ip:port>",
        "    Closes the connection from that address.",
        "KILL <filter> <value> [<filter> <value> [...]]",
        "    Closes the connections that pass all filters:",
        "    * ID <number>, ADDR <ip:port>, LADDR <ip:port>, USER <name>",
        "    * TYPE (NORMAL|MASTER|REPLICA|PUBSUB)",
        "    * MAXAGE <seconds>: connected for at least so long",
        "    * SKIPME (YES|NO): spares this connection (default: yes)",
        "LIST [TYPE (NORMAL|MASTER|REPLICA|PUBSUB)|ID <number> [<number> [...]]]",
        "    Describes connections, one a line.",
        "NO-EVICT (ON|OFF)",
        "    Keeps this connection when client memory runs short.",
        "NO-TOUCH (ON|OFF)",
        "    Leaves the access times of keys alone.",
        "REPLY (ON|OFF|SKIP)",
        "    Says whether commands of this connection are answered.",
        "SETINFO (LIB-NAME|LIB-VER) <value>",
        "    Says which client library is in use.",
        "SETNAME <name>",
        "    Gives this connection a name.",
        "TRACKINGINFO",
        "    Tells how keys that this connection read are tracked.",
        "UNBLOCK <number> [TIMEOUT|ERROR]",
        "    Ends the waiting of a blocked client.",
        NULL,
    };
    return call_help(call, lines);
}

/* ---- rows ---- */

#define OWN (CMD_NOSCRIPT | CMD_LOADING | CMD_STALE | CAT_CONNECTION)
#define OTHERS (OWN | CMD_ADMIN)
#define ON_OFF "(enabled: ON | OFF)"
#define CLIENT_TYPES "(client-type: NORMAL | MASTER@3.2.0 | SLAVE | REPLICA@5.0.0 | PUBSUB)"

static const char *const varies[] = {"nondeterministic_output", NULL};
static const char *const kill_history[] = {
    "2.8.12", "Filters, among them `ID`.",
    "3.2.0",  "`TYPE` knows `master`.",
    "5.0.0",  "`TYPE` knows `replica`; `slave` stays as another word for it.",
    "6.2.0",  "The filter `LADDR`.",
    "7.4.0",  "The filter `MAXAGE`.",
    NULL,
};
static const char *const list_history[] = {
    "2.8.12", "The field `id`.",
    "5.0.0",  "The filter `TYPE`.",
    "6.0.0",  "The field `user`.",
    "6.2.0",  "The fields `argv-mem`, `tot-mem`, `laddr` and `redir`, and the filter `ID`.",
    "7.0.0",  "The fields `resp`, `multi-mem`, `rbs` and `rbp`.",
    "7.0.3",  "The field `ssub`.",
    "7.2.0",  "The fields `lib-name` and `lib-ver`.",
    "7.4.0",  "The field `watch`.",
    NULL,
};

static const struct command subcommands[] = {
    {
        .name = "GETNAME",
        .summary = "Tells the name of the connection.",
        .since = "2.6.9",
        .complexity = "O(1)",
        .arity = 2,
        .flags = OWN,
        .run = client_getname,
    },
    {
        .name = "GETREDIR",
        .summary = "Tells which client gets the invalidation messages of this one.",
        .since = "6.0.0",
        .complexity = "O(1)",
        .arity = 2,
        .flags = OWN,
        .run = client_getredir,
    },
    {
        .name = "HELP",
        .summary = "Lists the subcommands.",
        .since = "5.0.0",
        .complexity = "O(1)",
        .arity = 2,
        .flags = CMD_LOADING | CMD_STALE | CAT_CONNECTION,
        .run = client_help,
    },
    {
        .name = "ID",
        .summary = "Tells the number of the connection, which no other will ever have.",
        .since = "5.0.0",
        .complexity = "O(1)",
        .arity = 2,
        .flags = OWN,
        .run = client_id,
    },
    {
        .name = "INFO",
        .summary = "Describes the connection in the format of CLIENT LIST.",
        .since = "6.2.0",
        .complexity = "O(1)",
        .tips = varies,
        .arity = 2,
        .flags = OWN,
        .run = client_info,
    },
    {
        .name = "KILL",
        .summary = "Closes connections.",
        .since = "2.4.0",
        .complexity = "O(N) where N is the number of connections",
        .args = "(filter: old-format/ip:port:s@-2.8.12 | (new-format: ID%client-id:i?@2.8.12 | TYPE%" CLIENT_TYPES
                "?@2.8.12 | USER%username:s? | ADDR%addr/ip:port:s? | LADDR%laddr/ip:port:s?@6.2.0 | "
                "SKIPME%(skipme: YES | NO)? | MAXAGE%maxage:i?@7.4.0)+)",
        .history = kill_history,
        .arity = -3,
        .flags = OTHERS,
        .run = client_kill,
    },
    {
        .name = "LIST",
        .summary = "Describes the open connections.",
        .since = "2.4.0",
        .complexity = "O(N) where N is the number of connections",
        .args = "TYPE%(client-type: NORMAL | MASTER | REPLICA | PUBSUB)?@5.0.0 ID%(id: client-id:i+)?@6.2.0",
        .history = list_history,
        .tips = varies,
        .arity = -2,
        .flags = OTHERS,
        .run = client_list,
    },
    {
        .name = "NO-EVICT",
        .summary = "Protects the connection from being closed to save memory.",
        .since = "7.0.0",
        .complexity = "O(1)",
        .args = ON_OFF,
        .arity = 3,
        .flags = OTHERS,
        .run = client_no_evict,
    },
    {
        .name = "NO-TOUCH",
        .summary = "Says whether commands of the connection change the access times of keys.",
        .since = "7.2.0",
        .complexity = "O(1)",
        .args = ON_OFF,
        .arity = 3,
        .flags = OWN,
        .run = client_no_touch,
    },
    {
        .name = "REPLY",
        .summary = "Says whether commands of the connection are answered.",
        .since = "3.2.0",
        .complexity = "O(1)",
        .args = "(action: ON | OFF | SKIP)",
        .arity = 3,
        .flags = OWN | CMD_BATCH_END,
        .run = client_reply,
    },
    {
        .name = "SETINFO",
        .summary = "Says which client library the connection belongs to.",
        .since = "7.2.0",
        .complexity = "O(1)",
        .args = "(attr: LIB-NAME%libname:s | LIB-VER%libver:s)",
        .arity = 4,
        .flags = OWN,
        .run = client_setinfo,
    },
    {
        .name = "SETNAME",
        .summary = "Gives the connection a name.",
        .since = "2.6.9",
        .complexity = "O(1)",
        .args = "connection-name:s",
        .arity = 3,
        .flags = OWN,
        .run = client_setname,
    },
    {
        .name = "TRACKINGINFO",
        .summary = "Tells how keys that the connection read are tracked for its cache.",
        .since = "6.2.0",
        .complexity = "O(1)",
        .arity = 2,
        .flags = OWN,
        .run = client_trackinginfo,
    },
    {
        .name = "UNBLOCK",
        .summary = "Ends the waiting of a client that is blocked in a command.",
        .since = "5.0.0",
        .complexity = "O(log N) where N is the number of connections",
        .args = "client-id:i (unblock-type: TIMEOUT | ERROR)?",
        .arity = -3,
        .flags = OTHERS,
        .run = client_unblock,
    },
    {0},
};

static const struct command commands[] = {
    {
        .name = "CLIENT",
        .summary = "A container for commands about connections.",
        .since = "2.4.0",
        .complexity = "Depends on the subcommand.",
        .arity = -2,
        .flags = CMD_BATCH_END,
        .subcommands = subcommands,
    },
    {0},
};

const struct command_family client_family = {"connection", commands};
