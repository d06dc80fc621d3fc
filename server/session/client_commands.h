/* client_commands.h - the CLIENT command; its handlers lie in three files.
 *
 * Threads:    the worker of the calling session; other sessions are read as server/worker/session.h allows. */
#ifndef KETCH_SERVER_SESSION_CLIENT_COMMANDS_H
#define KETCH_SERVER_SESSION_CLIENT_COMMANDS_H

#include "server/command/call.h"

extern const struct command_family client_family;

/* What CLIENT LIST and CLIENT KILL can ask for by TYPE. */
enum client_type { CLIENT_TYPE_NORMAL, CLIENT_TYPE_REPLICA, CLIENT_TYPE_PUBSUB, CLIENT_TYPE_MASTER };

/* False after writing "Unknown client type". */
MUST_USE bool client_type_parse(struct call *call, struct bytes name, enum client_type *type);
enum client_type client_type_of(const struct session *session);

/* ---- client_list.c ---- */
enum outcome client_info(struct call *call);
enum outcome client_list(struct call *call);

/* ---- client_kill.c ---- */
enum outcome client_kill(struct call *call);

#endif
