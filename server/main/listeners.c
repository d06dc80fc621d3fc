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
#include <unistd.h>

/* Sockets are kept in each[i].loop.fd until the loop takes them. */
static int keep(struct listeners *listeners, int fd, bool is_unix)
{
    if (listeners->count == LISTENERS_MAX) {
        close(fd);
        return -E2BIG;
    }
    struct listener *listener = &listeners->each[listeners->count++];
    *listener = (struct listener){.all = listeners, .is_unix = is_unix};
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

static int bind_tcp(struct listeners *listeners)
{
    const struct worker_options *options = &listeners->server->options;
    int port = (int)option_get(&options->port), backlog = (int)option_get(&options->tcp_backlog);
    if (port == 0)
        return 0;
    char *text = settings_text(listeners->settings, &options->bind);
    int failed = 0;
    for (const char *at = text; *at && !failed;) {
        size_t size = strcspn(at, " ");
        if (size)
            failed = bind_one(listeners, bytes_make(at, size), port, backlog);
        at += size + (at[size] == ' ');
    }
    mem_free(text);
    if (failed)
        log_write(LOG_WARNING, "Failed listening on port %d (TCP), aborting.", port);
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

void listeners_close(struct listeners *listeners)
{
    for (uint32_t i = 0; i < listeners->count; i++) {
        if (listeners->each[i].loop.loop)
            loop_listener_close(&listeners->each[i].loop);
        else
            close(listeners->each[i].loop.fd);
    }
    listeners->count = 0;
    if (listeners->unix_path[0]) {
        log_write(LOG_NOTICE, "Removing the unix socket file.");
        if (unlink(listeners->unix_path))
            log_write(LOG_WARNING, "Error removing the unix socket file: %s", strerror(errno));
        listeners->unix_path[0] = '\0';
    }
}
