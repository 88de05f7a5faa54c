/* An OpenAI-compatible server's answer to a chat or to a text, in pieces of sizes, all as the first
 * byte chooses. Whatever comes, it is read without fault, only certain text is passed on, and a
 * failure has words. */
#include "base/core/str.h"
#include "base/text/utf8.h"
#include "tier/openai/openai_delta.h"
#include "tier/openai/openai_wire.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A delta that is written from its parts has the same parts. */
static void check_parts(const struct json *raw_delta)
{
    struct delta_reader reader, again;
    struct delta_writer writer = {0};
    struct delta_part part, same;
    openai_delta_read(&reader, raw_delta);
    while (openai_delta_next(&reader, &part))
        openai_delta_put(&writer, &part);
    struct json *copy = openai_delta_end(&writer, raw_delta);
    openai_delta_read(&reader, raw_delta);
    openai_delta_read(&again, copy);
    while (openai_delta_next(&reader, &part)) {
        bool found = openai_delta_next(&again, &same);
        assert(found && same.kind == part.kind && same.call == part.call);
        assert(str_equal(same.text, part.text) && str_equal(same.function, part.function));
        assert(str_equal(same.arguments, part.arguments));
    }
    assert(!openai_delta_next(&again, &same));
    json_free(copy);
}

static bool own_logprobs;

static void on_piece(void *ctx, const struct tier_piece *piece)
{
    size_t *bytes = ctx;
    assert(utf8_is_valid(piece->text));
    check_parts(piece->raw_delta);
    assert(!own_logprobs || json_count(json_get(piece->raw_delta, "logprobs")) == 0);
    *bytes += piece->text.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    size_t step = data[0] % 64 + 1, text_bytes = 0;
    struct openai_stream stream;
    struct td_error err = {0};
    openai_stream_init(&stream, data[0] & 0x80, on_piece, &text_bytes);
    stream.own_logprobs = own_logprobs = data[0] & 0x40;
    enum td_status status = TD_OK;
    for (size_t at = 1; at < size && status == TD_OK; at += step) {
        size_t len = size - at < step ? size - at : step;
        struct td_str bytes = {(const char *)data + at, len};
        status = openai_stream_feed(&stream, bytes, &err);
    }
    if (status == TD_OK)
        status = openai_stream_end(&stream, &err);
    assert(status == TD_OK || (err.status == status && err.message[0] != '\0'));
    assert(stream.stats_count <= 65 * (size + 1));
    assert(status != TD_OK || stream.finished || stream.done);
    assert(stream.text_bytes == text_bytes);
    openai_stream_deinit(&stream);

    struct td_error refusal = {0};
    openai_read_error(500, (struct td_str){(const char *)data + 1, size - 1},
                      &(struct tier_refusal){0}, &refusal);
    for (const char *c = refusal.message; *c; c++)
        assert((unsigned char)*c >= ' ' && *c != 0x7f);
    return 0;
}
