#!/usr/bin/env python3
"""Early exits and a probe in a real model file, from the outside (docs/heads.md)."""

import json
import math
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from gguf import add_metadata
from tandem import NANO, Tandem, run, wait_until

WIDE, LAYERS = 256, 6
HEADS = ("tandem.exit.", "tandem.probe.", "tandem.calibration.")  # the shipped model has its own
PROMPT = "Classify the intent: play some music"


def numbers(count, seed):
    draw = random.Random(seed)
    return [draw.uniform(-0.05, 0.05) for _ in range(count)]


EXITS = [("tandem.exit.layers", [2, 4])]
PROBE = [
    ("tandem.probe.layer", 3),
    ("tandem.probe.input", "last+mean"),
    ("tandem.probe.0.weight", numbers(2 * WIDE * 8, 1)),
    ("tandem.probe.0.bias", numbers(8, 2)),
    ("tandem.probe.1.weight", numbers(8, 3)),
    ("tandem.probe.1.bias", numbers(1, 4)),
]


def bare_model(folder):
    add_metadata(NANO, Path(folder) / "bare.gguf", [], HEADS)
    return Path(folder) / "bare.gguf"


def generate(model, *more, prompt=PROMPT):
    code, out, err = run(
        "generate",
        "-m",
        model,
        "--chat",
        "--prompt",
        prompt,
        "-n",
        "12",
        "--temp",
        "0",
        "--ignore-eos",
        "--json",
        *more,
    )
    equal(code, 0, err)
    return json.loads(out)


@case
def test_exits_save_layers_only_when_they_are_asked_for():
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "exits.gguf"
        bare = bare_model(folder)
        add_metadata(bare, model, EXITS)
        plain, none = generate(bare), generate(model)
        equal((none["ids"], none["logprobs"]), (plain["ids"], plain["logprobs"]))
        assert "early_tokens" not in none and "probe" not in none
        always = generate(model, "--exit-threshold", "1e-6")
        equal((always["early_tokens"], always["layers_saved"]), (11, 11 * (LAYERS - 2)))
        some = generate(model, "--exit-threshold", "0.9")
        assert some["layers_saved"] <= always["layers_saved"]
        code, _, err = run("generate", "-m", bare, "--ids", "5", "--exit-threshold", "0.5")
        equal((code, "has no early exits" in err), (1, True), err)


PROMPTS = [
    PROMPT,
    "Classify the mood: hello",
    "Rewrite as a polite sentence: gimme that",
    "Summarise: the cat sat on the mat.",
]


def assert_part(part, whole):
    """A server lists no token without text, such as a first one that says "not mine"."""
    assert any(
        len(part) <= len(whole) - at and all(abs(a - b) < 1e-3 for a, b in zip(part, whole[at:]))
        for at in range(len(whole))
    ), (part, whole)


def served_logprobs(model, engine, root="/sys"):
    """root: the device's; it is looked at every two seconds."""
    config = f"engine: {{{engine}}}\ntiers:\n  - {{name: local, kind: local}}\n"
    config += f"device: {{root: {root}}}\n"
    with Tandem(config, env={"TANDEM_MODEL": model}) as tandem:
        if root != "/sys":
            hot = "42000" in (Path(root) / "class/thermal/thermal_zone0/temp").read_text()
            level = "wall" if hot else "usual"
            path = "/tandem/v1/capabilities"
            wait_until(lambda: tandem.get(path).json["device"]["level"] == level, what=level)
            time.sleep(0.1)  # the engine is told in the same moment
        answers = [tandem.chat(prompt, max_tokens=12, logprobs=True).json for prompt in PROMPTS]
        return [
            [token["logprob"] for token in answer["choices"][0]["logprobs"]["content"]]
            for answer in answers
        ]


@case
def test_a_server_takes_exits_when_its_configuration_says_so():
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "exits.gguf"
        add_metadata(NANO, model, EXITS, HEADS)
        served, without = (
            served_logprobs(model, "exit_threshold: 0.000001"),
            served_logprobs(model, ""),
        )
        assert served != without and max(map(len, served)) > 1, served
        for prompt, early, late in zip(PROMPTS, served, without):
            assert_part(
                early, generate(model, "--exit-threshold", "1e-6", prompt=prompt)["logprobs"]
            )
            assert_part(late, generate(model, prompt=prompt)["logprobs"])
    refuse_wrong_thresholds()


@case
def test_a_hot_device_takes_exits_earlier_and_a_cool_one_as_configured():
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "exits.gguf"
        add_metadata(NANO, model, EXITS, HEADS)

        def saved(threshold):
            return generate(model, "--exit-threshold", str(threshold)).get("layers_saved", 0)

        # The exits of this model are surer than 0.8, and not certain.
        threshold = 1
        assert saved(threshold) < saved(threshold * 0.8)
        zone = Path(folder) / "class/thermal/thermal_zone0"
        zone.mkdir(parents=True)
        said = {"type": "cpu", "trip_point_0_type": "passive", "trip_point_0_temp": "41400"}
        for name, text in said.items():
            (zone / name).write_text(text + "\n")
        got = []
        for temperature in ("42000", "25000"):
            (zone / "temp").write_text(temperature + "\n")
            got.append(served_logprobs(model, f"exit_threshold: {threshold}", folder))
        hot, cool = (
            generate(model, "--exit-threshold", str(t)) for t in (threshold * 0.8, threshold)
        )
        assert hot["logprobs"] != cool["logprobs"]
        assert_part(got[0][0], hot["logprobs"])
        assert_part(got[1][0], cool["logprobs"])


