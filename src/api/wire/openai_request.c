/* Scalars are read by one table (name, kind, range, where it goes), the sampler's by that which the
 * command line shares (sampling_keys.h); what has a shape of its own
 * (stop, stream_options, tandem, headers) has a function. JSON null counts as absent, as the SDKs
 * send it. */
#include "api/wire/openai_request.h"

#include "api/wire/openai_adapters.h"
#include "api/wire/openai_messages.h"
#include "api/wire/sampling_keys.h"
#include "base/names.h"
#include "base/str.h"
#include "router/plan/sampling_members.h"
#include "tandem/engine.h"
#include "tier/job_sampling.h"

#include <stdio.h>
#include <stdlib.h>

#define TAG_BYTES_MAX 64

enum scalar_kind { SCALAR_UINT, SCALAR_BOOL };

struct scalar {
    const char *name;
    enum scalar_kind kind;
    double min, max;
    size_t offset; /* in struct chat_request */
    bool chat;     /* completions have another of the name, or none */
};

#define AT(member) offsetof(struct chat_request, member)

/* Later rows win: max_completion_tokens over the deprecated max_tokens. */
static const struct scalar scalars[] = {
    {"max_tokens", SCALAR_UINT, 1, 10000000, AT(td.tokens_max), true},
    {"max_completion_tokens", SCALAR_UINT, 1, 10000000, AT(td.tokens_max), true},
    {"stream", SCALAR_BOOL, 0, 1, AT(stream), false},
    {"logprobs", SCALAR_BOOL, 0, 1, AT(td.logprobs), true},
};

static bool read_scalar(const struct json *value, const struct scalar *scalar,
                        struct chat_request *out, struct fault *fault)
{
    enum json_kind kind = json_kind_of(value);
    void *place = (char *)out + scalar->offset;
    if (scalar->kind == SCALAR_BOOL) {
        if (kind != JSON_KIND_BOOL)
            return fault_request(fault, scalar->name, "%s must be true or false, not %s",
                                 scalar->name, json_kind_name(kind));
        *(bool *)place = json_bool(value, false);
        return true;
    }
    if (kind != JSON_KIND_INT)
        return fault_request(fault, scalar->name, "%s must be an integer, not %s", scalar->name,
                             json_kind_name(kind));
    double number = json_number(value, 0);
    if (!(number >= scalar->min && number <= scalar->max))
        return fault_request(fault, scalar->name, "%s is %.10g; it must be from %.10g to %.10g",
                             scalar->name, number, scalar->min, scalar->max);
    *(uint32_t *)place = (uint32_t)number;
    return true;
}

static bool read_sampling_key(const struct json *body, const struct sampling_key *key,
                              const char *name, struct td_sampling *sampling, struct fault *fault)
{
    const struct json *value = name ? json_get(body, name) : NULL;
    enum json_kind kind = json_kind_of(value);
    if (json_absent(value))
        return true;
    if (kind != JSON_KIND_INT && (kind != JSON_KIND_DOUBLE || key->integer))
        return fault_request(fault, name, "%s must be %s, not %s", name,
                             key->integer ? "an integer" : "a number", json_kind_name(kind));
    double number = json_number(value, 0);
    char range[64];
    sampling_key_describe(key, true, range, sizeof range);
    if (!sampling_key_takes(key, number, true))
        return fault_request(fault, name, "%s is %.10g; it must be %s", name, number, range);
    sampling_key_set(key, number, sampling);
    return true;
}

