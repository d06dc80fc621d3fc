#include "bench/workload/key_pattern.h"

#include "lib/base/check.h"

#include <math.h>

/* A Gaussian so wide that this many draws miss the space is flat over it. */
#define GAUSS_ATTEMPTS_MAX 1000

void key_space_init(struct key_space *space, uint64_t min, uint64_t max, double median, double stddev, double exponent)
{
    CHECK(min <= max);
    double span = (double)(max - min);
    space->min = min;
    space->max = max;
    space->median = median > 0 ? median : span / 2 + (double)min + 0.5;
    space->stddev = stddev > 0 ? stddev : span / 6;
    /* Zipf has no rank 0: a space that starts there begins at 1. */
    uint64_t low = min > 0 ? min : 1;
    zipf_init(&space->zipf, low, max > low ? max : low, exponent > 0 ? exponent : 1);
}

uint64_t key_space_share(const struct key_space *space, uint64_t client, uint64_t clients, uint64_t *low,
                         uint64_t *high)
{
    uint64_t last = space->max - space->min; /* number of keys less one: cannot overflow */
    uint64_t each = last / clients, longer = last % clients + 1;
    client %= clients;
    if (each == 0 && client >= longer) {
        *low = *high = space->min + client % longer;
        return 0;
    }
    /* The first `longer` clients have each + 1 keys, the others `each`. */
    uint64_t before = client * each + (client < longer ? client : longer);
    uint64_t count = each + (client < longer);
    *low = space->min + before;
    *high = *low + count - 1;
    return count;
}

void key_cursor_init(struct key_cursor *cursor, const struct key_space *space, char letter, uint64_t client,
                     uint64_t clients)
{
    cursor->low = space->min;
    cursor->high = space->max;
    if (letter == 'P')
        (void)key_space_share(space, client, clients, &cursor->low, &cursor->high);
    cursor->next = cursor->low;
}

static uint64_t gauss_draw(const struct key_space *space, struct random *random)
{
    for (int i = 0; i < GAUSS_ATTEMPTS_MAX; i++) {
        /* Box and Muller; 1 - u keeps 0 out of the logarithm. */
        double radius = sqrt(-2 * log(1 - random_unit(random)));
        double x = floor(space->median + space->stddev * radius * cos(2 * M_PI * random_unit(random)));
        if (x >= (double)space->min && x <= (double)space->max) {
            uint64_t key = (uint64_t)x;
            return key > space->max ? space->max : key;
        }
    }
    return space->min + random_below(random, space->max - space->min + 1);
}

uint64_t key_draw(const struct key_space *space, char letter, struct key_cursor *cursor, struct random *random)
{
    switch (letter) {
    case 'S':
    case 'P': {
        uint64_t key = cursor->next;
        cursor->next = key == cursor->high ? cursor->low : key + 1;
        return key;
    }
    case 'G':
        return gauss_draw(space, random);
    case 'Z':
        return space->max == 0 ? 0 : zipf_draw(&space->zipf, random);
    default: {
        uint64_t keys = space->max - space->min + 1;
        return keys == 0 ? random_next(random) : space->min + random_below(random, keys);
    }
    }
}

bool key_letter_valid(char letter)
{
    return letter == 'R' || letter == 'S' || letter == 'P' || letter == 'G' || letter == 'Z';
}
