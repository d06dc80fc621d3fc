#include "server/command/command.h"

#include "lib/base/mem.h"

#include <errno.h>
#include <stdio.h>

/* Every name of Redis fits (georadiusbymember_ro has 20 letters); what rename-command gives may be longer. */
#define FOLDED_SIZE 24u
#define NAME_WORDS (FOLDED_SIZE / 8)

/* The start of a name folded to lower case by setting bit 5 of every byte: three words to compare instead of a loop
 * over letters. */
struct folded {
    uint64_t words[NAME_WORDS];
};

struct table_slot {
    struct folded name;
    uint32_t size;
    bool again; /* has characters that share their folded form with others ('-' and CR), or is longer: compare again */
    const struct command_entry *entry; /* NULL: free */
};

struct command_table {
    struct command_entry *entries; /* commands first, then the subcommands of each container side by side */
    uint32_t count, numbers;
    struct table_slot *slots; /* open addressing, at most a quarter full */
    uint32_t mask;
};

/* ---- folding ---- */

static inline uint64_t load_up_to_8(const uint8_t *at, size_t size)
{
    if (size >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        return word;
    }
    if (size >= 4) {
        /* Two loads that overlap: bytes in both have the same value in both. */
        uint32_t low, high;
        memcpy(&low, at, 4);
        memcpy(&high, at + size - 4, 4);
        return low | (uint64_t)high << (8 * (size - 4));
    }
    if (size >= 2) {
        uint16_t low, high;
        memcpy(&low, at, 2);
        memcpy(&high, at + size - 2, 2);
        return low | (uint64_t)high << (8 * (size - 2));
    }
    return size ? at[0] : 0;
}

static inline void fold(struct bytes name, struct folded *to)
{
    for (size_t i = 0; i < NAME_WORDS; i++) {
        size_t rest = name.size > 8 * i ? name.size - 8 * i : 0;
        to->words[i] = (rest ? load_up_to_8(name.at + 8 * i, rest) : 0) | 0x2020202020202020u;
    }
}

static inline bool folded_equal(const struct folded *a, const struct folded *b)
{
    return a->words[0] == b->words[0] && a->words[1] == b->words[1] && a->words[2] == b->words[2];
}

static inline uint32_t folded_hash(const struct folded *name)
{
    uint64_t hash = name->words[0] * 0x9e3779b97f4a7c15u ^ name->words[1] * 0xc2b2ae3d27d4eb4fu ^
                    name->words[2] * 0x165667b19e3779f9u;
    return (uint32_t)((hash * 0xff51afd7ed558ccdu) >> 32);
}

/* Nothing but letters, and not too many: two of these are equal when their folded forms and sizes are. */
static bool told_by_fold(struct bytes name)
{
    if (name.size > FOLDED_SIZE)
        return false;
    for (size_t i = 0; i < name.size; i++)
        if ((name.at[i] | 0x20) < 'a' || (name.at[i] | 0x20) > 'z')
            return false;
    return true;
}

/* ---- lookup ---- */

const struct command_entry *command_find(const struct command_table *table, struct bytes name)
{
    struct folded folded;
    fold(name, &folded);
    for (uint32_t at = folded_hash(&folded) & table->mask;; at = (at + 1) & table->mask) {
        const struct table_slot *slot = &table->slots[at];
        if (!slot->entry)
            return NULL;
        if (slot->size == name.size && folded_equal(&slot->name, &folded) &&
            (LIKELY(!slot->again) || bytes_is(name, slot->entry->command->name)))
            return slot->entry;
    }
}

const struct command_entry *command_find_child(const struct command_entry *container, struct bytes name)
{
    for (uint32_t i = 0; i < container->child_count; i++)
        if (bytes_is(name, container->children[i].command->name))
            return &container->children[i];
    return NULL;
}

uint32_t command_count(const struct command_table *table)
{
    return table->count;
}

uint32_t command_numbers(const struct command_table *table)
{
    return table->numbers;
}

const struct command_entry *command_at(const struct command_table *table, uint32_t number)
{
    return number < table->numbers ? &table->entries[number] : NULL;
}

/* ---- building ---- */

/* Categories that follow from flags, as Redis adds them to every command. */
static uint64_t with_implied_categories(uint64_t flags)
{
    if (flags & CMD_WRITE)
        flags |= CAT_WRITE;
    /* A script that is allowed on replicas reads whatever it likes: it is not in @read. */
    if ((flags & CMD_READONLY) && !(flags & CAT_SCRIPTING))
        flags |= CAT_READ;
    if (flags & CMD_ADMIN)
        flags |= CAT_ADMIN | CAT_DANGEROUS;
    if (flags & CMD_PUBSUB)
        flags |= CAT_PUBSUB;
    if (flags & CMD_FAST)
        flags |= CAT_FAST;
    if (flags & CMD_BLOCKING)
        flags |= CAT_BLOCKING;
    if (!(flags & CAT_FAST))
        flags |= CAT_SLOW;
    return flags;
}

