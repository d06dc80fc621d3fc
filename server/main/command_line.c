#include "server/main/command_line.h"

#include "lib/base/mem.h"

#include <errno.h>
#include <stdio.h>

const char command_line_usage[] = "Usage: ketch-server [file] [--option value ...] [--option=value] [-]\n"
                                  "\n"
                                  "  file              configuration file (redis.conf syntax)\n"
                                  "  --option value    any option of the file, e.g. --port 7000 --bind 127.0.0.1 ::1\n"
                                  "  -                 reads more configuration from standard input\n"
                                  "  -v, --version     shows the version\n"
                                  "  -h, --help        shows this text\n"
                                  "  --print-options   writes the documentation of all options (Markdown)\n"
                                  "  --print-sample    writes a commented configuration file\n"
                                  "\n"
                                  "Examples:\n"
                                  "  ketch-server\n"
                                  "  ketch-server /etc/ketch/ketch.conf\n"
                                  "  ketch-server ketch.conf --port 7000 --loglevel verbose\n"
                                  "  echo 'threads 4' | ketch-server -\n";

/* Words that mean something else than an option: what to do, or -1 for what is not to be had. */
static const struct {
    const char *word;
    int action;
} actions[] = {
    {"-v", COMMAND_LINE_VERSION},
    {"--version", COMMAND_LINE_VERSION},
    {"-h", COMMAND_LINE_HELP},
    {"--help", COMMAND_LINE_HELP},
    {"--print-options", COMMAND_LINE_PRINT_OPTIONS},
    {"--print-sample", COMMAND_LINE_PRINT_SAMPLE},
    {"--test-memory", -1},
    {"--check-system", -1},
    {"--sentinel", -1},
};

/* 1: the word was one of them. */
static int take_action(struct command_line *line, const char *word, struct option_error *error)
{
    for (size_t i = 0; i < COUNT_OF(actions); i++) {
        if (strcmp(word, actions[i].word) != 0)
            continue;
        if (actions[i].action < 0)
            return option_fail(error, -EINVAL, "'%s' is not supported", word);
        line->action = (enum command_line_action)actions[i].action;
        return 1;
    }
    return 0;
}

static void begin_option(struct command_line *line, const char *argument)
{
    struct command_line_option *option = &line->options[line->option_count++];
    *option = (struct command_line_option){.first = line->word_count, .count = 1};
    if (argument[strcspn(argument, " =")] == ' ') {
        /* "--timeout 7" quoted into one argument: the words of a line. */
        for (option->count = 0; *argument; argument += strspn(argument, " ")) {
            size_t length = strcspn(argument, " ");
            line->words[line->word_count++] = bytes_make(argument, length);
            option->count++;
            argument += length;
        }
        return;
    }
    const char *equals = strchr(argument, '=');
    size_t size = equals ? (size_t)(equals - argument) : strlen(argument);
    line->words[line->word_count++] = bytes_make(argument, size);
    if (equals) {
        line->words[line->word_count++] = bytes_of(equals + 1);
        option->count = 2;
    }
}

int command_line_parse(struct command_line *line, int argc, char *const *argv, struct option_error *error)
{
    *line = (struct command_line){.action = COMMAND_LINE_RUN};
    size_t words = (size_t)argc * 2 + 1;
    for (int i = 1; i < argc; i++)
        for (const char *at = argv[i]; *at; at++)
            words += *at == ' ';
    line->words = mem_alloc_zeroed(words * sizeof(*line->words));
    line->options = mem_alloc_zeroed(((size_t)argc + 1) * sizeof(*line->options));
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        if (i == 1) {
            int taken = take_action(line, argument, error);
            if (taken)
                return taken < 0 ? taken : 0;
            if (argument[0] != '-') {
                line->file = argument;
                continue;
            }
        }
        bool is_option = argument[0] == '-' && argument[1] == '-' && argument[2] != '\0';
        if (strcmp(argument, "-") == 0 && (i == 1 || i == argc - 1)) {
            line->standard_input = true;
        } else if (is_option) {
            int refused = take_action(line, argument, error);
            if (refused)
                return refused < 0 ? refused : 0;
            begin_option(line, argument + 2);
        } else if (line->option_count) {
            line->words[line->word_count++] = bytes_of(argument);
            line->options[line->option_count - 1].count++;
        } else {
            return option_fail(error, -EINVAL, "'%s' belongs to no option", argument);
        }
    }
    return 0;
}

void command_line_deinit(struct command_line *line)
{
    mem_free(line->words);
    mem_free(line->options);
    *line = (struct command_line){0};
}

static void describe(const struct bytes *words, size_t count, char *to, size_t size)
{
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++) {
        int width = (int)(words[i].size > 200 ? 200 : words[i].size);
        const char *quote = i ? "\"" : "";
        int added = snprintf(to + used, size - used, "%s%s%.*s%s", i ? " " : "", quote, width,
                             words[i].size ? (const char *)words[i].at : "", quote);
        if (added < 0)
            return;
        used += (size_t)added;
    }
}

int command_line_apply(const struct command_line *line, struct option_registry *registry, struct option_fault *fault)
{
    *fault = (struct option_fault){0};
    for (size_t i = 0; i < line->option_count; i++) {
        const struct bytes *words = line->words + line->options[i].first;
        size_t count = line->options[i].count;
        int failed = option_registry_line(registry, words, count, &fault->error);
        if (failed) {
            snprintf(fault->source, sizeof(fault->source), "the command line");
            describe(words, count, fault->text, sizeof(fault->text));
            return failed;
        }
    }
    return 0;
}
