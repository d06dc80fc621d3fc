/* The same bytes at once and in pieces give the same replies; a walk over each agrees with the parser. */
#include "lib/base/check.h"
#include "lib/resp/reply.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    uint64_t digest;
    size_t done;
    enum resp_status last;
};

static void add(struct outcome *outcome, uint64_t value)
{
    outcome->digest = (outcome->digest ^ value) * 0x9e3779b97f4a7c15u;
    outcome->digest ^= outcome->digest >> 29;
}

static void walk_over(struct bytes bytes, bool one_reply)
{
    struct resp_walk walk = {bytes}, all = {bytes};
    struct resp_element element;
    if (resp_walk_skip(&walk) && one_reply)
        CHECK(walk.rest.size == 0);
    while (resp_walk_next(&all, &element))
        if (element.text.size)
            CHECK(element.text.at >= bytes.at && element.text.at + element.text.size <= bytes.at + bytes.size);
}

static struct outcome parse(struct bytes input, struct bytes cuts)
{
    struct outcome outcome = {.digest = 1};
    struct resp_reply reply = {0};
    size_t given = cuts.size ? 0 : input.size, cut = 0, begun = 0;
    for (;;) {
        size_t there = given - outcome.done;
        uint8_t *copy = malloc(there + !there);
        if (there)
            memcpy(copy, input.at + outcome.done, there);
        outcome.last = resp_reply_parse(&reply, bytes_make(copy, there));
        CHECK(outcome.last == RESP_BAD || reply.consumed <= there);
        if (outcome.last == RESP_OK && reply.text.at)
            CHECK(reply.text.at >= copy && reply.text.at + reply.text.size <= copy + reply.consumed);
        free(copy);
        if (outcome.last == RESP_BAD)
            break;
        outcome.done += reply.consumed;
        if (outcome.last == RESP_OK) {
            CHECK(outcome.done > begun);
            add(&outcome, reply.type);
            add(&outcome, (uint64_t)reply.number);
            add(&outcome, outcome.done);
            for (const char *c = reply.line; *c; c++)
                add(&outcome, (uint8_t)*c);
            walk_over(bytes_make(input.at + begun, outcome.done - begun), true);
            begun = outcome.done;
            resp_reply_reset(&reply);
            continue;
        }
        if (given == input.size)
            break;
        size_t step = 1 + cuts.at[cut++ % cuts.size] % 64;
        given = step < input.size - given ? given + step : input.size;
    }
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct bytes cuts = bytes_make(data + size - 3, 3), input = bytes_make(data, size - 3);
    walk_over(input, false);
    struct outcome whole = parse(input, bytes_make(NULL, 0)), pieces = parse(input, cuts);
    CHECK(whole.digest == pieces.digest && whole.last == pieces.last);
    if (whole.last != RESP_BAD)
        CHECK(whole.done == pieces.done);
    return 0;
}
