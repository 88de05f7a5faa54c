/* What differs between model architectures, as data. A new architecture is a row in architecture.c
 * and not a branch in the forward pass. Constant tables; any thread. */
#ifndef ENGINE_ARCHITECTURE_H
#define ENGINE_ARCHITECTURE_H

#include "tandem/types.h"

/* Whether a tensor of a layer exists. Two bits of a row. */
enum presence { PRESENCE_NEVER, PRESENCE_OPTIONAL, PRESENCE_REQUIRED };

struct architecture {
    const char *name; /* general.architecture, and the prefix of its keys */

    /* tensors */
    enum presence qkv_bias : 2;  /* attn_{q,k,v}.bias */
    enum presence qk_norm : 2;   /* attn_{q,k}_norm.weight: RMSNorm of each head before rope */
    bool qk_norm_whole : 1;      /* it is one of all heads together, [heads * head_size] */
    bool qk_norm_late : 1;       /* it comes after rope */
    enum presence post_norm : 2; /* post_{attention,ffw}_norm.weight: RMSNorm of a block's output */
    bool no_pre_norms : 1; /* no attn_norm and ffn_norm.weight: blocks read the stream as it is */
    bool ffn_norm_renamed : 1; /* post_attention_norm.weight is what others call ffn_norm.weight */
    bool sinks : 1;            /* attn_sinks.weight: a score that each head's softmax has besides */
    bool all_biases : 1; /* attn_output, ffn_gate_inp and ffn_{gate,up,down}_exps have biases too */
    /* attn_qkv.weight holds the rows of q, k, v, and ffn_up.weight those of gate, up */
    bool fused : 1;
    enum presence experts : 2;   /* ffn_{gate,up,down}_exps.weight, chosen by ffn_gate_inp.weight;
                              optional: those files that have an expert_count */
    bool sigmoid_router : 1;     /* experts are weighed by sigmoids, and chosen by these and
                                exp_probs_b.bias; the first leading_dense_block_count layers have
                                none */
    bool shared_expert : 1;      /* beside the chosen experts each token goes through
                                ffn_{gate,up,down}_shexp.weight, if there is an
                                expert_shared_feed_forward_length */
    bool ffn_of_all_experts : 1; /* feed_forward_length is that of all used experts together */

    bool layer_norm : 1; /* LayerNorm instead of RMSNorm: each of these norms has a bias too */
    bool short_conv : 1; /* layers without key-value heads are short convolutions (short_conv.h) */
    bool ssm : 1;        /* layers without key-value heads are Mamba-2 layers (ssm.h) */
    /* a layer is one block: it has a feed-forward block only if it is neither Mamba-2 nor
     * attention, and each block's norm is attn_norm.weight */
    bool single_blocks : 1;
    bool local_heads : 1; /* heads of layers with a window have attention.key_length_swa elements */
    /* the last attention.shared_kv_layers layers have no keys and values: they read those of the
     * last layer before them that is of their kind, with a window or without one */
    bool shared_keys : 1;
    bool value_norm : 1;   /* RMSNorm of each head's values, without weights; where there is no
                           attn_v.weight, values are the keys before their norm */
    bool layer_inputs : 1; /* each layer adds something of its own embedding of the token, if there
                           is an embedding_length_per_layer_input; and layer_output_scale.weight
                           multiplies the stream after a layer (layer_inputs.h) */
    bool gaps : 1; /* a layer may have no attention, one matrix in its place, or no feed-forward
                        block */

    /* A bidirectional encoder without cache or next token (bert.c). Only these three apply to
     * it. */
    bool encoder : 1;
    bool learned_positions : 1; /* position_embd.weight instead of rope */
    bool encoder_gated : 1;     /* SwiGLU instead of GELU */

    /* positions */
    bool rope_interleaved : 1;    /* rotates (2i, 2i+1); else (i, i + n_rot/2) */
    bool rope_switch : 1;         /* rope.scaling.finetuned = false turns rope off */
    bool local_rope_unscaled : 1; /* layers with a window ignore rope.scaling */
    bool global_without_rope : 1; /* where some layers have a window, the others have no rope */
    bool yarn_unrounded : 1;      /* the bounds of YaRN's ramp are not rounded to whole pairs */
    float local_rope_base;   /* rope base of layers with a window when rope.freq_base_swa is absent;
                                 0 = rope.freq_base */
    uint32_t no_rope_period; /* n: every n-th layer has no rope; 0 = all layers have rope */
    /* n: every n-th layer has no sliding window and the others have one, unless
     * sliding_window_pattern says otherwise; 0 = the architecture has no windows. */
    uint32_t window_period;
    uint32_t window_default; /* attention.sliding_window when absent; 0 = none */

    /* arithmetic */
    bool gelu : 1;         /* GELU (tanh form) instead of SiLU */
    bool squared_relu : 1; /* down(relu(up(x))^2), without a gate (So et al. 2021, Primer) */
    bool clamped_gate : 1; /* gpt-oss's SwiGLU, see forward_gate */
    bool embedding_times_root : 1; /* embeddings are multiplied by sqrt(embedding_length) */
    bool unit_scale : 1;           /* scores are q.k, not divided by a root */
    bool scales : 1;               /* embedding_, residual_, logit_scale and attention.scale */
    bool soft_caps : 1;            /* attn_logit_ and final_logit_softcapping */
    float attention_cap, last_cap; /* the soft caps when the file has none; 0 = none */
    /* The model with this many layers divides queries by sqrt(embedding / heads) instead of
     * sqrt(head size). Files have no key for it. 0 = no model does. */
    uint32_t wide_query_layers;
};

/* NULL when the name is not in the table. */
const struct architecture *architecture_find(struct td_str name);
/* The table's names, separated by ", ". */
void architecture_list(char *out, size_t size);

#endif
