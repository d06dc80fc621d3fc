/* data.h - the string and generic command families, and what their handlers share.
 *
 * Owns:       nothing: rows and families are const.
 * Threads:    a handler runs on the worker that runs the command, while the slots of the command's keys are held.
 * Invariants: a handler writes exactly one reply. It looks a key up once and changes it through the same place.
 * Fails by:   an error reply; nothing was changed then (MSET may have set a part when memory was refused).
 * Limits:     strings grow to call->string_max bytes. */
#ifndef KETCH_SERVER_DATA_DATA_H
#define KETCH_SERVER_DATA_DATA_H

#include "server/command/call.h"

/* All families of this folder, NULL-terminated: what the module of server/main offers. */
extern const struct command_family *const data_families[];

extern const struct command_family string_set_family;
extern const struct command_family string_get_family;
extern const struct command_family string_change_family;
extern const struct command_family string_lcs_family;
extern const struct command_family key_life_family;
extern const struct command_family key_expiry_family;
extern const struct command_family key_move_family;
extern const struct command_family keyspace_family;
extern const struct command_family flush_family;
extern const struct command_family object_family;

static inline bool data_is_string(const struct entry *entry)
{
    return LIKELY(entry_type(entry) == ENTRY_STRING);
}

/* Finds the i-th key of the call for a write: notes the access, counts nothing. */
REQUIRES(slot_held)
static inline struct entry *data_find(struct call *call, uint32_t i, struct place *place)
{
    struct entry *entry = store_find(call->store, call->db, &call->keys[i], call->now_ms, place);
    if (entry)
        store_touch(call->store, entry, call->now_ms);
    return entry;
}

/* The same for a command that reads before it writes (GETDEL, SET with GET): counts the hit or miss. */
REQUIRES(slot_held)
static inline struct entry *data_find_read(struct call *call, uint32_t i, struct place *place)
{
    struct entry *entry = data_find(call, i, place);
    store_count_read(call->store, entry != NULL);
    return entry;
}

/* Finds the i-th key for a read that leaves the access clock alone (TTL, TYPE, OBJECT): counts the hit or miss. */
REQUIRES(slot_held)
static inline struct entry *data_look(struct call *call, uint32_t i)
{
    struct place place;
    struct entry *entry = store_find(call->store, call->db, &call->keys[i], call->now_ms, &place);
    store_count_read(call->store, entry != NULL);
    return entry;
}

/* Stores a string at a place and counts the change; false when memory was refused (no reply is written). */
REQUIRES(slot_held)
MUST_USE static inline bool data_put(struct call *call, uint32_t i, struct place *place, struct bytes value,
                                     enum entry_encoding encoding, int64_t expires_at)
{
    if (UNLIKELY(store_put_string(call->store, call->db, &call->keys[i], place, value, encoding, expires_at) < 0))
        return false;
    store_touch(call->store, place->entry, call->now_ms);
    store_changed(call->store, 1);
    return true;
}

/* Takes the entry at a place out and counts the change. */
REQUIRES(slot_held)
static inline void data_remove(struct call *call, uint32_t i, struct place *place)
{
    store_remove(call->store, call->db, &call->keys[i], place);
    store_changed(call->store, 1);
}

/* ---- arguments ---- */

/* ERR invalid expire time in 'set' command */
enum outcome data_expire_error(struct call *call);

/* How a time to live is written in an argument. */
struct data_time {
    bool seconds;  /* else milliseconds */
    bool relative; /* to now; else since the epoch */
};

/* An option EX, PX, EXAT or PXAT among a command's arguments. */
struct data_expiry_option {
    uint32_t at; /* argument that holds the value; 0: no such option */
    struct data_time time;
};

/* Takes the option at argument *i and moves *i to its value. False when it is none, has no value, or is another one
 * than was given before (the same one may be repeated: the last counts). */
MUST_USE bool data_take_expiry(const struct call *call, uint32_t *i, struct data_expiry_option *option);

/* Argument `at` as a time to live of SET, GETEX and the like, to absolute real-time ms; false after writing an error
 * for what is no integer, not above 0 or out of range. */
MUST_USE bool data_expiry(struct call *call, uint32_t at, struct data_time time, int64_t *expires_at);

/* Argument `at` as a 32-bit integer. The error is `text`, or the usual ones when text is NULL. */
MUST_USE bool data_int(struct call *call, uint32_t at, const char *text, int32_t *value);

/* Argument `at` as the number of a database. */
MUST_USE bool data_database(struct call *call, uint32_t at, uint32_t *db);

/* False after writing the error when `size` and `more` bytes together pass the limit of a string. */
MUST_USE bool data_string_fits(struct call *call, uint64_t size, uint64_t more);

/* Writes a string value, or the null for no entry. */
static inline void data_write_value(struct call *call, const struct entry *entry)
{
    if (!entry)
        resp_write_null(call->reply);
    else if (UNLIKELY(entry->flags & ENTRY_BLOB))
        resp_write_bulk_referred(call->reply, entry_string(entry), entry_blob(entry));
    else
        resp_write_bulk(call->reply, entry_string(entry));
}

#endif
