"""The vocabulary: byte-level BPE with Qwen2's pre-tokenizer, control tokens, label tokens.

Order of ids: 256 bytes, then merges up to BPE_SIZE, then the control tokens, then the labels of
all tasks that answer with one, then the marks of tool calls, which came last. A label is ONE token
of type NORMAL that no merge produces: the model can emit it and its text is the label, but
tokenising input never yields it. (USER_DEFINED tokens would be cut out of every input text that
contains "balance" or "yes".) A label whose text is already an ordinary token keeps that token's id.
"""

import json
import re

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from chat_render import TOOL_CALL, TOOL_CALL_END

QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
BPE_SIZE = 4096
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|not_mine|>"]
# Behind the labels, so that the ids of a model that has no tools stay as they are.
TOOL_MARKS = [TOOL_CALL, TOOL_CALL_END]
MARKS = {"<|im_start|>", "<|im_end|>", *TOOL_MARKS}  # what prompts and answers have between texts
BPE_DROPOUT = 0.1  # only for the noisy encoder of training inputs

TYPE_NORMAL, TYPE_CONTROL = 1, 3  # GGUF token types


def pipeline(bpe):
    """A tokenizers pipeline: Qwen2's split, bytes to printable characters, BPE."""
    tok = Tokenizer(bpe)
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN2), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tok.decoder = decoders.ByteLevel()
    return tok


def train_bpe(texts):
    """Returns (tokens, merges): 4096 token strings in id order, merges as (left, right)."""
    tok = pipeline(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=BPE_SIZE,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tok.train_from_iterator(texts, trainer)
    model = json.loads(tok.to_str())["model"]
    tokens = [t for t, _ in sorted(model["vocab"].items(), key=lambda kv: kv[1])]
    return tokens, [tuple(m) for m in model["merges"]]


class Vocabulary:
    """Tokens and merges with the helpers that training and evaluation need."""

    def __init__(self, tokens, merges, types, labels):
        self.tokens, self.merges, self.types, self.labels = tokens, merges, types, labels
        self.ids = {t: i for i, t in enumerate(tokens)}
        self.end, self.start = self.ids["<|im_end|>"], self.ids["<|im_start|>"]
        self.pad, self.not_mine = self.ids["<|endoftext|>"], self.ids["<|not_mine|>"]
        self.label_ids = {label: self.ids[label] for label in labels}
        self.plain = pipeline(self._bpe(None))
        self.noisy = pipeline(self._bpe(BPE_DROPOUT))

    def _bpe(self, dropout):
        ordinary = {t: i for t, i in self.ids.items() if self.types[i] == TYPE_NORMAL}
        return models.BPE(vocab=ordinary, merges=self.merges, dropout=dropout)

    @classmethod
    def build(cls, texts, labels):
        tokens, merges = train_bpe(texts)
        types = [TYPE_NORMAL] * len(tokens) + [TYPE_CONTROL] * len(CONTROL)
        tokens = tokens + CONTROL
        new = [l for l in labels if l not in set(tokens)]
        return cls(tokens + new, merges, types + [TYPE_NORMAL] * len(new), labels).with_tools()

    def has_tools(self):
        return TOOL_CALL in self.ids

    def with_tools(self):
        """The same with the marks of tool calls, if it has none yet."""
        if self.has_tools():
            return self
        types = self.types + [TYPE_CONTROL] * len(TOOL_MARKS)
        return Vocabulary(self.tokens + TOOL_MARKS, self.merges, types, self.labels)

    def without_tools(self):
        """The same without the marks of tool calls, which are its last tokens. A file that has them
        is asked for calls."""
        if not self.has_tools():
            return self
        count = len(self.tokens) - len(TOOL_MARKS)
        return Vocabulary(self.tokens[:count], self.merges, self.types[:count], self.labels)

    def save(self, path):
        path.write_text(
            json.dumps(
                {
                    "tokens": self.tokens,
                    "merges": self.merges,
                    "types": self.types,
                    "labels": self.labels,
                }
            )
        )

    @classmethod
    def load(cls, path):
        d = json.loads(path.read_text())
        return cls(d["tokens"], [tuple(m) for m in d["merges"]], d["types"], d["labels"])

    def encode(self, text, noisy=False):
        return (self.noisy if noisy else self.plain).encode(text).ids

    def encode_prompt(self, parts, noisy=False):
        """Token ids of chat_render.render()'s parts; control tokens only where render put them."""
        out = []
        for part in parts:
            if part in MARKS:
                out.append(self.ids[part])
            else:
                out += self.encode(part, noisy)
        return out

    def ends(self, parts, number):
        """For each character of a part of encode_prompt: the index in the prompt of the last token
        that begins at or before it."""
        first = len(self.encode_prompt(parts[:number]))
        out = []
        for index, (_, end) in enumerate(self.plain.encode(parts[number]).offsets):
            out += [first + index] * (end - len(out))
        return out

    def encode_answer(self, task, answer):
        """Token ids of the answer, the end token included."""
        if task == "other":
            return [self.not_mine] + self.encode(answer) + [self.end]
        if answer in self.label_ids:
            return [self.label_ids[answer], self.end]
        if answer.startswith(TOOL_CALL):
            return self.encode_prompt(re.split(f"({TOOL_CALL}|{TOOL_CALL_END})", answer)) + [
                self.end
            ]
        return self.encode(answer) + [self.end]

    def encode_soft(self, soft):
        """[(label, or None for not mine, probability)] as (token ids, probabilities)."""
        ids = [self.not_mine if label is None else self.label_ids[label] for label, _ in soft]
        total = sum(p for _, p in soft)
        return ids, [p / total for _, p in soft]

    def decode(self, ids):
        """Text of generated ids; control tokens have no text."""
        kept = [self.tokens[i] for i in ids if self.types[i] == TYPE_NORMAL]
        return self.plain.decoder.decode(kept)
