#include "loop_end.h"

static uint8_t pattern(size_t at)
{
    return (uint8_t)(at * 31 + (at >> 11));
}

static uint8_t *pattern_of(size_t size)
{
    uint8_t *bytes = malloc(size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = pattern(i);
    }
    return bytes;
}

/* Sends `size` bytes in pieces of odd sizes, turning the loop, and expects them all back. */
static void echo_through(struct fixture *f, int theirs, size_t size)
{
    uint8_t *bytes = pattern_of(size);
    uint8_t *back = malloc(size + 1);
    size_t out = 0, in = 0, piece = 1;
    while (in < size) {
        if (out < size) {
            size_t now = size - out < piece ? size - out : piece;
            ssize_t done = send(theirs, bytes + out, now, MSG_DONTWAIT);
            out += done > 0 ? (size_t)done : 0;
            piece = piece * 3 % 250007 + 1;
        }
        assert_int_equal(loop_turn(f->loop, MS), 0);
        ssize_t got = recv(theirs, back + in, size + 1 - in, MSG_DONTWAIT);
        in += got > 0 ? (size_t)got : 0;
    }
    assert_int_equal(in, size);
    assert_memory_equal(bytes, back, size);
    free(bytes);
    free(back);
}

static void echoes_from_one_byte_to_megabytes(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    static const size_t sizes[] = {1, 2, 16383, 16384, 16385, 65536, 1000003, 5000000};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        int ours, theirs;
        tcp_pair(&ours, &theirs);
        struct end end = {.echo = true};
        end_open(&end, &f, ours);
        echo_through(&f, theirs, sizes[i]);
        close(theirs);
        TURN_UNTIL(&f, end.closed);
        assert_int_equal(end.close_error, 0);
        end_close(&end);
    }
    fixture_close(&f);
}

static void nothing_is_received_while_paused_and_nothing_is_lost(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 4096, 0);
    int ours, theirs;
    tcp_pair(&ours, &theirs);
    struct end end = {.collect = true};
    end_open(&end, &f, ours);
    uint8_t *bytes = pattern_of(300000);
    size_t sent = 0;
    for (int round = 0; sent < 300000; round++) {
        loop_conn_pause(&end.conn);
        size_t before = end.size;
        for (int i = 0; i < 3; i++) {
            ssize_t done = send(theirs, bytes + sent, 300000 - sent < 7001 ? 300000 - sent : 7001, MSG_DONTWAIT);
            sent += done > 0 ? (size_t)done : 0;
            assert_int_equal(loop_turn(f.loop, 0), 0);
        }
        assert_int_equal(loop_turn(f.loop, MS), 0);
        assert_int_equal(end.size, before);
        loop_conn_resume(&end.conn);
        if (round % 3 == 0) {
            loop_conn_pause(&end.conn);
            loop_conn_resume(&end.conn);
        }
        TURN_UNTIL(&f, end.size == sent);
    }
    assert_memory_equal(end.bytes, bytes, sent);
    free(bytes);
    end_close(&end);
    close(theirs);
    fixture_close(&f);
}

static void pause_end(struct end *end)
{
    loop_conn_pause(&end->conn);
}

static void a_pause_inside_received_takes_effect_at_once(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 512, 0);
    int ours, theirs;
    tcp_pair(&ours, &theirs);
    struct end end = {.collect = true, .on_received = pause_end};
    uint8_t *bytes = pattern_of(8192);
    assert_int_equal(send(theirs, bytes, 8192, 0), 8192);
    end_open(&end, &f, ours);
    for (int i = 1; end.size < 8192; i++) {
        TURN_UNTIL(&f, end.received == i);
        turn(&f);
        assert_int_equal(end.received, i);
        loop_conn_resume(&end.conn);
    }
    assert_memory_equal(end.bytes, bytes, 8192);
    free(bytes);
    close(theirs);
    loop_conn_resume(&end.conn);
    TURN_UNTIL(&f, end.closed);
    end_close(&end);
    fixture_close(&f);
}

