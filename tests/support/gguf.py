"""Writes small GGUF files (version 3) with nothing but the standard library: LoRA adapters for tests."""
import random
import struct

STRING, FLOAT32 = 8, 6


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key, value):
    if isinstance(value, str):
        return text(key) + struct.pack("<I", STRING) + text(value)
    return text(key) + struct.pack("<If", FLOAT32, value)


def write(path, pairs, tensors):
    """tensors: (name, dims with the contiguous one first, floats)."""
    directory, data = b"", b""
    for name, dims, values in tensors:
        data += b"\0" * (-len(data) % 32)
        directory += text(name) + struct.pack("<I", len(dims)) + struct.pack(f"<{len(dims)}Q", *dims)
        directory += struct.pack("<IQ", 0, len(data))
        data += struct.pack(f"<{len(values)}f", *values)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    head += b"".join(pair(key, value) for key, value in pairs) + directory
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)


def write_adapter(path, changes, rank=4, size=0.5, seed=1, architecture="llama"):
    """changes: (matrix, columns, rows). size 0: an adapter that changes nothing."""
    numbers = random.Random(seed)
    tensors = []
    for stem, columns, rows in changes:
        for half, dims in (("lora_a", (columns, rank)), ("lora_b", (rank, rows))):
            values = [numbers.uniform(-size, size) for _ in range(dims[0] * dims[1])]
            tensors.append((f"{stem}.{half}", dims, values))
    write(path, [("general.type", "adapter"), ("general.architecture", architecture),
                 ("adapter.type", "lora"), ("adapter.lora.alpha", 8.0)], tensors)
