/* Reads a request for embeddings, and writes its vectors. Sizes are checked before anything is
 * computed, so that one request cannot take more memory than its limits allow. */
#include "api/wire/embeddings_request.h"

#include "api/wire/openai_request.h"
#include "api/wire/token_ids.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "engine/embedding/embedding.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the request --- */

static bool is_ids(const struct json *value)
{
    return json_kind_of(value) == JSON_KIND_ARRAY && json_count(value) > 0 &&
           json_kind_of(json_at(value, 0)) == JSON_KIND_INT;
}

static bool read_ids(const struct json *list, const char *param, const struct td_model *model,
                     int32_t *ids, struct fault *fault)
{
    for (size_t i = 0; i < json_count(list); i++)
        if (!token_id_read(list, i, param, model, &ids[i], fault))
            return false;
    return true;
}

static bool read_input(const struct json *value, const char *param, const struct td_model *model,
                       int32_t **ids, struct embedding_input *out, struct fault *fault)
{
    if (is_ids(value)) {
        out->ids = *ids;
        out->id_count = json_count(value);
        *ids += out->id_count;
        return read_ids(value, param, model, *ids - out->id_count, fault);
    }
    if (json_kind_of(value) != JSON_KIND_TEXT)
        return fault_request(fault, param, "%s must be a string or an array of token ids, not %s",
                             param, json_kind_name(json_kind_of(value)));
    out->text = json_text(value);
    if (out->text.len == 0)
        return fault_request(fault, param, "%s must not be empty", param);
    return true;
}

static size_t count_ids(const struct json *input, bool list)
{
    size_t count = is_ids(input) ? json_count(input) : 0;
    for (size_t i = 0; list && i < json_count(input); i++)
        if (is_ids(json_at(input, i)))
            count += json_count(json_at(input, i));
    return count;
}

static bool read_inputs(const struct td_model *model, struct embeddings_request *out,
                        struct fault *fault)
{
    const struct json *input = json_get(out->body, "input");
    bool list = json_kind_of(input) == JSON_KIND_ARRAY && !is_ids(input);
    size_t count = list ? json_count(input) : 1;
    if (json_kind_of(input) == JSON_KIND_ABSENT || json_kind_of(input) == JSON_KIND_NULL)
        return fault_request(fault, "input", "input is missing");
    if (count == 0 || count > EMBEDDINGS_INPUTS_MAX)
        return fault_request(fault, "input", "input has %zu texts; 1 to %d are accepted", count,
                             EMBEDDINGS_INPUTS_MAX);
    size_t size = model ? td_model_get_info(model)->embedding_size : 1;
    if (count * size * sizeof(float) > EMBEDDINGS_VECTOR_BYTES_MAX)
        return fault_request(fault, "input", "%zu vectors of %zu numbers; at most %zu at once",
                             count, size, EMBEDDINGS_VECTOR_BYTES_MAX / (size * sizeof(float)));
    out->inputs = calloc(count, sizeof *out->inputs);
    out->ids = calloc(count_ids(input, list) + 1, sizeof *out->ids);
    if (!out->inputs || !out->ids) {
        return fault_no_memory(fault);
    }
    int32_t *ids = out->ids;
    for (size_t i = 0; i < count; i++) {
        char param[32] = "input";
        if (list)
            snprintf(param, sizeof param, "input[%zu]", i);
        if (!read_input(list ? json_at(input, i) : input, param, model, &ids, &out->inputs[i],
                        fault))
            return false;
    }
    out->input_count = count;
    return true;
}

static bool read_text(const struct json *body, const char *name, bool required, const char **out,
                      struct fault *fault)
{
    const struct json *value = json_get(body, name);
    enum json_kind kind = json_kind_of(value);
    if (!required && (kind == JSON_KIND_ABSENT || kind == JSON_KIND_NULL))
        return true;
    if (kind == JSON_KIND_ABSENT)
        return fault_request(fault, name, "%s is missing", name);
    struct td_str text = json_text(value);
    if (kind != JSON_KIND_TEXT || text.len == 0 || text.len > 256 || memchr(text.data, 0, text.len))
        return fault_request(fault, name, "%s must be a string of 1 to 256 bytes", name);
    *out = json_cstr(value);
    return true;
}

static bool read_options(const struct td_model *model, struct embeddings_request *out,
                         struct fault *fault)
{
    const char *format = "float";
    if (!read_text(out->body, "model", true, &out->model, fault) ||
        !read_text(out->body, "user", false, &out->user, fault) ||
        !read_text(out->body, "encoding_format", false, &format, fault))
        return false;
    out->base64 = strcmp(format, "base64") == 0;
    if (!out->base64 && strcmp(format, "float") != 0)
        return fault_request(fault, "encoding_format",
                             "encoding_format must be float or base64, not '%.40s'", format);
    const struct json *dimensions = json_get(out->body, "dimensions");
    enum json_kind kind = json_kind_of(dimensions);
    if (kind == JSON_KIND_ABSENT || kind == JSON_KIND_NULL)
        return true;
    uint32_t most = model ? td_model_get_info(model)->embedding_size : INT32_MAX;
    int64_t wanted = json_int(dimensions, 0);
    if (kind != JSON_KIND_INT || wanted < 1 || wanted > (int64_t)most)
        return fault_request(fault, "dimensions", "dimensions must be an integer from 1 to %u",
                             most);
    out->dimensions = (uint32_t)wanted;
    return true;
}

