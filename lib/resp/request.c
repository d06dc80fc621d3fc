#include "lib/resp/request.h"

#include "lib/base/mem.h"
#include "lib/base/number.h"

#include <errno.h>
#include <stdio.h>

enum phase {
    PHASE_IDLE,      /* between requests */
    PHASE_INLINE,    /* no end of line yet */
    PHASE_COUNT,     /* "*N" has no end of line yet */
    PHASE_ARGUMENTS, /* bulks are missing; argv[].at holds offsets, for the input may move */
};

/* An array of more entries than this is given back when the next request begins. */
#define OWNED_KEPT 1024
#define LARGE_BULK 32768
/* Redis refuses what is over proto-max-bulk-len before it looks at authentication; this is that option's default. */
#define UNAUTHENTICATED_BULK_ABSURD (512LL << 20)

void resp_request_init(struct resp_request *request, struct bytes *lent, uint32_t lent_capacity)
{
    *request = (struct resp_request){.lent = lent, .lent_capacity = lent_capacity};
}

void resp_request_deinit(struct resp_request *request)
{
    mem_free(request->owned);
    mem_free(request->unquoted);
    *request = (struct resp_request){0};
}

/* For a request without arguments so far. */
static inline void use_lent(struct resp_request *request)
{
    request->from_lent = request->lent_capacity > 0;
    request->argv = request->from_lent ? request->lent : request->owned;
    request->capacity = request->from_lent ? request->lent_capacity : request->owned_capacity;
}

void resp_request_lend(struct resp_request *request, struct bytes *lent, uint32_t lent_capacity)
{
    request->lent = lent;
    request->lent_capacity = lent_capacity;
    if (request->phase != PHASE_IDLE && request->argc == 0)
        use_lent(request);
}

bool resp_request_unfinished(const struct resp_request *request)
{
    return request->phase != PHASE_IDLE;
}

static enum resp_status bad(struct resp_request *request, const char *error)
{
    request->error = error;
    request->consumed = request->offset;
    request->argc = 0;
    request->phase = PHASE_IDLE;
    return RESP_BAD;
}

static enum resp_status done(struct resp_request *request)
{
    request->consumed = request->offset;
    request->phase = PHASE_IDLE;
    return RESP_OK;
}

__attribute__((noinline)) static void free_storage(struct resp_request *request)
{
    mem_free(request->unquoted);
    request->unquoted = NULL;
    if (request->owned_capacity > OWNED_KEPT) {
        mem_free(request->owned);
        request->owned = NULL;
        request->owned_capacity = 0;
    }
}

static inline void begin(struct resp_request *request)
{
    if (UNLIKELY(request->unquoted != NULL || request->owned_capacity > OWNED_KEPT))
        free_storage(request);
    use_lent(request);
    request->argc = 0;
    request->offset = 0;
    request->scanned = 0;
    request->large_bulk = 0;
}

static void use_owned(struct resp_request *request)
{
    request->from_lent = false;
    request->argv = request->owned;
    request->capacity = request->owned_capacity;
}

/* Room for one argument more. Grows with what arrived, never to what was announced. */
static bool grow_argv(struct resp_request *request)
{
    uint32_t wanted = request->argc < 4 ? 8 : request->argc * 2;
    if (request->owned_capacity < wanted) {
        struct bytes *grown = mem_try_realloc(request->owned, wanted * sizeof(*grown));
        if (!grown)
            return false;
        request->owned = grown;
        request->owned_capacity = wanted;
    }
    if (request->from_lent && request->argc)
        memcpy(request->owned, request->argv, request->argc * sizeof(*request->owned));
    use_owned(request);
    return true;
}

static bool push(struct resp_request *request, struct bytes argument)
{
    if (UNLIKELY(request->argc == request->capacity) && !grow_argv(request))
        return false;
    request->argv[request->argc++] = argument;
    return true;
}