def refuse_wrong_thresholds():
    for engine, words in (
        ("exit_threshold: 0.5", "has no early exits"),
        ("exit_threshold: 2", "exit_threshold"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder) / "tandem.yaml"
            config.write_text(f"engine: {{{engine}}}\n")
            code, _, err = run(
                "serve",
                "--config",
                config,
                "--listen",
                "127.0.0.1:0",
                env={"TANDEM_MODEL": bare_model(folder)},
            )
            assert code and words in err, err


@case
def test_the_probe_is_told_and_recorded():
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "probe.gguf"
        add_metadata(NANO, model, PROBE, HEADS)
        told = generate(model)["probe"]
        assert 0 < told < 1, told
        config = "tiers:\n  - {name: local, kind: local}\n"
        with Tandem(config, env={"TANDEM_MODEL": model}) as tandem:
            ids = [tandem.chat(PROMPT, max_tokens=4).tandem["exchange"] for _ in range(2)]
            for name in ids:  # the second prompt is cached
                signals = tandem.get(f"/tandem/v1/exchanges/{name}").json["signals"]
                equal(round(signals["probe"], 6), round(told, 6))


def lines_of(right, path):
    """Prompts whose first word tells the outcome."""
    words = ["weather", "music", "bank", "flight", "recipe", "alarm", "taxi", "movie"]
    with open(path, "w") as file:
        for n in range(80):
            word = words[n % 8]
            line = {"right": right(n % 8), "kind": "ignored"}
            text = f"{word} please, number {n}"
            line |= {"prompt": text} if n % 3 else {"messages": [{"role": "user", "content": text}]}
            file.write(json.dumps(line) + "\n\n")


@case
def test_a_probe_is_trained_from_lines_and_tells_what_they_told():
    with tempfile.TemporaryDirectory() as folder:
        lines, out = Path(folder) / "lines.jsonl", Path(folder) / "probe.gguf"
        lines_of(lambda word: word < 4, lines)
        for more in ((), ("--hidden", "0", "--input", "mean", "--layer", "1")):
            code, said, err = run("probe", "train", "-m", NANO, lines, "-o", out, "--json", *more)
            equal(code, 0, err)
            said = json.loads(said)
            equal((said["lines"], said["right"]), (80, 40))
            assert said["auroc"] > 0.9, said
            good, bad = (
                generate(out, prompt=f"{word} please, number 44")["probe"]
                for word in ("music", "taxi")
            )
            assert good > 0.7 and bad < 0.3, (good, bad, said)
            equal(generate(out)["ids"], generate(NANO)["ids"])


@case
def test_lines_that_make_no_probe_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        lines, out = Path(folder) / "lines.jsonl", Path(folder) / "probe.gguf"
        lines_of(lambda word: True, lines)
        good = lines.read_text()
        short = "\n".join(good.splitlines()[:20])
        for text, words in (
            (good, "80 right and 0 wrong answers: a probe needs at least 15 of each"),
            (short, "10 lines are too few for a probe: at least 50"),
            ("", "0 lines are too few"),
            (good + "{\n", "line 161: "),
            (good + '{"prompt": "x"}', "line 161: 'right' must be true or false"),
            ('{"right": true}', "line 1: give exactly one of 'prompt' and 'messages'"),
            ('{"right": true, "prompt": 5}', "line 1: 'prompt' must be a string"),
            ('{"right": true, "messages": []}', "line 1: messages"),
            ("[]", "line 1: the line must be a JSON object"),
            ('{"right": true, "prompt": "' + "x y" * 9000 + '"}', "line 1: "),
        ):
            lines.write_text(text)
            code, _, err = run("probe", "train", "-m", NANO, lines, "-o", out)
            equal((code, words in err), (1, True), err)
            assert not out.exists()
        for arguments in (("--input", "first"), ("--layer", "9")):
            code, _, err = run("probe", "train", "-m", NANO, lines, "-o", out, *arguments)
            equal(code, 1, err)
        equal(run("probe", "train", "-m", NANO, lines)[0], 2)
        equal(run("probe", lines, "-o", out)[0], 2)


@case
def test_a_calibration_changes_the_confidence_and_nothing_else():
    with tempfile.TemporaryDirectory() as folder:
        answers = []
        for name, pairs in (("plain", (1.0, 0.0)), ("calibrated", (2.0, -0.5))):
            model = Path(folder) / f"{name}.gguf"
            keys = ("tandem.calibration.temperature", "tandem.calibration.bias")
            add_metadata(NANO, model, list(zip(keys, pairs)), HEADS)
            with Tandem(
                "tiers:\n  - {name: local, kind: local}\n", env={"TANDEM_MODEL": model}
            ) as tandem:
                answers.append(
                    [tandem.chat(prompt, max_tokens=12, temperature=0) for prompt in PROMPTS]
                )
    compared = 0
    for plain, calibrated in zip(*answers):
        equal(plain.text, calibrated.text)
        before, after = (float(a.headers["x-tandem-confidence"]) for a in (plain, calibrated))
        if 0.01 < before < 0.99:  # four digits tell its log-odds
            wanted = 1 / (1 + math.exp(-(math.log(before / (1 - before)) / 2 - 0.5)))
            assert abs(after - wanted) < 0.005, (before, after, wanted)
            compared += 1
    assert compared, [float(a.headers["x-tandem-confidence"]) for a in answers[0]]


@case
def test_a_broken_head_is_refused_with_its_key():
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "broken.gguf"
        add_metadata(NANO, model, [*EXITS, ("tandem.exit.2.norm", numbers(WIDE - 1, 1))], HEADS)
        code, _, err = run("generate", "-m", model, "--ids", "5")
        equal(code, 1)
        assert "tandem.exit.2.norm: 255 numbers, expected 256" in err, err


if __name__ == "__main__":
    main()
