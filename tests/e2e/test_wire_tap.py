#!/usr/bin/env python3
"""The wire tap: conversations with canaries of every type, every class and every kind of failure,
against places that record every byte; no forbidden one arrives, and everything that did arrive is
on record. Once with what is private kept back, once with surrogates in its place, which the places
send back.

TAP_CONVERSATIONS=10000 python3 tests/e2e/test_wire_tap.py   is the long run of `make
bench-privacy`."""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

CONVERSATIONS = int(os.environ.get("TAP_CONVERSATIONS", "300"))
os.environ.setdefault("TEST_CASE_SECONDS", str(240 + CONVERSATIONS // 4))

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import canaries
from canaries import squeeze
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, kill_workers, run, wait_until

CLIENTS = 4
CALM = "Explain the French revolution."
MODES = ["auto", "prefer-cloud", "prefer-cloud", "only-cloud", "prefer-local"]
PLACES = (
    "content",
    "parts",
    "system",
    "history",
    "name",
    "metadata",
    "tools",
    "schema",
    "tool_calls",
    "tool_result",
    "user",
    "unknown",
    "completion",
)

CONFIG = """
tiers:
  - {{name: local, kind: local}}
  - {{name: house, kind: openai, place: premises, model: scripted,
      base_url: "{house}", api_key_env: TEST_CLOUD_KEY, completions: true,
      timeouts: {{first_ms: 300, idle_ms: 300, total_ms: 1500}}}}
  - {{name: near, kind: openai, place: region, model: scripted,
      base_url: "{near}", api_key_env: TEST_CLOUD_KEY, completions: true,
      timeouts: {{first_ms: 300, idle_ms: 300, total_ms: 1500}}}}
  - {{name: cloud, kind: openai, place: cloud, model: scripted,
      base_url: "{cloud}", api_key_env: TEST_CLOUD_KEY, completions: true,
      timeouts: {{first_ms: 300, idle_ms: 300, total_ms: 1500}}}}
routes:
  - {{name: auto, kind: hybrid, tiers: [local, house, near, cloud]}}
  - {{name: far, kind: hybrid, tiers: [local, cloud], shadow: {{cloud_share: 1, edge_share: 1}}}}
  - {{name: pair, kind: hybrid, tiers: [local, house, near, cloud], climb: hedged,
      hedge: {{after_ms: 2, requests_share: 1}}}}
ledger: {{egress: "{folder}/egress", store_prompts: true}}
{more}
"""
# What instructions may say of names lets nothing else pass.
LENIENT = "instructions: {system: without-names, tools: without-names}"
KEPT = f"privacy: {{{LENIENT}}}"
MASKED = f"privacy: {{{LENIENT}, pseudonyms: {{on: true, classes: [sensitive, restricted]}}}}"
COUNTS = re.compile(rb'"pseudonyms":\s*(\{[^{}]*"seen"[^{}]*\})')


def failures(masked):
    """The script of a place for the next while, by name."""
    return {
        name: replace(script, echo=masked, echo_whole=True, piece_chars=7)
        for name, script in {
            "none": Script(text="Remote."),
            "slow": Script(text="Remote.", first_delay=0.1),
            "timeout": Script(first_delay=30),
            "stall": Script(stall_after=1),
            "busy": Script(statuses=[503]),
            "down": Script(status=503),
            "limit": Script(statuses=[429], retry_after="0"),
            "cut": Script(cut_after=1),
            "reset": Script(cut_at_once=True),
            "garbage": Script(garbage_after=1),
            "error": Script(error_after=1),
            "denied": Script(status=401),
            "not_streamed": Script(text="Remote.", ignore_stream=True),
            "no_end": Script(no_done=True),
            "nonsense": Script(raw=b"HTTP/1.1 200 OK\r\n\r\nnot json"),
        }.items()
    }


def functions(message):
    return [(call["id"], call["function"]) for call in message.get("tool_calls", [])]


def in_messages(chat):
    """The path and the body by which a client of Anthropic's API asks the same."""
    body = {
        **chat,
        "messages": [],
        "metadata": {**chat.get("metadata", {}), "user_id": chat.get("user", "nobody")},
    }
    body.pop("user", None)
    if "tools" in chat:
        body["tools"] = [dict(tool["function"]) for tool in chat["tools"]]
        for tool in body["tools"]:
            tool["input_schema"] = tool.pop("parameters", {"type": "object"})
    for message in chat["messages"]:
        content = message["content"]
        if message["role"] == "system":
            body["system"] = content
            continue
        if message["role"] == "tool":
            content = [
                {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": content}
            ]
        elif functions(message):
            content = [
                {
                    "type": "tool_use",
                    "id": id,
                    "name": function["name"],
                    "input": json.loads(function["arguments"]),
                }
                for id, function in functions(message)
            ]
        role = "assistant" if message["role"] == "assistant" else "user"
        body["messages"].append({**message, "role": role, "content": content})
    return "/v1/messages", body


def in_responses(chat):
    """The path and the body by which a client of OpenAI's Responses API asks the same."""
    body = {**chat, "input": [], "max_output_tokens": chat["max_tokens"]}
    for name in ("messages", "max_tokens"):
        body.pop(name)
    if "tools" in chat:
        body["tools"] = [{"type": "function", **tool["function"]} for tool in chat["tools"]]
    for message in chat["messages"]:
        content = message["content"]
        if isinstance(content, list):
            content = [{"type": "input_text", "text": part["text"]} for part in content]
        if message["role"] == "system":
            body["instructions"] = content
        elif message["role"] == "tool":
            body["input"].append(
                {
                    "type": "function_call_output",
                    "call_id": message["tool_call_id"],
                    "output": content,
                }
            )
        elif functions(message):
            body["input"] += [
                {"type": "function_call", "call_id": id, **function}
                for id, function in functions(message)
            ]
        else:
            body["input"].append({**message, "content": content})
    return "/v1/responses", body


class Tap:
    def __init__(self, masked=False):
        self.masked = masked
        self.folder = Path(tempfile.mkdtemp(prefix="tandem-tap-"))
        self.places = {
            name: ScriptedCloud(Script(text="Remote.")) for name in ("house", "near", "cloud")
        }
        self.seen, self.events, self.statuses, self.paths, self.surrogates = (
            Counter() for _ in range(5)
        )
        self.lock = threading.Lock()
        self.tandem = None
        self.start()

    def config(self, number=0):
        """number: of a batch. A tier that failed rests, but another address is another server, so
        that each batch finds all of them awake."""
        return CONFIG.format(
            folder=self.folder,
            more=MASKED if self.masked else KEPT,
            **{
                name: place.base_url.replace("/v1", f"/{number}/v1")
                for name, place in self.places.items()
            },
        )

    def start(self):
        self.tandem = Tandem(self.config(), env={"TEST_CLOUD_KEY": "k"})

    def close(self):
        self.tandem.stop()
        for place in self.places.values():
            place.close()
        shutil.rmtree(self.folder)

    # -- what goes wrong ---------------------------------------------------------------------------

    def disturb(self, number, rng):
        """Between batches: other failures and a reload; now and then a dead worker, a dead
        server."""
        for place in self.places.values():
            name, script = rng.choice(list(failures(self.masked).items()))
            place.script = script
            self.events[name] += 1
        if number % 4 == 2:
            self.events["worker killed"] += kill_workers(self.tandem)
        reloads = sum("config_reloaded" in line for line in self.tandem.log)
        self.tandem.config.write_text(self.config(number))
        self.tandem.process.send_signal(signal.SIGHUP)
        self.events["reload"] += 1
        wait_until(lambda: sum("config_reloaded" in line for line in self.tandem.log) > reloads)
        if number % 12 == 7:
            self.tandem.stop(signal.SIGKILL)
            self.events["server killed"] += 1
            self.start()

    # -- conversations -----------------------------------------------------------------------------

    def ask(self, rng, messages, members, path="/v1/chat/completions"):
        body = {
            "model": rng.choice(["auto", "auto", "far", "pair", "pair"]),
            "temperature": 0,
            "max_tokens": 4,
            "stream": rng.random() < 0.5,
            **members,
        }
        if messages is not None:
            body["messages"] = messages
        headers = {"x-tandem-mode": rng.choice(MODES)}
        if messages is not None:
            path, body = rng.choice([lambda chat: (path, chat), in_messages, in_responses])(body)
        try:
            answer = self.tandem.request("POST", path, body, headers, timeout=30)
        except OSError:  # the server was killed
            with self.lock:
                self.statuses["gone"] += 1
            return
        with self.lock:
            self.statuses[answer.status] += 1
            self.paths[path] += 1
            for counts in COUNTS.findall(answer.body)[
                -1:
            ]:  # a stream's last chunk has them in the end
                self.surrogates.update(json.loads(counts))

    def converse(self, canary, rng):
        place = rng.choice(PLACES)

        def user(text):
            return {"role": "user", "content": text}

        calm, members = user(f"{CALM} {rng.randint(0, 10**9)}"), {}
        messages = [calm]
        if place == "content":
            messages = [
                user(
                    rng.choice(["{}", "{} Explain the French revolution.", "a={};b=2"]).format(
                        canary.sentence
                    )
                )
            ]
        elif place == "parts":
            messages = [
                user([{"type": "text", "text": CALM}, {"type": "text", "text": canary.sentence}])
            ]
        elif place == "system":
            messages = [{"role": "system", "content": canary.sentence}, calm]
        elif place == "history":
            messages = [calm, {"role": "assistant", "content": canary.sentence}, user("Go on.")]
        elif place == "name":
            calm["name"] = canary.sentence
        elif place == "metadata":
            members["metadata"] = {"note": canary.sentence}
        elif place == "tools":
            members["tools"] = [
                {"type": "function", "function": {"name": "f", "description": canary.sentence}}
            ]
        elif place == "schema":
            properties = {"a": {"type": "string", "description": canary.sentence}}
            parameters = {"type": "object", "title": canary.sentence, "properties": properties}
            function = {"name": "f", "description": CALM, "parameters": parameters}
            members["tools"] = [{"type": "function", "function": function}]
        elif place in ("tool_calls", "tool_result"):
            inside = json.dumps({"text": canary.sentence})
            call = {
                "id": "c1",
                "type": "function",
                "function": {"name": "f", "arguments": inside if place == "tool_calls" else "{}"},
            }
            messages += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {
                    "role": "tool",
                    "tool_call_id": "c1",
                    "content": inside if place == "tool_result" else "ok",
                },
            ]
        elif place == "user":
            members["user"] = canary.sentence
        elif place == "unknown":
            members["some_new_member"] = {"deep": [canary.sentence]}
        if place == "completion":
            self.ask(rng, None, {"prompt": f"{CALM} {canary.sentence}"}, "/v1/completions")
        else:
            self.ask(rng, messages, members)
            if (
                rng.random() < 0.4
            ):  # it goes on: the same beginning, and more; the canary is still in it
                self.ask(
                    rng,
                    messages + [{"role": "assistant", "content": "Yes?"}, user(f"And now? {CALM}")],
                    members,
                )
        for _ in range(2):  # and, beside it, what may leave
            self.ask(rng, [user(f"{CALM} {rng.randint(0, 10**9)}")], {})
        with self.lock:
            self.seen[place] += 1

    def run(self, made):
        rng = random.Random(len(made))
        size = 6
        for number, begin in enumerate(range(0, len(made), size)):
            self.disturb(number, rng)
            batch = made[begin : begin + size]
            threads = [
                threading.Thread(target=self.batch, args=(batch[i::CLIENTS], rng.random()))
                for i in range(CLIENTS)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def batch(self, part, seed):
        rng = random.Random(seed)
        for canary in part:
            self.converse(canary, rng)


def forbidden(made, place):
    return [canary for canary in made if canary.data_class == "restricted" or place != "house"]


def stage(masked):
    """All conversations, and then: the taps work, nothing forbidden is in them, and all of it is on
    record."""
    made, missing = canaries.make(CONVERSATIONS, 20261122)
    equal(missing, set(), "types without a canary")
    tap = Tap(masked)
    try:
        tap.run(made)
        for place in tap.places.values():
            place.script = Script(text="Remote.")
        tap.tandem.stop(signal.SIGKILL)
        tap.start()
        for tier in ("house", "near", "cloud"):  # the tap works: what is public arrives
            answer = tap.tandem.request(
                "POST",
                "/v1/chat/completions",
                {"model": tier, "messages": [{"role": "user", "content": f"{CALM} control{tier}"}]},
                {"x-tandem-mode": "prefer-cloud"},
            )
            equal(answer.status, 200, answer.body.decode())
            assert f"control{tier}".encode() in tap.places[tier].received, (
                f"nothing arrives at {tier}"
            )
        escaped = []
        for name, place in tap.places.items():
            raw = bytes(place.received)
            squeezed = squeeze(raw)
            escaped += [
                (name, canary) for canary in forbidden(made, name) if canary.is_in(raw, squeezed)
            ]
        bytes_seen = sum(len(place.received) for place in tap.places.values())
        print(
            f"{len(made)} conversations, {len({canary.kind for canary in made})} types,"
            f" {sum(bool(canary.written) for canary in made)} in unusual forms;"
            f" {bytes_seen} bytes at the taps in"
            f" {sum(len(place.requests) for place in tap.places.values())} requests; {len(escaped)}"
            f" forbidden  goal 0  {'MISSED' if escaped else 'met'}\n  planted: {dict(tap.seen)}\n "
            f" events: {dict(tap.events)}\n  answers: {dict(tap.statuses)} at {dict(tap.paths)}"
        )
        equal(escaped, [])
        check_record(tap)
        return tap.surrogates
    finally:
        tap.close()


@case
def test_no_forbidden_byte_arrives_anywhere_whatever_fails():
    equal(stage(masked=False), Counter())


@case
def test_with_surrogates_no_forbidden_byte_arrives_either_and_what_comes_back_is_restored():
    counts = stage(masked=True)
    enough = counts["restored"] >= 0.98 * counts["seen"] > 0
    print(f"  surrogates: {dict(counts)}; restored  goal >= 98 %  {'met' if enough else 'MISSED'}")
    assert counts["sent"] > CONVERSATIONS / 10, (
        "hardly anything was masked"
    )  # a quarter to a third, by what fails
    assert enough, "less than 98 % of what came back was restored"


def check_record(tap):
    """Every body that arrived is on record, of a class that its place may see, in a chain that
    holds through kills."""
    environment = clean_environment(TANDEM_STATE_DIR=tap.folder)
    config = tap.folder / "tandem.yaml"
    config.write_text(tap.config())
    code, out, err = run("egress", "verify", "--json", "-c", config, env=environment)
    assert code == 0, (out, err)
    code, out, err = run("egress", "show", "--json", "-c", config, env=environment, timeout=120)
    record = json.loads(out)["transfers"]
    for entry in record:
        assert entry["class"] == "public" or (entry["class"], entry["tier"]) == (
            "sensitive",
            "house",
        ), entry
    purposes = Counter(entry["purpose"] for entry in record)
    print(f"  on record: {dict(purposes)}")
    untried = {"hedge", "retry", "shadow"} - set(purposes)
    assert not untried, f"kinds of transfer that were never tried: {untried}"
    hashes = {entry["sha256"] for entry in record}
    for name, place in tap.places.items():
        for request in place.requests:
            if request["body"]:
                assert hashlib.sha256(request["body"]).hexdigest() in hashes, (
                    f"{name}: not on record: {request['body'][:200]}"
                )


if __name__ == "__main__":
    main()
