"""The network: `llama` as llama.cpp's GGUF architecture of that name defines it, with early exits.

RMSNorm, rotary positions, grouped-query attention, SwiGLU, no biases, tied embeddings. In training
the rotary pairs of a head are (i, i + head_width / 2), because halves are read in order and pairs
of neighbours are not; the file wants neighbours (2i, 2i + 1), so `file_rows` permutes the rows of q
and k on the way out. Both are the same model: only the names of the dimensions differ.

An exit after N layers is a norm of its own and the model's output matrix (docs/heads.md).
"""

from dataclasses import dataclass, field

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    vocab_size: int
    width: int = 256  # d_model; a multiple of 256, so that rows are whole Q6_K and Q4_K blocks
    layers: int = 6
    heads: int = 4
    kv_heads: int = 2
    head_width: int = 64
    ffn_width: int = 768
    context: int = 2048
    rope_base: float = 10000.0
    norm_eps: float = 1e-5
    exits: list = field(default_factory=lambda: [2, 4])
    dropout: float = 0.0  # training only


# Score of what may not be seen. Not -inf: the compiled softmax goes through a row in pieces, and
# makes a NaN of a piece in which nothing is seen.
HIDDEN = -1e9
STRETCH = 256  # queries that attention looks at together

# The family: one vocabulary, two sizes. nano-tools is nano for requests that bring tools;
# nano-large has twice the layers and begins as nano (grow.py).
SIZES: dict[str, dict] = {
    "nano": {},
    "nano-tools": {},
    "nano-large": {"layers": 12, "exits": [4, 8]},
}


def rope_table(config, length):
    """cos and sin, each [length, head_width / 2]; angle = position * base^(-2i / head_width)."""
    i = torch.arange(0, config.head_width, 2, dtype=torch.float32)
    angle = torch.outer(torch.arange(length).float(), config.rope_base ** (-i / config.head_width))
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    """Rotate pairs (i, i + width / 2). x [batch, heads, time, width]; cos, sin [time, width /
    2]."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


def file_rows(x, head_width, back=False):
    """Rows of a q or k matrix [heads * head_width, width] from halves to neighbours, or `back`."""
    shape = (-1, head_width // 2, 2) if back else (-1, 2, head_width // 2)
    return x.view(*shape, x.shape[1]).transpose(1, 2).reshape(x.shape)


def file_state(state, head_width, back=False):
    """A state dict as the file has it (or `back` from it): q and k with permuted rows."""
    turned = (".attn_q.weight", ".attn_k.weight")
    return {
        n: file_rows(x, head_width, back) if n.endswith(turned) else x for n, x in state.items()
    }


class SequenceDropout(nn.Module):
    """Dropout with one mask for all positions of a sequence [batch, time, width]."""

    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        if not self.training or self.rate == 0:
            return x
        keep = torch.rand(x.shape[0], 1, x.shape[2], device=x.device) >= self.rate
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

    def attention(self, x, cos, sin, hidden):
        c = self.c
        q = rotate(self.split(self.attn_q(x), c.heads), cos, sin)
        k = rotate(self.split(self.attn_k(x), c.kv_heads), cos, sin)
        v = self.split(self.attn_v(x), c.kv_heads)
        # Query head h reads key head h / (heads / kv_heads): [batch, kv_heads, group, time, ...]
        q = q.unflatten(1, (c.kv_heads, c.heads // c.kv_heads))
        k, v, hidden = k.unsqueeze(2), v.unsqueeze(2), hidden.unsqueeze(1)
        # What comes later is hidden, so a stretch of queries needs no keys behind its end: half the
        # work of a long row.
        parts = []
        for begin in range(0, q.shape[-2], STRETCH):
            end = begin + STRETCH
            scores = (q[..., begin:end, :] @ k[..., :end, :].transpose(-1, -2)).float()
            scores = scores * c.head_width**-0.5 + hidden[..., begin:end, :end]
            parts.append(scores.softmax(-1).to(v.dtype) @ v[..., :end, :])
        y = torch.cat(parts, -2).flatten(1, 2)
        return self.attn_output(y.transpose(1, 2).flatten(2))

    def forward(self, x, cos, sin, hidden):
        x = x + self.drop(self.attention(self.attn_norm(x), cos, sin, hidden))
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
        self.exit_norm = nn.ModuleList(nn.RMSNorm(c.width, eps=c.norm_eps) for _ in c.exits)
        self.drop = SequenceDropout(c.dropout)
        cos, sin = rope_table(c, c.context)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02 if "embd" in name else p.shape[1] ** -0.5)
            if name.endswith(("attn_output.weight", "ffn_down.weight")):
                p.data.mul_((2 * c.layers) ** -0.5)

    def residuals(self, tokens, texts=None):
        """[batch, time] -> the residual stream [batch, time, width] after 0, 1, ... all layers.
        texts [batch, time]: the number of the text that a token belongs to, where rows hold
        several; rotary positions are relative, so that none of them needs to begin at 0. Padding
        stands at the end, where causal attention cannot see it."""
        time = tokens.shape[1]
        x = self.drop(self.token_embd(tokens))
        cos, sin = self.cos[:time], self.sin[:time]
        hidden = torch.ones(time, time, dtype=torch.bool, device=x.device).triu(1)[None, None]
        if texts is not None:
            hidden = hidden | (texts[:, None, :, None] != texts[:, None, None, :])
        hidden = torch.zeros(hidden.shape, device=x.device).masked_fill(hidden, HIDDEN)
        out = [x]
        for block in self.blk:
            out.append(block(out[-1], cos, sin, hidden))
        return out

    def hidden(self, tokens):
        """[batch, time] -> [batch, time, width], after the last norm."""
        return self.output_norm(self.residuals(tokens)[-1])

    def logits(self, states):
        """[n, width] -> [n, vocab_size], float32; the embedding is also the output matrix."""
        return F.linear(states, self.token_embd.weight).float()
