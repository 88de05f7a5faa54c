/* Packed forms (4 bits; GPTQ also 8):
 *   GPTQ  qweight i32 [in / 8, out]: nibble i % 8 of word [i / 8, o] is q of weight (o, i)
 *         qzeros  i32 [groups, out / 8], scales f16 [groups, out], g_idx i32 [in]: the group of i
 *         w = scale * (q - (zero + 1))
 *   AWQ   qweight i32 [in, out / 8]: nibble at[o % 8] of word [i, o / 8]; at = 0 4 1 5 2 6 3 7
 *         qzeros  i32 [groups, out / 8] in the same order, scales f16 [groups, out]
 *         w = scale * (q - zero), the group of i being i / (in / groups) */
#include "quant/hf_weights.h"

#include "base/error.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLS_MAX ((uint64_t)1 << 22)

static const struct hf_family families[] = {
    {.model_type = "llama", .architecture = "llama", .interleaved = true},
    {.model_type = "mistral", .architecture = "llama", .interleaved = true},
    {.model_type = "qwen2", .architecture = "qwen2"},
    {.model_type = "qwen3", .architecture = "qwen3"},
    {.model_type = "gemma2", .architecture = "gemma2", .norm_plus_one = true, .four_norms = true},
    {.model_type = "gemma3_text",
     .architecture = "gemma3",
     .norm_plus_one = true,
     .four_norms = true},
    {.model_type = "phi3", .architecture = "phi3"},
    {.model_type = "smollm3", .architecture = "smollm3", .interleaved = true},
    {.model_type = "granite", .architecture = "granite", .interleaved = true},
    {.model_type = "stablelm", .architecture = "stablelm", .epsilon = "layer_norm_eps"},
    {.model_type = "lfm2", .architecture = "lfm2", .short_conv = true, .epsilon = "norm_eps"},
    {.model_type = "nemotron-nas", .architecture = "deci", .interleaved = true},
};

const struct hf_family *hf_family_find(struct td_str model_type)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (str_equal(model_type, str_from(families[i].model_type)))
            return &families[i];
    return NULL;
}

const struct hf_family *hf_family_of(const char *architecture)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(architecture, families[i].architecture) == 0)
            return &families[i];
    return NULL;
}

const char *hf_family_list(void)
{
    return "llama, mistral, qwen2, qwen3, gemma2, gemma3_text, phi3, smollm3, granite, "
           "stablelm, lfm2, nemotron-nas";
}

/* --- names --- */

static const struct {
    const char *theirs, *ours;
} end_names[] = {{"model.embed_tokens", "token_embd"},
                 {"model.norm", "output_norm"},
                 {"model.embedding_norm", "token_embd_norm"},
                 {"lm_head", "output"}},
  layer_names[] = {{"input_layernorm", "attn_norm"},
                   {"self_attn.q_proj", "attn_q"},
                   {"self_attn.k_proj", "attn_k"},
                   {"self_attn.v_proj", "attn_v"},
                   {"self_attn.qkv_proj", "attn_qkv"},
                   {"self_attn.o_proj", "attn_output"},
                   {"self_attn.q_norm", "attn_q_norm"},
                   {"self_attn.k_norm", "attn_k_norm"},
                   {"mlp.gate_proj", "ffn_gate"},
                   {"mlp.up_proj", "ffn_up"},
                   {"mlp.gate_up_proj", "ffn_up"},
                   {"mlp.down_proj", "ffn_down"},
                   {"pre_feedforward_layernorm", "ffn_norm"},
                   {"post_feedforward_layernorm", "post_ffw_norm"},
                   {"self_attn.linear_attn", "attn_output"},
                   {"operator_norm", "attn_norm"}, /* the first of LFM2 */
                   {"ffn_norm", "ffn_norm"},
                   {"self_attn.out_proj", "attn_output"},
                   {"self_attn.q_layernorm", "attn_q_norm"},
                   {"self_attn.k_layernorm", "attn_k_norm"},
                   {"conv.conv", "shortconv.conv"},
                   {"conv.in_proj", "shortconv.in_proj"},
                   {"conv.out_proj", "shortconv.out_proj"},
                   {"feed_forward.w1", "ffn_gate"},
                   {"feed_forward.w2", "ffn_down"},
                   {"feed_forward.w3", "ffn_up"}};

enum { LFM2_NAMES = 11 };

/* Cuts ".weight", ".bias", ".qweight", ... off. */
static struct td_str cut_suffix(struct td_str name, struct td_str *suffix)
{
    size_t at = name.len;
    while (at > 0 && name.data[at - 1] != '.')
        at--;
    *suffix = str_slice(name, at, name.len);
    return str_slice(name, 0, at ? at - 1 : 0);
}

