/* tandem score: how probable the model finds given texts after a prompt. With labels it classifies:
 * the prompt is read once, nothing is generated. */
#define HELP_OF 56
#include "app/cli/command.h"
#include "app/cli/options.h"
#include "app/cli/verb.h"
#include "app/config/packed_help.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "engine/session/classifier.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct score_options {
    const char *model, *prompt, *text, *labels_file;
    bool chat, no_bos, normalise, with_end, json;
    uint32_t threads, context_tokens;
    enum td_cpu cpu;
    struct td_str *labels; /* [TD_LABELS_MAX] */
    size_t label_count;
    struct option_each label_option;
};

/* What is scored and what came out. */
struct scored {
    struct td_label *labels; /* [label_count], ids owned */
    float *values;           /* of labels, or of the text's tokens */
    size_t prompt_tokens;
    double ms;
};

static bool add_label(void *ctx, const char *text)
{
    struct score_options *options = ctx;
    if (*text == '\0' || options->label_count == TD_LABELS_MAX)
        return false;
    options->labels[options->label_count++] = str_from(text);
    return true;
}

/* One label a line. */
static enum td_status read_labels(struct score_options *options, struct buf *file,
                                  struct td_error *err)
{
    if (options->labels_file == NULL)
        return TD_OK;
    enum td_status status = command_read_all(options->labels_file, file, err);
    struct td_str rest = buf_view(file), line;
    while (status == TD_OK && str_next(&rest, '\n', &line)) {
        if (line.len == 0)
            continue;
        if (options->label_count == TD_LABELS_MAX)
            return error_set(err, TD_LIMIT, "%s: more than %d labels", options->labels_file,
                             TD_LABELS_MAX);
        options->labels[options->label_count++] = line;
    }
    return status;
}

/* The tokens of what follows the prompt: a label's own where the vocabulary has one. After a plain
 * prompt those that the whole text has there; where its tokens do not end with the prompt's, and in
 * a chat, those of the text alone. */
static enum td_status tail_ids(const struct score_options *options, const struct td_model *model,
                               struct td_str prompt, const int32_t *prompt_ids, size_t prompt_count,
                               struct td_str text, int32_t **ids, size_t *count,
                               struct td_error *err)
{
    struct buf whole = {0};
    buf_init(&whole, SIZE_MAX / 2);
    *ids = NULL;
    enum td_status status = TD_OK;
    int32_t whole_label = options->text ? -1 : classifier_token(model, text);
    if (whole_label >= 0) {
        *count = 1;
        *ids = malloc(sizeof **ids);
        if (*ids == NULL)
            return error_set(err, TD_NO_MEMORY, "no memory for a label");
        **ids = whole_label;
        return TD_OK;
    }
    if (!options->chat) {
        buf_append_str(&whole, prompt);
        buf_append_str(&whole, text);
        status = whole.failed ? error_set(err, TD_NO_MEMORY, "no memory for the text")
                              : command_tokenize(model, buf_view(&whole), !options->no_bos, true,
                                                 ids, count, err);
        if (status == TD_OK && *count > prompt_count &&
            memcmp(*ids, prompt_ids, prompt_count * sizeof **ids) == 0) {
            *count -= prompt_count;
            memmove(*ids, *ids + prompt_count, *count * sizeof **ids);
            buf_deinit(&whole);
            return TD_OK;
        }
        free(*ids);
        *ids = NULL;
    }
    buf_deinit(&whole);
    if (status == TD_OK)
        status = command_tokenize(model, text, false, true, ids, count, err);
    if (status == TD_OK && *count == 0)
        status = error_set(err, TD_INVALID, "'" STR_FMT "' has no tokens", STR_ARG(text));
    return status;
}

static int by_value(const void *a, const void *b, void *values)
{
    float x = ((float *)values)[*(const size_t *)a], y = ((float *)values)[*(const size_t *)b];
    return (x < y) - (x > y);
}

