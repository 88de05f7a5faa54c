/* Embeddings: the last layer's outputs for a text, pooled to one vector of length 1. Mean and cls
 * follow Reimers & Gurevych 2019, section 3. Decoders take the last token, the only one that has
 * seen the whole text.
 *
 * Encoders read texts in one pass. Decoders need caches, which the embedder owns: several short
 * texts run together, a long text alone. A vector does not depend on the texts beside it. */
#include "engine/embedding/embedding.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/embedding/rank_head.h"
#include "engine/forward/forward.h"
#include "engine/model/bert.h"
#include "engine/model/memory.h"
#include "engine/model/model_keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT_DEFAULT_MAX 2048 /* longer texts rarely get a single vector */
#define ENCODER_ROWS_MIN 512     /* short texts go together up to this many tokens */
#define SHORT_TEXTS_MAX 16       /* texts that a decoder reads together */
#define TEXT_IDS_BYTES_MAX ((size_t)256 << 20)

struct td_embedder {
    const struct td_model *model;
    struct thread_pool *threads;
    enum td_pooling pooling;
    uint32_t context_size;
    const atomic_bool *cancel;
    struct rank_head *rank; /* NULL = vectors are asked for */
    double *sums;           /* [embedding]: of the text that is being pooled */
    uint64_t pooled_count;
    /* encoders */
    struct bert_workspace *encoder;
    uint32_t encoder_rows;
    /* decoders */
    struct workspace *decoder;
    struct kv_pool *kv_pool;
    struct sequence short_texts[SHORT_TEXTS_MAX], long_text;
    float *rows; /* [decoder->row_max, embedding] */
};

/* --- pooling --- */

static const char *const pooling_names[] = {
    [TD_POOLING_MEAN] = "mean", [TD_POOLING_CLS] = "cls", [TD_POOLING_LAST] = "last"};

bool pooling_parse(const char *name, enum td_pooling *out)
{
    for (int i = TD_POOLING_MEAN; name && i <= TD_POOLING_LAST; i++)
        if (strcmp(name, pooling_names[i]) == 0) {
            *out = (enum td_pooling)i;
            return true;
        }
    return false;
}

const char *pooling_name(enum td_pooling pooling)
{
    return pooling_names[pooling];
}

/* The values of {arch}.pooling_type in files. */
enum file_pooling {
    FILE_POOLING_NONE,
    FILE_POOLING_MEAN,
    FILE_POOLING_CLS,
    FILE_POOLING_LAST,
    FILE_POOLING_RANK, /* a reranker: it scores pairs of texts */
    FILE_POOLING_COUNT
};

static enum td_status choose_pooling(struct td_embedder *embedder, enum td_pooling asked,
                                     struct td_error *err)
{
    const struct td_model *model = embedder->model;
    char key[96];
    uint32_t stored = 0;
    embedder->pooling = asked;
    if (asked != TD_POOLING_MODEL)
        return TD_OK;
    embedder->pooling = model->encoder ? TD_POOLING_MEAN : TD_POOLING_LAST;
    snprintf(key, sizeof(key), "%s.pooling_type", model->architecture->name);
    if (!gguf_has(model->gguf, key))
        return TD_OK;
    if (!gguf_get_u32(model->gguf, key, &stored) || stored >= FILE_POOLING_COUNT)
        return model_fail(model, err, TD_CORRUPT, "%s is not in [0, %d]", key,
                          FILE_POOLING_COUNT - 1);
    if (stored == FILE_POOLING_RANK)
        return model_fail(model, err, TD_UNSUPPORTED,
                          "the file ranks pairs of texts (%s 4); choose a pooling to have its "
                          "embeddings",
                          key);
    static const enum td_pooling poolings[] = {[FILE_POOLING_MEAN] = TD_POOLING_MEAN,
                                               [FILE_POOLING_CLS] = TD_POOLING_CLS,
                                               [FILE_POOLING_LAST] = TD_POOLING_LAST};
    if (stored != FILE_POOLING_NONE)
        embedder->pooling = poolings[stored];
    return TD_OK;
}

