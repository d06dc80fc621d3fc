/* The V2 encoding of HdrHistogram: a 40 byte header and the counts as ZigZag LEB128, deflated behind an 8 byte header,
 * in base64. All integers big endian. The formats are those of its reference implementation (EncodableHistogram). */
#include "lib/histogram/base64.h"
#include "lib/histogram/histogram.h"

#include "lib/base/mem.h"

#include <errno.h>
#include <zlib.h>

#define COOKIE_V2 0x1c849303u
#define COOKIE_V2_COMPRESSED 0x1c849304u
#define COOKIE_WORD_SIZE 0x10u /* the nibble in which older versions keep the bytes of a count; V2 writes 1 */
#define HEADER 40
#define WRAPPER 8
#define COUNT_MAX 9            /* bytes of one encoded count */
#define DEFLATE_RATIO_MAX 1040 /* deflate cannot shrink more: a larger promise is a lie */

static void store32(uint8_t *to, uint32_t value)
{
    value = __builtin_bswap32(value);
    memcpy(to, &value, sizeof(value));
}

static void store64(uint8_t *to, uint64_t value)
{
    value = __builtin_bswap64(value);
    memcpy(to, &value, sizeof(value));
}

static uint32_t load32(const uint8_t *from)
{
    uint32_t value;
    memcpy(&value, from, sizeof(value));
    return __builtin_bswap32(value);
}

static uint64_t load64(const uint8_t *from)
{
    uint64_t value;
    memcpy(&value, from, sizeof(value));
    return __builtin_bswap64(value);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "stores swap");

/* Seven bits a byte, but all eight of the ninth. */
static uint8_t *put_count(uint8_t *to, int64_t value)
{
    uint64_t bits = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    for (int i = 0; i < COUNT_MAX - 1 && bits >= 0x80; i++) {
        *to++ = (uint8_t)(bits | 0x80);
        bits >>= 7;
    }
    *to++ = (uint8_t)bits;
    return to;
}

static bool get_count(const uint8_t **at, const uint8_t *end, int64_t *value)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < COUNT_MAX; i++) {
        if (*at == end)
            return false;
        uint64_t byte = *(*at)++;
        bool more = i < COUNT_MAX - 1 && (byte & 0x80);
        bits |= (more ? byte & 0x7f : byte) << (7 * i);
        if (!more)
            break;
    }
    *value = (int64_t)(bits >> 1 ^ (0 - (bits & 1)));
    return true;
}

/* Header and counts, uncompressed; *size bytes. The caller frees. */
static uint8_t *encode_plain(const struct histogram *histogram, size_t *size)
{
    uint32_t used = histogram->counts_size;
    while (used > 0 && histogram->counts[used - 1] == 0)
        used--;
    uint8_t *plain = mem_try_alloc(HEADER + (size_t)used * COUNT_MAX);
    if (!plain)
        return NULL;
    uint8_t *at = plain + HEADER;
    for (uint32_t i = 0; i < used;) {
        uint32_t zeros = 0;
        while (histogram->counts[i + zeros] == 0) /* the last one used is not 0 */
            zeros++;
        if (zeros > 1) {
            at = put_count(at, -(int64_t)zeros);
            i += zeros;
        } else {
            at = put_count(at, (int64_t)histogram->counts[i++]);
        }
    }
    *size = (size_t)(at - plain);
    double ratio = 1; /* from integers to the recorded unit */
    uint64_t ratio_bits;
    memcpy(&ratio_bits, &ratio, sizeof(ratio_bits));
    store32(plain, COOKIE_V2 | COOKIE_WORD_SIZE);
    store32(plain + 4, (uint32_t)(*size - HEADER));
    store32(plain + 8, 0); /* normalising offset */
    store32(plain + 12, (uint32_t)histogram->digits);
    store64(plain + 16, 1); /* lowest discernible value */
    store64(plain + 24, (uint64_t)histogram->highest);
    store64(plain + 32, ratio_bits);
    return plain;
}

int histogram_encode(const struct histogram *histogram, struct buf *to)
{
    int status = -ENOMEM;
    uint8_t *packed = NULL;
    size_t plain_size;
    uint8_t *plain = encode_plain(histogram, &plain_size);
    if (!plain)
        return status;
    uLongf packed_size = compressBound(plain_size);
    packed = mem_try_alloc(WRAPPER + packed_size);
    if (!packed || compress2(packed + WRAPPER, &packed_size, plain, plain_size, Z_BEST_COMPRESSION) != Z_OK)
        goto out;
    store32(packed, COOKIE_V2_COMPRESSED | COOKIE_WORD_SIZE);
    store32(packed + 4, (uint32_t)packed_size);
    status = base64_encode(bytes_make(packed, WRAPPER + packed_size), to);
out:
    mem_free(packed);
    mem_free(plain);
    return status;
}

