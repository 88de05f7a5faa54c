#!/usr/bin/env python3
"""tandem convert, from the outside: the default model as a Hugging Face folder and back, and what
is refused."""

import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from exact_llama import ExactLlama
from hf_folder import File, make_folder, pack, safetensors
from tandem import BINARY, run


def logits(model, folder):
    out = Path(folder) / "logits.bin"
    ids = ",".join(str(i) for i in range(10, 300, 7))
    code, _, err = run("logits", "-m", model, "--ids", ids, "-o", out)
    equal(code, 0, err)
    return out.read_bytes()


@case
def test_a_converted_model_is_the_same_model_to_the_bit():
    with tempfile.TemporaryDirectory() as folder:
        original, source, _ = make_folder(folder)
        target = Path(folder) / "back.gguf"
        code, out, err = run(
            "convert",
            source,
            target,
            "--type",
            "F32",
            "--license",
            "mit",
            "--teacher",
            "a large one",
            "--json",
        )
        equal(code, 0, err)
        result = json.loads(out)
        equal((result["architecture"], result["file_bytes"]), ("llama", target.stat().st_size))
        equal(logits(target, folder), logits(original, folder))
        text = "Turn ON 12 lights, it's 7 o'clock!\n\n  <|im_start|>user"
        equal(
            run("tokenize", "-m", target, stdin=text.encode())[1],
            run("tokenize", "-m", original, stdin=text.encode())[1],
        )
        code, out, err = run("models", "info", target, "--json")
        equal(code, 0, err)
        metadata = json.loads(out)["metadata"]
        equal(metadata["general.license"], "mit")
        equal(metadata["tandem.source.teacher"], "a large one")
        assert "tandem.source.files" in metadata, metadata


@case
def test_shards_are_read_and_a_shard_outside_the_folder_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        original, source, tensors = make_folder(folder)
        names = list(tensors)
        (source / "model.safetensors").unlink()
        weight_map = {}
        for number in range(3):
            part = {n: tensors[n] for n in names[number::3]}
            shard = f"model-0000{number + 1}-of-00003.safetensors"
            (source / shard).write_bytes(pack(*safetensors(part)))
            weight_map |= dict.fromkeys(part, shard)
        index = source / "model.safetensors.index.json"
        index.write_text(json.dumps({"weight_map": weight_map}))
        target = Path(folder) / "back.gguf"
        code, _, err = run("convert", source, target, "--type", "F32")
        equal(code, 0, err)
        equal(logits(target, folder), logits(original, folder))
        weight_map[names[0]] = "../f32.gguf"
        index.write_text(json.dumps({"weight_map": weight_map}))
        code, _, err = run("convert", source, target)
        assert code == 1 and "no file of the folder" in err, err


@case
def test_logits_of_a_file_in_floats_are_within_a_hundred_thousandth_of_exact_ones():
    """The largest is 21. The same pass in float32, as frameworks have it, is 1.9e-5 away."""
    ids = list(range(10, 66, 7))
    with tempfile.TemporaryDirectory() as folder:
        _, source, _ = make_folder(folder)
        target, out = Path(folder) / "m.gguf", Path(folder) / "logits"
        code, _, err = run("convert", source, target, "--type", "F32")
        equal(code, 0, err)
        exact = [x for row in ExactLlama(target).logits(ids) for x in row]
        for cpu, bound in (("ref", 4e-6), ("auto", 1e-5)):
            listed = ",".join(map(str, ids))
            code, _, err = run("logits", "-m", target, "--ids", listed, "--cpu", cpu, "-o", out)
            equal(code, 0, err)
            found = struct.unpack(f"<{len(exact)}f", out.read_bytes())
            far = max(abs(a - b) for a, b in zip(found, exact, strict=True))
            assert far < bound, (cpu, far)


def refused(source, folder, word):
    target = Path(folder) / "never.gguf"
    code, _, err = run("convert", source, target)
    assert code == 1 and word in err, (word, err)
    assert not target.exists() and not Path(f"{target}.new").exists(), word
    return err


