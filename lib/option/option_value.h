/* option_value.h - one value: parsed from words, printed, compared. Private to lib/option.
 *
 * Owns:       the text of a text option.
 * Threads:    any; the caller serialises. */
#ifndef KETCH_LIB_OPTION_OPTION_VALUE_H
#define KETCH_LIB_OPTION_OPTION_VALUE_H

#include "lib/option/registry.h"

struct option_value {
    int64_t number;
    char *text; /* NULL but for texts */
};

struct option_entry {
    const struct option *row;
    const struct option_rule *rule; /* or NULL */
    void *context;                  /* of the rule's hooks */
    void *base;
    bool given;
};

struct option_registry {
    struct mutex rewrite_mutex; /* rank REWRITE: of two rewrites at a time the older text could win */
    struct mutex mutex;         /* rank CONFIG: guards the values */
    struct option_entry *entries;
    size_t count;
};

static inline uint32_t option_entry_flags(const struct option_entry *entry)
{
    return entry->rule ? entry->rule->flags : 0;
}

static inline option_number *option_entry_number(const struct option_entry *entry)
{
    return (option_number *)(void *)((char *)entry->base + entry->row->offset);
}

static inline struct option_text *option_entry_text(const struct option_entry *entry)
{
    return (struct option_text *)(void *)((char *)entry->base + entry->row->offset);
}

/* NULL when unknown; any case. The registry's mutex is held, or nothing changes the list any more. */
struct option_entry *option_entry_find(const struct option_registry *registry, struct bytes name);

/* The value that words make for an option; `present` and `adds` as in option_rule's compose. The caller frees it. */
MUST_USE int option_value_parse(const struct option_entry *entry, const struct bytes *words, size_t count,
                                const char *present, bool adds, struct option_value *value, struct option_error *error);
void option_value_free(struct option_value *value);

/* The present value (text is borrowed) and the default. */
struct option_value option_value_of(const struct option_entry *entry);
struct option_value option_value_default(const struct option_entry *entry);
bool option_value_equal(const struct option_entry *entry, struct option_value a, struct option_value b);

/* The plain form: what CONFIG GET shows unless a rule says otherwise. */
MUST_USE int option_value_print(const struct option_entry *entry, struct option_value value, struct buf *to);
/* The form of a configuration line, quoted where that is needed. */
MUST_USE int option_value_print_line(const struct option_entry *entry, struct option_value value, struct buf *to);

#endif
