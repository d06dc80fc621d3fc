/* torture - many connections do multi-key work on few keys; readers look whether it was ever torn apart.
 *
 *     torture HOST PORT MODE SECONDS CONNECTIONS
 *
 * Exit status 0 when nothing wrong was seen; each fault is one line on standard error. On standard output: what was
 * done. A connection is a thread with pipelined hiredis calls, so that the server meets deep batches from several
 * sides. */
#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEYS = 24, DEPTH = 16, TOTAL = 1000000, TEXT = 32, ARGS = 2 + 2 * KEYS };

struct run;

struct mode {
    const char *name;
    void (*prepare)(struct run *run, redisContext *context);
    void (*write)(struct run *run, redisContext *context, unsigned number);
    void (*read)(struct run *run, redisContext *context, unsigned number);
    void (*finish)(struct run *run, redisContext *context);
};

struct run {
    const char *host;
    int port;
    const struct mode *mode;
    double end;
    unsigned connections;
    atomic_ullong writes, reads, faults, sum;
    atomic_uint ready;
};

struct task {
    struct run *run;
    unsigned number;
    int reads;
};

static _Thread_local uint64_t seed;

static uint64_t random_number(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static unsigned random_below(unsigned limit)
{
    return (unsigned)(random_number() % limit);
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((format(printf, 2, 3))) static void fault(struct run *run, const char *format, ...)
{
    va_list args;

    if (atomic_fetch_add(&run->faults, 1) < 20) {
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
        fputc('\n', stderr);
    }
}

static redisContext *connect_to(struct run *run)
{
    redisContext *context = redisConnect(run->host, run->port);

    if (!context || context->err) {
        fprintf(stderr, "cannot connect: %s\n", context ? context->errstr : "no memory");
        exit(2);
    }
    return context;
}

static redisReply *next(redisContext *context)
{
    void *reply = NULL;

    if (redisGetReply(context, &reply) != REDIS_OK) {
        fprintf(stderr, "the connection broke: %s\n", context->errstr);
        exit(2);
    }
    return reply;
}

/* Runs one command and throws its reply away. */
__attribute__((format(printf, 2, 3))) static void run_command(redisContext *context, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    redisReply *reply = redisvCommand(context, format, args);
    va_end(args);
    if (!reply || reply->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "%s: %s\n", format, reply ? reply->str : context->errstr);
        exit(2);
    }
    freeReplyObject(reply);
}

/* A command put together word by word. */
struct words {
    int count;
    const char *at[ARGS];
    char text[ARGS][TEXT];
};

__attribute__((format(printf, 2, 3))) static void word(struct words *words, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(words->text[words->count], TEXT, format, args);
    va_end(args);
    words->at[words->count] = words->text[words->count];
    words->count++;
}

static void append(redisContext *context, struct words *words)
{
    redisAppendCommandArgv(context, words->count, words->at, NULL);
    words->count = 0;
}

static void drain(struct run *run, redisContext *context, unsigned count)
{
    while (count--) {
        redisReply *reply = next(context);
        if (reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "ERR no such key", 15) != 0) {
            fault(run, "an error: %s", reply->str);
        }
        freeReplyObject(reply);
    }
}

static long long number_of(const redisReply *reply)
{
    return reply->type == REDIS_REPLY_STRING ? strtoll(reply->str, NULL, 10) : reply->integer;
}

/* Starting at a random key, forwards or backwards: all keys in an order of its own. */
static void mixed_order(unsigned *order, unsigned count)
{
    for (unsigned at = 0; at < count; at++) {
        order[at] = at;
    }
    for (unsigned at = count - 1; at > 0; at--) {
        unsigned other = random_below(at + 1), kept = order[at];
        order[at] = order[other];
        order[other] = kept;
    }
}

/* ---- transfer: pairs of counters always sum to the same total -------------------------------------------------------
 */

static void transfer_prepare(struct run *run, redisContext *context)
{
    (void)run;
    for (unsigned pair = 0; pair < KEYS / 2; pair++) {
        run_command(context, "MSET left:%u %d right:%u 0", pair, TOTAL, pair);
    }
}

