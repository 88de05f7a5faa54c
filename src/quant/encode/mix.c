/* The rules are those of llama.cpp (llama-quant.cpp, llama_tensor_get_type_impl), as a table. */
#include "quant/encode/mix.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <stdio.h>

struct mix {
    const char *name;
    uint32_t file_type;
    enum tensor_type type; /* of matrices that no rule names */
};

enum { NO_FILE_TYPE = 1024 }; /* llama.cpp's number for "guessed" */

static const struct mix mixes[] = {
    {"F32", 0, TENSOR_F32},        {"F16", 1, TENSOR_F16},
    {"BF16", 32, TENSOR_BF16},     {"Q8_0", 7, TENSOR_Q8_0},
    {"Q6_K", 18, TENSOR_Q6_K},     {"Q5_K_M", 17, TENSOR_Q5_K},
    {"Q5_K_S", 16, TENSOR_Q5_K},   {"Q5_1", 9, TENSOR_Q5_1},
    {"Q5_0", 8, TENSOR_Q5_0},      {"Q4_K_M", 15, TENSOR_Q4_K},
    {"Q4_K_S", 14, TENSOR_Q4_K},   {"Q4_1", 3, TENSOR_Q4_1},
    {"Q4_0", 2, TENSOR_Q4_0},      {"IQ4_NL", 25, TENSOR_IQ4_NL},
    {"IQ4_XS", 30, TENSOR_IQ4_XS}, {"MXFP4", NO_FILE_TYPE, TENSOR_MXFP4},
    {"Q3_K_L", 13, TENSOR_Q3_K},   {"Q3_K_M", 12, TENSOR_Q3_K},
    {"Q3_K_S", 11, TENSOR_Q3_K},   {"Q2_K", 10, TENSOR_Q2_K},
};

/* Short names that people type. */
static const struct {
    const char *name, *meant;
} aliases[] = {{"Q4_K", "Q4_K_M"}, {"Q5_K", "Q5_K_M"}, {"Q3_K", "Q3_K_M"}};

const struct mix *mix_find(struct td_str name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (str_equal_nocase(name, str_from(aliases[i].name)))
            name = str_from(aliases[i].meant);
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
        if (str_equal_nocase(name, str_from(mixes[i].name)))
            return &mixes[i];
    return NULL;
}

const char *mix_name(const struct mix *mix)
{
    return mix->name;
}

uint32_t mix_file_type(const struct mix *mix)
{
    return mix->file_type;
}

const char *mix_list(void)
{
    return "F32, F16, BF16, Q8_0, Q6_K, Q5_K_M, Q5_K_S, Q5_1, Q5_0, Q4_K_M, Q4_K_S, Q4_1, Q4_0, "
           "IQ4_NL, IQ4_XS, MXFP4, Q3_K_L, Q3_K_M, Q3_K_S, Q2_K";
}

/* --- the model --- */

void mix_model_read(const struct gguf *gguf, bool has_importance, struct mix_model *out)
{
    struct td_str architecture = {0};
    char key[128];
    uint32_t heads = 1, kv_heads = 0;
    *out = (struct mix_model){.tied = gguf_find_tensor(gguf, "output.weight") == NULL,
                              .has_importance = has_importance};
    gguf_get_string(gguf, "general.architecture", &architecture);
    struct {
        const char *name;
        uint32_t *value;
    } const keys[] = {{"block_count", &out->layer_count},
                      {"expert_count", &out->expert_count},
                      {"attention.head_count", &heads},
                      {"attention.head_count_kv", &kv_heads}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(key, sizeof key, STR_FMT ".%s", STR_ARG(str_slice(architecture, 0, 64)),
                 keys[i].name);
        gguf_get_u32(gguf, key, keys[i].value);
    }
    out->group = kv_heads ? heads / kv_heads : 1;
}

