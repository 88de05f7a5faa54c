"""Measure nano.gguf as it ships: the quantised weights, read back from the file.

    python evaluate.py nano.gguf                 print the tables
    python evaluate.py nano.gguf --samples 40    write sample_prompts.jsonl

Nothing measured here was trained on: CLINC150's test split, GSM8K's test questions, and generated
examples from other seeds, once with the phrasings of training and once with held-out ones.
"""

import argparse
import gzip
import json
import pathlib

import torch

import data
import gguf_reader
import task_intent
import task_other
from pools import fill, seeded
from validate import auroc

BATCH_TOKENS = 16384
FORMS = {  # how the intent is asked for; the last two phrasings are held out of training
    "bare utterance": lambda u: [("user", u)],
    '"Classify the intent: ..."': lambda u: [("user", f"Classify the intent: {u}")],
    "system prompt + bare": lambda u: [
        ("system", "You are an intent classifier. Answer with the label."), ("user", u)],
    "unseen instruction": lambda u: [
        ("user", fill(task_intent.INSTRUCTION.parts["held"][2].replace("\\n", "\n"), u=u))],
    "unseen system prompt": lambda u: [
        ("system", task_intent.SYSTEM.parts["held"][1]), ("user", u)],
}


class Answer:
    """A greedy answer: token ids (the end included), their log-probabilities, p(not mine) first."""

    def __init__(self):
        self.ids, self.logs, self.foreign = [], [], 0.0

    def confidence(self):
        """(1 - p(not mine at the first token)) * exp(mean of the lowest quarter, at least one, of
        the log-probabilities, the end token's included)"""
        lowest = sorted(self.logs)[:max(1, len(self.logs) // 4)]
        return (1 - self.foreign) * float(torch.tensor(lowest).mean().exp())


class Judge:
    """The model of a file with a greedy decoder."""

    def __init__(self, path, corpora):
        keys, tensors = gguf_reader.read(path)
        self.vocab = gguf_reader.vocabulary(keys, corpora.labels)
        self.net = gguf_reader.network(keys, tensors)

    @torch.no_grad()
    def follow(self, prompts, guesses):
        """Greedy decoding along a guess: one forward pass gives every token for which the guess was
        right, and the first token where it was not. Lists of ids in, a list of Answers out."""
        order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]) + len(guesses[i]))
        answers = [Answer() for _ in prompts]
        while order:
            longest = len(prompts[order[0]]) + len(guesses[order[0]]) + 30
            size = max(1, BATCH_TOKENS // longest)
            batch, order = order[:size], order[size:]
            rows = [prompts[i] + guesses[i] for i in batch]
            tokens = torch.full((len(rows), max(map(len, rows))), self.vocab.pad)
            for row, ids in enumerate(rows):
                tokens[row, :len(ids)] = torch.tensor(ids)
            states = self.net.hidden(tokens)
            for row, i in enumerate(batch):
                logits = self.net.logits(states[row, len(prompts[i]) - 1:len(rows[row])])
                self.accept(answers[i], logits.log_softmax(-1), guesses[i])
        return answers

    def accept(self, answer, logs, guess):
        """logs [len(guess) + 1, vocab_size]: what follows the prompt, and each guessed token."""
        answer.foreign = logs[0, self.vocab.not_mine].exp().item()
        best, ids = logs.max(-1)
        for step, (log, token) in enumerate(zip(best.tolist(), ids.tolist())):
            if answer.ids[-1:] == [self.vocab.end]:
                return
            answer.ids.append(token)
            answer.logs.append(log)
            if step >= len(guess) or token != guess[step]:
                return

    def prompts(self, conversations):
        return [self.vocab.encode_prompt(data.render(m)) for m in conversations]

    def answer(self, conversations, limit=16):
        """Complete greedy answers, guessing that a label ends at once and that the fixed sentence
        follows <|not_mine|>; what is guessed wrong is decoded token by token."""
        prompts = self.prompts(conversations)
        answers = self.follow(prompts, [[] for _ in prompts])
        sentence = self.vocab.encode(task_other.SENTENCE)
        for _ in range(limit):
            open_ = [i for i, a in enumerate(answers) if a.ids[-1] != self.vocab.end]
            guesses = []
            for i in open_:
                after = sentence if answers[i].ids == [self.vocab.not_mine] else []
                guesses.append(answers[i].ids + after + [self.vocab.end])
            for i, a in zip(open_, self.follow([prompts[i] for i in open_], guesses)):
                answers[i] = a
        return answers

    def wanted_ids(self, text, is_label):
        if is_label:
            return [self.vocab.label_ids[text], self.vocab.end]
        head = [self.vocab.not_mine] if text == task_other.SENTENCE else []
        return head + self.vocab.encode(text) + [self.vocab.end]

    def exact(self, examples, labels=False):
        """For (messages, text): whether the greedy answer is exactly that text; and the answers."""
        wants = [self.wanted_ids(w, labels) for _, w in examples]
        answers = self.follow(self.prompts([m for m, _ in examples]), wants)
        return [a.ids == want for a, want in zip(answers, wants)], answers

    def is_foreign(self, answer):
        return answer.ids[0] == self.vocab.not_mine

    def text(self, answer):
        return self.vocab.decode(answer.ids)


def intent_table(judge, corpora):
    """CLINC150 test: 4,500 in scope, 1,000 out of scope."""
    rows = corpora.clinc["test"]
    print("\n| CLINC150 test, asked as | in-scope accuracy | AUROC | in-scope kept | "
          "oos refused | accuracy at confidence > 0.5 (share) |")
    print("|---|---|---|---|---|---|")
    wrong = {}
    for name, form in FORMS.items():
        answers = judge.answer([form(u) for u, _ in rows])
        pairs = list(zip(rows, answers))
        inside = [(l, a) for (_, l), a in pairs if l]
        outside = [a for (_, l), a in pairs if not l]
        right = [judge.text(a) == l and not judge.is_foreign(a) for l, a in inside]
        sure = [r for r, (_, a) in zip(right, inside) if a.confidence() > 0.5]
        area = auroc([a.confidence() for _, a in inside], [a.confidence() for a in outside])
        kept = sum(not judge.is_foreign(a) for _, a in inside) / len(inside)
        refused = sum(judge.is_foreign(a) for a in outside) / len(outside)
        print(f"| {name} | {mean(right):.1%} | {area:.3f} | {kept:.1%} | {refused:.1%} | "
              f"{mean(sure):.1%} ({len(sure) / len(inside):.0%}) |", flush=True)
        if name == "bare utterance":
            for (l, _), r in zip(inside, right):
                wrong[l] = wrong.get(l, 0) + (not r)
    worst = sorted(wrong, key=wrong.get, reverse=True)[:8]
    print("\nWeakest intents, bare: " + ", ".join(f"{l} {1 - wrong[l] / 30:.0%}" for l in worst))


def mean(values):
    values = list(values)
    return sum(values) / max(1, len(values))


def task_sets(split, count):
    """{name: [(messages, answer)]} of generated examples that training never saw."""
    def many(name, make):
        rng = seeded("evaluate", split, name)
        return [make(rng) for _ in range(count)]

    return {task: many(task, lambda r, g=module: g.example(r, split))
            for task, module in data.GENERATORS.items() if task != "other"}


def exact_table(judge, corpora, count):
    print("\n| generated, exact match | phrasings of training | held-out phrasings |")
    print("|---|---|---|")
    seen, new = task_sets("train", count), task_sets("held", count)
    for name in seen:
        cells = [f"{mean(judge.exact(s[name])[0]):.1%}" if name in s else "-" for s in (seen, new)]
        print(f"| {name} | {cells[0]} | {cells[1]} |", flush=True)


def other_table(judge, corpora, count):
    """How often what is not ours is recognised."""
    groups = {"knowledge": task_other.KNOWLEDGE, "sport, film, firms": task_other.LEISURE,
              "everyday questions": task_other.LIFE, "writing, planning, code": task_other.GENERATE,
              "work on a text": task_other.TEXT_WORK, "maths and logic": task_other.MATHS}
    corpus = task_other.training_corpus()
    print("\n| not ours, recognised | held-out phrasings and topics |")
    print("|---|---|")
    for name, pool in groups.items():
        rng = seeded("evaluate other", name)
        texts = [task_other.expand(rng, pool.pick(rng, "held"), "held",
                                   task_other.some_text(rng, corpus)) for _ in range(count)]
        print_refused(judge, name, texts)
    print_refused(judge, "other languages", task_other.FOREIGN.parts["held"])
    root = data.data_dir()
    with open(root / "gsm8k" / "test.jsonl") as file:
        print_refused(judge, "GSM8K test questions",
                      [json.loads(line)["question"] for line in file][:count])
    with gzip.open(root / "humaneval" / "HumanEval.jsonl.gz", "rt") as file:
        print_refused(judge, "HumanEval prompts", [json.loads(line)["prompt"] for line in file])
    bbh = [e["input"] for path in sorted((root / "bbh").glob("*.json"))
           for e in json.loads(path.read_text())["examples"][:10]]
    print_refused(judge, "BIG-Bench Hard, 10 a task", bbh)


def print_refused(judge, name, texts):
    fits = [p for p in judge.prompts([[("user", t)] for t in texts]) if len(p) < 1000]
    refused = [judge.is_foreign(a) for a in judge.follow(fits, [[] for _ in fits])]
    print(f"| {name} ({len(fits)}) | {mean(refused):.1%} |", flush=True)


def write_samples(judge, corpora, count, path):
    """Held-out prompts of each task whose greedy answer is right and not a close call."""
    rng = seeded("samples")
    clinc = [([("user", u)], l) for u, l in corpora.clinc["val"] if l]
    told = [(FORMS["system prompt + bare"](u), l) for u, l in corpora.clinc["val"] if l]
    asked = [(FORMS['"Classify the intent: ..."'](u), l) for u, l in corpora.clinc["val"] if l]
    foreign = [([("user", t)], task_other.SENTENCE) for t in [
        task_other.question(rng, "held", task_other.training_corpus()) for _ in range(300)] if len(t) < 200]
    sets = list(task_sets("train", 40).values())
    picks = [(clinc, 6), (asked, 4), (told, 3), (foreign, 10)] + [(s, 2) for s in sets]
    lines = []
    for examples, wanted in picks:
        rng.shuffle(examples)
        right, answers = judge.exact(examples[:60], examples in (clinc, told, asked))
        good = [e for e, r, a in zip(examples, right, answers) if r and min(a.logs) > -0.1]
        lines += [json.dumps({"messages": [{"role": r, "content": c} for r, c in m], "expect": w},
                             ensure_ascii=False) for m, w in good[:wanted]]
    path.write_text("\n".join(lines[:count]) + "\n")
    print(f"{path}: {len(lines[:count])} prompts")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=pathlib.Path, nargs="?", default="nano.gguf")
    parser.add_argument("--count", type=int, default=300, help="generated examples of each kind")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--samples", type=int, default=0, help="write sample_prompts.jsonl instead")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    corpora = data.Corpora()
    judge = Judge(args.model, corpora)
    if args.samples:
        write_samples(judge, corpora, args.samples, args.model.parent / "sample_prompts.jsonl")
        return
    intent_table(judge, corpora)
    exact_table(judge, corpora, args.count)
    other_table(judge, corpora, args.count)


if __name__ == "__main__":
    main()
