/* LCS: the longest common subsequence of two strings. */
#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "server/data/data.h"

struct lcs_options {
    bool length_only, ranges, match_lengths;
    uint64_t match_at_least;
};

/* A run of equal bytes, as positions in both strings, ends included. */
struct lcs_match {
    uint32_t a_first, a_last, b_first, b_last;
};

/* Lengths of the common subsequence of every two prefixes, (a.size + 1) * (b.size + 1) of them. */
struct lcs_table {
    struct bytes a, b;
    uint32_t *lengths;
};

static uint32_t *lcs_cell(const struct lcs_table *table, size_t i, size_t j)
{
    return table->lengths + i * (table->b.size + 1) + j;
}

static void lcs_fill(struct lcs_table *table)
{
    memset(table->lengths, 0, (table->b.size + 1) * sizeof(uint32_t));
    for (size_t i = 1; i <= table->a.size; i++) {
        const uint32_t *above = lcs_cell(table, i - 1, 0);
        uint32_t *row = lcs_cell(table, i, 0);
        uint8_t byte = table->a.at[i - 1];
        row[0] = 0;
        for (size_t j = 1; j <= table->b.size; j++) {
            if (table->b.at[j - 1] == byte)
                row[j] = above[j - 1] + 1;
            else
                row[j] = above[j] > row[j - 1] ? above[j] : row[j - 1];
        }
    }
}

/* Walks from the ends of both strings to their starts along the subsequence. Its bytes are written to `text` and its
 * runs, the last first, are added to `matches`; either may be NULL. */
static int lcs_walk(const struct lcs_table *table, uint8_t *text, struct buf *matches, uint64_t match_at_least)
{
    size_t i = table->a.size, j = table->b.size, left = *lcs_cell(table, i, j);
    while (left > 0) {
        size_t run = 0;
        while (i > 0 && j > 0 && table->a.at[i - 1] == table->b.at[j - 1]) {
            i--;
            j--;
            left--;
            run++;
            if (text)
                text[left] = table->a.at[i];
        }
        if (run > 0 && run >= match_at_least && matches) {
            struct lcs_match match = {(uint32_t)i, (uint32_t)(i + run - 1), (uint32_t)j, (uint32_t)(j + run - 1)};
            int status = buf_append(matches, &match, sizeof(match));
            if (status < 0)
                return status;
        }
        if (left == 0)
            break;
        /* Where both ways are as good, b is shortened: Redis does the same, and the answer depends on it. */
        if (*lcs_cell(table, i - 1, j) > *lcs_cell(table, i, j - 1))
            i--;
        else
            j--;
    }
    return 0;
}

static void write_matches(struct resp_writer *reply, const struct buf *matches, bool lengths, uint32_t length)
{
    size_t count = matches->size / sizeof(struct lcs_match);
    resp_write_map(reply, 2);
    resp_write_text(reply, "matches");
    resp_write_array(reply, count);
    for (size_t i = 0; i < count; i++) {
        struct lcs_match match;
        memcpy(&match, matches->data + i * sizeof(match), sizeof(match));
        resp_write_array(reply, lengths ? 3 : 2);
        resp_write_array(reply, 2);
        resp_write_integer(reply, match.a_first);
        resp_write_integer(reply, match.a_last);
        resp_write_array(reply, 2);
        resp_write_integer(reply, match.b_first);
        resp_write_integer(reply, match.b_last);
        if (lengths)
            resp_write_integer(reply, (int64_t)match.a_last - match.a_first + 1);
    }
    resp_write_text(reply, "len");
    resp_write_integer(reply, length);
}

static enum outcome answer_lcs(struct call *call, const struct lcs_table *table, const struct lcs_options *options)
{
    uint32_t length = *lcs_cell(table, table->a.size, table->b.size);
    if (options->length_only) {
        resp_write_integer(call->reply, length);
        return OUTCOME_DONE;
    }
    if (options->ranges) {
        struct buf matches;
        buf_init(&matches, call->string_max);
        int status = lcs_walk(table, NULL, &matches, options->match_at_least);
        if (status == 0)
            write_matches(call->reply, &matches, options->match_lengths, length);
        buf_deinit(&matches);
        return status == 0 ? OUTCOME_DONE : call_out_of_memory(call);
    }
    uint8_t *text = mem_try_alloc(length + 1);
    if (!text)
        return call_out_of_memory(call);
    (void)lcs_walk(table, text, NULL, 0);
    resp_write_bulk(call->reply, bytes_make(text, length));
    mem_free(text);
    return OUTCOME_DONE;
}

/* False after writing the error. */
static bool parse_lcs_options(struct call *call, struct lcs_options *options)
{
    for (uint32_t i = 3; i < call->argc; i++) {
        if (call_is(call, i, "IDX")) {
            options->ranges = true;
        } else if (call_is(call, i, "LEN")) {
            options->length_only = true;
        } else if (call_is(call, i, "WITHMATCHLEN")) {
            options->match_lengths = true;
        } else if (call_is(call, i, "MINMATCHLEN") && i + 1 < call->argc) {
            int64_t at_least;
            if (!call_integer(call, ++i, &at_least))
                return false;
            options->match_at_least = at_least < 0 ? 0 : (uint64_t)at_least;
        } else {
            call_syntax_error(call);
            return false;
        }
    }
    if (options->ranges && options->length_only) {
        call_error(call, "ERR If you want both the length and indexes, please just use IDX.");
        return false;
    }
    return true;
}

REQUIRES(slot_held)
static enum outcome lcs(struct call *call)
{
    const struct entry *a = store_read(call->store, call->db, &call->keys[0], call->now_ms);
    const struct entry *b = store_read(call->store, call->db, &call->keys[1], call->now_ms);
    if ((a && !data_is_string(a)) || (b && !data_is_string(b)))
        return call_error(call, "ERR The specified keys must contain string values");
    struct lcs_options options = {0};
    if (!parse_lcs_options(call, &options))
        return OUTCOME_DONE;
    struct lcs_table table = {.a = a ? entry_string(a) : bytes_make("", 0),
                              .b = b ? entry_string(b) : bytes_make("", 0)};
    uint64_t bytes;
    if (__builtin_mul_overflow((uint64_t)table.a.size + 1, ((uint64_t)table.b.size + 1) * sizeof(uint32_t), &bytes) ||
        bytes > call->string_max)
        return call_error(call, "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
    table.lengths = mem_try_alloc(bytes);
    if (!table.lengths)
        return call_error(call, "ERR Insufficient memory, failed allocating transient memory for LCS");
    lcs_fill(&table);
    enum outcome outcome = answer_lcs(call, &table, &options);
    mem_free(table.lengths);
    return outcome;
}

/* ---- the table ---- */

static const struct command string_lcs_commands[] = {
    {
        .name = "LCS",
        .summary = "Finds the longest common subsequence of two string values.",
        .since = "7.0.0",
        .complexity = "O(N*M) in the lengths of the two strings.",
        .args = "key1:k key2:k LEN? IDX? MINMATCHLEN%len:i? WITHMATCHLEN?",
        .arity = -3,
        .keys = {1, 2, 1},
        .key_flags = KEY_RO | KEY_ACCESS,
        .flags = CMD_READONLY | CAT_STRING,
        .run = lcs,
    },
    {0},
};

const struct command_family string_lcs_family = {"string", string_lcs_commands};
