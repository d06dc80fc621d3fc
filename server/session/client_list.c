#include "server/session/client_commands.h"

#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "server/worker/session.h"

#include <stdlib.h>

/* A million sessions fit. */
#define LIST_MAX (512u * 1024 * 1024)
/* Unsent bytes up to here count as the fixed buffer (obl), what is beyond as the list (oll, omem): one output chunk. */
#define FIXED_OUTPUT (16u * 1024)

bool client_type_parse(struct call *call, struct bytes name, enum client_type *type)
{
    if (bytes_is(name, "normal"))
        *type = CLIENT_TYPE_NORMAL;
    else if (bytes_is(name, "slave") || bytes_is(name, "replica"))
        *type = CLIENT_TYPE_REPLICA;
    else if (bytes_is(name, "pubsub"))
        *type = CLIENT_TYPE_PUBSUB;
    else if (bytes_is(name, "master"))
        *type = CLIENT_TYPE_MASTER;
    else {
        (void)call_errorf(call, "ERR Unknown client type '%.*s'", (int)(name.size > 512 ? 512 : name.size),
                          (const char *)name.at);
        return false;
    }
    return true;
}

/* Nobody subscribes or replicates yet. */
enum client_type client_type_of(const struct session *session)
{
    (void)session;
    return CLIENT_TYPE_NORMAL;
}

/* ---- one line ---- */

static void write_flags(uint32_t flags, char *to)
{
    static const struct {
        uint32_t flag;
        char letter;
    } letters[] = {
        {SESSION_CLOSE_AFTER_REPLY, 'c'},
        {SESSION_UNIX, 'U'},
        {SESSION_NO_EVICT, 'e'},
        {SESSION_NO_TOUCH, 'T'},
    };
    char *at = to;
    for (size_t i = 0; i < COUNT_OF(letters); i++)
        if (flags & letters[i].flag)
            *at++ = letters[i].letter;
    if (at == to)
        *at++ = 'N';
    *at = '\0';
}

static const char *command_name(const struct call *call, const struct session *session)
{
    uint32_t number = atomic_load_explicit(&session->last_command, memory_order_relaxed);
    const struct command_entry *entry = number ? command_at(call->server->commands, number - 1) : NULL;
    return entry ? entry->full_name : "NULL";
}

/* Appends the line of one session; the register's mutex is held, or it is the caller's own. */
static int append_session(const struct call *call, struct session *session, struct buf *to)
{
    char flags[8];
    size_t input = atomic_load_explicit(&session->input_size, memory_order_relaxed);
    size_t input_free = atomic_load_explicit(&session->input_free, memory_order_relaxed);
    size_t output = atomic_load_explicit(&session->output_size, memory_order_relaxed);
    size_t argv = atomic_load_explicit(&session->argv_size, memory_order_relaxed);
    size_t list = output > FIXED_OUTPUT ? output - FIXED_OUTPUT : 0;
    int64_t idle = call->now_ms - atomic_load_explicit(&session->active_ms, memory_order_relaxed);
    int64_t age = call->now_ms - session->created_ms;
    write_flags(atomic_load_explicit(&session->flags, memory_order_relaxed), flags);

    mutex_lock(&session->mutex);
    const struct session_names *names = &session->names;
    int error = buf_printf(
        to,
        "id=%llu addr=%s laddr=%s fd=%d name=%s age=%lld idle=%lld flags=%s db=%u sub=0 psub=0 ssub=0 multi=-1 watch=0 "
        "qbuf=%zu qbuf-free=%zu argv-mem=%zu multi-mem=0 rbs=%u rbp=%zu obl=%zu oll=%zu omem=%zu tot-mem=%zu events=%s "
        "cmd=%s user=%s redir=-1 resp=%u lib-name=%s lib-ver=%s\n",
        (unsigned long long)session->id, names->peer, names->local, session->conn.fd, names->name,
        (long long)(age > 0 ? age / 1000 : 0), (long long)(idle > 0 ? idle / 1000 : 0), flags,
        atomic_load_explicit(&session->db, memory_order_relaxed), input, input_free, argv, output ? FIXED_OUTPUT : 0,
        output - list, output - list, (list + FIXED_OUTPUT - 1) / FIXED_OUTPUT, list,
        sizeof(*session) + input + input_free + argv + output, output ? "rw" : "r", command_name(call, session),
        names->user, (unsigned)atomic_load_explicit(&session->protocol, memory_order_relaxed), names->library,
        names->library_version);
    mutex_unlock(&session->mutex);
    return error;
}

static enum outcome write_lines(struct call *call, struct buf *lines, int error)
{
    if (error < 0)
        (void)call_error(call, "ERR the list of clients is too long");
    else
        resp_write_verbatim(call->reply, "txt", buf_bytes(lines));
    buf_deinit(lines);
    return OUTCOME_DONE;
}

