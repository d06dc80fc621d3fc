/* option.h - option tables: one row an option, from which come the typed field, the default, parsing of configuration
 * files and command lines, CONFIG GET/SET/REWRITE, the sample configuration and the documentation.
 *
 * A module declares its options in a .def file of rows
 *
 *     OPTION(kind, field, "redis-name", default, min, max, when, "meaning, one sentence")
 *
 * kind: count (integer), size (bytes, memory units allowed), seconds, milliseconds, octal, boolean ("yes"/"no"), choice
 * (one of a list), text. For choice, `min` is the name of a NULL-terminated array of names and the default is an index
 * into it; for text, the default is a string and min and max bound its length. `when` is LIVE (CONFIG SET works) or
 * START. The same file included twice makes the struct and the table:
 *
 *     struct worker_options {
 *     #define OPTION OPTION_FIELD
 *     #include "server/worker/worker.def"
 *     #undef OPTION
 *     };
 *
 * Owns:       values of text options.
 * Threads:    numbers are relaxed atomics, read anywhere; texts are read through option_text_copy; sets are
 *             serialised by the registry's mutex.
 * Fails by:   -EINVAL and friends with a text for the user in the error buffer; a failed set changes nothing. */
#ifndef KETCH_LIB_OPTION_OPTION_H
#define KETCH_LIB_OPTION_OPTION_H

#include "lib/base/buf.h"
#include "lib/base/bytes.h"
#include "lib/base/mutex.h"

#include <stdatomic.h>

enum option_kind {
    OPTION_KIND_count,
    OPTION_KIND_size,
    OPTION_KIND_seconds,
    OPTION_KIND_milliseconds,
    OPTION_KIND_octal,
    OPTION_KIND_boolean,
    OPTION_KIND_choice,
    OPTION_KIND_text
};
enum option_when { OPTION_WHEN_START, OPTION_WHEN_LIVE };

typedef _Atomic int64_t option_number;
struct option_text {
    char *at; /* never NULL once the registry has set defaults; guarded by the registry's mutex */
};

/* The value of a number, boolean (0 or 1) or choice (index). */
static inline int64_t option_get(const option_number *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

#define OPTION_FIELD_TYPE_count option_number
#define OPTION_FIELD_TYPE_size option_number
#define OPTION_FIELD_TYPE_seconds option_number
#define OPTION_FIELD_TYPE_milliseconds option_number
#define OPTION_FIELD_TYPE_octal option_number
#define OPTION_FIELD_TYPE_boolean option_number
#define OPTION_FIELD_TYPE_choice option_number
#define OPTION_FIELD_TYPE_text struct option_text
#define OPTION_FIELD(kind, field, name, value, min, max, when, meaning) OPTION_FIELD_TYPE_##kind field;

/* One row as data. The table of a .def file:
 *
 *     #define OPTION_OWNER worker_options
 *     static const struct option worker_option_rows[] = {
 *     #define OPTION OPTION_ROW
 *     #include "server/worker/worker.def"
 *     #undef OPTION
 *     };
 *     #undef OPTION_OWNER
 *
 * It becomes usable through a registry: lib/option/registry.h. */
struct option {
    const char *name;
    enum option_kind kind;
    enum option_when when;
    size_t offset;              /* of the field in its structure */
    int64_t number;             /* default; of a choice its index */
    const char *text;           /* default of a text */
    int64_t min, max;           /* of a text: of its length */
    const char *const *choices; /* NULL-terminated */
    const char *meaning;
};

#define OPTION_VALUE_number(value, least, most) .number = (value), .min = (least), .max = (most)
#define OPTION_VALUE_count OPTION_VALUE_number
#define OPTION_VALUE_size OPTION_VALUE_number
#define OPTION_VALUE_seconds OPTION_VALUE_number
#define OPTION_VALUE_milliseconds OPTION_VALUE_number
#define OPTION_VALUE_octal OPTION_VALUE_number
#define OPTION_VALUE_boolean OPTION_VALUE_number
#define OPTION_VALUE_choice(value, names, unused) .number = (value), .choices = (names)
#define OPTION_VALUE_text(value, least, most) .text = (value), .min = (least), .max = (most)
#define OPTION_ROW(kind_, field, name_, value, least, most, when_, meaning_)                                           \
    {.name = (name_),                                                                                                  \
     .kind = OPTION_KIND_##kind_,                                                                                      \
     .when = OPTION_WHEN_##when_,                                                                                      \
     .offset = offsetof(struct OPTION_OWNER, field),                                                                   \
     OPTION_VALUE_##kind_(value, least, most),                                                                         \
     .meaning = (meaning_)},

struct option_registry;

/* Copies a text with its terminator, cut to `size` bytes; returns the length of the whole. Any thread, but not from
 * within a rule's hooks. */
size_t option_text_copy(struct option_registry *registry, const struct option_text *text, char *to, size_t size);

/* True when the text is the empty one. As above. */
bool option_text_empty(struct option_registry *registry, const struct option_text *text);

#endif
