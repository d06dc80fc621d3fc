#include "lib/base/mem.h"
#include "server/worker/worker_state.h"

static struct output_chunk *take_chunk(struct worker *worker, size_t size)
{
    struct worker_state *state = worker->state;
    size_t standard = OUTPUT_CHUNK - sizeof(struct output_chunk);
    struct output_chunk *chunk;
    if (size <= standard && state->spare) {
        chunk = state->spare;
        state->spare = chunk->next;
        state->spare_count--;
    } else {
        if (size < standard)
            size = standard;
        chunk = mem_try_alloc(sizeof(*chunk) + size);
        if (!chunk)
            return NULL;
        chunk->capacity = size;
    }
    chunk->next = NULL;
    chunk->size = 0;
    chunk->bytes = chunk->data;
    chunk->blob = NULL;
    return chunk;
}

static void give_chunks(struct worker *worker, struct output_chunk *chunk)
{
    struct worker_state *state = worker->state;
    while (chunk) {
        struct output_chunk *next = chunk->next;
        if (chunk->blob)
            blob_release(chunk->blob);
        if (chunk->capacity == OUTPUT_CHUNK - sizeof(*chunk) && state->spare_count < SPARE_CHUNKS) {
            chunk->next = state->spare;
            state->spare = chunk;
            state->spare_count++;
        } else {
            mem_free(chunk);
        }
        chunk = next;
    }
}

/* Notes how far the writer has come in the last chunk. */
static void settle(struct worker_client *client)
{
    struct output *output = &client->output;
    if (output->last && !output->last->blob)
        output->last->size = (size_t)(client->writer.at - output->last->data);
}

size_t output_unsent(const struct worker_client *client)
{
    const struct output *output = &client->output;
    const struct output_chunk *last = output->last;
    size_t filling = !last ? 0 : last->blob ? last->size : (size_t)(client->writer.at - last->data);
    return output->queued + filling + output->in_flight;
}

size_t output_pause_at(const struct worker *worker)
{
    return worker->state->unsent < OUTPUT_TOTAL ? OUTPUT_PAUSE : OUTPUT_PAUSE_TIGHT;
}

/* Brings the worker's sum up to date with this client. */
static void count_unsent(struct worker_client *client, size_t unsent)
{
    struct worker_state *state = client->session.worker->state;
    state->unsent = state->unsent - client->output.counted + unsent;
    client->output.counted = unsent;
    atomic_store_explicit(&client->session.output_size, unsent, memory_order_relaxed);
}

static bool within_limit(const struct worker_client *client, size_t more)
{
    int64_t limit = option_get(&client->session.worker->server->options.client_output_hard_limit);
    return limit == 0 || output_unsent(client) + more <= (size_t)limit;
}

static void append(struct worker_client *client, struct output_chunk *chunk)
{
    struct output *output = &client->output;
    settle(client);
    if (output->last) {
        output->queued += output->last->size;
        output->last->next = chunk;
    } else {
        output->first = chunk;
    }
    output->last = chunk;
    client->writer.at = chunk->data;
    client->writer.end = chunk->data + chunk->capacity;
}

static bool output_grow(struct resp_writer *writer, size_t size)
{
    struct worker_client *client = CONTAINER_OF(writer, struct worker_client, writer);
    struct output_chunk *chunk = within_limit(client, size) ? take_chunk(client->session.worker, size) : NULL;
    if (chunk)
        append(client, chunk);
    return chunk != NULL;
}

/* A chunk without room of its own: what is written next goes into another. */
static bool output_refer(struct resp_writer *writer, struct bytes bytes, void *owner)
{
    struct worker_client *client = CONTAINER_OF(writer, struct worker_client, writer);
    struct output_chunk *chunk = within_limit(client, bytes.size) ? mem_try_alloc(sizeof(*chunk)) : NULL;
    if (!chunk)
        return false;
    *chunk = (struct output_chunk){.size = bytes.size, .bytes = bytes.at, .blob = owner};
    blob_keep(chunk->blob);
    append(client, chunk);
    return true;
}

void output_init(struct worker_client *client)
{
    client->writer = (struct resp_writer){.grow = output_grow, .refer = output_refer, .protocol = 2};
    client->output = (struct output){0};
}

void output_deinit(struct worker_client *client)
{
    count_unsent(client, 0);
    give_chunks(client->session.worker, client->output.first);
    give_chunks(client->session.worker, client->output.sending);
    client->output = (struct output){0};
}

/* Cuts the chunks that go out in one send off the front of those filled. */
static struct output_chunk *cut(struct output *output, struct iovec *pieces, unsigned *count, size_t *bytes)
{
    struct output_chunk *first = output->first, *last = NULL;
    *count = 0;
    *bytes = 0;
    for (struct output_chunk *chunk = first; chunk && *count < LOOP_IOV_MAX; chunk = chunk->next) {
        if (chunk->size > 0) {
            pieces[*count] = (struct iovec){(void *)(uintptr_t)chunk->bytes, chunk->size};
            *bytes += chunk->size;
            ++*count;
        }
        last = chunk;
    }
    if (last) {
        output->first = last->next;
        last->next = NULL;
        if (!output->first)
            output->last = NULL;
    }
    return first;
}

void output_flush(struct worker_client *client)
{
    struct output *output = &client->output;
    struct worker *worker = client->session.worker;
    while (!client->closing && !output->sending && output->first) {
        settle(client);
        struct iovec pieces[LOOP_IOV_MAX];
        unsigned count;
        size_t bytes, total = output->queued + output->last->size;
        struct output_chunk *chunks = cut(output, pieces, &count, &bytes);
        output->queued = output->last ? total - bytes - output->last->size : 0;
        if (!output->last) {
            client->writer.at = NULL;
            client->writer.end = NULL;
        }
        if (count == 0) {
            give_chunks(worker, chunks);
            continue;
        }
        worker_count(&worker->counters.output_bytes, bytes);
        if (loop_conn_send(&client->session.conn, pieces, count) == LOOP_SEND_DONE) {
            give_chunks(worker, chunks);
        } else {
            output->sending = chunks;
            output->in_flight = bytes;
        }
    }
    count_unsent(client, output_unsent(client));
    if (client->ending && !output->sending && !output->first)
        client_close(client);
}

void output_sent(struct worker_client *client)
{
    give_chunks(client->session.worker, client->output.sending);
    client->output.sending = NULL;
    client->output.in_flight = 0;
    output_flush(client);
}
