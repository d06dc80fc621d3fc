#include "server/worker/session.h"

#include "lib/base/clock.h"
#include "server/worker/client.h"
#include "server/worker/session_register.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/un.h>

/* "ip:port", "[v6]:port", or the socket's path and 0. */
static void write_address(const struct sockaddr_storage *address, const char *path, char *to, size_t size)
{
    char text[INET6_ADDRSTRLEN];
    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
        inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
        snprintf(to, size, "%s:%u", text, (unsigned)ntohs(v4->sin_port));
    } else if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
        inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
        snprintf(to, size, "[%s]:%u", text, (unsigned)ntohs(v6->sin6_port));
    } else {
        snprintf(to, size, "%.*s:0", (int)size - 3, path);
    }
}

bool session_password_required(const struct session *session)
{
    char password[8];
    return option_text_copy(session->worker->server->registry, &session->worker->server->options.requirepass, password,
                            sizeof(password)) > 0;
}

bool session_password_matches(const struct session *session, struct bytes password)
{
    char wanted[1024];
    size_t size = option_text_copy(session->worker->server->registry, &session->worker->server->options.requirepass,
                                   wanted, sizeof(wanted));
    /* As long for a wrong guess as for a right one: every byte of the longer is compared. */
    unsigned difference = size != password.size;
    for (size_t i = 0; i < password.size; i++)
        difference |= (unsigned)(password.at[i] ^ (uint8_t)wanted[size ? i % size : 0]);
    return size > 0 && difference == 0;
}

void session_begin(struct session *session, int fd, bool is_unix)
{
    struct server *server = session->worker->server;
    struct sockaddr_storage peer = {0}, local = {0};
    socklen_t peer_size = sizeof(peer), local_size = sizeof(local);
    char path[108];
    (void)getpeername(fd, (struct sockaddr *)&peer, &peer_size);
    (void)getsockname(fd, (struct sockaddr *)&local, &local_size);
    path[0] = '\0';
    if (is_unix)
        (void)option_text_copy(server->registry, &server->options.unixsocket, path, sizeof(path));
    write_address(&peer, path, session->names.peer, sizeof(session->names.peer));
    write_address(&local, path, session->names.local, sizeof(session->names.local));
    snprintf(session->names.user, sizeof(session->names.user), "default");
    session->created_ms = clock_realtime_ms();
    atomic_store_explicit(&session->active_ms, session->created_ms, memory_order_relaxed);
    atomic_store_explicit(&session->protocol, 2, memory_order_relaxed);
    atomic_store_explicit(&session->flags,
                          (is_unix ? SESSION_UNIX : 0) |
                              (session_password_required(session) ? 0 : SESSION_AUTHENTICATED),
                          memory_order_relaxed);

    mutex_lock(&server->sessions_mutex);
    /* Workers enter their sessions in any order; the list is kept in that of the ids, which is nearly the same. */
    struct session *before = server->sessions_last;
    while (before && before->id > session->id)
        before = before->previous;
    session->previous = before;
    session->next = before ? before->next : server->sessions;
    if (before)
        before->next = session;
    else
        server->sessions = session;
    if (session->next)
        session->next->previous = session;
    else
        server->sessions_last = session;
    mutex_unlock(&server->sessions_mutex);
    atomic_fetch_add_explicit(&server->session_count, 1, memory_order_relaxed);
    worker_count(&session->worker->counters.sessions, 1);
}

void session_end(struct session *session)
{
    struct server *server = session->worker->server;
    mutex_lock(&server->sessions_mutex);
    if (session->previous)
        session->previous->next = session->next;
    else
        server->sessions = session->next;
    if (session->next)
        session->next->previous = session->previous;
    else
        server->sessions_last = session->previous;
    mutex_unlock(&server->sessions_mutex);
    atomic_fetch_sub_explicit(&server->session_count, 1, memory_order_relaxed);
    worker_count(&session->worker->counters.sessions, (uint64_t)-1);
}

void session_set(struct session *session, uint32_t flag, bool on)
{
    uint32_t flags = atomic_load_explicit(&session->flags, memory_order_relaxed);
    atomic_store_explicit(&session->flags, on ? flags | flag : flags & ~flag, memory_order_relaxed);
}

void session_set_db(struct session *session, uint32_t db)
{
    atomic_store_explicit(&session->db, db, memory_order_relaxed);
}

void session_set_protocol(struct session *session, uint8_t protocol)
{
    struct worker_client *client = CONTAINER_OF(session, struct worker_client, session);
    atomic_store_explicit(&session->protocol, protocol, memory_order_relaxed);
    client->writer.protocol = protocol;
}

void session_reset(struct session *session)
{
    bool is_unix = session_is(session, SESSION_UNIX);
    atomic_store_explicit(&session->flags,
                          (is_unix ? SESSION_UNIX : 0) |
                              (session_password_required(session) ? 0 : SESSION_AUTHENTICATED),
                          memory_order_relaxed);
    session_set_db(session, 0);
    session_set_protocol(session, 2);
    mutex_lock(&session->mutex);
    session->names.name[0] = '\0';
    snprintf(session->names.user, sizeof(session->names.user), "default");
    mutex_unlock(&session->mutex);
}

void session_each(struct server *server, bool (*each)(void *context, struct session *session), void *context)
{
    mutex_lock(&server->sessions_mutex);
    for (struct session *session = server->sessions; session; session = session->next)
        if (!each(context, session))
            break;
    mutex_unlock(&server->sessions_mutex);
}

void session_kill(struct session *session)
{
    atomic_store_explicit(&session->kill, true, memory_order_release);
    worker_poke(session->worker);
}
