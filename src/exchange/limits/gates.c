/* The gates of an answer as a table: when each one looks, what makes it leave, and its sentence.
 *
 * The first gate that leaves decides. `look` is asked after each token and `judge` when the answer
 * is whole; a gate that has no such moment has NULL there. The local model's own doubts ("not
 * mine", the probe) are known with its first token, so that nothing of a hopeless answer is
 * written. */
#include "exchange/limits/gates.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <math.h>
#include <stdio.h>

/* "Not mine" is more probable than all other first tokens together. */
#define NOT_MINE_MIN 0.5f
#define CALL_CONFIDENCE_MIN 0.85

struct gate {
    const char *name;
    enum reason_code code;
    /* True: leave. Both write what they compared into the verdict, also when it stays. */
    bool (*look)(const struct gate_view *view, struct gate_verdict *out);
    bool (*judge)(const struct gate_view *view, struct gate_verdict *out);
    void (*say)(const struct gate_verdict *verdict, const struct gate_view *view, const char *tier,
                char out[static REASON_TEXT_BYTES]);
};

bool gates_on(const struct gate_settings *gates)
{
    return gates->g1_on || gates->g2_on || gates->g3_on || gates->g2_abandon_under > 0 ||
           gates->uncalibrated || gates->error_usd > 0;
}

void gates_write(const struct gate_settings *gates, struct buf *out)
{
    buf_printf(out,
               " g0 %u %.17g %.17g g1 %.17g g2 %u %.17g %u %.17g g3 %.17g %.17g %.17g %u "
               "given %d %d risk %d",
               gates->g0_tokens_over, gates->g0_gain_over, gates->g0_p_local_under,
               gates->g1_probe_min, gates->g2_tokens, gates->g2_confidence_min, gates->g2_every,
               gates->g2_abandon_under, gates->g3_confidence_min, gates->hopeless_under,
               gates->human_under, gates->commit_tokens, gates->g2_given, gates->g3_given,
               gates->risk);
    if (gates->second != SECOND_OFF) /* else a policy has the version that it had */
        buf_printf(out, " second %d %.17g %u", gates->second, gates->second_band,
                   gates->second_samples);
}

/* --- the first token --- */

static bool is_not_mine(const struct gate_view *view, struct gate_verdict *out)
{
    if (!gates_on(view->settings) || view->token_count != 1 ||
        !(view->confidence->not_mine > NOT_MINE_MIN))
        return false;
    out->confidence = confidence_value(view->confidence);
    return true;
}

static void say_not_mine(const struct gate_verdict *verdict, const struct gate_view *view,
                         const char *tier, char out[static REASON_TEXT_BYTES])
{
    (void)verdict;
    snprintf(out, REASON_TEXT_BYTES,
             "%s's first token says that this is not its task (probability %.2f)", tier,
             (double)view->confidence->not_mine);
}

/* The probe has read the prompt when the first token comes, whatever that token is. */
static bool probe_is_low(const struct gate_view *view, struct gate_verdict *out)
{
    const struct gate_settings *gates = view->settings;
    double probe = (double)view->confidence->probe;
    if (!gates->g1_on || view->token_count != 1 || !(probe > 0) || !(probe < gates->g1_probe_min))
        return false;
    *out = (struct gate_verdict){.confidence = probe, .threshold = gates->g1_probe_min};
    return true;
}

/* A threshold without a bound stands for a risk that this tier cannot promise. */
static bool say_out_of_reach(const struct gate_verdict *verdict, const char *tier,
                             char out[static REASON_TEXT_BYTES])
{
    if (isinf(verdict->threshold))
        snprintf(out, REASON_TEXT_BYTES, "the asked risk is out of reach: %s keeps no such answer",
                 tier);
    return isinf(verdict->threshold);
}

static void say_probe(const struct gate_verdict *verdict, const struct gate_view *view,
                      const char *tier, char out[static REASON_TEXT_BYTES])
{
    (void)view;
    if (!say_out_of_reach(verdict, tier, out))
        snprintf(out, REASON_TEXT_BYTES,
                 "the probability of %s being right, %.2f by its probe, is below %.2f", tier,
                 verdict->confidence, verdict->threshold);
}

/* Nothing says what such a confidence is worth, so no answer of the model is written that a better
 * tier could write. A probe that the route has a number for knows better. */
