#include "server/main/modules.h"

#include "lib/base/log.h"
#include "server/data/data.h"
#include "server/main/config_commands.h"
#include "server/observe/observe_module.h"
#include "server/session/session_module.h"

static const struct command_family *const config_families[] = {&config_family, NULL};

static const struct module data_module = {.name = "data", .families = data_families};
static const struct module config_module = {.name = "config", .families = config_families};

const struct module *const modules[] = {
    &data_module, &session_module, &observe_module, &config_module, NULL,
};

static void stop_first(struct server *server, size_t count)
{
    while (count--)
        if (modules[count]->stop)
            modules[count]->stop(server);
}

int modules_start(struct server *server)
{
    for (size_t i = 0; modules[i]; i++) {
        int failed = modules[i]->start ? modules[i]->start(server) : 0;
        if (failed) {
            log_write(LOG_WARNING, "Module %s did not start: %s", modules[i]->name, strerror(-failed));
            stop_first(server, i);
            return failed;
        }
    }
    return 0;
}

void modules_stop(struct server *server)
{
    size_t count = 0;
    while (modules[count])
        count++;
    stop_first(server, count);
}
