/* The forward-backward algorithm over a chain of at most CHAIN_MAX words. Products of probabilities
 * shrink fast, so each row is divided by its sum; the divisors are kept for the likelihood. A row
 * is eight labels, two vectors of four, written with the compiler's vector types: they are fast on
 * every machine and need no variants. */
#include "privacy/names/tagger_chain.h"

#include "base/core/assertion.h"

#include <math.h>
#include <string.h>

/* I-x follows only B-x and I-x. */
static bool may_follow(enum tagger_label before, enum tagger_label label)
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

void chain_steps_set(struct chain_steps *steps, size_t gap, enum tagger_label before,
                     enum tagger_label label, float weight)
{
    float step = may_follow(before, label) ? expf(weight) : 0;
    steps->forward[gap][before][label] = steps->backward[gap][label][before] = step;
}

/* A row of labels as two vectors of four. */
typedef float floats __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));
struct row {
    floats low, high;
};
_Static_assert(LABEL_COUNT == 8, "a row is two vectors of four");

static inline struct row row_load(const float from[LABEL_COUNT])
{
    struct row row;
    memcpy(&row, from, sizeof row);
    return row;
}

static inline void row_store(struct row row, float to[LABEL_COUNT])
{
    memcpy(to, &row, sizeof row);
}

static inline struct row row_times(struct row a, struct row b)
{
    return (struct row){a.low * b.low, a.high * b.high};
}

static inline struct row row_scaled(struct row a, float scale)
{
    return (struct row){a.low * scale, a.high * scale};
}

static inline float row_sum(struct row row)
{
    floats four = row.low + row.high;
    return (four[0] + four[1]) + (four[2] + four[3]);
}

/* e^x of x from -87 to 0, to 4 parts in 10^7: 2^k e^r with x = k ln 2 + r, |r| at most half of ln
 * 2, and the polynomial of Cephes' expf (Moshier 1989) for e^r. What is smaller counts as e^-87. */
static inline floats exponential(floats x)
{
    const floats least = {-87, -87, -87, -87};
    ints below = x < least;
    x = (floats)(((ints)x & ~below) | ((ints)least & below));
    floats scaled = x * 1.44269504f - 0.5f;
    ints k =
        __builtin_convertvector(scaled, ints); /* towards 0: the nearest, as x is not above 0 */
    floats whole = __builtin_convertvector(k, floats);
    floats r = x - whole * 0.693359375f - whole * -2.12194440e-4f; /* ln 2 in two parts */
    floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    return p * (floats)((k + 127) << 23);
}

static inline floats larger(floats a, floats b)
{
    ints mask = a > b;
    return (floats)(((ints)a & mask) | ((ints)b & ~mask));
}

/* Exponentials relative to the largest, which is given back. */
static inline float exponentials(float score[LABEL_COUNT])
{
    struct row row = row_load(score);
    floats four = larger(row.low, row.high);
    float a = four[0] > four[1] ? four[0] : four[1], b = four[2] > four[3] ? four[2] : four[3];
    float max = a > b ? a : b;
    row_store((struct row){exponential(row.low - max), exponential(row.high - max)}, score);
    return max;
}

/* What a row is divided by, so that none grows or vanishes; a row of which all that is likely is
 * not allowed becomes one where everything is as likely. */
static inline float divisor_of(struct row *row)
{
    float sum = row_sum(*row);
    if (!(sum > 1e-30f)) {
        const floats even = {0.125f, 0.125f, 0.125f, 0.125f};
        *row = (struct row){even, even};
        return 1;
    }
    return sum;
}

static inline struct row row_sum_of(struct row a, struct row b)
{
    return (struct row){a.low + b.low, a.high + b.high};
}

/* The sum over k of weight[k] times the k-th row, in pairs: each word waits for the one before
 * it. */
static inline struct row weighted(struct row weight, const float rows[LABEL_COUNT][LABEL_COUNT])
{
    struct row term[LABEL_COUNT];
    for (size_t k = 0; k < 4; k++) {
        term[k] = row_scaled(row_load(rows[k]), weight.low[k]);
        term[k + 4] = row_scaled(row_load(rows[k + 4]), weight.high[k]);
    }
    return row_sum_of(row_sum_of(row_sum_of(term[0], term[1]), row_sum_of(term[2], term[3])),
                      row_sum_of(row_sum_of(term[4], term[5]), row_sum_of(term[6], term[7])));
}

/* A pass over the words, forward or backward, as far as it has come. */
struct pass {
    struct row row;
    float divisor; /* of the row before: known earlier than the row's own */
};

static inline void step_forward(struct chain *chain, const struct chain_steps *steps, size_t i,
                                struct pass *pass)
{
    const float(*step)[LABEL_COUNT] = steps->forward[chain->gap[i]];
    chain->divisor[i] = pass->divisor;
    struct row scaled = row_scaled(row_load(chain->score[i]), 1 / pass->divisor);
    pass->row = row_times(i == 0 ? row_load(step[LABEL_O]) : weighted(pass->row, step), scaled);
    pass->divisor = divisor_of(&pass->row);
    row_store(pass->row, chain->forward[i]);
}

static inline void step_backward(struct chain *chain, const struct chain_steps *steps, size_t i,
                                 struct pass *pass)
{
    row_store(pass->row, chain->backward[i]);
    struct row scaled = row_scaled(row_load(chain->score[i]), 1 / divisor_of(&pass->row));
    pass->row = weighted(row_times(scaled, pass->row), steps->backward[chain->gap[i]]);
}

/* The two passes know nothing of each other, and in each a word waits for the one before it: side
 * by side they take little more than one. */
void chain_run(struct chain *chain, const struct chain_steps *steps)
{
    size_t n = chain->count;
    ASSERT(n <= CHAIN_MAX);
    if (n == 0)
        return;
    float last[LABEL_COUNT];
    for (size_t k = 0; k < LABEL_COUNT; k++)
        last[k] = steps->forward[chain->gap[n]][k][LABEL_O];
    struct pass forward = {.divisor = 1}, backward = {.row = row_load(last)};
    for (size_t i = 0; i < n; i++)
        chain->scale[i] = exponentials(chain->score[i]);
    for (size_t i = 0; i < n; i++) {
        step_forward(chain, steps, i, &forward);
        step_backward(chain, steps, n - 1 - i, &backward);
    }
    for (size_t i = 0; i < n; i++) {
        struct row marginal = row_times(row_load(chain->forward[i]), row_load(chain->backward[i]));
        row_store(row_scaled(marginal, 1 / divisor_of(&marginal)), chain->marginal[i]);
    }
}

double chain_likelihood(const struct chain *chain, const struct chain_steps *steps)
{
    double likelihood = 0, end = 0;
    size_t n = chain->count;
    for (size_t i = 0; i < n; i++)
        likelihood += (double)chain->scale[i] + log((double)chain->divisor[i]);
    for (size_t k = 0; k < LABEL_COUNT && n > 0; k++)
        end += (double)(chain->forward[n - 1][k] * steps->forward[chain->gap[n]][k][LABEL_O]);
    return likelihood + (n > 0 ? log(end > 1e-30 ? end : 1e-30) : 0);
}