static bool print_labels(const struct score_options *options, const struct scored *scored,
                         struct td_error *err)
{
    size_t count = options->label_count;
    size_t *order = calloc(count, sizeof *order);
    double sum = 0;
    if (order == NULL) {
        (void)error_set(err, TD_NO_MEMORY, "no memory for %zu labels", count);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        order[i] = i;
        sum += exp((double)scored->values[i]);
    }
    qsort_r(order, count, sizeof *order, by_value, scored->values);
    struct json *object = options->json ? json_new_object() : NULL, *list = NULL;
    bool printed = true;
    if (object) {
        json_put(object, "best", json_new_text(options->labels[order[0]]));
        list = json_new_array();
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = order[i];
        double logprob = (double)scored->values[at], share = exp(logprob) / sum;
        if (object) {
            struct json *entry = json_new_object();
            json_put(entry, "label", json_new_text(options->labels[at]));
            json_put(entry, "logprob", json_new_double(logprob));
            json_put(entry, "probability", json_new_double(sum > 0 ? share : 0));
            json_put(entry, "tokens", json_new_int((int64_t)scored->labels[at].count));
            json_push(list, entry);
        } else {
            printed &= printf("%6.2f %%  %10.4f  " STR_FMT "\n", sum > 0 ? 100 * share : 0, logprob,
                              STR_ARG(options->labels[at])) > 0;
        }
    }
    free(order);
    if (object == NULL)
        return printed;
    json_put(object, "labels", list);
    json_put(object, "prompt_tokens", json_new_int((int64_t)scored->prompt_tokens));
    json_put(object, "ms", json_new_double(scored->ms));
    return command_print_json(object);
}

static bool print_text(const struct score_options *options, const struct td_model *model,
                       const struct scored *scored)
{
    const struct td_label *text = &scored->labels[0];
    double sum = 0;
    for (size_t i = 0; i < text->count; i++)
        sum += (double)scored->values[i];
    double mean = sum / (double)text->count;
    if (!options->json)
        return printf("log-probability %.4f of %zu tokens (mean %.4f, perplexity %.4f)\n", sum,
                      text->count, mean, exp(-mean)) > 0;
    struct json *object = json_new_object(), *tokens = json_new_array();
    for (size_t i = 0; i < text->count; i++) {
        struct json *entry = json_new_object();
        json_put(entry, "id", json_new_int(text->ids[i]));
        json_put(entry, "text", json_new_text(td_token_piece(model, text->ids[i], true)));
        json_put(entry, "logprob", json_new_double((double)scored->values[i]));
        json_push(tokens, entry);
    }
    json_put(object, "logprob", json_new_double(sum));
    json_put(object, "mean_logprob", json_new_double(mean));
    json_put(object, "perplexity", json_new_double(exp(-mean)));
    json_put(object, "tokens", tokens);
    json_put(object, "prompt_tokens", json_new_int((int64_t)scored->prompt_tokens));
    json_put(object, "ms", json_new_double(scored->ms));
    return command_print_json(object);
}

