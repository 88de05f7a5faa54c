#!/usr/bin/env python3
"""Makes names.bin: lexicon, generated texts, training, all from one seed.

python3 train.py --trainer ../../build/models/names/names_train [--texts 240000] [--rows 19]
[--epochs 3]"""

import argparse
import pathlib
import re
import subprocess
import tempfile

import generate
import languages
import organizations
import people
import words

HERE = pathlib.Path(__file__).resolve().parent
(
    ORDINARY,
    GIVEN,
    SURNAME,
    CITY,
    REGION,
    ORG,
    KNOWN_ORG,
    STREET,
    TITLE,
    CUE,
    CUE_PLACE,
    TIME_PEOPLE,
    FUNCTION,
    PARTICLE,
    PRODUCT,
    PLACE_PART,
) = (1 << i for i in range(16))  # tagger_words.h
WORD = re.compile(r"[^\W\d_]+(?:['’](?=[^\W\d_]{2}))?[^\W\d_]*")


def lexicon(lists):
    classes = {}

    def add(names, bit, skip=frozenset()):
        for name in names:
            for word in WORD.findall(name):
                word = word.replace("'", "").replace("’", "").lower()
                if len(word) > 1 and word not in skip:
                    classes[word] = classes.get(word, 0) | bit

    names = generate.name_words(lists)
    greetings = [word for word in languages.greetings() if word not in names]
    function = (
        words.FUNCTION + greetings + [word for word in languages.little() if word not in names]
    )
    common = set(words.FUNCTION) | set(words.PARTICLE) | set(words.TITLE)
    parts = common | set(words.PLACE_PART)
    ordinary = generate.ordinary_words()
    add(ordinary | generate.foreign_words(), ORDINARY)
    for culture, (given, last) in lists.cultures.items():
        # Of the long lists those that are no words as well: "House" is somebody's name, and hardly
        # ever that.
        short, more = (
            set(names) - set(people.CULTURES["english"][i]) if culture == "english" else set()
            for i, names in enumerate(lists.posts)
        )
        add([n for n in given if n not in short], GIVEN, common)
        add([n for n in last if n not in more], SURNAME, common)
        add(short, GIVEN, common | ordinary)
        add(more, SURNAME, common | ordinary)
    for name in lists.famous:
        given, *last = name.split(" ")
        add([given], GIVEN, common | ordinary)
        add(last, SURNAME, common | ordinary)
    for given, last in people.SCRIPTS.values():
        add(given, GIVEN)
        add(last, SURNAME)
    add(lists.cities, CITY, parts | {"city"})
    add(lists.countries + lists.regions, REGION, parts)
    add(lists.informal, REGION, parts | ordinary)
    add([n for n in lists.known if " " not in n and n in organizations.KNOWN], KNOWN_ORG)
    add([n for n in lists.known if " " not in n], KNOWN_ORG, common | ordinary)
    # Of several words those that tell: not the "Calvin" of Calvin Klein, nor the "Chicago" of the
    # Chicago Bulls.
    elsewhere = {w for w, bits in classes.items() if bits & (GIVEN | SURNAME | CITY | REGION)}
    add(
        [n for n in lists.known if " " in n],
        KNOWN_ORG,
        parts | set(words.ORG) | ordinary | elsewhere,
    )
    for names, bit in (
        (words.ORG, ORG),
        (words.STREET, STREET),
        (words.TITLE, TITLE),
        (words.CUE + greetings, CUE),
        (words.CUE_PLACE, CUE_PLACE),
        (words.TIME + words.PEOPLES, TIME_PEOPLE),
        (function, FUNCTION),
        (words.PARTICLE, PARTICLE),
        (words.PRODUCT, PRODUCT),
        (words.PLACE_PART, PLACE_PART),
    ):
        add(names, bit)
    return classes


DEV_TEXTS = 1500


def made(seed, held, lists, count):
    texts = generate.Texts(seed, held, lists)
    return [generate.line(texts.text()) for _ in range(count)]


def write(path, lines):
    path.write_text("\n".join(lines) + "\n")


def train(args, work, unseen, out, calibrated):
    """A names file of all lists, or (unseen = False) one with one name in eight left out, measured
    on those too."""
    lists = generate.Lists(unseen)
    data = generate.corpora.data_dir() / "wnut17"
    (work / "lexicon.tsv").write_text(
        "".join(f"{w}\t{c}\n" for w, c in sorted(lexicon(lists).items()))
    )
    real = [generate.line(s) for s in generate.wnut(data / "wnut17train.conll")]
    write(work / "train.tsv", made(args.seed, False, lists, args.texts) + real * args.real)
    write(work / "templates.tsv", made(args.seed + 1, True, lists, DEV_TEXTS))
    write(
        work / "wnut17.tsv", [generate.line(s) for s in generate.wnut(data / "emerging.dev.conll")]
    )
    write(
        work / "prose.tsv",
        [row.split("\t")[1] + "\t" for row in (HERE / "prose.txt").read_text().splitlines()],
    )
    sets = ["templates.tsv", "wnut17.tsv", "prose.tsv"]
    if unseen is False:
        write(work / "unseen.tsv", made(args.seed + 2, True, generate.Lists(True), DEV_TEXTS))
        sets.append("unseen.tsv")
    print(f"-- {out.name}", flush=True)
    subprocess.run(
        [
            args.trainer,
            "lexicon.tsv",
            "train.tsv",
            out,
            str(args.rows),
            str(args.epochs),
            str(args.drop),
            str(args.org_cost),
            calibrated,
            *sets,
        ],
        cwd=work,
        check=True,
    )


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument(
        "--trainer", default=str(HERE.parent.parent / "build" / "models" / "names" / "names_train")
    )
    options.add_argument("--texts", type=int, default=240000)
    options.add_argument("--rows", type=int, default=19, help="log2 of the rows of features")
    options.add_argument("--epochs", type=int, default=3)
    options.add_argument(
        "--drop", type=int, default=30, help="of 100 features, how many a step does not see"
    )
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--out", default=str(HERE / "names.bin"))
    options.add_argument(
        "--real",
        type=int,
        default=6,
        help="how often WNUT17's training sentences are seen for one time of a generated text",
    )
    options.add_argument(
        "--org-cost",
        type=float,
        default=1.7,
        help="what an organisation that is missed counts beside a person or a place",
    )
    options.add_argument("--work", help="keep the texts here, and unseen.bin")
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(args.work or folder)
        work.mkdir(exist_ok=True)
        unseen = work / "unseen.bin"
        train(args, work, False, unseen, "-")
        train(args, work, None, pathlib.Path(args.out).resolve(), unseen)


if __name__ == "__main__":
    main()
