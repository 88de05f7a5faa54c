"""The public corpora under ../shared/data, each read once, training and validation apart.

Generators read only what is named train here. Test splits are read by evaluate.py and the bench.
"""

import collections
import csv
import functools
import json
import os
import pathlib
import re


def data_dir():
    """$TANDEM_SHARED/data, or ../shared/data beside the repository."""
    if "TANDEM_SHARED" in os.environ:
        return pathlib.Path(os.environ["TANDEM_SHARED"]) / "data"
    return pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"


@functools.cache
def clinc(split):
    """CLINC150's lines of a split (train, val, test) as (utterance, label); None: out of scope.
    The out-of-scope training lines are the 250 of data_oos_plus, which hold data_full's 100."""
    folder = data_dir() / "clinc150"
    full = json.loads((folder / "data_full.json").read_text())
    outside = full["oos_" + split]
    if split == "train":
        outside = json.loads((folder / "data_oos_plus.json").read_text())["oos_train"]
    return [(u, l) for u, l in full[split]] + [(u, None) for u, _ in outside]


@functools.cache
def clinc_labels():
    return sorted({l for _, l in clinc("train") if l})


@functools.cache
def clinc_domains():
    """{label: its domain}"""
    found = json.loads((data_dir() / "clinc150" / "domains.json").read_text())
    return {label: domain for domain, labels in found.items() for label in labels}


@functools.cache
def clinc_inside():
    return [u for u, l in clinc("train") if l]


@functools.cache
def clinc_outside():
    return [u for u, l in clinc("train") if not l]


BANKING_HELD_EVERY = 10  # Banking77 has no validation split: one training line in ten is it


@functools.cache
def banking(split):
    """Banking77's lines of a split (train, val, test) as (text, label), without line breaks."""
    name = "test.csv" if split == "test" else "train.csv"
    with open(data_dir() / "banking77" / name, newline="", encoding="utf-8") as file:
        rows = [(" ".join(r["text"].split()), r["category"]) for r in csv.DictReader(file)]
    if split == "test":
        return rows
    return [
        row
        for i, row in enumerate(rows)  # the file is sorted by label
        if (i % BANKING_HELD_EVERY == 5) == (split == "val")
    ]


@functools.cache
def banking_labels():
    return sorted({l for _, l in banking("train")})


@functools.cache
def gsm8k_train():
    """The training questions, without line breaks."""
    with open(data_dir() / "gsm8k" / "train.jsonl") as file:
        return [json.loads(line)["question"].replace("\n", " ") for line in file]


@functools.cache
def wnut_train():
    """WNUT17's training sentences: lists of (token, tag), tags B-person, I-person, O, ..."""
    text = (data_dir() / "wnut17" / "wnut17train.conll").read_text()
    blocks = re.split(r"\n\s*\n", text.strip())
    rows = [
        [tuple(line.split("\t")) for line in block.splitlines() if "\t" in line.strip()]
        for block in blocks
    ]
    return [row for row in rows if row]


@functools.cache
def common_words():
    """The most frequent plain words of the training texts, most frequent first: what the tokenizer
    has tokens for, so that a small model can learn to spell them."""
    text = " ".join(clinc_inside()) + " " + " ".join(gsm8k_train()[:3000])
    counts = collections.Counter(re.findall(r"\b[a-z]{2,11}\b", text))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [word for word, _ in ranked[:1500]]
