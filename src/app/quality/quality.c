/* The reference stays open; candidates are opened one after the other, once for each of the three
 * measurements, so that only one candidate's memory is taken at a time. */
#include "app/quality/quality.h"

#include "app/cli/command.h"
#include "app/quality/quality_answers.h"
#include "app/quality/quality_groups.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/ratio.h"
#include "engine/forward/kv_pool.h"
#include "engine/model/model.h"
#include "quant/measure/texts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WINDOW_TOKENS 512
#define BENCH_PROMPT_TOKENS 128
#define BENCH_DECODE_TOKENS 32

struct work {
    const struct quality_options *options;
    struct quality *out;
    struct td_model *reference;
    struct quality_answers answers; /* the reference's */
    struct quality_groups groups;
};

static enum td_status go_on(const struct work *work, const char *what, uint64_t done,
                            uint64_t total, struct td_error *err)
{
    const struct quality_options *options = work->options;
    if (options->progress)
        options->progress(options->progress_ctx, what, done, total);
    return options->cancel && atomic_load(options->cancel)
               ? error_set(err, TD_CANCELLED, "interrupted")
               : TD_OK;
}

/* The type of cache that a model is run with. */
static enum td_kv_type kv_type_of(const struct work *work, size_t model)
{
    return model == 0 ? TD_KV_F16 : work->options->kv_type;
}

/* --- models --- */

static void describe(const struct td_model *model, const struct quality_options *options,
                     enum td_kv_type kv_type, struct quality_model *out)
{
    const struct td_model_info *info = td_model_get_info(model);
    uint32_t context = options->context_tokens < info->context_tokens ? options->context_tokens
                                                                      : info->context_tokens;
    uint64_t pages = (context + KV_PAGE_TOKENS - 1) / KV_PAGE_TOKENS;
    const char *slash = strrchr(out->path, '/');
    snprintf(out->name, sizeof out->name, "%s", slash ? slash + 1 : out->path);
    snprintf(out->quantization, sizeof out->quantization, "%s", info->quantization);
    out->parameter_count = info->parameter_count;
    out->file_bytes = info->file_bytes;
    out->context_tokens = context;
    out->memory_bytes = info->file_bytes + kv_pool_bytes(model, kv_type, pages);
}

static enum td_status open_candidate(const struct work *work, size_t number, struct td_model **out,
                                     struct td_error *err)
{
    const struct td_model_info *original = td_model_get_info(work->reference);
    enum td_status status =
        command_open_model(work->options->paths[number], work->options->cpu, false, out, err);
    if (status == TD_OK && td_model_get_info(*out)->vocab_count != original->vocab_count)
        status = error_set(err, TD_INVALID,
                           "%s has a vocabulary of %u, the reference one of %u: they cannot be "
                           "compared",
                           work->options->paths[number], td_model_get_info(*out)->vocab_count,
                           original->vocab_count);
    return status;
}

/* Before the long work: whether all can be opened and compared. */
static enum td_status look_at_models(struct work *work, struct td_error *err)
{
    struct quality *out = work->out;
    enum td_status status = TD_OK;
    for (size_t i = 1; status == TD_OK && i < out->model_count; i++) {
        struct td_model *model = NULL;
        status = open_candidate(work, i, &model, err);
        if (status == TD_OK)
            status = model_require_decoder(model, err);
        if (status == TD_OK)
            describe(model, work->options, kv_type_of(work, i), &out->models[i]);
        td_model_close(model);
    }
    return status;
}

/* --- texts --- */

static enum td_status compare_texts(struct work *work, struct td_error *err)
{
    const struct quality_options *options = work->options;
    struct quality *out = work->out;
    struct divergence *divergence = NULL;
    struct texts texts = {0};
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < options->text_count; i++)
        status = texts_add_file(&texts, work->reference, options->texts[i], err);
    const struct divergence_options how = {.context_tokens = WINDOW_TOKENS,
                                           .tokens_max = options->text_tokens_max,
                                           .thread_count = options->threads,
                                           .reference = work->reference,
                                           .cancel = options->cancel,
                                           .texts = (const int32_t *const *)texts.ids,
                                           .counts = texts.counts,
                                           .text_count = texts.count,
                                           .kv_type = TD_KV_F16};
    if (status == TD_OK)
        status = go_on(work, "reading the texts", 0, out->model_count, err);
    if (status == TD_OK)
        status = divergence_new(&how, &divergence, err);
    out->text_tokens = divergence ? divergence_tokens(divergence) : 0;
    for (size_t i = 1; status == TD_OK && i < out->model_count; i++) {
        struct divergence_subject subject = {.model = NULL, .kv_type = options->kv_type};
        struct td_model *model = NULL;
        status = go_on(work, "reading the texts", i, out->model_count, err);
        if (status == TD_OK)
            status = open_candidate(work, i, &model, err);
        subject.model = model;
        if (status == TD_OK)
            status = divergence_measure(divergence, &subject, &out->models[i].texts, NULL, err);
        td_model_close(model);
    }
    divergence_free(divergence);
    texts_deinit(&texts);
    return status;
}

