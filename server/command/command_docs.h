/* command_docs.h - the argument grammar of a row (`.args`) and COMMAND DOCS.
 *
 *   items    = item, item separated by spaces; NULL or "" when a command has no arguments
 *   item     = value | token | group, then suffixes
 *   value    = name:type                  an argument:               key:k
 *              name/shown:type            shown under another name:  old-format/ip:port:s
 *              WORD%name:type             after a word:              EX%seconds:i
 *   token    = WORD                       capitals alone, named by their lower case:  KEEPTTL
 *              name=WORD                  the same, named otherwise:              approximately='~'
 *   group    = (name: item item)          all of these, in order:    (id: a:s b:s)
 *              (name: item | item)        one of these:              (condition: NX | XX)
 *              WORD%(name: ...)           after a word:              LIMIT%(limit: offset:i count:i)
 *   type     = k key, s string, i integer, d double, p pattern, t unix time
 *   suffix   = ? optional      + one or more    * none or more    ! (with + or *) each one with its word
 *              @7.0.0 since    @-2.8.12 deprecated since          #1 (of a key) its key specification
 *
 * A word of odd characters stands in single quotes: '*', '""'. The n-th key belongs to the n-th key specification, or
 * the last, unless it says otherwise. Example:
 *
 *   key:k value:s (condition: NX | XX)?@2.6.12 GET?@6.2.0 (expiration: EX%seconds:i@2.6.12 | KEEPTTL@6.0.0)?
 *
 * Owns:       nothing: arguments point into the grammar, which is a constant of the program.
 * Threads:    any.
 * Fails by:   -EINVAL for what is not in the grammar, -E2BIG past COMMAND_ARGUMENTS_MAX. Unit tests parse every row. */
#ifndef KETCH_SERVER_COMMAND_COMMAND_DOCS_H
#define KETCH_SERVER_COMMAND_COMMAND_DOCS_H

#include "lib/resp/writer.h"
#include "server/command/command.h"

#define COMMAND_ARGUMENTS_MAX 96
#define COMMAND_ARGUMENTS_DEPTH_MAX 8

enum command_argument_type {
    ARGUMENT_STRING,
    ARGUMENT_INTEGER,
    ARGUMENT_DOUBLE,
    ARGUMENT_KEY,
    ARGUMENT_PATTERN,
    ARGUMENT_UNIX_TIME,
    ARGUMENT_TOKEN,
    ARGUMENT_ONE_OF,
    ARGUMENT_BLOCK
};

#define ARGUMENT_OPTIONAL (1u << 0)
#define ARGUMENT_MULTIPLE (1u << 1)
#define ARGUMENT_MULTIPLE_TOKEN (1u << 2)

/* One argument. They stand in the order of the text, a group before its members; `size` counts the argument and all
 * below it, so the one after it is at [size]. */
struct command_argument {
    enum command_argument_type type;
    uint32_t flags;
    uint32_t size;
    uint32_t members;                                         /* of a group: arguments right below it */
    int32_t key_spec;                                         /* of a key, else -1 */
    struct bytes name, shown, token, since, deprecated_since; /* size 0: none */
    bool name_from_token;                                     /* the name is the lower case of itself */
};

/* Fills `to` (capacity entries); returns how many there are on all levels. key_specs: how many the command has. */
MUST_USE int command_arguments_parse(const char *grammar, uint32_t key_specs, struct command_argument *to,
                                     uint32_t capacity);

/* Writes what COMMAND DOCS says about one command: the map after its name. */
void command_docs_write(const struct command_entry *entry, struct resp_writer *writer);

#endif
