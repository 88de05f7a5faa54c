/* Encoders (cross-encoders, Nogueira & Cho 2019) have a classifier over the first token:
 *
 *   cls.weight [embedding, embedding], cls.bias           tanh, optional (BERT's pooler)
 *   cls.output.weight [labels, embedding], cls.output.bias
 *
 * One label is a logit, whose logistic function is the score; of two the first is "yes", and the
 * score is its softmax. Decoders (Qwen3-Reranker, Zhang et al. 2025, section 2) answer "yes" or
 * "no": files have these two rows of the output matrix as cls.output.weight, or the whole matrix,
 * in which the rows of the two words are found here.
 *
 * The head is small, so it is computed in double. */
#include "engine/embedding/rank_head.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/model/model_keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LABELS_MAX 2
#define PROMPT_BYTES_MAX ((size_t)64 << 20)

struct rank_head {
    size_t wide;
    uint32_t labels;
    float *dense;            /* [wide, wide]; NULL = none */
    const float *dense_bias; /* [wide]; NULL = none */
    float *output;           /* [labels, wide] */
    const float *output_bias;
};

static bool says_rank(const struct td_model *model)
{
    char key[96];
    uint32_t pooling;
    snprintf(key, sizeof key, "%s.pooling_type", model->architecture->name);
    return gguf_get_u32(model->gguf, key, &pooling) && pooling == 4;
}

bool rank_head_is_in(const struct td_model *model)
{
    return !model->vocab_only &&
           (says_rank(model) || gguf_find_tensor(model->gguf, "cls.output.weight") != NULL);
}

/* ---- opening -------------------------------------------------------------------------------- */

static enum td_status bad_shape(const struct td_model *model, const struct gguf_tensor *tensor,
                                struct td_error *err)
{
    return model_fail(model, err, TD_CORRUPT,
                      "tensor '" STR_FMT "' is [%llu, %llu], which is no head "
                      "of %u columns with 1 or 2 labels",
                      STR_ARG(tensor->name), (unsigned long long)tensor->dims[0],
                      (unsigned long long)tensor->dims[1], model->embedding_size);
}

/* Rows as floats: **returns new** (free), NULL without memory. */
static float *read_rows(const struct td_model *model, const void *data, enum tensor_type type,
                        size_t row_bytes, size_t rows)
{
    size_t wide = model->embedding_size;
    float *out = calloc(rows, wide * sizeof *out);
    for (size_t r = 0; out && r < rows; r++)
        model->kernels->dequantize(type, (const uint8_t *)data + r * row_bytes, wide,
                                   out + r * wide);
    return out;
}

static enum td_status read_matrix(const struct td_model *model, const char *name, uint64_t rows_max,
                                  float **out, uint32_t *rows, struct td_error *err)
{
    const struct gguf_tensor *tensor = gguf_find_tensor(model->gguf, name);
    *rows = 0;
    if (tensor == NULL)
        return TD_OK;
    if (tensor->dims[0] != model->embedding_size || tensor->dims[1] > rows_max ||
        tensor->dims[2] != 1 || tensor->dims[3] != 1)
        return bad_shape(model, tensor, err);
    *rows = (uint32_t)tensor->dims[1];
    *out = read_rows(model, tensor->data, (enum tensor_type)tensor->type,
                     tensor->bytes / (size_t)tensor->dims[1], *rows);
    return *out ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a reranker's head");
}

static enum td_status read_bias(const struct td_model *model, const char *name, uint64_t len,
                                const float **out, struct td_error *err)
{
    const struct gguf_tensor *tensor = gguf_find_tensor(model->gguf, name);
    if (tensor == NULL)
        return TD_OK;
    if (tensor->dims[0] != len || tensor->dims[1] != 1 || tensor->dims[2] != 1 ||
        tensor->type != TENSOR_F32)
        return bad_shape(model, tensor, err);
    *out = tensor->data;
    return TD_OK;
}

/* The one token that a word is, or -1. */
static int32_t word_id(const struct td_model *model, struct td_str word)
{
    struct buf ids;
    int32_t id = -1;
    buf_init(&ids, 256);
    if (tokenizer_encode(model->tokenizer, word, &(struct tokenizer_options){0}, &ids, NULL) ==
            TD_OK &&
        ids.len == sizeof id)
        memcpy(&id, ids.data, sizeof id);
    buf_deinit(&ids);
    return id;
}