static const char *layer_name(const struct hf_family *family, struct td_str part)
{
    if (str_equal(part, STR("post_attention_layernorm")))
        return family->four_norms ? "post_attention_norm" : "ffn_norm";
    for (size_t i = 0; i < sizeof layer_names / sizeof *layer_names; i++)
        if (str_equal(part, str_from(layer_names[i].theirs)))
            return layer_names[i].ours;
    return NULL;
}

/* False when the name is not known. */
static bool translate(const struct hf_family *family, struct td_str stem, const char *suffix,
                      char out[static 65])
{
    for (size_t i = 0; i < sizeof end_names / sizeof *end_names; i++)
        if (str_equal(stem, str_from(end_names[i].theirs)))
            return snprintf(out, 65, "%s.%s", end_names[i].ours, suffix) < 65;
    static const struct td_str begin = {"model.layers.", 13};
    uint64_t layer;
    struct td_str rest = str_slice(stem, begin.len, stem.len), number;
    if (!str_starts_with(stem, begin) || !str_next(&rest, '.', &number) ||
        !str_to_u64(number, &layer) || layer > 9999)
        return false;
    const char *ours = layer_name(family, rest);
    return ours && snprintf(out, 65, "blk.%u.%s.%s", (unsigned)layer, ours, suffix) < 65;
}

bool hf_name_ours(const struct hf_family *family, struct td_str theirs, char out[static 65])
{
    return translate(family, theirs, "weight", out);
}

/* Of names with the same meaning it is the first; LFM2 has names of its own, which are last, and
 * phi3 the fused one. */
bool hf_name_theirs(const struct hf_family *family, struct td_str ours, char *out, size_t size)
{
    struct td_str rest = ours, part;
    uint64_t layer;
    bool fused = strcmp(family->architecture, "phi3") == 0;
    for (size_t i = 0; i < sizeof end_names / sizeof *end_names; i++)
        if (str_equal(ours, str_from(end_names[i].ours)))
            return snprintf(out, size, "%s", end_names[i].theirs) < (int)size;
    if (!str_next(&rest, '.', &part) || !str_equal(part, STR("blk")) ||
        !str_next(&rest, '.', &part) || !str_to_u64(part, &layer) || layer > 9999)
        return false;
    size_t count = sizeof layer_names / sizeof *layer_names;
    for (size_t n = 0; n < count; n++) {
        size_t i = family->short_conv ? (n + count - LFM2_NAMES) % count : n;
        if (str_equal(rest, str_from(layer_names[i].ours)) &&
            !(fused && strcmp(layer_names[i].theirs, "mlp.up_proj") == 0))
            return snprintf(out, size, "model.layers.%u.%s", (unsigned)layer,
                            layer_names[i].theirs) < (int)size;
    }
    return false;
}

/* --- tensors --- */

struct reading {
    struct hf_weights *weights;
    const struct hf_family *family;
    const struct safetensors *files;
    uint32_t head_size;
    const char *method; /* quant_method of config.json, or NULL */
    bool tied;
    struct td_error *err;
};

static enum td_status bad(const struct reading *reading, const char *name, const char *reason)
{
    return error_set(reading->err, TD_CORRUPT, "tensor '%.100s' %s", name, reason);
}