static void pool_begin(struct td_embedder *embedder)
{
    memset(embedder->sums, 0, embedder->model->embedding_size * sizeof(*embedder->sums));
    embedder->pooled_count = 0;
}

/* Adds the next `count` tokens of the text: rows [count, embedding]. */
static void pool_rows(struct td_embedder *embedder, const float *rows, size_t count)
{
    size_t size = embedder->model->embedding_size;
    bool mean = embedder->pooling == TD_POOLING_MEAN;
    size_t begin = embedder->pooling == TD_POOLING_LAST ? count - 1 : 0;
    size_t end = embedder->pooling == TD_POOLING_CLS ? 1 : count;
    if (embedder->pooling == TD_POOLING_CLS && embedder->pooled_count > 0)
        return;
    for (size_t row = begin; row < end; row++)
        for (size_t i = 0; i < size; i++)
            embedder->sums[i] = (mean ? embedder->sums[i] : 0) + (double)rows[row * size + i];
    embedder->pooled_count += count;
}

/* The sum is not divided by the count: the vector gets length 1 in any case. */
static enum td_status pool_end(struct td_embedder *embedder, float *out, struct td_error *err)
{
    size_t size = embedder->model->embedding_size;
    double squares = 0;
    for (size_t i = 0; i < size; i++) {
        if (!isfinite(embedder->sums[i]))
            return error_set(err, TD_CORRUPT,
                             "element %zu of the embedding of %zu tokens is not a number: the "
                             "model's weights are damaged",
                             i, embedder->pooled_count);
        squares += embedder->sums[i] * embedder->sums[i];
    }
    double factor = squares > 0 ? 1 / sqrt(squares) : 0;
    if (embedder->rank) {
        memset(out, 0, size * sizeof *out);
        out[0] = (float)rank_head_score(embedder->rank, embedder->sums);
        return TD_OK;
    }
    for (size_t i = 0; i < size; i++)
        out[i] = (float)(embedder->sums[i] * factor);
    return TD_OK;
}

void embedding_normalise(float *vector, size_t size)
{
    double squares = 0;
    for (size_t i = 0; i < size; i++)
        squares += (double)vector[i] * (double)vector[i];
    double factor = squares > 0 ? 1 / sqrt(squares) : 0;
    for (size_t i = 0; i < size; i++)
        vector[i] = (float)((double)vector[i] * factor);
}

/* --- opening --- */

static struct workspace_options decoder_options(const struct td_embedder *embedder)
{
    return (struct workspace_options){.row_max = WORKSPACE_ROWS_DEFAULT,
                                      .context_tokens = embedder->context_size};
}

/* A text that fits one pass is short. */
static uint32_t short_tokens(const struct td_embedder *embedder)
{
    return embedder->context_size < WORKSPACE_ROWS_DEFAULT ? embedder->context_size
                                                           : WORKSPACE_ROWS_DEFAULT;
}

/* Pages for a text of the whole context, or for SHORT_TEXTS_MAX short ones. */
static uint32_t page_count(const struct td_embedder *embedder)
{
    uint32_t one = kv_pages_of(embedder->context_size);
    uint32_t many = SHORT_TEXTS_MAX * kv_pages_of(short_tokens(embedder));
    return one > many ? one : many;
}

static enum td_status check_memory(const struct td_embedder *embedder, struct td_error *err)
{
    uint32_t threads = thread_pool_count(embedder->threads);
    const struct td_model *model = embedder->model;
    const struct workspace_options decoder = decoder_options(embedder);
    struct memory_need need = {0};
    if (model->encoder) {
        need.work_bytes = bert_workspace_bytes(model, embedder->encoder_rows);
    } else {
        need.cache_tokens = (uint64_t)page_count(embedder) * KV_PAGE_TOKENS;
        need.cache_bytes = kv_pool_bytes(model, TD_KV_F16, page_count(embedder));
        need.work_bytes = workspace_bytes(model, &decoder, threads);
    }
    return memory_check(model, &need, 0, err);
}

