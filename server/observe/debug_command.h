/* debug_command.h - the DEBUG command, as far as test suites use it.
 *
 * Threads:    any worker. Subcommands that touch keys take slot locks themselves: the row names no keys. */
#ifndef KETCH_SERVER_OBSERVE_DEBUG_COMMAND_H
#define KETCH_SERVER_OBSERVE_DEBUG_COMMAND_H

#include "server/command/call.h"

extern const struct command_family debug_family;

/* ---- debug_keys.c ---- */
enum outcome debug_object(struct call *call);
enum outcome debug_populate(struct call *call);
enum outcome debug_htstats(struct call *call);

/* ---- debug_digest.c ---- */
enum outcome debug_digest(struct call *call);
enum outcome debug_digest_value(struct call *call);

/* ---- debug_protocol.c ---- */
enum outcome debug_protocol(struct call *call);

#endif
