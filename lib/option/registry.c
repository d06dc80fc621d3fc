#include "lib/option/registry.h"

#include "lib/base/mem.h"
#include "lib/option/option_value.h"

#include <errno.h>
#include <stdio.h>

struct option_registry *option_registry_create(void)
{
    struct option_registry *registry = mem_alloc_zeroed(sizeof(*registry));
    mutex_init(&registry->rewrite_mutex, MUTEX_RANK_REWRITE);
    mutex_init(&registry->mutex, MUTEX_RANK_CONFIG);
    return registry;
}

void option_registry_destroy(struct option_registry *registry)
{
    if (!registry)
        return;
    for (size_t i = 0; i < registry->count; i++) {
        if (registry->entries[i].row->kind == OPTION_KIND_text) {
            struct option_text *text = option_entry_text(&registry->entries[i]);
            mem_free(text->at);
            text->at = NULL;
        }
    }
    mem_free(registry->entries);
    mutex_deinit(&registry->mutex);
    mutex_deinit(&registry->rewrite_mutex);
    mem_free(registry);
}

/* A registry is small and asked rarely: a walk through it is fast enough. */
struct option_entry *option_entry_find(const struct option_registry *registry, struct bytes name)
{
    for (size_t i = 0; i < registry->count; i++) {
        struct option_entry *entry = &registry->entries[i];
        if (bytes_is(name, entry->row->name))
            return entry;
        if (entry->rule && entry->rule->alias && bytes_is(name, entry->rule->alias))
            return entry;
    }
    return NULL;
}

void option_registry_add(struct option_registry *registry, const struct option *rows, size_t count, void *base)
{
    registry->entries = mem_realloc(registry->entries, (registry->count + count) * sizeof(*registry->entries));
    for (size_t i = 0; i < count; i++) {
        CHECK(option_entry_find(registry, bytes_of(rows[i].name)) == NULL);
        struct option_entry *entry = &registry->entries[registry->count++];
        *entry = (struct option_entry){.row = &rows[i], .base = base};
        if (rows[i].kind == OPTION_KIND_text)
            option_entry_text(entry)->at = mem_copy_text(rows[i].text);
        else
            atomic_init(option_entry_number(entry), rows[i].number);
    }
}

