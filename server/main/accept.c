/* A new connection: may it come in, and which worker takes it. */
#include "lib/base/log.h"
#include "server/main/listeners.h"
#include "server/worker/worker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

/* Clients match these texts, so they are the ones that Redis sends. */
static const char too_many[] = "-ERR max number of clients reached\r\n";
static const char denied[] =
    "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the "
    "default user. Only connections over the loopback interface are accepted now. To let others in: set a password for "
    "the default user (requirepass), or, where nobody unwanted can reach this port, switch protected mode off with "
    "'CONFIG SET protected-mode no' from this machine, in the configuration file, or by the option '--protected-mode "
    "no'.\r\n";

static void refuse(struct server *server, int fd, const char *text, size_t size)
{
    (void)!send(fd, text, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    close(fd);
    atomic_fetch_add_explicit(&server->connections_rejected, 1, memory_order_relaxed);
}

/* Connections that workers have or are about to get: the register lags behind a burst. */
static uint64_t connected(const struct server *server)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < server->worker_count; i++)
        sum += atomic_load_explicit(&server->workers[i]->assigned, memory_order_relaxed);
    return sum;
}

static bool is_loopback(int fd)
{
    struct sockaddr_storage storage;
    socklen_t size = sizeof(storage);
    if (getpeername(fd, (struct sockaddr *)&storage, &size))
        return false;
    if (storage.ss_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, &storage, sizeof(v4));
        return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
    }
    struct sockaddr_in6 v6;
    memcpy(&v6, &storage, sizeof(v6));
    return storage.ss_family == AF_INET6 && (IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr) ||
                                             (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) && v6.sin6_addr.s6_addr[12] == 127));
}

/* Dead peers are noticed after twice the interval, as Redis sets it. */
static void prepare_tcp(int fd, int64_t keepalive)
{
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (keepalive <= 0)
        return;
    int idle = (int)keepalive, interval = idle / 3 > 0 ? idle / 3 : 1, probes = 3;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

static void accepted(struct loop_listener *loop_listener, int fd)
{
    const struct listener *listener = CONTAINER_OF(loop_listener, struct listener, loop);
    struct server *server = listener->all->server;
    if (connected(server) >= (uint64_t)option_get(&server->options.maxclients)) {
        refuse(server, fd, too_many, sizeof(too_many) - 1);
        return;
    }
    if (!listener->is_unix) {
        if (option_get(&server->options.protected_mode) && !is_loopback(fd) &&
            option_text_empty(server->registry, &server->options.requirepass)) {
            refuse(server, fd, denied, sizeof(denied) - 1);
            return;
        }
        prepare_tcp(fd, option_get(&server->options.tcp_keepalive));
    }
    atomic_fetch_add_explicit(&server->connections_received, 1, memory_order_relaxed);
    worker_adopt(server_least_loaded(server), fd, listener->is_unix);
}

int listeners_open(struct listeners *listeners, struct loop *loop)
{
    listeners->loop = loop;
    for (uint32_t i = 0; i < listeners->count; i++) {
        struct loop_listener *listener = &listeners->each[i].loop;
        if (!listeners->each[i].used || listener->loop)
            continue;
        int fd = listener->fd;
        int failed = loop_listener_open(loop, listener, fd, accepted);
        if (failed) {
            listener->fd = fd;
            listener->loop = NULL;
            log_write(LOG_WARNING, "Cannot accept connections: %s", strerror(-failed));
            return failed;
        }
    }
    return 0;
}
