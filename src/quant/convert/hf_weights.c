/* Packed forms (4 bits; GPTQ also 8):
 *   GPTQ  qweight i32 [in / 8, out]: nibble i % 8 of word [i / 8, o] is q of weight (o, i)
 *         qzeros  i32 [groups, out / 8], scales f16 [groups, out], g_idx i32 [in]: the group of i
 *         w = scale * (q - (zero + 1))
 *   AWQ   qweight i32 [in, out / 8]: nibble at[o % 8] of word [i, o / 8]; at = 0 4 1 5 2 6 3 7
 *         qzeros  i32 [groups, out / 8] in the same order, scales f16 [groups, out]
 *         w = scale * (q - zero), the group of i being i / (in / groups)
 *   MXFP4 blocks u8 [experts, out, in / 32, 16]: nibble i % 2 of byte i / 2 of a group, low first
 *         scales u8 [experts, out, in / 32]; values as GGUF's (kernels/formats.h) */
#include "quant/convert/hf_weights.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "kernels/formats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLS_MAX ((uint64_t)1 << 22)
#define EXPERTS_MAX 1024 /* the engine's */

/* --- tensors --- */

/* Cuts ".weight", ".bias", ".qweight", ... off. */
static struct td_str cut_suffix(struct td_str name, struct td_str *suffix)
{
    size_t at = name.len;
    while (at > 0 && name.data[at - 1] != '.')
        at--;
    *suffix = str_slice(name, at, name.len);
    return str_slice(name, 0, at ? at - 1 : 0);
}

struct reading {
    struct hf_weights *weights;
    const struct hf_family *family;
    const struct safetensors *files;
    uint32_t head_size, turned; /* elements of a head, and those that rope turns */
    uint32_t experts, groups;   /* groups of Mamba-2 layers */
    const char *method;         /* quant_method of config.json, or NULL */
    bool tied;
    struct td_error *err;
};

static enum td_status bad(const struct reading *reading, const char *name, const char *reason)
{
    return error_set(reading->err, TD_CORRUPT, "tensor '%.100s' %s", name, reason);
}

static enum td_status no_place(const struct reading *reading, const struct safetensor *tensor)
{
    return error_set(reading->err, TD_UNSUPPORTED,
                     "tensor '%.100s' has no place in the architecture '%s'", tensor->name,
                     reading->family->architecture);
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
    bool experts = from->dim_count == 3 && strstr(out->name, "_exps.");
    bool conv = from->dim_count == 3 && !experts && from->dims[1] == 1;
    if (from->dim_count == 0 || (from->dim_count > 2 && !conv && !experts) || from->count == 0)
        return bad(reading, name, "is neither a vector nor a matrix");
    if (experts && from->dims[0] != reading->experts)
        return bad(reading, name, "has another number of experts than config.json");
    out->dim_count = conv ? 2 : from->dim_count;
    out->experts = experts ? reading->experts : 0;
    out->rows = out->dim_count == 1 ? 1 : from->dims[experts];
    out->cols = from->dims[from->dim_count - 1];
    return out->cols > COLS_MAX ? bad(reading, name, "has absurdly long rows") : TD_OK;
}

/* Tables of Mamba-2 layers, whose shapes are others here. */
static enum td_status take_ssm(const struct reading *reading, const char *name,
                               struct hf_tensor *out)
{
    bool decay = str_ends_with(str_from(out->name), STR(".ssm_a"));
    bool column = decay || str_ends_with(str_from(out->name), STR(".ssm_d"));
    if (out->dim_count != 1 || (!column && !strstr(out->name, ".ssm_norm.")))
        return TD_OK;
    uint64_t rows = column ? out->cols : reading->groups;
    if (rows == 0 || out->cols % rows != 0)
        return bad(reading, name, "has no size that the groups of config.json share");
    out->minus_exp = decay;
    out->dim_count = 2;
    out->cols /= rows;
    out->rows = rows;
    return TD_OK;
}

