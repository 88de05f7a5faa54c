/* Responses of Google's streamGenerateContent as chunks of a chat. Each event is a whole response
 * with the parts that are new; calls come whole. The end is the end of the body. */
#include "tier/clouds/gemini.h"

#include "base/bytes/buf.h"
#include "tier/clouds/cloud_parts.h"

#include <stdio.h>

#define CALL_ID_BYTES 96

static const struct dialect_word reasons[] = {{"STOP", "stop"},
                                              {"MAX_TOKENS", "length"},
                                              {"SAFETY", "content_filter"},
                                              {"RECITATION", "content_filter"},
                                              {"LANGUAGE", "content_filter"},
                                              {"BLOCKLIST", "content_filter"},
                                              {"PROHIBITED_CONTENT", "content_filter"},
                                              {"SPII", "content_filter"},
                                              {"IMAGE_SAFETY", "content_filter"},
                                              {NULL, NULL}};

/* {"google": {"thought_signature": ...}}; NULL without one. */
static struct json *extra_of(const struct json *part)
{
    const struct json *signature = json_get(part, "thoughtSignature");
    if (json_text(signature).len == 0)
        return NULL;
    struct json *google = json_new_object(), *extra = json_new_object();
    json_put(google, "thought_signature", json_clone(signature));
    json_put(extra, "google", google);
    return extra;
}

/* An id of Google's, or one made of the response's: a result names its call. */
static void put_call(struct gemini_reading *reading, const struct json *part,
                     const struct json *event, const struct dialect_out *out)
{
    const struct json *function = json_get(part, "functionCall");
    const struct json *args = json_get(function, "args");
    struct td_str id = json_get_text(function, "id");
    struct td_str response = str_slice(json_get_text(event, "responseId"), 0, 64);
    char own[CALL_ID_BYTES];
    struct buf text;
    snprintf(own, sizeof own, "call_" STR_FMT "_%u", STR_ARG(response), reading->call_count);
    buf_init(&text, (size_t)1 << 20);
    if (json_kind_of(args) == JSON_KIND_OBJECT)
        json_write(args, &text);
    if (text.failed) {
        out->malformed(out->ctx, "a call is larger than 1 MiB");
    } else {
        const struct dialect_call call = {
            .number = reading->call_count++,
            .id = id.len > 0 ? id : str_from(own),
            .name = json_get_text(function, "name"),
            .arguments = text.len > 0 ? buf_view(&text) : STR("{}"),
            .extra = extra_of(part),
        };
        dialect_put_call(out, &call);
    }
    buf_deinit(&text);
}

static void read_part(struct gemini_reading *reading, const struct json *part,
                      const struct json *event, const struct dialect_out *out)
{
    struct td_str text = json_get_text(part, "text");
    struct json *extra = NULL;
    if (json_kind_of(part) != JSON_KIND_OBJECT) {
        out->malformed(out->ctx, "a part is not an object");
    } else if (json_get(part, "functionCall")) {
        put_call(reading, part, event, out);
    } else if (json_bool(json_get(part, "thought"), false)) {
        dialect_put_text(out, "reasoning", text);
    } else {
        dialect_put_text(out, "content", text);
        extra = extra_of(part);
    }
    if (!extra)
        return;
    struct json *delta = json_new_object();
    json_put(delta, "extra_content", extra);
    dialect_put_delta(out, delta);
}

/* Thoughts are counted beside the answer there, and are part of it here. */
static void read_usage(const struct json *told, const struct dialect_out *out)
{
    if (json_kind_of(told) != JSON_KIND_OBJECT)
        return;
    const struct dialect_usage usage = {
        .prompt =
            cloud_count(told, "promptTokenCount") + cloud_count(told, "toolUsePromptTokenCount"),
        .completion =
            cloud_count(told, "candidatesTokenCount") + cloud_count(told, "thoughtsTokenCount"),
        .cached = cloud_count(told, "cachedContentTokenCount"),
        .reasoning = cloud_count(told, "thoughtsTokenCount"),
    };
    dialect_put_usage(out, &usage);
}

/* A call that its model could not write is no answer. */
static void read_finish(const struct gemini_reading *reading, struct td_str reason,
                        const struct dialect_out *out)
{
    const char *said = dialect_word(reasons, reason, "stop");
    if (str_equal(reason, STR("MALFORMED_FUNCTION_CALL")) ||
        str_equal(reason, STR("UNEXPECTED_TOOL_CALL"))) {
        dialect_put_error(out, reason, 502, STR("the model wrote a call that cannot be read"));
        return;
    }
    if (reading->call_count > 0 && str_equal(str_from(said), STR("stop")))
        said = "tool_calls";
    dialect_put_finish(out, said, STR(""));
}

static void read_candidate(struct gemini_reading *reading, const struct json *candidate,
                           const struct json *event, const struct dialect_out *out)
{
    const struct json *parts = json_get(json_get(candidate, "content"), "parts");
    const struct json *reason = json_get(candidate, "finishReason");
    if (json_int(json_get(candidate, "index"), 0) != 0)
        return;
    if (!json_absent(parts) && json_kind_of(parts) != JSON_KIND_ARRAY) {
        out->malformed(out->ctx, "parts is not an array");
        return;
    }
    for (size_t i = 0; i < json_count(parts); i++)
        read_part(reading, json_at(parts, i), event, out);
    if (!json_absent(reason))
        read_finish(reading, json_text(reason), out);
}

void gemini_read(void *state, struct td_str name, const struct json *event,
                 const struct dialect_out *out)
{
    struct gemini_reading *reading = state;
    const struct json *error = json_get(event, "error");
    const struct json *candidates = json_get(event, "candidates");
    const struct json *blocked = json_get(json_get(event, "promptFeedback"), "blockReason");
    (void)name; /* they have none */
    if (!json_absent(error)) {
        dialect_put_error(out, json_get_text(error, "status"), json_int(json_get(error, "code"), 0),
                          json_get_text(error, "message"));
        return;
    }
    if (!json_absent(candidates) && json_kind_of(candidates) != JSON_KIND_ARRAY) {
        out->malformed(out->ctx, "candidates is not an array");
        return;
    }
    dialect_put_model(out, json_get_text(event, "modelVersion"));
    for (size_t i = 0; i < json_count(candidates); i++)
        read_candidate(reading, json_at(candidates, i), event, out);
    if (json_count(candidates) == 0 && !json_absent(blocked))
        dialect_put_finish(out, "content_filter", STR(""));
    read_usage(json_get(event, "usageMetadata"), out);
}
