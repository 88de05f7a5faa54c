#!/usr/bin/env python3
"""Restricted requests are answered by a process without a network, as well as any other; and
nowhere else when it fails."""

import http.client
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import inject
from check import Skip, case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import (
    NANO,
    Tandem,
    clean_environment,
    edge_first,
    kill_workers,
    run,
    status_of,
    wait_until,
    workers,
)

KEY = {"TEST_CLOUD_KEY": "k"}
SECRET = "My card is 4111 1111 1111 1111, what is the weather?"
RESTRICTED = {"x-tandem-data-class": "restricted"}
LONG = {"stream": True, "max_tokens": 2000, "ignore_eos": True, "temperature": 0}
BROKE_OFF = "the answer broke off: local: the confined worker ended"
# Ways to the network, to other programs, processes and memory, by their numbers on x86-64.
FORBIDDEN = {
    "socket": 41, "sendto": 44, "fork": 57, "execve": 59, "kill": 62, "ptrace": 101, "mount": 165,
    "process_vm_readv": 310, "memfd_create": 319, "io_uring_setup": 425, "pidfd_getfd": 438,
}  # fmt: skip


def server(cloud=None, extra=""):
    return Tandem(edge_first(cloud.base_url if cloud else "http://127.0.0.1:9/v1") + extra, env=KEY)


@case
def test_a_restricted_request_is_answered_by_a_process_that_lost_its_rights():
    with server() as tandem:
        equal(tandem.chat("What is the weather?", {"x-tandem-mode": "only-local"}).status, 200)
        equal(workers(tandem), [], "nobody needs one yet")
        answer = tandem.chat(SECRET)
        equal(
            (answer.status, answer.tandem["tier"], answer.tandem["data_class"]),
            (200, "local", "restricted"),
        )
        computed = tandem.chat("upper case: card 4111 1111 1111 1111")
        equal(computed.text, "CARD 4111 1111 1111 1111")
        assert "computed" in [r["code"] for r in computed.tandem["reasons"]], computed.tandem
        (worker,) = workers(tandem)
        tasks = list(Path(f"/proc/{worker}/task").glob("*/status"))
        assert tasks
        for task in tasks:  # every thread: filtered, and it cannot get rights back
            status = status_of(task)
            equal((status["Seccomp"].strip(), status["NoNewPrivs"].strip()), ("2", "1"), str(task))
        for i in range(3):
            equal(tandem.chat(f"{SECRET} {i}").status, 200)
        equal(workers(tandem), [worker], "one worker for all")
    wait_until(lambda: not Path(f"/proc/{worker}").exists(), what="the worker's end")


@case
def test_the_confined_answer_is_the_same_as_any_other():
    """Same model, same request: bit for bit the same choice, whatever the request asks for."""
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "sunny": {"type": "boolean"}},
        "required": ["city", "sunny"],
        "additionalProperties": False,
    }
    cases = [
        {},
        {"max_tokens": 3},
        {"temperature": 1, "seed": 7, "max_tokens": 20},
        {"logprobs": True, "top_logprobs": 3, "max_tokens": 8},
        {"stop": ["e"]},
        {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "w", "schema": schema},
            }
        },
        {"response_format": {"type": "json_object"}, "max_tokens": 40},
        {"grammar": 'root ::= "yes" | "no"'},
        {"logit_bias": {"100": -50}, "max_tokens": 8},
    ]
    with server() as tandem:
        for members in cases:
            for stream in (False, True):
                plain = tandem.chat(
                    "What is the weather in Paris?",
                    {"x-tandem-mode": "only-local"},
                    stream=stream,
                    **members,
                )
                confined = tandem.chat(
                    "What is the weather in Paris?", RESTRICTED, stream=stream, **members
                )
                equal((plain.status, confined.status), (200, 200), str(members))
                equal(
                    choices(confined, stream), choices(plain, stream), f"{members} stream={stream}"
                )
        for members in ({"max_tokens": 5, "echo": True, "logprobs": 2}, {"max_tokens": 4}):
            body = {"model": "auto", "prompt": "The weather in Paris", "temperature": 0, **members}
            plain = tandem.request("POST", "/v1/completions", body, {"x-tandem-mode": "only-local"})
            confined = tandem.request("POST", "/v1/completions", body, RESTRICTED)
            equal(confined.json["choices"], plain.json["choices"], str(members))
        equal(len(workers(tandem)), 1)


def choices(answer, stream):
    if not stream:
        return answer.json["choices"]
    got = []
    for block in answer.body.decode().split("\n\n"):
        if block.startswith("data: {"):
            got += json.loads(block[6:])["choices"]
    return "".join(choice["delta"].get("content") or "" for choice in got), got[-1]["finish_reason"]


