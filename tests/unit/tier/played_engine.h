/* The engine that the tests of the local tier play: what was submitted, and what becomes of it. */
#ifndef TESTS_PLAYED_ENGINE_H
#define TESTS_PLAYED_ENGINE_H

#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/grammar/grammar.h"
#include "engine/model/adapter.h"
#include "engine/model/chat_tools.h"
#include "engine/model/model_infill.h"
#include "engine/session/classifier.h"
#include "engine/session/generate.h"
#include "engine/session/label_run.h"
#include "engine/session/scheduler.h"
#include "test.h"

#include <stdlib.h>

struct job {
    struct job_request request;
};

static struct {
    struct job job;
    int submit_count, cancel_count, tokenize_count;
    size_t prompt_count;
    enum td_status tokenize_status, submit_status;
    int32_t first_id;
    struct td_adapter_use uses[TD_ADAPTERS_MAX];
    size_t use_count;
    int set_references;
    enum tool_format tool_format;
    size_t tools_seen, messages_seen; /* of the last chat_tools_tokenize */
    int tools_count;
    int grammar_references;
    char grammar_source[128]; /* of the last td_grammar_parse */
    uint32_t root;
    struct label_request labels;
    struct job_request label_job; /* of it */
    int classifier_count, plan_count;
    const struct scheduler *scheduler; /* that was last given a job */
    bool has_sets;                     /* the model's file brings labels of intents */
} engine;

/* Its file has no tokens for gaps; who asks all the same gets one token each. */
const char *model_infill_missing(const struct td_model *model)
{
    (void)model;
    return "tokenizer.ggml.fim_pre_token_id";
}

enum td_status model_infill_encode(const struct td_model *model, const struct infill_gap *gap,
                                   struct buf *ids, struct td_error *err)
{
    static const int32_t marks[] = {11, 12, 13};
    (void)model, (void)err;
    CHECK(gap->before.len > 0 && gap->after.len > 0);
    engine.tokenize_count++;
    buf_append(ids, marks, sizeof marks);
    return TD_OK;
}

/* Two labels, whatever they are. */
enum td_status td_classifier_new(const struct td_model *model,
                                 const struct td_classifier_options *options,
                                 struct td_classifier **out, struct td_error *err)
{
    (void)model, (void)err;
    CHECK(options->set || (options->label_count == 2 && str_equal(options->labels[1], STR("no"))));
    engine.classifier_count++;
    *out = (struct td_classifier *)&engine;
    return TD_OK;
}

struct td_str td_label_set(const struct td_model *model, size_t index)
{
    (void)model;
    return engine.has_sets && index == 0 ? STR("intents") : (struct td_str){NULL, 0};
}

size_t td_classifier_count(const struct td_classifier *classifier)
{
    CHECK(classifier != NULL);
    return 2;
}

struct td_str td_classifier_label(const struct td_classifier *classifier, size_t index)
{
    CHECK(classifier != NULL);
    return index == 0 ? STR("balance") : STR("pay_bill");
}

int32_t classifier_token(const struct td_model *model, struct td_str text)
{
    (void)model;
    return str_equal(text, STR("balance")) ? 70 : 71;
}

void td_classifier_free(struct td_classifier *classifier)
{
    engine.classifier_count -= classifier != NULL;
}

struct label_plan *classifier_labels(const struct td_classifier *classifier)
{
    CHECK(classifier != NULL);
    return (struct label_plan *)&engine;
}

struct label_plan *label_plan_retain(struct label_plan *plan)
{
    engine.plan_count++;
    return plan;
}

void label_plan_release(struct label_plan *plan)
{
    engine.plan_count -= plan != NULL;
}

size_t label_plan_count(const struct label_plan *plan)
{
    (void)plan;
    return 2;
}

enum td_status label_run_start(struct scheduler *scheduler, const struct label_request *request,
                               struct label_run **out, struct td_error *err)
{
    engine.scheduler = scheduler;
    engine.submit_count++;
    if (engine.submit_status != TD_OK)
        return error_set(err, engine.submit_status, "the queue is full");
    engine.labels = *request;
    engine.label_job = *request->job;
    engine.first_id = request->job->ids[0];
    *out = (struct label_run *)&engine;
    return TD_OK;
}

void label_run_cancel(struct label_run *run)
{
    CHECK(run == (struct label_run *)&engine);
    engine.cancel_count++;
}

enum tool_format chat_tool_format(const struct td_model *model)
{
    (void)model;
    return engine.tool_format;
}

/* Token 7 is a control token, without text in an answer. */
struct td_str td_token_piece(const struct td_model *model, int32_t id, bool special)
{
    (void)model;
    return id == 7 && special ? STR("[TOOL_CALLS]") : STR("");
}

enum td_status td_grammar_parse(struct td_str text, struct td_grammar **out, struct td_error *err)
{
    (void)err;
    snprintf(engine.grammar_source, sizeof engine.grammar_source, STR_FMT, STR_ARG(text));
    engine.grammar_references++;
    *out = (struct td_grammar *)&engine;
    return TD_OK;
}

