#include "api/dialects/ollama/ollama_embeddings.h"

#include "base/core/str.h"
#include "base/json/json.h"

/* --- requests --- */

/* Ollama's clients add a tag to names without one, and have no formats. */
static struct json *translate_embed(const struct json *body, struct fault *fault)
{
    static const char tag[] = ":latest";
    struct json *out = json_clone(body);
    struct td_str name = json_text(json_get(out, "model"));
    if (!out) {
        fault_no_memory(fault);
        return NULL;
    }
    json_remove(out, "encoding_format");
    if (str_ends_with(name, STR(tag)))
        json_put(out, "model", json_new_text(str_slice(name, 0, name.len - (sizeof tag - 1))));
    return out;
}

static struct json *translate_prompt(const struct json *body, struct fault *fault)
{
    const struct json *prompt = json_get(body, "prompt");
    if (json_absent(prompt))
        fault_request(fault, "prompt", "prompt is missing");
    else if (json_kind_of(prompt) != JSON_KIND_TEXT)
        fault_request(fault, "prompt", "prompt must be a string, not %s",
                      json_kind_name(json_kind_of(prompt)));
    else if (json_text(prompt).len == 0)
        fault_request(fault, "prompt", "prompt must not be empty");
    if (fault->code)
        return NULL;
    struct json *out = translate_embed(body, fault);
    if (out)
        json_put(out, "input", json_clone(prompt));
    return out;
}

/* --- answers --- */

static void write_vectors(const struct embeddings_request *request,
                          const struct embedding_answer *answer, const char *model, double took_ms,
                          struct buf *out)
{
    buf_append_str(out, STR("{\"model\":"));
    json_write_text(str_from(model), out);
    buf_append_str(out, STR(",\"embeddings\":["));
    for (size_t i = 0; i < answer->count; i++) {
        if (i > 0)
            buf_append_char(out, ',');
        embeddings_write_vector(request, answer, i, out);
    }
    buf_printf(out, "],\"total_duration\":%llu,\"load_duration\":0,\"prompt_eval_count\":%llu}",
               (unsigned long long)(took_ms > 0 ? took_ms * 1e6 : 0),
               (unsigned long long)answer->token_count);
}

static void write_vector(const struct embeddings_request *request,
                         const struct embedding_answer *answer, const char *model, double took_ms,
                         struct buf *out)
{
    (void)model;
    (void)took_ms;
    buf_append_str(out, STR("{\"embedding\":"));
    embeddings_write_vector(request, answer, 0, out);
    buf_append_char(out, '}');
}

const struct embedding_form ollama_embeddings_form = {.route = "embeddings",
                                                      .id_prefix = "em",
                                                      .input = "input",
                                                      .dimensions = "dimensions",
                                                      .translate = translate_embed,
                                                      .write = write_vectors};
const struct embedding_form ollama_embeddings_form_prompt = {.route = "embeddings",
                                                             .id_prefix = "em",
                                                             .input = "prompt",
                                                             .dimensions = "dimensions",
                                                             .translate = translate_prompt,
                                                             .write = write_vector};