/* Both names, our own last: it wins. */
static bool read_sampling(const struct json *body, struct td_sampling *sampling,
                          struct fault *fault)
{
    const struct sampling_key *key;
    for (size_t i = 0; (key = sampling_key_at(i)); i++)
        if (!read_sampling_key(body, key, key->alias, sampling, fault) ||
            !read_sampling_key(body, key, key->name, sampling, fault))
            return false;
    /* What is not followed is the router's to see (router/plan/sampling_members.h). */
    (void)sampling_members_follow(json_get(body, "samplers"), sampling);
    /* The local tier reads them when it starts (tier/job_sampling.h); here they are only checked. */
    struct job_request checked = {.id_count = 0};
    struct td_error err = {0};
    const char *member;
    return job_sampling_read(body, &checked, &member, &err) == TD_OK ||
           fault_request(fault, member, "%s", err.message);
}

static bool read_text(const struct json *object, const char *name, const char *param,
                      size_t bytes_max, const char **out, struct fault *fault)
{
    const struct json *value = json_get(object, name);
    if (json_absent(value))
        return true;
    if (json_kind_of(value) != JSON_KIND_TEXT)
        return fault_request(fault, param, "%s must be a string, not %s", param,
                             json_kind_name(json_kind_of(value)));
    struct td_str text = json_text(value);
    if (text.len == 0 || text.len > bytes_max)
        return fault_request(fault, param, "%s must have 1 to %zu bytes", param, bytes_max);
    if (memchr(text.data, 0, text.len))
        return fault_request(fault, param, "%s must not contain a NUL character", param);
    *out = json_cstr(value);
    return true;
}

static bool read_stops(const struct json *body, struct td_request *request, struct fault *fault)
{
    const struct json *stop = json_get(body, "stop");
    if (json_absent(stop))
        return true;
    bool list = json_kind_of(stop) == JSON_KIND_ARRAY;
    size_t count = list ? json_count(stop) : 1;
    if (count > TD_STOPS_MAX)
        return fault_request(fault, "stop", "%zu stop strings; at most %d are accepted", count,
                             TD_STOPS_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct json *item = list ? json_at(stop, i) : stop;
        char param[32] = "stop";
        if (list)
            snprintf(param, sizeof param, "stop[%zu]", i);
        if (json_kind_of(item) != JSON_KIND_TEXT)
            return fault_request(fault, param, "stop must be a string or an array of strings");
        if (json_text(item).len == 0)
            return fault_request(fault, param, "a stop string must not be empty");
        request->stops[i] = json_text(item);
    }
    request->stop_count = count;
    return true;
}

static bool read_logprobs(const struct json *body, struct td_request *request, struct fault *fault)
{
    const struct json *top = json_get(body, "top_logprobs");
    if (json_absent(top))
        return true;
    int64_t count = json_int(top, -1);
    if (json_kind_of(top) != JSON_KIND_INT || count < 0 || count > TD_TOP_LOGPROBS_MAX)
        return fault_request(fault, "top_logprobs", "top_logprobs must be an integer from 0 to %d",
                             TD_TOP_LOGPROBS_MAX);
    if (count > 0 && !request->logprobs)
        return fault_request(fault, "top_logprobs", "top_logprobs needs logprobs: true");
    request->top_logprobs = (uint8_t)count;
    return true;
}

/* -1 is llama.cpp's and vLLM's word for none. */
static bool read_seed(const struct json *body, struct td_sampling *sampling, struct fault *fault)
{
    const struct json *seed = json_get(body, "seed");
    if (json_absent(seed))
        return true;
    if (json_kind_of(seed) != JSON_KIND_INT)
        return fault_request(fault, "seed", "seed must be an integer, not %s",
                             json_kind_name(json_kind_of(seed)));
    sampling->seed = (uint64_t)json_int(seed, 0);
    sampling->seed_set = json_int(seed, 0) != -1;
    return true;
}

static bool read_stream_option(const struct json *options, const char *name, bool *out,
                               struct fault *fault)
{
    const struct json *given = json_get(options, name);
    char param[64];
    snprintf(param, sizeof param, "stream_options.%s", name);
    if (!json_absent(given) && json_kind_of(given) != JSON_KIND_BOOL)
        return fault_request(fault, param, "%s must be true or false", name);
    *out = json_bool(given, false);
    return true;
}

