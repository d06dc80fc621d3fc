#include "server/observe/debug_command.h"

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/option/registry.h"
#include "server/observe/observer.h"
#include "server/worker/session.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

/* Values of the option enable-debug-command. */
enum { DEBUG_NEVER, DEBUG_ALWAYS, DEBUG_LOCAL };

#define MATCH_TEXT_MAX (64ll * 1024 * 1024)

static bool is_local(const struct session *session)
{
    /* The address never changes once the session is in the register. */
    const char *peer = session->names.peer;
    return session_is(session, SESSION_UNIX) || strncmp(peer, "127.0.0.1:", 10) == 0 || strncmp(peer, "[::1]:", 6) == 0;
}

/* ---- subcommands without keys ---- */

static enum outcome debug_ok(struct call *call)
{
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

/* Stops this worker, and with it the clients it serves; others go on. */
static enum outcome debug_sleep(struct call *call)
{
    double seconds;
    if (number_parse_double(call->argv[2], &seconds) && seconds > 0) {
        if (seconds > 1e9)
            seconds = 1e9;
        struct timespec rest = {.tv_sec = (time_t)seconds};
        rest.tv_nsec = (long)((seconds - (double)rest.tv_sec) * 1e9);
        while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
            ;
    }
    return debug_ok(call);
}

static enum outcome debug_set_active_expire(struct call *call)
{
    int64_t on = 0;
    if (!number_parse_i64(call->argv[2], &on))
        on = 0;
    atomic_store_explicit(&call->server->store_options.active_expire, on != 0, memory_order_relaxed);
    return debug_ok(call);
}

static enum outcome debug_change_repl_id(struct call *call)
{
    observer_change_replication_id(call->server);
    log_write(LOG_NOTICE, "Changing replication IDs after receiving change-repl-id");
    return debug_ok(call);
}

static enum outcome debug_log(struct call *call)
{
    struct bytes text = call->argv[2];
    log_write(LOG_WARNING, "DEBUG LOG: %.*s", (int)(text.size > 900 ? 900 : text.size), (const char *)text.at);
    return debug_ok(call);
}

static enum outcome debug_error(struct call *call)
{
    struct bytes text = call->argv[2];
    return call_errorf(call, "%.*s", (int)(text.size > 1000 ? 1000 : text.size), (const char *)text.at);
}

/* There are no quicklists; the value is checked as if there were. */
static enum outcome debug_quicklist_packed_threshold(struct call *call)
{
    uint64_t bytes;
    if (!number_parse_memory(call->argv[2], &bytes) || bytes > 4ull * 1024 * 1024 * 1024 - 1)
        return call_error(call, "ERR argument must be a memory value bigger than 1 and smaller than 4gb");
    return debug_ok(call);
}

/* Matches a pattern against a long run of one letter: it must end soon. */
static enum outcome debug_stringmatch_len(struct call *call)
{
    int64_t size;
    if (!call_integer(call, 2, &size))
        return OUTCOME_DONE;
    if (size < 0 || size > MATCH_TEXT_MAX)
        return call_error(call, "ERR value is out of range");
    uint8_t *text = mem_try_alloc((size_t)size + 1);
    if (!text)
        return call_out_of_memory(call);
    memset(text, 'a', (size_t)size);
    resp_write_integer(call->reply, bytes_glob(call->argv[3], bytes_make(text, (size_t)size), false));
    mem_free(text);
    return OUTCOME_DONE;
}

static enum outcome debug_not_yet(struct call *call)
{
    struct bytes name = call->argv[1];
    return call_errorf(call, "ERR DEBUG %.*s is not supported yet", (int)(name.size > 64 ? 64 : name.size),
                       (const char *)name.at);
}

/* ---- crashes ---- */

static enum outcome debug_segfault(struct call *call)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) {
        memcpy(page, "x", 1); /* the page cannot be written */
        munmap(page, 4096);
    }
    return debug_ok(call);
}

static enum outcome debug_panic(struct call *call)
{
    (void)call;
    check_failed(__FILE__, __LINE__, "called with DEBUG PANIC");
}

static enum outcome debug_assert(struct call *call)
{
    (void)call;
    check_failed(__FILE__, __LINE__, "called with DEBUG ASSERT");
}

