#include "server/session/session_module.h"

#include "server/session/client_commands.h"
#include "server/session/connection_commands.h"

static const struct command_family *const families[] = {&connection_family, &client_family, NULL};

const struct module session_module = {.name = "session", .families = families};
