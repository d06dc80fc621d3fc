/* The same bytes at once and in pieces give the same requests and the same fault. */
#include "lib/base/check.h"
#include "lib/resp/request.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A running digest of what was parsed. */
struct digest {
    uint64_t value;
    size_t consumed;
    enum resp_status last;
};

static void add(struct digest *digest, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        digest->value = (digest->value ^ at[i]) * 0x100000001b3u;
    digest->value = (digest->value ^ size ^ 0x5555) * 0x100000001b3u;
}

static struct digest parse(struct bytes input, struct bytes cuts, const struct resp_limits *limits)
{
    struct digest digest = {.value = 0xcbf29ce484222325u};
    struct bytes lent[3];
    struct resp_request request;
    resp_request_init(&request, lent, cuts.size ? cuts.at[0] % 4 : 3);
    size_t given = cuts.size ? 0 : input.size, cut = 0;
    for (;;) {
        size_t there = given - digest.consumed;
        uint8_t *copy = malloc(there + !there); /* of the exact size, at another address each time */
        if (there)
            memcpy(copy, input.at + digest.consumed, there);
        digest.last = resp_request_parse(&request, bytes_make(copy, there), limits);
        if (digest.last == RESP_OK) {
            for (uint32_t i = 0; i < request.argc; i++)
                add(&digest, request.argv[i].at, request.argv[i].size);
            add(&digest, &request.argc, sizeof(request.argc));
            CHECK(request.consumed > 0 && request.consumed <= there);
            digest.consumed += request.consumed;
        }
        free(copy);
        if (digest.last == RESP_BAD) {
            add(&digest, request.error, strlen(request.error));
            CHECK(request.consumed <= there);
            digest.consumed += request.consumed;
            break;
        }
        if (digest.last == RESP_OK)
            continue;
        CHECK(request.needed > there);
        CHECK(request.capacity <= 2 * input.size + 8);
        if (given == input.size)
            break;
        size_t step = 1 + cuts.at[cut++ % cuts.size] % 64;
        given = step < input.size - given ? given + step : input.size;
    }
    resp_request_deinit(&request);
    return digest;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct resp_limits usual = {512LL << 20, 1 << 20, 64, true}, stranger = {100, 4, 64, false};
    if (size < 4)
        return 0;
    /* The last bytes cut, the first chooses the limits. */
    const struct resp_limits *limits = data[0] & 1 ? &usual : &stranger;
    struct bytes cuts = bytes_make(data + size - 3, 3), input = bytes_make(data + 1, size - 4);
    struct digest whole = parse(input, bytes_make(NULL, 0), limits), pieces = parse(input, cuts, limits);
    CHECK(whole.value == pieces.value && whole.consumed == pieces.consumed && whole.last == pieces.last);
    return 0;
}
