#include "server/main/signals.h"

#include "lib/base/log.h"
#include "server/worker/server.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void signal_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGUSR2);
}

void signals_block(void)
{
    sigset_t set;
    signal_set(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void stop_asked(struct signals *signals, int number)
{
    if (atomic_load_explicit(&signals->server->stop, memory_order_acquire) != SERVER_RUNNING) {
        log_write(LOG_WARNING, "You insist... exiting now.");
        _exit(1);
    }
    log_write(LOG_WARNING, "Received %s scheduling shutdown...", number == SIGINT ? "SIGINT" : "SIGTERM");
    server_ask_stop(signals->server);
}

static void *wait_for_signals(void *argument)
{
    struct signals *signals = argument;
    pthread_setname_np(pthread_self(), "signals");
    sigset_t set;
    signal_set(&set);
    while (!atomic_load_explicit(&signals->ending, memory_order_acquire)) {
        int number = 0;
        if (sigwait(&set, &number))
            continue;
        if (number == SIGTERM || number == SIGINT)
            stop_asked(signals, number);
        else if (number == SIGHUP && log_reopen())
            log_write(LOG_WARNING, "Could not open the log file again; going on with the old one");
    }
    return NULL;
}

int signals_start(struct signals *signals, struct server *server)
{
    signals->server = server;
    int error = pthread_create(&signals->thread, NULL, wait_for_signals, signals);
    signals->running = error == 0;
    return -error;
}

void signals_stop(struct signals *signals)
{
    if (!signals->running)
        return;
    atomic_store_explicit(&signals->ending, true, memory_order_release);
    pthread_kill(signals->thread, SIGUSR2);
    pthread_join(signals->thread, NULL);
    signals->running = false;
}
