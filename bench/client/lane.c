#include "bench/client/lane.h"

#include "bench/client/load_thread.h"
#include "lib/base/clock.h"
#include "lib/base/mem.h"

#include <errno.h>
#include <stdio.h>

#define TAIL_BYTES_MAX (2u << 20) /* the parser's longest line, with room */
#define RATE_CATCH_UP_NS 100000000

void lane_init(struct lane *lane, struct load_thread *thread, uint32_t number, struct lane_request *ring)
{
    const struct load_options *options = thread->options;
    *lane = (struct lane){.thread = thread, .ring = ring, .number = number};
    lane->address = (uint16_t)(number % thread->target->address_count);
    lane->left = options->requests > 0 ? options->requests : UINT64_MAX;
    lane->reconnect_left = options->reconnect_interval > 0 ? options->reconnect_interval : UINT64_MAX;
    uint64_t clients = (uint64_t)options->threads * options->clients;
    workload_stream_init(&lane->stream, thread->workload, number, clients);
    if (options->all_keys) {
        const struct key_space *space = &thread->workload->space;
        uint64_t low = space->min, high = space->max;
        bool shared = thread->workload->options.set_letter == 'P';
        uint64_t keys = shared ? key_space_share(space, number, clients, &low, &high) : high - low + 1;
        lane->left = keys;
    }
    buf_init(&lane->tail, TAIL_BYTES_MAX);
}

void lane_deinit(struct lane *lane)
{
    buf_deinit(&lane->tail);
}

/* ---- the end of a connection ------------------------------------------------------------------------------------- */

