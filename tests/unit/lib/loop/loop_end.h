/* loop_end.h - a connection that records what happens to it, for the tests of lib/loop. */
#ifndef KETCH_TESTS_LOOP_END_H
#define KETCH_TESTS_LOOP_END_H

#include "loop_fixture.h"

struct end {
    struct loop_conn conn;
    struct fixture *f;
    uint8_t *bytes; /* all that came, when `collect` */
    size_t size, capacity;
    int connected, connect_error, sent, closed, close_error, released, received;
    int last_turn; /* turns_ended when bytes came last, plus one */
    bool collect, echo;
    void (*on_connected)(struct end *end);
    void (*on_received)(struct end *end);
    void (*on_sent)(struct end *end);
    void (*on_closed)(struct end *end);
    struct loop_chunk *queue, *queue_tail; /* kept or to be echoed */
    bool keep, sending;
};

static inline void end_echo(struct end *end)
{
    while (end->queue != NULL && !end->sending) {
        struct iovec pieces[LOOP_IOV_MAX];
        unsigned count = 0;
        for (struct loop_chunk *chunk = end->queue; chunk != NULL && count < LOOP_IOV_MAX; chunk = chunk->next) {
            pieces[count++] = (struct iovec){chunk->data, chunk->size};
        }
        end->sending = true;
        if (loop_conn_send(&end->conn, pieces, count) == LOOP_SEND_PENDING) {
            end->sent = -(int)count; /* chunks to release when sent */
            return;
        }
        end->sending = false;
        while (count-- > 0) {
            struct loop_chunk *next = end->queue->next;
            loop_chunk_release(end->f->loop, end->queue);
            end->queue = next;
        }
    }
}

static inline void end_on_connected(struct loop_conn *conn, int error)
{
    struct end *end = CONTAINER_OF(conn, struct end, conn);
    end->connected++;
    end->connect_error = error;
    if (end->on_connected != NULL) {
        end->on_connected(end);
    }
}

static inline void end_queue(struct end *end, struct loop_chunk *chunk)
{
    chunk->next = NULL;
    if (end->queue == NULL) {
        end->queue = chunk;
    } else {
        end->queue_tail->next = chunk;
    }
    end->queue_tail = chunk;
}

static inline void end_on_received(struct loop_conn *conn, struct loop_chunk *chunk)
{
    struct end *end = CONTAINER_OF(conn, struct end, conn);
    assert_int_equal(end->closed + end->released, 0);
    assert_true(chunk->size > 0);
    end->received++;
    end->last_turn = end->f->turns_ended + 1;
    if (end->collect) {
        while (end->size + chunk->size > end->capacity) {
            end->capacity = end->capacity == 0 ? 65536 : end->capacity * 2;
            end->bytes = realloc(end->bytes, end->capacity);
        }
        memcpy(end->bytes + end->size, chunk->data, chunk->size);
    }
    end->size += chunk->size;
    if (end->echo || end->keep) {
        end_queue(end, chunk);
        if (end->echo) {
            end_echo(end);
        }
    } else {
        loop_chunk_release(end->f->loop, chunk);
    }
    if (end->on_received != NULL) {
        end->on_received(end);
    }
}

static inline void end_on_sent(struct loop_conn *conn)
{
    struct end *end = CONTAINER_OF(conn, struct end, conn);
    assert_int_equal(end->closed + end->released, 0);
    if (end->echo) {
        for (; end->sent < 0; end->sent++) {
            struct loop_chunk *next = end->queue->next;
            loop_chunk_release(end->f->loop, end->queue);
            end->queue = next;
        }
        end->sending = false;
        end_echo(end);
        return;
    }
    end->sent++;
    if (end->on_sent != NULL) {
        end->on_sent(end);
    }
}

static inline void end_on_closed(struct loop_conn *conn, int error)
{
    struct end *end = CONTAINER_OF(conn, struct end, conn);
    assert_int_equal(end->closed + end->released, 0);
    if (error == 0) {
        assert_int_not_equal(end->last_turn, end->f->turns_ended + 1);
    }
    end->closed++;
    end->close_error = error;
    if (end->on_closed != NULL) {
        end->on_closed(end);
    }
}

static inline void end_on_released(struct loop_conn *conn)
{
    struct end *end = CONTAINER_OF(conn, struct end, conn);
    end->released++;
}

static const struct loop_conn_handler end_handler = {
    end_on_connected, end_on_received, end_on_sent, end_on_closed, end_on_released,
};

static inline void end_open(struct end *end, struct fixture *f, int fd)
{
    end->f = f;
    assert_int_equal(loop_conn_open(f->loop, &end->conn, &end_handler, fd), 0);
}

static inline void end_free(struct end *end)
{
    while (end->queue != NULL) {
        struct loop_chunk *next = end->queue->next;
        loop_chunk_release(end->f->loop, end->queue);
        end->queue = next;
    }
    free(end->bytes);
    end->bytes = NULL;
}

/* Closes, waits for the release and frees what was kept. */
static inline void end_close(struct end *end)
{
    loop_conn_close(&end->conn);
    TURN_UNTIL(end->f, end->released == 1);
    end_free(end);
}

static inline void close_end(struct end *end)
{
    loop_conn_close(&end->conn);
}

#endif
