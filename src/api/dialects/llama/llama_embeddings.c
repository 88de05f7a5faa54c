#include "api/dialects/llama/llama_embeddings.h"

#include "base/core/str.h"
#include "base/json/json.h"

#define EUCLIDEAN 2

/* The model's vectors have the Euclidean length 1, and no other norm is made of them. */
static bool check_norm(const struct json *body, struct fault *fault)
{
    const struct json *norm = json_get(body, "embd_normalize");
    if (json_absent(norm) || json_number(norm, 0) == EUCLIDEAN)
        return true;
    fault_request(fault, "embd_normalize", "embd_normalize can only be %d: vectors of length 1",
                  EUCLIDEAN);
    fault->error_code = "unsupported_parameter";
    return false;
}

/* llama-server has one model, so its clients name none. Some send `input`. */
static struct json *translate(const struct json *body, struct fault *fault)
{
    const struct json *content = json_get(body, "content");
    if (json_absent(content) && json_absent(json_get(body, "input")))
        fault_request(fault, "content", "content is missing");
    if (fault->code || !check_norm(body, fault))
        return NULL;
    struct json *out = json_clone(body);
    if (!json_absent(content))
        json_put(out, "input", json_clone(content));
    if (json_absent(json_get(body, "model")))
        json_put(out, "model", json_new_text(STR("auto")));
    json_remove(out, "encoding_format");
    if (!out)
        fault_no_memory(fault);
    return out;
}

/* A list of vectors for each text, because a model without pooling has one for each token. */
static void write_vectors(const struct embeddings_request *request,
                          const struct embedding_answer *answer, const char *model, double took_ms,
                          struct buf *out)
{
    (void)model;
    (void)took_ms;
    buf_append_char(out, '[');
    for (size_t i = 0; i < answer->count; i++) {
        buf_printf(out, "%s{\"index\":%zu,\"embedding\":[", i ? "," : "", i);
        embeddings_write_vector(request, answer, i, out);
        buf_append_str(out, STR("]}"));
    }
    buf_append_char(out, ']');
}

const struct embedding_form llama_embeddings_form = {.route = "embeddings",
                                                     .id_prefix = "em",
                                                     .input = "content",
                                                     .dimensions = "dimensions",
                                                     .translate = translate,
                                                     .write = write_vectors};
