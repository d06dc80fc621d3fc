/* hiredis_client - a program as users of hiredis write them: blocking, pipelined, and with binary values.
 *
 *     hiredis_client HOST PORT
 *
 * Exit status 0 when all went as expected. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(int truth, const char *what)
{
    if (!truth) {
        fprintf(stderr, "not so: %s\n", what);
        failures++;
    }
}

static void blocking(redisContext *context)
{
    redisReply *reply = redisCommand(context, "SET %s %b", "bin", "a\0b\r\n", (size_t)5);

    expect(reply && reply->type == REDIS_REPLY_STATUS && strcmp(reply->str, "OK") == 0, "SET answers OK");
    freeReplyObject(reply);
    reply = redisCommand(context, "GET bin");
    expect(reply && reply->len == 5 && memcmp(reply->str, "a\0b\r\n", 5) == 0, "GET gives the bytes back");
    freeReplyObject(reply);
    reply = redisCommand(context, "GET missing");
    expect(reply && reply->type == REDIS_REPLY_NIL, "GET of a missing key is nil");
    freeReplyObject(reply);
    reply = redisCommand(context, "INCR bin");
    expect(reply && reply->type == REDIS_REPLY_ERROR && strncmp(reply->str, "ERR value is not an integer", 27) == 0,
           "INCR of text is an error");
    freeReplyObject(reply);
}

static void pipelined(redisContext *context)
{
    enum { COUNT = 10000 };

    for (int at = 0; at < COUNT; at++) {
        redisAppendCommand(context, "SET key:%d %d", at, at);
        redisAppendCommand(context, "GET key:%d", at);
    }
    for (int at = 0; at < COUNT; at++) {
        void *stored = NULL, *read = NULL;
        expect(redisGetReply(context, &stored) == REDIS_OK && redisGetReply(context, &read) == REDIS_OK,
               "a reply to each");
        redisReply *reply = read;
        expect(reply && reply->type == REDIS_REPLY_STRING && strtol(reply->str, NULL, 10) == at, "replies in order");
        freeReplyObject(stored);
        freeReplyObject(read);
    }
}

static void described(redisContext *context)
{
    redisReply *reply = redisCommand(context, "INFO server");

    expect(reply && reply->type == REDIS_REPLY_STRING && strstr(reply->str, "redis_version:"),
           "INFO names the version");
    freeReplyObject(reply);
    reply = redisCommand(context, "CONFIG GET maxclients");
    expect(reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2, "CONFIG GET answers a pair");
    freeReplyObject(reply);
    reply = redisCommand(context, "HELLO 2");
    expect(reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 14, "HELLO 2 answers 7 pairs");
    freeReplyObject(reply);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        return 2;
    }
    redisContext *context = redisConnect(argv[1], (int)strtol(argv[2], NULL, 10));
    if (!context || context->err) {
        fprintf(stderr, "cannot connect\n");
        return 2;
    }
    blocking(context);
    pipelined(context);
    described(context);
    redisFree(context);
    return failures ? 1 : 0;
}
