/* Reads a request for labels, and writes their probabilities. Counts and lengths are checked before
 * anything is tokenized. */
#include "api/wire/classify_request.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the request --- */

/* A member that is a text of at most bytes_max, or absent. */
static bool read_text(const struct json *body, const char *name, size_t bytes_max,
                      struct td_str *out, struct fault *fault)
{
    const struct json *value = json_get(body, name);
    if (json_absent(value))
        return true;
    *out = json_text(value);
    if (json_kind_of(value) != JSON_KIND_TEXT || out->len == 0 || out->len > bytes_max)
        return fault_request(fault, name, "%s must be a string of 1 to %zu bytes", name, bytes_max);
    return true;
}

static bool read_name(const struct json *body, const char *name, const char **out,
                      struct fault *fault)
{
    struct td_str text = {NULL, 0};
    if (!read_text(body, name, 256, &text, fault))
        return false;
    if (text.data)
        *out = json_cstr(json_get(body, name));
    return true;
}

/* A list of texts that are not blank, each of at most bytes_max. */
static bool read_texts(const struct json *list, const char *name, size_t count_max,
                       size_t bytes_max, struct td_str **out, size_t *count, struct fault *fault)
{
    size_t found = json_count(list);
    if (json_kind_of(list) != JSON_KIND_ARRAY || found == 0 || found > count_max)
        return fault_request(fault, name, "%s must be an array of 1 to %zu strings", name,
                             count_max);
    *out = calloc(found, sizeof **out);
    if (!*out) {
        return fault_no_memory(fault);
    }
    for (*count = 0; *count < found; ++*count) {
        const struct json *value = json_at(list, *count);
        struct td_str text = json_text(value);
        char param[32];
        snprintf(param, sizeof param, "%s[%zu]", name, *count);
        if (json_kind_of(value) != JSON_KIND_TEXT)
            return fault_request(fault, param, "%s must be a string, not %s", param,
                                 json_kind_name(json_kind_of(value)));
        if (str_trim(text).len == 0 || text.len > bytes_max)
            return fault_request(fault, param, "%s has %zu bytes; 1 to %zu that are not all blank",
                                 param, text.len, bytes_max);
        (*out)[*count] = text;
    }
    return true;
}