/* "block.experts.3.w1.weight": the tensor of one expert. */
static enum td_status take_expert(const struct reading *reading, const struct safetensor *tensor,
                                  struct td_str name, size_t at)
{
    struct hf_weights *weights = reading->weights;
    struct hf_tensor *to = NULL;
    struct td_str rest = str_slice(name, at + strlen(".experts."), name.len), number, suffix;
    char without[512], ours[65];
    uint64_t expert;
    if (!str_next(&rest, '.', &number) || !str_to_u64(number, &expert) ||
        expert >= reading->experts)
        return bad(reading, tensor->name, "is of an expert that config.json does not have");
    int len = snprintf(without, sizeof without, STR_FMT ".experts." STR_FMT,
                       STR_ARG(str_slice(name, 0, at)), STR_ARG(rest));
    struct td_str stem = cut_suffix(str_from(without), &suffix);
    if (len >= (int)sizeof without || !str_equal(suffix, STR("weight")) ||
        !hf_name_of(reading->family, stem, HF_WHOLE, "weight", ours))
        return no_place(reading, tensor);
    if (!safetensor_is_float(tensor) || tensor->dim_count != 2 || tensor->count == 0 ||
        tensor->dims[1] > COLS_MAX)
        return bad(reading, tensor->name, "is no matrix of floats");
    for (size_t i = weights->count; i > 0 && to == NULL; i--)
        to = strcmp(weights->tensors[i - 1].name, ours) == 0 ? &weights->tensors[i - 1] : NULL;
    if (to == NULL) {
        to = &weights->tensors[weights->count];
        *to = (struct hf_tensor){.from = tensor,
                                 .rows = tensor->dims[0],
                                 .cols = tensor->dims[1],
                                 .dim_count = 3,
                                 .experts = reading->experts,
                                 .each = calloc(reading->experts, sizeof(struct safetensor *))};
        snprintf(to->name, sizeof to->name, "%s", ours);
        weights->count += to->each != NULL;
    }
    if (to->each == NULL)
        return error_set(reading->err, TD_NO_MEMORY, "no memory for experts");
    if (tensor->dims[0] != to->rows || tensor->dims[1] != to->cols || to->each[expert])
        return bad(reading, tensor->name, "has not the shape of the other experts");
    to->each[expert] = tensor;
    return TD_OK;
}

static enum td_status check_experts(const struct reading *reading)
{
    const struct hf_weights *weights = reading->weights;
    for (size_t i = 0; i < weights->count; i++)
        for (uint32_t e = 0; weights->tensors[i].each && e < weights->tensors[i].experts; e++)
            if (weights->tensors[i].each[e] == NULL)
                return error_set(reading->err, TD_CORRUPT, "%s: expert %u is missing",
                                 weights->tensors[i].name, e);
    return TD_OK;
}

/* Sets the shape of one tensor of gpt-oss's experts, and where its elements are: every second row
 * for gate and up, which alternate there (parts = 2), or all rows of down (1). Matrices of floats
 * are transposed there. end: what follows the name of the matrix. */
static enum td_status take_shape(const struct reading *reading, const char *end, uint64_t parts,
                                 struct hf_tensor *out)
{
    const struct safetensor *from = out->from;
    char name[600];
    bool bias = strcmp(end, "_bias") == 0, blocks = strcmp(end, "_blocks") == 0;
    uint32_t dims = bias ? 2 : blocks ? 4 : 3;
    bool fits = from->dim_count == dims && from->count && from->dims[0] == reading->experts &&
                (blocks ? from->type == SAFE_U8 : safetensor_is_float(from));
    uint64_t rows = from->dims[blocks || bias ? 1 : 2];
    uint64_t cols = bias ? rows / parts : blocks ? from->dims[2] * BLOCK_32 : from->dims[1];
    if (blocks) {
        snprintf(name, sizeof name, "%.*sscales", (int)strlen(from->name) - 6, from->name);
        const struct safetensor *scales = safetensors_find(reading->files, name);
        fits = fits && from->dims[3] == BLOCK_32 / 2 && scales && scales->type == SAFE_U8 &&
               scales->dim_count == 3 && memcmp(scales->dims, from->dims, 3 * sizeof rows) == 0;
        fits = fits && memchr(scales->data, 0xff, (size_t)scales->bytes) == NULL; /* NaN */
        out->scales = scales;
        out->packing = HF_MXFP4;
    }
    if (!fits || rows % parts != 0 || cols > COLS_MAX)
        return bad(reading, from->name, "has no shape of experts that fits config.json and scales");
    out->dim_count = bias ? 2 : 3;
    out->experts = bias ? 0 : reading->experts;
    out->rows = bias ? reading->experts : rows / parts;
    out->cols = cols;
    out->expert_by = rows * cols;
    out->row_by = bias ? rows : blocks ? parts * cols : parts;
    out->col_by = bias ? parts : blocks ? 1 : rows;
    return TD_OK;
}