void option_registry_rules(struct option_registry *registry, const struct option_rule *rules, size_t count,
                           void *context)
{
    for (size_t i = 0; i < count; i++) {
        struct option_entry *entry = option_entry_find(registry, bytes_of(rules[i].name));
        CHECK(entry != NULL && entry->rule == NULL);
        CHECK(!rules[i].alias || !option_entry_find(registry, bytes_of(rules[i].alias)));
        entry->rule = &rules[i];
        entry->context = context;
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

bool option_registry_view(struct option_registry *registry, size_t n, struct option_view *view)
{
    bool found = false;
    mutex_lock(&registry->mutex);
    for (size_t i = 0; i < registry->count && !found; i++) {
        const struct option_entry *entry = &registry->entries[i];
        size_t names = entry->rule && entry->rule->alias ? 2 : 1;
        if (n < names) {
            *view = (struct option_view){.name = n ? entry->rule->alias : entry->row->name,
                                         .row = entry->row,
                                         .flags = option_entry_flags(entry),
                                         .is_alias = n != 0,
                                         .given = entry->given};
            found = true;
        }
        n -= names;
    }
    mutex_unlock(&registry->mutex);
    return found;
}

static int show(const struct option_entry *entry, struct buf *to)
{
    struct option_value value = option_value_of(entry);
    if (!entry->rule || !entry->rule->show)
        return option_value_print(entry, value, to);
    struct buf text;
    buf_init(&text, OPTION_VALUE_MAX);
    int failed = option_value_print(entry, value, &text);
    if (!failed)
        failed = buf_append(&text, "", 1);
    if (!failed)
        failed = entry->rule->show(entry->context, (const char *)text.data, to);
    buf_deinit(&text);
    return failed;
}

int option_registry_show(struct option_registry *registry, struct bytes name, struct buf *to)
{
    mutex_lock(&registry->mutex);
    const struct option_entry *entry = option_entry_find(registry, name);
    int result = entry ? show(entry, to) : -ENOENT;
    mutex_unlock(&registry->mutex);
    return result;
}

int64_t option_registry_number(struct option_registry *registry, const char *name)
{
    mutex_lock(&registry->mutex);
    const struct option_entry *entry = option_entry_find(registry, bytes_of(name));
    int64_t number = entry && entry->row->kind != OPTION_KIND_text ? option_get(option_entry_number(entry)) : 0;
    mutex_unlock(&registry->mutex);
    return number;
}

size_t option_text_copy(struct option_registry *registry, const struct option_text *text, char *to, size_t size)
{
    mutex_lock(&registry->mutex);
    size_t whole = strlen(text->at);
    if (size) {
        size_t part = whole < size ? whole : size - 1;
        memcpy(to, text->at, part);
        to[part] = '\0';
    }
    mutex_unlock(&registry->mutex);
    return whole;
}

bool option_text_empty(struct option_registry *registry, const struct option_text *text)
{
    mutex_lock(&registry->mutex);
    bool empty = text->at[0] == '\0';
    mutex_unlock(&registry->mutex);
    return empty;
}

/* ---- changing ---------------------------------------------------------------------------------------------------- */

/* Puts the value into the field; what was there goes to *value, whose text the caller frees. */
static void exchange(const struct option_entry *entry, struct option_value *value)
{
    struct option_value old = option_value_of(entry);
    if (entry->row->kind == OPTION_KIND_text)
        option_entry_text(entry)->at = value->text;
    else
        atomic_store_explicit(option_entry_number(entry), value->number, memory_order_relaxed);
    *value = old;
}

static void name_fault(struct option_error *error, struct bytes name)
{
    snprintf(error->name, sizeof(error->name), "%.*s", (int)(name.size > 4096 ? 4096 : name.size),
             name.size ? (const char *)name.at : "");
}

int option_registry_line(struct option_registry *registry, const struct bytes *words, size_t count,
                         struct option_error *error)
{
    mutex_lock(&registry->mutex);
    struct option_entry *entry = count ? option_entry_find(registry, words[0]) : NULL;
    int failed;
    if (!entry) {
        failed = option_fail(error, -ENOENT, "Bad directive or wrong number of arguments");
    } else {
        bool adds = (option_entry_flags(entry) & OPTION_MANY_LINES) && entry->given;
        struct option_value value;
        failed = option_value_parse(entry, words + 1, count - 1, option_value_of(entry).text, adds, &value, error);
        if (!failed) {
            exchange(entry, &value);
            option_value_free(&value);
            entry->given = true;
        }
    }
    if (failed)
        name_fault(error, count ? words[0] : bytes_make("", 0));
    mutex_unlock(&registry->mutex);
    return failed;
}

/* One option of a set, while it is under way. */
struct change {
    struct option_entry *entry;
    struct option_value value; /* new until the exchange, old after it */
};

static int find_changes(const struct option_registry *registry, const struct option_pair *pairs, size_t count,
                        bool protected_allowed, struct change *changes, struct option_error *error)
{
    for (size_t i = 0; i < count; i++) {
        name_fault(error, pairs[i].name);
        changes[i].entry = option_entry_find(registry, pairs[i].name);
        if (!changes[i].entry || (option_entry_flags(changes[i].entry) & OPTION_HIDDEN))
            return option_fail(error, -ENOENT, "unknown option");
    }
    for (size_t i = 0; i < count; i++) {
        const struct option_entry *entry = changes[i].entry;
        name_fault(error, pairs[i].name);
        if (entry->row->when == OPTION_WHEN_START)
            return option_fail(error, -EPERM, "can't set immutable config");
        if ((option_entry_flags(entry) & OPTION_PROTECTED) && !protected_allowed)
            return option_fail(error, -EPERM, "can't set protected config");
        /* The same option under its other name is no mistake: the last value wins. */
        for (size_t j = 0; j < i; j++)
            if (bytes_equal_nocase(pairs[j].name, pairs[i].name))
                return option_fail(error, -EINVAL, "duplicate parameter");
    }
    return 0;
}

static int apply_change(const struct option_entry *entry, struct option_error *error)
{
    if (!entry->rule || !entry->rule->apply)
        return 0;
    struct buf text;
    buf_init(&text, OPTION_VALUE_MAX);
    int failed = option_value_print(entry, option_value_of(entry), &text);
    if (!failed)
        failed = buf_append(&text, "", 1);
    if (!failed)
        failed = entry->rule->apply(entry->context, (const char *)text.data, error);
    buf_deinit(&text);
    return failed;
}

/* Exchanges all, then applies; gives everything back when one application fails. */
static int put_changes(const struct option_pair *pairs, size_t count, struct change *changes,
                       struct option_error *error)
{
    for (size_t i = 0; i < count; i++)
        exchange(changes[i].entry, &changes[i].value);
    for (size_t i = 0; i < count; i++) {
        int failed = apply_change(changes[i].entry, error);
        if (!failed)
            continue;
        name_fault(error, pairs[i].name);
        for (size_t j = count; j-- > 0;)
            exchange(changes[j].entry, &changes[j].value);
        struct option_error ignored; /* the old values have worked before */
        for (size_t j = 0; j <= i; j++)
            (void)!apply_change(changes[j].entry, &ignored);
        return failed;
    }
    for (size_t i = 0; i < count; i++)
        changes[i].entry->given = true;
    return 0;
}

int option_registry_set(struct option_registry *registry, const struct option_pair *pairs, size_t count,
                        bool protected_allowed, struct option_error *error)
{
    struct change *changes = mem_alloc_zeroed((count ? count : 1) * sizeof(*changes));
    mutex_lock(&registry->mutex);
    int failed = find_changes(registry, pairs, count, protected_allowed, changes, error);
    for (size_t i = 0; i < count && !failed; i++) {
        name_fault(error, pairs[i].name);
        const char *present = option_value_of(changes[i].entry).text;
        failed = option_value_parse(changes[i].entry, &pairs[i].value, 1, present, false, &changes[i].value, error);
    }
    if (!failed)
        failed = put_changes(pairs, count, changes, error);
    for (size_t i = 0; i < count; i++)
        option_value_free(&changes[i].value);
    mutex_unlock(&registry->mutex);
    mem_free(changes);
    return failed;
}