@case
def test_hostile_safetensors_are_refused_with_the_reason():
    with tempfile.TemporaryDirectory() as folder:
        _, source, tensors = make_folder(folder)
        path, norm = source / "model.safetensors", "model.norm.weight"
        header, body = safetensors(tensors)
        good = header[norm]["data_offsets"]
        for offsets, word in (
            ([0, 1024], "overlaps"),
            ([1 << 60, (1 << 60) + 1024], "outside the file"),
            ([-1024, 0], "outside the file"),
            ([good[1], good[0]], "outside the file"),
            ([good[0], good[0] + 4], "do not fit its shape"),
        ):
            header[norm]["data_offsets"] = offsets
            path.write_bytes(pack(header, body))
            refused(source, folder, word)
        header[norm]["data_offsets"] = good
        for shape, word in (([1 << 40, 1 << 40], "absurd"), ([1, 2, 3, 4, 5], "four dim")):
            header[norm]["shape"] = shape
            path.write_bytes(pack(header, body))
            refused(source, folder, word)
        path.write_bytes(struct.pack("<Q", 1 << 62) + b"{}")
        refused(source, folder, "header")
        path.write_bytes(b"abc")
        refused(source, folder, "header")
        path.write_bytes(pack({"x": 3}, b""))
        refused(source, folder, "dtype")


@case
def test_missing_and_strange_tensors_are_named_before_the_work_begins():
    with tempfile.TemporaryDirectory() as folder:
        _, source, tensors = make_folder(folder)
        path, index = source / "model.safetensors", source / "model.safetensors.index.json"
        for stem, ours in (
            ("model.layers.1.self_attn.v_proj", "blk.1.attn_v"),
            ("model.layers.2.input_layernorm", "blk.2.attn_norm"),
            ("model.norm", "output_norm"),
        ):
            name = f"{stem}.weight"
            part = {n: t for n, t in tensors.items() if n != name}
            path.write_bytes(pack(*safetensors(part)))
            there = f" (there: {name})" if "layers" in name else ""
            refused(source, folder, f"tensor '{ours}.weight' is missing{there}; nothing is written")
        name = "model.layers.1.self_attn.v_proj.weight"
        path.write_bytes(pack(*safetensors(tensors | {name: tensors["model.norm.weight"]})))
        err = refused(source, folder, "'blk.1.attn_v.weight'")
        assert "there:" not in err, err
        narrow = {n: t for n, t in tensors.items() if "layers.2.mlp" not in n}
        path.write_bytes(pack(*safetensors(narrow)))
        refused(source, folder, "layer 2 has no feed-forward block")
        for name in (
            "model.layers.1.self_attn.x_proj.weight",
            "model.layers.77.mlp.up_proj.weight",
        ):
            path.write_bytes(pack(*safetensors(tensors | {name: tensors["model.norm.weight"]})))
            refused(source, folder, "x_proj" if "x_proj" in name else "blk.77.ffn_up.weight")
        path.unlink()
        (source / "one.safetensors").write_bytes(pack(*safetensors(tensors)))
        weight_map = dict.fromkeys([*tensors, "model.layers.1.mlp.x.scale"], "one.safetensors")
        index.write_text(json.dumps({"weight_map": weight_map}))
        refused(source, folder, "one.safetensors has no tensor 'model.layers.1.mlp.x.scale'")