static enum outcome debug_help(struct call *call)
{
    static const char *const lines[] = {
        "ASSERT",
        "    Crashes by a failed assertion.",
        "CHANGE-REPL-ID",
        "    Gives this server another replication id.",
        "DIGEST",
        "    Shows a fingerprint of all data.",
        "DIGEST-VALUE <key> [<key> ...]",
        "    Shows fingerprints of the values of keys.",
        "ERROR <text>",
        "    Answers with that error.",
        "HTSTATS <dbid>",
        "    Shows figures of the tables of a database.",
        "LOG <text>",
        "    Writes the text to the log.",
        "OBJECT <key>",
        "    Shows how a value is kept.",
        "PANIC",
        "    Crashes at once.",
        "PAUSE-CRON <0|1>",
        "    Is accepted and changes nothing: there is no such job.",
        "POPULATE <count> [<prefix>] [<size>]",
        "    Adds keys <prefix>:0, <prefix>:1 ... that are not there yet, with values",
        "    of <size> bytes.",
        "PROTOCOL <type>",
        "    Answers with a sample of the type: string, integer, double, bignum, null,",
        "    array, set, map, attrib, push, verbatim, true, false.",
        "QUICKLIST-PACKED-THRESHOLD <size>",
        "    Is accepted and changes nothing.",
        "SEGFAULT",
        "    Crashes by a forbidden access to memory.",
        "SET-ACTIVE-EXPIRE <0|1>",
        "    Says whether expired keys that nobody touches are reclaimed.",
        "SLEEP <seconds>",
        "    Stops the worker that serves this connection. Fractions are allowed.",
        "STRINGMATCH-LEN <length> <pattern>",
        "    Matches the pattern against that many letters 'a'.",
        NULL,
    };
    return call_help(call, lines);
}

/* ---- dispatch ---- */

/* DEBUG has no subcommands in the sense of the command table: COMMAND knows one command. argc counts both words. */
static const struct {
    const char *name;
    uint32_t argc_least, argc_most;
    enum outcome (*run)(struct call *call);
} subcommands[] = {
    {"ASSERT", 2, UINT32_MAX, debug_assert},
    {"CHANGE-REPL-ID", 2, UINT32_MAX, debug_change_repl_id},
    {"DIGEST", 2, 2, debug_digest},
    {"DIGEST-VALUE", 3, UINT32_MAX, debug_digest_value},
    {"ERROR", 3, 3, debug_error},
    {"HELP", 2, 2, debug_help},
    {"HTSTATS", 3, 3, debug_htstats},
    {"LOADAOF", 2, UINT32_MAX, debug_not_yet},
    {"LOG", 3, 3, debug_log},
    {"OBJECT", 3, 3, debug_object},
    {"PANIC", 2, UINT32_MAX, debug_panic},
    {"PAUSE-CRON", 3, 3, debug_ok},
    {"POPULATE", 3, 5, debug_populate},
    {"PROTOCOL", 3, 3, debug_protocol},
    {"QUICKLIST-PACKED-THRESHOLD", 3, 3, debug_quicklist_packed_threshold},
    {"RELOAD", 2, UINT32_MAX, debug_not_yet},
    {"SEGFAULT", 2, UINT32_MAX, debug_segfault},
    {"SET-ACTIVE-EXPIRE", 3, 3, debug_set_active_expire},
    {"SLEEP", 3, 3, debug_sleep},
    {"STRINGMATCH-LEN", 4, 4, debug_stringmatch_len},
};

static enum outcome debug(struct call *call)
{
    int64_t allowed = option_registry_number(call->server->registry, "enable-debug-command");
    if (allowed == DEBUG_NEVER || (allowed == DEBUG_LOCAL && !is_local(call->session)))
        return call_error(
            call, "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can "
                  "run it from a local connection, otherwise you need to set this option in the configuration "
                  "file, and then restart the server.");
    for (size_t i = 0; i < COUNT_OF(subcommands); i++)
        if (call_is(call, 1, subcommands[i].name) && call->argc >= subcommands[i].argc_least &&
            call->argc <= subcommands[i].argc_most)
            return subcommands[i].run(call);
    struct bytes word = call->argv[1];
    return call_errorf(call, "ERR unknown subcommand or wrong number of arguments for '%.*s'. Try DEBUG HELP.",
                       (int)(word.size > 128 ? 128 : word.size), (const char *)word.at);
}

static const struct command commands[] = {
    {
        .name = "DEBUG",
        .summary = "A container for commands that test the server itself.",
        .since = "1.0.0",
        .complexity = "Depends on the subcommand.",
        .arity = -2,
        .flags = CMD_ADMIN | CMD_NOSCRIPT | CMD_LOADING | CMD_STALE | CMD_PROTECTED | CMD_SYSTEM,
        .run = debug,
    },
    {0},
};

const struct command_family debug_family = {"server", commands};
