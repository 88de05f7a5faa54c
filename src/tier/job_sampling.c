/* Reads the sampling members of llama.cpp's server that td_sampling has no field for, and fills in
 * what the model recommends. Both need the same table: a member that the body names is the client's
 * choice, and every other setting is the model's. */
#include "tier/job_sampling.h"

#include "base/error.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static enum td_status read_breakers(const struct json *list, struct job_request *job,
                                    struct td_error *err)
{
    size_t used = 0;
    if (json_absent(list))
        return TD_OK;
    if (json_kind_of(list) != JSON_KIND_ARRAY || json_count(list) == 0)
        return error_set(err, TD_INVALID,
                         "dry_sequence_breakers must be a non-empty array of strings");
    for (size_t i = 0; i < json_count(list); i++) {
        struct td_str text = json_text(json_at(list, i));
        if (text.len == 0 || text.len > SAMPLER_BREAKER_BYTES_MAX || memchr(text.data, 0, text.len))
            return error_set(
                err, TD_INVALID,
                "dry_sequence_breakers[%zu] must be a string of 1 to %d bytes, none of "
                "them NUL",
                i, SAMPLER_BREAKER_BYTES_MAX);
        if (used + text.len + 2 > SAMPLER_BREAKERS_BYTES)
            return error_set(
                err, TD_INVALID,
                "dry_sequence_breakers[%zu]: too many: their bytes, plus one for each, "
                "may be at most %d",
                i, SAMPLER_BREAKERS_BYTES - 1);
        memcpy(job->dry.breakers + used, text.data, text.len);
        used += text.len + 1;
    }
    return TD_OK;
}

/* dry_penalty_last_n: -1 means the whole context, up to what the engine looks back; 0 means no
 * DRY. */
static enum td_status read_window(const struct json *value, struct job_request *job,
                                  struct td_error *err)
{
    int64_t count = json_absent(value) ? -1 : json_int(value, -2);
    if (count < -1 || count > UINT32_MAX)
        return error_set(err, TD_INVALID, "dry_penalty_last_n must be a number of tokens, or -1");
    if (count == 0)
        job->options.sampling.dry_multiplier = 0;
    job->dry.window = count <= 0 ? 0 : (uint32_t)count;
    return TD_OK;
}

enum td_status job_sampling_read(const struct json *body, struct job_request *job,
                                 const char **member, struct td_error *err)
{
    assert(job != NULL);
    const struct json *ignore = json_get(body, "ignore_eos");
    const char *at = "dry_sequence_breakers";
    job->dry = (struct sampler_dry){0};
    enum td_status status = read_breakers(json_get(body, at), job, err);
    if (status == TD_OK)
        status = read_window(json_get(body, at = "dry_penalty_last_n"), job, err);
    if (status == TD_OK && !json_absent(ignore) && json_kind_of(ignore) != JSON_KIND_BOOL) {
        at = "ignore_eos";
        status = error_set(err, TD_INVALID, "ignore_eos must be true or false");
    }
    job->options.ignore_eos = json_bool(ignore, false);
    if (status != TD_OK && member)
        *member = at;
    return status;
}

#define NAMES_MAX 4
#define AT(member) offsetof(struct td_sampling, member)
#define MIROSTAT "mirostat", "mirostat_version", "mirostat_tau", "mirostat_eta"

/* A setting of 4 bytes, and the members of a body that set it: if one is there, the body
 * decides. */
static const struct {
    size_t offset;
    const char *names[NAMES_MAX];
} recommendable[] = {
    {AT(temperature), {"temperature"}},
    {AT(top_k), {"top_k"}},
    {AT(top_p), {"top_p"}},
    {AT(min_p), {"min_p"}},
    {AT(repetition_penalty), {"repetition_penalty", "repeat_penalty"}},
    {AT(repetition_window), {"repetition_window", "repeat_last_n"}},
    {AT(xtc_probability), {"xtc_probability"}},
    {AT(xtc_threshold), {"xtc_threshold"}},
    {AT(mirostat_version), {MIROSTAT}},
    {AT(mirostat_tau), {MIROSTAT}},
    {AT(mirostat_eta), {MIROSTAT}},
};

_Static_assert(sizeof(float) == 4 && sizeof(uint32_t) == 4, "settings have 4 bytes");

static void copy_member(const struct json *body, const char *name, struct json *out)
{
    const struct json *value = json_get(body, name);
    if (!json_absent(value))
        json_put(out, name, json_clone(value));
}

struct json *job_sampling_members(const struct json *body)
{
    static const char *const others[] = {"dry_sequence_breakers", "dry_penalty_last_n",
                                         "ignore_eos"};
    struct json *out = body ? json_new_object() : NULL;
    if (!out)
        return NULL;
    for (size_t i = 0; i < sizeof recommendable / sizeof *recommendable; i++)
        for (size_t n = 0; n < NAMES_MAX && recommendable[i].names[n]; n++)
            copy_member(body, recommendable[i].names[n], out);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        copy_member(body, others[i], out);
    return out;
}

void job_sampling_recommend(const struct json *body, const struct td_sampling *recommended,
                            struct td_sampling *sampling)
{
    assert(recommended != NULL && sampling != NULL);
    if (!body)
        return;
    for (size_t i = 0; i < sizeof recommendable / sizeof *recommendable; i++) {
        bool named = false;
        for (size_t n = 0; n < NAMES_MAX && recommendable[i].names[n]; n++)
            named = named || !json_absent(json_get(body, recommendable[i].names[n]));
        size_t at = recommendable[i].offset;
        if (!named)
            memcpy((char *)sampling + at, (const char *)recommended + at, 4);
    }
}
