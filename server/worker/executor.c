/* One command: checks, locks, runs, unlocks, counts. */
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "server/worker/worker_state.h"

#include <stdio.h>

static bool single_key(const struct command *command)
{
    return command->keys.first > 0 && !command->find_keys && !command->key_specs;
}

void executor_prepare(struct worker *worker, struct batch_call *call)
{
    const struct command_entry *entry = command_find(worker->server->commands, call->argv[0]);
    if (entry && entry->child_count > 0 && call->argc > 1) {
        const struct command_entry *child = command_find_child(entry, call->argv[1]);
        if (child || !entry->command->run)
            entry = child ? child : entry;
    }
    call->entry = entry;
    if (!entry || !single_key(entry->command) || (uint32_t)entry->command->keys.first >= call->argc)
        return;
    store_key(worker->server->store, call->argv[entry->command->keys.first], &call->key);
    call->hashed = true;
    store_prefetch_slot(worker->server->store, call->key.slot);
}

/* ---- rejections ---- */

static void reject(struct worker *worker, struct batch_call *call, const char *text)
{
    struct worker_client *client = call->client;
    if (call->entry)
        worker_count(&worker->counters.by_command[call->entry->number].rejected, 1);
    worker_count_error(worker, bytes_of(text));
    resp_write_error(&client->writer, text);
}

static void reject_unknown(struct worker *worker, struct batch_call *call)
{
    char text[512];
    int size = snprintf(text, sizeof(text), "ERR unknown command '%.*s', with args beginning with: ",
                        (int)(call->argv[0].size < 128 ? call->argv[0].size : 128), (const char *)call->argv[0].at);
    int start = size;
    for (uint32_t i = 1; i < call->argc && size - start < 128; i++) {
        int room = 128 - (size - start);
        int length = call->argv[i].size < (size_t)room ? (int)call->argv[i].size : room;
        size += snprintf(text + size, sizeof(text) - (size_t)size, "'%.*s' ", length, (const char *)call->argv[i].at);
    }
    worker_count(&worker->counters.unknown_commands, 1);
    reject(worker, call, text);
}

static void reject_unknown_subcommand(struct worker *worker, struct batch_call *call)
{
    char text[300];
    snprintf(text, sizeof(text), "ERR unknown subcommand '%.*s'. Try %s HELP.",
             (int)(call->argv[1].size < 128 ? call->argv[1].size : 128), (const char *)call->argv[1].at,
             call->entry->command->name);
    reject(worker, call, text);
}

/* A web browser led to post to us: whatever it sends next must not be run as commands. */
static bool is_http(const struct batch_call *call)
{
    return bytes_is(call->argv[0], "post") || bytes_is(call->argv[0], "host:");
}

/* False after an error reply. */
static bool admit(struct worker *worker, struct batch_call *call)
{
    if (!call->entry) {
        if (is_http(call)) {
            log_write(LOG_WARNING, "Possible attack: a client sent the words of an HTTP request; it is cut off");
            call->client->ending = true;
            return false;
        }
        reject_unknown(worker, call);
        return false;
    }
    const struct command *command = call->entry->command;
    if (UNLIKELY(call->entry->child_count > 0 && call->argc > 1 && !command->run)) {
        reject_unknown_subcommand(worker, call);
        return false;
    }
    if (UNLIKELY(!command_arity_fits(command, call->argc) || !command->run)) {
        char text[128];
        snprintf(text, sizeof(text), "ERR wrong number of arguments for '%s' command", call->entry->full_name);
        reject(worker, call, text);
        return false;
    }
    if (UNLIKELY(!session_is(&call->client->session, SESSION_AUTHENTICATED) && !(call->entry->flags & CMD_NO_AUTH))) {
        reject(worker, call, "NOAUTH Authentication required.");
        return false;
    }
    return true;
}

/* ---- keys and locks ---- */

static void grow_scratch(struct worker_state *state, uint32_t count)
{
    if (count <= state->key_capacity)
        return;
    state->positions = mem_realloc(state->positions, count * sizeof(*state->positions));
    state->keys = mem_realloc(state->keys, count * sizeof(*state->keys));
    state->slots = mem_realloc(state->slots, count * sizeof(*state->slots));
    state->key_capacity = count;
}

/* Hashes the keys of a command with several; returns their number, or -EINVAL when its arguments make no sense (the
 * handler then says what is wrong with them). */
static int hash_keys(struct worker *worker, const struct batch_call *call)
{
    struct worker_state *state = worker->state;
    struct store *store = worker->server->store;
    grow_scratch(state, call->argc);
    int count = command_keys(call->entry, call->argv, call->argc, state->positions, state->key_capacity);
    for (int i = 0; i < count; i++) {
        store_key(store, call->argv[state->positions[i]], &state->keys[i]);
        state->slots[i] = (uint16_t)state->keys[i].slot;
        store_prefetch_slot(store, state->keys[i].slot);
    }
    return count;
}