static void a_peer_that_closes_while_paused_is_seen_after_resuming_and_costs_nothing_before(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    for (int reset = 0; reset < 2; reset++) {
        int ours, theirs;
        tcp_pair(&ours, &theirs);
        struct end end = {0};
        end_open(&end, &f, ours);
        loop_conn_pause(&end.conn);
        turn(&f);
        struct linger linger = {.l_onoff = reset, .l_linger = 0};
        setsockopt(theirs, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
        close(theirs);
        int turns = f.turns_ended;
        int64_t until = clock_monotonic_ns() + 100 * MS;
        while (clock_monotonic_ns() < until) {
            turn(&f);
        }
        assert_true(f.turns_ended - turns < 20);
        assert_int_equal(end.closed, 0);
        loop_conn_resume(&end.conn);
        TURN_UNTIL(&f, end.closed);
        assert_int_equal(end.close_error, reset ? -ECONNRESET : 0);
        turn(&f);
        end_close(&end);
    }
    fixture_close(&f);
}

static void bytes_sent_before_a_half_close_come_before_closed(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 1024, 0);
    for (size_t size = 1; size < 9000; size += 1023) {
        int ours, theirs;
        tcp_pair(&ours, &theirs);
        uint8_t *bytes = pattern_of(size);
        assert_int_equal(send(theirs, bytes, size, 0), size);
        shutdown(theirs, SHUT_WR);
        struct end end = {.collect = true};
        end_open(&end, &f, ours);
        TURN_UNTIL(&f, end.closed);
        assert_int_equal(end.close_error, 0);
        assert_int_equal(end.size, size);
        assert_memory_equal(end.bytes, bytes, size);
        free(bytes);
        end_close(&end);
        close(theirs);
    }
    fixture_close(&f);
}

static void a_reset_is_told_as_an_error(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    int ours, theirs;
    tcp_pair(&ours, &theirs);
    struct end end = {0};
    end_open(&end, &f, ours);
    turn(&f);
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    setsockopt(theirs, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    close(theirs);
    TURN_UNTIL(&f, end.closed);
    assert_int_equal(end.close_error, -ECONNRESET);
    turn(&f);
    end_close(&end);
    fixture_close(&f);
}

static void closing_inside_received_ends_all(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 512, 0);
    int ours, theirs;
    tcp_pair(&ours, &theirs);
    uint8_t bytes[4096] = {0};
    assert_int_equal(send(theirs, bytes, sizeof(bytes), 0), sizeof(bytes));
    struct end end = {.on_received = close_end};
    end_open(&end, &f, ours);
    TURN_UNTIL(&f, end.released);
    turn(&f);
    assert_int_equal(end.received, 1);
    assert_int_equal(end.closed, 0);
    end_free(&end);
    close(theirs);
    fixture_close(&f);
}

static void closing_inside_closed_releases(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    int ours, theirs;
    tcp_pair(&ours, &theirs);
    struct end end = {.on_closed = close_end};
    end_open(&end, &f, ours);
    close(theirs);
    TURN_UNTIL(&f, end.released);
    assert_int_equal(end.closed, 1);
    fixture_close(&f);
}

struct pair_closer {
    struct end end;
    struct pair_closer *other;
};

static void close_both(struct end *end)
{
    struct pair_closer *this = CONTAINER_OF(end, struct pair_closer, end);
    loop_conn_close(&this->other->end.conn);
    loop_conn_close(&end->conn);
}

static void closing_another_connection_of_the_same_batch_silences_it(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    int ours[2], theirs[2];
    struct pair_closer *ends[2];
    for (int i = 0; i < 2; i++) {
        tcp_pair(&ours[i], &theirs[i]);
        ends[i] = calloc(1, sizeof(*ends[i]));
        ends[i]->end.on_received = close_both;
        end_open(&ends[i]->end, &f, ours[i]);
    }
    ends[0]->other = ends[1];
    ends[1]->other = ends[0];
    assert_int_equal(send(theirs[0], "x", 1, 0), 1);
    assert_int_equal(send(theirs[1], "x", 1, 0), 1);
    TURN_UNTIL(&f, ends[0]->end.released && ends[1]->end.released);
    assert_int_equal(ends[0]->end.received + ends[1]->end.received, 1);
    for (int i = 0; i < 2; i++) {
        free(ends[i]);
        close(theirs[i]);
    }
    turn(&f);
    fixture_close(&f);
}

