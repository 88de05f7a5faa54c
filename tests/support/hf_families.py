"""The decoders of tests/golden/decoders.json as Hugging Face's transformers saves them. Names and
shapes are those of its save_pretrained (5.24); OpenELM's are those of its own code."""

import json
import math
import struct
from pathlib import Path
from typing import Any

import hf_folder
from check import equal
from hf_folder import pack, safetensors
from tandem import run

Tensors = dict[str, tuple[list[int], bytes]]
GOLDEN = json.loads((Path(__file__).resolve().parent.parent / "golden/decoders.json").read_text())
ENDS = hf_folder.ENDS | {
    "output": "lm_head",
    "token_embd_norm": "model.embedding_norm",
    "per_layer_token_embd": "model.embed_tokens_per_layer",
    "per_layer_model_proj": "model.per_layer_model_projection",
    "per_layer_proj_norm": "model.per_layer_projection_norm",
}
LLAMA = hf_folder.NAMES | {"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm"}
POST = {
    "post_attention_norm": "post_attention_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
GLM4 = {
    "post_attention_norm": "post_self_attn_layernorm",
    "post_ffw_norm": "post_mlp_layernorm",
    "ffn_up": "mlp.gate_up_proj",
}
HUNYUAN = {"attn_q_norm": "self_attn.query_layernorm", "attn_k_norm": "self_attn.key_layernorm"}
LFM2 = {
    "attn_norm": "operator_norm",
    "ffn_norm": "ffn_norm",
    "attn_output": "self_attn.out_proj",
    "attn_q_norm": "self_attn.q_layernorm",
    "attn_k_norm": "self_attn.k_layernorm",
    "shortconv.conv": "conv.conv",
    "shortconv.in_proj": "conv.in_proj",
    "shortconv.out_proj": "conv.out_proj",
    "ffn_gate": "feed_forward.w1",
    "ffn_down": "feed_forward.w2",
    "ffn_up": "feed_forward.w3",
    "ffn_gate_inp": "feed_forward.gate",
    "ffn_gate_exps": "feed_forward.experts.E.w1",
    "ffn_down_exps": "feed_forward.experts.E.w2",
    "ffn_up_exps": "feed_forward.experts.E.w3",
}
MIXTRAL = {
    "ffn_gate_inp": "block_sparse_moe.gate",
    "ffn_gate_exps": "block_sparse_moe.experts.E.w1",
    "ffn_down_exps": "block_sparse_moe.experts.E.w2",
    "ffn_up_exps": "block_sparse_moe.experts.E.w3",
}
GRANITE = {
    "ffn_gate_inp": "block_sparse_moe.router.layer",
    "ffn_gate_exps": "block_sparse_moe.input_linear",
    "ffn_up_exps": "block_sparse_moe.input_linear",
    "ffn_down_exps": "block_sparse_moe.output_linear",
    "ffn_gate_shexp": "shared_mlp.input_linear",
    "ffn_up_shexp": "shared_mlp.input_linear",
    "ffn_down_shexp": "shared_mlp.output_linear",
    "ssm_in": "mamba.in_proj",
    "ssm_out": "mamba.out_proj",
    "ssm_conv1d": "mamba.conv1d",
    "ssm_norm": "mamba.norm",
    "ssm_dt": "mamba.dt_bias",
    "ssm_a": "mamba.A_log",
    "ssm_d": "mamba.D",
}
DENSE_HYBRID = GRANITE | {
    "ffn_gate": "shared_mlp.input_linear",
    "ffn_up": "shared_mlp.input_linear",
    "ffn_down": "shared_mlp.output_linear",
}
NEMOTRON = {ours: name.replace("mamba.", "mixer.") for ours, name in GRANITE.items()} | {
    "attn_norm": "norm",
    "attn_q": "mixer.q_proj",
    "attn_k": "mixer.k_proj",
    "attn_v": "mixer.v_proj",
    "attn_output": "mixer.o_proj",
    "ffn_up": "mixer.up_proj",
    "ffn_down": "mixer.down_proj",
}
GEMMA4 = POST | {
    "ffn_norm": "pre_feedforward_layernorm",
    "inp_gate": "per_layer_input_gate",
    "proj": "per_layer_projection",
    "post_norm": "post_per_layer_input_norm",
    "layer_output_scale": "layer_scalar",
}
OPENELM = {
    "attn_norm": "attn_norm",
    "ffn_norm": "ffn_norm",
    "attn_qkv": "attn.qkv_proj",
    "attn_output": "attn.out_proj",
    "attn_q_norm": "attn.q_norm",
    "attn_k_norm": "attn.k_norm",
    "ffn_gate": "ffn.proj_1",
    "ffn_up": "ffn.proj_1",
    "ffn_down": "ffn.proj_2",
}
OPENELM_CONFIG = {
    "num_transformer_layers": 3,
    "num_query_heads": [2, 4, 6],
    "num_kv_heads": [1, 2, 2],
    "model_dim": 32,
    "max_context_length": 256,
    "rope_freq_constant": 10000,
    "hidden_size": None,
    "num_hidden_layers": None,
    "num_attention_heads": None,
    "max_position_embeddings": None,
}
GPT_OSS = {
    "post_attention_norm": "post_attention_layernorm",
    "attn_sinks": "self_attn.sinks",
    "ffn_gate_inp": "mlp.router",
    "ffn_gate_exps": "mlp.experts.gate_up_proj",
    "ffn_up_exps": "mlp.experts.gate_up_proj",
    "ffn_down_exps": "mlp.experts.down_proj",
}
JOINT = (".experts.gate_up_proj", ".experts.down_proj")  # suffixes "" and "_bias"
BARE = ("sinks", "dt_bias", "A_log", "mamba.D", "mixer.D", "layer_scalar")
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
MULTIPLIERS = {
    "embedding_multiplier": 3.0,
    "residual_multiplier": 0.5,
    "attention_multiplier": 0.2,
    "logits_scaling": 4.0,
}
MAMBA = {
    "mamba_d_conv": 4,
    "mamba_d_state": 12,
    "mamba_n_heads": 4,
    "mamba_n_groups": 1,
    "position_embedding_type": None,
}
KINDS = {True: "full_attention", False: "sliding_attention"}
ROPES = {
    "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    "full_attention": {
        "rope_type": "proportional",
        "partial_rotary_factor": 0.25,
        "rope_theta": 1e6,
    },
}
GEMMA4_CONFIG = {
    "layer_types": [KINDS[i % 3 == 2] for i in range(3)],
    "sliding_window": 8,
    "final_logit_softcapping": 5.0,
    "rope_parameters": ROPES,
    "num_kv_shared_layers": 0,
    "hidden_size_per_layer_input": 0,
}
# name of the case: model_type, names beside llama's, more of config.json
FRAMEWORKS: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "stablelm": (
        "stablelm",
        {},
        {"layer_norm_eps": 1e-5, "partial_rotary_factor": 0.5, "head_dim": None},
    ),
    "lfm2": ("lfm2", LFM2, {"norm_eps": 1e-5, "conv_L_cache": 3, "head_dim": None}),
    "llama-pruned": ("llama", {}, {}),
    "deci": ("nemotron-nas", {}, {"intermediate_size": None}),
    "olmo2": ("olmo2", POST, {}),
    "exaone4": ("exaone4", POST, {"sliding_window": None}),
    "exaone4-window": ("exaone4", POST, {"sliding_window": 8}),
    "hunyuan-dense": ("hunyuan_v1_dense", HUNYUAN, {}),
    "glm4": ("glm4", GLM4, {"rope_parameters": {"partial_rotary_factor": 0.5}}),
    "openelm": ("openelm", OPENELM, OPENELM_CONFIG),
    "ernie4_5": ("ernie4_5", {}, {}),
    "seed_oss": ("seed_oss", POST, {}),
    "gemma": ("gemma", {}, {}),
    "mixtral": ("mixtral", MIXTRAL, EXPERTS),
    "lfm2moe": (
        "lfm2_moe",
        LFM2,
        {
            "norm_eps": 1e-5,
            "conv_L_cache": 3,
            "head_dim": None,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "num_dense_layers": 1,
        },
    ),
    "granitemoe": ("granitemoe", GRANITE, EXPERTS | MULTIPLIERS),
    "granitemoe-shared": ("granitemoeshared", GRANITE, EXPERTS | MULTIPLIERS),
    "granitehybrid": (
        "granitemoehybrid",
        DENSE_HYBRID,
        MULTIPLIERS | MAMBA | {"num_local_experts": 0},
    ),
    "granitehybrid-moe": (
        "granitemoehybrid",
        GRANITE,
        EXPERTS | MULTIPLIERS | MAMBA | {"mamba_n_groups": 2, "position_embedding_type": "rope"},
    ),
    "nemotron_h": (
        "nemotron_h",
        NEMOTRON,
        {
            "num_hidden_layers": None,
            "layers_block_type": ["linear_attention", "mlp", "full_attention", "mlp"],
            "layer_norm_epsilon": 1e-5,
            "mamba_num_heads": 4,
            "n_groups": 2,
            "ssm_state_size": 12,
            "conv_kernel": 4,
        },
    ),
    "gpt-oss": (
        "gpt_oss",
        GPT_OSS,
        EXPERTS
        | {
            "sliding_window": 8,
            "layer_types": [KINDS[i % 2 == 1] for i in range(4)],
            "swiglu_limit": 7.0,
            "quantization_config": {"quant_method": "mxfp4"},
            "rope_scaling": {
                "rope_type": "yarn",
                "factor": 8.0,
                "beta_fast": 8.0,
                "beta_slow": 1.0,
                "original_max_position_embeddings": 32,
                "truncate": False,
            },
        },
    ),
    "gemma4": (
        "gemma4_text",
        GEMMA4,
        GEMMA4_CONFIG
        | {
            "layer_types": [KINDS[i % 3 == 2] for i in range(6)],
            "num_kv_shared_layers": 3,
            "hidden_size_per_layer_input": 8,
        },
    ),
    "gemma4-keys-as-values": ("gemma4_text", GEMMA4, GEMMA4_CONFIG),
}
PERMUTED = ("llama", "deci", "granitemoe", "granitehybrid")


