#include "server/observe/memory_command.h"

#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "server/observe/memory_figures.h"

#include <stdio.h>

#define REPORT_MAX (64u * 1024)
#define MEGABYTE (1024u * 1024)

/* ---- USAGE ---- */

REQUIRES(slot_held)
static enum outcome memory_usage(struct call *call)
{
    struct place place;
    int64_t samples;
    for (uint32_t i = 3; i < call->argc; i += 2) {
        if (!call_is(call, i, "SAMPLES") || i + 1 == call->argc)
            return call_syntax_error(call);
        if (!call_integer(call, i + 1, &samples))
            return OUTCOME_DONE;
        /* Strings have nothing to sample: their size is known. */
        if (samples < 0)
            return call_syntax_error(call);
    }
    const struct entry *entry = store_find(call->store, call->db, &call->keys[0], call->now_ms, &place);
    if (entry)
        resp_write_integer(call->reply, (int64_t)store_entry_memory(call->server->store, entry));
    else
        resp_write_null(call->reply);
    return OUTCOME_DONE;
}

/* ---- STATS ---- */

static void write_bytes(struct call *call, const char *name, uint64_t bytes)
{
    resp_write_text(call->reply, name);
    resp_write_integer(call->reply, (int64_t)bytes);
}

static void write_ratio(struct call *call, const char *name, double ratio)
{
    resp_write_text(call->reply, name);
    resp_write_double(call->reply, ratio);
}

static uint32_t count_databases(const struct server *server)
{
    uint32_t used = 0;
    for (uint32_t db = 0; db < store_databases(server->store); db++) {
        uint64_t keys, expires;
        int64_t average_ttl_ms;
        store_count(server->store, db, &keys, &expires, &average_ttl_ms);
        used += keys > 0;
    }
    return used;
}

/* The share of the tables that a database's keys have; an expiry lies in the entry and has no table. At most `most`
 * databases are written: their number was told before. Returns how many were. */
static uint32_t write_databases(struct call *call, const struct memory_figures *figures, uint32_t most)
{
    uint32_t written = 0;
    for (uint32_t db = 0; db < store_databases(call->server->store) && written < most; db++) {
        uint64_t keys, expires;
        int64_t average_ttl_ms;
        char name[32];
        store_count(call->server->store, db, &keys, &expires, &average_ttl_ms);
        if (keys == 0)
            continue;
        (void)snprintf(name, sizeof(name), "db.%u", db);
        resp_write_text(call->reply, name);
        resp_write_map(call->reply, 2);
        double share = memory_ratio(keys, figures->keys);
        write_bytes(call, "overhead.hashtable.main", (uint64_t)((double)figures->tables * (share > 1 ? 1 : share)));
        write_bytes(call, "overhead.hashtable.expires", 0);
        written++;
    }
    return written;
}

static void write_allocator(struct call *call, const struct memory_figures *figures)
{
    uint64_t allocated = figures->allocator_allocated, active = figures->allocator_active;
    uint64_t resident = figures->allocator_resident;
    write_bytes(call, "allocator.allocated", allocated);
    write_bytes(call, "allocator.active", active);
    write_bytes(call, "allocator.resident", resident);
    write_ratio(call, "allocator-fragmentation.ratio", memory_ratio(active, allocated));
    write_bytes(call, "allocator-fragmentation.bytes", active - allocated);
    write_ratio(call, "allocator-rss.ratio", memory_ratio(resident, active));
    write_bytes(call, "allocator-rss.bytes", resident - active);
    write_ratio(call, "rss-overhead.ratio", memory_ratio(figures->resident, resident));
    write_bytes(call, "rss-overhead.bytes", figures->resident - resident);
    write_ratio(call, "fragmentation", memory_ratio(figures->resident, figures->used));
    write_bytes(call, "fragmentation.bytes", figures->resident - figures->used);
}

static enum outcome memory_stats(struct call *call)
{
    struct memory_figures figures;
    uint32_t databases = count_databases(call->server);
    memory_figures_read(call->server, &figures);
    uint64_t net = figures.used > figures.start ? figures.used - figures.start : 0;
    resp_write_map(call->reply, 27 + databases);
    write_bytes(call, "peak.allocated", figures.peak);
    write_bytes(call, "total.allocated", figures.used);
    write_bytes(call, "startup.allocated", figures.start);
    write_bytes(call, "replication.backlog", 0);
    write_bytes(call, "clients.slaves", 0);
    write_bytes(call, "clients.normal", figures.clients);
    write_bytes(call, "cluster.links", 0);
    write_bytes(call, "aof.buffer", 0);
    write_bytes(call, "lua.caches", 0);
    write_bytes(call, "functions.caches", 0);
    /* A database may have been emptied since they were counted. */
    for (uint32_t i = write_databases(call, &figures, databases); i < databases; i++) {
        resp_write_text(call->reply, "db.gone");
        resp_write_map(call->reply, 0);
    }
    write_bytes(call, "overhead.total", figures.overhead);
    write_bytes(call, "keys.count", figures.keys);
    write_bytes(call, "keys.bytes-per-key", figures.keys ? net / figures.keys : 0);
    write_bytes(call, "dataset.bytes", figures.dataset);
    write_ratio(call, "dataset.percentage", 100 * memory_ratio(figures.dataset, net));
    write_ratio(call, "peak.percentage", 100 * memory_ratio(figures.used, figures.peak));
    write_allocator(call, &figures);
    return OUTCOME_DONE;
}

/* ---- DOCTOR, MALLOC-STATS, PURGE ---- */

