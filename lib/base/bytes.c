#include "lib/base/bytes.h"

int bytes_compare(struct bytes a, struct bytes b)
{
    size_t shared = a.size < b.size ? a.size : b.size;
    int order = shared ? memcmp(a.at, b.at, shared) : 0;
    if (order != 0)
        return order;
    return (a.size > b.size) - (a.size < b.size);
}

static uint8_t lower(uint8_t c)
{
    return (uint8_t)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

bool bytes_equal_nocase(struct bytes a, struct bytes b)
{
    if (a.size != b.size)
        return false;
    for (size_t i = 0; i < a.size; i++)
        if (lower(a.at[i]) != lower(b.at[i]))
            return false;
    return true;
}

bool bytes_is(struct bytes a, const char *text)
{
    return bytes_equal_nocase(a, bytes_of(text));
}

/* Matches one character against the class that starts after '[' at p; *next is the index after the class. An
 * unclosed class ends with the pattern, as in Redis. */
static bool class_matches(struct bytes pattern, size_t p, uint8_t c, bool nocase, size_t *next)
{
    bool inverted = p < pattern.size && pattern.at[p] == '^';
    bool found = false;
    if (inverted)
        p++;
    for (;; p++) {
        if (p >= pattern.size) {
            *next = p;
            break;
        }
        uint8_t first = pattern.at[p];
        if (first == '\\' && p + 1 < pattern.size) {
            p++;
            found |= pattern.at[p] == c;
            continue;
        }
        if (first == ']') {
            *next = p + 1;
            break;
        }
        if (p + 2 < pattern.size && pattern.at[p + 1] == '-') {
            uint8_t last = pattern.at[p + 2];
            p += 2;
            /* Redis orders the ends before it folds their case: [a-Z] is z to a, and matches nothing. */
            if (first > last) {
                uint8_t swap = first;
                first = last;
                last = swap;
            }
            if (nocase) {
                uint8_t folded = lower(c);
                found |= folded >= lower(first) && folded <= lower(last);
                continue;
            }
            found |= c >= first && c <= last;
            continue;
        }
        found |= nocase ? lower(first) == lower(c) : first == c;
    }
    return found != inverted;
}

bool bytes_glob(struct bytes pattern, struct bytes text, bool nocase)
{
    /* Only the last star needs remembering: an earlier one can never make a later part match that the last one could
     * not. That bounds the work without recursion. */
    size_t p = 0, t = 0, star_p = 0, star_t = 0;
    bool starred = false;

    for (;;) {
        if (p < pattern.size && pattern.at[p] == '*') {
            starred = true;
            star_p = ++p;
            star_t = t;
            continue;
        }
        if (t == text.size) {
            if (p == pattern.size)
                return true;
            return false;
        }
        bool matched = false;
        size_t next = p;
        if (p < pattern.size) {
            uint8_t c = pattern.at[p];
            if (c == '?') {
                matched = true;
                next = p + 1;
            } else if (c == '[') {
                matched = class_matches(pattern, p + 1, text.at[t], nocase, &next);
            } else {
                if (c == '\\' && p + 1 < pattern.size)
                    c = pattern.at[++next];
                next++;
                matched = nocase ? lower(c) == lower(text.at[t]) : c == text.at[t];
            }
        }
        if (matched) {
            p = next;
            t++;
            continue;
        }
        if (!starred)
            return false;
        p = star_p;
        t = ++star_t;
    }
}
