/* tandem perplexity: how well a model predicts a text, computed as llama.cpp's tool does it, so
 * that the figures can be compared. */
#define HELP_OF 54
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/json/json.h"
#include "engine/measure/divergence.h"
#include "engine/measure/perplexity.h"
#include "quant/measure/texts.h"

#include <stdio.h>

static bool print_result(const struct perplexity_result *result, bool json)
{
    double mean = result->nll_sum / (double)result->scored_count;
    if (!json)
        return printf("perplexity %.6f over %llu predicted tokens (mean nll %.8f, %.1f s)\n",
                      result->perplexity, (unsigned long long)result->scored_count, mean,
                      result->seconds) > 0;
    struct json *object = json_new_object();
    json_put(object, "perplexity", json_new_double(result->perplexity));
    json_put(object, "mean_nll", json_new_double(mean));
    json_put(object, "tokens", json_new_int((int64_t)result->token_count));
    json_put(object, "predicted_tokens", json_new_int((int64_t)result->scored_count));
    json_put(object, "seconds", json_new_double(result->seconds));
    return command_print_json(object);
}

/* Only whole windows count, as llama.cpp's tool does it: a short last one has little context and
 * would raise the figure by the accident of the text's length. A text shorter than a window is
 * one. */
static uint32_t whole_windows(const struct td_model *model, struct td_str text, uint32_t context)
{
    size_t count = 0;
    struct td_error too_small = {0};
    if (td_tokenize(model, text, true, false, NULL, 0, &count, &too_small) != TD_LIMIT || count < 2)
        return 1;
    /* Neighbouring windows share one token: the last of one is the first of the next. */
    size_t windows = (count - 1) / (context - 1);
    return windows < 1 ? 1 : windows > UINT32_MAX ? UINT32_MAX : (uint32_t)windows;
}

static bool print_divergence(const struct divergence_result *result, bool json)
{
    if (!json)
        return printf(
                   "divergence %.6f +- %.6f nats over %llu tokens (99 %% below %.4f); %.2f %% of "
                   "the likeliest tokens the same; perplexity %.4f, of the reference %.4f\n",
                   result->kld_mean, result->kld_error, (unsigned long long)result->token_count,
                   result->kld_p99, 100 * result->same_top, result->perplexity,
                   result->perplexity_reference) > 0;
    struct json *object = json_new_object();
    json_put(object, "kld", json_new_double(result->kld_mean));
    json_put(object, "kld_error", json_new_double(result->kld_error));
    json_put(object, "kld_p99", json_new_double(result->kld_p99));
    json_put(object, "kld_max", json_new_double(result->kld_max));
    json_put(object, "same_top", json_new_double(result->same_top));
    json_put(object, "perplexity", json_new_double(result->perplexity));
    json_put(object, "perplexity_reference", json_new_double(result->perplexity_reference));
    json_put(object, "predicted_tokens", json_new_int((int64_t)result->token_count));
    return command_print_json(object);
}

/* How far the model's predictions are from those of a reference, on the same text. */
static enum td_status compare(const char *reference_path, const struct td_model *model,
                              struct td_str text, const struct perplexity_options *values,
                              struct divergence_result *result, struct td_error *err)
{
    struct td_model *reference = NULL;
    struct divergence *divergence = NULL;
    struct texts texts = {0};
    enum td_status status = command_open_model(reference_path, TD_CPU_AUTO, false, &reference, err);
    if (status == TD_OK)
        status = texts_add(&texts, reference, text, err);
    const struct divergence_options options = {.context_tokens = values->session.context_tokens,
                                               .thread_count = values->session.thread_count,
                                               .reference = reference,
                                               .kv_type = TD_KV_F32,
                                               .texts = (const int32_t *const *)texts.ids,
                                               .counts = texts.counts,
                                               .text_count = texts.count};
    if (status == TD_OK)
        status = divergence_new(&options, &divergence, err);
    const struct divergence_subject subject = {.model = model, .kv_type = values->session.kv_type};
    if (status == TD_OK)
        status = divergence_measure(divergence, &subject, result, NULL, err);
    divergence_free(divergence);
    texts_deinit(&texts);
    td_model_close(reference);
    return status;
}

static int cmd_perplexity(int argc, char **argv)
{
    const char *model_path = NULL, *file = NULL, *reference = NULL;
    struct perplexity_options values = {.session = {.context_tokens = 512, .kv_type = TD_KV_F32}};
    enum td_cpu cpu = TD_CPU_AUTO;
    bool json = false;
    const struct option options[] = {
        OPTION_ROW_MODEL(model_path),
        {"file", 'f', OPTION_TEXT, &file, "FILE",
         HELP_TEXT("the text to read; default: standard input"), 0, 0},
        {"context", 0, OPTION_UINT, &values.session.context_tokens, "N",
         HELP_TEXT("tokens of one window; default 512"), 2, 1048576},
        {"windows", 0, OPTION_UINT, &values.windows_max, "N",
         HELP_TEXT("most windows; default: all complete ones"), 0, 1e9},
        {"reference", 0, OPTION_TEXT, &reference, "FILE",
         HELP_TEXT("measure instead how far the predictions are from those of this model"), 0, 0},
        OPTION_ROW_THREADS(values.session.thread_count),
        OPTION_ROW_CPU(cpu),
        OPTION_ROW_KV_TYPE(values.session.kv_type),
        OPTION_ROW_JSON(json),
    };
    const struct option_spec spec = {
        .verb = "perplexity",
        .summary = HELP_TEXT(
            "Measures how well the model predicts a text: the exponential of the mean "
            "negative log-likelihood. The text is cut into windows, and each begins with "
            "an empty cache. With --reference it gives the Kullback-Leibler divergence from "
            "another model with the same vocabulary: what quantising cost."),
        .json = HELP_TEXT(
            "{perplexity, mean_nll, tokens, predicted_tokens, seconds}, with --reference "
            "{kld, kld_error, kld_p99, kld_max, same_top, perplexity, perplexity_reference, "
            "predicted_tokens}"),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);

    struct td_error err = {0};
    struct td_model *model = NULL;
    struct buf text = {0};
    struct perplexity_result result = {0};
    enum td_status status = command_open_model(model_path, cpu, false, &model, &err);
    if (status == TD_OK)
        status = command_read_all(file, &text, &err);
    struct divergence_result divergence;
    if (status == TD_OK && reference)
        status = compare(reference, model, buf_view(&text), &values, &divergence, &err);
    else if (status == TD_OK && values.windows_max == 0)
        values.windows_max = whole_windows(model, buf_view(&text), values.session.context_tokens);
    if (status == TD_OK && !reference)
        status = perplexity_measure(model, buf_view(&text), &values, &result, NULL, 0, &err);
    bool printed = status != TD_OK ||
                   (reference ? print_divergence(&divergence, json) : print_result(&result, json));
    buf_deinit(&text);
    td_model_close(model);
    return status == TD_OK ? !printed : command_fail("perplexity", &err);
}

const struct verb verb_perplexity = {"perplexity", cmd_perplexity,
                                     HELP_TEXT("measure how well a model predicts a text")};
