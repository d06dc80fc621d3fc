/* Whatever decodes encodes again to something that decodes to the same. The first byte chooses between base64 text as
 * it is and a payload that is wrapped first, so that mutations reach the counts. */
#include "lib/base/check.h"
#include "lib/histogram/base64.h"
#include "lib/histogram/histogram.h"

#include <stdlib.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct bytes text)
{
    struct histogram histogram, again;
    if (histogram_decode(&histogram, text) < 0) {
        CHECK(histogram.counts == NULL);
        return;
    }
    struct buf encoded;
    buf_init(&encoded, 1 << 30);
    CHECK(histogram_encode(&histogram, &encoded) == 0);
    CHECK(histogram_decode(&again, buf_bytes(&encoded)) == 0);
    CHECK(again.total == histogram.total && again.max == histogram.max && again.min == histogram.min);
    CHECK(again.counts_size == histogram.counts_size &&
          memcmp(again.counts, histogram.counts, again.counts_size * sizeof(*again.counts)) == 0);
    int64_t before = 0;
    for (double percentile = 0; percentile <= 100; percentile += 12.5) {
        int64_t value = histogram_percentile(&histogram, percentile);
        CHECK(value >= before);
        before = value;
    }
    struct histogram_percentile_iterator iterator = {0};
    int points = 0;
    while (histogram_next_percentile(&histogram, 5, &iterator))
        CHECK(++points < 1000);
    histogram_deinit(&again);
    histogram_deinit(&histogram);
    buf_deinit(&encoded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Histograms of five digits take tens of megabytes: too slow to make by the thousand. */
    if (size < 2)
        return 0;
    if (data[0] & 1) {
        check(bytes_make(data + 1, size - 1));
        return 0;
    }
    if (size < 41 || data[16] > 3)
        return 0;
    uLongf packed_size = compressBound(size - 1);
    uint8_t *packed = malloc(8 + packed_size);
    CHECK(compress2(packed + 8, &packed_size, data + 1, size - 1, 1) == Z_OK);
    memcpy(packed, "\x1c\x84\x93\x14", 4);
    for (int i = 0; i < 4; i++)
        packed[4 + i] = (uint8_t)(packed_size >> (24 - 8 * i));
    struct buf text;
    buf_init(&text, 1 << 20);
    if (base64_encode(bytes_make(packed, 8 + packed_size), &text) == 0)
        check(buf_bytes(&text));
    buf_deinit(&text);
    free(packed);
    return 0;
}
