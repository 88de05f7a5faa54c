#include "exchange/gates.h"

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

struct gate_result gates_look(const struct gate_settings *gates,
                              const struct confidence *confidence, uint32_t token_count)
{
    if ((gates->g2_on || gates->g3_on) && token_count == 1 && confidence->not_mine > NOT_MINE_MIN)
        return (struct gate_result){GATE_NOT_MINE, confidence_value(confidence), NAN};
    uint32_t look_at = gates->g2_tokens > 0 ? gates->g2_tokens : 1;
    if (gates->g2_on && token_count == look_at)
        return compare(confidence, gates->g2_confidence_min);
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