static uint32_t rows(const struct command *commands)
{
    uint32_t count = 0;
    while (commands[count].name)
        count++;
    return count;
}

static void count_rows(const struct command_family *const *families, uint32_t *count, uint32_t *numbers)
{
    *count = *numbers = 0;
    for (; *families; families++) {
        for (const struct command *row = (*families)->commands; row->name; row++) {
            (*count)++;
            (*numbers) += 1 + (row->subcommands ? rows(row->subcommands) : 0);
        }
    }
}

static void write_full_name(struct command_entry *entry)
{
    if (entry->parent)
        (void)snprintf(entry->full_name, sizeof(entry->full_name), "%s|%s", entry->parent->command->name,
                       entry->command->name);
    else
        (void)snprintf(entry->full_name, sizeof(entry->full_name), "%s", entry->command->name);
    for (char *at = entry->full_name; *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at | 0x20);
}

static void fill_entry(struct command_table *table, uint32_t number, const struct command *command,
                       const struct command_family *family, const struct command_entry *parent)
{
    struct command_entry *entry = &table->entries[number];
    entry->command = command;
    entry->family = family;
    entry->parent = parent;
    entry->number = number;
    entry->flags = with_implied_categories(command->flags);
    write_full_name(entry);
}

static void insert(struct command_table *table, const struct command_entry *entry)
{
    struct bytes name = bytes_of(entry->command->name);
    struct folded folded;
    fold(name, &folded);
    CHECK(command_find(table, name) == NULL); /* two rows of the same name */
    uint32_t at = folded_hash(&folded) & table->mask;
    while (table->slots[at].entry)
        at = (at + 1) & table->mask;
    table->slots[at] = (struct table_slot){folded, (uint32_t)name.size, !told_by_fold(name), entry};
}

static void fill_children(struct command_table *table, struct command_entry *container, uint32_t first)
{
    const struct command *commands = container->command->subcommands;
    container->children = &table->entries[first];
    for (; commands->name; commands++) {
        CHECK(command_find_child(container, bytes_of(commands->name)) == NULL);
        fill_entry(table, first + container->child_count, commands, container->family, container);
        container->child_count++;
    }
}

struct command_table *command_table_create(const struct command_family *const *families)
{
    struct command_table *table = mem_alloc_zeroed(sizeof(*table));
    count_rows(families, &table->count, &table->numbers);
    table->entries = mem_alloc_zeroed((table->numbers + 1) * sizeof(*table->entries));
    uint32_t slots = 64;
    while (slots < table->count * 4)
        slots *= 2;
    table->mask = slots - 1;
    table->slots = mem_alloc_zeroed(slots * sizeof(*table->slots));

    uint32_t number = 0;
    for (; *families; families++)
        for (const struct command *row = (*families)->commands; row->name; row++, number++) {
            fill_entry(table, number, row, *families, NULL);
            insert(table, &table->entries[number]);
        }
    for (uint32_t i = 0; i < table->count; i++)
        if (table->entries[i].command->subcommands) {
            fill_children(table, &table->entries[i], number);
            number += table->entries[i].child_count;
        }
    CHECK(number == table->numbers);
    return table;
}

void command_table_destroy(struct command_table *table)
{
    if (!table)
        return;
    mem_free(table->slots);
    mem_free(table->entries);
    mem_free(table);
}

/* ---- keys ---- */

/* Adds the positions of one run; returns the new count, or -EINVAL when the call is too short for it. */
static int add_run(int first, int last, int step, uint32_t argc, uint32_t *at, uint32_t capacity, uint32_t count)
{
    if (first == 0)
        return (int)count;
    int64_t end = last < 0 ? (int64_t)argc + last : last;
    if (step <= 0 || first >= (int64_t)argc || end >= (int64_t)argc || end < first)
        return -EINVAL;
    for (int64_t i = first; i <= end; i += step, count++)
        if (count < capacity)
            at[count] = (uint32_t)i;
    return (int)count;
}

int command_keys(const struct command_entry *entry, const struct bytes *argv, uint32_t argc, uint32_t *at,
                 uint32_t capacity)
{
    const struct command *command = entry->command;
    if (command->find_keys)
        return command->find_keys(command, argv, argc, at, capacity);
    if (!command->key_specs)
        return add_run(command->keys.first, command->keys.last, command->keys.step, argc, at, capacity, 0);
    int count = 0;
    for (const struct command_key_spec *spec = command->key_specs; spec->first && count >= 0; spec++)
        count = add_run(spec->first, spec->last, spec->step, argc, at, capacity, (uint32_t)count);
    return count;
}
