"""Teachers of the intent tasks: ensembles of small networks on bags of n-grams.

    python teacher.py --out work        # both sets, minutes on one core; validation is printed

A decoder of 5 million parameters that starts from nothing overfits 15,000 short lines. A bag of
words, word pairs and letter n-grams (2 to 5 inside a word) with one hidden layer does not, so it
teaches: it labels lines that nobody wrote (intent_variants.py) with probabilities, and the
decoder learns those (Hinton et al. 2015, arXiv 1503.02531). None is one more class: "not ours".

Trained on training splits only: CLINC150 with the out-of-scope training lines of `data_full` and
`data_oos_plus` (250 together), Banking77, and our own foreign questions. Validation chose the
settings: CLINC150's own split, one line in ten of Banking77's training lines (HELD_EVERY).
"""

import argparse
import collections
import itertools
import json
import math
import pathlib
import re
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import corpora
import soft_lines
import task_banking
import task_intent
import task_other
from intent_variants import joined, noisy, reworded
from pools import seeded
from soft_lines import SoftLines

TOP = 8  # classes kept of a soft label; what is left over is under 1 % nearly always
GRAM_MIN, GRAM_MAX = 2, 5
SEEN_MIN = 5  # texts, COPIES of a line among them: an n-gram of one line cannot help another
BATCH = 256
TEXT_CHARS_MAX = 300  # longer texts are cut: nothing in either set is longer by much
UNKNOWN = "?"  # the label of a line of which only the teacher knows something
OWN_SHARE = 0.4  # of the probability goes to the label of a line where that is known
COPIES = 4  # variants of the training lines in one pass, the line itself among them


def words_of(text):
    return re.findall(r"[a-z]+|[0-9]|[^\sa-z0-9]", text.lower().replace("'", ""))


class Grams:
    """Text -> sparse vector of word, word pair and letter n-gram weights (tf-idf, unit length)."""

    def __init__(self, texts):
        counts = collections.Counter()
        self.cache = {}
        for text in texts:
            counts.update(set(self.split(text)))
        kept = sorted(g for g, n in counts.items() if n >= SEEN_MIN)
        self.index = {g: i for i, g in enumerate(kept)}
        self.rarity = np.array(
            [math.log((1 + len(texts)) / (1 + counts[g])) + 1 for g in kept], dtype=np.float32
        )

    def of_word(self, word):
        found = self.cache.get(word)
        if found is None:
            padded = f"<{word}>"
            found = ["w" + word] + [
                padded[i : i + n]
                for n in range(GRAM_MIN, GRAM_MAX + 1)
                for i in range(len(padded) - n + 1)
            ]
            self.cache[word] = found
        return found

    def split(self, text):
        words = words_of(text[:TEXT_CHARS_MAX])
        out = [g for w in words for g in self.of_word(w)]
        ends = ["^"] + words + ["$"]
        return out + [a + " " + b for a, b in itertools.pairwise(ends)]

    def encode(self, texts):
        """(ids, weights, offsets): row r is ids[offsets[r]:offsets[r + 1]]."""
        ids, weights, offsets = [], [], [0]
        for text in texts:
            counts = collections.Counter(self.index[g] for g in self.split(text) if g in self.index)
            row = np.fromiter(counts.keys(), np.int64, len(counts))
            weight = 1 + np.log(np.fromiter(counts.values(), np.float32, len(counts)))
            weight *= self.rarity[row]
            weight /= max(np.sqrt((weight * weight).sum()), 1e-6)
            ids.append(row)
            weights.append(weight)
            offsets.append(offsets[-1] + len(row))
        return np.concatenate(ids), np.concatenate(weights), np.array(offsets)


def rows(encoded, chosen):
    """The arguments of EmbeddingBag for some rows of Grams.encode()."""
    ids, weights, offsets = encoded
    parts = [slice(offsets[r], offsets[r + 1]) for r in chosen]
    lengths = np.cumsum([0] + [p.stop - p.start for p in parts[:-1]])
    return (
        torch.from_numpy(np.concatenate([ids[p] for p in parts])),
        torch.from_numpy(np.concatenate([weights[p] for p in parts])),
        torch.from_numpy(lengths),
    )