/* The lent array may serve other requests until the next call, so what it holds moves out of it. */
static enum resp_status more(struct resp_request *request, enum phase phase, size_t needed)
{
    if (request->from_lent) {
        if (request->argc > 0 && !grow_argv(request))
            return bad(request, "Protocol error: out of memory");
        use_owned(request);
    }
    request->phase = (uint8_t)phase;
    request->needed = needed;
    return RESP_MORE;
}

/* Finds `mark` in the line at offset. RESP_OK with its place; RESP_BAD when the line is over the limit, wherever the
 * pieces were cut. */
static enum resp_status find_mark(struct resp_request *request, struct bytes input, size_t line_max, char mark,
                                  size_t *found)
{
    size_t from = request->scanned > request->offset ? request->scanned : request->offset;
    size_t last = input.size - request->offset > line_max ? request->offset + line_max + 1 : input.size;
    const uint8_t *at = from < last ? memchr(input.at + from, mark, last - from) : NULL;
    if (at) {
        *found = (size_t)(at - input.at);
        request->scanned = *found; /* so that waiting for the byte behind it costs one look */
        return RESP_OK;
    }
    request->scanned = last;
    return input.size - request->offset > line_max ? RESP_BAD : RESP_MORE;
}

/* Redis steps over two bytes at a line's end and after a bulk, whatever they are once the first of a line is CR. */
static enum resp_status find_line(struct resp_request *request, struct bytes input, size_t line_max, size_t *found)
{
    enum resp_status status = find_mark(request, input, line_max, '\r', found);
    return status == RESP_OK && *found + 2 > input.size ? RESP_MORE : status;
}

/* Takes complete arguments in canonical form from the input: the hot loop. Stops in front of anything else, which the
 * careful path then looks at. Returns where it stopped; argv has room for `wanted`. */
static inline const uint8_t *take_bulks(struct bytes *argv, uint32_t wanted, uint32_t *taken, const uint8_t *at,
                                        const uint8_t *end, size_t bulk_max)
{
    uint32_t count = 0;
    while (count < wanted && end - at >= 6) { /* "$0\r\n\r\n" */
        size_t size = (size_t)at[1] - '0';
        const uint8_t *body = at + 4;
        if (at[0] != '$' || size > 9)
            break;
        if (at[2] != '\r') {
            size_t digit = (size_t)at[2] - '0';
            if (digit > 9 || size == 0)
                break;
            size = size * 10 + digit;
            body = at + 5;
            if (at[3] != '\r') {
                const uint8_t *digits_end = at + (end - at < 12 ? end - at : 12);
                const uint8_t *p = at + 3;
                for (; p < digits_end && (digit = (size_t)*p - '0') <= 9; p++)
                    size = size * 10 + digit;
                if (end - p < 4 || *p != '\r')
                    break;
                body = p + 2;
            }
        }
        if ((size_t)(end - body) < size + 2 || size > bulk_max)
            break;
        argv[count++] = bytes_make(body, size);
        at = body + size + 2;
    }
    *taken = count;
    return at;
}

/* Runs take_bulks over an unfinished request, in as many steps as argv has to grow. */
static bool take_complete(struct resp_request *request, struct bytes input, size_t bulk_max)
{
    for (;;) {
        if (request->argc == request->capacity && !grow_argv(request))
            return false;
        uint32_t room = request->capacity - request->argc;
        uint32_t wanted = request->remaining < room ? (uint32_t)request->remaining : room;
        uint32_t taken;
        struct bytes *first = request->argv + request->argc;
        const uint8_t *at =
            take_bulks(first, wanted, &taken, input.at + request->offset, input.at + input.size, bulk_max);
        for (uint32_t i = 0; i < taken; i++)
            first[i].at = (const uint8_t *)(uintptr_t)(first[i].at - input.at);
        request->offset = (size_t)(at - input.at);
        request->argc += taken;
        request->remaining -= taken;
        if (taken < wanted || request->remaining == 0)
            return true;
    }
}

