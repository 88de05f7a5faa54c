"""A network and vocabulary that begin as those of a GGUF file: how a run is continued in pieces.

The file in the tree is enough (Q8_0 differs from what was trained by less than a step of training
does). Marks of tool calls that it lacks are appended: its ids stay as they are.
"""

import torch

import data
import gguf_reader
from model import Nano

NOISE = 0.01  # a new mark differs from the mean of all tokens by this, or both would learn the same


@torch.no_grad()
def load(path, config):
    """(network, vocabulary) of a file; config(vocab_size): the shape that training wants, which
    must be the file's but for its context."""
    keys, tensors = gguf_reader.read(path)
    old = gguf_reader.network(keys, tensors)
    vocab = gguf_reader.vocabulary(keys, data.labels()).with_tools()
    net = Nano(config(len(vocab.tokens)))
    same = ("width", "layers", "heads", "kv_heads", "head_width", "ffn_width", "exits")
    wrong = [n for n in same if getattr(net.c, n) != getattr(old.c, n)]
    if wrong:
        raise ValueError(f"{path} has another {wrong[0]} than this model")
    state = old.state_dict()
    known = state["token_embd.weight"]
    new = len(vocab.tokens) - len(known)
    rows = known.mean(0) + NOISE * torch.randn(new, known.shape[1])
    state["token_embd.weight"] = torch.cat((known, rows))
    net.load_state_dict(state)
    return net, vocab
