/* memory_command.h - the MEMORY command.
 *
 * Threads:    any worker. */
#ifndef KETCH_SERVER_OBSERVE_MEMORY_COMMAND_H
#define KETCH_SERVER_OBSERVE_MEMORY_COMMAND_H

#include "server/command/call.h"

extern const struct command_family memory_family;

#endif
