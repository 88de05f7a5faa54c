#!/usr/bin/env python3
"""Everybody can learn from their own traffic: lines for a classifier, a confidence model and a
probe are made of the ledger."""

import json
import os
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from intents import ASKED
from scripted_cloud import Script, ScriptedCloud
from tandem import NANO, Tandem, edge_first, run, wait_until

FOLDER = Path(tempfile.mkdtemp(prefix="tandem-own-"))
STORED = "ledger: {store_prompts: true}\n"
LOCAL = "tiers:\n  - {name: local, kind: local}\n"
CITIES = "Paris Rome Oslo Bern Kyiv Riga Lima Cairo Delhi Quito Accra Doha".split()


def easy(i):
    return f"{ASKED}please transfer {i + 20} dollars to my savings account in {CITIES[i % 12]}"


def hard(i):
    return f"Write a long poem about {CITIES[i % 12]} and the number {i}."


def judge(tandem, answer, ok, **options):
    body = {"id": answer.tandem["exchange"], "ok": ok}
    equal(tandem.request("POST", "/tandem/v1/feedback", body, **options).status, 200)


def ask(tandem, messages, **options):
    body = {"model": "local", "max_tokens": 20, "temperature": 0}
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    answer = tandem.request(
        "POST", "/v1/chat/completions", {**body, "messages": messages}, **options
    )
    equal(answer.status, 200, answer.body)
    return answer


def lines_of(tandem, *verb, code=0):
    """The lines, once the ledger has all that was told it; or what the command said."""
    got, out, err = run(*verb, "--from-ledger", "--lines", "-", env=tandem.environment)
    equal(got, code, err)
    return err if code else [json.loads(line) for line in out.splitlines()]


def until_lines(tandem, count, *verb):
    found = []

    def enough():
        code, out, _ = run(*verb, "--from-ledger", "--lines", "-", env=tandem.environment)
        found[:] = [json.loads(line) for line in out.splitlines()] if code == 0 else []
        return len(found) == count

    wait_until(enough)
    return found


TRAIN = ("router", "train")


def until_judged(tandem, count, *more):
    """Until the ledger has that much feedback."""

    def all_there():
        _, _, err = run(*TRAIN, "--from-ledger", "--lines", "-", *more, env=tandem.environment)
        return f"by feedback {count}," in err

    wait_until(all_there)


@case
def test_without_anything_to_learn_from_it_says_what_is_missing():
    with Tandem(LOCAL) as tandem:
        err = lines_of(tandem, *TRAIN, "--since", "1s", code=1)
        assert "no such exchange" in err or "recorded" in err, err
        answer = ask(tandem, easy(1))
        wait_until(lambda: "nobody knows" in lines_of(tandem, *TRAIN, code=1))
        err = lines_of(tandem, *TRAIN, code=1)
        assert "/tandem/v1/feedback" in err and "shadow.edge_share" in err, err
        judge(tandem, answer, True)
        wait_until(lambda: "store_prompts" in lines_of(tandem, *TRAIN, code=1))
        code, _, err = run(*TRAIN, env=tandem.environment)
        assert code == 2 and "--from-ledger" in err, err


@case
def test_lines_have_the_text_the_verdict_and_the_task_and_repeats_are_one():
    with Tandem(LOCAL + STORED) as tandem:
        for ok in (True, True, False, True):
            judge(tandem, ask(tandem, easy(1)), ok)
        until_judged(tandem, 4)
        ask(tandem, hard(1))  # the model says itself that this is not its task
        ask(tandem, easy(2))  # nobody judged it
        found = until_lines(tandem, 2, *TRAIN)
        equal(found[0]["text"], easy(1))
        equal((found[0]["local_ok"], found[0]["task"]), (0.75, "classification"))
        equal((found[1]["text"], found[1]["local_ok"]), (hard(1), 0))
        assert all("strong_ok" not in line for line in found), found
        target = FOLDER / "look.jsonl"
        code, _, err = run(*TRAIN, "--from-ledger", "--lines", target, env=tandem.environment)
        equal((code, len(target.read_text().splitlines())), (0, 2), err)
        equal(os.stat(target).st_mode & 0o777, 0o600)
        assert "judged by feedback 4" in err and "refusals 1" in err, err
        err = lines_of(tandem, *TRAIN, "--route", "other", code=1)
        assert "no such exchange" in err, err


