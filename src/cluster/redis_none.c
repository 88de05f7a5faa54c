/* The twin of a build without hiredis. */
#include "cluster/redis.h"

#include "base/core/error.h"

enum td_status redis_check_url(const char *url, struct td_error *err)
{
    return error_set(err, TD_UNSUPPORTED,
                     "%.80s: this program was built without hiredis, so limits are each node's own",
                     url);
}

enum td_status redis_open(const char *url, const char *password, uint32_t timeout_ms,
                          struct redis **out, struct td_error *err)
{
    (void)password;
    (void)timeout_ms;
    *out = NULL;
    return redis_check_url(url, err);
}

void redis_close(struct redis *redis)
{
    (void)redis;
}

bool redis_set_timeout(struct redis *redis, uint32_t timeout_ms)
{
    (void)redis;
    (void)timeout_ms;
    return false;
}

bool redis_load(struct redis *redis, const char *script, char sha[static 41])
{
    (void)redis;
    (void)script;
    sha[0] = '\0';
    return false;
}

bool redis_run(struct redis *redis, const char *sha, size_t key_count, const char *const *arguments,
               size_t argument_count, int64_t *out, size_t count)
{
    (void)redis;
    (void)sha;
    (void)key_count;
    (void)arguments;
    (void)argument_count;
    (void)out;
    (void)count;
    return false;
}

const char *redis_message(const struct redis *redis)
{
    (void)redis;
    return "this program was built without hiredis";
}
