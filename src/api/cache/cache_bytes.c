#include "api/cache/cache_bytes.h"

#include "base/core/str.h"

#include <string.h>

#define MAGIC STR("TDANSW01")
#define HEAD_BYTES 142

/* --- writing --- */

struct writing {
    struct cache_now now;
    struct buf *out;
};

static void put(struct buf *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        buf_append_char(out, (char)(value >> 8 * i & 0xff));
}

static void put_digest(struct buf *out, const uint8_t digest[static CRYPTO_SHA256_BYTES])
{
    buf_append_str(out, (struct td_str){(const char *)digest, CRYPTO_SHA256_BYTES});
}

static void write_one(void *ctx, const struct kept *kept)
{
    const struct writing *writing = ctx;
    struct buf *out = writing->out;
    uint64_t age_ms = kept_age_ms(kept, writing->now.ms);
    put_digest(out, kept->key);
    put_digest(out, kept->owner.tenant);
    put_digest(out, kept->owner.user);
    put(out, writing->now.wall_ms > age_ms ? writing->now.wall_ms - age_ms : 0, 8);
    put(out, kept->server_identity, 8);
    put(out, kept->usage.prompt_tokens, 4);
    put(out, kept->usage.completion_tokens, 4);
    put(out, kept->usage.cached_tokens, 4);
    put(out, kept->usage.cache_written, 4);
    put(out, kept->usage.most, 4);
    put(out, kept->stop_number, 4);
    put(out, (uint64_t)kept->finish, 1);
    put(out, kept->usage.exact, 1);
    put(out, kept->pieces.len, 4);
    buf_append_str(out, buf_view(&kept->pieces));
}

void cache_bytes_write(struct answer_cache *cache, const struct cache_now *now, struct buf *out)
{
    struct writing writing = {*now, out};
    buf_append_str(out, MAGIC);
    answer_cache_each(cache, write_one, &writing);
}

/* --- reading --- */

struct reading {
    struct td_str rest;
    struct cache_now now;
    uint64_t ttl_ms;
    struct answer_cache *cache;
};

static uint64_t take(struct td_str *rest, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)(unsigned char)rest->data[i] << 8 * i;
    *rest = str_slice(*rest, bytes, rest->len);
    return value;
}

static void take_digest(struct td_str *rest, uint8_t digest[static CRYPTO_SHA256_BYTES])
{
    memcpy(digest, rest->data, CRYPTO_SHA256_BYTES);
    *rest = str_slice(*rest, CRYPTO_SHA256_BYTES, rest->len);
}

/* The head, of which HEAD_BYTES are there; the number of bytes of its pieces. */
static size_t read_head(struct reading *reading, struct kept *kept)
{
    struct td_str *rest = &reading->rest;
    take_digest(rest, kept->key);
    take_digest(rest, kept->owner.tenant);
    take_digest(rest, kept->owner.user);
    uint64_t wall_ms = take(rest, 8);
    kept->age_before_ms = reading->now.wall_ms > wall_ms ? reading->now.wall_ms - wall_ms : 0;
    kept->server_identity = take(rest, 8);
    kept->usage.prompt_tokens = (uint32_t)take(rest, 4);
    kept->usage.completion_tokens = (uint32_t)take(rest, 4);
    kept->usage.cached_tokens = (uint32_t)take(rest, 4);
    kept->usage.cache_written = (uint32_t)take(rest, 4);
    kept->usage.most = (uint32_t)take(rest, 4);
    kept->stop_number = (uint32_t)take(rest, 4);
    kept->finish = (enum td_finish)take(rest, 1);
    kept->usage.exact = take(rest, 1) != 0;
    return (size_t)take(rest, 4);
}

static bool read_one(struct reading *reading)
{
    size_t most = answer_cache_entry_max(reading->cache);
    struct kept *kept = reading->rest.len >= HEAD_BYTES ? kept_new(most) : NULL;
    if (!kept)
        return false;
    size_t len = read_head(reading, kept);
    bool plausible = len <= reading->rest.len &&
                     (kept->finish == TD_FINISH_STOP || kept->finish == TD_FINISH_TOOL_CALLS ||
                      kept->finish == TD_FINISH_LENGTH);
    if (!plausible) {
        kept_drop(kept);
        return false;
    }
    buf_append_str(&kept->pieces, str_slice(reading->rest, 0, len));
    reading->rest = str_slice(reading->rest, len, reading->rest.len);
    if (kept->pieces.failed || kept->age_before_ms > reading->ttl_ms)
        kept_drop(kept);
    else
        answer_cache_put(reading->cache, kept, reading->now.ms);
    return true;
}

bool cache_bytes_read(struct td_str bytes, const struct cache_now *now, uint64_t ttl_ms,
                      struct answer_cache *cache)
{
    struct reading reading = {bytes, *now, ttl_ms, cache};
    if (!str_starts_with(bytes, MAGIC))
        return false;
    reading.rest = str_slice(bytes, MAGIC.len, bytes.len);
    while (reading.rest.len > 0)
        if (!read_one(&reading))
            return false;
    return true;
}
