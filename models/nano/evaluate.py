"""What each quantisation costs: size, accuracy, answers that change, speed.

    python evaluate.py --model nano --from work

Exports the trained weights as F16, Q8_0, Q6_K and Q4_K to work/MODEL.MIX.gguf and asks each the
same prompts through the chat endpoint of ../../build/tandem. A flip is an answer that differs from
F16's. What the shipped file can do is measured by `make bench-nano`.
"""

import argparse
import json
import pathlib
import sys

import export

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parents[1] / "bench"), str(HERE.parents[1] / "tests" / "support")]

import nano_sets
from endpoint import LOCAL_ONLY, ask_all
from measures import mean
from tandem import Tandem, run


def prompts(count):
    """{group: [items]}"""
    inside, outside = nano_sets.clinc_items("test")
    step = max(1, len(inside) // (5 * count))
    generated = [
        i for task in nano_sets.own_tasks() for i in nano_sets.task_items(task, count // 4)
    ]
    return {
        "CLINC150": inside[::step],
        "Banking77": nano_sets.banking_items()[::step],
        "generated tasks": generated,
        "out of scope": outside[::step],
    }


def speed(path):
    """Decoded tokens a second on one thread."""
    code, out, err = run(
        "bench", "engine", "-m", path, "-p", "64", "-n", "64", "-t", "1", "--no-roofline", "--json"
    )
    if code:
        raise SystemExit(err)
    return json.loads(out)["decode_tokens_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="nano")
    parser.add_argument("--from", dest="source", type=pathlib.Path, default="work")
    parser.add_argument(
        "--count", type=int, default=200, help="prompts: five times as many of CLINC150"
    )
    args = parser.parse_args()
    net, vocab = export.load(args.source, args.model)
    groups, first = prompts(args.count), {}
    print(
        "| weights | size | "
        + " | ".join(f"{name} ({len(items)})" for name, items in groups.items())
        + " | flips | tokens/s |\n|---|---|"
        + "---|" * (len(groups) + 2)
    )
    for mix in export.MIXES:
        path = args.source / f"{args.model}.{mix}.gguf"
        export.write(net, vocab, args.model, mix, {}, path)
        cells, flips = [], []
        with Tandem(LOCAL_ONLY, env={"TANDEM_MODEL": path}) as tandem:
            for name, items in groups.items():
                replies = ask_all(tandem, [item.request for item in items])
                texts = [reply.text for reply in replies]
                if name == "out of scope":
                    right = [text == nano_sets.REFUSAL for text in texts]
                else:
                    right = [item.right(reply) for item, reply in zip(items, replies)]
                cells.append(f"{mean(right):.1%}")
                flips += [a != b for a, b in zip(texts, first.setdefault(name, texts))]
        print(
            f"| {mix} | {path.stat().st_size / 1e6:.2f} MB | {' | '.join(cells)} |"
            f" {mean(flips):.2%} | {speed(path):.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
