"""What a page's commands find where they run: what a network would give, and what a reader has.
Each prepares a page's shell."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import postgres
from certificates import certificate as issued
from check import Skip, equal
from doc_shell import Shell
from hf_folder import make_folder
from intents import ASKED
from model_hub import Blob, Hub
from scripted_cloud import Script, ScriptedCloud
from tandem import BINARY, NANO, ROOT

POEM = "The sea is a grey page that the wind turns over."
REVOLUTION = (
    "Bread was dear, the state had no money left, and the estates could not agree on who should "
    "pay. When the king called them together in 1789, they did not go home again."
)
CITIES = "Paris Rome Oslo Bern Kyiv Riga Lima Cairo Delhi Quito Accra Doha".split()


def said(messages: list[dict[str, Any]]) -> str:
    """What the cloud of the pages says."""
    text = str(messages[-1]["content"])
    if "revolution" in text:
        return REVOLUTION
    if "sea" in text:
        return POEM
    if "commit message" in text:
        return "Mend the fence"
    if seen := re.search(r"[\w.]+@[\w.]*\w", text):
        return f"To: {seen[0]}. The parcel left on Monday."
    return "Here is a longer answer from the large model."


def cloud(shell: Shell) -> None:
    """OpenAI's, for whoever has a key."""
    made = ScriptedCloud(Script(thinks=said, models=["gpt-6-luna"]))
    shell.files.callback(made.close)
    shell.env |= {"OPENAI_BASE_URL": made.base_url, "OPENAI_API_KEY": "sk-test"}


def prices(shell: Shell) -> None:
    """What is known of OpenAI's own address, and of the second tier of a page's configuration."""
    for name, usd in (("INPUT", "0.1"), ("OUTPUT", "0.5")):
        shell.env[f"TANDEM_TIERS__1__PRICE__{name}_USD_PER_MTOK"] = usd


def server(shell: Shell) -> None:
    """`tandem serve` in another terminal."""
    code, printed = shell.run("tandem serve")
    equal(code, 0, printed)


def several_servers(shell: Shell) -> None:
    """The next `tandem serve` does not end the one before: each has a terminal."""
    shell.env["SEVERAL_SERVERS"] = "1"


def config(shell: Shell) -> None:
    """A first configuration, as `tandem init` writes it for somebody with a key for OpenAI."""
    code, printed = shell.run("tandem init --yes --cloud openai tandem.yaml")
    equal(code, 0, printed)


def ask(shell: Shell, text: str, **members: Any) -> dict[str, Any]:
    """A question to the page's server."""
    messages = [{"role": "user", "content": text}]
    body = {"model": "auto", "messages": messages, "max_tokens": 20, "temperature": 0, **members}
    return post(shell, "/v1/chat/completions", body)


def post(shell: Shell, path: str, body: dict[str, Any], key: str = "any") -> dict[str, Any]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{shell.ports['8080']}{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {key}"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def easy(number: int) -> str:
    city = CITIES[number % 12]
    return f"{ASKED}please transfer {number + 20} dollars to my savings account in {city}"


def hard(number: int) -> str:
    return f"Write a long poem about {CITIES[number % 12]} and the number {number}."


def traffic(shell: Shell) -> None:
    """A day of somebody's own questions, kept with their texts and judged by people."""
    shell.env["TANDEM_LEDGER__STORE_PROMPTS"] = "true"
    if "OPENAI_API_KEY" not in shell.env:
        cloud(shell)
    shell.env["TANDEM_STATE_DIR"] = str(shell.folder / "another")  # without the keys of a page
    server(shell)

    def judged(number: int) -> None:
        easily = number % 3 > 0
        answer = ask(shell, easy(number), model="local") if easily else ask(shell, hard(number))
        verdict = {"id": answer["tandem"]["exchange"], "ok": number % 4 > 0}
        post(shell, "/tandem/v1/feedback", verdict)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(judged, range(90)))
    shell.end_servers()


def lines(shell: Shell, name: str, rows: list[dict[str, Any]]) -> None:
    shell.write(name, "".join(json.dumps(row) + "\n" for row in rows))


def rows_for_a_classifier(count: int = 60) -> list[dict[str, Any]]:
    return [
        {"text": text(number), "local_ok": ok, "strong_ok": True, "task": task}
        for number in range(count)
        for text, ok, task in ((easy, number % 9 > 0, "classification"), (hard, False, "writing"))
    ]


