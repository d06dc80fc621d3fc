/* modules.h - the only list of what the server is made of, and the command table made from it.
 *
 * Owns:       copies of families some of whose commands have been given other names.
 * Threads:    the main thread, before workers start and after they stopped. */
#ifndef KETCH_SERVER_MAIN_MODULES_H
#define KETCH_SERVER_MAIN_MODULES_H

#include "lib/option/registry.h"
#include "server/command/module.h"

extern const struct module *const modules[]; /* NULL-terminated */

struct renamed_family {
    struct command_family family;
    struct command *commands;
};

struct families {
    const struct command_family **list; /* NULL-terminated */
    size_t count;
    struct renamed_family *copies; /* one for each family that differs from its table */
    size_t copy_count;
    char **names; /* that commands were given */
    size_t name_count;
};

void families_collect(struct families *families);
void families_deinit(struct families *families);

/* Applies the text of rename-command: pairs of names, "" in quotes for none. 0 or -EINVAL. */
MUST_USE int families_rename(struct families *families, const char *pairs, struct option_error *error);

/* Starts all; on failure those that had started are stopped again. */
MUST_USE int modules_start(struct server *server);
void modules_stop(struct server *server);

#endif
