/* What the deep check accepts can be walked both ways and edited, and stays valid; the rest is refused without reading
 * outside (the input is copied to a buffer of its exact size). */
#include "lib/base/check.h"
#include "lib/ds/listpack.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct listpack *lp)
{
    uint32_t forward = 0, backward = 0;
    char digits[NUMBER_I64_TEXT];
    for (uint32_t at = listpack_first(lp); at; at = listpack_next(lp, at)) {
        struct bytes text = listpack_text(lp, at, digits);
        CHECK(listpack_equals(lp, at, text));
        CHECK(listpack_find(lp, at, text, 0) == at);
        forward++;
    }
    for (uint32_t at = listpack_last(lp); at; at = listpack_prev(lp, at))
        backward++;
    CHECK(forward == backward && forward == listpack_length(lp));
}

static void edit(struct listpack *lp, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 1 < size && i < 32; i += 2) {
        uint32_t length = listpack_length(lp);
        uint32_t at = length ? listpack_seek(lp, data[i] % length) : 0;
        struct bytes value = bytes_make(data + i, data[i + 1] % (size - i));
        struct listpack tail;
        if (at == 0 || data[i] % 5 == 0) {
            CHECK(listpack_append(lp, value));
        } else if (data[i] % 5 == 1) {
            CHECK(listpack_insert(lp, at, value) && listpack_equals(lp, at, value));
        } else if (data[i] % 5 == 2) {
            CHECK(listpack_replace(lp, at, value) && listpack_equals(lp, at, value));
        } else if (data[i] % 5 == 3) {
            listpack_delete(lp, at, 1 + data[i + 1] % 3);
        } else {
            CHECK(listpack_split(lp, at, &tail) && listpack_append_all(lp, &tail));
            listpack_deinit(&tail);
        }
        CHECK(listpack_valid(listpack_bytes(lp), true));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + !size);
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    if (size >= LISTPACK_BYTES_EMPTY && (size & 1)) {
        /* Half of the inputs get a right frame, so that the elements matter. */
        uint32_t total = (uint32_t)size;
        memcpy(copy, &total, sizeof(total));
        copy[4] = copy[5] = 0xFF;
        copy[size - 1] = 0xFF;
    }
    struct bytes bytes = bytes_make(copy, size);
    bool deep = listpack_valid(bytes, true);
    CHECK(!deep || listpack_valid(bytes, false));
    struct listpack lp;
    if (deep) {
        CHECK(listpack_init_copy(&lp, bytes));
        walk(&lp);
        edit(&lp, data, size);
        walk(&lp);
        listpack_deinit(&lp);
    }
    free(copy);
    return 0;
}
