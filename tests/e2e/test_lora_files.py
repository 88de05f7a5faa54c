#!/usr/bin/env python3
"""tandem lora merge and export, from the outside: what an adapter changes stays the same."""

import json
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import gguf
from check import case, equal, main
from hf_folder import File, pack
from tandem import NANO, run

HEAD = 64


def place(folder):
    """The default model in F32, and an adapter of two matrices."""
    folder = Path(folder)
    model, adapter = folder / "f32.gguf", folder / "adapter.gguf"
    equal(run("quantize", NANO, model, "F32")[0], 0)
    shapes = {name: shape for name, (shape, _) in File(model).tensors.items()}
    changes = [
        (name, shapes[name][1], shapes[name][0])
        for name in ("blk.0.attn_q.weight", "blk.1.ffn_down.weight", "blk.2.attn_k.weight")
    ]
    gguf.write_adapter(adapter, changes, rank=4, size=0.2)
    return folder, model, adapter


def logits(model, *more):
    out = Path(tempfile.mktemp())
    ids = ",".join(str(i) for i in range(10, 200, 7))
    code, _, err = run("logits", "-m", model, "--ids", ids, "-o", out, *more)
    equal(code, 0, err)
    raw = out.read_bytes()
    out.unlink()
    return struct.unpack(f"<{len(raw) // 4}f", raw)


def apart(a, b):
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


def merge(model, out, *more, code=0):
    got, text, err = run("lora", "merge", model, out, "--json", *more)
    equal(got, code, err or text)
    return json.loads(text)


@case
def test_a_merged_model_says_what_the_model_says_with_its_adapter():
    with tempfile.TemporaryDirectory() as folder:
        folder, model, adapter = place(folder)
        with_it, without = logits(model, "--lora", adapter), logits(model)
        assert apart(with_it, without) > 0.1
        out = folder / "merged.gguf"
        result = merge(model, out, "--lora", adapter)
        equal((result["matrices"], result["promoted"]), (3, True))
        assert result["kld"] < 1e-6 < result["kld_without"], result
        assert apart(logits(out), with_it) < 0.01, apart(logits(out), with_it)
        half = folder / "half.gguf"
        merge(model, half, "--lora", adapter, "--lora-scale", "0.5")
        beside = logits(model, "--lora", adapter, "--lora-scale", "0.5")
        assert apart(logits(half), beside) < 0.01
        metadata = json.loads(run("models", "info", out, "--json")[1])["metadata"]
        assert "adapter.gguf*1" in metadata["tandem.merge.adapters"], metadata


@case
def test_a_quantised_model_keeps_its_types_and_is_refused_where_rounding_loses_too_much():
    with tempfile.TemporaryDirectory() as folder:
        folder, model, adapter = place(folder)
        small, out = folder / "q8.gguf", folder / "merged.gguf"
        equal(run("quantize", model, small, "Q8_0")[0], 0)
        result = merge(small, out, "--lora", adapter)
        assert result["kld"] < result["kld_without"] / 20, result
        types = [json.loads(run("models", "info", p, "--json")[1])["types"] for p in (small, out)]
        equal(types[0], types[1])
        refused = folder / "refused.gguf"
        result = merge(
            model, refused, "--lora", adapter, "--type", "Q2_K", "--max-kld", "1e-5", code=3
        )
        equal((result["promoted"], refused.exists()), (False, False))
        equal(sorted(p.name for p in folder.glob("*.try")), [])


@case
def test_what_cannot_be_merged_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        folder, model, adapter = place(folder)
        other = folder / "other.gguf"
        gguf.write_adapter(other, [("blk.0.attn_q.weight", 8, 8)])
        tied = folder / "tied.gguf"
        rows, columns = File(model).tensors["token_embd.weight"][0]
        values = [("token_embd.weight.lora_a", (2, rows), [0.1] * 2 * rows)]
        values += [("token_embd.weight.lora_b", (2, columns), [0.1] * 2 * columns)]
        pairs = [("general.type", "adapter"), ("general.architecture", "llama")]
        gguf.write(tied, [*pairs, ("adapter.type", "lora")], values)
        for path, word in ((other, "another model"), (tied, "same matrix"), (NANO, "adapter")):
            code, _, err = run("lora", "merge", model, folder / "x.gguf", "--lora", path)
            assert code == 1 and word in err, (path, err)
            assert not (folder / "x.gguf").exists()
        code, _, err = run("lora", "merge", model, model, "--lora", adapter)
        assert code == 1 and "itself" in err, err
        scaled = folder / "scaled.gguf"
        gguf.add_number(model, scaled, "blk.0.attn_q.scale", 1.5)
        assert apart(logits(scaled), logits(model)) > 0.1
        code, _, err = run("lora", "merge", scaled, folder / "x.gguf", "--lora", adapter)
        assert code == 1 and "'blk.0.attn_q.scale' scales what" in err, err
        equal(run("lora", "merge", model, folder / "x.gguf")[0], 2)


