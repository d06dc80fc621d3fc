/* floor_server.c - a server that does nothing, on the project's own loop: it frames requests, and answers each with the
 * same reply. What it costs is the floor that the machine, the kernel and the loop set for any server here.
 *
 *     perf-floor_server --port N --io epoll|uring|auto --reply-size N     (0: +OK, else a bulk of N bytes)
 *
 * Prints "Ready" when it accepts; SIGTERM or SIGINT ends it with status 0. */
#include "lib/base/check.h"
#include "lib/base/mem.h"
#include "lib/loop/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A block of equal replies is laid out once; answers are pieces of it, so that nothing is copied. */
enum { BLOCK_SIZE_MIN = 256 * 1024, OWED_MAX = 100000 };

struct server {
    struct loop *loop;
    struct loop_listener listener;
    struct client *clients;
    uint8_t *block;
    size_t reply_size;    /* bytes of one reply */
    size_t block_replies; /* replies in the block */
    _Atomic bool stopping;
};

/* Where the framing of a connection stands. */
enum phase { AT_REQUEST, IN_INLINE, IN_ARRAY_LENGTH, AT_BULK, IN_BULK_LENGTH, IN_BULK };

struct client {
    struct loop_conn conn;
    struct server *server;
    struct client *previous, *next;
    enum phase phase;
    int64_t number;    /* the length being read */
    int64_t arguments; /* bulks left of the request */
    size_t skip;       /* bytes left of the bulk and its line end */
    size_t owed;       /* replies not yet sent */
    bool sending;
};

/* ---- framing ----------------------------------------------------------------------------------------------------- */

/* A length line's byte; true at its end. Anything odd is taken as it comes: this server is for trusted load. */
static bool length_byte(struct client *client, uint8_t byte)
{
    if (byte >= '0' && byte <= '9' && client->number < INT32_MAX) {
        client->number = client->number * 10 + (byte - '0');
    }
    return byte == '\n';
}

/* Consumes one byte outside bulks; true when it ends a request. */
static bool frame_byte(struct client *client, uint8_t byte)
{
    switch (client->phase) {
    case AT_REQUEST:
        client->phase = byte == '*' ? IN_ARRAY_LENGTH : IN_INLINE;
        client->number = 0;
        return false;
    case IN_INLINE:
        if (byte == '\n') {
            client->phase = AT_REQUEST;
        }
        return byte == '\n';
    case IN_ARRAY_LENGTH:
        if (length_byte(client, byte)) {
            client->arguments = client->number;
            client->phase = client->arguments == 0 ? AT_REQUEST : AT_BULK;
        }
        return false;
    case AT_BULK:
        client->phase = IN_BULK_LENGTH;
        client->number = 0;
        return false;
    case IN_BULK_LENGTH:
    case IN_BULK:
    default:
        if (length_byte(client, byte)) {
            client->skip = (size_t)client->number + 2;
            client->phase = IN_BULK;
        }
        return false;
    }
}

static size_t count_requests(struct client *client, const uint8_t *at, const uint8_t *end)
{
    size_t requests = 0;
    while (at < end) {
        if (client->phase != IN_BULK) {
            requests += frame_byte(client, *at++);
            continue;
        }
        size_t here = (size_t)(end - at) < client->skip ? (size_t)(end - at) : client->skip;
        at += here;
        client->skip -= here;
        if (client->skip == 0) {
            client->arguments--;
            client->phase = client->arguments == 0 ? AT_REQUEST : AT_BULK;
            requests += client->arguments == 0;
        }
    }
    return requests;
}

/* ---- answering --------------------------------------------------------------------------------------------------- */

static void answer(struct client *client)
{
    const struct server *server = client->server;
    while (client->owed > 0 && !client->sending) {
        struct iovec pieces[LOOP_IOV_MAX];
        unsigned count = 0;
        while (client->owed > 0 && count < LOOP_IOV_MAX) {
            size_t replies = client->owed < server->block_replies ? client->owed : server->block_replies;
            pieces[count++] = (struct iovec){server->block, replies * server->reply_size};
            client->owed -= replies;
        }
        client->sending = loop_conn_send(&client->conn, pieces, count) == LOOP_SEND_PENDING;
    }
    if (client->owed > OWED_MAX) {
        loop_conn_pause(&client->conn);
    }
}

static void client_received(struct loop_conn *conn, struct loop_chunk *chunk)
{
    struct client *client = CONTAINER_OF(conn, struct client, conn);
    client->owed += count_requests(client, chunk->data, chunk->data + chunk->size);
    loop_chunk_release(conn->loop, chunk);
    answer(client);
}

static void client_sent(struct loop_conn *conn)
{
    struct client *client = CONTAINER_OF(conn, struct client, conn);
    client->sending = false;
    answer(client);
    if (client->owed <= OWED_MAX) {
        loop_conn_resume(conn);
    }
}