static void a_send_to_a_slow_reader_ends_with_sent(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    for (unsigned count = 1; count <= LOOP_IOV_MAX; count += 31) {
        int ours, theirs;
        tcp_pair(&ours, &theirs);
        struct end end = {0};
        end_open(&end, &f, ours);
        size_t size = 12000000;
        uint8_t *bytes = pattern_of(size);
        uint8_t *back = malloc(size);
        struct iovec pieces[LOOP_IOV_MAX];
        for (unsigned i = 0; i < count; i++) {
            size_t from = size / count * i, to = i + 1 == count ? size : size / count * (i + 1);
            pieces[i] = (struct iovec){bytes + from, to - from};
        }
        assert_int_equal(loop_conn_send(&end.conn, pieces, count), LOOP_SEND_PENDING);
        memset(pieces, 0xff, sizeof(pieces)); /* the array is the caller's again */
        turn(&f);
        assert_int_equal(end.sent, 0);
        for (size_t in = 0; in < size;) {
            ssize_t got = recv(theirs, back + in, size - in < 100003 ? size - in : 100003, MSG_DONTWAIT);
            if (got > 0) {
                in += (size_t)got;
            } else {
                turn(&f);
            }
        }
        TURN_UNTIL(&f, end.sent);
        assert_memory_equal(bytes, back, size);
        assert_int_equal(end.sent, 1);
        free(bytes);
        free(back);
        end_close(&end);
        close(theirs);
    }
    fixture_close(&f);
}

static void closing_with_a_pending_send_drops_it(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    for (int turned = 0; turned < 2; turned++) {
        int ours, theirs;
        tcp_pair(&ours, &theirs);
        struct end end = {0};
        end_open(&end, &f, ours);
        size_t size = 20000000;
        uint8_t *bytes = pattern_of(size);
        struct iovec pieces[2] = {{bytes, size / 2}, {bytes + size / 2, size / 2}};
        assert_int_equal(loop_conn_send(&end.conn, pieces, 2), LOOP_SEND_PENDING);
        if (turned) {
            turn(&f);
        }
        loop_conn_close(&end.conn);
        TURN_UNTIL(&f, end.released);
        free(bytes);
        uint8_t back[65536];
        ssize_t got;
        size_t total = 0;
        while ((got = recv(theirs, back, sizeof(back), 0)) > 0) {
            total += (size_t)got;
        }
        assert_int_equal(got, 0);
        assert_true(total < size);
        assert_int_equal(end.sent + end.closed, 0);
        close(theirs);
    }
    fixture_close(&f);
}

static void a_peer_that_resets_with_a_send_pending_is_told_once(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    for (int paused = 0; paused < 2; paused++) {
        int ours, theirs;
        tcp_pair(&ours, &theirs);
        struct end end = {0};
        end_open(&end, &f, ours);
        size_t size = 20000000;
        uint8_t *bytes = pattern_of(size);
        struct iovec piece = {bytes, size};
        assert_int_equal(loop_conn_send(&end.conn, &piece, 1), LOOP_SEND_PENDING);
        if (paused) {
            loop_conn_pause(&end.conn);
        }
        turn(&f);
        close(theirs); /* with unread bytes: a reset */
        TURN_UNTIL(&f, end.closed);
        assert_true(end.close_error == -ECONNRESET || end.close_error == -EPIPE);
        turn(&f);
        end_close(&end);
        free(bytes);
        assert_int_equal(end.sent, 0);
        assert_int_equal(end.closed, 1);
    }
    fixture_close(&f);
}