/* --- answers --- */

/* All answers of one model. */
static enum td_status ask_all(struct work *work, size_t number, const struct td_model *model,
                              struct quality_answers *answers, struct td_error *err)
{
    const struct quality_options *options = work->options;
    const struct quality_cases *cases = &work->out->cases;
    struct td_session *session = NULL;
    const struct td_session_options how = {.context_tokens =
                                               work->out->models[number].context_tokens,
                                           .thread_count = options->threads,
                                           .kv_type = kv_type_of(work, number)};
    enum td_status status = quality_answers_init(answers, cases->count, err);
    if (status == TD_OK)
        status = td_session_new(model, &how, &session, err);
    for (size_t i = 0; status == TD_OK && i < cases->count; i++) {
        status = go_on(work, "answering", number * cases->count + i,
                       work->out->model_count * cases->count, err);
        if (status == TD_OK)
            status = quality_answer_ask(session, model, &cases->items[i], options->answer_tokens,
                                        &answers->items[i], err);
        if (status == TD_OK)
            work->out->models[number].right_count += answers->items[i].is_right;
    }
    td_session_free(session);
    return status;
}

/* Which of the candidate's answers differ, by group. each: the KLD of each token. */
static void settle(struct work *work, size_t number, const struct quality_answers *theirs,
                   const struct divergence *divergence, const float *each)
{
    struct quality *out = work->out;
    struct quality_model *model = &out->models[number];
    struct ratio_sums sums[QUALITY_GROUPS_MAX] = {{0}};
    for (size_t i = 0; i < out->cases.count; i++) {
        const struct quality_answer *ours = &work->answers.items[i], *other = &theirs->items[i];
        uint64_t tokens = divergence_text_tokens(divergence, i);
        bool flip = quality_answer_differs(ours, other);
        double kld = 0;
        for (uint64_t t = 0; t < tokens; t++)
            kld += (double)*each++;
        model->flips.count++;
        model->flips.flips += flip;
        model->lost_count += ours->is_right && !other->is_right;
        for (size_t g = 0; g < out->group_count; g++) {
            if (!quality_groups_has(&work->groups, g, i))
                continue;
            struct ratio_sums *sum = &sums[g];
            double x = (double)tokens;
            model->scores[g].flips.count++;
            model->scores[g].flips.flips += flip;
            *sum = (struct ratio_sums){sum->count + 1,  sum->x + x,        sum->y + kld,
                                       sum->xx + x * x, sum->xy + x * kld, sum->yy + kld * kld};
        }
    }
    for (size_t g = 0; g < out->group_count; g++) {
        model->scores[g].kld = ratio_value(&sums[g]);
        model->scores[g].kld_error = ratio_error(&sums[g]);
    }
}

static enum td_status judge_flips(struct work *work, struct quality_model *model,
                                  struct td_error *err)
{
    struct flips_group groups[QUALITY_GROUPS_MAX];
    for (size_t g = 0; g < work->out->group_count; g++)
        groups[g] = model->scores[g].flips;
    enum td_status status = flips_judge(groups, work->out->group_count, &model->flips,
                                        work->options->cluster_flips, err);
    for (size_t g = 0; status == TD_OK && g < work->out->group_count; g++)
        model->scores[g].flips = groups[g];
    return status;
}

static enum td_status compare_candidate(struct work *work, size_t number,
                                        struct divergence *divergence, struct td_error *err)
{
    struct quality_model *out = &work->out->models[number];
    struct quality_answers theirs = {0};
    struct td_model *model = NULL;
    float *each = malloc((divergence_tokens(divergence) + 1) * sizeof *each);
    out->scores = calloc(work->out->group_count + 1, sizeof *out->scores);
    enum td_status status = each && out->scores
                                ? open_candidate(work, number, &model, err)
                                : error_set(err, TD_NO_MEMORY, "no memory for the answers");
    if (status == TD_OK)
        status = ask_all(work, number, model, &theirs, err);
    const struct divergence_subject subject = {.model = model, .kv_type = work->options->kv_type};
    if (status == TD_OK)
        status = divergence_measure(divergence, &subject, &out->answers, each, err);
    if (status == TD_OK) {
        settle(work, number, &theirs, divergence, each);
        status = judge_flips(work, out, err);
    }
    quality_answers_deinit(&theirs);
    td_model_close(model);
    free(each);
    return status;
}

