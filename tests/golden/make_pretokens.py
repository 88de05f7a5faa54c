#!/usr/bin/env python3
"""Writes pretokens.json: texts, and how the expressions of published vocabularies cut them, by the
regular expressions themselves (pip install regex), which share no code with ours. The expressions
are those of each tokenizer.json; each stage cuts the pieces of the stage before into matches and
the gaps between them. Cuts are the bytes of each piece. Checked once with 20,000 random texts a
vocabulary (an argument gives another number): no difference.

    make_pretokens.py [TEXTS] > pretokens.json
"""

import json
import random
import sys

import regex

CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACE = r"\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACE
QWEN2 = LLAMA3.replace("{1,3}", "")
QWEN35 = (
    CONTRACTION + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + SPACE
)
U, W = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
BEFORE = r"[^\r\n\p{L}\p{N}]?"
GPT4O = (
    f"{BEFORE}[{U}]*[{W}]+{CONTRACTION}?|{BEFORE}[{U}]+[{W}]*{CONTRACTION}?"
    + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|"
    + SPACE
)
KIMI = (
    rf"\p{{Han}}+|{BEFORE}[{U}&&[^\p{{Han}}]]*[{W}&&[^\p{{Han}}]]+{CONTRACTION}?"
    rf"|{BEFORE}[{U}&&[^\p{{Han}}]]+[{W}&&[^\p{{Han}}]]*{CONTRACTION}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACE
)
IDEOGRAPHS = "[一-龥ࠀ-一가-퟿]+"
BLOOM = " ?[^(\\s|.,!?…。，、।۔،)]+"
STAGES = {
    "gpt-2": [GPT2],
    "llama-bpe": [LLAMA3],
    "qwen2": [QWEN2],
    "qwen35": [QWEN35],
    "seed-coder": [
        CONTRACTION + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|" + SPACE
    ],
    "gpt-4o": [GPT4O],
    "tekken": [GPT4O.replace(f"{CONTRACTION}?", "").replace(r"\p{N}{1,3}", r"\p{N}")],
    "kimi-k2": [KIMI],
    "starcoder": [r"\p{N}", GPT2],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "deepseek-coder": ["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", IDEOGRAPHS, r"\p{N}"],
    "deepseek-v3": [
        r"\p{N}{1,3}",
        "[一-龥\u3040-ゟ゠-ヿ]+",
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*|" + SPACE,
    ],
    "bloom": [BLOOM],
    "viking": [BLOOM, r"\p{N}"],
    "superbpe": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"],
}
WRITTEN = [
    "I'm HE'S we'LL they've 12345  x\n\n y",
    "def helloWorld(x):\n\treturn x/2  # ok\r\n\r\n",
    "HTTPServer iPhone McDonald's ÉCOLE École Ǆungla ʰaʰB",
    "path/to/file.txt //\n/ a/\n",
    "1234567 1,234 3.14 ½ ²³ Ⅷ ٣٤٥٦",
    "北京东京都，你好。こんにちはカタカナ々〇 한국어 문장",
    "हिन्दी में लिखा है। 12 नमस्ते",
    "Cafe\u0301 re\u0301sume\u0301 \u0301x \u0301\u0301A",
    "😀😀 €5 + 3 = 8 ± ☃︎ a…b",
    " \t \n  \r\n   end   ",
    "'S 't 'Re'x''ve \"quoted\" `code`",
    "ไทยภาษา العربية ۔ ، नहीं|कोई (x)|[y]",
]
POOL = (
    list("abzAZK'stREvelLdmM019 .,!?()|/-+=$^~`<>\"#_[]{}\\&*:;@%")
    + [" "] * 8
    + ["\n", "\n", "\r", "\t", "\r\n", "'s", "'Re", "'ll"]
    + list(
        "éÉßΣσжЖǅʰª़ֿ́ीแมกあアー北京々〇⺀가나²½Ⅷ٣१€±☃😀。，、।۔،…\u00a0\u3000\u2028\u200b\u00ad\u0301"
    )
)


def cut(pieces, stage):
    for piece in pieces:
        at = 0
        for match in stage.finditer(piece):
            if match.start() > at:
                yield piece[at : match.start()]
            if match.end() > match.start():
                yield match.group()
            at = match.end()
        if at < len(piece):
            yield piece[at:]


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    numbers = random.Random(1)
    texts = list(WRITTEN)
    while len(texts) < count:
        texts.append("".join(numbers.choice(POOL) for _ in range(numbers.randint(1, 40))))
    cuts = {}
    for name, expressions in STAGES.items():
        stages = [regex.compile(e, regex.V1) for e in expressions]
        cuts[name] = []
        for text in texts:
            pieces = [text]
            for stage in stages:
                pieces = list(cut(pieces, stage))
            cuts[name].append(" ".join(str(len(piece.encode())) for piece in pieces))
    json.dump({"texts": texts, "cuts": cuts}, sys.stdout, ensure_ascii=True, indent=0)
    print()


main()
