/* listeners.h - the sockets that clients connect to: made, accepted from, handed on to workers.
 *
 * Owns:       the listening sockets and the Unix socket's file.
 * Threads:    the main thread; listeners_change_port: any.
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
    bool used;
};

struct listeners {
    struct server *server;
    struct settings *settings;
    struct listener each[LISTENERS_MAX];
    uint32_t count;                          /* of `each`, unused ones among them */
    char unix_path[108];                     /* "" none */
    struct loop *loop;                       /* that accepts; NULL before listeners_open */
    _Atomic int port;                        /* listened on, or about to be */
    _Atomic int settled;                     /* the one that the main thread listens on so far */
    _Atomic(struct listeners *) replacement; /* TCP sockets of another port, waiting for the main thread */
};

/* Makes the sockets; connections queue in the kernel until listeners_open. */
MUST_USE int listeners_bind(struct listeners *listeners, struct settings *settings);
/* Begins to accept on the loop. */
MUST_USE int listeners_open(struct listeners *listeners, struct loop *loop);
/* Binds to another port at once, and has the main thread accept there and close the sockets of the old one.
 * `addresses` as in the option bind. 0, or -errno with a log line: then nothing has changed. */
MUST_USE int listeners_change_port(struct listeners *listeners, const char *addresses, int port);
/* The main thread, woken: carries out what listeners_change_port asked for. */
void listeners_replace(struct listeners *listeners);
/* Closes them and removes the Unix socket's file. */
void listeners_close(struct listeners *listeners);

/* What a word of `bind` means. */
struct bind_address {
    char host[256];
    bool optional; /* skipped when there is no such address here */
};
MUST_USE int bind_address_parse(struct bytes word, struct bind_address *address);

#endif
