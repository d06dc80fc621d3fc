/* rename-command: rows are const, so a family with a renamed command is copied. */
#include "lib/base/mem.h"
#include "server/main/modules.h"

#include <errno.h>

static size_t rows_of(const struct command *commands)
{
    size_t count = 0;
    while (commands[count].name)
        count++;
    return count;
}

void families_collect(struct families *families)
{
    *families = (struct families){0};
    size_t count = 0;
    for (size_t i = 0; modules[i]; i++)
        for (size_t j = 0; modules[i]->families && modules[i]->families[j]; j++)
            count++;
    families->list = mem_alloc_zeroed((count + 1) * sizeof(*families->list));
    families->copies = mem_alloc_zeroed((count + 1) * sizeof(*families->copies));
    for (size_t i = 0; modules[i]; i++)
        for (size_t j = 0; modules[i]->families && modules[i]->families[j]; j++)
            families->list[families->count++] = modules[i]->families[j];
}

void families_deinit(struct families *families)
{
    for (size_t i = 0; i < families->copy_count; i++)
        mem_free(families->copies[i].commands);
    for (size_t i = 0; i < families->name_count; i++)
        mem_free(families->names[i]);
    mem_free(families->names);
    mem_free(families->copies);
    mem_free(families->list);
    *families = (struct families){0};
}

/* The copy of the n-th family of the list, made when there is none yet. */
static struct renamed_family *copy_of(struct families *families, size_t n)
{
    for (size_t i = 0; i < families->copy_count; i++)
        if (families->list[n] == &families->copies[i].family)
            return &families->copies[i];
    const struct command_family *original = families->list[n];
    size_t rows = rows_of(original->commands) + 1;
    struct renamed_family *copy = &families->copies[families->copy_count++];
    copy->commands = mem_alloc(rows * sizeof(*copy->commands));
    memcpy(copy->commands, original->commands, rows * sizeof(*copy->commands));
    copy->family = (struct command_family){.group = original->group, .commands = copy->commands};
    families->list[n] = &copy->family;
    return copy;
}

static bool find(const struct families *families, struct bytes name, size_t *family, size_t *row)
{
    for (size_t i = 0; i < families->count; i++) {
        for (size_t j = 0; families->list[i]->commands[j].name; j++) {
            if (bytes_is(name, families->list[i]->commands[j].name)) {
                *family = i;
                *row = j;
                return true;
            }
        }
    }
    return false;
}

/* Command names are upper case in the table; any case finds them. */
static const char *keep_name(struct families *families, struct bytes name)
{
    char *copy = mem_alloc(name.size + 1);
    for (size_t i = 0; i < name.size; i++)
        copy[i] = name.at[i] >= 'a' && name.at[i] <= 'z' ? (char)(name.at[i] - 32) : (char)name.at[i];
    copy[name.size] = '\0';
    families->names = mem_realloc(families->names, (families->name_count + 1) * sizeof(*families->names));
    families->names[families->name_count++] = copy;
    return copy;
}

static int rename_one(struct families *families, struct bytes from, struct bytes to, struct option_error *error)
{
    size_t family, row, other_family, other_row;
    if (!find(families, from, &family, &row))
        return option_fail(error, -EINVAL, "rename-command: no such command: '%.*s'", (int)from.size, from.at);
    bool gone = bytes_equal(to, BYTES("\"\""));
    if (!gone && to.size > 40)
        return option_fail(error, -EINVAL, "rename-command: the new name is too long");
    if (!gone && find(families, to, &other_family, &other_row))
        return option_fail(error, -EINVAL, "rename-command: there is a command '%.*s' already", (int)to.size, to.at);
    struct renamed_family *copy = copy_of(families, family);
    struct command *command = &copy->commands[row];
    if (gone)
        memmove(command, command + 1, rows_of(command) * sizeof(*command)); /* the row that ends the table moves too */
    else
        command->name = keep_name(families, to);
    return 0;
}

int families_rename(struct families *families, const char *pairs, struct option_error *error)
{
    int failed = 0;
    while (*pairs && !failed) {
        struct bytes from = bytes_make(pairs, strcspn(pairs, " "));
        const char *second = pairs + from.size + (pairs[from.size] == ' ');
        struct bytes to = bytes_make(second, strcspn(second, " "));
        failed = rename_one(families, from, to, error);
        pairs = second + to.size + (second[to.size] == ' ');
    }
    return failed;
}