@case
def test_a_conversation_gives_the_users_own_words_and_its_messages():
    with Tandem(LOCAL + STORED) as tandem:
        talk = [
            {"role": "system", "content": "You are the assistant\nof a bank."},
            {"role": "user", "content": "what is my balance"},
            {"role": "assistant", "content": "balance"},
            {"role": "user", "content": f"{ASKED}please send\n20 dollars to Ann"},
        ]
        judge(tandem, ask(tandem, talk), True)
        (line,) = until_lines(tandem, 1, *TRAIN)
        equal(line["text"], f"what is my balance\n{ASKED}please send\n20 dollars to Ann")
        (line,) = until_lines(tandem, 1, "probe", "train")
        equal((line["messages"], line["right"]), (talk, True))
        (line,) = until_lines(tandem, 1, "router", "confidence")
        equal((line["messages"], line["right"]), (talk, True))
        assert isinstance(line["said"], str), line


@case
def test_what_a_cloud_answered_is_the_strong_tiers():
    cloud = ScriptedCloud(Script(text="A poem."))
    config = edge_first(cloud.base_url) + "    start: cloud\n" + STORED
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        body = {"model": "auto", "messages": [{"role": "user", "content": hard(3)}]}
        answer = tandem.request("POST", "/v1/chat/completions", body)
        equal(answer.tandem["tier"], "cloud")
        judge(tandem, answer, False)
        (line,) = until_lines(tandem, 1, *TRAIN)
        assert line["strong_ok"] == 0 and "local_ok" not in line, line
        err = lines_of(tandem, "probe", "train", code=1)  # nothing of the device's own
        assert "another tier" in err, err
        (line,) = until_lines(tandem, 1, "router", "confidence", "--tier", "cloud")
        equal((line["prompt"], line["right"], line["said"]), (hard(3), False, "A poem."))


@case
def test_a_shadow_of_the_device_says_how_right_it_is():
    cloud = ScriptedCloud(Script(text="transfer"))
    config = edge_first(cloud.base_url) + "    start: cloud\n    shadow: {edge_share: 1}\n" + STORED
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        body = {"model": "auto", "messages": [{"role": "user", "content": easy(4)}]}
        equal(tandem.request("POST", "/v1/chat/completions", body).tandem["tier"], "cloud")
        (line,) = until_lines(tandem, 1, *TRAIN)
        equal((line["text"], line["local_ok"]), (easy(4), 1))
        assert "strong_ok" not in line, line  # nobody judged the cloud
        (line,) = until_lines(tandem, 1, "router", "confidence")
        assert line["right"] and "said" not in line, line  # a shadow's answer is not kept


