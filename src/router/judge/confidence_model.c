/* Evaluating, reading and writing a confidence model. Reading accepts only numbers that a fit of
 * ours can produce, so that no file can overflow a sum or make a probability leave [0, 1]. */
#include "router/judge/confidence_model.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/hash.h"
#include "base/json/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define VERSION 1
/* Weights and means beyond are no fit of ours and could overflow a sum. */
#define NUMBER_MAX 1e6

const double confidence_risks[CONFIDENCE_RISK_COUNT] = {0.02, 0.05, 0.1};

static const char *const feature_names[CONFIDENCE_FEATURE_COUNT] = {
    [CONFIDENCE_MIN_LOGPROB] = "min_logprob",
    [CONFIDENCE_Q05_LOGPROB] = "q05_logprob",
    [CONFIDENCE_Q10_LOGPROB] = "q10_logprob",
    [CONFIDENCE_Q25_LOGPROB] = "q25_logprob",
    [CONFIDENCE_MEAN_LOGPROB] = "mean_logprob",
    [CONFIDENCE_FIRST_LOGPROB] = "first_logprob",
    [CONFIDENCE_MEAN_MARGIN] = "mean_margin",
    [CONFIDENCE_MIN_MARGIN] = "min_margin",
    [CONFIDENCE_MEAN_ENTROPY] = "mean_entropy",
    [CONFIDENCE_LENGTH] = "length",
    [CONFIDENCE_ENDED] = "ended",
    [CONFIDENCE_MINE] = "mine",
    [CONFIDENCE_PROBE] = "probe",
};

static const struct {
    const char *name;
    size_t offset, bytes;
} binding_members[] = {
#define MEMBER(name)                                        \
    {                                                       \
#name, offsetof(struct confidence_binding, name),   \
            sizeof((struct confidence_binding *)NULL)->name \
    }
    MEMBER(model),   MEMBER(quantization), MEMBER(fingerprint),
    MEMBER(weights), MEMBER(template),     MEMBER(tokenizer),
#undef MEMBER
};
#define BINDING_MEMBER_COUNT (sizeof binding_members / sizeof *binding_members)

double confidence_head_raw(const struct confidence_head *head,
                           const struct confidence_features *features)
{
    double sum = head->bias;
    for (size_t i = 0; i < CONFIDENCE_FEATURE_COUNT; i++)
        sum += head->weight[i] * ((features->value[i] - head->mean[i]) / head->scale[i]);
    return 1 / (1 + exp(-sum));
}

double confidence_knots_value(const double *knot_p, const double *knot_y, size_t count, double p)
{
    ASSERT(count > 0);
    size_t above = 0;
    while (above < count && knot_p[above] < p)
        above++;
    if (above == 0)
        return knot_y[0];
    if (above == count)
        return knot_y[count - 1];
    double wide = knot_p[above] - knot_p[above - 1];
    double part = wide > 0 ? (p - knot_p[above - 1]) / wide : 1;
    return knot_y[above - 1] + part * (knot_y[above] - knot_y[above - 1]);
}

double confidence_head_value(const struct confidence_head *head,
                             const struct confidence_features *features)
{
    return confidence_knots_value(head->knot_p, head->knot_y, head->knot_count,
                                  confidence_head_raw(head, features));
}

static const char *member_of(const struct confidence_binding *binding, size_t i)
{
    return (const char *)binding + binding_members[i].offset;
}

const char *confidence_binding_difference(const struct confidence_binding *a,
                                          const struct confidence_binding *b)
{
    for (size_t i = 0; i < BINDING_MEMBER_COUNT; i++)
        if (strcmp(member_of(a, i), member_of(b, i)) != 0)
            return binding_members[i].name;
    return NULL;
}

void confidence_binding_digest(const struct confidence_binding *binding,
                               char out[static CONFIDENCE_DIGEST_BYTES])
{
    uint64_t hash = HASH_FNV1A64_BASIS;
    for (size_t i = 0; i < BINDING_MEMBER_COUNT; i++) {
        const char *member = member_of(binding, i);
        hash = hash_fnv1a64(member, strlen(member) + 1, hash);
    }
    snprintf(out, CONFIDENCE_DIGEST_BYTES, "%016" PRIx64, hash);
}

/* --- reading --- */

static bool read_number(const struct json *value, double low, double high, double *out)
{
    enum json_kind kind = json_kind_of(value);
    *out = json_number(value, 0);
    return (kind == JSON_KIND_INT || kind == JSON_KIND_DOUBLE) && *out >= low && *out <= high;
}

