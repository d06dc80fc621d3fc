/* descriptors.h - room for file descriptors. */
#ifndef KETCH_SERVER_MAIN_DESCRIPTORS_H
#define KETCH_SERVER_MAIN_DESCRIPTORS_H

#include <stdint.h>

/* Descriptors that are not clients: listeners, logs, the loops of that many workers. */
int64_t descriptors_reserved(int64_t workers);

/* Raises the limit of open files so that `clients` can be connected; returns how many can. */
int64_t descriptors_raise(int64_t clients, int64_t reserved);

/* The present limit of open files. */
int64_t descriptors_limit(void);

#endif
