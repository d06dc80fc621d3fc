/* Reading of configuration files: lines to words to the registry. */
#include "lib/base/mem.h"
#include "lib/option/registry.h"
#include "lib/resp/request.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <unistd.h>

#define FILE_MAX ((size_t)16 << 20) /* bytes */
#define INCLUDE_DEPTH_MAX 16

struct reader {
    struct option_registry *registry;
    struct option_fault *fault;
    const char *source;
    unsigned line;
    unsigned depth;
};

static int load_path(struct reader *reader, const char *path);

static int include_one(struct reader *reader, const char *path)
{
    if (reader->depth >= INCLUDE_DEPTH_MAX)
        return option_fail(&reader->fault->error, -ELOOP, "includes are nested too deeply");
    struct reader inner = {.registry = reader->registry, .fault = reader->fault, .depth = reader->depth + 1};
    return load_path(&inner, path);
}

static bool is_pattern(const char *path)
{
    return strpbrk(path, "*?[") != NULL;
}

/* A pattern that matches nothing includes nothing; a plain name must be there. */
static int include(struct reader *reader, struct bytes word)
{
    char path[4096];
    if (word.size >= sizeof(path) || memchr(word.at, 0, word.size))
        return option_fail(&reader->fault->error, -ENAMETOOLONG, "the name of the file is too long");
    memcpy(path, word.at, word.size);
    path[word.size] = '\0';
    if (!is_pattern(path))
        return include_one(reader, path);
    glob_t found = {0};
    int failed = 0;
    if (glob(path, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && !failed; i++)
            failed = include_one(reader, found.gl_pathv[i]);
    globfree(&found);
    return failed;
}

static void note_fault(struct reader *reader, struct bytes line)
{
    struct option_fault *fault = reader->fault;
    if (fault->source[0])
        return; /* an included file has said where */
    snprintf(fault->source, sizeof(fault->source), "%s", reader->source);
    fault->line = reader->line;
    snprintf(fault->text, sizeof(fault->text), "%.*s", (int)(line.size > 4096 ? 4096 : line.size),
             line.size ? (const char *)line.at : "");
}

static int load_line(struct reader *reader, struct bytes line, uint8_t *storage, struct bytes *words, size_t capacity)
{
    struct option_error *error = &reader->fault->error;
    if (line.size && memchr(line.at, 0, line.size))
        return option_fail(error, -EINVAL, "The line contains a zero byte");
    int count = resp_split_line(line, storage, words, capacity);
    if (count < 0)
        return option_fail(error, -EINVAL, "Unbalanced quotes in configuration line");
    if (count == 0)
        return 0;
    if (count == 2 && bytes_is(words[0], "include"))
        return include(reader, words[1]);
    return option_registry_line(reader->registry, words, (size_t)count, error);
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct bytes trim(struct bytes line)
{
    while (line.size && is_blank(line.at[0]))
        line = bytes_make(line.at + 1, line.size - 1);
    while (line.size && is_blank(line.at[line.size - 1]))
        line.size--;
    return line;
}

static int load_text(struct reader *reader, struct bytes text)
{
    size_t capacity = text.size / 2 + 1; /* words of the longest line there can be */
    uint8_t *storage = mem_alloc(text.size + 1);
    struct bytes *words = mem_alloc(capacity * sizeof(*words));
    int failed = 0;
    for (size_t at = 0; at < text.size && !failed;) {
        const uint8_t *newline = memchr(text.at + at, '\n', text.size - at);
        size_t end = newline ? (size_t)(newline - text.at) : text.size;
        struct bytes line = trim(bytes_make(text.at + at, end - at));
        at = end + 1;
        reader->line++;
        if (line.size == 0 || line.at[0] == '#')
            continue;
        failed = load_line(reader, line, storage, words, capacity);
        if (failed)
            note_fault(reader, line);
    }
    mem_free(words);
    mem_free(storage);
    return failed;
}

static int read_all(int fd, struct buf *to)
{
    for (;;) {
        int failed = buf_reserve(to, 4096);
        if (failed)
            return failed == -ENOBUFS ? -EFBIG : failed;
        ssize_t got = read(fd, to->data + to->size, to->capacity - to->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? 0 : -errno;
        to->size += (size_t)got;
    }
}

static int load_descriptor(struct reader *reader, int fd)
{
    struct buf text;
    buf_init(&text, FILE_MAX);
    int failed = read_all(fd, &text);
    if (failed)
        option_fail(&reader->fault->error, 0, "cannot read '%s': %s", reader->source, strerror(-failed));
    else
        failed = load_text(reader, buf_bytes(&text));
    buf_deinit(&text);
    return failed;
}

static int load_path(struct reader *reader, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        int failed = -errno;
        return option_fail(&reader->fault->error, failed, "can't open config file '%s': %s", path, strerror(-failed));
    }
    reader->source = path;
    int failed = load_descriptor(reader, fd);
    close(fd);
    return failed;
}

int option_file_load(struct option_registry *registry, const char *path, struct option_fault *fault)
{
    *fault = (struct option_fault){0};
    struct reader reader = {.registry = registry, .fault = fault};
    return load_path(&reader, path);
}

int option_descriptor_load(struct option_registry *registry, int fd, const char *source, struct option_fault *fault)
{
    *fault = (struct option_fault){0};
    struct reader reader = {.registry = registry, .fault = fault, .source = source};
    return load_descriptor(&reader, fd);
}

int option_text_load(struct option_registry *registry, struct bytes text, const char *source,
                     struct option_fault *fault)
{
    *fault = (struct option_fault){0};
    struct reader reader = {.registry = registry, .fault = fault, .source = source};
    return load_text(&reader, text);
}
