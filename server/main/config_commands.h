/* config_commands.h - the CONFIG command. */
#ifndef KETCH_SERVER_MAIN_CONFIG_COMMANDS_H
#define KETCH_SERVER_MAIN_CONFIG_COMMANDS_H

#include "server/command/module.h"

extern const struct command_family config_family;

#endif
