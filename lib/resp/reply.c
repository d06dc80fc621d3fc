#include "lib/resp/reply.h"

#include "lib/resp/reply_head.h"

enum phase {
    PHASE_FRESH,   /* nothing of the reply seen */
    PHASE_ELEMENT, /* a type byte is next */
    PHASE_LINE,    /* inside a text line */
    PHASE_BULK     /* inside a bulk */
};

/* In left[], for aggregates whose end is marked instead of counted. */
#define STREAMED (-1)
#define STREAMED_BULK (-2)

enum step {
    STEP_ON,      /* go on */
    STEP_ELEMENT, /* an element ended */
    STEP_MORE,
    STEP_BAD
};

struct cursor {
    const uint8_t *at, *end;
    struct bytes text; /* of the outermost element */
};

static void keep_error(struct resp_reply *reply, const uint8_t *from, size_t size)
{
    size_t room = sizeof(reply->line) - 1 - reply->line_size;
    if (size > room)
        size = room;
    memcpy(reply->line + reply->line_size, from, size);
    reply->line_size += (uint32_t)size;
    reply->line[reply->line_size] = '\0';
}

static bool push(struct resp_reply *reply, int64_t left, bool attribute)
{
    if (reply->depth == RESP_DEPTH_MAX)
        return false;
    reply->left[reply->depth] = left;
    uint32_t bit = (uint32_t)1 << reply->depth;
    reply->attributes = attribute ? reply->attributes | bit : reply->attributes & ~bit;
    reply->depth++;
    return true;
}

/* An element ended, and with it perhaps aggregates around it. True when the reply is complete. */
static bool element_ended(struct resp_reply *reply)
{
    while (reply->depth > 0) {
        int64_t *left = &reply->left[reply->depth - 1];
        if (*left < 0) {
            if (*left == STREAMED && reply->depth == 1)
                reply->number++;
            return false;
        }
        if (--*left > 0)
            return false;
        reply->depth--;
        /* An attribute stands in front of an element and is none. */
        if (reply->attributes >> reply->depth & 1)
            return false;
    }
    return true;
}

static enum step begin_line(struct resp_reply *reply, struct cursor *cursor, enum resp_type type)
{
    if (reply->depth == 0) {
        reply->type = type;
        reply->number = 0;
    }
    reply->phase = PHASE_LINE;
    reply->line_seen = 0;
    cursor->at++;
    return STEP_ON;
}

static enum step begin_aggregate(struct resp_reply *reply, const struct reply_head *head)
{
    bool attribute = head->mark == '|';
    if (head->number == 0)
        return attribute ? STEP_ON : STEP_ELEMENT;
    return push(reply, head->streamed ? STREAMED : head->number, attribute) ? STEP_ON : STEP_BAD;
}

static enum step begin_bulk(struct resp_reply *reply, const struct reply_head *head)
{
    if (head->streamed)
        return push(reply, STREAMED_BULK, false) ? STEP_ON : STEP_BAD;
    reply->skip = head->number + 2 + (head->mark == '=' ? 4 : 0);
    reply->phase = PHASE_BULK;
    return STEP_ON;
}

/* ";N": a piece of a streamed bulk; the empty one ends it. */
static enum step begin_piece(struct resp_reply *reply, const struct reply_head *head)
{
    if (head->number == 0) {
        reply->depth--;
        return STEP_ELEMENT;
    }
    if (reply->depth == 1)
        reply->number += head->number;
    return begin_bulk(reply, head);
}

static enum step read_element(struct resp_reply *reply, struct cursor *cursor)
{
    reply->phase = PHASE_ELEMENT;
    if (cursor->at == cursor->end)
        return STEP_MORE;
    uint8_t mark = *cursor->at;
    int64_t around = reply->depth ? reply->left[reply->depth - 1] : 0;
    if ((around == STREAMED_BULK) != (mark == ';') || (mark == '.' && around != STREAMED))
        return STEP_BAD;

    reply->mark = mark;
    switch (mark) {
    case '+':
        return begin_line(reply, cursor, RESP_SIMPLE);
    case '-':
        return begin_line(reply, cursor, RESP_ERROR);
    case ',':
        return begin_line(reply, cursor, RESP_DOUBLE);
    case '(':
        return begin_line(reply, cursor, RESP_BIGNUMBER);
    default:
        break;
    }

    struct reply_head head;
    enum resp_status status = reply_head_read(&head, cursor->at, cursor->end);
    if (status != RESP_OK)
        return status == RESP_MORE ? STEP_MORE : STEP_BAD;
    const uint8_t *line = cursor->at + 1;
    cursor->at = head.body;
    if (mark == '.') {
        reply->depth--;
        return STEP_ELEMENT;
    }
    if (mark == ';')
        return begin_piece(reply, &head);
    if (reply->depth == 0 && mark != '|') {
        reply->type = head.type;
        reply->number = head.streamed ? 0 : head.number;
        if (mark == ':')
            cursor->text = bytes_make(line, (size_t)(head.body - 2 - line));
    }
    if (head.type == RESP_NULL || mark == ':' || mark == '#')
        return STEP_ELEMENT;
    return head.type == RESP_BULK || head.type == RESP_ERROR ? begin_bulk(reply, &head) : begin_aggregate(reply, &head);
}

