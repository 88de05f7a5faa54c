"""A small reader of what gguf_writer.py writes, so that what is evaluated is what ships."""

import struct

import numpy as np
import torch

import gguf_quant
from gguf_writer import ALIGNMENT, ARRAY, BOOL, F32, I32, STRING, U8, U32
from model import Config, Nano, file_state
from tokenizer import Vocabulary

NUMBERS = {U8: "u1", U32: "<u4", I32: "<i4", F32: "<f4"}  # read as numpy arrays


class Cursor:
    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def take(self, form):
        value = struct.unpack_from("<" + form, self.raw, self.at)
        self.at += struct.calcsize("<" + form)
        return value[0]

    def string(self):
        length = self.take("Q")
        self.at += length
        return self.raw[self.at - length : self.at].decode("utf-8")

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            inner, count = self.take("I"), self.take("Q")
            if inner in NUMBERS:
                form = np.dtype(NUMBERS[inner])
                self.at += count * form.itemsize
                return np.frombuffer(self.raw, form, count, self.at - count * form.itemsize)
            return [self.value(inner) for _ in range(count)]
        return self.take({U32: "I", F32: "f", BOOL: "?", I32: "i"}[kind])


def read(path):
    """(keys, tensors): a dict of values and a dict of float32 arrays in PyTorch's shape order."""
    cursor = Cursor(path.read_bytes())
    assert cursor.raw[:4] == b"GGUF", "not a GGUF file"
    cursor.at = 4
    assert cursor.take("I") == 3, "not version 3"
    tensor_count, pair_count = cursor.take("Q"), cursor.take("Q")
    keys = {}
    for _ in range(pair_count):
        key = cursor.string()
        keys[key] = cursor.value(cursor.take("I"))
    infos = []
    for _ in range(tensor_count):
        name = cursor.string()
        dims = [cursor.take("Q") for _ in range(cursor.take("I"))]
        infos.append((name, dims[::-1], cursor.take("I"), cursor.take("Q")))
    start = cursor.at + -cursor.at % ALIGNMENT
    return keys, {n: tensor(cursor.raw, s, k, start + at) for n, s, k, at in infos}


def tensor(raw, shape, kind, at):
    bytes_ = gguf_quant.byte_count(kind, int(np.prod(shape)))
    return gguf_quant.unpack(raw[at : at + bytes_], kind, shape)


def network(keys, tensors):
    """The Nano of a file that was read: as in training, the exits' norms included."""
    net = Nano(config(keys)).eval()
    state = {n: torch.from_numpy(x) for n, x in tensors.items()}
    for i, layer in enumerate(net.c.exits):
        norm = keys.get(f"tandem.exit.{layer}.norm", tensors["output_norm.weight"])
        state[f"exit_norm.{i}.weight"] = torch.from_numpy(np.array(norm))
    net.load_state_dict(file_state(state, net.c.head_width, back=True))
    return net


def config(keys):
    def k(name):
        return keys["llama." + name]

    return Config(
        vocab_size=k("vocab_size"),
        width=k("embedding_length"),
        layers=k("block_count"),
        heads=k("attention.head_count"),
        kv_heads=k("attention.head_count_kv"),
        head_width=k("rope.dimension_count"),
        ffn_width=k("feed_forward_length"),
        context=k("context_length"),
        rope_base=k("rope.freq_base"),
        norm_eps=k("attention.layer_norm_rms_epsilon"),
        exits=[int(n) for n in keys.get("tandem.exit.layers", [])],
    )


def vocabulary(keys, labels):
    merges = [tuple(m.split(" ")) for m in keys["tokenizer.ggml.merges"]]
    types = keys["tokenizer.ggml.token_type"].tolist()
    return Vocabulary(keys["tokenizer.ggml.tokens"], merges, types, labels)
