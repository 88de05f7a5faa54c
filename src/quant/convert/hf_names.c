/* The families of models in Hugging Face folders, and their names of tensors. Names with the same
 * meaning are few, so one table of them serves all families. */
#include "quant/convert/hf_names.h"

#include "base/core/str.h"

#include <stdio.h>
#include <string.h>

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
    {.model_type = "gemma4_text",
     .architecture = "gemma4",
     .four_norms = true,
     .two_heads = true,
     .no_adapters = true},
    {.model_type = "phi3", .architecture = "phi3"},
    {.model_type = "smollm3", .architecture = "smollm3", .interleaved = true},
    {.model_type = "granite", .architecture = "granite", .interleaved = true},
    {.model_type = "openelm", .architecture = "openelm", .openelm = true, .no_adapters = true},
    {.model_type = "stablelm",
     .architecture = "stablelm",
     .layer_norm = true,
     .epsilon = "layer_norm_eps"},
    {.model_type = "lfm2", .architecture = "lfm2", .short_conv = true, .epsilon = "norm_eps"},
    {.model_type = "nemotron-nas", .architecture = "deci", .interleaved = true},
    {.model_type = "gemma", .architecture = "gemma", .norm_plus_one = true},
    {.model_type = "olmo2", .architecture = "olmo2", .four_norms = true},
    {.model_type = "exaone4", .architecture = "exaone4", .four_norms = true},
    {.model_type = "seed_oss", .architecture = "seed_oss", .four_norms = true},
    {.model_type = "gpt_oss",
     .architecture = "gpt-oss",
     .four_norms = true,
     .gpt_oss = true,
     .no_adapters = true},
    {.model_type = "ernie4_5", .architecture = "ernie4_5"},
    {.model_type = "hunyuan_v1_dense", .architecture = "hunyuan-dense"},
    {.model_type = "glm4", .architecture = "glm4", .no_adapters = true},
    {.model_type = "mixtral", .architecture = "llama", .interleaved = true},
    {.model_type = "qwen3_moe", .architecture = "qwen3moe", .no_adapters = true},
    {.model_type = "granitemoe",
     .architecture = "granitemoe",
     .interleaved = true,
     .no_adapters = true},
    {.model_type = "granitemoeshared",
     .architecture = "granitemoe",
     .interleaved = true,
     .no_adapters = true},
    {.model_type = "granitemoehybrid",
     .architecture = "granitehybrid",
     .interleaved = true,
     .ssm = true,
     .no_adapters = true},
    {.model_type = "bamba",
     .architecture = "granitehybrid",
     .interleaved = true,
     .ssm = true,
     .scales = true,
     .no_adapters = true},
    {.model_type = "nemotron_h",
     .architecture = "nemotron_h",
     .ssm = true,
     .no_adapters = true,
     .epsilon = "layer_norm_epsilon"},
    {.model_type = "lfm2_moe",
     .architecture = "lfm2moe",
     .short_conv = true,
     .no_adapters = true,
     .epsilon = "norm_eps"},
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
        if (strcmp(architecture, families[i].architecture) == 0 && !families[i].no_adapters)
            return &families[i];
    return NULL;
}

void hf_family_list(bool adapters, char *out, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < sizeof families / sizeof *families && len < size; i++)
        if (!adapters || !families[i].no_adapters)
            len += (size_t)snprintf(out + len, size - len, "%s%s", i ? ", " : "",
                                    families[i].model_type);
}

/* --- names --- */

/* Lines "theirs ours"; of tensors of one expert the number is left out. As texts they need no
 * pointers, of which each has an entry for the loader, too. */
static const char end_names[] = "model.embed_tokens token_embd\n"
                                "model.norm output_norm\n"
                                "model.embedding_norm token_embd_norm\n"
                                "lm_head output\n"
                                "model.final_layernorm output_norm\n"
                                "backbone.embeddings token_embd\n"
                                "backbone.norm_f output_norm\n"
                                "transformer.token_embeddings token_embd\n"
                                "transformer.norm output_norm\n"
                                "model.embed_tokens_per_layer per_layer_token_embd\n"
                                "model.per_layer_model_projection per_layer_model_proj\n"
                                "model.per_layer_projection_norm per_layer_proj_norm\n";
static const char lfm2_names[] = "operator_norm attn_norm\n"
                                 "ffn_norm ffn_norm\n"
                                 "self_attn.out_proj attn_output\n"
                                 "self_attn.q_layernorm attn_q_norm\n"
                                 "self_attn.k_layernorm attn_k_norm\n"
                                 "conv.conv shortconv.conv\n"
                                 "conv.in_proj shortconv.in_proj\n"
                                 "conv.out_proj shortconv.out_proj\n"
                                 "feed_forward.w1 ffn_gate\n"
                                 "feed_forward.w2 ffn_down\n"
                                 "feed_forward.w3 ffn_up\n";
