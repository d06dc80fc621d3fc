#include "server/main/settings.h"

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "server/main/descriptors.h"
#include "server/main/listeners.h"
#include "server/worker/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* Defined beside the workers; worker.def names it. */
extern const char *const worker_io_names[];

const char *const main_loglevel_names[] = {"debug", "verbose", "notice", "warning", NULL};
const char *const main_facility_names[] = {"user",   "local0", "local1", "local2", "local3",
                                           "local4", "local5", "local6", "local7", NULL};
const char *const main_supervised_names[] = {"upstart", "systemd", "auto", "no", NULL};
const char *const main_local_names[] = {"no", "yes", "local", NULL};

#define OPTION OPTION_ROW
#define OPTION_OWNER main_options
static const struct option main_rows[] = {
#include "server/main/main.def"
};
#undef OPTION_OWNER
#define OPTION_OWNER worker_options
static const struct option worker_rows[] = {
#include "server/worker/worker.def"
};
#undef OPTION_OWNER
#define OPTION_OWNER store_options
static const struct option store_rows[] = {
#include "server/store/store.def"
};
#undef OPTION_OWNER
#undef OPTION

/* ---- hooks ---- */

static int apply_loglevel(void *context, const char *value, struct option_error *error)
{
    (void)context, (void)error;
    for (int i = 0; main_loglevel_names[i]; i++)
        if (strcmp(value, main_loglevel_names[i]) == 0)
            log_set_level((enum log_level)i);
    return 0;
}

static int check_dir(void *context, const char *value, struct option_error *error)
{
    (void)context;
    struct stat about;
    if (stat(value, &about))
        return option_fail(error, -EINVAL, "%s", strerror(errno));
    return S_ISDIR(about.st_mode) ? 0 : option_fail(error, -EINVAL, "%s", strerror(ENOTDIR));
}

static int apply_dir(void *context, const char *value, struct option_error *error)
{
    (void)context;
    return chdir(value) ? option_fail(error, -EINVAL, "%s", strerror(errno)) : 0;
}

static int show_dir(void *context, const char *value, struct buf *to)
{
    (void)context;
    char path[PATH_MAX];
    return buf_append_text(to, getcwd(path, sizeof(path)) ? path : value);
}

/* Runs under the registry's mutex, so the text of bind may be read. */
static int apply_port(void *context, const char *value, struct option_error *error)
{
    const struct settings *settings = context;
    const struct worker_options *options = &settings->server->options;
    (void)value;
    if (!settings->listeners ||
        listeners_change_port(settings->listeners, options->bind.at, (int)option_get(&options->port)) == 0)
        return 0;
    return option_fail(error, -EINVAL, "Unable to listen on this port. Check server logs.");
}

static int apply_maxclients(void *context, const char *value, struct option_error *error)
{
    const struct settings *settings = context;
    (void)value;
    int64_t wanted = option_get(&settings->server->options.maxclients);
    int64_t possible = descriptors_raise(wanted, descriptors_reserved(settings->server->worker_count));
    if (possible >= wanted)
        return 0;
    return option_fail(error, -EINVAL,
                       "The operating system is not able to handle the specified number of clients, try with %" PRId64,
                       possible);
}

static int apply_output_limits(void *context, const char *value, struct option_error *error)
{
    struct settings *settings = context;
    (void)error;
    atomic_store_explicit(&settings->server->options.client_output_hard_limit, output_limits_normal(value),
                          memory_order_relaxed);
    return 0;
}

static const struct option_rule rules[] = {
    {.name = "loglevel", .apply = apply_loglevel},
    {.name = "dir", .flags = OPTION_PROTECTED, .check = check_dir, .apply = apply_dir, .show = show_dir},
    {.name = "maxclients", .apply = apply_maxclients},
    {.name = "port", .apply = apply_port},
    {.name = "bind", .flags = OPTION_MANY_WORDS},
    {.name = "tcp-nodelay", .flags = OPTION_FIXED},
    {.name = "lazyfree-lazy-expire", .flags = OPTION_NO_EFFECT},
    {.name = "rename-command",
     .flags = OPTION_MANY_WORDS | OPTION_MANY_LINES | OPTION_HIDDEN,
     .compose = compose_rename},
    {.name = "client-output-buffer-limit",
     .flags = OPTION_MANY_WORDS | OPTION_MANY_LINES,
     .compose = compose_output_limits,
     .apply = apply_output_limits},
};

/* ---- the registry ---- */

void settings_init(struct settings *settings, struct server *server)
{
    settings->server = server;
    settings->registry = option_registry_create();
    option_registry_add(settings->registry, worker_rows, COUNT_OF(worker_rows), &server->options);
    option_registry_add(settings->registry, store_rows, COUNT_OF(store_rows), &server->store_options);
    option_registry_add(settings->registry, main_rows, COUNT_OF(main_rows), &settings->main);
    accepted_add(settings);
    option_registry_rules(settings->registry, rules, COUNT_OF(rules), settings);
    server->registry = settings->registry;
}

