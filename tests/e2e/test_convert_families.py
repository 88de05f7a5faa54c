#!/usr/bin/env python3
"""tandem convert: each family of models as Hugging Face's transformers saves it."""

import json
import re
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from hf_families import (
    FRAMEWORKS,
    GOLDEN,
    JOINT,
    MULTIPLIERS,
    Tensors,
    distance,
    formula,
    golden_of,
    logits_of,
    make,
    parts_of,
    put,
    theirs,
    transposed,
    write_folder,
)
from hf_folder import File, pack
from tandem import SHARED, run

NAMES = json.loads((Path(__file__).resolve().parent.parent / "golden/names.json").read_text())
OURS = ("tandem.", "tokenizer.")  # what the file was made of; checked by other tests


def refuse_own_names(file: File, arch: str) -> None:
    """Other programs must read the file: its names are those of llama.cpp's package."""
    keys = {key for key in file.keys if not key.startswith(OURS)}
    keys = {re.sub(f"^{re.escape(arch)}[.]", "{arch}.", key) for key in keys}
    equal(keys - set(NAMES["keys"]), set(), arch)
    stems = {re.sub("[.](weight|bias)$", "", name) for name in file.tensors}
    stems = {re.sub("^blk[.][0-9]+", "blk.{bid}", stem) for stem in stems}
    equal(stems - set(NAMES["tensors"][arch]), set(), arch)


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
            refuse_own_names(File(Path(folder) / "m.gguf"), golden["arch"])
        done.add(golden["name"])
    equal(done, set(FRAMEWORKS))


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


@case
def test_parallel_residuals_of_stablelm_are_refused_by_name():
    tensors, config = parts_of(golden_of("stablelm"))
    parallel = {n: t for n, t in tensors.items() if "post_attention_layernorm" not in n}
    norms = {"model.layers.0.self_attn.q_layernorm.norms.0.weight": ([8], bytes(32))}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "never.gguf"
        for number, (part, word) in enumerate(
            (
                (parallel, "blk.0.ffn_norm.weight: parallel residuals are not computed"),
                (parallel | norms, "q_layernorm.norms.0.weight' has no place"),
            )
        ):
            source = Path(folder) / str(number)
            write_folder(source, part, config)
            code, _, err = run("convert", source, target)
            assert code == 1 and word in err and not target.exists(), (word, err)
            assert "fetch the folder again" not in err, err  # it is not damaged


@case
def test_openelm_has_lists_that_fit_its_tensors_and_the_epsilon_of_its_code():
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "hf", Path(folder) / "m.gguf"
        make(golden_of("openelm"), source)
        path = source / "config.json"
        config = json.loads(path.read_text())
        del config["rms_norm_eps"]
        path.write_text(json.dumps(config))
        code, _, err = run("convert", source, target, "--type", "F32")
        equal(code, 0, err)
        keys = File(target).keys
        equal(round(keys["openelm.attention.layer_norm_rms_epsilon"], 9), 1e-6)
        equal(keys["openelm.feed_forward_length"], [32, 48, 64])
        for change, word in (
            ({"num_kv_heads": [1, 2]}, "num_kv_heads is no list of 3 numbers"),
            ({"num_query_heads": [2, 4, 5]}, "5 heads cannot share 2"),
            ({"num_query_heads": [2, 4, 8]}, "blk.2.attn_qkv.weight"),
            ({"num_query_heads": [2, 4, -1 << 40]}, "layer 2"),
        ):
            path.write_text(json.dumps(config | change))
            code, _, err = run("convert", source, Path(folder) / "never.gguf")
            assert code == 1 and word in err, (word, err)


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
        put(tensors, "qwen3moe", theirs(QWEN3MOE, stem, suffix), shape, values)
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
def test_gemma_4_has_its_merges_and_begins_texts_with_bos():
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
        equal(keys["tokenizer.ggml.add_bos_token"], True)


if __name__ == "__main__":
    main()
