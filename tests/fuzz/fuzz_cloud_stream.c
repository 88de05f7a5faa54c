/* The answer of a cloud with an API of its own, in pieces of sizes; the first byte chooses cloud
 * and size. Whatever comes, it is read without fault, only certain text is passed on, a failure has
 * words, and what was read is bounded by what came. */
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "tier/openai/openai_wire.h"
#include "tier/servers.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct tier_dialect *dialect_of(unsigned number)
{
    const struct tier_dialect *found[32];
    size_t count = 0;
#define COUNT(name, text) +1
    for (size_t i = 0; i < 0 TIER_SERVERS(COUNT); i++)
        if (tier_servers[i]->dialect)
            found[count++] = tier_servers[i]->dialect;
    return found[number % count];
}

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    size_t *bytes = ctx;
    assert(utf8_is_valid(piece->text));
    assert(!piece->has_stats);
    *bytes += piece->text.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t step = data[0] % 32 + 1, text_bytes = 0;
    struct openai_stream stream;
    struct td_error err = {0};
    openai_stream_init(&stream, false, on_piece, &text_bytes);
    enum td_status status = openai_stream_speak(&stream, dialect_of(data[0] / 32), &err);
    for (size_t at = 1; at < size && status == TD_OK; at += step) {
        size_t len = size - at < step ? size - at : step;
        struct td_str bytes = {(const char *)data + at, len};
        status = openai_stream_feed(&stream, bytes, &err);
    }
    if (status == TD_OK)
        status = openai_stream_end(&stream, &err);
    assert(status == TD_OK || (err.status == status && err.message[0] != '\0'));
    assert(status != TD_OK || stream.finished || stream.done);
    assert(stream.text_bytes == text_bytes && text_bytes <= size);
    openai_stream_deinit(&stream);
    return 0;
}
