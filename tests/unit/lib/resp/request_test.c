#include "lib/resp/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct resp_limits usual = {512LL << 20, 1 << 20, 65536, true};
static const struct resp_limits stranger = {16384, 10, 65536, false};

/* What a sequence of requests came to, as text: "[a][b];" for each request, the error in the end. */
struct transcript {
    char text[8192];
    size_t size;
};

static void note(struct transcript *transcript, const void *bytes, size_t size)
{
    assert_true(transcript->size + size < sizeof(transcript->text));
    memcpy(transcript->text + transcript->size, bytes, size);
    transcript->size += size;
    transcript->text[transcript->size] = '\0';
}

static void note_request(struct transcript *transcript, const struct resp_request *request)
{
    for (uint32_t i = 0; i < request->argc; i++) {
        note(transcript, "[", 1);
        note(transcript, request->argv[i].at, request->argv[i].size);
        note(transcript, "]", 1);
    }
    note(transcript, ";", 1);
}

/* Feeds input that arrives in two parts, cut at `cut` (after the size: byte by byte), each time in fresh memory of the
 * exact size. */
static void run(struct bytes input, size_t cut, const struct resp_limits *limits, struct transcript *transcript)
{
    struct bytes lent[2];
    struct resp_request request;
    resp_request_init(&request, lent, 2);
    transcript->size = 0;
    transcript->text[0] = '\0';
    size_t from = 0, until = cut > input.size ? 0 : cut;
    for (;;) {
        uint8_t *copy = malloc(until - from + !(until - from));
        assert_non_null(copy);
        memcpy(copy, input.at + from, until - from);
        enum resp_status status = resp_request_parse(&request, bytes_make(copy, until - from), limits);
        if (status == RESP_OK) {
            note_request(transcript, &request);
            assert_in_range(request.consumed, 1, until - from);
            from += request.consumed;
        } else if (status == RESP_MORE) {
            assert_in_range(request.needed, until - from + 1, SIZE_MAX);
        } else {
            note(transcript, request.error, strlen(request.error));
        }
        free(copy);
        if (status == RESP_BAD || (status == RESP_MORE && until == input.size))
            break;
        if (status == RESP_MORE)
            until = cut > input.size ? until + 1 : input.size;
    }
    resp_request_deinit(&request);
}

static void expect(struct bytes input, const struct resp_limits *limits, const char *expected)
{
    struct transcript transcript;
    for (size_t cut = 0; cut <= input.size + (input.size <= 2000); cut++) {
        run(input, cut, limits, &transcript);
        assert_string_equal(transcript.text, expected);
        if (input.size > 2000 && cut > 100)
            cut += 997;
    }
}

#define EXPECT(literal, expected) expect(BYTES(literal), &usual, expected)

static void arrays_of_bulks_become_arguments(void **state)
{
    (void)state;
    EXPECT("*1\r\n$4\r\nPING\r\n", "[PING];");
    EXPECT("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", "[SET][k][];[GET][k];");
    EXPECT("*2\r\n$4\r\nECHO\r\n$12\r\nab\r\ncd\r\nefgh\r\n", "[ECHO][ab\r\ncd\r\nefgh];");
    EXPECT("*12\r\n$1\r\n0\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n$1\r\n5\r\n$1\r\n6\r\n$1\r\n7\r\n$1\r\n8\r\n$"
           "1\r\n9\r\n"
           "$1\r\na\r\n$1\r\nb\r\n",
           "[0][1][2][3][4][5][6][7][8][9][a][b];");
}

static void empty_requests_have_no_arguments(void **state)
{
    (void)state;
    EXPECT("*0\r\n*-1\r\n*-77\r\n\r\n\n  \r\nPING\r\n", ";;;;;;[PING];");
}

static void the_second_byte_of_a_line_end_is_not_looked_at(void **state)
{
    (void)state;
    EXPECT("*1\rX$4\rYPINGZZ*0\r.", "[PING];;");
}

static void inline_requests_are_split_like_a_shell_line(void **state)
{
    (void)state;
    EXPECT("PING\r\n", "[PING];");
    EXPECT("  set\tkey  value \nget key\r\n", "[set][key][value];[get][key];");
    EXPECT("set k \"a b\\x41\\n\\\"\" 'c \\'d\\n'\r\nPING\r\n", "[set][k][a bA\n\"][c 'd\\n];[PING];");
    EXPECT("a b c d e f g h i j k l\r\n", "[a][b][c][d][e][f][g][h][i][j][k][l];");
    EXPECT("'a' b c d e f g h i j k l\r\n", "[a][b][c][d][e][f][g][h][i][j][k][l];");
}

