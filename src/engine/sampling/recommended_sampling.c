/* Reads the sampling settings that a model file recommends. The numbers are a table of key, member
 * and range. A number out of range is an error: another program would sample differently without a
 * word. Where llama.cpp's convention differs from ours (signed counts, a switch for mirostat) the
 * functions below translate. */
#include "engine/sampling/recommended_sampling.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/sampling/sampler.h"

#include <stddef.h>

/* llama.cpp's default, for a file that turns mirostat on without a tau. */
#define MIROSTAT_TAU_DEFAULT 5.0f

#define AT(member) offsetof(struct td_sampling, member)

struct recommended_number {
    const char *key;
    size_t offset;
    double min, max;
};

static const struct recommended_number numbers[] = {
    {"general.sampling.temp", AT(temperature), 0, 100},
    {"general.sampling.top_p", AT(top_p), 0, 1},
    {"general.sampling.min_p", AT(min_p), 0, 1},
    {"general.sampling.penalty_repeat", AT(repetition_penalty), 0.01, 100},
    {"general.sampling.xtc_probability", AT(xtc_probability), 0, 1},
    {"general.sampling.xtc_threshold", AT(xtc_threshold), 0, 1},
    {"general.sampling.mirostat_tau", AT(mirostat_tau), 0, 100},
    {"general.sampling.mirostat_eta", AT(mirostat_eta), 0, 1},
};

static enum td_status read_numbers(const struct gguf *gguf, struct td_sampling *out,
                                   struct td_error *err)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct recommended_number *number = &numbers[i];
        float value;
        if (!gguf_has(gguf, number->key))
            continue;
        if (!gguf_get_f32(gguf, number->key, &value) || (double)value < number->min ||
            (double)value > number->max)
            return error_set(err, TD_CORRUPT, "%s: %s: not a number from %g to %g", gguf_path(gguf),
                             number->key, number->min, number->max);
        *(float *)(void *)((char *)out + number->offset) = value;
    }
    return TD_OK;
}

/* llama.cpp's integers are signed: a top_k of 0 or less is off, a window of -1 is the whole
 * context, and a window of 0 turns the penalty off. */
static void read_counts(const struct gguf *gguf, struct td_sampling *out)
{
    static const char *window = "general.sampling.penalty_last_n";
    uint32_t count;
    if (gguf_get_u32(gguf, "general.sampling.top_k", &count))
        out->top_k = count;
    if (!gguf_has(gguf, window))
        return;
    if (!gguf_get_u32(gguf, window, &count) || count > SAMPLER_HISTORY_MAX)
        count = SAMPLER_HISTORY_MAX;
    out->repetition_window = count;
    if (count == 0)
        out->repetition_penalty = 1;
}

/* llama.cpp's switch general.sampling.mirostat: 0 = off, whatever tau says. */
static enum td_status read_mirostat(const struct gguf *gguf, struct td_sampling *out,
                                    struct td_error *err)
{
    static const char *key = "general.sampling.mirostat";
    out->mirostat_version = 0;
    if (gguf_has(gguf, key) &&
        (!gguf_get_u32(gguf, key, &out->mirostat_version) || out->mirostat_version > 2))
        return error_set(err, TD_CORRUPT, "%s: %s: not 0, 1 or 2", gguf_path(gguf), key);
    if (out->mirostat_version == 0)
        out->mirostat_tau = out->mirostat_eta = 0;
    else if (out->mirostat_tau == 0)
        out->mirostat_tau = MIROSTAT_TAU_DEFAULT;
    return TD_OK;
}

enum td_status recommended_sampling_read(const struct gguf *gguf, struct td_sampling *out,
                                         struct td_error *err)
{
    ASSERT(gguf != NULL && out != NULL);
    *out = td_sampling_default();
    enum td_status status = read_numbers(gguf, out, err);
    read_counts(gguf, out);
    return status == TD_OK ? read_mirostat(gguf, out, err) : status;
}