static bool read_stream_options(const struct json *body, struct chat_request *out,
                                struct fault *fault)
{
    const struct json *options = json_get(body, "stream_options");
    if (json_absent(options))
        return true;
    if (json_kind_of(options) != JSON_KIND_OBJECT)
        return fault_request(fault, "stream_options", "stream_options must be an object");
    return read_stream_option(options, "include_usage", &out->include_usage, fault) &&
           read_stream_option(options, "include_obfuscation", &out->include_obfuscation, fault);
}

/* Members that no tier can be relied on to honour, so ignoring them would answer wrongly. */
static bool refuse_unsupported(const struct json *body, struct fault *fault)
{
    const struct json *n = json_get(body, "n");
    if (!json_absent(n) && (json_kind_of(n) != JSON_KIND_INT || json_int(n, 0) != 1))
        return fault_request(fault, "n", "n must be 1: one answer a request");
    const struct json *modalities = json_get(body, "modalities");
    for (size_t i = 0; i < json_count(modalities); i++) {
        const char *name = json_cstr(json_at(modalities, i));
        if (!name || strcmp(name, "text") != 0) {
            fault_request(fault, "modalities", "only the modality 'text' is supported");
            fault->error_code = "unsupported_parameter";
            return false;
        }
    }
    if (!json_absent(json_get(body, "audio"))) {
        fault_request(fault, "audio", "audio output is not supported");
        fault->error_code = "unsupported_parameter";
        return false;
    }
    return true;
}

/* --- what is ours: the `tandem` member and the x-tandem-* headers --- */

#define SLO_MS_MAX 86400000u /* a day: above it a time limit is surely a slip */

static bool apply_mode(struct td_str text, const char *param, struct td_request *request,
                       struct fault *fault)
{
    if (names_mode_parse(text, &request->mode))
        return true;
    const char *near = str_nearest(text, names_modes, 5);
    return fault_request(fault, param,
                         "%s: unknown mode '" STR_FMT "': use only-local, prefer-local, auto, "
                         "prefer-cloud or only-cloud%s%s%s",
                         param, STR_ARG(str_slice(text, 0, 40)), near ? "; did you mean '" : "",
                         near ? near : "", near ? "'?" : "");
}

/* Only raises: of two declarations of one request the stricter one holds, wherever it stands. */
static bool apply_class(const char *text, const char *param, struct td_request *request,
                        struct fault *fault)
{
    enum td_data_class data_class;
    if (names_class_parse(str_from(text), &data_class)) {
        if (data_class > request->data_class)
            request->data_class = data_class;
        return true;
    }
    return fault_request(fault, param,
                         "%s: unknown data class '%.40s': use public, sensitive or restricted",
                         param, text);
}

static bool apply_priority(struct td_str text, const char *param, struct td_request *request,
                           struct fault *fault)
{
    if (names_priority_parse(text, &request->priority))
        return true;
    return fault_request(fault, param,
                         "%s: unknown priority '" STR_FMT "': use interactive or batch", param,
                         STR_ARG(str_slice(text, 0, 40)));
}

static bool apply_slo(bool valid, uint64_t value, const char *param, uint32_t *out,
                      struct fault *fault)
{
    if (!valid || value < 1 || value > SLO_MS_MAX)
        return fault_request(fault, param, "%s must be an integer of milliseconds, 1 to %u", param,
                             SLO_MS_MAX);
    *out = (uint32_t)value;
    return true;
}

static bool apply_slo_text(const char *text, const char *param, uint32_t *out, struct fault *fault)
{
    uint64_t value = 0;
    bool valid = str_to_u64(str_from(text), &value);
    return apply_slo(valid, value, param, out, fault);
}

