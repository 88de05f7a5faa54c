"""The clients that are tried, where their packages are, and what each raises for an error.

There are two places. `light` are the packages of package.json and requirements.txt, which `make
test` installs. `frameworks` (frameworks/: 500 MB) are fetched only by `make bench-clients`. Every
version is pinned with its hash. The agents are in test_agents.py."""

import contextlib
import fcntl
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OPENAI = {
    401: "AuthenticationError",
    404: "NotFoundError",
    400: "BadRequestError",
    429: "RateLimitError",
    "context": "BadRequestError",
}


@dataclass(frozen=True)
class Client:
    name: str
    api: str  # the door that it uses
    package: str  # whose version is shown
    script: str  # its adapter, and the arguments of that; the folder says where its packages are
    errors: dict
    simplest: str = "chat"  # what is asked when only an error is wanted

    @property
    def title(self) -> str:
        return f"{self.name} {self.api}"

    @property
    def place(self) -> str:
        return PLACES[self.script.split("/")[0]]

    @property
    def node(self) -> bool:
        return ".mjs" in self.script

    def command(self) -> list[str]:
        script, *arguments = self.script.split()
        program = "node" if self.node else str(interpreter(self.place))
        return [program, str(HERE / script), *arguments]

    def version(self) -> str:
        """The one that is pinned."""
        folder = FOLDERS[self.place]
        if self.node:
            return pinned_by_npm(folder, self.package)
        pinned = (folder / "requirements.txt").read_text()
        found = re.search(rf"^{re.escape(self.package)}==([^ ]+)", pinned, re.MULTILINE)
        assert found, self.package
        return found.group(1)

    def missing(self, install: bool) -> str:
        """Why it cannot be tried; "" when it can. install: fetch what is not there."""
        try:
            if self.node:
                install_node(FOLDERS[self.place], install)
            else:
                install_python(self.place, install)
        except Missing as why:
            return str(why)
        return ""


class Missing(Exception):
    """Packages that are not here and were not fetched; the text says why."""


PLACES = {"adapters": "light", "frameworks": "frameworks"}
FOLDERS = {
    "light": HERE,
    "frameworks": HERE / "frameworks",
    "console": HERE.parent / "console",  # what drives a browser
}
ENVIRONMENTS = {
    "light": ROOT / "build-clients",
    "frameworks": ROOT / "build-clients-frameworks",
    "console": ROOT / "build-console",
}


def interpreter(place: str) -> Path:
    """The Python that has the packages of a place."""
    return ENVIRONMENTS[place] / "bin" / "python"


def pinned_by_npm(folder: Path, package: str) -> str:
    return json.loads((folder / "package.json").read_text())["dependencies"][package]


def table_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def result_row(
    name: str, version: str, api: str, tier: str, abilities: Iterable[str], results: dict
) -> str:
    """A row of the table; results: {ability: (mark, why)}"""
    marks = [results.get(ability, ("-", ""))[0] for ability in abilities]
    return table_row([f"{name} {version}", f"`{api}`", tier, *marks])


def ran(command: list, **options) -> bool:
    done = subprocess.run(list(map(str, command)), capture_output=True, **options)
    return done.returncode == 0


@contextlib.contextmanager
def alone(pins: Path) -> Iterator[None]:
    """Several suites may come at once: one of them installs what the file pins."""
    with pins.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install_python(place: str = "light", install: bool = True) -> None:
    """An environment with the pinned packages, made once for each state of the list."""
    pinned = FOLDERS[place] / "requirements.txt"
    digest = hashlib.sha256(pinned.read_bytes()).hexdigest()
    environment = ENVIRONMENTS[place]
    mark = environment / "installed"
    if mark.exists() and mark.read_text() == digest:
        return
    if not install:
        raise Missing(f"{pinned.relative_to(ROOT)} is not installed")
    with alone(pinned):
        if not mark.exists() or mark.read_text() != digest:
            make_environment(place, pinned)
            mark.write_text(digest)


