/* log.h - the log sink: the one mutable global of the tree.
 *
 * Threads:    any; a line is written whole by one write(2).
 * Format:     "PID:ROLE 01 Dec 2026 10:20:30.123 # text", as Redis writes and tools parse it; level marks . - * # . */
#ifndef KETCH_LIB_BASE_LOG_H
#define KETCH_LIB_BASE_LOG_H

#include "lib/base/check.h"

#include <stdbool.h>

enum log_level { LOG_DEBUG, LOG_VERBOSE, LOG_NOTICE, LOG_WARNING, LOG_NOTHING };

/* One line of at most 1,023 bytes, longer ones are cut. Never fails; a full disk loses the line. */
void log_write(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* Lines go to the file at `path` (appended), or to stdout when path is empty. 0 or -errno; on failure the sink stays.
 * The path is copied. */
MUST_USE int log_open(const char *path);

/* Opens the same path again, after a rotation. */
MUST_USE int log_reopen(void);

/* 'M' primary, 'S' replica, 'C' child, 'X' sentinel. */
void log_set_role(char role);

/* Also copies lines to syslog under that name and facility (LOG_LOCAL0 + n); NULL stops it. */
void log_set_syslog(const char *ident, int local_facility);

/* The descriptor in use, for the crash handler (async-signal-safe). */
int log_fd(void);

#endif
