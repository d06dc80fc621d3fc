#include "bench/main/bench_options.h"

#include "lib/base/number.h"

#include <math.h>
#include <netinet/in.h>

#define CLIENTS_MAX 1000000
#define DATA_SIZE_MAX (1u << 30)
#define KEY_MAX 9223372036854774784.0 /* the greatest double below 2^63 */
#define SECONDS_MAX 1000000000

/* ---- readers of single options ----------------------------------------------------------------------------------- */

/* "A<separator>B", whole numbers. */
static bool pair_read(const char *text, char separator, uint64_t *first, uint64_t *second)
{
    const char *middle = strchr(text, separator);
    return middle && number_parse_u64(bytes_make(text, (size_t)(middle - text)), first) &&
           number_parse_u64(bytes_of(middle + 1), second);
}

static const char *ratio_read(struct bench_options *options, const char *text)
{
    struct workload_options *workload = &options->workload;
    if (!pair_read(text, ':', &workload->set_ratio, &workload->get_ratio))
        return "must be SETs:GETs, two whole numbers";
    return workload->set_ratio == 0 && workload->get_ratio == 0 ? "must not be 0:0" : NULL;
}

static const char *key_pattern_read(struct bench_options *options, const char *text)
{
    if (strlen(text) != 3 || text[1] != ':' || !key_letter_valid(text[0]) || !key_letter_valid(text[2]))
        return "must be two of R, S, P, G and Z, as in S:R";
    if ((text[0] == 'P') != (text[2] == 'P'))
        return "P must stand on both sides";
    options->workload.set_letter = text[0];
    options->workload.get_letter = text[2];
    return NULL;
}

static const char *expiry_read(struct bench_options *options, const char *text)
{
    uint64_t low, high;
    if (!pair_read(text, '-', &low, &high) || low > high || high == 0 || high > UINT32_MAX)
        return "must be MIN-MAX seconds, MAX not below MIN and not 0";
    options->workload.expiry_min = (uint32_t)low;
    options->workload.expiry_max = (uint32_t)high;
    return NULL;
}

static const char *requests_read(struct bench_options *options, const char *text)
{
    options->load.all_keys = strcmp(text, "allkeys") == 0;
    options->load.requests = 0;
    if (options->load.all_keys)
        return NULL;
    return number_parse_u64(bytes_of(text), &options->load.requests) && options->load.requests > 0 &&
                   options->load.requests <= INT64_MAX
               ? NULL
               : "must be a number above 0, or allkeys";
}

static const char *protocol_read(struct bench_options *options, const char *text)
{
    static const char *const names[] = {[TARGET_REDIS] = "redis", [TARGET_RESP2] = "resp2", [TARGET_RESP3] = "resp3"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            options->target.protocol = (enum target_protocol)i;
            return NULL;
        }
    }
    if (strncmp(text, "memcache", strlen("memcache")) == 0)
        return "memcached protocols are not available in this version";
    return "must be redis, resp2 or resp3";
}

static const char *percentiles_read(struct bench_options *options, const char *text)
{
    struct report_options *report = &options->report;
    report->percentile_count = 0;
    for (;;) {
        size_t size = strcspn(text, ",");
        double value;
        if (!number_parse_double(bytes_make(text, size), &value) || !(value >= 0 && value <= 100))
            return "must be numbers from 0 to 100 with commas between";
        if (report->percentile_count == PERCENTILES_MAX)
            return "has more than 64 numbers";
        report->percentiles[report->percentile_count++] = value;
        if (text[size] == '\0')
            return NULL;
        text += size + 1;
    }
}

static const char *io_read(struct bench_options *options, const char *text)
{
    static const char *const names[] = {[LOOP_IO_AUTO] = "auto", [LOOP_IO_EPOLL] = "epoll", [LOOP_IO_URING] = "uring"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            options->load.io = (enum loop_io)i;
            return NULL;
        }
    }
    return "must be auto, epoll or uring";
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define FIELD(member)                                                                                                  \
    .offset = offsetof(struct bench_options, member), .size = sizeof(((struct bench_options *)0)->member)
#define GROUP(text)                                                                                                    \
    {                                                                                                                  \
        .kind = OPTION_GROUP, .help = (text)                                                                           \
    }
