#include "lib/resp/reply_head.h"

#include "lib/base/number.h"

#include <math.h>

static bool line_element(struct resp_walk *walk, struct resp_element *element)
{
    const uint8_t *at = walk->rest.at + 1;
    size_t size = walk->rest.size - 1;
    const uint8_t *mark = size ? memchr(at, '\r', size) : NULL;
    if (!mark || (size_t)(mark - at) + 2 > size || mark[1] != '\n')
        return false;
    element->text = bytes_make(at, (size_t)(mark - at));
    switch (walk->rest.at[0]) {
    case '+':
        element->type = RESP_SIMPLE;
        break;
    case '-':
        element->type = RESP_ERROR;
        break;
    case '(':
        element->type = RESP_BIGNUMBER;
        break;
    default:
        element->type = RESP_DOUBLE;
        if (bytes_is(element->text, "nan") || bytes_is(element->text, "-nan"))
            element->real = (double)NAN;
        else if (!number_parse_double(element->text, &element->real))
            return false;
        break;
    }
    walk->rest = bytes_make(mark + 2, size - (size_t)(mark - at) - 2);
    return true;
}

/* As resp_walk_next, but an attribute comes as the map it looks like. */
static bool next_raw(struct resp_walk *walk, struct resp_element *element, bool *attribute)
{
    *element = (struct resp_element){0};
    *attribute = false;
    if (walk->rest.size == 0)
        return false;
    const uint8_t *at = walk->rest.at, *end = at + walk->rest.size;
    if (*at == '+' || *at == '-' || *at == ',' || *at == '(')
        return line_element(walk, element);

    struct reply_head head;
    if (reply_head_read(&head, at, end) != RESP_OK || head.streamed || head.mark == '.' || head.mark == ';')
        return false;
    element->type = head.type;
    element->number = head.number;
    *attribute = head.mark == '|';
    if (head.type == RESP_INTEGER)
        element->text = bytes_make(at + 1, (size_t)(head.body - 2 - (at + 1)));
    if (head.type == RESP_BULK || head.type == RESP_ERROR) {
        size_t format = head.mark == '=' ? 4 : 0, size = (size_t)head.number + format;
        if ((size_t)(end - head.body) < size + 2 || head.body[size] != '\r' || head.body[size + 1] != '\n')
            return false;
        element->text = bytes_make(head.body + format, (size_t)head.number);
        head.body += size + 2;
    }
    walk->rest = bytes_make(head.body, (size_t)(end - head.body));
    return true;
}

static bool is_aggregate(const struct resp_element *element)
{
    return element->type == RESP_ARRAY || element->type == RESP_MAP || element->type == RESP_SET ||
           element->type == RESP_PUSH;
}

/* Counts what is still to come instead of calling itself: nesting costs nothing. */
static bool skip_elements(struct resp_walk *walk, int64_t count)
{
    while (count > 0) {
        struct resp_element element;
        bool attribute;
        if (!next_raw(walk, &element, &attribute))
            return false;
        if (!attribute)
            count--;
        if (is_aggregate(&element) && __builtin_add_overflow(count, element.number, &count))
            return false;
    }
    return true;
}

bool resp_walk_next(struct resp_walk *walk, struct resp_element *element)
{
    bool attribute;
    while (next_raw(walk, element, &attribute)) {
        if (!attribute)
            return true;
        if (!skip_elements(walk, element->number))
            break;
    }
    return false;
}

bool resp_walk_skip(struct resp_walk *walk)
{
    return skip_elements(walk, 1);
}
