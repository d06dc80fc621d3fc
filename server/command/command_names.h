/* command_names.h - flags and categories by the names that COMMAND, ACL and the documentation show.
 *
 * Threads:    any. */
#ifndef KETCH_SERVER_COMMAND_COMMAND_NAMES_H
#define KETCH_SERVER_COMMAND_COMMAND_NAMES_H

#include "server/command/command.h"

struct command_name {
    uint64_t flag;
    const char *name;
};

/* In the order in which they are shown; each ends with a zero row. */
extern const struct command_name command_flag_names[];     /* CMD_: "write" */
extern const struct command_name command_category_names[]; /* CAT_: "keyspace", without the @ */
extern const struct command_name command_key_flag_names[]; /* KEY_: "RO" */

/* 0 when there is no such category; any case. */
uint64_t command_category(struct bytes name);

#endif