@case
def test_confident_mistakes_are_collected_and_asked_again():
    path = FOLDER / "mistakes.jsonl"
    with Tandem(LOCAL + STORED) as tandem:
        wrong = [ask(tandem, easy(i)) for i in range(3)]
        for answer in wrong:
            judge(tandem, answer, False)
        judge(tandem, ask(tandem, easy(7)), True)
        until_judged(tandem, 4)
        verb = ("models", "mistakes", "-o", path, "--confidence", "0.01", "--json")
        code, out, err = run(*verb, env=tandem.environment)
        equal(code, 0, err)
        equal((json.loads(out)["lines"], json.loads(out)["wrong"]), (3, 3))
        equal(path.stat().st_mode & 0o77, 0)
        found = [json.loads(line) for line in path.read_text().splitlines()]
        equal([line["prompt"] for line in found], [easy(i) for i in range(3)])
        equal([line["said"] for line in found], [answer.text for answer in wrong])
        sure = ("models", "mistakes", "-o", path, "--confidence", "1", "--json")
        code, out, _ = run(*sure, env=tandem.environment)
        assert code == 0 or "confidence of at least 1" in json.loads(out)["error"], out
        run(*verb, env=tandem.environment)
    code, out, err = run("models", "mistakes", NANO, path, "--json", "-n", "20")
    equal(code, 0, err)
    equal((json.loads(out)["repeated"], json.loads(out)["prompts"]), (3, 3))
    code, out, _ = run("models", "mistakes", NANO, path, "--json", "--max-share", "0.5", "-n", "20")
    equal((code, json.loads(out)["promoted"]), (3, False))
    known = [{"prompt": line["prompt"], "answer": line["said"]} for line in found]
    path.write_text("".join(json.dumps(line) + "\n" for line in known))
    verb = ("models", "mistakes", NANO, path, "--json", "--max-share", "0", "-n", "20")
    code, out, _ = run(*verb)
    equal((code, json.loads(out)["repeated"]), (0, 0))
    path.write_text('{"prompt": "hello"}\n')
    code, _, err = run("models", "mistakes", NANO, path)
    assert code == 1 and "said" in err, err


@case
def test_the_versions_of_models_are_recorded_once_and_compared():
    cloud = ScriptedCloud(Script(text="I cannot say."))
    shadow = "    start: cloud\n    shadow: {edge_share: 1}\n"
    with Tandem(edge_first(cloud.base_url) + shadow, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for i in range(2):
            ask(tandem, easy(i))  # of the local model
        body = {"model": "auto", "messages": [{"role": "user", "content": easy(4)}]}
        equal(tandem.request("POST", "/v1/chat/completions", body).tandem["tier"], "cloud")

        def versions():
            code, out, err = run("models", "versions", "--json", env=tandem.environment)
            equal(code, 0, err)
            return json.loads(out)

        wait_until(lambda: sum(pair["compared"] for pair in versions()["skew"]) == 1)
        (model,) = versions()["models"]
        equal(model["attempts"], 2)
        (pair,) = versions()["skew"]
        equal((pair["tier"], pair["shadow"]), ("cloud", "local"))
        equal((pair["shadow_version"], pair["same"]), (model["version"], 0))
        assert pair["first_ms"] <= pair["last_ms"], pair
        equal((model["of"]["model"], model["superseded"]), ("tandem-nano", False))
        assert all(model["of"][name] for name in ("weights", "template", "tokenizer")), model
        code, out, err = run("models", "versions", env=tandem.environment)
        equal(code, 0, err)
        assert model["version"].encode() in out, out


@case
def test_tiers_that_contradict_each_other_are_kept_apart_until_a_model_is_updated():
    cloud = ScriptedCloud(Script(text="I cannot say."))
    shadow = "    start: cloud\n    shadow: {edge_share: 1}\n"
    config = edge_first(cloud.base_url) + shadow
    policy = "models: {skewed: part, skewed_local_share: 0}\n"
    env = {"TEST_CLOUD_KEY": "k", "TANDEM_STATE_DIR": FOLDER / "skewed"}
    with Tandem(config + policy, env=env) as tandem:

        def talk(*turns):
            roles = ("user", "assistant")
            messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(turns)]
            body = {"model": "auto", "messages": messages, "user": "ann"}
            return tandem.request("POST", "/v1/chat/completions", body)

        def capabilities():
            return json.loads(tandem.request("GET", "/tandem/v1/capabilities").body)["skew"]

        def is_compared(count):
            code, out, _ = run("models", "versions", "--json", env=tandem.environment)
            return code == 0 and sum(row["compared"] for row in json.loads(out)["skew"]) >= count

        equal(capabilities(), [])
        for i in range(20):
            answer = talk(easy(i))
            equal(answer.tandem["tier"], "cloud", answer.body)
            assert "skewed" not in [reason["code"] for reason in answer.tandem["reasons"]]
            wait_until(lambda count=i + 1: is_compared(count))
        wait_until(lambda: capabilities() != [])
        (pair,) = capabilities()
        equal((sorted(pair["tiers"]), pair["differ"]), (["cloud", "local"], 1))
        equal((pair["compared"], pair["policy"], pair["ask"]), (20, "part", "update"))
        equal("".join(tandem.log).count("event=models_skewed"), 1)
        (why,) = [r for r in talk(easy(1)).tandem["reasons"] if r["code"] == "skewed"]
        assert "update the model of local" in why["text"], why
        _, out, _ = run("doctor", "--json", env=tandem.environment)
        assert b"models.skewed" in out, out

        tandem.config.write_text(tandem.config.read_text().replace("start: cloud", "start: local"))
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "event=config_reloaded" in "".join(tandem.log))
        answer = talk(easy(30))
        equal(answer.tandem["tier"], "cloud", answer.body)
        assert "chosen_skew" in [reason["code"] for reason in answer.tandem["reasons"]]
        equal(talk(easy(30), answer.text, "And now?").tandem["tier"], "cloud")
        seen = len(cloud.calls())
        body = {"model": "local", "messages": [{"role": "user", "content": easy(31)}]}
        equal(tandem.request("POST", "/v1/chat/completions", body).tandem["tier"], "local")
        equal(len(cloud.calls()), seen)  # whoever names a tier gets it
    with Tandem(config, env=env) as tandem:  # what shadows found outlives the process
        (pair,) = capabilities()
        assert pair["compared"] >= 20 and pair["policy"] == "keep", pair
    with Tandem(config + "models: {max_skew: 1}\n", env=env) as tandem:
        equal(capabilities(), [])


