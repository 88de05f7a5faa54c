#!/usr/bin/env python3
"""Writes wordpiece.json: a small vocabulary and texts with the ids that Hugging Face's tokenizers
gives (pip install tokenizers), an implementation that shares no code with ours. Random texts keep
to code points whose category has not changed since Unicode 3.2, because its tables are older than
ours. Checked once against the same with a real vocabulary (bge-small, 30,522 tokens): 600 random
texts and the 47 cases that llama.cpp keeps for it, no difference.

    make_wordpiece.py > wordpiece.json
"""

import json
import random
import unicodedata

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = """the quick brown fox jumps over lazy dog a cafe resume naive strasse straße τελος εισ
москва привет
2024 3 . , ! ? ' - ( ) [ ] $ % + = @ # _ ~ ` " / \\ & * ; : < > ^ | { } ™ ½ — “ ” …
北 京 東 日 本 語 ᄀ ひ un a b c
Cafe É é ñ Москва I i İ u 😀""".split()
PIECES = """s ed ing ly able e r n o aff ford a b c ca fe k t u i é É 가 각 ᅡ ᆨ
 本 ら がな か た σ ω 😀 a\u0301 # ##""".split()
EDGES = [
    "",
    " ",
    "\n\t ",
    "the quick brown fox jumps over the lazy dog.",
    "The QUICK Brown Fox!",
    "unaffable",
    "un aff able",
    "Café résumé naïve",
    "cafe\u0301",
    "İI",
    "ΤΕΛΟΣ ΕΙΣ",
    "STRASSE Straße",
    "Москва, привет!",
    "北京東日本語",
    "ab北c",
    "\uf900a\U0002f800",
    "ひらがなカタカナ",
    "가각",
    "a\u0001b\ufffdc",
    "a\u200db\u00adc",
    "a\u000bb\u000cc",
    "a\u0085b\u2028c\u2029a\u3000b\u00a0c",
    "don't (stop) [CLS] [MASK]",
    "a$b%c+a=b",
    "~`@#_|^",
    "😀a😀",
    "½ 2024—“a”…",
    "a" * 99,
    "a" * 100,
    "a" * 101,
    "é" * 100,
    "é" * 101,
    "x",
    "cx",
    "axe ab",
    "\u0301",
    "a \u0301 b",
    "##ing the##s",
    "\u2581the",
    "a\u2581the",
    "a\u2581b",
    "#",
    "##",
    "t##ing",
]


def tokenizer_of(vocabulary, lowercase, strip_accents):
    tokenizer = Tokenizer(
        models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100)
    )
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=lowercase, strip_accents=strip_accents
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def random_texts(vocabulary):
    rng = random.Random(7)
    ranges = [
        (0x20, 0x2600),
        (0x3000, 0x3100),
        (0x4E00, 0x4E80),
        (0xAC00, 0xAC80),
        (0xF900, 0xF980),
        (0x1D400, 0x1D480),
        (0x20000, 0x20040),
    ]
    old = unicodedata.ucd_3_2_0
    pool = [
        c
        for first, end in ranges
        for c in range(first, end)
        if old.category(chr(c)) == unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")
    ]
    words = [word for word in vocabulary if not word.startswith("[")]
    for _ in range(150):
        parts = []
        for _ in range(rng.randint(1, 24)):
            kind = rng.random()
            word = rng.choice(words).replace("##", "")
            parts.append(
                word.upper() if kind < 0.2 else word if kind < 0.7 else chr(rng.choice(pool))
            )
            parts.append(rng.choice(["", "", " ", "\t", "-", "\u0301"]))
        yield "".join(parts)


def main():
    tokens = list(dict.fromkeys(SPECIAL + WORDS + ["##" + piece for piece in PIECES]))
    vocabulary = {token: i for i, token in enumerate(tokens)}
    texts = EDGES + list(random_texts(vocabulary))
    out = {"tokens": tokens, "sets": []}
    for lowercase, strip in ((True, True), (False, False), (False, True)):
        tokenizer = tokenizer_of(vocabulary, lowercase, strip)
        cases = [[text, tokenizer.encode(text, add_special_tokens=False).ids] for text in texts]
        out["sets"].append({"lowercase": lowercase, "strip_accents": strip, "cases": cases})
    print(
        json.dumps(out, ensure_ascii=False, separators=(",", ":"))
        .replace("],[", "],\n[")
        .replace("]],[[", "]],\n[[")
    )


if __name__ == "__main__":
    main()
