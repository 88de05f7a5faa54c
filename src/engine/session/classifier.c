/* Labels and the prompt that asks for one of them. A model's file may bring sets of labels that it
 * was trained on, with the words that it was asked in:
 *
 *   tandem.labels.sets           array of strings: the names of the sets
 *   tandem.labels.NAME           array of strings: the labels
 *   tandem.labels.NAME.prompt    string with "{text}" where the text goes; absent = FREE_PROMPT
 *
 * Labels of a caller are asked for with FREE_PROMPT, which names them. */
#include "engine/session/classifier.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/session/scoring.h"
#include "engine/session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* models/nano trains on this form. The text comes last, so that the computed labels before it serve
 * all texts. */
#define FREE_PROMPT "Classify the text. Labels: {labels}.\n\nText: {text}"
#define TEXT_MARK STR("{text}")
#define LABELS_MARK STR("{labels}")

#define TEXTS_BYTES_MAX ((size_t)64 << 20)
#define KEY_BYTES 160

struct td_classifier {
    const struct td_model *model;
    struct label_plan *plan;
    struct td_str *labels; /* [count], in `texts` */
    size_t count;
    struct buf texts;            /* of labels, instruction and prompt */
    struct td_str before, after; /* of the text, in the user's message */
    struct td_str instruction;
};

/* --- what the file brings --- */

struct td_str td_label_set(const struct td_model *model, size_t index)
{
    ASSERT(model != NULL);
    const void *cursor = NULL;
    struct td_str name;
    while (gguf_next_string(model->gguf, "tandem.labels.sets", &cursor, &name))
        if (index-- == 0)
            return name;
    return (struct td_str){NULL, 0};
}

static enum td_status no_such_set(const struct td_model *model, const char *set,
                                  struct td_error *err)
{
    char known[TD_ERROR_BYTES / 2] = "";
    struct td_str name;
    for (size_t i = 0; (name = td_label_set(model, i)).len > 0; i++) {
        size_t len = strlen(known);
        snprintf(known + len, sizeof known - len, "%s" STR_FMT, len ? ", " : "", STR_ARG(name));
    }
    if (*known == '\0')
        return error_set(err, TD_NOT_FOUND, "%s brings no sets of labels; name the labels",
                         model->name);
    return error_set(err, TD_NOT_FOUND, "%s has no set of labels '%.60s', but: %s", model->name,
                     set, known);
}

static bool has_set(const struct td_model *model, const char *set)
{
    struct td_str name;
    for (size_t i = 0; (name = td_label_set(model, i)).len > 0; i++)
        if (str_equal(name, str_from(set)) && name.len < KEY_BYTES / 2)
            return true;
    return false;
}

