/* listeners.h - the sockets that clients connect to: made, accepted from, handed on to workers.
 *
 * Owns:       the listening sockets and the Unix socket's file.
 * Threads:    the main thread.
 * Fails by:   -errno with a log line. A connection that cannot be served is told why and closed.
 * Limits:     LISTENERS_MAX sockets. */
#ifndef KETCH_SERVER_MAIN_LISTENERS_H
#define KETCH_SERVER_MAIN_LISTENERS_H

#include "lib/loop/loop.h"
#include "server/main/settings.h"

#define LISTENERS_MAX 32

struct listeners;

struct listener {
    struct loop_listener loop;
    struct listeners *all;
    bool is_unix;
};

struct listeners {
    struct server *server;
    struct settings *settings;
    struct listener each[LISTENERS_MAX];
    uint32_t count;
    char unix_path[108]; /* "" none */
};

/* Makes the sockets; connections queue in the kernel until listeners_open. */
MUST_USE int listeners_bind(struct listeners *listeners, struct settings *settings);
/* Begins to accept on the loop. */
MUST_USE int listeners_open(struct listeners *listeners, struct loop *loop);
/* Closes them and removes the Unix socket's file. */
void listeners_close(struct listeners *listeners);

/* What a word of `bind` means. */
struct bind_address {
    char host[256];
    bool optional; /* skipped when there is no such address here */
};
MUST_USE int bind_address_parse(struct bytes word, struct bind_address *address);

#endif
