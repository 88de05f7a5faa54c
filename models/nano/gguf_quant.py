"""Our quantisers for GGUF's tensor types F16, Q8_0, Q6_K and Q4_K, in numpy, and their inverses.

The bytes are described in src/kernels/formats.h. All take float32 [rows, cols] and give uint8
[rows, bytes]. Scales are found by search: for a row of candidate scales the weights are rounded,
the scale that fits those integers best in the least squares is computed, and the best of all is
kept."""

import numpy as np

F32, F16, Q8_0, Q4_K, Q6_K = 0, 1, 8, 12, 14  # GGUF's numbers of tensor types
NAMES = {F32: "F32", F16: "F16", Q8_0: "Q8_0", Q4_K: "Q4_K", Q6_K: "Q6_K"}
BLOCK, SUPER = 32, 256
BYTES = {Q8_0: (BLOCK, 34), Q4_K: (SUPER, 144), Q6_K: (SUPER, 210)}  # weights and bytes of a block
SEARCH = np.linspace(0.85, 1.1, 16)  # candidate scales, relative to the one that clips nothing


def round_away(x):
    """Halves away from zero, as C's roundf."""
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def half(x):
    """Rounded to f16, as float32."""
    return x.astype(np.float16).astype(np.float32)


def inverse(x):
    return np.divide(1.0, x, out=np.zeros_like(x), where=x != 0)


def pack_f16(x):
    return x.astype("<f2").view(np.uint8).reshape(x.shape[0], -1)


def pack_q8_0(x):
    blocks = x.reshape(-1, BLOCK)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / 127.0
    whole = round_away(blocks * inverse(scale))
    out = np.empty((len(blocks), 34), np.uint8)
    out[:, :2] = scale.astype("<f2").view(np.uint8)
    out[:, 2:] = whole.clip(-127, 127).astype(np.int8).view(np.uint8)
    return out.reshape(x.shape[0], -1)


def best_scale(x, low, high):
    """x [n, size] -> scales [n, 1] of the least squared error with integers in low..high."""
    biggest = np.take_along_axis(x, np.abs(x).argmax(1)[:, None], 1)
    best, error = np.zeros_like(biggest), np.full(len(x), np.inf, np.float32)
    for direction in (low, high):  # the largest weight goes to either end of the range
        for relative in SEARCH:
            scale = biggest / (direction * relative)
            q = round_away(x * inverse(scale)).clip(low, high)
            fitted = (x * q).sum(1, keepdims=True) * inverse((q * q).sum(1, keepdims=True))
            mine = ((x - fitted * q) ** 2).sum(1)
            better = mine < error
            best[better], error[better] = fitted[better], mine[better]
    return best


def pack_q6_k(x):
    """w = d * scale * q with q in -32..31 and an 8-bit scale for 16 weights."""
    subs = x.reshape(-1, 16, 16)  # [super-blocks, sub-blocks, weights]
    scales = best_scale(subs.reshape(-1, 16), -32, 31).reshape(-1, 16)
    biggest = np.take_along_axis(scales, np.abs(scales).argmax(1)[:, None], 1)
    d = half(biggest / -128.0)
    whole = round_away(scales * inverse(d)).clip(-128, 127)
    q = round_away(subs * inverse(d * whole)[:, :, None]).clip(-32, 31)
    q = (q + 32).astype(np.uint8).reshape(-1, 2, 4, 32)  # [super, half, quarter, weight]
    low = np.stack([(q[:, :, k] & 15) | (q[:, :, k + 2] & 15) << 4 for k in (0, 1)], 2)
    high = sum(q[:, :, k] >> 4 << 2 * k for k in range(4)).astype(np.uint8)
    parts = [
        low.reshape(-1, 128),
        high.reshape(-1, 64),
        whole.astype(np.int8).view(np.uint8),
        d.astype("<f2").view(np.uint8),
    ]
    return np.concatenate(parts, 1).reshape(x.shape[0], -1)


def best_line(x):
    """x [n, 32] -> (scale, minimum), each [n, 1], not negative: x ~ scale * q - minimum, q
    0..15."""
    lowest = np.minimum(x.min(1, keepdims=True), 0)
    widest = (x.max(1, keepdims=True) - lowest) / 15
    best_s, best_m = widest.copy(), -lowest
    error = np.full(len(x), np.inf, np.float32)
    for relative in SEARCH:
        scale, minimum = widest * relative, -lowest
        for _ in range(2):  # round, fit a line through what was rounded, once more
            q = round_away((x + minimum) * inverse(scale)).clip(0, 15)
            mean_q, mean_x = q.mean(1, keepdims=True), x.mean(1, keepdims=True)
            spread = ((q - mean_q) ** 2).sum(1, keepdims=True)
            scale = ((q - mean_q) * (x - mean_x)).sum(1, keepdims=True) * inverse(spread)
            minimum = np.maximum(scale * mean_q - mean_x, 0)
            # Where the minimum may not fall below 0 the line goes through 0.
            through = (x * q).sum(1, keepdims=True) * inverse((q * q).sum(1, keepdims=True))
            scale = np.maximum(np.where(minimum > 0, scale, through), 0)
        q = round_away((x + minimum) * inverse(scale)).clip(0, 15)
        mine = ((x - scale * q + minimum) ** 2).sum(1)
        better = mine < error
        best_s[better], best_m[better], error[better] = scale[better], minimum[better], mine[better]
    return best_s, best_m


