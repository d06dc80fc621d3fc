/* connection_commands.h - the connection family without CLIENT, and what it shares with CLIENT.
 *
 * Threads:    the worker of the calling session. */
#ifndef KETCH_SERVER_SESSION_CONNECTION_COMMANDS_H
#define KETCH_SERVER_SESSION_CONNECTION_COMMANDS_H

#include "server/command/call.h"

extern const struct command_family connection_family;

/* A name or attribute of a client: printable ASCII without spaces. */
MUST_USE bool client_text_valid(struct bytes text);

/* Gives the calling session a name, or takes it away when `name` is empty. False after an error reply. */
MUST_USE bool client_set_name(struct call *call, struct bytes name);

#endif
