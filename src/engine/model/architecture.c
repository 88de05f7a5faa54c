/* The table of architectures: one row each, and no other code knows their names.
 *
 * Rope pairing: the converter permutes the q and k rows of llama, granite and smollm3 so that
 * neighbouring elements are pairs; glm4 and ernie4_5 have them so. The other files keep the two
 * halves of the original code.
 * Any decoder may have other numbers of heads and another feed-forward size in each layer, as
 * pruned models do: layer_kinds.c reads arrays of them.
 * Mistral's files say llama. Files of phi3 name a sliding window, which neither llama.cpp (the
 * goldens) nor this engine applies. */
#include "engine/model/architecture.h"

#include "base/core/str.h"

#include <stdio.h>

static const struct architecture architectures[] = {
    {.name = "llama",
     .rope_interleaved = true,
     .qkv_bias = PRESENCE_OPTIONAL,
     .experts = PRESENCE_OPTIONAL}, /* Mixtral */
    {.name = "qwen2", .qkv_bias = PRESENCE_REQUIRED},
    {.name = "qwen3", .qkv_bias = PRESENCE_OPTIONAL, .qk_norm = PRESENCE_REQUIRED},
    {.name = "qwen3moe",
     .qkv_bias = PRESENCE_OPTIONAL,
     .qk_norm = PRESENCE_REQUIRED,
     .experts = PRESENCE_REQUIRED,
     .ffn_of_all_experts = true},
    {.name = "gemma", .gelu = true, .embedding_times_root = true},
    /* Gemma team 2024, Gemma 2, table 1 and section 2; the 27B has 46 layers */
    {.name = "gemma2",
     .post_norm = PRESENCE_REQUIRED,
     .window_period = 2,
     .window_default = 4096,
     .gelu = true,
     .embedding_times_root = true,
     .soft_caps = true,
     .attention_cap = 50.0f,
     .last_cap = 30.0f,
     .wide_query_layers = 46},
    /* Gemma team 2025, Gemma 3, section 2; the 27B has 62 layers */
    {.name = "gemma3",
     .qk_norm = PRESENCE_REQUIRED,
     .post_norm = PRESENCE_REQUIRED,
     .local_rope_unscaled = true,
     .local_rope_base = 10000.0f,
     .window_period = 6,
     .gelu = true,
     .embedding_times_root = true,
     .soft_caps = true,
     .wide_query_layers = 62},
    /* Google DeepMind 2026, Gemma 4: E2B, E4B, 12B, 31B. Its 26B has experts, and is refused. */
    {.name = "gemma4",
     .qk_norm = PRESENCE_REQUIRED,
     .post_norm = PRESENCE_REQUIRED,
     .local_rope_unscaled = true,
     .local_rope_base = 10000.0f,
     .local_heads = true,
     .shared_keys = true,
     .value_norm = true,
     .layer_inputs = true,
     .window_period = 6,
     .gelu = true,
     .embedding_times_root = true,
     .unit_scale = true,
     .soft_caps = true},
    {.name = "phi3", .fused = true},
    {.name = "smollm3",
     .rope_interleaved = true,
     .qkv_bias = PRESENCE_OPTIONAL,
     .no_rope_period = 4},
    {.name = "granite",
     .rope_interleaved = true,
     .qkv_bias = PRESENCE_OPTIONAL,
     .rope_switch = true,
     .scales = true},
    {.name = "granitemoe",
     .rope_interleaved = true,
     .rope_switch = true,
     .scales = true,
     .experts = PRESENCE_REQUIRED,
     .shared_expert = true},
    /* IBM 2025, Granite 4.0: models with an H in their names; those without say granite. Bamba's
     * files say the same, with rope. */
    {.name = "granitehybrid",
     .rope_interleaved = true,
     .rope_switch = true,
     .scales = true,
     .ssm = true,
     .experts = PRESENCE_OPTIONAL,
     .shared_expert = true},
    /* NVIDIA 2025, Nemotron-H, section 2.1; files with experts say nemotron_h_moe */
    {.name = "nemotron_h",
     .no_rope_period = 1,
     .ssm = true,
     .single_blocks = true,
     .gaps = true,
     .squared_relu = true},
    /* OLMo team 2024, 2 OLMo 2 Furious, section 3.2; OLMo 3's files say olmo2 and have windows */
    {.name = "olmo2",
     .qk_norm = PRESENCE_REQUIRED,
     .qk_norm_whole = true,
     .post_norm = PRESENCE_REQUIRED,
     .no_pre_norms = true,
     .local_rope_unscaled = true,
     .window_period = 4},
    /* LG AI Research 2025, EXAONE 4.0, section 2 */
    {.name = "exaone4",
     .qk_norm = PRESENCE_REQUIRED,
     .post_norm = PRESENCE_REQUIRED,
     .no_pre_norms = true,
     .global_without_rope = true,
     .window_period = 4},
    {.name = "hunyuan-dense", .qk_norm = PRESENCE_REQUIRED, .qk_norm_late = true},
    {.name = "glm4",
     .rope_interleaved = true,
     .qkv_bias = PRESENCE_OPTIONAL,
     .post_norm = PRESENCE_REQUIRED,
     .fused = true},
    {.name = "ernie4_5", .rope_interleaved = true},
    {.name = "seed_oss", .qkv_bias = PRESENCE_OPTIONAL, .ffn_norm_renamed = true},
    /* OpenAI 2025, gpt-oss model card, section 2 */
    {.name = "gpt-oss",
     .qkv_bias = PRESENCE_REQUIRED,
     .ffn_norm_renamed = true,
     .sinks = true,
     .all_biases = true,
     .experts = PRESENCE_REQUIRED,
     .yarn_unrounded = true,
     .window_period = 2,
     .window_default = 128,
     .clamped_gate = true},
    /* Bellagente et al. 2024, Stable LM 2 1.6B, section 2 */
    {.name = "stablelm", .qkv_bias = PRESENCE_OPTIONAL, .layer_norm = true},
    /* Liquid AI 2025, LFM2 technical report, section 2 */
    {.name = "lfm2", .qk_norm = PRESENCE_REQUIRED, .short_conv = true},
    {.name = "lfm2moe",
     .qk_norm = PRESENCE_REQUIRED,
     .short_conv = true,
     .experts = PRESENCE_REQUIRED,
     .sigmoid_router = true},
    /* Mehta et al. 2024, OpenELM, section 2.1 */
    {.name = "openelm", .qk_norm = PRESENCE_REQUIRED, .fused = true},
    /* Bercovich et al. 2024, Puzzle, section 2: Nemotron models pruned from Llama */
    {.name = "deci", .rope_interleaved = true, .gaps = true},
    {.name = "bert", .encoder = true, .learned_positions = true},
    {.name = "nomic-bert", .encoder = true, .encoder_gated = true},
};

const struct architecture *architecture_find(struct td_str name)
{
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (str_equal(name, str_from(architectures[i].name)))
            return &architectures[i];
    return NULL;
}

void architecture_list(char *out, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures && len < size; i++)
        len +=
            (size_t)snprintf(out + len, size - len, "%s%s", i ? ", " : "", architectures[i].name);
}