void td_grammar_free(struct td_grammar *grammar)
{
    engine.grammar_references -= grammar != NULL;
}

/* HERMES's start for a vocabulary with both tokens is the first. */
struct td_grammar *grammar_at_root(struct td_grammar *grammar, uint32_t index)
{
    engine.grammar_references++;
    engine.root = index;
    return grammar;
}

void chat_tool_marks(const struct td_model *model, enum tool_format format, struct token_marks *out)
{
    (void)model, (void)format;
    *out = (struct token_marks){.open_id = 7, .close_id = 8, .free_id = 9};
}

enum td_status chat_tools_tokenize(const struct td_model *model, const struct json *messages,
                                   const struct json *tools, int32_t **ids, size_t *count,
                                   struct td_error *err)
{
    engine.tools_count++;
    engine.tools_seen = json_count(tools);
    engine.messages_seen = json_count(messages);
    return td_chat_tokenize(model, NULL, 0, ids, count, err);
}

enum td_status adapter_set_new(const struct td_model *model, const struct td_adapter_use *uses,
                               size_t count, struct adapter_set **out, struct td_error *err)
{
    (void)model, (void)err;
    for (size_t i = 0; i < count; i++)
        engine.uses[i] = uses[i];
    engine.use_count = count;
    engine.set_references += count > 0;
    *out = count ? (struct adapter_set *)&engine : NULL;
    return TD_OK;
}

void adapter_set_release(struct adapter_set *set)
{
    engine.set_references -= set != NULL;
}

const struct td_model_info *td_model_get_info(const struct td_model *model)
{
    static const struct td_model_info info = {.context_tokens = 512,
                                              .not_mine_id = 9,
                                              .sampling = {.temperature = 0.25f,
                                                           .top_k = 20,
                                                           .top_p = 0.5f,
                                                           .repetition_penalty = 1.5f,
                                                           .repetition_window = 32,
                                                           .mirostat_tau = 4,
                                                           .mirostat_version = 2}};
    (void)model;
    return &info;
}

enum td_status td_chat_tokenize(const struct td_model *model, const struct td_message *messages,
                                size_t message_count, int32_t **ids, size_t *count,
                                struct td_error *err)
{
    (void)model, (void)messages, (void)message_count;
    engine.tokenize_count++;
    if (engine.tokenize_status != TD_OK)
        return error_set(err, engine.tokenize_status, "no template");
    *ids = calloc(engine.prompt_count + 1, sizeof **ids);
    if (!*ids)
        abort();
    (*ids)[0] = 42;
    *count = engine.prompt_count;
    return TD_OK;
}

enum td_status td_tokenize(const struct td_model *model, struct td_str text, bool add_bos,
                           bool parse_special, int32_t *ids, size_t capacity, size_t *count,
                           struct td_error *err)
{
    (void)model, (void)text, (void)add_bos, (void)parse_special, (void)ids, (void)capacity;
    (void)count;
    return error_set(err, TD_UNSUPPORTED, "no texts here");
}

const struct prompt_score *job_prompt_scores(const struct job *job)
{
    static const struct prompt_score scores[] = {{0}, {.logprob = -0.5f}, {.logprob = -0.25f}};
    return job->request.score_prompt ? scores : NULL;
}

enum td_status scheduler_submit(struct scheduler *scheduler, const struct job_request *request,
                                struct job **out, struct td_error *err)
{
    engine.scheduler = scheduler;
    engine.submit_count++;
    if (engine.submit_status != TD_OK)
        return error_set(err, engine.submit_status, "the queue is full");
    engine.job.request = *request;
    engine.first_id = request->ids[0];
    *out = &engine.job;
    return TD_OK;
}

struct scheduler_load scheduler_get_load(struct scheduler *scheduler)
{
    (void)scheduler;
    return (struct scheduler_load){.loaded = true};
}

double job_waited_ms(const struct job *job)
{
    CHECK(job == &engine.job);
    return 30;
}

void scheduler_forecast(struct scheduler *scheduler, enum td_priority priority, uint32_t coming,
                        uint32_t prompt_tokens, struct scheduler_forecast *out)
{
    (void)scheduler;
    CHECK(priority == TD_PRIORITY_INTERACTIVE && coming == 2 && prompt_tokens == 100);
    *out = (struct scheduler_forecast){
        .wait_ms = 500, .prompt_row_ms = 2, .token_ms = 10, .answer_mean = 20, .answer_most = 50};
}

void job_cancel(struct job *job)
{
    CHECK(job == &engine.job);
    engine.cancel_count++;
}

struct td_sampling td_sampling_default(void)
{
    return (struct td_sampling){.temperature = 1.0f, .top_p = 1.0f, .repetition_penalty = 1.0f};
}

#endif
