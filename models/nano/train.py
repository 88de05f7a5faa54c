"""Train Tandem Nano from scratch on a CPU.

    python train.py --epochs 30 --max-minutes 60 --out work

Makes work/vocab.json and work/best.pt (the averaged weights with the best CLINC150 validation
score). Every example is made on the fly, so no two epochs are the same. Reruns from --seed; only if
--max-minutes cuts the schedule short does the result depend on the machine's speed.
"""

import argparse
import math
import pathlib
import time

import torch
import torch.nn.functional as F

import copy_circuit
import data
from model import Config, Nano
from pools import seeded
from tokenizer import Vocabulary

MICRO_TOKENS = 4096   # padded tokens of one forward pass
MICRO_PER_STEP = 2    # lengths differ between micro-batches, so a step sees several tasks
NOISY_SHARE = 0.5     # share of intent and other examples that are read with BPE dropout
# Weights of the first and the other answer tokens in the loss. The decision (label or not mine) is
# one token and counts most; the fixed sentence after <|not_mine|> is learned in minutes.
WEIGHT = {"intent": (1.0, 0.1), "other": (1.0, 0.03), "extract": (0.4, 0.3),
          "reformat": (0.4, 0.3), "chat": (0.4, 0.05)}


def encode(example, vocab, rng):
    """(ids, first, task): prompt and answer; `first` is the index of the first answer token."""
    task, messages, answer, *_ = example
    noisy = task in ("intent", "other") and rng.random() < NOISY_SHARE
    prompt = vocab.encode_prompt(data.render(messages), noisy)
    return prompt + vocab.encode_answer(task, answer), len(prompt), task


def micro_batches(encoded, rng):
    """Lists of examples of similar length, at most MICRO_TOKENS when padded, in random order."""
    out = []
    for at in range(0, len(encoded), 4096):
        chunk = sorted(encoded[at:at + 4096], key=lambda e: len(e[0]))
        batch = []
        for example in chunk:
            if batch and (len(batch) + 1) * len(example[0]) > MICRO_TOKENS:
                out.append(batch)
                batch = []
            batch.append(example)
        out.append(batch if len(batch) > 1 else batch * 2)  # a single row would be compiled anew
    rng.shuffle(out)
    return out


def collate(batch, pad):
    """tokens [n, time] and weights [n, time - 1]: the weight of predicting token t + 1 at t."""
    time_ = max(len(ids) for ids, _, _ in batch)
    tokens = torch.full((len(batch), time_), pad)
    weights = torch.zeros(len(batch), time_ - 1)
    for row, (ids, first, task) in enumerate(batch):
        tokens[row, :len(ids)] = torch.tensor(ids)
        decision, rest = WEIGHT.get(task, WEIGHT["extract"])
        weights[row, first - 1] = decision
        weights[row, first:len(ids) - 1] = rest
    return tokens, weights


def batch_loss(net, tokens, weights, prompt_weight, pad):
    """Weighted sum of cross entropies over the answers (and a little over the prompts)."""
    if prompt_weight > 0:
        real = tokens[:, 1:] != pad
        weights = torch.where((weights == 0) & real, prompt_weight, weights)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        states = net.hidden(tokens[:, :-1])
        chosen = weights > 0
        logits = net.logits(states[chosen])
    loss = F.cross_entropy(logits, tokens[:, 1:][chosen], reduction="none")
    return (loss * weights[chosen]).sum()


@torch.no_grad()
def quick_validate(net, vocab, corpora):
    """CLINC150 validation, bare utterances: (in-scope accuracy, AUROC of the confidence)."""
    net.eval()
    rows = sorted(corpora.clinc["val"], key=lambda r: len(r[0]))
    right, inside, outside = 0, [], []
    for at in range(0, len(rows), 128):
        part = rows[at:at + 128]
        prompts = [vocab.encode_prompt(data.render([("user", u)])) for u, _ in part]
        tokens, _ = collate([(p + [vocab.pad], len(p), "chat") for p in prompts], vocab.pad)
        last = torch.tensor([len(p) - 1 for p in prompts])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            states = net.hidden(tokens)[torch.arange(len(part)), last]
            p = net.logits(states).softmax(-1)
        best, ids = p.max(-1)
        mine = 1 - p[:, vocab.not_mine]
        sure = torch.where(ids == vocab.not_mine, mine, mine * best)
        for (_, label), i, s in zip(part, ids.tolist(), sure.tolist()):
            (inside if label else outside).append(s)
            right += label is not None and vocab.label_ids[label] == i
    net.train()
    return right / len(inside), auroc(inside, outside)


def auroc(inside, outside):
    """The chance that a random in-scope confidence exceeds a random out-of-scope one."""
    a, b = torch.tensor(inside), torch.tensor(outside)
    above, equal = a[:, None] > b[None, :], a[:, None] == b[None, :]
    return (above.float().mean() + 0.5 * equal.float().mean()).item()


def learning_rate(progress, peak):
    """Warm up over 1 %, cosine down to 2 % of the peak."""
    if progress < 0.01:
        return peak * progress / 0.01
    return peak * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (progress - 0.01) / 0.99)))