static void transfer_write(struct run *run, redisContext *context, unsigned number)
{
    struct words words = {0};

    (void)number;
    for (unsigned at = 0; at < DEPTH; at++) {
        unsigned order[KEYS / 2], pairs = 1 + random_below(4);
        mixed_order(order, KEYS / 2);
        word(&words, "MSET");
        for (unsigned pair = 0; pair < pairs; pair++) {
            unsigned part = random_below(TOTAL), swap = random_below(2);
            word(&words, "%s:%u", swap ? "right" : "left", order[pair]);
            word(&words, "%u", part);
            word(&words, "%s:%u", swap ? "left" : "right", order[pair]);
            word(&words, "%u", TOTAL - part);
        }
        append(context, &words);
    }
    drain(run, context, DEPTH);
    atomic_fetch_add(&run->writes, DEPTH);
}

static void transfer_read(struct run *run, redisContext *context, unsigned number)
{
    struct words words = {0};
    unsigned order[DEPTH][KEYS / 2];

    (void)number;
    for (unsigned at = 0; at < DEPTH; at++) {
        mixed_order(order[at], KEYS / 2);
        word(&words, "MGET");
        for (unsigned pair = 0; pair < KEYS / 2; pair++) {
            word(&words, "left:%u", order[at][pair]);
            word(&words, "right:%u", order[at][pair]);
        }
        append(context, &words);
    }
    for (unsigned at = 0; at < DEPTH; at++) {
        redisReply *reply = next(context);
        for (size_t pair = 0; pair + 1 < reply->elements; pair += 2) {
            long long sum = number_of(reply->element[pair]) + number_of(reply->element[pair + 1]);
            if (sum != TOTAL) {
                fault(run, "transfer: pair %u sums to %lld", order[at][pair / 2], sum);
            }
        }
        freeReplyObject(reply);
    }
    atomic_fetch_add(&run->reads, DEPTH);
}

/* ---- version: all keys are set at once, so they always show one version
 * ---------------------------------------------- */

static void version_write(struct run *run, redisContext *context, unsigned number)
{
    struct words words = {0};

    for (unsigned at = 0; at < DEPTH; at++) {
        unsigned order[KEYS];
        unsigned long long version = atomic_fetch_add(&run->writes, 1);
        mixed_order(order, KEYS);
        word(&words, "MSET");
        for (unsigned key = 0; key < KEYS; key++) {
            word(&words, "key:%u", order[key]);
            word(&words, "%u:%llu", number, version);
        }
        append(context, &words);
    }
    drain(run, context, DEPTH);
}

static void append_mget(redisContext *context)
{
    struct words words = {0};
    unsigned order[KEYS];

    mixed_order(order, KEYS);
    word(&words, "MGET");
    for (unsigned key = 0; key < KEYS; key++) {
        word(&words, "key:%u", order[key]);
    }
    append(context, &words);
}

/* Every element the same, or every one missing. */
static void version_read(struct run *run, redisContext *context, unsigned number)
{
    (void)number;
    for (unsigned at = 0; at < DEPTH; at++) {
        append_mget(context);
    }
    for (unsigned at = 0; at < DEPTH; at++) {
        redisReply *reply = next(context);
        const redisReply *first = reply->element[0];
        for (size_t key = 1; key < reply->elements; key++) {
            const redisReply *other = reply->element[key];
            if (other->type != first->type ||
                (first->type == REDIS_REPLY_STRING && strcmp(other->str, first->str) != 0)) {
                fault(run, "%s: torn: %s and %s", run->mode->name, first->str ? first->str : "nil",
                      other->str ? other->str : "nil");
            }
        }
        freeReplyObject(reply);
    }
    atomic_fetch_add(&run->reads, DEPTH);
}

/* ---- flush: as version, while FLUSHALL, FLUSHDB and UNLINK of all keys come between
 * ------------------------------------ */

