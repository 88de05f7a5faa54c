/* Members in which other servers' clients say how tokens are drawn.
 *
 * The engine has one order of samplers and a fixed set of them (engine/sampling/sampler.h). A
 * request that wants another order, or a sampler that we lack, must not be answered here as if it
 * had not said so. Such a member is named, and the router leaves the request to a server
 * elsewhere, which gets the member as it came. */
#include "api/wire/samplers.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

/* --- llama.cpp's order of samplers --- */

/* In the order in which the engine applies them. */
enum stage { PENALTIES, DRY, TOP_N_SIGMA, TYPICAL, TOP_K, TOP_P, MIN_P, XTC, TEMPERATURE, STAGES };

static const char *const stage_names[] = {"penalties",   "dry",   "top_n_sigma", "typ_p",
                                          "top_k",       "top_p", "min_p",       "xtc",
                                          "temperature", NULL};

static bool is_on(enum stage stage, const struct td_sampling *s)
{
    switch (stage) {
    case PENALTIES:
        return s->repetition_penalty != 1 || s->presence_penalty != 0 || s->frequency_penalty != 0;
    case DRY:
        return s->dry_multiplier > 0;
    case TOP_N_SIGMA:
        return s->top_n_sigma > 0;
    case TYPICAL:
        return s->typical_p > 0 && s->typical_p < 1;
    case TOP_K:
        return s->top_k > 0;
    case TOP_P:
        return s->top_p < 1;
    case MIN_P:
        return s->min_p > 0;
    case XTC:
        return s->xtc_probability > 0;
    default:
        return s->temperature != 1 || s->dynamic_range > 0;
    }
}

static void turn_off(enum stage stage, struct td_sampling *s)
{
    switch (stage) {
    case PENALTIES:
        s->repetition_penalty = 1;
        s->presence_penalty = s->frequency_penalty = 0;
        break;
    case DRY:
        s->dry_multiplier = 0;
        break;
    case TOP_N_SIGMA:
        s->top_n_sigma = 0;
        break;
    case TYPICAL:
        s->typical_p = 0;
        break;
    case TOP_K:
        s->top_k = 0;
        break;
    case TOP_P:
        s->top_p = 1;
        break;
    case MIN_P:
        s->min_p = 0;
        break;
    case XTC:
        s->xtc_probability = 0;
        break;
    default:
        s->temperature = 1;
        s->dynamic_range = 0;
    }
}

static enum stage stage_of(struct td_str name)
{
    enum stage stage = PENALTIES;
    if (str_equal(name, STR("typical_p")))
        return TYPICAL;
    while (stage < STAGES && !str_equal(name, str_from(stage_names[stage])))
        stage++;
    return stage;
}

/* Turns off what the list leaves out. False: it names a sampler that the engine lacks, or wants
 * those that are on in another order than the engine's. Mirostat takes the place of all. */
static bool follow(const struct json *list, struct td_sampling *sampling)
{
    unsigned named = 0, last = 0;
    if (json_absent(list) || sampling->mirostat_tau > 0)
        return true;
    if (json_kind_of(list) != JSON_KIND_ARRAY)
        return json_kind_of(list) == JSON_KIND_TEXT && json_text(list).len == 0;
    for (size_t i = 0; i < json_count(list); i++) {
        enum stage stage = stage_of(json_text(json_at(list, i)));
        if (stage == STAGES)
            return false;
        named |= 1u << stage;
        if (!is_on(stage, sampling))
            continue;
        if (stage < last)
            return false;
        last = stage;
    }
    for (enum stage stage = PENALTIES; stage < STAGES && json_count(list) > 0; stage++)
        if (!(named & 1u << stage))
            turn_off(stage, sampling);
    return true;
}

/* --- what the local engine lacks --- */

/* Members of llama.cpp's and vLLM's servers and of text-generation-webui that change what is drawn
 * or when it ends, with the numbers that mean "off". An empty list and false do, too. */
static const struct foreign {
    const char *name;
    double low, high;
} foreign[] = {
    {"adaptive_target", -1e9, -1e-9},
    {"allowed_token_ids", 0, 0},
    {"bad_words", 0, 0},
    {"epsilon_cutoff", 0, 0},
    {"eta_cutoff", 0, 0},
    {"guidance_scale", 1, 1},
    {"length_penalty", 1, 1},
    {"min_keep", 0, 1},
    {"min_tokens", 0, 0},
    {"n_indent", 0, 0},
    {"no_repeat_ngram_size", 0, 0},
    {"smoothing_factor", 0, 0},
    {"stop_token_ids", 0, 0},
    {"t_max_predict_ms", -1e9, 0},
    {"tfs_z", 1, 1},
    {"top_a", 0, 0},
    {"use_beam_search", 0, 0},
};

static bool is_off(const struct json *value, const struct foreign *member)
{
    switch (json_kind_of(value)) {
    case JSON_KIND_ABSENT:
    case JSON_KIND_NULL:
        return true;
    case JSON_KIND_INT:
    case JSON_KIND_DOUBLE:
        return json_number(value, 0) >= member->low && json_number(value, 0) <= member->high;
    case JSON_KIND_BOOL:
        return !json_bool(value, true);
    case JSON_KIND_ARRAY:
        return json_count(value) == 0;
    default:
        return false;
    }
}

const char *samplers_read(const struct json *body, struct td_sampling *sampling)
{
    ASSERT(sampling);
    if (!follow(json_get(body, "samplers"), sampling))
        return "samplers";
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (!is_off(json_get(body, foreign[i].name), &foreign[i]))
            return foreign[i].name;
    return NULL;
}
