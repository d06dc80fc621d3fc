#include "lib/option/option_value.h"

#include "lib/base/mem.h"
#include "lib/base/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

int option_fail(struct option_error *error, int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return code;
}

static int parse_octal(struct bytes word, int64_t *number)
{
    if (word.size == 0 || word.size > 20)
        return -EINVAL;
    int64_t sum = 0;
    for (size_t i = 0; i < word.size; i++) {
        if (word.at[i] < '0' || word.at[i] > '7')
            return -EINVAL;
        sum = sum * 8 + (word.at[i] - '0');
    }
    *number = sum;
    return 0;
}

static int parse_choice(const struct option *row, struct bytes word, int64_t *number, struct option_error *error)
{
    for (int64_t i = 0; row->choices[i]; i++) {
        if (bytes_is(word, row->choices[i])) {
            *number = i;
            return 0;
        }
    }
    struct buf names;
    buf_init(&names, sizeof(error->text));
    int failed = 0;
    for (int64_t i = 0; row->choices[i] && !failed; i++)
        failed = buf_printf(&names, "%s%s", i ? ", " : "", row->choices[i]);
    option_fail(error, 0, "argument(s) must be one of the following: %.*s", (int)names.size,
                names.size ? (const char *)names.data : "");
    buf_deinit(&names);
    return -EINVAL;
}

static int parse_number(const struct option *row, struct bytes word, int64_t *number, struct option_error *error)
{
    if (row->kind == OPTION_KIND_size) {
        uint64_t size;
        if (!number_parse_memory(word, &size))
            return option_fail(error, -EINVAL, "argument must be a memory value");
        *number = size > INT64_MAX ? INT64_MAX : (int64_t)size;
        /* What does not fit the field is out of range, whatever the most it may be. */
        if (size > INT64_MAX)
            return option_fail(error, -EINVAL, "argument must be between %" PRId64 " and %" PRId64 " inclusive",
                               row->min, row->max);
    } else if (row->kind == OPTION_KIND_octal) {
        if (parse_octal(word, number))
            return option_fail(error, -EINVAL, "argument couldn't be parsed into an integer");
        if (*number < row->min || *number > row->max)
            return option_fail(error, -EINVAL, "argument must be between %" PRIo64 " and %" PRIo64 " inclusive",
                               row->min, row->max);
        return 0;
    } else if (!number_parse_i64(word, number)) {
        return option_fail(error, -EINVAL, "argument couldn't be parsed into an integer");
    }
    if (*number < row->min || *number > row->max)
        return option_fail(error, -EINVAL, "argument must be between %" PRId64 " and %" PRId64 " inclusive", row->min,
                           row->max);
    return 0;
}

static int parse_boolean(struct bytes word, int64_t *number, struct option_error *error)
{
    if (bytes_is(word, "yes"))
        *number = 1;
    else if (bytes_is(word, "no"))
        *number = 0;
    else
        return option_fail(error, -EINVAL, "argument must be 'yes' or 'no'");
    return 0;
}

/* Words inside the words: CONFIG SET and command lines give several as one. At least one comes out. */
static size_t split_words(const struct bytes *words, size_t count, struct bytes *to)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        while (at < words[i].size) {
            while (at < words[i].size && words[i].at[at] == ' ')
                at++;
            size_t start = at;
            while (at < words[i].size && words[i].at[at] != ' ')
                at++;
            if (at > start)
                to[made++] = bytes_make(words[i].at + start, at - start);
        }
    }
    if (made == 0)
        to[made++] = bytes_make("", 0);
    return made;
}

static int compose_plain(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to)
{
    int failed = 0;
    if (adds)
        failed = buf_append_text(to, present);
    for (size_t i = 0; i < count && !failed; i++) {
        if (to->size && words[i].size)
            failed = buf_append_text(to, " ");
        if (!failed)
            failed = buf_append_bytes(to, words[i]);
    }
    return failed;
}

static int parse_text(const struct option_entry *entry, const struct bytes *words, size_t count, const char *present,
                      bool adds, struct buf *to, struct option_error *error)
{
    size_t room = 1;
    for (size_t i = 0; i < count; i++)
        room += words[i].size / 2 + 1;
    struct bytes *split = NULL;
    if (option_entry_flags(entry) & OPTION_MANY_WORDS) {
        split = mem_alloc(room * sizeof(*split));
        count = split_words(words, count, split);
        words = split;
    }
    int failed;
    if (entry->rule && entry->rule->compose) {
        failed = entry->rule->compose(present, adds, words, count, to, error);
    } else {
        failed = compose_plain(present, adds, words, count, to);
        if (failed)
            option_fail(error, 0, "argument is too long");
    }
    mem_free(split);
    return failed;
}

static int check_text(const struct option *row, const struct buf *text, struct option_error *error)
{
    if (text->size && memchr(text->data, 0, text->size))
        return option_fail(error, -EINVAL, "argument contains a zero byte");
    if ((int64_t)text->size < row->min || (int64_t)text->size > row->max)
        return option_fail(error, -EINVAL, "argument must be between %" PRId64 " and %" PRId64 " bytes long", row->min,
                           row->max);
    return 0;
}

static int check_value(const struct option_entry *entry, struct option_value value, struct option_error *error)
{
    if ((option_entry_flags(entry) & OPTION_FIXED) && !option_value_equal(entry, value, option_value_default(entry)))
        return option_fail(error, -EINVAL, "Ketch does not support this setting of '%s' yet", entry->row->name);
    if (!entry->rule || !entry->rule->check)
        return 0;
    struct buf text;
    buf_init(&text, OPTION_VALUE_MAX);
    int failed = option_value_print(entry, value, &text);
    if (!failed)
        failed = buf_append(&text, "", 1);
    if (!failed)
        failed = entry->rule->check(entry->context, (const char *)text.data, error);
    buf_deinit(&text);
    return failed;
}

