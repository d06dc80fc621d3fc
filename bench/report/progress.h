/* progress.h - the line that tells each second how a run gets on. */
#ifndef KETCH_BENCH_REPORT_PROGRESS_H
#define KETCH_BENCH_REPORT_PROGRESS_H

#include "bench/client/load_run.h"

/* The line without its end; `clients` per thread. */
void progress_format(const struct load_progress *progress, unsigned run, unsigned clients, char *to, size_t size);

#endif
