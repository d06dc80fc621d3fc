#include "server/command/call.h"

#include <stdarg.h>
#include <stdio.h>

/* Keeps the first word of the error, for the counters of INFO errorstats. */
static void note_error_code(struct call *call, const char *text)
{
    size_t size = strcspn(text, " \r\n");
    if (size >= sizeof(call->error_code))
        size = sizeof(call->error_code) - 1;
    memcpy(call->error_code, text, size);
    call->error_code[size] = '\0';
}

enum outcome call_error(struct call *call, const char *text)
{
    call->error_count++;
    note_error_code(call, text);
    resp_write_error(call->reply, text);
    return OUTCOME_DONE;
}

enum outcome call_errorf(struct call *call, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    return call_error(call, text);
}

enum outcome call_syntax_error(struct call *call)
{
    return call_error(call, "ERR syntax error");
}

enum outcome call_not_integer(struct call *call)
{
    return call_error(call, "ERR value is not an integer or out of range");
}

enum outcome call_wrong_type(struct call *call)
{
    return call_error(call, "WRONGTYPE Operation against a key holding the wrong kind of value");
}

enum outcome call_out_of_memory(struct call *call)
{
    return call_error(call, "OOM command not allowed when used memory > 'maxmemory'.");
}

enum outcome call_wrong_arity(struct call *call)
{
    return call_errorf(call, "ERR wrong number of arguments for '%s' command", call->entry->full_name);
}

/* The name of the command as a whole: of a subcommand's call, the container's. */
static const char *container_name(const struct call *call)
{
    const struct command_entry *entry = call->entry;
    return entry->parent ? entry->parent->command->name : entry->command->name;
}

enum outcome call_unknown_subcommand(struct call *call)
{
    struct bytes word = call->argc > 1 ? call->argv[1] : BYTES("");
    return call_errorf(call, "ERR unknown subcommand '%.*s'. Try %s HELP.", (int)(word.size > 128 ? 128 : word.size),
                       (const char *)word.at, container_name(call));
}

bool call_integer(struct call *call, uint32_t at, int64_t *value)
{
    if (number_parse_i64(call->argv[at], value))
        return true;
    (void)call_not_integer(call);
    return false;
}

enum outcome call_help(struct call *call, const char *const *lines)
{
    char head[128];
    size_t count = 0;
    while (lines[count])
        count++;
    (void)snprintf(head, sizeof(head),
                   "%s <subcommand> [<arg> [value] [opt] ...]. Subcommands are:", container_name(call));
    resp_write_array(call->reply, count + 3);
    resp_write_simple(call->reply, head);
    for (size_t i = 0; i < count; i++)
        resp_write_simple(call->reply, lines[i]);
    resp_write_simple(call->reply, "HELP");
    resp_write_simple(call->reply, "    Prints this help.");
    return OUTCOME_DONE;
}
