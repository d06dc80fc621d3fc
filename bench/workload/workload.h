/* workload.h - what is asked of the server: a table of commands, how often each comes, and each client's place in it.
 *
 * Owns:       templates and payload. A stream belongs to one client and is a few numbers.
 * Threads:    a workload is read-only after workload_init and shared by all threads.
 * Invariants: a stream draws nothing unless the request fits into the batch, so that nothing is skipped. */
#ifndef KETCH_BENCH_WORKLOAD_WORKLOAD_H
#define KETCH_BENCH_WORKLOAD_WORKLOAD_H

#include "bench/workload/key_pattern.h"
#include "bench/workload/payload.h"
#include "bench/workload/request_template.h"

#define WORKLOAD_COMMANDS_MAX 2

struct workload_options {
    const char *key_prefix;
    uint64_t key_min, key_max;
    char set_letter, get_letter;
    double key_median, key_stddev, key_zipf_exponent; /* 0: not given */
    uint64_t set_ratio, get_ratio;
    size_t data_size; /* bytes */
    bool random_data;
    uint32_t expiry_min, expiry_max; /* seconds; both 0: no expiry */
    uint64_t seed;
    bool distinct_seeds;
};

struct workload_command {
    const char *name; /* "SET" */
    const char *row;  /* "Sets" */
    char letter;
    uint64_t ratio; /* requests in a row; 0: never */
    bool reads_key; /* a null is a miss, anything else a hit */
    bool expires;
    struct request_template request;
    struct request_template expiring; /* when `expires`, for draws other than 0 */
};

struct workload {
    struct workload_options options;
    struct key_space space;
    struct payload payload;
    struct workload_command commands[WORKLOAD_COMMANDS_MAX];
    unsigned command_count;
    size_t request_copied_max; /* bytes of room the largest request needs */
};

/* One client's place. */
struct workload_stream {
    struct random random;
    struct key_cursor cursors[WORKLOAD_COMMANDS_MAX];
    unsigned command;
    uint64_t row_left; /* of this command, before the next has its turn */
    uint64_t values;   /* handed out so far */
};

/* Options must have been checked: min <= max, one ratio above 0, letters valid. 0 or -ENOMEM. */
MUST_USE int workload_init(struct workload *workload, const struct workload_options *options);
void workload_deinit(struct workload *workload);

/* Client `client` of `clients`, counted over all threads. */
void workload_stream_init(struct workload_stream *stream, const struct workload *workload, uint64_t client,
                          uint64_t clients);

/* Adds the stream's next request to the batch. Returns its command's index and its size in *size; -1 when it does not
 * fit, and then nothing has changed. A batch with room for request_copied_max bytes and no piece always fits one. */
int workload_next(const struct workload *workload, struct workload_stream *stream, struct request_batch *batch,
                  size_t *size);

#endif
