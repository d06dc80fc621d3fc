#include "bench/workload/request_template.h"

#include "lib/base/mem.h"
#include "lib/base/number.h"

#include <stdio.h>

void request_batch_init(struct request_batch *batch, uint8_t *room, size_t size)
{
    batch->at = batch->open = room;
    batch->end = room + size;
    batch->count = 0;
}

void request_batch_close(struct request_batch *batch)
{
    if (batch->at > batch->open) {
        batch->pieces[batch->count++] =
            (struct iovec){.iov_base = batch->open, .iov_len = (size_t)(batch->at - batch->open)};
        batch->open = batch->at;
    }
}

static void batch_reference(struct request_batch *batch, struct bytes bytes)
{
    request_batch_close(batch);
    batch->pieces[batch->count++] = (struct iovec){.iov_base = (void *)(uintptr_t)bytes.at, .iov_len = bytes.size};
}

/* ---- compiling --------------------------------------------------------------------------------------------------- */

static struct bytes joined(struct bytes a, struct bytes b)
{
    uint8_t *data = mem_alloc(a.size + b.size + 1);
    if (a.size)
        memcpy(data, a.at, a.size);
    if (b.size)
        memcpy(data + a.size, b.at, b.size);
    return bytes_make(data, a.size + b.size);
}

static void bytes_free(struct bytes bytes)
{
    mem_free((void *)(uintptr_t)bytes.at);
}

static struct template_part *part_new(struct request_template *template, enum template_kind kind)
{
    CHECK(template->part_count < TEMPLATE_PARTS_MAX);
    struct template_part *part = &template->parts[template->part_count++];
    *part = (struct template_part){.kind = kind};
    return part;
}

/* Adjoining literals become one. */
static void text_add(struct request_template *template, struct bytes text)
{
    struct template_part *last = template->part_count ? &template->parts[template->part_count - 1] : NULL;
    if (!last || last->kind != TEMPLATE_LITERAL)
        last = part_new(template, TEMPLATE_LITERAL);
    struct bytes longer = joined(last->text, text);
    bytes_free(last->text);
    last->text = longer;
    template->copied_max += text.size;
}

static void length_add(struct request_template *template, char type, size_t length)
{
    char head[32];
    int size = snprintf(head, sizeof(head), "%c%zu\r\n", type, length);
    text_add(template, bytes_make(head, (size_t)size));
}

void template_init(struct request_template *template, unsigned arguments)
{
    *template = (struct request_template){.pieces_max = 1};
    length_add(template, '*', arguments);
}

void template_add_literal(struct request_template *template, struct bytes argument)
{
    length_add(template, '$', argument.size);
    text_add(template, argument);
    text_add(template, BYTES("\r\n"));
}

void template_add_key(struct request_template *template, struct bytes prefix)
{
    CHECK(template->part_count > 0);
    /* What stands before the key goes into its heads, so that a request begins with one copy. */
    struct template_part *before = &template->parts[template->part_count - 1];
    struct bytes text = {0};
    if (before->kind == TEMPLATE_LITERAL) {
        text = before->text;
        template->part_count--;
        template->copied_max -= text.size;
    }
    struct template_part *part = part_new(template, TEMPLATE_KEY);
    for (size_t digits = 1; digits <= KEY_DIGITS_MAX; digits++) {
        char length[32];
        int size = snprintf(length, sizeof(length), "$%zu\r\n", prefix.size + digits);
        struct bytes head = joined(text, bytes_make(length, (size_t)size));
        part->heads[digits] = joined(head, prefix);
        bytes_free(head);
    }
    template->copied_max += part->heads[KEY_DIGITS_MAX].size + KEY_DIGITS_MAX;
    bytes_free(text);
    text_add(template, BYTES("\r\n"));
}

void template_add_expiry(struct request_template *template)
{
    (void)part_new(template, TEMPLATE_EXPIRY);
    template->copied_max += 32;
}

void template_add_value(struct request_template *template, size_t value_size, struct bytes constant)
{
    if (constant.at && value_size < REFERENCE_BYTES) {
        template_add_literal(template, constant);
        return;
    }
    length_add(template, '$', value_size);
    (void)part_new(template, TEMPLATE_VALUE);
    if (value_size < REFERENCE_BYTES)
        template->copied_max += value_size;
    else
        template->pieces_max += 2; /* the copied bytes before it, and itself */
    text_add(template, BYTES("\r\n"));
}

void template_deinit(struct request_template *template)
{
    for (unsigned i = 0; i < template->part_count; i++) {
        bytes_free(template->parts[i].text);
        for (size_t digits = 0; digits <= KEY_DIGITS_MAX; digits++)
            bytes_free(template->parts[i].heads[digits]);
    }
    template->part_count = 0;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static inline uint8_t *copy(uint8_t *to, struct bytes from)
{
    memcpy(to, from.at, from.size);
    return to + from.size;
}

static uint8_t *number_write(uint8_t *to, uint32_t number)
{
    char digits[NUMBER_I64_TEXT];
    size_t size = number_format_u64(digits, number);
    *to++ = '$';
    if (size > 9)
        *to++ = '1';
    *to++ = (uint8_t)('0' + size % 10);
    *to++ = '\r';
    *to++ = '\n';
    memcpy(to, digits, size);
    to += size;
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

size_t template_write(const struct request_template *template, const struct request_values *values,
                      struct request_batch *batch)
{
    size_t referenced = 0;
    uint8_t *start = batch->at;
    for (unsigned i = 0; i < template->part_count; i++) {
        const struct template_part *part = &template->parts[i];
        switch (part->kind) {
        case TEMPLATE_LITERAL:
            batch->at = copy(batch->at, part->text);
            break;
        case TEMPLATE_KEY: {
            char digits[NUMBER_I64_TEXT];
            size_t size = number_format_u64(digits, values->key);
            batch->at = copy(batch->at, part->heads[size]);
            memcpy(batch->at, digits, size);
            batch->at += size;
            break;
        }
        case TEMPLATE_EXPIRY:
            batch->at = number_write(batch->at, values->expiry);
            break;
        case TEMPLATE_VALUE:
            if (values->value.size < REFERENCE_BYTES) {
                batch->at = copy(batch->at, values->value);
            } else {
                batch_reference(batch, values->value);
                referenced += values->value.size;
            }
            break;
        }
    }
    return (size_t)(batch->at - start) + referenced;
}