void settings_deinit(struct settings *settings)
{
    option_registry_destroy(settings->registry);
    settings->registry = NULL;
}

void settings_settle(struct settings *settings)
{
    struct option_view view;
    accepted_settle(settings);
    for (size_t i = 0; option_registry_view(settings->registry, i, &view); i++) {
        if (!view.given || view.is_alias || strcmp(view.name, "client-output-buffer-limit") != 0)
            continue;
        char *text = settings_text(settings, &settings->main.client_output_buffer_limit);
        struct option_error ignored;
        (void)!apply_output_limits(settings, text, &ignored);
        mem_free(text);
    }
}

/* An empty text or "0" switches something off: what is off in Ketch anyhow needs no warning (save "" is in many
 * scripts). */
static bool is_off(struct settings *settings, const struct option_view *view)
{
    struct buf value;
    buf_init(&value, OPTION_VALUE_MAX);
    bool off = view->row->kind == OPTION_KIND_text &&
               option_registry_show(settings->registry, bytes_of(view->name), &value) == 0 &&
               (value.size == 0 || bytes_equal(bytes_make(value.data, value.size), BYTES("0")));
    buf_deinit(&value);
    return off;
}

/* A log line holds a kilobyte. */
#define WARNING_MAX 800u

static void flush_names(struct buf *names)
{
    if (names->size)
        log_write(LOG_WARNING, "WARNING: accepted for compatibility, but without effect yet: %.*s", (int)names->size,
                  (const char *)names->data);
    buf_clear(names);
}

/* What users of a directive count on, and do not get yet. */
static const struct {
    const char *name, *consequence;
} harmful[] = {
    {"maxmemory", "nothing limits the memory of data, nothing is evicted"},
    {"maxmemory-clients", "the memory of clients is not limited"},
    {"appendonly", "nothing is written to disk, a restart loses all data"},
    {"save", "no snapshots are written to disk, a restart loses all data"},
    {"notify-keyspace-events", "no events are sent"},
    {"replicaof", "nothing is replicated, this server takes writes of its own"},
    {"min-replicas-to-write", "writes are taken without replicas"},
    {"cluster-enabled", "this server is no part of a cluster"},
    {"aclfile", "its users do not exist; only requirepass protects this server"},
    {"user", "this user does not exist; only requirepass protects this server"},
    {"tls-port", "nothing listens there, nothing is encrypted"},
    {"tls-cluster", "nothing is encrypted"},
    {"tls-replication", "nothing is encrypted"},
    {"loadmodule", "the module is not loaded"},
};

/* Warns of a directive that does harm when it is ignored. True when it was one: then it needs no further mention. */
static bool warn_harmful(struct settings *settings, const struct option_view *view)
{
    for (size_t i = 0; i < COUNT_OF(harmful); i++) {
        if (strcmp(view->name, harmful[i].name) != 0)
            continue;
        /* Of the numbers among them the default is the one that asks for nothing. */
        bool asks = view->row->kind == OPTION_KIND_text ||
                    option_registry_number(settings->registry, view->name) != view->row->number;
        if (asks)
            log_write(LOG_WARNING, "WARNING: '%s' is accepted, but has no effect yet: %s.", view->name,
                      harmful[i].consequence);
        return true;
    }
    return false;
}

typedef bool is_named_fn(void *context, const struct option_view *view);

/* An alias comes after its option. */
static bool is_named_or_alias(struct settings *settings, size_t n, is_named_fn *is_named, void *context)
{
    struct option_view view, alias;
    if (option_registry_view(settings->registry, n, &view) && is_named(context, &view))
        return true;
    return option_registry_view(settings->registry, n + 1, &alias) && alias.is_alias && alias.row == view.row &&
           is_named(context, &alias);
}

void settings_warn_inert(struct settings *settings, bool (*is_named)(void *context, const struct option_view *view),
                         void *context)
{
    struct buf names;
    buf_init(&names, 2 * WARNING_MAX);
    struct option_view view;
    for (size_t i = 0; option_registry_view(settings->registry, i, &view); i++) {
        if (view.is_alias || !(view.flags & OPTION_NO_EFFECT) || !is_named_or_alias(settings, i, is_named, context) ||
            is_off(settings, &view) || warn_harmful(settings, &view))
            continue;
        if (names.size > WARNING_MAX)
            flush_names(&names);
        if (buf_printf(&names, "%s%s", names.size ? ", " : "", view.name))
            break;
    }
    flush_names(&names);
    buf_deinit(&names);
}

char *settings_text(struct settings *settings, const struct option_text *text)
{
    size_t size = option_text_copy(settings->registry, text, NULL, 0) + 1;
    for (;;) {
        char *copy = mem_alloc(size);
        size_t whole = option_text_copy(settings->registry, text, copy, size);
        if (whole < size)
            return copy;
        mem_free(copy); /* it grew in between */
        size = whole + 1;
    }
}
