"""The forward pass once more in plain numpy, from the file alone, and a comparison with PyTorch.

    python reference.py nano.gguf

It shares no code with model.py: loops over positions and heads, written from the definition of the
`llama` architecture. It is what a new engine can be checked against.
"""

import pathlib
import sys

import numpy as np
import torch

import gguf_reader


def rms_norm(x, weight, eps):
    """x [time, width]"""
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def rope(x, position, base):
    """One head's vector [head_width]: pair (2i, 2i+1) turned by position * base^(-2i / width)."""
    out = x.copy()
    for i in range(0, len(x), 2):
        angle = position * base ** (-i / len(x))
        out[i] = x[i] * np.cos(angle) - x[i + 1] * np.sin(angle)
        out[i + 1] = x[i] * np.sin(angle) + x[i + 1] * np.cos(angle)
    return out


def attention(h, w, c, name):
    """h [time, width], normed -> [time, width]"""
    time, d = len(h), c.head_width
    q, k, v = (h @ w[f"{name}.attn_{x}.weight"].T for x in "qkv")
    out = np.zeros((time, c.heads * d))
    for head in range(c.heads):
        kv = head // (c.heads // c.kv_heads) * d
        qs = [rope(q[t, head * d : head * d + d], t, c.rope_base) for t in range(time)]
        ks = [rope(k[t, kv : kv + d], t, c.rope_base) for t in range(time)]
        for t in range(time):
            scores = np.array([qs[t] @ ks[s] for s in range(t + 1)]) / np.sqrt(d)
            p = np.exp(scores - scores.max())
            out[t, head * d : head * d + d] = (p / p.sum()) @ v[: t + 1, kv : kv + d]
    return out @ w[f"{name}.attn_output.weight"].T


def forward(ids, w, c):
    """Token ids [time] -> logits [time, vocab_size], float64"""
    x = w["token_embd.weight"][ids].astype(np.float64)
    for n in range(c.layers):
        name = f"blk.{n}"
        x = x + attention(rms_norm(x, w[f"{name}.attn_norm.weight"], c.norm_eps), w, c, name)
        h = rms_norm(x, w[f"{name}.ffn_norm.weight"], c.norm_eps)
        gate, up = h @ w[f"{name}.ffn_gate.weight"].T, h @ w[f"{name}.ffn_up.weight"].T
        x = x + (gate / (1 + np.exp(-gate)) * up) @ w[f"{name}.ffn_down.weight"].T
    return rms_norm(x, w["output_norm.weight"], c.norm_eps) @ w["token_embd.weight"].T


def main():
    path = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "nano.gguf")
    keys, tensors = gguf_reader.read(path)
    c = gguf_reader.config(keys)
    vocab = gguf_reader.vocabulary(keys, [])
    prompt = [
        "<|im_start|>",
        "user\nplease transfer 20 dollars to my savings",
        "<|im_end|>",
        "\n",
        "<|im_start|>",
        "assistant\n",
    ]
    ids = vocab.encode_prompt(prompt)
    net = gguf_reader.network(keys, tensors)
    with torch.no_grad():
        ours = net.logits(net.hidden(torch.tensor([ids]))[0]).numpy()
    reference = forward(ids, tensors, c)
    worst = np.abs(ours - reference).max()
    print(
        f"{len(ids)} positions, largest difference {worst:.2e}, "
        f"first answer token {vocab.tokens[int(reference[-1].argmax())]!r}"
    )
    assert worst < 1e-3, "the two forward passes disagree"


if __name__ == "__main__":
    main()