def formula(seed: int, count: int, scale: float, base: float) -> list[float]:
    """As values() of tests/golden/make_bert.py."""
    out = []
    for index in range(count):
        x = (index + seed * 1000003) * 2654435761 & 0xFFFFFFFF
        x = (x ^ x >> 16) * 0x45D9F3B & 0xFFFFFFFF
        x ^= x >> 16
        out.append(base + scale * (x / 2147483648.0 - 1))
    return out


ENDS_OF = {
    "backbone": {"model.norm": "norm_f", "model.embed_tokens": "embeddings"},
    "transformer": {"model.norm": "norm", "model.embed_tokens": "token_embeddings"},
}
TRUNKS = {"nemotron_h": "backbone", "openelm": "transformer"}


def theirs(names: dict[str, str], stem: str, suffix: str, trunk: str = "model") -> str:
    part = stem.split(".", 2)
    if part[0] != "blk":
        end = ENDS[stem]
        if own := ENDS_OF.get(trunk, {}).get(end):
            end = f"{trunk}.{own}"
        return f"{end}.{suffix}"
    if part[2] == "exp_probs_b":
        return f"model.layers.{part[1]}.feed_forward.expert_bias"
    name = (LLAMA | names)[part[2]]
    whole = f"{trunk}.layers.{part[1]}.{name}"
    if name.endswith(JOINT):
        return whole + ("_bias" if suffix == "bias" else "")
    return whole if name.endswith(BARE) else f"{whole}.{suffix}"