def vectors(tandem, texts, headers=None, model="auto"):
    answer = tandem.request(
        "POST", "/v1/embeddings", {"model": model, "input": texts}, headers or {}
    )
    equal(answer.status, 200, answer.body.decode())
    return [row["embedding"] for row in answer.json["data"]], answer.json["usage"]


@case
def test_private_texts_are_embedded_by_it_too():
    plain = ["What is the weather?", "A much longer text, " * 40]
    with server() as tandem:
        wanted = vectors(tandem, plain)
        vectors(tandem, "mail ann@acmeltd.com")
        equal(workers(tandem), [], "public and sensitive texts need none")
        equal(vectors(tandem, plain, RESTRICTED), wanted, "the same numbers")
        (worker,) = workers(tandem)
        equal(vectors(tandem, plain, {"x-tandem-data-class": "contractual"}), wanted)
        secret = vectors(tandem, [plain[0], SECRET])[0]
        equal((len(secret), secret[0]), (2, wanted[0][0]))
        vectors(tandem, [[1, 2, 3]], model="tandem-nano")  # nobody knows what ids say
        vectors(tandem, [SECRET] * 300)
        equal(workers(tandem), [worker], "one worker for all")
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: worker not in workers(tandem), what="the kill")
        equal(vectors(tandem, [plain[0], SECRET])[0], secret, "a new worker")

        def recorded():
            return sorted(
                record["data_class"]
                for record in tandem.get("/tandem/v1/exchanges?limit=50").json["data"]
            )

        wanted_classes = ["contractual", "public", *["restricted"] * 5, "sensitive"]
        wait_until(lambda: recorded() == wanted_classes, what="the records")
        answer = tandem.request(
            "POST",
            "/v1/embeddings",
            {"model": "auto", "input": "x"},
            {"x-tandem-data-class": "secret"},
        )
        equal(answer.status, 400)
    with server(extra="privacy:\n  data_class: restricted\n") as tandem:
        equal(vectors(tandem, plain), wanted)
        equal(len(workers(tandem)), 1, "the server's class holds for embeddings")


@case
def test_a_killed_worker_is_replaced_and_nothing_leaves():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        equal(tandem.chat(SECRET).status, 200)
        (first,) = workers(tandem)
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: first not in workers(tandem), what="the kill")
        equal(tandem.chat(SECRET, {"x-tandem-mode": "prefer-cloud"}).status, 200)
        (second,) = workers(tandem)
        assert second != first
        # In the middle of an answer: stopped, so that it cannot be faster, then killed.
        os.kill(second, signal.SIGSTOP)
        answers = []
        asking = threading.Thread(
            target=lambda: answers.append(
                tandem.chat(SECRET + " Tell all.", {"x-tandem-mode": "prefer-cloud"})
            )
        )
        asking.start()
        equal(
            tandem.chat("Hello?", {"x-tandem-mode": "only-local"}).status, 200, "others do not wait"
        )
        os.kill(second, signal.SIGKILL)
        asking.join(30)
        assert answers, "no answer after the worker's end"
        equal(answers[0].status, 200, "it had not begun: the next worker answers")
        equal(len(cloud.requests), 0)


@case
def test_a_request_is_given_to_two_workers_at_most():
    embedding = {"model": "local", "input": SECRET}
    ways = {
        "a chat": lambda: tandem.chat(SECRET, timeout=30),
        "a stream": lambda: tandem.chat(SECRET, stream=True, timeout=30),
        "a completion": lambda: tandem.request(
            "POST", "/v1/completions", {"model": "local", "prompt": SECRET}, timeout=30
        ),
        "vectors": lambda: tandem.request("POST", "/v1/embeddings", embedding, timeout=30),
    }

    def started():
        return sum("confined_worker_started" in line for line in tandem.log)

    # A worker that ends by itself would look for leaks, which its own confinement forbids.
    options = os.environ.get("ASAN_OPTIONS", "")
    env = {**KEY, "ASAN_OPTIONS": f"{options}:detect_leaks=0"}
    folder = Path(tempfile.mkdtemp(prefix="tandem-test-"))
    model, aside = folder / "model.gguf", folder / "aside"
    shutil.copy(NANO, model)
    config = edge_first("http://127.0.0.1:9/v1") + f"engine: {{model: {model}}}\n"
    for name, ask in ways.items():
        with Tandem(config, env=env) as tandem:
            model.rename(aside)  # every worker ends when it looks for that
            before = started()
            answer = ask()
            equal(answer.status, 503, f"{name}: {answer.body.decode()}")
            wait_until(lambda of=before: started() >= of + 2, what=f"the log of two for {name}")
            equal(started(), before + 2, name)
            aside.rename(model)
            equal(ask().status, 200, name)
    shutil.rmtree(folder)


