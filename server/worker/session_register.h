/* session_register.h - the list of all sessions. Private to this folder. */
#ifndef KETCH_SERVER_WORKER_SESSION_REGISTER_H
#define KETCH_SERVER_WORKER_SESSION_REGISTER_H

#include "server/worker/session.h"

/* Fills in names and state, and enters the session, whose id is set. */
void session_begin(struct session *session, int fd, bool is_unix);
/* Takes it out: nobody else sees it any more. */
void session_end(struct session *session);

#endif
