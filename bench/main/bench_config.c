#include "bench/main/bench_config.h"

#include "lib/base/mem.h"
#include "lib/base/number.h"
#include "lib/base/random.h"

#include <stdarg.h>

#define REQUESTS_DEFAULT 10000
#define SEED_DEFAULT 0x6b65746368u
#define OUTSTANDING_MAX (1ull << 28) /* over all clients: 4 GiB of stamps */

static int fail(char *error, const char *format, ...) PRINTF_LIKE(2, 3);

static int fail(char *error, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(error, OPTION_ERROR_SIZE, format, values);
    va_end(values);
    return -1;
}

static char *text_copy(struct bytes text)
{
    char *copy = mem_alloc(text.size + 1);
    memcpy(copy, text.at, text.size);
    copy[text.size] = '\0';
    return copy;
}

/* Before and after the first `mark`; without one, all is `before`. */
static bool split(struct bytes text, char mark, struct bytes *before, struct bytes *after)
{
    const uint8_t *at = text.size ? memchr(text.at, mark, text.size) : NULL;
    *before = at ? bytes_make(text.at, (size_t)(at - text.at)) : text;
    *after = at ? bytes_make(at + 1, text.size - before->size - 1) : bytes_make(text.at + text.size, 0);
    return at != NULL;
}

/* ---- who we are -------------------------------------------------------------------------------------------------- */

/* "PASSWORD", "USER:PASSWORD" or ":PASSWORD". */
static void credentials_set(struct bench_config *config, char *user, char *password)
{
    mem_free(config->user);
    mem_free(config->password);
    if (user && *user == '\0') {
        mem_free(user);
        user = NULL;
    }
    config->user = user;
    config->password = password;
    config->options->target.user = user;
    config->options->target.password = password;
}

static void authenticate_apply(struct bench_config *config)
{
    struct bytes before, after, text = bytes_of(config->options->authenticate);
    if (split(text, ':', &before, &after))
        credentials_set(config, text_copy(before), text_copy(after));
    else
        credentials_set(config, NULL, text_copy(text));
}

/* ---- the URI ----------------------------------------------------------------------------------------------------- */

static int hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* With %XX decoded; NULL when malformed or with a zero byte. */
static char *percent_decoded(struct bytes text)
{
    char *to = mem_alloc(text.size + 1);
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        int c = text.at[i];
        if (c == '%') {
            int high = i + 2 < text.size ? hex_digit(text.at[i + 1]) : -1;
            int low = i + 2 < text.size ? hex_digit(text.at[i + 2]) : -1;
            c = high < 0 || low < 0 ? 0 : high * 16 + low;
            i += 2;
        }
        if (c == 0) {
            mem_free(to);
            return NULL;
        }
        to[size++] = (char)c;
    }
    to[size] = '\0';
    return to;
}

static int uri_credentials(struct bench_config *config, struct bytes text, char *error)
{
    struct bytes before, after;
    bool both = split(text, ':', &before, &after);
    char *user = both ? percent_decoded(before) : NULL, *password = percent_decoded(both ? after : before);
    if ((both && !user) || !password || *password == '\0') {
        mem_free(user);
        mem_free(password);
        return fail(error, "--uri: malformed user name or password");
    }
    credentials_set(config, user, password);
    return 0;
}

static int uri_host(struct bench_config *config, struct bytes text, char *error)
{
    struct target_options *target = &config->options->target;
    struct bytes host, port, rest = text;
    bool with_port;
    if (text.size > 0 && text.at[0] == '[') {
        if (!split(bytes_make(text.at + 1, text.size - 1), ']', &host, &rest))
            return fail(error, "--uri: ] is missing after the address");
        with_port = rest.size > 0 && rest.at[0] == ':';
        if (rest.size > 0 && !with_port)
            return fail(error, "--uri: malformed address");
        port = with_port ? bytes_make(rest.at + 1, rest.size - 1) : (struct bytes){0};
    } else {
        with_port = split(text, ':', &host, &port);
    }
    uint64_t number = 6379;
    if (with_port && (!number_parse_u64(port, &number) || number < 1 || number > 65535))
        return fail(error, "--uri: the port must be a number from 1 to 65535");
    if (host.size == 0)
        return fail(error, "--uri: the host is missing");
    config->uri_host = text_copy(host);
    target->host = config->uri_host;
    target->port = (uint16_t)number;
    return 0;
}

