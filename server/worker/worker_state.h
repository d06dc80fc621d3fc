/* worker_state.h - what a worker keeps to itself: mail, the batch being gathered, spare output chunks. Private to this
 * folder.
 *
 * Limits:     BATCH_CALLS calls and BATCH_ARGUMENTS arguments a batch; SPARE_CHUNKS output chunks kept. */
#ifndef KETCH_SERVER_WORKER_WORKER_STATE_H
#define KETCH_SERVER_WORKER_WORKER_STATE_H

#include "server/worker/client.h"

#define BATCH_CALLS 32u
#define BATCH_ARGUMENTS 512u
#define BATCH_CLIENTS 64u
#define SPARE_CHUNKS 64u

/* One parsed request waiting to run. */
struct batch_call {
    struct worker_client *client;
    const struct command_entry *entry; /* NULL: unknown command, or a protocol error */
    const struct bytes *argv;
    uint32_t argc;
    bool hashed; /* `key` is set: the command's first key */
    struct key key;
    const char *protocol_error; /* instead of a request */
};

struct batch {
    struct batch_call calls[BATCH_CALLS];
    uint32_t count;
    struct bytes arguments[BATCH_ARGUMENTS];
    uint32_t arguments_used;
    struct loop_chunk *chunks;                  /* received bytes that the calls point into */
    struct worker_client *flush[BATCH_CLIENTS]; /* clients with output to send */
    uint32_t flush_count;
    struct worker_client *parsing; /* more of its pipeline is coming: not flushed yet */
    bool running;
    char protocol_error[64];
};

/* A socket handed over by another thread. */
struct adoption {
    struct adoption *next;
    uint64_t id; /* of the session to be */
    int fd;
    bool is_unix;
};

struct worker_state {
    struct worker *worker;
    pthread_t thread;
    _Atomic uint32_t unreleased; /* clients whose connection the loop still holds */
    struct mutex mutex;          /* rank INBOX: guards adoptions */
    struct adoption *adoptions, **adoptions_end;
    _Atomic bool poked, stopping;
    struct worker_client *clients;
    struct batch batch;
    struct resp_request request; /* for requests that lie whole in a received chunk */
    size_t unsent;               /* bytes of all clients' replies not yet with the kernel, or not taken by it */
    struct output_chunk *spare;
    uint32_t spare_count;
    struct loop_timer expire_timer, idle_timer;
    /* Scratch of commands with several keys. */
    uint32_t *positions;
    struct key *keys;
    uint16_t *slots;
    uint32_t key_capacity;
};

/* ---- batch.c ---- */

/* Appends a request; runs the batch when it is full. */
void batch_add(struct worker *worker, struct worker_client *client, const struct resp_request *request);
void batch_add_protocol_error(struct worker *worker, struct worker_client *client, const char *error);
/* Keeps the chunk until the batch has run. */
void batch_keep(struct worker *worker, struct loop_chunk *chunk);
/* Runs everything, sends what clients are due. */
void batch_run(struct worker *worker);
/* Puts the client on the list of those to flush after the next run. */
void batch_will_flush(struct worker *worker, struct worker_client *client);
/* Forgets the client (it is being closed). */
void batch_forget(struct worker *worker, struct worker_client *client);

/* ---- executor.c ---- */

/* Runs one call; `held` is the slot kept locked from the call before, or HELD_NONE, and is updated. */
#define HELD_NONE UINT32_MAX
void executor_run(struct worker *worker, struct batch_call *call, int64_t now_ms, uint32_t *held);
/* Lets go of the slot kept. */
void executor_release(struct worker *worker, uint32_t *held);
/* Finds the command and, for one whose first key has a fixed place, hashes it. */
void executor_prepare(struct worker *worker, struct batch_call *call);

#endif
