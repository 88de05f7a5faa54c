#!/usr/bin/env python3
"""Runs the official clients for Node, OpenAI's and Google's, and the AI SDK with its default
provider, against the real program and a scripted cloud."""

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "support"))
from abilities import Cloud
from clients import Missing, install_node
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first


def run_script(name, script, kind=ScriptedCloud):
    cloud = kind(script)
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        done = subprocess.run(
            ["node", str(HERE / name), f"{tandem.url}/v1"],
            text=True,
            timeout=120,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    found = re.findall(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
    print(re.sub(r"(?m)^\d+ passed, \d+ failed$\n?", "", done.stdout), end="")
    return tuple(map(int, found[-1])) if found else (0, 1)


def main():
    try:
        install_node()
    except Missing as why:
        print(f"SKIP node clients: {why}")
        print("0 passed, 0 failed, 1 skipped")
        return 0
    results = [
        run_script("client_openai.mjs", Script(logprob=-0.1)),
        run_script("client_gemini.mjs", Script()),
        run_script(
            "client_broken_cloud.mjs", Script(text="a b c d", cut_after=2, piece_delay=0.05)
        ),
        run_script("client_ai_sdk.mjs", Script(finish="tool_calls"), Cloud),
    ]
    passed, failed = (sum(column) for column in zip(*results))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
