"""The cases of Gemma 4 for make_decoders.py."""

import transformers as hf
from decoder_sizes import BASE, FFN, HEAD, HEADS, KV_HEADS, VOCAB, WIDE, WINDOW

INPUT = 8
GEMMA4 = {
    "global_head_dim": 2 * HEAD,
    "sliding_window": WINDOW,
    "final_logit_softcapping": 5.0,
    "rope_parameters": {
        "sliding_attention": {"rope_type": "default", "rope_theta": BASE},
        "full_attention": {
            "rope_type": "proportional",
            "partial_rotary_factor": 0.25,
            "rope_theta": 100 * BASE,
        },
    },
}
GEMMA4_KEYS = {
    "attention.key_length": 2 * HEAD,
    "attention.value_length": 2 * HEAD,
    "attention.key_length_swa": HEAD,
    "attention.value_length_swa": HEAD,
    "attention.sliding_window": WINDOW,
    "attention.sliding_window_pattern": 3,
    "final_logit_softcapping": 5.0,
    "rope.freq_base": 100 * BASE,
    "rope.freq_base_swa": BASE,
    "rope.dimension_count": 2 * HEAD,
    "rope.dimension_count_swa": HEAD,
}
GEMMA4_CASES = {
    # E2B and E4B have inputs of layers and shared keys; 12B and 31B keys that are values.
    "gemma4": (
        "gemma4",
        hf.Gemma4TextConfig,
        GEMMA4
        | {
            "layer_types": (["sliding_attention"] * 2 + ["full_attention"]) * 2,
            "num_kv_shared_layers": 3,
            "hidden_size_per_layer_input": INPUT,
            "vocab_size_per_layer_input": VOCAB,
            "use_double_wide_mlp": True,
        },
        6,
        GEMMA4_KEYS
        | {
            "attention.shared_kv_layers": 3,
            "embedding_length_per_layer_input": INPUT,
            "feed_forward_length": [FFN] * 3 + [2 * FFN] * 3,
        },
    ),
    "gemma4-keys-as-values": (
        "gemma4",
        hf.Gemma4TextConfig,
        GEMMA4
        | {
            "layer_types": ["sliding_attention"] * 2 + ["full_attention"],
            "hidden_size_per_layer_input": 0,
            "attention_k_eq_v": True,
            "num_global_key_value_heads": 1,
        },
        3,
        GEMMA4_KEYS
        | {
            "attention.shared_kv_layers": 0,
            "embedding_length_per_layer_input": 0,
            "attention.head_count_kv": [KV_HEADS, KV_HEADS, 1],
        },
    ),
}
GEMMA4_NAMES = {
    "ffn_norm.weight": "pre_feedforward_layernorm.weight",
    "inp_gate.weight": "per_layer_input_gate.weight",
    "proj.weight": "per_layer_projection.weight",
    "post_norm.weight": "post_per_layer_input_norm.weight",
    "layer_output_scale.weight": "layer_scalar",
}


def gemma4_tensors(layers, keys):
    """As tensors() of make_decoders.py."""
    size = keys["embedding_length_per_layer_input"]
    shared_from = layers - keys["attention.shared_kv_layers"]
    rows = [
        ("token_embd.weight", (VOCAB, WIDE), 1.0, 0.0),
        ("output_norm.weight", (WIDE,), 0.3, 1.0),
        ("rope_freqs.weight", (HEAD,), 0.0, 1.0, HEAD * 3 // 4, 1e30),
    ]
    if size:
        rows.append(("per_layer_token_embd.weight", (VOCAB, layers * size), 1.0, 0.0))
        rows.append(("per_layer_model_proj.weight", (layers * size, WIDE), 0.4, 0.0))
        rows.append(("per_layer_proj_norm.weight", (size,), 0.3, 1.0))
    for layer in range(layers):
        full = layer % 3 == 2
        head = 2 * HEAD if full else HEAD
        kv = (1 if full and not size else KV_HEADS) * head
        ffn = 2 * FFN if layer >= shared_from else FFN
        norms = dict.fromkeys(
            ("attn_norm", "ffn_norm", "post_attention_norm", "post_ffw_norm"), WIDE
        )
        shapes = {"attn_q": (HEADS * head, WIDE), "attn_output": (WIDE, HEADS * head)}
        shapes |= {"ffn_gate": (ffn, WIDE), "ffn_up": (ffn, WIDE), "ffn_down": (WIDE, ffn)}
        norms["attn_q_norm"] = head
        if layer < shared_from:
            norms["attn_k_norm"] = head
            shapes["attn_k"] = (kv, WIDE)
            if size or not full:
                shapes["attn_v"] = (kv, WIDE)
        if size:
            norms["post_norm"] = WIDE
            shapes |= {"inp_gate": (size, WIDE), "proj": (WIDE, size)}
        blk = f"blk.{layer}."
        rows += [(f"{blk}{name}.weight", (length,), 0.3, 1.0) for name, length in norms.items()]
        rows += [(f"{blk}{name}.weight", shape, 0.4, 0.0) for name, shape in shapes.items()]
        rows.append((f"{blk}layer_output_scale.weight", (1,), 0.3, 0.8))
    return rows
