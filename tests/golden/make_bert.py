#!/usr/bin/env python3
"""Writes bert.json: embeddings of two tiny encoders by a float64 reference written from the papers
(Devlin et al. 2018, Vaswani et al. 2017, Su et al. 2021, Shazeer 2020; pip install numpy), which
shares no code with the engine. Weights are a formula, so that the test makes the same model itself.

    make_bert.py > bert.json
    make_bert.py --gguf OUT --arch bert     the model as a file (pip install gguf), for other
    programs
"""

import argparse
import json
import math

import numpy as np

WIDE, HEADS, FFN, LAYERS, VOCAB, POSITIONS, EPSILON = 32, 4, 48, 2, 121, 64, 1e-12
ROPE_BASE = 1000.0
TEXTS = [
    [2, 5, 3],
    [2, 3],
    [2, 5, 6, 7, 8, 9, 10, 11, 12, 3],
    [2] + [(7 * i) % 116 + 5 for i in range(50)] + [3],
]


def values(seed, count, scale, base):
    """base + scale * x, x in [-1, 1) from a hash of the number of the tensor and of the element."""
    x = (np.arange(count, dtype=np.uint64) + seed * 1000003) * 2654435761 & 0xFFFFFFFF
    x = (x ^ x >> np.uint64(16)) * 0x45D9F3B & 0xFFFFFFFF
    x ^= x >> np.uint64(16)
    return (base + scale * (x.astype(np.float64) / 2**31 - 1)).astype(np.float32)


def tensors(arch):
    """Name, shape (rows, cols), scale, base, in the order of their seeds."""

    def norm(name):
        return [(name + ".weight", (WIDE,), 0.5, 1.0), (name + ".bias", (WIDE,), 0.3, 0.0)]

    rows = [
        ("token_embd.weight", (VOCAB, WIDE), 1.0, 0.0),
        ("token_types.weight", (2, WIDE), 0.5, 0.0),
    ]
    if arch == "bert":
        rows.append(("position_embd.weight", (POSITIONS, WIDE), 0.5, 0.0))
    rows += norm("token_embd_norm")
    for layer in range(LAYERS):
        blk = f"blk.{layer}."
        linears = [
            ("attn_q", WIDE, WIDE),
            ("attn_k", WIDE, WIDE),
            ("attn_v", WIDE, WIDE),
            ("attn_output", WIDE, WIDE),
            ("ffn_up", FFN, WIDE),
            ("ffn_down", WIDE, FFN),
        ]
        if arch == "nomic-bert":
            linears = [("attn_qkv", 3 * WIDE, WIDE)] + linears[3:] + [("ffn_gate", FFN, WIDE)]
        for name, out, cols in linears:
            rows.append((blk + name + ".weight", (out, cols), 0.4, 0.0))
            if arch == "bert":
                rows.append((blk + name + ".bias", (out,), 0.3, 0.0))
        rows += norm(blk + "attn_output_norm") + norm(blk + "layer_output_norm")
    return rows


def make(arch):
    return {
        name: values(seed, math.prod(shape), scale, base).reshape(shape)
        for seed, (name, shape, scale, base) in enumerate(tensors(arch), 1)
    }


def layer_norm(x, w, name):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + EPSILON) * w[name + ".weight"] + w[name + ".bias"]


def linear(x, w, name):
    y = x @ w[name + ".weight"].astype(np.float64).T
    return y + w[name + ".bias"] if name + ".bias" in w else y


def rope(x):
    """[tokens, heads, size], halves (i, i + size / 2)."""
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[0])[:, None] * ROPE_BASE ** (-np.arange(half) / half)
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return np.concatenate(
        [x[..., :half] * c - x[..., half:] * s, x[..., :half] * s + x[..., half:] * c], -1
    )


def encode(w, arch, ids):
    n, size = len(ids), WIDE // HEADS
    x = w["token_embd.weight"][ids].astype(np.float64) + w["token_types.weight"][0]
    if arch == "bert":
        x = x + w["position_embd.weight"][:n]
    x = layer_norm(x, w, "token_embd_norm")
    for layer in range(LAYERS):
        blk = f"blk.{layer}."
        if arch == "bert":
            q, k, v = (linear(x, w, blk + name) for name in ("attn_q", "attn_k", "attn_v"))
        else:
            q, k, v = np.split(linear(x, w, blk + "attn_qkv"), 3, -1)
        q, k, v = (part.reshape(n, HEADS, size) for part in (q, k, v))
        if arch == "nomic-bert":
            q, k = rope(q), rope(k)
        scores = np.einsum("qhd,khd->hqk", q, k) / math.sqrt(size)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        attended = np.einsum("hqk,khd->qhd", weights, v).reshape(n, WIDE)
        x = layer_norm(x + linear(attended, w, blk + "attn_output"), w, blk + "attn_output_norm")
        up = linear(x, w, blk + "ffn_up")
        if arch == "bert":
            inner = 0.5 * up * (1 + np.vectorize(math.erf)(up / math.sqrt(2)))
        else:
            gate = linear(x, w, blk + "ffn_gate")
            inner = gate / (1 + np.exp(-gate)) * up
        x = layer_norm(x + linear(inner, w, blk + "ffn_down"), w, blk + "layer_output_norm")
    return x


def pooled(x, pooling):
    y = {"mean": x.mean(0), "cls": x[0], "last": x[-1]}[pooling]
    return y / np.linalg.norm(y)


def write_gguf(path, arch):
    import gguf

    tokens = json.load(open(__file__.replace("make_bert.py", "wordpiece.json"), encoding="utf-8"))[
        "tokens"
    ]
    special = [token.startswith("[") and token.endswith("]") and len(token) > 2 for token in tokens]
    texts = [
        t if s else t[2:] if t.startswith("##") and len(t) > 2 else "\u2581" + t
        for t, s in zip(tokens, special)
    ]
    writer = gguf.GGUFWriter(path, arch)
    writer.add_context_length(POSITIONS)
    writer.add_embedding_length(WIDE)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(EPSILON)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    if arch == "nomic-bert":
        writer.add_rope_freq_base(ROPE_BASE)
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("bert-bge")
    writer.add_token_type_count(2)
    writer.add_token_list(texts)
    writer.add_token_types([3 if s else 1 for s in special])
    for key, token in (
        ("unknown", "[UNK]"),
        ("seperator", "[SEP]"),
        ("padding", "[PAD]"),
        ("cls", "[CLS]"),
        ("bos", "[CLS]"),
        ("mask", "[MASK]"),
    ):
        writer.add_uint32(f"tokenizer.ggml.{key}_token_id", tokens.index(token))
    for name, data in make(arch).items():
        writer.add_tensor(name, data)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gguf")
    parser.add_argument("--arch", default="bert")
    args = parser.parse_args()
    if args.gguf:
        write_gguf(args.gguf, args.arch)
        return
    models = []
    for arch in ("bert", "nomic-bert"):
        w = make(arch)
        cases = [
            {
                "ids": ids,
                **{
                    p: [float(f"{v:.9g}") for v in pooled(encode(w, arch, ids), p)]
                    for p in ("mean", "cls", "last")
                },
            }
            for ids in TEXTS
        ]
        models.append(
            {
                "arch": arch,
                "tensors": [[n, list(s), scale, base] for n, s, scale, base in tensors(arch)],
                "cases": cases,
            }
        )
    print(json.dumps({"models": models}, separators=(",", ":")).replace("},{", "},\n{"))


if __name__ == "__main__":
    main()
