/* llama.cpp's names are those of tools/server/README.md and of `llama-cli --help`; its clients send
 * all of them with every request, with -1 or 0 for what is off. */
#include "api/wire/sampling_keys.h"

#include "base/core/assertion.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* As far as a sampler looks back (engine/sampling/sampler.h). */
#define WINDOW_MAX 4096
/* llama.cpp's, for a request that turns mirostat on and says no more. */
#define MIROSTAT_TAU_DEFAULT 5.0f

/* llama.cpp's switch: 0 = off whatever tau says, else the version. */
static void set_mirostat(struct td_sampling *sampling, double number)
{
    sampling->mirostat_version = (uint32_t)number;
    if (number == 0)
        sampling->mirostat_tau = 0;
    else if (sampling->mirostat_tau == 0)
        sampling->mirostat_tau = MIROSTAT_TAU_DEFAULT;
}

/* Looking back at nothing is no penalty; in td_sampling 0 is the default. */
static void set_window(struct td_sampling *sampling, double number)
{
    sampling->repetition_window = (uint32_t)number;
    if (number == 0)
        sampling->repetition_penalty = 1;
}

#define AT(member) .offset = offsetof(struct td_sampling, member)
#define MINUS_ONE(value) .has_minus_one = true, .minus_one = (value)

static const struct sampling_key keys[] = {
    {"temperature", NULL, "temp", "temperature", "T", "temperature; 0 = greedy", .max = 100,
     .body_max = 2, AT(temperature), .setting = SETTING_TEMPERATURE},
    {"top_k", NULL, "top-k", NULL, "K", "0 = off", .integer = true, .max = 1e6, MINUS_ONE(0),
     AT(top_k), .setting = SETTING_TOP_K},
    {"top_p", NULL, "top-p", NULL, "P", "1 = off", .max = 1, AT(top_p), .setting = SETTING_TOP_P},
    {"min_p", NULL, "min-p", NULL, "P", "0 = off", .max = 1, AT(min_p), .setting = SETTING_MIN_P},
    {"typical_p", NULL, "typical", "typical-p", "P", "locally typical; 0 and 1 = off", .max = 1,
     AT(typical_p)},
    {"top_n_sigma", NULL, "top-n-sigma", "top-nsigma", "N", "0 = off", .max = 100, MINUS_ONE(0),
     AT(top_n_sigma)},
    {"repetition_penalty", "repeat_penalty", "repeat-penalty", "repetition-penalty", "R", "1 = off",
     .min = 0.01, .max = 10, AT(repetition_penalty), .setting = SETTING_REPETITION_PENALTY},
    {"repetition_window", "repeat_last_n", "repeat-window", "repeat-last-n", "N",
     "tokens that it looks back; default 64, -1 = 4096", .integer = true, .max = WINDOW_MAX,
     MINUS_ONE(WINDOW_MAX), .set = set_window, .setting = SETTING_REPETITION_WINDOW},
    {"presence_penalty", NULL, "presence-penalty", NULL, "R", "0 = off", .min = -2, .max = 2,
     AT(presence_penalty)},
    {"frequency_penalty", NULL, "frequency-penalty", NULL, "R", "0 = off", .min = -2, .max = 2,
     AT(frequency_penalty)},
    {"mirostat_tau", NULL, "mirostat", "mirostat-ent", "TAU",
     "surprise to aim at, in bits; 0 = off", .max = 100, AT(mirostat_tau),
     .setting = SETTING_MIROSTAT},
    {"mirostat_eta", NULL, "mirostat-eta", "mirostat-lr", "ETA", "default: 0.1", .max = 1,
     AT(mirostat_eta), .setting = SETTING_MIROSTAT},
    {"mirostat_version", NULL, "mirostat-version", NULL, "1|2", "default: 2", .integer = true,
     .min = 1, .max = 2, AT(mirostat_version), .setting = SETTING_MIROSTAT},
    {"mirostat", NULL, NULL, NULL, NULL, NULL, .integer = true, .max = 2, .set = set_mirostat,
     .setting = SETTING_MIROSTAT},
    {"dynamic_range", "dynatemp_range", "dynamic-temp", "dynatemp-range", "R",
     "temperature moves by up to R with the entropy; 0 = off", .max = 100, AT(dynamic_range)},
    {"dynamic_exponent", "dynatemp_exponent", "dynamic-exponent", "dynatemp-exp", "E", "default: 1",
     .max = 100, AT(dynamic_exponent)},
    {"xtc_probability", NULL, "xtc-probability", NULL, "P",
     "how often the likeliest are excluded; 0 = off", .max = 1, AT(xtc_probability),
     .setting = SETTING_XTC_PROBABILITY},
    {"xtc_threshold", NULL, "xtc-threshold", NULL, "P", "default: 0.1", .min = 0.001, .max = 1,
     AT(xtc_threshold), .setting = SETTING_XTC_THRESHOLD},
    {"dry_multiplier", NULL, "dry-multiplier", NULL, "R",
     "penalty for going on with a repetition; 0 = off", .max = 100, AT(dry_multiplier)},
    {"dry_base", NULL, "dry-base", NULL, "B", "default: 1.75", .min = 1, .max = 8, AT(dry_base)},
    {"dry_allowed", "dry_allowed_length", "dry-allowed", "dry-allowed-length", "N",
     "default: 2 tokens", .integer = true, .min = 1, .max = WINDOW_MAX, AT(dry_allowed)},
};

_Static_assert(sizeof keys / sizeof *keys <= SAMPLING_KEYS_MAX, "SAMPLING_KEYS_MAX is too small");

const struct sampling_key *sampling_key_at(size_t index)
{
    return index < sizeof keys / sizeof *keys ? &keys[index] : NULL;
}

static double max_of(const struct sampling_key *key, bool body)
{
    return body && key->body_max > 0 ? key->body_max : key->max;
}

bool sampling_key_takes(const struct sampling_key *key, double number, bool body)
{
    if (key->has_minus_one && number == -1)
        return true;
    return number >= key->min && number <= max_of(key, body) &&
           (!key->integer || floor(number) == number);
}

void sampling_key_describe(const struct sampling_key *key, bool body, char *out, size_t size)
{
    snprintf(out, size, "%s from %.10g to %.10g%s", key->integer ? "an integer" : "a number",
             key->min, max_of(key, body), key->has_minus_one ? ", or -1" : "");
}

void sampling_key_set(const struct sampling_key *key, double number, struct td_sampling *sampling)
{
    ASSERT(key && sampling);
    if (key->has_minus_one && number == -1)
        number = key->minus_one;
    char *place = (char *)sampling + key->offset;
    if (key->set)
        key->set(sampling, number);
    else if (key->integer)
        *(uint32_t *)(void *)place = (uint32_t)number;
    else
        *(float *)(void *)place = (float)number;
}
