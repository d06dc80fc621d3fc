#include "bench/workload/payload.h"

#include "lib/base/mem.h"
#include "lib/base/random.h"

#include <errno.h>

#define RANDOM_WINDOWS 65536

int payload_init(struct payload *payload, size_t value_size, bool random, uint64_t seed)
{
    payload->value_size = value_size;
    payload->windows = random ? RANDOM_WINDOWS : 1;
    size_t size = value_size + payload->windows - 1;
    payload->data = mem_try_alloc(size);
    if (!payload->data)
        return -ENOMEM;
    if (!random) {
        memset(payload->data, 'x', size);
        return 0;
    }
    struct random generator;
    random_seed(&generator, seed ^ 0x7061796c6f6164u);
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t bits = random_next(&generator);
        memcpy(payload->data + i, &bits, size - i < sizeof(bits) ? size - i : sizeof(bits));
    }
    return 0;
}

void payload_deinit(struct payload *payload)
{
    mem_free(payload->data);
    payload->data = NULL;
}
