#!/usr/bin/env python3
"""Writes a GGUF file with the shapes of a real model and random weights, for measuring speed: the
time of a matrix product does not depend on the numbers, so no download is needed.

    make_synthetic_gguf.py smollm2-135m q4_0 out.gguf
    make_synthetic_gguf.py llama-3.2-1b q4_k_m out.gguf
    make_synthetic_gguf.py smollm2-135m q4_0 out.gguf --vocab gpt-2.gguf.gz

--vocab takes the vocabulary of another file (and its size), for measuring what depends on the
words: grammars. Standard library only. Weights are random bytes with small block scales, so that
values stay finite; one megabyte of random blocks is repeated with a different start for each
tensor, which is quick to write and as incompressible for a CPU as any other.
"""

import argparse
import gzip
import random
import struct
import sys
from collections.abc import Iterator
from typing import Any

# vocab is the number of rows of the embedding, tied to the output in both models.
MODELS = {
    "smollm2-135m": {
        "layers": 30,
        "wide": 576,
        "heads": 9,
        "kv_heads": 3,
        "ffn": 1536,
        "vocab": 49152,
        "base": 100000.0,
        "context": 8192,
    },
    "llama-3.2-1b": {
        "layers": 16,
        "wide": 2048,
        "heads": 32,
        "kv_heads": 8,
        "ffn": 8192,
        "vocab": 128256,
        "base": 500000.0,
        "context": 8192,
    },
    "tiny-4m": {
        "layers": 4,
        "wide": 256,
        "heads": 8,
        "kv_heads": 4,
        "ffn": 704,
        "vocab": 4096,
        "base": 10000.0,
        "context": 2048,
    },
}
F32, F16, Q4_0, Q5_0, Q8_0, Q4_K, Q6_K = 0, 1, 2, 6, 8, 12, 14
BLOCK = {
    F32: (1, 4),
    F16: (1, 2),
    Q4_0: (32, 18),
    Q5_0: (32, 22),
    Q8_0: (32, 34),
    Q4_K: (256, 144),
    Q6_K: (256, 210),
}
U32, FLOAT, STRING, ARRAY, I32 = 4, 6, 8, 9, 5
ALIGNMENT = 32


def half(x: float) -> bytes:
    return struct.pack("<e", x)


def random_block(rng: random.Random, kind: int) -> Any:
    """One block of a type: random quants, scales that give weights of about 0.02."""
    if kind == F32:
        return struct.pack("<f", rng.uniform(-0.03, 0.03))
    if kind == F16:
        return half(rng.uniform(-0.03, 0.03))
    if kind == Q4_0:
        return half(rng.uniform(0.003, 0.005)) + rng.randbytes(16)
    if kind == Q5_0:  # scale, fifth bits, low nibbles
        return half(rng.uniform(0.0015, 0.0025)) + rng.randbytes(20)
    if kind == Q8_0:
        return half(rng.uniform(0.0002, 0.0003)) + rng.randbytes(32)
    if kind == Q4_K:  # scale, minimum, 12 bytes of 6-bit scales and minimums, 128 bytes of quants
        return half(0.00012) + half(0.0009) + rng.randbytes(12) + rng.randbytes(128)
    return rng.randbytes(208) + half(0.00001)  # Q6_K: quants low, high, scales, then the scale


class Pool:
    """Random blocks of every type, about a megabyte each."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.blocks = rng, {}

    def data(self, kind: int, byte_count: Any) -> Iterator:
        if kind not in self.blocks:
            size = BLOCK[kind][1]
            self.blocks[kind] = b"".join(
                random_block(self.rng, kind) for _ in range((1 << 20) // size // 4)
            )
        pool, size = self.blocks[kind], BLOCK[kind][1]
        start = self.rng.randrange(len(pool) // size) * size
        left = byte_count
        while left:
            part = pool[start : start + left]
            yield part
            left -= len(part)
            start = 0


def ffn_down_type(kinds: Any, layer: int, layers: int) -> Any:
    """Q4_K_M keeps half of the v and down matrices in Q6_K: the first and last eighth, and every
    third."""
    if kinds != "q4_k_m":
        return None
    more = layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2
    return Q6_K if more else None


def tensors(model: dict[str, Any], kinds: Any) -> Iterator:
    """(name, rows, cols, type) of every tensor; rows 0 = a vector."""
    main = {"q4_0": Q4_0, "q8_0": Q8_0, "q4_k_m": Q4_K, "f16": F16}[kinds]
    # llama-quantize's choice for the embedding that is also the output
    ends = {"q4_0": Q6_K, "q8_0": Q8_0, "q4_k_m": Q6_K, "f16": F16}[kinds]
    wide, ffn = model["wide"], model["ffn"]
    kv = wide // model["heads"] * model["kv_heads"]

    def fit(kind: int, cols: int) -> Any:
        """Rows that are no multiple of 256 fall back, as llama-quantize does."""
        return kind if cols % BLOCK[kind][0] == 0 else {Q4_K: Q5_0, Q6_K: Q8_0}[kind]

    yield "token_embd.weight", model["vocab"], wide, fit(ends, wide)
    for i in range(model["layers"]):
        more = ffn_down_type(kinds, i, model["layers"])
        yield f"blk.{i}.attn_norm.weight", 0, wide, F32
        yield f"blk.{i}.attn_q.weight", wide, wide, fit(main, wide)
        yield f"blk.{i}.attn_k.weight", kv, wide, fit(main, wide)
        yield f"blk.{i}.attn_v.weight", kv, wide, fit(more or main, wide)
        yield f"blk.{i}.attn_output.weight", wide, wide, fit(main, wide)
        yield f"blk.{i}.ffn_norm.weight", 0, wide, F32
        yield f"blk.{i}.ffn_gate.weight", ffn, wide, fit(main, wide)
        yield f"blk.{i}.ffn_up.weight", ffn, wide, fit(main, wide)
        yield f"blk.{i}.ffn_down.weight", wide, ffn, fit(more or main, ffn)
    yield "output_norm.weight", 0, wide, F32


def string(text: str | bytes) -> bytes:
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key: Any, kind: int, value: bytes) -> bytes:
    return string(key) + struct.pack("<I", kind) + value


def read_vocabulary(path: Any) -> tuple:
    """The pairs of a GGUF file whose keys begin with "tokenizer.", as stored, and the number of
    tokens."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rb") as file:
        data = file.read()
    sizes = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}

    def u64(at: Any) -> Any:
        return struct.unpack_from("<Q", data, at)[0]

    def skip(kind: int, at: Any) -> Any:
        if kind == STRING:
            return at + 8 + u64(at)
        if kind != ARRAY:
            return at + sizes[kind]
        inner, count = struct.unpack_from("<IQ", data, at)
        at += 12
        if inner in sizes:
            return at + count * sizes[inner]
        for _ in range(count):
            at = skip(inner, at)
        return at

    at, pairs, count = 24, [], 0
    for _ in range(u64(16)):
        begin = at
        key = data[at + 8 : at + 8 + u64(at)].decode()
        at += 8 + len(key)
        kind = struct.unpack_from("<I", data, at)[0]
        if key == "tokenizer.ggml.tokens":
            count = u64(at + 8)
        at = skip(kind, at + 4)
        if key.startswith("tokenizer."):
            pairs.append(data[begin:at])
    return pairs, count