static enum resp_status read_bulk_length(struct resp_request *request, struct bytes input,
                                         const struct resp_limits *limits)
{
    size_t line_end;
    enum resp_status status = find_line(request, input, limits->inline_max, &line_end);
    if (status == RESP_BAD)
        return bad(request, "Protocol error: too big bulk count string");
    if (status == RESP_MORE)
        return more(request, PHASE_ARGUMENTS, input.size + 1);

    const uint8_t *at = input.at + request->offset;
    if (*at != '$') {
        snprintf(request->error_text, sizeof(request->error_text), "Protocol error: expected '$', got '%c'",
                 *at == '\r' || *at == '\n' || *at == '\0' ? ' ' : *at);
        return bad(request, request->error_text);
    }
    int64_t length;
    if (!number_parse_i64(bytes_make(at + 1, line_end - request->offset - 1), &length) || length < 0)
        return bad(request, "Protocol error: invalid bulk length");
    if (length > limits->bulk_max) {
        bool unauthenticated = !limits->authenticated && length <= UNAUTHENTICATED_BULK_ABSURD;
        return bad(request, unauthenticated ? "Protocol error: unauthenticated bulk length"
                                            : "Protocol error: invalid bulk length");
    }
    request->bulk = length;
    request->offset = line_end + 2;
    request->large_bulk = length >= LARGE_BULK ? (size_t)length : 0;
    return RESP_OK;
}

static enum resp_status parse_arguments(struct resp_request *request, struct bytes input,
                                        const struct resp_limits *limits)
{
    while (request->remaining > 0) {
        if (request->bulk < 0) {
            if (!take_complete(request, input, (size_t)limits->bulk_max))
                return bad(request, "Protocol error: out of memory");
            if (request->remaining == 0)
                break;
            enum resp_status status = read_bulk_length(request, input, limits);
            if (status != RESP_OK)
                return status;
        }
        size_t size = (size_t)request->bulk;
        if (input.size - request->offset < size + 2)
            return more(request, PHASE_ARGUMENTS, request->offset + size + 2);
        if (!push(request, bytes_make((const uint8_t *)(uintptr_t)request->offset, size)))
            return bad(request, "Protocol error: out of memory");
        request->offset += size + 2;
        request->remaining--;
        request->bulk = -1;
        request->large_bulk = 0;
    }
    for (uint32_t i = 0; i < request->argc; i++)
        request->argv[i].at = input.at + (uintptr_t)request->argv[i].at;
    return done(request);
}

static enum resp_status parse_count(struct resp_request *request, struct bytes input, const struct resp_limits *limits)
{
    size_t line_end;
    enum resp_status status = find_line(request, input, limits->inline_max, &line_end);
    if (status == RESP_BAD)
        return bad(request, "Protocol error: too big mbulk count string");
    if (status == RESP_MORE)
        return more(request, PHASE_COUNT, input.size + 1);

    int64_t count;
    if (!number_parse_i64(bytes_make(input.at + 1, line_end - 1), &count) || count > INT32_MAX)
        return bad(request, "Protocol error: invalid multibulk length");
    if (count > limits->multibulk_max)
        return bad(request, limits->authenticated ? "Protocol error: invalid multibulk length"
                                                  : "Protocol error: unauthenticated multibulk length");
    request->offset = line_end + 2;
    if (count <= 0)
        return done(request);
    request->remaining = count;
    request->bulk = -1;
    return parse_arguments(request, input, limits);
}

/* The arguments of a line without quotes, where they lie. */
static bool split_plain(struct resp_request *request, struct bytes line)
{
    size_t at = 0;
    for (;;) {
        while (at < line.size && (line.at[at] == ' ' || (line.at[at] >= '\t' && line.at[at] <= '\r')))
            at++;
        if (at == line.size)
            return true;
        size_t start = at;
        /* \v and \f separate only where blanks are skipped: as Redis has it. */
        while (at < line.size && line.at[at] != ' ' && line.at[at] != '\t' && line.at[at] != '\n' &&
               line.at[at] != '\r')
            at++;
        if (!push(request, bytes_make(line.at + start, at - start)))
            return false;
    }
}

