/* session.h - one client: its connection, its state, its output.
 *
 * Owns:       the connection, unfinished input, unsent output.
 * Threads:    belongs to its worker. Other threads read what is marked shared (atomics, or under `mutex`), only
 *             while the register's mutex is held so that the session cannot go away, and ask for anything else by
 *             mail.
 * Invariants: an idle session owns no input or output memory.
 * Limits:     client-query-buffer-limit for input, client-output-hard-limit for output. */
#ifndef KETCH_SERVER_WORKER_SESSION_H
#define KETCH_SERVER_WORKER_SESSION_H

#include "lib/loop/loop.h"
#include "lib/resp/request.h"
#include "lib/resp/writer.h"
#include "server/worker/worker.h"

/* shared: seen by CLIENT LIST of any worker. */
#define SESSION_AUTHENTICATED (1u << 0)
#define SESSION_CLOSE_AFTER_REPLY (1u << 1)
#define SESSION_REPLY_OFF (1u << 2)
#define SESSION_REPLY_SKIP_NEXT (1u << 3)
#define SESSION_REPLY_SKIP (1u << 4)
#define SESSION_NO_EVICT (1u << 5)
#define SESSION_NO_TOUCH (1u << 6)
#define SESSION_UNIX (1u << 7)

struct session_names {
    char name[256];                        /* CLIENT SETNAME; "" none */
    char library[64], library_version[64]; /* CLIENT SETINFO */
    char user[64];
    char peer[64], local[64]; /* "ip:port", "[v6]:port" or "path:0"; set before the session is in the register */
};

struct session {
    struct loop_conn conn;
    struct worker *worker;
    struct session *previous, *next; /* the register's */
    uint64_t id;
    int64_t created_ms; /* real time */

    _Atomic uint32_t flags;                                        /* shared; written by the owner */
    _Atomic uint32_t db;                                           /* shared */
    _Atomic uint8_t protocol;                                      /* shared: 2 or 3 */
    _Atomic int64_t active_ms;                                     /* shared: real time of the last command */
    _Atomic uint32_t last_command;                                 /* shared: number + 1, 0 none yet */
    _Atomic size_t input_size, input_free, output_size, argv_size; /* shared, bytes */
    _Atomic bool kill;                                             /* set by CLIENT KILL of any worker, with a mail */

    struct mutex mutex; /* rank CLIENT: guards names */
    struct session_names names;
};

static inline bool session_is(const struct session *session, uint32_t flag)
{
    return (atomic_load_explicit(&session->flags, memory_order_relaxed) & flag) != 0;
}

/* Owner only. */
void session_set(struct session *session, uint32_t flag, bool on);
void session_set_db(struct session *session, uint32_t db);
void session_set_protocol(struct session *session, uint8_t protocol);

/* Back to the state of a fresh connection (RESET): RESP2, database 0, no name, not authenticated if a password is set.
 */
void session_reset(struct session *session);

/* Is the default user open to everybody (no requirepass)? */
bool session_password_required(const struct session *session);

/* Compares in constant time with requirepass. */
bool session_password_matches(const struct session *session, struct bytes password);

/* Calls `each` for every session, oldest first, under the register's mutex. Stops when it returns false. */
void session_each(struct server *server, bool (*each)(void *context, struct session *session), void *context);

/* Marks another session for closing and wakes its worker; the register's mutex is held (from within session_each). */
void session_kill(struct session *session);

#endif
