#!/usr/bin/env python3
"""tandem quantize and imatrix, from the outside: sizes, what is refused, what is left behind."""

import fcntl
import json
import os
import pty
import resource
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from tandem import BINARY, NANO, ROOT, SHARED, clean_environment, run

STORIES = SHARED / "golden" / "real" / "stories260K-f32.gguf"
TYPES = "F16 BF16 Q8_0 Q6_K Q5_K_M Q5_0 Q4_1 Q4_K_M Q4_0 IQ4_XS Q3_K_M Q2_K".split()


def quantize(source, target, kind, *more):
    code, out, err = run("quantize", source, target, kind, "--json", *more, timeout=600)
    equal(code, 0, err)
    return json.loads(out)


def wide_model(folder):
    """The default model in F32: its rows are whole super-blocks."""
    path = Path(folder) / "wide.gguf"
    quantize(NANO, path, "F32")
    return path


@case
def test_each_type_makes_a_model_that_runs_and_is_smaller_with_fewer_bits():
    with tempfile.TemporaryDirectory() as folder:
        source, sizes = wide_model(folder), []
        for kind in TYPES:
            target = Path(folder) / f"{kind}.gguf"
            result = quantize(source, target, kind)
            equal(result["file_bytes"], target.stat().st_size)
            sizes.append(result["bits_per_weight"])
            code, out, err = run("generate", "-m", target, "-p", "turn on the", "-n", "3")
            equal(code, 0, err)
            assert out, kind
        assert sizes[0] == sizes[1] and sorted(sizes[1:], reverse=True) == sizes[1:], sizes


@case
def test_more_bits_predict_better():
    text = "turn on the lights in the kitchen and play some music, please. " * 40
    with tempfile.TemporaryDirectory() as folder:
        source = wide_model(folder)
        losses = []
        for kind in ("F32", "Q8_0", "Q2_K"):
            target = Path(folder) / f"{kind}.gguf"
            quantize(source, target, kind)
            code, out, err = run("perplexity", "-m", target, "--json", stdin=text.encode())
            equal(code, 0, err)
            losses.append(json.loads(out)["mean_nll"])
        assert abs(losses[1] - losses[0]) < abs(losses[2] - losses[0]), losses


@case
def test_the_map_is_in_the_metadata_and_requantising_is_said():
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "q4.gguf"
        code, _, err = run("quantize", NANO, target, "Q4_K_M")
        equal(code, 0, err)
        assert "quantised already (Q8_0)" in err, err
        code, out, _ = run("models", "info", target, "--json")
        equal(code, 0)
        metadata = json.loads(out)["metadata"]
        assert "token_embd.weight=Q6_K" in metadata["tandem.quantize.map"], metadata
        equal(metadata["tandem.quantize.requantized_from"], "Q8_0")
        equal(metadata["general.file_type"], "15")


@case
def test_rows_that_are_no_whole_blocks_get_a_type_that_fits():
    if not STORIES.exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "s.gguf"
        code, _, err = run("quantize", STORIES, target, "Q4_K_M")
        equal(code, 0, err)
        assert "no whole blocks of Q4_K" in err and "now Q5_0" in err, err
        equal(run("generate", "-m", target, "-p", "Once", "-n", "2")[0], 0)


def damage(path, value):
    """Writes a float into the first matrix of an F32 file; returns what it wrote over."""
    raw = bytearray(path.read_bytes())
    at = len(raw) - 4096 * 4
    raw[at : at + 4] = struct.pack("<f", value)
    path.write_bytes(raw)


@case
def test_weights_that_are_no_numbers_are_named_and_refused_unless_forced():
    with tempfile.TemporaryDirectory() as folder:
        source, target = wide_model(folder), Path(folder) / "out.gguf"
        for value, word in ((float("nan"), "NaN"), (float("inf"), "infinite")):
            damage(source, value)
            code, _, err = run("quantize", source, target, "Q4_0")
            equal(code, 1)
            assert word in err and "tensor '" in err and "row" in err and "--force" in err, err
            equal(sorted(p.name for p in Path(folder).iterdir()), ["wide.gguf"])
            result = quantize(source, target, "Q4_0", "--force")
            equal(result["mended_weights"], 1)
            target.unlink()


