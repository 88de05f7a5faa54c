#!/usr/bin/env python3
"""privacy.zero_retention: after conversations with canaries no file holds one, nor does the memory
of the processes, and no core file can be made of it."""

import json
import os
import re
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from kept_bytes import kept_bytes
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, edge_first, run, wait_until, workers

ZERO = "privacy:\n  zero_retention: true\n"


def limits(pid):
    text = Path(f"/proc/{pid}/limits").read_text()
    return re.search(r"Max core file size\s+(\S+)\s+(\S+)", text).groups()


def in_memory(pid, needle):
    """How often a process's writable memory holds the bytes. Needs root: such a process is nobody
    else's to read."""
    found = 0
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            begin, end, rights = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
            if not rights.startswith("rw") or "[v" in line:
                continue
            memory.seek(int(begin, 16))
            try:
                left = int(end, 16) - int(begin, 16)
                tail = b""
                while left > 0:
                    block = memory.read(min(left, 1 << 24))
                    if not block:
                        break
                    found += (tail + block).count(needle)
                    tail = block[-len(needle) + 1 :]
                    left -= len(block)
            except OSError:
                continue
    return found


def converse(tandem, cloud):
    """Canaries in every direction: prompts and answers, here, confined and elsewhere, streamed and
    whole."""
    for stream in (False, True):
        for i, mode in enumerate(("only-local", "only-cloud", "auto")):
            answer = tandem.chat(
                f"Please repeat zebracanary{i} for me. " * 20,
                {"x-tandem-mode": mode, "x-tandem-tags": "zebracanarytag"},
                stream=stream,
                user="zebracanaryuser",
                max_tokens=8,
            )
            equal(answer.status, 200, answer.body.decode())
        answer = tandem.chat(
            "zebracanary, my card is 4111 1111 1111 1111.",
            stream=stream,
            max_tokens=8,
            tandem={"tags": ["zebracanarytag"]},
        )
        equal(answer.status, 200)
        exchange = answer.headers["x-tandem-exchange"]
    body = {"model": "auto", "prompt": "zebracanary " * 30, "max_tokens": 4, "temperature": 0}
    equal(
        tandem.request("POST", "/v1/completions", body, {"x-tandem-mode": "only-local"}).status, 200
    )
    answer = tandem.request(
        "POST", "/tandem/v1/feedback", {"id": exchange, "ok": True, "comment": "zebracanary"}
    )
    equal(answer.status, 200, answer.body.decode())
    assert b"zebracanary" in cloud.received, "nothing was sent at all"