/* Lines are consumed as they arrive: only a CR whose LF is missing is looked at again. */
static enum step read_line(struct resp_reply *reply, struct cursor *cursor)
{
    size_t size = (size_t)(cursor->end - cursor->at);
    const uint8_t *mark = size ? memchr(cursor->at, '\r', size) : NULL;
    if (mark)
        size = (size_t)(mark - cursor->at);
    if (reply->depth == 0) {
        cursor->text = bytes_make(cursor->at, size);
        if (reply->mark == '-')
            keep_error(reply, cursor->at, size);
    }
    reply->line_seen += size;
    cursor->at += size;
    if (reply->line_seen > REPLY_LINE_MAX)
        return STEP_BAD;
    if (!mark || cursor->end - mark < 2)
        return STEP_MORE;
    cursor->at += 2;
    return mark[1] == '\n' ? STEP_ELEMENT : STEP_BAD;
}

static enum step read_bulk(struct resp_reply *reply, struct cursor *cursor)
{
    int64_t size = cursor->end - cursor->at;
    if (size > reply->skip - 2)
        size = reply->skip - 2;
    if (size > 0) {
        if (reply->depth == 0) {
            cursor->text = bytes_make(cursor->at, (size_t)size);
            if (reply->mark == '!')
                keep_error(reply, cursor->at, (size_t)size);
        }
        cursor->at += size;
        reply->skip -= size;
    } else if (reply->depth == 0) {
        cursor->text = bytes_make(cursor->at, 0);
    }
    for (; cursor->at < cursor->end; cursor->at++) {
        if (*cursor->at != (reply->skip == 2 ? '\r' : '\n'))
            return STEP_BAD;
        if (--reply->skip == 0) {
            cursor->at++;
            return STEP_ELEMENT;
        }
    }
    return STEP_MORE;
}

/* A bulk of up to eight digits, or the null, in at least four bytes. NULL when it is neither. */
static inline const uint8_t *bulk_whole(struct resp_reply *reply, const uint8_t *at, const uint8_t *end)
{
    if (at[1] == '-') {
        if (end - at < 5 || at[2] != '1' || at[3] != '\r' || at[4] != '\n')
            return NULL;
        reply->type = RESP_NULL;
        reply->number = -1;
        reply->text = (struct bytes){0};
        return at + 5;
    }
    const uint8_t *p = at + 1, *last = end - at > 9 ? at + 9 : end;
    size_t size = 0, digit;
    for (; p < last && (digit = (size_t)*p - '0') <= 9; p++)
        size = size * 10 + digit;
    if (p == at + 1 || end - p < 4 || p[0] != '\r' || p[1] != '\n')
        return NULL;
    const uint8_t *body = p + 2;
    if ((size_t)(end - body) < size + 2 || body[size] != '\r' || body[size + 1] != '\n')
        return NULL;
    reply->type = RESP_BULK;
    reply->number = (int64_t)size;
    reply->text = bytes_make(body, size);
    return body + size + 2;
}

/* The replies that loads consist of, whole in the input: +OK, $N, :N, $-1. False leaves the careful path to decide. */
static inline bool parse_whole(struct resp_reply *reply, struct bytes input)
{
    const uint8_t *at = input.at, *end = at + input.size;
    const uint8_t *next;
    if (input.size < 4)
        return false;
    switch (at[0]) {
    case '$':
        next = bulk_whole(reply, at, end);
        if (!next)
            return false;
        break;
    case '+':
        if (input.size < 5 || at[3] != '\r' || at[4] != '\n' || at[1] == '\r' || at[2] == '\r')
            return false;
        reply->type = RESP_SIMPLE;
        reply->number = 0;
        reply->text = bytes_make(at + 1, 2);
        next = at + 5;
        break;
    case ':':
        if (reply_number_read(at + 1, end, &reply->number, &next) != RESP_OK)
            return false;
        reply->type = RESP_INTEGER;
        reply->text = bytes_make(at + 1, (size_t)(next - 2 - (at + 1)));
        break;
    default:
        return false;
    }
    reply->consumed = (size_t)(next - at);
    return true;
}

/* Kept out of resp_reply_parse, which then needs few registers and no stack. */
__attribute__((noinline)) static enum resp_status parse_carefully(struct resp_reply *reply, struct bytes input)
{
    bool whole = reply->phase == PHASE_FRESH;
    reply->text = (struct bytes){0};
    reply->consumed = 0;
    if (input.size == 0)
        return RESP_MORE;
    struct cursor cursor = {input.at, input.at + input.size, {0}};
    for (;;) {
        enum step step;
        if (reply->phase == PHASE_LINE)
            step = read_line(reply, &cursor);
        else if (reply->phase == PHASE_BULK)
            step = read_bulk(reply, &cursor);
        else
            step = read_element(reply, &cursor);
        reply->consumed = (size_t)(cursor.at - input.at);
        switch (step) {
        case STEP_ON:
            break;
        case STEP_ELEMENT:
            reply->phase = PHASE_ELEMENT;
            if (!element_ended(reply))
                break;
            if (whole && reply->type != RESP_NULL && reply->type != RESP_BOOLEAN)
                reply->text = cursor.text;
            if (reply->mark == '=' && reply->text.at)
                reply->text = bytes_make(reply->text.at + 4, reply->text.size - 4);
            return RESP_OK;
        case STEP_MORE:
            /* Nothing taken: the next input is the first. */
            if (whole && reply->consumed == 0)
                reply->phase = PHASE_FRESH;
            return RESP_MORE;
        case STEP_BAD:
            return RESP_BAD;
        }
    }
}

enum resp_status resp_reply_parse(struct resp_reply *reply, struct bytes input)
{
    if (reply->phase == PHASE_FRESH && LIKELY(parse_whole(reply, input)))
        return RESP_OK;
    return parse_carefully(reply, input);
}
