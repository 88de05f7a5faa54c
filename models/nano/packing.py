"""Examples as rows of tokens: several short ones stand in one row, each sees only itself.

Few shapes of batches, so that the network is compiled for each and not for every length, and hardly
a position is padding. Attention costs the square of a row, so a text stands in the shortest rows
that hold it: lists of tools need the long ones, most texts do not. A step of the training takes
some batches of each shape as they come.
"""

import bisect
import copy

import numpy as np
import torch

ROWS = {128: 32, 256: 16, 512: 8, 1024: 4, 2048: 2}  # tokens of a row: rows of a batch, 4096 tokens
SOFT = 8  # classes of a soft label


class Encoded:
    """ids of prompt and answer; weights[i]: loss weight of predicting answer token i;
    soft: (token ids, probabilities) that the first answer token is trained to, or None; marks:
    (index, id, weight), what is predicted inside the prompt, after the token there."""

    def __init__(self, prompt, answer, weights, soft=None, marks=()):
        self.ids, self.first = prompt + answer, len(prompt)
        self.weights, self.soft, self.marks = weights, soft, marks
        self.foreign = False  # set for what the model is not asked to answer


def pack(examples, length, fillers=()):
    """Rows of `length` of all examples, by best fit, the longest first; what is left free takes
    fillers. `fillers` is a list in ascending order of length; those that were used leave it."""
    rows, space = [], []  # space: (free tokens, row), ascending
    for e in sorted(examples, key=lambda e: -len(e.ids)):
        at = bisect.bisect_left(space, (len(e.ids), -1))
        if at == len(space):
            rows.append([])
            free, row = length, len(rows) - 1
        else:
            free, row = space.pop(at)
        rows[row].append(e)
        bisect.insort(space, (free - len(e.ids), row))
    for free, row in space:
        while fillers:
            at = bisect.bisect_right(fillers, free, key=lambda e: len(e.ids)) - 1
            if at < 0:
                break
            rows[row].append(fillers.pop(at))
            free -= len(rows[row][-1].ids)
    return rows


def batches(examples, rng, whole=False, times=1):
    """Batches (lists of rows, with the length of a row) in random order, each of `times` 4096
    tokens. What is longer than the longest row is left out, and so is the last, incomplete batch of
    a shape, unless `whole` adds empty rows to it."""
    out, lengths = [], [0, *ROWS]
    shortest = lengths[1]
    fillers = sorted((e for e in examples if len(e.ids) <= shortest), key=lambda e: len(e.ids))
    for lower, length in reversed(list(zip(lengths, ROWS))):
        own = [e for e in examples if lower < len(e.ids) <= length]
        rows = pack(own, length, fillers) if length > shortest else pack(fillers, length)
        rng.shuffle(rows)
        count = ROWS[length] * times
        rows += [[]] * (-len(rows) % count if whole else 0)
        out += [(rows[at : at + count], length) for at in range(0, len(rows) - count + 1, count)]
    rng.shuffle(out)
    return out


class Batch:
    """Tokens and texts [rows, length]; and for each position with a loss, flat: its index `at`, its
    `weight`, and its target as `ids` and `shares` [n, SOFT]. Arrays of numpy, which pass from one
    process to another cheaply, until `to` makes tensors of them."""

    ARRAYS = ("tokens", "texts", "at", "weight", "ids", "shares")

    def __init__(self, rows, length, pad):
        self.tokens = np.full((len(rows), length), pad, np.int32)
        self.texts = np.full((len(rows), length), -1, np.int32)
        at, weight, hard, soft = [], [], [], []
        self.count = sum(len(row) for row in rows)
        for number, row in enumerate(rows):
            begin = 0
            for text, e in enumerate(row):
                end = begin + len(e.ids)
                self.tokens[number, begin:end] = e.ids
                self.texts[number, begin:end] = text
                first = number * length + begin
                if e.soft:
                    soft.append((len(at), e.soft))
                at += range(first + e.first - 1, first + e.first - 1 + len(e.weights))
                weight += e.weights
                hard += e.ids[e.first : e.first + len(e.weights)]
                for index, target, w in e.marks:
                    at.append(first + index)
                    weight.append(w)
                    hard.append(target)
                begin = end
        self.at, self.weight = np.array(at, np.int64), np.array(weight, np.float32)
        self.ids = np.zeros((len(at), SOFT), np.int64)
        self.shares = np.zeros((len(at), SOFT), np.float32)
        self.ids[:, 0], self.shares[:, 0] = hard, 1.0
        for place, (ids, shares) in soft:
            self.ids[place, : len(ids)], self.shares[place, : len(shares)] = ids, shares

    def to(self, device):
        """The same with tensors on a device."""
        moved = copy.copy(self)
        for name in self.ARRAYS:
            tensor = torch.from_numpy(getattr(self, name))
            setattr(moved, name, tensor.to(device, non_blocking=True))
        return moved
