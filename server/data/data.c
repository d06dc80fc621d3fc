#include "server/data/data.h"

const struct command_family *const data_families[] = {
    &string_set_family,
    &string_get_family,
    &string_change_family,
    &string_lcs_family,
    &key_life_family,
    &key_expiry_family,
    &key_move_family,
    &keyspace_family,
    &flush_family,
    &object_family,
    NULL,
};

enum outcome data_expire_error(struct call *call)
{
    return call_errorf(call, "ERR invalid expire time in '%s' command", call->entry->full_name);
}

bool data_take_expiry(const struct call *call, uint32_t *i, struct data_expiry_option *option)
{
    static const struct {
        const char *word;
        struct data_time time;
    } words[] = {
        {"EX", {.seconds = true, .relative = true}},
        {"PX", {.seconds = false, .relative = true}},
        {"EXAT", {.seconds = true, .relative = false}},
        {"PXAT", {.seconds = false, .relative = false}},
    };
    for (size_t w = 0; w < COUNT_OF(words); w++) {
        if (!call_is(call, *i, words[w].word))
            continue;
        struct data_time time = words[w].time, before = option->time;
        if (*i + 1 >= call->argc ||
            (option->at != 0 && (before.seconds != time.seconds || before.relative != time.relative)))
            return false;
        *option = (struct data_expiry_option){.at = ++*i, .time = time};
        return true;
    }
    return false;
}

bool data_expiry(struct call *call, uint32_t at, struct data_time time, int64_t *expires_at)
{
    int64_t value;
    if (!call_integer(call, at, &value))
        return false;
    if (value <= 0 || (time.seconds && __builtin_mul_overflow(value, (int64_t)1000, &value)) ||
        (time.relative && __builtin_add_overflow(value, call->now_ms, &value))) {
        data_expire_error(call);
        return false;
    }
    *expires_at = value;
    return true;
}

bool data_int(struct call *call, uint32_t at, const char *text, int32_t *value)
{
    int64_t wide;
    if (!number_parse_i64(call->argv[at], &wide)) {
        if (text)
            call_error(call, text);
        else
            call_not_integer(call);
        return false;
    }
    if (wide < INT32_MIN || wide > INT32_MAX) {
        call_error(call, text ? text : "ERR value is out of range, value must between -2147483648 and 2147483647");
        return false;
    }
    *value = (int32_t)wide;
    return true;
}

bool data_database(struct call *call, uint32_t at, uint32_t *db)
{
    int32_t number;
    if (!data_int(call, at, NULL, &number))
        return false;
    if (number < 0 || (uint32_t)number >= store_databases(store_of(call->store))) {
        call_error(call, "ERR DB index is out of range");
        return false;
    }
    *db = (uint32_t)number;
    return true;
}

bool data_string_fits(struct call *call, uint64_t size, uint64_t more)
{
    uint64_t sum;
    if (!__builtin_add_overflow(size, more, &sum) && sum <= call->string_max)
        return true;
    call_error(call, "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
    return false;
}
