/* Where the configuration comes from, in order: file, standard input, command line. */
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "server/main/process.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say_fault(const struct option_fault *fault)
{
    fprintf(stderr, "\n*** FATAL CONFIG FILE ERROR (Redis " PROCESS_REDIS_VERSION ", Ketch " KETCH_VERSION ") ***\n");
    if (fault->line)
        fprintf(stderr, "Reading the configuration file, at line %u of %s\n", fault->line, fault->source);
    else
        fprintf(stderr, "Reading %s\n", fault->source);
    fprintf(stderr, ">>> '%s'\n", fault->text);
    fprintf(stderr, "%s\n", fault->error.text);
}

static char *absolute(const char *path)
{
    char real[PATH_MAX];
    return mem_copy_text(realpath(path, real) ? real : path);
}

static bool was_given(void *context, const struct option_view *view)
{
    (void)context;
    return view->given;
}

static int load(struct process *process, struct option_fault *fault)
{
    const struct command_line *line = &process->line;
    struct option_registry *registry = process->settings.registry;
    int failed = 0;
    if (line->file) {
        failed = option_file_load(registry, line->file, fault);
    }
    if (!failed && line->standard_input) {
        log_write(LOG_WARNING, "Reading config from stdin");
        failed = option_descriptor_load(registry, STDIN_FILENO, "standard input", fault);
    }
    return failed ? failed : command_line_apply(line, registry, fault);
}

static int go_to_dir(struct process *process)
{
    char *dir = settings_text(&process->settings, &process->settings.main.dir);
    int failed = chdir(dir);
    if (failed)
        fprintf(stderr, "Cannot change to the directory '%s'\n", dir);
    mem_free(dir);
    return failed;
}

static int open_log(struct process *process)
{
    struct settings *settings = &process->settings;
    struct main_options *options = &settings->main;
    log_set_level((enum log_level)option_get(&options->loglevel));
    char *path = settings_text(settings, &options->logfile), *ident = settings_text(settings, &options->syslog_ident);
    int failed = log_open(path);
    if (failed)
        fprintf(stderr, "Can't open the log file '%s': %s\n", path, strerror(-failed));
    else if (option_get(&options->syslog_enabled))
        /* openlog keeps the pointer for as long as it logs: the name has to stay. */
        log_set_syslog(process->syslog_ident = mem_copy_text(ident), (int)option_get(&options->syslog_facility) - 1);
    mem_free(ident);
    mem_free(path);
    return failed;
}

int process_configure(struct process *process)
{
    struct option_fault fault = {0};
    int failed = load(process, &fault);
    if (failed) {
        if (fault.source[0])
            say_fault(&fault);
        else
            log_write(LOG_WARNING, "Fatal error, %s", fault.error.text); /* no file to read a line from */
        return failed;
    }
    process->server.config_file = process->line.file ? absolute(process->line.file) : mem_copy_text("");
    process->server.executable = absolute("/proc/self/exe");
    failed = go_to_dir(process);
    if (!failed)
        failed = open_log(process);
    if (failed)
        return failed;
    settings_settle(&process->settings);
    return 0;
}

void process_warn_inert(struct process *process)
{
    settings_warn_inert(&process->settings, was_given, NULL);
}
