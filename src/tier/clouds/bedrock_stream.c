/* Events of Bedrock's ConverseStream as chunks of a chat. The name of an event stands in its frame.
 * A text has no beginning, only deltas; the last event has the usage. */
#include "tier/clouds/bedrock.h"

#include "tier/clouds/cloud_parts.h"

static const struct dialect_word reasons[] = {{"end_turn", "stop"},
                                              {"stop_sequence", "stop"},
                                              {"tool_use", "tool_calls"},
                                              {"max_tokens", "length"},
                                              {"model_context_window_exceeded", "length"},
                                              {"guardrail_intervened", "content_filter"},
                                              {"content_filtered", "content_filter"},
                                              {NULL, NULL}};

static void put_detail(const struct json *event, const char *type, const char *name,
                       struct td_str text, const struct dialect_out *out)
{
    const struct cloud_thought thought = {json_int(json_get(event, "contentBlockIndex"), 0), type,
                                          name, text};
    cloud_put_thought(out, &thought);
}

static void begin_block(struct bedrock_reading *reading, const struct json *event,
                        const struct dialect_out *out)
{
    const struct json *use = json_get(json_get(event, "start"), "toolUse");
    reading->call.open = false;
    if (use)
        cloud_call_begin(&reading->call, json_get_text(use, "toolUseId"),
                         json_get_text(use, "name"), out);
}

static void go_on(struct bedrock_reading *reading, const struct json *event,
                  const struct dialect_out *out)
{
    const struct json *delta = json_get(event, "delta");
    const struct json *thought = json_get(delta, "reasoningContent");
    const struct json *use = json_get(delta, "toolUse");
    if (json_kind_of(delta) != JSON_KIND_OBJECT) {
        out->malformed(out->ctx, "a delta is not an object");
        return;
    }
    if (use && !reading->call.open) {
        out->malformed(out->ctx, "arguments are of no call");
        return;
    }
    dialect_put_text(out, "content", json_get_text(delta, "text"));
    cloud_call_add(&reading->call, json_get_text(use, "input"), out);
    put_detail(event, "reasoning.text", "text", json_get_text(thought, "text"), out);
    put_detail(event, "reasoning.text", "signature", json_get_text(thought, "signature"), out);
    put_detail(event, "reasoning.encrypted", "data", json_get_text(thought, "redactedContent"),
               out);
}

static void read_usage(const struct json *told, const struct dialect_out *out)
{
    if (json_kind_of(told) != JSON_KIND_OBJECT)
        return;
    struct dialect_usage usage = {
        .prompt = cloud_count(told, "inputTokens"),
        .completion = cloud_count(told, "outputTokens"),
        .cached = cloud_count(told, "cacheReadInputTokens"),
        .cache_written = cloud_count(told, "cacheWriteInputTokens"),
    };
    usage.prompt += usage.cached + usage.cache_written; /* counted beside it there */
    dialect_put_usage(out, &usage);
}

void bedrock_read(void *state, struct td_str name, const struct json *event,
                  const struct dialect_out *out)
{
    struct bedrock_reading *reading = state;
    if (str_equal(name, STR("contentBlockStart"))) {
        begin_block(reading, event, out);
    } else if (str_equal(name, STR("contentBlockDelta"))) {
        go_on(reading, event, out);
    } else if (str_equal(name, STR("contentBlockStop"))) {
        cloud_call_end(&reading->call, out);
    } else if (str_equal(name, STR("messageStop"))) {
        dialect_put_finish(out, dialect_word(reasons, json_get_text(event, "stopReason"), "stop"),
                           STR(""));
    } else if (str_equal(name, STR("metadata"))) {
        read_usage(json_get(event, "usage"), out);
        out->done(out->ctx);
    }
}
