"""What a client of an API must be able to do with the program, and the judge of it: one list for
the tests (test_abilities.py) and for the table of `make bench-clients`.

Each client has an adapter in adapters/, which does with it what is asked. The judge looks at what
the client says, and at what reached the cloud: a scripted one, which calls a tool that it is
offered, fills in a schema, is slow or refuses, as the ability needs it. Clients name the tier as
their model, so nothing but the base URL, the key and the model is set. The local tier is the
default model, which calls tools and takes no images: there the right answer is a 400 that names
them, raised by the client as its own exception."""

import base64
import json
import os
import random
import selectors
import struct
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass, field, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from check import equal
from clients import Client
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

WORDS = "This is the cloud's answer."
RESULT = "Rain in Oslo."
VALUE = {"city": "Oslo", "degrees": 7}
KEY = "key-of-tests"
ANSWER_SECONDS_MAX = 240  # a machine may have much else to do
START_SECONDS_MAX = 600  # a framework is read from disk before it answers for the first time
TIERS = ("cloud", "local")
# What each tier is asked; the local model's answers to these are known.
PROMPTS = {
    "tools": "What is the weather in Oslo?",
    "structured": "The city is Oslo, 7 degrees.",
    "local": "Classify the intent: play some music",
    "cloud": "Say hello.",
}


def picture():
    """A small PNG, so that clients which look at a picture find one."""

    def part(name, data):
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    rows = b"".join(b"\0" + random.Random(row).randbytes(3 * 16) for row in range(16))
    head = struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)
    body = part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


# What a tool that the cloud is offered is called with: a client's own, or the shell of an agent.
CALLS = {
    "weather": {"city": "Oslo"},
    "Bash": {"command": f"echo {RESULT}", "description": "tells the weather"},
    "exec_command": {"cmd": f"echo {RESULT}"},
}


class Cloud(ScriptedCloud):
    """Calls tools, and fills in the schema of a tool or of the answer's format."""

    fills_in = False

    def _going_on(self, script, wants):
        offered = {tool["function"]["name"] for tool in wants.get("tools") or []}
        if self.fills_in:
            if "response_format" in wants or not offered:
                return replace(script, text=json.dumps(VALUE))
            return calling(script, sorted(offered)[0], VALUE)
        known = offered & set(CALLS)
        if script.finish == "tool_calls":
            if any(message["role"] == "tool" for message in wants["messages"]):
                return replace(script, finish="stop")
            if known:
                name = sorted(known)[0]
                return calling(script, name, CALLS[name])
        return replace(script, finish="stop")