bool mix_keeps(struct td_str name, const uint64_t dims[static 4])
{
    static const char *const kept[] = {"_norm.weight", "ffn_gate_inp.weight", "position_embd",
                                       "token_types",  "rope_freqs",          "rope_factors",
                                       "ssm_conv1d",   "shortconv.conv",      "altup",
                                       "laurel",       "per_layer_model_proj"};
    if (dims[1] * dims[2] * dims[3] <= 1 || !str_ends_with(name, STR("weight")) ||
        str_starts_with(name, STR("tandem.")))
        return true;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (str_find(name, str_from(kept[i]), 0) != SIZE_MAX)
            return true;
    return false;
}

/* --- rules --- */

/* llama.cpp's numbers (general.file_type) of the mixes that have rules. */
enum {
    MIX_Q4_0 = 2,
    MIX_Q5_0 = 8,
    MIX_Q2_K = 10,
    MIX_Q3_K_M = 12,
    MIX_Q3_K_L = 13,
    MIX_Q4_K_S = 14,
    MIX_Q4_K_M = 15,
    MIX_Q5_K_M = 17,
    MIX_IQ4_NL = 25,
    MIX_IQ4_XS = 30
};

enum role { ROLE_V, ROLE_O, ROLE_DOWN, ROLE_QKV, ROLE_K };
enum when {
    ALWAYS,
    SPREAD, /* the first and last eighth of the layers, and every third between */
    FIRST_TWO,
    FIRST_FOUR,
    FIRST_EIGHTH,
    FIRST_SIXTEENTH,
    FIRST_EIGHTH_PLAIN,   /* without importance */
    FIRST_EIGHTH_WEIGHED, /* with importance */
    GROUPED               /* at least four query heads share a key head */
};

/* The first rule that holds gives the type. */
static const struct rule {
    uint8_t mix, role, when, type; /* mix: the number of its files */
} rules[] = {
    {MIX_Q2_K, ROLE_V, GROUPED, TENSOR_Q4_K},
    {MIX_Q2_K, ROLE_V, ALWAYS, TENSOR_Q3_K},
    {MIX_Q2_K, ROLE_DOWN, ALWAYS, TENSOR_Q3_K},
    {MIX_Q2_K, ROLE_O, ALWAYS, TENSOR_Q3_K},
    {MIX_Q3_K_M, ROLE_V, FIRST_TWO, TENSOR_Q5_K},
    {MIX_Q3_K_M, ROLE_V, ALWAYS, TENSOR_Q4_K},
    {MIX_Q3_K_M, ROLE_DOWN, FIRST_SIXTEENTH, TENSOR_Q5_K},
    {MIX_Q3_K_M, ROLE_DOWN, ALWAYS, TENSOR_Q4_K},
    {MIX_Q3_K_M, ROLE_O, ALWAYS, TENSOR_Q4_K},
    {MIX_Q3_K_M, ROLE_QKV, ALWAYS, TENSOR_Q4_K},
    {MIX_Q3_K_L, ROLE_V, ALWAYS, TENSOR_Q5_K},
    {MIX_Q3_K_L, ROLE_DOWN, ALWAYS, TENSOR_Q5_K},
    {MIX_Q3_K_L, ROLE_O, ALWAYS, TENSOR_Q5_K},
    {MIX_Q3_K_L, ROLE_QKV, ALWAYS, TENSOR_Q4_K},
    {MIX_Q4_0, ROLE_DOWN, FIRST_EIGHTH_WEIGHED, TENSOR_Q4_1},
    {MIX_Q5_0, ROLE_DOWN, FIRST_EIGHTH_WEIGHED, TENSOR_Q5_1},
    {MIX_Q4_K_S, ROLE_V, FIRST_FOUR, TENSOR_Q5_K},
    {MIX_Q4_K_S, ROLE_DOWN, FIRST_EIGHTH, TENSOR_Q5_K},
    {MIX_Q4_K_M, ROLE_V, SPREAD, TENSOR_Q6_K},
    {MIX_Q4_K_M, ROLE_DOWN, SPREAD, TENSOR_Q6_K},
    {MIX_Q4_K_M, ROLE_QKV, ALWAYS, TENSOR_Q5_K},
    {MIX_Q5_K_M, ROLE_V, SPREAD, TENSOR_Q6_K},
    {MIX_Q5_K_M, ROLE_DOWN, SPREAD, TENSOR_Q6_K},
    {MIX_Q5_K_M, ROLE_QKV, ALWAYS, TENSOR_Q6_K},
    {MIX_IQ4_NL, ROLE_V, GROUPED, TENSOR_Q5_K},
    {MIX_IQ4_NL, ROLE_DOWN, FIRST_EIGHTH_PLAIN, TENSOR_Q5_K},
    {MIX_IQ4_XS, ROLE_V, GROUPED, TENSOR_Q5_K},
    {MIX_IQ4_XS, ROLE_DOWN, FIRST_EIGHTH_PLAIN, TENSOR_Q5_K},
};