static bool set_weight(struct td_str name, double value, struct td_weights *out)
{
    double *corner = str_equal(name, STR("latency"))   ? &out->latency
                     : str_equal(name, STR("privacy")) ? &out->privacy
                     : str_equal(name, STR("cost"))    ? &out->cost
                                                       : NULL;
    if (!corner || !(value >= 0 && value <= 1))
        return false;
    *corner = value;
    out->set = true;
    return true;
}

/* The user's point in the triangle. */
static bool read_weights(const struct json *weights, struct td_weights *out, struct fault *fault)
{
    struct td_weights read = {.set = false};
    if (json_kind_of(weights) != JSON_KIND_OBJECT)
        return fault_request(fault, "tandem.weights",
                             "weights must be an object {latency, privacy, cost}");
    void *iterator = NULL;
    const char *key;
    const struct json *value;
    while (json_next(weights, &iterator, &key, &value))
        if (!set_weight(str_from(key), json_number(value, -1), &read))
            return fault_request(fault, "tandem.weights",
                                 "weights are latency, privacy and cost, each from 0 to 1");
    *out = read;
    return true;
}

/* The triangle's corners by name alone ("cost"), or with numbers. */
static bool read_weights_header(struct td_str text, struct td_weights *out, struct fault *fault)
{
    struct td_weights read = {.set = false};
    struct td_str part;
    while (str_next(&text, ',', &part)) {
        struct td_str name;
        double number = 1;
        bool alone = !memchr(part.data, '=', part.len);
        bool ok = str_next(&part, '=', &name) &&
                  (alone || str_to_double(str_trim(part), &number)) &&
                  set_weight(str_trim(name), number, &read);
        if (!ok)
            return fault_request(fault, "x-tandem-weights",
                                 "x-tandem-weights reads latency=0.2,privacy=0.5,cost=0.3, each 0 "
                                 "to 1, or one of these names");
    }
    *out = read;
    return true;
}

static bool apply_network(struct td_str text, const char *param, struct td_request *request,
                          struct fault *fault)
{
    if (names_network_parse(text, &request->network))
        return true;
    return fault_request(fault, param, "%s must be online, metered or offline, not '" STR_FMT "'",
                         param, STR_ARG(str_slice(text, 0, 40)));
}

static bool add_tag(struct td_str text, const char *param, struct arena *arena,
                    struct td_request *request, struct fault *fault)
{
    if (text.len == 0 || text.len > TAG_BYTES_MAX || request->tag_count == TD_TAGS_MAX)
        return fault_request(fault, param, "%s are at most %d words of 1 to %d bytes", param,
                             TD_TAGS_MAX, TAG_BYTES_MAX);
    const char *copy = arena ? arena_copy(arena, text) : text.data;
    if (copy)
        request->tags[request->tag_count++] = copy;
    return true;
}

static bool read_tags(const struct json *tags, struct td_request *request, struct fault *fault)
{
    if (json_kind_of(tags) != JSON_KIND_ARRAY)
        return fault_request(fault, "tandem.tags", "tandem.tags must be a list of strings");
    for (size_t i = 0; i < json_count(tags); i++)
        if (!add_tag(json_text(json_at(tags, i)), "tandem.tags", NULL, request, fault))
            return false;
    return true;
}

static bool read_tags_header(struct td_str text, struct arena *arena, struct td_request *request,
                             struct fault *fault)
{
    struct td_str part;
    request->tag_count = 0; /* in the place of the body's */
    while (str_next(&text, ',', &part))
        if (!add_tag(str_trim(part), "x-tandem-tags", arena, request, fault))
            return false;
    return true;
}

/* An id, or the consent itself. */
static bool read_consent(const struct json *value, struct td_request *request, struct fault *fault)
{
    const struct json *id = json_kind_of(value) == JSON_KIND_OBJECT ? json_get(value, "id") : value;
    if (json_kind_of(id) != JSON_KIND_TEXT || json_text(id).len == 0 ||
        memchr(json_text(id).data, '\0', json_text(id).len))
        return fault_request(fault, "tandem.consent",
                             "tandem.consent must be an id, or {id, scope, expires}");
    request->consent = json_cstr(id);
    return true;
}

