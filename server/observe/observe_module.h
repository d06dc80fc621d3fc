/* observe_module.h - what the server tells about itself: INFO, COMMAND, MEMORY, DEBUG, TIME, ROLE ...
 *
 * Owns:       struct observer (server->observer): a thread that samples.
 * Threads:    as server/command/module.h says. */
#ifndef KETCH_SERVER_OBSERVE_OBSERVE_MODULE_H
#define KETCH_SERVER_OBSERVE_OBSERVE_MODULE_H

#include "server/command/module.h"

extern const struct module observe_module;

#endif
