/* module.h - what one subsystem offers. Only server/main/modules.c lists them.
 *
 * Threads:    start and stop run on the main thread, the first before any worker turns, the second after all stopped
 *             and are freed. */
#ifndef KETCH_SERVER_COMMAND_MODULE_H
#define KETCH_SERVER_COMMAND_MODULE_H

#include "server/command/command.h"

struct buf;
struct server;

/* A section of INFO: writes "field:value\r\n" lines (no head line). Runs on any worker, under no lock. */
struct info_section {
    const char *name; /* "Server": the head line is "# Server" */
    int (*write)(struct server *server, struct buf *to);
    bool in_default; /* shown by a bare INFO */
    int order; /* sections are shown in ascending order: server 10, clients 20, memory 30, persistence 40, stats 50,
                  replication 60, cpu 70, modules 80, commandstats 90, errorstats 100, latencystats 110, cluster 120,
                  keyspace 130 */
};

struct module {
    const char *name;
    const struct command_family *const *families; /* NULL-terminated, or NULL */
    const struct info_section *sections;          /* ends with a zero row, or NULL */
    int (*start)(struct server *server);          /* 0 or -errno with a log line; or NULL */
    void (*stop)(struct server *server);          /* or NULL */
};

#endif