/* The reference's answers become the texts that candidates predict. */
static enum td_status open_divergence(const struct work *work, struct divergence **out,
                                      struct td_error *err)
{
    size_t count = work->answers.count;
    const int32_t **texts = calloc(count + 1, sizeof *texts);
    size_t *counts = calloc(2 * count + 1, sizeof *counts), *given = counts + count;
    enum td_status status =
        texts && counts ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for the answers");
    for (size_t i = 0; status == TD_OK && i < count; i++) {
        texts[i] = work->answers.items[i].ids;
        counts[i] = work->answers.items[i].id_count;
        given[i] = work->out->cases.items[i].count;
    }
    const struct divergence_options how = {.context_tokens = work->out->models[0].context_tokens,
                                           .thread_count = work->options->threads,
                                           .reference = work->reference,
                                           .cancel = work->options->cancel,
                                           .texts = texts,
                                           .counts = counts,
                                           .text_count = count,
                                           .given = given,
                                           .kv_type = TD_KV_F16};
    if (status == TD_OK)
        status = divergence_new(&how, out, err);
    free(texts);
    free(counts);
    return status;
}

static enum td_status compare_answers(struct work *work, struct td_error *err)
{
    struct quality *out = work->out;
    struct divergence *divergence = NULL;
    enum td_status status =
        quality_groups_find(&work->groups, &out->cases, work->options->similarity, err);
    if (status == TD_OK)
        out->group_count = quality_groups_list(&work->groups, out->groups);
    for (size_t i = 0; i < out->cases.count; i++)
        out->known_count += out->cases.items[i].is_known;
    if (status == TD_OK)
        status = ask_all(work, 0, work->reference, &work->answers, err);
    if (status == TD_OK)
        status = open_divergence(work, &divergence, err);
    for (size_t i = 1; status == TD_OK && i < out->model_count; i++)
        status = compare_candidate(work, i, divergence, err);
    divergence_free(divergence);
    return status;
}

/* --- speed --- */

static enum td_status measure_speed(struct work *work, struct td_error *err)
{
    const struct quality_options *options = work->options;
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < work->out->model_count; i++) {
        struct quality_model *out = &work->out->models[i];
        struct td_model *model = NULL;
        uint32_t most = out->context_tokens;
        const struct bench_options how = {
            .prompt_tokens = most < BENCH_PROMPT_TOKENS ? most : BENCH_PROMPT_TOKENS,
            .decode_tokens = most < BENCH_DECODE_TOKENS ? most : BENCH_DECODE_TOKENS,
            .thread_count = options->threads,
            .kv_type = kv_type_of(work, i)};
        status = go_on(work, "measuring speed", i, work->out->model_count, err);
        if (status == TD_OK && i > 0)
            status = open_candidate(work, i, &model, err);
        if (status == TD_OK)
            status = bench_engine(i ? model : work->reference, &how, &out->speed, err);
        td_model_close(model);
    }
    return status;
}

/* --- the whole --- */

static enum td_status read_cases(struct work *work, struct td_error *err)
{
    const struct quality_options *options = work->options;
    uint32_t context = work->out->models[0].context_tokens;
    for (size_t i = 1; i < work->out->model_count; i++)
        if (work->out->models[i].context_tokens < context)
            context = work->out->models[i].context_tokens;
    if (context <= options->answer_tokens)
        return error_set(err, TD_INVALID,
                         "answers of %u tokens leave no room for a prompt in a context of %u",
                         options->answer_tokens, context);
    const struct quality_cases_options how = {.lines = options->lines,
                                              .name = options->lines_name,
                                              .cases_max = options->cases_max,
                                              .tokens_max = context - options->answer_tokens};
    return quality_cases_read(work->reference, &how, &work->out->cases, err);
}

enum td_status quality_measure(const struct quality_options *options, struct quality *out,
                               struct td_error *err)
{
    struct work work = {.options = options, .out = out};
    *out = (struct quality){.model_count = options->path_count};
    for (size_t i = 0; i < options->path_count; i++)
        out->models[i].path = options->paths[i];
    enum td_status status =
        command_open_model(options->paths[0], options->cpu, false, &work.reference, err);
    if (status == TD_OK)
        status = model_require_decoder(work.reference, err);
    if (status == TD_OK) {
        describe(work.reference, options, TD_KV_F16, &out->models[0]);
        status = look_at_models(&work, err);
    }
    if (status == TD_OK && options->lines_name)
        status = read_cases(&work, err);
    if (status == TD_OK && options->text_count)
        status = compare_texts(&work, err);
    if (status == TD_OK && options->lines_name)
        status = compare_answers(&work, err);
    if (status == TD_OK && options->speed)
        status = measure_speed(&work, err);
    quality_groups_deinit(&work.groups);
    quality_answers_deinit(&work.answers);
    td_model_close(work.reference);
    return status;
}

void quality_deinit(struct quality *quality)
{
    quality_cases_deinit(&quality->cases);
    for (size_t i = 0; i < quality->model_count; i++)
        free(quality->models[i].scores);
    *quality = (struct quality){0};
}
