#include "server/observe/command_command.h"

#include "lib/base/mem.h"
#include "server/command/command_docs.h"
#include "server/command/command_names.h"
#include "server/worker/server.h"

/* A command by the name COMMAND shows: "get" or "client|list". */
static const struct command_entry *find_by_full_name(const struct call *call, struct bytes name)
{
    const struct command_table *table = call->server->commands;
    const uint8_t *bar = name.size ? memchr(name.at, '|', name.size) : NULL;
    if (!bar)
        return command_find(table, name);
    size_t size = (size_t)(bar - name.at);
    const struct command_entry *container = command_find(table, bytes_make(name.at, size));
    return container ? command_find_child(container, bytes_make(bar + 1, name.size - size - 1)) : NULL;
}

/* ---- COMMAND, COMMAND INFO, COUNT ---- */

static enum outcome write_all(struct call *call)
{
    const struct command_table *table = call->server->commands;
    uint32_t count = command_count(table);
    resp_write_array(call->reply, count);
    for (uint32_t i = 0; i < count; i++)
        command_entry_write(command_at(table, i), call->reply);
    return OUTCOME_DONE;
}

static enum outcome command(struct call *call)
{
    /* A known subcommand has its own handler. */
    if (call->argc > 1)
        return call_unknown_subcommand(call);
    return write_all(call);
}

static enum outcome command_info(struct call *call)
{
    if (call->argc == 2)
        return write_all(call);
    resp_write_array(call->reply, call->argc - 2);
    for (uint32_t i = 2; i < call->argc; i++)
        command_entry_write(find_by_full_name(call, call->argv[i]), call->reply);
    return OUTCOME_DONE;
}

static enum outcome command_count_all(struct call *call)
{
    resp_write_integer(call->reply, command_count(call->server->commands));
    return OUTCOME_DONE;
}

/* ---- LIST ---- */

enum filter_kind { FILTER_NONE, FILTER_MODULE, FILTER_CATEGORY, FILTER_PATTERN };

struct filter {
    enum filter_kind kind;
    uint64_t category;
    struct bytes pattern;
};

static bool filter_passes(const struct filter *filter, const struct command_entry *entry)
{
    switch (filter->kind) {
    case FILTER_MODULE: /* no command comes from a loaded module */
        return false;
    case FILTER_CATEGORY:
        return (entry->flags & filter->category) != 0;
    case FILTER_PATTERN:
        return bytes_glob(filter->pattern, bytes_of(entry->full_name), true);
    case FILTER_NONE:
        break;
    }
    return true;
}

static enum outcome command_list(struct call *call)
{
    const struct command_table *table = call->server->commands;
    struct filter filter = {FILTER_NONE, 0, BYTES("")};
    if (call->argc == 5 && call_is(call, 2, "FILTERBY")) {
        if (call_is(call, 3, "MODULE"))
            filter.kind = FILTER_MODULE;
        else if (call_is(call, 3, "ACLCAT"))
            filter = (struct filter){FILTER_CATEGORY, command_category(call->argv[4]), BYTES("")};
        else if (call_is(call, 3, "PATTERN"))
            filter = (struct filter){FILTER_PATTERN, 0, call->argv[4]};
        else
            return call_syntax_error(call);
    } else if (call->argc != 2) {
        return call_syntax_error(call);
    }
    size_t count = 0;
    for (uint32_t i = 0; i < command_numbers(table); i++)
        count += filter_passes(&filter, command_at(table, i));
    resp_write_array(call->reply, count);
    for (uint32_t i = 0; i < command_numbers(table); i++)
        if (filter_passes(&filter, command_at(table, i)))
            resp_write_text(call->reply, command_at(table, i)->full_name);
    return OUTCOME_DONE;
}

/* ---- DOCS ---- */

static void write_docs(struct call *call, const struct command_entry *entry)
{
    resp_write_text(call->reply, entry->full_name);
    command_docs_write(entry, call->reply);
}

static enum outcome command_docs(struct call *call)
{
    const struct command_table *table = call->server->commands;
    if (call->argc == 2) {
        uint32_t count = command_count(table);
        resp_write_map(call->reply, count);
        for (uint32_t i = 0; i < count; i++)
            write_docs(call, command_at(table, i));
        return OUTCOME_DONE;
    }
    size_t known = 0;
    for (uint32_t i = 2; i < call->argc; i++)
        known += find_by_full_name(call, call->argv[i]) != NULL;
    resp_write_map(call->reply, known);
    for (uint32_t i = 2; i < call->argc; i++) {
        const struct command_entry *entry = find_by_full_name(call, call->argv[i]);
        if (entry)
            write_docs(call, entry);
    }
    return OUTCOME_DONE;
}

/* ---- GETKEYS, GETKEYSANDFLAGS ---- */

static bool has_keys(const struct command *command)
{
    return command->find_keys || command->key_specs || command->keys.first > 0;
}

/* The command that the arguments from the third on would run. */
static const struct command_entry *find_described(const struct call *call)
{
    const struct command_entry *entry = command_find(call->server->commands, call->argv[2]);
    if (entry && entry->child_count > 0 && call->argc > 3) {
        const struct command_entry *child = command_find_child(entry, call->argv[3]);
        if (child || !entry->command->run)
            return child;
    }
    return entry;
}

