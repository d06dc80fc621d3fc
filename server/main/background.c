/* What a process needs of its surroundings: the background, its pid file, descriptors, the first lines of its log. */
#include "lib/base/cpu.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "server/main/descriptors.h"
#include "server/main/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAEMON_PIDFILE "/var/run/ketch.pid"

int process_daemonize(void)
{
    pid_t child = fork();
    if (child < 0)
        return -errno;
    if (child > 0)
        _exit(0); /* the child is the server; nothing of the parent's may be torn down twice */
    setsid();
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return 0;
    for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; standard++)
        dup2(fd, standard);
    if (fd > STDERR_FILENO)
        close(fd);
    return 0;
}

void process_write_pidfile(struct process *process)
{
    char *path = settings_text(&process->settings, &process->settings.main.pidfile);
    if (path[0] == '\0' && option_get(&process->settings.main.daemonize)) {
        mem_free(path);
        path = mem_copy_text(DAEMON_PIDFILE);
    }
    FILE *file = path[0] ? fopen(path, "we") : NULL;
    if (file) {
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
        char real[PATH_MAX]; /* `dir` may change until the end */
        process->pidfile = mem_copy_text(realpath(path, real) ? real : path);
    } else if (path[0]) {
        log_write(LOG_WARNING, "Failed to write PID file: %s", strerror(errno));
    }
    mem_free(path);
}

void process_remove_pidfile(struct process *process)
{
    if (!process->pidfile)
        return;
    log_write(LOG_NOTICE, "Removing the pid file.");
    unlink(process->pidfile);
    mem_free(process->pidfile);
    process->pidfile = NULL;
}

int process_raise_descriptors(struct process *process)
{
    option_number *maxclients = &process->server.options.maxclients;
    int64_t wanted = option_get(maxclients), before = descriptors_limit();
    int64_t threads = option_get(&process->server.options.threads);
    int64_t reserved = descriptors_reserved(threads ? threads : (int64_t)cpu_count());
    int64_t possible = descriptors_raise(wanted, reserved), limit = descriptors_limit();
    if (possible < 1) {
        log_write(LOG_WARNING,
                  "Your current 'ulimit -n' of %" PRId64 " is not enough for the server to start. Please increase your "
                  "open file limit to at least %" PRId64 ". Exiting.",
                  limit, reserved + 1);
        return -EMFILE;
    }
    if (possible < wanted) {
        log_write(LOG_WARNING,
                  "You requested maxclients of %" PRId64 " requiring at least %" PRId64 " max file descriptors.",
                  wanted, wanted + reserved);
        log_write(LOG_WARNING, "Server can't set maximum open files to %" PRId64 " because of OS error: %s.",
                  wanted + reserved, strerror(EPERM));
        log_write(LOG_WARNING,
                  "Current maximum open files is %" PRId64 ". maxclients has been reduced to %" PRId64
                  " to compensate for low ulimit. If you need higher maxclients increase 'ulimit -n'.",
                  limit, possible);
        atomic_store_explicit(maxclients, possible, memory_order_relaxed);
    } else if (limit > before) {
        log_write(LOG_NOTICE,
                  "Increased maximum number of open files to %" PRId64 " (it was originally set to %" PRId64 ").",
                  limit, before);
    }
    return 0;
}

void process_greet(struct process *process)
{
    const struct server *server = &process->server;
    struct settings *settings = &process->settings;
    int port = (int)option_get(&server->options.port);
    bool to_terminal = isatty(STDOUT_FILENO) && option_text_empty(settings->registry, &settings->main.logfile) &&
                       !option_get(&settings->main.syslog_enabled);
    if (!to_terminal && !option_get(&settings->main.always_show_logo)) {
        log_write(LOG_NOTICE, "Running mode=standalone, port=%d.", port);
        return;
    }
    char text[512];
    int size = snprintf(text, sizeof(text),
                        "\n"
                        "        |\\\n"
                        "   |\\   | \\      Ketch " KETCH_VERSION " (as Redis " PROCESS_REDIS_VERSION ") 64 bit\n"
                        "   | \\  |  \\\n"
                        "   |__\\ |___\\    Running in standalone mode, %u workers\n"
                        " __|____|______  Port: %d\n"
                        " \\            /  PID: %d\n"
                        "~~~~~~~~~~~~~~~~~~\n\n",
                        server->worker_count, port, (int)getpid());
    if (size > 0)
        (void)!write(log_fd(), text, (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1);
}
