#include "server/main/process.h"

#include "lib/base/clock.h"
#include "lib/base/cpu.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/random.h"
#include "server/worker/worker.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* ---- what is not serving ------------------------------------------------------------------------------------------
 */

static int print_document(int (*document)(struct option_registry *, struct buf *), struct option_registry *registry)
{
    struct buf text;
    buf_init(&text, (size_t)1 << 20);
    int failed = document(registry, &text);
    if (!failed)
        fwrite(text.data, 1, text.size, stdout);
    buf_deinit(&text);
    return failed ? 1 : 0;
}

/* The exit status, or -1 when the server is to run. */
static int answer(struct process *process)
{
    switch (process->line.action) {
    case COMMAND_LINE_VERSION:
        printf("Ketch server v=" KETCH_VERSION " redis=" PROCESS_REDIS_VERSION " malloc=%s bits=%zu\n",
               mem_allocator_name(), 8 * sizeof(void *));
        return 0;
    case COMMAND_LINE_HELP:
        fputs(command_line_usage, stdout);
        return 0;
    case COMMAND_LINE_PRINT_OPTIONS:
        return print_document(option_registry_document, process->settings.registry);
    case COMMAND_LINE_PRINT_SAMPLE:
        return print_document(option_registry_sample, process->settings.registry);
    case COMMAND_LINE_RUN:
        break;
    }
    return -1;
}

/* ---- start --------------------------------------------------------------------------------------------------------
 */

static void stop_asked(struct server *server)
{
    loop_wake(((struct process *)server->main)->loop);
}

static void woken(void *owner)
{
    listeners_replace(&((struct process *)owner)->listeners);
}

static int make_commands(struct process *process)
{
    families_collect(&process->families);
    char *renames = settings_text(&process->settings, &process->settings.main.rename_command);
    struct option_error error;
    int failed = families_rename(&process->families, renames, &error);
    mem_free(renames);
    if (failed) {
        log_write(LOG_WARNING, "Fatal error, %s", error.text);
        return failed;
    }
    process->server.commands = command_table_create(process->families.list);
    return 0;
}

static int make_workers(struct server *server)
{
    int64_t asked = option_get(&server->options.threads);
    uint32_t count = asked ? (uint32_t)asked : cpu_count();
    server->workers = mem_alloc_zeroed(count * sizeof(struct worker *));
    for (uint32_t i = 0; i < count; i++) {
        int error = 0;
        struct worker *worker = worker_create(server, i, &error);
        if (!worker) {
            log_write(LOG_WARNING, "Cannot create worker %u: %s", i, strerror(-error));
            return error;
        }
        server->workers[server->worker_count++] = worker;
    }
    return 0;
}

static int start_workers(struct server *server)
{
    for (uint32_t i = 0; i < server->worker_count; i++) {
        int failed = worker_start(server->workers[i]);
        if (failed) {
            log_write(LOG_WARNING, "Cannot start worker %u: %s", i, strerror(-failed));
            return failed;
        }
    }
    return 0;
}

static void init_server(struct process *process)
{
    struct server *server = &process->server;
    mutex_init(&server->sessions_mutex, MUTEX_RANK_REGISTRY);
    server->modules = modules;
    server->main = process;
    server->stop_asked = stop_asked;
    server->next_session_id = 1;
    server->started_ms = clock_realtime_ms();
    server->started_monotonic_ns = clock_monotonic_ns();
    random_hex(server->run_id, 40);
}

/* Everything up to the point where clients can be served. What was made is torn down by `finish`, whatever failed. */
static int start(struct process *process)
{
    struct server *server = &process->server;
    int failed = process_raise_descriptors(process);
    if (failed)
        return failed;
    /* Accepting is not where time goes: the backend that works everywhere will do. */
    process->loop = loop_create(&(struct loop_options){.io = LOOP_IO_EPOLL, .owner = process, .woken = woken}, &failed);
    if (!process->loop) {
        log_write(LOG_WARNING, "Cannot create the main loop: %s", strerror(-failed));
        return failed;
    }
    failed = listeners_bind(&process->listeners, &process->settings);
    if (!failed)
        failed = make_commands(process);
    if (failed)
        return failed;
    server->store = store_create(&server->store_options, false);
    failed = make_workers(server);
    if (!failed)
        failed = modules_start(server);
    if (failed)
        return failed;
    process->modules_started = true;
    failed = start_workers(server);
    if (!failed)
        failed = signals_start(&process->signals, server);
    return failed;
}

