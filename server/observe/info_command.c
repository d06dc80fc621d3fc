#include "server/observe/info.h"

#include "server/command/call.h"

#include <stdlib.h>

#define INFO_MAX (64u * 1024 * 1024)
#define SECTIONS_MAX 48u

const struct info_section info_sections[] = {
    {"Server", info_write_server, true, 10},
    {"Clients", info_write_clients, true, 20},
    {"Memory", info_write_memory, true, 30},
    {"Persistence", info_write_persistence, true, 40},
    {"Stats", info_write_stats, true, 50},
    {"Replication", info_write_replication, true, 60},
    {"CPU", info_write_cpu, true, 70},
    {"Modules", info_write_modules, true, 80},
    {"Commandstats", info_write_commandstats, false, 90},
    {"Errorstats", info_write_errorstats, true, 100},
    {"Latencystats", info_write_latencystats, false, 110},
    {"Cluster", info_write_cluster, true, 120},
    {"Keyspace", info_write_keyspace, true, 130},
    {0},
};

static int compare_sections(const void *a, const void *b)
{
    const struct info_section *left = *(const struct info_section *const *)a;
    const struct info_section *right = *(const struct info_section *const *)b;
    return (left->order > right->order) - (left->order < right->order);
}

/* The sections of every module, in the order they are shown. */
static size_t gather(const struct server *server, const struct info_section **sections)
{
    size_t count = 0;
    for (const struct module *const *module = server->modules; *module; module++)
        for (const struct info_section *section = (*module)->sections; section && section->name; section++)
            if (count < SECTIONS_MAX)
                sections[count++] = section;
    qsort(sections, count, sizeof(*sections), compare_sections);
    return count;
}

static bool is_asked(const struct call *call, const struct info_section *section)
{
    if (call->argc == 1)
        return section->in_default;
    for (uint32_t i = 1; i < call->argc; i++) {
        if (call_is(call, i, "all") || call_is(call, i, "everything") || call_is(call, i, section->name))
            return true;
        if (call_is(call, i, "default") && section->in_default)
            return true;
    }
    return false;
}

static enum outcome info(struct call *call)
{
    const struct info_section *sections[SECTIONS_MAX];
    size_t count = gather(call->server, sections);
    struct buf text;
    int error = 0;
    buf_init(&text, INFO_MAX);
    for (size_t i = 0; error == 0 && i < count; i++) {
        if (!is_asked(call, sections[i]))
            continue;
        error = buf_printf(&text, "%s# %s\r\n", text.size ? "\r\n" : "", sections[i]->name);
        if (error == 0)
            error = sections[i]->write(call->server, &text);
    }
    if (error < 0)
        (void)call_error(call, "ERR the information is too long");
    else
        resp_write_verbatim(call->reply, "txt", buf_bytes(&text));
    buf_deinit(&text);
    return OUTCOME_DONE;
}

static const char *const info_tips[] = {"nondeterministic_output", "request_policy:all_shards",
                                        "response_policy:special", NULL};
static const char *const info_history[] = {"7.0.0", "Takes several sections.", NULL};

static const struct command commands[] = {
    {
        .name = "INFO",
        .summary = "Tells the state and the counters of the server.",
        .since = "1.0.0",
        .complexity = "O(1)",
        .args = "section:s*",
        .history = info_history,
        .tips = info_tips,
        .arity = -1,
        .flags = CMD_LOADING | CMD_STALE | CAT_DANGEROUS,
        .run = info,
    },
    {0},
};

const struct command_family info_family = {"server", commands};