/* "mlp.experts.gate_up_proj" and others of gpt-oss, each a tensor of all experts. */
static enum td_status take_joint(const struct reading *reading, const struct safetensor *tensor,
                                 struct td_str name, size_t at)
{
    static const char *const parts[] = {"gate_proj", "up_proj", "down_proj"};
    struct hf_weights *weights = reading->weights;
    const char *end = name.data + at + strlen(".experts."); /* the name ends with 0 */
    char stem[600];
    bool down = *end == 'd';
    struct td_str begin = down ? STR("down_proj") : STR("gate_up_proj");
    bool known = str_starts_with(str_from(end), begin);
    end += known ? begin.len : 0;
    if (known && strcmp(end, "_scales") == 0)
        return TD_OK; /* taken with their blocks */
    known = known && (*end == '\0' || strcmp(end, "_bias") == 0 || strcmp(end, "_blocks") == 0);
    for (unsigned i = down ? 2 : 0; known && i < (down ? 3 : 2); i++) {
        struct hf_tensor *out = &weights->tensors[weights->count];
        *out = (struct hf_tensor){.from = tensor};
        snprintf(stem, sizeof stem, STR_FMT ".experts.%s", STR_ARG(str_slice(name, 0, at)),
                 parts[i]);
        known = hf_name_of(reading->family, str_from(stem), HF_WHOLE,
                           strcmp(end, "_bias") == 0 ? "bias" : "weight", out->name);
        enum td_status status = take_shape(reading, end, down ? 1 : 2, out);
        if (status != TD_OK)
            return status;
        if (i == 1) /* the second row */
            out->first = out->packing == HF_MXFP4 ? out->cols : 1;
        weights->count++;
    }
    return known ? TD_OK : no_place(reading, tensor);
}

static enum td_status take_half(const struct reading *reading, const struct safetensor *tensor,
                                struct td_str stem, struct td_str suffix, enum hf_half half);

static enum td_status take(const struct reading *reading, const struct safetensor *tensor)
{
    static const char *const parts[] = {".scales", ".qzeros", ".g_idx", ".inv_freq", NULL};
    static const char *const others[] = {"vision_tower.", "multi_modal_projector.", "audio_tower.",
                                         "embed_vision.", "embed_audio."};
    struct td_str name = str_from(tensor->name), suffix;
    char own[512]; /* "model.language_model.x" is "model.x" */
    if (str_starts_with(name, STR("language_model.")))
        name = str_slice(name, strlen("language_model."), name.len);
    if (str_starts_with(name, STR("model.language_model.")) && name.len < sizeof own) {
        snprintf(own, sizeof own, "model." STR_FMT,
                 STR_ARG(str_slice(name, strlen("model.language_model."), name.len)));
        name = str_from(own);
    }
    for (int i = 0; parts[i]; i++)
        if (str_ends_with(name, str_from(parts[i])))
            return TD_OK; /* taken with its matrix, or computed from the configuration */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_find(str_slice(name, 0, 40), str_from(others[i]), 0) != SIZE_MAX)
            return TD_OK; /* only the text model is converted */
    size_t expert = str_find(name, STR(".experts."), 0);
    if (expert != SIZE_MAX)
        return (reading->family->gpt_oss ? take_joint : take_expert)(reading, tensor, name, expert);
    struct td_str stem = cut_suffix(name, &suffix);
    char first[65];
    if (!hf_name_of(reading->family, stem, HF_FIRST_HALF, "weight", first))
        return take_half(reading, tensor, stem, suffix, HF_WHOLE);
    enum td_status status = take_half(reading, tensor, stem, suffix, HF_FIRST_HALF);
    return status == TD_OK ? take_half(reading, tensor, stem, suffix, HF_SECOND_HALF) : status;
}

