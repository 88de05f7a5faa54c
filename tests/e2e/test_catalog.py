#!/usr/bin/env python3
"""From nothing to a chat with a model: the list of models, names that stand for files of a hub, the
default, and what a running server has in memory. A local server stands for the hub."""

import hashlib
import json
import re
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from conversations import state
from model_hub import Blob, Folder, Hub
from screen import Screen
from store_scene import FILE, entry
from store_scene import NANO_DATA as DATA
from tandem import BINARY, NANO, ROOT, Tandem, run

LIST = ROOT / "models" / "catalog" / "catalog.json"
SHA256 = hashlib.sha256(DATA).hexdigest()
TREE = "/api/models/org/tiny-GGUF/tree/main"


def day(days_ago: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - 86400 * days_ago))


def use_list(folder: Folder, *entries: dict[str, Any], checked: str | None = None) -> None:
    path = folder.path.parent / "list.json"
    path.write_text(json.dumps({"checked": checked or day(1), "models": entries or [entry()]}))
    folder.env["TANDEM_MODELS__CATALOG"] = str(path)
    folder.env["TANDEM_STATE_DIR"] = str(folder.path.parent / "state")


def tree(*names: str) -> Blob:
    rows = [{"type": "file", "path": name, "size": 1} for name in names]
    return Blob(json.dumps(rows).encode(), ranges=False)


def say(folder: Folder, *arguments: object) -> tuple[int, str, str]:
    code, out, err = run(*arguments, env=folder.env)
    return code, out.decode(), err


@case
def test_the_list_that_comes_with_the_program_is_sound():
    listed = json.loads(LIST.read_text())
    time.strptime(listed["checked"], "%Y-%m-%d")
    names = []
    for model in listed["models"]:
        names += [model["name"], *model["also"]]
        assert re.fullmatch(r"hf:[\w.-]+/[\w.-]+@[0-9a-f]{40}:[\w.-]+\.gguf", model["source"]), (
            f"{model['name']}: no revision that stays the same"
        )
        assert re.fullmatch(r"[0-9a-f]{64}", model["sha256"]), model["name"]
        assert len(model["good_at"]) <= 31, f"{model['name']}: more than a line"
        # Between 1 bit (and little more) and 16 bits a weight: else one of the figures is wrong.
        bits = 8 * model["bytes"] / model["parameters"] / 1e9
        assert 4 < bits < 9, (model["name"], bits)
    equal(len(names), len({name.lower() for name in names}), "names that stand twice")
    with Folder() as folder:
        code, out, err = say(folder, "models", "recommend", "--json")
        equal(code, 0, err)
        shown = json.loads(out)
        equal([row["name"] for row in shown["models"]], [row["name"] for row in listed["models"]])
        assert shown["weight_bytes_per_s"] > 1e8, shown
        for row in shown["models"]:
            if not row["lacks"]:
                assert row["bytes"] * 1.2 < shown["free_memory_bytes"], row
        best = [row for row in shown["models"] if row["name"] == shown["best"]]
        assert all(row["use"] == "chat" and not row["lacks"] for row in best), best


@case
def test_recommendations_fit_the_terminal_and_say_when_they_are_old():
    with Folder() as folder:
        large = entry(name="large", also=[], bytes=1 << 40, parameters=7000)
        use_list(folder, entry(), large, checked=day(7))
        code, out, err = say(folder, "models", "recommend")
        equal(code, 0, err)
        assert max(map(len, out.splitlines())) <= 80, out
        assert "days old" not in out and "tandem run tiny" in out, out
        assert re.search(r"large .*too large: it needs \d", out, re.S), out
        use_list(folder, checked=day(365))
        code, out, err = say(folder, "models", "recommend")
        assert code == 0 and "365 days old" in out and "models search" in out, (out, err)


@case
def test_a_list_with_a_mistake_is_refused_by_name_and_place():
    for key, wrong in (
        ("name", "../up"),
        ("source", "/etc/passwd"),
        ("source", "hf:org"),
        ("sha256", SHA256[1:]),
        ("bytes", 0),
        ("bytes", 1 << 60),
        ("parameters", -1),
        ("active", 7),
        ("context", 0),
        ("licence", "mit\x1b[2J"),
        ("good_at", None),
    ):
        with Folder() as folder:
            use_list(folder, entry(), entry({"name": "other", "also": [], key: wrong}))
            code, _, err = say(folder, "models", "recommend")
            assert code == 1 and f"'{key}' of model 2" in err and "list.json" in err, err
    with Folder() as folder:
        use_list(folder, checked="yesterday")
        code, _, err = say(folder, "models", "pull", "tiny")
        assert code == 1 and "'checked' must be a day" in err, err


