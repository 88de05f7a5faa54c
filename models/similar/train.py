#!/usr/bin/env python3
"""The table that makes paraphrases alike (src/router/judge/similarity.h), from the training splits
of CLINC150 and Banking77.

A row of 128 numbers for each word; of an utterance's different words they are added up, and the
signs are the sketch. Two utterances of one intent are pulled together and those of other intents in
the batch pushed apart (van den Oord et al. 2018, "Representation learning with contrastive
predictive coding", the InfoNCE loss), half on the sums themselves and half on their signs, whose
gradient is that of tanh (a straight-through estimator). Words are left out at random, so that no
single one decides.

    train.py [--half] -o similar.tds      needs numpy and torch; about 4 minutes of one core

--half trains on every second intent alone, and then says how well the other intents' test
utterances are told apart."""

import argparse
import collections
import csv
import json
import os
import random
import re
import struct
from pathlib import Path

import numpy as np
import torch

DATA = (
    Path(os.environ.get("TANDEM_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "data"
)
BITS, BATCH, TEMPERATURE, DROPPED = 128, 96, 0.1, 0.15
MASK = (1 << 64) - 1


def read(split):
    with open(DATA / "clinc150" / "data_full.json") as file:
        lines = [(text, "clinc " + label) for text, label in json.load(file)[split]]
    with open(DATA / "banking77" / f"{split}.csv", newline="") as file:
        lines += [(text, "banking " + label) for text, label in list(csv.reader(file))[1:]]
    return lines


def words(text):
    """As similarity.c reads them, but for the folding of characters that these texts do not
    have."""
    found = re.findall(r"[a-z0-9\x80-\U0010ffff]+", re.sub(r"'(?=[a-z0-9])", "", text.lower()))
    return sorted({"0" if word[0].isdigit() else word for word in found})


def bag(rows):
    starts = np.cumsum([0] + [len(row) for row in rows[:-1]])
    return torch.tensor(np.concatenate(rows)), torch.tensor(starts)


def signs(sums):
    soft = torch.tanh(sums / (sums.detach().abs().mean(1, keepdim=True) + 1e-6))
    return soft + (torch.sign(sums) - soft).detach()


def train(lines, steps, seed):
    """Vocabulary and its rows."""
    rng = random.Random(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    texts = [words(text) for text, _ in lines]
    seen = collections.Counter(word for text in texts for word in text)
    vocabulary = {
        word: i for i, word in enumerate(sorted(word for word, count in seen.items() if count >= 2))
    }
    rarity = torch.tensor(
        [np.log(len(texts) / (seen[word] + 1)) + 0.3 for word in vocabulary] + [0.0]
    )
    table = torch.nn.EmbeddingBag(len(vocabulary) + 1, BITS, mode="sum")
    with torch.no_grad():
        table.weight.copy_(torch.randn(len(vocabulary) + 1, BITS) * rarity[:, None] * 0.1)
    optimiser = torch.optim.Adam(table.parameters(), lr=3e-3)
    numbers = [
        [vocabulary[word] for word in text if word in vocabulary] or [len(vocabulary)]
        for text in texts
    ]
    of_intent = collections.defaultdict(list)
    for i, (_, label) in enumerate(lines):
        of_intent[label].append(i)
    intents = sorted(of_intent)
    entropy = torch.nn.functional.cross_entropy

    def dropped(row):
        return [word for word in row if rng.random() > DROPPED] or row

    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 3e-3 * min(1.0, 2 * (1 - step / steps))
        chosen = rng.sample(intents, BATCH)
        pairs = [rng.sample(of_intent[intent], 2) for intent in chosen]
        a = table(*bag([dropped(numbers[i]) for i, _ in pairs]))
        b = table(*bag([dropped(numbers[j]) for _, j in pairs]))
        target = torch.arange(BATCH)
        loss = torch.zeros(())
        for left, right in (
            (torch.nn.functional.normalize(a), torch.nn.functional.normalize(b)),
            (signs(a) / BITS**0.5, signs(b) / BITS**0.5),
        ):
            logits = left @ right.T / TEMPERATURE
            loss = loss + entropy(logits, target) / 4 + entropy(logits.T, target) / 4
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 500 == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    return (
        vocabulary,
        table.weight.detach().numpy()[:-1],
        np.array([seen[word] for word in vocabulary]),
    )


def fnv1a(word):
    value = 0xCBF29CE484222325
    for byte in word.encode()[:32]:
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


def hash_words(data):
    """hash_words64 of src/base/crypto/hash.c."""
    value, whole = 0xCBF29CE484222325 ^ len(data), len(data) // 8 * 8
    for at in range(0, whole, 8):
        value = ((value ^ int.from_bytes(data[at : at + 8], "little")) * 0x9E3779B97F4A7C15) & MASK
        value = (value << 29 | value >> 35) & MASK
    value ^= int.from_bytes(data[whole:], "little")
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & MASK
    return value ^ value >> 31


def quantise(rows, counts):
    """int8 rows, and the length of a word that the table does not know: three quarters of that of
    the rare ones that it does."""
    scale = 127 / np.quantile(np.abs(rows), 0.9995)
    whole = np.clip(np.rint(rows * scale), -127, 127).astype(np.int8)
    rare = rows[counts <= 4] * scale
    return whole, int(np.clip(np.rint(0.75 * np.sqrt((rare**2).mean())), 1, 127))


def write(path, vocabulary, rows, unknown):
    slot_count = 1
    while slot_count < 2 * len(vocabulary):
        slot_count *= 2
    slots = [(0, 0)] * slot_count
    for word, row in vocabulary.items():
        value = fnv1a(word)
        at = value & 0xFFFFFFFF & (slot_count - 1)
        while slots[at][0]:
            at = (at + 1) % slot_count
        slots[at] = (value >> 32, row)
    tail = struct.pack("<II", len(vocabulary), slot_count) + bytes(32)
    tail += b"".join(struct.pack("<II", *slot) for slot in slots) + rows.tobytes()
    head = b"TDSIMILR" + struct.pack("<IIQ", 1, unknown, hash_words(tail))
    Path(path).write_bytes(head + tail)


def sketch(text, vocabulary, rows, unknown):
    """What the program does, but for words outside the table, whose hash is another here."""
    total = np.zeros(BITS)
    for word in words(text):
        if word in vocabulary:
            total += rows[vocabulary[word]]
        else:
            total += unknown * np.random.RandomState(fnv1a(word) & 0xFFFFFFFF).choice([-1, 1], BITS)
    return total > 0


def tell_apart(lines, vocabulary, rows, unknown):
    """Of pairs of one intent and of two: the shares within so many bits."""
    rng = random.Random(1)
    of_intent = collections.defaultdict(list)
    for text, label in lines:
        of_intent[label].append(sketch(text, vocabulary, rows, unknown))
    intents = sorted(of_intent)
    same = [
        np.sum(a != b)
        for a, b in (rng.sample(of_intent[rng.choice(intents)], 2) for _ in range(8000))
    ]
    other = [
        np.sum(rng.choice(of_intent[a]) != rng.choice(of_intent[b]))
        for a, b in (rng.sample(intents, 2) for _ in range(8000))
    ]
    print(f"{len(intents)} intents, {len(lines)} test utterances")
    for bits in range(34, 51, 2):
        print(
            f"  within {bits} bits: {np.mean(np.array(same) <= bits):.3f} of one intent,"
            f" {np.mean(np.array(other) <= bits):.4f} of two"
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--out")
    args = parser.parse_args()
    lines, test = read("train"), read("test")
    if args.half:
        kept = set(sorted({label for _, label in lines})[::2])
        lines, test = [x for x in lines if x[1] in kept], [x for x in test if x[1] not in kept]
    vocabulary, rows, counts = train(lines, args.steps, args.seed)
    rows, unknown = quantise(rows, counts)
    print(f"{len(vocabulary)} words, an unknown one weighs {unknown}")
    if args.out:
        write(args.out, vocabulary, rows, unknown)
    tell_apart(test, vocabulary, rows, unknown)


if __name__ == "__main__":
    main()