static bool apply_yes(const char *text, const char *param, bool *out, struct fault *fault)
{
    bool yes = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (!yes && strcmp(text, "false") != 0 && strcmp(text, "0") != 0)
        return fault_request(fault, param, "%s must be true or false", param);
    *out |= yes; /* of two declarations the stricter one holds */
    return true;
}

#define REGION_BYTES_MAX 32

/* Of two declarations both hold. text: kept as long as the request. */
static bool apply_region(const char *text, const char *param, struct td_request *request,
                         struct fault *fault)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
    size_t len = text ? strlen(text) : 0, count = 0;
    if (len == 0 || len > REGION_BYTES_MAX || strspn(text, allowed) != len)
        return fault_request(fault, param, "%s must be a jurisdiction as tiers name it, such as eu",
                             param);
    while (request->regions[count])
        count++;
    if (count < TD_REGIONS_MAX)
        request->regions[count] = text;
    return count < TD_REGIONS_MAX;
}

static const char *const tandem_members[] = {
    "mode",    "data_class",  "slo_ttft_ms",  "slo_ms",   "weights",
    "user",    "corrections", "priority",     "adapters", "tags",
    "network", "no_train",    "no_retention", "consent",  "region"};

static bool read_tandem_value(const char *key, const struct json *value, struct td_request *request,
                              struct fault *fault)
{
    enum json_kind kind = json_kind_of(value);
    char param[64];
    snprintf(param, sizeof param, "tandem.%.40s", key);
    if (strcmp(key, "mode") == 0 || strcmp(key, "data_class") == 0 ||
        strcmp(key, "priority") == 0) {
        if (kind != JSON_KIND_TEXT)
            return fault_request(fault, param, "%s must be a string, not %s", param,
                                 json_kind_name(kind));
        if (strcmp(key, "priority") == 0)
            return apply_priority(json_text(value), param, request, fault);
        return strcmp(key, "mode") == 0 ? apply_mode(json_text(value), param, request, fault)
                                        : apply_class(json_cstr(value), param, request, fault);
    }
    if (strncmp(key, "slo_", 4) == 0) {
        int64_t number = json_int(value, -1);
        return apply_slo(kind == JSON_KIND_INT && number >= 0, (uint64_t)number, param,
                         strcmp(key, "slo_ms") == 0 ? &request->slo_ms : &request->slo_ttft_ms,
                         fault);
    }
    if (strcmp(key, "weights") == 0)
        return read_weights(value, &request->weights, fault);
    if (strcmp(key, "tags") == 0)
        return read_tags(value, request, fault);
    if (strcmp(key, "network") == 0)
        return apply_network(json_text(value), param, request, fault);
    if (strcmp(key, "adapters") == 0)
        return openai_adapters_read(value, param, request, fault);
    if (strcmp(key, "region") == 0)
        return apply_region(json_cstr(value), param, request, fault);
    if (strcmp(key, "consent") == 0)
        return read_consent(value, request, fault);
    if (strcmp(key, "no_train") == 0 || strcmp(key, "no_retention") == 0)
        return apply_yes(kind != JSON_KIND_BOOL    ? ""
                         : json_bool(value, false) ? "true"
                                                   : "false",
                         param,
                         strcmp(key, "no_train") == 0 ? &request->no_train : &request->no_retention,
                         fault);
    if (strcmp(key, "corrections") == 0) {
        if (kind != JSON_KIND_BOOL)
            return fault_request(fault, param, "%s must be true or false", param);
        request->corrections = json_bool(value, false);
        return true;
    }
    if (kind != JSON_KIND_TEXT || json_text(value).len == 0 ||
        json_text(value).len > OPENAI_USER_BYTES_MAX)
        return fault_request(fault, param, "%s must be a string of 1 to %d bytes", param,
                             OPENAI_USER_BYTES_MAX);
    request->user = json_cstr(value);
    return true;
}

