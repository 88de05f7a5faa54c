/* One reader for all that a body says of sampling.
 *
 * The numbers have a table that the command line shares (sampling_keys.h). A key may have two
 * names; our own is read last and wins. What the body does not name is left to the model's own file
 * (request->left_to_model). What our engine lacks is noted, not refused: a server elsewhere may
 * have it (samplers.h). */
#include "api/wire/openai_sampling.h"

#include "api/wire/samplers.h"
#include "api/wire/sampling_keys.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "engine/sampling/sampler.h"

#include <stdio.h>

/* td_sampling_default() says the same, but lives in the engine. */
const struct td_sampling openai_sampling = {
    .temperature = 1.0f, .top_p = 1.0f, .repetition_penalty = 1.0f};

static bool read_number(const struct json *body, const struct sampling_key *key, const char *name,
                        struct td_request *request, struct fault *fault)
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
    sampling_key_set(key, number, &request->sampling);
    request->left_to_model &= ~(unsigned)key->setting;
    return true;
}

static bool read_numbers(const struct json *body, struct td_request *request, struct fault *fault)
{
    const struct sampling_key *key;
    request->left_to_model = SETTINGS_ALL;
    for (size_t i = 0; (key = sampling_key_at(i)); i++)
        if (!read_number(body, key, key->alias, request, fault) ||
            !read_number(body, key, key->name, request, fault))
            return false;
    return true;
}

/* --- DRY and the end of an answer, as llama.cpp's clients say it --- */

static bool read_breakers(const struct json *list, struct arena *arena, struct td_str *out,
                          struct fault *fault)
{
    const char *member = "dry_sequence_breakers";
    size_t used = 0;
    if (json_absent(list))
        return true;
    if (json_kind_of(list) != JSON_KIND_ARRAY || json_count(list) == 0)
        return fault_request(fault, member, "%s must be a non-empty array of strings", member);
    char *breakers = arena_alloc(arena, SAMPLER_BREAKERS_BYTES);
    if (!breakers)
        return fault_request(fault, member, "the request is too large");
    for (size_t i = 0; i < json_count(list); i++) {
        struct td_str text = json_text(json_at(list, i));
        if (text.len == 0 || text.len > SAMPLER_BREAKER_BYTES_MAX || memchr(text.data, 0, text.len))
            return fault_request(fault, member,
                                 "%s[%zu] must be a string of 1 to %d bytes, none of them NUL",
                                 member, i, SAMPLER_BREAKER_BYTES_MAX);
        if (used + text.len + 2 > SAMPLER_BREAKERS_BYTES)
            return fault_request(
                fault, member,
                "%s[%zu]: too many: their bytes, plus one for each, may be at most %d", member, i,
                SAMPLER_BREAKERS_BYTES - 1);
        memcpy(breakers + used, text.data, text.len);
        used += text.len + 1;
    }
    *out = (struct td_str){breakers, used};
    return true;
}

/* -1: the whole context, which may be longer than the engine looks back; 0: no DRY. */
static bool read_window(const struct json *value, struct td_request *request, struct fault *fault)
{
    int64_t count = json_absent(value) ? -1 : json_int(value, -2);
    if (count < -1 || count > UINT32_MAX)
        return fault_request(fault, "dry_penalty_last_n",
                             "dry_penalty_last_n must be a number of tokens, or -1");
    if (count == 0)
        request->sampling.dry_multiplier = 0;
    request->dry_window = count <= 0 ? 0 : (uint32_t)count;
    return true;
}

static bool read_ignore_eos(const struct json *value, struct td_request *request,
                            struct fault *fault)
{
    if (!json_absent(value) && json_kind_of(value) != JSON_KIND_BOOL)
        return fault_request(fault, "ignore_eos", "ignore_eos must be true or false");
    request->ignore_eos = json_bool(value, false);
    return true;
}

/* --- seed and biases --- */

/* -1 is llama.cpp's and vLLM's word for none. */
static bool read_seed(const struct json *seed, struct td_sampling *sampling, struct fault *fault)
{
    if (json_absent(seed))
        return true;
    if (json_kind_of(seed) != JSON_KIND_INT)
        return fault_request(fault, "seed", "seed must be an integer, not %s",
                             json_kind_name(json_kind_of(seed)));
    sampling->seed = (uint64_t)json_int(seed, 0);
    sampling->seed_set = json_int(seed, 0) != -1;
    return true;
}

/* {"token id": bias from -100 to 100, ...} of the model that answers. */
static bool read_biases(const struct json *biases, struct arena *arena,
                        struct td_sampling *sampling, struct fault *fault)
{
    size_t count = json_count(biases);
    void *iterator = NULL;
    const char *key;
    const struct json *value;
    if (json_absent(biases) || (json_kind_of(biases) == JSON_KIND_OBJECT && count == 0))
        return true;
    if (json_kind_of(biases) != JSON_KIND_OBJECT || count > TD_LOGIT_BIASES_MAX)
        return fault_request(fault, "logit_bias",
                             "logit_bias must be an object of at most %d token ids with a bias",
                             TD_LOGIT_BIASES_MAX);
    struct td_logit_bias *out = arena_alloc_array(arena, count, sizeof *out);
    if (!out)
        return fault_request(fault, "logit_bias", "the request is too large");
    sampling->biases = out;
    while (json_next(biases, &iterator, &key, &value)) {
        uint64_t id;
        double bias = json_number(value, -1000);
        if (!str_to_u64(str_from(key), &id) || id > INT32_MAX || !(bias >= -100 && bias <= 100))
            return fault_request(
                fault, "logit_bias",
                "logit_bias: '%.40s' must be a token id, and its bias a number from "
                "-100 to 100",
                key);
        out[sampling->bias_count++] = (struct td_logit_bias){(int32_t)id, (float)bias};
    }
    return true;
}

bool openai_sampling_read(const struct json *body, struct arena *arena, struct td_request *request,
                          struct fault *fault)
{
    ASSERT(arena && request && fault);
    struct td_sampling *sampling = &request->sampling;
    if (!read_numbers(body, request, fault))
        return false;
    request->foreign_sampling = samplers_read(body, sampling);
    return read_breakers(json_get(body, "dry_sequence_breakers"), arena, &request->dry_breakers,
                         fault) &&
           read_window(json_get(body, "dry_penalty_last_n"), request, fault) &&
           read_ignore_eos(json_get(body, "ignore_eos"), request, fault) &&
           read_seed(json_get(body, "seed"), sampling, fault) &&
           read_biases(json_get(body, "logit_bias"), arena, sampling, fault);
}
