"""Examples as rows of tokens: several short ones stand in one row, each sees only itself.

Few shapes of batches, so that the network is compiled for each and not for every length, and hardly
a position is padding. Attention costs the square of a row, so a text stands in the shortest rows
that hold it: lists of tools need the long ones, most texts do not. A step of the training takes
some batches of each shape as they come.
"""

import bisect

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


def batches(examples, rng, whole=False):
    """Batches (lists of rows, with the length of a row) in random order. What is longer than the
    longest row is left out, and so is the last, incomplete batch of a shape, unless `whole` adds
    empty rows to it."""
    out, lengths = [], [0, *ROWS]
    shortest = lengths[1]
    fillers = sorted((e for e in examples if len(e.ids) <= shortest), key=lambda e: len(e.ids))
    for lower, length in reversed(list(zip(lengths, ROWS))):
        own = [e for e in examples if lower < len(e.ids) <= length]
        rows = pack(own, length, fillers) if length > shortest else pack(fillers, length)
        rng.shuffle(rows)
        count = ROWS[length]
        rows += [[]] * (-len(rows) % count if whole else 0)
        out += [(rows[at : at + count], length) for at in range(0, len(rows) - count + 1, count)]
    rng.shuffle(out)
    return out


class Batch:
    """On one device: tokens and texts [rows, length]; and for each position with a loss, flat: its
    index `at`, its `weight`, and its target as `ids` and `shares` [n, SOFT]."""

    def __init__(self, rows, length, pad, device="cpu"):
        self.tokens = torch.full((len(rows), length), pad)
        self.texts = torch.full((len(rows), length), -1)
        at, weight, ids, shares = [], [], [], []
        self.count = sum(len(row) for row in rows)
        for number, row in enumerate(rows):
            begin = 0
            for text, e in enumerate(row):
                end = begin + len(e.ids)
                self.tokens[number, begin:end] = torch.tensor(e.ids)
                self.texts[number, begin:end] = text
                for i, w in enumerate(e.weights):
                    soft = e.soft if i == 0 and e.soft else ([e.ids[e.first + i]], [1.0])
                    at.append(number * length + begin + e.first + i - 1)
                    weight.append(w)
                    ids.append(soft[0] + [0] * (SOFT - len(soft[0])))
                    shares.append(soft[1] + [0.0] * (SOFT - len(soft[1])))
                for index, target, w in e.marks:
                    at.append(number * length + begin + index)
                    weight.append(w)
                    ids.append([target] + [0] * (SOFT - 1))
                    shares.append([1.0] + [0.0] * (SOFT - 1))
                begin = end
        self.at, self.weight = torch.tensor(at), torch.tensor(weight)
        self.ids, self.shares = torch.tensor(ids), torch.tensor(shares)
        for name in ("tokens", "texts", "at", "weight", "ids", "shares"):
            setattr(self, name, getattr(self, name).to(device))
