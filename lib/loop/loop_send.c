#include "lib/base/mem.h"
#include "lib/loop/loop_backend.h"

#include <errno.h>
#include <string.h>

static struct loop_sending *sending_take(struct loop *loop)
{
    struct loop_sending *sending = loop->sendings;
    if (sending == NULL) {
        return mem_alloc(sizeof(*sending));
    }
    loop->sendings = sending->next;
    return sending;
}

void loop_conn_drop_send(struct loop_conn *conn)
{
    conn->flags &= ~CONN_SENDING;
    if (conn->sending != NULL) {
        conn->sending->next = conn->loop->sendings;
        conn->loop->sendings = conn->sending;
        conn->sending = NULL;
    }
}

static inline struct iovec piece_behind(const struct iovec *piece, size_t skip)
{
    return (struct iovec){(uint8_t *)piece->iov_base + skip, piece->iov_len - skip};
}

void loop_send_keep(struct loop_conn *conn, const struct iovec *pieces, unsigned count, size_t skip)
{
    while (count > 0 && skip >= pieces->iov_len) {
        skip -= pieces->iov_len;
        pieces++;
        count--;
    }
    CHECK(count > 0 && count <= LOOP_IOV_MAX);
    conn->flags |= CONN_SENDING;
    if (count == 1) {
        conn->rest = piece_behind(pieces, skip);
        return;
    }
    struct loop_sending *sending = sending_take(conn->loop);
    memcpy(sending->pieces, pieces, count * sizeof(*pieces));
    sending->pieces[0] = piece_behind(pieces, skip);
    sending->message = (struct msghdr){.msg_iov = sending->pieces, .msg_iovlen = count};
    conn->sending = sending;
}

bool loop_send_advance(struct loop_conn *conn, size_t size)
{
    struct loop_sending *sending = conn->sending;
    if (sending == NULL) {
        conn->rest = piece_behind(&conn->rest, size);
        if (conn->rest.iov_len > 0) {
            return false;
        }
        conn->flags &= ~CONN_SENDING;
        return true;
    }
    struct msghdr *message = &sending->message;
    while (message->msg_iovlen > 0 && size >= message->msg_iov->iov_len) {
        size -= message->msg_iov->iov_len;
        message->msg_iov++;
        message->msg_iovlen--;
    }
    if (message->msg_iovlen == 0) {
        loop_conn_drop_send(conn);
        return true;
    }
    *message->msg_iov = piece_behind(message->msg_iov, size);
    return false;
}

ssize_t loop_send_try(struct loop_conn *conn)
{
    for (;;) {
        ssize_t sent = conn->sending != NULL ? sendmsg(conn->fd, &conn->sending->message, MSG_NOSIGNAL)
                                             : send(conn->fd, conn->rest.iov_base, conn->rest.iov_len, MSG_NOSIGNAL);
        if (sent >= 0) {
            return sent;
        }
        if (errno != EINTR) {
            return -errno;
        }
    }
}
