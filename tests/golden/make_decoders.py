#!/usr/bin/env python3
"""Writes decoders.json: tiny decoders of architectures that the shared golden data do not have, and
their logits by Hugging Face's transformers in float64 (pip install transformers torch), which share
no code with the engine. Weights are a formula, as in make_bert.py, so that the test makes the same
file itself. The rows of q and k of the architectures in PERMUTED stand in the file as llama.cpp's
converter puts them: neighbours instead of halves.

    make_decoders.py > decoders.json
"""

import json
import math
import os
import sys

import torch
import transformers as hf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make_bert import values

WIDE, HEADS, KV_HEADS, HEAD, FFN, VOCAB, EXPERTS, USED = 32, 4, 2, 16, 48, 64, 4, 2
WINDOW, CONTEXT, EPSILON, BASE = 8, 256, 1e-5, 10000.0
IDS = [(11 * i * i + 5 * i + 3) % VOCAB for i in range(24)]
ROWS = 2  # logits of the last positions
SIZES = {
    "vocab_size": VOCAB,
    "hidden_size": WIDE,
    "intermediate_size": FFN,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD,
    "max_position_embeddings": CONTEXT,
    "rms_norm_eps": EPSILON,
    "rope_theta": BASE,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
MOE = {"num_local_experts": EXPERTS, "num_experts_per_tok": USED}
YARN = {
    "rope_type": "yarn",
    "rope_theta": BASE,
    "factor": 8.0,
    "beta_fast": 8.0,
    "beta_slow": 1.0,
    "original_max_position_embeddings": 32,
    "truncate": False,
}
# name of the case: architecture, class, options, layers, more keys of the file
CASES = {
    "olmo2": ("olmo2", hf.Olmo2Config, {}, 2, {}),
    "exaone4": (
        "exaone4",
        hf.Exaone4Config,
        {"sliding_window": None, "layer_types": ["full_attention"] * 2},
        2,
        {},
    ),
    "exaone4-window": (
        "exaone4",
        hf.Exaone4Config,
        {"sliding_window": WINDOW, "sliding_window_pattern": 4},
        4,
        {"attention.sliding_window": WINDOW},
    ),
    "hunyuan-dense": ("hunyuan-dense", hf.HunYuanDenseV1Config, {}, 2, {}),
    "glm4": (
        "glm4",
        hf.Glm4Config,
        {"partial_rotary_factor": 0.5, "attention_bias": True},
        2,
        {"rope.dimension_count": HEAD // 2},
    ),
    "ernie4_5": ("ernie4_5", hf.Ernie4_5Config, {"tie_word_embeddings": False}, 2, {}),
    "seed_oss": ("seed_oss", hf.SeedOssConfig, {"attention_bias": True}, 2, {}),
    "mixtral": ("llama", hf.MixtralConfig, MOE, 2, {}),
    "granitemoe": (
        "granitemoe",
        hf.GraniteMoeConfig,
        MOE
        | {
            "embedding_multiplier": 3.0,
            "residual_multiplier": 0.5,
            "attention_multiplier": 0.2,
            "logits_scaling": 4.0,
        },
        2,
        {
            "embedding_scale": 3.0,
            "residual_scale": 0.5,
            "attention.scale": 0.2,
            "logit_scale": 4.0,
        },
    ),
    "gpt-oss": (
        "gpt-oss",
        hf.GptOssConfig,
        MOE | {"sliding_window": WINDOW, "rope_scaling": YARN, "rope_parameters": YARN},
        4,
        {
            "attention.sliding_window": WINDOW,
            "rope.scaling.type": "yarn",
            "rope.scaling.factor": 8.0,
            "rope.scaling.yarn_beta_fast": 8.0,
            "rope.scaling.yarn_beta_slow": 1.0,
            "rope.scaling.original_context_length": 32,
        },
    ),
    "gemma": ("gemma", hf.GemmaConfig, {}, 2, {}),
    "phi4-mini": (
        "phi3",
        hf.Phi3Config,
        {"partial_rotary_factor": 0.75, "tie_word_embeddings": True},
        2,
        {"rope.dimension_count": HEAD * 3 // 4},
    ),
}
PERMUTED = {"llama", "granitemoe"}
EXPERT_ARCHS = {"mixtral", "granitemoe", "gpt-oss"}
BIAS = {"glm4": "qkv", "seed_oss": "qkv", "gpt-oss": "all"}
NO_PRE_NORMS = {"olmo2", "exaone4", "exaone4-window"}


def tensors(case, layers):
    """Name, shape (rows, cols; experts first), scale, base."""
    arch = CASES[case][0]
    tied = arch == "gemma" or case == "phi4-mini"
    q, kv = HEADS * HEAD, KV_HEADS * HEAD
    rows = [
        ("token_embd.weight", (VOCAB, WIDE), 1.0, 0.0),
        ("output_norm.weight", (WIDE,), 0.3, 1.0),
    ]
    if not tied:
        rows.append(("output.weight", (VOCAB, WIDE), 1.0, 0.0))
    for layer in range(layers):
        blk = f"blk.{layer}."

        def norm(name, size=WIDE, blk=blk):
            rows.append((f"{blk}{name}.weight", (size,), 0.3, 1.0))

        def matrix(name, out, cols, blk=blk):
            rows.append((f"{blk}{name}.weight", (out, cols), 0.4, 0.0))

        if case not in NO_PRE_NORMS:
            norm("attn_norm")
            norm("post_attention_norm" if arch in ("gpt-oss", "seed_oss") else "ffn_norm")
        if case in NO_PRE_NORMS or arch == "glm4":
            norm("post_attention_norm")
            norm("post_ffw_norm")
        if arch == "phi3":
            matrix("attn_qkv", q + 2 * kv, WIDE)
        else:
            matrix("attn_q", q, WIDE)
            matrix("attn_k", kv, WIDE)
            matrix("attn_v", kv, WIDE)
        matrix("attn_output", WIDE, q)
        if arch in ("olmo2", "exaone4", "hunyuan-dense"):
            norm("attn_q_norm", q if arch == "olmo2" else HEAD)
            norm("attn_k_norm", kv if arch == "olmo2" else HEAD)
        if case in BIAS:
            for name, size in (("attn_q", q), ("attn_k", kv), ("attn_v", kv)):
                rows.append((f"{blk}{name}.bias", (size,), 0.5, 0.0))
        if arch == "gpt-oss":
            rows.append((f"{blk}attn_output.bias", (WIDE,), 0.5, 0.0))
            rows.append((f"{blk}attn_sinks.weight", (HEADS,), 1.0, 0.5))
        if case in EXPERT_ARCHS:
            matrix("ffn_gate_inp", EXPERTS, WIDE)
            for name, out, cols in (("gate", FFN, WIDE), ("up", FFN, WIDE), ("down", WIDE, FFN)):
                rows.append((f"{blk}ffn_{name}_exps.weight", (EXPERTS, out, cols), 0.4, 0.0))
                if arch == "gpt-oss":
                    rows.append((f"{blk}ffn_{name}_exps.bias", (EXPERTS, out), 0.5, 0.0))
            if arch == "gpt-oss":
                rows.append((f"{blk}ffn_gate_inp.bias", (EXPERTS,), 0.5, 0.0))
        elif arch in ("phi3", "glm4"):
            matrix("ffn_up", 2 * FFN, WIDE)
            matrix("ffn_down", WIDE, FFN)
        else:
            matrix("ffn_gate", FFN, WIDE)
            matrix("ffn_up", FFN, WIDE)
            matrix("ffn_down", WIDE, FFN)
    return rows


def halves(weight, heads):
    """Undoes the converter's permutation of q and k."""
    return weight.reshape(heads, HEAD // 2, 2, -1).transpose(1, 2).reshape(weight.shape)


def experts_state(case, layer, take):
    gate, up, down = (take(f"ffn_{name}_exps.weight") for name in ("gate", "up", "down"))
    if case != "gpt-oss":
        block = "mlp.gate" if case == "mixtral" else "block_sparse_moe.router"
        mlp = f"model.layers.{layer}." + block.split(".")[0] + "."
        return {
            f"model.layers.{layer}.{block}.weight": take("ffn_gate_inp.weight"),
            mlp + "experts.gate_up_proj": torch.cat([gate, up], 1),
            mlp + "experts.down_proj": down,
        }
    mlp = f"model.layers.{layer}.mlp."
    biases = [take(f"ffn_{name}_exps.bias") for name in ("gate", "up")]
    return {
        mlp + "router.weight": take("ffn_gate_inp.weight"),
        mlp + "router.bias": take("ffn_gate_inp.bias"),
        # gate and up by turns, and transposed
        mlp + "experts.gate_up_proj": torch.stack([gate, up], 2)
        .reshape(EXPERTS, 2 * FFN, WIDE)
        .transpose(1, 2)
        .contiguous(),
        mlp + "experts.gate_up_proj_bias": torch.stack(biases, 2).reshape(EXPERTS, 2 * FFN),
        mlp + "experts.down_proj": down.transpose(1, 2).contiguous(),
        mlp + "experts.down_proj_bias": take("ffn_down_exps.bias"),
    }


def layer_state(case, layer, weights):
    arch = CASES[case][0]
    blk, to = f"blk.{layer}.", f"model.layers.{layer}."

    def take(name):
        return weights[blk + name]

    state = {}
    names = {
        "attn_norm.weight": "input_layernorm.weight",
        "ffn_norm.weight": "post_attention_layernorm.weight",
        "post_attention_norm.weight": "post_attention_layernorm.weight",
        "post_ffw_norm.weight": "post_feedforward_layernorm.weight",
        "attn_q_norm.weight": "self_attn.q_norm.weight",
        "attn_k_norm.weight": "self_attn.k_norm.weight",
        "attn_qkv.weight": "self_attn.qkv_proj.weight",
        "attn_output.weight": "self_attn.o_proj.weight",
        "attn_output.bias": "self_attn.o_proj.bias",
        "attn_sinks.weight": "self_attn.sinks",
        "ffn_gate.weight": "mlp.gate_proj.weight",
        "ffn_up.weight": "mlp.up_proj.weight",
        "ffn_down.weight": "mlp.down_proj.weight",
    }
    for part in "qkv":
        for kind in ("weight", "bias"):
            names[f"attn_{part}.{kind}"] = f"self_attn.{part}_proj.{kind}"
    if arch == "hunyuan-dense":
        names["attn_q_norm.weight"] = "self_attn.query_layernorm.weight"
        names["attn_k_norm.weight"] = "self_attn.key_layernorm.weight"
    if arch == "glm4":
        names["post_attention_norm.weight"] = "post_self_attn_layernorm.weight"
        names["post_ffw_norm.weight"] = "post_mlp_layernorm.weight"
    if arch in ("glm4", "phi3"):
        names["ffn_up.weight"] = "mlp.gate_up_proj.weight"
    for name, target in names.items():
        if blk + name in weights:
            state[to + target] = take(name)
    if arch in PERMUTED:
        for part, heads in (("q", HEADS), ("k", KV_HEADS)):
            key = f"{to}self_attn.{part}_proj.weight"
            state[key] = halves(state[key], heads)
    if case in EXPERT_ARCHS:
        state |= experts_state(case, layer, take)
    return state


def logits_of(case):
    arch, config_class, options, layers, _ = CASES[case]
    sizes = dict(SIZES)
    if "rope_parameters" in options:
        sizes.pop("rope_theta")
    config = config_class(**(sizes | {"num_hidden_layers": layers} | options))
    model = hf.AutoModelForCausalLM.from_config(config, attn_implementation="eager").double()
    model.config._experts_implementation = "eager"  # the others know no float64
    weights = {}
    for seed, (name, shape, scale, base) in enumerate(tensors(case, layers), 1):
        flat = values(seed, math.prod(shape), scale, base)
        weights[name] = torch.tensor(flat).double().reshape(shape)
    state = {"model.embed_tokens.weight": weights["token_embd.weight"]}
    state["model.norm.weight"] = weights["output_norm.weight"]
    state["lm_head.weight"] = weights.get("output.weight", weights["token_embd.weight"])
    for layer in range(layers):
        state |= layer_state(case, layer, weights)
    if arch == "gemma":  # the converter adds the one
        state = {k: v - 1 if "norm" in k else v for k, v in state.items()}
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and not [m for m in missing if "rotary" not in m], (missing, unexpected)
    model.eval()
    with torch.no_grad():
        logits = model(torch.tensor([IDS])).logits[0]
    return [[round(float(x), 7) for x in row] for row in logits[-ROWS:]]


def main():
    models = []
    for case, (arch, _, _, layers, more) in CASES.items():
        keys = {
            "context_length": CONTEXT,
            "block_count": layers,
            "embedding_length": WIDE,
            "feed_forward_length": FFN,
            "attention.head_count": HEADS,
            "attention.head_count_kv": KV_HEADS,
            "attention.key_length": HEAD,
            "attention.value_length": HEAD,
            "attention.layer_norm_rms_epsilon": EPSILON,
            "rope.freq_base": BASE,
        }
        if case in EXPERT_ARCHS:
            keys |= {"expert_count": EXPERTS, "expert_used_count": USED}
        if arch == "gpt-oss":
            keys["expert_feed_forward_length"] = FFN
        models.append(
            {
                "name": case,
                "arch": arch,
                "keys": keys | more,
                "tensors": [list(row) for row in tensors(case, layers)],
                "logits": logits_of(case),
            }
        )
    out = json.dumps({"ids": IDS, "vocab": VOCAB, "models": models})
    print(out.replace('{"name"', '\n{"name"').replace('"logits"', '\n"logits"'))


if __name__ == "__main__":
    main()
