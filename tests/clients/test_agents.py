#!/usr/bin/env python3
"""Runs Claude Code and Codex, the programs themselves, against the real program and a scripted
cloud: each is asked for a file, gets a call of its shell, runs it, and says that it is done.

They are 640 MB, so they are not fetched by every test run: TANDEM_INSTALL_AGENTS=1 installs what
agents/package-lock.json pins, once. Nothing leaves the machine: each talks to the program alone, in
a folder and a home of its own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.path.insert(0, str(HERE))
from check import case, equal, main
from clients import Missing, install_node, pinned_by_npm
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

AGENTS = HERE / "agents"
MODULES = AGENTS / "node_modules"
TASK = "Make the file made.txt with a greeting, then say so."
COMMAND = "echo hello from a tool > made.txt"
DONE = "The file is made."
# The shell of each, and what it takes.
SHELLS = {
    "Bash": {"command": COMMAND, "description": "makes the file"},
    "exec_command": {"cmd": COMMAND},
}


def install(fetch: bool) -> None:
    """Raises Missing where they are not, and are not to be fetched or cannot be."""
    install_node(AGENTS, fetch)


class ToolCaller(ScriptedCloud):
    """Calls the shell that it is offered, and when that has answered it is done."""

    def _going_on(self, script, wants):
        offered = {tool["function"]["name"] for tool in wants.get("tools", [])} & set(SHELLS)
        if not offered or any(message["role"] == "tool" for message in wants["messages"]):
            return replace(script, text=DONE)
        name = offered.pop()
        function = {"name": name, "arguments": json.dumps(SHELLS[name])}
        call = {"index": 0, "id": "call_1", "type": "function", "function": function}
        return replace(script, pieces=[""], finish="tool_calls", extra_delta={"tool_calls": [call]})


def run_agent(command, environment, prepare=None):
    """What the agent says, after it has made the file, and the requests that the cloud got."""
    cloud = ToolCaller(Script())
    config = edge_first(cloud.base_url)
    with (
        Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem,
        tempfile.TemporaryDirectory(prefix="tandem-agent-") as folder,
    ):
        home, work = Path(folder, "home"), Path(folder, "work")
        home.mkdir()
        work.mkdir()
        if prepare:
            prepare(home, tandem.url)
        done = subprocess.run(
            [*command, TASK],
            cwd=work,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "TERM": "dumb",
                **environment(tandem.url),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        equal(done.returncode, 0, done.stdout)
        assert DONE in done.stdout, done.stdout
        equal((work / "made.txt").read_text(), "hello from a tool\n")
    return [call["json"] for call in cloud.calls()]


@case
def test_claude_code_starts_calls_its_shell_and_ends():
    found = sorted(MODULES.glob("@anthropic-ai/claude-code-*/claude"))
    assert found, "the agent has no program for this machine"
    calls = run_agent(
        [str(found[0]), "-p", "--allowedTools=Bash"],
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "any",
            "ANTHROPIC_MODEL": "auto",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
        },
    )
    equal([message["role"] for message in calls[-1]["messages"]][-2:], ["assistant", "tool"])


CODEX_CONFIG = """model = "auto"
model_provider = "tandem"

[model_providers.tandem]
name = "Tandem"
base_url = "{url}/v1"
wire_api = "responses"

[analytics]
enabled = false
"""


def write_codex_config(home, url):
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(CODEX_CONFIG.format(url=url))


@case
def test_codex_starts_calls_its_shell_and_ends():
    program = MODULES / "@openai" / "codex" / "bin" / "codex.js"
    options = ["--skip-git-repo-check", "--sandbox", "danger-full-access"]
    calls = run_agent(["node", str(program), "exec", *options], lambda url: {}, write_codex_config)
    equal([message["role"] for message in calls[-1]["messages"]][-2:], ["assistant", "tool"])


@dataclass(frozen=True)
class Agent:
    """For the table of docs/clients.md."""

    name: str
    package: str
    api: str
    task: Callable[[], None]

    @property
    def title(self) -> str:
        return f"{self.name} {self.api}"

    def version(self) -> str:
        return pinned_by_npm(AGENTS, self.package)


TRIED = [
    Agent(
        "Claude Code",
        "@anthropic-ai/claude-code",
        "/v1/messages",
        test_claude_code_starts_calls_its_shell_and_ends,
    ),
    Agent("Codex", "@openai/codex", "/v1/responses", test_codex_starts_calls_its_shell_and_ends),
]

if __name__ == "__main__":
    try:
        install(bool(os.environ.get("TANDEM_INSTALL_AGENTS")))
    except Missing as why:
        print(f"SKIP agents: {why} (TANDEM_INSTALL_AGENTS=1 fetches 640 MB)")
        print("0 passed, 0 failed, 1 skipped")
        sys.exit(0)
    sys.exit(main())