/* Finds the parts of a packed matrix. */
static enum td_status take_packed(const struct reading *reading, const char *name,
                                  struct td_str stem, struct hf_tensor *out)
{
    char part[600];
    const struct safetensor **const parts[] = {&out->scales, &out->zeros, &out->groups};
    static const char *const names[] = {"scales", "qzeros", "g_idx"};
    for (int i = 0; i < 3; i++) {
        snprintf(part, sizeof part, STR_FMT ".%s", STR_ARG(stem), names[i]);
        *parts[i] = safetensors_find(reading->files, part);
    }
    const struct safetensor *q = out->from, *scales = out->scales, *zeros = out->zeros;
    if (reading->method == NULL ||
        (strcmp(reading->method, "gptq") != 0 && strcmp(reading->method, "awq") != 0))
        return error_set(reading->err, TD_UNSUPPORTED,
                         "tensor '%.100s' is quantised by '%.40s'; gptq and awq are read", name,
                         reading->method ? reading->method : "an unknown method");
    out->packing = strcmp(reading->method, "gptq") == 0 ? HF_GPTQ : HF_AWQ;
    if (q->type != SAFE_I32 || q->dim_count != 2 || scales == NULL || zeros == NULL ||
        !safetensor_is_float(scales) || scales->dim_count != 2 || zeros->type != SAFE_I32 ||
        zeros->dim_count != 2 || scales->dims[0] != zeros->dims[0] || scales->dims[0] == 0)
        return bad(reading, name, "has no scales and zeros of its shape");
    out->rows = out->packing == HF_GPTQ ? q->dims[1] : q->dims[1] * 8;
    out->cols = out->packing == HF_GPTQ ? q->dims[0] * 8 : q->dims[0];
    if (out->rows > COLS_MAX || out->cols > COLS_MAX || scales->dims[1] != out->rows ||
        zeros->dims[1] * 8 != out->rows || out->cols % scales->dims[0] != 0)
        return bad(reading, name, "is not packed as four bits a weight");
    if (out->groups) {
        if (out->groups->type != SAFE_I32 || out->groups->count != out->cols)
            return bad(reading, name, "has a g_idx of another size");
        for (uint64_t i = 0; i < out->cols; i++) {
            uint32_t group;
            memcpy(&group, out->groups->data + 4 * i, sizeof group);
            if (group >= scales->dims[0])
                return bad(reading, name, "has a g_idx outside its groups");
        }
    }
    reading->weights->packed = out->packing == HF_GPTQ ? "gptq" : "awq";
    return TD_OK;
}

static enum td_status take_plain(const struct reading *reading, const char *name,
                                 struct hf_tensor *out)
{
    const struct safetensor *from = out->from;
    if (!safetensor_is_float(from))
        return error_set(reading->err, TD_UNSUPPORTED,
                         "tensor '%.100s' is not F32, F16, BF16 or F64", name);
    /* A convolution of each channel alone has a dimension of 1 in the middle. */
    bool conv = from->dim_count == 3 && from->dims[1] == 1;
    if (from->dim_count == 0 || (from->dim_count > 2 && !conv) || from->count == 0)
        return bad(reading, name, "is neither a vector nor a matrix");
    out->dim_count = conv ? 2 : from->dim_count;
    out->rows = out->dim_count == 2 ? from->dims[0] : 1;
    out->cols = from->dims[from->dim_count - 1];
    return out->cols > COLS_MAX ? bad(reading, name, "has absurdly long rows") : TD_OK;
}

static enum td_status take(const struct reading *reading, const struct safetensor *tensor)
{
    static const char *const parts[] = {".scales", ".qzeros", ".g_idx", ".inv_freq", NULL};
    struct hf_tensor out = {.from = tensor, .dim_count = 2};
    struct td_str name = str_from(tensor->name), suffix;
    if (str_starts_with(name, STR("language_model.")))
        name = str_slice(name, strlen("language_model."), name.len);
    for (int i = 0; parts[i]; i++)
        if (str_ends_with(name, str_from(parts[i])))
            return TD_OK; /* taken with its matrix, or computed from the configuration */
    if (str_starts_with(name, STR("vision_tower.")) ||
        str_starts_with(name, STR("multi_modal_projector.")))
        return TD_OK; /* only the text model is converted */
    struct td_str stem = cut_suffix(name, &suffix);
    bool packed = str_equal(suffix, STR("qweight"));
    bool bias = str_equal(suffix, STR("bias"));
    if ((!packed && !bias && !str_equal(suffix, STR("weight"))) ||
        !translate(reading->family, stem, bias ? "bias" : "weight", out.name))
        return error_set(reading->err, TD_UNSUPPORTED,
                         "tensor '%.100s' has no place in the architecture '%s'", tensor->name,
                         reading->family->architecture);
    if (reading->tied && strcmp(out.name, "output.weight") == 0)
        return TD_OK; /* the embedding once more */
    enum td_status status = packed ? take_packed(reading, tensor->name, stem, &out)
                                   : take_plain(reading, tensor->name, &out);
    if (status != TD_OK)
        return status;
    if (reading->method && bias) { /* GPTQ writes biases of zeros for layers that have none */
        bool zeros = true;
        for (uint64_t i = 0; zeros && i < tensor->count; i++) {
            float value;
            safetensor_read(tensor, i, 1, &value);
            zeros = value == 0;
        }
        if (zeros)
            return TD_OK;
    }
    bool norm = str_ends_with(str_from(out.name), STR("_norm.weight"));
    out.plus_one = norm && reading->family->norm_plus_one;
    bool rotated = str_find(str_from(out.name), STR(".attn_q."), 0) != SIZE_MAX ||
                   str_find(str_from(out.name), STR(".attn_k."), 0) != SIZE_MAX;
    if (rotated && reading->family->interleaved) {
        out.head_size = reading->head_size;
        if ((out.dim_count == 2 ? out.rows : out.cols) % out.head_size != 0)
            return bad(reading, tensor->name, "has no whole heads");
    }
    reading->weights->tensors[reading->weights->count++] = out;
    return TD_OK;
}

