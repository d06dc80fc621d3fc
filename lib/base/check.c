#include "lib/base/check.h"

#include "lib/base/log.h"

#include <stdlib.h>

void check_failed(const char *file, int line, const char *what)
{
    log_write(LOG_WARNING, "CHECK failed at %s:%d: %s", file, line, what);
    abort();
}