def make_environment(place: str, pinned: Path) -> None:
    shutil.rmtree(ENVIRONMENTS[place], ignore_errors=True)
    if not ran([sys.executable, "-m", "venv", ENVIRONMENTS[place]]):
        raise Missing("no python3-venv")
    # The list is complete. With the needs of packages pip asks for pins of "google-auth[requests]",
    # which has none of its own.
    pip = [interpreter(place), "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    if not ran([*pip, "-r", pinned]):
        raise Missing(f"{pinned.relative_to(ROOT)} cannot be installed: no registry answers")


def install_node(folder: Path = HERE, install: bool = True) -> None:
    """What the folder's lock file pins, installed once for each state of it."""
    lock = folder / "package-lock.json"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    mark = folder / "node_modules" / ".installed"
    if not shutil.which("node"):
        raise Missing("no node")
    if mark.exists() and mark.read_text() == digest:
        return
    if not install:
        raise Missing(f"{lock.relative_to(ROOT)} is not installed")
    if not shutil.which("npm"):
        raise Missing("no npm")
    with alone(lock):
        if mark.exists() and mark.read_text() == digest:
            return
        if not ran(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder):
            raise Missing(f"{lock.relative_to(ROOT)} cannot be installed: no registry answers")
        mark.write_text(digest)


def always(name: str) -> dict:
    """The errors of a client that has one class for all; it says the status."""
    return dict.fromkeys(OPENAI, name)


CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
OLLAMA = "/api/chat"
AI_SDK = always("AI_APICallError")
LANGCHAIN = {**OPENAI, "context": "OpenAIContextOverflowError"}
LANGCHAIN_ANTHROPIC = {**OPENAI, "context": "AnthropicContextOverflowError"}
LANGCHAIN_NODE = {**OPENAI, "context": "ContextOverflowError"}
LITELLM = {**OPENAI, "context": "ContextWindowExceededError"}
CLIENTS = [
    Client("openai (Python)", CHAT, "openai", "adapters/openai_chat.py", OPENAI),
    Client("openai (Python)", RESPONSES, "openai", "adapters/openai_responses.py", OPENAI),
    Client("openai (Node)", CHAT, "openai", "adapters/openai_chat.mjs", OPENAI),
    Client("openai (Node)", RESPONSES, "openai", "adapters/openai_responses.mjs", OPENAI),
    Client("anthropic (Python)", MESSAGES, "anthropic", "adapters/anthropic_messages.py", OPENAI),
    Client(
        "anthropic (Node)",
        MESSAGES,
        "@anthropic-ai/sdk",
        "adapters/anthropic_messages.mjs",
        OPENAI,
    ),
    Client("ollama (Python)", OLLAMA, "ollama", "adapters/ollama_chat.py", always("ResponseError")),
    Client("ollama (Node)", OLLAMA, "ollama", "adapters/ollama_chat.mjs", always("ResponseError")),
    Client("ai, openai", RESPONSES, "@ai-sdk/openai", "adapters/ai_sdk.mjs openai", AI_SDK),
    Client(
        "ai, openai-compatible",
        CHAT,
        "@ai-sdk/openai-compatible",
        "adapters/ai_sdk.mjs compatible",
        AI_SDK,
    ),
    Client("ai, anthropic", MESSAGES, "@ai-sdk/anthropic", "adapters/ai_sdk.mjs anthropic", AI_SDK),
    Client(
        "langchain-openai",
        CHAT,
        "langchain-openai",
        "frameworks/use_langchain.py openai",
        LANGCHAIN,
    ),
    Client(
        "langchain-anthropic",
        MESSAGES,
        "langchain-anthropic",
        "frameworks/use_langchain.py anthropic",
        LANGCHAIN_ANTHROPIC,
    ),
    Client(
        "langchain-ollama",
        OLLAMA,
        "langchain-ollama",
        "frameworks/use_langchain.py ollama",
        always("ResponseError"),
    ),
    Client(
        "@langchain/openai",
        CHAT,
        "@langchain/openai",
        "frameworks/use_langchain.mjs",
        LANGCHAIN_NODE,
    ),
    Client(
        "llama-index, openai-like",
        CHAT,
        "llama-index-llms-openai-like",
        "frameworks/use_llamaindex.py openai",
        OPENAI,
    ),
    Client(
        "llama-index, ollama",
        OLLAMA,
        "llama-index-llms-ollama",
        "frameworks/use_llamaindex.py ollama",
        always("ResponseError"),
    ),
    Client(
        "pydantic-ai",
        CHAT,
        "pydantic-ai-slim",
        "frameworks/use_pydantic_ai.py chat",
        always("ModelHTTPError"),
    ),
    Client(
        "pydantic-ai",
        RESPONSES,
        "pydantic-ai-slim",
        "frameworks/use_pydantic_ai.py responses",
        always("ModelHTTPError"),
    ),
    Client(
        "openai-agents",
        RESPONSES,
        "openai-agents",
        "frameworks/use_openai_agents.py responses",
        OPENAI,
    ),
    Client("openai-agents", CHAT, "openai-agents", "frameworks/use_openai_agents.py chat", OPENAI),
    Client(
        "instructor",
        CHAT,
        "instructor",
        "frameworks/use_instructor.py openai",
        always("InstructorRetryException"),
        "structured",
    ),
    Client(
        "instructor",
        MESSAGES,
        "instructor",
        "frameworks/use_instructor.py anthropic",
        always("InstructorRetryException"),
        "structured",
    ),
    Client("llm", CHAT, "llm", "frameworks/use_llm.py", always("ProgramFailed")),
    Client("litellm, openai", CHAT, "litellm", "frameworks/use_litellm.py openai", LITELLM),
    Client(
        "litellm, anthropic", MESSAGES, "litellm", "frameworks/use_litellm.py anthropic", LITELLM
    ),
    Client(
        "litellm, ollama_chat", OLLAMA, "litellm", "frameworks/use_litellm.py ollama_chat", OPENAI
    ),
]