static int write_findings(const struct memory_figures *figures, struct buf *to)
{
    int findings = 0;
    if (figures->used < 5 * MEGABYTE)
        return buf_append_text(to, "There is too little data here to judge how memory is used.\n");
    if (memory_ratio(figures->peak, figures->used) > 1.5) {
        findings++;
        if (buf_append_text(to,
                            "* Peak: at some time memory use was over one and a half times what it is now. What the "
                            "process keeps of it can be given back with MEMORY PURGE.\n") < 0)
            return -1;
    }
    if (memory_ratio(figures->allocator_active, figures->allocator_allocated) > 1.2) {
        findings++;
        if (buf_append_text(to,
                            "* Fragmentation: over a sixth of the memory in allocated pages holds nothing. It fills "
                            "up again as data of the same sizes comes in.\n") < 0)
            return -1;
    }
    if (figures->resident > figures->allocator_resident &&
        memory_ratio(figures->resident, figures->allocator_resident) > 1.3) {
        findings++;
        if (buf_append_text(to, "* Overhead: the process holds much more memory than its allocators know of.\n") < 0)
            return -1;
    }
    if (figures->clients > figures->used / 4) {
        findings++;
        if (buf_append_text(to, "* Clients: over a quarter of the memory is in client buffers. See CLIENT LIST.\n") < 0)
            return -1;
    }
    return findings ? 0 : buf_append_text(to, "Nothing about the use of memory is out of the ordinary.\n");
}

static enum outcome write_report(struct call *call, struct buf *text, int error)
{
    if (error < 0)
        (void)call_out_of_memory(call);
    else
        resp_write_verbatim(call->reply, "txt", buf_bytes(text));
    buf_deinit(text);
    return OUTCOME_DONE;
}

static enum outcome memory_doctor(struct call *call)
{
    struct memory_figures figures;
    struct buf text;
    memory_figures_read(call->server, &figures);
    buf_init(&text, REPORT_MAX);
    return write_report(call, &text, write_findings(&figures, &text));
}

static enum outcome memory_malloc_stats(struct call *call)
{
    struct mem_stats general;
    struct store_memory store;
    struct buf text;
    mem_stats_read(&general);
    store_memory_read(call->server->store, &store);
    buf_init(&text, REPORT_MAX);
    int error = buf_printf(&text,
                           "General allocator (%s): allocated %zu, active %zu, resident %zu\n"
                           "Store regions: in objects %llu, in regions %llu\n"
                           "Store: entries %llu, tables %llu, slots %llu\n"
                           "Waiting to be freed: %llu objects\n",
                           mem_allocator_name(), general.allocated, general.active, general.resident,
                           (unsigned long long)store.slab_used, (unsigned long long)store.slab_resident,
                           (unsigned long long)store.entries, (unsigned long long)store.tables,
                           (unsigned long long)store.slots, (unsigned long long)store.free_pending);
    return write_report(call, &text, error);
}

static enum outcome memory_purge(struct call *call)
{
    mem_purge();
    resp_write_ok(call->reply);
    return OUTCOME_DONE;
}

static enum outcome memory_help(struct call *call)
{
    static const char *const lines[] = {
        "DOCTOR",
        "    Says what is unusual about the use of memory.",
        "MALLOC-STATS",
        "    Shows figures of the allocators.",
        "PURGE",
        "    Gives unused pages back to the system.",
        "STATS",
        "    Shows where memory goes.",
        "USAGE <key> [SAMPLES <count>]",
        "    Tells the bytes behind a key. Of nested values, <count> elements are",
        "    looked at (default: 5, 0 for all).",
        NULL,
    };
    return call_help(call, lines);
}

/* ---- rows ---- */

static const char *const report_tips[] = {"nondeterministic_output", "request_policy:all_shards",
                                          "response_policy:special", NULL};
static const char *const purge_tips[] = {"request_policy:all_shards", "response_policy:all_succeeded", NULL};

static const struct command subcommands[] = {
    {
        .name = "DOCTOR",
        .summary = "Says what is unusual about the use of memory.",
        .since = "4.0.0",
        .complexity = "O(1)",
        .tips = report_tips,
        .arity = 2,
        .run = memory_doctor,
    },
    {
        .name = "HELP",
        .summary = "Lists the subcommands.",
        .since = "4.0.0",
        .complexity = "O(1)",
        .arity = 2,
        .flags = CMD_LOADING | CMD_STALE,
        .run = memory_help,
    },
    {
        .name = "MALLOC-STATS",
        .summary = "Shows figures of the allocators.",
        .since = "4.0.0",
        .complexity = "O(1)",
        .tips = report_tips,
        .arity = 2,
        .run = memory_malloc_stats,
    },
    {
        .name = "PURGE",
        .summary = "Gives unused pages back to the system.",
        .since = "4.0.0",
        .complexity = "O(N) where N is the number of unused pages",
        .tips = purge_tips,
        .arity = 2,
        .run = memory_purge,
    },
    {
        .name = "STATS",
        .summary = "Shows where memory goes.",
        .since = "4.0.0",
        .complexity = "O(1)",
        .tips = report_tips,
        .arity = 2,
        .run = memory_stats,
    },
    {
        .name = "USAGE",
        .summary = "Tells the bytes behind a key.",
        .since = "4.0.0",
        .complexity = "O(N) where N is the number of elements looked at",
        .args = "key:k SAMPLES%count:i?",
        .arity = -3,
        .keys = {2, 2, 1},
        .key_flags = KEY_RO,
        .flags = CMD_READONLY,
        .run = memory_usage,
    },
    {0},
};

static const struct command commands[] = {
    {
        .name = "MEMORY",
        .summary = "A container for commands about memory.",
        .since = "4.0.0",
        .complexity = "Depends on the subcommand.",
        .arity = -2,
        .subcommands = subcommands,
    },
    {0},
};

const struct command_family memory_family = {"server", commands};