static void write_keys(struct call *call, const struct command *command, const uint32_t *at, int count, bool with_flags)
{
    uint32_t argc = call->argc - 2;
    resp_write_array(call->reply, (size_t)count);
    for (int i = 0; i < count; i++) {
        if (with_flags)
            resp_write_array(call->reply, 2);
        resp_write_bulk(call->reply, call->argv[2 + at[i]]);
        if (with_flags)
            command_key_flags_write(command_key_flags_at(command, call->argv + 2, argc, at[i]), call->reply);
    }
}

static enum outcome answer_keys(struct call *call, bool with_flags)
{
    const struct command_entry *entry = find_described(call);
    uint32_t argc = call->argc - 2;
    if (!entry)
        return call_error(call, "ERR Invalid command specified");
    if (!has_keys(entry->command))
        return call_error(call, "ERR The command has no key arguments");
    if (!command_arity_fits(entry->command, argc))
        return call_error(call, "ERR Invalid number of arguments specified for command");
    uint32_t *at = mem_try_alloc(argc * sizeof(*at));
    if (!at)
        return call_out_of_memory(call);
    int count = command_keys(entry, call->argv + 2, argc, at, argc);
    if (count > 0 || (count == 0 && (entry->flags & CMD_NO_MANDATORY_KEYS)))
        write_keys(call, entry->command, at, count, with_flags);
    else
        (void)call_error(call, "ERR Invalid arguments specified for command");
    mem_free(at);
    return OUTCOME_DONE;
}

static enum outcome command_getkeys(struct call *call)
{
    return answer_keys(call, false);
}

static enum outcome command_getkeysandflags(struct call *call)
{
    return answer_keys(call, true);
}

static enum outcome command_help(struct call *call)
{
    static const char *const lines[] = {
        "(no subcommand)",
        "    Describes every command.",
        "COUNT",
        "    Tells how many commands there are.",
        "LIST [FILTERBY (MODULE <name>|ACLCAT <category>|PATTERN <pattern>)]",
        "    Lists the names of commands.",
        "INFO [<name> ...]",
        "    Describes the commands named, or every command.",
        "DOCS [<name> ...]",
        "    Documents the commands named, or every command.",
        "GETKEYS <full-command>",
        "    Tells which arguments of a command are keys.",
        "GETKEYSANDFLAGS <full-command>",
        "    The same, with what the command does to each of them.",
        NULL,
    };
    return call_help(call, lines);
}

/* ---- rows ---- */

#define QUIET (CMD_LOADING | CMD_STALE | CAT_CONNECTION)

static const char *const any_order[] = {"nondeterministic_output_order", NULL};
static const char *const info_history[] = {"7.0.0", "Describes every command when none is named.", NULL};

static const struct command subcommands[] = {
    {
        .name = "COUNT",
        .summary = "Tells how many commands there are.",
        .since = "2.8.13",
        .complexity = "O(1)",
        .arity = 2,
        .flags = QUIET,
        .run = command_count_all,
    },
    {
        .name = "DOCS",
        .summary = "Documents commands.",
        .since = "7.0.0",
        .complexity = "O(N) where N is the number of commands asked for",
        .args = "command-name:s*",
        .tips = any_order,
        .arity = -2,
        .flags = QUIET,
        .run = command_docs,
    },
    {
        .name = "GETKEYS",
        .summary = "Tells which arguments of a command are keys.",
        .since = "2.8.13",
        .complexity = "O(N) where N is the number of arguments",
        .args = "command:s arg:s*",
        .arity = -4,
        .flags = QUIET,
        .run = command_getkeys,
    },
    {
        .name = "GETKEYSANDFLAGS",
        .summary = "Tells which arguments of a command are keys and what it does to them.",
        .since = "7.0.0",
        .complexity = "O(N) where N is the number of arguments",
        .args = "command:s arg:s*",
        .arity = -4,
        .flags = QUIET,
        .run = command_getkeysandflags,
    },
    {
        .name = "HELP",
        .summary = "Lists the subcommands.",
        .since = "5.0.0",
        .complexity = "O(1)",
        .arity = 2,
        .flags = QUIET,
        .run = command_help,
    },
    {
        .name = "INFO",
        .summary = "Describes commands: arity, flags, categories, keys.",
        .since = "2.8.13",
        .complexity = "O(N) where N is the number of commands asked for",
        .args = "command-name:s*",
        .history = info_history,
        .tips = any_order,
        .arity = -2,
        .flags = QUIET,
        .run = command_info,
    },
    {
        .name = "LIST",
        .summary = "Lists the names of commands.",
        .since = "7.0.0",
        .complexity = "O(N) where N is the number of commands",
        .args = "FILTERBY%(filterby: MODULE%module-name:s | ACLCAT%category:s | PATTERN%pattern:p)?",
        .tips = any_order,
        .arity = -2,
        .flags = QUIET,
        .run = command_list,
    },
    {0},
};

static const struct command commands[] = {
    {
        .name = "COMMAND",
        .summary = "Describes every command.",
        .since = "2.8.13",
        .complexity = "O(N) where N is the number of commands",
        .tips = any_order,
        .arity = -1,
        .flags = QUIET,
        .run = command,
        .subcommands = subcommands,
    },
    {0},
};

const struct command_family command_command_family = {"server", commands};
