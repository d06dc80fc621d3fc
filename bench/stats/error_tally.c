#include "bench/stats/error_tally.h"

#include <errno.h>

const char *connection_error_name(enum connection_error error)
{
    static const char *const names[CONNECTION_ERRORS] = {
        [CONNECTION_REFUSED] = "connection refused",
        [CONNECTION_TIMED_OUT] = "connection timed out",
        [CONNECTION_UNREACHABLE] = "server unreachable",
        [CONNECTION_NO_RESOURCES] = "no local port or descriptor",
        [CONNECTION_RESET] = "connection reset",
        [CONNECTION_CLOSED] = "connection closed by server",
        [CONNECTION_REJECTED] = "connection rejected by server",
        [CONNECTION_PROTOCOL] = "protocol error",
        [CONNECTION_OTHER] = "other connection error",
    };
    return names[error];
}

enum connection_error connection_error_of(int error, bool connecting)
{
    switch (-error) {
    case 0:
        return CONNECTION_CLOSED;
    case ECONNREFUSED:
        return CONNECTION_REFUSED;
    case ETIMEDOUT:
        return CONNECTION_TIMED_OUT;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENETDOWN:
    case EHOSTDOWN:
    case ENOENT:
    case EACCES:
        return connecting ? CONNECTION_UNREACHABLE : CONNECTION_OTHER;
    case EADDRNOTAVAIL:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
    case EAGAIN:
        return CONNECTION_NO_RESOURCES;
    case ECONNRESET:
    case EPIPE:
    case ECONNABORTED:
        return CONNECTION_RESET;
    default:
        return CONNECTION_OTHER;
    }
}

static bool word_count(struct error_tally *tally, const char *word, uint64_t count)
{
    for (unsigned i = 0; i < tally->reply_words; i++) {
        if (strcmp(tally->replies[i].word, word) == 0) {
            tally->replies[i].count += count;
            return false;
        }
    }
    if (tally->reply_words == ERROR_WORDS_MAX) {
        tally->replies_other += count;
        return false;
    }
    struct error_word *entry = &tally->replies[tally->reply_words++];
    memcpy(entry->word, word, ERROR_WORD_SIZE);
    entry->count = count;
    return true;
}

bool error_tally_reply(struct error_tally *tally, const char *line)
{
    char word[ERROR_WORD_SIZE] = {0};
    size_t size = 0;
    /* The server chooses these bytes: only what is safe to print. */
    while (size < sizeof(word) - 1 && line[size] > ' ' && line[size] < 0x7f) {
        word[size] = line[size];
        size++;
    }
    if (size == 0)
        word[0] = '?';
    return word_count(tally, word, 1);
}

void error_tally_add(struct error_tally *to, const struct error_tally *from)
{
    for (unsigned i = 0; i < CONNECTION_ERRORS; i++)
        to->connections[i] += from->connections[i];
    for (unsigned i = 0; i < from->reply_words; i++)
        (void)word_count(to, from->replies[i].word, from->replies[i].count);
    to->replies_other += from->replies_other;
    to->unanswered += from->unanswered;
    to->unsent += from->unsent;
}

uint64_t error_tally_connections(const struct error_tally *tally)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < CONNECTION_ERRORS; i++)
        sum += tally->connections[i];
    return sum;
}

uint64_t error_tally_replies(const struct error_tally *tally)
{
    uint64_t sum = tally->replies_other;
    for (unsigned i = 0; i < tally->reply_words; i++)
        sum += tally->replies[i].count;
    return sum;
}

bool error_tally_clean(const struct error_tally *tally)
{
    return error_tally_connections(tally) == 0 && error_tally_replies(tally) == 0 && tally->unanswered == 0 &&
           tally->unsent == 0;
}