class Bag(nn.Module):
    """n-grams -> hidden layer -> classes; hidden = 0: straight to the classes (linear)."""

    def __init__(self, grams, classes, hidden, drop_grams):
        super().__init__()
        self.hidden, self.drop_grams = hidden, drop_grams
        self.embed = nn.EmbeddingBag(grams, hidden or classes, mode="sum")
        nn.init.normal_(self.embed.weight, std=2 / math.sqrt(hidden) if hidden else 0.0)
        self.bias = nn.Parameter(torch.zeros(hidden or classes))
        if hidden:
            self.out = nn.Linear(hidden, classes)

    def forward(self, ids, weights, offsets):
        if self.training:
            kept = torch.rand_like(weights) > self.drop_grams
            weights = weights * kept / (1 - self.drop_grams)
        x = self.embed(ids, offsets, per_sample_weights=weights) + self.bias
        return self.out(F.dropout(F.relu(x), 0.5, self.training)) if self.hidden else x


# One line a member: hidden width, share of n-grams dropped, peak learning rate.
MEMBERS = [(192, 0.3, 4e-3), (192, 0.4, 4e-3), (0, 0.2, 5e-2)]


def fit(model, encoded, classes, peak, passes):
    """Adam, learning rate to zero in a straight line."""
    count = len(classes)
    target = torch.tensor(classes)
    optimizer = torch.optim.Adam(model.parameters(), lr=peak, fused=True)
    steps, done = passes * (count // BATCH), 0
    model.train()
    for _ in range(passes):
        order = np.random.permutation(count)
        for at in range(0, count - BATCH + 1, BATCH):
            for group in optimizer.param_groups:
                group["lr"] = peak * max(0.02, 1 - done / steps)
            chosen = order[at : at + BATCH]
            loss = F.cross_entropy(model(*rows(encoded, chosen)), target[chosen])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            done += 1
            if done % 200 == 0:
                print(f"step {done} of {steps}, loss {loss.item():.3f}", flush=True)


def foreign_questions(rng, count):
    """Foreign questions on one line each, from the generator of the task "other"."""
    found = [
        task_other.question(rng, "train", task_other.training_corpus())[:TEXT_CHARS_MAX]
        for _ in range(count)
    ]
    return [" ".join(t.split()) for t in found if t.split()]


def far_from_banks():
    """CLINC150's training lines of domains that have nothing to do with banks."""
    domains = json.loads((corpora.data_dir() / "clinc150" / "domains.json").read_text())
    near = set(domains["banking"] + domains["credit_cards"] + domains["travel"])
    return [t for t, label in task_intent.rows("train") if label and label not in near]


def training_lines(task, rng):
    """(text, label) the teacher learns from; None: not ours. The out-of-scope lines of CLINC150
    are few and the best there is, so they come three times."""
    if task is task_banking:
        none = rng.sample(far_from_banks(), 800) + foreign_questions(rng, 500)
    else:
        none = [t for t, label in task.rows("train") if label is None] * 2
        none += foreign_questions(rng, 1500)
    return task.rows("train") + [(t, None) for t in none]


def group(lines):
    """label -> texts"""
    found = collections.defaultdict(list)
    for text, label in lines:
        found[label].append(text)
    return found


def own_variant(rng, text, siblings):
    """A variant that keeps the label; the line itself every fourth time."""
    kind = rng.random()
    if kind < 0.25:
        return text
    if kind < 0.75:
        text = reworded(rng, text)
        return noisy(rng, text) if rng.random() < 0.3 else text
    if kind < 0.9:
        return joined(rng, text, rng.choice(siblings))
    return noisy(rng, text)


class Teacher:
    """The mean of the members' probabilities. `labels` are the classes; None, "not ours", is
    last."""

    def __init__(self, grams, models, labels):
        self.grams, self.models, self.labels = grams, models, labels

    @classmethod
    def train(cls, task, seed):
        """A new ensemble for a task module (task_intent, task_banking)."""
        rng = seeded("teacher", task.NAME, seed)
        lines = training_lines(task, rng)
        by_label = group(lines)
        labels = task.labels() + [None]
        number = {l: i for i, l in enumerate(labels)}
        texts = [
            own_variant(rng, t, by_label[l]) if copy else t
            for copy in range(COPIES)
            for t, l in lines
        ]
        grams = Grams(texts)
        encoded = grams.encode(texts)
        classes = [number[l] for _, l in lines] * COPIES
        models = []
        for member, (hidden, drop, peak) in enumerate(MEMBERS):
            torch.manual_seed(seed * 100 + member)
            np.random.seed(seed * 100 + member)
            model = Bag(len(grams.index), len(labels), hidden, drop)
            fit(model, encoded, classes, peak, task.TEACHER_PASSES)
            models.append(model.eval())
        return cls(grams, models, labels)

    @classmethod
    def load_or_train(cls, task, out_dir, seed):
        """The ensemble of out_dir/teacher_<task>.pt; made, and written there, if it is missing."""
        path = pathlib.Path(out_dir) / f"teacher_{task.NAME}.pt"
        if not path.exists():
            teacher = cls.train(task, seed)
            torch.save(
                {
                    "grams": list(teacher.grams.index),
                    "rarity": teacher.grams.rarity,
                    "states": [m.state_dict() for m in teacher.models],
                },
                path,
            )
            return teacher
        saved = torch.load(path, weights_only=False)  # our own file
        grams = Grams([])
        grams.index = {g: i for i, g in enumerate(saved["grams"])}
        grams.rarity = saved["rarity"]
        models = []
        for (hidden, drop, _), state in zip(MEMBERS, saved["states"]):
            model = Bag(len(grams.index), len(task.labels()) + 1, hidden, drop)
            model.load_state_dict(state)
            models.append(model.eval())
        return cls(grams, models, task.labels() + [None])

    @torch.no_grad()
    def probabilities(self, texts):
        """[n, classes] float32."""
        parts = []
        for at in range(0, len(texts), 2048):
            encoded = self.grams.encode(texts[at : at + 2048])
            batch = rows(encoded, range(len(encoded[2]) - 1))
            parts.append(sum(m(*batch).softmax(-1) for m in self.models) / len(self.models))
        return torch.cat(parts)

    def soft(self, texts):
        """The TOP classes of each text: (ids [n, TOP], probabilities [n, TOP] that add up to 1)."""
        p, ids = self.probabilities(texts).topk(TOP)
        return ids.numpy().astype(np.int16), (p / p.sum(1, keepdim=True)).numpy()


def make_soft(task, teacher, seed, count):
    """SoftLines of `count` lines, the training lines themselves first."""
    rng = seeded("soft lines", task.NAME, seed)
    lines = training_lines(task, rng)
    by_label = group(lines)
    made = lines + [invent(rng, lines, by_label) for _ in range(count - len(lines))]
    made = [(t[:TEXT_CHARS_MAX], label) for t, label in made if t.strip()]
    ids, p = teacher.soft([t for t, _ in made])
    number = {l: i for i, l in enumerate(teacher.labels)}
    for row, (_, label) in enumerate(made):
        if label == UNKNOWN:
            continue
        p[row] *= 1 - OWN_SHARE
        at = np.flatnonzero(ids[row] == number[label])
        if len(at) == 0:  # the least likely class makes room
            at = TOP - 1
            ids[row, at], p[row, at] = number[label], 0
        p[row, at] += OWN_SHARE
    return SoftLines([t for t, _ in made], ids, p, teacher.labels)


def load_or_make(task, out_dir, seed, count):
    """The lines of out_dir; made, with the teacher, if they are missing."""
    path = soft_lines.path_of(task.NAME, out_dir)
    if not path.exists():
        make_soft(task, Teacher.load_or_train(task, out_dir, seed), seed, count).save(path)
    return soft_lines.load(task.NAME, task.labels(), out_dir)


def invent(rng, lines, by_label):
    """(text, label or UNKNOWN): a line that nobody wrote."""
    text, label = rng.choice(lines)
    kind = rng.random()
    if kind < 0.7:
        return own_variant(rng, text, by_label[label]), label
    other = rng.choice(lines)[0] if kind < 0.85 else rng.choice(by_label[None])
    return (joined(rng, text, other) if rng.random() < 0.5 else joined(rng, other, text)), UNKNOWN


def report(task, teacher):
    """Prints the teacher's validation figures."""
    lines = task.rows("val")
    p = teacher.probabilities([t for t, _ in lines])
    number = {l: i for i, l in enumerate(teacher.labels)}
    gold = torch.tensor([number[l] for _, l in lines])
    inside = gold != number[None]
    right = (p.argmax(1) == gold)[inside].float().mean()
    closed = (p[:, :-1].argmax(1) == gold)[inside].float().mean()
    print(f"{task.NAME}: validation accuracy={right:.4f} without_none={closed:.4f}", end="")
    if not inside.all():
        sure = p[:, :-1].max(1)[0]
        a, b = sure[inside][:, None], sure[~inside][None]
        area = ((a > b).float() + 0.5 * (a == b).float()).mean()
        recall = (p.argmax(1) == gold)[~inside].float().mean()
        print(f" oos_recall={recall:.4f} oos_auroc={area:.4f}", end="")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=soft_lines.WORK)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000000, help="soft lines of each task")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    pathlib.Path(args.out).mkdir(parents=True, exist_ok=True)
    for task in (task_intent, task_banking):
        began = time.time()
        report(task, Teacher.load_or_train(task, args.out, args.seed))
        soft = load_or_make(task, args.out, args.seed, args.count)
        print(f"{task.NAME}: {len(soft.texts)} soft lines, {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
