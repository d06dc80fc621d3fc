/* command.h - one command is one table row under its handler; rows are gathered in families, families in modules.
 *
 * Owns:       nothing: rows are const. Counters by command number live in each worker.
 * Threads:    any.
 * Invariants: a handler runs while the slots of all keys its row names are locked, never waits, returns an outcome. */
#ifndef KETCH_SERVER_COMMAND_COMMAND_H
#define KETCH_SERVER_COMMAND_COMMAND_H

#include "lib/base/bytes.h"
#include "lib/base/check.h"

struct call;
struct command;

/* What a handler asks of the executor. Later: wait for keys, needs cold values, forward. */
enum outcome {
    OUTCOME_DONE,  /* the reply is written */
    OUTCOME_CLOSE, /* the reply is written; close the client once it is sent */
};

/* Flags that COMMAND INFO shows, and ACL categories (CAT_). "fast"/"slow", "write", "read", "admin", "dangerous",
 * "pubsub" and "blocking" categories follow from flags as in Redis: not to be repeated in a row. */
#define CMD_WRITE (1ull << 0)
#define CMD_READONLY (1ull << 1)
#define CMD_DENYOOM (1ull << 2)
#define CMD_ADMIN (1ull << 3)
#define CMD_PUBSUB (1ull << 4)
#define CMD_NOSCRIPT (1ull << 5)
#define CMD_BLOCKING (1ull << 6)
#define CMD_LOADING (1ull << 7)
#define CMD_STALE (1ull << 8)
#define CMD_SKIP_MONITOR (1ull << 9)
#define CMD_SKIP_SLOWLOG (1ull << 10)
#define CMD_ASKING (1ull << 11)
#define CMD_FAST (1ull << 12)
#define CMD_NO_AUTH (1ull << 13)
#define CMD_MOVABLEKEYS (1ull << 14)
#define CMD_NO_MULTI (1ull << 15)
#define CMD_ALLOW_BUSY (1ull << 16)
#define CMD_NO_ASYNC_LOADING (1ull << 17)
#define CMD_NO_MANDATORY_KEYS (1ull << 18)
#define CMD_PROTECTED (1ull << 19) /* enable-debug-command and the like */
/* For the executor only, not shown. */
#define CMD_ALL_SLOTS (1ull << 24) /* runs with every slot locked: FLUSHALL, SWAPDB */
/* May change what follows in the pipeline (SELECT, AUTH, QUIT): not prefetched past. */
#define CMD_BATCH_END (1ull << 25)
/* For COMMAND DOCS only: doc_flags syscmd. */
#define CMD_SYSTEM (1ull << 26)

#define CAT_KEYSPACE (1ull << 32)
#define CAT_READ (1ull << 33)
#define CAT_WRITE (1ull << 34)
#define CAT_SET (1ull << 35)
#define CAT_SORTEDSET (1ull << 36)
#define CAT_LIST (1ull << 37)
#define CAT_HASH (1ull << 38)
#define CAT_STRING (1ull << 39)
#define CAT_BITMAP (1ull << 40)
#define CAT_HYPERLOGLOG (1ull << 41)
#define CAT_GEO (1ull << 42)
#define CAT_STREAM (1ull << 43)
#define CAT_PUBSUB (1ull << 44)
#define CAT_ADMIN (1ull << 45)
#define CAT_FAST (1ull << 46)
#define CAT_SLOW (1ull << 47)
#define CAT_BLOCKING (1ull << 48)
#define CAT_DANGEROUS (1ull << 49)
#define CAT_CONNECTION (1ull << 50)
#define CAT_TRANSACTION (1ull << 51)
#define CAT_SCRIPTING (1ull << 52)

/* Key specification flags, as COMMAND INFO names them. */
#define KEY_RO (1u << 0)
#define KEY_RW (1u << 1)
#define KEY_OW (1u << 2)
#define KEY_RM (1u << 3)
#define KEY_ACCESS (1u << 4)
#define KEY_UPDATE (1u << 5)
#define KEY_INSERT (1u << 6)
#define KEY_DELETE (1u << 7)
#define KEY_NOT_KEY (1u << 8)
#define KEY_INCOMPLETE (1u << 9)
#define KEY_VARIABLE (1u << 10)

