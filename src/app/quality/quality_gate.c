#define HELP_OF 8
#include "app/quality/quality_gate.h"

#include "app/config/keys.h"
#include "base/core/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define GATE_ARENA_BYTES (1u << 20)
#define PROMPTS_MIN 100

#define AT(member) offsetof(struct quality_gate, member)
#define NUMBER(key, member, least, most, text)                                    \
    {                                                                             \
        key, CONFIG_KEY_NUMBER, AT(member), NULL, least, most, .help = HELP(text) \
    }
static const struct config_key gate_keys[] = {
    NUMBER("max_kld", max_kld, 0, 100, "nats a token"),
    NUMBER("max_kld_p99", max_kld_p99, 0, 100, "nats"),
    NUMBER("min_same_top", min_same_top, 0, 1, "share of tokens"),
    NUMBER("max_perplexity_ratio", max_perplexity_ratio, 0, 1e6, "to the reference's"),
    NUMBER("max_flips", max_flips, 0, 1, "share of prompts"),
    NUMBER("max_cluster_flips", max_cluster_flips, 0, 1, "share of a group's prompts"),
    NUMBER("max_right_loss", max_right_loss, 0, 1, "share of known answers"),
    NUMBER("min_prompts", min_prompts, 1, 1e6, "for a verdict on flips"),
    NUMBER("max_bytes", max_bytes, 1, 1e15, "of the file"),
    NUMBER("max_memory_bytes", max_memory_bytes, 1, 1e15, "of weights and cache"),
    NUMBER("min_prefill_tokens_per_s", min_prefill, 0, 1e9, "of a prompt"),
    NUMBER("min_decode_tokens_per_s", min_decode, 0, 1e9, "of an answer"),
};
static const struct config_section gate_section = KEYS_MAP(gate_keys);
#undef AT

/* A limit of what is not measured would never refuse. */
static enum td_status check_means(const char *label, const struct quality_gate *gate,
                                  const struct quality_gate_means *means, struct td_error *err)
{
    bool flips = !isnan(gate->max_flips) || !isnan(gate->max_cluster_flips) ||
                 !isnan(gate->max_right_loss) || !isnan(gate->min_prompts);
    if (flips && !means->prompts)
        return error_set(err, TD_INVALID,
                         "%s: flips and right answers need prompts: --prompts FILE or --traffic",
                         label);
    if (!isnan(gate->max_perplexity_ratio) && !means->texts)
        return error_set(err, TD_INVALID, "%s: max_perplexity_ratio needs a text: --text FILE",
                         label);
    if ((!isnan(gate->min_prefill) || !isnan(gate->min_decode)) && !means->speed)
        return error_set(err, TD_INVALID, "%s: limits of speed exclude --no-speed", label);
    return TD_OK;
}

enum td_status quality_gate_read(const char *label, struct td_str text,
                                 const struct quality_gate_means *means, struct quality_gate *out,
                                 struct td_error *err)
{
    struct yaml_node *tree = NULL;
    struct arena *arena = arena_new(GATE_ARENA_BYTES);
    enum td_status status = arena ? yaml_tree_read(label, text, arena, &tree, err)
                                  : error_set(err, TD_NO_MEMORY, "no memory for %s", label);
    if (status == TD_OK && (!tree || tree->kind != YAML_MAP || tree->count == 0))
        status =
            error_set(err, TD_INVALID,
                      "%s:1: the file must be a map of limits such as 'max_flips: 0.05'", label);
    if (status == TD_OK)
        status = keys_read_own(label, &gate_section, tree, arena, out, err);
    if (status == TD_OK)
        status = check_means(label, out, means, err);
    arena_free(arena);
    return status;
}

bool quality_gate_is_about_answers(const struct quality_gate *gate)
{
    const double limits[] = {gate->max_kld, gate->min_same_top, gate->max_flips,
                             gate->max_cluster_flips, gate->max_right_loss};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (!isnan(limits[i]))
            return true;
    return false;
}

/* --- judging --- */

static void refuse(struct quality_verdict *out, const char *format, ...) TD_PRINTF(2, 3);
static void refuse(struct quality_verdict *out, const char *format, ...)
{
    va_list arguments;
    if (out->reason_count == QUALITY_REASONS_MAX)
        return;
    va_start(arguments, format);
    vsnprintf(out->reasons[out->reason_count++], QUALITY_REASON_BYTES, format, arguments);
    va_end(arguments);
}

/* Whole numbers, such as bytes, to the last digit. */
static const char *number_text(double value, char out[static 32])
{
    bool whole = value >= 1 && value < 1e15 && value - floor(value) <= 0;
    snprintf(out, 32, whole ? "%.0f" : "%.6g", value);
    return out;
}