/* *out becomes the request that the client's body asks for. */
static bool translate(const struct embedding_form *form, struct embeddings_request *out,
                      struct fault *fault)
{
    if (!form->translate)
        return true;
    struct json *asked = out->body;
    out->body = form->translate(asked, fault);
    json_free(asked);
    return out->body != NULL;
}

/* Faults of what was translated name what the client wrote. */
static bool rename_place(const struct embedding_form *form, struct fault *fault)
{
    bool same = strcmp(form->input, "input") == 0;
    if (!same && strncmp(fault->param, "input", strlen("input")) == 0)
        snprintf(fault->param, sizeof fault->param, "%s", form->input);
    else if (strcmp(fault->param, "dimensions") == 0)
        snprintf(fault->param, sizeof fault->param, "%s", form->dimensions);
    return false;
}

bool embeddings_request_read(const struct embedding_form *form, struct td_str text,
                             struct td_str named, const struct td_model *model,
                             struct embeddings_request *out, struct fault *fault)
{
    ASSERT(form && out && fault);
    *out = (struct embeddings_request){0};
    if (openai_request_count_values(text) > EMBEDDINGS_VALUES_MAX)
        return fault_request(fault, NULL, "the body has more than %d JSON values",
                             EMBEDDINGS_VALUES_MAX);
    if (!fault_parse_json(text, &out->body, fault))
        return false;
    if (json_kind_of(out->body) != JSON_KIND_OBJECT)
        return fault_request(fault, NULL, "the body must be a JSON object");
    if (!openai_request_put_model(out->body, named, fault) || !translate(form, out, fault))
        return false;
    return (read_options(model, out, fault) && read_inputs(model, out, fault)) ||
           (form->translate && rename_place(form, fault));
}

bool embeddings_request_parse(struct td_str text, const struct td_model *model,
                              struct embeddings_request *out, struct fault *fault)
{
    return embeddings_request_read(&embedding_form_openai, text, STR(""), model, out, fault);
}

void embeddings_request_deinit(struct embeddings_request *request)
{
    json_free(request->body);
    free(request->inputs);
    free(request->ids);
    *request = (struct embeddings_request){0};
}

/* --- the answer --- */

/* RFC 4648, section 4, over the little-endian floats, as OpenAI's clients read them. */
static void write_base64(const unsigned char *bytes, size_t count, struct buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t three = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0u);
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
                        left > 1 ? digits[three >> 6 & 63] : '=',
                        left > 2 ? digits[three & 63] : '='};
        buf_append(out, four, 4);
    }
}

static void write_numbers(const struct embeddings_request *request, float *vector, size_t size,
                          struct buf *out)
{
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "vectors are little-endian");
    if (request->base64) {
        buf_append_char(out, '"');
        write_base64((const unsigned char *)vector, size * sizeof *vector, out);
        buf_append_char(out, '"');
        return;
    }
    for (size_t i = 0; i < size; i++)
        buf_printf(out, "%c%.8g", i ? ',' : '[', (double)vector[i]);
    buf_append_char(out, ']');
}

void embeddings_write_vector(const struct embeddings_request *request,
                             const struct embedding_answer *answer, size_t index, struct buf *out)
{
    ASSERT(request && answer && index < answer->count && out);
    size_t size = request->dimensions ? request->dimensions : answer->size;
    float *vector = calloc(size, sizeof *vector);
    if (!vector) {
        out->failed = true;
        return;
    }
    memcpy(vector, answer->vectors + index * answer->size, size * sizeof *vector);
    if (size < answer->size)
        embedding_normalise(vector, size);
    write_numbers(request, vector, size, out);
    free(vector);
}

void embeddings_write(const struct embeddings_request *request,
                      const struct embedding_answer *answer, const char *model, double took_ms,
                      struct buf *out)
{
    (void)took_ms;
    ASSERT(request && answer && model && out);
    buf_append_str(out, STR("{\"object\":\"list\",\"data\":["));
    for (size_t i = 0; i < answer->count; i++) {
        buf_printf(out, "%s{\"object\":\"embedding\",\"index\":%zu,\"embedding\":", i ? "," : "",
                   i);
        embeddings_write_vector(request, answer, i, out);
        buf_append_char(out, '}');
    }
    buf_append_str(out, STR("],\"model\":"));
    json_write_text(str_from(model), out);
    buf_printf(out, ",\"usage\":{\"prompt_tokens\":%llu,\"total_tokens\":%llu}}",
               (unsigned long long)answer->token_count, (unsigned long long)answer->token_count);
}

const struct embedding_form embedding_form_openai = {.route = "embeddings",
                                                     .id_prefix = "em",
                                                     .input = "input",
                                                     .dimensions = "dimensions",
                                                     .write = embeddings_write};
