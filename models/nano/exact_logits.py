#!/usr/bin/env python3
"""How far logits of the engine are from exact ones, and those of float32 arithmetic as a training
framework has it: the forward pass of a llama file in F32, in numpy, with float64 and float32.

    tandem quantize models/nano/nano.gguf nano-f32.gguf F32
    exact_logits.py nano-f32.gguf 1043,319,270,432,1955,273 --tandem build/tandem
"""

import argparse
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from gguf import GGUFReader


class Llama:
    def __init__(self, path: Path, real: Any) -> None:
        reader = GGUFReader(path)
        self.real = real
        self.weights = {t.name: np.array(t.data, dtype=real) for t in reader.tensors}

        def number(name: str) -> Any:
            return reader.fields[f"llama.{name}"].parts[-1][0]

        self.layers = int(number("block_count"))
        self.heads = int(number("attention.head_count"))
        self.kv_heads = int(number("attention.head_count_kv"))
        self.width = int(number("rope.dimension_count"))
        self.base = real(number("rope.freq_base"))
        self.eps = real(number("attention.layer_norm_rms_epsilon"))

    def norm(self, x: Any, name: str) -> Any:
        mean = (x * x).mean(-1, keepdims=True)
        return x / np.sqrt(mean + self.eps) * self.weights[name]

    def rotate(self, x: Any) -> Any:
        """x [time, heads, width]: pairs of neighbours turn by position * base^(-2i / width)."""
        i = np.arange(0, self.width, 2, dtype=self.real)
        times = np.arange(len(x), dtype=self.real)
        angle = np.outer(times, self.base ** (-i / self.real(self.width)))[:, None]
        a, b = x[..., 0::2], x[..., 1::2]
        turned = a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)
        return np.stack(turned, -1).reshape(x.shape)

    def attention(self, x: Any, block: str) -> Any:
        time = len(x)

        def project(name: str, heads: int) -> Any:
            return (x @ self.weights[f"{block}{name}.weight"].T).reshape(time, heads, self.width)

        q = self.rotate(project("attn_q", self.heads))
        k = self.rotate(project("attn_k", self.kv_heads))
        v = project("attn_v", self.kv_heads)
        out = np.zeros((time, self.heads, self.width), dtype=self.real)
        seen = np.tril(np.ones((time, time), dtype=bool))
        for head in range(self.heads):
            kv = head * self.kv_heads // self.heads
            scores = (q[:, head] @ k[:, kv].T) * self.real(self.width**-0.5)
            scores = np.where(seen, scores, self.real(-1e9))
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            out[:, head] = (weights / weights.sum(-1, keepdims=True)) @ v[:, kv]
        return out.reshape(time, -1) @ self.weights[f"{block}attn_output.weight"].T

    def logits(self, ids: list[int]) -> Any:
        x = self.weights["token_embd.weight"][ids]
        for layer in range(self.layers):
            block = f"blk.{layer}."
            x = x + self.attention(self.norm(x, f"{block}attn_norm.weight"), block)
            normed = self.norm(x, f"{block}ffn_norm.weight")
            gate = normed @ self.weights[f"{block}ffn_gate.weight"].T
            up = normed @ self.weights[f"{block}ffn_up.weight"].T
            silu = gate / (self.real(1) + np.exp(-gate))
            x = x + (silu * up) @ self.weights[f"{block}ffn_down.weight"].T
        head = self.weights.get("output.weight", self.weights["token_embd.weight"])
        return (self.norm(x, "output_norm.weight") @ head.T).astype(np.float64)


def engine_logits(tandem: Path, model: Path, ids: str, cpu: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "logits"
        command = [str(tandem), "logits", "-m", str(model), "--ids", ids, "--cpu", cpu]
        command += ["-o", str(out)]
        subprocess.run(command, check=True)
        return np.fromfile(out, dtype=np.float32).astype(np.float64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("ids", help="token ids with commas between them")
    parser.add_argument("--tandem", type=Path, required=True)
    parser.add_argument("--cpu", nargs="*", default=["ref", "avx2"])
    arguments = parser.parse_args()
    ids = [int(number) for number in arguments.ids.split(",")]
    exact = Llama(arguments.model, np.float64).logits(ids)
    print(f"largest logit {abs(exact).max():.1f}; the largest differences from exact logits:")
    single = Llama(arguments.model, np.float32).logits(ids)
    print(f"  float32 in numpy   {abs(single - exact).max():.1e}")
    for cpu in arguments.cpu:
        found = engine_logits(arguments.tandem, arguments.model, arguments.ids, cpu)
        print(f"  tandem --cpu={cpu:6} {abs(found.reshape(exact.shape) - exact).max():.1e}")


if __name__ == "__main__":
    main()
