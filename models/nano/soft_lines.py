"""Lines with probabilities of labels, as teacher.py made them, for training.

WORK/soft_TASK.npz holds the texts (UTF-8, one a line), the class numbers and their probabilities,
[lines, 8] each. The labels are those of the task, in order, and then None: "not ours".

numpy is imported where a file is read or written: the generators, and the grading of answers by
them (models/router/measure.py), work without it.
"""

import functools
import os
import pathlib

from corpora import banking_labels, clinc_labels

LEAST = 1e-3  # a smaller share of a soft label is noise
WORK = os.environ.get("NANO_WORK", "work")  # where teacher.py writes and training reads


class SoftLines:
    def __init__(self, texts, ids, probabilities, labels):
        self.texts, self.ids, self.probabilities, self.labels = texts, ids, probabilities, labels

    def save(self, path):
        import numpy as np

        np.savez_compressed(
            path,
            texts=np.frombuffer("\n".join(self.texts).encode(), np.uint8),
            ids=self.ids.astype(np.int16),
            p=self.probabilities.astype(np.float16),
        )

    def draw(self, rng):
        """(text, [(label, probability)]), the likeliest label first; they add up to 1."""
        row = rng.randrange(len(self.texts))
        found = [
            (self.labels[i], float(p))
            for i, p in zip(self.ids[row], self.probabilities[row])
            if p > LEAST
        ]
        total = sum(p for _, p in found)
        return self.texts[row], sorted(((l, p / total) for l, p in found), key=lambda s: -s[1])


def path_of(name, out_dir=WORK):
    return pathlib.Path(out_dir) / f"soft_{name}.npz"


def load(name, labels, out_dir=WORK):
    """The lines of a task, or None where teacher.py has not run."""
    path = path_of(name, out_dir)
    if not path.exists():
        return None
    import numpy as np

    saved = np.load(path)
    texts = saved["texts"].tobytes().decode().split("\n")
    return SoftLines(texts, saved["ids"], saved["p"].astype(np.float32), labels + [None])


@functools.cache
def for_training(name):
    """The lines of a task in WORK; read once a process."""
    task = {"intent": clinc_labels, "banking": banking_labels}[name]
    found = load(name, task())
    if found is None:
        raise SystemExit(f"{path_of(name)} is missing: run `make teacher` first")
    return found


def draw(rng, split, name, rows):
    """(text, answer, soft) of a task: a soft line for training, a validation line else. Answer
    None: not ours; soft None: the answer is the whole truth."""
    if split == "train":
        text, soft = for_training(name).draw(rng)
        return text, soft[0][0], soft
    return (*rng.choice(rows("val")), None)
