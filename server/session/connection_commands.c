#include "server/session/connection_commands.h"

#include "lib/option/option.h"
#include "server/worker/session.h"

#include <limits.h>

#define VERSION_SHOWN "7.4.0" /* the Redis whose behaviour clients may count on */

/* ---- names ---- */

bool client_text_valid(struct bytes text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.at[i] < '!' || text.at[i] > '~')
            return false;
    return true;
}

/* False after an error reply. */
static bool check_name(struct call *call, struct bytes name)
{
    if (!client_text_valid(name)) {
        (void)call_error(call, "ERR Client names cannot contain spaces, newlines or special characters.");
        return false;
    }
    if (name.size >= sizeof(((struct session_names *)NULL)->name)) {
        (void)call_error(call, "ERR Client names cannot be longer than 255 characters.");
        return false;
    }
    return true;
}

static void store_name(struct session *session, struct bytes name)
{
    mutex_lock(&session->mutex);
    if (name.size)
        memcpy(session->names.name, name.at, name.size);
    session->names.name[name.size] = '\0';
    mutex_unlock(&session->mutex);
}

bool client_set_name(struct call *call, struct bytes name)
{
    if (!check_name(call, name))
        return false;
    store_name(call->session, name);
    return true;
}

/* ---- authentication ---- */

/* Only the default user exists. False after an error reply. */
static bool authenticate(struct call *call, struct bytes user, struct bytes password)
{
    struct session *session = call->session;
    bool known = bytes_equal(user, BYTES("default"));
    /* The comparison is made for unknown users too: how long it takes tells nothing. */
    bool matches = session_password_matches(session, password) || !session_password_required(session);
    if (!known || !matches) {
        (void)call_error(call, "WRONGPASS invalid username-password pair or user is disabled.");
        return false;
    }
    session_set(session, SESSION_AUTHENTICATED, true);
    return true;
}