static enum resp_status split_quoted(struct resp_request *request, struct bytes line)
{
    request->unquoted = mem_try_alloc(line.size);
    if (!request->unquoted)
        return bad(request, "Protocol error: out of memory");
    /* The lent array promises arguments that outlive the next call; these do not. */
    use_owned(request);
    for (;;) {
        if (request->capacity == 0 && !grow_argv(request))
            return bad(request, "Protocol error: out of memory");
        int count = resp_split_line(line, request->unquoted, request->argv, request->capacity);
        if (count >= 0) {
            request->argc = (uint32_t)count;
            return RESP_OK;
        }
        if (count == -EINVAL)
            return bad(request, "Protocol error: unbalanced quotes in request");
        request->argc = request->capacity;
        if (!grow_argv(request))
            return bad(request, "Protocol error: out of memory");
    }
}

static enum resp_status parse_inline(struct resp_request *request, struct bytes input, const struct resp_limits *limits)
{
    size_t newline;
    enum resp_status status = find_mark(request, input, limits->inline_max, '\n', &newline);
    if (status == RESP_BAD)
        return bad(request, "Protocol error: too big inline request");
    if (status == RESP_MORE)
        return more(request, PHASE_INLINE, input.size + 1);

    struct bytes line = bytes_make(input.at, newline);
    if (line.size && line.at[line.size - 1] == '\r')
        line.size--;
    const uint8_t *terminator = line.size ? memchr(line.at, '\0', line.size) : NULL;
    if (terminator)
        line.size = (size_t)(terminator - line.at);
    if (line.size && (memchr(line.at, '"', line.size) || memchr(line.at, '\'', line.size))) {
        status = split_quoted(request, line);
        if (status != RESP_OK)
            return status;
    } else if (!split_plain(request, line)) {
        return bad(request, "Protocol error: out of memory");
    }
    request->offset = newline + 1;
    return done(request);
}

/* The whole request in canonical form at the start of the input, into the array at hand; false leaves no trace. */
static inline bool parse_whole(struct resp_request *request, struct bytes input, const struct resp_limits *limits)
{
    const uint8_t *at = input.at;
    if (input.size < 4 || at[0] != '*')
        return false;
    uint32_t count = (uint32_t)at[1] - '0';
    if (count - 1 > 8)
        return false;
    if (at[2] == '\r') {
        at += 4;
    } else {
        uint32_t digit = (uint32_t)at[2] - '0';
        if (digit > 9 || input.size < 5 || at[3] != '\r')
            return false;
        count = count * 10 + digit;
        at += 5;
    }
    if (count > limits->multibulk_max || count > request->capacity)
        return false;
    uint32_t taken;
    at = take_bulks(request->argv, count, &taken, at, input.at + input.size, (size_t)limits->bulk_max);
    if (taken < count)
        return false;
    request->argc = count;
    request->consumed = (size_t)(at - input.at);
    return true;
}

/* Kept out of resp_request_parse, which then needs few registers and no stack. */
__attribute__((noinline)) static enum resp_status parse_carefully(struct resp_request *request, struct bytes input,
                                                                  const struct resp_limits *limits)
{
    switch ((enum phase)request->phase) {
    case PHASE_IDLE:
        if (input.size == 0)
            return more(request, PHASE_IDLE, 1);
        return input.at[0] == '*' ? parse_count(request, input, limits) : parse_inline(request, input, limits);
    case PHASE_INLINE:
        return parse_inline(request, input, limits);
    case PHASE_COUNT:
        return parse_count(request, input, limits);
    case PHASE_ARGUMENTS:
        break;
    }
    return parse_arguments(request, input, limits);
}

enum resp_status resp_request_parse(struct resp_request *request, struct bytes input, const struct resp_limits *limits)
{
    if (LIKELY(request->phase == PHASE_IDLE)) {
        begin(request);
        if (LIKELY(parse_whole(request, input, limits)))
            return RESP_OK;
    }
    return parse_carefully(request, input, limits);
}
