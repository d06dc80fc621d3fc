/* lane.h - one client of the load: a connection, its place in the workload, and the requests it has outstanding.
 *
 * Owns:       the connection, an output buffer while a send is pending, the tail of an unfinished reply line.
 * Threads:    its load_thread's.
 * Invariants: outstanding <= pipeline; replies belong to requests in order. `thread->open` counts lanes between connect
 *             and released. A lane ends once, by lane_end.
 * Limits:     the ring of outstanding requests has exactly `pipeline` entries and is never enlarged. */
#ifndef KETCH_BENCH_CLIENT_LANE_H
#define KETCH_BENCH_CLIENT_LANE_H

#include "bench/stats/error_tally.h"
#include "bench/workload/workload.h"
#include "lib/loop/loop.h"
#include "lib/resp/reply.h"

struct load_thread;

enum lane_state {
    LANE_WAITING, /* for its turn to connect */
    LANE_CONNECTING,
    LANE_SETUP, /* AUTH, SELECT, HELLO are under way */
    LANE_UP,
    LANE_CLOSING, /* connects again once the old connection is released */
    LANE_ENDED
};

struct lane_request {
    int64_t sent_ns;
    uint32_t command;
};

/* Room for the requests of one send. */
struct lane_buffer {
    struct lane_buffer *next;
    uint8_t data[];
};

struct lane {
    struct loop_conn conn;
    struct load_thread *thread;
    struct lane_request *ring; /* pipeline entries */
    uint32_t ring_first, outstanding;
    uint8_t state; /* enum lane_state */
    bool open;     /* conn is the loop's */
    bool closing;  /* and on its way out */
    bool sending;
    uint64_t left;              /* requests still to send; UINT64_MAX: as long as time allows */
    uint64_t reconnect_left;    /* requests until the next reconnect */
    struct lane_buffer *buffer; /* while sending */
    struct workload_stream stream;
    struct loop_timer rate_timer;
    int64_t next_send_ns; /* rate limiting: when the next request may go */
    int64_t connect_ns;   /* when connecting began */
    uint32_t number;      /* of the client, over all threads */
    uint16_t setup_left;
    uint16_t attempts; /* addresses tried in vain */
    uint16_t address;
    struct lane *next_waiting;
    size_t reply_bytes; /* of the reply being parsed, in earlier pieces */
    struct buf tail;    /* what the parser wants to see again */
    struct resp_reply reply;
};

void lane_init(struct lane *lane, struct load_thread *thread, uint32_t number, struct lane_request *ring);
void lane_deinit(struct lane *lane);

/* Begins to connect; failures go to the tally. */
void lane_connect(struct lane *lane);

/* Measuring begins for a lane that is up. */
void lane_begin(struct lane *lane);

/* Sends what pipeline, rate and share allow. */
void lane_fill(struct lane *lane);

/* Counts the failure and what is lost by it, then ends the lane. */
void lane_fail(struct lane *lane, enum connection_error error, const char *detail);

/* Closes the connection if there is one. What is outstanding counts as unanswered. */
void lane_end(struct lane *lane);

#endif
