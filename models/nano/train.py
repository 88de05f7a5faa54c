"""Train a model of the family, from scratch or from the weights of a file.

    python train.py --model nano --max-minutes 75 --out work
    python train.py --model nano --begin nano.gguf --max-minutes 100 --out work
    python train.py --model nano-large --grow work/nano.pt --seed 1 --max-minutes 75 --out work

Makes work/vocab.json (one for both models), work/MODEL.pt (the averaged weights with the best
validation score) and work/MODEL.resume.pt, from which the same command goes on after a break.
--begin starts a new piece of training from a GGUF file, so that a long training may be done in
pieces, days apart, with nothing kept but the file. Every example is made on the fly, so none is
seen twice: the file's hash is part of the seed. The length of the run is a number of tokens or of
minutes of each processor (of the clock, on a GPU), whichever ends first; if the minutes do, the
result depends on the machine.
"""

import argparse
import concurrent.futures
import multiprocessing
import pathlib
import random
import time
import zlib

import torch

import copy_circuit
import data
import grow
import optimizer
import shipped
import stream
import team as teams
import tool_marks
from chat_render import render
from model import SIZES, Config, Nano
from packing import Batch, Encoded, batches
from pools import seeded
from precision import mixed
from tokenizer import Vocabulary
from validate import validate

PIECE = 4000  # examples that a process makes and packs at a time
NOISY_SHARE = 0.4  # share of one-token answers whose prompt is read with BPE dropout
# Weights in the loss. The first token decides (label or not mine) and counts most; in an answer of
# several tokens each has to be right; the fixed sentence after <|not_mine|> is learned in minutes.
FIRST, LATER, AFTER_LABEL, AFTER_NOT_MINE = 1.0, 0.5, 0.1, 0.02
# A call that nobody asked for does something; one that is left to a larger model costs a little.
NO_CALL = 2.0
REUSED_LEAST = 4  # pieces there are before one is used again
SEEN_MOST = 200  # of which one is drawn
EXIT_TRUTH = 0.5  # an exit learns this much from the data, the rest from the last layer


def encode(example, vocab, rng):
    """An example of data.py as ids and weights."""
    task, messages, answer = example[:3]
    ids = vocab.encode_answer(task, answer)
    later = AFTER_LABEL if len(ids) == 2 else LATER
    if ids[0] == vocab.not_mine:
        later = AFTER_NOT_MINE
        if rng.random() < 0.9:  # the sentence that follows is always the same
            ids = ids[:2]
    noisy = len(ids) == 2 and rng.random() < NOISY_SHARE
    prompt = vocab.encode_prompt(render(messages), noisy)
    soft = vocab.encode_soft(example[3]) if len(example) > 3 and example[3] else None
    has_tools = messages[0][0] == "tools"
    marks = tool_marks.of(messages, answer, vocab) if has_tools else ()
    first = NO_CALL if has_tools and ids[0] == vocab.not_mine else FIRST
    return Encoded(prompt, ids, [first] + [later] * (len(ids) - 1), soft, marks)


def target_loss(logs, batch):
    """Cross entropy of each position with its target; logs [n, vocab_size]."""
    return -(logs.gather(1, batch.ids) * batch.shares).sum(1)


def batch_loss(net, batch, exit_weights):
    """Weighted sum of the losses of the last layer and of the exits; the last layer's alone.

    An exit's target is half the data and half what the last layer says (self-distillation, Zhang et
    al. 2019, arXiv 1905.08094); deeper exits count more (Schuster et al. 2022, arXiv 2207.07061,
    section 3.4; Elhoushi et al. 2024, arXiv 2404.16710)."""
    with mixed(batch.tokens.device):
        stream = net.residuals(batch.tokens, batch.texts)
        at = [x.flatten(0, 1)[batch.at] for x in (stream[-1], *(stream[n] for n in net.c.exits))]
        logits = [net.logits(norm(x)) for norm, x in zip((net.output_norm, *net.exit_norm), at)]
    logs = logits[0].log_softmax(-1)
    last = (target_loss(logs, batch) * batch.weight).sum()
    total, teacher = last, logs.detach().exp()
    for weight, x in zip(exit_weights, logits[1:]):
        mine = x.log_softmax(-1)
        loss = EXIT_TRUTH * target_loss(mine, batch) - (1 - EXIT_TRUTH) * (teacher * mine).sum(1)
        total = total + weight * (loss * batch.weight).sum()
    return total, last.item()


def learning_rate(progress):
    """Share of the peak: up over 1 %, flat, and down in a straight line over the last half."""
    return min(1.0, progress / 0.01, max(0.02, (1 - progress) / 0.5))


def build_vocab(path, args):
    """The vocabulary of the file to begin with; else trained on generated text, or read if it is
    there."""
    if args.begin:
        shipped.load(args.begin, lambda size: Config(size, **SIZES[args.model]))[1].save(path)
    elif not path.exists():
        Vocabulary.build(stream.vocabulary_texts(args.seed), data.labels()).save(path)
    return Vocabulary.load(path)


