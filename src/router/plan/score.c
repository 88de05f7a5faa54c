/* The formula of score.h, term by term. What is not known must not decide: an unmeasured tier gets
 * the mean of the measured ones, and without a classifier no tier counts as wrong. */
#include "router/plan/score.h"

#include "base/core/assertion.h"

/* Tokens of an answer where the request sets no smaller limit: the mean of chat traffic in public
 * traces is between 200 and 300. */
#define ANSWER_TOKENS 256

static double reach_of(enum td_place place)
{
    return (double)place / (double)TD_PLACE_CLOUD;
}

double score_answer_usd(const struct signals *signals, const struct tier_facts *facts,
                        const struct tier_state *state)
{
    double answer = signals->tokens_max && signals->tokens_max < ANSWER_TOKENS ? signals->tokens_max
                                                                               : ANSWER_TOKENS;
    return (state->prompt_tokens * facts->input_usd_per_mtok +
            answer * facts->output_usd_per_mtok) /
           1e6;
}

/* NAN of a classifier that was not trained for it counts as nothing known. */
static double wrong_of(const struct signals *signals, enum td_place place)
{
    double right = place == TD_PLACE_DEVICE ? signals->p_local : signals->p_strong;
    return signals->judged && right >= 0 && right <= 1 ? 1 - right : 0;
}

/* The mean of the medians that are known, in seconds. */
static double usual_seconds(const struct tier_state *states, const size_t *candidates, size_t count)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        sum += states[candidates[i]].total_p50_ms;
        known += states[candidates[i]].total_p50_ms > 0;
    }
    return known ? sum / (double)known / 1000 : 0;
}

void score_tiers(const struct signals *signals, const struct tier_facts *facts,
                 const struct tier_state *states, const size_t *candidates, size_t count,
                 struct score out[static RUNGS_MAX])
{
    ASSERT(count <= RUNGS_MAX);
    const struct td_weights *w = &signals->weights;
    const struct worth *worth = &signals->worth;
    double sum = w->latency + w->privacy + w->cost;
    double usual = usual_seconds(states, candidates, count);
    for (size_t i = 0; i < count; i++) {
        const struct tier_facts *tier = &facts[candidates[i]];
        const struct tier_state *state = &states[candidates[i]];
        struct score *score = &out[i];
        *score = (struct score){
            .answer_usd = score_answer_usd(signals, tier, state),
            .seconds = (state->total_p50_ms > 0 ? state->total_p50_ms / 1000 : usual) +
                       state->wait_ms / 1000,
            .reach = reach_of(tier->place),
            .wrong = wrong_of(signals, tier->place),
        };
        if (w->set && sum > 0)
            score->total_usd = (w->latency * worth->second_usd * score->seconds +
                                w->privacy * worth->exposure_usd * score->reach +
                                w->cost * (score->answer_usd + worth->error_usd * score->wrong)) /
                               sum;
    }
}
