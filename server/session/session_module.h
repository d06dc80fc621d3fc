/* session_module.h - what a client says about its own connection and others': PING, AUTH, HELLO, SELECT, CLIENT ...
 *
 * Threads:    as server/command/module.h says. */
#ifndef KETCH_SERVER_SESSION_SESSION_MODULE_H
#define KETCH_SERVER_SESSION_SESSION_MODULE_H

#include "server/command/module.h"

extern const struct module session_module;

#endif