@case
def test_a_worker_has_the_configuration_in_force_whatever_the_file_has_become():
    with server() as tandem:
        for text in ("no: [configuration", ""):
            tandem.config.write_text(text)
            kill_workers(tandem)
            equal(tandem.chat(SECRET).status, 200, "before a reload")
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(lambda: any("config_rejected" in line for line in tandem.log), what="log")
            kill_workers(tandem)
            equal(tandem.chat(SECRET).status, 200, "after a reload that was refused")


@case
def test_a_reload_gives_a_new_worker_and_a_client_that_leaves_frees_its_place():
    with server(extra="engine:\n  slots: 1\n") as tandem:
        equal(tandem.chat(SECRET).status, 200)
        (first,) = workers(tandem)
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any("config_reloaded" in line for line in tandem.log), what="reload")
        equal(tandem.chat(SECRET).status, 200)
        wait_until(lambda: first not in workers(tandem), what="the first worker's end")
        equal(len(workers(tandem)), 1)
        for _ in range(3):  # clients that leave at once; with one slot a leak would stop the fourth
            try:
                tandem.chat(SECRET, timeout=0.05, max_tokens=1000, grammar='root ::= "a"+')
            except OSError:
                pass
        equal(tandem.chat(SECRET).status, 200)


@case
def test_it_can_be_switched_off_and_the_doctor_tries_it():
    with server(extra="privacy:\n  confine: false\n") as tandem:
        equal(tandem.chat(SECRET).status, 200)
        equal(workers(tandem), [])
    _code, out, _ = run("doctor", "--offline", "--json", env=clean_environment())
    checks = {check["name"]: check for check in json.loads(out)["checks"]}
    equal(checks["confinement"]["status"], "ok", checks["confinement"]["text"])


@case
def test_a_server_that_is_killed_leaves_no_worker():
    tandem = server()
    equal(tandem.chat(SECRET).status, 200)
    (worker,) = workers(tandem)
    tandem.process.kill()
    tandem.ended()
    wait_until(
        lambda: (
            not Path(f"/proc/{worker}").exists()
            or "Z" in status_of(Path(f"/proc/{worker}/status"))["State"]
        ),
        what="the worker's end",
    )
    tandem.stop()


def logged(tandem, *words):
    return any(all(word in line for word in words) for line in tandem.log)


def wait_logged(tandem, *words):
    """The log comes through a pipe of its own, often after the answer."""
    wait_until(lambda: logged(tandem, *words), what=f"the line {' '.join(words)}")


class Asking:
    """A streamed request with a long answer, which has begun."""

    def __init__(self, tandem, content, mode=None):
        body = {"model": "auto", "messages": [{"role": "user", "content": content}], **LONG}
        headers = {"Content-Type": "application/json", **(mode or {})}
        self.connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=60)
        self.connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        self.answer = self.connection.getresponse()
        self.got = b""
        while self.got.count(b'"content":"') < 3:
            self.got += self.answer.read1(100)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        while more := self.answer.read1(65536):
            self.got += more

    def end(self):
        self.reader.join(60)
        self.connection.close()
        return self.got.decode()


@case
def test_no_key_is_in_the_workers_environment():
    secrets = {
        "OPENAI_API_KEY": "sk-secret",
        "HF_TOKEN": "hf_secret",
        # Each begins like one that the worker gets.
        "TANDEM_MODEL_KEY": "model-secret",
        "TANDEM_CONFIG_TOKEN": "config-secret",
        "HOME_PASSWORD": "home-secret",
        "DATABASE_URL": "postgres://u:secret@h/d",
        "LD_AUDIT": "",
        "TANDEM_API_KEY": "secret",
        "TEST_CLOUD_KEY": "secret",
    }
    # What the worker needs to read the same configuration comes along.
    config = """
tiers:
  - {name: local, kind: local}
  - {name: near, kind: openai, place: device}
"""
    with Tandem(config, env={**secrets, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}) as tandem:
        equal(tandem.chat(SECRET).status, 200)
        (worker,) = workers(tandem)
        entries = Path(f"/proc/{worker}/environ").read_bytes().decode().split("\0")
        names = {entry.split("=", 1)[0] for entry in entries if entry}
        equal(names & set(secrets), set())
        assert not [entry for entry in entries if "secret" in entry], entries
        assert {"OPENAI_BASE_URL", "TANDEM_CONFIG"} <= names, names
        other = names - {
            "OPENAI_BASE_URL", "HOME", "LD_LIBRARY_PATH", "GLIBC_TUNABLES", "XDG_STATE_HOME",
            "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS",
        }  # fmt: skip
        assert all(name.startswith("TANDEM_") for name in other), names
        assert b"secret" not in Path(f"/proc/{worker}/cmdline").read_bytes()


