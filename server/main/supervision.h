/* supervision.h - what a service manager wants to hear: readiness and stopping, over the socket that systemd names.
 *
 * Owns:       nothing: each message has a socket of its own, closed once it is sent.
 * Threads:    the main thread.
 * Fails by:   a log line; the server runs on without being supervised. */
#ifndef KETCH_SERVER_MAIN_SUPERVISION_H
#define KETCH_SERVER_MAIN_SUPERVISION_H

#include "server/main/settings.h"

struct supervision {
    enum main_supervised by; /* never AUTO: NO, SYSTEMD or UPSTART */
};

/* Finds out who supervises, and logs it. */
void supervision_init(struct supervision *supervision, enum main_supervised wanted);

/* Sends lines like "READY=1\nSTATUS=..." to systemd; upstart learns by a stop signal that the server is ready. */
void supervision_ready(const struct supervision *supervision);
void supervision_stopping(const struct supervision *supervision);

/* One datagram to the socket at `path` ('@': abstract). 0 or -errno. */
MUST_USE int supervision_send(const char *path, const char *text);

#endif
