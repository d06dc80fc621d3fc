/* data_fixture.h - a store and a command table without a server: runs one command at a time and keeps its reply.
 *
 * Replies are compared as text in which every CRLF has become '~'. Time stands still until a test moves it. */
#ifndef KETCH_TESTS_UNIT_SERVER_DATA_DATA_FIXTURE_H
#define KETCH_TESTS_UNIT_SERVER_DATA_DATA_FIXTURE_H

#include "lib/base/mem.h"
#include "lib/base/random.h"
#include "server/data/data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define FIXTURE_NOW 1700000000000
#define FIXTURE_STRING_MAX (512ull * 1024 * 1024)
#define FIXTURE_KEYS_MAX 64
#define FIXTURE_ARGUMENTS_MAX 64

struct data_fixture {
    struct resp_writer writer; /* first: the writer's grow finds the fixture by it */
    struct store_options options;
    struct store *store;
    struct store_user *user;
    struct command_table *table;
    struct random random;
    uint8_t *reply;
    size_t capacity;
    uint32_t db;
    int64_t now_ms;
    uint64_t errors;
};

static inline bool fixture_grow(struct resp_writer *writer, size_t size)
{
    struct data_fixture *fixture = CONTAINER_OF(writer, struct data_fixture, writer);
    size_t used = (size_t)(writer->at - fixture->reply);
    fixture->capacity = (used + size) * 2;
    fixture->reply = mem_realloc(fixture->reply, fixture->capacity + 1);
    writer->at = fixture->reply + used;
    writer->end = fixture->reply + fixture->capacity;
    return true;
}

static inline struct data_fixture *fixture_create(void)
{
    struct data_fixture *fixture = mem_alloc_zeroed(sizeof(*fixture));
    atomic_store(&fixture->options.databases, 4);
    fixture->store = store_create(&fixture->options, false);
    fixture->user = store_user_create(fixture->store);
    fixture->table = command_table_create(data_families);
    random_seed(&fixture->random, 7);
    fixture->now_ms = FIXTURE_NOW;
    fixture->writer = (struct resp_writer){.grow = fixture_grow, .protocol = 2};
    (void)fixture_grow(&fixture->writer, 64);
    return fixture;
}

static inline void fixture_destroy(struct data_fixture *fixture)
{
    bool good = store_check(fixture->user);
    store_user_destroy(fixture->user);
    store_destroy(fixture->store);
    command_table_destroy(fixture->table);
    mem_free(fixture->reply);
    mem_free(fixture);
    assert_true(good);
}

static inline void fixture_run_locked(struct call *call) NO_THREAD_SAFETY;
static inline void fixture_run_locked(struct call *call)
{
    struct store *store = store_of(call->store);
    bool all = call->entry->flags & CMD_ALL_SLOTS;
    uint16_t slots[FIXTURE_KEYS_MAX];
    uint32_t count = call->key_count;
    for (uint32_t i = 0; i < count; i++)
        slots[i] = (uint16_t)call->keys[i].slot;
    if (all)
        store_lock_all(store);
    else
        store_lock_slots(store, slots, &count);
    assert_int_equal(call->entry->command->run(call), OUTCOME_DONE);
    if (all)
        store_unlock_all(store);
    else
        store_unlock_slots(store, slots, count);
}

/* Runs one command; its raw reply, valid until the next one. */
static inline struct bytes fixture_call(struct data_fixture *fixture, const struct bytes *argv, uint32_t argc)
{
    const struct command_entry *entry = command_find(fixture->table, argv[0]);
    assert_non_null(entry);
    struct key keys[FIXTURE_KEYS_MAX];
    struct call call = {.entry = entry,
                        .argv = argv,
                        .argc = argc,
                        .keys = keys,
                        .reply = &fixture->writer,
                        .store = fixture->user,
                        .random = &fixture->random,
                        .db = fixture->db,
                        .now_ms = fixture->now_ms,
                        .string_max = FIXTURE_STRING_MAX};
    fixture->writer.at = fixture->reply;
    if (entry->child_count > 0 && argc > 1) {
        call.entry = command_find_child(entry, argv[1]);
        if (!call.entry) {
            call.entry = entry;
            call_unknown_subcommand(&call);
            return bytes_make(fixture->reply, (size_t)(fixture->writer.at - fixture->reply));
        }
    }
    if (!command_arity_fits(call.entry->command, argc)) {
        call_wrong_arity(&call);
    } else {
        uint32_t at[FIXTURE_KEYS_MAX];
        int found = command_keys(call.entry, argv, argc, at, FIXTURE_KEYS_MAX);
        assert_true(found >= 0);
        call.key_count = (uint32_t)found;
        for (uint32_t i = 0; i < call.key_count; i++)
            store_key(fixture->store, argv[at[i]], &keys[i]);
        fixture_run_locked(&call);
    }
    fixture->errors = call.error_count;
    return bytes_make(fixture->reply, (size_t)(fixture->writer.at - fixture->reply));
}

/* Runs a command given as words between single spaces ('' is an empty one); the reply as text. */
static inline const char *fixture_run(struct data_fixture *fixture, const char *line)
{
    struct bytes argv[FIXTURE_ARGUMENTS_MAX];
    uint32_t argc = 0;
    while (*line) {
        size_t size = strcspn(line, " ");
        assert_true(argc < FIXTURE_ARGUMENTS_MAX);
        argv[argc] = bytes_make(line, size);
        if (bytes_equal(argv[argc], BYTES("''")))
            argv[argc].size = 0;
        argc++;
        line += size + (line[size] == ' ');
    }
    struct bytes raw = fixture_call(fixture, argv, argc);
    size_t size = 0;
    for (size_t i = 0; i < raw.size; i++)
        if (raw.at[i] != '\r')
            fixture->reply[size++] = raw.at[i] == '\n' ? '~' : raw.at[i];
    fixture->reply[size] = '\0';
    return (const char *)fixture->reply;
}

/* Makes a key that exists hold what no string command may touch. */
static inline void fixture_make_list(struct data_fixture *fixture, const char *name) NO_THREAD_SAFETY;
static inline void fixture_make_list(struct data_fixture *fixture, const char *name)
{
    struct key key;
    struct place place;
    store_key(fixture->store, bytes_of(name), &key);
    store_lock_slot(fixture->store, key.slot);
    struct entry *entry = store_find(fixture->user, fixture->db, &key, fixture->now_ms, &place);
    assert_non_null(entry);
    entry->kind = ENTRY_LIST;
    store_unlock_slot(fixture->store, key.slot);
}

static inline uint64_t fixture_changes(const struct data_fixture *fixture)
{
    return atomic_load(&store_user_counters(fixture->user)->changes);
}

#define FIXTURE_EXPECT(fixture, line, reply) assert_string_equal(fixture_run((fixture), (line)), (reply))

static inline int fixture_setup(void **state)
{
    *state = fixture_create();
    return 0;
}

static inline int fixture_teardown(void **state)
{
    fixture_destroy(*state);
    return 0;
}

#define FIXTURE_TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)

#endif
