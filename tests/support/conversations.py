"""Conversations for tests: `tandem chat` in a terminal, with the model of the program or a scripted
cloud behind it."""

import contextlib
import json
import os
import select
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from check import equal
from screen import Screen
from scripted_cloud import ScriptedCloud
from tandem import BINARY, clean_environment, run

LABEL = "Classify the intent: play some music"
HARD = "Why did the French revolution begin?"


@contextlib.contextmanager
def state() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tandem-chat-") as folder:
        yield Path(folder)


def environment(folder: Path, cloud: ScriptedCloud | None = None, **more: Any) -> dict[str, str]:
    if cloud:
        more |= {"OPENAI_BASE_URL": cloud.base_url, "OPENAI_API_KEY": "sk-test"}
    return clean_environment(TANDEM_STATE_DIR=folder, **more)


@contextlib.contextmanager
def chat(
    cloud: ScriptedCloud | None = None,
    arguments: Sequence[str] = (),
    columns: int = 80,
    rows: int = 24,
    folder: Path | None = None,
    **more: Any,
) -> Iterator[Screen]:
    """A conversation that waits for its first line; `screen.state` is its state folder."""
    with contextlib.ExitStack() as stack:
        folder = folder or stack.enter_context(state())
        env = environment(folder, cloud, **more)
        screen = Screen([str(BINARY), "chat", *arguments], env, columns, rows)
        stack.enter_context(screen)
        screen.state = folder
        screen.wait_prompt("private>" if "--private" in arguments else ">")
        yield screen


def last_exchange(folder: Path) -> Any:
    """The newest record of the ledger."""
    code, out, err = run("explain", "--json", env=environment(folder))
    equal(code, 0, err)
    return json.loads(out)


def read_until(fd: int, wanted: bytes, seconds: float = 20) -> bytes:
    seen, end = b"", time.monotonic() + seconds
    while wanted not in seen:
        ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
        if not ready:
            raise AssertionError(f"{wanted!r} did not come: {seen!r}")
        seen += os.read(fd, 65536)
    return seen