/* Tokenizes the labels, or the text as the only one. */
static enum td_status tokenize_all(const struct score_options *options,
                                   const struct td_model *model, struct td_str prompt,
                                   const int32_t *prompt_ids, struct scored *scored,
                                   struct td_error *err)
{
    size_t count = options->text ? 1 : options->label_count, tokens = 0;
    scored->labels = calloc(count, sizeof *scored->labels);
    enum td_status status = TD_OK;
    if (scored->labels == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu labels", count);
    for (size_t i = 0; status == TD_OK && i < count; i++) {
        struct td_str text = options->text ? str_from(options->text) : options->labels[i];
        int32_t *ids = NULL;
        status = tail_ids(options, model, prompt, prompt_ids, scored->prompt_tokens, text, &ids,
                          &scored->labels[i].count, err);
        scored->labels[i].ids = ids;
        tokens = scored->labels[i].count;
    }
    scored->values = calloc((options->text ? tokens : count) + 1, sizeof *scored->values);
    if (status == TD_OK && scored->values == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for %zu scores", count);
    return status;
}

static enum td_status score(const struct score_options *options, const struct td_model *model,
                            const int32_t *prompt_ids, struct scored *scored, struct td_error *err)
{
    struct td_session *session = NULL;
    const struct td_session_options session_options = {.context_tokens = options->context_tokens,
                                                       .thread_count = options->threads};
    const struct td_label_options how = {.normalise = options->normalise,
                                         .with_end = options->with_end};
    enum td_status status = td_session_new(model, &session_options, &session, err);
    double begin_ms = clock_monotonic_ms(NULL);
    if (status == TD_OK && options->text)
        status = td_score_text(session, prompt_ids, scored->prompt_tokens, scored->labels[0].ids,
                               scored->labels[0].count, scored->values, err);
    else if (status == TD_OK)
        status = td_score_labels(session, prompt_ids, scored->prompt_tokens, scored->labels,
                                 options->label_count, &how, scored->values, err);
    scored->ms = clock_monotonic_ms(NULL) - begin_ms;
    td_session_free(session);
    return status;
}

static enum td_status run(struct score_options *options, bool *printed, struct td_error *err)
{
    struct td_model *model = NULL;
    struct buf input = {0}, label_file = {0};
    struct scored scored = {0};
    int32_t *prompt_ids = NULL;
    struct td_str prompt = str_from(options->prompt);
    enum td_status status = read_labels(options, &label_file, err);
    if (status == TD_OK && (options->text != NULL) == (options->label_count > 0))
        status = error_set(err, TD_INVALID, "%s has no labels", options->labels_file);
    if (status == TD_OK)
        status = command_open_model(options->model, options->cpu, false, &model, err);
    if (status == TD_OK && options->prompt == NULL) {
        status = command_read_all(NULL, &input, err);
        prompt = buf_view(&input);
    }
    const struct td_message message = {TD_ROLE_USER, prompt};
    if (status == TD_OK)
        status = options->chat
                     ? td_chat_tokenize(model, &message, 1, &prompt_ids, &scored.prompt_tokens, err)
                     : command_tokenize(model, prompt, !options->no_bos, true, &prompt_ids,
                                        &scored.prompt_tokens, err);
    if (status == TD_OK)
        status = tokenize_all(options, model, prompt, prompt_ids, &scored, err);
    if (status == TD_OK)
        status = score(options, model, prompt_ids, &scored, err);
    if (status == TD_OK)
        *printed = options->text ? print_text(options, model, &scored)
                                 : print_labels(options, &scored, err);
    for (size_t i = 0; scored.labels && i < (options->text ? 1 : options->label_count); i++)
        free((void *)(uintptr_t)scored.labels[i].ids);
    free(scored.labels);
    free(scored.values);
    free(prompt_ids);
    buf_deinit(&input);
    buf_deinit(&label_file);
    td_model_close(model);
    return status;
}

static int cmd_score(int argc, char **argv)
{
    static struct td_str labels[TD_LABELS_MAX];
    struct score_options values = {.labels = labels};
    values.label_option = (struct option_each){add_label, &values, "a text"};
    const struct option options[] = {
        OPTION_ROW_MODEL(values.model),
        {"prompt", 'p', OPTION_TEXT, &values.prompt, "TEXT",
         HELP_TEXT("the prompt; default: standard input"), 0, 0},
        {"chat", 0, OPTION_FLAG, &values.chat, NULL,
         HELP_TEXT("put the prompt into the chat template"), 0, 0},
        {"label", 'l', OPTION_EACH, &values.label_option, "TEXT",
         HELP_TEXT("a text that may follow; may be repeated"), 0, 0},
        {"labels", 0, OPTION_TEXT, &values.labels_file, "FILE",
         HELP_TEXT("file of labels, one a line"), 0, 0},
        {"text", 0, OPTION_TEXT, &values.text, "TEXT",
         HELP_TEXT("score the tokens of this text instead of labels"), 0, 0},
        {"normalise", 0, OPTION_FLAG, &values.normalise, NULL,
         HELP_TEXT("use the mean over a label's tokens instead of their sum"), 0, 0},
        {"with-end", 0, OPTION_FLAG, &values.with_end, NULL,
         HELP_TEXT("include that the answer ends after the label"), 0, 0},
        {"no-bos", 0, OPTION_FLAG, &values.no_bos, NULL,
         HELP_TEXT("do not add the token that begins a text (BOS)"), 0, 0},
        {"context", 0, OPTION_UINT, &values.context_tokens, "N",
         HELP_TEXT("size of the KV cache in tokens"), 0, 1e7},
        OPTION_ROW_THREADS(values.threads),
        OPTION_ROW_CPU(values.cpu),
        OPTION_ROW_JSON(values.json),
    };
    const struct option_spec spec = {
        .verb = "score",
        .summary =
            HELP_TEXT("Computes how probable labels, or a text, are after a prompt. With labels it "
                      "classifies. The model generates nothing."),
        .example =
            HELP_TEXT("  tandem score -p \"Great film! The review is\" -l \" good\" -l \" bad\""),
        .json = HELP_TEXT(
            "{best, labels: [{label, logprob, probability, tokens}], prompt_tokens, ms}, or "
            "for --text {logprob, mean_logprob, perplexity, tokens, prompt_tokens, ms}."),
        OPTION_TABLE(options),
    };
    OPTIONS_PARSE_OR_RETURN(&spec, argc, argv, NULL, NULL);
    if ((values.text != NULL) == (values.label_count > 0 || values.labels_file != NULL))
        return options_misuse(
            "score", "give labels (--label TEXT or --labels FILE) or --text TEXT, not both");
    struct td_error err = {0};
    bool printed = true;
    enum td_status status = run(&values, &printed, &err);
    return status == TD_OK ? !printed : command_fail("score", &err);
}

const struct verb verb_score = {"score", cmd_score,
                                HELP_TEXT("compute how probable a text is after a prompt")};