/* Brings the memory of many keys in, a window at a time, before the locks are taken. */
static void prefetch_keys(struct worker *worker, uint32_t db, uint32_t count, bool write)
{
    const struct store *store = worker->server->store;
    const struct key *keys = worker->state->keys;
    const uint32_t window = 32;
    for (uint32_t from = 0; from < count; from += window) {
        uint32_t to = from + window < count ? from + window : count;
        for (uint32_t i = from; i < to; i++)
            store_prefetch_bucket(store, db, &keys[i]);
        for (uint32_t i = from; i < to; i++)
            store_prefetch_entry(store, db, &keys[i], write ? 2 : 3);
    }
}

/* ---- running ---- */

static void count_call(struct worker *worker, const struct batch_call *call, const struct call *done, uint64_t started)
{
    struct worker_command_counters *counters = &worker->counters.by_command[call->entry->number];
    worker_count(&counters->calls, 1);
    worker_count(&counters->nanoseconds, (uint64_t)clock_ticks_ns(clock_ticks() - started));
    if (UNLIKELY(done->error_count > 0)) {
        worker_count(&counters->failed, 1);
        worker_count_error(worker, bytes_of(done->error_code));
    }
    worker_count(&worker->counters.commands, 1);
}

/* Takes what the command needs, runs it, lets go of all but the slot of a single key. */
static enum outcome run_locked(struct worker *worker, struct batch_call *call, struct call *running,
                               uint32_t *held) NO_THREAD_SAFETY
{
    struct worker_state *state = worker->state;
    struct store *store = worker->server->store;
    const struct command_entry *entry = call->entry;
    const struct command *command = entry->command;
    enum outcome outcome;

    bool one = call->hashed && (command->keys.last == command->keys.first);
    if (LIKELY(one)) {
        if (*held != call->key.slot) {
            executor_release(worker, held);
            store_lock_slot(store, call->key.slot);
            *held = call->key.slot;
        }
        running->keys = &call->key;
        running->key_count = 1;
        return command->run(running);
    }
    executor_release(worker, held);
    if (entry->flags & CMD_ALL_SLOTS) {
        store_lock_all(store);
        outcome = command->run(running);
        store_unlock_all(store);
        return outcome;
    }
    if (command->keys.first == 0 && !command->find_keys && !command->key_specs)
        return command->run(running);
    int count = hash_keys(worker, call);
    uint32_t locked = count > 0 ? (uint32_t)count : 0;
    running->keys = state->keys;
    running->key_count = locked;
    if (locked > 1)
        prefetch_keys(worker, running->db, locked, (entry->flags & CMD_WRITE) != 0);
    store_lock_slots(store, state->slots, &locked);
    outcome = command->run(running);
    store_unlock_slots(store, state->slots, locked);
    return outcome;
}

void executor_release(struct worker *worker, uint32_t *held) NO_THREAD_SAFETY
{
    if (*held != HELD_NONE) {
        store_unlock_slot(worker->server->store, *held);
        *held = HELD_NONE;
    }
}

/* CLIENT REPLY SKIP mutes the command after it. */
static void after_reply(struct session *session)
{
    if (LIKELY(!session_is(session, SESSION_REPLY_SKIP | SESSION_REPLY_SKIP_NEXT)))
        return;
    bool next = session_is(session, SESSION_REPLY_SKIP_NEXT);
    session_set(session, SESSION_REPLY_SKIP_NEXT, false);
    session_set(session, SESSION_REPLY_SKIP, next);
}

void executor_run(struct worker *worker, struct batch_call *call, int64_t now_ms, uint32_t *held)
{
    struct worker_client *client = call->client;
    struct session *session = &client->session;
    client->writer.muted = session_is(session, SESSION_REPLY_OFF | SESSION_REPLY_SKIP);
    if (UNLIKELY(call->protocol_error)) {
        char text[96];
        snprintf(text, sizeof(text), "ERR %s", call->protocol_error);
        worker_count_error(worker, bytes_of(text));
        resp_write_error(&client->writer, text);
        client->ending = true;
        return;
    }
    atomic_store_explicit(&session->active_ms, now_ms, memory_order_relaxed);
    if (LIKELY(admit(worker, call))) {
        struct call running = {
            .entry = call->entry,
            .argv = call->argv,
            .argc = call->argc,
            .reply = &client->writer,
            .store = worker->store,
            .server = worker->server,
            .worker = worker,
            .session = session,
            .random = &worker->random,
            .db = atomic_load_explicit(&session->db, memory_order_relaxed),
            .now_ms = now_ms,
            .string_max = (uint64_t)option_get(&worker->server->options.proto_max_bulk_len),
        };
        atomic_store_explicit(&session->last_command, call->entry->number + 1, memory_order_relaxed);
        store_user_touches(worker->store, !session_is(session, SESSION_NO_TOUCH));
        uint64_t started = clock_ticks();
        if (run_locked(worker, call, &running, held) == OUTCOME_CLOSE)
            client->ending = true;
        count_call(worker, call, &running, started);
    }
    after_reply(session);
}
