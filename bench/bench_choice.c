/* What choosing a token costs beside computing its logits: the confidence features, and a grammar.
 * Variants take turns token by token, so that what else the machine does falls on all of them.
 *
 *     bench_choice MODEL [GRAMMAR...]
 *
 * A grammar is GBNF, or a JSON Schema when its name ends in .json. */
#include "base/core/str.h"
#include "base/time/clock.h"
#include "engine/session/generate.h"
#include "engine/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 10, TOKENS = 128, PROMPT = 8 };

static struct td_error err;

static void require(enum td_status status)
{
    if (status == TD_OK)
        return;
    fprintf(stderr, "bench_choice: %s\n", err.message);
    exit(1);
}

static int compare_doubles(const void *a, const void *b)
{
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* The best token and nothing else: what a greedy choice needs at least. */
static int32_t argmax(const struct kernels *kernels, const float *logits, uint32_t count,
                      float *blocks)
{
    uint32_t best = 0, block_count = sampler_block_count(count);
    kernels->block_maxima(logits, count, blocks);
    for (uint32_t b = 1; b < block_count; b++)
        best = blocks[b] > blocks[best] ? b : best;
    for (uint32_t i = best * LOGIT_BLOCK;; i++)
        if (logits[i] == blocks[best])
            return (int32_t)i;
}

/* Share of a token's time that its probability, margin, entropy and "not mine" cost beside a plain
 * argmax. */
static void measure_confidence(const struct td_model *model, struct td_session *session)
{
    const struct td_sampling greedy = {.top_p = 1, .repetition_penalty = 1};
    struct workspace *work = session->workspace;
    float *blocks = calloc(sampler_block_count(model->vocab_count), sizeof *blocks);
    double shares[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        struct sampler sampler;
        double plain[TOKENS / 2], full[TOKENS / 2], forward[TOKENS];
        require(sampler_init(&sampler, &greedy, &err));
        td_session_truncate(session, 0);
        int32_t id = 1;
        for (int i = 0; i < TOKENS; i++) {
            double begin = clock_monotonic_ms(NULL);
            require(td_session_forward(session, &id, 1, work->logits, 1, &err));
            double middle = clock_monotonic_ms(NULL);
            struct sampler_choice choice = {0};
            if (i % 2)
                require(sampler_choose(&sampler, model->kernels, work->logits, model->vocab_count,
                                       model->info.not_mine_id, work->candidates, &choice, &err));
            else
                choice.id = argmax(model->kernels, work->logits, model->vocab_count, blocks);
            (i % 2 ? full : plain)[i / 2] = clock_monotonic_ms(NULL) - middle;
            forward[i] = middle - begin;
            id = choice.id;
        }
        sampler_deinit(&sampler);
        double base = median(plain, TOKENS / 2);
        shares[round] = (median(full, TOKENS / 2) - base) / (median(forward, TOKENS) + base);
    }
    free(blocks);
    printf("confidence features of %-40s %+.2f %% of tokens/s, median of %d, goal <= 1 %%\n",
           model->name, 100 * median(shares, ROUNDS), ROUNDS);
}

struct side {
    struct td_session *session;
    struct generation generation;
    double forward_ms, choice_ms;
    uint32_t tokens;
};

static void start(struct side *side, const struct td_generate_options *options, const int32_t *ids)
{
    td_session_truncate(side->session, 0);
    double begin = clock_monotonic_ms(NULL);
    require(
        generation_init(&side->generation, &side->session->sequence, ids, PROMPT, options, &err));
    side->forward_ms = side->tokens = 0;
    side->choice_ms = clock_monotonic_ms(NULL) - begin;
}

/* One token; false at the end. */
static bool step(struct side *side)
{
    struct workspace *work = side->session->workspace;
    struct generation_event event;
    double begin = clock_monotonic_ms(NULL);
    struct generation_due due = generation_due(&side->generation, work->row_max);
    require(
        td_session_forward(side->session, due.ids, due.count, work->logits, due.logit_rows, &err));
    double middle = clock_monotonic_ms(NULL);
    require(generation_take(&side->generation, &due, work->logits, work->candidates, &event, &err));
    if (side->tokens > 0) /* the prompt's pass is no token's */
        side->forward_ms += middle - begin;
    side->choice_ms += clock_monotonic_ms(NULL) - middle;
    side->tokens++;
    return event.kind == GENERATION_TOKEN && !side->generation.ended;
}

static void measure_grammar(const struct td_model *model, struct side sides[2], const char *name,
                            struct td_grammar *grammar, struct td_sampling sampling,
                            const char *sampling_name)
{
    const int32_t ids[PROMPT] = {1, 5, 7, 11, 13, 17, 19, 23};
    double shares[ROUNDS], tokens = 0;
    for (int round = 0; round < ROUNDS; round++) {
        sampling.seed = (uint64_t)round;
        sampling.seed_set = true;
        struct td_generate_options options = {
            .sampling = sampling, .tokens_max = TOKENS, .ignore_eos = true};
        start(&sides[0], &options, ids);
        options.grammar = grammar;
        start(&sides[1], &options, ids);
        bool more[2] = {true, true};
        while (more[0] && more[1])
            for (int s = 0; s < 2; s++)
                more[s] = step(&sides[s]);
        double free_ms = (sides[0].forward_ms + sides[0].choice_ms) / sides[0].tokens;
        shares[round] =
            (sides[1].choice_ms / sides[1].tokens - sides[0].choice_ms / sides[0].tokens) / free_ms;
        tokens += sides[1].tokens;
        generation_deinit(&sides[0].generation);
        generation_deinit(&sides[1].generation);
    }
    printf("%-20s %-34s %-38s %+.2f %% of tokens/s (%.0f tokens each)\n", name, sampling_name,
           model->name, 100 * median(shares, ROUNDS), tokens / ROUNDS);
}

static struct td_grammar *read_grammar(const char *path)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(text, 1, sizeof text, file) : 0;
    struct td_grammar *grammar = NULL;
    const struct td_str all = {text, len};
    if (file)
        fclose(file);
    bool schema = strlen(path) > 5 && strcmp(path + strlen(path) - 5, ".json") == 0;
    require(schema ? td_grammar_from_schema(all, &grammar, &err)
                   : td_grammar_parse(all, &grammar, &err));
    return grammar;
}

