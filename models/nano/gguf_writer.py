"""A small writer of GGUF version 3, the file format of llama.cpp models.

    offset  size  what
    0       4     "GGUF"
    4       4     u32 version, 3
    8       8     u64 number of tensors
    16      8     u64 number of key-value pairs
    24      ...   key-value pairs: string key, u32 value type, value
    ...     ...   tensor infos: string name, u32 n, n x u64 dimensions (fastest first), u32 type,
                  u64 offset from the start of the tensor data
    ...     ...   zeros up to a multiple of `general.alignment`, then the tensor data, each tensor
                  starting at a multiple of it

Everything is little-endian. A string is a u64 length and UTF-8 bytes. An array is a u32 element
type, a u64 count, and the elements.
The bytes of tensors are made by gguf_quant.py.
"""

import struct

import numpy as np

import gguf_quant

U8, U32, F32, BOOL, STRING, ARRAY, I32 = 0, 4, 6, 7, 8, 9, 5  # value types
ALIGNMENT = 32


def pack_string(text):
    raw = text.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


def pack_value(kind, value):
    if kind == STRING:
        return pack_string(value)
    return struct.pack({U32: "<I", F32: "<f", BOOL: "<?", I32: "<i"}[kind], value)


def padding(position):
    return b"\0" * (-position % ALIGNMENT)


def insert_pairs(path, pairs):
    """Adds packed pairs to the metadata of a file; what it has stays byte by byte."""
    raw = path.read_bytes()
    version, tensor_count, pair_count = struct.unpack_from("<IQQ", raw, 4)
    assert raw[:4] == b"GGUF" and version == 3, "not a GGUF file of version 3"
    infos_at, data_at = layout(raw, tensor_count, pair_count)
    head = b"GGUF" + struct.pack("<IQQ", 3, tensor_count, pair_count + len(pairs))
    head += raw[24:infos_at] + b"".join(pairs)
    infos = raw[infos_at:data_at]
    at = len(head) + len(infos)
    path.write_bytes(head + infos + padding(at) + raw[data_at + -data_at % ALIGNMENT :])


def layout(raw, tensor_count, pair_count):
    """Where the tensor infos begin, and where they end."""
    at = 24
    sizes = {U8: 1, U32: 4, I32: 4, F32: 4, BOOL: 1}

    def after(kind, at):
        if kind == STRING:
            return at + 8 + struct.unpack_from("<Q", raw, at)[0]
        if kind != ARRAY:
            return at + sizes[kind]
        inner, count = struct.unpack_from("<IQ", raw, at)
        at += 12
        if inner in sizes:
            return at + count * sizes[inner]
        for _ in range(count):
            at = after(inner, at)
        return at

    for _ in range(pair_count):
        at = after(STRING, at)
        at = after(struct.unpack_from("<I", raw, at)[0], at + 4)
    infos_at = at
    for _ in range(tensor_count):
        at = after(STRING, at)
        at += 4 + 8 * struct.unpack_from("<I", raw, at)[0] + 4 + 8
    return infos_at, at


class Writer:
    """Collects pairs and tensors, then writes the file in one go."""

    def __init__(self):
        self.pairs, self.tensors = [], []

    def add(self, key, kind, value):
        self.pairs.append(pack_string(key) + struct.pack("<I", kind) + pack_value(kind, value))

    def add_array(self, key, kind, values):
        body = b"".join(pack_value(kind, v) for v in values)
        head = struct.pack("<IIQ", ARRAY, kind, len(values))
        self.pairs.append(pack_string(key) + head + body)

    def add_numbers(self, key, kind, values):
        """An array of U8, U32 or F32 from a numpy array of any shape."""
        body = np.ascontiguousarray(values, {U8: "u1", U32: "<u4", F32: "<f4"}[kind]).tobytes()
        head = struct.pack("<IIQ", ARRAY, kind, values.size)
        self.pairs.append(pack_string(key) + head + body)

    def add_tensor(self, name, x, kind):
        """x: a numpy array; kind: a type of gguf_quant, matrices only but for its F32."""
        self.tensors.append((name, x.shape, kind, gguf_quant.pack(x, kind)))

    def write(self, path):
        infos, body = [], b""
        for name, shape, kind, raw in self.tensors:
            dims = tuple(reversed(shape))  # the file lists the fastest dimension first
            infos.append(
                pack_string(name)
                + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, len(body))
            )
            body += raw + padding(len(raw))
        head = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.pairs))
        head += b"".join(self.pairs) + b"".join(infos)
        path.write_bytes(head + padding(len(head)) + body)
