#!/usr/bin/env python3
"""tandem convert: the decoders of tests/golden/decoders.json as Hugging Face's transformers saves
them. Names and shapes are those of its save_pretrained (5.24)."""

import json
import math
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import hf_folder
from check import Skip, case, equal, main
from hf_folder import File, pack, safetensors
from tandem import SHARED, run

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


def theirs(names: dict[str, str], stem: str, suffix: str, backbone: bool) -> str:
    part = stem.split(".", 2)
    if part[0] != "blk":
        end = ENDS[stem]
        if backbone and end != "lm_head":
            end = {"model.norm": "backbone.norm_f"}.get(end, "backbone.embeddings")
        return f"{end}.{suffix}"
    if part[2] == "exp_probs_b":
        return f"model.layers.{part[1]}.feed_forward.expert_bias"
    name = (LLAMA | names)[part[2]]
    whole = f"{'backbone' if backbone else 'model'}.layers.{part[1]}.{name}"
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
        own = theirs(names, stem, suffix, model_type == "nemotron_h")
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
    equal(code, 0, (source, err))
    listed = ",".join(map(str, ids))
    code, _, err = run("logits", "-m", target, "--ids", listed, "--last", str(last), "-o", out)
    equal(code, 0, (source, err))
    raw = out.read_bytes()
    return struct.unpack(f"<{len(raw) // 4}f", raw)


def distance(source: Path, golden: dict[str, Any]) -> float:
    """From the logits of the framework."""
    got = logits_of(source, GOLDEN["ids"], 2)
    expected = [x for row in golden["logits"] for x in row]
    return max(abs(a - b) for a, b in zip(got, expected, strict=True))


@case
def test_every_family_gives_the_logits_of_its_framework():
    done = set()
    for golden in GOLDEN["models"]:
        if golden["name"] not in FRAMEWORKS:
            continue
        with tempfile.TemporaryDirectory() as folder:
            make(golden, Path(folder) / "hf")
            far = distance(Path(folder) / "hf", golden)
            assert far < 1e-4, (golden["name"], far)
        done.add(golden["name"])
    equal(done, set(FRAMEWORKS))


def golden_of(name: str) -> dict[str, Any]:
    return next(model for model in GOLDEN["models"] if model["name"] == name)


@case
def test_of_a_model_that_sees_and_hears_the_text_part_is_converted():
    with tempfile.TemporaryDirectory() as folder:
        make(golden_of("gemma4"), Path(folder) / "hf", "model.language_model.")
        assert distance(Path(folder) / "hf", golden_of("gemma4")) < 1e-4


@case
def test_experts_in_tensors_of_their_own_stand_in_the_order_of_their_numbers():
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "hf", Path(folder) / "m.gguf"
        make(golden_of("mixtral"), source)
        code, _, err = run("convert", source, target, "--type", "F32")
        equal(code, 0, err)
        raw = (source / "model.safetensors").read_bytes()
        size = struct.unpack("<Q", raw[:8])[0]
        header, body = json.loads(raw[8 : 8 + size]), raw[8 + size :]
        stem = "model.layers.1.block_sparse_moe.experts"
        expected = b""
        for e in range(4):
            begin, end = header[f"{stem}.{e}.w2.weight"]["data_offsets"]
            expected += body[begin:end]
        equal(File(target).tensors["blk.1.ffn_down_exps.weight"], ([4, 32, 48], expected))
        path = source / "model.safetensors"
        for change, word in (
            ({f"{stem}.2.w1.weight": None}, "blk.1.ffn_gate_exps.weight: expert 2 is missing"),
            ({f"{stem}.9.w1.weight": header[f"{stem}.2.w1.weight"]}, "expert that config.json"),
        ):
            changed = {name: entry for name, entry in (header | change).items() if entry}
            if f"{stem}.9.w1.weight" in changed:
                del changed[f"{stem}.2.w1.weight"]
            path.write_bytes(pack(changed, body))
            code, _, err = run("convert", source, Path(folder) / "never.gguf")
            assert code == 1 and word in err, (word, err)


BAMBA = {
    "model.norm": "model.final_layernorm",
    "post_attention_layernorm": "pre_ff_layernorm",
    "shared_mlp.input_linear": "feed_forward.gate_proj",
    "shared_mlp.output_linear": "feed_forward.down_proj",
}


