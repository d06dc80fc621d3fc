#include "lib/resp/reply_head.h"

static enum resp_status bulk_head(struct reply_head *head)
{
    head->type = head->mark == '!' ? RESP_ERROR : RESP_BULK;
    if (head->streamed)
        return head->mark == '$' ? RESP_OK : RESP_BAD;
    if (head->number == -1 && head->mark == '$') {
        head->type = RESP_NULL;
        return RESP_OK;
    }
    /* A verbatim string begins with three letters and a colon. */
    int64_t least = head->mark == '=' ? 4 : 0;
    if (head->number < least || head->number > REPLY_LENGTH_MAX)
        return RESP_BAD;
    head->number -= least;
    return RESP_OK;
}

static enum resp_status aggregate_head(struct reply_head *head)
{
    switch (head->mark) {
    case '*':
        head->type = RESP_ARRAY;
        break;
    case '~':
        head->type = RESP_SET;
        break;
    case '>':
        head->type = RESP_PUSH;
        break;
    default:
        head->type = RESP_MAP;
        break;
    }
    if (head->streamed)
        return head->mark == '|' ? RESP_BAD : RESP_OK;
    if (head->number == -1 && head->mark == '*') {
        head->type = RESP_NULL;
        return RESP_OK;
    }
    if (head->number < 0 || head->number > REPLY_LENGTH_MAX)
        return RESP_BAD;
    if (head->type == RESP_MAP)
        head->number *= 2;
    return RESP_OK;
}

/* A line of `size` bytes known in full: "_", "#t", ".". */
static enum resp_status fixed_line(struct reply_head *head, const uint8_t *at, const uint8_t *end, size_t size)
{
    size_t there = (size_t)(end - at);
    if ((there > size && at[size] != '\r') || (there > size + 1 && at[size + 1] != '\n'))
        return RESP_BAD;
    head->body = at + size + 2;
    return there < size + 2 ? RESP_MORE : RESP_OK;
}

enum resp_status reply_head_read(struct reply_head *head, const uint8_t *at, const uint8_t *end)
{
    *head = (struct reply_head){.mark = at[0]};
    enum resp_status status;
    switch (head->mark) {
    case '$':
    case '=':
    case '!':
    case '*':
    case '~':
    case '>':
    case '%':
    case '|':
        if (end - at > 1 && at[1] == '?') {
            head->streamed = true;
            head->number = -1;
            status = fixed_line(head, at, end, 2);
        } else {
            status = reply_number_read(at + 1, end, &head->number, &head->body);
        }
        if (status != RESP_OK)
            return status;
        return head->mark == '$' || head->mark == '=' || head->mark == '!' ? bulk_head(head) : aggregate_head(head);
    case ':':
    case ';':
        head->type = head->mark == ':' ? RESP_INTEGER : RESP_BULK;
        status = reply_number_read(at + 1, end, &head->number, &head->body);
        if (status == RESP_OK && head->mark == ';' && (head->number < 0 || head->number > REPLY_LENGTH_MAX))
            return RESP_BAD;
        return status;
    case '_':
    case '.':
        head->type = RESP_NULL;
        return fixed_line(head, at, end, 1);
    case '#':
        head->type = RESP_BOOLEAN;
        if (end - at > 1 && at[1] != 't' && at[1] != 'f')
            return RESP_BAD;
        head->number = end - at > 1 && at[1] == 't';
        return fixed_line(head, at, end, 2);
    default:
        return RESP_BAD;
    }
}
