/* registry.h - every option of every module under its name: defaults, parsing, CONFIG GET and SET.
 *
 * Owns:       the values of text options. Tables, rules and the structures that hold the fields are borrowed.
 * Threads:    tables and rules are added by one thread at the start; everything else is serialised by the registry's
 *             mutex (rank CONFIG). Hooks of rules run under it: they may not call the registry.
 * Invariants: a set changes all of its options or none.
 * Fails by:   -ENOENT (no such option), -EINVAL, -EPERM (cannot be changed now), with a text for the user.
 * Limits:     values of 64 KiB. */
#ifndef KETCH_LIB_OPTION_REGISTRY_H
#define KETCH_LIB_OPTION_REGISTRY_H

#include "lib/option/option.h"

#define OPTION_VALUE_MAX 65536

/* What went wrong, for the user. */
struct option_error {
    char text[512];
    char name[64]; /* the option at fault, as it was written; cut to fit */
};

int option_fail(struct option_error *error, int code, const char *format, ...) PRINTF_LIKE(3, 4);

#define OPTION_MANY_WORDS (1u << 0) /* a text of several words on its line: bind a b */
#define OPTION_MANY_LINES (1u << 1) /* lines add up: save 900 1, save 300 10 */
#define OPTION_NO_EFFECT (1u << 2)  /* accepted for compatibility: the user is told */
#define OPTION_FIXED (1u << 3)      /* only its default is accepted: ignoring another value would do harm */
#define OPTION_PROTECTED (1u << 4)  /* CONFIG SET only when protected options may be set */
#define OPTION_HIDDEN (1u << 5)     /* a directive of files, not shown by CONFIG GET */

/* What one option needs beyond its row. Hooks may be NULL. */
struct option_rule {
    const char *name;
    const char *alias; /* another name of the same option, or NULL */
    uint32_t flags;

    /* Writes the text that the words make. `present` is the text so far; `adds` is false when the words are to replace
     * it: in CONFIG SET, and in the first line that names the option. For texts only. */
    int (*compose)(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                   struct option_error *error);
    /* Refuses a value before anything changes. 0 or -EINVAL. */
    int (*check)(void *context, const char *value, struct option_error *error);
    /* Makes a new value take effect (CONFIG SET only). When it fails, every option of the set gets its old value back
     * and is applied again. */
    int (*apply)(void *context, const char *value, struct option_error *error);
    /* Writes what CONFIG GET shows instead of the value. */
    int (*show)(void *context, const char *value, struct buf *to);
};

struct option_registry *option_registry_create(void);
void option_registry_destroy(struct option_registry *registry);

/* Adds a table whose fields lie in the structure at `base`, and gives them their defaults. Aborts on a name that is
 * there already: that is a programming error. */
void option_registry_add(struct option_registry *registry, const struct option *rows, size_t count, void *base);

/* Attaches rules to options that were added before; one rule an option. `context` goes to the hooks. */
void option_registry_rules(struct option_registry *registry, const struct option_rule *rules, size_t count,
                           void *context);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Names come in the order in which tables were added, every alias after its option. */
struct option_view {
    const char *name; /* or the alias */
    const struct option *row;
    uint32_t flags;
    bool is_alias;
    bool given; /* by a file, the command line or CONFIG SET */
};

/* The n-th name; false past the last. */
bool option_registry_view(struct option_registry *registry, size_t n, struct option_view *view);

/* Appends the value as CONFIG GET shows it. 0, -ENOENT, or what buf_append returns. */
MUST_USE int option_registry_show(struct option_registry *registry, struct bytes name, struct buf *to);

/* The value of an option that is not a text, for modules that may not know the structure it is in; 0 when there is
 * none. */
int64_t option_registry_number(struct option_registry *registry, const char *name);

/* ---- changing ---------------------------------------------------------------------------------------------------- */

/* One line of a file or one option of a command line: the name and its words. Hooks `apply` do not run. */
MUST_USE int option_registry_line(struct option_registry *registry, const struct bytes *words, size_t count,
                                  struct option_error *error);

struct option_pair {
    struct bytes name, value;
};

/* CONFIG SET: all or none, then `apply`. -ENOENT with error->name for an unknown option. */
MUST_USE int option_registry_set(struct option_registry *registry, const struct option_pair *pairs, size_t count,
                                 bool protected_allowed, struct option_error *error);

/* ---- configuration files ----------------------------------------------------------------------------------------- */

/* Where in the input a line was refused. */
struct option_fault {
    struct option_error error;
    char source[256]; /* path, "standard input", ... */
    unsigned line;    /* from 1 */
    char text[256];   /* the line, cut to fit */
};

/* Reads lines in redis.conf syntax: words with quotes and escapes, # comments, `include pattern`. */
MUST_USE int option_file_load(struct option_registry *registry, const char *path, struct option_fault *fault);
/* The same from an open descriptor, to its end. */
MUST_USE int option_descriptor_load(struct option_registry *registry, int fd, const char *source,
                                    struct option_fault *fault);
/* The same from memory. */
MUST_USE int option_text_load(struct option_registry *registry, struct bytes text, const char *source,
                              struct option_fault *fault);

/* Brings the file up to date with the values: lines whose value differs are changed, options that differ from their
 * default and have no line are added at the end; everything else stays. Replaces the file atomically. 0 or -errno. */
MUST_USE int option_file_rewrite(struct option_registry *registry, const char *path, struct option_error *error);

/* What option_file_rewrite would write over `old`. */
MUST_USE int option_text_rewrite(struct option_registry *registry, struct bytes old, struct buf *to);

/* ---- documents --------------------------------------------------------------------------------------------------- */

/* A commented configuration file that says every default, and the table of the documentation (Markdown). */
MUST_USE int option_registry_sample(struct option_registry *registry, struct buf *to);
MUST_USE int option_registry_document(struct option_registry *registry, struct buf *to);

#endif
