/* A query and documents are embedded together, as one request for embeddings: the query first. Its
 * body keeps `top_n` and `return_documents` for the answer. */
#include "api/wire/rerank_request.h"

#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>
#include <stdlib.h>

#define DOCUMENTS_MAX (EMBEDDINGS_INPUTS_MAX - 1)
#define PARAM_BYTES 48

/* --- the request --- */

/* A text, or {"text": ...}. */
static bool add_text(const struct json *value, const char *param, struct json *inputs,
                     struct fault *fault)
{
    bool object = json_kind_of(value) == JSON_KIND_OBJECT;
    const struct json *text = object ? json_get(value, "text") : value;
    if (json_kind_of(text) != JSON_KIND_TEXT || json_text(text).len == 0)
        return fault_request(fault, param,
                             "%s must be a string that is not empty, or {\"text\": ...}", param);
    json_push(inputs, json_clone(text));
    return true;
}

static bool add_documents(const struct json *list, struct json *inputs, struct fault *fault)
{
    size_t count = json_count(list);
    if (json_kind_of(list) != JSON_KIND_ARRAY || count == 0 || count > DOCUMENTS_MAX)
        return fault_request(fault, "documents", "documents must be a list of 1 to %d texts",
                             DOCUMENTS_MAX);
    for (size_t i = 0; i < count; i++) {
        char param[PARAM_BYTES];
        snprintf(param, sizeof param, "documents[%zu]", i);
        if (!add_text(json_at(list, i), param, inputs, fault))
            return false;
    }
    return true;
}

static bool check_options(const struct json *body, struct fault *fault)
{
    const struct json *top = json_get(body, "top_n");
    const struct json *shown = json_get(body, "return_documents");
    if (!json_absent(top) && (json_kind_of(top) != JSON_KIND_INT || json_int(top, 0) < 1))
        return fault_request(fault, "top_n", "top_n must be an integer of 1 or more");
    return json_absent(shown) || json_kind_of(shown) == JSON_KIND_BOOL ||
           fault_request(fault, "return_documents", "return_documents must be true or false");
}

/* A member that is not there, or null, stays away. */
static size_t hand_on(const struct json *body, const char *name, struct json *out)
{
    const struct json *value = json_get(body, name);
    if (json_absent(value))
        return 0;
    json_put(out, name, json_clone(value));
    return 1;
}

static struct json *translate(const struct json *body, struct fault *fault)
{
    struct json *inputs = json_new_array();
    if (!check_options(body, fault) || !add_text(json_get(body, "query"), "query", inputs, fault) ||
        !add_documents(json_get(body, "documents"), inputs, fault)) {
        json_free(inputs);
        return NULL;
    }
    struct json *out = json_new_object();
    bool whole = json_count(inputs) == json_count(json_get(body, "documents")) + 1;
    size_t count = 1 + hand_on(body, "top_n", out) + hand_on(body, "return_documents", out) +
                   hand_on(body, "user", out) + hand_on(body, "model", out);
    json_put(out, "input", inputs);
    if (!json_get(out, "model")) {
        json_put(out, "model", json_new_cstr("auto"));
        count++;
    }
    if (whole && json_count(out) == count)
        return out;
    json_free(out);
    fault_no_memory(fault);
    return NULL;
}

/* --- the answer --- */

struct ranked {
    size_t index; /* of the document */
    double score;
};

/* The best first; of equal ones the first. */
static int compare(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    if (left->score != right->score)
        return left->score < right->score ? 1 : -1;
    return left->index < right->index ? -1 : 1;
}

/* Vectors have the length 1, so the product is the cosine; of a reranker it is the score
 * (embedding_service_ranks). */
static double score_of(const struct embedding_answer *answer, size_t index)
{
    const float *query = answer->vectors, *document = answer->vectors + index * answer->size;
    double sum = 0;
    for (size_t i = 0; i < answer->size; i++)
        sum += (double)query[i] * (double)document[i];
    return sum;
}

static void write_result(const struct embeddings_request *request, const struct ranked *ranked,
                         struct buf *out)
{
    buf_printf(out, "{\"index\":%zu,\"relevance_score\":%.6f", ranked->index, ranked->score);
    if (json_bool(json_get(request->body, "return_documents"), false)) {
        buf_append_str(out, STR(",\"document\":{\"text\":"));
        json_write_text(request->inputs[ranked->index + 1].text, out);
        buf_append_char(out, '}');
    }
    buf_append_char(out, '}');
}

static void write_answer(const struct embeddings_request *request,
                         const struct embedding_answer *answer, const char *model, double took_ms,
                         struct buf *out)
{
    (void)took_ms;
    size_t count = answer->count - 1;
    int64_t top = json_int(json_get(request->body, "top_n"), (int64_t)count);
    struct ranked *ranked = calloc(count + 1, sizeof *ranked);
    if (!ranked) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        ranked[i] = (struct ranked){i, score_of(answer, i + 1)};
    qsort(ranked, count, sizeof *ranked, compare);
    buf_append_str(out, STR("{\"object\":\"list\",\"model\":"));
    json_write_text(str_from(model), out);
    buf_append_str(out, STR(",\"results\":["));
    for (size_t i = 0; i < count && (int64_t)i < top; i++) {
        if (i > 0)
            buf_append_char(out, ',');
        write_result(request, &ranked[i], out);
    }
    buf_printf(out, "],\"usage\":{\"prompt_tokens\":%llu,\"total_tokens\":%llu}}",
               (unsigned long long)answer->token_count, (unsigned long long)answer->token_count);
    free(ranked);
}

const struct embedding_form rerank_form = {.route = "rerank",
                                           .id_prefix = "rr",
                                           .input = "documents",
                                           .dimensions = "dimensions",
                                           .translate = translate,
                                           .write = write_answer};