/* Inflates exactly `size` bytes. */
static bool inflate_exactly(z_stream *stream, uint8_t *to, size_t size)
{
    stream->next_out = to;
    stream->avail_out = (uInt)size;
    int status = inflate(stream, Z_SYNC_FLUSH);
    return (status == Z_OK || status == Z_STREAM_END) && stream->avail_out == 0;
}

static bool ended(z_stream *stream)
{
    uint8_t more;
    stream->next_out = &more;
    stream->avail_out = 1;
    return inflate(stream, Z_SYNC_FLUSH) == Z_STREAM_END && stream->avail_out == 1 && stream->avail_in == 0;
}

/* What the counts say: totals, and the rest as near as buckets tell. */
static bool fill_counts(struct histogram *histogram, const uint8_t *at, const uint8_t *end)
{
    uint64_t index = 0;
    while (at < end) {
        int64_t count;
        if (!get_count(&at, end, &count))
            return false;
        if (count < 0) {
            if (count < -(int64_t)histogram->counts_size)
                return false;
            index += (uint64_t)-count;
            continue;
        }
        uint64_t sum;
        if (index >= histogram->counts_size || __builtin_add_overflow(histogram->total, (uint64_t)count, &sum) ||
            sum > INT64_MAX)
            return false;
        histogram->total = sum;
        histogram->counts[index++] = (uint64_t)count;
    }
    if (index > histogram->counts_size)
        return false;
    struct histogram_iterator iterator = {0};
    while (histogram_next(histogram, &iterator)) {
        int64_t lowest = histogram_lowest_equivalent(histogram, iterator.value);
        int64_t middle = lowest + (iterator.value - lowest + 1) / 2;
        double times = (double)iterator.count;
        if (lowest < histogram->min)
            histogram->min = lowest;
        histogram->max = iterator.value;
        histogram->sum += (double)middle * times;
        histogram->sum_of_squares += (double)middle * (double)middle * times;
    }
    return true;
}

static int decode_plain(struct histogram *histogram, z_stream *stream)
{
    uint8_t header[HEADER];
    size_t packed = stream->avail_in;
    if (!inflate_exactly(stream, header, sizeof(header)))
        return -EBADMSG;
    uint32_t payload = load32(header + 4), digits = load32(header + 12);
    uint64_t highest = load64(header + 24);
    if (load32(header) != (COOKIE_V2 | COOKIE_WORD_SIZE) || load32(header + 8) != 0 || load64(header + 16) != 1 ||
        digits < 1 || digits > 5 || highest < 2 || highest > INT64_MAX || payload / DEFLATE_RATIO_MAX > packed)
        return -EBADMSG;
    int status = histogram_init(histogram, (int64_t)highest, (int)digits);
    if (status < 0)
        return status;
    if (payload > (uint64_t)histogram->counts_size * COUNT_MAX)
        return -EBADMSG;
    uint8_t *counts = mem_try_alloc(payload);
    if (!counts)
        return -ENOMEM;
    if ((payload && !inflate_exactly(stream, counts, payload)) || !ended(stream) ||
        !fill_counts(histogram, counts, counts + payload))
        status = -EBADMSG;
    mem_free(counts);
    return status;
}

int histogram_decode(struct histogram *histogram, struct bytes text)
{
    *histogram = (struct histogram){.min = INT64_MAX};
    struct buf packed;
    buf_init(&packed, text.size);
    int status = base64_decode(text, &packed);
    if (status < 0)
        goto out;
    status = -EBADMSG;
    if (packed.size <= WRAPPER || packed.size > INT32_MAX ||
        load32(packed.data) != (COOKIE_V2_COMPRESSED | COOKIE_WORD_SIZE) ||
        load32(packed.data + 4) != packed.size - WRAPPER)
        goto out;
    z_stream stream = {.next_in = packed.data + WRAPPER, .avail_in = (uInt)(packed.size - WRAPPER)};
    status = -ENOMEM;
    if (inflateInit(&stream) != Z_OK)
        goto out;
    status = decode_plain(histogram, &stream);
    inflateEnd(&stream);
    if (status < 0)
        histogram_deinit(histogram);
out:
    buf_deinit(&packed);
    return status;
}
