/* error_tally.h - what went wrong, by class: connections, error replies by their first word, work that was lost.
 *
 * Owns:       nothing.
 * Threads:    one writer; merged after the threads have ended.
 * Limits:     ERROR_WORDS_MAX different words, the rest are counted together. */
#ifndef KETCH_BENCH_STATS_ERROR_TALLY_H
#define KETCH_BENCH_STATS_ERROR_TALLY_H

#include "lib/base/bytes.h"

enum connection_error {
    CONNECTION_REFUSED,
    CONNECTION_TIMED_OUT,
    CONNECTION_UNREACHABLE,  /* no route, no such socket */
    CONNECTION_NO_RESOURCES, /* this machine's ports or descriptors ran out */
    CONNECTION_RESET,
    CONNECTION_CLOSED,   /* by the server */
    CONNECTION_REJECTED, /* an error reply to AUTH, SELECT or HELLO, or before any request */
    CONNECTION_PROTOCOL, /* bytes that are no reply, or a reply to nothing */
    CONNECTION_OTHER,
    CONNECTION_ERRORS
};

#define ERROR_WORDS_MAX 24
#define ERROR_WORD_SIZE 32

struct error_word {
    char word[ERROR_WORD_SIZE];
    uint64_t count;
};

struct error_tally {
    uint64_t connections[CONNECTION_ERRORS];
    struct error_word replies[ERROR_WORDS_MAX];
    unsigned reply_words;
    uint64_t replies_other; /* words past the table */
    uint64_t unanswered;    /* requests sent that got no reply */
    uint64_t unsent;        /* requests of a client's share that it could not send any more */
};

/* "connection refused" and so on: the report's name of a class. */
const char *connection_error_name(enum connection_error error);

/* The class of -errno; connecting tells whether the connection was still being made. */
enum connection_error connection_error_of(int error, bool connecting);

/* Counts an error reply; line is the reply's text without the "-". Returns true for the first of its word. */
bool error_tally_reply(struct error_tally *tally, const char *line);

void error_tally_add(struct error_tally *to, const struct error_tally *from);

uint64_t error_tally_connections(const struct error_tally *tally); /* sum over the classes */
uint64_t error_tally_replies(const struct error_tally *tally);     /* sum over the words */

/* Nothing failed and nothing was lost. */
bool error_tally_clean(const struct error_tally *tally);

#endif
