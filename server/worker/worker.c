#include "server/worker/worker.h"

#include "lib/base/clock.h"
#include "lib/base/cpu.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "server/worker/worker_state.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

const char *const worker_io_names[] = {"auto", "epoll", "uring", NULL};

/* A third of a worker's time at most goes to expired keys, in slices that no client notices. */
#define EXPIRE_SLICE_NS 500000
#define EXPIRE_PAUSE_NS 1000000
#define EXPIRE_PERIOD_NS 100000000
#define IDLE_PERIOD_NS 1000000000

/* ---- timers ---- */

static void expire_due(struct loop_timer *timer)
{
    struct worker_state *state = CONTAINER_OF(timer, struct worker_state, expire_timer);
    struct worker *worker = state->worker;
    int64_t started = clock_monotonic_ns();
    store_expire_step(worker->store, clock_realtime_ms(), EXPIRE_SLICE_NS);
    int64_t now = clock_monotonic_ns();
    bool behind = now - started >= EXPIRE_SLICE_NS;
    loop_timer_start(worker->loop, timer, now + (behind ? EXPIRE_PAUSE_NS : EXPIRE_PERIOD_NS));
}

static void idle_due(struct loop_timer *timer)
{
    struct worker_state *state = CONTAINER_OF(timer, struct worker_state, idle_timer);
    struct worker *worker = state->worker;
    int64_t timeout = option_get(&worker->server->options.timeout);
    if (timeout > 0) {
        int64_t oldest = clock_realtime_ms() - timeout * 1000;
        for (struct worker_client *client = state->clients, *next; client; client = next) {
            next = client->next;
            if (atomic_load_explicit(&client->session.active_ms, memory_order_relaxed) < oldest) {
                log_write(LOG_VERBOSE, "Closing idle client");
                client_close(client);
            }
        }
    }
    loop_timer_start(worker->loop, timer, clock_monotonic_ns() + IDLE_PERIOD_NS);
}

/* ---- mail ---- */

static void take_adoptions(struct worker *worker)
{
    struct worker_state *state = worker->state;
    mutex_lock(&state->mutex);
    struct adoption *adoptions = state->adoptions;
    state->adoptions = NULL;
    state->adoptions_end = &state->adoptions;
    mutex_unlock(&state->mutex);
    while (adoptions) {
        struct adoption *next = adoptions->next;
        if (!client_create(worker, adoptions))
            atomic_fetch_sub_explicit(&worker->assigned, 1, memory_order_relaxed);
        mem_free(adoptions);
        adoptions = next;
    }
}

static void close_killed(struct worker *worker)
{
    for (struct worker_client *client = worker->state->clients, *next; client; client = next) {
        next = client->next;
        if (!atomic_load_explicit(&client->session.kill, memory_order_acquire))
            continue;
        client_close(client);
    }
}

static void worker_woken(void *owner)
{
    struct worker *worker = owner;
    take_adoptions(worker);
    if (atomic_exchange_explicit(&worker->state->poked, false, memory_order_acquire))
        close_killed(worker);
}

static void worker_turn_ended(void *owner)
{
    batch_run(owner);
}

void worker_adopt(struct worker *worker, int fd, bool is_unix)
{
    struct worker_state *state = worker->state;
    struct adoption *adoption = mem_alloc(sizeof(*adoption));
    /* Given here, where connections come in one after the other: ids ascend in the order of connecting. */
    uint64_t id = atomic_fetch_add_explicit(&worker->server->next_session_id, 1, memory_order_relaxed) + 1;
    *adoption = (struct adoption){.id = id, .fd = fd, .is_unix = is_unix};
    atomic_fetch_add_explicit(&worker->assigned, 1, memory_order_relaxed);
    mutex_lock(&state->mutex);
    *state->adoptions_end = adoption;
    state->adoptions_end = &adoption->next;
    mutex_unlock(&state->mutex);
    loop_wake(worker->loop);
}

void worker_poke(struct worker *worker)
{
    atomic_store_explicit(&worker->state->poked, true, memory_order_release);
    loop_wake(worker->loop);
}

/* ---- errors by kind ---- */

static bool same_code(const struct worker_error_counter *counter, struct bytes code)
{
    return strlen(counter->code) == code.size && memcmp(counter->code, code.at, code.size) == 0;
}