static void lane_close(struct lane *lane)
{
    loop_timer_stop(lane->thread->loop, &lane->rate_timer);
    if (!lane->open || lane->closing)
        return;
    lane->closing = true;
    /* A reset instead of TIME_WAIT: many runs in a row must not use up the ports. Nothing unread is of interest. */
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(lane->conn.fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    loop_conn_close(&lane->conn);
}

static void lane_unanswered(struct lane *lane)
{
    lane->thread->recorder.errors.unanswered += lane->outstanding;
    lane->outstanding = 0;
}

void lane_end(struct lane *lane)
{
    if (lane->state == LANE_ENDED)
        return;
    bool settling = lane->state == LANE_CONNECTING || lane->state == LANE_SETUP;
    lane->state = LANE_ENDED;
    lane_unanswered(lane);
    lane_close(lane);
    if (settling)
        load_thread_settled(lane->thread);
    load_thread_lane_ended(lane->thread);
}

void lane_fail(struct lane *lane, enum connection_error error, const char *detail)
{
    if (lane->state == LANE_ENDED)
        return;
    struct load_thread *thread = lane->thread;
    thread->recorder.errors.connections[error]++;
    atomic_store_explicit(&thread->live.connection_errors, error_tally_connections(&thread->recorder.errors),
                          memory_order_relaxed);
    /* A share that was to be sent and now is not; of a run by time nobody knows how many it would have been. */
    if (lane->left != UINT64_MAX && thread->phase < LOAD_DRAINING)
        thread->recorder.errors.unsent += lane->left;
    load_thread_note(thread, "%s: %s%s%s", thread->target->addresses[lane->address].text, connection_error_name(error),
                     detail ? ": " : "", detail ? detail : "");
    lane_end(lane);
}

/* Closes in order to connect again. */
static void lane_reopen(struct lane *lane)
{
    bool settling = lane->state == LANE_CONNECTING || lane->state == LANE_SETUP;
    lane->state = LANE_CLOSING;
    lane_close(lane);
    if (settling)
        load_thread_settled(lane->thread);
}

static void on_released(struct loop_conn *conn)
{
    struct lane *lane = CONTAINER_OF(conn, struct lane, conn);
    struct load_thread *thread = lane->thread;
    lane->open = lane->closing = lane->sending = false;
    thread->open--;
    if (lane->buffer) {
        load_thread_buffer_give(thread, lane->buffer);
        lane->buffer = NULL;
    }
    if (lane->state == LANE_CLOSING) {
        lane->state = LANE_WAITING;
        load_thread_enqueue(thread, lane);
    }
}

static void on_closed(struct loop_conn *conn, int error)
{
    struct lane *lane = CONTAINER_OF(conn, struct lane, conn);
    if (lane->state == LANE_CLOSING || lane->state == LANE_ENDED)
        return;
    lane_fail(lane, connection_error_of(error, false), NULL);
}

/* ---- connecting -------------------------------------------------------------------------------------------------- */

static void lane_up(struct lane *lane)
{
    struct load_thread *thread = lane->thread;
    lane->state = LANE_UP;
    lane->attempts = 0;
    thread->progress_ns = clock_monotonic_ns();
    load_thread_settled(thread);
    if (thread->phase == LOAD_RUNNING)
        lane_fill(lane);
    else if (thread->phase >= LOAD_DRAINING)
        lane_end(lane);
}

static void connect_failed(struct lane *lane, int error)
{
    const struct target *target = lane->thread->target;
    /* The next of the host's addresses, as long as there are some that were not tried. */
    if (++lane->attempts < target->address_count && lane->thread->phase < LOAD_DRAINING) {
        lane->address = (uint16_t)((lane->address + 1u) % target->address_count);
        if (lane->open) {
            lane_reopen(lane);
        } else {
            lane->state = LANE_WAITING;
            load_thread_settled(lane->thread);
            load_thread_enqueue(lane->thread, lane);
        }
        return;
    }
    lane_fail(lane, connection_error_of(error, true), strerror(-error));
}

static void on_connected(struct loop_conn *conn, int error)
{
    struct lane *lane = CONTAINER_OF(conn, struct lane, conn);
    const struct target *target = lane->thread->target;
    if (lane->state != LANE_CONNECTING)
        return;
    if (error == -EAGAIN && lane->thread->phase < LOAD_DRAINING) {
        lane_reopen(lane); /* a UNIX socket whose backlog is full, as in lane_connect */
        return;
    }
    if (error < 0) {
        connect_failed(lane, error);
        return;
    }
    lane->setup_left = (uint16_t)target->setup_replies;
    if (lane->setup_left == 0) {
        lane_up(lane);
        return;
    }
    lane->state = LANE_SETUP;
    struct iovec piece = {.iov_base = target->setup.data, .iov_len = target->setup.size};
    lane->sending = loop_conn_send(&lane->conn, &piece, 1) == LOOP_SEND_PENDING;
}

/* ---- replies ----------------------------------------------------------------------------------------------------- */

static void error_reply(struct lane *lane)
{
    struct load_thread *thread = lane->thread;
    const char *line = lane->reply.line;
    if (*line == '-')
        line++;
    if (error_tally_reply(&thread->recorder.errors, line) || thread->control->verbose)
        load_thread_note(thread, "server %s handle error response: -%s", thread->target->addresses[lane->address].text,
                         line);
}

/* A reply before the run, or to nothing. False when the lane has ended. */
static bool other_reply(struct lane *lane)
{
    if (lane->reply.type == RESP_PUSH)
        return true;
    if (lane->reply.type == RESP_ERROR) {
        error_reply(lane);
        lane_fail(lane, CONNECTION_REJECTED, NULL);
        return false;
    }
    if (lane->state != LANE_SETUP) {
        lane_fail(lane, CONNECTION_PROTOCOL, "a reply that nobody asked for");
        return false;
    }
    if (--lane->setup_left == 0)
        lane_up(lane);
    return lane->state != LANE_ENDED;
}

/* An index into the ring, from one that may be up to a round too far. */
static inline uint32_t ring_at(const struct lane *lane, uint32_t index)
{
    uint32_t pipeline = lane->thread->options->pipeline;
    return index < pipeline ? index : index - pipeline;
}

static inline enum reply_kind kind_of(struct lane *lane, unsigned command)
{
    if (UNLIKELY(lane->reply.type == RESP_ERROR)) {
        error_reply(lane);
        return REPLY_ERROR;
    }
    if (!lane->thread->workload->commands[command].reads_key)
        return REPLY_PLAIN;
    return lane->reply.type == RESP_NULL ? REPLY_MISS : REPLY_HIT;
}

/* One complete reply of `size` bytes. False when the lane has ended. */
static inline bool reply_complete(struct lane *lane, size_t size, int64_t now_ns)
{
    if (UNLIKELY(lane->outstanding == 0 || lane->reply.type == RESP_PUSH))
        return other_reply(lane);
    struct load_thread *thread = lane->thread;
    const struct lane_request *request = &lane->ring[lane->ring_first];
    enum reply_kind kind = kind_of(lane, request->command);
    recorder_received(&thread->recorder, request->command, kind, size, now_ns - request->sent_ns);
    lane->ring_first = ring_at(lane, lane->ring_first + 1);
    lane->outstanding--;
    return true;
}

/* Takes all whole replies off the input; what the parser wants to see again is left in *input. False when the lane has
 * ended. */
static bool replies_parse(struct lane *lane, struct bytes *input, int64_t now_ns)
{
    while (input->size > 0) {
        enum resp_status status = resp_reply_parse(&lane->reply, *input);
        if (UNLIKELY(status == RESP_BAD)) {
            lane_fail(lane, CONNECTION_PROTOCOL, "not a Redis reply");
            return false;
        }
        size_t taken = lane->reply.consumed;
        *input = bytes_make(input->at + taken, input->size - taken);
        if (status == RESP_MORE) {
            lane->reply_bytes += taken;
            return true;
        }
        size_t size = lane->reply_bytes + taken;
        lane->reply_bytes = 0;
        bool goes_on = reply_complete(lane, size, now_ns);
        resp_reply_reset(&lane->reply);
        if (UNLIKELY(!goes_on))
            return false;
    }
    return true;
}

/* The input continues what was left over last time. */
static bool replies_parse_tail(struct lane *lane, struct bytes input, int64_t now_ns)
{
    if (buf_append_bytes(&lane->tail, input) < 0) {
        lane_fail(lane, CONNECTION_PROTOCOL, "a reply line too long");
        return false;
    }
    struct bytes all = buf_bytes(&lane->tail);
    if (!replies_parse(lane, &all, now_ns))
        return false;
    buf_consume(&lane->tail, lane->tail.size - all.size);
    if (lane->tail.size == 0)
        buf_deinit(&lane->tail);
    return true;
}

/* After replies: whatever they made possible. */
static void lane_continue(struct lane *lane)
{
    if (lane->state != LANE_UP)
        return;
    enum load_phase phase = lane->thread->phase;
    if (phase == LOAD_RUNNING)
        lane_fill(lane);
    else if (phase == LOAD_DRAINING && lane->outstanding == 0)
        lane_end(lane);
}

static void on_received(struct loop_conn *conn, struct loop_chunk *chunk)
{
    struct lane *lane = CONTAINER_OF(conn, struct lane, conn);
    struct load_thread *thread = lane->thread;
    if (UNLIKELY(lane->state == LANE_ENDED || lane->state == LANE_CLOSING)) {
        loop_chunk_release(thread->loop, chunk);
        return;
    }
    int64_t now_ns = clock_monotonic_ns();
    recorder_tick(&thread->recorder, now_ns);
    thread->recorder.last_reply_ns = now_ns;
    struct bytes input = bytes_make(chunk->data, chunk->size);
    bool goes_on;
    if (LIKELY(lane->tail.size == 0)) {
        goes_on = replies_parse(lane, &input, now_ns);
        if (UNLIKELY(goes_on && input.size > 0))
            goes_on = replies_parse_tail(lane, input, now_ns);
    } else {
        goes_on = replies_parse_tail(lane, input, now_ns);
    }
    loop_chunk_release(thread->loop, chunk);
    if (LIKELY(goes_on))
        lane_continue(lane);
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* Requests the rate allows now; starts the timer when it allows none. */
static uint64_t rate_allows(struct lane *lane, int64_t now_ns)
{
    struct load_thread *thread = lane->thread;
    if (now_ns < lane->next_send_ns) {
        loop_timer_start(thread->loop, &lane->rate_timer, lane->next_send_ns);
        return 0;
    }
    /* Turns that could not be used are lost, but for those of a moment: timers and replies are not exact. */
    if (now_ns - lane->next_send_ns > RATE_CATCH_UP_NS)
        lane->next_send_ns = now_ns - RATE_CATCH_UP_NS;
    double due = (double)(now_ns - lane->next_send_ns) * (double)thread->options->rate / 1e9;
    return (uint64_t)due + 1;
}

static void rate_expired(struct loop_timer *timer)
{
    lane_continue(CONTAINER_OF(timer, struct lane, rate_timer));
}

/* How many requests may be sent now. */
static uint32_t budget(struct lane *lane)
{
    const struct load_options *options = lane->thread->options;
    uint64_t allowed = options->pipeline - lane->outstanding;
    if (lane->left < allowed)
        allowed = lane->left;
    if (lane->reconnect_left < allowed)
        allowed = lane->reconnect_left;
    if (UNLIKELY(options->rate > 0) && allowed > 0) {
        uint64_t due = rate_allows(lane, clock_monotonic_ns());
        if (due < allowed)
            allowed = due;
    }
    return (uint32_t)allowed;
}

/* Writes up to `count` requests into the batch, as many as fit; returns how many. */
static uint32_t gather(struct lane *lane, struct request_batch *batch, uint32_t count)
{
    struct load_thread *thread = lane->thread;
    uint32_t first = ring_at(lane, lane->ring_first + lane->outstanding), at = first, added = 0;
    for (; added < count; added++) {
        size_t size;
        int command = workload_next(thread->workload, &lane->stream, batch, &size);
        if (command < 0)
            break;
        lane->ring[at].command = (uint32_t)command;
        at = ring_at(lane, at + 1);
        recorder_sent(&thread->recorder, (unsigned)command, size);
    }
    request_batch_close(batch);
    int64_t now_ns = clock_monotonic_ns();
    at = first;
    for (uint32_t i = 0; i < added; i++) {
        lane->ring[at].sent_ns = now_ns;
        at = ring_at(lane, at + 1);
    }
    return added;
}

static void account(struct lane *lane, uint32_t added)
{
    const struct load_options *options = lane->thread->options;
    lane->outstanding += added;
    if (lane->left != UINT64_MAX)
        lane->left -= added;
    if (options->reconnect_interval > 0)
        lane->reconnect_left -= added;
    if (options->rate > 0)
        lane->next_send_ns += (int64_t)((double)added * 1e9 / (double)options->rate);
}

/* Nothing more to send on this connection and nothing outstanding. */
static void lane_exhausted(struct lane *lane)
{
    if (lane->left == 0) {
        lane_end(lane);
    } else if (lane->reconnect_left == 0) {
        lane->reconnect_left = lane->thread->options->reconnect_interval;
        lane_reopen(lane);
    }
}

void lane_fill(struct lane *lane)
{
    struct load_thread *thread = lane->thread;
    while (!lane->sending) {
        uint32_t count = budget(lane);
        if (count == 0) {
            if (lane->outstanding == 0)
                lane_exhausted(lane);
            return;
        }
        struct lane_buffer *buffer = load_thread_buffer_take(thread);
        struct request_batch batch;
        request_batch_init(&batch, buffer->data, thread->buffer_size);
        account(lane, gather(lane, &batch, count));
        if (loop_conn_send(&lane->conn, batch.pieces, batch.count) == LOOP_SEND_PENDING) {
            lane->buffer = buffer;
            lane->sending = true;
            return;
        }
        load_thread_buffer_give(thread, buffer);
    }
}

static void on_sent(struct loop_conn *conn)
{
    struct lane *lane = CONTAINER_OF(conn, struct lane, conn);
    lane->sending = false;
    if (lane->buffer) {
        load_thread_buffer_give(lane->thread, lane->buffer);
        lane->buffer = NULL;
    }
    if (lane->state == LANE_UP && lane->thread->phase == LOAD_RUNNING)
        lane_fill(lane);
}

void lane_begin(struct lane *lane)
{
    const struct load_options *options = lane->thread->options;
    int64_t start_ns = lane->thread->recorder.start_ns;
    lane->next_send_ns = start_ns;
    if (options->rate > 0) {
        /* Spread over one interval, so that not all connections send at once. */
        double clients = (double)options->threads * options->clients;
        lane->next_send_ns += (int64_t)(1e9 / (double)options->rate * lane->number / clients);
        lane->rate_timer.expired = rate_expired;
    }
    lane_fill(lane);
}

static const struct loop_conn_handler lane_handler = {
    .connected = on_connected,
    .received = on_received,
    .sent = on_sent,
    .closed = on_closed,
    .released = on_released,
};

void lane_connect(struct lane *lane)
{
    struct load_thread *thread = lane->thread;
    const struct target_address *address = &thread->target->addresses[lane->address];
    lane->state = LANE_CONNECTING;
    lane->connect_ns = clock_monotonic_ns();
    lane->sending = false;
    lane->reply_bytes = 0;
    resp_reply_reset(&lane->reply);
    buf_deinit(&lane->tail);
    thread->connecting++;
    int error = loop_conn_connect(thread->loop, &lane->conn, &lane_handler, (const struct sockaddr *)&address->address,
                                  address->size);
    if (error == 0) {
        lane->open = true;
        thread->open++;
    } else if (error == -EAGAIN) {
        /* A UNIX socket whose backlog is full: again in a moment, until connecting as a whole takes too long. */
        lane->state = LANE_WAITING;
        load_thread_settled(thread);
        load_thread_enqueue(thread, lane);
    } else {
        connect_failed(lane, error);
    }
}