def make_piece(seed, number, vocab, mix, times):
    """The batches of a piece of examples; the same in every run."""
    rng = seeded("train", seed, number)
    examples = data.examples(seed, number, PIECE * times, mix)
    made = batches([encode(e, vocab, rng) for e in examples], rng, times=times)
    return [Batch(rows, length, vocab.pad) for rows, length in made]


_vocab = None


def begin_maker(path):
    global _vocab
    _vocab = Vocabulary.load(path)


def make_piece_apart(seed, number, mix, times):
    return make_piece(seed, number, _vocab, mix, times)


class Trainer:
    def __init__(self, args, team):
        self.args, self.earlier, self.team = args, 0.0, team
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        # On a CPU a busy machine makes a run longer, not worse. A GPU's time is the clock's.
        self.clock = time.process_time if self.device.type == "cpu" else time.monotonic
        self.began = self.clock()
        torch.manual_seed(args.seed)
        torch.set_num_threads(1)
        self.out = pathlib.Path(args.out)
        self.vocab = Vocabulary.load(self.out / "vocab.json")
        self.config = Config(len(self.vocab.tokens), **SIZES[args.model], dropout=args.dropout)
        self.net, self.mean = Nano(self.config), Nano(self.config)
        self.first_weights()
        self.net.to(self.device)
        self.mean.load_state_dict(self.net.state_dict())
        self.mean.to(self.device)
        self.optimizers = optimizer.make(self.net, args.matrix_lr, args.other_lr, args.decay)
        self.best, self.steps, self.piece, self.tokens = -1.0, 0, 0, 0
        self.resume_path = self.out / f"{args.model}.resume.pt"
        if self.resume_path.exists():
            self.resume()
        torch.manual_seed(args.seed + 1000 * team.rank + self.steps)  # masks of dropout differ
        if args.compile:  # a minute for each shape of batch, the first time; then half the time
            for block in self.net.blk:
                block.compile(dynamic=False)

    def first_weights(self):
        args = self.args
        if args.begin:
            net, _ = shipped.load(
                args.begin, lambda size: Config(size, **SIZES[args.model], dropout=args.dropout)
            )
            self.net.load_state_dict(net.state_dict())
        elif args.grow:
            small = torch.load(args.grow, weights_only=True, map_location="cpu")
            self.net.load_state_dict(
                grow.grown(small["state"], Config(**small["config"]), self.config)
            )
        elif args.plant:
            copy_circuit.plant(self.net, args.seed)

    def minutes(self):
        return self.earlier + (self.clock() - self.began) / 60

    def progress(self):
        """The larger of the share of the work and the share of the time that is used up."""
        return max(self.tokens / (self.args.tokens * 1e6), self.minutes() / self.args.max_minutes)

    def state(self):
        return {
            "net": self.net.state_dict(),
            "mean": self.mean.state_dict(),
            "optimizers": [o.state_dict() for o in self.optimizers],
            "best": self.best,
            "steps": self.steps,
            "piece": self.piece,
            "tokens": self.tokens,
            "minutes": self.minutes(),
            "seed": self.args.seed,
        }

    def resume(self):
        saved = torch.load(self.resume_path, weights_only=True, map_location=self.device)
        if saved["seed"] != self.args.seed:
            return  # of a run that began with other weights
        self.net.load_state_dict(saved["net"])
        self.mean.load_state_dict(saved["mean"])
        for o, s in zip(self.optimizers, saved["optimizers"]):
            o.load_state_dict(s)
        self.best, self.steps = saved["best"], saved["steps"]
        self.piece, self.tokens = saved["piece"], saved["tokens"]
        self.earlier = saved["minutes"]
        print(f"going on after {self.steps} steps, {self.earlier:.1f} minutes", flush=True)

    def save(self, path, what):
        """Written beside and renamed, so that a break never leaves half a file."""
        torch.save(what, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)

    def step(self, drawn):
        """One update from the batches of all processes; the mean loss of an example."""
        group = [batch.to(self.device) for batch in drawn]
        sums = [0.0, 0.0, 0.0, self.progress() if self.team.rank == 0 else 0.0]
        for batch in group:
            loss, last = batch_loss(self.net, batch, self.args.exit_weights)
            loss.backward()
            sums = [sums[0] + last, sums[1] + batch.count, sums[2] + batch.tokens.numel(), sums[3]]
        params = list(self.net.parameters())
        last, count, tokens, self.done = self.team.sum_gradients(params, sums)
        for p in params:
            p.grad.div_(count)
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        share = learning_rate(self.done)
        for o in self.optimizers:
            for g in o.param_groups:
                g["lr"] = g["base_lr"] * share
            o.step()
            o.zero_grad(set_to_none=True)
        self.steps += 1
        self.tokens += int(tokens)
        decay = min(self.args.ema, self.steps / (self.steps + 20))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.mean.parameters()), params, 1 - decay)
        return last / count

    def check(self, loss):
        """Validate, keep the best weights, and make the run resumable."""
        score, words = validate(self.mean, self.vocab, self.args.model)
        minutes = self.minutes()
        print(
            f"piece={self.piece} step={self.steps} tokens={self.tokens / 1e6:.1f}M "
            f"loss={loss:.4f} score={score:.4f} minutes={minutes:.1f} "
            f"tokens_per_s={self.tokens / minutes / 60:.0f}\n    {words}",
            flush=True,
        )
        if score >= self.best:
            self.best = score
            self.save(
                self.out / f"{self.args.model}.pt",
                {
                    "config": self.config.__dict__,
                    "state": self.mean.state_dict(),
                    "minutes": minutes,
                    "tokens": self.tokens,
                },
            )
        self.save(self.resume_path, self.state())

    def pieces(self):
        """Pieces of this process one after another; other processes may make them ahead. Where they
        are slower than the training, as beside a GPU, a piece is used up to `uses` times: four
        passes teach nearly as much as fresh text (Muennighoff et al. 2023, arXiv 2305.16264)."""
        args, number = self.args, self.piece * self.team.size + self.team.rank
        mix = data.MIXES[args.model]
        if args.makers == 0:
            while True:
                yield make_piece(args.seed, number, self.vocab, mix, args.batch_times)
                number += self.team.size
                self.piece += 1
        with concurrent.futures.ProcessPoolExecutor(
            args.makers,
            multiprocessing.get_context("spawn"),
            begin_maker,
            (self.out / "vocab.json",),
        ) as pool:
            coming: list[concurrent.futures.Future] = []
            seen: list[list] = []  # pieces and how often each was used, the oldest first
            again = random.Random(args.seed)
            while True:
                while len(coming) < args.makers + 1:
                    coming.append(
                        pool.submit(make_piece_apart, args.seed, number, mix, args.batch_times)
                    )
                    number += self.team.size
                if coming[0].done() or len(seen) < REUSED_LEAST:
                    seen.append([coming.pop(0).result(), 1])
                    yield seen[-1][0]
                    self.piece += 1
                else:
                    one = again.choice(seen)
                    again.shuffle(one[0])
                    one[1] += 1
                    yield one[0]
                seen = [one for one in seen if one[1] < args.uses][-SEEN_MOST:]

    def groups(self):
        """Batches of this process for step after step, without end."""
        share = max(1, self.args.step_batches // self.team.size)
        for ready in self.pieces():
            for at in range(0, len(ready) - share + 1, share):
                yield ready[at : at + share]

    def run(self):
        checked, loss, groups = self.minutes(), 0.0, self.groups()
        self.done = self.progress()
        while self.done < 1:
            loss += 0.02 * (self.step(next(groups)) - loss)
            late = self.minutes() - checked >= self.args.check_minutes
            if self.team.rank == 0 and (late or self.done >= 1):
                self.check(loss)
                checked = self.minutes()


def work(args, team):
    Trainer(args, team).run()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=list(SIZES), default="nano")
    parser.add_argument("--tokens", type=float, default=150, help="millions of tokens at most")
    parser.add_argument("--max-minutes", type=float, default=75)
    parser.add_argument("--check-minutes", type=float, default=6, help="between validations")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2, help="one thread each")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--matrix-lr", type=float, default=0.02, help="Muon's, for the layers")
    parser.add_argument("--other-lr", type=float, default=3e-3, help="AdamW's, embedding and norms")
    parser.add_argument("--decay", type=float, default=0.05)
    parser.add_argument(
        "--ema", type=float, default=0.995, help="decay of the average of the weights, a step"
    )
    parser.add_argument(
        "--step-batches",
        type=int,
        default=4,
        help="batches of 4096 tokens in a step, of all processes together",
    )
    parser.add_argument("--exit-weights", type=float, nargs="*", default=[0.15, 0.3])
    parser.add_argument(
        "--batch-times", type=int, default=1, help="4096 tokens in a batch so many times, for a GPU"
    )
    parser.add_argument(
        "--uses", type=int, default=4, help="of a piece, where the makers of examples are slower"
    )
    parser.add_argument(
        "--makers", type=int, default=0, help="processes that make examples ahead, for a GPU"
    )
    parser.add_argument(
        "--begin", type=pathlib.Path, help="a GGUF file of this model to begin with"
    )
    parser.add_argument("--plant", type=int, default=1, help="0: do not plant the copy circuit")
    parser.add_argument(
        "--grow", type=pathlib.Path, help="weights of a model with fewer layers to begin with"
    )
    parser.add_argument("--compile", type=int, default=1, help="0 where there is no C++ compiler")
    parser.add_argument("--out", default="work")
    args = parser.parse_args()
    out = pathlib.Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    if args.begin:
        args.seed += zlib.crc32(args.begin.read_bytes())
    build_vocab(out / "vocab.json", args)  # once, before there are several processes
    teams.run(work, args, args.processes)


if __name__ == "__main__":
    main()