def calling(script, name, arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    return replace(script, pieces=[""], finish="tool_calls", extra_delta={"tool_calls": [call]})


@dataclass
class Bench:
    """The program and the cloud that all clients are tried with."""

    cloud: Cloud = field(default_factory=lambda: Cloud(Script(text=WORDS)))

    def __enter__(self):
        config = edge_first(self.cloud.base_url, "    modalities: [text, image]\n")
        config += "server: {api_keys_env: TEST_KEYS}\n"
        self.tandem = Tandem(config, env={"TEST_CLOUD_KEY": "k", "TEST_KEYS": KEY})
        self.folder = tempfile.TemporaryDirectory(prefix="tandem-clients-")
        self.image = Path(self.folder.name, "picture.png")
        self.image.write_bytes(picture())
        return self

    def __exit__(self, *_):
        self.tandem.stop()
        self.cloud.close()
        self.folder.cleanup()

    def script(self, fills_in=False, **members):
        """What the cloud does next."""
        self.cloud.clear()
        self.cloud.fills_in = fills_in
        self.cloud.script = Script(**{"text": WORDS, **members})

    def answers(self):
        body = {"model": "cloud", "messages": [{"role": "user", "content": "Hello."}]}
        headers = {"authorization": f"Bearer {KEY}"}
        path = "/v1/chat/completions"
        return self.tandem.request("POST", path, body, headers).status == 200

    def messages(self):
        """Those of every request that the cloud got."""
        return [call["json"]["messages"] for call in self.cloud.calls()]


class Adapter:
    """The process of a client, and what it is asked. It sees no proxy and no key of this machine,
    and what it asks of other hosts goes to a port where nothing listens."""

    def __init__(self, client: Client, bench: Bench):
        self.client, self.bench, self.tier = client, bench, TIERS[0]
        self.answered = False
        self.home = tempfile.TemporaryDirectory(prefix="tandem-client-")
        nowhere = "http://127.0.0.1:9"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": self.home.name,
            "LANG": "C.UTF-8",
            **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nowhere),
            "no_proxy": "127.0.0.1",
            "NO_PROXY": "127.0.0.1",
            "PYTHONPATH": str(HERE / "adapters"),
        }
        self.errors = Path(self.home.name, "stderr")
        self.process = subprocess.Popen(
            client.command(),
            cwd=self.home.name,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors.open("wb"),
            text=True,
        )

    def ask(self, ability, **members):
        prompt = PROMPTS.get(ability, PROMPTS[self.tier])
        ask = {
            "ability": ability,
            "url": self.bench.tandem.url,
            "key": KEY,
            "model": self.tier,
            "tier": self.tier,
            "prompt": prompt,
            "image": str(self.bench.image),
            "image_base64": base64.b64encode(self.bench.image.read_bytes()).decode(),
            **members,
        }
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(json.dumps(ask) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the reason stands in what it wrote
        with selectors.DefaultSelector() as answers:
            answers.register(self.process.stdout, selectors.EVENT_READ)
            limit = ANSWER_SECONDS_MAX if self.answered else START_SECONDS_MAX
            self.answered = bool(answers.select(limit))
        line = self.process.stdout.readline() if self.answered else ""
        if not line:
            wrote = self.errors.read_text(errors="replace")[-3000:]
            self.close()
            raise NoAnswer(f"no answer from the adapter to {ability}:\n{wrote}")
        return json.loads(line)

    def close(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
        self.home.cleanup()


class NoAnswer(AssertionError):
    """The adapter ended, or took too long."""


class Cannot(Exception):
    """The client has no such ability, or the tier cannot have it."""


def said(answer, member):
    if answer.get("cannot"):
        raise Cannot
    assert member in answer, json.dumps(answer, indent=1)
    return answer[member]


def refused(answer, client, kind, status, words):
    """The client raised its own exception of this kind, with what the server said."""
    error = said(answer, "error")
    shown = json.dumps(error, indent=1).replace("\\n", "\n")
    assert client.errors[kind] in error["classes"], f"{client.errors[kind]} expected: {shown}"
    if error["status"] is not None:
        equal(error["status"], status, shown)
    assert words in error["message"], f"{words!r} expected: {shown}"


def try_chat(adapter, client):
    adapter.bench.script()
    text = said(adapter.ask("chat"), "text")
    if adapter.tier == "cloud":
        equal(text.strip(), WORDS)
    else:
        assert text.strip(), "no text"
        equal(adapter.bench.messages(), [])


def try_stream(adapter, client):
    adapter.bench.script(piece_delay=0.1)
    pieces = [piece for piece in said(adapter.ask("stream"), "pieces") if piece]
    if adapter.tier == "cloud":
        equal("".join(pieces).strip(), WORDS)
        assert len(pieces) > 1, pieces
    else:
        assert "".join(pieces).strip(), "no text"
        equal(adapter.bench.messages(), [])


def try_tools(adapter, client):
    """Two turns: a call, then an answer that knows its result."""
    adapter.bench.script(finish="tool_calls")
    answer = adapter.ask("tools")
    text = said(answer, "text").strip()
    if answer.get("calls") is not None:
        equal(answer["calls"], [["weather", CALLS["weather"]]])
    if adapter.tier == "local":
        assert RESULT.rstrip(".") in text, text
        equal(adapter.bench.messages(), [])
        return
    equal(text, WORDS)
    turns = [messages for messages in adapter.bench.messages() if messages[-1]["role"] == "tool"]
    assert turns, adapter.bench.messages()
    *_, before, result = turns[0]
    equal(before["tool_calls"][0]["id"], result["tool_call_id"])
    assert RESULT in json.dumps(result["content"]), result
    return


def try_structured(adapter, client):
    adapter.bench.script(fills_in=True)
    answer = adapter.ask("structured")
    if adapter.tier == "local" and "called no tool" in answer.get("error", {}).get("message", ""):
        # The client's way is a call that must come; the small model says that it is not its job.
        refused(answer, client, 400, 400, "the request asks for a call")
        return "400"
    equal(said(answer, "value"), VALUE)
    return None


def try_image(adapter, client):
    objects = client.simplest == "structured"
    adapter.bench.script(fills_in=objects)
    answer = adapter.ask("image")
    if adapter.tier == "local":
        refused(answer, client, 400, 400, "image")
        return "400"
    if objects:
        equal(said(answer, "value"), VALUE)
    else:
        equal(said(answer, "text").strip(), WORDS)
    content = base64.b64encode(adapter.bench.image.read_bytes()).decode()
    assert content in json.dumps(adapter.bench.messages()[-1]), adapter.bench.messages()[-1]
    return None


def try_abort(adapter, client):
    """The client leaves after the first words: the tier is left too, and the next is served."""
    adapter.bench.script(stall_after=2)
    assert said(adapter.ask("abort"), "pieces")[0].strip(), "no text before it left"
    if adapter.tier == "cloud":
        wait_until(lambda: adapter.bench.cloud.gone_count == 1, what="the cloud was left")
    try_chat(adapter, client)


def try_errors(adapter, client):
    bench = adapter.bench
    bench.script()
    wrong = "wrong-key"
    refused(adapter.ask(client.simplest, key=wrong), client, 401, 401, "key")
    refused(adapter.ask(client.simplest, model="no-such-model"), client, 404, 404, "no-such-model")
    if adapter.tier == "local":
        refused(adapter.ask(client.simplest, top_p=9), client, 400, 400, "top_p")
        long = adapter.ask(client.simplest, prompt="one two three four five " * 2000)
        refused(long, client, "context", 400, "too long")
        equal(bench.messages(), [])
        return
    bench.script(status=400, error_message="it is not liked", error_param="messages")
    refused(adapter.ask(client.simplest), client, 400, 400, "it is not liked")
    long = "This model's maximum context length is 128000 tokens"
    bench.script(status=400, error_message=long, error_code="context_length_exceeded")
    refused(adapter.ask(client.simplest), client, "context", 400, "context length")
    busy = {"error_message": "too many at once", "error_code": "rate_limit_exceeded"}
    bench.script(status=429, **busy)
    refused(adapter.ask(client.simplest), client, 429, 429, "too many at once")
    # A tier that said so is asked less for a while: the next client finds it rested.
    bench.script()
    wait_until(bench.answers, what="the cloud is asked again")


ABILITIES = {
    "chat": try_chat,
    "stream": try_stream,
    "tools": try_tools,
    "structured": try_structured,
    "image": try_image,
    "abort": try_abort,
    "errors": try_errors,
}


def judge(client: Client, bench: Bench, tiers=TIERS, wanted=()) -> dict:
    """{tier: {ability: (mark, what went wrong)}}; the marks are `yes`, `400`, `no` and `-`."""
    adapter = Adapter(client, bench)
    results: dict = {tier: {} for tier in tiers}
    for tier in tiers:
        for name, attempt in ABILITIES.items():
            if wanted and name not in wanted:
                continue
            adapter.tier = tier
            try:
                results[tier][name] = (attempt(adapter, client) or "yes", "")
            except Cannot:
                results[tier][name] = ("-", "")
            except AssertionError as problem:
                results[tier][name] = ("no", str(problem))
                if isinstance(problem, NoAnswer):
                    adapter = Adapter(client, bench)
    adapter.close()
    return results