uint32_t hf_head_size(const struct json *config)
{
    int64_t head = json_int(json_get(config, "head_dim"), 0);
    int64_t wide = json_int(json_get(config, "hidden_size"), 0);
    int64_t heads = json_int(json_get(config, "num_attention_heads"), 0);
    if (head <= 0 && heads > 0)
        head = wide / heads;
    return head > 1 && head <= 4096 && head % 2 == 0 ? (uint32_t)head : 0;
}

static bool has(const struct hf_weights *weights, const char *name)
{
    for (size_t i = 0; i < weights->count; i++)
        if (strcmp(weights->tensors[i].name, name) == 0)
            return true;
    return false;
}

uint64_t hf_weights_rows(const struct hf_weights *weights, uint32_t layer, const char *part)
{
    char name[65];
    snprintf(name, sizeof name, "blk.%u.%s.weight", layer, part);
    for (size_t i = 0; i < weights->count; i++)
        if (strcmp(weights->tensors[i].name, name) == 0)
            return weights->tensors[i].rows;
    return 0;
}

/* --- rope --- */

static bool add_own(struct hf_weights *weights, const char *name, size_t count, float **values)
{
    struct hf_tensor *tensor = &weights->tensors[weights->count];
    *tensor = (struct hf_tensor){.packing = HF_OWN, .rows = 1, .cols = count, .dim_count = 1};
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    tensor->own = *values = calloc(count, sizeof **values);
    weights->count += *values != NULL;
    return *values != NULL;
}

/* Llama 3.1's stretching of slow rotations: transformers' modeling_rope_utils.py. */
static bool add_llama3(struct hf_weights *weights, const struct json *rope, double base,
                       uint32_t size)
{
    double factor = json_number(json_get(rope, "factor"), 8);
    double low = json_number(json_get(rope, "low_freq_factor"), 1);
    double high = json_number(json_get(rope, "high_freq_factor"), 4);
    double context = json_number(json_get(rope, "original_max_position_embeddings"), 8192);
    float *values;
    if (!add_own(weights, "rope_freqs.weight", size / 2, &values))
        return false;
    for (uint32_t i = 0; i < size / 2; i++) {
        double wave = 2 * acos(-1.0) * pow(base, 2.0 * i / size);
        double smooth = (context / wave - low) / (high - low);
        values[i] = wave < context / high  ? 1.0f
                    : wave > context / low ? (float)factor
                                           : (float)(1 / ((1 - smooth) / factor + smooth));
    }
    return true;
}

static bool add_factors(struct hf_weights *weights, const char *name, const struct json *list,
                        uint32_t size)
{
    float *values;
    if (json_count(list) != size / 2 || !add_own(weights, name, size / 2, &values))
        return false;
    for (uint32_t i = 0; i < size / 2; i++)
        values[i] = (float)json_number(json_at(list, i), 1);
    return true;
}

const struct json *hf_rope(const struct json *config)
{
    const struct json *rope = json_get(config, "rope_scaling");
    rope = json_absent(rope) ? json_get(config, "rope_parameters") : rope;
    const struct json *full = json_get(rope, "full_attention");
    return json_absent(full) ? rope : full;
}

double hf_rope_base(const struct json *config, bool sliding)
{
    if (sliding) {
        const struct json *own = json_get(json_get(config, "rope_parameters"), "sliding_attention");
        return json_number(json_get(own, "rope_theta"),
                           json_number(json_get(config, "rope_local_base_freq"), 0));
    }
    double base = json_number(json_get(hf_rope(config), "rope_theta"), 0);
    return base > 0 ? base : json_number(json_get(config, "rope_theta"), 10000);
}

double hf_rotary_part(const struct json *config)
{
    double part = json_number(json_get(config, "partial_rotary_factor"),
                              json_number(json_get(hf_rope(config), "partial_rotary_factor"), 1));
    return part > 0 && part <= 1 ? part : 1;
}