static enum td_status read_features(const struct json *features, struct confidence_head *out,
                                    const char *head, struct td_error *err)
{
    if (json_count(features) != CONFIDENCE_FEATURE_COUNT)
        return error_set(err, TD_INVALID, "%s.features has %zu entries, not %d", head,
                         json_count(features), CONFIDENCE_FEATURE_COUNT);
    for (size_t i = 0; i < CONFIDENCE_FEATURE_COUNT; i++) {
        const struct json *item = json_at(features, i);
        const char *name = json_cstr(json_get(item, "name"));
        if (!name || strcmp(name, feature_names[i]) != 0)
            return error_set(err, TD_INVALID, "%s.features[%zu] is not %s", head, i,
                             feature_names[i]);
        if (!read_number(json_get(item, "mean"), -NUMBER_MAX, NUMBER_MAX, &out->mean[i]) ||
            !read_number(json_get(item, "scale"), 1e-9, NUMBER_MAX, &out->scale[i]) ||
            !read_number(json_get(item, "weight"), -NUMBER_MAX, NUMBER_MAX, &out->weight[i]))
            return error_set(err, TD_INVALID,
                             "%s.features[%zu] (%s): mean, scale or weight is no number in range",
                             head, i, name);
    }
    return TD_OK;
}

static enum td_status read_knots(const struct json *knots, struct confidence_head *out,
                                 const char *head, struct td_error *err)
{
    size_t count = json_count(knots);
    if (json_kind_of(knots) != JSON_KIND_ARRAY || count < 1 || count > CONFIDENCE_KNOTS_MAX)
        return error_set(err, TD_INVALID, "%s.knots is no list of 1 to %d points", head,
                         CONFIDENCE_KNOTS_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct json *point = json_at(knots, i);
        if (json_count(point) != 2 || !read_number(json_at(point, 0), 0, 1, &out->knot_p[i]) ||
            !read_number(json_at(point, 1), 0, 1, &out->knot_y[i]) ||
            (i > 0 && (out->knot_p[i] < out->knot_p[i - 1] || out->knot_y[i] < out->knot_y[i - 1])))
            return error_set(err, TD_INVALID,
                             "%s.knots[%zu] is no point [p, y] in 0 to 1 that rises", head, i);
    }
    out->knot_count = (uint32_t)count;
    return TD_OK;
}

static enum td_status read_head(const struct json *root, const char *name,
                                struct confidence_head *out, struct td_error *err)
{
    const struct json *head = json_get(root, name);
    if (!read_number(json_get(head, "bias"), -NUMBER_MAX, NUMBER_MAX, &out->bias))
        return error_set(err, TD_INVALID, "%s.bias is no number in range", name);
    enum td_status status = read_features(json_get(head, "features"), out, name, err);
    if (status == TD_OK)
        status = read_knots(json_get(head, "knots"), out, name, err);
    return status;
}

static enum td_status read_binding(const struct json *bound, struct confidence_binding *out,
                                   struct td_error *err)
{
    for (size_t i = 0; i < BINDING_MEMBER_COUNT; i++) {
        struct td_str text = json_text(json_get(bound, binding_members[i].name));
        if (!text.data || text.len >= binding_members[i].bytes ||
            (text.len && memchr(text.data, '\0', text.len)))
            return error_set(err, TD_INVALID, "bound.%s is no text of at most %zu bytes",
                             binding_members[i].name, binding_members[i].bytes - 1);
        if (text.len)
            memcpy((char *)out + binding_members[i].offset, text.data, text.len);
    }
    return TD_OK;
}

/* Absent: they were not asked for. */
static enum td_status read_thresholds(const struct json *list, struct confidence_model *out,
                                      struct td_error *err)
{
    out->has_thresholds = json_kind_of(list) != JSON_KIND_ABSENT;
    if (!out->has_thresholds)
        return TD_OK;
    if (json_count(list) != CONFIDENCE_RISK_COUNT)
        return error_set(err, TD_INVALID, "thresholds has %zu entries, not %d", json_count(list),
                         CONFIDENCE_RISK_COUNT);
    for (size_t i = 0; i < CONFIDENCE_RISK_COUNT; i++) {
        const struct json *value = json_get(json_at(list, i), "threshold");
        double risk;
        bool ok = read_number(json_get(json_at(list, i), "risk"), 0, 1, &risk) &&
                  fabs(risk - confidence_risks[i]) < 1e-9;
        out->threshold[i] = (double)INFINITY; /* null: nothing may be kept */
        if (json_kind_of(value) != JSON_KIND_NULL)
            ok = ok && read_number(value, 0, 1, &out->threshold[i]);
        if (!ok || (i > 0 && out->threshold[i] > out->threshold[i - 1]))
            return error_set(err, TD_INVALID,
                             "thresholds[%zu] is no threshold in 0 to 1, or null, for the risk %g, "
                             "at most that of a smaller risk",
                             i, confidence_risks[i]);
    }
    return TD_OK;
}

/* Absent: it was not measured. */
static enum td_status read_second(const struct json *object, struct second_scale *out,
                                  struct td_error *err)
{
    const char *name = json_cstr(json_get(object, "by"));
    if (json_kind_of(object) == JSON_KIND_ABSENT)
        return TD_OK;
    for (int by = SECOND_P_TRUE; name && second_names[by]; by++)
        if (strcmp(name, second_names[by]) == 0)
            out->by = (enum second_by)by;
    if (out->by == SECOND_OFF || !read_number(json_get(object, "bias"), -1e3, 1e3, &out->bias) ||
        !read_number(json_get(object, "first"), 0, 1e3, &out->first) ||
        !read_number(json_get(object, "second"), 0, 1e3, &out->second))
        return error_set(err, TD_INVALID,
                         "second is no signal (by: p_true or agreement) with numbers bias, first "
                         "and second, the last two from 0 to 1000");
    return TD_OK;
}

