"""The network: `llama` as llama.cpp's GGUF architecture of that name defines it.

RMSNorm, rotary positions on interleaved pairs (2i, 2i+1), grouped-query attention, SwiGLU, no
biases, tied embeddings. Because training already rotates interleaved pairs, the weights of q and
k go into the file as they are; nothing is permuted.
"""

from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    vocab_size: int
    width: int = 256         # d_model; a multiple of 32 so that Q8_0 blocks fit
    layers: int = 5
    heads: int = 4
    kv_heads: int = 2
    head_width: int = 64
    ffn_width: int = 704     # 22 Q8_0 blocks
    context: int = 1024
    rope_base: float = 10000.0
    norm_eps: float = 1e-5
    dropout: float = 0.0     # training only


def rope_table(config, length):
    """cos and sin, each [length, head_width / 2]; angle = position * base^(-2i / head_width)."""
    i = torch.arange(0, config.head_width, 2, dtype=torch.float32)
    angle = torch.outer(torch.arange(length).float(), config.rope_base ** (-i / config.head_width))
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    """Rotate pairs (2i, 2i+1). x [batch, heads, time, width]; cos, sin [time, width / 2]."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


def causal_mask(time, dtype):
    """[time, time]: 0 where column <= row, else -inf. Plain attention beats the fused kernel of
    PyTorch here: sequences are short, and its backward pass on a CPU is slow."""
    return torch.full((time, time), float("-inf"), dtype=dtype).triu(1)


class SequenceDropout(nn.Module):
    """Dropout with one mask for all positions of a sequence [batch, time, width]."""

    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        if not self.training or self.rate == 0:
            return x
        keep = torch.rand(x.shape[0], 1, x.shape[2]) >= self.rate
        return x * (keep.to(x.dtype) / (1 - self.rate))


class Block(nn.Module):
    """One transformer layer. x [batch, time, width] -> the same."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        self.attn_norm = nn.RMSNorm(c.width, eps=c.norm_eps)
        self.attn_q = nn.Linear(c.width, c.heads * c.head_width, bias=False)
        self.attn_k = nn.Linear(c.width, c.kv_heads * c.head_width, bias=False)
        self.attn_v = nn.Linear(c.width, c.kv_heads * c.head_width, bias=False)
        self.attn_output = nn.Linear(c.heads * c.head_width, c.width, bias=False)
        self.ffn_norm = nn.RMSNorm(c.width, eps=c.norm_eps)
        self.ffn_gate = nn.Linear(c.width, c.ffn_width, bias=False)
        self.ffn_up = nn.Linear(c.width, c.ffn_width, bias=False)
        self.ffn_down = nn.Linear(c.ffn_width, c.width, bias=False)
        self.drop = SequenceDropout(c.dropout)

    def split(self, x, heads):
        """[batch, time, heads * head_width] -> [batch, heads, time, head_width]"""
        return x.view(x.shape[0], x.shape[1], heads, self.c.head_width).transpose(1, 2)

    def attention(self, x, cos, sin):
        c = self.c
        q = rotate(self.split(self.attn_q(x), c.heads), cos, sin)
        k = rotate(self.split(self.attn_k(x), c.kv_heads), cos, sin)
        v = self.split(self.attn_v(x), c.kv_heads)
        # Query head h reads key head h / (heads / kv_heads): [batch, kv_heads, group, time, ...]
        q = q.unflatten(1, (c.kv_heads, c.heads // c.kv_heads))
        scores = q @ k.unsqueeze(2).transpose(-1, -2) * c.head_width ** -0.5
        weights = (scores + causal_mask(x.shape[1], scores.dtype)).softmax(-1).to(v.dtype)
        y = (weights @ v.unsqueeze(2)).flatten(1, 2)
        return self.attn_output(y.transpose(1, 2).flatten(2))

    def forward(self, x, cos, sin):
        x = x + self.drop(self.attention(self.attn_norm(x), cos, sin))
        h = self.ffn_norm(x)
        return x + self.drop(self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h)))


class Nano(nn.Module):
    """Tokens [batch, time] -> hidden states; `logits` maps chosen states to [n, vocab_size]."""

    def __init__(self, c):
        super().__init__()
        self.c = c
        self.token_embd = nn.Embedding(c.vocab_size, c.width)
        self.blk = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.output_norm = nn.RMSNorm(c.width, eps=c.norm_eps)
        self.drop = SequenceDropout(c.dropout)
        cos, sin = rope_table(c, c.context)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02 if "embd" in name else p.shape[1] ** -0.5)
            if name.endswith(("attn_output.weight", "ffn_down.weight")):
                p.data.mul_((2 * c.layers) ** -0.5)

    def hidden(self, tokens):
        """[batch, time] -> [batch, time, width], after the last norm. Padding stands at the end,
        where causal attention cannot see it from real tokens, so no mask is needed."""
        time = tokens.shape[1]
        x = self.drop(self.token_embd(tokens))
        cos, sin = self.cos[:time].to(x.dtype), self.sin[:time].to(x.dtype)
        for block in self.blk:
            x = block(x, cos, sin)
        return self.output_norm(x)

    def logits(self, states):
        """[n, width] -> [n, vocab_size], float32; the embedding is also the output matrix."""
        return F.linear(states, self.token_embd.weight).float()
