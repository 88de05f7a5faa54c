"""What quantising costs: size, divergence and speed, beside llama.cpp's quantiser when LLAMA_BIN
names its folder (llama-quantize), with the same importance and for the same file.

QUANT_MODEL: a GGUF file in F16 or F32; without it, the shipped weights of the default model.
QUANT_TEXT: what it is measured with; without it, prompts of models/calibration as chats. Half
of the text makes the importance and chooses types, the other half measures."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import planted
from table import ROOT, heading, row
from tandem import NANO
from tandem import run as tandem_run

TYPES = ("Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q4_0", "Q3_K_M", "Q2_K")
ROUNDS = 3
PLANTED_LINES = 400
CHAT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"


def texts(folder: Path) -> tuple[Path, Path]:
    given = os.environ.get("QUANT_TEXT")
    if given:
        whole = Path(given).read_text().splitlines(keepends=True)
    else:
        questions = ROOT / "models" / "calibration" / "questions.jsonl"
        whole = [CHAT.format(json.loads(q)["prompt"]) for q in questions.read_text().splitlines()]
    parts = folder / "learn.txt", folder / "measure.txt"
    for i, part in enumerate(parts):
        part.write_text("".join(whole[i::2]))
    return parts


def tandem(*arguments: Any) -> Any:
    code, out, err = tandem_run(*arguments, "--json", timeout=3600)
    if code != 0:
        raise SystemExit(err)
    return json.loads(out)


def divergence(model: Path, source: Path, text: Path) -> tuple[float, float]:
    result = tandem("perplexity", "-m", model, "--reference", source, "-f", text)
    return result["kld"], result["same_top"]


def timed(command: list[Any]) -> float:
    begin = time.monotonic()
    done = subprocess.run([str(part) for part in command], capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr.decode(errors="replace")[-2000:])
    return time.monotonic() - begin


def show(
    name: str, path: Path, source: Path, text: Path, goal: str = "", most: Any = None
) -> float:
    kld, same = divergence(path, source, text)
    value = f"KLD {kld:.5f}, {100 * same:.1f} %"
    size = f"{path.stat().st_size / 1e6:.2f} MB {goal}"
    row(name, value, size, None if most is None else kld <= most)
    return kld


def peer(folder: Path, source: Path, matrix: Path | None, kind: str) -> tuple[Path, float] | None:
    program = Path(os.environ.get("LLAMA_BIN", "")) / "llama-quantize"
    if not os.environ.get("LLAMA_BIN") or not program.exists():
        return None
    path = folder / f"peer-{kind}-{matrix is not None}.gguf"
    weighed = ["--imatrix", matrix] if matrix else []
    command = [program, *weighed, "--allow-requantize", source, path, kind, "2"]
    return path, min(timed(command) for _ in range(ROUNDS))


def compare_types(folder: Path, source: Path, matrix: Path, text: Path) -> None:
    from tandem import BINARY

    for kind in TYPES:
        path = folder / f"{kind}.gguf"
        command = [BINARY, "quantize", source, path, kind, "--imatrix", matrix, "-t", "2"]
        seconds = min(timed(command) for _ in range(ROUNDS))
        other = peer(folder, source, matrix, kind)
        if other is None:
            show(f"{kind}, {seconds:.2f} s", path, source, text)
            continue
        theirs = show(f"{kind} by llama.cpp, {other[1]:.2f} s", other[0], source, text)
        show(f"{kind}, {seconds:.2f} s", path, source, text, "goal: not above", theirs)


def show_planted(folder: Path) -> None:
    """Traffic of four kinds; of one, 5 % of the lines, two of five prompts have a word that the
    candidate misreads."""
    source, hurt, prompts = folder / "nano.gguf", folder / "hurt.gguf", folder / "traffic.jsonl"
    tandem("quantize", NANO, source, "F32")
    prompts.write_text(planted.lines(PLANTED_LINES))
    ids = [
        int(tandem_run("tokenize", "-m", NANO, stdin=text.encode())[1].split()[0])
        for text in (planted.WORD, " weather")
    ]
    planted.plant(source, hurt, *ids, 2.0)
    result = tandem("quant-eval", source, hurt, "-p", prompts, "-n", "8", "--no-speed")
    answers = result["candidates"][0]["answers"]
    for group in answers["groups"]:
        share = f"{100 * group['share']:.1f} % of {group['prompts']}"
        lost = planted.KIND in group["name"]
        goal = "goal: named" if lost else "goal: not named"
        row(f"flips: {group['name']}", share, goal, group["stands_out"] == lost)
    row("flips of all", f"{100 * answers['share']:.1f} %", f"{answers['prompts']} prompts")


def run() -> None:
    heading("Quantising: divergence from the original, share of likeliest tokens that stay")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given = os.environ.get("QUANT_MODEL")
        source = Path(given) if given else folder / "source.gguf"
        if not given:
            tandem("quantize", NANO, source, "F32")
        learn, measure = texts(folder)
        matrix = folder / "imatrix.gguf"
        tandem("imatrix", source, learn, "-o", matrix)
        compare_types(folder, source, matrix, measure)
        nearest = peer(folder, source, None, "Q4_0")
        if nearest:
            show("Q4_0 rounded to nearest, llama.cpp", nearest[0], source, measure)
        plain = divergence(folder / "Q4_0.gguf", source, measure)[0]
        scaled = folder / "scaled.gguf"
        judged = ("--imatrix", matrix, "--text", learn, "--scale")
        tandem("quantize", source, scaled, "Q4_0", *judged)
        show("Q4_0 with activation-aware scaling", scaled, source, measure, "goal: below", plain)
        uniform = folder / "Q4_K_M.gguf"
        size = uniform.stat().st_size
        chosen = folder / "chosen.gguf"
        more = ("--target-size", size, "--imatrix", matrix, "--text", learn)
        tandem("quantize", source, chosen, *more)
        most = divergence(uniform, source, measure)[0]
        show("types chosen at the size of Q4_K_M", chosen, source, measure, "goal: below", most)
        show_planted(folder)


if __name__ == "__main__":
    run()