@case
def test_bamba_is_a_granite_hybrid_without_multipliers_and_with_names_of_its_own():
    """Half of each head rotates. The sibling's logits are its framework's, see above."""
    golden = golden_of("granitehybrid")
    plain = {
        "embedding_multiplier": 1.0,
        "residual_multiplier": 1.0,
        "attention_multiplier": 0.25,
        "logits_scaling": 1.0,
        "position_embedding_type": "rope",
        "partial_rotary_factor": 0.5,
    }
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "hf"
        make(golden, source)
        config = json.loads((source / "config.json").read_text()) | plain
        (source / "config.json").write_text(json.dumps(config))
        expected = logits_of(source, GOLDEN["ids"], 2)
        tensors: Tensors = {}
        raw = (source / "model.safetensors").read_bytes()
        size = struct.unpack("<Q", raw[:8])[0]
        for name, entry in json.loads(raw[8 : 8 + size]).items():
            begin, end = entry["data_offsets"]
            shape, part = entry["shape"], raw[8 + size + begin : 8 + size + end]
            for theirs_name, own in BAMBA.items():
                name = name.replace(theirs_name, own)
            if "gate_proj" in name:  # rows of gate, then of up
                half = len(part) // 2
                tensors[name.replace("gate", "up")] = ([shape[0] // 2, shape[1]], part[half:])
                shape, part = [shape[0] // 2, shape[1]], part[:half]
            tensors[name] = (shape, part)
        bamba = Path(folder) / "bamba"
        config = {name: value for name, value in config.items() if name not in MULTIPLIERS}
        config |= {"model_type": "bamba"}
        del config["position_embedding_type"], config["num_local_experts"]
        write_folder(bamba, tensors, config)
        got = logits_of(bamba, GOLDEN["ids"], 2)
        equal(max(map(abs, (a - b for a, b in zip(got, expected, strict=True)))) < 1e-5, True)


QWEN3MOE = {
    "ffn_gate_inp": "mlp.gate",
    "ffn_gate_exps": "mlp.experts.E.gate_proj",
    "ffn_down_exps": "mlp.experts.E.down_proj",
    "ffn_up_exps": "mlp.experts.E.up_proj",
}


@case
def test_qwen3_moe_gives_the_logits_of_an_independent_program():
    path = SHARED / "golden" / "models" / "qwen3moe-f32.gguf"
    if not path.exists():
        raise Skip(f"no {path.name}")
    index = json.loads((SHARED / "golden" / "index.json").read_text())
    entry = next(test for test in index["cases"] if test["name"] == "qwen3moe/f32/n24")
    file, tensors = File(path), {}
    for name, (shape, raw) in file.tensors.items():
        values = list(struct.unpack(f"<{len(raw) // 4}f", raw))
        stem, suffix = name.rsplit(".", 1)
        put(tensors, "qwen3moe", theirs(QWEN3MOE, stem, suffix, False), shape, values)
    config = {
        "model_type": "qwen3_moe",
        "hidden_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "intermediate_size": 192,
        "moe_intermediate_size": 64,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "norm_topk_prob": True,
        "max_position_embeddings": 256,
        "rope_theta": 1e6,
        "vocab_size": 512,
        "rms_norm_eps": 1e-6,
    }
    expected = (SHARED / "golden" / entry["golden"]).read_bytes()
    expected = struct.unpack(f"<{len(expected) // 4}f", expected)
    with tempfile.TemporaryDirectory() as folder:
        write_folder(Path(folder) / "hf", tensors, config, 512)
        got = logits_of(Path(folder) / "hf", entry["ids"], len(entry["ids"]))
    assert max(abs(a - b) for a, b in zip(got, expected, strict=True)) < 1e-4


FP4 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6]


def pack_experts(tensors: Tensors) -> tuple[Tensors, bytes]:
    """Replaces the experts of gpt-oss by the floats of some in MXFP4. Gives the tensors with the
    packed ones, and what GGUF has of "up" in layer 1."""
    packed = dict(tensors)
    expected = b""
    for seed, name in enumerate(n for n in tensors if n.endswith(JOINT)):
        experts, cols, rows = tensors[name][0]
        count, groups = experts * rows * cols, cols // 32
        blocks = bytes(int(x) for x in formula(seed + 1, count // 2, 127.9, 128))
        scales = bytes(int(x) for x in formula(seed + 99, count // 32, 1.9, 124))
        nibbles = [byte >> shift & 15 for byte in blocks for shift in (0, 4)]
        values = [FP4[x] * 2.0 ** (scales[i // 32] - 127) for i, x in enumerate(nibbles)]
        floats = transposed([experts, rows, cols], values)
        tensors[name] = ([experts, cols, rows], struct.pack(f"<{count}f", *floats))
        del packed[name]
        packed[name + "_blocks"] = ([experts, rows, groups, 16], blocks)
        packed[name + "_scales"] = ([experts, rows, groups], scales)
        if name == "model.layers.1.mlp.experts.gate_up_proj":
            for group in range(experts * rows * groups):
                if group // groups % 2 == 1:
                    own = nibbles[32 * group : 32 * group + 32]
                    both = zip(own[:16], own[16:], strict=True)
                    expected += bytes([scales[group], *(low | high << 4 for low, high in both)])
    return packed, expected


def gpt_oss_in_two_forms() -> tuple[Tensors, Tensors, bytes, dict[str, Any]]:
    golden = golden_of("gpt-oss")
    wide = [[n, [64 if d == 48 else d for d in shape], *x] for n, shape, *x in golden["tensors"]]
    plain, config = parts_of(golden | {"tensors": wide})
    packed, expected = pack_experts(plain)
    return plain, packed, expected, config | {"intermediate_size": 64}


@case
def test_experts_of_gpt_oss_in_mxfp4_are_those_in_floats_and_keep_their_bits():
    plain, packed, expected, config = gpt_oss_in_two_forms()
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "packed", Path(folder) / "m.gguf"
        write_folder(source, packed, config)
        write_folder(Path(folder) / "plain", plain, config)
        floats = logits_of(Path(folder) / "plain", GOLDEN["ids"], 2)
        got = logits_of(source, GOLDEN["ids"], 2)
        assert max(abs(a - b) for a, b in zip(got, floats, strict=True)) < 1e-5
        for kind, kept in (("F16", True), ("Q4_0", True), ("MXFP4", True), ("F32", False)):
            code, _, err = run("convert", source, target, "--type", kind, "--force")
            equal(code, 0, (kind, err))
            equal(expected in target.read_bytes(), kept, kind)
            code, _, err = run("logits", "-m", target, "--ids", "1,2,3", "-o", Path(folder) / "o")
            equal(code, 0, (kind, err))


@case
def test_experts_of_gpt_oss_that_do_not_fit_are_refused():
    _, packed, _, config = gpt_oss_in_two_forms()
    stem = "model.layers.1.mlp.experts.gate_up_proj"
    (shape, blocks), scales = packed[stem + "_blocks"], packed[stem + "_scales"]
    half = len(scales[1]) // 2
    changes: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({stem + "_scales": None}, {}, "gate_up_proj_blocks' has no shape"),
        ({stem + "_scales": ([4, 64, 1], scales[1][:half])}, {}, "has no shape of experts"),
        ({stem + "_scales": (scales[0], b"\xff" + scales[1][1:])}, {}, "has no shape of experts"),
        ({stem + "_blocks": ([4, 128, 2, 8], blocks)}, {}, "has no shape of experts"),
        ({stem + "_blocks": ([4, 128, 16], blocks)}, {}, "has no shape of experts"),
        ({stem + "_blocks": ([2, 256, 1, 16], blocks)}, {}, "has no shape of experts"),
        ({stem + "_bias": ([4, 127], bytes(4 * 4 * 127))}, {}, "gate_up_proj_bias' has no shape"),
        ({stem + "_zeros": (shape, blocks)}, {}, "gate_up_proj_zeros' has no place"),
        ({"model.layers.1.mlp.experts.up": (shape, blocks)}, {}, "experts.up' has no place"),
        ({}, {"num_local_experts": 5}, "has no shape of experts"),
        ({}, {"swiglu_limit": 5.0}, "swiglu_limit"),
        ({}, {"layer_types": ["full_attention"]}, "layer_types"),
    ]
    for number, (change, setting, word) in enumerate(changes):
        with tempfile.TemporaryDirectory() as folder:
            changed = {name: it for name, it in (packed | change).items() if it}
            write_folder(Path(folder) / "hf", changed, config | setting)
            code, _, err = run("convert", Path(folder) / "hf", Path(folder) / "never.gguf")
            assert code == 1 and word in err, (number, word, err)


UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
BEFORE, ENDING = r"[^\r\n\p{L}\p{N}]?", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (
    f"{BEFORE}[{UPPER}]*[{LOWER}]+{ENDING}|{BEFORE}[{UPPER}]+[{LOWER}]*{ENDING}|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


@case
def test_texts_of_gpt_oss_are_cut_as_those_of_gpt_4o():
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "hf", Path(folder) / "m.gguf"
        make(golden_of("gpt-oss"), source)
        path = source / "tokenizer.json"
        tokenizer = json.loads(path.read_text())
        cut = {"type": "Split", "pattern": {"Regex": O200K}, "behavior": "Isolated"}
        steps = [cut, {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}]
        tokenizer["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
        path.write_text(json.dumps(tokenizer))
        code, _, err = run("convert", source, target, "--type", "F32")
        equal(code, 0, err)
        equal(File(target).keys["tokenizer.ggml.pre"], "gpt-4o")


@case
def test_gemma_4_has_its_merges():
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "hf", Path(folder) / "m.gguf"
        make(golden_of("gemma4"), source)
        path = source / "tokenizer.json"
        tokenizer = json.loads(path.read_text())
        tokenizer["model"] |= {"byte_fallback": True, "merges": [["w", "1"], ["w1", "2"]]}
        path.write_text(json.dumps(tokenizer))
        code, _, err = run("convert", source, target, "--type", "F32")
        equal(code, 0, err)
        keys = File(target).keys
        equal(keys["tokenizer.ggml.model"], "gemma4")
        equal(keys["tokenizer.ggml.merges"], ["w 1", "w1 2"])


if __name__ == "__main__":
    main()
