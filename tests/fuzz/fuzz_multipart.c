/* Any bytes as a form: the Content-Type up to the first line feed, then the body. It comes to the
 * same parts and the same end however it is cut. */
#include "api/files/multipart.h"
#include "base/core/str.h"

#include <stdlib.h>
#include <string.h>

struct seen {
    uint64_t hash;
    size_t parts, bytes;
    bool ok, whole;
};

static void mix(struct seen *seen, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        seen->hash = seen->hash * 31 + (unsigned char)bytes[i];
}

static bool on_part(void *ctx, const struct multipart_part *part)
{
    struct seen *seen = ctx;
    seen->parts++;
    if (!part)
        return true;
    mix(seen, part->name, strlen(part->name));
    if (part->filename)
        mix(seen, part->filename, strlen(part->filename));
    mix(seen, part->type, strlen(part->type));
    return true;
}

static bool on_data(void *ctx, struct td_str bytes)
{
    struct seen *seen = ctx;
    if (bytes.len == 0)
        abort();
    seen->bytes += bytes.len;
    mix(seen, bytes.data, bytes.len);
    return true;
}

static struct seen read_form(const char *type, struct td_str body, size_t step)
{
    static struct multipart multipart;
    struct seen seen = {.ok = true};
    const struct multipart_events events = {on_part, on_data, &seen};
    if (!multipart_init(&multipart, type, &events))
        return (struct seen){.ok = false};
    for (size_t at = 0; at < body.len && seen.ok; at += step)
        seen.ok = multipart_feed(&multipart, str_slice(body, at, at + step));
    seen.whole = multipart_is_whole(&multipart);
    if (seen.bytes > body.len)
        abort(); /* content that never came */
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct td_str body = {(const char *)data, size}, line;
    char type[256];
    if (size == 0 || !str_next(&body, '\n', &line) || line.len >= sizeof type)
        return 0;
    memcpy(type, line.data, line.len);
    type[line.len] = '\0';
    struct seen whole = read_form(type, body, body.len + 1);
    for (size_t step = 1; step < 9; step++) {
        struct seen cut = read_form(type, body, step);
        if (cut.ok != whole.ok || cut.whole != whole.whole || cut.parts != whole.parts ||
            cut.bytes != whole.bytes || cut.hash != whole.hash)
            abort();
    }
    return 0;
}
