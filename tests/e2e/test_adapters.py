#!/usr/bin/env python3
"""LoRA adapters from the outside: asked for by name, listed, swapped while serving, refused."""

import json
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from gguf import write_adapter
from tandem import NANO, Tandem, run, wait_until

EASY = "Classify the intent: play some music"
CHANGES = [
    (f"blk.{layer}.{part}.weight", columns, 256)
    for layer in range(6)
    for part, columns in (("attn_output", 256), ("ffn_down", 768))
]
CONFIG = """
engine:
  adapters:
    - {{name: strange, file: "{folder}/strange.gguf"}}
    - {{name: other, file: "{folder}/other.gguf", scale: 0.5}}
tiers:
  - {{name: local, kind: local}}
"""


class Serving:
    """A server with two adapters in a folder of its own."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tandem-adapters-")
        self.path = Path(self.folder.name)
        write_adapter(self.path / "strange.gguf", CHANGES, seed=1)
        write_adapter(self.path / "other.gguf", CHANGES, seed=2)
        self.tandem = Tandem(CONFIG.format(folder=self.path))
        return self

    def __exit__(self, *_):
        self.tandem.stop()
        self.folder.cleanup()

    def ask(self, **members):
        body = {
            "messages": [{"role": "user", "content": EASY}],
            "temperature": 0,
            "max_tokens": 16,
            "logprobs": True,
            **members,
        }
        answer = self.tandem.request("POST", "/v1/chat/completions", body)
        if answer.status != 200:
            self.error = answer.json["error"]
            return answer.status, self.error["message"]
        tokens = answer.json["choices"][0]["logprobs"]["content"]
        return 200, [(token["token"], round(token["logprob"], 4)) for token in tokens]

    def reloads(self):
        return sum(
            "config_reloaded" in line or "config_rejected" in line for line in self.tandem.log
        )

    def reload(self):
        before = self.reloads()
        os.kill(self.tandem.process.pid, signal.SIGHUP)
        wait_until(lambda: self.reloads() > before)


@case
def test_each_way_to_ask_for_an_adapter_gives_its_answer():
    with Serving() as serving:
        plain, strange = serving.ask(), serving.ask(model="strange")
        equal((plain[0], strange[0]), (200, 200))
        assert plain != strange, plain
        equal(serving.ask(tandem={"adapters": ["strange"]}), strange)
        equal(serving.ask(lora=[{"id": 0, "scale": 1}]), strange)
        equal(serving.ask(lora=[{"id": 0, "scale": 0}]), plain)
        equal(serving.ask(tandem={"adapters": []}), plain)
        half = serving.ask(model="other")
        assert half not in (plain, strange)
        equal(serving.ask(tandem={"adapters": [{"name": "other", "scale": 0.5}]}), half)
        both = serving.ask(tandem={"adapters": ["strange", "other"]})
        assert both not in (plain, strange, half)
        equal(serving.ask(lora=[{"id": 1, "scale": 0.5}, {"id": 0, "scale": 1}]), both)
        equal(serving.ask(), plain, "what was cached under adapters is not used without them")


@case
def test_adapters_are_listed_as_models():
    with Serving() as serving:
        rows = {row["id"]: row for row in serving.tandem.get("/v1/models").json["data"]}
        equal(
            (rows["strange"]["tandem"]["kind"], rows["other"]["tandem"]["tier"]),
            ("adapter", "local"),
        )


@case
def test_unknown_and_malformed_adapters_are_refused_by_name():
    with Serving() as serving:
        status, message = serving.ask(tandem={"adapters": ["strnge"]})
        equal(status, 400)
        assert "'strnge'" in message and "strange, other" in message, message
        equal((serving.error["param"], serving.error["code"]), ("tandem.adapters", "invalid_value"))
        equal(serving.ask(lora=[{"id": 2}])[0], 400)
        equal((serving.error["param"], serving.error["code"]), ("lora", "invalid_value"))
        equal(serving.ask(lora={"id": 0})[0], 400)
        equal(serving.ask(tandem={"adapters": ["strange", "strange"]})[0], 400)
        equal(serving.ask(tandem={"adapters": ["strange"], "mode": "only-cloud"})[0] >= 400, True)


@case
def test_an_adapter_is_swapped_while_requests_run():
    with Serving() as serving:
        plain, strange, failed, stop = (
            serving.ask(),
            serving.ask(model="strange"),
            [],
            threading.Event(),
        )

        def keep_asking():
            while not stop.is_set():
                got = serving.ask(model="strange")
                if got not in (plain, strange):
                    failed.append(got)

        threads = [threading.Thread(target=keep_asking) for _ in range(3)]
        for thread in threads:
            thread.start()
        write_adapter(serving.path / "new.gguf", CHANGES, size=0)
        os.replace(serving.path / "new.gguf", serving.path / "strange.gguf")
        serving.reload()
        equal(serving.ask(model="strange"), plain)
        stop.set()
        for thread in threads:
            thread.join()
        equal(failed, [])


@case
def test_a_broken_adapter_leaves_the_old_one_in_use():
    with Serving() as serving:
        strange = serving.ask(model="strange")
        write_adapter(serving.path / "strange.gguf", [("blk.0.attn_output.weight", 128, 256)])
        serving.reload()
        assert any(
            "config_rejected" in line and "made for another model" in line
            for line in serving.tandem.log
        ), serving.tandem.log
        equal(serving.ask(model="strange"), strange)


@case
def test_the_commands_take_adapters_and_refuse_wrong_ones():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.gguf"
        write_adapter(path, CHANGES)
        arguments = ["generate", "-m", NANO, "--ids", "5,6,7", "-n", "8", "--temp", "0", "--json"]
        plain = json.loads(run(*arguments)[1])["logprobs"]
        assert json.loads(run(*arguments, "--lora", path)[1])["logprobs"] != plain
        equal(
            json.loads(run(*arguments, "--lora", path, "--lora-scale", "0")[1])["logprobs"], plain
        )
        twice = json.loads(run(*arguments, "--lora-scale=2", "--lora", path)[1])["logprobs"]
        once = json.loads(run(*arguments, "--lora", path, "--lora-scale", 2)[1])["logprobs"]
        equal(once, twice)
        write_adapter(path, CHANGES, architecture="qwen2")
        code, _, err = run(*arguments, "--lora", path)
        equal((code, "general.architecture is 'qwen2', expected 'llama'" in err), (1, True), err)
        code, _, err = run(*arguments, "--lora", Path(folder) / "missing.gguf")
        equal(code, 1)


if __name__ == "__main__":
    main()
