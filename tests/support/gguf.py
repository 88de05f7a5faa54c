"""Writes GGUF files (version 3) with nothing but the standard library: LoRA adapters, models with
more metadata."""

import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

UINT8, UINT32, FLOAT32, STRING, ARRAY = 0, 4, 6, 8, 9
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key: str, value: Any) -> bytes:
    """str, int (u32), float, bytes (array of u8), list of int (u32), of float or of str."""
    if isinstance(value, str):
        return text(key) + struct.pack("<I", STRING) + text(value)
    if isinstance(value, int):
        return text(key) + struct.pack("<II", UINT32, value)
    if isinstance(value, float):
        return text(key) + struct.pack("<If", FLOAT32, value)
    if isinstance(value, bytes):
        return text(key) + struct.pack("<IIQ", ARRAY, UINT8, len(value)) + value
    if isinstance(value[0], str):
        texts = b"".join(map(text, value))
        return text(key) + struct.pack("<IIQ", ARRAY, STRING, len(value)) + texts
    kind, form = (UINT32, "I") if isinstance(value[0], int) else (FLOAT32, "f")
    return (
        text(key)
        + struct.pack("<IIQ", ARRAY, kind, len(value))
        + struct.pack(f"<{len(value)}{form}", *value)
    )


def skip_value(data: bytes, at: int, kind: int) -> int:
    if kind == STRING:
        return at + 8 + struct.unpack_from("<Q", data, at)[0]
    if kind != ARRAY:
        return at + SIZES[kind]
    element, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if element != STRING:
        return at + SIZES[element] * count
    for _ in range(count):
        at = skip_value(data, at, STRING)
    return at


def add_metadata(
    source: Path,
    target: Path,
    pairs: Sequence[tuple[str, Any]],
    without: str | tuple[str, ...] = (),
) -> None:
    """The same model with more keys at the end of its metadata, and none that begin with one of
    `without`."""
    data = source.read_bytes()
    tensor_count, pair_count = struct.unpack_from("<QQ", data, 8)
    at, kept = 24, []
    for _ in range(pair_count):
        begin, at = at, skip_value(data, at, STRING)
        key = data[begin + 8 : at].decode()
        at = skip_value(data, at + 4, struct.unpack_from("<I", data, at)[0])
        if not key.startswith(without):
            kept.append(data[begin:at])
    end = at
    for _ in range(tensor_count):
        at = skip_value(data, at, STRING)
        at += 4 + 8 * struct.unpack_from("<I", data, at)[0] + 12
    head = data[:8] + struct.pack("<QQ", tensor_count, len(kept) + len(pairs)) + b"".join(kept)
    head += b"".join(pair(key, value) for key, value in pairs) + data[end:at]
    target.write_bytes(head + b"\0" * (-len(head) % 32) + data[at + -at % 32 :])


def add_number(source: Path, target: Path, name: str, value: float) -> None:
    """The same model with one more tensor, of one number."""
    data = source.read_bytes()
    tensor_count, pair_count = struct.unpack_from("<QQ", data, 8)
    at = 24
    for _ in range(pair_count):
        at = skip_value(data, at, STRING)
        at = skip_value(data, at + 4, struct.unpack_from("<I", data, at)[0])
    for _ in range(tensor_count):
        at = skip_value(data, at, STRING)
        at += 4 + 8 * struct.unpack_from("<I", data, at)[0] + 12
    body = data[at + -at % 32 :]
    body += b"\0" * (-len(body) % 32)
    head = data[:8] + struct.pack("<QQ", tensor_count + 1, pair_count) + data[24:at]
    head += text(name) + struct.pack("<IQIQ", 1, 1, 0, len(body))
    target.write_bytes(head + b"\0" * (-len(head) % 32) + body + struct.pack("<f", value))


def split(source: Path, folder: Path, stem: str, count: int) -> list[Path]:
    """The same model in several files, as public repositories have the large ones."""
    data = source.read_bytes()
    tensor_count, pair_count = struct.unpack_from("<QQ", data, 8)
    at = 24
    for _ in range(pair_count):
        at = skip_value(data, at, STRING)
        at = skip_value(data, at + 4, struct.unpack_from("<I", data, at)[0])
    pairs_end, entries = at, []
    for _ in range(tensor_count):
        begin, at = at, skip_value(data, at, STRING)
        at += 4 + 8 * struct.unpack_from("<I", data, at)[0] + 4
        entries.append((data[begin:at], struct.unpack_from("<Q", data, at)[0]))
        at += 8
    data_begin = at + -at % 32
    ends = sorted([offset for _, offset in entries] + [len(data) - data_begin])
    files = []
    for number in range(count):
        mine = entries[len(entries) * number // count : len(entries) * (number + 1) // count]
        pairs = data[24:pairs_end] if number == 0 else b""
        for key, value in (
            ("split.no", number),
            ("split.count", count),
            ("split.tensors.count", len(entries)),
        ):
            pairs += pair(key, value)
        directory = body = b""
        for entry, offset in mine:
            directory += entry + struct.pack("<Q", len(body))
            end = ends[ends.index(offset) + 1]
            body += data[data_begin + offset : data_begin + end]
            body += b"\0" * (-len(body) % 32)
        head = b"GGUF" + struct.pack("<IQQ", 3, len(mine), (pair_count if number == 0 else 0) + 3)
        head += pairs + directory
        path = folder / f"{stem}-{number + 1:05}-of-{count:05}.gguf"
        path.write_bytes(head + b"\0" * (-len(head) % 32) + body)
        files.append(path)
    return files


def write(
    path: Path,
    pairs: Sequence[tuple[str, Any]],
    tensors: Sequence[tuple[str, tuple[int, ...], list[float] | bytes]],
) -> None:
    """tensors: (name, dims with the contiguous one first, floats or their bytes)."""
    directory, data = b"", bytearray()
    for name, dims, values in tensors:
        data += b"\0" * (-len(data) % 32)
        directory += (
            text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims)
        )
        directory += struct.pack("<IQ", 0, len(data))
        data += values if isinstance(values, bytes) else struct.pack(f"<{len(values)}f", *values)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    head += b"".join(pair(key, value) for key, value in pairs) + directory
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)


SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
Tensors = list[tuple[str, tuple[int, ...], list[float] | bytes]]


def bert_pairs(
    name: str, wide: int, ffn: int, pooling: int, words: Sequence[str]
) -> list[tuple[str, Any]]:
    """The metadata of an encoder with one block."""
    return [
        ("general.architecture", "bert"),
        ("general.name", name),
        ("bert.context_length", 64),
        ("bert.embedding_length", wide),
        ("bert.block_count", 1),
        ("bert.feed_forward_length", ffn),
        ("bert.attention.head_count", 4),
        ("bert.attention.layer_norm_epsilon", 1e-6),
        ("bert.pooling_type", pooling),
        ("tokenizer.ggml.model", "bert"),
        ("tokenizer.ggml.tokens", SPECIAL + [f"\u2581{word}" for word in words]),
    ]


def bert_tensors(wide: int, ffn: int, vocabulary: int, numbers: Any) -> Tensors:
    """Its weights, of which `numbers` gives each."""
    tensors: Tensors = []

    def add(name: str, *dims: int, around: float = 0.0) -> None:
        count = dims[0] * (dims[1] if len(dims) > 1 else 1)
        tensors.append((name, dims, [around + numbers(name) for _ in range(count)]))

    def norm(name: str) -> None:
        add(f"{name}.weight", wide, around=1.0)
        add(f"{name}.bias", wide)

    add("token_embd.weight", wide, vocabulary)
    add("token_types.weight", wide, 2)
    add("position_embd.weight", wide, 64)
    norm("token_embd_norm")
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        add(f"blk.0.{name}.weight", wide, wide)
    add("blk.0.ffn_up.weight", wide, ffn)
    add("blk.0.ffn_down.weight", ffn, wide)
    norm("blk.0.attn_output_norm")
    norm("blk.0.layer_output_norm")
    if numbers("cls"):
        add("cls.weight", wide, wide)
        add("cls.output.weight", wide, 1)
    return tensors


def write_ranker(path: Path, seed: int = 1) -> None:
    """A tiny cross-encoder with random weights, which knows the words w5 to w63."""
    wide, ffn, vocabulary, numbers = 32, 48, 64, random.Random(seed)
    words = [f"w{i}" for i in range(len(SPECIAL), vocabulary)]
    tensors = bert_tensors(wide, ffn, vocabulary, lambda _: numbers.uniform(-0.5, 0.5))
    write(path, bert_pairs("tiny-ranker", wide, ffn, 4, words), tensors)


def write_embedder(path: Path, words: Sequence[str], seed: int = 1) -> None:
    """A bag of words: a text's vector is the mean of its words' random ones, so that texts are as
    similar as the share of words that they have in common. All other words are one."""
    wide, ffn, numbers = 128, 16, random.Random(seed)

    def number(name: str) -> float:
        return numbers.uniform(-1, 1) if name == "token_embd.weight" else 0.0

    tensors = bert_tensors(wide, ffn, len(SPECIAL) + len(words), number)
    write(path, bert_pairs("bag-of-words", wide, ffn, 1, words), tensors)


def write_adapter(
    path: Path,
    changes: list[tuple[str, int, int]],
    rank: int = 4,
    size: float = 0.5,
    seed: int = 1,
    architecture: str = "llama",
) -> None:
    """changes: (matrix, columns, rows). size 0: an adapter that changes nothing."""
    numbers = random.Random(seed)
    tensors = []
    for stem, columns, rows in changes:
        for half, dims in (("lora_a", (columns, rank)), ("lora_b", (rank, rows))):
            values = [numbers.uniform(-size, size) for _ in range(dims[0] * dims[1])]
            tensors.append((f"{stem}.{half}", dims, values))
    write(
        path,
        [
            ("general.type", "adapter"),
            ("general.architecture", architecture),
            ("adapter.type", "lora"),
            ("adapter.lora.alpha", 8.0),
        ],
        tensors,
    )
