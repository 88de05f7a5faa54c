/* Looks up the tensors of an encoder, by the names that converters give them:
 *
 *   token_embd.weight [vocab, embedding]   token_embd_norm.{weight,bias}
 *   token_types.weight [types, embedding]  position_embd.weight [positions, embedding] (bert)
 *   blk.N.attn_{q,k,v}.{weight,bias} or blk.N.attn_qkv.{weight,bias}
 *   blk.N.attn_output.{weight,bias}
 *   blk.N.attn_output_norm.{weight,bias}   blk.N.layer_output_norm.{weight,bias}
 *   blk.N.ffn_{up,down}.{weight,bias}      blk.N.ffn_gate.weight (nomic-bert)
 *
 * Each must exist with its shape. A tensor that is left over is an error, except those of a
 * classification head (cls), which embeddings do not use. */
#include "engine/model/bert.h"

#include "base/core/assertion.h"
#include "engine/model/model_keys.h"
#include "engine/model/tensor_lookup.h"

#include <stdio.h>
#include <stdlib.h>

#define POSITIONS_MAX (1u << 24)

static const char *part_name(char out[static 64], const char *stem, const char *part)
{
    snprintf(out, 64, "%s.%s", stem, part);
    return out;
}

/* Takes a matrix and, if the file has it, its bias. With part_count > 1 the matrix holds the rows
 * of several parts one after another; rows[i] says how many part i has. */
static void take_linear(struct tensor_lookup *lookup, const char *stem, uint32_t cols,
                        const uint32_t *rows, struct bert_linear *const *parts, size_t part_count)
{
    char name[64];
    uint32_t rows_sum = 0;
    for (size_t i = 0; i < part_count; i++)
        rows_sum += rows[i];
    const struct gguf_tensor *tensor = tensor_take(lookup, part_name(name, stem, "weight"), true);
    if (tensor == NULL || !tensor_has_shape(lookup, tensor, cols, rows_sum, 1))
        return;
    const float *bias = tensor_take_vector(lookup, part_name(name, stem, "bias"), rows_sum, false);
    uint32_t begin = 0;
    for (size_t i = 0; i < part_count; i++) {
        parts[i]->weight = tensor_weight(lookup, tensor, begin, rows[i]);
        parts[i]->bias = bias ? bias + begin : NULL;
        begin += rows[i];
    }
}

static void take_norm(struct tensor_lookup *lookup, const char *stem, struct bert_norm *norm)
{
    char name[64];
    uint32_t wide = lookup->model->embedding_size;
    norm->weight = tensor_take_vector(lookup, part_name(name, stem, "weight"), wide, true);
    norm->bias = tensor_take_vector(lookup, part_name(name, stem, "bias"), wide, true);
}

/* Takes a table whose rows are read by number. The file says how many rows it has. */
static void take_table(struct tensor_lookup *lookup, const char *name, bool required,
                       struct weight *out)
{
    const struct gguf_tensor *tensor = tensor_take(lookup, name, required);
    if (tensor == NULL)
        return;
    uint64_t rows = tensor->dims[1];
    if (rows == 0 || rows > POSITIONS_MAX)
        rows = POSITIONS_MAX; /* the shape is then refused */
    if (tensor_has_shape(lookup, tensor, lookup->model->embedding_size, rows, 1))
        *out = tensor_weight(lookup, tensor, 0, (uint32_t)rows);
}

static const char *block_stem(char out[static 48], uint32_t layer, const char *part)
{
    snprintf(out, 48, "blk.%u.%s", layer, part);
    return out;
}

static void take_layer(struct tensor_lookup *lookup, uint32_t index, struct bert_layer *layer)
{
    const struct td_model *model = lookup->model;
    uint32_t wide = model->embedding_size, ffn = model->ffn_size;
    uint32_t q_rows = model->head_count * model->head_size;
    uint32_t kv_rows = model->kv_head_count * model->head_size;
    char stem[48], name[64];
    struct bert_linear *qkv[] = {&layer->q, &layer->k, &layer->v};
    const uint32_t rows[] = {q_rows, kv_rows, kv_rows};
    static const char *const names[] = {"attn_q", "attn_k", "attn_v"};
    if (gguf_find_tensor(model->gguf,
                         part_name(name, block_stem(stem, index, "attn_qkv"), "weight")))
        take_linear(lookup, stem, wide, rows, qkv, 3);
    else
        for (int i = 0; i < 3; i++)
            take_linear(lookup, block_stem(stem, index, names[i]), wide, &rows[i], &qkv[i], 1);
    struct bert_linear *o = &layer->o, *gate = &layer->gate, *up = &layer->up;
    struct bert_linear *down = &layer->down;
    take_linear(lookup, block_stem(stem, index, "attn_output"), q_rows, &wide, &o, 1);
    take_norm(lookup, block_stem(stem, index, "attn_output_norm"), &layer->attention_norm);
    if (model->architecture->encoder_gated)
        take_linear(lookup, block_stem(stem, index, "ffn_gate"), wide, &ffn, &gate, 1);
    take_linear(lookup, block_stem(stem, index, "ffn_up"), wide, &ffn, &up, 1);
    take_linear(lookup, block_stem(stem, index, "ffn_down"), ffn, &wide, &down, 1);
    take_norm(lookup, block_stem(stem, index, "layer_output_norm"), &layer->output_norm);
}

static void take_embeddings(struct tensor_lookup *lookup, struct td_model *model, struct bert *bert)
{
    struct bert_linear tokens = {0}, *part = &tokens;
    take_linear(lookup, "token_embd", model->embedding_size, &model->vocab_count, &part, 1);
    model->embedding = tokens.weight;
    take_table(lookup, "token_types.weight", false, &bert->types);
    if (model->architecture->learned_positions)
        take_table(lookup, "position_embd.weight", true, &bert->positions);
    take_norm(lookup, "token_embd_norm", &bert->embedding_norm);
    if (lookup->status == TD_OK && bert->positions.rows != 0 &&
        bert->positions.rows < model->context_size)
        model->context_size = bert->positions.rows;
}

enum td_status bert_load(struct td_model *model, struct td_error *err)
{
    ASSERT(model->architecture->encoder && model->tokenizer != NULL && model->kernels != NULL);
    static const char *const allowed[] = {"tandem.", "cls.", NULL};
    struct tensor_lookup lookup;
    struct bert *bert =
        calloc(1, sizeof(*bert) + (size_t)model->layer_count * sizeof(bert->layers[0]));
    model->encoder = bert;
    if (bert == NULL)
        return model_fail(model, err, TD_NO_MEMORY, "no memory for %u layers", model->layer_count);
    enum td_status status = tensor_lookup_init(&lookup, model, err);
    if (status == TD_OK)
        take_embeddings(&lookup, model, bert);
    for (uint32_t i = 0; lookup.status == TD_OK && i < model->layer_count; i++)
        take_layer(&lookup, i, &bert->layers[i]);
    if (lookup.status == TD_OK)
        tensor_lookup_refuse_unused(&lookup, allowed);
    tensor_lookup_deinit(&lookup);
    return lookup.status;
}