static void measure_grammars(const struct td_model *model, struct side sides[2], const char *path)
{
    struct td_grammar *grammar = read_grammar(path);
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct td_sampling sampling = {.top_p = 1, .repetition_penalty = 1};
    measure_grammar(model, sides, name, grammar, sampling, "temperature 0");
    sampling.temperature = 1;
    measure_grammar(model, sides, name, grammar, sampling, "temperature 1");
    sampling.temperature = 0.8f;
    sampling.top_k = 40;
    sampling.top_p = 0.95f;
    measure_grammar(model, sides, name, grammar, sampling, "temperature 0.8, top-k, top-p");
    td_grammar_free(grammar);
}

int main(int argc, char **argv)
{
    struct td_model *model = NULL;
    struct side sides[2] = {0};
    const struct td_session_options options = {.context_tokens = TOKENS + PROMPT + 1};
    if (argc < 2) {
        fprintf(stderr, "usage: bench_choice MODEL [GRAMMAR...]\n");
        return 2;
    }
    require(td_model_open(argv[1], NULL, &model, &err));
    for (int s = 0; s < 2; s++)
        require(td_session_new(model, &options, &sides[s].session, &err));
    measure_confidence(model, sides[0].session);
    for (int i = 2; i < argc; i++)
        measure_grammars(model, sides, argv[i]);
    for (int s = 0; s < 2; s++)
        td_session_free(sides[s].session);
    td_model_close(model);
    return 0;
}
