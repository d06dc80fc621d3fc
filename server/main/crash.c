/* The crash handler: only what is safe inside a signal handler. */
#include "lib/base/log.h"
#include "server/main/signals.h"

#include <execinfo.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define FRAMES_MAX 64

static void put(const char *text)
{
    (void)!write(log_fd(), text, strlen(text));
}

static void put_number(uint64_t number, unsigned base)
{
    char digits[24];
    size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number);
    put(digits + at);
}

static void crashed(int number, siginfo_t *info, void *context)
{
    (void)context;
    put("\n=== KETCH BUG REPORT START: Cut & paste starting from here ===\nKetch " KETCH_VERSION
        " crashed by signal: ");
    put_number((uint64_t)number, 10);
    if (number != SIGABRT) {
        put(", accessing address: 0x");
        put_number((uint64_t)(uintptr_t)info->si_addr, 16);
    }
    put(", process ");
    put_number((uint64_t)getpid(), 10);
    put("\n\n------ STACK TRACE ------\n");
    void *frames[FRAMES_MAX];
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX), log_fd());
    put("\n=== KETCH BUG REPORT END ===\n");
    raise(number); /* SA_RESETHAND put the default action back: the process ends as it would have */
}

void signals_watch_crashes(void)
{
    /* The first backtrace loads a library, which must not happen inside a handler. */
    void *frame;
    (void)backtrace(&frame, 1);
    struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_RESETHAND | SA_NODEFER | SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &action, NULL);
}
