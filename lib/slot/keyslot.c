#include "lib/slot/keyslot.h"

#include "lib/hash/crc16.h"

struct bytes keyslot_hash_tag(struct bytes key)
{
    const uint8_t *open = key.size ? memchr(key.at, '{', key.size) : NULL;
    if (!open)
        return key;
    const uint8_t *tag = open + 1;
    size_t left = (size_t)(key.at + key.size - tag);
    const uint8_t *close = left ? memchr(tag, '}', left) : NULL;
    if (!close || close == tag)
        return key;
    return bytes_make(tag, (size_t)(close - tag));
}

uint32_t keyslot_of(struct bytes key)
{
    return crc16(keyslot_hash_tag(key)) & (KEYSLOT_COUNT - 1);
}
