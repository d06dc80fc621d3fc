/* settings.h - every option of the server in one registry, and what those of the process itself need beyond their rows.
 *
 * Owns:       the registry and the fields of main.def and accepted.def; those of other modules lie in struct server.
 * Threads:    created and loaded by the main thread; afterwards as lib/option/registry.h says.
 * Fails by:   option errors with a text for the user. */
#ifndef KETCH_SERVER_MAIN_SETTINGS_H
#define KETCH_SERVER_MAIN_SETTINGS_H

#include "lib/option/registry.h"
#include "server/worker/server.h"

struct listeners; /* server/main/listeners.h */

struct main_options {
#define OPTION OPTION_FIELD
#include "server/main/main.def"
#undef OPTION
};

struct accepted_options {
#define ACCEPTED(kind, field, name, value, least, most, when, flags, alias) OPTION_FIELD_TYPE_##kind field;
#define ACCEPTED_COMPOSED(kind, field, name, value, least, most, when, flags, alias, compose)                          \
    OPTION_FIELD_TYPE_##kind field;
#define ACCEPTED_APPLIED ACCEPTED_COMPOSED
#include "server/main/accepted.def"
#undef ACCEPTED
#undef ACCEPTED_COMPOSED
#undef ACCEPTED_APPLIED
};

/* Index of a choice in main.def. */
enum main_supervised { MAIN_SUPERVISED_UPSTART, MAIN_SUPERVISED_SYSTEMD, MAIN_SUPERVISED_AUTO, MAIN_SUPERVISED_NO };
enum main_local { MAIN_LOCAL_NO, MAIN_LOCAL_YES, MAIN_LOCAL_ONLY };

extern const char *const main_loglevel_names[];
extern const char *const main_facility_names[];
extern const char *const main_supervised_names[];
extern const char *const main_local_names[];

struct settings {
    struct server *server;
    struct option_registry *registry;
    struct listeners *listeners; /* told when the port changes; NULL before there are any */
    struct main_options main;
    struct accepted_options accepted;
};

/* Makes the registry with all defaults and hangs it on the server. */
void settings_init(struct settings *settings, struct server *server);
void settings_deinit(struct settings *settings);

/* The table of accepted.def goes into the registry. */
void accepted_add(struct settings *settings);
/* Brings values that Redis would not keep to the nearest it would. */
void accepted_settle(struct settings *settings);

/* Logs one warning (in several lines when it is long) that names the options without effect that `is_named` picks. */
void settings_warn_inert(struct settings *settings, bool (*is_named)(void *context, const struct option_view *view),
                         void *context);

/* Takes over what one option means for another, after the configuration was read. */
void settings_settle(struct settings *settings);

/* An option's text, NULL-terminated, on the heap. */
char *settings_text(struct settings *settings, const struct option_text *text);

/* ---- compose.c: hooks for options whose lines have a grammar of their own ---- */

int compose_save(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                 struct option_error *error);
int compose_events(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                   struct option_error *error);
int compose_memory_clients(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                           struct option_error *error);
int compose_output_limits(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                          struct option_error *error);
int compose_percentiles(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                        struct option_error *error);
int compose_oom_values(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                       struct option_error *error);
int compose_replicaof(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                      struct option_error *error);
int compose_rename(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                   struct option_error *error);

/* The hard limit of normal clients in the text that compose_output_limits made, in bytes. */
int64_t output_limits_normal(const char *text);

#endif