static enum td_status open_decoder(struct td_embedder *embedder, struct td_error *err)
{
    const struct td_model *model = embedder->model;
    const struct workspace_options decoder = decoder_options(embedder);
    enum td_status status =
        kv_pool_new(model, TD_KV_F16, page_count(embedder), &embedder->kv_pool, err);
    for (int i = 0; status == TD_OK && i < SHORT_TEXTS_MAX; i++)
        status = sequence_init(&embedder->short_texts[i], embedder->kv_pool, short_tokens(embedder),
                               err);
    if (status == TD_OK)
        status =
            sequence_init(&embedder->long_text, embedder->kv_pool, embedder->context_size, err);
    if (status == TD_OK)
        status = workspace_new(model, &decoder, embedder->threads, &embedder->decoder, err);
    if (status != TD_OK)
        return status;
    embedder->rows =
        calloc((size_t)embedder->decoder->row_max * model->embedding_size, sizeof(float));
    return embedder->rows ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for an embedder");
}

static enum td_status open_parts(struct td_embedder *embedder,
                                 const struct td_embedder_options *options, struct td_error *err)
{
    const struct td_model *model = embedder->model;
    if (model->vocab_only)
        return model_fail(model, err, TD_INVALID, "opened for its vocabulary only, it cannot run");
    if (model->ssm_count != 0) /* a state of megabytes for each of the texts that run together */
        return model_fail(model, err, TD_UNSUPPORTED,
                          "a model with Mamba-2 layers makes no embeddings here");
    if (options->context_tokens > model->context_size)
        return error_set(err, TD_INVALID, "texts of %u tokens asked for, %s was trained for %u",
                         options->context_tokens, model->name, model->context_size);
    embedder->context_size = options->context_tokens;
    if (embedder->context_size == 0)
        embedder->context_size =
            model->context_size < CONTEXT_DEFAULT_MAX ? model->context_size : CONTEXT_DEFAULT_MAX;
    embedder->encoder_rows =
        embedder->context_size > ENCODER_ROWS_MIN ? embedder->context_size : ENCODER_ROWS_MIN;
    enum td_status status = choose_pooling(embedder, options->pooling, err);
    if (status != TD_OK)
        return status;
    embedder->threads = thread_pool_new(options->thread_count);
    embedder->sums = calloc(model->embedding_size, sizeof(*embedder->sums));
    if (embedder->threads == NULL || embedder->sums == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for an embedder");
    status = check_memory(embedder, err);
    if (status != TD_OK)
        return status;
    return model->encoder ? bert_workspace_new(model, embedder->encoder_rows, embedder->threads,
                                               &embedder->encoder, err)
                          : open_decoder(embedder, err);
}

enum td_status td_embedder_new(const struct td_model *model,
                               const struct td_embedder_options *options, struct td_embedder **out,
                               struct td_error *err)
{
    ASSERT(model != NULL && out != NULL);
    static const struct td_embedder_options defaults = {0};
    *out = NULL;
    struct td_embedder *embedder = calloc(1, sizeof(*embedder));
    if (embedder == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for an embedder");
    embedder->model = model;
    enum td_status status = open_parts(embedder, options ? options : &defaults, err);
    if (status != TD_OK) {
        td_embedder_free(embedder);
        return status;
    }
    *out = embedder;
    return TD_OK;
}

enum td_status embedder_new_ranker(const struct td_model *model, uint32_t thread_count,
                                   struct td_embedder **out, struct td_error *err)
{
    const struct td_embedder_options options = {
        .thread_count = thread_count, .pooling = model->encoder ? TD_POOLING_CLS : TD_POOLING_LAST};
    struct rank_head *rank;
    *out = NULL;
    enum td_status status = rank_head_open(model, &rank, err);
    if (status == TD_OK)
        status = td_embedder_new(model, &options, out, err);
    if (status == TD_OK)
        (*out)->rank = rank;
    else
        rank_head_free(rank);
    return status;
}

void td_embedder_free(struct td_embedder *embedder)
{
    if (embedder == NULL)
        return;
    rank_head_free(embedder->rank);
    for (int i = 0; i < SHORT_TEXTS_MAX; i++)
        sequence_deinit(&embedder->short_texts[i]);
    sequence_deinit(&embedder->long_text);
    kv_pool_free(embedder->kv_pool);
    workspace_free(embedder->decoder);
    bert_workspace_free(embedder->encoder);
    thread_pool_free(embedder->threads);
    free(embedder->rows);
    free(embedder->sums);
    free(embedder);
}

enum td_pooling td_embedder_pooling(const struct td_embedder *embedder)
{
    return embedder->pooling;
}

void embedder_set_cancel(struct td_embedder *embedder, const atomic_bool *cancel)
{
    embedder->cancel = cancel;
}

/* --- running --- */

/* number: of the text, for messages; SIZE_MAX = there is only one text. */
static enum td_status check_text(const struct td_embedder *embedder, const struct td_ids *text,
                                 size_t number, struct td_error *err)
{
    char name[40] = "the text";
    if (number != SIZE_MAX)
        snprintf(name, sizeof(name), "text %zu", number);
    if (text->count == 0)
        return error_set(err, TD_INVALID, "%s has no tokens", name);
    if (text->count > embedder->context_size)
        return error_set(err, TD_LIMIT, "%s has %zu tokens; at most %u can be embedded", name,
                         text->count, embedder->context_size);
    for (size_t i = 0; i < text->count; i++)
        if (text->data[i] < 0 || (uint32_t)text->data[i] >= embedder->model->vocab_count)
            return error_set(err, TD_INVALID, "%s, token %zu is %d, outside the vocabulary of %u",
                             name, i, text->data[i], embedder->model->vocab_count);
    return TD_OK;
}

/* How many of the next texts run together: at least one, and as many as fit. */
static size_t count_together(const struct td_ids *texts, size_t count, size_t texts_max,
                             size_t tokens_max)
{
    size_t together = 0, tokens = 0;
    while (together < count && together < texts_max &&
           (together == 0 || tokens + texts[together].count <= tokens_max))
        tokens += texts[together++].count;
    return together;
}

/* Where the second text of a pair begins: both end with the same mark. */
static uint32_t second_of(const struct td_ids *pair)
{
    size_t at = 0;
    while (pair->data[at] != pair->data[pair->count - 1])
        at++;
    return (uint32_t)(at + 1);
}

static enum td_status run_encoder(struct td_embedder *embedder, const struct td_ids *texts,
                                  size_t count, size_t *done, float *out, struct td_error *err)
{
    struct bert_text parts[BERT_TEXTS_MAX];
    size_t size = embedder->model->embedding_size;
    size_t together = count_together(texts, count, BERT_TEXTS_MAX, embedder->encoder_rows);
    const float *rows;
    for (size_t i = 0; i < together; i++)
        parts[i] = (struct bert_text){texts[i].data, (uint32_t)texts[i].count,
                                      embedder->rank ? second_of(&texts[i]) : 0};
    enum td_status status =
        bert_run(embedder->encoder, parts, together, embedder->cancel, &rows, err);
    for (size_t i = 0; status == TD_OK && i < together; i++) {
        pool_begin(embedder);
        pool_rows(embedder, rows, texts[i].count);
        status = pool_end(embedder, out + i * size, err);
        rows += texts[i].count * size;
    }
    *done += together;
    return status;
}

static uint32_t rows_wanted(const struct td_embedder *embedder, size_t tokens)
{
    return embedder->pooling == TD_POOLING_LAST ? 1 : (uint32_t)tokens;
}

/* Runs texts that fit one pass. */
static enum td_status run_short(struct td_embedder *embedder, const struct td_ids *texts,
                                size_t count, float *out, struct td_error *err)
{
    struct segment segments[SHORT_TEXTS_MAX] = {0};
    size_t size = embedder->model->embedding_size;
    float *rows = embedder->rows;
    for (size_t i = 0; i < count; i++) {
        uint32_t wanted = rows_wanted(embedder, texts[i].count);
        segments[i] = (struct segment){.sequence = &embedder->short_texts[i],
                                       .ids = texts[i].data,
                                       .count = (uint32_t)texts[i].count,
                                       .cancel = embedder->cancel,
                                       .normed_rows = wanted,
                                       .normed_out = rows};
        rows += wanted * size;
    }
    enum td_status status = forward_run(embedder->decoder, segments, (uint32_t)count, NULL, err);
    for (size_t i = 0; i < count; i++) {
        sequence_truncate(&embedder->short_texts[i], 0);
        if (status != TD_OK)
            continue;
        pool_begin(embedder);
        pool_rows(embedder, segments[i].normed_out, segments[i].normed_rows);
        status = pool_end(embedder, out + i * size, err);
    }
    return status;
}

static enum td_status run_long(struct td_embedder *embedder, const struct td_ids *text, float *out,
                               struct td_error *err)
{
    enum td_status status = TD_OK;
    pool_begin(embedder);
    for (size_t done = 0; status == TD_OK && done < text->count;) {
        size_t left = text->count - done, row_max = embedder->decoder->row_max;
        size_t tokens = left < row_max ? left : row_max;
        struct segment segment = {.sequence = &embedder->long_text,
                                  .ids = text->data + done,
                                  .count = (uint32_t)tokens,
                                  .cancel = embedder->cancel,
                                  .normed_rows = rows_wanted(embedder, tokens),
                                  .normed_out = embedder->rows};
        status = forward_run(embedder->decoder, &segment, 1, NULL, err);
        if (status == TD_OK)
            pool_rows(embedder, embedder->rows, segment.normed_rows);
        done += tokens;
    }
    sequence_truncate(&embedder->long_text, 0);
    return status == TD_OK ? pool_end(embedder, out, err) : status;
}

static enum td_status run_decoder(struct td_embedder *embedder, const struct td_ids *texts,
                                  size_t count, size_t *done, float *out, struct td_error *err)
{
    uint32_t row_max = embedder->decoder->row_max;
    size_t together = count_together(texts, count, SHORT_TEXTS_MAX, row_max);
    *done += together;
    return texts[0].count > row_max ? run_long(embedder, texts, out, err)
                                    : run_short(embedder, texts, together, out, err);
}

enum td_status embedder_run(struct td_embedder *embedder, const struct td_ids *texts,
                            size_t text_count, size_t first, float *out, struct td_error *err)
{
    ASSERT(texts != NULL || text_count == 0);
    ASSERT(out != NULL || text_count == 0);
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < text_count; i++)
        status = check_text(embedder, &texts[i], first + i, err);
    for (size_t done = 0; status == TD_OK && done < text_count;) {
        const struct td_ids *rest = texts + done;
        size_t left = text_count - done;
        float *to = out + done * embedder->model->embedding_size;
        status = embedder->encoder ? run_encoder(embedder, rest, left, &done, to, err)
                                   : run_decoder(embedder, rest, left, &done, to, err);
    }
    return status;
}

enum td_status td_embed(struct td_embedder *embedder, const struct td_ids *texts, size_t text_count,
                        float *out, struct td_error *err)
{
    return embedder_run(embedder, texts, text_count, 0, out, err);
}

enum td_status td_embed_text(struct td_embedder *embedder, struct td_str text, float *out,
                             size_t *token_count, struct td_error *err)
{
    ASSERT(embedder != NULL && out != NULL);
    static const struct tokenizer_options options = {.add_special = true};
    struct buf ids;
    buf_init(&ids, TEXT_IDS_BYTES_MAX);
    enum td_status status = tokenizer_encode(embedder->model->tokenizer, text, &options, &ids, err);
    struct td_ids view = {(const int32_t *)(const void *)ids.data, ids.len / sizeof(int32_t)};
    if (token_count)
        *token_count = view.count;
    if (status == TD_OK)
        status = check_text(embedder, &view, SIZE_MAX, err);
    if (status == TD_OK)
        status = td_embed(embedder, &view, 1, out, err);
    buf_deinit(&ids);
    return status;
}