static enum td_status add_rope(const struct reading *reading, const struct json *config)
{
    const struct json *rope = hf_rope(config);
    struct td_str kind = json_text(json_get(rope, "rope_type"));
    kind = kind.len ? kind : json_text(json_get(rope, "type"));
    double base = hf_rope_base(config, false);
    double part = hf_rotary_part(config);
    uint32_t size = (uint32_t)(reading->head_size * part);
    bool done = true;
    if (str_equal(kind, STR("llama3")))
        done = add_llama3(reading->weights, rope, base, size);
    else if (str_equal(kind, STR("longrope")))
        done = add_factors(reading->weights, "rope_factors_long.weight",
                           json_get(rope, "long_factor"), size) &&
               add_factors(reading->weights, "rope_factors_short.weight",
                           json_get(rope, "short_factor"), size);
    return done ? TD_OK
                : error_set(reading->err, TD_CORRUPT,
                            "config.json: the factors of '" STR_FMT "' are not %u numbers",
                            STR_ARG(kind), size / 2);
}

enum td_status hf_weights_init(struct hf_weights *weights, const struct hf_family *family,
                               const struct json *config, const struct safetensors *files,
                               struct td_error *err)
{
    *weights = (struct hf_weights){0};
    struct reading reading = {
        .weights = weights,
        .family = family,
        .files = files,
        .head_size = hf_head_size(config),
        .method = json_cstr(json_get(json_get(config, "quantization_config"), "quant_method")),
        .tied = json_bool(json_get(config, "tie_word_embeddings"), family->norm_plus_one),
        .err = err};
    if (reading.head_size == 0)
        return error_set(err, TD_CORRUPT,
                         "config.json: no even head_dim, nor hidden_size and "
                         "num_attention_heads that give one");
    weights->tensors = calloc(safetensors_count(files) + 3, sizeof *weights->tensors);
    if (weights->tensors == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for tensors");
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < safetensors_count(files); i++)
        status = take(&reading, safetensors_at(files, i));
    weights->tied = !has(weights, "output.weight");
    if (status == TD_OK && !has(weights, "token_embd.weight"))
        status = error_set(err, TD_CORRUPT, "there is no model.embed_tokens.weight");
    return status == TD_OK ? add_rope(&reading, config) : status;
}

void hf_weights_deinit(struct hf_weights *weights)
{
    for (size_t i = 0; weights->tensors && i < weights->count; i++)
        free(weights->tensors[i].own);
    free(weights->tensors);
    weights->tensors = NULL;
}

/* --- reading --- */

static uint32_t word_at(const struct safetensor *tensor, uint64_t index)
{
    uint32_t word;
    memcpy(&word, tensor->data + 4 * index, sizeof word);
    return word;
}

static void read_packed(const struct hf_tensor *tensor, uint64_t row, float *out)
{
    static const unsigned awq_at[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    bool gptq = tensor->packing == HF_GPTQ;
    uint64_t out_words = tensor->rows / 8, per_group = tensor->cols / tensor->scales->dims[0];
    unsigned nibble = 4 * (gptq ? (unsigned)(row % 8) : awq_at[row % 8]);
    for (uint64_t i = 0; i < tensor->cols; i++) {
        uint64_t group = tensor->groups ? word_at(tensor->groups, i) : i / per_group;
        uint32_t zero = word_at(tensor->zeros, group * out_words + row / 8) >> nibble & 15u;
        uint32_t q = gptq ? word_at(tensor->from, i / 8 * tensor->rows + row) >> 4 * (i % 8) & 15u
                          : word_at(tensor->from, i * out_words + row / 8) >> nibble & 15u;
        float scale;
        safetensor_read(tensor->scales, group * tensor->rows + row, 1, &scale);
        out[i] = scale * (float)((int)q - (int)zero - (gptq ? 1 : 0));
    }
}

/* Element k of a head in pairs (2j, 2j + 1) is element j + (k % 2) * half of the halves. */
uint64_t hf_from_halves(uint64_t index, uint32_t head_size)
{
    uint64_t head = index / head_size, k = index % head_size;
    return head * head_size + k / 2 + k % 2 * (head_size / 2);
}

void hf_weights_read(const struct hf_weights *weights, size_t index, uint64_t row, float *out)
{
    const struct hf_tensor *tensor = &weights->tensors[index];
    size_t cols = (size_t)tensor->cols;
    if (tensor->head_size && tensor->dim_count == 2)
        row = hf_from_halves(row, tensor->head_size);
    if (tensor->packing == HF_OWN)
        memcpy(out, tensor->own, cols * sizeof *out);
    else if (tensor->packing != HF_PLAIN)
        read_packed(tensor, row, out);
    else if (tensor->head_size && tensor->dim_count == 1)
        for (size_t i = 0; i < cols; i++)
            safetensor_read(tensor->from, hf_from_halves(i, tensor->head_size), 1, out + i);
    else
        safetensor_read(tensor->from, row * cols, cols, out);
    for (size_t i = 0; tensor->plus_one && i < cols; i++)
        out[i] += 1.0f;
}
