#!/usr/bin/env python3
"""A server's operators get a model over HTTP: what fits, the pull with its progress, its end, its
continuation, and the default. A local server stands for the hub."""

import contextlib
import hashlib
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from check import case, equal, main
from model_hub import Blob, Hub
from store_scene import BIG, FILE, NANO_DATA, entry, store_env
from tandem import SOON_S, Tandem, wait_until

PULL = "/tandem/v1/store/pull"
KEYED = "server: {api_keys_env: KEYS, operator_keys_env: BOSS}\n"


@contextlib.contextmanager
def store(blob: Blob, *entries: dict[str, Any], **env: Any) -> Iterator[tuple[Hub, Tandem, Path]]:
    """A server with an empty folder of models, and a list of one."""
    with tempfile.TemporaryDirectory() as folder, Hub({FILE: blob}) as hub:
        models = Path(folder) / "models"
        env = {**store_env(Path(folder), hub.url, *entries), **env}
        with Tandem(KEYED if "KEYS" in env else None, env=env) as tandem:
            yield hub, tandem, models


def state(tandem: Tandem) -> Any:
    return tandem.get(PULL).json


def end_of(tandem: Tandem) -> Any:
    wait_until(lambda: state(tandem)["state"] != "running")
    return state(tandem)


@case
def test_what_fits_is_listed_and_what_is_pulled_becomes_the_default():
    large = entry({"name": "large", "also": [], "bytes": 1 << 40, "parameters": 7000})
    with store(Blob(NANO_DATA), entry(), large) as (_, tandem, models):
        listed = tandem.get("/tandem/v1/store").json
        tiny, huge = listed["models"]
        equal((tiny["name"], tiny["lacks"]), ("tiny", None))
        assert huge["lacks"], listed
        equal((listed["best"], listed["default"]), ("tiny", None))
        equal(state(tandem)["state"], "none")
        begun = tandem.request("POST", PULL, {"model": "tiny:7b"})
        equal((begun.status, begun.json["state"]), (200, "running"))
        done = end_of(tandem)
        equal((done["state"], done["model"]), ("done", "tiny:7b"))
        equal((done["last"]["event"], done["last"]["verified"]), ("pulled", True))
        equal(Path(done["last"]["path"]), models / "tiny.gguf")
        equal(hashlib.sha256((models / "tiny.gguf").read_bytes()).hexdigest(), entry()["sha256"])
        assert tandem.get("/tandem/v1/store").json["models"][0]["downloaded"]
        # Again: it is there.
        tandem.request("POST", PULL, {"model": "tiny"})
        equal(end_of(tandem)["last"]["event"], "present")
        chosen = tandem.request("POST", "/tandem/v1/store/default", {"model": "tiny"})
        equal(chosen.status, 200, chosen.body)
        equal(tandem.get("/tandem/v1/store").json["default"], "tiny")
        equal((models / "default").read_text().strip(), "tiny")
        tandem.request("POST", "/tandem/v1/store/default", {"model": None})
        equal(tandem.get("/tandem/v1/store").json["default"], None)


@case
def test_a_pull_is_cancelled_and_goes_on_where_it_stopped():
    slow = Blob(BIG, delay=0.02)
    with store(slow, entry(BIG)) as (hub, tandem, models):
        tandem.request("POST", PULL, {"model": "tiny"})
        wait_until(lambda: state(tandem).get("last", {}).get("bytes", 0) > 0)
        second = tandem.request("POST", PULL, {"model": "tiny"})
        equal(second.status, 429, second.body)
        assert "one model at a time" in second.json["error"]["message"], second.json
        equal(state(tandem)["last"]["total"], len(BIG))
        tandem.request("DELETE", PULL)
        equal(end_of(tandem)["state"], "cancelled")
        assert not (models / "tiny.gguf").exists() and (models / "tiny.gguf.part").exists()
        slow.delay = 0
        tandem.request("POST", PULL, {"model": "tiny"})
        done = end_of(tandem)
        # Not a GGUF file that this engine runs, but whole: its hash was right.
        assert done["last"]["resumed_bytes"] > 0, done
        assert any("range" in headers for _, headers in hub.requests)


@case
def test_a_server_that_stops_leaves_what_the_next_one_goes_on_with():
    slow = Blob(BIG, delay=0.02)
    with tempfile.TemporaryDirectory() as folder, Hub({FILE: slow}) as hub:
        env = store_env(Path(folder), hub.url, entry(BIG))
        with Tandem(env=env) as tandem:
            tandem.request("POST", PULL, {"model": "tiny"})
            wait_until(lambda: state(tandem).get("last", {}).get("bytes", 0) > 0)
        slow.delay = 0
        with Tandem(env=env) as tandem:
            equal(state(tandem)["state"], "none")
            tandem.request("POST", PULL, {"model": "tiny"})
            assert end_of(tandem)["last"]["resumed_bytes"] > 0


@case
def test_a_hub_that_is_silent_holds_up_neither_an_end_nor_a_stop():
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        drain = "server: {shutdown_timeout_ms: 100000}\n"
        with Tandem(drain, env=store_env(Path(folder), address)) as tandem:
            for name in ("tiny", "hf:org/tiny-GGUF:Q8_0"):
                tandem.request("POST", PULL, {"model": name})
                time.sleep(0.3)
                tandem.request("DELETE", PULL)
                wait_until(lambda: state(tandem)["state"] == "cancelled", SOON_S)
                tandem.request("POST", PULL, {"model": name})
            time.sleep(0.3)
            began = time.monotonic()
            equal(tandem.stop(), 0)
            assert time.monotonic() - began < SOON_S  # the silence is without an end


@case
def test_failures_are_said_in_words():
    with store(Blob(NANO_DATA + b"x")) as (hub, tandem, models):
        tandem.request("POST", PULL, {"model": "tiny"})
        failed = end_of(tandem)
        equal(failed["state"], "failed")
        assert "SHA-256" in failed["error"], failed
        equal([path.name for path in models.iterdir() if path.suffix == ".gguf"], [])
        for name, words in (
            ("tinny", "did you mean 'tiny'"),
            ("hf:org/none-GGUF:none-Q8_0.gguf", "404"),
            ("/etc/passwd", "no model of the list"),
            ("http://127.0.0.1:1/x.gguf", "no model of the list"),
        ):
            tandem.request("POST", PULL, {"model": name})
            failed = end_of(tandem)
            assert failed["state"] == "failed" and words in failed["error"], (name, failed)
        hub.files.clear()
        for body in ({}, {"model": 1}, {"model": None}, {"model": ""}, {"model": "x" * 600}):
            equal(tandem.request("POST", PULL, body).status, 400, body)
        missing = tandem.request("POST", "/tandem/v1/store/default", {"model": "../up"})
        equal(missing.status, 404, missing.body)


@case
def test_only_operators_get_models():
    env = {"KEYS": "key-of-a-client", "BOSS": "key-of-the-operator"}
    with store(Blob(NANO_DATA), **env) as (hub, tandem, _):
        for key, allowed in ((None, False), (env["KEYS"], False), (env["BOSS"], True)):
            headers = {"authorization": f"Bearer {key}"} if key else {}
            for method, path, body in (
                ("GET", "/tandem/v1/store", None),
                ("GET", PULL, None),
                ("POST", PULL, {"model": "tiny"}),
                ("DELETE", PULL, None),
                ("POST", "/tandem/v1/store/default", {"model": None}),
            ):
                status = tandem.request(method, path, body, headers).status
                equal(status == 200, allowed, (key, method, path, status))
            if not allowed:
                equal(hub.requests, [])


if __name__ == "__main__":
    main()
