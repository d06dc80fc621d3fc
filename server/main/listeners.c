#include "server/main/listeners.h"

#include "lib/base/log.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* How often to look, every 10 ms, whether the main thread has carried out a change of the port. */
#define SETTLE_TURNS 100

/* Sockets are kept in each[i].loop.fd until the loop takes them. */
static int keep(struct listeners *listeners, int fd, bool is_unix)
{
    uint32_t at = 0;
    while (at < listeners->count && listeners->each[at].used)
        at++;
    if (at == LISTENERS_MAX) {
        close(fd);
        return -E2BIG;
    }
    if (at == listeners->count)
        listeners->count++;
    struct listener *listener = &listeners->each[at];
    *listener = (struct listener){.all = listeners, .is_unix = is_unix, .used = true};
    listener->loop.fd = fd;
    return 0;
}

int bind_address_parse(struct bytes word, struct bind_address *address)
{
    address->optional = word.size && word.at[0] == '-';
    if (address->optional)
        word = bytes_make(word.at + 1, word.size - 1);
    if (bytes_equal(word, BYTES("*")))
        word = BYTES("0.0.0.0");
    else if (bytes_equal(word, BYTES("::*")))
        word = BYTES("::");
    if (word.size == 0 || word.size >= sizeof(address->host))
        return -EINVAL;
    memcpy(address->host, word.at, word.size);
    address->host[word.size] = '\0';
    return 0;
}

/* ---- TCP --------------------------------------------------------------------------------------------------------- */

static int listen_on(const struct addrinfo *info, int backlog)
{
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (info->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, backlog) == 0)
        return fd;
    int failed = -errno;
    close(fd);
    return failed;
}

static int listen_tcp(const char *host, int port, int backlog)
{
    char service[16];
    snprintf(service, sizeof(service), "%d", port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    if (getaddrinfo(host, service, &hints, &found))
        return -EADDRNOTAVAIL;
    int fd = -EADDRNOTAVAIL;
    for (const struct addrinfo *info = found; info && fd < 0; info = info->ai_next)
        fd = listen_on(info, backlog);
    freeaddrinfo(found);
    return fd;
}

/* A machine without IPv6 is not a mistake of the configuration. */
static bool is_missing_family(int failed)
{
    return failed == -EAFNOSUPPORT || failed == -EPFNOSUPPORT || failed == -EPROTONOSUPPORT ||
           failed == -ESOCKTNOSUPPORT || failed == -ENOPROTOOPT;
}

static int bind_one(struct listeners *listeners, struct bytes word, int port, int backlog)
{
    struct bind_address address;
    int fd = bind_address_parse(word, &address);
    if (fd == 0)
        fd = listen_tcp(address.host, port, backlog);
    if (fd >= 0)
        return keep(listeners, fd, false);
    log_write(LOG_WARNING, "Warning: Could not create server TCP listening socket %.*s:%d: bind: %s", (int)word.size,
              (const char *)word.at, port, strerror(-fd));
    if ((fd == -EADDRNOTAVAIL && address.optional) || is_missing_family(fd))
        return 0;
    return fd;
}

static int bind_addresses(struct listeners *listeners, const char *addresses, int port)
{
    int backlog = (int)option_get(&listeners->server->options.tcp_backlog), failed = 0;
    for (const char *at = addresses; *at && port && !failed;) {
        size_t size = strcspn(at, " ");
        if (size)
            failed = bind_one(listeners, bytes_make(at, size), port, backlog);
        at += size + (at[size] == ' ');
    }
    if (failed)
        log_write(LOG_WARNING, "Failed listening on port %d (TCP).", port);
    else
        atomic_store_explicit(&listeners->port, port, memory_order_relaxed);
    return failed;
}

static int bind_tcp(struct listeners *listeners)
{
    const struct worker_options *options = &listeners->server->options;
    char *addresses = settings_text(listeners->settings, &options->bind);
    int port = (int)option_get(&options->port);
    int failed = bind_addresses(listeners, addresses, port);
    atomic_store_explicit(&listeners->settled, port, memory_order_relaxed);
    mem_free(addresses);
    return failed;
}

/* The kernel cuts the queue without a word. */
static void check_backlog(int64_t wanted)
{
    FILE *file = fopen("/proc/sys/net/core/somaxconn", "re");
    if (!file)
        return;
    char line[32];
    long most = fgets(line, sizeof(line), file) ? strtol(line, NULL, 10) : 0;
    fclose(file);
    if (most > 0 && most < wanted)
        log_write(LOG_WARNING,
                  "WARNING: The TCP backlog setting of %" PRId64
                  " cannot be enforced because /proc/sys/net/core/somaxconn is set to the lower value of %ld.",
                  wanted, most);
}

/* ---- Unix socket ------------------------------------------------------------------------------------------------- */

/* Removes the file of a server that is gone; -EADDRINUSE when one answers there. */
static int remove_stale(const struct sockaddr_un *address)
{
    struct stat about;
    if (lstat(address->sun_path, &about))
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(about.st_mode))
        return -EEXIST;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    bool answers = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 || errno == EAGAIN;
    close(fd);
    if (answers)
        return -EADDRINUSE;
    return unlink(address->sun_path) && errno != ENOENT ? -errno : 0;
}