@case
def test_no_file_and_no_memory_holds_a_canary():
    cloud = ScriptedCloud(Script(text="The cloud says zebracanary, too."))
    with Tandem(edge_first(cloud.base_url) + ZERO, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        converse(tandem, cloud)
        pids = [tandem.process.pid, *workers(tandem)]
        equal(len(pids), 2, "server and confined worker")
        for pid in pids:
            equal(limits(pid), ("0", "0"))
        if os.geteuid() == 0:
            for pid in pids:
                counts = []
                wait_until(
                    lambda: counts.append(in_memory(pid, b"zebracanary")) or counts[-1] == 0,
                    what=f"process {pid} of {pids}: memory without a canary",
                )
        tandem.process.send_signal(signal.SIGSEGV)
        tandem.ended(20)
        held = {path: kept_bytes(path) for path in tandem.state.rglob("*") if path.is_file()}
        assert any(path.name == "ledger.db" for path in held), held.keys()
        for path, content in held.items():
            assert b"zebracanary" not in content, f"{path} holds a canary"
        assert "zebracanary" not in "".join(tandem.log)
        cores = [
            path
            for folder in (Path.cwd(), tandem.state, Path("/tmp"))
            for path in folder.glob("core*")
            if path.is_file()
        ]
        for path in cores:
            assert b"zebracanary" not in path.read_bytes(), path


@case
def test_without_it_the_memory_scan_finds_canaries():
    """So that the case above shows something."""
    if os.geteuid() != 0:
        raise Skip("reads another process's memory: root only")
    cloud = ScriptedCloud(Script(text="The cloud says zebracanary, too."))
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        converse(tandem, cloud)
        assert in_memory(tandem.process.pid, b"zebracanary") > 0


@case
def test_nothing_is_computed_before_and_answers_stay_the_same():
    prompt = "Explain the French revolution again and again, please, " * 8
    with (
        Tandem() as plain,
        Tandem(edge_first("http://127.0.0.1:9/v1") + ZERO, env={"TEST_CLOUD_KEY": "k"}) as zero,
    ):
        wanted = plain.chat(prompt, {"x-tandem-mode": "only-local"}, max_tokens=12).text
        for _ in range(3):
            answer = zero.chat(prompt, {"x-tandem-mode": "only-local"}, max_tokens=12)
            equal(
                (answer.text, answer.json["usage"]["prompt_tokens_details"]["cached_tokens"]),
                (wanted, 0),
            )


ROUTE = """  - name: silent
    kind: hybrid
    tiers: [local, cloud]
    zero_retention: true
ledger:
  store_prompts: true
privacy:
  pseudonyms: {on: true, vault: {file: FOLDER/vaults, key_env: TEST_VAULT_KEY}}
"""


def asked_of(tandem, route, canary):
    """Prompt, answer, user, comment and a vault with the canary, here, elsewhere and confined."""
    texts = [
        (f"Tell me of {canary} please. " * 20, "only-local"),
        (f"Tell me of {canary}.", "only-cloud"),
        (f"I am {canary}@acme-corp.com", "only-cloud"),
        (f"{canary}, my card is 4111 1111 1111 1111.", "auto"),
    ]
    for stream in (False, True):
        for text, mode in texts:
            answer = tandem.chat(
                text, {"x-tandem-mode": mode}, model=route, stream=stream, user=canary, max_tokens=6
            )
            equal(answer.status, 200, answer.body.decode())
    exchange = answer.headers["x-tandem-exchange"]
    answer = tandem.request(
        "POST", "/tandem/v1/feedback", {"id": exchange, "ok": False, "comment": canary}
    )
    equal(answer.status, 200, answer.body.decode())
    again = tandem.chat(
        texts[0][0], {"x-tandem-mode": "only-local"}, model=route, user=canary, max_tokens=6
    )
    return again.json["usage"]["prompt_tokens_details"]["cached_tokens"]


@case
def test_a_route_of_its_own_keeps_nothing_while_others_do():
    cloud = ScriptedCloud(Script(echo=True))
    with tempfile.TemporaryDirectory() as folder:
        config = edge_first(cloud.base_url) + ROUTE.replace("FOLDER", folder)
        environment = {"TEST_CLOUD_KEY": "k", "TEST_VAULT_KEY": "ab" * 32}
        with Tandem(config, env=environment) as tandem:
            equal(asked_of(tandem, "silent", "zebracanary"), 0, "computed before")
            assert asked_of(tandem, "auto", "lioncanary") > 0, "there is no cache to stay out of"
            tandem.process.send_signal(signal.SIGTERM)
            equal(tandem.ended(20), 0)
            held = {
                path: kept_bytes(path)
                for where in (tandem.state, Path(folder))
                for path in where.rglob("*")
                if path.is_file()
            }
            assert any(
                b"lioncanary" in content for path, content in held.items() if "ledger" in path.name
            ), held.keys()
            for path, content in held.items():
                assert b"zebracanary" not in content, f"{path} holds a canary"
            assert b"zebracanary" in cloud.received, "nothing was sent at all"
            assert "zebracanary" not in "".join(tandem.log)

        def sent():
            return cloud.requests[-1]["json"]["messages"][0]["content"]

        with Tandem(
            config, env=environment
        ) as tandem:  # a kept vault gives the surrogates of before
            for route, kept in (("auto", True), ("silent", False)):
                canary = "lioncanary" if kept else "zebracanary"
                text = f"I am {canary}@acme-corp.com"
                tandem.chat(text, {"x-tandem-mode": "only-cloud"}, model=route, user=canary)
                before = [
                    request["json"]["messages"][0]["content"]
                    for request in cloud.requests[:-1]
                    if request["body"]
                ]
                equal(sent() in before, kept, f"the vault of route {route}")


@case
def test_it_excludes_stored_prompts_and_the_doctor_names_it():
    config = "privacy:\n  zero_retention: true\nledger:\n  store_prompts: true\n"
    tandem = Tandem(config, wait=False)
    equal(tandem.ended(20), 1)
    wait_until(lambda: "exclude each other" in "".join(tandem.log), what="the reason")
    tandem.stop()
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(ZERO)
        file.flush()
        _code, out, _ = run(
            "doctor", "--offline", "--json", "-c", file.name, env=clean_environment()
        )
    checks = {check["name"]: check for check in json.loads(out)["checks"]}
    assert "zero retention" in checks["retention"]["text"], checks["retention"]


if __name__ == "__main__":
    main()
