#include "privacy/tagger_chain.h"

#include <math.h>

bool chain_allowed(enum tagger_label before, enum tagger_label label)
{
    switch (label) {
    case LABEL_I_PERSON:
        return before == LABEL_B_PERSON || before == LABEL_I_PERSON;
    case LABEL_I_PLACE:
        return before == LABEL_B_PLACE || before == LABEL_I_PLACE;
    case LABEL_I_ORG:
        return before == LABEL_B_ORG || before == LABEL_I_ORG;
    default:
        return true;
    }
}

/* Exponentials relative to the largest, which is given back. */
static float exponentials(float score[LABEL_COUNT])
{
    float max = score[0];
    for (size_t l = 1; l < LABEL_COUNT; l++)
        max = score[l] > max ? score[l] : max;
    for (size_t l = 0; l < LABEL_COUNT; l++)
        score[l] = expf(score[l] - max);
    return max;
}

static float normalise(float row[LABEL_COUNT])
{
    float sum = 0;
    for (size_t l = 0; l < LABEL_COUNT; l++)
        sum += row[l];
    if (!(sum > 1e-30f)) { /* all that is likely is not allowed: everything as likely */
        for (size_t l = 0; l < LABEL_COUNT; l++)
            row[l] = 1.0f / LABEL_COUNT;
        return 1e-30f;
    }
    float scale = 1 / sum;
    for (size_t l = 0; l < LABEL_COUNT; l++)
        row[l] *= scale;
    return sum;
}

static void run_forward(struct chain *chain, const chain_transitions transitions)
{
    chain->likelihood = 0;
    for (size_t i = 0; i < chain->count; i++) {
        chain->likelihood += exponentials(chain->score[i]);
        const float(*step)[LABEL_COUNT] = transitions[chain->gap[i]];
        float *row = chain->forward[i];
        for (size_t l = 0; l < LABEL_COUNT; l++)
            row[l] = i == 0 ? step[LABEL_O][l] : 0;
        for (size_t k = 0; k < LABEL_COUNT && i > 0; k++)
            for (size_t l = 0; l < LABEL_COUNT; l++)
                row[l] += chain->forward[i - 1][k] * step[k][l];
        for (size_t l = 0; l < LABEL_COUNT; l++)
            row[l] *= chain->score[i][l];
        chain->likelihood += logf(normalise(row));
    }
}

void chain_run(struct chain *chain, const chain_transitions transitions)
{
    size_t n = chain->count;
    if (n == 0)
        return;
    run_forward(chain, transitions);
    float end = 0;
    for (size_t k = 0; k < LABEL_COUNT; k++) {
        chain->backward[n - 1][k] = transitions[chain->gap[n]][k][LABEL_O];
        end += chain->forward[n - 1][k] * chain->backward[n - 1][k];
    }
    chain->likelihood += logf(end > 1e-30f ? end : 1e-30f);
    for (size_t i = n - 1; i-- > 0;) {
        float next[LABEL_COUNT];
        for (size_t l = 0; l < LABEL_COUNT; l++)
            next[l] = chain->score[i + 1][l] * chain->backward[i + 1][l];
        for (size_t k = 0; k < LABEL_COUNT; k++) {
            float sum = 0;
            for (size_t l = 0; l < LABEL_COUNT; l++)
                sum += transitions[chain->gap[i + 1]][k][l] * next[l];
            chain->backward[i][k] = sum;
        }
        normalise(chain->backward[i]);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t l = 0; l < LABEL_COUNT; l++)
            chain->marginal[i][l] = chain->forward[i][l] * chain->backward[i][l];
        normalise(chain->marginal[i]);
    }
}
