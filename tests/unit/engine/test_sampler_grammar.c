/* A choice that the grammar refuses leaves nothing behind in the sampler: the tests know what the
 * choice that stays must do to it. */
#include "engine/grammar/token_filter.h"
#include "engine/model/model.h"
#include "engine/sampling/sampler.h"

#include "base/core/str.h"
#include "tiny_model.h"
#include "variants.h"

#include <math.h>

static const struct kernels *kernels;

/* The byte token of a character (tiny_model.h). */
static int32_t byte_token(char c)
{
    return 4 + (unsigned char)c;
}

static struct token_filter *new_filter(const struct td_model *model, const char *text)
{
    struct td_grammar *grammar = NULL;
    const struct token_index *index;
    struct token_filter *filter = NULL;
    CHECK(td_grammar_parse(str_from(text), &grammar, NULL) == TD_OK &&
          token_index_get(model->token_index, model->tokenizer, &index, NULL) == TD_OK &&
          token_filter_new(grammar, model->tokenizer, index, &filter, NULL) == TD_OK);
    td_grammar_free(grammar);
    return filter;
}

/* Ten choices at the start of a text under the grammar. The line ends are by far the likeliest, and
 * the grammar refuses them; the letters a to h are equally likely; nothing else comes. Returns how
 * far one choice moved mirostat's bound, -1 when they differ. */
static double moved(const char *grammar, uint32_t version, float tau)
{
    struct td_model *model = tiny_model(5);
    struct sampler_candidate candidates[TINY_VOCAB];
    struct td_sampling sampling = td_sampling_default();
    struct sampler sampler;
    double step = NAN;
    sampling.mirostat_tau = tau;
    sampling.mirostat_version = version;
    sampling.seed_set = true;
    CHECK(sampler_init(&sampler, &sampling, NULL) == TD_OK);
    for (int i = 0; i < 10; i++) {
        float logits[TINY_VOCAB];
        struct sampler_choice choice;
        for (int id = 0; id < TINY_VOCAB; id++)
            logits[id] = -INFINITY;
        for (char c = 'a'; c <= 'h'; c++)
            logits[byte_token(c)] = 0;
        logits[byte_token('\n')] = logits[269] = 12;
        sampler.filter = new_filter(model, grammar);
        sampler.surprise_max = 2 * (double)tau;
        CHECK(sampler_choose(&sampler, kernels, logits, TINY_VOCAB, -1, candidates, &choice,
                             NULL) == TD_OK);
        CHECK(choice.id >= byte_token('a') && choice.id <= byte_token('h'));
        double now = sampler.surprise_max - 2 * (double)tau;
        step = isnan(step) || fabs(now - step) < 1e-6 ? now : -1;
        token_filter_free(sampler.filter);
    }
    sampler.filter = NULL;
    sampler_deinit(&sampler);
    td_model_close(model);
    return step;
}

/* eta is 0.1: the bound moves by 0.1 (tau - surprise), and the surprise is that of one of `n`
 * equally likely tokens. The line ends were drawn first, with a bit or less: if they counted, each
 * would move it by another 0.1 (tau - 1) or more. */
static void test_mirostat_counts_only_the_choice_that_stays(void)
{
    static const struct {
        const char *grammar;
        double bits;
    } cases[] = {
        {"root ::= \"a\"", 0},
        {"root ::= \"a\" | \"b\"", 1},
        {"root ::= [a-d]", 2},
        {"root ::= [^\\n] [^\\n]*", 3}, /* much is allowed: it draws again, and masks nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (float tau = 3; tau <= 5; tau++)
            CHECK(fabs(moved(cases[i].grammar, 2, tau) - 0.1 * ((double)tau - cases[i].bits)) <
                  1e-6);
    CHECK(fabs(moved("root ::= \"a\"", 1, 3) - 0.3) < 1e-6);
}

static void run_all(void)
{
    RUN(test_mirostat_counts_only_the_choice_that_stays);
}

int main(void)
{
    for (const struct variant *v = NULL; (v = variant_next(v, "draws")) != NULL;) {
        kernels = kernels_get(v->cpu, NULL);
        run_all();
    }
    return test_finish();
}
