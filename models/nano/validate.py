"""What training is judged by: CLINC150's validation split and generated examples that are held out.

Greedy answers are checked along the wanted one: if every wanted token is the most probable one
after those before it, greedy decoding gives exactly that answer. One pass, no decoding.
"""

import functools

import torch

import data
import stream
from packing import ROWS, Batch, Encoded, batches
from pools import seeded

HELD_OUT = 96  # examples of each task


def auroc(inside, outside):
    """The chance that a random in-scope confidence exceeds a random out-of-scope one."""
    a, b = torch.tensor(inside).sort().values, torch.tensor(outside)
    below = torch.searchsorted(a, b, right=False)
    through = torch.searchsorted(a, b, right=True)
    return 1 - ((below + through).double().mean() / 2 / len(a)).item()


@functools.cache
def sets():
    """{name: [(task, messages, answer)]}"""
    clinc = [
        ("intent" if l else "other", [("user", u)], l or "")
        for u, l in stream.corpora().clinc["val"]
    ]
    return {"clinc": clinc} | stream.held_out(HELD_OUT)


@torch.no_grad()
def judge(net, vocab, examples):
    """For each example that fits: (is it not ours, greedy answer right, probability of the first
    token that is most probable, probability of not mine)."""
    net.eval()
    encoded = []
    for task, messages, answer in examples:
        ids = vocab.encode_answer(task, answer)
        if task == "other":
            ids = ids[:1]  # what follows is for the user's eyes
        encoded.append(Encoded(vocab.encode_prompt(data.render(messages)), ids, [1.0] * len(ids)))
        encoded[-1].foreign = task == "other"
    out = []
    padded = encoded + [
        Encoded([vocab.pad] * n, [vocab.pad], [0.0])
        for n in (length - 1 for length in ROWS)
        for _ in range(40)
    ]  # so that the last batch of each shape is whole
    for rows, length in batches(padded, seeded("judge")):
        batch = Batch(rows, length, vocab.pad)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = net.residuals(batch.tokens, batch.texts)[-1].flatten(0, 1)[batch.at]
            p = net.logits(net.output_norm(x)).softmax(-1)
        best, ids = p.max(-1)
        hits = (ids == batch.ids[:, 0]).tolist()
        at = 0
        for e in (e for row in rows for e in row):
            if e.weights[0] > 0:
                out.append(
                    (
                        e.foreign,
                        all(hits[at : at + len(e.weights)]),
                        best[at].item(),
                        p[at, vocab.not_mine].item(),
                    )
                )
            at += len(e.weights)
    net.train()
    return out


def validate(net, vocab):
    """(score, words): one number to choose weights by, and what it is made of."""
    parts, words = [], []
    for name, examples in sets().items():
        results = judge(net, vocab, examples)
        inside = [r for r in results if not r[0]]
        outside = [r for r in results if r[0]]
        if inside:
            parts.append(sum(r[1] for r in inside) / len(inside))
            words.append(f"{name} {parts[-1]:.3f}")
        if outside:
            words.append(f"{name} refused {sum(r[1] for r in outside) / len(outside):.3f}")
        if inside and outside:
            sure = [
                [(1 - r[3]) * (r[2] if r[2] != r[3] else 1) for r in part]
                for part in (inside, outside)
            ]
            parts.append(auroc(*sure))
            words.append(f"auroc {parts[-1]:.3f}")
    return sum(parts) / len(parts), ", ".join(words)
