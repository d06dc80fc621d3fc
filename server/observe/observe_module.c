#include "server/observe/observe_module.h"

#include "server/observe/command_command.h"
#include "server/observe/debug_command.h"
#include "server/observe/info.h"
#include "server/observe/memory_command.h"
#include "server/observe/observer.h"
#include "server/observe/server_commands.h"

static const struct command_family *const families[] = {
    &info_family, &command_command_family, &server_family, &memory_family, &debug_family, NULL,
};

const struct module observe_module = {
    .name = "observe",
    .families = families,
    .sections = info_sections,
    .start = observer_start,
    .stop = observer_stop,
};
