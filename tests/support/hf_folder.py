"""The default model as a Hugging Face folder, and GGUF files in F32 as tensors."""

import json
import math
import struct
from pathlib import Path
from typing import Any

from check import equal
from tandem import NANO, run

NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
ENDS = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
HEAD = 64
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace("{1,3}", "")


class File:
    """What stands in an F32 GGUF file."""

    def __init__(self, path: Path) -> None:
        self.raw, self.at = path.read_bytes(), 8
        tensors, pairs = self.take("Q"), self.take("Q")
        self.keys: dict[str, Any] = {}
        for _ in range(pairs):
            key = self.text()
            self.keys[key] = self.value(self.take("I"))
        infos = []
        for _ in range(tensors):
            name = self.text()
            dims = [self.take("Q") for _ in range(self.take("I"))]
            infos.append((name, dims, self.take("I"), self.take("Q")))
        start = self.at + -self.at % 32
        self.tensors: dict[str, tuple[list[int], bytes]] = {}
        for name, dims, kind, at in infos:
            equal(kind, 0, name)
            count = 1
            for dim in dims:
                count *= dim
            self.tensors[name] = (dims[::-1], self.raw[start + at : start + at + 4 * count])

    def take(self, form: str) -> Any:
        value = struct.unpack_from("<" + form, self.raw, self.at)[0]
        self.at += struct.calcsize("<" + form)
        return value

    def text(self) -> str:
        length = self.take("Q")
        self.at += length
        return self.raw[self.at - length : self.at].decode()

    def value(self, kind: int) -> Any:
        if kind == 8:
            return self.text()
        if kind == 9:
            inner, count = self.take("I"), self.take("Q")
            return [self.value(inner) for _ in range(count)]
        forms = {0: "B", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
        return self.take(forms[kind])


def to_halves(raw: bytes, shape: list[int], size: int = HEAD) -> bytes:
    """The rows of q and k from pairs, as the file has them, to halves."""
    row = 4 * shape[1]
    rows = [raw[i * row : (i + 1) * row] for i in range(shape[0])]
    out = []
    for head in range(0, shape[0], size):
        out += rows[head : head + size : 2] + rows[head + 1 : head + size : 2]
    return b"".join(out)


def theirs(name: str) -> str:
    part = name.split(".")
    if part[0] == "blk":
        return f"model.layers.{part[1]}.{NAMES[part[2]]}.weight"
    return f"{ENDS[part[0]]}.weight"


def safetensors(tensors: dict[str, tuple[list[int], bytes]]) -> tuple[dict[str, Any], bytes]:
    """{name: (shape, bytes)} as a file of F32, or of U8 where an element has one byte; offsets in
    the order of the dict."""
    header: dict[str, Any] = {}
    body = b""
    for name, (shape, raw) in tensors.items():
        offsets = [len(body), len(body) + len(raw)]
        dtype = "U8" if len(raw) == math.prod(shape) else "F32"
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        body += raw
    return header, body


def pack(header: dict[str, Any], body: bytes) -> bytes:
    head = json.dumps(header).encode()
    return struct.pack("<Q", len(head)) + head + body


def make_folder(
    folder: Path | str,
) -> tuple[Path, Path, dict[str, tuple[list[int], bytes]]]:
    """The default model in F32, and as a Hugging Face folder: (file, folder, its tensors)."""
    original, target = Path(folder) / "f32.gguf", Path(folder) / "hf"
    code, _, err = run("quantize", NANO, original, "F32")
    equal(code, 0, err)
    file = File(original)
    tensors: dict[str, tuple[list[int], bytes]] = {}
    for name, (shape, raw) in file.tensors.items():
        turned = name.endswith(("attn_q.weight", "attn_k.weight"))
        tensors[theirs(name)] = (shape, to_halves(raw, shape) if turned else raw)
    keys = file.keys
    target.mkdir()
    (target / "model.safetensors").write_bytes(pack(*safetensors(tensors)))
    tokens, kinds = keys["tokenizer.ggml.tokens"], keys["tokenizer.ggml.token_type"]
    config = {
        "model_type": "llama",
        "hidden_size": keys["llama.embedding_length"],
        "num_hidden_layers": keys["llama.block_count"],
        "num_attention_heads": keys["llama.attention.head_count"],
        "num_key_value_heads": keys["llama.attention.head_count_kv"],
        "intermediate_size": keys["llama.feed_forward_length"],
        "max_position_embeddings": keys["llama.context_length"],
        "rope_theta": keys["llama.rope.freq_base"],
        "rms_norm_eps": keys["llama.attention.layer_norm_rms_epsilon"],
        "tie_word_embeddings": True,
    }
    cut = {"type": "Split", "pattern": {"Regex": QWEN2}, "behavior": "Isolated"}
    level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    tokenizer = {
        "added_tokens": [
            {"id": i, "content": t, "special": True}
            for i, (t, kind) in enumerate(zip(tokens, kinds))
            if kind == 3
        ],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [cut, level]},
        "model": {
            "type": "BPE",
            "vocab": {t: i for i, (t, kind) in enumerate(zip(tokens, kinds)) if kind != 3},
            "merges": [merge.split(" ") for merge in keys["tokenizer.ggml.merges"]],
        },
    }
    special = {
        "eos_token": {"content": tokens[keys["tokenizer.ggml.eos_token_id"]]},
        "add_bos_token": False,
        "chat_template": keys["tokenizer.chat_template"],
    }
    (target / "config.json").write_text(json.dumps(config))
    (target / "tokenizer.json").write_text(json.dumps(tokenizer))
    (target / "tokenizer_config.json").write_text(json.dumps(special))
    return original, target, tensors