def pack_q4_k(x):
    """w = d * scale * q - dmin * minimum, 6-bit scale and minimum for 32 weights."""
    subs = x.reshape(-1, 8, 32)
    scale, minimum = (v.reshape(-1, 8) for v in best_line(subs.reshape(-1, 32)))
    d, dmin = (half(v.max(1, keepdims=True) / 63) for v in (scale, minimum))
    s, m = (round_away(v * inverse(e)).clip(0, 63) for v, e in ((scale, d), (minimum, dmin)))
    q = (subs + (dmin * m)[:, :, None]) * inverse(d * s)[:, :, None]
    q = round_away(q).clip(0, 15).astype(np.uint8)
    s, m = s.astype(np.uint8), m.astype(np.uint8)
    scales = np.concatenate(
        [
            s[:, :4] | s[:, 4:] >> 4 << 6,
            m[:, :4] | m[:, 4:] >> 4 << 6,
            (s[:, 4:] & 15) | (m[:, 4:] & 15) << 4,
        ],
        1,
    )
    nibbles = (q[:, 0::2] | q[:, 1::2] << 4).reshape(-1, 128)
    parts = [d.astype("<f2").view(np.uint8), dmin.astype("<f2").view(np.uint8), scales, nibbles]
    return np.concatenate(parts, 1).reshape(x.shape[0], -1)


def unpack_q8_0(blocks):
    d = blocks[:, :2].copy().view("<f2").astype(np.float32)
    return d * blocks[:, 2:].copy().view(np.int8)


def unpack_q6_k(blocks):
    ql, qh = blocks[:, :128].reshape(-1, 2, 2, 32), blocks[:, 128:192].reshape(-1, 2, 32)
    scales = blocks[:, 192:208].copy().view(np.int8).astype(np.float32)
    d = blocks[:, 208:210].copy().view("<f2").astype(np.float32)
    low = np.concatenate([ql & 15, ql >> 4], 2)  # [super, half, quarter, weight]
    high = np.stack([qh >> 2 * k & 3 for k in range(4)], 2)
    q = (low | high << 4).astype(np.float32) - 32
    return (q.reshape(-1, 16, 16) * (d * scales)[:, :, None]).reshape(-1, SUPER)


def unpack_q4_k(blocks):
    d, dmin = (blocks[:, at : at + 2].copy().view("<f2").astype(np.float32) for at in (0, 2))
    packed = blocks[:, 4:16]
    a, b, c = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    s = np.concatenate([a & 63, (c & 15) | a >> 6 << 4], 1).astype(np.float32)
    m = np.concatenate([b & 63, c >> 4 | b >> 6 << 4], 1).astype(np.float32)
    nibbles = blocks[:, 16:].reshape(-1, 4, 32)
    q = np.stack([nibbles & 15, nibbles >> 4], 2).reshape(-1, 8, 32)
    return (q * (d * s)[:, :, None] - (dmin * m)[:, :, None]).reshape(-1, SUPER)


PACK = {F16: pack_f16, Q8_0: pack_q8_0, Q4_K: pack_q4_k, Q6_K: pack_q6_k}
UNPACK = {Q8_0: unpack_q8_0, Q4_K: unpack_q4_k, Q6_K: unpack_q6_k}


def pack(x, kind):
    """float32 [rows, cols] as the bytes of a tensor of that type."""
    if kind == F32:
        return x.astype("<f4").tobytes()
    assert kind == F16 or x.shape[1] % BYTES[kind][0] == 0, "a row must be whole blocks"
    return PACK[kind](np.ascontiguousarray(x, np.float32)).tobytes()


def byte_count(kind, count):
    if kind in (F32, F16):
        return count * (4 if kind == F32 else 2)
    weights, size = BYTES[kind]
    return count // weights * size


def unpack(raw, kind, shape):
    """The bytes of a tensor as float32 of that shape."""
    if kind in (F32, F16):
        return np.frombuffer(raw, "<f4" if kind == F32 else "<f2").reshape(shape).astype(np.float32)
    blocks = np.frombuffer(raw, np.uint8).reshape(-1, BYTES[kind][1])
    return UNPACK[kind](blocks).reshape(shape).astype(np.float32)