static bool judge_uncalibrated(const struct gate_view *view, struct gate_verdict *out)
{
    const struct gate_settings *gates = view->settings;
    if (!gates->uncalibrated || (gates->g1_on && view->confidence->probe > 0))
        return false;
    out->confidence = confidence_value(view->confidence);
    return true;
}

static bool look_uncalibrated(const struct gate_view *view, struct gate_verdict *out)
{
    return view->token_count == 1 && judge_uncalibrated(view, out);
}

static void say_uncalibrated(const struct gate_verdict *verdict, const struct gate_view *view,
                             const char *tier, char out[static REASON_TEXT_BYTES])
{
    (void)verdict;
    (void)view;
    snprintf(out, REASON_TEXT_BYTES,
             "what %s answers is uncalibrated, and the route has no thresholds of its own", tier);
}

/* --- values --- */

/* A grammar makes an answer that says nothing as probable as any other. */
static bool has_no_values(const struct gate_view *view, struct gate_verdict *out)
{
    if (!gates_on(view->settings) || view->fault == ANSWER_SOUND)
        return false;
    out->confidence = 0;
    return true;
}

static void say_no_values(const struct gate_verdict *verdict, const struct gate_view *view,
                          const char *tier, char out[static REASON_TEXT_BYTES])
{
    (void)verdict;
    snprintf(out, REASON_TEXT_BYTES, "%s's answer says nothing: %s", tier,
             answer_fault_text(view->fault));
}

/* --- confidence --- */

/* A tier that gives no stats has no confidence (NAN) and is not judged by it. */
static bool is_under(const struct gate_view *view, double threshold, struct gate_verdict *out)
{
    *out = (struct gate_verdict){.confidence = confidence_value(view->confidence),
                                 .threshold = threshold,
                                 .token_count = view->whole ? 0 : view->token_count};
    return out->confidence < threshold;
}

static void say_low(const struct gate_verdict *verdict, const struct gate_view *view,
                    const char *tier, char out[static REASON_TEXT_BYTES])
{
    if (say_out_of_reach(verdict, tier, out))
        return;
    if (verdict->token_count == 0)
        snprintf(out, REASON_TEXT_BYTES, "confidence %.2f of the whole %s is below %.2f",
                 verdict->confidence, view->confidence->calls ? "call" : "answer",
                 verdict->threshold);
    else
        snprintf(out, REASON_TEXT_BYTES, "confidence %.2f%s after %u token%s is below %.2f",
                 verdict->confidence, view->confidence->calls ? " of the call" : "",
                 verdict->token_count, PLURAL(verdict->token_count), verdict->threshold);
}

static bool is_g2_token(const struct gate_view *view)
{
    uint32_t at = view->settings->g2_tokens > 0 ? view->settings->g2_tokens : 1;
    return view->settings->g2_on && view->token_count == at;
}

static bool g2_look(const struct gate_view *view, struct gate_verdict *out)
{
    return is_g2_token(view) && is_under(view, view->settings->g2_confidence_min, out);
}

/* An answer that is shorter than G2 wanted to see. */
static bool g2_judge(const struct gate_view *view, struct gate_verdict *out)
{
    return view->settings->g2_on && view->token_count < view->settings->g2_tokens &&
           is_under(view, view->settings->g2_confidence_min, out);
}

/* An answer that has become hopeless is not written to its end. Where G2 looks, it decides
 * alone. */
static bool abandon_look(const struct gate_view *view, struct gate_verdict *out)
{
    const struct gate_settings *gates = view->settings;
    return gates->g2_abandon_under > 0 && gates->g2_every > 0 && !is_g2_token(view) &&
           view->token_count % gates->g2_every == 0 && is_under(view, gates->g2_abandon_under, out);
}

/* A call does something, where an answer is read first. So it is kept only when it is surer, unless
 * the route gives the number. */
static double g3_least(const struct gate_view *view)
{
    const struct gate_settings *gates = view->settings;
    bool acts = view->confidence->calls && !gates->g3_given;
    return acts ? fmax(gates->g3_confidence_min, CALL_CONFIDENCE_MIN) : gates->g3_confidence_min;
}

static bool g3_judge(const struct gate_view *view, struct gate_verdict *out)
{
    return view->settings->g3_on && is_under(view, g3_least(view), out);
}