static const char layer_names[] = "input_layernorm attn_norm\n"
                                  "self_attn.q_proj attn_q\n"
                                  "self_attn.k_proj attn_k\n"
                                  "self_attn.v_proj attn_v\n"
                                  "self_attn.qkv_proj attn_qkv\n"
                                  "self_attn.o_proj attn_output\n"
                                  "self_attn.q_norm attn_q_norm\n"
                                  "self_attn.k_norm attn_k_norm\n"
                                  "mlp.gate_proj ffn_gate\n"
                                  "mlp.up_proj ffn_up\n"
                                  "mlp.gate_up_proj ffn_up\n"
                                  "mlp.down_proj ffn_down\n"
                                  "pre_feedforward_layernorm ffn_norm\n"
                                  "post_feedforward_layernorm post_ffw_norm\n"
                                  "self_attn.linear_attn attn_output\n"
                                  "self_attn.query_layernorm attn_q_norm\n"
                                  "self_attn.key_layernorm attn_k_norm\n"
                                  "post_self_attn_layernorm post_attention_norm\n"
                                  "post_mlp_layernorm post_ffw_norm\n"
                                  "per_layer_input_gate inp_gate\n"
                                  "per_layer_projection proj\n"
                                  "post_per_layer_input_norm post_norm\n"
                                  "mlp.gate ffn_gate_inp\n"
                                  "mlp.router ffn_gate_inp\n"
                                  "mlp.experts.gate_proj ffn_gate_exps\n"
                                  "mlp.experts.up_proj ffn_up_exps\n"
                                  "mlp.experts.down_proj ffn_down_exps\n"
                                  "block_sparse_moe.gate ffn_gate_inp\n"
                                  "block_sparse_moe.experts.w1 ffn_gate_exps\n"
                                  "block_sparse_moe.experts.w2 ffn_down_exps\n"
                                  "block_sparse_moe.experts.w3 ffn_up_exps\n"
                                  "block_sparse_moe.router.layer ffn_gate_inp\n"
                                  "block_sparse_moe.output_linear ffn_down_exps\n"
                                  "shared_mlp.output_linear ffn_down_shexp\n"
                                  "feed_forward.gate ffn_gate_inp\n"
                                  "feed_forward.experts.w1 ffn_gate_exps\n"
                                  "feed_forward.experts.w2 ffn_down_exps\n"
                                  "feed_forward.experts.w3 ffn_up_exps\n"
                                  "pre_ff_layernorm ffn_norm\n"
                                  "feed_forward.gate_proj ffn_gate\n"
                                  "feed_forward.up_proj ffn_up\n"
                                  "feed_forward.down_proj ffn_down\n"
                                  "mamba.in_proj ssm_in\n"
                                  "mamba.out_proj ssm_out\n"
                                  "mamba.conv1d ssm_conv1d\n"
                                  "mamba.norm ssm_norm\n"
                                  "norm attn_norm\n"
                                  "attn_norm attn_norm\n"
                                  "attn.qkv_proj attn_qkv\n"
                                  "attn.q_norm attn_q_norm\n"
                                  "attn.k_norm attn_k_norm\n"
                                  "attn.out_proj attn_output\n"
                                  "ffn.proj_2 ffn_down\n";

/* A layer of nemotron_h is one block, "mixer", of these kinds. */
static const char *const mixers[] = {"mamba", "self_attn", "mlp"};

/* Tensors whose rows (of each expert) are two of ours. */
static const struct {
    const char *theirs, *ours[2];
} halves[] = {{"block_sparse_moe.input_linear", {"ffn_gate_exps", "ffn_up_exps"}},
              {"shared_mlp.input_linear", {"ffn_gate_shexp", "ffn_up_shexp"}},
              {"ffn.proj_1", {"ffn_gate", "ffn_up"}}};

/* Tensors whose names end without ".weight" or ".bias". */
static const struct {
    const char *theirs, *ours;
} bare_names[] = {{"A_log", "ssm_a"},
                  {"D", "ssm_d"},
                  {"dt_bias", "ssm_dt.bias"},
                  {"sinks", "attn_sinks.weight"},
                  {"expert_bias", "exp_probs_b.bias"},
                  {"layer_scalar", "layer_output_scale.weight"}};

static bool next_name(struct td_str *table, struct td_str *theirs, struct td_str *ours)
{
    if (!str_next(table, '\n', ours))
        return false;
    return str_next(ours, ' ', theirs);
}

/* An empty one when there is none. */
static struct td_str find_ours(struct td_str table, struct td_str name)
{
    struct td_str theirs, ours;
    while (next_name(&table, &theirs, &ours))
        if (str_equal(name, theirs))
            return ours;
    return (struct td_str){NULL, 0};
}

