/* base64.h - base64 (RFC 4648 section 4, padded).
 *
 * Threads:    any; pure. */
#ifndef KETCH_LIB_HISTOGRAM_BASE64_H
#define KETCH_LIB_HISTOGRAM_BASE64_H

#include "lib/base/buf.h"

/* Appends the text of the bytes. 0 or -errno of buf_append. */
MUST_USE int base64_encode(struct bytes from, struct buf *to);

/* Appends the bytes of a text, 3 for 4. -EBADMSG for anything but whole, canonical groups, or -errno of buf_append. */
MUST_USE int base64_decode(struct bytes text, struct buf *to);

#endif
