#include "server/worker/client.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "server/worker/session_register.h"
#include "server/worker/worker_state.h"

#include <unistd.h>

/* Room made at once for a request that announces a large argument. */
#define LARGE_STEP (256u * 1024)

static struct worker_client *of_conn(struct loop_conn *conn)
{
    return CONTAINER_OF(conn, struct worker_client, session.conn);
}

static void read_limits(const struct worker_client *client, struct resp_limits *limits)
{
    const struct worker_options *options = &client->session.worker->server->options;
    bool authenticated = session_is(&client->session, SESSION_AUTHENTICATED);
    limits->authenticated = authenticated;
    limits->bulk_max = authenticated ? option_get(&options->proto_max_bulk_len) : 16384;
    limits->multibulk_max = authenticated ? 1024 * 1024 : 10;
    limits->inline_max = 65536;
}

/* ---- parsing ---- */

static void note_input(struct worker_client *client)
{
    atomic_store_explicit(&client->session.input_size, client->input.size, memory_order_relaxed);
    atomic_store_explicit(&client->session.input_free, client->input.capacity - client->input.size,
                          memory_order_relaxed);
}

static void end_input(struct worker_client *client)
{
    buf_deinit(&client->input);
    note_input(client);
}

/* Appends to the unfinished input. False when it is over its limit: the client is then being closed. */
static bool keep_input(struct worker_client *client, struct bytes bytes)
{
    struct worker *worker = client->session.worker;
    client->input.limit = (size_t)option_get(&worker->server->options.client_query_buffer_limit);
    if (buf_append_bytes(&client->input, bytes) < 0) {
        client_close(client);
        return false;
    }
    note_input(client);
    return true;
}

static bool must_wait(const struct worker_client *client)
{
    return client->closing || client->broken || client->ending || client->paused;
}

/* Parses the requests that lie whole in the input into the batch; returns the bytes taken. */
static size_t parse_whole(struct worker_client *client, struct bytes input)
{
    struct worker *worker = client->session.worker;
    struct worker_state *state = worker->state;
    struct batch *batch = &state->batch;
    struct resp_limits limits;
    size_t done = 0;
    read_limits(client, &limits);
    while (done < input.size && !must_wait(client)) {
        struct bytes *room = batch->arguments + batch->arguments_used;
        resp_request_lend(&state->request, room, BATCH_ARGUMENTS - batch->arguments_used);
        enum resp_status status =
            resp_request_parse(&state->request, bytes_make(input.at + done, input.size - done), &limits);
        if (status == RESP_MORE) {
            /* What it has so far stands in the batch's array, which others will use: begin again in the client's. */
            resp_request_deinit(&state->request);
            resp_request_init(&state->request, NULL, 0);
            break;
        }
        if (status == RESP_BAD) {
            batch_add_protocol_error(worker, client, state->request.error);
            resp_request_deinit(&state->request);
            resp_request_init(&state->request, NULL, 0);
            break;
        }
        done += state->request.consumed;
        if (state->request.argc == 0)
            continue;
        bool was_authenticated = limits.authenticated;
        bool own = state->request.argv != room;
        batch_add(worker, client, &state->request);
        if (own || !was_authenticated) {
            /* An array of the parser's own is used again; a password may change the limits. */
            batch_run(worker);
            read_limits(client, &limits);
        }
    }
    return done;
}

static void drop_request(struct worker_client *client)
{
    if (client->request) {
        resp_request_deinit(client->request);
        mem_free(client->request);
        client->request = NULL;
    }
}

/* Starts parsing the unfinished request at the front of the input in the client's own state, which says how much is
 * missing. */
static void start_unfinished(struct worker_client *client)
{
    struct resp_limits limits;
    read_limits(client, &limits);
    client->request = mem_alloc(sizeof(*client->request));
    resp_request_init(client->request, NULL, 0);
    if (resp_request_parse(client->request, buf_bytes(&client->input), &limits) != RESP_MORE) {
        /* Not unfinished after all (the limits changed): it is parsed anew with what comes next. */
        drop_request(client);
        return;
    }
    /* A large bulk grows from here by doubling: what is only announced takes no memory. */
    if (client->request->large_bulk > 0 && buf_reserve(&client->input, LARGE_STEP) < 0)
        log_write(LOG_VERBOSE, "No memory to read ahead for a large argument");
}

/* What of the input has been taken is dropped; the rest waits for more. */
static void settle_input(struct worker_client *client, size_t done)
{
    drop_request(client);
    if (client->closing || client->broken || client->ending || done == client->input.size) {
        end_input(client);
        return;
    }
    buf_consume(&client->input, done);
    if (!client->paused)
        start_unfinished(client);
    note_input(client);
}

