/* client.h - the worker's side of a session: what has come in unfinished, what has not gone out yet. Private to this
 * folder.
 *
 *   received chunk --parse--> batch of calls --run--> output chunks --send--> socket
 *        \--unfinished tail--> input
 *
 * Owns:       the session, its input and its output.
 * Threads:    the worker's.
 * Invariants: calls of a client in the batch point into its input or into chunks the batch keeps: neither is touched
 *             before the batch has run.
 * Limits:     input by client-query-buffer-limit; past OUTPUT_PAUSE unsent bytes (OUTPUT_PAUSE_TIGHT while all clients
 * of the worker have much unsent) nothing more is read from the client; output by client-output-hard-limit. */
#ifndef KETCH_SERVER_WORKER_CLIENT_H
#define KETCH_SERVER_WORKER_CLIENT_H

#include "lib/base/buf.h"
#include "server/worker/session.h"

#define OUTPUT_CHUNK (16u * 1024) /* bytes, head included */
/* Output of a client still being parsed that is worth a send of its own. */
#define OUTPUT_EAGER (64u * 1024)
#define OUTPUT_PAUSE (256u * 1024 * 1024)
/* What holds instead while a worker's clients together have more than OUTPUT_TOTAL unsent. */
#define OUTPUT_PAUSE_TIGHT (1024u * 1024)
#define OUTPUT_TOTAL (1024u * 1024 * 1024)

struct adoption; /* worker_state.h */

struct output_chunk {
    struct output_chunk *next;
    size_t size, capacity; /* bytes of data; capacity 0: the bytes are the blob's */
    const uint8_t *bytes;  /* data, or the blob's bytes */
    struct blob *blob;     /* held until the bytes are sent */
    uint8_t data[];
};

/* Chunks being filled; the writer points into the last. */
struct output {
    struct output_chunk *first, *last;
    struct output_chunk *sending; /* with the kernel */
    size_t queued;                /* bytes in full chunks that are not with the kernel */
    size_t in_flight;             /* bytes with the kernel */
    size_t counted;               /* bytes of this client in the worker's sum */
};

struct worker_client {
    struct session session;
    struct worker_client *previous, *next; /* of the worker's list */
    struct resp_writer writer;
    struct output output;
    struct buf input;             /* an unfinished request, or what waits while paused */
    struct resp_request *request; /* where parsing of `input` stands; NULL when there is none */
    uint32_t calls;               /* of this client in the batch */
    bool flush_listed;
    bool closing; /* loop_conn_close was called */
    bool ending;  /* close once the output is sent */
    bool broken;  /* protocol error: nothing more is parsed */
    bool paused;  /* not reading, too much output unsent */
};

/* A client for the connected socket; NULL with the socket closed when it could not be set up. */
struct worker_client *client_create(struct worker *worker, const struct adoption *adoption);

/* Closes the connection; the structure goes when the loop lets go of it. Idempotent. */
void client_close(struct worker_client *client);

/* Parses what stands in client->input as far as it goes and runs it. */
void client_parse_input(struct worker_client *client);

/* ---- output.c ---- */

void output_init(struct worker_client *client);
/* Frees everything, also what was with the kernel: only after `released`. */
void output_deinit(struct worker_client *client);
/* Hands what is written to the kernel, if nothing is there yet. */
void output_flush(struct worker_client *client);
/* The kernel has taken what it had. */
void output_sent(struct worker_client *client);
/* Unsent bytes of a client at which reading from it stops. */
size_t output_pause_at(const struct worker *worker);
/* Bytes not yet taken by the kernel. */
size_t output_unsent(const struct worker_client *client);

#endif
