#include "exchange/limits/gates.h"

#include <math.h>

/* The model's own most likely first token is "not mine": more probable than all others together. */
#define NOT_MINE_MIN 0.5f

static struct gate_result compare(const struct confidence *confidence, double threshold)
{
    struct gate_result result = {.confidence = confidence_value(confidence),
                                 .threshold = threshold};
    /* A tier that gives no stats has no confidence (NAN) and is not judged by it. */
    if (result.confidence < threshold)
        result.verdict = GATE_LOW_CONFIDENCE;
    return result;
}

static struct gate_result stay(const struct confidence *confidence)
{
    return (struct gate_result){.confidence = confidence_value(confidence), .threshold = NAN};
}

bool gates_on(const struct gate_settings *gates)
{
    return gates->g1_on || gates->g2_on || gates->g3_on || gates->g2_abandon_under > 0;
}

/* G1: the probe has read the prompt when the first token comes, whatever that token is. */
static bool probe_is_low(const struct gate_settings *gates, const struct confidence *confidence)
{
    return gates->g1_on && confidence->probe > 0 && (double)confidence->probe < gates->g1_probe_min;
}

struct gate_result gates_look(const struct gate_settings *gates,
                              const struct confidence *confidence, uint32_t token_count)
{
    if (gates_on(gates) && token_count == 1 && confidence->not_mine > NOT_MINE_MIN)
        return (struct gate_result){GATE_NOT_MINE, confidence_value(confidence), NAN};
    if (token_count == 1 && probe_is_low(gates, confidence))
        return (struct gate_result){GATE_LOW_PROBE, (double)confidence->probe, gates->g1_probe_min};
    uint32_t look_at = gates->g2_tokens > 0 ? gates->g2_tokens : 1;
    if (gates->g2_on && token_count == look_at)
        return compare(confidence, gates->g2_confidence_min);
    /* A doomed answer is not written to its end. */
    if (gates->g2_abandon_under > 0 && gates->g2_every > 0 && token_count % gates->g2_every == 0)
        return compare(confidence, gates->g2_abandon_under);
    return (struct gate_result){GATE_STAY, NAN, NAN};
}

struct gate_result gates_judge(const struct gate_settings *gates,
                               const struct confidence *confidence, uint32_t token_count)
{
    struct gate_result result = stay(confidence);
    if (gates->g2_on && token_count < gates->g2_tokens)
        result = compare(confidence, gates->g2_confidence_min);
    if (gates->g3_on && result.verdict == GATE_STAY)
        result = compare(confidence, gates->g3_confidence_min);
    return result;
}