/* A run of keys in the arguments: first, last (negative: from the end, -1 the last one) and step; first 0: none. */
struct command_keys {
    int16_t first, last, step;
};

/* One key specification of a command whose keys do not all have the same flags (COPY, RENAME). */
struct command_key_spec {
    int16_t first, last, step;
    uint32_t flags;
};

/* Writes the argument positions of the keys to `at` (capacity entries) and returns how many there are, or -EINVAL. */
typedef int (*command_find_keys)(const struct command *command, const struct bytes *argv, uint32_t argc, uint32_t *at,
                                 uint32_t capacity);

/* What a call does to its keys, as KEY_ flags: COMMAND GETKEYSANDFLAGS. */
typedef uint32_t (*command_key_flags_of)(const struct bytes *argv, uint32_t argc);

struct command {
    const char *name;    /* upper case; of a subcommand its own word only ("SETNAME") */
    const char *summary; /* one sentence in our own words */
    const char *since;
    const char *complexity;
    const char *args;        /* argument grammar, see command_docs.h; answers COMMAND DOCS */
    const char *const *tips; /* NULL-terminated command tips, or NULL */
    int16_t arity;           /* including the name (and the subcommand); negative: at least */
    struct command_keys keys;
    uint32_t key_flags;                /* of the one spec that `keys` makes */
    const char *key_notes;             /* why they are what they are, where that is not plain; COMMAND INFO shows it */
    command_key_flags_of key_flags_of; /* for rows with KEY_VARIABLE: the flags of one call */
    const struct command_key_spec *key_specs; /* instead, several: ends with a zero row */
    uint64_t flags;                           /* CMD_ and CAT_ */
    command_find_keys find_keys;              /* instead of `keys` for keys that move */
    enum outcome (*run)(struct call *call);
    const struct command *subcommands; /* ends with a zero row; then `run` may be NULL */
    const char *replaced_by;           /* deprecated commands: what to use instead */
    const char *deprecated_since;
    const char *const *history; /* pairs version, what changed; NULL-terminated */
};

/* group: as COMMAND DOCS says ("string", "generic", "connection", "server"). */
struct command_family {
    const char *group;
    const struct command *commands; /* ends with a zero row */
};

/* ---- the table ---- */

/* A command as registered: its number indexes counters; subcommands have their own. */
struct command_entry {
    const struct command *command;
    const struct command_family *family;
    const struct command_entry *parent;   /* of a subcommand */
    const struct command_entry *children; /* of a container: child_count entries, adjacent in numbers */
    uint32_t child_count;
    uint32_t number;
    uint64_t flags;     /* with implied categories added */
    char full_name[48]; /* lower case, "get" or "client|setname" */
};

struct command_table;

/* families: NULL-terminated. Aborts on a double name: that is a programming error. */
struct command_table *command_table_create(const struct command_family *const *families);
void command_table_destroy(struct command_table *table);

/* By name, any case; NULL when unknown. */
const struct command_entry *command_find(const struct command_table *table, struct bytes name);
const struct command_entry *command_find_child(const struct command_entry *container, struct bytes name);

uint32_t command_count(const struct command_table *table);   /* without subcommands */
uint32_t command_numbers(const struct command_table *table); /* with them: size of a counter array */
const struct command_entry *command_at(const struct command_table *table, uint32_t number);

/* Positions of a call's keys; see command_find_keys. 0 when the command has none. Does not check arity. */
int command_keys(const struct command_entry *entry, const struct bytes *argv, uint32_t argc, uint32_t *at,
                 uint32_t capacity);

/* True when argc fits the arity. */
static inline bool command_arity_fits(const struct command *command, uint32_t argc)
{
    return command->arity >= 0 ? argc == (uint32_t)command->arity : argc >= (uint32_t)-command->arity;
}

#endif
