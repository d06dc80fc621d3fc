#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "server/main/process.h"

#include <errno.h>
#include <stdio.h>

static struct process *process;
static struct option_fault fault;

static int setup(void **state)
{
    (void)state;
    process = mem_alloc_zeroed(sizeof(*process));
    settings_init(&process->settings, &process->server);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    settings_deinit(&process->settings);
    mem_free(process);
    return 0;
}

static int load(const char *text)
{
    return option_text_load(process->settings.registry, bytes_of(text), "test.conf", &fault);
}

static int set(const char *name, const char *value)
{
    struct option_pair pair = {bytes_of(name), bytes_of(value)};
    return option_registry_set(process->settings.registry, &pair, 1, false, &fault.error);
}

static void assert_shown(const char *name, const char *expected)
{
    struct buf value;
    buf_init(&value, 4096);
    assert_int_equal(option_registry_show(process->settings.registry, bytes_of(name), &value), 0);
    assert_int_equal(buf_append(&value, "", 1), 0);
    assert_string_equal((const char *)value.data, expected);
    buf_deinit(&value);
}

static void directives_of_redis_are_there_with_its_defaults(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"maxmemory", "0"},
        {"maxmemory-policy", "noeviction"},
        {"save", "3600 1 300 100 60 10000"},
        {"appendonly", "no"},
        {"appendfsync", "everysec"},
        {"dbfilename", "dump.rdb"},
        {"slowlog-log-slower-than", "10000"},
        {"slowlog-max-len", "128"},
        {"latency-monitor-threshold", "0"},
        {"client-output-buffer-limit", "normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60"},
        {"repl-backlog-size", "1048576"},
        {"hash-max-listpack-entries", "512"},
        {"hash-max-ziplist-entries", "512"},
        {"list-max-listpack-size", "-2"},
        {"slave-read-only", "yes"},
        {"lua-time-limit", "5000"},
        {"supervised", "no"},
        {"syslog-facility", "local0"},
        {"tls-port", "0"},
        {"acl-pubsub-default", "resetchannels"},
    };
    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        assert_shown(pairs[i][0], pairs[i][1]);
}

static void what_has_no_effect_yet_is_checked_and_kept(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "appendonly yes",
        "maxmemory 1gb",
        "tls-port 6380",
        "aclfile users.acl",
        "cluster-enabled yes",
        "replicaof 1.2.3.4 6379",
        "slaveof 1.2.3.4 6379",
        "min-replicas-to-write 1",
        "user alice on",
        "loadmodule x.so",
        "notify-keyspace-events KEA",
    };
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        assert_int_equal(load(lines[i]), 0);
    assert_shown("replicaof", "1.2.3.4 6379");
    assert_int_equal(set("maxmemory", "100mb"), 0);
    assert_shown("maxmemory", "104857600");
    assert_int_equal(set("maxmemory", "1x"), -EINVAL);
    assert_int_equal(set("maxmemory-clients", "5%"), 0);
    assert_shown("maxmemory-clients", "5%");
    assert_int_equal(set("maxmemory-clients", "101%"), -EINVAL);
    assert_int_equal(set("appendonly", "yes"), 0);
    assert_int_equal(set("notify-keyspace-events", "KEnm"), 0);
    assert_shown("notify-keyspace-events", "nKEm");
    assert_int_equal(set("hz", "0"), 0);
    assert_shown("hz", "1");
    assert_int_equal(load("appendonly no\nmaxmemory 0\nreplicaof no one\naclfile \"\"\n"), 0);
}

static void save_points_add_up_and_can_be_cleared(void **state)
{
    (void)state;
    assert_int_equal(load("save 900 1\nsave 300 10"), 0);
    assert_shown("save", "900 1 300 10");
    assert_int_equal(load("save \"\"\n"), 0);
    assert_shown("save", "");
    assert_int_equal(set("save", "60 1000"), 0);
    assert_shown("save", "60 1000");
    assert_int_equal(set("save", "60"), -EINVAL);
    assert_int_equal(set("save", "0 1"), -EINVAL);
}

