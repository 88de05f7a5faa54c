/* Reads the heads of a model file from its metadata, checks them, and evaluates the probe. The
 * arrays in the file are not aligned, so they are copied once into aligned blocks that kernels can
 * read. The keys and their meaning are in docs/heads.md. */
#include "engine/model/heads.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "engine/model/model_keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ALIGN 64
/* The lowest answer of a probe. 0 means that there is no probe. */
#define PROBE_LEAST 1e-6f

struct load {
    struct td_model *model;
    struct heads *heads;
    struct td_error *err;
};

static enum td_status bad_key(const struct load *load, const char *key, const char *reason)
{
    return model_fail(load->model, load->err, TD_CORRUPT, "%s: %s", key, reason);
}

/* Memory that heads_free releases. NULL, with the error set, when there is none. */
static void *new_block(struct load *load, size_t bytes)
{
    void *block = aligned_alloc(BLOCK_ALIGN, (bytes + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN);
    if (block)
        load->heads->blocks[load->heads->block_count++] = block;
    else
        model_fail(load->model, load->err, TD_NO_MEMORY, "no memory for heads");
    return block;
}

/* Copies an array to aligned memory that kernels can read. */
static enum td_status keep(struct load *load, const void *data, size_t bytes, const void **out)
{
    void *block = new_block(load, bytes);
    if (block == NULL)
        return TD_NO_MEMORY;
    memcpy(block, data, bytes);
    *out = block;
    return TD_OK;
}

/* Reads `count` finite floats. When the key is absent, *out does not change. */
static enum td_status take_floats(struct load *load, const char *key, uint64_t count, bool required,
                                  const float **out)
{
    enum gguf_type type;
    const void *data, *block = NULL;
    uint64_t found;
    if (!gguf_has(load->model->gguf, key))
        return required ? bad_key(load, key, "missing") : TD_OK;
    if (!gguf_get_array(load->model->gguf, key, &type, &data, &found) || type != GGUF_F32)
        return bad_key(load, key, "not an array of float32");
    if (found != count)
        return model_fail(load->model, load->err, TD_CORRUPT, "%s: %llu numbers, expected %llu",
                          key, (unsigned long long)found, (unsigned long long)count);
    enum td_status status = keep(load, data, (size_t)count * sizeof(float), &block);
    for (uint64_t i = 0; status == TD_OK && i < count; i++)
        if (!isfinite(((const float *)block)[i]))
            status = bad_key(load, key, "holds a value that is no number");
    *out = block;
    return status;
}

/* --- exits --- */

/* Reads a matrix whose rows have the form of a tensor type. */
static enum td_status take_output(struct load *load, uint32_t layer, struct weight *out)
{
    const struct td_model *model = load->model;
    char data_key[64], type_key[64];
    enum gguf_type element;
    const void *data;
    uint64_t found;
    uint32_t type = TENSOR_F32;
    snprintf(data_key, sizeof data_key, "tandem.exit.%u.output.data", layer);
    snprintf(type_key, sizeof type_key, "tandem.exit.%u.output.type", layer);
    *out = model->output;
    if (!gguf_has(model->gguf, data_key))
        return TD_OK;
    if (gguf_has(model->gguf, type_key) && !gguf_get_u32(model->gguf, type_key, &type))
        return bad_key(load, type_key, "not one unsigned integer");
    const struct tensor_traits *traits = tensor_traits_get(type);
    if (traits == NULL || model->embedding_size % traits->block_elements != 0)
        return bad_key(load, type_key, "no type that is supported for rows of this size");
    size_t row_bytes = model->embedding_size / traits->block_elements * traits->block_bytes;
    if (!gguf_get_array(model->gguf, data_key, &element, &data, &found) || element != GGUF_U8 ||
        found != (uint64_t)row_bytes * model->vocab_count)
        return bad_key(load, data_key, "not the bytes (uint8) of [vocabulary, embedding]");
    *out = (struct weight){.row_bytes = row_bytes,
                           .rows = model->vocab_count,
                           .cols = model->embedding_size,
                           .type = (enum tensor_type)type,
                           .form = model->kernels->form_of((enum tensor_type)type),
                           .number = WEIGHT_UNNUMBERED};
    return keep(load, data, (size_t)found, &out->data);
}

static enum td_status take_exit(struct load *load, uint32_t layer)
{
    struct heads *heads = load->heads;
    uint32_t before = heads->exit_count ? heads->exits[heads->exit_count - 1].layer : 0;
    if (layer <= before || layer >= load->model->layer_count)
        return bad_key(load, "tandem.exit.layers", "not ascending, or not inside the model");
    struct exit_head *head = &heads->exits[heads->exit_count++];
    *head = (struct exit_head){.layer = layer, .norm = load->model->output_norm};
    char key[64];
    snprintf(key, sizeof key, "tandem.exit.%u.norm", layer);
    enum td_status status = take_floats(load, key, load->model->embedding_size, false, &head->norm);
    return status == TD_OK ? take_output(load, layer, &head->output) : status;
}

static enum td_status take_exits(struct load *load)
{
    const char *key = "tandem.exit.layers";
    enum gguf_type type;
    const void *data;
    uint64_t count;
    if (!gguf_has(load->model->gguf, key))
        return TD_OK;
    if (!gguf_get_array(load->model->gguf, key, &type, &data, &count) ||
        (type != GGUF_U32 && type != GGUF_I32) || count == 0 || count > EXITS_MAX)
        return bad_key(load, key, "not an array of 1 to 16 integers");
    enum td_status status = TD_OK;
    for (uint64_t i = 0; status == TD_OK && i < count; i++) {
        uint32_t layer;
        memcpy(&layer, (const uint8_t *)data + 4 * i, sizeof layer);
        status = take_exit(load, layer);
    }
    return status;
}

/* --- probe --- */

static enum td_status take_input(struct load *load)
{
    struct td_str input = STR("last");
    struct probe *probe = &load->heads->probe;
    const char *key = "tandem.probe.input";
    if (gguf_has(load->model->gguf, key) && !gguf_get_string(load->model->gguf, key, &input))
        return bad_key(load, key, "not a string");
    probe->last = str_equal(input, STR("last")) || str_equal(input, STR("last+mean"));
    probe->mean = str_equal(input, STR("mean")) || str_equal(input, STR("last+mean"));
    return probe->last || probe->mean ? TD_OK
                                      : bad_key(load, key, "not 'last', 'mean' or 'last+mean'");
}

/* Reads one stage. Its width is the length of its bias. */
static enum td_status take_stage(struct load *load, uint32_t index, uint32_t in)
{
    struct probe_stage *stage = &load->heads->probe.stages[index];
    char weight[48], bias[48];
    snprintf(weight, sizeof weight, "tandem.probe.%u.weight", index);
    snprintf(bias, sizeof bias, "tandem.probe.%u.bias", index);
    uint64_t out = gguf_array_count(load->model->gguf, bias);
    if (out == 0 || out > PROBE_WIDTH_MAX)
        return bad_key(load, bias, "not an array of 1 to 256 numbers");
    stage->in = in;
    stage->out = (uint32_t)out;
    load->heads->probe.stage_count++;
    enum td_status status = take_floats(load, bias, out, true, &stage->bias);
    return status == TD_OK ? take_floats(load, weight, out * in, true, &stage->weight) : status;
}

/* Copies the columns of the first stage that belong to the mean into a matrix of their own. */
static enum td_status split_mean(struct load *load)
{
    struct probe *probe = &load->heads->probe;
    const struct probe_stage *first = &probe->stages[0];
    size_t wide = load->model->embedding_size, begin = probe->last ? wide : 0;
    float *weight = new_block(load, first->out * wide * sizeof *weight);
    if (weight == NULL)
        return TD_NO_MEMORY;
    for (uint32_t row = 0; row < first->out; row++)
        memcpy(weight + row * wide, first->weight + row * (size_t)first->in + begin,
               wide * sizeof *weight);
    probe->mean_weight = (struct weight){.data = weight,
                                         .row_bytes = wide * sizeof *weight,
                                         .rows = first->out,
                                         .cols = (uint32_t)wide,
                                         .type = TENSOR_F32,
                                         .form = ACTIVATION_F32,
                                         .number = WEIGHT_UNNUMBERED};
    return TD_OK;
}

static enum td_status take_probe(struct load *load)
{
    const struct td_model *model = load->model;
    struct probe *probe = &load->heads->probe;
    const char *key = "tandem.probe.layer";
    if (!gguf_has(model->gguf, key))
        return TD_OK;
    if (!gguf_get_u32(model->gguf, key, &probe->layer) || probe->layer > model->layer_count)
        return bad_key(load, key, "not a number of layers that the model has");
    enum td_status status = take_input(load);
    uint32_t in = model->embedding_size * (probe->last && probe->mean ? 2 : 1);
    for (uint32_t i = 0; status == TD_OK && i < PROBE_STAGES_MAX; i++) {
        char name[48];
        snprintf(name, sizeof name, "tandem.probe.%u.bias", i);
        if (i > 0 && !gguf_has(model->gguf, name))
            break;
        status = take_stage(load, i, in);
        in = probe->stages[i].out;
    }
    if (status == TD_OK && in != 1)
        status = bad_key(load, key, "the probe's last stage must have one output");
    return status == TD_OK && probe->mean ? split_mean(load) : status;
}

/* --- both --- */

enum td_status heads_load(struct td_model *model, struct td_error *err)
{
    struct load load = {.model = model, .err = err};
    if (!gguf_has(model->gguf, "tandem.exit.layers") &&
        !gguf_has(model->gguf, "tandem.probe.layer"))
        return TD_OK;
    if (model->architecture->layer_norm) /* a head's norm has no biases */
        return model_fail(model, err, TD_UNSUPPORTED, "heads beside LayerNorms");
    load.heads = model->heads = calloc(1, sizeof *model->heads);
    if (load.heads == NULL)
        return model_fail(model, err, TD_NO_MEMORY, "no memory for heads");
    enum td_status status = take_exits(&load);
    return status == TD_OK ? take_probe(&load) : status;
}

void heads_free(struct heads *heads)
{
    if (heads == NULL)
        return;
    for (uint32_t i = 0; i < heads->block_count; i++)
        free(heads->blocks[i]);
    free(heads);
}

const struct exit_head *heads_exit_at(const struct td_model *model, uint32_t layer)
{
    for (uint32_t i = 0; model->heads && i < model->heads->exit_count; i++)
        if (model->heads->exits[i].layer == layer)
            return &model->heads->exits[i];
    return NULL;
}

uint32_t heads_kept_width(const struct td_model *model)
{
    return model->heads ? model->heads->probe.mean_weight.rows : 0;
}

/* --- evaluation --- */

float probe_evaluate(const struct probe *probe, const float *hidden, const double *kept_mean)
{
    ASSERT(probe->stage_count > 0);
    ASSERT(!probe->mean || kept_mean != NULL);
    double values[PROBE_WIDTH_MAX], next[PROBE_WIDTH_MAX];
    const struct probe_stage *first = &probe->stages[0];
    for (uint32_t row = 0; row < first->out; row++) {
        const float *weight = first->weight + (size_t)row * first->in;
        double sum = (double)first->bias[row] + (probe->mean ? kept_mean[row] : 0);
        uint32_t cols = probe->mean ? first->in - probe->mean_weight.cols : first->in;
        for (uint32_t i = 0; i < cols; i++)
            sum += (double)weight[i] * (double)hidden[i];
        values[row] = sum;
    }
    for (uint32_t s = 1; s < probe->stage_count; s++) {
        const struct probe_stage *stage = &probe->stages[s];
        for (uint32_t row = 0; row < stage->out; row++) {
            next[row] = (double)stage->bias[row];
            for (uint32_t i = 0; i < stage->in; i++)
                next[row] += (double)stage->weight[(size_t)row * stage->in + i] *
                             (values[i] > 0 ? values[i] : 0);
        }
        memcpy(values, next, stage->out * sizeof *values);
    }
    double probability = 1 / (1 + exp(-values[0]));
    return probability > PROBE_LEAST ? (float)probability : PROBE_LEAST;
}
