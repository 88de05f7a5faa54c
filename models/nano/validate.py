"""What training is judged by: CLINC150's validation split and generated examples that are held out.

Greedy answers are checked along the wanted one: if every wanted token is the most probable one
after those before it, greedy decoding gives exactly that answer. One pass, no decoding.
"""

import functools

import torch

import data
import stream
import task_intent
import task_other
from chat_render import render
from corpora import clinc
from packing import Batch, Encoded, batches
from pools import seeded
from precision import mixed

HELD_OUT = 96  # examples of each task
CALLS_HELD_OUT = 500
BARE_EVERY = 8  # one in so many of CLINC150's validation lines stands alone


def auroc(inside, outside):
    """The chance that a random in-scope confidence exceeds a random out-of-scope one."""
    a, b = torch.tensor(inside).sort().values, torch.tensor(outside)
    below = torch.searchsorted(a, b, right=False)
    through = torch.searchsorted(a, b, right=True)
    return 1 - ((below + through).double().mean() / 2 / len(a)).item()


@functools.cache
def sets(model):
    """{name: [(task, messages, answer)]}: CLINC150's lines asked for their intent, and some of them
    alone, which asks for none. Calls of tools have more of the generated ones."""
    if model == "nano-tools":
        return stream.held_out(CALLS_HELD_OUT, {"tools"})
    rows = clinc("val")
    asked = [
        (
            "intent" if l else "other",
            task_intent.wrap(seeded("asked", n), u, "held"),
            l or task_other.SENTENCE,
        )
        for n, (u, l) in enumerate(rows)
    ]
    alone = [
        ("other", [("user", u)], task_other.SENTENCE)
        for u, l in rows[::BARE_EVERY]
        if l not in task_intent.OWN_JOBS
    ]
    return {"clinc": asked, "bare": alone} | stream.held_out(HELD_OUT, data.MIXES[model])


@torch.no_grad()
def judge(net, vocab, examples):
    """For each example that fits: (is it not ours, greedy answer right, probability of the first
    token that is most probable, probability of not mine)."""
    net.eval()
    device = net.token_embd.weight.device
    encoded = []
    for task, messages, answer in examples:
        ids = vocab.encode_answer(task, answer)
        if task == "other":
            ids = ids[:1]  # what follows is for the user's eyes
        encoded.append(Encoded(vocab.encode_prompt(render(messages)), ids, [1.0] * len(ids)))
        encoded[-1].foreign = task == "other"
    out = []
    for rows, length in batches(encoded, seeded("judge"), whole=True):
        batch = Batch(rows, length, vocab.pad).to(device)
        with mixed(device):
            x = net.residuals(batch.tokens, batch.texts)[-1].flatten(0, 1)[batch.at]
            p = net.logits(net.output_norm(x)).softmax(-1)
        best, ids = p.max(-1)
        hits = (ids == batch.ids[:, 0]).tolist()
        at = 0
        for e in (e for row in rows for e in row):
            right = all(hits[at : at + len(e.weights)])
            out.append((e.foreign, right, best[at].item(), p[at, vocab.not_mine].item()))
            at += len(e.weights)
    net.train()
    return out


def validate(net, vocab, model):
    """(score, words): one number to choose weights by, and what it is made of."""
    parts, words = [], []
    for name, examples in sets(model).items():
        results = judge(net, vocab, examples)
        inside = [r for r in results if not r[0]]
        outside = [r for r in results if r[0]]
        if inside:
            parts.append(sum(r[1] for r in inside) / len(inside))
            words.append(f"{name} {parts[-1]:.3f}")
        if outside:
            refused = sum(r[1] for r in outside) / len(outside)
            words.append(f"{name} refused {refused:.3f}")
            if not inside:
                parts.append(refused)
        if inside and outside:
            sure = [
                [(1 - r[3]) * (r[2] if r[2] != r[3] else 1) for r in part]
                for part in (inside, outside)
            ]
            parts.append(auroc(*sure))
            words.append(f"auroc {parts[-1]:.3f}")
    return sum(parts) / len(parts), ", ".join(words)