static void malformed_requests_are_refused_with_the_words_of_redis(void **state)
{
    (void)state;
    EXPECT("*a\r\n", "Protocol error: invalid multibulk length");
    EXPECT("*\r\n", "Protocol error: invalid multibulk length");
    EXPECT("*01\r\n", "Protocol error: invalid multibulk length");
    EXPECT("*+1\r\n", "Protocol error: invalid multibulk length");
    EXPECT("*3000000000\r\n", "Protocol error: invalid multibulk length");
    EXPECT("*1048577\r\n", "Protocol error: invalid multibulk length");
    EXPECT("*99999999999999999999999\r\n", "Protocol error: invalid multibulk length");
    EXPECT("*1\r\nfoo\r\n", "Protocol error: expected '$', got 'f'");
    EXPECT("*1\r\n\r\n", "Protocol error: expected '$', got ' '");
    EXPECT("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n:1\r\n", "Protocol error: expected '$', got ':'");
    EXPECT("*1\r\n$-1\r\n", "Protocol error: invalid bulk length");
    EXPECT("*1\r\n$\r\n", "Protocol error: invalid bulk length");
    EXPECT("*1\r\n$04\r\nPING\r\n", "Protocol error: invalid bulk length");
    EXPECT("*1\r\n$+4\r\nPING\r\n", "Protocol error: invalid bulk length");
    EXPECT("*1\r\n$536870913\r\n", "Protocol error: invalid bulk length");
    EXPECT("*1\r\n$18446744073709551615\r\n", "Protocol error: invalid bulk length");
    EXPECT("PING\r\nset \"a\r\n", "[PING];Protocol error: unbalanced quotes in request");
    EXPECT("set \"a\"b\r\n", "Protocol error: unbalanced quotes in request");
}

static void a_stranger_may_send_less(void **state)
{
    (void)state;
    expect(BYTES("*11\r\n"), &stranger, "Protocol error: unauthenticated multibulk length");
    expect(BYTES("*2147483648\r\n"), &stranger, "Protocol error: invalid multibulk length");
    expect(BYTES("*1\r\n$16385\r\n"), &stranger, "Protocol error: unauthenticated bulk length");
    expect(BYTES("*1\r\n$536870913\r\n"), &stranger, "Protocol error: invalid bulk length");
    expect(BYTES("*2\r\n$4\r\nAUTH\r\n$1\r\nx\r\n"), &stranger, "[AUTH][x];");
}

static void expect_long_line(const char *head, size_t size, const char *tail, const char *expected)
{
    size_t head_size = strlen(head), tail_size = strlen(tail);
    uint8_t *input = malloc(head_size + size + tail_size);
    memcpy(input, head, head_size);
    memset(input + head_size, '1', size);
    memcpy(input + head_size + size, tail, tail_size);
    expect(bytes_make(input, head_size + size + tail_size), &usual, expected);
    free(input);
}

static void lines_have_a_longest_size_whatever_the_pieces(void **state)
{
    (void)state;
    expect_long_line("*", 65536, "", "Protocol error: too big mbulk count string");
    expect_long_line("*", 70000, "\r\n", "Protocol error: too big mbulk count string");
    expect_long_line("*", 65535, "", "");
    expect_long_line("*", 65535, "\r\n", "Protocol error: invalid multibulk length");
    expect_long_line("*1\r\n$", 65536, "", "Protocol error: too big bulk count string");
    expect_long_line("*1\r\n$", 65535, "", "");
    expect_long_line("", 65537, "", "Protocol error: too big inline request");
    expect_long_line("", 65537, "\r\n", "Protocol error: too big inline request");
    expect_long_line("", 65536, "", "");
}

static void a_large_bulk_says_how_much_it_needs(void **state)
{
    (void)state;
    struct resp_request request;
    resp_request_init(&request, NULL, 0);
    struct bytes head = BYTES("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000\r\nabc");
    assert_int_equal(resp_request_parse(&request, head, &usual), RESP_MORE);
    assert_int_equal(request.needed, head.size - 3 + 100000 + 2);
    assert_int_equal(request.large_bulk, 100000);
    assert_true(resp_request_unfinished(&request));
    resp_request_deinit(&request);
}

static void what_is_announced_costs_no_memory(void **state)
{
    (void)state;
    struct resp_request request;
    resp_request_init(&request, NULL, 0);
    assert_int_equal(resp_request_parse(&request, BYTES("*1048576\r\n$1\r\na\r\n"), &usual), RESP_MORE);
    assert_in_range(request.capacity, 1, 16);
    resp_request_deinit(&request);
}

