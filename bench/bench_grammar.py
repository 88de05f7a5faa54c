"""What choosing a token costs: the confidence features beside a plain argmax, a grammar beside free
text.

A model of random weights writes noise, so that nearly every token it chooses is refused: the worst
case."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from table import ROOT, heading, row
from tandem import SHARED, Tandem
from tandem import run as tandem_run
from tool_models import HERMES, HERMES_TOKENS, tool_model

CACHE = Path(os.environ.get("TANDEM_BENCH_DIR", ROOT / "build" / "synthetic"))
PERSON = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "email", "age", "tags", "address"],
    "properties": {
        "name": {"type": "string"},
        "email": {"type": "string", "maxLength": 60},
        "age": {"type": "integer"},
        "active": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        "address": {
            "type": "object",
            "additionalProperties": False,
            "required": ["street", "city"],
            "properties": {
                "street": {"type": "string"},
                "city": {"type": "string"},
                "kind": {"enum": ["home", "work", "other"]},
            },
        },
    },
}
GRAMMARS = {  # each has room for more tokens than are measured
    "any value.json": json.dumps({"type": "array", "minItems": 400}),
    "people.json": json.dumps({"type": "array", "items": PERSON, "minItems": 60}),
    "lines.gbnf": (
        'root ::= line{200,}\nline ::= key " = " value "\\n"\nkey ::= [a-z_] [a-z0-9_]{0,15}\n'
        'value ::= "true" | "false" | [0-9]+ | "\\"" [^"\\n]* "\\""\n'
    ),
}


def model_file() -> Any:
    path = CACHE / "synthetic-135M-Q4_0-gpt2.gguf"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                sys.executable,
                str(ROOT / "bench" / "make_synthetic_gguf.py"),
                "smollm2-135m",
                "q4_0",
                str(path),
                "--vocab",
                str(SHARED / "golden" / "tokenizer" / "gpt-2.gguf.gz"),
            ],
            check=True,
        )
    return path


def run() -> None:
    heading("Choosing a token: confidence features, and a grammar (goal <= 5 % from 135M on)")
    subprocess.run(
        ["ninja", "-C", str(ROOT / "build"), "--quiet", "bench/bench_choice"], check=True
    )
    models = [ROOT / "models" / "nano" / "nano.gguf"]
    if (SHARED / "golden" / "tokenizer" / "gpt-2.gguf.gz").exists():
        models.append(model_file())
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, text in GRAMMARS.items():
            files.append(Path(folder) / name)
            files[-1].write_text(text)
        for model in models:
            subprocess.run(
                [str(ROOT / "build" / "bench" / "bench_choice"), str(model), *map(str, files)],
                check=True,
            )
    speculation(models[-1])
    labels(models[0])
    calls()


def generate(model: Path, *extra: Any) -> Any:
    """The fastest of three runs."""
    runs = [
        json.loads(
            tandem_run(
                "generate",
                "-m",
                model,
                "-p",
                "The people: a b c d",
                "-n",
                128,
                "--ignore-eos",
                "--temp",
                0,
                "--json",
                *extra,
                timeout=300,
            )[1]
        )
        for _ in range(3)
    ]
    return min(runs, key=lambda got: got["decode_ms"])


def speculation(model: Path) -> None:
    """Greedy text of a random model repeats itself: the best case for guesses from the text."""
    plain, guessed = generate(model), generate(model, "--speculate", "ngram")
    row(
        f"{model.stem}: guesses from a text that repeats itself",
        f"x{plain['decode_ms'] / guessed['decode_ms']:.2f}",
        f"{guessed['accepted_tokens']} of {guessed['drafted_tokens']} right, same tokens",
        plain["ids"] == guessed["ids"],
    )


def offer(count: int, number: int) -> list[dict[str, Any]]:
    """`number` tells the offers of several requests apart."""
    return [
        {
            "type": "function",
            "function": {
                "name": f"tool_{number}_{i}",
                "parameters": {"type": "object", "properties": {"who": PERSON}},
            },
        }
        for i in range(count)
    ]


def calls() -> None:
    """Calls of tools by a server: the grammar of an offer that is new, and of one that is known."""
    with tempfile.TemporaryDirectory() as folder:
        model = tool_model(f"{folder}/tools.gguf", HERMES, HERMES_TOKENS)
        with Tandem(arguments=["--model", model]) as tandem:

            def ask(number: int, count: int, tokens: int, **more: Any) -> float:
                body = {
                    "model": "local",
                    "messages": [{"role": "user", "content": "Who?"}],
                    "max_tokens": tokens,
                    "temperature": 0,
                    "tools": offer(count, number),
                    **more,
                }
                begin = time.monotonic()
                answer = tandem.request("POST", "/v1/chat/completions", body)
                took = 1000 * (time.monotonic() - begin)
                if answer.status != 200:
                    raise SystemExit(f"calls: {answer.json}")
                return took / (answer.json["usage"]["completion_tokens"] if tokens > 1 else 1)

            for count in (1, 10, 64):
                first = min(ask(100 + i, count, 1) for i in range(5))
                again = min(ask(100, count, 1) for _ in range(5))
                row(
                    f"{count} tools of 9 arguments: the first request, the next",
                    f"{first:.1f} ms, {again:.1f} ms",
                    "with one token each",
                    again <= first,
                )
            held = min(ask(7, 10, 200, tool_choice="required") for _ in range(5))
            text = min(ask(7, 10, 200, tool_choice="none", ignore_eos=True) for _ in range(5))
            row(
                "a token of a call, of free text (10 tools)",
                f"{held:.3f} ms, {text:.3f} ms",
                "whole requests; random calls",
                True,
            )


def labels(model: Path) -> None:
    """The default model's 150 intents by their log-probabilities, beside the answers that it
    writes."""
    path = SHARED / "data" / "clinc150" / "data_full.json"
    if not path.exists():
        print(f"skipped: {path.name} is not here (set TANDEM_SHARED)")
        return
    test = json.loads(path.read_text())["test"]
    names = sorted({label for _, label in test})
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(names))
        file.flush()
        same = asked = 0
        ms = []
        for text, _ in test[::30]:
            written = json.loads(
                tandem_run(
                    "generate", "-m", model, "--chat", "-p", text, "-n", 16, "--temp", 0, "--json"
                )[1]
            )["text"].strip()
            scored = json.loads(
                tandem_run(
                    "score", "-m", model, "--chat", "-p", text, "--labels", file.name, "--json"
                )[1]
            )
            ms.append(scored["ms"])
            asked += written in names
            same += written == scored["best"]
    row(
        "150 labels scored: the same as written",
        f"{same / asked:.1%}",
        f"of {asked}, goal >= 98 %",
        same / asked >= 0.98,
    )
    row("  time, prompt included", f"{sorted(ms)[len(ms) // 2]:.2f} ms")