static void output_limits_keep_the_classes_that_are_not_named(void **state)
{
    (void)state;
    assert_int_equal(load("client-output-buffer-limit normal 64mb 0 0\nclient-output-buffer-limit replica 1kb 2kb 3\n"),
                     0);
    assert_shown("client-output-buffer-limit", "normal 67108864 0 0 slave 1024 2048 3 pubsub 33554432 8388608 60");
    assert_int_equal(option_get(&process->server.options.client_output_hard_limit), 0);
    settings_settle(&process->settings);
    assert_int_equal(option_get(&process->server.options.client_output_hard_limit), 64 << 20);
    assert_int_equal(set("client-output-buffer-limit", "normal 1mb 0 0"), 0);
    assert_int_equal(option_get(&process->server.options.client_output_hard_limit), 1 << 20);
    assert_int_equal(set("client-output-buffer-limit", "other 1 2 3"), -EINVAL);
}

static void commands_can_be_renamed_and_taken_away(void **state)
{
    (void)state;
    assert_int_equal(load("rename-command config secret\nrename-command FLUSHALL \"\"\n"), 0);
    char *text = settings_text(&process->settings, &process->settings.main.rename_command);
    struct families families;
    struct option_error error;
    families_collect(&families);
    assert_int_equal(families_rename(&families, text, &error), 0);
    struct command_table *table = command_table_create(families.list);
    assert_null(command_find(table, BYTES("config")));
    assert_non_null(command_find(table, BYTES("SECRET")));
    assert_null(command_find(table, BYTES("flushall")));
    assert_non_null(command_find(table, BYTES("flushdb")));
    command_table_destroy(table);
    assert_int_equal(families_rename(&families, "nothing x", &error), -EINVAL);
    assert_int_equal(families_rename(&families, "get set", &error), -EINVAL);
    families_deinit(&families);
    mem_free(text);
}

static void bind_addresses_may_be_optional_or_any(void **state)
{
    (void)state;
    struct bind_address address;
    assert_int_equal(bind_address_parse(BYTES("*"), &address), 0);
    assert_string_equal(address.host, "0.0.0.0");
    assert_false(address.optional);
    assert_int_equal(bind_address_parse(BYTES("-::*"), &address), 0);
    assert_string_equal(address.host, "::");
    assert_true(address.optional);
    assert_int_equal(bind_address_parse(BYTES("-"), &address), -EINVAL);
}

/* The folder of the sources, from where this file was compiled. */
static void assert_file_is(const char *name, int (*document)(struct option_registry *, struct buf *))
{
    struct buf expected;
    buf_init(&expected, (size_t)1 << 20);
    assert_int_equal(document(process->settings.registry, &expected), 0);
    char path[4096];
    const char *tests = strstr(__FILE__, "tests/unit/");
    assert_non_null(tests);
    snprintf(path, sizeof(path), "%.*s%s", (int)(tests - __FILE__), __FILE__, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = mem_alloc(expected.size + 2);
    size_t size = fread(text, 1, expected.size + 1, file);
    fclose(file);
    assert_true(bytes_equal(bytes_make(text, size), buf_bytes(&expected)));
    mem_free(text);
    buf_deinit(&expected);
}

static void the_documentation_is_up_to_date(void **state)
{
    (void)state;
    assert_file_is("docs/configuration.md", option_registry_document);
    assert_file_is("ketch.conf", option_registry_sample);
}

static void the_sample_file_can_be_read_and_changes_nothing(void **state)
{
    (void)state;
    struct buf sample, again;
    buf_init(&sample, (size_t)1 << 20);
    buf_init(&again, (size_t)1 << 20);
    assert_int_equal(option_registry_sample(process->settings.registry, &sample), 0);
    assert_int_equal(option_text_load(process->settings.registry, buf_bytes(&sample), "sample", &fault), 0);
    assert_int_equal(option_text_rewrite(process->settings.registry, buf_bytes(&sample), &again), 0);
    assert_true(bytes_equal(buf_bytes(&sample), buf_bytes(&again)));
    buf_deinit(&again);
    buf_deinit(&sample);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(directives_of_redis_are_there_with_its_defaults),
        TEST(what_has_no_effect_yet_is_checked_and_kept),
        TEST(save_points_add_up_and_can_be_cleared),
        TEST(output_limits_keep_the_classes_that_are_not_named),
        TEST(commands_can_be_renamed_and_taken_away),
        TEST(bind_addresses_may_be_optional_or_any),
        TEST(the_documentation_is_up_to_date),
        TEST(the_sample_file_can_be_read_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
