/* server_commands.h - TIME, LASTSAVE, ROLE, SHUTDOWN, LOLWUT.
 *
 * Threads:    any worker. */
#ifndef KETCH_SERVER_OBSERVE_SERVER_COMMANDS_H
#define KETCH_SERVER_OBSERVE_SERVER_COMMANDS_H

#include "server/command/call.h"

extern const struct command_family server_family;

/* ---- lolwut.c ---- */
enum outcome lolwut(struct call *call);

#endif
