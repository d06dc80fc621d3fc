#include "bench/main/bench_config.h"
#include "lib/base/mem.h"

#include <stdarg.h>

#define MASK "***"

/* The list being built. */
struct settings {
    struct report_setting *list;
    unsigned count;
};

static struct report_setting *add(struct settings *settings, const char *name)
{
    CHECK(settings->count < SETTINGS_MAX);
    struct report_setting *setting = &settings->list[settings->count++];
    *setting = (struct report_setting){.name = name};
    return setting;
}

static void text(struct settings *settings, const char *name, const char *value)
{
    add(settings, name)->text = value ? mem_copy_text(value) : NULL;
}

static void boolean(struct settings *settings, const char *name, bool value)
{
    text(settings, name, value ? "true" : "false");
}

static void number(struct settings *settings, const char *name, uint64_t value)
{
    char digits[32];
    struct report_setting *setting = add(settings, name);
    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    setting->text = mem_copy_text(digits);
    setting->number = true;
}

static void real(struct settings *settings, const char *name, double value)
{
    char digits[400];
    struct report_setting *setting = add(settings, name);
    snprintf(digits, sizeof(digits), "%f", value);
    setting->text = mem_copy_text(digits);
    setting->number = true;
}

static void pair(struct settings *settings, const char *name, uint64_t first, char mark, uint64_t second)
{
    char value[64];
    snprintf(value, sizeof(value), "%llu%c%llu", (unsigned long long)first, mark, (unsigned long long)second);
    text(settings, name, value);
}

/* The URI with its password hidden. */
static void uri(struct settings *settings, const char *value)
{
    const char *at = value ? strrchr(value, '@') : NULL;
    const char *start = value ? strstr(value, "://") : NULL;
    if (!at || !start || at < start) {
        text(settings, "uri", value ? value : "");
        return;
    }
    const char *colon = memchr(start + 3, ':', (size_t)(at - start - 3));
    size_t kept = (size_t)((colon ? colon + 1 : start + 3) - value), size = kept + sizeof(MASK) + strlen(at);
    char *masked = mem_alloc(size);
    snprintf(masked, size, "%.*s" MASK "%s", (int)kept, value, at);
    add(settings, "uri")->text = masked;
}

static void authenticate(struct settings *settings, const struct target_options *target)
{
    char *masked = NULL;
    if (target->user) {
        size_t size = strlen(target->user) + sizeof(":" MASK);
        masked = mem_alloc(size);
        snprintf(masked, size, "%s:" MASK, target->user);
    }
    add(settings, "authenticate")->text = masked ? masked : mem_copy_text(target->password ? MASK : "");
}

static void connection_add(struct settings *settings, const struct bench_options *options)
{
    static const char *const protocols[] = {"redis", "resp2", "resp3"};
    const struct target_options *target = &options->target;
    text(settings, "server", target->host);
    number(settings, "port", target->port);
    uri(settings, options->uri);
    text(settings, "unix socket", target->unix_socket);
    text(settings, "address family",
         target->family == AF_INET    ? "AF_INET"
         : target->family == AF_INET6 ? "AF_INET6"
                                      : "Unspecified");
    text(settings, "protocol", protocols[target->protocol]);
    text(settings, "out_file", options->out_file);
    text(settings, "client_stats", NULL);
    number(settings, "run_count", options->run_count);
    number(settings, "debug", options->debug);
}

static void load_add(struct settings *settings, const struct bench_options *options)
{
    const struct load_options *load = &options->load;
    number(settings, "requests", load->requests);
    number(settings, "rate_limit", load->rate);
    number(settings, "clients", load->clients);
    number(settings, "threads", load->threads);
    number(settings, "test_time", load->test_time_s);
    pair(settings, "ratio", options->workload.set_ratio, ':', options->workload.get_ratio);
    number(settings, "pipeline", load->pipeline);
}

static void objects_add(struct settings *settings, const struct workload_options *workload)
{
    const char pattern[] = {workload->set_letter, ':', workload->get_letter, '\0'};
    number(settings, "data_size", workload->data_size);
    number(settings, "data_offset", 0);
    boolean(settings, "random_data", workload->random_data);
    text(settings, "data_size_range", "0:0");
    text(settings, "data_size_list", "");
    text(settings, "data_size_pattern", "R");
    pair(settings, "expiry_range", workload->expiry_min, ':', workload->expiry_max);
    text(settings, "data_import", NULL);
    boolean(settings, "data_verify", false);
    boolean(settings, "verify_only", false);
    boolean(settings, "generate_keys", false);
    text(settings, "key_prefix", workload->key_prefix);
    number(settings, "key_minimum", workload->key_min);
    number(settings, "key_maximum", workload->key_max);
    text(settings, "key_pattern", pattern);
    real(settings, "key_stddev", workload->key_stddev);
    real(settings, "key_median", workload->key_median);
    real(settings, "key_zipf_exp", workload->key_zipf_exponent);
}

unsigned bench_settings_list(const struct bench_config *config, struct report_setting *list)
{
    static const char *const ios[] = {"auto", "epoll", "uring"};
    const struct bench_options *options = config->options;
    struct settings settings = {.list = list};
    connection_add(&settings, options);
    load_add(&settings, options);
    objects_add(&settings, &options->workload);
    number(&settings, "reconnect_interval", options->load.reconnect_interval);
    number(&settings, "connection_timeout", 0);
    number(&settings, "thread_conn_start_min_jitter_micros", 0);
    number(&settings, "thread_conn_start_max_jitter_micros", 0);
    number(&settings, "multi_key_get", 0);
    authenticate(&settings, &options->target);
    number(&settings, "select-db", options->target.database);
    boolean(&settings, "no-expiry", false);
    text(&settings, "wait-ratio", "0:0");
    text(&settings, "num-slaves", "0:0");
    text(&settings, "wait-timeout", "0-0");
    boolean(&settings, "print-all-runs", options->print_all_runs);
    /* Ours. */
    boolean(&settings, "distinct-client-seed", options->workload.distinct_seeds);
    number(&settings, "seed", options->workload.seed);
    text(&settings, "io", ios[options->load.io]);
    text(&settings, "version", KETCH_VERSION);
    return settings.count;
}

void bench_settings_free(struct report_setting *settings, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        mem_free(settings[i].text);
}
