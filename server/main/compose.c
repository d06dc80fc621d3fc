/* Options whose lines have a grammar of their own. */
#include "lib/base/number.h"
#include "server/main/settings.h"

#include <errno.h>
#include <inttypes.h>

static int append_word(struct buf *to, struct bytes word)
{
    int failed = to->size ? buf_append_text(to, " ") : 0;
    return failed ? failed : buf_append_bytes(to, word);
}

static int too_long(int failed, struct option_error *error)
{
    return failed ? option_fail(error, failed, "argument is too long") : 0;
}

/* Pairs of seconds and changes; the empty word is none. */
int compose_save(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                 struct option_error *error)
{
    if (count == 1 && words[0].size == 0)
        return 0;
    int failed = adds ? buf_append_text(to, present) : 0;
    if (count % 2)
        return option_fail(error, -EINVAL, "Invalid save parameters");
    for (size_t i = 0; i < count && !failed; i++) {
        int64_t number;
        if (!number_parse_i64(words[i], &number) || number < (i % 2 ? 0 : 1) || number > INT32_MAX)
            return option_fail(error, -EINVAL, "Invalid save parameters");
        failed = append_word(to, words[i]);
    }
    return too_long(failed, error);
}

/* Letters of keyspace event classes, in the order in which Redis shows them. A stands for the first ten; next to it n
 * is not shown. */
int compose_events(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                   struct option_error *error)
{
    static const char letters[] = "g$lshzxetdnKEm";
    bool given[sizeof(letters)] = {false};
    (void)present;
    (void)adds;
    for (size_t i = 0; i < count; i++) {
        for (size_t at = 0; at < words[i].size; at++) {
            const char *found = words[i].at[at] ? strchr(letters, words[i].at[at]) : NULL;
            if (!found && words[i].at[at] != 'A')
                return option_fail(error, -EINVAL, "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.");
            for (size_t class = 0; class < 10 && !found; class ++)
                given[class] = true;
            if (found)
                given[found - letters] = true;
        }
    }
    size_t all = 0;
    while (all < 10 && given[all])
        all++;
    int failed = all == 10 ? buf_append_text(to, "A") : 0;
    for (size_t class = all == 10 ? 11 : 0; class < sizeof(letters) - 1 && !failed; class ++)
        if (given[class])
            failed = buf_append(to, &letters[class], 1);
    return too_long(failed, error);
}

/* A size, or a percentage of maxmemory. */
int compose_memory_clients(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                           struct option_error *error)
{
    (void)present, (void)adds;
    struct bytes word = count == 1 ? words[0] : BYTES("");
    uint64_t number;
    if (word.size && word.at[word.size - 1] == '%') {
        if (!number_parse_u64(bytes_make(word.at, word.size - 1), &number))
            return option_fail(error, -EINVAL, "argument must be a memory or percent value");
        if (number > 100)
            return option_fail(error, -EINVAL, "percentage argument must be less or equal to 100");
        return too_long(buf_printf(to, number ? "%" PRIu64 "%%" : "%" PRIu64, number), error);
    }
    if (!number_parse_memory(word, &number) || number > INT64_MAX)
        return option_fail(error, -EINVAL, "argument must be a memory or percent value");
    return too_long(buf_printf(to, "%" PRIu64, number), error);
}

/* ---- client-output-buffer-limit ---- */

#define CLASSES 3

struct output_limit {
    uint64_t hard, soft, seconds;
};

static const char *const class_names[CLASSES] = {"normal", "slave", "pubsub"};

static int find_class(struct bytes word)
{
    if (bytes_is(word, "replica"))
        return 1;
    for (int i = 0; i < CLASSES; i++)
        if (bytes_is(word, class_names[i]))
            return i;
    return -1;
}

/* The next word of a text; empty at its end. */
static struct bytes next_word(const char **at)
{
    const char *start = *at;
    while (*start == ' ')
        start++;
    const char *end = start;
    while (*end && *end != ' ')
        end++;
    *at = end;
    return bytes_make(start, (size_t)(end - start));
}

