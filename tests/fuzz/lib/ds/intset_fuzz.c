/* What the deep check accepts behaves as a set; the rest is refused without reading outside. */
#include "lib/base/check.h"
#include "lib/ds/intset.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct intset *set, const uint8_t *data, size_t size)
{
    uint32_t length = intset_length(set);
    for (uint32_t i = 0; i < length; i++)
        CHECK(intset_contains(set, intset_get(set, i)));
    for (size_t i = 0; i + 8 <= size && i < 64; i += 3) {
        int64_t member;
        memcpy(&member, data + i, sizeof(member));
        member >>= data[i] & 63;
        bool was = intset_contains(set, member), added;
        if (data[i + 1] & 1) {
            CHECK(intset_add(set, member, &added) && added == !was && intset_contains(set, member));
        } else {
            CHECK(intset_remove(set, member) == was && !intset_contains(set, member));
        }
        CHECK(intset_length(set) == 0 || intset_valid(intset_bytes(set), true));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + !size);
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    struct bytes bytes = bytes_make(copy, size);
    if (intset_valid(bytes, true)) {
        struct intset set;
        CHECK(intset_valid(bytes, false) && intset_init_copy(&set, bytes));
        use(&set, data, size);
        intset_deinit(&set);
    }
    free(copy);
    return 0;
}