/* ---- stop ---------------------------------------------------------------------------------------------------------
 */

static void finish(struct process *process)
{
    struct server *server = &process->server;
    listeners_close(&process->listeners);
    signals_stop(&process->signals);
    /* Workers and modules look at all workers: none may go before the last has ended. */
    for (uint32_t i = server->worker_count; i-- > 0;)
        worker_stop(server->workers[i]);
    listeners_close(&process->listeners); /* of a change of the port that came too late */
    if (process->modules_started)
        modules_stop(server);
    for (uint32_t i = server->worker_count; i-- > 0;)
        worker_destroy(server->workers[i]);
    server->worker_count = 0;
    mem_free(server->workers);
    if (server->commands)
        command_table_destroy(server->commands);
    if (server->store)
        store_destroy(server->store);
    families_deinit(&process->families);
    loop_destroy(process->loop);
    mutex_deinit(&server->sessions_mutex);
}

static int serve(struct process *process)
{
    struct server *server = &process->server;
    process_write_pidfile(process);
    log_write(LOG_WARNING, "Server initialized");
    process->settings.listeners = &process->listeners;
    int failed = listeners_open(&process->listeners, process->loop);
    if (!failed) {
        log_write(LOG_NOTICE, "Ready to accept connections");
        supervision_ready(&process->supervision);
    }
    while (!failed && atomic_load_explicit(&server->stop, memory_order_acquire) == SERVER_RUNNING)
        failed = loop_turn(process->loop, -1);
    if (failed)
        log_write(LOG_WARNING, "The main loop failed: %s", strerror(-failed));
    else
        log_write(LOG_WARNING, "User requested shutdown...");
    supervision_stopping(&process->supervision);
    return failed;
}

/* From the configuration on; returns the exit status. */
static int run(struct process *process)
{
    const struct main_options *options = &process->settings.main;
    if (process_configure(process))
        return 1;
    supervision_init(&process->supervision, (enum main_supervised)option_get(&options->supervised));
    if (option_get(&options->daemonize) && process->supervision.by == MAIN_SUPERVISED_NO && process_daemonize()) {
        log_write(LOG_WARNING, "Cannot go into the background: %s", strerror(errno));
        return 1;
    }
    log_write(LOG_WARNING, "Ketch is starting");
    log_write(LOG_WARNING,
              "Ketch version=" KETCH_VERSION ", redis=" PROCESS_REDIS_VERSION ", bits=%zu, pid=%d, just started",
              8 * sizeof(void *), (int)getpid());
    log_write(LOG_WARNING, "Configuration loaded");
    process_warn_inert(process);
    log_set_role('M');
    if (option_get(&options->crash_log_enabled))
        signals_watch_crashes();
    init_server(process);
    int failed = start(process);
    if (!failed) {
        process_greet(process);
        failed = serve(process);
    }
    finish(process);
    process_remove_pidfile(process);
    if (!failed)
        log_write(LOG_WARNING, "Ketch is now ready to exit, bye bye...");
    return failed ? 1 : 0;
}

int process_run(int argc, char *const *argv)
{
    signals_block();
    clock_calibrate();
    log_set_role('C');
    struct process *process = mem_alloc_zeroed(sizeof(*process));
    settings_init(&process->settings, &process->server);
    struct option_error error;
    int status = 1;
    if (command_line_parse(&process->line, argc, argv, &error)) {
        fprintf(stderr, "%s\n\n%s", error.text, command_line_usage);
    } else {
        status = answer(process);
        if (status < 0)
            status = run(process);
    }
    log_set_syslog(NULL, 0);
    command_line_deinit(&process->line);
    mem_free(process->server.config_file);
    mem_free(process->server.executable);
    mem_free(process->syslog_ident);
    settings_deinit(&process->settings);
    mem_free(process);
    return status;
}