def learning(shell: Shell) -> None:
    """Files with what is known of questions and answers, as the pages describe them."""
    lines(shell, "lines.jsonl", rows_for_a_classifier())
    lines(shell, "more.jsonl", rows_for_a_classifier(20))
    lines(shell, "texts.jsonl", [{"text": easy(number)} for number in range(3)])
    judged = [{"prompt": easy(n), "right": n % 3 > 0} for n in range(80)]
    lines(shell, "judged.jsonl", judged)
    lines(shell, "LINES.jsonl", judged + [{"prompt": hard(n), "right": False} for n in range(40)])
    answers = [
        {"confidence": 0.3 + n % 70 / 100, "right": n % 70 > 15, "task": "writing"}
        for n in range(400)
    ]
    lines(shell, "answers.jsonl", answers)
    shell.write("texts.txt", "".join(f"{easy(n)}\n{hard(n)}\n" for n in range(60)))
    shell.write("other-texts.txt", "".join(f"{easy(n)}\n{hard(n)}\n" for n in range(60, 90)))
    shutil.copy(NANO, shell.work / "model.gguf")
    shutil.copy(NANO, shell.work / "MODEL.gguf")


def model(shell: Shell) -> None:
    """A model of the reader's."""
    shutil.copy(NANO, shell.work / "model.gguf")


def log(shell: Shell) -> None:
    """A log of what went to a cloud, and a table of outcomes."""
    asked = [
        {"text": text(n), "answer": "transfer" if text is easy else POEM, "cost_usd": 0.0002}
        for n in range(30)
        for text in (easy, hard)
    ]
    lines(shell, "log.jsonl", asked)
    outcomes = [
        {
            "id": f"ex_{n}",
            "p_local": n % 10 / 10,
            "probe": n % 7 / 7,
            "local": {"right": int(n % 10 > 3), "cost_usd": 0, "ms": 90, "confidence": n % 9 / 9},
            "cloud": {"right": 0.9, "cost_usd": 0.002, "ms": 900},
        }
        for n in range(100)
    ]
    lines(shell, "outcomes.jsonl", outcomes)
    text = (ROOT / "examples" / "edge-first.yaml").read_text()
    shell.write("new.yaml", text.replace("risk: 5%", "risk: 2%"))


def hf_folder(shell: Shell) -> None:
    """A model as its makers publish it."""
    _, folder, _ = make_folder(shell.folder)
    folder.rename(shell.work / "Qwen3-0.6B")


def hub(shell: Shell) -> None:
    """Hugging Face, with a small file behind each name."""
    data = NANO.read_bytes()
    files = {
        "/Qwen/Qwen3-4B-GGUF/resolve/main/Qwen3-4B-Q4_K_M.gguf": Blob(data),
        "/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/main/qwen2.5-0.5b-instruct-q4_0.gguf": Blob(data),
    }
    for path in list(files):
        _, organisation, repository, *_, name = path.split("/")
        rows = [{"type": "file", "path": name, "size": len(data)}]
        tree = Blob(json.dumps(rows).encode(), ranges=False)
        files[f"/api/models/{organisation}/{repository}/tree/main"] = tree
    entry = {
        "name": "qwen3-4b",
        "source": "hf:Qwen/Qwen3-4B-GGUF:Qwen3-4B-Q4_K_M.gguf",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "licence": "apache-2.0",
        "parameters": 4.0,
        "context": 40960,
        "good_at": "chat",
    }
    made = shell.files.enter_context(Hub(files))
    listed = shell.folder / "catalog.json"
    listed.write_text(json.dumps({"checked": "2026-11-28", "models": [entry]}))
    shell.env |= {"HF_ENDPOINT": made.url, "TANDEM_MODELS__CATALOG": str(listed)}


def git(shell: Shell) -> None:
    """A repository with a change that is not committed."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"]
    folder = shell.work
    (folder / "fence").write_text("a board\n")
    for step in (["init"], ["add", "fence"], ["commit", "-m", "A fence"]):
        subprocess.run(
            ["git", *who, *step],
            cwd=folder,
            env=shell.env,
            check=True,
            text=True,
            capture_output=True,
        )
    (folder / "fence").write_text("a board\na new board\n")
    shell.write("report.txt", "The harbour was quiet, and nothing happened in it.\n")


def program(shell: Shell) -> None:
    """Somebody's program for Anthropic or Ollama, which takes the address from the environment."""
    path = shell.folder / "bin" / "your-program"
    path.write_text(
        """#!/bin/sh
if [ -n "$OLLAMA_HOST" ]; then
  exec curl -fsS "$OLLAMA_HOST/api/chat" -d '{"model": "auto", "stream": false,
    "messages": [{"role": "user", "content": "2 miles in km"}]}'
fi
exec curl -fsS "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_API_KEY" -d '{
  "model": "auto", "max_tokens": 20, "messages": [{"role": "user", "content": "2 miles in km"}]}'
"""
    )
    path.chmod(0o755)