@case
def test_a_name_of_the_list_is_pulled_and_held_to_its_hash():
    with Hub({FILE: Blob(DATA)}) as hub, Folder(HF_ENDPOINT=hub.url) as folder:
        use_list(folder)
        code, _, err = folder.pull("tinny")
        assert code == 1 and "did you mean 'tiny'" in err and "models search tinny" in err, err
        for name in ("tiny", "TINY:7B", "tiny:latest"):
            code, out, err = say(folder, "pull", name)
            equal(code, 0, err)
            assert "Talk to it: tandem run tiny" in out, out
        equal(folder.models(), ["tiny.gguf"])
        # Only the first fetched it; no one is asked whether it shall be the default.
        fetched = len(hub.requests)
        code, out, err = say(folder, "list")
        assert code == 0 and "tiny" in out, (out, err)
        code, out, err = say(folder, "rm", "tiny")
        assert code == 0 and "removed tiny" in out, (out, err)
        use_list(folder, entry(sha256=SHA256[::-1]))
        words = f"the list of {day(1)}"
        folder.refused("tiny", "--retries", 0, words=(words, SHA256[:12]))
        assert len(hub.requests) > fetched


@case
def test_a_quantisation_is_found_among_the_files_of_a_repository():
    files = tree("README.md", "mmproj-Q8_0.gguf", "tiny-Q8_0.gguf", "UD/tiny-Q8_0-UD.gguf")
    with Hub({TREE: files, FILE: Blob(DATA)}) as hub, Folder(HF_ENDPOINT=hub.url) as folder:
        use_list(folder)
        folder.env["HF_TOKEN"] = "hf_secret"  # the hub is not reached by https: it gets none
        done = folder.pulled("hf:org/tiny-GGUF:q8_0")
        equal((done["name"], done["source"]), ("tiny-Q8_0", hub.url + FILE))
        assert not any("authorization" in headers for _, headers in hub.requests), hub.requests
        code, events, err = folder.pull("hf.co/org/tiny-GGUF:Q8_0")
        equal((code, events[-1]["event"]), (0, "present"), err)
        code, _, err = folder.pull("hf:org/tiny-GGUF")
        assert code == 1 and "Q4_K_M" in err and "tiny-Q8_0.gguf" in err, err
        assert "mmproj" not in err, err
        code, _, err = folder.pull("hf:org/other:Q8_0")
        assert code == 1 and "no such repository" in err and "404" in err, err
        hub.files[TREE] = Blob(b"<html>", ranges=False)
        code, _, err = folder.pull("hf:org/tiny-GGUF:Q8_0")
        assert code == 1 and "something else than a list" in err, err


@case
def test_search_looks_here_and_at_the_hub():
    rows = [
        {"id": "org/tiny-GGUF", "downloads": 42, "tags": ["gguf", "license:mit"]},
        {"id": "org/\x1b[2Jevil", "downloads": 1},
        {"id": "org/bare", "downloads": "many", "tags": "none"},
    ]
    answer = Blob(json.dumps(rows).encode(), ranges=False)
    with Hub({"/api/models": answer}) as hub, Folder(HF_ENDPOINT=hub.url) as folder:
        use_list(folder)
        code, out, err = say(folder, "models", "search", "tiny & co")
        equal(code, 0, err)
        assert "search=tiny%20%26%20co" in hub.requests[0][0], hub.requests
        code, out, err = say(folder, "models", "search", "TINY")
        assert "labels" in out and "evil" not in out and "\x1b" not in out, out
        assert "tandem models pull hf:org/tiny-GGUF:Q4_K_M" in out, out
        code, out, err = say(folder, "search", "tiny", "--json")
        names = ["org/tiny-GGUF", "org/bare"]
        equal([row["name"] for row in json.loads(out)], names)
        assert max(map(len, out.splitlines())) > 0
        answer.status = 500
        code, _, err = say(folder, "models", "search", "tiny")
        assert code == 1 and "answered 500" in err, err


