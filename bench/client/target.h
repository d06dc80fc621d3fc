/* target.h - the server under test: its addresses, and the commands that make a connection ready.
 *
 * Owns:       the encoded AUTH, SELECT and HELLO.
 * Threads:    read-only after target_init.
 * Fails by:   a text for the user. */
#ifndef KETCH_BENCH_CLIENT_TARGET_H
#define KETCH_BENCH_CLIENT_TARGET_H

#include "lib/base/buf.h"

#include <netinet/in.h>
#include <sys/socket.h>

#define TARGET_ADDRESSES_MAX 16

enum target_protocol { TARGET_REDIS, TARGET_RESP2, TARGET_RESP3 };

struct target_options {
    const char *host;
    uint16_t port;
    const char *unix_socket; /* NULL: TCP */
    int family;              /* AF_UNSPEC, AF_INET or AF_INET6 */
    enum target_protocol protocol;
    const char *user, *password; /* NULL: none */
    uint64_t database;
};

struct target_address {
    struct sockaddr_storage address;
    socklen_t size;
    char text[128]; /* "127.0.0.1:6379" */
};

struct target {
    struct target_address addresses[TARGET_ADDRESSES_MAX];
    unsigned address_count;
    struct buf setup; /* requests to send first */
    unsigned setup_replies;
};

/* Looks the host up. 0, or -1 with a text in error. */
MUST_USE int target_init(struct target *target, const struct target_options *options, char *error, size_t error_size);
void target_deinit(struct target *target);

#endif
