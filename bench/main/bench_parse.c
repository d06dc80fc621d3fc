#include "bench/main/bench_options.h"
#include "lib/base/number.h"

#include <math.h>
#include <stdarg.h>

/* Where the reader is in argv. */
struct arguments {
    int count, at;
    char **list;
    char *error;
};

static int fail(struct arguments *arguments, const char *format, ...) PRINTF_LIKE(2, 3);

static int fail(struct arguments *arguments, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(arguments->error, OPTION_ERROR_SIZE, format, values);
    va_end(values);
    return -1;
}

/* ---- storing a value --------------------------------------------------------------------------------------------- */

static void number_store(const struct option_row *row, void *field, uint64_t value)
{
    switch (row->size) {
    case sizeof(uint16_t):
        *(uint16_t *)field = (uint16_t)value;
        break;
    case sizeof(uint32_t):
        *(uint32_t *)field = (uint32_t)value;
        break;
    default:
        CHECK(row->size == sizeof(uint64_t));
        *(uint64_t *)field = value;
    }
}

static int number_read(struct arguments *arguments, const struct option_row *row, void *field, const char *text)
{
    uint64_t value;
    if (!number_parse_u64(bytes_of(text), &value) || (double)value < row->min || (double)value > row->max)
        return fail(arguments, "--%s must be a whole number from %.0f to %.0f, not '%s'", row->name, row->min, row->max,
                    text);
    number_store(row, field, value);
    return 0;
}

static int real_read(struct arguments *arguments, const struct option_row *row, double *field, const char *text)
{
    double value;
    bool good = number_parse_double(bytes_of(text), &value) && isfinite(value);
    if (!good || value < row->min || value > row->max || (row->above_min && value <= row->min) ||
        (isfinite(row->max) && value >= row->max))
        return fail(arguments,
                    isfinite(row->max) ? "--%s must be a number above %g and below %g, not '%s'"
                                       : "--%s must be a number above %g (%g is too great), not '%s'",
                    row->name, row->min, row->max, text);
    *field = value;
    return 0;
}

static int row_read(struct arguments *arguments, struct bench_options *options, const struct option_row *row,
                    const char *text)
{
    void *field = (char *)options + row->offset;
    const char *wrong;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return 0;
    case OPTION_REPEAT:
        ++*(unsigned *)field;
        return 0;
    case OPTION_NUMBER:
        return number_read(arguments, row, field, text);
    case OPTION_REAL:
        return real_read(arguments, row, field, text);
    case OPTION_TEXT:
        *(const char **)field = text;
        return 0;
    case OPTION_OTHER:
        wrong = row->read(options, text);
        return wrong ? fail(arguments, "--%s %s, not '%s'", row->name, wrong, text) : 0;
    case OPTION_TLS:
    case OPTION_LATER:
    case OPTION_GROUP:
        break;
    }
    return 0;
}

/* ---- finding a row ----------------------------------------------------------------------------------------------- */

static bool name_is(const struct option_row *row, const char *name, size_t size)
{
    return row->name && strncmp(row->name, name, size) == 0 && row->name[size] == '\0';
}

static const struct option_row *row_exact(const char *name, size_t size)
{
    for (unsigned i = 0; i < bench_option_row_count; i++)
        if (name_is(&bench_option_rows[i], name, size))
            return &bench_option_rows[i];
    return NULL;
}

/* A full name, or the beginning of just one. */
static const struct option_row *row_find(struct arguments *arguments, const char *name, size_t size)
{
    const struct option_row *found = row_exact(name, size);
    for (unsigned i = 0; !found && i < bench_option_row_count; i++) {
        const struct option_row *row = &bench_option_rows[i];
        if (!row->name || size == 0 || strncmp(row->name, name, size) != 0)
            continue;
        for (unsigned j = i + 1; j < bench_option_row_count; j++) {
            const struct option_row *other = &bench_option_rows[j];
            if (other->name && strncmp(other->name, name, size) == 0) {
                (void)fail(arguments, "option --%.*s could be --%s or --%s", (int)size, name, row->name, other->name);
                return NULL;
            }
        }
        found = row;
    }
    if (!found)
        (void)fail(arguments, "unknown option --%.*s", (int)size, name);
    return found;
}

