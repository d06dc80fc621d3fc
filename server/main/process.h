/* process.h - the life of the process: configuration, start, the main thread's loop, stop.
 *
 * Owns:       everything, torn down in the reverse order of its making.
 * Threads:    the main thread; process_settings and process_reset_statistics: any. */
#ifndef KETCH_SERVER_MAIN_PROCESS_H
#define KETCH_SERVER_MAIN_PROCESS_H

#include "server/main/command_line.h"
#include "server/main/listeners.h"
#include "server/main/modules.h"
#include "server/main/settings.h"
#include "server/main/signals.h"
#include "server/main/supervision.h"

/* The version of Redis whose behaviour is kept to. */
#define PROCESS_REDIS_VERSION "7.4.0"

struct process {
    struct server server;
    struct settings settings;
    struct command_line line;
    struct families families;
    struct loop *loop;
    struct listeners listeners;
    struct signals signals;
    struct supervision supervision;
    bool modules_started;
    char *syslog_ident; /* syslog keeps the pointer */
    char *pidfile;      /* absolute path of the file that was written, or NULL */
};

/* The whole life; returns the exit status. */
int process_run(int argc, char *const *argv);

static inline struct settings *process_settings(const struct server *server)
{
    return &((struct process *)server->main)->settings;
}

/* Zeroes what INFO counts. A counter that its worker raises in the same moment may keep its value. */
void process_reset_statistics(struct server *server);

/* ---- configuration.c ---- */

/* Reads file, standard input and command line. On failure it has said why on stderr. */
MUST_USE int process_configure(struct process *process);
/* Names the options in the log that were given and have no effect. */
void process_warn_inert(struct process *process);

/* ---- background.c ---- */

/* Goes into the background: returns in the child only; the parent exits. 0 or -errno. */
MUST_USE int process_daemonize(void);
void process_write_pidfile(struct process *process);
void process_remove_pidfile(struct process *process);

/* Lowers maxclients to what the limit of open files allows. 0, or -EMFILE when that leaves nobody. */
MUST_USE int process_raise_descriptors(struct process *process);

/* The banner, or one line instead of it. */
void process_greet(struct process *process);

#endif
