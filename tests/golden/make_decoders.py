#!/usr/bin/env python3
"""Writes decoders.json: tiny decoders of architectures that the shared golden data do not have, and
their logits by Hugging Face's transformers in float64 (pip install transformers torch), which share
no code with the engine. Weights are a formula, as in make_bert.py, so that the test makes the same
file itself. The rows of q and k of the architectures in PERMUTED stand in the file as llama.cpp's
converter puts them: neighbours instead of halves.

    make_decoders.py > decoders.json
"""

import copy
import json
import math
import os
import sys

import torch
import transformers as hf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from decoder_sizes import (
    BASE,
    CONTEXT,
    EPSILON,
    EXPERTS,
    FFN,
    HEAD,
    HEADS,
    KV_HEADS,
    USED,
    VOCAB,
    WIDE,
    WINDOW,
)
from decoders_gemma4 import GEMMA4_CASES, GEMMA4_NAMES, gemma4_tensors
from make_bert import values

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
GRANITE = {
    "embedding_multiplier": 3.0,
    "residual_multiplier": 0.5,
    "attention_multiplier": 0.2,
    "logits_scaling": 4.0,
}
GRANITE_KEYS = {
    "embedding_scale": 3.0,
    "residual_scale": 0.5,
    "attention.scale": 0.2,
    "logit_scale": 4.0,
}
INNER, SSM_HEADS, STATE, CONV = 2 * WIDE, 4, 12, 4
MAMBA = {
    "mamba_expand": 2,
    "mamba_n_heads": SSM_HEADS,
    "mamba_n_groups": 1,
    "mamba_d_state": STATE,
    "mamba_d_conv": CONV,
    "mamba_chunk_size": 8,
}
SSM_KEYS = {
    "ssm.conv_kernel": CONV,
    "ssm.state_size": STATE,
    "ssm.inner_size": INNER,
    "ssm.time_step_rank": SSM_HEADS,
    "ssm.group_count": 1,
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
        MOE | GRANITE,
        2,
        GRANITE_KEYS,
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
    "stablelm": (
        "stablelm",
        hf.StableLmConfig,
        {
            "partial_rotary_factor": 0.5,
            "layer_norm_eps": EPSILON,
            "use_qkv_bias": True,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": BASE,
                "partial_rotary_factor": 0.5,
            },
        },
        2,
        {"rope.dimension_count": HEAD // 4, "attention.layer_norm_epsilon": EPSILON},
    ),
    "lfm2": (
        "lfm2",
        hf.Lfm2Config,
        {
            "layer_types": ["conv", "full_attention", "conv"],
            "conv_L_cache": 3,
            "norm_eps": EPSILON,
            "block_auto_adjust_ff_dim": False,
            "rope_parameters": {"rope_type": "default", "rope_theta": BASE},
        },
        3,
        {"shortconv.l_cache": 3, "attention.head_count_kv": [0, KV_HEADS, 0]},
    ),
    "lfm2moe": (
        "lfm2moe",
        hf.Lfm2MoeConfig,
        {
            "layer_types": ["conv", "full_attention", "conv"],
            "conv_L_cache": 3,
            "norm_eps": EPSILON,
            "rope_parameters": {"rope_type": "default", "rope_theta": BASE},
            "num_experts": EXPERTS,
            "num_experts_per_tok": USED,
            "num_dense_layers": 1,
            "moe_intermediate_size": FFN // 2,
        },
        3,
        {
            "shortconv.l_cache": 3,
            "attention.head_count_kv": [0, KV_HEADS, 0],
            "expert_feed_forward_length": FFN // 2,
            "leading_dense_block_count": 1,
            "expert_gating_func": 2,
        },
    ),
    "granitemoe-shared": (
        "granitemoe",
        hf.GraniteMoeSharedConfig,
        MOE | GRANITE | {"shared_intermediate_size": FFN // 2},
        2,
        GRANITE_KEYS | {"expert_shared_feed_forward_length": FFN // 2},
    ),
    # Granite 4.0 H Micro has no experts and no rope; Tiny has experts; Bamba has rope.
    "granitehybrid": (
        "granitehybrid",
        hf.GraniteMoeHybridConfig,
        GRANITE
        | MAMBA
        | {
            "layer_types": ["linear_attention", "full_attention", "linear_attention"],
            "num_local_experts": 0,
            "shared_intermediate_size": FFN,
        },
        3,
        GRANITE_KEYS
        | SSM_KEYS
        | {
            "attention.head_count_kv": [0, KV_HEADS, 0],
            "expert_shared_feed_forward_length": FFN,
            "rope.scaling.finetuned": False,
        },
    ),
    "granitehybrid-moe": (
        "granitehybrid",
        hf.GraniteMoeHybridConfig,
        MOE
        | GRANITE
        | MAMBA
        | {
            "layer_types": ["linear_attention", "full_attention", "linear_attention"],
            "shared_intermediate_size": FFN // 2,
            "mamba_n_groups": 2,
            "position_embedding_type": "rope",
            "rope_parameters": {"rope_type": "default", "rope_theta": BASE},
        },
        3,
        GRANITE_KEYS
        | SSM_KEYS
        | {
            "attention.head_count_kv": [0, KV_HEADS, 0],
            "expert_shared_feed_forward_length": FFN // 2,
            "ssm.group_count": 2,
        },
    ),
    "nemotron_h": (
        "nemotron_h",
        hf.NemotronHConfig,
        {
            "layers_block_type": ["linear_attention", "mlp", "full_attention", "mlp"],
            "layer_norm_epsilon": EPSILON,
            "mamba_num_heads": SSM_HEADS,
            "mamba_head_dim": INNER // SSM_HEADS,
            "n_groups": 2,
            "ssm_state_size": STATE,
            "conv_kernel": CONV,
            "chunk_size": 8,
        },
        4,
        SSM_KEYS
        | {
            "attention.head_count_kv": [0, 0, KV_HEADS, 0],
            "feed_forward_length": [0, FFN, 0, FFN],
            "ssm.group_count": 2,
        },
    ),
    **GEMMA4_CASES,
    "llama-pruned": ("llama", hf.LlamaConfig, {}, 3, {}),
    "deci": ("deci", hf.LlamaConfig, {}, 4, {}),
    # OpenELM's own code is not in transformers; its layers compute what Qwen 3's do.
    "openelm": ("openelm", hf.Qwen3Config, {"tie_word_embeddings": True}, 3, {}),
}
PERMUTED = {"llama", "granitemoe", "granitehybrid", "deci"}
# Heads, key-value heads and feed-forward size of each layer. No key-value heads: one matrix in
# place of the attention; no heads: nothing in its place.
PRUNED = {
    "llama-pruned": [(4, 2, 48), (4, 1, 32), (2, 2, 64)],
    "deci": [(4, 2, 48), (0, 0, 32), (4, 0, 64), (4, 1, 0)],
    "openelm": [(2, 1, 32), (4, 2, 48), (6, 2, 64)],
}
# The architectures whose heads in transformers are always hidden_size / num_attention_heads.
NARROW = {"stablelm", "lfm2", "lfm2moe"}
# The layers that are Mamba-2 layers, and their groups.
SSM = {"granitehybrid": ((0, 2), 1), "granitehybrid-moe": ((0, 2), 2), "nemotron_h": ((0,), 2)}
SHORT_CONV = {"lfm2", "lfm2moe"}
SHARED = {"granitemoe-shared", "granitehybrid-moe"}
EXPERT_ARCHS = {"mixtral", "granitemoe", "gpt-oss", "lfm2moe"} | SHARED
END_NORM = dict.fromkeys(SHORT_CONV, "token_embd_norm.weight")
LFM2_NAMES = {
    "attn_norm.weight": "operator_norm.weight",
    "ffn_norm.weight": "ffn_norm.weight",
    "attn_q_norm.weight": "self_attn.q_layernorm.weight",
    "attn_k_norm.weight": "self_attn.k_layernorm.weight",
    "attn_output.weight": "self_attn.out_proj.weight",
    "shortconv.in_proj.weight": "conv.in_proj.weight",
    "shortconv.out_proj.weight": "conv.out_proj.weight",
    "shortconv.conv.weight": "conv.conv.weight",
    "ffn_gate.weight": "feed_forward.w1.weight",
    "ffn_up.weight": "feed_forward.w3.weight",
    "ffn_down.weight": "feed_forward.w2.weight",
}
BIAS = {"stablelm": "qkv", "glm4": "qkv", "seed_oss": "qkv", "gpt-oss": "all"}
NO_PRE_NORMS = {"olmo2", "exaone4", "exaone4-window"}


def sizes_of(case, layer):
    return PRUNED[case][layer] if case in PRUNED else (HEADS, KV_HEADS, FFN)


def tensors(case, layers):
    """Name, shape (rows, cols; experts first), scale, base; if not all elements are of the formula
    how many at the end are not, and their value."""
    arch = CASES[case][0]
    if arch == "gemma4":
        return gemma4_tensors(layers, CASES[case][4])
    tied = arch in ("gemma", "lfm2", "lfm2moe", "openelm") or case == "phi4-mini"
    rows = [
        ("token_embd.weight", (VOCAB, WIDE), 1.0, 0.0),
        (END_NORM.get(arch, "output_norm.weight"), (WIDE,), 0.3, 1.0),
    ]
    if arch == "stablelm":
        rows.append(("output_norm.bias", (WIDE,), 0.3, 0.0))
    if not tied:
        rows.append(("output.weight", (VOCAB, WIDE), 1.0, 0.0))
    for layer in range(layers):
        blk = f"blk.{layer}."
        heads, kv_heads, ffn = sizes_of(case, layer)
        head = WIDE // HEADS if case in NARROW else HEAD
        q, kv = heads * head, kv_heads * head
        conv = case in SHORT_CONV and layer % 2 == 0

        def norm(name, size=WIDE, blk=blk):
            rows.append((f"{blk}{name}.weight", (size,), 0.3, 1.0))

        def matrix(name, out, cols, blk=blk):
            rows.append((f"{blk}{name}.weight", (out, cols), 0.4, 0.0))

        mlp = arch == "nemotron_h" and layer % 2 == 1
        if case not in NO_PRE_NORMS:
            if heads:
                norm("attn_norm")
            if ffn and arch != "nemotron_h":
                norm("post_attention_norm" if arch in ("gpt-oss", "seed_oss") else "ffn_norm")
        if case in NO_PRE_NORMS or arch == "glm4":
            norm("post_attention_norm")
            norm("post_ffw_norm")
        if arch == "stablelm":
            rows.append((f"{blk}attn_norm.bias", (WIDE,), 0.3, 0.0))
            rows.append((f"{blk}ffn_norm.bias", (WIDE,), 0.3, 0.0))
        if conv:
            matrix("shortconv.in_proj", 3 * WIDE, WIDE)
            matrix("shortconv.out_proj", WIDE, WIDE)
            rows.append((f"{blk}shortconv.conv.weight", (WIDE, 3), 0.8, 0.2))
        elif case in SSM and layer in SSM[case][0]:
            groups = SSM[case][1]
            channels = INNER + 2 * groups * STATE
            matrix("ssm_in", INNER + channels + SSM_HEADS, WIDE)
            matrix("ssm_out", WIDE, INNER)
            rows.append((f"{blk}ssm_conv1d.weight", (channels, CONV), 0.5, 0.1))
            rows.append((f"{blk}ssm_conv1d.bias", (channels,), 0.5, 0.0))
            rows.append((f"{blk}ssm_dt.bias", (SSM_HEADS,), 1.0, 0.0))
            rows.append((f"{blk}ssm_a", (SSM_HEADS, 1), 0.5, -0.7))
            rows.append((f"{blk}ssm_d", (SSM_HEADS, 1), 0.5, 1.0))
            rows.append((f"{blk}ssm_norm.weight", (groups, INNER // groups), 0.3, 1.0))
            conv = True
        elif heads and not kv_heads:
            matrix("attn_output", WIDE, WIDE)
        elif arch in ("phi3", "openelm"):
            matrix("attn_qkv", q + 2 * kv, WIDE)
        elif heads and not mlp:
            matrix("attn_q", q, WIDE)
            matrix("attn_k", kv, WIDE)
            matrix("attn_v", kv, WIDE)
        if kv and not conv and not mlp:
            matrix("attn_output", WIDE, q)
        if arch in ("olmo2", "exaone4", "hunyuan-dense", "openelm", *SHORT_CONV) and not conv:
            norm("attn_q_norm", q if arch == "olmo2" else head)
            norm("attn_k_norm", kv if arch == "olmo2" else head)
        if case in BIAS:
            for name, size in (("attn_q", q), ("attn_k", kv), ("attn_v", kv)):
                rows.append((f"{blk}{name}.bias", (size,), 0.5, 0.0))
        if arch == "gpt-oss":
            rows.append((f"{blk}attn_output.bias", (WIDE,), 0.5, 0.0))
            rows.append((f"{blk}attn_sinks.weight", (HEADS,), 1.0, 0.5))
        if case in EXPERT_ARCHS and (case != "lfm2moe" or layer):
            ffn = FFN // 2 if case == "lfm2moe" else FFN
            matrix("ffn_gate_inp", EXPERTS, WIDE)
            for name, out, cols in (("gate", ffn, WIDE), ("up", ffn, WIDE), ("down", WIDE, ffn)):
                rows.append((f"{blk}ffn_{name}_exps.weight", (EXPERTS, out, cols), 0.4, 0.0))
                if arch == "gpt-oss":
                    rows.append((f"{blk}ffn_{name}_exps.bias", (EXPERTS, out), 0.5, 0.0))
            if arch == "gpt-oss":
                rows.append((f"{blk}ffn_gate_inp.bias", (EXPERTS,), 0.5, 0.0))
            if case in SHARED:
                for name in ("gate", "up"):
                    matrix(f"ffn_{name}_shexp", FFN // 2, WIDE)
                matrix("ffn_down_shexp", WIDE, FFN // 2)
            if case == "lfm2moe":
                rows.append((f"{blk}exp_probs_b.bias", (EXPERTS,), 0.5, 0.0))
        elif arch in ("phi3", "glm4"):
            matrix("ffn_up", 2 * FFN, WIDE)
            matrix("ffn_down", WIDE, FFN)
        elif arch == "nemotron_h":
            if mlp:
                matrix("ffn_up", FFN, WIDE)
                matrix("ffn_down", WIDE, FFN)
        elif ffn:
            matrix("ffn_gate", ffn, WIDE)
            matrix("ffn_up", ffn, WIDE)
            matrix("ffn_down", WIDE, ffn)
    return rows


def halves(weight, heads):
    """Undoes the converter's permutation of q and k."""
    return weight.reshape(heads, HEAD // 2, 2, -1).transpose(1, 2).reshape(weight.shape)


class Nothing(torch.nn.Module):
    """A block that a pruned layer does not have."""

    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def forward(self, hidden_states, **_):
        zeros = torch.zeros_like(hidden_states)
        return (zeros, None) if self.attention else zeros


class Linear(torch.nn.Module):
    """A matrix in place of the attention."""

    def __init__(self):
        super().__init__()
        self.o_proj = torch.nn.Linear(WIDE, WIDE, bias=False)

    def forward(self, hidden_states, **_):
        return self.o_proj(hidden_states), None


def prune(model, case, config):
    """Gives each layer the sizes of PRUNED."""
    for index, (heads, kv_heads, ffn) in enumerate(PRUNED[case]):
        own = copy.deepcopy(config)
        own.num_attention_heads, own.num_key_value_heads = heads or HEADS, kv_heads or KV_HEADS
        own.intermediate_size = ffn or FFN
        layer = type(model.model.layers[index])(own, index).double()
        if heads == 0:
            layer.self_attn = Nothing(True)
        elif kv_heads == 0:
            layer.self_attn = Linear().double()
        if ffn == 0:
            layer.mlp = Nothing(False)
        model.model.layers[index] = layer


def experts_state(case, layer, take):
    gate, up, down = (take(f"ffn_{name}_exps.weight") for name in ("gate", "up", "down"))
    if case == "lfm2moe":
        mlp = f"model.layers.{layer}.feed_forward."
        return {
            mlp + "gate.weight": take("ffn_gate_inp.weight"),
            mlp + "expert_bias": take("exp_probs_b.bias"),
            mlp + "experts.gate_up_proj": torch.cat([gate, up], 1),
            mlp + "experts.down_proj": down,
        }
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


def mamba_state(take, to, blk, weights):
    if blk + "ssm_in.weight" not in weights:
        return {}
    return {
        to + "in_proj.weight": take("ssm_in.weight"),
        to + "out_proj.weight": take("ssm_out.weight"),
        to + "conv1d.weight": take("ssm_conv1d.weight").unsqueeze(1),
        to + "conv1d.bias": take("ssm_conv1d.bias"),
        to + "dt_bias": take("ssm_dt.bias"),
        to + "A_log": torch.log(-take("ssm_a").flatten()),
        to + "D": take("ssm_d").flatten(),
        to + "norm.weight": take("ssm_norm.weight").flatten(),
    }


def granite_state(take, to, blk, weights):
    """A Mamba-2 layer if it is one, and the feed-forward block that all tokens go through."""
    state = {}
    suffix = "_shexp" if blk + "ffn_gate_shexp.weight" in weights else ""
    gate, up = (take(f"ffn_{name}{suffix}.weight") for name in ("gate", "up"))
    state[to + "shared_mlp.input_linear.weight"] = torch.cat([gate, up])
    state[to + "shared_mlp.output_linear.weight"] = take(f"ffn_down{suffix}.weight")
    return state | mamba_state(take, to + "mamba.", blk, weights)


def nemotron_state(take, to, blk, weights):
    """A layer of one block."""
    state = {to + "norm.weight": take("attn_norm.weight")}
    names = {f"attn_{part}": f"{part}_proj" for part in "qkv"}
    names |= {"attn_output": "o_proj", "ffn_up": "up_proj", "ffn_down": "down_proj"}
    for name, theirs in names.items():
        if f"{blk}{name}.weight" in weights:
            state[f"{to}mixer.{theirs}.weight"] = take(f"{name}.weight")
    return state | mamba_state(take, to + "mixer.", blk, weights)


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
    if arch == "openelm":  # transformers has the parts
        heads, kv_heads, _ = sizes_of(case, layer)
        parts = take("attn_qkv.weight").split([heads * HEAD, kv_heads * HEAD, kv_heads * HEAD])
        for part, rows in zip("qkv", parts, strict=True):
            state[f"{to}self_attn.{part}_proj.weight"] = rows
        del names["attn_qkv.weight"]
    if arch == "stablelm":
        names["attn_norm.bias"] = "input_layernorm.bias"
        names["ffn_norm.bias"] = "post_attention_layernorm.bias"
    if arch in SHORT_CONV:
        names |= LFM2_NAMES
    if arch == "gemma4":
        names |= GEMMA4_NAMES
    if arch == "granitehybrid" or case in SHARED:
        state |= granite_state(take, to, blk, weights)
    if arch == "nemotron_h":
        return nemotron_state(take, to, blk, weights)
    if case == "granitehybrid":
        for name in ("ffn_gate.weight", "ffn_up.weight", "ffn_down.weight"):
            names.pop(name, None)
    if arch in ("glm4", "phi3"):
        names["ffn_up.weight"] = "mlp.gate_up_proj.weight"
    for name, target in names.items():
        if blk + name in weights:
            state[to + target] = take(name)
    if arch in PERMUTED:
        for part, heads in zip("qk", sizes_of(case, layer), strict=False):
            key = f"{to}self_attn.{part}_proj.weight"
            if key in state:
                state[key] = halves(state[key], heads)
    if arch in SHORT_CONV and f"{to}conv.conv.weight" in state:
        state[f"{to}conv.conv.weight"] = state[f"{to}conv.conv.weight"].unsqueeze(1)
    if blk + "ffn_gate_inp.weight" in weights:
        state |= experts_state(case, layer, take)
    return state


def logits_of(case):
    arch, config_class, options, layers, _ = CASES[case]
    sizes = dict(SIZES)
    if "rope_parameters" in options:
        sizes.pop("rope_theta")
    if case in NARROW:
        sizes.pop("head_dim")
    config = config_class(**(sizes | {"num_hidden_layers": layers} | options))
    model = hf.AutoModelForCausalLM.from_config(config, attn_implementation="eager").double()
    if case in PRUNED:
        prune(model, case, model.config)
    model.config._experts_implementation = "eager"  # the others know no float64
    weights = {}
    for seed, (name, shape, scale, base, *_) in enumerate(tensors(case, layers), 1):
        flat = values(seed, math.prod(shape), scale, base)
        weights[name] = torch.tensor(flat).double().reshape(shape)
    state = {"model.embed_tokens.weight": weights["token_embd.weight"]}
    if arch == "nemotron_h":
        state = {"model.embeddings.weight": weights["token_embd.weight"]}
        state["model.norm_f.weight"] = weights["output_norm.weight"]
    elif arch in SHORT_CONV:
        state["model.embedding_norm.weight"] = weights["token_embd_norm.weight"]
    else:
        state["model.norm.weight"] = weights["output_norm.weight"]
    if arch == "stablelm":
        state["model.norm.bias"] = weights["output_norm.bias"]
    if "per_layer_token_embd.weight" in weights:
        state["model.embed_tokens_per_layer.weight"] = weights["per_layer_token_embd.weight"]
        state["model.per_layer_model_projection.weight"] = weights["per_layer_model_proj.weight"]
        state["model.per_layer_projection_norm.weight"] = weights["per_layer_proj_norm.weight"]
    state["lm_head.weight"] = weights.get("output.weight", weights["token_embd.weight"])
    for layer in range(layers):
        state |= layer_state(case, layer, weights)
    if arch == "gemma":  # the converter adds the one
        state = {k: v - 1 if "norm" in k else v for k, v in state.items()}
    if case in PRUNED:  # what the layer does not have is not used
        unused = {"input_layernorm": 0, "post_attention_layernorm": 2}
        for layer, sizes in enumerate(PRUNED[case]):
            for name, part in unused.items():
                if sizes[part] == 0:
                    state[f"model.layers.{layer}.{name}.weight"] = torch.ones(WIDE).double()
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
        if case in NARROW:
            keys |= {f"attention.{name}_length": WIDE // HEADS for name in ("key", "value")}
        if case in PRUNED:
            names = ("attention.head_count", "attention.head_count_kv", "feed_forward_length")
            keys |= dict(zip(names, map(list, zip(*PRUNED[case], strict=True)), strict=True))
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