@case
def test_run_goes_from_nothing_to_an_answer():
    with Hub({FILE: Blob(DATA)}) as hub, Folder(HF_ENDPOINT=hub.url) as folder:
        use_list(folder)
        # A cloud's key changes nothing: it is this model that is talked to.
        folder.env |= {"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
        code, out, err = say(folder, "run")
        assert code == 1 and "tandem run tiny" in err, (out, err)
        question = "Classify the intent: play some music"
        code, out, err = say(folder, "run", "--yes")
        equal(code, 0, err)
        code, out, err = say(folder, "run", "tiny:7b", question)
        assert code == 0 and "play_music" in out, (out, err)
        fetched = len(hub.requests)
        code, out, err = say(folder, "run", "tiny", question)
        assert code == 0 and "play_music" in out and len(hub.requests) == fetched, (out, err)
        code, _, err = say(folder, "run", "nobody")
        assert code == 1 and "no model is called 'nobody'" in err, err


@case
def test_the_default_model_answers_where_none_is_named():
    with Folder() as folder:
        use_list(folder)
        folder.pulled(NANO, "--name", "mine")
        code, out, err = say(folder, "models", "default")
        assert code == 0 and "built-in" in out, (out, err)
        code, out, err = say(folder, "models", "default", "yours")
        assert code == 1 and "models list" in err, err
        code, out, err = say(folder, "models", "default", "mine")
        equal((code, out.strip()), (0, "mine"), err)
        path = str(folder.path / "mine.gguf")
        found = json.loads(say(folder, "models", "--json")[1])["local"]["path"]
        equal(found, path)
        named = folder.env | {"TANDEM_MODEL": str(NANO)}
        found = json.loads(run("models", "--json", env=named)[1])["local"]["path"]
        equal(found, str(NANO), "what is named counts first")
        say(folder, "rm", "mine")
        code, out, err = say(folder, "models", "default")
        assert code == 0 and "built-in" in out, (out, err)
        (folder.path / "default").write_bytes(b"../../etc/passwd\n" * 100)
        code, out, err = say(folder, "models", "default", "none")
        assert code == 0 and "built-in" in out and not (folder.path / "default").exists(), err


@case
def test_what_a_server_has_in_memory_is_shown_and_ended():
    with Tandem() as tandem:
        env = tandem.environment
        code, out, err = run("ps", "--url", f"http://127.0.0.1:{tandem.port}", env=env)
        equal(code, 0, err)
        assert b"tandem-nano" in out and b" MB" in out, out
        code, out, err = run("stop", env=env)
        equal(code, 0, err)
        assert f"process {tandem.process.pid} on ".encode() in out, out
        equal(tandem.process.wait(20), 0)
        code, _, err = run("stop", env=env)
        assert code == 1 and "no server runs" in err, err
        lock = Path(env["TANDEM_STATE_DIR"]) / "server.lock"
        assert lock.exists()
    code, _, err = run("ps", "--url", "http://127.0.0.1:1")
    assert code == 1 and "tandem serve" in err, err


@case
def test_the_names_of_a_servers_models_do_not_steer_the_terminal():
    models = {"models": [{"name": "a\x1b[2J\x9b", "size": 1, "context_length": 1}]}
    with Hub({"/api/ps": Blob(json.dumps(models).encode(), ranges=False)}) as hub:
        code, out, err = run("ps", "--url", hub.url)
        assert code == 0 and "a\ufffd[2J\ufffd" in out.decode(), (out, err)
        assert b"\x1b" not in out, out
    with Hub({"/api/ps": Blob(b"<html>", ranges=False)}) as hub:
        code, out, err = run("ps", "--url", hub.url)
        assert code == 1 and f"{hub.url} answered with no JSON" in err, (out, err)


@case
def test_the_bar_of_a_download_is_no_wider_than_the_terminal():
    blob = Blob(DATA, delay=0.02)
    for columns in (80, 20):
        with Hub({FILE: blob}) as hub, Folder(HF_ENDPOINT=hub.url) as folder, state() as other:
            use_list(folder)
            command = [str(BINARY), "models", "pull", "tiny"]
            with Screen(command, folder.env, columns, 24) as screen:
                screen.state = other
                screen.wait("MB")
                screen.wait("[y/N]")
                shown = screen.text(scrolled=True)
                assert "%" not in shown and "[#" not in shown, shown  # it is gone, and left no line
                screen.say("y")
                screen.wait("is the default now")
                equal(screen.ended(), 0)
            equal((folder.path / "default").read_text(), "tiny")


if __name__ == "__main__":
    main()