enum outcome client_info(struct call *call)
{
    struct buf line;
    buf_init(&line, LIST_MAX);
    return write_lines(call, &line, append_session(call, call->session, &line));
}

/* ---- LIST, LIST TYPE ---- */

struct listing {
    const struct call *call;
    struct buf lines;
    bool any_type;
    enum client_type type;
    int error;
};

static bool list_one(void *context, struct session *session)
{
    struct listing *listing = context;
    if (atomic_load_explicit(&session->kill, memory_order_relaxed))
        return true;
    if (listing->any_type || client_type_of(session) == listing->type)
        listing->error = append_session(listing->call, session, &listing->lines);
    return listing->error == 0;
}

static enum outcome list_by_type(struct call *call, bool any_type, enum client_type type)
{
    struct listing listing = {.call = call, .any_type = any_type, .type = type};
    buf_init(&listing.lines, LIST_MAX);
    session_each(call->server, list_one, &listing);
    return write_lines(call, &listing.lines, listing.error);
}

/* ---- LIST ID ---- */

struct found_line {
    uint64_t id;
    size_t start, size; /* in the lines */
};

/* One pass over the register whatever the number of ids: they are looked up in a sorted copy, and so are the lines
 * afterwards, because the reply keeps the order of the arguments. */
struct id_listing {
    const struct call *call;
    int64_t *wanted; /* ascending */
    uint32_t wanted_count;
    struct found_line *found; /* ascending, as the register is */
    uint32_t found_count;
    struct buf lines;
    int error;
};

static int compare_ids(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int compare_found(const void *id, const void *line)
{
    uint64_t left = *(const uint64_t *)id, right = ((const struct found_line *)line)->id;
    return (left > right) - (left < right);
}

static bool find_one(void *context, struct session *session)
{
    struct id_listing *listing = context;
    int64_t id = (int64_t)session->id;
    if (atomic_load_explicit(&session->kill, memory_order_relaxed))
        return true;
    if (!bsearch(&id, listing->wanted, listing->wanted_count, sizeof(id), compare_ids))
        return true;
    size_t start = listing->lines.size;
    listing->error = append_session(listing->call, session, &listing->lines);
    if (listing->error == 0)
        listing->found[listing->found_count++] = (struct found_line){session->id, start, listing->lines.size - start};
    return listing->error == 0;
}

/* Puts the lines into the order of the arguments. */
static int order_lines(const struct id_listing *listing, struct buf *to)
{
    const struct call *call = listing->call;
    int error = 0;
    for (uint32_t i = 3; error == 0 && i < call->argc; i++) {
        int64_t id = 0;
        if (!number_parse_i64(call->argv[i], &id))
            continue;
        const struct found_line *line =
            bsearch(&id, listing->found, listing->found_count, sizeof(*line), compare_found);
        if (line)
            error = buf_append(to, listing->lines.data + line->start, line->size);
    }
    return error;
}

static enum outcome list_by_id(struct call *call)
{
    uint32_t count = call->argc - 3;
    struct id_listing listing = {.call = call, .wanted_count = count};
    struct buf ordered;
    listing.wanted = mem_try_alloc(count * sizeof(*listing.wanted));
    listing.found = mem_try_alloc(count * sizeof(*listing.found));
    buf_init(&listing.lines, LIST_MAX);
    buf_init(&ordered, LIST_MAX);
    if (!listing.wanted || !listing.found) {
        (void)call_out_of_memory(call);
        goto out;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!number_parse_i64(call->argv[i + 3], &listing.wanted[i])) {
            (void)call_error(call, "ERR Invalid client ID");
            goto out;
        }
    qsort(listing.wanted, count, sizeof(*listing.wanted), compare_ids);
    session_each(call->server, find_one, &listing);
    int error = listing.error < 0 ? listing.error : order_lines(&listing, &ordered);
    (void)write_lines(call, &ordered, error);
out:
    buf_deinit(&ordered);
    buf_deinit(&listing.lines);
    mem_free(listing.found);
    mem_free(listing.wanted);
    return OUTCOME_DONE;
}

enum outcome client_list(struct call *call)
{
    enum client_type type = CLIENT_TYPE_NORMAL;
    if (call->argc == 2)
        return list_by_type(call, true, type);
    if (call->argc == 4 && call_is(call, 2, "TYPE"))
        return client_type_parse(call, call->argv[3], &type) ? list_by_type(call, false, type) : OUTCOME_DONE;
    if (call->argc > 3 && call_is(call, 2, "ID"))
        return list_by_id(call);
    return call_syntax_error(call);
}