/* The labels and the prompt of a set; *labels [*count] **returns new** (free). */
static enum td_status read_set(const struct td_model *model, const char *set,
                               struct td_str **labels, size_t *count, struct td_str *prompt,
                               struct td_error *err)
{
    char key[KEY_BYTES];
    const void *cursor = NULL;
    if (!has_set(model, set))
        return no_such_set(model, set, err);
    snprintf(key, sizeof key, "tandem.labels.%s", set);
    uint64_t most = gguf_array_count(model->gguf, key);
    if (most == 0 || most > TD_LABELS_MAX)
        return error_set(err, TD_CORRUPT, "%s: %s is no array of 1 to %d labels", model->name, key,
                         TD_LABELS_MAX);
    *labels = calloc((size_t)most, sizeof **labels);
    if (*labels == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %llu labels", (unsigned long long)most);
    for (*count = 0; *count < most; ++*count)
        if (!gguf_next_string(model->gguf, key, &cursor, &(*labels)[*count]))
            return error_set(err, TD_CORRUPT, "%s: %s is no array of strings", model->name, key);
    snprintf(key, sizeof key, "tandem.labels.%s.prompt", set);
    if (gguf_get_string(model->gguf, key, prompt) && str_find(*prompt, TEXT_MARK, 0) >= prompt->len)
        return error_set(err, TD_CORRUPT, "%s: %s has no {text}", model->name, key);
    return TD_OK;
}

/* --- labels and prompt --- */

int32_t classifier_token(const struct td_model *model, struct td_str text)
{
    int32_t id = tokenizer_find(model->tokenizer, text);
    return id >= 0 && str_equal(tokenizer_piece(model->tokenizer, id, false), text) ? id : -1;
}

/* Appends the tokens that the model would write for a label. Where the tokenizer needs several, a
 * token of the vocabulary that is the whole label goes before. */
static enum td_status append_label(const struct td_model *model, struct td_str label,
                                   struct buf *ids, struct td_error *err)
{
    static const struct tokenizer_options options = {0};
    size_t before = ids->len;
    enum td_status status = tokenizer_encode(model->tokenizer, label, &options, ids, err);
    size_t count = (ids->len - before) / sizeof(int32_t);
    int32_t whole = count > 1 ? classifier_token(model, label) : -1;
    if (status == TD_OK && whole >= 0) {
        buf_truncate(ids, before);
        buf_append(ids, &whole, sizeof whole);
    }
    if (status == TD_OK && ids->failed)
        status = error_set(err, TD_NO_MEMORY, "no memory for the tokens of labels");
    return status;
}

static enum td_status check_label(struct td_str label, size_t number, size_t count,
                                  struct td_error *err)
{
    if (label.len == 0)
        return error_set(err, TD_INVALID, "label %zu is empty", number);
    if (count == 0 || count > TD_LABEL_TOKENS_MAX)
        return error_set(err, TD_INVALID, "label %zu, '" STR_FMT "', has %zu tokens: 1 to %d",
                         number, STR_ARG(label), count, TD_LABEL_TOKENS_MAX);
    return TD_OK;
}

static enum td_status make_plan(struct td_classifier *classifier, struct td_error *err)
{
    struct buf ids;
    struct td_label *labels = calloc(classifier->count, sizeof *labels);
    enum td_status status = labels ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for labels");
    buf_init(&ids, TEXTS_BYTES_MAX);
    for (size_t i = 0; status == TD_OK && i < classifier->count; i++) {
        size_t before = ids.len;
        status = append_label(classifier->model, classifier->labels[i], &ids, err);
        labels[i].count = (ids.len - before) / sizeof(int32_t);
        if (status == TD_OK)
            status = check_label(classifier->labels[i], i, labels[i].count, err);
    }
    const int32_t *at = (const int32_t *)(const void *)ids.data;
    for (size_t i = 0; status == TD_OK && i < classifier->count; at += labels[i++].count)
        labels[i].ids = at;
    if (status == TD_OK)
        status = label_plan_new(classifier->model, labels, classifier->count, LABEL_ENDS_SHARED,
                                &classifier->plan, err);
    size_t first, second;
    if (status == TD_OK && label_plan_twins(classifier->plan, &first, &second))
        status = error_set(err, TD_INVALID, "labels %zu and %zu are the same to the model", first,
                           second);
    buf_deinit(&ids);
    free(labels);
    return status;
}

/* Appends a text; its place in the buffer is known once all are there. */
static size_t put(struct buf *texts, struct td_str text)
{
    buf_append_str(texts, text);
    return text.len;
}

static size_t put_list(struct buf *texts, const struct td_str *labels, size_t count)
{
    size_t before = texts->len;
    for (size_t i = 0; i < count; i++) {
        put(texts, i ? STR(", ") : STR(""));
        put(texts, labels[i]);
    }
    return texts->len - before;
}

/* Copies what the classifier needs into one buffer, and points into it. */
static enum td_status copy_texts(struct td_classifier *classifier, const struct td_str *labels,
                                 struct td_str prompt, struct td_str instruction,
                                 struct td_error *err)
{
    struct buf *texts = &classifier->texts;
    size_t mark = str_find(prompt, TEXT_MARK, 0), list = str_find(prompt, LABELS_MARK, 0);
    struct td_str before = str_slice(prompt, 0, mark);
    size_t before_len = 0;
    buf_init(texts, TEXTS_BYTES_MAX);
    if (list < before.len) {
        before_len += put(texts, str_slice(before, 0, list));
        before_len += put_list(texts, labels, classifier->count);
        before = str_slice(before, list + LABELS_MARK.len, before.len);
    }
    before_len += put(texts, before);
    size_t after_len = put(texts, str_slice(prompt, mark + TEXT_MARK.len, prompt.len));
    put(texts, instruction);
    for (size_t i = 0; i < classifier->count; i++)
        put(texts, labels[i]);
    classifier->labels = calloc(classifier->count, sizeof *classifier->labels);
    if (texts->failed || classifier->labels == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu labels", classifier->count);
    const char *at = texts->data ? texts->data : "";
    classifier->before = (struct td_str){at, before_len};
    classifier->after = (struct td_str){at += before_len, after_len};
    classifier->instruction = (struct td_str){at += after_len, instruction.len};
    at += instruction.len;
    for (size_t i = 0; i < classifier->count; at += labels[i++].len)
        classifier->labels[i] = (struct td_str){at, labels[i].len};
    return TD_OK;
}

enum td_status td_classifier_new(const struct td_model *model,
                                 const struct td_classifier_options *options,
                                 struct td_classifier **out, struct td_error *err)
{
    ASSERT(model != NULL && options != NULL && out != NULL);
    *out = NULL;
    struct td_str prompt = STR(FREE_PROMPT), *of_set = NULL;
    const struct td_str *labels = options->labels;
    size_t count = options->label_count;
    enum td_status status = model_require_decoder(model, err);
    if (status == TD_OK && options->set)
        status = read_set(model, options->set, &of_set, &count, &prompt, err);
    if (status == TD_OK && (count == 0 || count > TD_LABELS_MAX))
        status = error_set(err, TD_INVALID, "%zu labels: 1 to %d", count, TD_LABELS_MAX);
    struct td_classifier *classifier = status == TD_OK ? calloc(1, sizeof *classifier) : NULL;
    if (status == TD_OK && classifier == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for a classifier");
    if (status == TD_OK) {
        classifier->model = model;
        classifier->count = count;
        status =
            copy_texts(classifier, of_set ? of_set : labels, prompt, options->instruction, err);
    }
    if (status == TD_OK)
        status = make_plan(classifier, err);
    free(of_set);
    if (status == TD_OK)
        *out = classifier;
    else
        td_classifier_free(classifier);
    return status;
}

void td_classifier_free(struct td_classifier *classifier)
{
    if (classifier == NULL)
        return;
    label_plan_release(classifier->plan);
    free(classifier->labels);
    buf_deinit(&classifier->texts);
    free(classifier);
}

size_t td_classifier_count(const struct td_classifier *classifier)
{
    return classifier->count;
}

struct td_str td_classifier_label(const struct td_classifier *classifier, size_t index)
{
    ASSERT(index < classifier->count);
    return classifier->labels[index];
}

struct label_plan *classifier_labels(const struct td_classifier *classifier)
{
    return classifier->plan;
}

size_t classifier_messages(const struct td_classifier *classifier, struct td_str text,
                           struct buf *content,
                           struct td_message messages[static CLASSIFIER_MESSAGES_MAX])
{
    size_t before = content->len, count = 0;
    buf_append_str(content, classifier->before);
    buf_append_str(content, text);
    buf_append_str(content, classifier->after);
    if (classifier->instruction.len > 0)
        messages[count++] = (struct td_message){TD_ROLE_SYSTEM, classifier->instruction};
    messages[count++] =
        (struct td_message){TD_ROLE_USER, str_slice(buf_view(content), before, content->len)};
    return count;
}

double classifier_normalise(const double *logs, size_t count, float *probabilities)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++)
        most = logs[i] > most ? logs[i] : most;
    for (size_t i = 0; i < count && isfinite(most); i++)
        sum += exp(logs[i] - most);
    for (size_t i = 0; i < count; i++)
        probabilities[i] = sum > 0 ? (float)(exp(logs[i] - most) / sum) : 1.0f / (float)count;
    return sum > 0 ? sum * exp(most) : 0;
}

/* --- in a session --- */

enum td_status td_classify(struct td_session *session, const struct td_classifier *classifier,
                           struct td_str text, float *probabilities, struct td_classification *out,
                           struct td_error *err)
{
    ASSERT(session != NULL && classifier != NULL && probabilities != NULL && out != NULL);
    ASSERT(session->model == classifier->model);
    struct td_message messages[CLASSIFIER_MESSAGES_MAX];
    struct label_walk walk;
    struct buf content;
    int32_t *ids = NULL;
    size_t count = 0;
    double *logs = calloc(classifier->count, sizeof *logs);
    buf_init(&content, SIZE_MAX / 2);
    size_t message_count = classifier_messages(classifier, text, &content, messages);
    enum td_status status =
        logs && !content.failed ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a text");
    if (status == TD_OK)
        status = td_chat_tokenize(session->model, messages, message_count, &ids, &count, err);
    if (status == TD_OK) {
        uint32_t same = sequence_common_prefix(&session->sequence, session->adapters, ids, count);
        same = same == count ? same - 1 : same;
        td_session_truncate(session, same);
        label_walk_init(&walk, classifier->plan, 0, classifier->count, logs);
        status = scoring_walk(session, ids + same, count - same, &walk, err);
    }
    if (status == TD_OK) {
        out->mass = (float)classifier_normalise(logs, classifier->count, probabilities);
        out->not_mine = isnan(walk.not_mine) ? -1 : (float)walk.not_mine;
        out->token_count = count;
    }
    buf_deinit(&content);
    free(ids);
    free(logs);
    return status;
}