static bool read_tandem(const struct json *body, struct td_request *request, struct fault *fault)
{
    const struct json *tandem = json_get(body, "tandem");
    if (json_absent(tandem))
        return true;
    if (json_kind_of(tandem) != JSON_KIND_OBJECT)
        return fault_request(fault, "tandem", "tandem must be an object, not %s",
                             json_kind_name(json_kind_of(tandem)));
    void *iterator = NULL;
    const char *key;
    const struct json *value;
    size_t count = sizeof tandem_members / sizeof *tandem_members;
    while (json_next(tandem, &iterator, &key, &value)) {
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known = known || strcmp(tandem_members[i], key) == 0;
        if (!known) {
            char param[64];
            snprintf(param, sizeof param, "tandem.%.40s", key);
            const char *near = str_nearest(str_from(key), tandem_members, count);
            return fault_request(fault, param, "unknown member '%.40s' in tandem%s%s%s", key,
                                 near ? "; did you mean '" : "", near ? near : "",
                                 near ? "'?" : "");
        }
        if (!json_absent(value) && !read_tandem_value(key, value, request, fault))
            return false;
    }
    return true;
}

bool openai_request_read_headers(openai_header_fn *header, void *ctx, struct arena *arena,
                                 struct td_request *request, struct fault *fault)
{
    const char *value;
    if ((value = header(ctx, "x-tandem-mode")) &&
        !apply_mode(str_trim(str_from(value)), "x-tandem-mode", request, fault))
        return false;
    if ((value = header(ctx, "x-tandem-data-class")) &&
        !apply_class(value, "x-tandem-data-class", request, fault))
        return false;
    if ((value = header(ctx, "x-tandem-priority")) &&
        !apply_priority(str_trim(str_from(value)), "x-tandem-priority", request, fault))
        return false;
    if ((value = header(ctx, "x-tandem-slo-ttft-ms")) &&
        !apply_slo_text(value, "x-tandem-slo-ttft-ms", &request->slo_ttft_ms, fault))
        return false;
    if ((value = header(ctx, "x-tandem-slo-ms")) &&
        !apply_slo_text(value, "x-tandem-slo-ms", &request->slo_ms, fault))
        return false;
    if ((value = header(ctx, "x-tandem-weights")) &&
        !read_weights_header(str_from(value), &request->weights, fault))
        return false;
    if ((value = header(ctx, "x-tandem-network")) &&
        !apply_network(str_trim(str_from(value)), "x-tandem-network", request, fault))
        return false;
    if ((value = header(ctx, "x-tandem-tags")) &&
        !read_tags_header(str_from(value), arena, request, fault))
        return false;
    if ((value = header(ctx, "x-tandem-corrections"))) {
        request->corrections = false;
        if (!apply_yes(value, "x-tandem-corrections", &request->corrections, fault))
            return false;
    }
    if ((value = header(ctx, "x-tandem-no-train")) &&
        !apply_yes(value, "x-tandem-no-train", &request->no_train, fault))
        return false;
    if ((value = header(ctx, "x-tandem-no-retention")) &&
        !apply_yes(value, "x-tandem-no-retention", &request->no_retention, fault))
        return false;
    if ((value = header(ctx, "x-tandem-region")) &&
        !apply_region(arena_copy(arena, str_trim(str_from(value))), "x-tandem-region", request,
                      fault))
        return false;
    if ((value = header(ctx, "x-tandem-consent")))
        request->consent = arena_copy(arena, str_from(value));
    if ((value = header(ctx, "x-tandem-user"))) {
        size_t len = strlen(value);
        if (len == 0 || len > OPENAI_USER_BYTES_MAX)
            return fault_request(fault, "x-tandem-user", "x-tandem-user must have 1 to %d bytes",
                                 OPENAI_USER_BYTES_MAX);
        request->user = arena_copy(arena, str_from(value));
    }
    return true;
}