@case
def test_an_importance_matrix_is_made_of_own_traffic():
    out_path = FOLDER / "imatrix.gguf"
    with Tandem(LOCAL + STORED) as tandem:
        for i in range(3):
            ask(tandem, easy(i))
        verb = ("imatrix", NANO, "--traffic", "-o", out_path, "--json")

        def made():
            code, out, _ = run(*verb, env=tandem.environment)
            return code == 0 and json.loads(out)["prompts"] == 3

        wait_until(made)
        code, out, err = run(*verb, env=tandem.environment)
        equal(code, 0, err)
        result = json.loads(out)
        equal((result["texts"], result["prompts"], result["chunks"]), (0, 3, 3))
        assert result["matrices"] > 10 and "3 different prompts" in err, (result, err)
        code, _, err = run("imatrix", NANO, "--traffic", "--lines", "-", env=tandem.environment)
        equal(code, 0, err)
    with Tandem(LOCAL) as tandem:
        ask(tandem, easy(1))
        verb = ("imatrix", NANO, "--traffic", "-o", out_path)
        wait_until(lambda: "store_prompts" in run(*verb, env=tandem.environment)[2])


@case
def test_tenants_are_never_mixed_unless_that_is_asked_for():
    config = LOCAL + STORED + "server: {api_keys_env: KEYS}\n"
    with Tandem(config, env={"KEYS": "key-of-a,key-of-b"}) as tandem:
        for who in "aab":
            key = {"headers": {"Authorization": f"Bearer key-of-{who}"}}
            judge(tandem, ask(tandem, easy(ord(who)), **key), who == "a", **key)
        until_judged(tandem, 3, "--tenant", "all")
        err = lines_of(tandem, *TRAIN, code=1)
        names = [part.split()[-1] for part in err.split(" (")[:2]]
        assert "--tenant all" in err and all(len(name) == 16 for name in names), err
        (one,) = lines_of(tandem, *TRAIN, "--tenant", names[0])
        (other,) = lines_of(tandem, *TRAIN, "--tenant", names[1])
        equal((one["text"], one["local_ok"]), (easy(ord("a")), 1))
        equal((other["text"], other["local_ok"]), (easy(ord("b")), 0))
        equal(lines_of(tandem, *TRAIN, "--tenant", "all"), [one, other])
        assert "no such exchange" in lines_of(tandem, *TRAIN, "--tenant", "none", code=1)