def join(first: tuple[list[int], bytes], shape: list[int], raw: bytes) -> tuple[list[int], bytes]:
    """Rows behind those of `first`, of each expert."""
    count = shape[0] if len(shape) == 3 else 1
    a, b = len(first[1]) // count, len(raw) // count
    both = b"".join(first[1][e * a : (e + 1) * a] + raw[e * b : (e + 1) * b] for e in range(count))
    return [*shape[:-2], first[0][-2] + shape[-2], shape[-1]], both


def put_joint(tensors: Tensors, name: str, shape: list[int], values: list[float]) -> None:
    """gpt-oss: matrices transposed, the columns of gate and up by turns."""
    if len(shape) == 3:
        shape, values = [shape[0], shape[2], shape[1]], transposed(shape, values)
    if name in tensors:
        gate = struct.unpack(f"<{len(values)}f", tensors[name][1])
        values = [x for pair in zip(gate, values, strict=True) for x in pair]
        shape = [*shape[:-1], 2 * shape[-1]]
    tensors[name] = (shape, struct.pack(f"<{len(values)}f", *values))


def transposed(shape: list[int], values: list[float]) -> list[float]:
    size = shape[1] * shape[2]
    return [
        values[expert * size + row * shape[2] + col]
        for expert in range(shape[0])
        for col in range(shape[2])
        for row in range(shape[1])
    ]


