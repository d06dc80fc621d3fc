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
    return chunk;
}

static void give_chunks(struct worker *worker, struct output_chunk *chunk)
{
    struct worker_state *state = worker->state;
    while (chunk) {
        struct output_chunk *next = chunk->next;
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
    if (output->last && client->writer.at)
        output->last->size = (size_t)(client->writer.at - output->last->data);
}

size_t output_unsent(const struct worker_client *client)
{
    const struct output *output = &client->output;
    size_t filling = output->last && client->writer.at ? (size_t)(client->writer.at - output->last->data) : 0;
    return output->queued + filling + output->in_flight;
}

static bool output_grow(struct resp_writer *writer, size_t size)
{
    struct worker_client *client = CONTAINER_OF(writer, struct worker_client, writer);
    struct output *output = &client->output;
    int64_t limit = option_get(&client->session.worker->server->options.client_output_hard_limit);
    if (limit > 0 && output_unsent(client) + size > (size_t)limit)
        return false;
    struct output_chunk *chunk = take_chunk(client->session.worker, size);
    if (!chunk)
        return false;
    settle(client);
    if (output->last) {
        output->queued += output->last->size;
        output->last->next = chunk;
    } else {
        output->first = chunk;
    }
    output->last = chunk;
    writer->at = chunk->data;
    writer->end = chunk->data + chunk->capacity;
    return true;
}

void output_init(struct worker_client *client)
{
    client->writer = (struct resp_writer){.grow = output_grow, .protocol = 2};
    client->output = (struct output){0};
}

void output_deinit(struct worker_client *client)
{
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
            pieces[*count] = (struct iovec){chunk->data, chunk->size};
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
    atomic_store_explicit(&client->session.output_size, output_unsent(client), memory_order_relaxed);
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