@case
def test_confidential_texts_are_never_taken():
    import sqlite3

    with Tandem(LOCAL + STORED) as tandem:
        for i in range(3):
            judge(tandem, ask(tandem, easy(i)), True)
        until_judged(tandem, 3)
        # As a ledger that another program or version has filled.
        with sqlite3.connect(Path(tandem.environment["TANDEM_STATE_DIR"]) / "ledger.db") as db:
            for seq, data_class in ((1, "restricted"), (2, "contractual"), (3, None)):
                db.execute("UPDATE exchange SET data_class = ? WHERE seq = ?", (data_class, seq))
        err = lines_of(tandem, *TRAIN, code=1)
        assert "3 are contractual or restricted" in err, err


@case
def test_all_three_are_trained_from_the_ledger_and_say_what_they_are_worth():
    out = FOLDER / "own.tdr"
    with Tandem(LOCAL + STORED) as tandem:
        for i in range(40):
            judge(tandem, ask(tandem, easy(i)), True)
            judge(tandem, ask(tandem, hard(i)), False)
        until_judged(tandem, 80)
        env = tandem.environment
        code, text, err = run(*TRAIN, "--from-ledger", "-o", out, "--json", env=env)
        equal(code, 0, err)
        report = json.loads(text)
        equal((report["lines"], report["ledger"]["by_feedback"]), (80, 80))
        equal(report["trial"]["held_out"], 16)
        equal(report["trial"]["learnt"]["auroc"], 1)
        assert report["trial"]["today"]["error"] is not None, report
        assert [path.name for path in FOLDER.glob("own*")] == ["own.tdr"]
        code, text, _ = run("router", "score", "-m", out, "--json", easy(99))
        assert json.loads(text)["p_local"] > 0.7, text
        code, text, err = run(*TRAIN, "--from-ledger", "-o", out, env=env)
        assert code == 0 and b"newest 16 judged lines" in text and b"today" in text, (text, err)
        # What the default classifier learns of kinds of tasks may be added from a file.
        more = FOLDER / "more.jsonl"
        more.write_text('{"text": "an unlabelled line"}\n')
        code, text, err = run(*TRAIN, more, "--from-ledger", "-o", out, "--json", env=env)
        equal((code, json.loads(text)["lines"]), (0, 81), err)
        code, text, err = run(
            "router",
            "confidence",
            "-m",
            NANO,
            "--from-ledger",
            "-o",
            FOLDER / "own.confidence",
            "--json",
            env=env,
        )
        equal(code, 0, err)
        report = json.loads(text)
        equal((report["answers"], report["right"], report["left_out"]), (80, 40, 0))
        code, text, err = run(
            "probe",
            "train",
            "-m",
            NANO,
            "--from-ledger",
            "-o",
            FOLDER / "own.gguf",
            "--json",
            env=env,
        )
        equal(code, 0, err)
        assert json.loads(text)["auroc"] > 0.9, text


@case
def test_a_verdict_counts_only_for_the_answer_that_was_judged():
    path = FOLDER / "said.jsonl"
    lines = [{"prompt": easy(i), "right": True, "said": "transfer"} for i in range(30)]
    lines += [{"prompt": hard(i), "right": False} for i in range(30)]
    lines += [{"prompt": easy(50), "right": True, "said": "something that it never says"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, text, err = run(
        "router", "confidence", "-m", NANO, path, "-o", FOLDER / "said.confidence", "--json"
    )
    equal(code, 0, err)
    report = json.loads(text)
    equal((report["answers"], report["left_out"]), (60, 1))


if __name__ == "__main__":
    main()
