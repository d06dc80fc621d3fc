/* command_command.h - the COMMAND command: what the table knows, for clients.
 *
 * Threads:    any worker. */
#ifndef KETCH_SERVER_OBSERVE_COMMAND_COMMAND_H
#define KETCH_SERVER_OBSERVE_COMMAND_COMMAND_H

#include "server/command/call.h"

extern const struct command_family command_command_family;

/* ---- command_entries.c ---- */

/* The ten elements of COMMAND INFO, or the null for NULL. */
void command_entry_write(const struct command_entry *entry, struct resp_writer *writer);

/* The KEY_ flags of the key at that argument of a call. */
uint32_t command_key_flags_at(const struct command *command, const struct bytes *argv, uint32_t argc, uint32_t at);

/* The set of the names of KEY_ flags. */
void command_key_flags_write(uint32_t flags, struct resp_writer *writer);

#endif
