/* Arguments lie in the storage, one behind the other, and quoting them again splits into the same. */
#include "lib/base/check.h"
#include "lib/resp/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ARGUMENTS 64

static char *quote(const struct bytes *argv, int argc, size_t size)
{
    char *line = malloc(4 * size + 3 * ARGUMENTS + 1), *at = line;
    for (int i = 0; i < argc; i++) {
        *at++ = '"';
        for (size_t j = 0; j < argv[i].size; j++)
            at += snprintf(at, 5, "\\x%02x", argv[i].at[j]);
        *at++ = '"';
        *at++ = ' ';
    }
    *at = '\0';
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes argv[ARGUMENTS], again[ARGUMENTS];
    uint8_t *storage = malloc(size + !size);
    int argc = resp_split_line(bytes_make(data, size), storage, argv, ARGUMENTS);
    CHECK(argc >= 0 || argc == -EINVAL || argc == -E2BIG);
    const uint8_t *at = storage;
    for (int i = 0; i < argc; i++) {
        CHECK(argv[i].at == at);
        at += argv[i].size;
        CHECK(at <= storage + size);
    }
    if (argc >= 0) {
        char *line = quote(argv, argc, size);
        uint8_t *other = malloc(strlen(line) + 1);
        CHECK(resp_split_line(bytes_of(line), other, again, ARGUMENTS) == argc);
        for (int i = 0; i < argc; i++)
            CHECK(bytes_equal(argv[i], again[i]));
        free(other);
        free(line);
    }
    free(storage);
    return 0;
}