static const struct option_row *row_of_letter(char letter)
{
    for (unsigned i = 0; i < bench_option_row_count; i++)
        if (bench_option_rows[i].letter == letter)
            return &bench_option_rows[i];
    return NULL;
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

static int row_apply(struct arguments *arguments, struct bench_options *options, const struct option_row *row,
                     const char *attached)
{
    const char *text = attached;
    if (row->argument && !text) {
        if (arguments->at == arguments->count)
            return fail(arguments, "option --%s needs a value", row->name);
        text = arguments->list[arguments->at++];
    } else if (!row->argument && text) {
        return fail(arguments, "option --%s takes no value", row->name);
    }
    options->given[row - bench_option_rows] = true;
    return row_read(arguments, options, row, text);
}

static int long_read(struct arguments *arguments, struct bench_options *options, const char *name)
{
    size_t size = strcspn(name, "=");
    const struct option_row *row = row_find(arguments, name, size);
    return row ? row_apply(arguments, options, row, name[size] == '=' ? name + size + 1 : NULL) : -1;
}

/* "-c50", "-c 50", "-DR": letters, the last of which may take a value. */
static int letters_read(struct arguments *arguments, struct bench_options *options, const char *letters)
{
    for (; *letters; letters++) {
        const struct option_row *row = row_of_letter(*letters);
        if (!row)
            return fail(arguments, "unknown option -%c", *letters);
        if (row->argument)
            return row_apply(arguments, options, row, letters[1] ? letters + 1 : NULL);
        if (row_apply(arguments, options, row, NULL) < 0)
            return -1;
    }
    return 0;
}

static int argument_read(struct arguments *arguments, struct bench_options *options)
{
    const char *text = arguments->list[arguments->at++];
    if (strncmp(text, "--", 2) == 0 && text[2] != '\0')
        return long_read(arguments, options, text + 2);
    if (text[0] != '-' || text[1] == '\0' || strcmp(text, "--") == 0)
        return fail(arguments, "unexpected argument '%s'", text);
    /* Published command lines have full names behind a single dash: -clients=50. No letter's value can look so. */
    if (text[2] != '\0' && row_exact(text + 1, strcspn(text + 1, "=")))
        return long_read(arguments, options, text + 1);
    return letters_read(arguments, options, text + 1);
}

static int defaults_set(struct arguments *arguments, struct bench_options *options)
{
    memset(options, 0, sizeof(*options));
    for (unsigned i = 0; i < bench_option_row_count; i++)
        if (bench_option_rows[i].initial &&
            row_read(arguments, options, &bench_option_rows[i], bench_option_rows[i].initial) < 0)
            return -1;
    return 0;
}

int bench_options_parse(struct bench_options *options, int argc, char **argv, char *error)
{
    struct arguments arguments = {.count = argc, .at = 1, .list = argv, .error = error};
    if (defaults_set(&arguments, options) < 0)
        return -1;
    while (arguments.at < arguments.count)
        if (argument_read(&arguments, options) < 0)
            return -1;
    if (options->load.test_time_s > 0 && bench_option_given(options, "requests"))
        return fail(&arguments, "--test-time and --requests exclude each other");
    if (options->authenticate && (*options->authenticate == '\0' || strcmp(options->authenticate, ":") == 0))
        return fail(&arguments, "--authenticate has no password in it");
    return 0;
}

/* ---- the usage text ---------------------------------------------------------------------------------------------- */

#define HELP_COLUMN 34
#define HELP_WIDTH 84

/* Words from HELP_COLUMN on, wrapped. */
static void help_print(FILE *to, const char *help, int column)
{
    int used = 0;
    fprintf(to, "%*s", HELP_COLUMN - column, "");
    while (*help) {
        int size = (int)strcspn(help, " ");
        if (used > 0 && used + 1 + size > HELP_WIDTH) {
            fprintf(to, "\n%*s", HELP_COLUMN, "");
            used = 0;
        }
        used += fprintf(to, "%s%.*s", used > 0 ? " " : "", size, help);
        help += size;
        help += *help == ' ';
    }
}

static void row_print(FILE *to, const struct option_row *row)
{
    int column =
        row->letter ? fprintf(to, "  -%c, --%s", row->letter, row->name) : fprintf(to, "      --%s", row->name);
    if (row->argument)
        column += fprintf(to, "=%s", row->argument);
    if (column >= HELP_COLUMN) {
        fputc('\n', to);
        column = 0;
    }
    help_print(to, row->help, column);
    if (row->initial)
        fprintf(to, " (%s)", row->initial);
    fputc('\n', to);
}

void bench_usage_print(FILE *to)
{
    fprintf(to, "Usage: ketch-bench [options]\n"
                "Loads a Redis-compatible server and measures its throughput and latency.\n");
    for (unsigned i = 0; i < bench_option_row_count; i++) {
        const struct option_row *row = &bench_option_rows[i];
        if (row->kind == OPTION_GROUP)
            fprintf(to, "\n%s:\n", row->help);
        else if (row->kind != OPTION_TLS && row->kind != OPTION_LATER)
            row_print(to, row);
    }
    fprintf(to,
            "\nValues may follow after = or as the next argument. Names may be shortened while they stay unambiguous,\n"
            "and may stand behind a single dash when written in full. -h takes the host: help is --help.\n");
}