/* Refuses also what is no number: it was asked for, and nobody knows it. */
static void at_most(struct quality_verdict *out, const char *what, const char *key, double value,
                    double limit)
{
    char is[32], may[32];
    if (!isnan(limit) && !(value <= limit))
        refuse(out, "%s is %s, %s is %s", what, number_text(value, is), key,
               number_text(limit, may));
}

static void at_least(struct quality_verdict *out, const char *what, const char *key, double value,
                     double limit)
{
    char is[32], needs[32];
    if (!isnan(limit) && !(value >= limit))
        refuse(out, "%s is %s, %s is %s", what, number_text(value, is), key,
               number_text(limit, needs));
}

static void judge_tokens(const struct quality_gate *gate, const struct divergence_result *result,
                         const char *where, struct quality_verdict *out)
{
    char what[64];
    if (result->token_count == 0)
        return;
    snprintf(what, sizeof what, "divergence on %s", where);
    at_most(out, what, "max_kld", result->kld_mean, gate->max_kld);
    snprintf(what, sizeof what, "divergence of 99 %% of the tokens of %s", where);
    at_most(out, what, "max_kld_p99", result->kld_p99, gate->max_kld_p99);
    snprintf(what, sizeof what, "the share of same tokens on %s", where);
    at_least(out, what, "min_same_top", result->same_top, gate->min_same_top);
}

static void judge_groups(const struct quality_gate *gate, const struct quality *quality,
                         const struct quality_model *model, struct quality_verdict *out)
{
    for (size_t g = 0; g < quality->group_count; g++) {
        const struct quality_group *group = &quality->groups[g];
        const struct flips_group *flips = &model->scores[g].flips;
        double share = (double)flips->flips / (double)flips->count;
        const char *kind = group->is_task ? "task" : "cluster";
        if (flips->over_limit)
            refuse(out, "%s '%s': %zu of %zu answers flip (%.1f %%), max_cluster_flips is %.6g",
                   kind, group->name, flips->flips, flips->count, 100 * share,
                   gate->max_cluster_flips);
        else if (share > gate->max_cluster_flips && out->note_count < QUALITY_REASONS_MAX)
            snprintf(out->notes[out->note_count++], QUALITY_REASON_BYTES,
                     "%s '%s': %zu of %zu answers flip; too few prompts to call it more than "
                     "%.6g",
                     kind, group->name, flips->flips, flips->count, gate->max_cluster_flips);
    }
}

static void judge_flips(const struct quality_gate *gate, const struct quality *quality,
                        const struct quality_model *model, struct quality_verdict *out)
{
    bool asked = !isnan(gate->max_flips) || !isnan(gate->max_cluster_flips);
    double least = isnan(gate->min_prompts) ? PROMPTS_MIN : gate->min_prompts;
    if ((asked || !isnan(gate->min_prompts)) && (double)model->flips.count < least)
        refuse(out, "%zu prompts are too few for a verdict on flips, min_prompts is %.6g",
               model->flips.count, least);
    at_most(out, "the share of flips", "max_flips",
            (double)model->flips.flips / (double)model->flips.count, gate->max_flips);
    if (!isnan(gate->max_cluster_flips))
        judge_groups(gate, quality, model, out);
    if (!isnan(gate->max_right_loss) && quality->known_count == 0)
        refuse(out, "no prompt says what is right, which max_right_loss needs");
    else
        at_most(out, "the share of right answers that are lost", "max_right_loss",
                (double)model->lost_count / (double)quality->known_count, gate->max_right_loss);
}

void quality_gate_judge(const struct quality_gate *gate, const struct quality *quality,
                        size_t number, struct quality_verdict *out)
{
    const struct quality_model *model = &quality->models[number];
    *out = (struct quality_verdict){.reason_count = 0};
    judge_tokens(gate, &model->texts, "texts", out);
    judge_tokens(gate, &model->answers, "answers", out);
    if (model->texts.token_count)
        at_most(out, "perplexity by the reference's", "max_perplexity_ratio",
                model->texts.perplexity / model->texts.perplexity_reference,
                gate->max_perplexity_ratio);
    if (model->flips.count)
        judge_flips(gate, quality, model, out);
    at_most(out, "the file's size", "max_bytes", (double)model->file_bytes, gate->max_bytes);
    at_most(out, "the memory", "max_memory_bytes", (double)model->memory_bytes,
            gate->max_memory_bytes);
    at_least(out, "prefill, tokens/s,", "min_prefill_tokens_per_s",
             model->speed.prefill_tokens_per_s, gate->min_prefill);
    at_least(out, "decoding, tokens/s,", "min_decode_tokens_per_s",
             model->speed.decode_tokens_per_s, gate->min_decode);
}
