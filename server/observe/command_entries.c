#include "server/command/command_names.h"
#include "server/observe/command_command.h"

static size_t count_names(uint64_t flags, const struct command_name *names)
{
    size_t count = 0;
    for (; names->name; names++)
        count += (flags & names->flag) != 0;
    return count;
}

static void write_flags(const struct command_entry *entry, struct resp_writer *writer)
{
    resp_write_set(writer, count_names(entry->flags, command_flag_names));
    for (const struct command_name *row = command_flag_names; row->name; row++)
        if (entry->flags & row->flag)
            resp_write_simple(writer, row->name);
}

static void write_categories(const struct command_entry *entry, struct resp_writer *writer)
{
    resp_write_set(writer, count_names(entry->flags, command_category_names));
    for (const struct command_name *row = command_category_names; row->name; row++)
        if (entry->flags & row->flag) {
            char name[32] = "@";
            memcpy(name + 1, row->name, strlen(row->name) + 1);
            resp_write_simple(writer, name);
        }
}

static void write_tips(const char *const *tips, struct resp_writer *writer)
{
    size_t count = 0;
    while (tips && tips[count])
        count++;
    resp_write_set(writer, count);
    for (size_t i = 0; i < count; i++)
        resp_write_text(writer, tips[i]);
}

void command_key_flags_write(uint32_t flags, struct resp_writer *writer)
{
    resp_write_set(writer, count_names(flags, command_key_flag_names));
    for (const struct command_name *row = command_key_flag_names; row->name; row++)
        if (flags & row->flag)
            resp_write_simple(writer, row->name);
}

/* ---- keys ---- */

static void write_number(struct resp_writer *writer, const char *name, int64_t number)
{
    resp_write_text(writer, name);
    resp_write_integer(writer, number);
}

static void write_key_spec(const struct command_key_spec *spec, const char *notes, struct resp_writer *writer)
{
    resp_write_map(writer, notes ? 4 : 3);
    if (notes) {
        resp_write_text(writer, "notes");
        resp_write_text(writer, notes);
    }
    resp_write_text(writer, "flags");
    command_key_flags_write(spec->flags, writer);

    resp_write_text(writer, "begin_search");
    resp_write_map(writer, 2);
    resp_write_text(writer, "type");
    resp_write_text(writer, "index");
    resp_write_text(writer, "spec");
    resp_write_map(writer, 1);
    write_number(writer, "index", spec->first);

    resp_write_text(writer, "find_keys");
    resp_write_map(writer, 2);
    resp_write_text(writer, "type");
    resp_write_text(writer, "range");
    resp_write_text(writer, "spec");
    resp_write_map(writer, 3);
    /* Counted from the first key, or from the end when negative. */
    write_number(writer, "lastkey", spec->last < 0 ? spec->last : spec->last - spec->first);
    write_number(writer, "keystep", spec->step);
    write_number(writer, "limit", 0);
}

/* The one specification that `keys` makes, or the row's own list. */
static const struct command_key_spec *key_specs(const struct command *command, struct command_key_spec *one,
                                                size_t *count)
{
    *count = 0;
    if (command->key_specs) {
        while (command->key_specs[*count].first)
            (*count)++;
        return command->key_specs;
    }
    if (command->keys.first == 0)
        return one;
    *one = (struct command_key_spec){command->keys.first, command->keys.last, command->keys.step, command->key_flags};
    *count = 1;
    return one;
}

/* First, last and step as clients older than key specifications want them: one run over all specifications, as far as
 * they make one. */
static struct command_keys legacy_keys(const struct command *command)
{
    struct command_keys keys = command->keys;
    if (!command->key_specs)
        return keys;
    for (const struct command_key_spec *spec = command->key_specs; spec->first; spec++) {
        bool goes_on = keys.first == 0 || (keys.last > 0 && spec->first == keys.last + 1);
        if (!goes_on)
            break;
        if (keys.first == 0)
            keys.first = spec->first;
        keys.last = spec->last;
        keys.step = spec->step;
    }
    return keys;
}

uint32_t command_key_flags_at(const struct command *command, const struct bytes *argv, uint32_t argc, uint32_t at)
{
    struct command_key_spec one;
    size_t count;
    if (command->key_flags_of)
        return command->key_flags_of(argv, argc);
    const struct command_key_spec *specs = key_specs(command, &one, &count);
    for (size_t i = 0; i < count; i++) {
        int64_t last = specs[i].last < 0 ? (int64_t)argc + specs[i].last : specs[i].last;
        if (at >= (uint32_t)specs[i].first && at <= last)
            return specs[i].flags;
    }
    return command->key_flags;
}

/* ---- the entry ---- */

void command_entry_write(const struct command_entry *entry, struct resp_writer *writer)
{
    struct command_key_spec one;
    size_t count;
    if (!entry) {
        resp_write_null(writer);
        return;
    }
    const struct command *command = entry->command;
    const struct command_key_spec *specs = key_specs(command, &one, &count);
    struct command_keys keys = legacy_keys(command);

    resp_write_array(writer, 10);
    resp_write_text(writer, entry->full_name);
    resp_write_integer(writer, command->arity);
    write_flags(entry, writer);
    resp_write_integer(writer, keys.first);
    resp_write_integer(writer, keys.last);
    resp_write_integer(writer, keys.step);
    write_categories(entry, writer);
    write_tips(command->tips, writer);
    resp_write_set(writer, count);
    for (size_t i = 0; i < count; i++)
        write_key_spec(&specs[i], command->key_notes, writer);
    resp_write_set(writer, entry->child_count);
    for (uint32_t i = 0; i < entry->child_count; i++)
        command_entry_write(&entry->children[i], writer);
}
