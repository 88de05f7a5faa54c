#!/usr/bin/env python3
"""tandem models build and verify, from the outside: steps, gates, what is kept, what is signed."""

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from hf_folder import make_folder
from tandem import BINARY, NANO, clean_environment, run

FOLDER = Path(tempfile.mkdtemp(prefix="tandem-build-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
TEXT = "turn on the lights in the kitchen and play some jazz music, please. " * 60
STEPS = ["imatrix", "quantize", "evaluate"]


def make_source():
    path = FOLDER / "source.gguf"
    if not path.exists():
        equal(run("quantize", NANO, path, "F32")[0], 0)
    return path


class Place:
    """A folder with a recipe and what it names, and a state folder."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(dir=FOLDER))
        self.env = clean_environment(TANDEM_STATE_DIR=self.folder / "state")
        (self.folder / "texts.txt").write_text(TEXT)
        (self.folder / "other.txt").write_text(TEXT.replace("jazz", "rock"))
        (self.folder / "gate.yaml").write_text("max_kld: 1\n")
        self.output = self.folder / "small.gguf"

    def recipe(self, source=None, more="", quantize="{type: Q4_K_M}", output="small.gguf"):
        text = f"source: {source or make_source()}\noutput: {output}\nlicense: mit\n"
        text += f"imatrix: {{texts: [texts.txt]}}\nquantize: {quantize}\n"
        text += "evaluate: {gate: gate.yaml, texts: [other.txt], speed: false}\n" + more
        return self.write(text)

    def write(self, text):
        path = self.folder / "recipe.yaml"
        path.write_text(text)
        return path

    def build(self, recipe, *more, code=0):
        got, out, err = run("models", "build", recipe, "--json", *more, env=self.env, timeout=200)
        equal(got, code, err or out)
        return json.loads(out) | {"stderr": err}

    def kept(self, recipe):
        """For each step whether it was kept."""
        got, out, err = run("models", "build", recipe, env=self.env, timeout=200)
        equal(got, 0, err)
        lines = [line.split(maxsplit=1) for line in out.decode().splitlines()[:-1]]
        return {name: what.startswith("kept") for name, what in lines}

    def verify(self, *more, code=0, path=None):
        got, out, err = run("models", "verify", path or self.output, "--json", *more, env=self.env)
        equal(got, code, err or out)
        return json.loads(out)


@case
def test_a_build_makes_a_model_that_runs_with_a_manifest_of_where_it_came_from():
    place = Place()
    made = place.build(place.recipe())
    equal([step["step"] for step in made["steps"]], STEPS)
    equal(run("generate", "-m", place.output, "-p", "turn on", "-n", "2")[0], 0)
    checked = place.verify()
    equal((checked["sound"], checked["signer"]), (True, "this machine"))
    manifest = checked["manifest"]
    equal(manifest["license"], "mit")
    equal(manifest["sources"][0]["bytes"], make_source().stat().st_size)
    equal(manifest["model"]["bytes"], place.output.stat().st_size)
    equal([gate["passed"] for gate in manifest["gates"]], [True])
    assert 0 < manifest["steps"][2]["result"]["texts"]["kld"] < 1, manifest
    code, out, err = run("models", "info", place.output, env=place.env)
    equal(code, 0, err)
    assert f"signed by {made['public_key']}".encode() in out, out


@case
def test_a_folder_is_converted_first_and_calibration_is_a_step():
    place = Place()
    _, source, _ = make_folder(place.folder)
    recipe = place.recipe(source="hf", more="calibrate: {tokens: 24}\n", quantize="{type: Q8_0}")
    made = place.build(recipe)
    equal([step["step"] for step in made["steps"]], ["convert", *STEPS, "calibrate"])
    assert list((place.folder / "state" / "calibrations").glob("*.json"))
    names = {entry["file"] for entry in place.verify()["manifest"]["sources"]}
    equal(names, {path.name for path in source.iterdir()})
    equal(set(place.kept(recipe).values()), {True})


@case
def test_steps_are_repeated_only_when_what_they_read_has_changed():
    place = Place()
    recipe = place.recipe()
    place.build(recipe)
    first = place.output.read_bytes()
    equal(place.kept(recipe), dict.fromkeys([*STEPS, "sign"], True))
    (place.folder / "gate.yaml").write_text("max_kld: 2\n")
    expected = {"imatrix": True, "quantize": True, "evaluate": False, "sign": False}
    equal(place.kept(recipe), expected)
    equal(place.output.read_bytes(), first)
    (place.folder / "texts.txt").write_text(TEXT + "What is the weather tomorrow?")
    equal(place.kept(recipe), dict.fromkeys([*STEPS, "sign"], False))
    assert place.output.read_bytes() != first
    place.verify()


@case
def test_a_result_that_somebody_changed_is_made_again():
    place = Place()
    recipe = place.recipe()
    place.build(recipe)
    good = place.output.read_bytes()
    place.output.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    assert "was changed" in place.verify(code=1)["error"]
    equal(place.kept(recipe)["quantize"], False)
    equal(place.output.read_bytes(), good)
    place.verify()


@case
def test_a_model_that_the_gate_refuses_gets_no_name_and_the_reason_is_said():
    place = Place()
    (place.folder / "gate.yaml").write_text("max_kld: 0.0001\n")
    made = place.build(place.recipe(quantize="{type: Q2_K}"), code=3)
    assert "refused" in made["error"] and "0.0001" in made["error"], made
    equal((made["ok"], place.output.exists()), (False, False))
    (place.folder / "gate.yaml").write_text("max_kld: 50\n")
    kept = place.kept(place.folder / "recipe.yaml")
    equal((kept["quantize"], kept["evaluate"]), (True, False))
    place.verify()


@case
def test_a_model_that_repeats_known_mistakes_is_refused():
    place = Place()
    equal(run("generate", "-m", make_source(), "-p", "hello", "-n", "2")[0], 0)
    asked = {"prompt": "turn on the lights in the kitchen"}
    (place.folder / "wrong.jsonl").write_text(json.dumps(asked | {"said": "zebra"}) + "\n")
    made = place.build(place.recipe(more="mistakes: {file: wrong.jsonl, tokens: 8}\n"))
    equal(made["steps"][-1]["result"]["repeated"], 0)
    equal([gate["gate"] for gate in place.verify()["manifest"]["gates"]], ["evaluate", "mistakes"])
    place.output.unlink()
    (place.folder / "wrong.jsonl").write_text(json.dumps(asked | {"answer": "zebra"}) + "\n")
    made = place.build(place.folder / "recipe.yaml", code=10)
    assert "made again" in made["error"], made
    assert not place.output.exists()


@case
def test_an_old_model_is_named_by_list_and_doctor():
    place = Place()
    place.build(place.recipe())
    place.env["TANDEM_MODELS"] = place.folder
    config = place.folder / "tandem.yaml"
    for days, old in ((1, False), (36500, False)):
        config.write_text(f"models: {{max_age_days: {days}}}\n")
        code, out, err = run("models", "list", "--json", "-c", config, env=place.env)
        equal(code, 0, err)
        (model,) = json.loads(out)["models"]
        equal((model["too_old"], model["age_days"]), (old, 0))
    bare = place.folder / "bare.gguf"
    shutil.copyfile(place.output, bare)
    os.utime(bare, (1_600_000_000, 1_600_000_000))
    config.write_text("models: {max_age_days: 30}\n")
    code, out, err = run("models", "list", "-c", config, env=place.env)
    equal(code, 0, err)
    assert b"made 2020-09-13, too old" in out, out
    _, out, _ = run("doctor", "--json", "--offline", "-m", bare, "-c", config, env=place.env)
    (found,) = [c for c in json.loads(out)["checks"] if c["name"].startswith("age of")]
    equal(found["status"], "warn")
    assert "2020-09-13" in found["text"], found


@case
def test_each_step_that_fails_has_a_code_of_its_own():
    place = Place()
    impossible = "{max_kld: 0.0000001, text: texts.txt, tokens: 16}"
    cases = (
        (6, place.recipe(quantize=impossible).read_text()),
        (8, place.recipe(more="calibrate: {questions: other.txt}\n").read_text()),
    )
    for code, text in cases:
        made = place.build(place.write(text), code=code)
        assert not made["ok"] and made["error"], made
        assert not place.output.exists()


WRONG = (
    ("source: SRC\noutput: x.gguf\nmistakes: {}\nEVAL", "file"),
    ("source: SRC\noutput: x.gguf\nmistakes: {file: texts.txt}\nEVAL", "texts.txt:1"),
    ("source: nowhere.gguf\noutput: x.gguf\nevaluate: {gate: gate.yaml, texts: [t]}", "nowhere"),
    ("sorce: a", "source"),
    ("[1, 2]", "map"),
    ("output: x.gguf\nevaluate: {gate: gate.yaml}", "source"),
    ("source: SRC\noutput: x.gguf\nquantize: {typ: Q4_0}\nEVAL", "type"),
    ("source: SRC\noutput: x.gguf\nquantize: {type: Q4_9}\nEVAL", "Q4_9"),
    ("source: SRC\noutput: x.gguf\nquantize: {scale: 3}\nEVAL", "true or false"),
    ("source: SRC\noutput: x.gguf\nquantize: {target_size: big, text: texts.txt}\nEVAL", "size"),
    ("source: SRC\noutput: x.gguf\nquantize: {max_kld: 0.1}\nEVAL", "text"),
    ("source: SRC\noutput: x.gguf\nimatrix: {texts: [gone.txt]}\nEVAL", "gone.txt"),
    ("source: SRC\noutput: x.gguf\nimatrix: {}\nEVAL", "texts"),
    ("source: SRC\noutput: no/where/x.gguf\nEVAL", "no/where"),
    ("source: SRC\noutput: texts.txt/x.gguf\nEVAL", "Not a directory"),
    ("source: SRC\noutput: x.bin\nEVAL", ".gguf"),
    ("source: SRC\noutput: SRC\nEVAL", "itself"),
    ("source: texts.txt\noutput: x.gguf\nEVAL", "texts.txt"),
    ("source: SRC\noutput: x.gguf\nconvert: {type: F16}\nEVAL", "folder"),
    ("source: SRC\noutput: x.gguf\nevaluate: {gate: bad.yaml, texts: [other.txt]}", "max_klds"),
    ("source: SRC\noutput: x.gguf\nevaluate: {gate: flips.yaml, texts: [other.txt]}", "prompts"),
    ("source: SRC\noutput: x.gguf\nevaluate: {gate: gate.yaml, prompts: texts.txt}", "texts.txt:1"),
    ("source: SRC\noutput: x.gguf\nevaluate: {gate: gate.yaml, traffic: true}", "recorded"),
    ("source: SRC\noutput: x.gguf\nsign: {key: gone}\nEVAL", "gone"),
)


@case
def test_what_is_wrong_with_a_recipe_is_said_before_any_work():
    place = Place()
    (place.folder / "bad.yaml").write_text("max_klds: 1\n")
    (place.folder / "flips.yaml").write_text("max_flips: 0.1\n")
    good = "evaluate: {gate: gate.yaml, texts: [other.txt]}"
    for text, words in WRONG:
        recipe = place.write(text.replace("SRC", str(make_source())).replace("EVAL", good))
        made = place.build(recipe, code=2)
        assert words in made["error"], (text, made["error"])
        assert not list(place.folder.glob("**/*.build")), text
    equal(place.build(place.recipe(), "--check")["steps"], [])
    assert not list(place.folder.glob("**/*.build"))
    equal(place.build(place.recipe(), "--threads", "1")["ok"], True)


@case
def test_a_disk_without_room_is_said_before_any_work():
    place = Place()
    huge = place.folder / "huge"
    huge.mkdir()
    count = 1 << 50
    head = {"x": {"dtype": "F32", "shape": [count], "data_offsets": [0, 4 * count]}}
    raw = json.dumps(head).encode()
    (huge / "model.safetensors").write_bytes(len(raw).to_bytes(8, "little") + raw)
    made = place.build(place.recipe(source="huge"), code=2)
    assert "model.safetensors" in made["error"], made
    limited = subprocess.run(["df", "--output=avail", "-B1", place.folder], capture_output=True)
    room = int(limited.stdout.split()[-1])
    count = room // 2 + (1 << 30)
    head = {"x": {"dtype": "F16", "shape": [count], "data_offsets": [0, 2 * count]}}
    raw = json.dumps(head).encode()
    with (huge / "model.safetensors").open("wb") as file:
        file.write(len(raw).to_bytes(8, "little") + raw)
        try:
            file.truncate(8 + len(raw) + 2 * count)
        except OSError:
            return  # the file system has no files with holes that large
    made = place.build(place.folder / "recipe.yaml", code=2)
    assert "MB left" in made["error"], made


@case
def test_an_interrupted_build_goes_on_where_it_was():
    place = Place()
    (place.folder / "long.txt").write_text(TEXT * 60)
    recipe = place.recipe()
    recipe.write_text(recipe.read_text().replace("[other.txt]", "[long.txt]"))
    process = subprocess.Popen(
        [BINARY, "models", "build", recipe], env=place.env, stdout=subprocess.PIPE, text=True
    )
    lines = [process.stdout.readline() for _ in range(2)]
    assert lines[1].startswith("quantize"), lines
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    process.stdout.read()
    equal(process.wait(60), 1)
    assert not place.output.exists()
    recipe.write_text(recipe.read_text().replace("[long.txt]", "[other.txt]"))
    kept = place.kept(recipe)
    equal((kept["imatrix"], kept["quantize"], kept["evaluate"]), (True, True, False))


@case
def test_a_changed_manifest_and_another_key_are_noticed():
    place, other = Place(), Place()
    place.build(place.recipe())
    key = place.verify()["public_key"]
    place.verify("--key", key)
    equal(place.verify("--key", key[::-1], code=3)["signer"], "unknown")
    words = ("models", "verify", place.output, "--key", key[::-1])
    code, out, err = run(*words, env=place.env)
    assert code == 3 and f"--key, {key[::-1]}" in out.decode(), (code, out, err)
    got, out, _ = run("models", "verify", place.output, "--json", env=other.env)
    equal((got, json.loads(out)["signer"]), (3, "unknown"))
    manifest = place.folder / "small.gguf.manifest.json"
    text = manifest.read_text()
    equal(json.loads(text)["public_key"], key)
    manifest.write_text(text.replace('"license":"mit"', '"license":"mpl"'))
    assert "was changed" in place.verify(code=1)["error"]
    manifest.write_text(text[:-3])
    assert "no manifest" in place.verify(code=1)["error"]
    manifest.unlink()
    assert place.verify(code=1)["error"]


@case
def test_a_key_in_a_folder_of_its_own_signs():
    place = Place()
    (place.folder / "keys").mkdir()
    made = place.build(place.recipe(more="sign: {key: keys}\n"))
    equal((place.folder / "keys" / "key.pub").read_text().strip(), made["public_key"])
    equal((place.folder / "keys" / "key").stat().st_mode & 0o77, 0)
    place.verify("--key", made["public_key"])
    place.verify(code=3)


@case
def test_two_builds_of_one_output_do_not_meet():
    place = Place()
    (place.folder / "long.txt").write_text(TEXT * 60)
    recipe = place.recipe()
    text = recipe.read_text()
    recipe.write_text(text.replace("[other.txt]", "[long.txt]"))
    process = subprocess.Popen(
        [BINARY, "models", "build", recipe], env=place.env, stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    assert "another build" in place.build(recipe, code=2)["error"]
    process.send_signal(signal.SIGTERM)
    process.stdout.read()
    equal(process.wait(60), 1)


if __name__ == "__main__":
    main()