/* The whole tensor, or half of its rows. */
static enum td_status take_half(const struct reading *reading, const struct safetensor *tensor,
                                struct td_str stem, struct td_str suffix, enum hf_half half)
{
    struct hf_tensor out = {.from = tensor, .dim_count = 2};
    bool packed = str_equal(suffix, STR("qweight"));
    bool bias = str_equal(suffix, STR("bias"));
    bool known = hf_name_of_bare(stem, suffix, out.name);
    if (!known && (packed || bias || str_equal(suffix, STR("weight"))))
        known = hf_name_of(reading->family, stem, half, bias ? "bias" : "weight", out.name);
    if (!known || (packed && half != HF_WHOLE))
        return no_place(reading, tensor);
    if (reading->tied && strcmp(out.name, "output.weight") == 0)
        return TD_OK; /* the embedding once more */
    char *shared = reading->experts == 0 ? strstr(out.name, "_shexp") : NULL;
    if (shared) /* the only feed-forward block */
        memmove(shared, shared + strlen("_shexp"), strlen(shared + strlen("_shexp")) + 1);
    enum td_status status = packed ? take_packed(reading, tensor->name, stem, &out)
                                   : take_plain(reading, tensor->name, &out);
    if (status == TD_OK && reading->family->ssm)
        status = take_ssm(reading, tensor->name, &out);
    if (status != TD_OK)
        return status;
    out.expert_by = out.rows * out.cols;
    out.row_by = out.cols;
    out.col_by = 1;
    if (half != HF_WHOLE && (out.dim_count == 1 || out.rows % 2 != 0))
        return bad(reading, tensor->name, "has no two halves of rows");
    out.rows = half == HF_WHOLE ? out.rows : out.rows / 2;
    out.first = half == HF_SECOND_HALF ? out.rows * out.cols : 0;
    /* GPTQ writes biases of zeros for layers that have none. */
    if (reading->method && bias && !reading->family->gpt_oss) {
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
        out.turned = reading->turned;
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

const struct hf_tensor *hf_weights_find(const struct hf_weights *weights, const char *name)
{
    for (size_t i = 0; i < weights->count; i++)
        if (strcmp(weights->tensors[i].name, name) == 0)
            return &weights->tensors[i];
    return NULL;
}

uint32_t hf_global_head_size(const struct hf_weights *weights)
{
    uint64_t most = 0;
    for (size_t i = 0; i < weights->count; i++)
        if (str_ends_with(str_from(weights->tensors[i].name), STR(".attn_q_norm.weight")) &&
            weights->tensors[i].cols > most)
            most = weights->tensors[i].cols;
    return (uint32_t)most;
}

uint32_t hf_expert_count(const struct json *config)
{
    static const char *const names[] = {"num_local_experts", "num_experts"};
    int64_t count = 0;
    for (int i = 0; i < 2 && count == 0; i++)
        count = json_int(json_get(config, names[i]), 0);
    return count > 0 && count <= EXPERTS_MAX ? (uint32_t)count : 0;
}

const struct hf_tensor *hf_weights_first(const struct hf_weights *weights, const char *part)
{
    char end[48];
    snprintf(end, sizeof end, ".%s.weight", part);
    for (size_t i = 0; i < weights->count; i++)
        if (str_ends_with(str_from(weights->tensors[i].name), str_from(end)))
            return &weights->tensors[i];
    return NULL;
}

uint64_t hf_weights_rows(const struct hf_weights *weights, uint32_t layer, const char *part)
{
    char name[65];
    snprintf(name, sizeof name, "blk.%u.%s.weight", layer, part);
    const struct hf_tensor *found = hf_weights_find(weights, name);
    return found ? found->rows : 0;
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

/* Gemma 4: the last pairs of a head do not turn (modeling_rope_utils.py, "proportional"). */
static bool add_proportional(struct hf_weights *weights, double part)
{
    float *values;
    uint32_t size = hf_global_head_size(weights);
    if (size == 0 || !add_own(weights, "rope_freqs.weight", size / 2, &values))
        return false;
    for (uint32_t i = 0; i < size / 2; i++)
        values[i] = i < (uint32_t)(part * size / 2) ? 1.0f : 1e30f;
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
    base = base > 0 ? base : json_number(json_get(config, "rope_theta"), 10000);
    /* Hunyuan stretches the context by its base. */
    double alpha = json_number(json_get(hf_rope(config), "alpha"), 0), size = hf_head_size(config);
    return alpha > 0 && size > 2 ? base * pow(alpha, size / (size - 2)) : base;
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
    else if (str_equal(kind, STR("proportional")))
        done = add_proportional(reading->weights, part);
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
        .turned = (uint32_t)(hf_head_size(config) * hf_rotary_part(config)) / 2 * 2,
        .experts = hf_expert_count(config),
        .groups = (uint32_t)json_int(json_get(config, "mamba_n_groups"),
                                     json_int(json_get(config, "n_groups"), 0)),
        .tied = json_bool(json_get(config, "tie_word_embeddings"),
                          family->norm_plus_one || family->two_heads),
        .err = err};
    if (reading.head_size == 0)
        return error_set(err, TD_CORRUPT,
                         "config.json: no even head_dim, nor hidden_size and "
                         "num_attention_heads that give one");
    /* Some are cut in two, and rope has up to three of its own. */
    weights->tensors = calloc(2 * safetensors_count(files) + 3, sizeof *weights->tensors);
    if (weights->tensors == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for tensors");
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < safetensors_count(files); i++)
        status = take(&reading, safetensors_at(files, i));
    if (status == TD_OK)
        status = check_experts(&reading);
    weights->tied = !hf_weights_find(weights, "output.weight");
    if (status == TD_OK && !hf_weights_find(weights, "token_embd.weight"))
        status = error_set(err, TD_CORRUPT, "there is no model.embed_tokens.weight");
    return status == TD_OK ? add_rope(&reading, config) : status;
}

void hf_weights_deinit(struct hf_weights *weights)
{
    for (size_t i = 0; weights->tensors && i < weights->count; i++) {
        free(weights->tensors[i].own);
        free(weights->tensors[i].each);
    }
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

/* The same where rope turns only the first elements of a head. */
static uint64_t from_halves(const struct hf_tensor *tensor, uint64_t index)
{
    uint64_t k = index % tensor->head_size;
    return k < tensor->turned ? index - k + hf_from_halves(k, tensor->turned) : index;
}

static uint64_t row_at(const struct hf_tensor *tensor, uint64_t row)
{
    return tensor->first + row / tensor->rows * tensor->expert_by +
           row % tensor->rows * tensor->row_by;
}

/* Nibble i stands in GGUF in byte i % 16: the low one if i < 16. */
void hf_weights_copy(const struct hf_weights *weights, size_t index, uint64_t row, uint8_t *out)
{
    const struct hf_tensor *tensor = &weights->tensors[index];
    uint64_t group = row_at(tensor, row) / BLOCK_32, end = group + tensor->cols / BLOCK_32;
    for (; group < end; group++) {
        const uint8_t *pairs = tensor->from->data + group * (BLOCK_32 / 2);
        *out++ = tensor->scales->data[group];
        for (unsigned i = 0; i < BLOCK_32 / 2; i++) {
            unsigned shift = i % 2 * 4;
            *out++ =
                (uint8_t)((pairs[i / 2] >> shift & 15) | (pairs[8 + i / 2] >> shift & 15) << 4);
        }
    }
}

static void read_mxfp4(const struct hf_tensor *tensor, uint64_t row, float *out)
{
    uint64_t at = row_at(tensor, row);
    for (uint64_t i = 0; i < tensor->cols; i++, at++)
        out[i] = e8m0_half(tensor->scales->data[at / BLOCK_32]) *
                 (float)mxfp4_values[tensor->from->data[at / 2] >> at % 2 * 4 & 15];
}

void hf_weights_read(const struct hf_weights *weights, size_t index, uint64_t row, float *out)
{
    const struct hf_tensor *tensor = &weights->tensors[index];
    size_t cols = (size_t)tensor->cols;
    if (tensor->head_size && tensor->dim_count == 2)
        row = from_halves(tensor, row);
    if (tensor->packing == HF_OWN)
        memcpy(out, tensor->own, cols * sizeof *out);
    else if (tensor->packing == HF_MXFP4)
        read_mxfp4(tensor, row, out);
    else if (tensor->packing != HF_PLAIN)
        read_packed(tensor, row, out);
    else if (tensor->head_size && tensor->dim_count == 1)
        for (size_t i = 0; i < cols; i++)
            safetensor_read(tensor->from, from_halves(tensor, i), 1, out + i);
    else if (tensor->each)
        safetensor_read(tensor->each[row / tensor->rows], row % tensor->rows * cols, cols, out);
    else
        for (size_t i = 0; i < cols; i += tensor->col_by == 1 ? cols : 1)
            safetensor_read(tensor->from, row_at(tensor, row) + i * tensor->col_by,
                            tensor->col_by == 1 ? cols : 1, out + i);
    for (size_t i = 0; tensor->plus_one && i < cols; i++)
        out[i] += 1.0f;
    for (size_t i = 0; tensor->minus_exp && i < cols; i++)
        out[i] = -expf(out[i]);
}