/* Over the numbers as they are written, so that a file and its copy have the same. */
static void write_heads(const struct confidence_model *model, struct json *root);

static void set_digest(struct confidence_model *model)
{
    struct buf text;
    struct json *root = json_new_object();
    buf_init(&text, 1u << 20);
    write_heads(model, root);
    json_write(root, &text);
    json_free(root);
    snprintf(model->digest, sizeof model->digest, "%016" PRIx64,
             hash_fnv1a64(text.data, text.len, HASH_FNV1A64_BASIS));
    buf_deinit(&text);
}

enum td_status confidence_model_read(struct td_str text, struct confidence_model *out,
                                     struct td_error *err)
{
    struct json *root = NULL;
    memset(out, 0, sizeof *out);
    enum td_status status = json_parse(text, &root, err);
    int64_t version = json_int(json_get(root, "tandem_confidence"), -1);
    int64_t samples = json_int(json_get(root, "samples"), -1);
    if (status == TD_OK && version < 0)
        status = error_set(err, TD_INVALID,
                           "not a model of confidence: no \"tandem_confidence\" in it; 'tandem "
                           "router confidence' writes one");
    if (status == TD_OK && version != VERSION)
        status = error_set(err, TD_UNSUPPORTED,
                           "a model of confidence of version %" PRId64 "; this program reads %d",
                           version, VERSION);
    if (status == TD_OK && (samples < 0 || samples > UINT32_MAX))
        status = error_set(err, TD_INVALID, "samples is no count");
    if (status == TD_OK)
        status = read_binding(json_get(root, "bound"), &out->binding, err);
    if (status == TD_OK)
        status = read_head(root, "whole", &out->whole, err);
    if (status == TD_OK)
        status = read_head(root, "running", &out->running, err);
    if (status == TD_OK)
        status = read_thresholds(json_get(root, "thresholds"), out, err);
    if (status == TD_OK)
        status = read_second(json_get(root, "second"), &out->second, err);
    json_free(root);
    if (status != TD_OK)
        return status;
    out->samples = (uint32_t)samples;
    set_digest(out);
    return TD_OK;
}

/* --- writing --- */

static struct json *head_json(const struct confidence_head *head)
{
    struct json *object = json_new_object(), *features = json_new_array(),
                *knots = json_new_array();
    for (size_t i = 0; i < CONFIDENCE_FEATURE_COUNT; i++) {
        struct json *item = json_new_object();
        json_put(item, "name", json_new_cstr(feature_names[i]));
        json_put(item, "mean", json_new_double(head->mean[i]));
        json_put(item, "scale", json_new_double(head->scale[i]));
        json_put(item, "weight", json_new_double(head->weight[i]));
        json_push(features, item);
    }
    for (size_t i = 0; i < head->knot_count; i++) {
        struct json *point = json_new_array();
        json_push(point, json_new_double(head->knot_p[i]));
        json_push(point, json_new_double(head->knot_y[i]));
        json_push(knots, point);
    }
    json_put(object, "bias", json_new_double(head->bias));
    json_put(object, "features", features);
    json_put(object, "knots", knots);
    return object;
}

static void write_heads(const struct confidence_model *model, struct json *root)
{
    json_put(root, "whole", head_json(&model->whole));
    json_put(root, "running", head_json(&model->running));
}

static struct json *thresholds_json(const struct confidence_model *model)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < CONFIDENCE_RISK_COUNT; i++) {
        struct json *item = json_new_object();
        json_put(item, "risk", json_new_double(confidence_risks[i]));
        json_put(item, "threshold", json_new_double(model->threshold[i])); /* INFINITY: null */
        json_push(list, item);
    }
    return list;
}

static struct json *second_json(const struct second_scale *second)
{
    struct json *object = json_new_object();
    json_put(object, "by", json_new_cstr(second_names[second->by]));
    json_put(object, "bias", json_new_double(second->bias));
    json_put(object, "first", json_new_double(second->first));
    json_put(object, "second", json_new_double(second->second));
    return object;
}

void confidence_model_write(const struct confidence_model *model, struct buf *out)
{
    struct json *root = json_new_object(), *bound = json_new_object();
    for (size_t i = 0; i < BINDING_MEMBER_COUNT; i++)
        json_put(bound, binding_members[i].name, json_new_cstr(member_of(&model->binding, i)));
    json_put(root, "tandem_confidence", json_new_int(VERSION));
    json_put(root, "bound", bound);
    json_put(root, "samples", json_new_int(model->samples));
    write_heads(model, root);
    if (model->has_thresholds)
        json_put(root, "thresholds", thresholds_json(model));
    if (model->second.by != SECOND_OFF)
        json_put(root, "second", second_json(&model->second));
    json_write(root, out);
    buf_append_char(out, '\n');
    json_free(root);
}