static void flush_write(struct run *run, redisContext *context, unsigned number)
{
    static const char *const kinds[] = {"FLUSHALL", "FLUSHDB", "FLUSHALL ASYNC", "FLUSHDB SYNC"};
    struct words words = {0};

    version_write(run, context, number);
    if (number == 0) {
        if (random_below(2)) {
            run_command(context, kinds[random_below(4)]);
            return;
        }
        word(&words, random_below(2) ? "DEL" : "UNLINK");
        for (unsigned key = 0; key < KEYS; key++) {
            word(&words, "key:%u", key);
        }
        append(context, &words);
        drain(run, context, 1);
    }
}

/* ---- swapdb: database 0 is all one value, database 1 all another
 * ------------------------------------------------------- */

static void swapdb_prepare(struct run *run, redisContext *context)
{
    (void)run;
    for (unsigned db = 0; db < 2; db++) {
        run_command(context, "SELECT %u", db);
        for (unsigned key = 0; key < KEYS; key++) {
            run_command(context, "SET key:%u db%u", key, db);
        }
    }
}

static void swapdb_write(struct run *run, redisContext *context, unsigned number)
{
    (void)number;
    for (unsigned at = 0; at < DEPTH; at++) {
        redisAppendCommand(context, random_below(2) ? "SWAPDB 0 1" : "SWAPDB 1 0");
        redisAppendCommand(context, "GET key:%u", random_below(KEYS));
    }
    drain(run, context, 2 * DEPTH);
    atomic_fetch_add(&run->writes, DEPTH);
}

/* ---- incr: no update is lost
 * ---------------------------------------------------------------------------------------------- */

static void incr_write(struct run *run, redisContext *context, unsigned number)
{
    unsigned long long sum = 0;

    (void)number;
    for (unsigned at = 0; at < DEPTH; at++) {
        unsigned key = random_below(4), by = 1 + random_below(9);
        sum += by;
        if (random_below(4) == 0) {
            redisAppendCommand(context, "DECRBY count:%u -%u", key, by);
        } else {
            redisAppendCommand(context, "INCRBY count:%u %u", key, by);
        }
    }
    drain(run, context, DEPTH);
    atomic_fetch_add(&run->sum, sum);
    atomic_fetch_add(&run->writes, DEPTH);
}

static void incr_finish(struct run *run, redisContext *context)
{
    redisReply *reply = redisCommand(context, "MGET count:0 count:1 count:2 count:3");
    unsigned long long sum = 0;

    for (size_t at = 0; at < reply->elements; at++) {
        sum += (unsigned long long)number_of(reply->element[at]);
    }
    if (sum != atomic_load(&run->sum)) {
        fault(run, "incr: %llu counted, %llu sent", sum, (unsigned long long)atomic_load(&run->sum));
    }
    freeReplyObject(reply);
}

/* ---- getset: tokens put in come out exactly once
 * ---------------------------------------------------------------------------- */

static void getset_write(struct run *run, redisContext *context, unsigned number)
{
    unsigned long long balance = 0;

    (void)number;
    for (unsigned at = 0; at < DEPTH; at++) {
        unsigned token = 1 + random_below(1000000);
        balance += token;
        redisAppendCommand(context, random_below(2) ? "GETSET token:%u %u" : "SET token:%u %u GET", random_below(3),
                           token);
        redisAppendCommand(context, "GETDEL token:%u", random_below(3));
    }
    for (unsigned at = 0; at < 2 * DEPTH; at++) {
        redisReply *reply = next(context);
        balance -= reply->type == REDIS_REPLY_STRING ? (unsigned long long)number_of(reply) : 0;
        freeReplyObject(reply);
    }
    atomic_fetch_add(&run->sum, balance);
    atomic_fetch_add(&run->writes, 2 * DEPTH);
}