static int listen_unix(const struct sockaddr_un *address, mode_t permissions, int backlog)
{
    int failed = remove_stale(address);
    if (failed)
        return failed;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0) {
        /* Permissions first: nobody can connect before listen. */
        if ((permissions == 0 || chmod(address->sun_path, permissions) == 0) && listen(fd, backlog) == 0)
            return fd;
        failed = -errno;
        unlink(address->sun_path);
    } else {
        failed = -errno;
    }
    close(fd);
    return failed;
}

static int bind_unix(struct listeners *listeners)
{
    const struct worker_options *options = &listeners->server->options;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t size = option_text_copy(listeners->settings->registry, &options->unixsocket, address.sun_path,
                                   sizeof(address.sun_path));
    if (size == 0)
        return 0;
    int fd = size < sizeof(address.sun_path) ? listen_unix(&address, (mode_t)option_get(&options->unixsocketperm),
                                                           (int)option_get(&options->tcp_backlog))
                                             : -ENAMETOOLONG;
    if (fd < 0) {
        log_write(LOG_WARNING, "Failed opening Unix socket: bind: %s", strerror(-fd));
        return fd;
    }
    memcpy(listeners->unix_path, address.sun_path, sizeof(listeners->unix_path));
    return keep(listeners, fd, true);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

int listeners_bind(struct listeners *listeners, struct settings *settings)
{
    *listeners = (struct listeners){.server = settings->server, .settings = settings};
    check_backlog(option_get(&settings->server->options.tcp_backlog));
    int failed = bind_tcp(listeners);
    if (!failed)
        failed = bind_unix(listeners);
    if (!failed && listeners->count == 0) {
        log_write(LOG_WARNING, "Configured to not listen anywhere, exiting.");
        failed = -EINVAL;
    }
    if (failed)
        listeners_close(listeners);
    return failed;
}

static void close_one(struct listener *listener)
{
    if (!listener->used)
        return;
    listener->used = false;
    if (listener->loop.loop)
        loop_listener_close(&listener->loop);
    else
        close(listener->loop.fd);
}

static void discard(struct listeners *replacement)
{
    for (uint32_t i = 0; replacement && i < replacement->count; i++)
        close_one(&replacement->each[i]);
    mem_free(replacement);
}

/* Back to the port that is still listened on: nothing but the change that waits has to go. True when that was all. */
static bool call_off(struct listeners *listeners, int port)
{
    if (atomic_load_explicit(&listeners->settled, memory_order_acquire) != port)
        return false;
    struct listeners *waiting = atomic_exchange_explicit(&listeners->replacement, NULL, memory_order_acq_rel);
    if (!waiting)
        return false;
    discard(waiting);
    atomic_store_explicit(&listeners->port, port, memory_order_relaxed);
    return true;
}

/* The main thread may be about to close the sockets of the very port that is wanted again. */
static void let_settle(struct listeners *listeners)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
    for (int i = 0; i < SETTLE_TURNS; i++) {
        if (atomic_load_explicit(&listeners->replacement, memory_order_acquire) ||
            atomic_load_explicit(&listeners->settled, memory_order_acquire) ==
                atomic_load_explicit(&listeners->port, memory_order_relaxed))
            return;
        nanosleep(&pause, NULL);
    }
}

int listeners_change_port(struct listeners *listeners, const char *addresses, int port)
{
    if (atomic_load_explicit(&listeners->port, memory_order_relaxed) == port || call_off(listeners, port))
        return 0;
    let_settle(listeners);
    struct listeners *fresh = mem_alloc_zeroed(sizeof(*fresh));
    fresh->server = listeners->server;
    int failed = bind_addresses(fresh, addresses, port);
    if (failed) {
        discard(fresh);
        return failed;
    }
    atomic_store_explicit(&listeners->port, port, memory_order_relaxed);
    /* One that the main thread has not got to yet is overtaken. */
    discard(atomic_exchange_explicit(&listeners->replacement, fresh, memory_order_acq_rel));
    loop_wake(listeners->loop);
    return 0;
}

void listeners_replace(struct listeners *listeners)
{
    struct listeners *fresh = atomic_exchange_explicit(&listeners->replacement, NULL, memory_order_acq_rel);
    if (!fresh)
        return;
    bool old[LISTENERS_MAX] = {false};
    for (uint32_t i = 0; i < listeners->count; i++)
        old[i] = listeners->each[i].used && !listeners->each[i].is_unix;
    for (uint32_t i = 0; i < fresh->count; i++) {
        if (fresh->each[i].used && keep(listeners, fresh->each[i].loop.fd, false) < 0)
            log_write(LOG_WARNING, "Too many listening sockets: one of the new port is left out");
    }
    if (listeners_open(listeners, listeners->loop) < 0)
        log_write(LOG_WARNING, "Not all sockets of the new port accept connections");
    for (uint32_t i = 0; i < LISTENERS_MAX; i++)
        if (old[i])
            close_one(&listeners->each[i]);
    atomic_store_explicit(&listeners->settled, atomic_load_explicit(&fresh->port, memory_order_relaxed),
                          memory_order_release);
    mem_free(fresh);
}

void listeners_close(struct listeners *listeners)
{
    discard(atomic_exchange_explicit(&listeners->replacement, NULL, memory_order_acq_rel));
    for (uint32_t i = 0; i < listeners->count; i++)
        close_one(&listeners->each[i]);
    listeners->count = 0;
    if (listeners->unix_path[0]) {
        log_write(LOG_NOTICE, "Removing the unix socket file.");
        if (unlink(listeners->unix_path))
            log_write(LOG_WARNING, "Error removing the unix socket file: %s", strerror(errno));
        listeners->unix_path[0] = '\0';
    }
}
