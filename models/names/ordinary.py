"""Writes ordinary.txt: words that stand in lower case in the training splits of public corpora and in
the texts that Tandem Nano is trained on. Run once; the list is part of the repository.

    python3 ordinary.py /usr/share/man/man[1578]/*.gz /usr/lib/python3.11/*.py > ordinary.txt

Sources: GSM8K train (MIT), DCRouter's training questions (MIT), CLINC150 train (CC BY 3.0), Banking77 train (CC BY 4.0), WNUT17 train, words outside names
(CC BY 4.0); ../nano/*.py; manual
pages and Python's own comments (their words only)."""
import collections
import csv
import gzip
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "nano"))
import corpora  # noqa: E402

WORD = re.compile(r"[A-Za-zÀ-ɏ][a-zA-ZÀ-ɏ]+(?:'[a-z]+)?")


def manual(path):
    """A manual page or the comments of a Python module."""
    if path.endswith(".gz"):
        return gzip.open(path, "rt", errors="replace").read(200000)
    text = pathlib.Path(path).read_text(errors="replace")
    return "\n".join(re.findall(r'""".*?"""|#[^\n]*', text, re.S))


def main():
    lower, upper = collections.Counter(), collections.Counter()

    def add(text, weight=1):
        for word in WORD.findall(text):
            (lower if word[0].islower() else upper)[word.lower()] += weight

    for text in corpora.gsm8k_train():
        add(text)
    data = corpora.data_dir()
    with open(data / "banking77" / "train.csv", newline="") as file:
        for row in csv.reader(file):
            add(row[0])
    clinc = collections.Counter(w for text, _ in corpora.clinc("train") for w in WORD.findall(text))
    for sentence in corpora.wnut_train():
        for token, tag in sentence:
            if tag == "O":
                add(token)
    for path in sorted((HERE.parent / "nano").glob("*.py")):
        if path.name not in ("names.py",):
            add(path.read_text())
    for word, count in clinc.items():  # all of CLINC150 is in lower case: names as well
        if count >= 3 and word not in upper:
            lower[word] += count
    for row in json.loads((data / "llmrouter" / "dcrouter_train.json").read_text()):
        add(row["question"])
    for path in sys.argv[1:]:
        add(manual(path))
    kept = sorted(w for w, n in lower.items() if w.isalpha() and len(w) <= 16
                  and ((n >= 3 and n * 2 >= upper[w]) or n >= 40))
    print("\n".join(kept))
    return 0


if __name__ == "__main__":
    sys.exit(main())