def question(shell: Shell) -> None:
    """One that leaves the device."""
    code, printed = shell.run('tandem ask "Why did the French revolution begin?"')
    equal((code, printed.strip()), (0, REVOLUTION))


def certificate(shell: Shell) -> None:
    """A server with a certificate, and a certificate with its key."""
    pair = issued(shell.folder, "localhost")
    shutil.copy(pair[0], shell.work / "CERT.pem")
    shutil.copy(pair[1], shell.work / "KEY.pem")
    served = ScriptedCloud(tls=pair, port=shell.ports["8082"])
    shell.files.callback(served.close)


def library(shell: Shell) -> None:
    """The library that was built with this program, where pkg-config finds it."""
    tree = Path(BINARY).resolve().parent.parent.parent
    shutil.copy(ROOT / "examples" / "c" / "generate.c", shell.work / "app.c")
    shell.env["PKG_CONFIG_PATH"] = str(tree / "meson-uninstalled")
    shell.env["C_INCLUDE_PATH"] = str(ROOT / "include")


def support(shell: Shell) -> None:
    """A server with a route of that name."""
    shell.write(
        "tandem.yaml",
        "tiers:\n  - {name: local, kind: local}\n"
        "  - {name: cloud, kind: openai, api_key_env: OPENAI_API_KEY, model: gpt-6-luna}\n"
        "routes:\n  - {name: auto, kind: hybrid, tiers: [local, cloud]}\n"
        "  - {name: support, kind: hybrid, tiers: [local, cloud]}\n",
    )
    shell.env["TANDEM_CONFIG"] = str(shell.work / "tandem.yaml")
    server(shell)


def edge(shell: Shell) -> None:
    """A server of a model nearby, as a tier."""
    made = ScriptedCloud(Script(text="transfer", logprob=-0.1, models=["edge-model"]))
    shell.files.callback(made.close)
    shell.write(
        "tandem.yaml",
        "tiers:\n  - {name: edge, kind: openai, place: premises, model: edge-model, "
        f"base_url: '{made.base_url}'}}\n"
        "routes: [{name: auto, kind: hybrid, tiers: [edge]}]\n",
    )
    rows = [{"prompt": easy(n), "answer": "transfer" if n % 3 else "balance"} for n in range(80)]
    lines(shell, "judged.jsonl", rows)


def anthropic(shell: Shell) -> None:
    shell.write(
        "tandem.yaml",
        "tiers:\n  - {name: local, kind: local}\n"
        "  - {name: claude, kind: anthropic, model: claude-haiku-5-5}\n",
    )
    shell.env["ANTHROPIC_API_KEY"] = "sk-ant-test"
    shell.env["TANDEM_CONFIG"] = str(shell.work / "tandem.yaml")


def gate(shell: Shell) -> None:
    """What an evaluation may lose: all of it, for the model of the tests is small."""
    shell.write("gate.yaml", "max_kld: 10\nmax_flips: 1\nmin_prompts: 10\n")


def tickets(shell: Shell) -> None:
    """Questions that wait for people, and anna's tenant that asks them."""
    shell.write(
        "people.yaml",
        "tiers:\n  - {name: local, kind: local}\n"
        "  - {name: people, kind: review, review: {minutes: 5, usd_hour: 60}}\n"
        "routes: [{name: auto, kind: hybrid, tiers: [local, people]}]\n",
    )
    shell.env["TANDEM_CONFIG"] = str(shell.work / "people.yaml")
    _, key = shell.run("tandem keys add app --tenant shop 2> /dev/null")
    server(shell)
    for number in range(5):
        body: dict[str, Any] = {
            "messages": [{"role": "user", "content": f"Where is my parcel {number}?"}]
        }
        body |= {"model": "auto", "max_tokens": 20, "tandem": {"cost_of_error": 1000000}}
        post(shell, "/v1/chat/completions", body, key.strip())


def database(shell: Shell) -> None:
    """PostgreSQL on another machine."""
    if why := postgres.missing():
        raise Skip(why)
    made = shell.files.enter_context(postgres.Postgres())
    shell.env["DATABASE"] = made.url


def clients(shell: Shell) -> None:
    """Python with OpenAI's package, as the tests of the official clients have it."""
    sys.path.insert(0, str(ROOT / "tests" / "clients"))
    import clients as official

    try:
        official.install_python()
    except official.Missing as why:
        raise Skip(str(why)) from why
    folder = official.interpreter("light").parent
    shell.env["PATH"] = f"{shell.folder / 'bin'}:{folder}:{os.environ['PATH']}"


STAND_INS: dict[str, Callable[[Shell], None]] = {
    name: value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == __name__ and name != "STAND_INS"
}