int option_value_parse(const struct option_entry *entry, const struct bytes *words, size_t count, const char *present,
                       bool adds, struct option_value *value, struct option_error *error)
{
    const struct option *row = entry->row;
    *value = (struct option_value){0};
    if (count == 0 || (count > 1 && !(option_entry_flags(entry) & OPTION_MANY_WORDS)))
        return option_fail(error, -EINVAL, "wrong number of arguments");
    int failed;
    if (row->kind == OPTION_KIND_text) {
        struct buf text;
        buf_init(&text, OPTION_VALUE_MAX);
        failed = parse_text(entry, words, count, present, adds, &text, error);
        if (!failed)
            failed = check_text(row, &text, error);
        if (!failed)
            failed = buf_append(&text, "", 1);
        if (failed)
            buf_deinit(&text);
        else
            value->text = (char *)text.data;
    } else if (row->kind == OPTION_KIND_boolean) {
        failed = parse_boolean(words[0], &value->number, error);
    } else if (row->kind == OPTION_KIND_choice) {
        failed = parse_choice(row, words[0], &value->number, error);
    } else {
        failed = parse_number(row, words[0], &value->number, error);
    }
    if (!failed)
        failed = check_value(entry, *value, error);
    if (failed)
        option_value_free(value);
    return failed;
}

void option_value_free(struct option_value *value)
{
    mem_free(value->text);
    value->text = NULL;
}

struct option_value option_value_of(const struct option_entry *entry)
{
    if (entry->row->kind == OPTION_KIND_text)
        return (struct option_value){.text = option_entry_text(entry)->at};
    return (struct option_value){.number = option_get(option_entry_number(entry))};
}

struct option_value option_value_default(const struct option_entry *entry)
{
    /* The cast drops a const that nobody writes through: values of this kind are only compared and printed. */
    if (entry->row->kind == OPTION_KIND_text)
        return (struct option_value){.text = (char *)(uintptr_t)entry->row->text};
    return (struct option_value){.number = entry->row->number};
}

bool option_value_equal(const struct option_entry *entry, struct option_value a, struct option_value b)
{
    return entry->row->kind == OPTION_KIND_text ? strcmp(a.text, b.text) == 0 : a.number == b.number;
}

int option_value_print(const struct option_entry *entry, struct option_value value, struct buf *to)
{
    switch (entry->row->kind) {
    case OPTION_KIND_boolean:
        return buf_append_text(to, value.number ? "yes" : "no");
    case OPTION_KIND_choice:
        return buf_append_text(to, entry->row->choices[value.number]);
    case OPTION_KIND_octal:
        return buf_printf(to, "%" PRIo64, value.number);
    case OPTION_KIND_text:
        return buf_append_text(to, value.text);
    case OPTION_KIND_count:
    case OPTION_KIND_size:
    case OPTION_KIND_seconds:
    case OPTION_KIND_milliseconds:
        break;
    }
    return buf_printf(to, "%" PRId64, value.number);
}

static bool needs_quotes(struct bytes text)
{
    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.at[i];
        if (c <= ' ' || c == '"' || c == '\'' || c == '\\' || c == '#' || c >= 0x7f)
            return true;
    }
    return text.size == 0;
}

static int print_quoted(struct bytes text, struct buf *to)
{
    int failed = buf_append_text(to, "\"");
    for (size_t i = 0; i < text.size && !failed; i++) {
        uint8_t c = text.at[i];
        if (c == '"' || c == '\\')
            failed = buf_printf(to, "\\%c", c);
        else if (c < ' ' || c >= 0x7f)
            failed = buf_printf(to, "\\x%02x", c);
        else
            failed = buf_append(to, &c, 1);
    }
    return failed ? failed : buf_append_text(to, "\"");
}

static int print_text(struct bytes text, struct buf *to)
{
    return needs_quotes(text) ? print_quoted(text, to) : buf_append_bytes(to, text);
}

static int print_words(const char *text, struct buf *to)
{
    int failed = 0;
    for (const char *at = text; *at && !failed;) {
        size_t size = strcspn(at, " ");
        failed = at > text ? buf_append_text(to, " ") : 0;
        if (!failed)
            failed = print_text(bytes_make(at, size), to);
        at += size + (at[size] == ' ');
    }
    return failed;
}

/* Sizes are written with the largest unit that leaves nothing over, as people write them. */
static int print_size(int64_t size, struct buf *to)
{
    static const struct {
        int64_t bytes;
        const char *unit;
    } units[] = {{1 << 30, "gb"}, {1 << 20, "mb"}, {1 << 10, "kb"}};
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (size >= units[i].bytes && size % units[i].bytes == 0)
            return buf_printf(to, "%" PRId64 "%s", size / units[i].bytes, units[i].unit);
    return buf_printf(to, "%" PRId64, size);
}

int option_value_print_line(const struct option_entry *entry, struct option_value value, struct buf *to)
{
    int failed = buf_printf(to, "%s ", entry->row->name);
    if (failed)
        return failed;
    if (entry->row->kind == OPTION_KIND_size)
        return print_size(value.number, to);
    if (entry->row->kind != OPTION_KIND_text)
        return option_value_print(entry, value, to);
    if ((option_entry_flags(entry) & OPTION_MANY_WORDS) && value.text[0])
        return print_words(value.text, to);
    return print_text(bytes_of(value.text), to);
}