static void getset_finish(struct run *run, redisContext *context)
{
    redisReply *reply = redisCommand(context, "MGET token:0 token:1 token:2");
    unsigned long long left = 0;

    for (size_t at = 0; at < reply->elements; at++) {
        left += reply->element[at]->type == REDIS_REPLY_STRING ? (unsigned long long)number_of(reply->element[at]) : 0;
    }
    if (left != atomic_load(&run->sum)) {
        fault(run, "getset: tokens worth %lld were lost or doubled", (long long)(atomic_load(&run->sum) - left));
    }
    freeReplyObject(reply);
}

/* ---- msetnx: of all who try, exactly one wins, and wins all keys
 * ------------------------------------------------------------ */

static void msetnx_write(struct run *run, redisContext *context, unsigned number)
{
    unsigned long long done = 0;
    static _Thread_local unsigned round;

    for (unsigned at = 0; at < DEPTH; at++, round++) {
        unsigned flip = random_below(2);
        redisAppendCommand(context, "MSETNX %s:%u %u %s:%u %u", flip ? "x" : "y", round, number, flip ? "y" : "x",
                           round, number);
    }
    for (unsigned at = 0; at < DEPTH; at++) {
        redisReply *reply = next(context);
        done += (unsigned long long)reply->integer;
        freeReplyObject(reply);
    }
    atomic_fetch_add(&run->sum, done);
    atomic_fetch_add(&run->writes, DEPTH);
}

static void msetnx_read(struct run *run, redisContext *context, unsigned number)
{
    static _Thread_local unsigned round;

    (void)number;
    for (unsigned at = 0; at < DEPTH; at++) {
        redisAppendCommand(context, "MGET x:%u y:%u", round + at, round + at);
    }
    for (unsigned at = 0; at < DEPTH; at++) {
        redisReply *reply = next(context);
        const redisReply *x = reply->element[0], *y = reply->element[1];
        if (x->type != y->type || (x->type == REDIS_REPLY_STRING && strcmp(x->str, y->str) != 0)) {
            fault(run, "msetnx: round %u has two winners: %s and %s", round + at, x->str ? x->str : "nil",
                  y->str ? y->str : "nil");
        }
        if (at == DEPTH - 1 && x->type == REDIS_REPLY_STRING) {
            round += DEPTH;
        }
        freeReplyObject(reply);
    }
    atomic_fetch_add(&run->reads, DEPTH);
}

static void msetnx_finish(struct run *run, redisContext *context)
{
    redisReply *reply = redisCommand(context, "DBSIZE");

    if ((unsigned long long)reply->integer != 2 * atomic_load(&run->sum)) {
        fault(run, "msetnx: %lld keys but %llu winners", reply->integer, (unsigned long long)atomic_load(&run->sum));
    }
    freeReplyObject(reply);
}

/* ---- rename: one token wanders over the keys, and there is always exactly one
 * ------------------------------------------------ */

static void rename_prepare(struct run *run, redisContext *context)
{
    (void)run;
    run_command(context, "SET key:0 token");
}

static void rename_write(struct run *run, redisContext *context, unsigned number)
{
    (void)number;
    for (unsigned at = 0; at < DEPTH; at++) {
        redisAppendCommand(context, "%s key:%u key:%u", random_below(3) ? "RENAME" : "RENAMENX", random_below(KEYS),
                           random_below(KEYS));
    }
    drain(run, context, DEPTH);
    atomic_fetch_add(&run->writes, DEPTH);
}

static void rename_read(struct run *run, redisContext *context, unsigned number)
{
    struct words words = {0};
    unsigned order[KEYS];

    (void)number;
    for (unsigned at = 0; at < DEPTH; at++) {
        mixed_order(order, KEYS);
        word(&words, "EXISTS");
        for (unsigned key = 0; key < KEYS; key++) {
            word(&words, "key:%u", order[key]);
        }
        append(context, &words);
    }
    for (unsigned at = 0; at < DEPTH; at++) {
        redisReply *reply = next(context);
        if (reply->integer != 1) {
            fault(run, "rename: the token is there %lld times", reply->integer);
        }
        freeReplyObject(reply);
    }
    atomic_fetch_add(&run->reads, DEPTH);
}