def put(tensors: Tensors, arch: str, name: str, shape: list[int], values: list[float]) -> None:
    """One tensor of ours, whose name there is `name`, in their form."""
    if name.removesuffix("_bias").endswith(JOINT):
        put_joint(tensors, name, shape, values)
        return
    if arch == "gemma" and "norm" in name:
        values = [x - 1 for x in values]
    if name.endswith("A_log"):
        values = [math.log(-x) for x in values]
    raw = struct.pack(f"<{len(values)}f", *values)
    if name.endswith((*BARE, "mamba.norm.weight", "mixer.norm.weight")):
        shape = [len(values)]
    if "conv1d.weight" in name or "conv.conv" in name:
        shape = [shape[0], 1, shape[1]]
    if arch in PERMUTED and name.endswith(("q_proj.weight", "k_proj.weight")):
        raw = hf_folder.to_halves(raw, shape, 16)
    if arch == "deci" and name.endswith("o_proj.weight") and shape == [32, 32]:
        name = name.replace("o_proj", "linear_attn")
    if ".E." in name:
        size = len(raw) // shape[0]
        for e in range(shape[0]):
            own = name.replace(".E.", f".{e}.")
            tensors[own] = (shape[1:], raw[e * size : (e + 1) * size])
    elif name in tensors:
        tensors[name] = join(tensors[name], shape, raw)
    else:
        tensors[name] = (shape, raw)


def write_folder(
    target: Path, tensors: Tensors, config: dict[str, Any], words: int = GOLDEN["vocab"]
) -> None:
    vocab = {f"w{i}": i for i in range(words)}
    tokenizer = {
        "added_tokens": [],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    }
    target.mkdir()
    (target / "model.safetensors").write_bytes(pack(*safetensors(tensors)))
    (target / "config.json").write_text(json.dumps(config))
    (target / "tokenizer.json").write_text(json.dumps(tokenizer))


def parts_of(golden: dict[str, Any]) -> tuple[Tensors, dict[str, Any]]:
    """Its tensors and config.json in their form."""
    model_type, names, more = FRAMEWORKS[golden["name"]]
    tensors: Tensors = {}
    for seed, (name, shape, scale, base, *_) in enumerate(golden["tensors"], 1):
        if name == "rope_freqs.weight":
            continue
        stem, suffix = name.rsplit(".", 1) if name.endswith(("weight", "bias")) else (name, "")
        values = formula(seed, math.prod(shape), scale, base)
        own = theirs(names, stem, suffix, TRUNKS.get(model_type, "model"))
        put(tensors, golden["arch"], own, shape, values)
    config = {
        "model_type": model_type,
        "hidden_size": 32,
        "num_hidden_layers": golden["keys"]["block_count"],
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "intermediate_size": 48,
        "max_position_embeddings": 256,
        "vocab_size": GOLDEN["vocab"],
        "rms_norm_eps": 1e-5,
    } | more
    return tensors, config


def make(golden: dict[str, Any], target: Path, prefix: str = "model.") -> None:
    tensors, config = parts_of(golden)
    renamed = {name.replace("model.", prefix, 1): tensor for name, tensor in tensors.items()}
    if prefix == "model.":
        write_folder(target, tensors, config)
    else:  # with the towers of the whole model
        renamed["model.vision_tower.encoder.weight"] = ([1], b"\0\0\0\0")
        write_folder(target, renamed, {"model_type": "gemma4", "text_config": config})


def logits_of(source: Path, ids: list[int], last: int) -> tuple[float, ...]:
    """Of the converted folder, behind the last ids."""
    target, out = source.parent / "m.gguf", source.parent / "out"
    code, _, err = run("convert", source, target, "--type", "F32")
    equal(code, 0, f"{source}: {err}")
    listed = ",".join(map(str, ids))
    code, _, err = run("logits", "-m", target, "--ids", listed, "--last", str(last), "-o", out)
    equal(code, 0, f"{source}: {err}")
    raw = out.read_bytes()
    return struct.unpack(f"<{len(raw) // 4}f", raw)


def distance(source: Path, golden: dict[str, Any]) -> float:
    """From the logits of the framework."""
    got = logits_of(source, GOLDEN["ids"], 2)
    expected = [x for row in golden["logits"] for x in row]
    return max(abs(a - b) for a, b in zip(got, expected, strict=True))


def golden_of(name: str) -> dict[str, Any]:
    return next(model for model in GOLDEN["models"] if model["name"] == name)