#define LATER(long_name, takes)                                                                                        \
    {                                                                                                                  \
        .name = (long_name), .kind = OPTION_LATER, .argument = (takes)                                                 \
    }
#define TLS(long_name, takes)                                                                                          \
    {                                                                                                                  \
        .name = (long_name), .kind = OPTION_TLS, .argument = (takes)                                                   \
    }

/* clang-format off */
const struct option_row bench_option_rows[] = {
    GROUP("Server"),
    {.name = "host", .letter = 'h', .kind = OPTION_TEXT, .argument = "ADDR", .initial = "localhost", FIELD(target.host),
     .help = "Server to load."},
    {.name = "server", .letter = 's', .kind = OPTION_TEXT, .argument = "ADDR", FIELD(target.host),
     .help = "The same as --host."},
    {.name = "port", .letter = 'p', .kind = OPTION_NUMBER, .argument = "PORT", .min = 1, .max = 65535,
     .initial = "6379", FIELD(target.port), .help = "Its TCP port."},
    {.name = "unix-socket", .letter = 'S', .kind = OPTION_TEXT, .argument = "PATH", FIELD(target.unix_socket),
     .help = "Connect to this UNIX domain socket instead."},
    {.name = "ipv4", .letter = '4', .kind = OPTION_FLAG, FIELD(ipv4), .help = "Use IPv4 addresses only."},
    {.name = "ipv6", .letter = '6', .kind = OPTION_FLAG, FIELD(ipv6), .help = "Use IPv6 addresses only."},
    {.name = "uri", .letter = 'u', .kind = OPTION_TEXT, .argument = "URI", FIELD(uri),
     .help = "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], in place of the options for these."},
    {.name = "authenticate", .letter = 'a', .kind = OPTION_TEXT, .argument = "CRED", FIELD(authenticate),
     .help = "PASSWORD, USER:PASSWORD, or :PASSWORD for one with colons in it."},
    {.name = "protocol", .letter = 'P', .kind = OPTION_OTHER, .argument = "NAME", .initial = "redis",
     .read = protocol_read, .help = "redis (RESP2 without HELLO), resp2 or resp3 (with HELLO)."},
    {.name = "select-db", .kind = OPTION_NUMBER, .argument = "DB", .min = 0, .max = INT32_MAX, .initial = "0",
     FIELD(target.database), .help = "Database to SELECT."},

    GROUP("Load"),
    {.name = "threads", .letter = 't', .kind = OPTION_NUMBER, .argument = "N", .min = 1, .max = 4096, .initial = "4",
     FIELD(load.threads), .help = "Threads."},
    {.name = "clients", .letter = 'c', .kind = OPTION_NUMBER, .argument = "N", .min = 1, .max = CLIENTS_MAX,
     .initial = "50", FIELD(load.clients), .help = "Connections per thread."},
    {.name = "requests", .letter = 'n', .kind = OPTION_OTHER, .argument = "N", .read = requests_read,
     .help = "Requests per client, 10000 unless --test-time is given; allkeys: as many as there are keys, which "
             "--key-pattern P:P divides among the clients."},
    {.name = "test-time", .kind = OPTION_NUMBER, .argument = "SECS", .min = 1, .max = SECONDS_MAX,
     FIELD(load.test_time_s), .help = "Run for so long instead of counting requests."},
    {.name = "ratio", .kind = OPTION_OTHER, .argument = "S:G", .initial = "1:10", .read = ratio_read,
     .help = "SETs and GETs that each client sends in turn."},
    {.name = "pipeline", .kind = OPTION_NUMBER, .argument = "N", .min = 1, .max = 1000000, .initial = "1",
     FIELD(load.pipeline), .help = "Requests a client may have outstanding."},
    {.name = "rate-limiting", .kind = OPTION_NUMBER, .argument = "N", .min = 1, .max = 1000000000, FIELD(load.rate),
     .help = "Requests per second and connection, at most."},
    {.name = "reconnect-interval", .kind = OPTION_NUMBER, .argument = "N", .min = 1, .max = KEY_MAX,
     FIELD(load.reconnect_interval), .help = "Close and connect again after so many requests of a client."},
    {.name = "run-count", .letter = 'x', .kind = OPTION_NUMBER, .argument = "N", .min = 1, .max = 10000,
     .initial = "1", FIELD(run_count), .help = "Run the test so often; report the best, the worst and the mean."},
    {.name = "distinct-client-seed", .kind = OPTION_FLAG, FIELD(workload.distinct_seeds),
     .help = "Give each client random numbers of its own; without it all draw the same sequence."},
    {.name = "randomize", .kind = OPTION_FLAG, FIELD(randomize), .help = "Another seed in each run of the program."},
    {.name = "io", .kind = OPTION_OTHER, .argument = "NAME", .initial = "auto", .read = io_read,
     .help = "How to wait for the network: epoll, uring, or auto for the faster that works."},

    GROUP("Values and keys"),
    {.name = "data-size", .letter = 'd', .kind = OPTION_NUMBER, .argument = "BYTES", .min = 1, .max = DATA_SIZE_MAX,
     .initial = "32", FIELD(workload.data_size), .help = "Size of values."},
    {.name = "random-data", .letter = 'R', .kind = OPTION_FLAG, FIELD(workload.random_data),
     .help = "Random bytes instead of repeated x."},
    {.name = "expiry-range", .kind = OPTION_OTHER, .argument = "MIN-MAX", .read = expiry_read,
     .help = "Set keys with a random time to live in seconds (SETEX); 0 is none."},
    {.name = "key-prefix", .kind = OPTION_TEXT, .argument = "TEXT", .initial = "memtier-", FIELD(workload.key_prefix),
     .help = "What keys begin with."},
    {.name = "key-minimum", .kind = OPTION_NUMBER, .argument = "N", .min = 0, .max = KEY_MAX, .initial = "0",
     FIELD(workload.key_min), .help = "Least key number."},
    {.name = "key-maximum", .kind = OPTION_NUMBER, .argument = "N", .min = 1, .max = KEY_MAX, .initial = "10000000",
     FIELD(workload.key_max), .help = "Greatest key number."},
    {.name = "key-pattern", .kind = OPTION_OTHER, .argument = "S:G", .initial = "R:R", .read = key_pattern_read,
     .help = "Order of keys for SETs and GETs: R random, S sequential, P sequential with a part for each client, "
             "G Gaussian, Z Zipf."},
    {.name = "key-stddev", .kind = OPTION_REAL, .argument = "X", .min = 0, .max = INFINITY, .above_min = true,
     FIELD(workload.key_stddev), .help = "Of G: standard deviation (a sixth of the range)."},
    {.name = "key-median", .kind = OPTION_REAL, .argument = "X", .min = 0, .max = INFINITY, .above_min = true,
     FIELD(workload.key_median), .help = "Of G: the most frequent key (the middle of the range)."},
    {.name = "key-zipf-exp", .kind = OPTION_REAL, .argument = "X", .min = 0, .max = 5, .above_min = true,
     FIELD(workload.key_zipf_exponent), .help = "Of Z: the exponent, above 0 and below 5 (1)."},

    GROUP("Results"),
    {.name = "out-file", .letter = 'o', .kind = OPTION_TEXT, .argument = "FILE", FIELD(out_file),
     .help = "Write the tables there."},
    {.name = "json-out-file", .kind = OPTION_TEXT, .argument = "FILE", FIELD(json_file),
     .help = "Write the results as JSON."},
    {.name = "hdr-file-prefix", .kind = OPTION_TEXT, .argument = "PREFIX", FIELD(hdr_prefix),
     .help = "Write latency histograms for the HdrHistogram tools."},
    {.name = "print-percentiles", .kind = OPTION_OTHER, .argument = "LIST", .initial = "50,99,99.9",
     .read = percentiles_read, .help = "Percentiles to show."},
    {.name = "print-all-runs", .kind = OPTION_FLAG, FIELD(print_all_runs),
     .help = "With --run-count: also each run's result."},
    {.name = "hide-histogram", .kind = OPTION_FLAG, FIELD(report.hide_histogram),
     .help = "Leave the latency distribution out."},
    {.name = "show-config", .kind = OPTION_FLAG, FIELD(show_config), .help = "Print the configuration first."},
    {.name = "debug", .letter = 'D', .kind = OPTION_REPEAT, FIELD(debug), .help = "More messages."},
    {.name = "help", .kind = OPTION_FLAG, FIELD(help), .help = "Print this text."},
    {.name = "version", .letter = 'v', .kind = OPTION_FLAG, FIELD(version), .help = "Print the version."},

    /* Known, so that they are refused by name instead of being taken for a mistake. */
    TLS("tls", NULL), TLS("cert", "FILE"), TLS("key", "FILE"), TLS("cacert", "FILE"), TLS("tls-skip-verify", NULL),
    TLS("sni", "NAME"), TLS("tls-protocols", "LIST"),
    LATER("cluster-mode", NULL), LATER("client-stats", "PREFIX"), LATER("command-stats-breakdown", "HOW"),
    LATER("statsd-host", "HOST"), LATER("statsd-port", "PORT"), LATER("statsd-prefix", "TEXT"),
    LATER("statsd-run-label", "TEXT"), LATER("graphite-port", "PORT"), LATER("clients-start", "N"),
    LATER("clients-step", "N"), LATER("step-duration", "SECS"), LATER("reconnect-on-error", NULL),
    LATER("max-reconnect-attempts", "N"), LATER("reconnect-backoff-factor", "X"), LATER("connection-timeout", "SECS"),
    LATER("thread-conn-start-min-jitter-micros", "N"), LATER("thread-conn-start-max-jitter-micros", "N"),
    LATER("multi-key-get", "N"), LATER("command", "TEXT"), LATER("command-ratio", "N"),
    LATER("command-key-pattern", "LETTER"), LATER("monitor-input", "FILE"), LATER("monitor-pattern", "LETTER"),
    LATER("scan-incremental-iteration", NULL), LATER("scan-incremental-max-iterations", "N"),
    LATER("data-size-range", "MIN-MAX"), LATER("data-size-list", "LIST"), LATER("data-size-pattern", "LETTER"),
    LATER("data-offset", "N"), LATER("data-import", "FILE"), LATER("data-verify", NULL), LATER("verify-only", NULL),
    LATER("generate-keys", NULL), LATER("no-expiry", NULL), LATER("wait-ratio", "S:W"), LATER("num-slaves", "MIN-MAX"),
    LATER("wait-timeout", "MIN-MAX"), LATER("transaction", NULL), LATER("realtime-latencies", NULL),
    LATER("command-miss-tracking", "HOW"), LATER("miss-rate-threshold", "PCT"), LATER("retry-on-error", NULL),
    LATER("max-retries", "N"), LATER("retry-backoff-ms", "MS"), LATER("retry-backoff-factor", "X"),
    LATER("retry-on", "LIST"), LATER("max-retry-queue", "N"), LATER("failed-keys-file", "FILE"),
    LATER("connection-stage-timeout", "SECS"), LATER("command-is-read", NULL), LATER("read-preference", "WHICH"),
    LATER("read-preference-fallback", "HOW"), LATER("read-server", "ADDR"), LATER("replica-clients", "N"),
    LATER("replicas-per-shard", "N"), LATER("prometheus-port", "PORT"), LATER("prometheus-bind-addr", "ADDR"),
    LATER("prometheus-run-label", "K=V"), LATER("prometheus-latency-buckets", "LIST"), LATER("pin-threads", NULL),
    LATER("client-no-touch", NULL),
};
/* clang-format on */

