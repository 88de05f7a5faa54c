#!/usr/bin/env python3
"""tandem quant-eval, from the outside: what compressing costs, by cluster, and the gate."""

import atexit
import json
import os
import shutil
import signal
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import planted
from check import case, equal, main
from tandem import NANO, SHARED, Tandem, clean_environment, run, wait_until

FOLDER = Path(tempfile.mkdtemp(prefix="tandem-quant-eval-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
SOURCE = FOLDER / "source.gguf"
STORIES = SHARED / "golden" / "real" / "stories260K-f32.gguf"
TEXT = FOLDER / "text.txt"
TEXT.write_text("turn on the lights in the kitchen and play some jazz music, please. " * 30)


def make(target, kind):
    path = FOLDER / target
    if not path.exists():
        code, _, err = run("quantize", NANO if kind == "F32" else SOURCE, path, kind)
        equal(code, 0, err)
    return path


make(SOURCE.name, "F32")


def write(name, text):
    (FOLDER / name).write_text(text)
    return FOLDER / name


def evaluate(*arguments, code=0, **options):
    """The JSON of an evaluation; what it said on standard error where it fails."""
    got, out, err = run("quant-eval", *arguments, "--no-speed", "--json", timeout=300, **options)
    equal(got, code, err or out)
    return err if code == 1 else json.loads(out)


def failure(*arguments, **options):
    got, out, err = run("quant-eval", *arguments, "--no-speed", timeout=300, **options)
    assert got in (1, 2), (got, out, err)
    return err


def token(text):
    code, out, err = run("tokenize", "-m", NANO, stdin=text.encode())
    equal(code, 0, err)
    return int(out.split()[0])


@case
def test_a_model_that_is_the_same_loses_nothing_and_is_promoted():
    prompts = write("few.jsonl", planted.lines(12))
    gate = write("strict.yaml", "max_kld: 0\nmax_flips: 0\nmin_same_top: 1\nmin_prompts: 10\n")
    result = evaluate(SOURCE, SOURCE, "-f", TEXT, "-p", prompts, "--gate", gate)
    (same,) = result["candidates"]
    equal((same["texts"]["kld"], same["answers"]["kld"], same["answers"]["flips"]), (0, 0, 0))
    equal((same["promoted"], same["reasons"]), (True, []))
    equal(same["file_bytes"], SOURCE.stat().st_size)
    assert same["memory_bytes"] > same["file_bytes"], same


@case
def test_fewer_bits_diverge_more_and_sizes_are_exact():
    small = [make(f"{kind}.gguf", kind) for kind in ("Q8_0", "Q4_K_M", "Q2_K")]
    found = evaluate(SOURCE, *small, "-f", TEXT)["candidates"]
    klds = [candidate["texts"]["kld"] for candidate in found]
    assert 0 < klds[0] < klds[1] < klds[2], klds
    equal([c["file_bytes"] for c in found], [path.stat().st_size for path in small])
    assert all("answers" not in candidate for candidate in found)


@case
def test_a_small_kind_of_question_that_is_lost_is_named_though_the_mean_looks_fine():
    hurt, prompts = FOLDER / "hurt.gguf", write("traffic.jsonl", planted.lines(200))
    planted.plant(SOURCE, hurt, token(planted.WORD), token(" weather"), 2.0)
    gate = write("gate.yaml", "max_flips: 0.05\nmax_cluster_flips: 0.02\n")
    picture = FOLDER / "flips.svg"
    result = evaluate(SOURCE, hurt, "-p", prompts, "-n", 8, "--gate", gate, "-o", picture, code=3)
    (found,) = result["candidates"]
    assert 0 < found["answers"]["share"] < 0.05, found["answers"]["share"]
    groups = found["answers"]["groups"]
    named = [group["name"] for group in groups if group["stands_out"]]
    assert len(groups) >= 4 and len(named) == 1 and planted.KIND in named[0], groups
    assert len(found["reasons"]) == 1 and named[0] in found["reasons"][0], found["reasons"]
    assert found["promoted"] is False
    root = ElementTree.fromstring(picture.read_text())
    assert any(named[0] in "".join(node.itertext()) for node in root.iter()), picture


@case
def test_the_tables_are_at_most_80_columns_wide_and_say_the_verdict():
    prompts = write("few.jsonl", planted.lines(12))
    gate = write("loose.yaml", "max_kld: 9\nmax_bytes: 100\n")
    code, out, err = run(
        "quant-eval", SOURCE, make("Q2_K.gguf", "Q2_K"), "-f", TEXT, "-p", prompts, "--gate", gate
    )
    equal(code, 3, err)
    text = out.decode()
    tables = text[: text.index("REFUSED: Q2_K.gguf")]
    assert max(map(len, tables.splitlines())) <= 80, tables
    size = (FOLDER / "Q2_K.gguf").stat().st_size
    assert f"the file's size is {size}, max_bytes is 100" in text, text
    assert f"{size:,}" in tables and "all prompts" in tables, tables


@case
def test_labels_tasks_and_known_answers_are_counted():
    ask = "Is the sentiment of this text positive or negative? I {} the camera."
    lines = ""
    for i in range(12):
        word, right = ("love", "positive") if i % 2 else ("hate", "negative")
        line = {"prompt": ask.format(word) + f" {i}", "task": "mood", "answer": right}
        if i % 3:
            line["labels"] = ["positive", "negative"]
        lines += json.dumps(line) + "\n"
    prompts = write("labels.jsonl", lines)
    result = evaluate(SOURCE, make("Q8_0.gguf", "Q8_0"), "-p", prompts)
    equal(result["known"], 12)
    assert result["reference"]["right"] >= 6, result["reference"]
    answers = result["candidates"][0]["answers"]
    equal((answers["groups"][0]["kind"], answers["groups"][0]["name"]), ("task", "mood"))
    equal((answers["groups"][0]["prompts"], answers["lost"]), (12, 0))


@case
def test_a_smaller_cache_is_measured_with_the_same_file():
    prompts = write("few.jsonl", planted.lines(12))
    result = evaluate(SOURCE, SOURCE, "-p", prompts, "-f", TEXT, "--kv-type", "q8_0")
    (found,) = result["candidates"]
    assert 0 < found["texts"]["kld"] < 0.01, found["texts"]
    assert found["memory_bytes"] < result["reference"]["memory_bytes"], found


@case
def test_own_traffic_is_measured_where_the_policy_stores_it():
    stored = "ledger: {store_prompts: true}\ntiers:\n  - {name: local, kind: local}\n"
    with Tandem(stored) as tandem:
        for i in range(6):
            body = {
                "model": "local",
                "max_tokens": 8,
                "messages": [{"role": "user", "content": planted.question(i)}],
            }
            equal(tandem.request("POST", "/v1/chat/completions", body).status, 200)

        def all_there():
            code, out, _ = run("quant-eval", "--traffic", "--lines", "-", env=tandem.environment)
            return code == 0 and len(out.splitlines()) == 5

        wait_until(all_there)
        result = evaluate(SOURCE, make("Q8_0.gguf", "Q8_0"), "--traffic", env=tandem.environment)
        equal(result["lines"], 5)  # one was asked twice
        equal(result["candidates"][0]["answers"]["prompts"], 5)
    with Tandem(stored.replace("true", "false")) as tandem:
        body = {"model": "local", "messages": [{"role": "user", "content": "play jazz"}]}
        equal(tandem.request("POST", "/v1/chat/completions", body).status, 200)
        wait_until(
            lambda: "store_prompts" in failure(SOURCE, SOURCE, "--traffic", env=tandem.environment),
        )


@case
def test_doctor_warns_of_few_bits_until_an_evaluation_has_passed():
    small = make("Q2_K.gguf", "Q2_K")

    def bits(tandem):
        _, out, _ = run("doctor", "--json", "--offline", env=tandem.environment)
        found = [c for c in json.loads(out)["checks"] if c["name"] == "few bits"]
        return (found[0]["status"], found[0]["text"]) if found else None

    config = f"engine: {{model: {small}}}\ntiers:\n  - {{name: local, kind: local}}\n"
    with Tandem(config) as tandem:
        state, text = bits(tandem)
        assert state == "warn" and "nobody has measured" in text, text
        for limit, code, wanted in (("0.001", 3, "refused it"), ("9", 0, "passed")):
            gate = write("bits.yaml", f"max_kld: {limit}\n")
            evaluate(SOURCE, small, "-f", TEXT, "--gate", gate, code=code, env=tandem.environment)
            state, text = bits(tandem)
            assert wanted in text and (state == "ok") == (code == 0), text
        kept = list(Path(tandem.environment["TANDEM_STATE_DIR"]).glob("evaluations/*.json"))
        equal(len(kept), 1)
    with Tandem(config.replace(str(small), str(make("Q4_K_M.gguf", "Q4_K_M")))) as tandem:
        equal(bits(tandem), None)
    legal = "routes:\n  - {name: legal-eu, kind: local-only, tiers: [local]}\n"
    with Tandem(config.replace(str(small), str(FOLDER / "Q4_K_M.gguf")) + legal) as tandem:
        state, text = bits(tandem)
        assert state == "warn" and "legal-eu" in text, text


def reload(tandem):
    count = "".join(tandem.log).count("event=config_reloaded")
    tandem.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "".join(tandem.log).count("event=config_reloaded") > count, 60)


def reasons_of(answer):
    return answer.json["error"]["message"] if answer.status >= 400 else ""


@case
def test_few_bits_and_age_are_refused_where_the_policy_says_so():
    small, larger = make("Q2_K.gguf", "Q2_K"), make("Q4_K_M.gguf", "Q4_K_M")
    policy = (
        "models: {few_bits: refuse}\ntiers:\n  - {name: local, kind: local}\n"
        "routes:\n  - {name: auto, kind: local-only, tiers: [local]}\n"
        "  - {name: legal-eu, kind: local-only, tiers: [local]}\n"
    )
    gate = write("bits.yaml", "max_kld: 9\n")
    warns = policy.replace("few_bits: refuse", "few_bits: warn")
    with Tandem(f"engine: {{model: {small}}}\n" + warns) as tandem:
        assert "event=model_few_bits tier=local" in "".join(tandem.log), tandem.log
        equal(tandem.chat("play jazz").status, 200)
        tandem.config.write_text(f"engine: {{model: {small}}}\n" + policy)
        reload(tandem)
        wait_until(lambda: tandem.chat("play jazz").status == 503, 60)
        answer = tandem.chat("play jazz")
        assert "few_bits" in reasons_of(answer), answer.body
        assert "event=model_refused tier=local code=few_bits" in "".join(tandem.log), tandem.log
        evaluate(SOURCE, small, "-f", TEXT, "--gate", gate, env=tandem.environment)
        reload(tandem)  # the model is opened after that
        wait_until(lambda: tandem.chat("play jazz").status == 200, 60)
    with Tandem(f"engine: {{model: {larger}}}\n" + policy) as tandem:
        equal(tandem.chat("play jazz").status, 200)
        for options in ({"model": "legal-eu"}, {"tandem": {"tags": ["medical-de"]}}):
            answer = tandem.chat("play jazz", **options)
            assert answer.status == 403 and "medicine and law" in reasons_of(answer), answer.body
        evaluate(SOURCE, larger, "-f", TEXT, "--gate", gate, env=tandem.environment)
        reload(tandem)
        wait_until(lambda: tandem.chat("play jazz", model="legal-eu").status == 200, 60)
        config = tandem.config.read_text()
        os.utime(larger, (1e9, 1e9))
        tandem.config.write_text(config.replace("few_bits: refuse", "max_age_days: 30"))
        reload(tandem)
        wait_until(lambda: "event=model_too_old tier=local" in "".join(tandem.log), 60)
        equal(tandem.chat("play jazz").status, 200)
        tandem.config.write_text(
            config.replace("few_bits: refuse", "max_age_days: 30, too_old: refuse")
        )
        reload(tandem)  # what it waits for may be of the reload before
        wait_until(lambda: "too_old" in reasons_of(tandem.chat("play jazz")), 60)
        assert "event=model_refused tier=local code=too_old" in "".join(tandem.log), tandem.log
    os.utime(larger)


@case
def test_doctor_names_the_best_model_for_the_memory_that_is_free():
    folder, root = FOLDER / "models", FOLDER / "machine"
    (root / "sys").mkdir(parents=True)
    (root / "proc").mkdir()
    folder.mkdir()
    names = ("Q2_K", "Q4_K_M", "Q8_0")
    for name in names:
        shutil.copyfile(make(f"{name}.gguf", name), folder / f"{name}.gguf")
    environment = clean_environment(
        TANDEM_MODELS=folder, TANDEM_STATE_DIR=FOLDER / "state", TANDEM_DEVICE__ROOT=root
    )

    def best(free_mb, model="Q2_K"):
        (root / "proc" / "meminfo").write_text(f"MemAvailable: {free_mb * 1000} kB\n")
        _, out, _ = run("doctor", "--json", "--offline", "-m", model, env=environment)
        (found,) = [c for c in json.loads(out)["checks"] if c["name"] == "best model"]
        return found["status"], found["text"]

    state, text = best(1000)
    assert state == "ok" and "Q8_0.gguf is the best of 3 models" in text, text
    need = float(text.split("needs ")[1].split(" MB")[0])
    assert "the one in use is the best" in best(1000, "Q8_0")[1]
    smaller = best(int(need) - 2)[1]
    assert "Q4_K_M.gguf is the best" in smaller, smaller
    assert best(1)[0] == "warn" and "none of 3 models" in best(1)[1]
    (folder / "Q4_K_M.gguf").unlink()  # Q2_K fits, and nobody has measured its few bits
    assert "the one in use is the best" in best(int(need) - 2)[1]


@case
def test_a_cache_of_four_bits_is_used_as_the_measurement_or_an_evaluation_says():
    config = (
        f"engine: {{model: {STORIES}, kv_type: q4_0}}\ntiers:\n  - {{name: local, kind: local}}\n"
    )

    def said(tandem):
        _, out, _ = run("doctor", "--json", "--offline", env=tandem.environment)
        (found,) = [c for c in json.loads(out)["checks"] if c["name"] == "KV cache"]
        return found["status"], found["text"]

    with Tandem(config) as tandem:
        assert any("event=kv_cache_not_used" in line for line in tandem.log), tandem.log
        state, text = said(tandem)
        assert state == "warn" and "does not bear q4_0" in text and "q8_0/q4_0 is used" in text, (
            text
        )
        for limit, code, wanted in (("9", 0, "passed"), ("0.001", 3, "q8_0 is used")):
            gate = write("cache.yaml", f"max_kld: {limit}\n")
            four = ("--kv-type", "q4_0", "-f", TEXT, "--gate", gate)
            evaluate(STORIES, STORIES, *four, code=code, env=tandem.environment)
            state, text = said(tandem)
            assert wanted in text and (state == "ok") == (code == 0), text
        folder = Path(tandem.environment["TANDEM_STATE_DIR"])
        equal(len(list(folder.glob("caches/*.json"))), 1)
        equal(list(folder.glob("evaluations/*.json")), [])  # nothing is said of the model


@case
def test_what_is_wrong_is_said_before_the_long_work():
    small = make("Q8_0.gguf", "Q8_0")
    prompts = write("few.jsonl", planted.lines(12))
    for text, words in (
        ("max_flip: 0.1\n", ("max_flip", "max_flips")),
        ("max_flips: 2\n", ("max_flips", "1")),
        ("", ("map of limits",)),
        ("min_decode_tokens_per_s: 5\n", ("--no-speed",)),
    ):
        err = failure(SOURCE, small, "-p", prompts, "--gate", write("bad.yaml", text))
        assert all(word in err for word in words), (text, err)
    gate = write("flips.yaml", "max_flips: 0.1\n")
    assert "--prompts" in failure(SOURCE, small, "-f", TEXT, "--gate", gate)
    assert "missing.gguf" in failure(SOURCE, FOLDER / "missing.gguf", "-f", TEXT)
    assert "candidate" in failure(SOURCE, "-f", TEXT)
    assert "--text" in failure(SOURCE, small)
    assert "no prompt" in failure(SOURCE, small, "-p", write("none.jsonl", "\n\n"))
    bad = write("bad.jsonl", planted.lines(2) + '{"prompt": 3}\n')
    assert "bad.jsonl, line 3" in failure(SOURCE, small, "-p", bad)
    labels = write("bad.jsonl", '{"prompt": "x", "labels": ["one"]}\n')
    assert "'labels'" in failure(SOURCE, small, "-p", labels)
    if STORIES.exists():
        assert "vocabulary" in failure(SOURCE, STORIES, "-f", TEXT)


@case
def test_few_prompts_are_no_ground_for_a_verdict_on_flips():
    prompts = write("few.jsonl", planted.lines(12))
    gate = write("flips.yaml", "max_flips: 0.5\n")
    result = evaluate(SOURCE, SOURCE, "-p", prompts, "--gate", gate, code=3)
    assert "too few" in result["candidates"][0]["reasons"][0], result


if __name__ == "__main__":
    main()
