#include "cluster/redis.h"

#include "base/core/error.h"
#include "cluster/redis_url.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define ARGUMENTS_MAX 256

struct redis {
    redisContext *context;
    char message[160];
};

static struct timeval time_of(uint32_t ms)
{
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000) * 1000};
}

static bool fail(struct redis *redis, const char *why)
{
    snprintf(redis->message, sizeof redis->message, "%s", why && *why ? why : "no answer");
    redis->message[strcspn(redis->message, "\r\n")] = '\0';
    return false;
}

/* The answer of the expected kind; frees any other. */
static redisReply *expect(struct redis *redis, redisReply *reply, int type)
{
    if (reply && reply->type == type)
        return reply;
    fail(redis, !reply                             ? redis->context->errstr
                : reply->type == REDIS_REPLY_ERROR ? reply->str
                                                   : "an answer of another kind");
    freeReplyObject(reply);
    return NULL;
}

static bool simple(struct redis *redis, redisReply *reply)
{
    reply = expect(redis, reply, REDIS_REPLY_STATUS);
    freeReplyObject(reply);
    return reply != NULL;
}

enum td_status redis_check_url(const char *url, struct td_error *err)
{
    struct redis_url parsed;
    return redis_url_parse(url, &parsed, err);
}

enum td_status redis_open(const char *url, const char *password, uint32_t timeout_ms,
                          struct redis **out, struct td_error *err)
{
    struct redis_url parsed;
    enum td_status status = redis_url_parse(url, &parsed, err);
    *out = NULL;
    if (status != TD_OK)
        return status;
    struct redis *redis = calloc(1, sizeof *redis);
    if (!redis)
        return error_set(err, TD_NO_MEMORY, "no memory for a connection");
    struct timeval timeout = time_of(timeout_ms);
    redis->context = *parsed.path ? redisConnectUnixWithTimeout(parsed.path, timeout)
                                  : redisConnectWithTimeout(parsed.host, (int)parsed.port, timeout);
    bool good = redis->context && !redis->context->err &&
                redisSetTimeout(redis->context, timeout) == REDIS_OK;
    if (!good)
        fail(redis, redis->context ? redis->context->errstr : "no memory");
    if (good && password)
        good = simple(redis, redisCommand(redis->context, "AUTH %s", password));
    if (good && parsed.database)
        good = simple(redis, redisCommand(redis->context, "SELECT %u", parsed.database));
    if (good) {
        *out = redis;
        return TD_OK;
    }
    status = error_set(err, TD_UNAVAILABLE, "%s: %s", url, redis->message);
    redis_close(redis);
    return status;
}

void redis_close(struct redis *redis)
{
    if (!redis)
        return;
    if (redis->context)
        redisFree(redis->context);
    free(redis);
}

bool redis_set_timeout(struct redis *redis, uint32_t timeout_ms)
{
    return redisSetTimeout(redis->context, time_of(timeout_ms)) == REDIS_OK;
}

bool redis_load(struct redis *redis, const char *script, char sha[static 41])
{
    redisReply *reply =
        expect(redis, redisCommand(redis->context, "SCRIPT LOAD %s", script), REDIS_REPLY_STRING);
    bool good = reply && reply->len == 40;
    if (good)
        memcpy(sha, reply->str, 41);
    freeReplyObject(reply);
    return good;
}

bool redis_run(struct redis *redis, const char *sha, size_t key_count, const char *const *arguments,
               size_t argument_count, int64_t *out, size_t count)
{
    const char *all[ARGUMENTS_MAX + 3];
    char keys[24];
    if (argument_count > ARGUMENTS_MAX)
        return fail(redis, "too many arguments");
    snprintf(keys, sizeof keys, "%zu", key_count);
    all[0] = "EVALSHA";
    all[1] = sha;
    all[2] = keys;
    memcpy(all + 3, arguments, argument_count * sizeof *arguments);
    redisReply *reply =
        expect(redis, redisCommandArgv(redis->context, (int)argument_count + 3, all, NULL),
               REDIS_REPLY_ARRAY);
    bool good = reply && reply->elements == count;
    for (size_t i = 0; good && i < count; i++) {
        good = reply->element[i]->type == REDIS_REPLY_INTEGER;
        out[i] = good ? reply->element[i]->integer : 0;
    }
    if (reply && !good)
        fail(redis, "an answer of another form");
    freeReplyObject(reply);
    return good;
}

const char *redis_message(const struct redis *redis)
{
    return redis ? redis->message : "not connected";
}