static enum td_status read_words(const struct td_model *model, struct rank_head *head,
                                 struct td_error *err)
{
    const struct weight *from = &model->output;
    const int32_t ids[LABELS_MAX] = {word_id(model, STR("yes")), word_id(model, STR("no"))};
    if (model->encoder || ids[0] < 0 || ids[1] < 0)
        return model_fail(model, err, TD_UNSUPPORTED,
                          "a reranker without cls.output.weight, whose vocabulary has no tokens "
                          "'yes' and 'no'");
    head->labels = LABELS_MAX;
    head->output = calloc(LABELS_MAX, head->wide * sizeof *head->output);
    if (head->output == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a reranker's head");
    for (size_t i = 0; i < LABELS_MAX; i++)
        model->kernels->dequantize(from->type,
                                   (const uint8_t *)from->data + (size_t)ids[i] * from->row_bytes,
                                   head->wide, head->output + i * head->wide);
    return TD_OK;
}

enum td_status rank_head_open(const struct td_model *model, struct rank_head **out,
                              struct td_error *err)
{
    ASSERT(model != NULL && out != NULL);
    *out = NULL;
    uint32_t rows;
    struct rank_head *head = calloc(1, sizeof *head);
    if (head == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a reranker's head");
    head->wide = model->embedding_size;
    enum td_status status =
        read_matrix(model, "cls.output.weight", LABELS_MAX, &head->output, &head->labels, err);
    if (status == TD_OK && head->labels == 0)
        status = read_words(model, head, err);
    if (status == TD_OK)
        status = read_bias(model, "cls.output.bias", head->labels, &head->output_bias, err);
    if (status == TD_OK)
        status = read_matrix(model, "cls.weight", head->wide, &head->dense, &rows, err);
    if (status == TD_OK && head->dense && rows != head->wide)
        status = bad_shape(model, gguf_find_tensor(model->gguf, "cls.weight"), err);
    if (status == TD_OK)
        status = read_bias(model, "cls.bias", head->wide, &head->dense_bias, err);
    if (status != TD_OK) {
        rank_head_free(head);
        return status;
    }
    *out = head;
    return TD_OK;
}

void rank_head_free(struct rank_head *head)
{
    if (head == NULL)
        return;
    free(head->dense);
    free(head->output);
    free(head);
}

/* ---- scoring -------------------------------------------------------------------------------- */

/* tanh(dense x + bias), row by row; without a dense layer the state itself. */
static double dense_row(const struct rank_head *head, const double *state, size_t row)
{
    if (head->dense == NULL)
        return state[row];
    double sum = head->dense_bias ? (double)head->dense_bias[row] : 0;
    for (size_t c = 0; c < head->wide; c++)
        sum += (double)head->dense[row * head->wide + c] * state[c];
    return tanh(sum);
}

double rank_head_score(const struct rank_head *head, const double *state)
{
    double logits[LABELS_MAX] = {0};
    for (uint32_t l = 0; head->output_bias && l < head->labels; l++)
        logits[l] = (double)head->output_bias[l];
    for (size_t row = 0; row < head->wide; row++) {
        double x = dense_row(head, state, row);
        for (uint32_t l = 0; l < head->labels; l++)
            logits[l] += (double)head->output[l * head->wide + row] * x;
    }
    return 1 / (1 + exp(logits[1] - logits[0])); /* of one label the other logit is 0 */
}

/* ---- pairs ---------------------------------------------------------------------------------- */

/* As Qwen3-Reranker's model card has it, for files without tokenizer.chat_template.rerank. */
static const char qwen3_prompt[] =
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and "
    "the Instruct provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n"
    "<|im_start|>user\n<Instruct>: Given a web search query, retrieve relevant passages that "
    "answer the query\n<Query>: {query}\n<Document>: {document}<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n";

/* Appends `text` as a segment of the rendered prompt. */
static void add_segment(struct buf *prompt, struct text_segment *segments, size_t *count,
                        struct td_str text, bool mark)
{
    size_t begin = prompt->len;
    buf_append_str(prompt, text);
    if (prompt->len > begin)
        segments[(*count)++] = (struct text_segment){begin, prompt->len, mark};
}

/* Query and document come from outside, so no special token is parsed in them. */
static enum td_status encode_prompt(const struct td_model *model, struct td_str query,
                                    struct td_str document, struct buf *ids, struct td_error *err)
{
    struct td_str template;
    struct text_segment segments[5];
    struct buf prompt;
    size_t count = 0;
    if (!gguf_get_string(model->gguf, "tokenizer.chat_template.rerank", &template))
        template = str_from(qwen3_prompt);
    size_t at_query = str_find(template, STR("{query}"), 0);
    size_t at_document = str_find(template, STR("{document}"), 0);
    if (at_query >= template.len || at_document >= template.len || at_query > at_document)
        return model_fail(model, err, TD_UNSUPPORTED,
                          "tokenizer.chat_template.rerank has no {query} before {document}");
    buf_init(&prompt, PROMPT_BYTES_MAX);
    add_segment(&prompt, segments, &count, str_slice(template, 0, at_query), true);
    add_segment(&prompt, segments, &count, query, false);
    add_segment(&prompt, segments, &count,
                str_slice(template, at_query + strlen("{query}"), at_document), true);
    add_segment(&prompt, segments, &count, document, false);
    add_segment(&prompt, segments, &count,
                str_slice(template, at_document + strlen("{document}"), template.len), true);
    enum td_status status = prompt.failed
                                ? error_set(err, TD_LIMIT, "the document is too long to be ranked")
                                : tokenizer_encode_segments(model->tokenizer, buf_view(&prompt),
                                                            segments, count, false, ids, err);
    buf_deinit(&prompt);
    return status;
}

enum td_status rank_encode_pair(const struct td_model *model, struct td_str query,
                                struct td_str document, struct buf *ids, struct td_error *err)
{
    static const struct tokenizer_options special = {.add_special = true};
    if (model->encoder == NULL)
        return encode_prompt(model, query, document, ids, err);
    /* [CLS] query [SEP] document [SEP]: the second [CLS] is taken out */
    enum td_status status = tokenizer_encode(model->tokenizer, query, &special, ids, err);
    size_t first = ids->len;
    if (status == TD_OK)
        status = tokenizer_encode(model->tokenizer, document, &special, ids, err);
    if (status != TD_OK || ids->len < first + sizeof(int32_t))
        return status;
    memmove(ids->data + first, ids->data + first + sizeof(int32_t),
            ids->len - first - sizeof(int32_t));
    ids->len -= sizeof(int32_t);
    return TD_OK;
}
