/* Gathering requests over a pipeline and over clients, and running them with their memory on its way. */
#include "lib/base/clock.h"
#include "lib/base/cpu.h"
#include "server/worker/worker_state.h"

void batch_keep(struct worker *worker, struct loop_chunk *chunk)
{
    struct batch *batch = &worker->state->batch;
    if (batch->count == 0) {
        loop_chunk_release(worker->loop, chunk);
        return;
    }
    chunk->next = batch->chunks;
    batch->chunks = chunk;
}

void batch_will_flush(struct worker *worker, struct worker_client *client)
{
    struct batch *batch = &worker->state->batch;
    if (client->flush_listed)
        return;
    CHECK(batch->flush_count < BATCH_CLIENTS);
    client->flush_listed = true;
    batch->flush[batch->flush_count++] = client;
}

static struct batch_call *next_call(struct worker *worker, struct worker_client *client)
{
    struct batch *batch = &worker->state->batch;
    struct batch_call *call = &batch->calls[batch->count++];
    call->client = client;
    call->entry = NULL;
    call->hashed = false;
    call->protocol_error = NULL;
    client->calls++;
    return call;
}

void batch_add(struct worker *worker, struct worker_client *client, const struct resp_request *request)
{
    struct batch *batch = &worker->state->batch;
    struct batch_call *call = next_call(worker, client);
    call->argv = request->argv;
    call->argc = request->argc;
    if (request->argv == batch->arguments + batch->arguments_used)
        batch->arguments_used += request->argc;
    executor_prepare(worker, call);
    if (batch->count == BATCH_CALLS)
        batch_run(worker);
}

void batch_add_protocol_error(struct worker *worker, struct worker_client *client, const char *error)
{
    struct batch *batch = &worker->state->batch;
    struct batch_call *call = next_call(worker, client);
    size_t size = strlen(error);
    if (size >= sizeof(batch->protocol_error))
        size = sizeof(batch->protocol_error) - 1;
    memcpy(batch->protocol_error, error, size);
    batch->protocol_error[size] = '\0';
    call->argc = 0;
    call->protocol_error = batch->protocol_error;
    client->broken = true;
    /* One text is kept: it goes out before another can come. */
    batch_run(worker);
}

/* Lines of an entry that a command will touch: of a value to be overwritten all (their old contents must come in to be
 * changed), of one to be read the first few, the hardware fetches the rest. */
static unsigned prefetch_lines(const struct batch_call *call)
{
    if (!(call->entry->flags & CMD_WRITE))
        return 3;
    size_t bytes = 32 + call->key.name.size + (call->argc > 2 ? call->argv[2].size : 0);
    size_t lines = bytes / CPU_CACHE_LINE + 1;
    return lines > 17 ? 17 : (unsigned)lines;
}

static void prefetch(struct worker *worker)
{
    struct batch *batch = &worker->state->batch;
    const struct store *store = worker->server->store;
    if (batch->count < 2)
        return;
    /* The slots were asked for when the calls were added. */
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct batch_call *call = &batch->calls[i];
        if (call->hashed && call->client)
            store_prefetch_bucket(store, atomic_load_explicit(&call->client->session.db, memory_order_relaxed),
                                  &call->key);
    }
    for (uint32_t i = 0; i < batch->count; i++) {
        const struct batch_call *call = &batch->calls[i];
        if (call->hashed && call->client)
            store_prefetch_entry(store, atomic_load_explicit(&call->client->session.db, memory_order_relaxed),
                                 &call->key, prefetch_lines(call));
    }
}

/* Sends what the clients have to get; one that is still being parsed goes on gathering. */
static void flush(struct worker *worker)
{
    struct batch *batch = &worker->state->batch;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < batch->flush_count; i++) {
        struct worker_client *client = batch->flush[i];
        if (!client)
            continue;
        bool more_coming = client == batch->parsing && !client->ending && !client->closing;
        if (more_coming && output_unsent(client) < OUTPUT_EAGER) {
            batch->flush[kept++] = client;
            continue;
        }
        client->flush_listed = false;
        if (client->closing)
            continue;
        if (client->writer.failed) {
            client_close(client);
            continue;
        }
        output_flush(client);
        if (!client->closing && !client->paused && output_unsent(client) >= output_pause_at(worker)) {
            client->paused = true;
            loop_conn_pause(&client->session.conn);
        }
    }
    batch->flush_count = kept;
}

void batch_run(struct worker *worker)
{
    struct batch *batch = &worker->state->batch;
    if (batch->running)
        return;
    if (batch->count > 0) {
        batch->running = true;
        prefetch(worker);
        int64_t now_ms = clock_realtime_ms();
        uint32_t held = HELD_NONE;
        for (uint32_t i = 0; i < batch->count; i++) {
            struct batch_call *call = &batch->calls[i];
            struct worker_client *client = call->client;
            if (!client)
                continue;
            client->calls--;
            if (client->ending)
                continue;
            /* Once CLIENT KILL has answered, nothing more of the client is carried out, whatever was received. */
            if (UNLIKELY(atomic_load_explicit(&client->session.kill, memory_order_acquire))) {
                executor_release(worker, &held); /* closing takes the register's mutex, which ranks below slots */
                client_close(client);
                continue;
            }
            executor_run(worker, call, now_ms, &held);
            batch_will_flush(worker, client);
        }
        executor_release(worker, &held);
        worker_count(&worker->counters.batches, 1);
        batch->count = 0;
        batch->arguments_used = 0;
        while (batch->chunks) {
            struct loop_chunk *chunk = batch->chunks;
            batch->chunks = chunk->next;
            loop_chunk_release(worker->loop, chunk);
        }
        batch->running = false;
    }
    flush(worker);
}

void batch_forget(struct worker *worker, struct worker_client *client)
{
    struct batch *batch = &worker->state->batch;
    /* Its calls that have not run are dropped: the structure may go before the batch does. */
    for (uint32_t i = 0; client->calls > 0 && i < batch->count; i++)
        if (batch->calls[i].client == client)
            batch->calls[i].client = NULL;
    client->calls = 0;
    for (uint32_t i = 0; i < batch->flush_count; i++)
        if (batch->flush[i] == client)
            batch->flush[i] = NULL;
    client->flush_listed = false;
}