/* ---- move: one token wanders between two databases
 * ---------------------------------------------------------------------------- */

static void move_write(struct run *run, redisContext *context, unsigned number)
{
    (void)number;
    for (unsigned at = 0; at < DEPTH; at++) {
        redisAppendCommand(context, "SELECT 0");
        redisAppendCommand(context, "MOVE key:0 1");
        redisAppendCommand(context, "SELECT 1");
        redisAppendCommand(context, "MOVE key:0 0");
    }
    drain(run, context, 4 * DEPTH);
    atomic_fetch_add(&run->writes, 4 * DEPTH);
}

static void move_finish(struct run *run, redisContext *context)
{
    long long found = 0;

    for (unsigned db = 0; db < 2; db++) {
        run_command(context, "SELECT %u", db);
        redisReply *reply = redisCommand(context, "EXISTS key:0");
        found += reply->integer;
        freeReplyObject(reply);
    }
    if (found != 1) {
        fault(run, "move: the token is there %lld times", found);
    }
}

static const struct mode modes[] = {
    {"transfer", transfer_prepare, transfer_write, transfer_read, NULL},
    {"version", NULL, version_write, version_read, NULL},
    {"flush", NULL, flush_write, version_read, NULL},
    {"swapdb", swapdb_prepare, swapdb_write, version_read, NULL},
    {"incr", NULL, incr_write, NULL, incr_finish},
    {"getset", NULL, getset_write, NULL, getset_finish},
    {"msetnx", NULL, msetnx_write, msetnx_read, msetnx_finish},
    {"rename", rename_prepare, rename_write, rename_read, NULL},
    {"move", rename_prepare, move_write, NULL, move_finish},
};

static void *work(void *argument)
{
    struct task *task = argument;
    struct run *run = task->run;
    redisContext *context = connect_to(run);

    seed = 88172645463325252ull * (task->number + 1) + (uint64_t)time(NULL);
    atomic_fetch_add(&run->ready, 1);
    while (atomic_load(&run->ready) < run->connections) {
        struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
    while (now() < run->end && atomic_load(&run->faults) == 0) {
        if (task->reads) {
            run->mode->read(run, context, task->number);
        } else {
            run->mode->write(run, context, task->number);
        }
    }
    redisFree(context);
    return NULL;
}

static const struct mode *find_mode(const char *name)
{
    for (size_t at = 0; at < sizeof(modes) / sizeof(*modes); at++) {
        if (strcmp(modes[at].name, name) == 0) {
            return &modes[at];
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct run run = {0};

    if (argc != 6 || !(run.mode = find_mode(argv[3]))) {
        fprintf(stderr, "usage: torture HOST PORT MODE SECONDS CONNECTIONS\n");
        return 2;
    }
    run.host = argv[1];
    run.port = (int)strtol(argv[2], NULL, 10);
    run.connections = (unsigned)strtoul(argv[5], NULL, 10);
    redisContext *context = connect_to(&run);
    run_command(context, "FLUSHALL");
    if (run.mode->prepare) {
        run.mode->prepare(&run, context);
    }
    run.end = now() + strtod(argv[4], NULL);
    pthread_t *threads = calloc(run.connections, sizeof(*threads));
    struct task *tasks = calloc(run.connections, sizeof(*tasks));
    for (unsigned at = 0; at < run.connections; at++) {
        tasks[at] = (struct task){&run, at, run.mode->read && at % 2 == 1};
        if (pthread_create(&threads[at], NULL, work, &tasks[at]) != 0) {
            return 2;
        }
    }
    for (unsigned at = 0; at < run.connections; at++) {
        pthread_join(threads[at], NULL);
    }
    if (run.mode->finish) {
        run.mode->finish(&run, context);
    }
    redisFree(context);
    free(threads);
    free(tasks);
    printf("%s: %llu writes, %llu reads, %llu faults\n", run.mode->name, (unsigned long long)run.writes,
           (unsigned long long)run.reads, (unsigned long long)run.faults);
    return run.faults ? 1 : 0;
}