static bool holds(enum when when, const struct mix_model *model, uint32_t layer)
{
    uint32_t layers = model->layer_count, eighth = layers / 8;
    switch (when) {
    case ALWAYS:
        return true;
    case SPREAD:
        return layer < eighth || layer >= 7 * layers / 8 || (layer - eighth) % 3 == 2;
    case FIRST_TWO:
        return layer < 2;
    case FIRST_FOUR:
        return layer < 4;
    case FIRST_EIGHTH:
        return layer < eighth;
    case FIRST_SIXTEENTH:
        return layer < layers / 16;
    case FIRST_EIGHTH_PLAIN:
        return layer < eighth && !model->has_importance;
    case FIRST_EIGHTH_WEIGHED:
        return layer < eighth && model->has_importance;
    case GROUPED:
        return model->group >= 4;
    }
    return false;
}

/* False: a tensor for which there are no rules. */
static bool role_of(struct td_str name, enum role *role)
{
    static const struct {
        const char *part;
        enum role role;
    } roles[] = {{"attn_v.weight", ROLE_V},      {"attn_output.weight", ROLE_O},
                 {"ffn_down.weight", ROLE_DOWN}, {"ffn_down_exps.weight", ROLE_DOWN},
                 {"attn_qkv.weight", ROLE_QKV},  {"attn_k.weight", ROLE_K}};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (str_ends_with(name, str_from(roles[i].part))) {
            *role = roles[i].role;
            return true;
        }
    return false;
}

static uint32_t layer_of(struct td_str name)
{
    uint64_t layer = 0;
    struct td_str rest = str_slice(name, 4, name.len), part;
    if (!str_starts_with(name, STR("blk.")) || !str_next(&rest, '.', &part) ||
        !str_to_u64(part, &layer))
        return 0;
    return (uint32_t)layer;
}

enum tensor_type mix_type(const struct mix *mix, const struct mix_model *model, struct td_str name)
{
    const struct tensor_traits *traits = tensor_traits_get(mix->type);
    if (traits->block_elements == 1 || mix->type == TENSOR_Q8_0)
        return mix->type;
    if (str_equal(name, STR("output.weight")) ||
        (model->tied && str_equal(name, STR("token_embd.weight"))))
        return TENSOR_Q6_K;
    enum role role;
    if (!role_of(name, &role))
        return mix->type;
    if (model->expert_count == 8 && (role == ROLE_V || role == ROLE_K))
        return TENSOR_Q8_0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].mix == mix->file_type && rules[i].role == role &&
            holds(rules[i].when, model, layer_of(name)))
            return (enum tensor_type)rules[i].type;
    return mix->type;
}

enum tensor_type mix_fit(enum tensor_type type, uint64_t cols)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    ASSERT(traits != NULL);
    if (cols % traits->block_elements == 0)
        return type;
    enum tensor_type small = TENSOR_Q8_0;
    switch (type) {
    case TENSOR_Q2_K:
    case TENSOR_Q3_K:
        small = TENSOR_Q4_0;
        break;
    case TENSOR_IQ4_XS:
        small = TENSOR_IQ4_NL;
        break;
    case TENSOR_Q4_K:
        small = TENSOR_Q5_0;
        break;
    case TENSOR_Q5_K:
        small = TENSOR_Q5_1;
        break;
    default:
        break;
    }
    return cols % tensor_traits_get(small)->block_elements == 0 ? small : TENSOR_F16;
}
