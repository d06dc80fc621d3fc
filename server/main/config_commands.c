#include "server/main/config_commands.h"

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "server/command/call.h"
#include "server/main/process.h"
#include "server/worker/session.h"

#include <errno.h>

/* ---- GET --------------------------------------------------------------------------------------------------------- */

/* Names that were picked, by number of their view; one asked for by its plain name is shown as it was written. */
struct picks {
    struct bytes *names;
    bool *picked;
    size_t count, views;
};

static bool is_pattern(struct bytes name)
{
    for (size_t i = 0; i < name.size; i++)
        if (name.at[i] == '*' || name.at[i] == '?' || name.at[i] == '[')
            return true;
    return false;
}

static void pick(struct picks *picks, struct option_registry *registry, struct bytes name)
{
    bool pattern = is_pattern(name);
    struct option_view view;
    for (size_t i = 0; i < picks->views && option_registry_view(registry, i, &view); i++) {
        bool fits = pattern ? bytes_glob(name, bytes_of(view.name), true) : bytes_is(name, view.name);
        if (!fits || picks->picked[i] || (view.flags & OPTION_HIDDEN))
            continue;
        picks->picked[i] = true;
        picks->names[i] = pattern ? bytes_of(view.name) : name;
        picks->count++;
    }
}

static enum outcome config_get(struct call *call)
{
    struct option_registry *registry = call->server->registry;
    struct picks picks = {0};
    struct option_view view;
    while (option_registry_view(registry, picks.views, &view))
        picks.views++;
    picks.names = mem_alloc_zeroed(picks.views * sizeof(*picks.names));
    picks.picked = mem_alloc_zeroed(picks.views * sizeof(*picks.picked));
    for (uint32_t i = 2; i < call->argc && picks.count < picks.views; i++)
        pick(&picks, registry, call->argv[i]);
    resp_write_map(call->reply, picks.count);
    struct buf value;
    buf_init(&value, OPTION_VALUE_MAX);
    for (size_t i = 0; i < picks.views; i++) {
        if (!picks.picked[i])
            continue;
        buf_clear(&value);
        if (option_registry_show(registry, picks.names[i], &value))
            buf_clear(&value); /* longer than any value may be: cannot be */
        resp_write_bulk(call->reply, picks.names[i]);
        resp_write_bulk(call->reply, buf_bytes(&value));
    }
    buf_deinit(&value);
    mem_free(picks.names);
    mem_free(picks.picked);
    return OUTCOME_DONE;
}

/* ---- SET --------------------------------------------------------------------------------------------------------- */

/* Came over the Unix socket or from this machine. */
static bool is_local(struct session *session)
{
    if (session_is(session, SESSION_UNIX))
        return true;
    mutex_lock(&session->mutex);
    bool local = strncmp(session->names.peer, "127.", 4) == 0 || strncmp(session->names.peer, "[::1]", 5) == 0;
    mutex_unlock(&session->mutex);
    return local;
}

static bool may_set_protected(struct call *call)
{
    int64_t who = option_registry_number(call->server->registry, "enable-protected-configs");
    return who == MAIN_LOCAL_YES || (who == MAIN_LOCAL_ONLY && is_local(call->session));
}

static bool was_set(void *context, const struct option_view *view)
{
    const struct call *call = context;
    for (uint32_t i = 2; i + 1 < call->argc; i += 2)
        if (bytes_is(call->argv[i], view->name))
            return true;
    return false;
}

