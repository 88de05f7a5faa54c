#!/usr/bin/env python3
"""Makes names.bin: lexicon, generated texts, training, all from one seed.

    python3 train.py --trainer ../../build/models/names/names_train [--texts 160000] [--rows 19] [--epochs 4]
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import generate
import languages
import organizations
import people
import places
import words

HERE = pathlib.Path(__file__).resolve().parent
(ORDINARY, GIVEN, SURNAME, CITY, REGION, ORG, KNOWN_ORG, STREET, TITLE, CUE, CUE_PLACE, TIME_PEOPLE, FUNCTION, PARTICLE, PRODUCT,
 PLACE_PART) = (1 << i for i in range(16))  # tagger_words.h
WORD = re.compile(r"[^\W\d_]+(?:['’](?=[^\W\d_]{2}))?[^\W\d_]*")


def lexicon():
    classes = {}

    def add(names, bit, skip=frozenset()):
        for name in names:
            for word in WORD.findall(name):
                word = word.replace("'", "").replace("’", "").lower()
                if len(word) > 1 and word not in skip:
                    classes[word] = classes.get(word, 0) | bit

    names = generate.name_words()
    greetings = [word for word in languages.greetings() if word not in names]
    function = words.FUNCTION + greetings + [word for word in languages.little() if word not in names]
    common = set(words.FUNCTION) | set(words.PARTICLE)
    parts = common | set(words.PLACE_PART)
    ordinary = generate.ordinary_words()
    add(ordinary | generate.foreign_words(), ORDINARY)
    for given, last in people.CULTURES.values():
        add(given, GIVEN, common)
        add(last, SURNAME, common)
    for given, last in people.SCRIPTS.values():
        add(given, GIVEN)
        add(last, SURNAME)
    add(places.CITIES, CITY, parts | {"city"})
    add(places.COUNTRIES + places.REGIONS, REGION, parts)
    add([n for n in organizations.KNOWN if " " not in n], KNOWN_ORG)
    add([n for n in organizations.KNOWN if " " in n], KNOWN_ORG, parts | set(words.ORG) | ordinary)
    for names, bit in ((words.ORG, ORG), (words.STREET, STREET), (words.TITLE, TITLE), (words.CUE + greetings, CUE), (words.CUE_PLACE, CUE_PLACE),
                       (words.TIME + words.PEOPLES, TIME_PEOPLE), (function, FUNCTION), (words.PARTICLE, PARTICLE),
                       (words.PRODUCT, PRODUCT), (words.PLACE_PART, PLACE_PART)):
        add(names, bit)
    return classes


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--trainer", default=str(HERE.parent.parent / "build" / "models" / "names" / "names_train"))
    options.add_argument("--texts", type=int, default=160000)
    options.add_argument("--rows", type=int, default=19, help="log2 of the rows of features")
    options.add_argument("--epochs", type=int, default=4)
    options.add_argument("--drop", type=int, default=30, help="of 100 features, how many a step does not see")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--out", default=str(HERE / "names.bin"))
    options.add_argument("--real", type=int, default=8, help="how often WNUT17's training sentences are seen for one time of a generated text")
    options.add_argument("--work", help="keep the texts here")
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(args.work or folder)
        work.mkdir(exist_ok=True)
        data = generate.corpora.data_dir() / "wnut17"
        (work / "lexicon.tsv").write_text("".join(f"{w}\t{c}\n" for w, c in sorted(lexicon().items())))
        with open(work / "train.tsv", "w") as file:
            texts = generate.Texts(args.seed, held=False)
            for _ in range(args.texts):
                file.write(generate.line(texts.text()) + "\n")
            real = [generate.line(s) for s in generate.wnut(data / "wnut17train.conll")]
            file.write("\n".join(real * args.real) + "\n")
        with open(work / "dev.tsv", "w") as file:
            texts = generate.Texts(args.seed + 1, held=True)
            for _ in range(1000):
                file.write(generate.line(texts.text()) + "\n")
            file.write("\n".join(generate.line(s) for s in generate.wnut(data / "emerging.dev.conll")) + "\n")
        return subprocess.run([args.trainer, work / "lexicon.tsv", work / "train.tsv", work / "dev.tsv", args.out, str(args.rows),
                               str(args.epochs), str(args.drop)]).returncode


if __name__ == "__main__":
    sys.exit(main())