@case
def test_a_full_disk_leaves_no_file():
    with tempfile.TemporaryDirectory() as folder:
        source, target = wide_model(folder), Path(folder) / "out.gguf"

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

        done = subprocess.run(
            [str(BINARY), "quantize", source, target, "Q8_0"],
            capture_output=True,
            env=clean_environment(),
            preexec_fn=limit,
            timeout=60,
        )
        equal(done.returncode, 1)
        assert b"cannot write" in done.stderr, done.stderr
        equal(sorted(os.listdir(folder)), ["wide.gguf"])


@case
def test_a_wrong_type_and_the_model_itself_are_refused_before_the_work():
    with tempfile.TemporaryDirectory() as folder:
        source = wide_model(folder)
        code, _, err = run("quantize", source, Path(folder) / "x.gguf", "Q7_X")
        assert code == 1 and "Q4_K_M" in err, err
        code, _, err = run("quantize", source, source, "Q8_0")
        assert code == 1 and "is read itself" in err, err
        equal(sorted(os.listdir(folder)), ["wide.gguf"])


@case
def test_progress_stays_on_one_line_of_a_narrow_terminal():
    with tempfile.TemporaryDirectory() as folder:
        source = wide_model(folder)
        for columns, bar in ((40, False), (80, True)):
            screen, terminal = pty.openpty()
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
            command = [BINARY, "quantize", source, Path(folder) / "x.gguf", "IQ4_XS", "-t", "1"]
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=terminal, check=False)
            os.close(terminal)
            shown = os.read(screen, 65536).decode()
            os.close(screen)
            equal(done.returncode, 0)
            lines = shown.replace("\x1b[K", "").split("\r")
            assert max(map(len, lines)) < columns, lines
            equal("[##" in shown, bar)
            assert " %," in shown, shown


@case
def test_what_is_read_is_never_written_over():
    with tempfile.TemporaryDirectory() as folder:
        text, matrix = Path(folder) / "text.txt", Path(folder) / "matrix.gguf"
        text.write_text("turn on the lights in the kitchen and play some music, please. " * 40)
        model = Path(folder) / "model.gguf"
        model.write_bytes(NANO.read_bytes())
        code, _, err = run("imatrix", model, text, "-o", matrix)
        equal(code, 0, err)
        (Path(folder) / "link.gguf").symlink_to(model)
        before = [path.read_bytes() for path in (model, text, matrix)]
        for command in (
            ("imatrix", model, text, "-o", model),
            ("imatrix", model, text, "-o", text),
            ("imatrix", model, text, "-o", Path(folder) / "link.gguf"),
            ("quantize", model, matrix, "Q4_0", "--imatrix", matrix),
            ("quantize", model, text, "Q4_0", "--text", text),
            ("logits", "-m", model, "--ids", "1,2", "-o", Path(folder) / "link.gguf"),
            ("logits", "-m", model, "--ids-file", text, "-o", text),
        ):
            code, _, err = run(*command)
            assert code == 1 and "is read itself" in err, (command, err)
            equal([path.read_bytes() for path in (model, text, matrix)], before)


@case
def test_importance_from_texts_is_used_and_another_models_is_refused():
    with tempfile.TemporaryDirectory() as folder:
        source, text = wide_model(folder), Path(folder) / "text.txt"
        text.write_text("turn on the lights in the kitchen. play some music. " * 60)
        matrix, target = Path(folder) / "imatrix.gguf", Path(folder) / "q4.gguf"
        code, out, err = run("imatrix", source, text, "-o", matrix, "--json")
        equal(code, 0, err)
        equal(json.loads(out)["matrices"], 43)
        plain = quantize(source, Path(folder) / "plain.gguf", "Q4_K_M")
        result = quantize(source, target, "Q4_K_M", "--imatrix", matrix)
        equal((result["unweighed_tensors"], result["map"]), (0, plain["map"]))
        assert (
            target.read_bytes()[-1_000_000:]
            != (Path(folder) / "plain.gguf").read_bytes()[-1_000_000:]
        )
        if STORIES.exists():
            code, _, err = run("quantize", STORIES, target, "Q4_0", "--imatrix", matrix)
            assert code == 1 and "another model" in err, err
        code, _, err = run("quantize", source, target, "Q4_0", "--imatrix", source)
        assert code == 1 and "not an importance matrix" in err, err