static int uri_apply(struct bench_config *config, char *error)
{
    struct bench_options *options = config->options;
    struct bytes text = bytes_of(options->uri), address, database, before, after;
    if (strncmp(options->uri, "rediss://", 9) == 0)
        return fail(error, "TLS is not available in this version (--uri rediss://)");
    if (strncmp(options->uri, "redis://", 8) != 0)
        return fail(error, "--uri must begin with redis://");
    text = bytes_make(text.at + 8, text.size - 8);
    /* The last @ ends the credentials, so that a password may have one in it. */
    const uint8_t *at = text.size ? memrchr(text.at, '@', text.size) : NULL;
    if (at) {
        size_t size = (size_t)(at - text.at);
        if (uri_credentials(config, bytes_make(text.at, size), error) < 0)
            return -1;
        text = bytes_make(at + 1, text.size - size - 1);
    }
    (void)split(text, '?', &before, &after);
    if (split(before, '/', &address, &database) && database.size > 0) {
        uint64_t number;
        if (!number_parse_u64(database, &number) || number > INT32_MAX)
            return fail(error, "--uri: the database must be a number");
        options->target.database = number;
    }
    if (bench_option_given(options, "host") || bench_option_given(options, "server") ||
        bench_option_given(options, "port") || (at && options->authenticate))
        snprintf(config->warning, sizeof(config->warning),
                 "warning: --uri overrides host, port and credentials given "
                 "by other options");
    return uri_host(config, address, error);
}

/* ---- what fits together ------------------------------------------------------------------------------------------ */

static int target_check(struct bench_config *config, char *error)
{
    struct bench_options *options = config->options;
    bool tcp = bench_option_given(options, "host") || bench_option_given(options, "server") ||
               bench_option_given(options, "port") || options->uri;
    if (options->target.unix_socket && tcp)
        return fail(error, "UNIX domain socket and TCP cannot be used together");
    if (options->ipv4 && options->ipv6)
        return fail(error, "--ipv4 and --ipv6 exclude each other");
    options->target.family = options->ipv4 ? AF_INET : options->ipv6 ? AF_INET6 : AF_UNSPEC;
    if (options->authenticate)
        authenticate_apply(config);
    return options->uri ? uri_apply(config, error) : 0;
}

static int keys_check(struct bench_options *options, char *error)
{
    const struct workload_options *workload = &options->workload;
    bool gauss = workload->set_letter == 'G' || workload->get_letter == 'G';
    if (workload->key_min > workload->key_max)
        return fail(error, "--key-minimum is greater than --key-maximum");
    if (strlen(workload->key_prefix) > KEY_PREFIX_MAX)
        return fail(error, "--key-prefix is longer than %d bytes", KEY_PREFIX_MAX);
    if (!gauss && (workload->key_stddev > 0 || workload->key_median > 0))
        return fail(error, "--key-stddev and --key-median need a G in --key-pattern");
    if (workload->key_median > 0 &&
        (workload->key_median < (double)workload->key_min || workload->key_median > (double)workload->key_max + 1))
        return fail(error, "--key-median lies outside the keys");
    return 0;
}

static void requests_set(struct bench_options *options)
{
    struct load_options *load = &options->load;
    if (load->all_keys) {
        uint64_t clients = (uint64_t)load->threads * load->clients;
        uint64_t keys = options->workload.key_max - options->workload.key_min + 1;
        load->requests = options->workload.set_letter == 'P' ? (keys + clients - 1) / clients : keys;
    } else if (load->requests == 0 && load->test_time_s == 0) {
        load->requests = REQUESTS_DEFAULT;
    }
}

int bench_config_init(struct bench_config *config, struct bench_options *options, char *error)
{
    *config = (struct bench_config){.options = options};
    if (target_check(config, error) < 0 || keys_check(options, error) < 0)
        return -1;
    const struct load_options *load = &options->load;
    if ((uint64_t)load->threads * load->clients * load->pipeline > OUTSTANDING_MAX)
        return fail(error, "threads x clients x pipeline is more than %llu", OUTSTANDING_MAX);
    if ((uint64_t)load->threads * load->clients > UINT32_MAX / 2)
        return fail(error, "too many clients");
    requests_set(options);
    options->workload.seed = SEED_DEFAULT;
    if (options->randomize)
        random_secret(&options->workload.seed, sizeof(options->workload.seed));
    options->report.threads = load->threads;
    options->report.clients = load->clients;
    options->report.requests = load->requests;
    options->report.test_time_s = load->test_time_s;
    return 0;
}

void bench_config_deinit(struct bench_config *config)
{
    mem_free(config->uri_host);
    mem_free(config->user);
    mem_free(config->password);
}
