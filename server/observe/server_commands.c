#include "server/observe/server_commands.h"

#include "lib/base/clock.h"
#include "server/worker/server.h"

static enum outcome time_of_day(struct call *call)
{
    int64_t now_us = clock_realtime_us();
    resp_write_array(call->reply, 2);
    resp_write_bulk_integer(call->reply, now_us / 1000000);
    resp_write_bulk_integer(call->reply, now_us % 1000000);
    return OUTCOME_DONE;
}

/* There are no snapshots yet: what was there at the start is what is saved. */
static enum outcome lastsave(struct call *call)
{
    resp_write_integer(call->reply, call->server->started_ms / 1000);
    return OUTCOME_DONE;
}

static enum outcome role(struct call *call)
{
    resp_write_array(call->reply, 3);
    resp_write_text(call->reply, "master");
    resp_write_integer(call->reply, 0);
    resp_write_array(call->reply, 0);
    return OUTCOME_DONE;
}

/* NOW and FORCE skip what a shutdown may wait for or fail on: replicas and snapshots, which are not there yet. */
static enum outcome server_shutdown(struct call *call)
{
    bool save = false, nosave = false, at_once = false, abort = false;
    for (uint32_t i = 1; i < call->argc; i++) {
        if (call_is(call, i, "SAVE"))
            save = true;
        else if (call_is(call, i, "NOSAVE"))
            nosave = true;
        else if (call_is(call, i, "NOW") || call_is(call, i, "FORCE"))
            at_once = true;
        else if (call_is(call, i, "ABORT"))
            abort = true;
        else
            return call_syntax_error(call);
    }
    if ((save && nosave) || (abort && (save || nosave || at_once)))
        return call_syntax_error(call);
    if (abort)
        return call_error(call, "ERR No shutdown in progress.");
    if (save)
        return call_error(call, "ERR Saving at shutdown is not supported yet. Use SHUTDOWN NOSAVE.");
    server_ask_stop(call->server);
    return OUTCOME_CLOSE;
}

/* ---- rows ---- */

static const char *const varies[] = {"nondeterministic_output", NULL};
static const char *const shutdown_history[] = {"7.0.0", "`NOW`, `FORCE` and `ABORT`.", NULL};

static const struct command commands[] = {
    {
        .name = "TIME",
        .summary = "Tells the time of the server's clock.",
        .since = "2.6.0",
        .complexity = "O(1)",
        .tips = varies,
        .arity = 1,
        .flags = CMD_LOADING | CMD_STALE | CMD_FAST,
        .run = time_of_day,
    },
    {
        .name = "LASTSAVE",
        .summary = "Tells when the data was last saved to disk, in Unix time.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .tips = varies,
        .arity = 1,
        .flags = CMD_LOADING | CMD_STALE | CMD_FAST | CAT_ADMIN | CAT_DANGEROUS,
        .run = lastsave,
    },
    {
        .name = "ROLE",
        .summary = "Tells the part the server plays in replication.",
        .since = "2.8.12",
        .complexity = "O(1)",
        .arity = 1,
        .flags = CMD_NOSCRIPT | CMD_LOADING | CMD_STALE | CMD_FAST | CAT_ADMIN | CAT_DANGEROUS,
        .run = role,
    },
    {
        .name = "SHUTDOWN",
        .summary = "Stops the server.",
        .since = "1.0.0",
        .complexity = "O(N) when data is saved, where N is the number of keys in all databases; otherwise O(1)",
        .args = "(save-selector: NOSAVE | SAVE)? NOW?@7.0.0 FORCE?@7.0.0 ABORT?@7.0.0",
        .history = shutdown_history,
        .arity = -1,
        .flags = CMD_ADMIN | CMD_NOSCRIPT | CMD_LOADING | CMD_STALE | CMD_NO_MULTI | CMD_ALLOW_BUSY | CMD_BATCH_END,
        .run = server_shutdown,
    },
    {
        .name = "LOLWUT",
        .summary = "Shows a little computer art and the version.",
        .since = "5.0.0",
        .complexity = "O(N) where N is the size of the picture",
        .args = "VERSION%version:i?",
        .arity = -1,
        .flags = CMD_READONLY | CMD_FAST,
        .run = lolwut,
    },
    {0},
};

const struct command_family server_family = {"server", commands};