static void sending_after_the_peer_went_fails_by_closed_not_inside_the_call(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    int ours, theirs;
    tcp_pair(&ours, &theirs);
    struct end end = {0};
    end_open(&end, &f, ours);
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    setsockopt(theirs, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
    close(theirs);
    usleep(1000);
    char text[] = "hello";
    struct iovec piece = {text, 5};
    assert_int_equal(loop_conn_send(&end.conn, &piece, 1), LOOP_SEND_PENDING);
    assert_int_equal(end.closed, 0);
    TURN_UNTIL(&f, end.closed);
    assert_true(end.close_error < 0);
    end_close(&end);
    fixture_close(&f);
}

static void an_empty_send_is_done(void **state)
{
    struct fixture f;
    fixture_open(&f, state, 0, 0);
    int ours, theirs;
    tcp_pair(&ours, &theirs);
    struct end end = {0};
    end_open(&end, &f, ours);
    char text[] = "x";
    struct iovec pieces[2] = {{text, 0}, {text, 0}};
    assert_int_equal(loop_conn_send(&end.conn, pieces, 2), LOOP_SEND_DONE);
    assert_int_equal(loop_conn_send(&end.conn, pieces, 0), LOOP_SEND_DONE);
    end_close(&end);
    close(theirs);
    fixture_close(&f);
}

static void with_all_chunks_kept_receiving_waits_and_goes_on_after_release(void **state)
{
    enum { ENDS = 7, CHUNKS = 4, EACH = 9000 };
    struct fixture f;
    fixture_open(&f, state, 1024, CHUNKS);
    struct end ends[ENDS] = {0};
    int theirs[ENDS];
    uint8_t *bytes = pattern_of(EACH);
    for (int i = 0; i < ENDS; i++) {
        int ours;
        tcp_pair(&ours, &theirs[i]);
        ends[i] = (struct end){.collect = true, .keep = true};
        end_open(&ends[i], &f, ours);
        assert_int_equal(send(theirs[i], bytes, EACH, 0), EACH);
    }
    size_t total = 0;
    while (total < (size_t)ENDS * EACH) {
        int kept = 0;
        turn(&f);
        total = 0;
        for (int i = 0; i < ENDS; i++) {
            total += ends[i].size;
            for (struct loop_chunk *chunk = ends[i].queue; chunk != NULL; chunk = chunk->next) {
                kept++;
            }
        }
        assert_true(kept <= CHUNKS);
        if (kept == CHUNKS || total == (size_t)ENDS * EACH) {
            int turns = f.turns_ended;
            int64_t until = clock_monotonic_ns() + 2 * MS;
            while (clock_monotonic_ns() < until) {
                assert_int_equal(loop_turn(f.loop, MS), 0);
            }
            assert_true(f.turns_ended - turns < 12); /* no spinning for want of chunks */
            for (int i = 0; i < ENDS; i++) {
                uint8_t *collected = ends[i].bytes;
                ends[i].bytes = NULL;
                end_free(&ends[i]);
                ends[i].bytes = collected;
            }
        }
    }
    for (int i = 0; i < ENDS; i++) {
        assert_memory_equal(ends[i].bytes, bytes, EACH);
        end_close(&ends[i]);
        close(theirs[i]);
    }
    free(bytes);
    fixture_close(&f);
}

static void many_connections_at_once_all_get_their_echo(void **state)
{
    enum { ENDS = 300 };
    struct fixture f;
    fixture_open(&f, state, 2048, 64);
    struct end *ends = calloc(ENDS, sizeof(*ends));
    int theirs[ENDS];
    for (int i = 0; i < ENDS; i++) {
        int ours;
        tcp_pair(&ours, &theirs[i]);
        ends[i].echo = true;
        end_open(&ends[i], &f, ours);
    }
    for (int round = 0; round < 5; round++) {
        char text[3000];
        memset(text, 'a' + round, sizeof(text));
        for (int i = 0; i < ENDS; i++) {
            assert_int_equal(send(theirs[i], text, sizeof(text), 0), sizeof(text));
        }
        for (int i = 0; i < ENDS; i++) {
            char back[sizeof(text)];
            for (size_t in = 0; in < sizeof(back);) {
                ssize_t got = recv(theirs[i], back + in, sizeof(back) - in, MSG_DONTWAIT);
                if (got > 0) {
                    in += (size_t)got;
                } else {
                    turn(&f);
                }
            }
            assert_memory_equal(text, back, sizeof(text));
        }
    }
    for (int i = 0; i < ENDS; i++) {
        loop_conn_close(&ends[i].conn);
        close(theirs[i]);
    }
    loop_destroy(f.loop); /* releases what is closed */
    for (int i = 0; i < ENDS; i++) {
        assert_int_equal(ends[i].released, 1);
    }
    free(ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(echoes_from_one_byte_to_megabytes),
        ON_BOTH(nothing_is_received_while_paused_and_nothing_is_lost),
        ON_BOTH(a_pause_inside_received_takes_effect_at_once),
        ON_BOTH(a_peer_that_closes_while_paused_is_seen_after_resuming_and_costs_nothing_before),
        ON_BOTH(bytes_sent_before_a_half_close_come_before_closed),
        ON_BOTH(a_reset_is_told_as_an_error),
        ON_BOTH(closing_inside_received_ends_all),
        ON_BOTH(closing_inside_closed_releases),
        ON_BOTH(closing_another_connection_of_the_same_batch_silences_it),
        ON_BOTH(a_send_to_a_slow_reader_ends_with_sent),
        ON_BOTH(closing_with_a_pending_send_drops_it),
        ON_BOTH(a_peer_that_resets_with_a_send_pending_is_told_once),
        ON_BOTH(sending_after_the_peer_went_fails_by_closed_not_inside_the_call),
        ON_BOTH(an_empty_send_is_done),
        ON_BOTH(with_all_chunks_kept_receiving_waits_and_goes_on_after_release),
        ON_BOTH(many_connections_at_once_all_get_their_echo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