static int by_text(const void *a, const void *b)
{
    const struct td_str *x = *(const struct td_str *const *)a,
                        *y = *(const struct td_str *const *)b;
    size_t len = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->data, y->data, len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static bool check_twins(const struct classify_request *request, struct fault *fault)
{
    const struct td_str **sorted = calloc(request->label_count, sizeof *sorted);
    if (!sorted) {
        return fault_no_memory(fault);
    }
    for (size_t i = 0; i < request->label_count; i++)
        sorted[i] = &request->labels[i];
    qsort(sorted, request->label_count, sizeof *sorted, by_text);
    size_t twin = 0;
    for (size_t i = 1; i < request->label_count && !twin; i++)
        if (str_equal(*sorted[i - 1], *sorted[i]))
            twin =
                (size_t)((sorted[i] > sorted[i - 1] ? sorted[i] : sorted[i - 1]) - request->labels);
    free(sorted);
    if (!twin)
        return true;
    char param[32];
    snprintf(param, sizeof param, "labels[%zu]", twin);
    return fault_request(fault, param, "%s is a label that stands in the list twice", param);
}

static bool read_labels(struct classify_request *out, struct fault *fault)
{
    const struct json *labels = json_get(out->body, "labels");
    if (!read_name(out->body, "set", &out->set, fault))
        return false;
    if (json_absent(labels) == (out->set == NULL))
        return fault_request(fault, out->set ? "set" : "labels",
                             "give either labels or the name of a set; GET shows the sets");
    return out->set || (read_texts(labels, "labels", CLASSIFY_LABELS_MAX, CLASSIFY_LABEL_BYTES_MAX,
                                   &out->labels, &out->label_count, fault) &&
                        check_twins(out, fault));
}

/* `text` is a list of one. */
static bool read_input(struct classify_request *out, struct fault *fault)
{
    const struct json *text = json_get(out->body, "text"), *texts = json_get(out->body, "texts");
    out->is_list = json_absent(text);
    if (json_absent(text) == json_absent(texts))
        return fault_request(fault, "text", "give either text or texts");
    if (out->is_list)
        return read_texts(texts, "texts", CLASSIFY_TEXTS_MAX, CLASSIFY_TEXT_BYTES_MAX, &out->texts,
                          &out->text_count, fault);
    out->texts = calloc(1, sizeof *out->texts);
    if (!out->texts) {
        return fault_no_memory(fault);
    }
    out->text_count = 1;
    if (!read_text(out->body, "text", CLASSIFY_TEXT_BYTES_MAX, &out->texts[0], fault))
        return false;
    return str_trim(out->texts[0]).len > 0 || fault_request(fault, "text", "text is blank");
}

static bool read_top(struct classify_request *out, struct fault *fault)
{
    const struct json *top = json_get(out->body, "top");
    int64_t wanted = json_int(top, 0);
    out->top = CLASSIFY_TOP_DEFAULT;
    if (!json_absent(top) &&
        (json_kind_of(top) != JSON_KIND_INT || wanted < 1 || wanted > TD_LABELS_MAX))
        return fault_request(fault, "top", "top must be an integer from 1 to %d", TD_LABELS_MAX);
    if (!json_absent(top))
        out->top = (uint32_t)wanted;
    if (out->label_count && out->top > out->label_count)
        out->top = (uint32_t)out->label_count;
    if (out->top * out->text_count > CLASSIFY_SCORES_MAX)
        return fault_request(fault, "top", "%u labels for each of %zu texts; at most %d in all",
                             out->top, out->text_count, CLASSIFY_SCORES_MAX);
    return true;
}

bool classify_request_parse(struct td_str text, struct classify_request *out, struct fault *fault)
{
    ASSERT(out && fault);
    *out = (struct classify_request){.model = "auto"};
    if (!fault_parse_json(text, &out->body, fault))
        return false;
    if (json_kind_of(out->body) != JSON_KIND_OBJECT)
        return fault_request(fault, NULL, "the body must be a JSON object");
    return read_name(out->body, "model", &out->model, fault) &&
           read_name(out->body, "user", &out->user, fault) &&
           read_text(out->body, "instruction", CLASSIFY_INSTRUCTION_BYTES_MAX, &out->instruction,
                     fault) &&
           read_input(out, fault) && read_labels(out, fault) && read_top(out, fault);
}

void classify_request_deinit(struct classify_request *request)
{
    json_free(request->body);
    free(request->texts);
    free(request->labels);
    *request = (struct classify_request){0};
}

/* --- the answer --- */

static int by_probability(const void *a, const void *b, void *ctx)
{
    const float *probabilities = ctx;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    if (probabilities[i] < probabilities[j] || probabilities[i] > probabilities[j])
        return probabilities[i] < probabilities[j] ? 1 : -1;
    return (i > j) - (i < j);
}

void classify_order(const float *probabilities, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, by_probability, (void *)(uintptr_t)probabilities);
}

static void write_label(const struct td_classifier *classifier, const struct classify_row *row,
                        size_t label, struct buf *out)
{
    buf_append_str(out, STR("\"label\":"));
    json_write_text(td_classifier_label(classifier, label), out);
    buf_printf(out, ",\"score\":%.6g", (double)row->probabilities[label]);
}

void classify_write_row(const struct td_classifier *classifier, const struct classify_row *row,
                        size_t index, uint32_t top, struct buf *out)
{
    size_t count = td_classifier_count(classifier), *order = calloc(count, sizeof *order);
    if (!order) {
        out->failed = true;
        return;
    }
    classify_order(row->probabilities, count, order);
    buf_printf(out, "{\"index\":%zu,", index);
    write_label(classifier, row, order[0], out);
    buf_append_str(out, STR(",\"scores\":["));
    for (size_t i = 0; i < count && i < top; i++) {
        buf_append_str(out, i ? STR(",{") : STR("{"));
        write_label(classifier, row, order[i], out);
        buf_append_char(out, '}');
    }
    buf_printf(out, "],\"mass\":%.6g,\"not_mine\":", (double)row->mass);
    if (row->not_mine < 0)
        buf_append_str(out, STR("null}"));
    else
        buf_printf(out, "%.6g}", (double)row->not_mine);
    free(order);
}