@case
def test_an_adapter_goes_to_peft_and_back_without_a_change():
    with tempfile.TemporaryDirectory() as folder:
        folder, model, adapter = place(folder)
        peft, back = folder / "peft", folder / "back.gguf"
        code, out, err = run("lora", "export", adapter, peft, "-m", model, "--json")
        equal(code, 0, err)
        equal(json.loads(out)["matrices"], 3)
        config = json.loads((peft / "adapter_config.json").read_text())
        equal((config["r"], config["lora_alpha"]), (4, 8.0))
        equal(sorted(config["target_modules"]), ["down_proj", "k_proj", "q_proj"])
        code, _, err = run("lora", "export", peft, back, "-m", model)
        equal(code, 0, err)
        equal(logits(model, "--lora", back), logits(model, "--lora", adapter))
        raw = (peft / "adapter_model.safetensors").read_bytes()
        length = struct.unpack_from("<Q", raw)[0]
        header = json.loads(raw[8 : 8 + length])
        name = "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight"
        begin, end = header[name]["data_offsets"]
        theirs = struct.unpack(
            f"<{(end - begin) // 4}f", raw[8 + length + begin : 8 + length + end]
        )
        ours = File(adapter).tensors["blk.0.attn_q.weight.lora_b"][1]
        ours = struct.unpack(f"<{len(ours) // 4}f", ours)
        for row in range(HEAD):  # pairs here, halves there
            there = row // 2 + row % 2 * (HEAD // 2)
            equal(theirs[there * 4 : there * 4 + 4], ours[row * 4 : row * 4 + 4])


@case
def test_an_export_never_writes_over_what_it_reads():
    with tempfile.TemporaryDirectory() as folder:
        folder, model, adapter = place(folder)
        peft, link = folder / "peft", folder / "link.gguf"
        equal(run("lora", "export", adapter, peft, "-m", model)[0], 0)
        weights = peft / "adapter_model.safetensors"
        link.symlink_to(weights)
        before = [path.read_bytes() for path in (model, weights)]
        for out in (model, weights, link, peft / "adapter_config.json"):
            code, _, err = run("lora", "export", peft, out, "-m", model)
            assert code == 1 and "is read itself" in err, (out, err)
            equal([path.read_bytes() for path in (model, weights)], before)


@case
def test_folders_that_cannot_be_read_are_refused_with_the_reason():
    with tempfile.TemporaryDirectory() as folder:
        folder, model, adapter = place(folder)
        peft, out = folder / "peft", folder / "x.gguf"
        equal(run("lora", "export", adapter, peft, "-m", model)[0], 0)
        config = json.loads((peft / "adapter_config.json").read_text())
        for change, word in (
            ({"use_dora": True}, "use_dora"),
            ({"lora_alpha": "x"}, "lora_alpha"),
            ({"alpha_pattern": {"q_proj": 3}}, "alpha_pattern"),
        ):
            (peft / "adapter_config.json").write_text(json.dumps(config | change))
            code, _, err = run("lora", "export", peft, out, "-m", model)
            assert code == 1 and word in err, (change, err)
        (peft / "adapter_config.json").write_text(json.dumps(config))
        stem = "base_model.model.model.layers.0.self_attn.q_proj.lora_"
        cases = (
            ({f"{stem}A.weight": [4, 8]}, "missing"),
            ({f"{stem}A.weight": [4, 8], f"{stem}B.weight": [64, 4]}, "made for another model"),
            ({"base_model.model.score.weight": [4, 4]}, "no half"),
            ({f"{stem}B.weight": [63, 4]}, "heads"),
        )
        for tensors, word in cases:
            header, body = {}, b""
            for name, shape in tensors.items():
                raw = bytes(4 * shape[0] * shape[1])
                offsets = [len(body), len(body) + len(raw)]
                header[name] = {"dtype": "F32", "shape": shape, "data_offsets": offsets}
                body += raw
            (peft / "adapter_model.safetensors").write_bytes(pack(header, body))
            for before in (None, b"another adapter"):  # which is not lost
                if before:
                    out.write_bytes(before)
                code, _, err = run("lora", "export", peft, out, "-m", model)
                assert code == 1 and word in err, (tensors, err)
                equal(out.read_bytes() if out.exists() else None, before)
                equal(list(folder.glob("x.gguf.*")), [])
            out.unlink()


if __name__ == "__main__":
    main()