bool openai_request_read_members(const struct json *body, bool chat, struct arena *arena,
                                 struct chat_request *out, struct fault *fault)
{
    struct td_request *request = &out->td;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        const struct json *value = json_get(body, scalars[i].name);
        if ((chat || !scalars[i].chat) && !json_absent(value) &&
            !read_scalar(value, &scalars[i], out, fault))
            return false;
    }
    return read_sampling(body, &request->sampling, fault) &&
           read_text(body, "model", "model", OPENAI_MODEL_BYTES_MAX, &request->model, fault) &&
           read_text(body, "user", "user", OPENAI_USER_BYTES_MAX, &request->user, fault) &&
           read_stops(body, request, fault) && read_seed(body, &request->sampling, fault) &&
           openai_format_read_biases(body, arena, &request->sampling, fault) &&
           openai_adapters_read(json_get(body, "lora"), "lora", request, fault) &&
           read_stream_options(body, out, fault) && read_tandem(body, request, fault);
}

static bool read_body(const struct json *body, struct arena *arena, struct chat_request *out,
                      struct fault *fault)
{
    return openai_messages_read(body, arena, &out->td, fault) &&
           openai_request_read_members(body, true, arena, out, fault) &&
           read_logprobs(body, &out->td, fault) && refuse_unsupported(body, fault);
}

/* OpenAI's defaults; td_sampling_default() says the same, but lives in the engine. */
const struct td_sampling openai_sampling = {
    .temperature = 1.0f, .top_p = 1.0f, .repetition_penalty = 1.0f};

/* At most so many values does the text hold: one more than separators outside of strings. */
static size_t count_values(struct td_str text)
{
    size_t count = 1;
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == '"')
            in_string = !in_string;
        else if (c == '\\' && in_string)
            i++;
        else if (!in_string)
            count += c == ',' || c == ':' || c == '[' || c == '{';
    }
    return count;
}

bool openai_request_read_object(struct td_str body, struct json **out, struct fault *fault)
{
    struct td_error err = {0};
    *out = NULL;
    if (count_values(body) > OPENAI_VALUES_MAX)
        return fault_request(fault, NULL, "the body has more than %d JSON values",
                             OPENAI_VALUES_MAX);
    if (json_parse(body, out, &err) != TD_OK)
        return fault_invalid_json(fault, &err);
    if (json_kind_of(*out) == JSON_KIND_OBJECT)
        return true;
    fault_request(fault, NULL, "the body must be a JSON object, not %s",
                  json_kind_name(json_kind_of(*out)));
    json_free(*out);
    *out = NULL;
    return false;
}

bool openai_request_parse(struct td_str body, openai_header_fn *header, void *header_ctx,
                          struct arena *arena, struct chat_request *out, struct fault *fault)
{
    struct json *object = NULL;
    *out = (struct chat_request){.body = NULL};
    return openai_request_read_object(body, &object, fault) &&
           openai_request_read(object, header, header_ctx, arena, out, fault);
}

bool openai_request_read(struct json *body, openai_header_fn *header, void *header_ctx,
                         struct arena *arena, struct chat_request *out, struct fault *fault)
{
    *out = (struct chat_request){.td.sampling = openai_sampling, .body = body};
    bool ok = read_body(out->body, arena, out, fault);
    if (ok && header)
        ok = openai_request_read_headers(header, header_ctx, arena, &out->td, fault);
    ok = ok && openai_format_read(out->body, &out->td, &out->format, fault);
    if (!ok) {
        openai_request_deinit(out);
        return false;
    }
    out->td.body = out->body;
    return true;
}

void openai_request_deinit(struct chat_request *request)
{
    td_grammar_free(request->td.grammar);
    request->td.grammar = NULL;
    json_free(request->body);
    json_free(request->asked);
    request->body = request->asked = NULL;
}
