#include "server/session/client_commands.h"

#include "lib/base/clock.h"
#include "server/worker/session.h"

struct kill_filter {
    const struct session *self;
    struct bytes peer, local, user; /* size 0: any */
    bool has_type, skip_self, self_hit;
    enum client_type type;
    uint64_t id;         /* 0: any */
    int64_t age_seconds; /* 0: any */
    int64_t now_ms;
    int64_t killed;
};

static bool passes(const struct kill_filter *filter, const struct session *session)
{
    if (filter->peer.size && !bytes_equal(filter->peer, bytes_of(session->names.peer)))
        return false;
    if (filter->local.size && !bytes_equal(filter->local, bytes_of(session->names.local)))
        return false;
    if (filter->has_type && client_type_of(session) != filter->type)
        return false;
    if (filter->id && filter->id != session->id)
        return false;
    if (filter->age_seconds && (filter->now_ms - session->created_ms) / 1000 < filter->age_seconds)
        return false;
    return true;
}

static bool user_is(struct session *session, struct bytes user)
{
    mutex_lock(&session->mutex);
    bool same = bytes_equal(user, bytes_of(session->names.user));
    mutex_unlock(&session->mutex);
    return same;
}

static bool kill_one(void *context, struct session *session)
{
    struct kill_filter *filter = context;
    if (atomic_load_explicit(&session->kill, memory_order_relaxed) || !passes(filter, session))
        return true;
    if (filter->user.size && !user_is(session, filter->user))
        return true;
    if (session == filter->self) {
        if (filter->skip_self)
            return true;
        /* The reply goes out first. */
        filter->self_hit = true;
    } else {
        session_kill(session);
    }
    filter->killed++;
    return true;
}

/* One filter and its value. False after an error reply. */
static bool read_filter(struct call *call, uint32_t at, struct kill_filter *filter)
{
    struct bytes value = call->argv[at + 1];
    int64_t number;
    if (call_is(call, at, "ID")) {
        if (!number_parse_i64(value, &number) || number < 1) {
            (void)call_error(call, "ERR client-id should be greater than 0");
            return false;
        }
        filter->id = (uint64_t)number;
    } else if (call_is(call, at, "TYPE")) {
        filter->has_type = true;
        return client_type_parse(call, value, &filter->type);
    } else if (call_is(call, at, "ADDR")) {
        filter->peer = value.size ? value : BYTES(" ");
    } else if (call_is(call, at, "LADDR")) {
        filter->local = value.size ? value : BYTES(" ");
    } else if (call_is(call, at, "USER")) {
        if (!bytes_equal(value, BYTES("default"))) {
            (void)call_errorf(call, "ERR No such user '%.*s'", (int)(value.size > 512 ? 512 : value.size),
                              (const char *)value.at);
            return false;
        }
        filter->user = value;
    } else if (call_is(call, at, "MAXAGE")) {
        if (!number_parse_i64(value, &number)) {
            (void)call_error(call, "ERR maxage is not an integer or out of range");
            return false;
        }
        if (number <= 0) {
            (void)call_error(call, "ERR maxage should be greater than 0");
            return false;
        }
        filter->age_seconds = number;
    } else if (call_is(call, at, "SKIPME") && (bytes_is(value, "yes") || bytes_is(value, "no"))) {
        filter->skip_self = bytes_is(value, "yes");
    } else {
        (void)call_syntax_error(call);
        return false;
    }
    return true;
}

enum outcome client_kill(struct call *call)
{
    struct kill_filter filter = {.self = call->session, .skip_self = true, .now_ms = call->now_ms};
    bool old_form = call->argc == 3;
    if (old_form) {
        filter.peer = call->argv[2].size ? call->argv[2] : BYTES(" "); /* matches nobody */
        filter.skip_self = false;
    }
    for (uint32_t i = 2; !old_form && i < call->argc; i += 2) {
        if (i + 1 == call->argc)
            return call_syntax_error(call);
        if (!read_filter(call, i, &filter))
            return OUTCOME_DONE;
    }
    session_each(call->server, kill_one, &filter);
    if (!old_form)
        resp_write_integer(call->reply, filter.killed);
    else if (filter.killed == 0)
        return call_error(call, "ERR No such client");
    else
        resp_write_ok(call->reply);
    return filter.self_hit ? OUTCOME_CLOSE : OUTCOME_DONE;
}
