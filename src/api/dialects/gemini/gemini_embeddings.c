#include "api/dialects/gemini/gemini_embeddings.h"

#include "api/dialects/chat_build.h"
#include "api/dialects/gemini/gemini_json.h"
#include "api/dialects/gemini/gemini_parts.h"
#include "base/core/str.h"
#include "base/json/json.h"

#define TEXT_BYTES_MAX ((size_t)64 << 20)

/* The text of a request's content becomes the next input. */
static bool add_input(const struct json *request, const char *place, struct json *inputs,
                      struct fault *fault)
{
    struct buf text;
    char at[CHAT_BUILD_PLACE_BYTES];
    chat_build_place(at, "%s%scontent", place, *place ? "." : "");
    buf_init(&text, TEXT_BYTES_MAX);
    bool ok = gemini_parts_text(json_get(request, "content"), at, &text, fault);
    if (ok && text.len == 0)
        ok = fault_request(fault, at, "%s must not be empty", at);
    if (ok)
        ok = chat_build_push(inputs, text.failed ? NULL : json_new_text(buf_view(&text)), fault);
    buf_deinit(&text);
    return ok;
}

/* The request for embeddings. **takes** inputs; NULL with the fault. */
static struct json *request_of(const struct json *body, struct json *inputs,
                               const struct json *dimensions, struct fault *fault)
{
    struct json *out = json_new_object();
    size_t wanted = 2 + !json_absent(dimensions);
    json_put(out, "model", json_clone(json_get(body, "model")));
    json_put(out, "input", inputs);
    json_put(out, "dimensions", json_absent(dimensions) ? NULL : gemini_integer(dimensions));
    if (json_count(out) == wanted)
        return out;
    json_free(out);
    fault_no_memory(fault);
    return NULL;
}

static struct json *translate_one(const struct json *body, struct fault *fault)
{
    struct json *inputs = json_new_array();
    if (add_input(body, "", inputs, fault))
        return request_of(body, inputs, gemini_get(body, "outputDimensionality"), fault);
    json_free(inputs);
    return NULL;
}

static bool is_same(const struct json *a, const struct json *b)
{
    return json_absent(a) == json_absent(b) && json_number(a, 0) == json_number(b, 0);
}

static struct json *translate_batch(const struct json *body, struct fault *fault)
{
    const struct json *list = json_get(body, "requests");
    const struct json *first = gemini_get(json_at(list, 0), "outputDimensionality");
    struct json *inputs = json_new_array();
    bool ok = json_kind_of(list) == JSON_KIND_ARRAY && json_count(list) > 0 &&
              json_count(list) <= EMBEDDINGS_INPUTS_MAX;
    if (!ok)
        fault_request(fault, "requests", "requests must be a list of 1 to %d requests",
                      EMBEDDINGS_INPUTS_MAX);
    for (size_t i = 0; ok && i < json_count(list); i++) {
        char place[CHAT_BUILD_PLACE_BYTES];
        const struct json *dimensions = gemini_get(json_at(list, i), "outputDimensionality");
        chat_build_place(place, "requests[%zu]", i);
        ok = (is_same(first, dimensions) ||
              fault_request(fault, place, "all requests must have one outputDimensionality")) &&
             add_input(json_at(list, i), place, inputs, fault);
    }
    if (ok)
        return request_of(body, inputs, first, fault);
    json_free(inputs);
    return NULL;
}

static void write_values(const struct embeddings_request *request,
                         const struct embedding_answer *answer, size_t index, struct buf *out)
{
    buf_append_str(out, STR("{\"values\":"));
    embeddings_write_vector(request, answer, index, out);
    buf_append_char(out, '}');
}

static void write_usage(const struct embedding_answer *answer, struct buf *out)
{
    buf_printf(out, ",\"usageMetadata\":{\"promptTokenCount\":%llu,\"totalTokenCount\":%llu}}",
               (unsigned long long)answer->token_count, (unsigned long long)answer->token_count);
}

static void write_one(const struct embeddings_request *request,
                      const struct embedding_answer *answer, const char *model, double took_ms,
                      struct buf *out)
{
    (void)model;
    (void)took_ms;
    buf_append_str(out, STR("{\"embedding\":"));
    write_values(request, answer, 0, out);
    write_usage(answer, out);
}

static void write_batch(const struct embeddings_request *request,
                        const struct embedding_answer *answer, const char *model, double took_ms,
                        struct buf *out)
{
    (void)model;
    (void)took_ms;
    buf_append_str(out, STR("{\"embeddings\":["));
    for (size_t i = 0; i < answer->count; i++) {
        if (i > 0)
            buf_append_char(out, ',');
        write_values(request, answer, i, out);
    }
    buf_append_char(out, ']');
    write_usage(answer, out);
}

const struct embedding_form gemini_embeddings_form = {.route = "embeddings",
                                                      .id_prefix = "em",
                                                      .input = "content",
                                                      .dimensions = "outputDimensionality",
                                                      .translate = translate_one,
                                                      .write = write_one};
const struct embedding_form gemini_embeddings_form_batch = {.route = "embeddings",
                                                            .id_prefix = "em",
                                                            .input = "requests",
                                                            .dimensions = "outputDimensionality",
                                                            .translate = translate_batch,
                                                            .write = write_batch};
