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

Q8_0: a row is cut into blocks of 32 values; a block is an f16 scale d = max|x| / 127 and 32 signed
bytes round(x / d): 34 bytes.
"""

import struct

import numpy as np

U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5   # value types
TENSOR_F32, TENSOR_Q8_0 = 0, 8                          # tensor types
ALIGNMENT = 32
BLOCK = 32  # values of one Q8_0 block


def quantize_q8_0(x):
    """float32 [rows, cols], cols a multiple of 32 -> uint8 [rows, cols / 32 * 34]"""
    rows, cols = x.shape
    assert cols % BLOCK == 0, "a row must be whole blocks"
    blocks = x.reshape(-1, BLOCK)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / 127.0
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    scaled = blocks * inverse
    whole = np.sign(scaled) * np.floor(np.abs(scaled) + 0.5)  # halves away from zero
    out = np.empty((len(blocks), 2 + BLOCK), np.uint8)
    out[:, :2] = scale.astype("<f2").view(np.uint8)
    out[:, 2:] = whole.clip(-127, 127).astype(np.int8).view(np.uint8)
    return out.reshape(rows, -1)


def dequantize_q8_0(data, rows, cols):
    """bytes of a Q8_0 tensor -> float32 [rows, cols]"""
    blocks = np.frombuffer(data, np.uint8).reshape(-1, 2 + BLOCK)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    return (scale * blocks[:, 2:].copy().view(np.int8)).reshape(rows, cols).astype(np.float32)


def pack_string(text):
    raw = text.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


def pack_value(kind, value):
    if kind == STRING:
        return pack_string(value)
    return struct.pack({U32: "<I", F32: "<f", BOOL: "<?", I32: "<i"}[kind], value)


def padding(position):
    return b"\0" * (-position % ALIGNMENT)


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

    def add_f32(self, name, x):
        """x: a numpy array of any shape."""
        self.tensors.append((name, x.shape, TENSOR_F32, x.astype("<f4").tobytes()))

    def add_q8_0(self, name, x):
        """x: a numpy matrix [rows, cols]."""
        self.tensors.append((name, x.shape, TENSOR_Q8_0, quantize_q8_0(x).tobytes()))

    def write(self, path):
        infos, body = [], b""
        for name, shape, kind, raw in self.tensors:
            dims = tuple(reversed(shape))  # the file lists the fastest dimension first
            infos.append(pack_string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims,
                                                         kind, len(body)))
            body += raw + padding(len(raw))
        head = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.pairs))
        head += b"".join(self.pairs) + b"".join(infos)
        path.write_bytes(head + padding(len(head)) + body)