static struct td_str layer_name(const struct hf_family *family, struct td_str part,
                                enum hf_half half)
{
    if (half == HF_WHOLE && str_equal(part, STR("post_attention_layernorm")))
        return family->four_norms ? STR("post_attention_norm") : STR("ffn_norm");
    for (size_t i = 0; half != HF_WHOLE && i < sizeof halves / sizeof *halves; i++)
        if (str_equal(part, str_from(halves[i].theirs)))
            return str_from(halves[i].ours[half == HF_SECOND_HALF]);
    struct td_str found = find_ours(STR(lfm2_names), half == HF_WHOLE ? part : STR(""));
    return found.len || half != HF_WHOLE ? found : find_ours(STR(layer_names), part);
}

/* The same for "mixer.x", which is "mamba.x" or another. */
static struct td_str part_name(const struct hf_family *family, struct td_str part,
                               enum hf_half half)
{
    char other[64];
    struct td_str found = layer_name(family, part, half), begin = STR("mixer");
    for (size_t i = 0; found.len == 0 && str_starts_with(part, begin) && part.len < 48 &&
                       i < sizeof mixers / sizeof *mixers;
         i++) {
        snprintf(other, sizeof other, "%s" STR_FMT, mixers[i],
                 STR_ARG(str_slice(part, begin.len, part.len)));
        found = layer_name(family, str_from(other), half);
    }
    return found;
}

/* Cuts "model.layers.3." off; false = the name has no such beginning. */
static bool cut_layer(struct td_str name, uint64_t *layer, struct td_str *rest)
{
    static const char begins[] = "model.layers.\nbackbone.layers.\ntransformer.layers.";
    struct td_str list = STR(begins), begin, number;
    while (str_next(&list, '\n', &begin)) {
        *rest = str_slice(name, begin.len, name.len);
        if (str_starts_with(name, begin) && str_next(rest, '.', &number) &&
            str_to_u64(number, layer) && *layer <= 9999)
            return true;
    }
    return false;
}

bool hf_name_of(const struct hf_family *family, struct td_str stem, enum hf_half half,
                const char *suffix, char out[static 65])
{
    struct td_str rest, ours = find_ours(STR(end_names), half == HF_WHOLE ? stem : STR(""));
    uint64_t layer;
    if (ours.len)
        return snprintf(out, 65, STR_FMT ".%s", STR_ARG(ours), suffix) < 65;
    if (cut_layer(stem, &layer, &rest))
        ours = part_name(family, rest, half);
    return ours.len &&
           snprintf(out, 65, "blk.%u." STR_FMT ".%s", (unsigned)layer, STR_ARG(ours), suffix) < 65;
}

bool hf_name_of_bare(struct td_str stem, struct td_str last, char out[static 65])
{
    uint64_t layer;
    struct td_str rest;
    for (size_t i = 0; i < sizeof bare_names / sizeof *bare_names; i++)
        if (str_equal(last, str_from(bare_names[i].theirs)) && cut_layer(stem, &layer, &rest))
            return snprintf(out, 65, "blk.%u.%s", (unsigned)layer, bare_names[i].ours) < 65;
    return false;
}

bool hf_name_ours(const struct hf_family *family, struct td_str theirs, char out[static 65])
{
    return hf_name_of(family, theirs, HF_WHOLE, "weight", out);
}

/* Of names with the same meaning it is the first, and of phi3 the fused one. */
static struct td_str find_theirs(struct td_str table, struct td_str ours, bool fused)
{
    struct td_str theirs, other;
    while (next_name(&table, &theirs, &other))
        if (str_equal(ours, other) && !(fused && str_equal(theirs, STR("mlp.up_proj"))))
            return theirs;
    return (struct td_str){NULL, 0};
}

bool hf_name_theirs(const struct hf_family *family, struct td_str ours, char *out, size_t size)
{
    struct td_str rest = ours, part, theirs = find_theirs(STR(end_names), ours, false);
    uint64_t layer;
    bool fused = strcmp(family->architecture, "phi3") == 0;
    if (theirs.len)
        return snprintf(out, size, STR_FMT, STR_ARG(theirs)) < (int)size;
    if (!str_next(&rest, '.', &part) || !str_equal(part, STR("blk")) ||
        !str_next(&rest, '.', &part) || !str_to_u64(part, &layer) || layer > 9999)
        return false;
    if (family->short_conv)
        theirs = find_theirs(STR(lfm2_names), rest, false);
    if (theirs.len == 0)
        theirs = find_theirs(STR(layer_names), rest, fused);
    return theirs.len && snprintf(out, size, "model.layers.%u." STR_FMT, (unsigned)layer,
                                  STR_ARG(theirs)) < (int)size;
}
