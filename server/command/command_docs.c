#include "server/command/command_docs.h"

#include <errno.h>

/* ---- parsing the grammar ---- */

struct parser {
    const char *at;
    uint32_t key_specs;
    uint32_t keys_seen;
    uint32_t depth;
    struct command_argument *to;
    uint32_t capacity, count;
};

static void skip_spaces(struct parser *parser)
{
    while (*parser->at == ' ')
        parser->at++;
}

static bool is_suffix(char c)
{
    return c == '?' || c == '+' || c == '*' || c == '!' || c == '@' || c == '#';
}

static bool ends_word(char c)
{
    return c == '\0' || c == ' ' || c == ')' || c == '(' || c == '%' || c == '=' || is_suffix(c);
}

/* A run of plain characters, or what stands in single quotes. */
static struct bytes read_word(struct parser *parser)
{
    const char *start = parser->at;
    if (*start == '\'') {
        const char *end = strchr(start + 1, '\'');
        if (!end)
            return BYTES("");
        parser->at = end + 1;
        return bytes_make(start + 1, (size_t)(end - start - 1));
    }
    while (!ends_word(*parser->at))
        parser->at++;
    return bytes_make(start, (size_t)(parser->at - start));
}

/* Capitals, digits and dashes: a small letter is a value whose type was forgotten. */
static bool is_plain_token(struct bytes word)
{
    for (size_t i = 0; i < word.size; i++) {
        uint8_t c = word.at[i];
        if (!(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '-' && c != '_')
            return false;
    }
    return true;
}

static int read_version(struct parser *parser, struct command_argument *argument)
{
    bool deprecated = *++parser->at == '-';
    if (deprecated)
        parser->at++;
    const char *start = parser->at;
    while ((*parser->at >= '0' && *parser->at <= '9') || *parser->at == '.')
        parser->at++;
    struct bytes version = bytes_make(start, (size_t)(parser->at - start));
    if (version.size == 0)
        return -EINVAL;
    if (deprecated)
        argument->deprecated_since = version;
    else
        argument->since = version;
    return 0;
}

static int read_suffixes(struct parser *parser, struct command_argument *argument)
{
    for (;; parser->at++) {
        switch (*parser->at) {
        case '?':
            argument->flags |= ARGUMENT_OPTIONAL;
            break;
        case '+':
            argument->flags |= ARGUMENT_MULTIPLE;
            break;
        case '*':
            argument->flags |= ARGUMENT_OPTIONAL | ARGUMENT_MULTIPLE;
            break;
        case '!':
            argument->flags |= ARGUMENT_MULTIPLE_TOKEN;
            break;
        case '#':
            if (argument->type != ARGUMENT_KEY || parser->at[1] < '0' || parser->at[1] > '9')
                return -EINVAL;
            argument->key_spec = *++parser->at - '0';
            break;
        case '@':
            if (read_version(parser, argument) < 0)
                return -EINVAL;
            parser->at--;
            break;
        default:
            if ((argument->flags & ARGUMENT_MULTIPLE_TOKEN) && !(argument->flags & ARGUMENT_MULTIPLE))
                return -EINVAL;
            return *parser->at == '\0' || *parser->at == ' ' || *parser->at == ')' ? 0 : -EINVAL;
        }
    }
}

static int set_type(struct parser *parser, struct command_argument *argument, char letter)
{
    static const char letters[] = "sidkpt"; /* in the order of the enum */
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (!found)
        return -EINVAL;
    argument->type = (enum command_argument_type)(ARGUMENT_STRING + (found - letters));
    if (argument->type == ARGUMENT_KEY) {
        uint32_t last = parser->key_specs > 0 ? parser->key_specs - 1 : 0;
        argument->key_spec = (int32_t)(parser->keys_seen < last ? parser->keys_seen : last);
        parser->keys_seen++;
    }
    return 0;
}

/* "name:type" or "name/shown:type", as read by read_word. */
static int set_value(struct parser *parser, struct command_argument *argument, struct bytes word)
{
    if (word.size < 3 || word.at[word.size - 2] != ':')
        return -EINVAL;
    argument->name = bytes_make(word.at, word.size - 2);
    const uint8_t *slash = memchr(word.at, '/', word.size - 2);
    if (slash) {
        argument->name.size = (size_t)(slash - word.at);
        argument->shown = bytes_make(slash + 1, word.size - 2 - argument->name.size - 1);
    }
    return argument->name.size == 0 ? -EINVAL : set_type(parser, argument, (char)word.at[word.size - 1]);
}

static int read_items(struct parser *parser, uint32_t *members, bool *one_of);

/* After "(": the name, the members and ")". */
static int read_group(struct parser *parser, uint32_t self)
{
    bool one_of = false;
    uint32_t members = 0;
    const char *start = ++parser->at;
    while (!ends_word(*parser->at) && *parser->at != ':')
        parser->at++;
    if (*parser->at != ':' || parser->at == start || ++parser->depth > COMMAND_ARGUMENTS_DEPTH_MAX)
        return -EINVAL;
    parser->to[self].name = bytes_make(start, (size_t)(parser->at - start));
    parser->at++;
    int error = read_items(parser, &members, &one_of);
    parser->depth--;
    if (error < 0 || members == 0 || *parser->at != ')')
        return error < 0 ? error : -EINVAL;
    parser->at++;
    parser->to[self].type = one_of ? ARGUMENT_ONE_OF : ARGUMENT_BLOCK;
    parser->to[self].members = members;
    parser->to[self].size = parser->count - self;
    return 0;
}

/* What follows "WORD%": a value or a group. */
static int read_after_token(struct parser *parser, uint32_t self)
{
    if (*parser->at == '(')
        return read_group(parser, self);
    return set_value(parser, &parser->to[self], read_word(parser));
}

static int read_item(struct parser *parser)
{
    if (parser->count == parser->capacity)
        return -E2BIG;
    uint32_t self = parser->count++;
    struct command_argument *argument = &parser->to[self];
    int error = 0;
    *argument = (struct command_argument){.size = 1, .key_spec = -1};
    if (*parser->at == '(') {
        error = read_group(parser, self);
        return error < 0 ? error : read_suffixes(parser, argument);
    }
    bool quoted = *parser->at == '\'';
    struct bytes word = read_word(parser);
    if (word.size == 0)
        return -EINVAL;
    if (*parser->at == '%') {
        parser->at++;
        argument->token = word;
        error = read_after_token(parser, self);
    } else if (*parser->at == '=') {
        parser->at++;
        argument->type = ARGUMENT_TOKEN;
        argument->name = word;
        argument->token = read_word(parser);
        error = argument->token.size ? 0 : -EINVAL;
    } else if (!quoted && word.size > 2 && word.at[word.size - 2] == ':') {
        error = set_value(parser, argument, word);
    } else {
        argument->type = ARGUMENT_TOKEN;
        argument->name = argument->token = word;
        argument->name_from_token = true;
        error = quoted || is_plain_token(word) ? 0 : -EINVAL;
    }
    return error < 0 ? error : read_suffixes(parser, argument);
}

/* Items up to the end or a closing parenthesis, which is left. */
static int read_items(struct parser *parser, uint32_t *members, bool *one_of)
{
    bool expect_bar = false, bars = false;
    for (;;) {
        skip_spaces(parser);
        if (*parser->at == '\0' || *parser->at == ')')
            break;
        if (*parser->at == '|') {
            /* One kind of group at a time: a bar stands between all members or none. */
            if (!expect_bar || (!bars && *members > 1))
                return -EINVAL;
            bars = true;
            expect_bar = false;
            parser->at++;
            continue;
        }
        if (expect_bar && bars)
            return -EINVAL;
        int error = read_item(parser);
        if (error < 0)
            return error;
        (*members)++;
        expect_bar = true;
    }
    if (bars && !expect_bar)
        return -EINVAL;
    *one_of = bars;
    return 0;
}

int command_arguments_parse(const char *grammar, uint32_t key_specs, struct command_argument *to, uint32_t capacity)
{
    struct parser parser = {.at = grammar ? grammar : "", .key_specs = key_specs, .to = to, .capacity = capacity};
    bool one_of = false;
    uint32_t members = 0;
    int error = read_items(&parser, &members, &one_of);
    if (error < 0)
        return error;
    if (*parser.at != '\0' || one_of)
        return -EINVAL;
    return (int)parser.count;
}

/* ---- writing ---- */

static const char *const type_names[] = {"string",    "integer",    "double", "key",  "pattern",
                                         "unix-time", "pure-token", "oneof",  "block"};

static void write_name(const struct command_argument *argument, struct resp_writer *writer)
{
    char lower[64];
    struct bytes name = argument->name;
    if (argument->name_from_token && name.size <= sizeof(lower)) {
        for (size_t i = 0; i < name.size; i++)
            lower[i] = (char)(name.at[i] >= 'A' && name.at[i] <= 'Z' ? name.at[i] | 0x20 : name.at[i]);
        name.at = (const uint8_t *)lower;
    }
    resp_write_bulk(writer, name);
}

static void write_pair(struct resp_writer *writer, const char *name, struct bytes value)
{
    if (value.size) {
        resp_write_text(writer, name);
        resp_write_bulk(writer, value);
    }
}

static void write_argument_flags(uint32_t flags, struct resp_writer *writer)
{
    static const char *const names[] = {"optional", "multiple", "multiple_token"};
    resp_write_text(writer, "flags");
    resp_write_set(writer, (size_t)__builtin_popcount(flags));
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (flags & (1u << i))
            resp_write_simple(writer, names[i]);
}

static void write_arguments(const struct command_argument *arguments, uint32_t members, struct resp_writer *writer);

static void write_argument(const struct command_argument *argument, struct resp_writer *writer)
{
    bool group = argument->type == ARGUMENT_ONE_OF || argument->type == ARGUMENT_BLOCK;
    size_t pairs = 3u + (argument->key_spec >= 0) + (argument->token.size > 0) + (argument->since.size > 0) +
                   (argument->deprecated_since.size > 0) + (argument->flags != 0);
    resp_write_map(writer, pairs);
    resp_write_text(writer, "name");
    write_name(argument, writer);
    resp_write_text(writer, "type");
    resp_write_text(writer, type_names[argument->type]);
    if (!group) {
        resp_write_text(writer, "display_text");
        if (argument->shown.size)
            resp_write_bulk(writer, argument->shown);
        else
            write_name(argument, writer);
    }
    if (argument->key_spec >= 0) {
        resp_write_text(writer, "key_spec_index");
        resp_write_integer(writer, argument->key_spec);
    }
    write_pair(writer, "token", argument->token);
    write_pair(writer, "since", argument->since);
    write_pair(writer, "deprecated_since", argument->deprecated_since);
    if (argument->flags)
        write_argument_flags(argument->flags, writer);
    if (group) {
        resp_write_text(writer, "arguments");
        write_arguments(argument + 1, argument->members, writer);
    }
}

static void write_arguments(const struct command_argument *arguments, uint32_t members, struct resp_writer *writer)
{
    resp_write_array(writer, members);
    for (; members > 0; members--, arguments += arguments->size)
        write_argument(arguments, writer);
}

static uint32_t key_spec_count(const struct command *command)
{
    uint32_t count = 0;
    if (!command->key_specs)
        return command->keys.first ? 1 : 0;
    while (command->key_specs[count].first)
        count++;
    return count;
}

static void write_history(const char *const *history, struct resp_writer *writer)
{
    size_t count = 0;
    while (history[2 * count])
        count++;
    resp_write_text(writer, "history");
    resp_write_set(writer, count);
    for (size_t i = 0; i < 2 * count; i += 2) {
        resp_write_array(writer, 2);
        resp_write_text(writer, history[i]);
        resp_write_text(writer, history[i + 1]);
    }
}

static void write_text_pair(struct resp_writer *writer, const char *name, const char *value)
{
    if (value) {
        resp_write_text(writer, name);
        resp_write_text(writer, value);
    }
}

static void write_doc_flags(const struct command *command, struct resp_writer *writer)
{
    bool system = (command->flags & CMD_SYSTEM) != 0;
    if (!command->deprecated_since && !system)
        return;
    resp_write_text(writer, "doc_flags");
    resp_write_set(writer, (command->deprecated_since != NULL) + (size_t)system);
    if (command->deprecated_since)
        resp_write_simple(writer, "deprecated");
    if (system)
        resp_write_simple(writer, "syscmd");
}

void command_docs_write(const struct command_entry *entry, struct resp_writer *writer)
{
    const struct command *command = entry->command;
    struct command_argument arguments[COMMAND_ARGUMENTS_MAX];
    /* A row that does not parse shows no arguments; the unit test of its folder fails. */
    int count = command_arguments_parse(command->args, key_spec_count(command), arguments, COMMAND_ARGUMENTS_MAX);
    uint32_t members = 0;
    for (int i = 0; i < count; i += (int)arguments[i].size)
        members++;

    size_t pairs = 1u + (command->summary != NULL) + (command->since != NULL) + (command->complexity != NULL) +
                   (command->deprecated_since != NULL || (command->flags & CMD_SYSTEM)) +
                   (command->deprecated_since != NULL) + (command->replaced_by != NULL) + (command->history != NULL) +
                   (members > 0) + (entry->child_count > 0);
    resp_write_map(writer, pairs);
    write_text_pair(writer, "summary", command->summary);
    write_text_pair(writer, "since", command->since);
    write_text_pair(writer, "group", entry->family->group);
    write_text_pair(writer, "complexity", command->complexity);
    write_doc_flags(command, writer);
    write_text_pair(writer, "deprecated_since", command->deprecated_since);
    write_text_pair(writer, "replaced_by", command->replaced_by);
    if (command->history)
        write_history(command->history, writer);
    if (members > 0) {
        resp_write_text(writer, "arguments");
        write_arguments(arguments, members, writer);
    }
    if (entry->child_count > 0) {
        resp_write_text(writer, "subcommands");
        resp_write_map(writer, entry->child_count);
        for (uint32_t i = 0; i < entry->child_count; i++) {
            resp_write_text(writer, entry->children[i].full_name);
            command_docs_write(&entry->children[i], writer);
        }
    }
}