static void read_limits(const char *text, struct output_limit *limits)
{
    for (int i = 0; i < CLASSES; i++)
        limits[i] = (struct output_limit){0};
    for (struct bytes word = next_word(&text); word.size; word = next_word(&text)) {
        int class = find_class(word);
        struct output_limit limit;
        if (class >= 0 && number_parse_memory(next_word(&text), &limit.hard) &&
            number_parse_memory(next_word(&text), &limit.soft) && number_parse_u64(next_word(&text), &limit.seconds))
            limits[class] = limit;
    }
}

int compose_output_limits(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                          struct option_error *error)
{
    (void)adds; /* classes that the words do not name keep their limits in any case */
    struct output_limit limits[CLASSES];
    read_limits(present, limits);
    if (count % 4)
        return option_fail(error, -EINVAL, "Wrong number of arguments in buffer limit configuration.");
    for (size_t i = 0; i < count; i += 4) {
        int class = find_class(words[i]);
        if (class < 0)
            return option_fail(error, -EINVAL, "Invalid client class specified in buffer limit configuration.");
        struct output_limit limit;
        if (!number_parse_memory(words[i + 1], &limit.hard) || !number_parse_memory(words[i + 2], &limit.soft) ||
            !number_parse_u64(words[i + 3], &limit.seconds) || limit.hard > INT64_MAX || limit.soft > INT64_MAX)
            return option_fail(error, -EINVAL,
                               "Error in hard, soft or soft_seconds setting in buffer limit configuration.");
        limits[class] = limit;
    }
    int failed = 0;
    for (int i = 0; i < CLASSES && !failed; i++)
        failed = buf_printf(to, "%s%s %" PRIu64 " %" PRIu64 " %" PRIu64, i ? " " : "", class_names[i], limits[i].hard,
                            limits[i].soft, limits[i].seconds);
    return too_long(failed, error);
}

int64_t output_limits_normal(const char *text)
{
    struct output_limit limits[CLASSES];
    read_limits(text, limits);
    return (int64_t)limits[0].hard;
}

/* ---- others ---- */

int compose_percentiles(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                        struct option_error *error)
{
    (void)present, (void)adds;
    if (count == 1 && words[0].size == 0)
        return 0;
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        double percentile;
        if (!number_parse_double(words[i], &percentile))
            return option_fail(error, -EINVAL, "Invalid latency-tracking-info-percentiles parameters");
        if (percentile < 0 || percentile > 100)
            return option_fail(error, -EINVAL,
                               "latency-tracking-info-percentiles parameters must be between 0 and 100");
        failed = append_word(to, words[i]);
    }
    return too_long(failed, error);
}

int compose_oom_values(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                       struct option_error *error)
{
    (void)present, (void)adds;
    if (count != 3)
        return option_fail(error, -EINVAL, "wrong number of arguments");
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        int64_t number;
        if (!number_parse_i64(words[i], &number) || number < -2000 || number > 2000)
            return option_fail(error, -EINVAL,
                               "Invalid oom-score-adj-values, elements must be between -2000 and 2000.");
        failed = append_word(to, words[i]);
    }
    return too_long(failed, error);
}

/* `replicaof no one` is what everybody is. */
int compose_replicaof(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                      struct option_error *error)
{
    (void)present, (void)adds;
    if (count != 2)
        return option_fail(error, -EINVAL, "wrong number of arguments");
    if (bytes_is(words[0], "no") && bytes_is(words[1], "one"))
        return 0;
    int failed = append_word(to, words[0]);
    if (!failed)
        failed = append_word(to, words[1]);
    return too_long(failed, error);
}

/* Pairs of names; the empty one is written as "". */
int compose_rename(const char *present, bool adds, const struct bytes *words, size_t count, struct buf *to,
                   struct option_error *error)
{
    int failed = adds ? buf_append_text(to, present) : 0;
    if (count > 2 || count == 0 || words[0].size == 0)
        return option_fail(error, -EINVAL, "wrong number of arguments");
    if (!failed)
        failed = append_word(to, words[0]);
    if (!failed)
        failed = append_word(to, count == 2 && words[1].size ? words[1] : BYTES("\"\""));
    return too_long(failed, error);
}
