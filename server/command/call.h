/* call.h - one running command: what a handler gets to see.
 *
 * Owns:       nothing.
 * Threads:    the worker that runs it.
 * Invariants: keys[] are the keys of the row in argument order, hashed, their slots locked. Data families use only the
 *             store side; the connection and server families also the session, which they know by its own header. */
#ifndef KETCH_SERVER_COMMAND_CALL_H
#define KETCH_SERVER_COMMAND_CALL_H

#include "lib/resp/writer.h"
#include "server/command/command.h"
#include "server/store/store.h"

struct session; /* server/worker/session.h */
struct server;  /* server/worker/server.h */
struct worker;  /* server/worker/worker.h */

struct call {
    const struct command_entry *entry;
    const struct bytes *argv;
    uint32_t argc;
    uint32_t key_count;
    struct key *keys;
    struct resp_writer *reply;
    struct store_user *store;
    struct server *server;
    struct worker *worker;
    struct session *session;
    struct random *random; /* the worker's */
    uint32_t db;
    int64_t now_ms;       /* real time, read once a batch: the same for all commands of a transaction */
    uint64_t string_max;  /* bytes that APPEND and the like may let a string grow to: proto-max-bulk-len */
    uint64_t error_count; /* replies that were errors, counted by call_error */
    char error_code[32];  /* first word of the last of them, for worker_count_error; valid when error_count > 0 */
};

/* Writes an error reply ("ERR ..." in full) and counts it for the command's failed calls. Returns OUTCOME_DONE, so that
 * a handler can end with `return call_error(call, ...)`. */
enum outcome call_error(struct call *call, const char *text);
enum outcome call_errorf(struct call *call, const char *format, ...) PRINTF_LIKE(2, 3);

/* The errors everybody needs. */
enum outcome call_syntax_error(struct call *call);  /* ERR syntax error */
enum outcome call_not_integer(struct call *call);   /* ERR value is not an integer or out of range */
enum outcome call_wrong_type(struct call *call);    /* WRONGTYPE ... */
enum outcome call_out_of_memory(struct call *call); /* when store functions return -ENOMEM */
enum outcome call_wrong_arity(struct call *call);   /* ERR wrong number of arguments for 'get' command */
/* ERR unknown subcommand 'x'. Try CLIENT HELP. */
enum outcome call_unknown_subcommand(struct call *call);

/* Argument as an integer, or false after writing call_not_integer. */
MUST_USE bool call_integer(struct call *call, uint32_t at, int64_t *value);

/* True when the argument is that word, in any case. */
static inline bool call_is(const struct call *call, uint32_t at, const char *word)
{
    return bytes_is(call->argv[at], word);
}

/* Writes the array of simple strings that HELP subcommands answer: `lines` is NULL-terminated; the first and last lines
 * that Redis adds are added here ("CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:", "HELP", ...). */
enum outcome call_help(struct call *call, const char *const *lines);

#endif