/* --- stakes --- */

double gates_loss_usd(const struct gate_settings *gates, double confidence)
{
    return gates->error_usd * (isnan(confidence) ? 0.5 : 1 - confidence);
}

/* However sure the answer is: people are asked where an error would cost more than they do. */
static bool is_costly(const struct gate_view *view, struct gate_verdict *out)
{
    const struct gate_settings *gates = view->settings;
    double confidence = confidence_value(view->confidence);
    if (!(gates->error_usd > 0) || !(gates_loss_usd(gates, confidence) > gates->review_usd))
        return false;
    *out = (struct gate_verdict){.confidence = confidence,
                                 .threshold = 1 - gates->review_usd / gates->error_usd};
    return true;
}

static void say_costly(const struct gate_verdict *verdict, const struct gate_view *view,
                       const char *tier, char out[static REASON_TEXT_BYTES])
{
    snprintf(out, REASON_TEXT_BYTES,
             "an error of %.64s's answer would cost %.4g USD: the expected loss of %.4g is more "
             "than a review (%.4g)",
             tier, view->settings->error_usd, gates_loss_usd(view->settings, verdict->confidence),
             view->settings->review_usd);
}

/* --- the end --- */

static bool is_cut(const struct gate_view *view, struct gate_verdict *out)
{
    (void)out;
    return view->cut != CUT_NOT;
}

static void say_cut(const struct gate_verdict *verdict, const struct gate_view *view,
                    const char *tier, char out[static REASON_TEXT_BYTES])
{
    (void)verdict;
    snprintf(out, REASON_TEXT_BYTES, "%s's %s ended the answer after %u tokens", tier,
             view->cut == CUT_TO_SPARE ? "limit while the device is spared" : "context",
             view->token_count);
}

/* --- the table --- */

static const struct gate gates[] = {
    {"not_mine", REASON_LEFT_NOT_MINE, is_not_mine, NULL, say_not_mine},
    {"g1", REASON_LEFT_PROBE, probe_is_low, NULL, say_probe},
    {"values", REASON_LEFT_VALUES, NULL, has_no_values, say_no_values},
    {"uncalibrated", REASON_LEFT_UNCALIBRATED, look_uncalibrated, judge_uncalibrated,
     say_uncalibrated},
    {"g2", REASON_LEFT_LOW_CONFIDENCE, g2_look, g2_judge, say_low},
    {"abandon", REASON_LEFT_LOW_CONFIDENCE, abandon_look, NULL, say_low},
    {"g3", REASON_LEFT_LOW_CONFIDENCE, NULL, g3_judge, say_low},
    {"stakes", REASON_LEFT_STAKES, NULL, is_costly, say_costly},
    {"cut", REASON_LEFT_CUT, NULL, is_cut, say_cut},
};

struct gate_verdict gates_look(const struct gate_view *view)
{
    ASSERT(!view->whole);
    struct gate_verdict out = {.confidence = NAN, .threshold = NAN};
    for (size_t i = 0; i < sizeof gates / sizeof *gates && !out.left_by; i++)
        if (gates[i].look && gates[i].look(view, &out))
            out.left_by = &gates[i];
    return out;
}

struct gate_verdict gates_judge(const struct gate_view *view)
{
    ASSERT(view->whole);
    struct gate_verdict out = {.confidence = confidence_value(view->confidence), .threshold = NAN};
    for (size_t i = 0; i < sizeof gates / sizeof *gates && !out.left_by; i++)
        if (gates[i].judge && gates[i].judge(view, &out))
            out.left_by = &gates[i];
    return out;
}

const char *gate_name(const struct gate *gate)
{
    return gate->name;
}

bool gate_is_refusal(const struct gate *gate)
{
    return gate && gate->look == is_not_mine;
}

bool gate_is_low(const struct gate *gate)
{
    return gate && gate->code == REASON_LEFT_LOW_CONFIDENCE;
}

bool gate_is_cut(const struct gate *gate)
{
    return gate && gate->judge == is_cut;
}

enum reason_code gates_explain(const struct gate_verdict *verdict, const struct gate_view *view,
                               const char *tier, char out[static REASON_TEXT_BYTES])
{
    ASSERT(verdict->left_by);
    verdict->left_by->say(verdict, view, tier, out);
    return verdict->left_by->code;
}
