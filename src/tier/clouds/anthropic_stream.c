/* Events of Anthropic's Messages API as chunks of a chat. A message is a list of content blocks, of
 * which one is open at a time: text, thinking, a call. Thoughts become `reasoning` and, with their
 * signatures, `reasoning_details`, as OpenRouter writes them. */
#include "tier/clouds/anthropic.h"

#include "tier/clouds/cloud_parts.h"

static const struct dialect_word reasons[] = {{"end_turn", "stop"},
                                              {"stop_sequence", "stop"},
                                              {"pause_turn", "stop"},
                                              {"max_tokens", "length"},
                                              {"model_context_window_exceeded", "length"},
                                              {"tool_use", "tool_calls"},
                                              {"refusal", "content_filter"},
                                              {NULL, NULL}};

/* A count that is there replaces what was told before. */
static void read_count(const struct json *usage, const char *name, int64_t *out)
{
    int64_t count = json_int(json_get(usage, name), -1);
    if (count >= 0 && count <= INT32_MAX)
        *out = count;
}

static void read_usage(struct anthropic_reading *reading, const struct json *usage)
{
    read_count(usage, "input_tokens", &reading->prompt);
    read_count(usage, "cache_read_input_tokens", &reading->cache_read);
    read_count(usage, "cache_creation_input_tokens", &reading->cache_written);
    read_count(usage, "output_tokens", &reading->answer);
}

/* Anthropic counts what is cached beside the input, a chat within it. */
static void put_usage(const struct anthropic_reading *reading, const struct dialect_out *out)
{
    const struct dialect_usage usage = {
        .prompt = reading->prompt + reading->cache_read + reading->cache_written,
        .completion = reading->answer,
        .cached = reading->cache_read,
        .cache_written = reading->cache_written,
    };
    dialect_put_usage(out, &usage);
}

static void put_detail(const struct anthropic_reading *reading, const char *type, const char *name,
                       struct td_str text, const struct dialect_out *out)
{
    const struct cloud_thought thought = {reading->index, type, name, text};
    cloud_put_thought(out, &thought);
}

static void begin_block(struct anthropic_reading *reading, const struct json *event,
                        const struct dialect_out *out)
{
    const struct json *block = json_get(event, "content_block");
    struct td_str type = json_get_text(block, "type");
    if (reading->open || json_kind_of(block) != JSON_KIND_OBJECT) {
        out->malformed(out->ctx, reading->open ? "a content block begins inside another one"
                                               : "a content block is not an object");
        return;
    }
    reading->open = true;
    reading->index = json_int(json_get(event, "index"), 0);
    if (str_equal(type, STR("tool_use"))) {
        cloud_call_begin(&reading->call, json_get_text(block, "id"), json_get_text(block, "name"),
                         out);
    } else if (str_equal(type, STR("text"))) {
        dialect_put_text(out, "content", json_get_text(block, "text"));
    } else if (str_equal(type, STR("redacted_thinking"))) {
        put_detail(reading, "reasoning.encrypted", "data", json_get_text(block, "data"), out);
    }
}

static void go_on(struct anthropic_reading *reading, const struct json *event,
                  const struct dialect_out *out)
{
    const struct json *delta = json_get(event, "delta");
    struct td_str type = json_get_text(delta, "type");
    if (!reading->open || json_kind_of(delta) != JSON_KIND_OBJECT)
        out->malformed(out->ctx, "a delta is of no content block");
    else if (str_equal(type, STR("text_delta")))
        dialect_put_text(out, "content", json_get_text(delta, "text"));
    else if (str_equal(type, STR("input_json_delta")))
        cloud_call_add(&reading->call, json_get_text(delta, "partial_json"), out);
    else if (str_equal(type, STR("thinking_delta")))
        put_detail(reading, "reasoning.text", "text", json_get_text(delta, "thinking"), out);
    else if (str_equal(type, STR("signature_delta")))
        put_detail(reading, "reasoning.text", "signature", json_get_text(delta, "signature"), out);
}

static void end_block(struct anthropic_reading *reading, const struct dialect_out *out)
{
    cloud_call_end(&reading->call, out);
    reading->open = false;
}

static void read_delta(struct anthropic_reading *reading, const struct json *event,
                       const struct dialect_out *out)
{
    const struct json *delta = json_get(event, "delta");
    const struct json *reason = json_get(delta, "stop_reason");
    read_usage(reading, json_get(event, "usage"));
    if (!json_absent(reason))
        dialect_put_finish(out, dialect_word(reasons, json_text(reason), "stop"),
                           json_get_text(delta, "stop_sequence"));
    put_usage(reading, out);
}

void anthropic_read(void *state, struct td_str name, const struct json *event,
                    const struct dialect_out *out)
{
    struct anthropic_reading *reading = state;
    const struct json *message = json_get(event, "message"), *error = json_get(event, "error");
    struct td_str type = json_get_text(event, "type");
    (void)name; /* the type says it, too */
    if (str_equal(type, STR("message_start"))) {
        read_usage(reading, json_get(message, "usage"));
        dialect_put_model(out, json_get_text(message, "model"));
    } else if (str_equal(type, STR("content_block_start"))) {
        begin_block(reading, event, out);
    } else if (str_equal(type, STR("content_block_delta"))) {
        go_on(reading, event, out);
    } else if (str_equal(type, STR("content_block_stop"))) {
        end_block(reading, out);
    } else if (str_equal(type, STR("message_delta"))) {
        read_delta(reading, event, out);
    } else if (str_equal(type, STR("message_stop"))) {
        out->done(out->ctx);
    } else if (str_equal(type, STR("error"))) {
        dialect_put_error(out, json_get_text(error, "type"), 0, json_get_text(error, "message"));
    }
}