void client_parse_input(struct worker_client *client)
{
    struct worker *worker = client->session.worker;
    size_t done = 0;
    if (client->request) {
        struct resp_limits limits;
        read_limits(client, &limits);
        if (client->input.size < client->request->needed)
            return;
        switch (resp_request_parse(client->request, buf_bytes(&client->input), &limits)) {
        case RESP_MORE:
            return;
        case RESP_BAD:
            batch_add_protocol_error(worker, client, client->request->error);
            break;
        case RESP_OK:
            done = client->request->consumed;
            if (client->request->argc > 0)
                batch_add(worker, client, client->request);
            break;
        }
    }
    if (!session_is(&client->session, SESSION_AUTHENTICATED))
        batch_run(worker);
    worker->state->batch.parsing = client;
    done += parse_whole(client, bytes_make(client->input.data + done, client->input.size - done));
    worker->state->batch.parsing = NULL;
    /* The calls point into the input: they run before it moves. */
    batch_run(worker);
    settle_input(client, done);
}

static void client_received(struct loop_conn *conn, struct loop_chunk *chunk)
{
    struct worker_client *client = of_conn(conn);
    struct worker *worker = client->session.worker;
    struct bytes input = bytes_make(chunk->data, chunk->size);
    worker_count(&worker->counters.input_bytes, chunk->size);
    if (client->broken || client->ending || client->closing) {
        loop_chunk_release(worker->loop, chunk);
        return;
    }
    if (client->input.size > 0 || client->paused) {
        bool kept = keep_input(client, input);
        loop_chunk_release(worker->loop, chunk);
        if (kept && !client->paused)
            client_parse_input(client);
        return;
    }
    worker->state->batch.parsing = client;
    size_t done = parse_whole(client, input);
    worker->state->batch.parsing = NULL;
    if (done < input.size && !client->closing && !client->broken && !client->ending &&
        keep_input(client, bytes_make(input.at + done, input.size - done)) && !client->paused)
        start_unfinished(client);
    batch_keep(worker, chunk);
}

/* ---- life ---- */

static void client_sent(struct loop_conn *conn)
{
    struct worker_client *client = of_conn(conn);
    output_sent(client);
    if (client->paused && !client->closing && output_unsent(client) < output_pause_at(client->session.worker) / 2) {
        client->paused = false;
        if (client->input.size > 0)
            client_parse_input(client);
        if (!client->closing && !client->paused)
            loop_conn_resume(&client->session.conn);
    }
}

static void client_closed(struct loop_conn *conn, int error)
{
    struct worker_client *client = of_conn(conn);
    (void)error;
    /* What was received before the end is still carried out and, where the peer reads on, answered. */
    if (client->calls > 0)
        batch_run(client->session.worker);
    client_close(client);
}

static void client_released(struct loop_conn *conn)
{
    struct worker_client *client = of_conn(conn);
    struct worker *worker = client->session.worker;
    atomic_fetch_sub_explicit(&worker->assigned, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&worker->state->unreleased, 1, memory_order_relaxed);
    output_deinit(client);
    drop_request(client);
    end_input(client);
    mutex_deinit(&client->session.mutex);
    mem_free(client);
}

static const struct loop_conn_handler client_handler = {
    .received = client_received,
    .sent = client_sent,
    .closed = client_closed,
    .released = client_released,
};

struct worker_client *client_create(struct worker *worker, const struct adoption *adoption)
{
    int fd = adoption->fd;
    struct worker_client *client = mem_alloc_zeroed(sizeof(*client));
    struct session *session = &client->session;
    session->worker = worker;
    buf_init(&client->input, 0);
    output_init(client);
    mutex_init(&session->mutex, MUTEX_RANK_CLIENT);
    session->id = adoption->id;
    session_begin(session, fd, adoption->is_unix);
    if (loop_conn_open(worker->loop, &session->conn, &client_handler, fd) < 0) {
        session_end(session);
        mutex_deinit(&session->mutex);
        close(fd);
        mem_free(client);
        return NULL;
    }
    atomic_fetch_add_explicit(&worker->state->unreleased, 1, memory_order_relaxed);
    client->next = worker->state->clients;
    if (client->next)
        client->next->previous = client;
    worker->state->clients = client;
    return client;
}

void client_close(struct worker_client *client)
{
    struct worker *worker = client->session.worker;
    if (client->closing)
        return;
    client->closing = true;
    batch_forget(worker, client);
    if (client->previous)
        client->previous->next = client->next;
    else
        worker->state->clients = client->next;
    if (client->next)
        client->next->previous = client->previous;
    session_end(&client->session);
    loop_conn_close(&client->session.conn);
}