@case
def test_no_other_process_of_the_user_reads_its_memory_or_a_core_file():
    if os.geteuid() != 0:
        raise Skip("to become another user needs root")
    if "ASAN_OPTIONS" in os.environ:
        raise Skip("a sanitizer reads the process that it looks after")
    nobody = 65534

    def before():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        os.umask(0)
        os.setgroups([])
        os.setgid(nobody)
        os.setuid(nobody)

    def reads(path):
        who = {"user": nobody, "group": nobody, "extra_groups": []}
        return subprocess.run(["cat", path], capture_output=True, **who).returncode == 0

    with tempfile.TemporaryDirectory(prefix="tandem-nobody-") as state:
        os.chown(state, nobody, nobody)
        env = {"TANDEM_STATE_DIR": state, "OPENAI_API_KEY": "sk-secret"}
        with Tandem(env=env, before=before) as tandem:
            equal(tandem.chat(SECRET).status, 200)
            for pid in (tandem.process.pid, *workers(tandem)):
                assert reads(f"/proc/{pid}/status"), "it runs as that user"
                for name in ("environ", "maps", "mem"):
                    assert not reads(f"/proc/{pid}/{name}"), f"{pid} {name}"
                limits = Path(f"/proc/{pid}/limits").read_text()
                (core,) = [line for line in limits.splitlines() if "core file" in line]
                equal(core.split()[4], "0")
            for path in Path(state).rglob("*"):
                others = path.stat().st_mode & 0o077
                assert others == 0 or path.suffix == ".pub", f"{path} {others:o}"


@case
def test_a_worker_that_hangs_is_ended_and_only_its_answer_fails():
    with server(extra="engine:\n  slots: 4\n") as tandem:
        asked = Asking(tandem, SECRET)
        (worker,) = workers(tandem)
        os.kill(worker, signal.SIGSTOP)
        other = Asking(tandem, "Hello?", {"x-tandem-mode": "only-local"})
        equal(tandem.chat("Hello?", {"x-tandem-mode": "only-local"}).status, 200)
        # This one had not begun: the next worker answers it.
        equal(tandem.chat(SECRET + " And tomorrow?").status, 200)
        text = asked.end()
        assert BROKE_OFF in text, text[-600:]
        assert '"error"' not in other.end(), "an answer that was not the worker's"
        assert worker not in workers(tandem), "it is gone"
        wait_logged(tandem, "confined_worker_hangs", f"pid={worker}")
        wait_logged(tandem, "confined_worker_ended", f"pid={worker}", "signal=9")
        equal(tandem.chat(SECRET).status, 200)


@case
def test_a_worker_whose_engine_hangs_ends_itself():
    if not inject.can_inject():
        raise Skip("to hold threads of another process needs root")
    config = edge_first("http://127.0.0.1:9/v1").replace(
        "kind: local\n", "kind: local\n    timeouts: {idle_ms: 2000}\n", 1
    )
    with Tandem(config, env=KEY) as tandem:
        asked = Asking(tandem, SECRET)
        (worker,) = workers(tandem)
        held = inject.Held(worker)
        wait_until(held.gone, what="the worker's end")
        text = asked.end()
        assert BROKE_OFF in text, text[-600:]
        # One that was held inside the allocator has its lock, so that no other thread of the worker
        # can act: then the server ends it.
        stuck, hangs = ("confined_worker_stuck", "idle_ms=2000"), ("confined_worker_hangs",)
        wait_until(lambda: logged(tandem, *stuck) or logged(tandem, *hangs), what="its line")
        equal(tandem.chat(SECRET).status, 200)
        # An idle worker moves nothing either, and stays.
        (worker,) = workers(tandem)
        time.sleep(4)
        equal(tandem.chat(SECRET).status, 200)
        equal(workers(tandem), [worker])


@case
def test_a_forbidden_call_ends_the_worker_and_the_log_says_which():
    if not inject.can_inject():
        raise Skip("to put a call into another process needs x86-64 and root")
    with server() as tandem:
        for name, number in FORBIDDEN.items():
            equal(tandem.chat(SECRET).status, 200)
            (worker,) = workers(tandem)
            inject.call(worker, number)
            wait_until(lambda pid=worker: pid not in workers(tandem), what=f"the end by {name}")
            wait_until(
                lambda pid=worker, call=number: logged(
                    tandem, "confined_worker_forbidden", f"pid={pid} call={call}\n"
                ),
                what=f"the line about {name}",
            )
        asked = Asking(tandem, SECRET)
        other = Asking(tandem, "Hello?", {"x-tandem-mode": "only-local"})
        (worker,) = workers(tandem)
        inject.call(worker, FORBIDDEN["socket"])
        text = asked.end()
        assert BROKE_OFF in text, text[-600:]
        wait_logged(tandem, "confined_worker_ended", f"pid={worker}", "signal=31")
        assert '"error"' not in other.end(), "an answer that was not the worker's"
        equal(tandem.chat(SECRET).status, 200)


if __name__ == "__main__":
    main()