static enum outcome config_set(struct call *call)
{
    if (call->argc % 2)
        return call_syntax_error(call);
    size_t count = (call->argc - 2) / 2;
    struct option_pair *pairs = mem_alloc(count * sizeof(*pairs));
    for (size_t i = 0; i < count; i++)
        pairs[i] = (struct option_pair){.name = call->argv[2 + 2 * i], .value = call->argv[3 + 2 * i]};
    struct option_error error = {0};
    int failed = option_registry_set(call->server->registry, pairs, count, may_set_protected(call), &error);
    mem_free(pairs);
    if (failed == -ENOENT)
        return call_errorf(call, "ERR Unknown option or number of arguments for CONFIG SET - '%s'", error.name);
    if (failed)
        return call_errorf(call, "ERR CONFIG SET failed (possibly related to argument '%s') - %s", error.name,
                           error.text);
    settings_warn_inert(process_settings(call->server), was_set, call);
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

static enum outcome config_rewrite(struct call *call)
{
    struct server *server = call->server;
    if (server->config_file[0] == '\0')
        return call_error(call, "ERR The server is running without a config file");
    struct option_error error;
    if (option_file_rewrite(server->registry, server->config_file, &error)) {
        log_write(LOG_WARNING, "CONFIG REWRITE failed: %s", error.text);
        return call_errorf(call, "ERR %s", error.text);
    }
    log_write(LOG_WARNING, "CONFIG REWRITE executed with success.");
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

static enum outcome config_resetstat(struct call *call)
{
    process_reset_statistics(call->server);
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

static enum outcome config_help(struct call *call)
{
    static const char *const lines[] = {"GET <pattern>",
                                        "    Return parameters matching the glob-like <pattern> and their values.",
                                        "SET <directive> <value>",
                                        "    Set the configuration <directive> to <value>.",
                                        "RESETSTAT",
                                        "    Reset statistics reported by the INFO command.",
                                        "REWRITE",
                                        "    Rewrite the configuration file.",
                                        NULL};
    return call_help(call, lines);
}

static const char *const set_tips[] = {"request_policy:all_nodes", "response_policy:all_succeeded", NULL};
static const char *const get_history[] = {"7.0.0", "Several patterns in one call.", NULL};
static const char *const set_history[] = {"7.0.0", "Several parameters in one call.", NULL};

#define CONFIG_FLAGS (CMD_ADMIN | CMD_NOSCRIPT | CMD_LOADING | CMD_STALE)

static const struct command config_subcommands[] = {
    {.name = "GET",
     .summary = "Shows the values of configuration parameters.",
     .since = "2.0.0",
     .complexity = "O(N) when N is the number of configuration parameters provided",
     .args = "(parameter: parameter:s)+",
     .history = get_history,
     .arity = -3,
     .flags = CONFIG_FLAGS,
     .run = config_get},
    {.name = "SET",
     .summary = "Changes configuration parameters while the server runs, all of them or none.",
     .since = "2.0.0",
     .complexity = "O(N) when N is the number of configuration parameters provided",
     .args = "(parameter_value: parameter:s value:s)+",
     .tips = set_tips,
     .history = set_history,
     .arity = -4,
     .flags = CONFIG_FLAGS | CMD_BATCH_END,
     .run = config_set},
    {.name = "RESETSTAT",
     .summary = "Sets the statistics of INFO back to zero.",
     .since = "2.0.0",
     .complexity = "O(1)",
     .arity = 2,
     .flags = CONFIG_FLAGS,
     .run = config_resetstat},
    {.name = "REWRITE",
     .summary = "Brings the configuration file up to date with the configuration in memory.",
     .since = "2.8.0",
     .complexity = "O(1)",
     .arity = 2,
     .flags = CONFIG_FLAGS,
     .run = config_rewrite},
    {.name = "HELP",
     .summary = "Shows what the subcommands do.",
     .since = "5.0.0",
     .complexity = "O(1)",
     .arity = 2,
     .flags = CMD_LOADING | CMD_STALE,
     .run = config_help},
    {0},
};

static const struct command commands[] = {
    {.name = "CONFIG",
     .summary = "Reads and changes the configuration.",
     .since = "2.0.0",
     .complexity = "Depends on subcommand.",
     .arity = -2,
     .subcommands = config_subcommands},
    {0},
};

const struct command_family config_family = {"server", commands};
