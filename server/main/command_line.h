/* command_line.h - the arguments of the program, in all of the forms that redis-server takes.
 *
 *     ketch-server [file] [--option value ...]... [--option=value]... [-]
 *
 * Owns:       its arrays; words point into argv.
 * Fails by:   -EINVAL with a text for the user. */
#ifndef KETCH_SERVER_MAIN_COMMAND_LINE_H
#define KETCH_SERVER_MAIN_COMMAND_LINE_H

#include "lib/option/registry.h"

enum command_line_action {
    COMMAND_LINE_RUN,
    COMMAND_LINE_VERSION,
    COMMAND_LINE_HELP,
    COMMAND_LINE_PRINT_OPTIONS, /* the documentation */
    COMMAND_LINE_PRINT_SAMPLE   /* a configuration file */
};

struct command_line_option {
    size_t first, count; /* in words: the name and its values */
};

struct command_line {
    enum command_line_action action;
    const char *file;    /* NULL: none */
    bool standard_input; /* read it after the file */
    struct bytes *words;
    size_t word_count;
    struct command_line_option *options;
    size_t option_count;
};

MUST_USE int command_line_parse(struct command_line *line, int argc, char *const *argv, struct option_error *error);
void command_line_deinit(struct command_line *line);

/* Sets the options. The fault says which one was refused. */
MUST_USE int command_line_apply(const struct command_line *line, struct option_registry *registry,
                                struct option_fault *fault);

extern const char command_line_usage[];

#endif
