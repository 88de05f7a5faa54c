#!/usr/bin/env python3
"""The local model is not a single point of failure: a server starts without it, says so, uses the
one that worked before, and never opens a damaged file twice."""

import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import gguf
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import NANO, Tandem, clean_environment, run, wait_until

POEM = "Write a poem about the sea."
EASY = "Classify the intent: play some music"


@contextmanager
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="tandem-test-"))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def copy_of_nano(path: Path, name: str) -> Path:
    """The embedded model with another name and the same answers."""
    gguf.add_metadata(NANO, path, [("general.name", name)], without="general.name")
    return path


def cloud_environment(cloud: ScriptedCloud, **extra: object) -> dict[str, object]:
    """A cloud as the defaults find it: no configuration file."""
    return {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": cloud.base_url, **extra}


def reduced(tandem: Tandem) -> list[dict[str, str]]:
    ready = tandem.get("/readyz")
    equal((ready.status, ready.json["status"]), (200, "ready"))
    return ready.json.get("reduced", [])


def check_cloud_stands(tandem: Tandem, code: str) -> None:
    """The server answers from the cloud and says what is missing, everywhere."""
    (fault,) = reduced(tandem)
    equal((fault["tier"], fault["code"], fault["uses"]), ("local", code, None))
    assert "/" not in fault["reason"], fault  # whoever may ask need not know the folders
    answer = tandem.chat(POEM)
    equal((answer.status, answer.tandem["tier"]), (200, "openai"))
    reasons = {reason["code"]: reason for reason in answer.tandem["reasons"]}
    equal(reasons["removed_no_model"]["tier"], "local")
    assert code in reasons["removed_no_model"]["text"], reasons
    refused = tandem.chat(POEM, {"x-tandem-mode": "only-local"})
    equal(refused.status, 503)
    assert "has no model" in refused.json["error"]["message"], refused.body
    models = {row["id"]: row["tandem"] for row in tandem.get("/v1/models").json["data"]}
    equal((models["local"]["usable"], models["openai"]["usable"]), (False, True))
    log = "".join(tandem.log)
    assert f"event=model_not_used tier=local code={code}" in log, log


@case
def test_without_its_file_a_server_starts_and_the_cloud_answers():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with Tandem(env=cloud_environment(cloud, TANDEM_MODEL="/nowhere/m.gguf")) as tandem:
        check_cloud_stands(tandem, "missing")
        _, out, _ = run("doctor", "--json", env=tandem.environment)
        model = next(row for row in json.loads(out)["checks"] if row["name"] == "model")
        equal(model["status"], "fail", out)


@case
def test_damaged_files_are_left_alone_and_not_opened_twice():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    whole = NANO.read_bytes()
    damaged = {
        "truncated": whole[: len(whole) * 2 // 3],
        "cut in the directory": whole[:5000],
        "random": random.Random(1).randbytes(100_000),
        "empty": b"",
    }
    for what, data in damaged.items():
        with folder() as state:
            path = state / "m.gguf"
            path.write_bytes(data)
            env = cloud_environment(cloud, TANDEM_MODEL=path, TANDEM_STATE_DIR=state / "state")
            with Tandem(env=env) as tandem:
                check_cloud_stands(tandem, "corrupt")
            assert "event=model_quarantined" in "".join(tandem.log), what
            equal(path.read_bytes() == data, True, "the file of the user's is as it was")
            with Tandem(env=env) as tandem:
                check_cloud_stands(tandem, "corrupt")
            assert "in quarantine" in "".join(tandem.log), what
            _, out, _ = run("doctor", "--json", env=tandem.environment)
            assert "quarantine" in out.decode(), out
            path.write_bytes(whole)  # repaired
            with Tandem(env=env) as tandem:
                equal(reduced(tandem), [], what)
                equal(tandem.chat(EASY).tandem["tier"], "local", what)


@case
def test_weights_that_are_no_numbers_are_found_before_anybody_asks():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with folder() as state:
        path = state / "m.gguf"
        data = bytearray(NANO.read_bytes())
        data[len(data) // 3 :] = b"\xff" * (len(data) - len(data) // 3)
        path.write_bytes(data)
        env = cloud_environment(cloud, TANDEM_MODEL=path)
        with Tandem(env=env) as tandem:
            check_cloud_stands(tandem, "corrupt")


@case
def test_a_model_that_does_not_fit_what_is_free_is_said_and_not_tried():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with folder() as state:
        large = state / "large.gguf"
        large.write_bytes(NANO.read_bytes())
        os.truncate(large, 8 << 30)  # a hole: it takes no space on the disk

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

        env = cloud_environment(cloud, TANDEM_MODEL=large, TANDEM_STATE_DIR=state / "state")
        for again in (False, True):
            with Tandem(env=env, before=limit) as tandem:
                check_cloud_stands(tandem, "too_large")
                log = "".join(tandem.log)
                assert "address space" in log
                equal("event=model_fails_here" in log, again)
                assert tandem.rss_bytes("VmHWM") < 1 << 30
        _, out, _ = run("doctor", "--json", "--offline", env=clean_environment(**env))
        said = [c["text"] for c in json.loads(out)["checks"] if c["name"] == "model"]
        assert any("2 times on this hardware" in text for text in said), said


@case
def test_the_model_that_worked_before_stands_in():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with folder() as state:
        good = copy_of_nano(state / "good.gguf", "good-one")
        bad = state / "bad.gguf"
        bad.write_bytes(NANO.read_bytes()[:100_000])
        env = cloud_environment(cloud, TANDEM_STATE_DIR=state / "state")
        with Tandem(env={**env, "TANDEM_MODEL": good}) as tandem:
            equal(reduced(tandem), [])
        with Tandem(env={**env, "TANDEM_MODEL": bad}) as tandem:
            (fault,) = reduced(tandem)
            equal((fault["code"], fault["uses"]), ("corrupt", "good-one"))
            for headers in ({}, {"x-tandem-data-class": "restricted"}):  # the confined worker, too
                answer = tandem.chat(EASY, headers)
                equal((answer.status, answer.tandem["tier"]), (200, "local"), answer.body)
                equal((answer.tandem["degraded"], answer.json["model"]), (True, "good-one"))
                assert "bad.gguf is damaged; good-one stands in" in answer.tandem["disclosure"]


@case
def test_a_server_that_could_answer_nothing_does_not_start():
    with folder() as state:
        bad = state / "bad.gguf"
        bad.write_bytes(b"no model")
        env = clean_environment(TANDEM_STATE_DIR=state, TANDEM_LISTEN="127.0.0.1:0")
        code, _, err = run("serve", "-m", bad, env=env)
        equal(code, 1, err)
        assert "bad.gguf" in err, err
        code, _, err = run("serve", "-m", "/nowhere/m.gguf", env=env)
        equal(code, 1, err)
        assert "m.gguf" in err, err


def configuration(model: Path, cloud: ScriptedCloud | None = None, more: str = "") -> str:
    tiers = "tiers:\n  - {name: local, kind: local}\n"
    if cloud:
        tiers += f"  - {{name: cloud, kind: openai, model: m, base_url: '{cloud.base_url}'}}\n"
    return f"engine: {{model: {model}{more}}}\n{tiers}"


def reload_with(tandem: Tandem, config: str) -> None:
    assert tandem.config
    tandem.config.write_text(config)
    count = "".join(tandem.log).count("event=config_reloaded")
    tandem.process.send_signal(signal.SIGHUP)
    wait_until(
        lambda: "".join(tandem.log).count("event=config_reloaded") > count, what="the reload"
    )


def settled(tandem: Tandem) -> list[dict[str, str]]:
    """What /readyz says is reduced when nothing is being loaded any more."""
    wait_until(
        lambda: all(fault["code"] != "loading" for fault in reduced(tandem)), what="the loading"
    )
    return reduced(tandem)


class Clients:
    """Some clients that ask the local tier, streamed and whole, until they are stopped."""

    def __init__(self, tandem: Tandem, count: int = 4) -> None:
        self.models: list[str] = []
        self.failures: list[Any] = []
        self._tandem, self._stop = tandem, threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=(i,)) for i in range(count)]
        for thread in self._threads:
            thread.start()

    def _ask(self, number: int) -> None:
        headers = {"x-tandem-mode": "only-local"}
        if number == 0:
            headers["x-tandem-data-class"] = "restricted"  # in the confined worker
        while not self._stop.is_set():
            try:
                if number % 2:
                    status, _, chunks, done = self._tandem.stream(EASY, headers)
                    model = chunks[0].get("model")
                    if status != 200 or not done:
                        self.failures.append((status, chunks))
                else:
                    answer = self._tandem.chat(EASY, headers)
                    if answer.status != 200:
                        self.failures.append((answer.status, answer.body))
                        continue
                    model = answer.json["model"]
                self.models.append(model)
            except Exception as failure:
                self.failures.append(failure)

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
        equal(self.failures[:3], [], "answers that failed")


@case
def test_another_model_replaces_the_old_one_while_requests_run():
    with folder() as state:
        names = ["one", "two", "three"]
        paths = [copy_of_nano(state / f"{name}.gguf", name) for name in names]
        with Tandem(configuration(paths[0])) as tandem:
            clients = Clients(tandem)
            try:
                for turn in (1, 2, 0, 1):
                    reload_with(tandem, configuration(paths[turn]))
                    equal(settled(tandem), [])
                    equal(tandem.chat(EASY).json["model"], names[turn])
                    reply = tandem.chat(EASY, {"x-tandem-data-class": "restricted"})
                    equal(reply.json["model"], names[turn], "the confined worker's")
            finally:
                clients.stop()
            assert set(clients.models) >= {"one", "two"}, set(clients.models)
            vectors = tandem.request("POST", "/v1/embeddings", {"model": "auto", "input": "a"})
            equal(vectors.json["model"], "two")
            wait_until(lambda: "".join(tandem.log).count("event=model_closed") >= 4, what="closing")
            maps = Path(f"/proc/{tandem.process.pid}/maps").read_text()
            equal([name for name in names if f"{name}.gguf" in maps], ["two"], "open models")


@case
def test_a_model_that_cannot_replace_the_old_one_leaves_it_in_place():
    with folder() as state:
        good = copy_of_nano(state / "good.gguf", "good-one")
        bad = state / "bad.gguf"
        bad.write_bytes(NANO.read_bytes()[:1_000_000])
        large = state / "large.gguf"
        large.write_bytes(NANO.read_bytes())
        os.truncate(large, 2 * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        with Tandem(configuration(good)) as tandem:
            clients = Clients(tandem)
            try:
                for path, code in (
                    (bad, "corrupt"),
                    (state / "none.gguf", "missing"),
                    (large, "too_large"),
                ):
                    reload_with(tandem, configuration(path))
                    (fault,) = settled(tandem)
                    equal((fault["code"], fault["uses"]), (code, "good-one"))
                    assert f"event=model_not_used tier=local code={code}" in "".join(tandem.log)
                    for headers in ({}, {"x-tandem-data-class": "restricted"}):
                        answer = tandem.chat(EASY, headers)
                        equal((answer.status, answer.json["model"]), (200, "good-one"))
                        assert "stands in" in answer.tandem["disclosure"], answer.tandem
                reload_with(tandem, configuration(good))
                equal(settled(tandem), [])
                equal(tandem.chat(EASY).tandem["degraded"], False)
            finally:
                clients.stop()
            equal(set(clients.models), {"good-one"})


@case
def test_a_server_that_started_without_a_model_gets_one_by_a_reload():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with folder() as state:
        path = state / "later.gguf"
        with Tandem(configuration(path, cloud)) as tandem:
            equal([fault["code"] for fault in reduced(tandem)], ["missing"])
            equal(tandem.chat(POEM).tandem["tier"], "cloud")
            copy_of_nano(path, "late-one")
            reload_with(tandem, configuration(path, cloud))
            equal(settled(tandem), [])
            for headers in ({}, {"x-tandem-data-class": "restricted"}):
                equal(tandem.chat(EASY, headers).json["model"], "late-one")


@case
def test_all_keys_of_the_engine_change_with_a_reload():
    with Tandem(configuration(NANO)) as tandem:
        reload_with(tandem, configuration(NANO, more=", context_tokens: 256, slots: 2"))
        equal(settled(tandem), [])
        models = {row["id"]: row["tandem"] for row in tandem.get("/v1/models").json["data"]}
        equal(models["local"]["context_tokens"], 256)
        assert "reload_needs_restart" not in "".join(tandem.log)


@case
def test_many_reloads_in_a_row_end_with_the_last_one():
    with folder() as state:
        names = ["one", "two", "three"]
        paths = [copy_of_nano(state / f"{name}.gguf", name) for name in names]
        with Tandem(configuration(paths[0])) as tandem:
            assert tandem.config
            for turn in range(40):
                tandem.config.write_text(configuration(paths[turn % 3]))
                tandem.process.send_signal(signal.SIGHUP)
                time.sleep(0.005)
            tandem.config.write_text(configuration(paths[2]))
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(lambda: tandem.chat(EASY).json["model"] == "three", what="the last model")
            time.sleep(0.3)
            equal((settled(tandem), tandem.chat(EASY).json["model"]), ([], "three"))


LADDER = """
engine: {{model: {small}}}
tiers:
  - {{name: local, kind: local}}
  - {{name: middle, kind: local, model: {middle}, idle_s: {idle_s}}}
  - {{name: cloud, kind: openai, model: m, base_url: '{url}'}}
"""


def metric(tandem: Tandem, name: str) -> float:
    for line in tandem.get("/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise AssertionError(name)


def mapped_bytes(tandem: Tandem, path: Path) -> int:
    """How much of a file is in the server's memory."""
    found, total = False, 0
    for line in Path(f"/proc/{tandem.process.pid}/smaps").read_text().splitlines():
        if "-" in line.split(" ", 1)[0]:
            found = line.endswith(str(path))
        elif found and line.startswith("Rss:"):
            total += int(line.split()[1]) * 1024
    return total


@case
def test_a_second_local_tier_is_loaded_on_demand_and_leaves_memory_when_idle():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with folder() as state:
        small = copy_of_nano(state / "small.gguf", "small")
        middle = copy_of_nano(state / "middle.gguf", "middle-model")
        size = middle.stat().st_size
        config = LADDER.format(small=small, middle=middle, idle_s=1, url=cloud.base_url)
        with Tandem(config) as tandem:
            equal(reduced(tandem), [])
            models = {row["id"]: row["tandem"] for row in tandem.get("/v1/models").json["data"]}
            equal(models["middle"]["kind"], "tier")
            equal(models["middle-model"], {**models["middle"], "kind": "model"})
            equal(metric(tandem, "tandem_engine_models_loaded"), 1)
            assert mapped_bytes(tandem, middle) < size / 2
            for turn in (1, 2):
                answers: list[Any] = []
                clients = [
                    threading.Thread(
                        target=lambda: answers.append(tandem.chat(EASY, model="middle"))
                    )
                    for _ in range(6)
                ]
                for client in clients:
                    client.start()
                for client in clients:
                    client.join(60)
                equal({answer.status for answer in answers}, {200})
                equal({answer.json["model"] for answer in answers}, {"middle-model"})
                said = [
                    reason["text"]
                    for answer in answers
                    for reason in answer.tandem["reasons"]
                    if reason["code"] == "unloaded"
                ]
                assert said and "must be loaded first" in said[0], said
                equal("ms the last time" in said[0], turn == 2, said[0])
                equal(metric(tandem, "tandem_engine_loads_total"), turn)
                wait_until(
                    lambda: metric(tandem, "tandem_engine_models_loaded") == 1, what="idleness"
                )
                assert mapped_bytes(tandem, middle) < size / 2
            restricted = tandem.chat(EASY, {"x-tandem-data-class": "restricted"}, model="middle")
            equal((restricted.status, restricted.json["model"]), (200, "middle-model"))
            equal(tandem.chat(EASY).json["model"], "small")


@case
def test_short_memory_costs_cached_prompts_and_resting_models_and_no_answer():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with folder() as state:
        small = copy_of_nano(state / "small.gguf", "small")
        middle = copy_of_nano(state / "middle.gguf", "middle-model")
        root = state / "machine"
        for place in ("sys", "proc"):
            (root / place).mkdir(parents=True)

        def leave(mib: int) -> None:
            text = f"MemTotal: 8388608 kB\nMemAvailable: {mib * 1024} kB\n"
            (root / "proc" / "new").write_text(text)
            os.replace(root / "proc" / "new", root / "proc" / "meminfo")

        leave(4000)
        config = LADDER.format(small=small, middle=middle, idle_s=600, url=cloud.base_url)
        with Tandem(config + f"device: {{root: {root}}}\n") as tandem:
            equal(tandem.chat(EASY, model="middle").json["model"], "middle-model")
            equal(tandem.chat(EASY, model="local").json["model"], "small")
            equal(metric(tandem, "tandem_engine_models_loaded"), 2)
            assert metric(tandem, "tandem_engine_kv_pages_used") > 0
            leave(800)
            wait_until(
                lambda: metric(tandem, "tandem_engine_kv_pages_used") == 0, what="no cached prompts"
            )
            equal(metric(tandem, "tandem_engine_models_loaded"), 2)
            leave(300)
            wait_until(
                lambda: metric(tandem, "tandem_engine_models_loaded") == 1, what="a model at rest"
            )
            equal(tandem.chat(EASY, model="middle").json["model"], "middle-model")
            equal(tandem.chat(EASY, model="local").json["model"], "small")
            leave(4000)
            wait_until(lambda: metric(tandem, "tandem_device_level") == 0, what="as usual")
            equal(tandem.chat(EASY, model="middle").json["model"], "middle-model")
            equal(metric(tandem, "tandem_engine_models_loaded"), 2)


@case
def test_gates_climb_from_one_local_tier_to_the_next_and_then_to_the_cloud():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with folder() as state:
        small = copy_of_nano(state / "small.gguf", "small")
        middle = copy_of_nano(state / "middle.gguf", "middle-model")
        config = LADDER.format(small=small, middle=middle, idle_s=0, url=cloud.base_url)
        with Tandem(config) as tandem:
            equal(metric(tandem, "tandem_engine_models_loaded"), 2)
            answer = tandem.chat(POEM)
            equal((answer.status, answer.tandem["tier"]), (200, "cloud"), answer.body)
            left = [
                reason["tier"]
                for reason in answer.tandem["reasons"]
                if reason["code"].startswith("left_")
            ]
            equal(left, ["local", "middle"])
            equal(tandem.chat(EASY).tandem["tier"], "local")


@case
def test_a_second_tier_whose_model_cannot_be_had_is_left_out():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with folder() as state:
        small = copy_of_nano(state / "small.gguf", "small")
        middle = state / "middle.gguf"
        middle.write_bytes(b"no model")
        config = LADDER.format(small=small, middle=middle, idle_s=1, url=cloud.base_url)
        with Tandem(config) as tandem:
            (fault,) = reduced(tandem)
            equal((fault["tier"], fault["code"]), ("middle", "corrupt"))
            equal(tandem.chat(EASY).tandem["tier"], "local")
            equal(tandem.chat(POEM).tandem["tier"], "cloud")
            equal(tandem.chat(EASY, model="middle").status, 503)
            code, out, _ = run("doctor", "--json", env=tandem.environment)
            rows = {row["name"]: row["status"] for row in json.loads(out)["checks"]}
            equal((code, rows["model"], rows["model of middle"]), (1, "ok", "fail"))
            copy_of_nano(middle, "middle-model")
            reload_with(tandem, config)
            equal(settled(tandem), [])
            equal(tandem.chat(EASY, model="middle").json["model"], "middle-model")


@case
def test_memory_that_is_missing_when_a_model_is_needed_sends_requests_up():
    """The limit is set while the server runs, as when other programs have taken the memory."""
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with folder() as state:
        small = copy_of_nano(state / "small.gguf", "small")
        middle = copy_of_nano(state / "middle.gguf", "middle-model")
        config = LADDER.format(small=small, middle=middle, idle_s=600, url=cloud.base_url)
        with Tandem(config) as tandem:
            equal(tandem.chat(EASY).json["model"], "small")
            status = Path(f"/proc/{tandem.process.pid}/status").read_text()
            size = next(int(line.split()[1]) for line in status.splitlines() if "VmSize" in line)
            limit = size * 1024 + (16 << 20)
            resource.prlimit(tandem.process.pid, resource.RLIMIT_AS, (limit, limit))
            answer = tandem.chat(EASY, model="middle")
            equal(answer.status, 503, answer.body)
            assert "MiB are free (limit of the address space)" in answer.json["error"]["message"]
            equal(tandem.chat(POEM).tandem["tier"], "cloud")
            equal(tandem.chat(EASY).json["model"], "small")


if __name__ == "__main__":
    main()