def make_optimizer(net, peak, decay):
    matrices = [p for n, p in net.named_parameters() if p.dim() == 2 and "embd" not in n]
    others = [p for n, p in net.named_parameters() if p.dim() != 2 or "embd" in n]
    return torch.optim.AdamW([{"params": matrices, "weight_decay": decay},
                              {"params": others, "weight_decay": 0.0}],
                             lr=peak, betas=(0.9, 0.98), fused=True)


def build_vocab(corpora, path, seed):
    """Train the vocabulary on one epoch of text, CLINC150 as it stands included."""
    if not path.exists():
        texts = [t for _, m, a in data.epoch(corpora, seed, "vocabulary")
                 for t in [c for _, c in m] + [a]]
        texts += [u for u, _ in corpora.inside] * 2
        Vocabulary.build(texts, corpora.labels).save(path)
    return Vocabulary.load(path)


class Trainer:
    def __init__(self, args):
        self.args, self.began = args, time.time()
        torch.manual_seed(args.seed)
        torch.set_num_threads(args.threads)
        self.out = pathlib.Path(args.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.corpora = data.Corpora()
        self.vocab = build_vocab(self.corpora, self.out / "vocab.json", args.seed)
        self.config = Config(len(self.vocab.tokens), layers=args.layers, dropout=args.dropout)
        self.net, self.ema = Nano(self.config), Nano(self.config)
        copy_circuit.plant(self.net, args.seed)
        if args.init:
            self.net.load_state_dict(torch.load(args.init, weights_only=True)["state"])
        self.mix = dict(data.MIX, extract=args.extract, reformat=args.reformat)
        self.ema.load_state_dict(self.net.state_dict())
        self.optimizer = make_optimizer(self.net, args.lr, args.decay)
        self.best, self.steps, self.tokens_seen = 0.0, 0, 0
        if args.compile:  # a minute to start, then half the time a step
            self.net.hidden = torch.compile(self.net.hidden, dynamic=True)

    def progress(self, epoch, fraction):
        """The larger of the share of the work and the share of the time that is used up."""
        minutes = (time.time() - self.began) / 60
        return max((epoch + fraction) / self.args.epochs, minutes / self.args.max_minutes)

    def update(self, lr):
        for g in self.optimizer.param_groups:
            g["lr"] = lr
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def step(self, group, progress):
        total, scale = 0.0, 1 / sum(len(b) for b in group)
        for batch in group:
            tokens, weights = collate(batch, self.vocab.pad)
            self.tokens_seen += tokens.numel()
            loss = batch_loss(self.net, tokens, weights, self.args.prompt_weight,
                              self.vocab.pad) * scale
            loss.backward()
            total += loss.item()
        self.update(learning_rate(progress, self.args.lr))
        self.steps += 1
        decay = min(self.args.ema, self.steps / (self.steps + 20))
        with torch.no_grad():
            ours, theirs = list(self.ema.parameters()), list(self.net.parameters())
            torch._foreach_lerp_(ours, theirs, 1 - decay)
        return total

    def validate(self, epoch, loss):
        accuracy, area = quick_validate(self.ema, self.vocab, self.corpora)
        minutes = (time.time() - self.began) / 60
        print(f"epoch={epoch} step={self.steps} loss={loss:.4f} val_acc={accuracy:.4f} "
              f"val_auroc={area:.4f} minutes={minutes:.1f} "
              f"tokens_per_s={self.tokens_seen / minutes / 60:.0f}", flush=True)
        if accuracy + area / 2 >= self.best:
            self.best = accuracy + area / 2
            torch.save({"config": self.config.__dict__, "state": self.ema.state_dict()},
                       self.out / "best.pt")

    def run(self):
        for epoch in range(self.args.epochs):
            rng = seeded("train", self.args.seed, epoch)
            examples = data.epoch(self.corpora, self.args.seed, epoch, self.mix)
            batches = micro_batches([encode(e, self.vocab, rng) for e in examples], rng)
            loss, done = 0.0, False
            for at in range(0, len(batches), MICRO_PER_STEP):
                progress = self.progress(epoch, at / len(batches))
                if progress >= 1:
                    done = True
                    break
                loss += 0.02 * (self.step(batches[at:at + MICRO_PER_STEP], progress) - loss)
            if done or epoch % 2 == 0 or epoch + 1 == self.args.epochs:
                self.validate(epoch, loss)
            if done:
                break


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--max-minutes", type=float, default=80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--layers", type=int, default=5)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--lr", type=float, default=1.5e-3)
    parser.add_argument("--decay", type=float, default=0.1)
    parser.add_argument("--prompt-weight", type=float, default=0.0,
                        help="loss weight of prompt tokens (language modelling)")
    parser.add_argument("--ema", type=float, default=0.9985,
                        help="decay of the average of the weights, a step")
    parser.add_argument("--extract", type=float, default=data.MIX["extract"],
                        help="extraction examples for one line of CLINC150")
    parser.add_argument("--reformat", type=float, default=data.MIX["reformat"],
                        help="reformatting examples for one line of CLINC150")
    parser.add_argument("--init", help="go on from this best.pt, made with the same vocabulary")
    parser.add_argument("--compile", type=int, default=1, help="0 where there is no C++ compiler")
    parser.add_argument("--out", default="work")
    Trainer(parser.parse_args()).run()


if __name__ == "__main__":
    main()