def metadata(name: str, model: dict[str, Any], vocabulary: Any = None) -> Any:
    def u32(key: str, value: int) -> bytes:
        return pair("llama." + key, U32, struct.pack("<I", value))

    def f32(key: str, value: float) -> bytes:
        return pair("llama." + key, FLOAT, struct.pack("<f", value))

    vocab = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    vocab += [f"\u2581w{i}" for i in range(model["vocab"] - len(vocab))]
    types = [2, 3, 3] + [6] * 256 + [1] * (model["vocab"] - 259)
    count = len(vocab)

    def array(kind: int, data: Any) -> Any:
        return struct.pack("<IQ", kind, count) + data

    words = vocabulary or [
        pair("tokenizer.ggml.model", STRING, string("llama")),
        pair("tokenizer.ggml.tokens", ARRAY, array(STRING, b"".join(string(t) for t in vocab))),
        pair(
            "tokenizer.ggml.scores",
            ARRAY,
            array(FLOAT, struct.pack(f"<{count}f", *[-float(i) for i in range(count)])),
        ),
        pair("tokenizer.ggml.token_type", ARRAY, array(I32, struct.pack(f"<{count}i", *types))),
        pair("tokenizer.ggml.bos_token_id", U32, struct.pack("<I", 1)),
        pair("tokenizer.ggml.eos_token_id", U32, struct.pack("<I", 2)),
    ]
    return words + [
        pair("general.architecture", STRING, string("llama")),
        pair("general.name", STRING, string(f"synthetic-{name}")),
        u32("context_length", model["context"]),
        u32("embedding_length", model["wide"]),
        u32("block_count", model["layers"]),
        u32("feed_forward_length", model["ffn"]),
        u32("attention.head_count", model["heads"]),
        u32("attention.head_count_kv", model["kv_heads"]),
        u32("rope.dimension_count", model["wide"] // model["heads"]),
        f32("attention.layer_norm_rms_epsilon", 1e-5),
        f32("rope.freq_base", model["base"]),
    ]


def byte_count(rows: Any, cols: int, kind: int) -> Any:
    elements, size = BLOCK[kind]
    return max(rows, 1) * (cols // elements) * size


def padding(n: int) -> Any:
    return -n % ALIGNMENT


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("type", choices=["q4_0", "q8_0", "q4_k_m", "f16"])
    parser.add_argument("output")
    parser.add_argument("--vocab", help="GGUF file (or .gz) whose vocabulary is taken")
    args = parser.parse_args()
    model, rng, vocabulary = dict(MODELS[args.model]), random.Random(1), None
    if args.vocab:
        vocabulary, model["vocab"] = read_vocabulary(args.vocab)
    pool, pairs = Pool(rng), metadata(args.model, model, vocabulary)
    directory = list(tensors(model, args.type))
    with open(args.output, "wb") as out:
        out.write(b"GGUF" + struct.pack("<IQQ", 3, len(directory), len(pairs)) + b"".join(pairs))
        offset = 0
        for name, rows, cols, kind in directory:
            dims = [cols, rows] if rows else [cols]
            out.write(
                string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)
            )
            size = byte_count(rows, cols, kind)
            offset += size + padding(size)
        out.write(bytes(padding(out.tell())))
        for _name, rows, cols, kind in directory:
            size = byte_count(rows, cols, kind)
            if rows == 0:
                out.write(struct.pack("<f", 1.0) * cols)
            else:
                out.writelines(pool.data(kind, size))
            out.write(bytes(padding(size)))
    print(
        f"{args.output}: {len(directory)} tensors, {offset / 1e6:.1f} MB of weights",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