void worker_count_error(struct worker *worker, struct bytes text)
{
    worker_count(&worker->counters.errors, 1);
    size_t size = 0;
    while (size < text.size && text.at[size] != ' ' && size < sizeof(worker->counters.by_error[0].code) - 1)
        size++;
    struct bytes code = bytes_make(text.at, size);
    for (uint32_t i = 0; i < WORKER_ERROR_KINDS; i++) {
        struct worker_error_counter *counter = &worker->counters.by_error[i];
        if (!atomic_load_explicit(&counter->used, memory_order_relaxed)) {
            memcpy(counter->code, code.at, code.size);
            counter->code[code.size] = '\0';
            atomic_store_explicit(&counter->used, true, memory_order_release);
        } else if (!same_code(counter, code)) {
            continue;
        }
        worker_count(&counter->count, 1);
        return;
    }
}

/* ---- life ---- */

struct worker *worker_create(struct server *server, uint32_t number, int *error)
{
    struct worker *worker = mem_alloc_aligned(CPU_CACHE_LINE, (sizeof(*worker) + 63) & ~(size_t)63);
    memset(worker, 0, sizeof(*worker));
    struct worker_state *state = mem_alloc_zeroed(sizeof(*state));
    worker->server = server;
    worker->number = number;
    worker->state = state;
    state->worker = worker;
    struct loop_options options = {
        .io = (enum loop_io)option_get(&server->options.io),
        .owner = worker,
        .woken = worker_woken,
        .turn_ended = worker_turn_ended,
    };
    worker->loop = loop_create(&options, error);
    if (!worker->loop) {
        mem_free(state);
        mem_free(worker);
        return NULL;
    }
    worker->store = store_user_create(server->store);
    worker->counters.by_command =
        mem_alloc_zeroed(command_numbers(server->commands) * sizeof(*worker->counters.by_command));
    uint64_t seed;
    random_secret(&seed, sizeof(seed));
    random_seed(&worker->random, seed);
    mutex_init(&state->mutex, MUTEX_RANK_INBOX);
    state->adoptions_end = &state->adoptions;
    resp_request_init(&state->request, NULL, 0);
    state->expire_timer.expired = expire_due;
    state->idle_timer.expired = idle_due;
    return worker;
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    struct worker_state *state = worker->state;
    char name[16];
    snprintf(name, sizeof(name), "worker-%u", worker->number);
    pthread_setname_np(pthread_self(), name);
    int64_t now = clock_monotonic_ns();
    loop_timer_start(worker->loop, &state->expire_timer, now + EXPIRE_PERIOD_NS);
    loop_timer_start(worker->loop, &state->idle_timer, now + IDLE_PERIOD_NS);
    while (!atomic_load_explicit(&state->stopping, memory_order_acquire)) {
        int status = loop_turn(worker->loop, -1);
        if (status < 0) {
            log_write(LOG_WARNING, "Worker %u cannot wait for events: %s", worker->number, strerror(-status));
            break;
        }
    }
    /* What was received is answered before the sockets close. */
    batch_run(worker);
    while (state->clients)
        client_close(state->clients);
    loop_timer_stop(worker->loop, &state->expire_timer);
    loop_timer_stop(worker->loop, &state->idle_timer);
    /* Lets the loop deliver what it still holds. */
    for (int i = 0; i < 100 && atomic_load_explicit(&state->unreleased, memory_order_relaxed) > 0; i++)
        if (loop_turn(worker->loop, 10000000) < 0)
            break;
    return NULL;
}

int worker_start(struct worker *worker)
{
    return -pthread_create(&worker->state->thread, NULL, worker_main, worker);
}

static void free_spare(struct worker_state *state)
{
    while (state->spare) {
        struct output_chunk *next = state->spare->next;
        mem_free(state->spare);
        state->spare = next;
    }
}

void worker_stop(struct worker *worker)
{
    struct worker_state *state = worker->state;
    if (state->thread) {
        atomic_store_explicit(&state->stopping, true, memory_order_release);
        loop_wake(worker->loop);
        pthread_join(state->thread, NULL);
        state->thread = 0;
    }
}

void worker_destroy(struct worker *worker)
{
    struct worker_state *state = worker->state;
    while (state->adoptions) {
        struct adoption *next = state->adoptions->next;
        close(state->adoptions->fd);
        mem_free(state->adoptions);
        state->adoptions = next;
    }
    loop_destroy(worker->loop);
    store_user_destroy(worker->store);
    resp_request_deinit(&state->request);
    free_spare(state);
    mutex_deinit(&state->mutex);
    mem_free(state->positions);
    mem_free(state->keys);
    mem_free(state->slots);
    mem_free(worker->counters.by_command);
    mem_free(state);
    mem_free(worker);
}