@case
def test_a_tensor_that_is_missing_or_there_twice_leaves_no_file():
    up, norm = "model.layers.0.mlp.up_proj.weight", "model.norm.weight"
    for name, source_of, word in (
        (up, None, "'blk.0.ffn_up.weight' is missing"),
        (f"language_model.{norm}", norm, "'output_norm.weight' appears twice"),
        ("model.layers.0.mlp.gate_up_proj.weight", up, "'blk.0.ffn_up.weight' appears twice"),
        ("model.layers.6.input_layernorm.weight", norm, "no use for tensor 'blk.6.attn_norm"),
        (norm, "model.layers.0.self_attn.q_proj.weight", "output_norm.weight"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            _, source, tensors = make_folder(folder)
            tensors[name] = tensors[source_of or name]
            if source_of is None:
                del tensors[name]
            (source / "model.safetensors").write_bytes(pack(*safetensors(tensors)))
            refused(source, folder, word)


@case
def test_an_empty_tensor_may_begin_where_another_does():
    with tempfile.TemporaryDirectory() as folder:
        _, source, tensors = make_folder(folder)
        header, body = safetensors(tensors)
        begin = header["model.norm.weight"]["data_offsets"][0]
        header["model.layers.0.self_attn.rotary_emb.inv_freq"] = {
            "dtype": "F32",
            "shape": [0],
            "data_offsets": [begin, begin],
        }
        (source / "model.safetensors").write_bytes(pack(header, body))
        code, _, err = run("convert", source, Path(folder) / "m.gguf")
        equal(code, 0, err)


@case
def test_nan_weights_are_named():
    with tempfile.TemporaryDirectory() as folder:
        _, source, tensors = make_folder(folder)
        name = "model.layers.0.mlp.up_proj.weight"
        shape, raw = tensors[name]
        tensors[name] = (shape, struct.pack("<f", float("nan")) + raw[4:])
        (source / "model.safetensors").write_bytes(pack(*safetensors(tensors)))
        refused(source, folder, "blk.0.ffn_up.weight")
        code, out, err = run("convert", source, Path(folder) / "forced.gguf", "--force")
        equal(code, 0, err)
        assert b"1 weights were no numbers" in out, out


@case
def test_a_file_of_the_folder_is_never_written_over():
    with tempfile.TemporaryDirectory() as folder:
        _, source, _ = make_folder(folder)
        before = (source / "model.safetensors").read_bytes()
        code, _, err = run("convert", source, source / "model.safetensors")
        assert code == 1 and "is read itself" in err, err
        equal((source / "model.safetensors").read_bytes(), before)
        for _ in range(2):  # a GGUF file beside them is none of the sources
            code, _, err = run("convert", source, source / "model.gguf")
            equal(code, 0, err)


@case
def test_files_of_a_folder_of_links_are_never_written_over():
    """A Hugging Face cache: the folder has the names, the files stand beside it."""
    with tempfile.TemporaryDirectory() as folder:
        _, source, _ = make_folder(folder)
        blobs, snapshot = Path(folder) / "blobs", Path(folder) / "snapshots" / "abc"
        source.rename(blobs)
        snapshot.mkdir(parents=True)
        for file in blobs.iterdir():
            (snapshot / file.name).symlink_to(f"../../blobs/{file.name}")
        link, blob = snapshot / "model.safetensors", blobs / "model.safetensors"
        other = Path(folder) / "other.gguf"
        other.symlink_to(blob)
        before = blob.read_bytes()
        for target in (link, blob, other, snapshot / "config.json"):
            code, _, err = run("convert", snapshot, target)
            assert code == 1 and "is read itself" in err, (target, err)
            assert link.is_symlink() and blob.read_bytes() == before, target
        for _ in range(2):
            code, _, err = run("convert", snapshot, snapshot / "model.gguf")
            equal(code, 0, err)


def write_wide(source, tensors):
    """The tensors with feed-forward blocks of 4.8 GB, as a hole that takes no space on the disk."""
    path, config, wide = source / "model.safetensors", source / "config.json", 1 << 18
    header, body = safetensors(tensors)
    end = len(body)
    for name in [n for n in header if ".mlp." in n]:
        shape = [256, wide] if "down" in name else [wide, 256]
        begin, end = end, end + 4 * 256 * wide
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    packed = pack(header, body)
    path.write_bytes(packed)
    os.truncate(path, len(packed) - len(body) + end)
    config.write_text(json.dumps(json.loads(config.read_text()) | {"intermediate_size": wide}))


@case
def test_a_result_larger_than_memory_is_checked_or_at_least_written():
    """RLIMIT_DATA counts pages that may be written, as a machine does that never overcommits."""
    with tempfile.TemporaryDirectory() as folder:
        _, source, tensors = make_folder(folder)
        target, limits = Path(folder) / "never.gguf", {}

        def limited():
            def limit():
                for kind, bound in limits.items():
                    resource.setrlimit(kind, (bound, bound))

            command = [BINARY, "convert", source, target, "--threads", "1"]
            done = subprocess.run(command, capture_output=True, preexec_fn=limit, check=False)
            equal(done.returncode, 1)
            assert not target.exists()
            return done.stderr.decode()

        write_wide(source, {n: t for n, t in tensors.items() if "layers.1.self_attn.v_" not in n})
        limits = {resource.RLIMIT_DATA: 1 << 30}
        err = limited()
        assert "'blk.1.attn_v.weight' is missing" in err, err
        write_wide(source, tensors)
        limits = {resource.RLIMIT_AS: 6 << 30, resource.RLIMIT_FSIZE: 1 << 20}
        err = limited()
        assert "File too large" in err, err  # the writing began


@case
def test_tokenizers_and_configurations_that_do_not_fit_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        _, source, _ = make_folder(folder)
        path = source / "tokenizer.json"
        good = path.read_text()
        for change, word in (
            ({"model": {"type": "Unigram"}}, "Unigram"),
            ({"added_tokens": [{"id": 99999, "content": "x"}]}, "has id 99999"),
            ({"added_tokens": [{"id": 5, "content": "another"}]}, "the same id"),
            ({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a+"}}}, "pre-tokenizer"),
        ):
            path.write_text(json.dumps(json.loads(good) | change))
            refused(source, folder, word)
        with path.open("wb") as file:
            file.truncate(1 << 30)
        refused(source, folder, "tokenizer.json")
        path.write_text(good)
        path = source / "config.json"
        config = json.loads(path.read_text())
        for change, word in (
            ({"model_type": "mamba9"}, "mamba9"),
            ({"num_hidden_layers": -1}, "num_hidden_layers"),
            ({"hidden_size": 1e300}, "hidden_size"),
            ({"rope_scaling": {"rope_type": "strange"}}, "strange"),
        ):
            path.write_text(json.dumps(config | change))
            refused(source, folder, word)


def packed_matrix(rows, cols, method):
    """Four-bit weights of a group for every 32 columns, and the floats that they stand for."""
    value = [[(r * 7 + c * 3) % 16 for c in range(cols)] for r in range(rows)]
    zero = [[(r + g) % 15 for r in range(rows)] for g in range(cols // 32)]
    scale = [[(1 + (r + g) % 4) / 64 for r in range(rows)] for g in range(cols // 32)]
    order = [0, 4, 1, 5, 2, 6, 3, 7] if method == "awq" else list(range(8))
    gptq, words = method == "gptq", []
    if gptq:
        for i in range(0, cols, 8):
            words += [sum(value[r][i + k] << 4 * k for k in range(8)) for r in range(rows)]
    else:
        for i in range(cols):
            for o in range(0, rows, 8):
                words.append(sum(value[o + k][i] << 4 * order[k] for k in range(8)))
    zeros = [
        sum(line[o + k] << 4 * order[k] for k in range(8))
        for line in zero
        for o in range(0, rows, 8)
    ]
    shape = [cols // 8, rows] if gptq else [cols, rows // 8]
    floats = [
        scale[c // 32][r] * (value[r][c] - zero[c // 32][r] - gptq)
        for r in range(rows)
        for c in range(cols)
    ]
    return {
        "qweight": ("I32", shape, struct.pack(f"<{len(words)}I", *words)),
        "qzeros": ("I32", [cols // 32, rows // 8], struct.pack(f"<{len(zeros)}I", *zeros)),
        "scales": (
            "F32",
            [cols // 32, rows],
            struct.pack(f"<{rows * cols // 32}f", *(s for line in scale for s in line)),
        ),
    }, struct.pack(f"<{len(floats)}f", *floats)


@case
def test_gptq_and_awq_are_read_as_the_floats_that_they_stand_for():
    for method in ("gptq", "awq"):
        with tempfile.TemporaryDirectory() as folder:
            _, source, tensors = make_folder(folder)
            stem = "model.layers.0.mlp.up_proj"
            parts, floats = packed_matrix(768, 256, method)
            del tensors[f"{stem}.weight"]
            header, body = safetensors(tensors)
            for name, (kind, shape, raw) in parts.items():
                offsets = [len(body), len(body) + len(raw)]
                header[f"{stem}.{name}"] = {"dtype": kind, "shape": shape, "data_offsets": offsets}
                body += raw
            (source / "model.safetensors").write_bytes(pack(header, body))
            path = source / "config.json"
            config = json.loads(path.read_text())
            config["quantization_config"] = {"quant_method": method, "bits": 4}
            path.write_text(json.dumps(config))
            target = Path(folder) / "back.gguf"
            code, out, err = run("convert", source, target, "--type", "F32", "--json")
            equal(code, 0, err)
            equal(json.loads(out)["dequantized_from"], method)
            equal(File(target).tensors["blk.0.ffn_up.weight"][1], floats)
            header[f"{stem}.qzeros"]["shape"] = [768 // 8, 256 // 32]
            (source / "model.safetensors").write_bytes(pack(header, body))
            refused(source, folder, "scales and zeros")


if __name__ == "__main__":
    main()
