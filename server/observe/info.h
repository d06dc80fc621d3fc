/* info.h - the INFO command and the sections of this folder.
 *
 * Threads:    any worker. */
#ifndef KETCH_SERVER_OBSERVE_INFO_H
#define KETCH_SERVER_OBSERVE_INFO_H

#include "lib/base/buf.h"
#include "server/worker/server.h"

#include <errno.h>

extern const struct command_family info_family;
extern const struct info_section info_sections[];

/* One line of a section; leaves the function when the text is over its limit. */
#define INFO_LINE(to, ...)                                                                                             \
    do {                                                                                                               \
        if (buf_printf((to), __VA_ARGS__) < 0)                                                                         \
            return -ENOBUFS;                                                                                           \
    } while (0)

/* ---- info_sections.c ---- */
int info_write_server(struct server *server, struct buf *to);
int info_write_clients(struct server *server, struct buf *to);
int info_write_memory(struct server *server, struct buf *to);
int info_write_persistence(struct server *server, struct buf *to);
int info_write_replication(struct server *server, struct buf *to);
int info_write_cpu(struct server *server, struct buf *to);
int info_write_modules(struct server *server, struct buf *to);
int info_write_cluster(struct server *server, struct buf *to);

/* ---- info_stats.c ---- */
int info_write_stats(struct server *server, struct buf *to);
int info_write_commandstats(struct server *server, struct buf *to);
int info_write_errorstats(struct server *server, struct buf *to);
int info_write_latencystats(struct server *server, struct buf *to);
int info_write_keyspace(struct server *server, struct buf *to);

#endif