static enum outcome auth(struct call *call)
{
    if (call->argc > 3)
        return call_syntax_error(call);
    if (call->argc == 2 && !session_password_required(call->session))
        return call_error(call, "ERR AUTH <password> called without any password configured for the default user. "
                                "Are you sure your configuration is correct?");
    struct bytes user = call->argc == 3 ? call->argv[1] : BYTES("default");
    if (authenticate(call, user, call->argv[call->argc - 1]))
        resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

/* ---- HELLO ---- */

struct hello {
    int64_t protocol; /* 0: as it is */
    bool has_user, has_name;
    struct bytes user, password, name;
};

/* False after an error reply. */
static bool read_hello(struct call *call, struct hello *hello)
{
    if (call->argc > 1) {
        if (!number_parse_i64(call->argv[1], &hello->protocol)) {
            (void)call_error(call, "ERR Protocol version is not an integer or out of range");
            return false;
        }
        if (hello->protocol < 2 || hello->protocol > 3) {
            (void)call_error(call, "NOPROTO unsupported protocol version");
            return false;
        }
    }
    for (uint32_t i = 2; i < call->argc; i++) {
        uint32_t more = call->argc - 1 - i;
        if (call_is(call, i, "AUTH") && more >= 2) {
            hello->has_user = true;
            hello->user = call->argv[i + 1];
            hello->password = call->argv[i + 2];
            i += 2;
        } else if (call_is(call, i, "SETNAME") && more >= 1) {
            hello->has_name = true;
            hello->name = call->argv[i + 1];
            if (!check_name(call, hello->name))
                return false;
            i++;
        } else {
            struct bytes word = call->argv[i];
            (void)call_errorf(call, "ERR Syntax error in HELLO option '%.*s'", (int)(word.size > 512 ? 512 : word.size),
                              (const char *)word.at);
            return false;
        }
    }
    return true;
}

static void write_greeting(struct call *call)
{
    struct resp_writer *reply = call->reply;
    resp_write_map(reply, 7);
    resp_write_text(reply, "server");
    resp_write_text(reply, "redis"); /* some clients branch on any other name */
    resp_write_text(reply, "version");
    resp_write_text(reply, VERSION_SHOWN);
    resp_write_text(reply, "proto");
    resp_write_integer(reply, atomic_load_explicit(&call->session->protocol, memory_order_relaxed));
    resp_write_text(reply, "id");
    resp_write_integer(reply, (int64_t)call->session->id);
    resp_write_text(reply, "mode");
    resp_write_text(reply, "standalone");
    resp_write_text(reply, "role");
    resp_write_text(reply, "master");
    resp_write_text(reply, "modules");
    resp_write_array(reply, 0);
}

static enum outcome hello(struct call *call)
{
    struct hello hello = {0};
    if (!read_hello(call, &hello))
        return OUTCOME_DONE;
    if (hello.has_user && !authenticate(call, hello.user, hello.password))
        return OUTCOME_DONE;
    if (!session_is(call->session, SESSION_AUTHENTICATED))
        return call_error(call,
                          "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH "
                          "<user> <pass> option can be used to authenticate the client and select the RESP protocol "
                          "version at the same time");
    if (hello.has_name)
        store_name(call->session, hello.name);
    if (hello.protocol)
        session_set_protocol(call->session, (uint8_t)hello.protocol);
    write_greeting(call);
    return OUTCOME_DONE;
}

/* ---- the small ones ---- */

static enum outcome ping(struct call *call)
{
    if (call->argc > 2)
        return call_wrong_arity(call);
    if (call->argc == 2)
        resp_write_bulk(call->reply, call->argv[1]);
    else
        RESP_WRITE_LITERAL(call->reply, "+PONG\r\n");
    return OUTCOME_DONE;
}

static enum outcome echo(struct call *call)
{
    resp_write_bulk(call->reply, call->argv[1]);
    return OUTCOME_DONE;
}

static enum outcome quit(struct call *call)
{
    resp_write_ok(call->reply);
    return OUTCOME_CLOSE;
}

static enum outcome reset(struct call *call)
{
    session_reset(call->session);
    call->reply->muted = false; /* CLIENT REPLY OFF ended with the rest */
    RESP_WRITE_LITERAL(call->reply, "+RESET\r\n");
    return OUTCOME_DONE;
}

static enum outcome select_database(struct call *call)
{
    int64_t db;
    if (!call_integer(call, 1, &db))
        return OUTCOME_DONE;
    if (db < INT_MIN || db > INT_MAX)
        return call_errorf(call, "ERR value is out of range, value must between %d and %d", INT_MIN, INT_MAX);
    if (db < 0 || db >= store_databases(call->server->store))
        return call_error(call, "ERR DB index is out of range");
    session_set_db(call->session, (uint32_t)db);
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

/* ---- rows ---- */

#define ANY_TIME (CMD_NOSCRIPT | CMD_LOADING | CMD_STALE | CMD_FAST | CMD_NO_AUTH | CMD_ALLOW_BUSY | CAT_CONNECTION)

static const char *const all_shards[] = {"request_policy:all_shards", "response_policy:all_succeeded", NULL};
static const char *const auth_history[] = {"6.0.0", "Takes a user name before the password.", NULL};
static const char *const hello_history[] = {
    "6.2.0", "The protocol version may be left out: then the command only reports on the connection.", NULL};

static const struct command commands[] = {
    {
        .name = "PING",
        .summary = "Answers PONG, or the message it is given.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "message:s?",
        .tips = all_shards,
        .arity = -1,
        .flags = CMD_FAST | CAT_CONNECTION,
        .run = ping,
    },
    {
        .name = "ECHO",
        .summary = "Returns its argument.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "message:s",
        .arity = 2,
        .flags = CMD_LOADING | CMD_STALE | CMD_FAST | CAT_CONNECTION,
        .run = echo,
    },
    {
        .name = "AUTH",
        .summary = "Proves who the client is.",
        .since = "1.0.0",
        .complexity = "O(N) where N is the number of passwords the user has",
        .args = "username:s?@6.0.0 password:s",
        .history = auth_history,
        .arity = -2,
        .flags = ANY_TIME | CMD_BATCH_END,
        .run = auth,
    },
    {
        .name = "HELLO",
        .summary = "Chooses the protocol version, optionally with credentials and a name, and describes the server.",
        .since = "6.0.0",
        .complexity = "O(1)",
        .args = "(arguments: protover:i AUTH%(username_password: username:s password:s)? SETNAME%clientname:s?)?",
        .history = hello_history,
        .arity = -1,
        .flags = ANY_TIME | CMD_BATCH_END,
        .run = hello,
    },
    {
        .name = "QUIT",
        .summary = "Closes the connection once its replies are sent.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .arity = -1,
        .flags = ANY_TIME | CMD_BATCH_END,
        .run = quit,
    },
    {
        .name = "RESET",
        .summary = "Puts the connection back into the state of a fresh one.",
        .since = "6.2.0",
        .complexity = "O(1)",
        .arity = 1,
        .flags = ANY_TIME | CMD_BATCH_END,
        .run = reset,
    },
    {
        .name = "SELECT",
        .summary = "Changes the database the connection works on.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "index:i",
        .arity = 2,
        .flags = CMD_LOADING | CMD_STALE | CMD_FAST | CMD_BATCH_END | CAT_CONNECTION,
        .run = select_database,
    },
    {0},
};

const struct command_family connection_family = {"connection", commands};
