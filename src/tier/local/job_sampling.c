#include "tier/local/job_sampling.h"

#include "base/core/assertion.h"

#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(struct td_sampling, member)

/* A number of 4 bytes, and the setting that it belongs to. */
static const struct {
    enum request_setting setting;
    size_t offset;
} recommendable[] = {
    {SETTING_TEMPERATURE, AT(temperature)},
    {SETTING_TOP_K, AT(top_k)},
    {SETTING_TOP_P, AT(top_p)},
    {SETTING_MIN_P, AT(min_p)},
    {SETTING_REPETITION_PENALTY, AT(repetition_penalty)},
    {SETTING_REPETITION_WINDOW, AT(repetition_window)},
    {SETTING_XTC_PROBABILITY, AT(xtc_probability)},
    {SETTING_XTC_THRESHOLD, AT(xtc_threshold)},
    {SETTING_MIROSTAT, AT(mirostat_version)},
    {SETTING_MIROSTAT, AT(mirostat_tau)},
    {SETTING_MIROSTAT, AT(mirostat_eta)},
};

_Static_assert(sizeof(float) == 4 && sizeof(uint32_t) == 4, "recommendable numbers are of 4 bytes");

void job_sampling_set(const struct td_request *request, const struct td_sampling *recommended,
                      struct job_request *job)
{
    ASSERT(request->dry_breakers.len < sizeof job->dry.breakers);
    struct td_sampling *sampling = &job->options.sampling;
    *sampling = request->sampling;
    for (size_t i = 0; i < sizeof recommendable / sizeof *recommendable; i++) {
        size_t at = recommendable[i].offset;
        if (request->left_to_model & recommendable[i].setting)
            memcpy((char *)sampling + at, (const char *)recommended + at, 4);
    }
    job->options.ignore_eos = request->ignore_eos;
    job->dry = (struct sampler_dry){.window = request->dry_window};
    if (request->dry_breakers.len > 0)
        memcpy(job->dry.breakers, request->dry_breakers.data, request->dry_breakers.len);
}
