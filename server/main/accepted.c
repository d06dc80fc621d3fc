/* Directives of Redis that are read but not acted on. */
#include "server/main/settings.h"

static const char *const accepted_policy_names[] = {"volatile-lru",   "volatile-lfu", "volatile-random",
                                                    "volatile-ttl",   "allkeys-lru",  "allkeys-lfu",
                                                    "allkeys-random", "noeviction",   NULL};
static const char *const accepted_fsync_names[] = {"everysec", "always", "no", NULL};
static const char *const accepted_sanitize_names[] = {"no", "yes", "clients", NULL};
static const char *const accepted_oom_names[] = {"no", "yes", "relative", "absolute", NULL};
static const char *const accepted_propagation_names[] = {"ignore", "panic", "panic-on-replicas", NULL};
static const char *const accepted_diskless_names[] = {"disabled", "on-empty-db", "swapdb", NULL};
static const char *const accepted_endpoint_names[] = {"ip", "hostname", "unknown-endpoint", NULL};
static const char *const accepted_pubsub_names[] = {"allchannels", "resetchannels", NULL};
static const char *const accepted_auth_names[] = {"no", "yes", "optional", NULL};

#define MEANING "A directive of Redis, accepted for compatibility."
#define OPTION_OWNER accepted_options
#define ACCEPTED(kind, field, name, value, least, most, when, flags, alias)                                            \
    OPTION_ROW(kind, field, name, value, least, most, when, MEANING)
#define ACCEPTED_COMPOSED(kind, field, name, value, least, most, when, flags, alias, compose)                          \
    OPTION_ROW(kind, field, name, value, least, most, when, MEANING)
#define ACCEPTED_APPLIED ACCEPTED_COMPOSED
static const struct option accepted_rows[] = {
#include "server/main/accepted.def"
};
#undef ACCEPTED
#undef ACCEPTED_COMPOSED
#undef ACCEPTED_APPLIED

/* Redis takes any number and keeps the nearest that it can work with. */
static int apply_hz(void *context, const char *value, struct option_error *error)
{
    struct settings *settings = context;
    (void)value, (void)error;
    accepted_settle(settings);
    return 0;
}

#define WORDS OPTION_MANY_WORDS
#define LINES OPTION_MANY_LINES
#define INERT OPTION_NO_EFFECT
#define PROTECTED OPTION_PROTECTED
#define HIDDEN OPTION_HIDDEN
#define ACCEPTED(kind, field, name_, value, least, most, when, flags_, alias_)                                         \
    {.name = (name_), .alias = (alias_), .flags = (flags_)},
#define ACCEPTED_COMPOSED(kind, field, name_, value, least, most, when, flags_, alias_, compose_)                      \
    {.name = (name_), .alias = (alias_), .flags = (flags_), .compose = (compose_)},
#define ACCEPTED_APPLIED(kind, field, name_, value, least, most, when, flags_, alias_, apply_)                         \
    {.name = (name_), .alias = (alias_), .flags = (flags_), .apply = (apply_)},
static const struct option_rule accepted_rules[] = {
#include "server/main/accepted.def"
};

void accepted_settle(struct settings *settings)
{
    int64_t hz = option_get(&settings->accepted.hz);
    int64_t kept = hz < 1 ? 1 : hz > 500 ? 500 : hz;
    atomic_store_explicit(&settings->accepted.hz, kept, memory_order_relaxed);
}

void accepted_add(struct settings *settings)
{
    option_registry_add(settings->registry, accepted_rows, COUNT_OF(accepted_rows), &settings->accepted);
    option_registry_rules(settings->registry, accepted_rules, COUNT_OF(accepted_rules), settings);
}
