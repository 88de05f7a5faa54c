"""The forward pass of a llama file in F32 with float64, in plain Python: what a framework would
give if it did not round. An independent check; models/nano/exact_logits.py has the same in numpy,
and in float32 besides."""

import math
import struct
from operator import mul
from pathlib import Path

from hf_folder import File

Row = list[float]


class ExactLlama:
    def __init__(self, path: Path) -> None:
        file = File(path)
        keys = file.keys
        self.heads = keys["llama.attention.head_count"]
        self.kv_heads = keys["llama.attention.head_count_kv"]
        self.layers = keys["llama.block_count"]
        self.base = keys["llama.rope.freq_base"]
        self.epsilon = keys["llama.attention.layer_norm_rms_epsilon"]
        self.rows: dict[str, list[Row]] = {}
        for name, (shape, raw) in file.tensors.items():
            cols = shape[-1]
            values = struct.unpack(f"<{len(raw) // 4}f", raw)
            self.rows[name] = [list(values[i : i + cols]) for i in range(0, len(values), cols)]
        self.head = keys["llama.embedding_length"] // self.heads

    def times(self, name: str, x: Row) -> Row:
        return [sum(map(mul, row, x)) for row in self.rows[f"{name}.weight"]]

    def norm(self, name: str, x: Row) -> Row:
        scale = 1 / math.sqrt(sum(map(mul, x, x)) / len(x) + self.epsilon)
        return [a * scale * w for a, w in zip(x, self.rows[f"{name}.weight"][0], strict=True)]

    def turned(self, x: Row, position: int) -> Row:
        """Pairs of neighbours turn by position * base^(-2i / head)."""
        out = []
        for i in range(0, len(x), 2):
            angle = position * self.base ** (-(i % self.head) / self.head)
            out.append(x[i] * math.cos(angle) - x[i + 1] * math.sin(angle))
            out.append(x[i] * math.sin(angle) + x[i + 1] * math.cos(angle))
        return out

    def attend(self, q: Row, keys: list[Row], values: list[Row]) -> Row:
        out = []
        for h in range(self.heads):
            at = h * self.kv_heads // self.heads * self.head
            own, cut = q[h * self.head : (h + 1) * self.head], slice(at, at + self.head)
            scores = [sum(map(mul, own, k[cut])) / math.sqrt(self.head) for k in keys]
            most = max(scores)
            weights = [math.exp(s - most) for s in scores]
            sums = [0.0] * self.head
            for weight, value in zip(weights, values, strict=True):
                sums = [a + weight * b for a, b in zip(sums, value[cut], strict=True)]
            out += [a / sum(weights) for a in sums]
        return out

    def layer(self, block: str, stream: list[Row]) -> list[Row]:
        keys, values, out = [], [], []
        for position, x in enumerate(stream):
            normed = self.norm(f"{block}attn_norm", x)
            keys.append(self.turned(self.times(f"{block}attn_k", normed), position))
            values.append(self.times(f"{block}attn_v", normed))
            q = self.turned(self.times(f"{block}attn_q", normed), position)
            attended = self.times(f"{block}attn_output", self.attend(q, keys, values))
            x = [a + b for a, b in zip(x, attended, strict=True)]
            normed = self.norm(f"{block}ffn_norm", x)
            gate, up = self.times(f"{block}ffn_gate", normed), self.times(f"{block}ffn_up", normed)
            hidden = [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up, strict=True)]
            down = self.times(f"{block}ffn_down", hidden)
            out.append([a + b for a, b in zip(x, down, strict=True)])
        return out

    def logits(self, ids: list[int]) -> list[Row]:
        stream = [self.rows["token_embd.weight"][i] for i in ids]
        for layer in range(self.layers):
            stream = self.layer(f"blk.{layer}.", stream)
        end = "output" if "output.weight" in self.rows else "token_embd"
        return [self.times(end, self.norm("output_norm", x)) for x in stream]