static void a_request_is_refused_at_its_first_fault_not_at_its_end(void **state)
{
    (void)state;
    struct resp_request request;
    resp_request_init(&request, NULL, 0);
    struct bytes input = BYTES("*3\r\n$3\r\nSET\r\nX\r\n");
    assert_int_equal(resp_request_parse(&request, input, &usual), RESP_BAD);
    assert_int_equal(request.consumed, input.size - 3);
    resp_request_deinit(&request);
}

static void a_million_arguments_in_small_pieces_take_linear_time(void **state)
{
    (void)state;
    enum { COUNT = 200000, PIECE = 64 };
    size_t size = 9 + COUNT * 7;
    char *input = malloc(size + 1);
    size_t at = (size_t)snprintf(input, size, "*%d\r\n", COUNT);
    for (int i = 0; i < COUNT; i++) {
        memcpy(input + at, "$1\r\na\r\n", 7);
        at += 7;
    }
    struct bytes lent[4];
    struct resp_request request;
    resp_request_init(&request, lent, 4);
    for (size_t given = 1; given < at; given += PIECE) {
        size_t offset = request.offset;
        assert_int_equal(resp_request_parse(&request, bytes_make(input, given), &usual), RESP_MORE);
        assert_true(request.offset >= offset && request.offset + 7 + 9 > given);
    }
    assert_int_equal(resp_request_parse(&request, bytes_make(input, at), &usual), RESP_OK);
    assert_int_equal(request.argc, COUNT);
    assert_ptr_equal(request.argv[COUNT - 1].at, input + at - 3);
    /* The next request lets go of the large array. */
    assert_int_equal(resp_request_parse(&request, BYTES("PING\r\n"), &usual), RESP_OK);
    assert_int_equal(request.owned_capacity, 0);
    resp_request_deinit(&request);
    free(input);
}

static void requests_in_lent_arrays_stay_valid_side_by_side(void **state)
{
    (void)state;
    struct bytes lent[8];
    struct resp_request request;
    resp_request_init(&request, lent, 8);
    struct bytes input = BYTES("*2\r\n$3\r\nGET\r\n$1\r\na\r\nPING b\r\n*1\r\n$1\r\nc\r\n");
    uint32_t used = 0;
    for (int i = 0; i < 3; i++) {
        resp_request_lend(&request, lent + used, 8 - used);
        assert_int_equal(resp_request_parse(&request, input, &usual), RESP_OK);
        assert_ptr_equal(request.argv, lent + used);
        used += request.argc;
        input = bytes_make(input.at + request.consumed, input.size - request.consumed);
    }
    assert_int_equal(used, 5);
    assert_true(bytes_is(lent[1], "a") && bytes_is(lent[3], "b") && bytes_is(lent[4], "c"));
    resp_request_deinit(&request);
}

static void an_unfinished_request_does_not_rely_on_the_lent_array(void **state)
{
    (void)state;
    struct bytes lent[8];
    struct resp_request request;
    resp_request_init(&request, lent, 8);
    struct bytes input = BYTES("*2\r\n$3\r\nGET\r\n$1\r\na\r\n");
    assert_int_equal(resp_request_parse(&request, bytes_make(input.at, input.size - 1), &usual), RESP_MORE);
    memset(lent, 0xff, sizeof(lent));
    resp_request_lend(&request, lent, 1);
    assert_int_equal(resp_request_parse(&request, input, &usual), RESP_OK);
    assert_true(request.argc == 2 && bytes_is(request.argv[0], "get") && bytes_is(request.argv[1], "a"));
    assert_ptr_not_equal(request.argv, lent);
    resp_request_deinit(&request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_of_bulks_become_arguments),
        cmocka_unit_test(empty_requests_have_no_arguments),
        cmocka_unit_test(the_second_byte_of_a_line_end_is_not_looked_at),
        cmocka_unit_test(inline_requests_are_split_like_a_shell_line),
        cmocka_unit_test(malformed_requests_are_refused_with_the_words_of_redis),
        cmocka_unit_test(a_stranger_may_send_less),
        cmocka_unit_test(lines_have_a_longest_size_whatever_the_pieces),
        cmocka_unit_test(a_large_bulk_says_how_much_it_needs),
        cmocka_unit_test(what_is_announced_costs_no_memory),
        cmocka_unit_test(a_request_is_refused_at_its_first_fault_not_at_its_end),
        cmocka_unit_test(a_million_arguments_in_small_pieces_take_linear_time),
        cmocka_unit_test(requests_in_lent_arrays_stay_valid_side_by_side),
        cmocka_unit_test(an_unfinished_request_does_not_rely_on_the_lent_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
