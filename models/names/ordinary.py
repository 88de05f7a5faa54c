"""Writes ordinary.txt: words that stand in lower case in the training splits of public corpora and
in the texts that Tandem Nano is trained on. Run once; the list is part of the repository.

    python3 ordinary.py /usr/share/man/man[1578]/*.gz /usr/lib/python3.11/*.py > ordinary.txt
    python3 ordinary.py --foreign /usr/share/man/{de,fr,es,it,nl,pl,pt_BR,sv,da,nb,cs,ro,hu,fi,tr} >
    foreign.txt

Sources: GSM8K train (MIT), DCRouter's training questions (MIT), CLINC150 train (CC BY 3.0),
Banking77 train (CC BY 4.0), WNUT17 train, words outside names (CC BY 4.0); ../nano/*.py; manual
pages and Python's own comments (their words only). foreign.txt: the commonest words in lower case
of the manual pages in other languages."""

import collections
import csv
import gzip
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "nano"))
import corpora

WORD = re.compile(r"[A-Za-zÀ-ɏ][a-zA-ZÀ-ɏ]+(?:'[a-z]+)?")


def manual(path):
    """A manual page or the comments of a Python module."""
    if path.endswith(".gz"):
        return gzip.open(path, "rt", errors="replace").read(200000)
    text = pathlib.Path(path).read_text(errors="replace")
    return "\n".join(re.findall(r'""".*?"""|#[^\n]*', text, re.DOTALL))


FOREIGN_WORDS = 850  # of each language: the lexicon has room for so many
FOREIGN_PAGES = 4  # a word of one page is a command or a misprint


def foreign(folders):
    """The commonest words of each folder of manual pages that English pages do not have."""
    known = set((HERE / "ordinary.txt").read_text().split())
    kept = set()
    for folder in folders:
        pages = collections.Counter()
        for path in sorted(pathlib.Path(folder).glob("man*/*.gz")):
            try:
                text = gzip.open(path, "rt", errors="replace").read(200000)
            except OSError:  # a link to nothing
                continue
            lines = [line for line in text.splitlines() if not line.startswith(("'", '.\\"'))]
            pages.update(
                {
                    w
                    for w in WORD.findall("\n".join(lines))
                    if w.islower() and w.isalpha() and 1 < len(w) <= 16
                }
            )
        common = [w for w, n in pages.most_common() if n >= FOREIGN_PAGES and w not in known]
        kept |= set(common[:FOREIGN_WORDS])
    print("\n".join(sorted(kept)))


def main():
    if sys.argv[1:2] == ["--foreign"]:
        foreign(sys.argv[2:])
        return 0
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
    for page in sys.argv[1:]:
        add(manual(page))
    kept = sorted(
        w
        for w, n in lower.items()
        if w.isalpha() and len(w) <= 16 and ((n >= 3 and n * 2 >= upper[w]) or n >= 40)
    )
    print("\n".join(kept))
    return 0


if __name__ == "__main__":
    sys.exit(main())