static void client_close(struct client *client)
{
    if (client->previous != NULL) {
        client->previous->next = client->next;
    } else {
        client->server->clients = client->next;
    }
    if (client->next != NULL) {
        client->next->previous = client->previous;
    }
    loop_conn_close(&client->conn);
}

static void client_closed(struct loop_conn *conn, int error)
{
    (void)error;
    client_close(CONTAINER_OF(conn, struct client, conn));
}

static void client_released(struct loop_conn *conn)
{
    mem_free(CONTAINER_OF(conn, struct client, conn));
}

static const struct loop_conn_handler client_handler = {
    .received = client_received,
    .sent = client_sent,
    .closed = client_closed,
    .released = client_released,
};

static void accepted(struct loop_listener *listener, int fd)
{
    struct server *server = CONTAINER_OF(listener, struct server, listener);
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    struct client *client = mem_alloc_zeroed(sizeof(*client));
    client->server = server;
    if (loop_conn_open(server->loop, &client->conn, &client_handler, fd) != 0) {
        close(fd);
        mem_free(client);
        return;
    }
    client->next = server->clients;
    if (client->next != NULL) {
        client->next->previous = client;
    }
    server->clients = client;
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static void make_block(struct server *server, size_t bulk_size)
{
    char head[32];
    int head_size =
        bulk_size == 0 ? snprintf(head, sizeof(head), "+OK\r\n") : snprintf(head, sizeof(head), "$%zu\r\n", bulk_size);
    server->reply_size = (size_t)head_size + (bulk_size == 0 ? 0 : bulk_size + 2);
    server->block_replies = BLOCK_SIZE_MIN / server->reply_size + 1;
    server->block = mem_alloc(server->block_replies * server->reply_size);
    for (size_t i = 0; i < server->block_replies; i++) {
        uint8_t *at = server->block + i * server->reply_size;
        memcpy(at, head, (size_t)head_size);
        if (bulk_size > 0) {
            memset(at + head_size, 'x', bulk_size);
            memcpy(at + head_size + bulk_size, "\r\n", 2);
        }
    }
}

static int listen_on(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    int on = 1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 1024) < 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

static void *await_signal(void *argument)
{
    struct server *server = argument;
    sigset_t ends;
    int number = 0;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    while (sigwait(&ends, &number) != 0) {
    }
    atomic_store(&server->stopping, true);
    loop_wake(server->loop);
    return NULL;
}

static void start_signal_thread(struct server *server)
{
    sigset_t ends;
    pthread_t thread;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    int error = pthread_create(&thread, NULL, await_signal, server);
    CHECK(error == 0);
    pthread_detach(thread);
}

struct arguments {
    long port;
    long reply_size;
    enum loop_io io;
};

static bool number_of(const char *text, long maximum, long *number)
{
    char *end = NULL;
    *number = strtol(text, &end, 10);
    return end != text && *end == 0 && *number >= 0 && *number <= maximum;
}

static bool io_of(const char *text, enum loop_io *io)
{
    static const char *const names[] = {[LOOP_IO_AUTO] = "auto", [LOOP_IO_EPOLL] = "epoll", [LOOP_IO_URING] = "uring"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *io = (enum loop_io)i;
            return true;
        }
    }
    return false;
}

static bool parse(int argc, char **argv, struct arguments *arguments)
{
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool good = strcmp(argv[i], "--port") == 0         ? number_of(value, 65535, &arguments->port)
                    : strcmp(argv[i], "--reply-size") == 0 ? number_of(value, 1 << 24, &arguments->reply_size)
                    : strcmp(argv[i], "--io") == 0         ? io_of(value, &arguments->io)
                                                           : false;
        if (!good) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.port = 6379};
    if (!parse(argc, argv, &arguments)) {
        fprintf(stderr, "usage: perf-floor_server --port N --io epoll|uring|auto --reply-size N\n");
        return 2;
    }
    struct server server = {0};
    make_block(&server, (size_t)arguments.reply_size);
    int error = 0;
    server.loop = loop_create(&(struct loop_options){.io = arguments.io}, &error);
    int fd = error == 0 ? listen_on((uint16_t)arguments.port) : error;
    if (fd < 0) {
        fprintf(stderr, "floor_server: %s\n", strerror(-fd));
        return 1;
    }
    start_signal_thread(&server);
    error = loop_listener_open(server.loop, &server.listener, fd, accepted);
    if (error != 0) {
        fprintf(stderr, "floor_server: %s\n", strerror(-error));
        return 1;
    }
    printf("Ready on port %ld with %s\n", arguments.port, loop_io_name(server.loop));
    fflush(stdout);
    while (error == 0 && !atomic_load(&server.stopping)) {
        error = loop_turn(server.loop, -1);
    }
    /* In order: what io_uring still holds at exit keeps the port for a while. */
    loop_listener_close(&server.listener);
    while (server.clients != NULL) {
        client_close(server.clients);
    }
    loop_destroy(server.loop);
    mem_free(server.block);
    return error == 0 ? 0 : 1;
}