def chats(folder):
    """Questions as the model reads them, in two files: one to make a model with, one to test it."""
    lines = (ROOT / "models/calibration/questions.jsonl").read_text().splitlines()
    mark = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
    texts = [mark.format(json.loads(line)["prompt"]) for line in lines]
    for name, part in (("learn", texts[0:600:2]), ("unseen", texts[1:600:2])):
        (Path(folder) / name).write_text("".join(part))
    return Path(folder) / "learn", Path(folder) / "unseen"


def divergence(model, source, text):
    code, out, err = run("perplexity", "-m", model, "--reference", source, "-f", text, "--json")
    equal(code, 0, err)
    return json.loads(out)["kld"]


@case
def test_scales_bring_a_model_nearer_to_the_original_on_texts_that_chose_nothing():
    with tempfile.TemporaryDirectory() as folder:
        source, (learn, unseen) = wide_model(folder), chats(folder)
        plain, scaled = Path(folder) / "plain.gguf", Path(folder) / "scaled.gguf"
        more = ("--text", learn, "--tokens", "768")
        quantize(source, plain, "Q4_0", *more)
        result = quantize(source, scaled, "Q4_0", *more, "--scale")
        assert result["scaled_groups"] > 0, result
        assert result["scaling_kld"] < result["scaling_kld_plain"], result
        equal(plain.stat().st_size < scaled.stat().st_size < plain.stat().st_size + 200, True)
        kld = divergence(scaled, source, unseen), divergence(plain, source, unseen)
        assert kld[0] < kld[1], kld
        equal([p.name for p in Path(folder).glob("*.try*")], [])


@case
def test_a_model_that_does_not_gain_is_written_without_scales():
    """The default model has its weights in Q8_0: nothing is rounded, so nothing can gain."""
    with tempfile.TemporaryDirectory() as folder:
        _, text = chats(folder)
        target = Path(folder) / "scaled.gguf"
        result = quantize(NANO, target, "Q8_0", "--text", text, "--tokens", "192", "--scale")
        equal((result["scaled_groups"], result["kld"]), (0, 0))
        equal(target.read_bytes()[-6_000_000:] == NANO.read_bytes()[-6_000_000:], True)


@case
def test_scales_are_taken_back_where_the_whole_model_does_not_gain_from_them():
    """Random weights: what seems to gain is chance, and the last third of the text shows it."""
    source = SHARED / "golden" / "models" / "gemma3-f32.gguf"
    if not source.exists():
        raise Skip(f"no {source.name}")
    with tempfile.TemporaryDirectory() as folder:
        _, text = chats(folder)
        plain, scaled = Path(folder) / "plain.gguf", Path(folder) / "scaled.gguf"
        more = ("--text", text, "--tokens", "1024")
        quantize(source, plain, "Q4_0", *more)
        result = quantize(source, scaled, "Q4_0", *more, "--scale")
        same = plain.read_bytes()[-300_000:] == scaled.read_bytes()[-300_000:]
        gained = result["scaling_kld"] < result["scaling_kld_plain"]
        equal((result["scaled_groups"] > 0, same), (gained, not gained))


@case
def test_scales_need_a_text_long_enough_to_judge_with():
    with tempfile.TemporaryDirectory() as folder:
        _, text = chats(folder)
        target = Path(folder) / "out.gguf"
        code, _, err = run("quantize", NANO, target, "Q4_0", "--scale")
        assert code == 2 and "--scale needs --text" in err, err
        more = ("--text", text, "--tokens", "100", "--scale")
        code, _, err = run("quantize", NANO, target, "Q4_0", *more)
        assert code == 1 and "at least 192 tokens" in err and "allow 100" in err, err
        equal(sorted(os.listdir(folder)), ["learn", "unseen"])


if __name__ == "__main__":
    main()
