#include "lib/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* <syslog.h> defines LOG_DEBUG and LOG_WARNING as macros; these are its only functions used here. */
void openlog(const char *ident, int option, int facility);
void closelog(void);
void syslog(int priority, const char *format, ...) PRINTF_LIKE(2, 3);

static _Atomic int sink_fd = STDOUT_FILENO;
static _Atomic int sink_level = LOG_NOTICE;
static _Atomic char sink_role = 'M';
static _Atomic bool sink_syslog;
static char sink_path[4096];
static pthread_mutex_t sink_mutex = PTHREAD_MUTEX_INITIALIZER;

void log_write(enum log_level level, const char *format, ...)
{
    if ((int)level < atomic_load_explicit(&sink_level, memory_order_relaxed))
        return;
    char line[1200];
    struct timeval now;
    struct tm local;
    gettimeofday(&now, NULL);
    localtime_r(&now.tv_sec, &local);
    char stamp[64];
    strftime(stamp, sizeof(stamp), "%d %b %Y %H:%M:%S", &local);
    int head = snprintf(line, sizeof(line), "%d:%c %s.%03d %c ", (int)getpid(),
                        atomic_load_explicit(&sink_role, memory_order_relaxed), stamp, (int)(now.tv_usec / 1000),
                        ".-*##"[level]);
    va_list arguments;
    va_start(arguments, format);
    int body = vsnprintf(line + head, 1024, format, arguments);
    va_end(arguments);
    if (body < 0)
        return;
    if (body > 1023)
        body = 1023;
    if (atomic_load_explicit(&sink_syslog, memory_order_relaxed)) {
        static const int priorities[] = {7, 6, 5, 4, 4};
        syslog(priorities[level], "%s", line + head);
    }
    line[head + body] = '\n';
    ssize_t written = write(atomic_load_explicit(&sink_fd, memory_order_relaxed), line, (size_t)(head + body + 1));
    (void)written;
}

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&sink_level, (int)level, memory_order_relaxed);
}

enum log_level log_get_level(void)
{
    return (enum log_level)atomic_load_explicit(&sink_level, memory_order_relaxed);
}

static int open_path(const char *path)
{
    if (path[0] == '\0')
        return STDOUT_FILENO;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    return fd < 0 ? -errno : fd;
}

int log_open(const char *path)
{
    if (strlen(path) >= sizeof(sink_path))
        return -ENAMETOOLONG;
    int fd = open_path(path);
    if (fd < 0)
        return fd;
    pthread_mutex_lock(&sink_mutex);
    memmove(sink_path, path, strlen(path) + 1);
    int old = atomic_load_explicit(&sink_fd, memory_order_relaxed);
    if (old > STDERR_FILENO && fd != old) {
        /* A writer may hold the old number: put the new file behind it instead of closing it. */
        if (fd > STDERR_FILENO) {
            dup3(fd, old, O_CLOEXEC);
            close(fd);
        } else {
            atomic_store_explicit(&sink_fd, fd, memory_order_relaxed);
        }
    } else {
        atomic_store_explicit(&sink_fd, fd, memory_order_relaxed);
    }
    pthread_mutex_unlock(&sink_mutex);
    return 0;
}

int log_reopen(void)
{
    char path[sizeof(sink_path)];
    pthread_mutex_lock(&sink_mutex);
    memcpy(path, sink_path, sizeof(path));
    pthread_mutex_unlock(&sink_mutex);
    return log_open(path);
}

void log_set_role(char role)
{
    atomic_store_explicit(&sink_role, role, memory_order_relaxed);
}

void log_set_syslog(const char *ident, int local_facility)
{
    if (ident)
        openlog(ident, 0x01 | 0x08, (16 + local_facility) << 3); /* LOG_PID | LOG_NDELAY, LOG_LOCALn */
    else
        closelog();
    atomic_store_explicit(&sink_syslog, ident != NULL, memory_order_relaxed);
}

int log_fd(void)
{
    return atomic_load_explicit(&sink_fd, memory_order_relaxed);
}