const unsigned bench_option_row_count = COUNT_OF(bench_option_rows);

static_assert(COUNT_OF(bench_option_rows) <= OPTION_ROWS_MAX, "more rows than `given` holds");

bool bench_option_given(const struct bench_options *options, const char *name)
{
    unsigned at = 0;
    while (at < bench_option_row_count &&
           (!bench_option_rows[at].name || strcmp(bench_option_rows[at].name, name) != 0))
        at++;
    CHECK(at < bench_option_row_count);
    return options->given[at];
}

bool bench_options_refused(const struct bench_options *options, char *error)
{
    const struct option_row *refused = NULL;
    for (unsigned i = 0; i < bench_option_row_count; i++) {
        const struct option_row *row = &bench_option_rows[i];
        if (!options->given[i])
            continue;
        if (row->kind == OPTION_TLS || (row->kind == OPTION_LATER && !refused))
            refused = row;
        if (row->kind == OPTION_TLS)
            break;
    }
    if (!refused)
        return false;
    if (refused->kind == OPTION_TLS)
        snprintf(error, OPTION_ERROR_SIZE, "TLS is not available in this version (--%s)", refused->name);
    else
        snprintf(error, OPTION_ERROR_SIZE, "--%s is not available in this version", refused->name);
    return true;
}
