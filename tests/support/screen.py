"""A terminal of a fixed size in which the program runs, as a person sees it: tmux."""

import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Self

from check import Skip


def flat(shown: str) -> str:
    """A text without its line ends."""
    return " ".join(shown.split())


def is_running(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Screen:
    """`command` runs in a terminal of columns x rows. Use as a context manager."""

    def __init__(
        self, command: list[str], env: dict[str, Any], columns: int = 80, rows: int = 24
    ) -> None:
        if not shutil.which("tmux"):
            raise Skip("tmux is not installed")
        self.folder = Path(tempfile.mkdtemp(prefix="tandem-screen-"))
        self.columns, self.rows = columns, rows
        self.state = Path()  # of the program; set by whoever made it
        settings = self.folder / "tmux.conf"
        settings.write_text(
            "set -g status off\nset -g history-limit 5000\n"
            "set -s escape-time 0\nset -g default-terminal screen-256color\n"
        )
        keep = {k: str(v) for k, v in env.items() if k not in ("TMUX", "TERM")}
        # tmux tells exit codes unreliably. Ctrl-C is for the program alone.
        self._code, self._pid = self.folder / "code", self.folder / "pid"
        line = (
            f"trap : INT; sh -c 'echo $$ > {self._pid}; exec \"$@\"' sh {shlex.join(command)}; "
            f"echo $? > {self._code}; exec sleep 1000"
        )
        self._tmux(
            "-f",
            str(settings),
            "new-session",
            "-d",
            "-x",
            str(columns),
            "-y",
            str(rows),
            "sh",
            "-c",
            line,
            env={**keep, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
        )

    def _tmux(self, *arguments: str, env: dict[str, str] | None = None, text: str = "") -> str:
        done = subprocess.run(
            ["tmux", "-u", "-S", str(self.folder / "socket"), *arguments],
            input=text,
            capture_output=True,
            text=True,
            env=env,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"tmux {arguments}: {done.stderr}")
        return done.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """What is left of the program is told that its terminal is gone, and waited for."""
        pid = self._pid.read_text().strip() if self._pid.exists() else "0"
        subprocess.run(
            ["tmux", "-S", str(self.folder / "socket"), "kill-server"],
            capture_output=True,
            check=False,
        )
        end = time.monotonic() + 10
        while is_running(pid) and time.monotonic() < end:
            time.sleep(0.01)
        shutil.rmtree(self.folder, ignore_errors=True)

    def keys(self, *names: str) -> None:
        """Keys by their names in tmux: Enter, Up, C-c, Tab, M-Enter."""
        self._tmux("send-keys", *names)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def say(self, text: str) -> None:
        self.type(text)
        self.keys("Enter")

    def paste(self, text: str, bracketed: bool = True) -> None:
        """With marks around it where the program asked for them, as a terminal does."""
        self._tmux("load-buffer", "-", text=text)
        self._tmux("paste-buffer", *(["-p"] if bracketed else []))

    def resize(self, columns: int, rows: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def text(self, scrolled: bool = False) -> str:
        """What is to be seen, or all that was since the start; without spaces at line ends."""
        shown = self._tmux("capture-pane", "-p", *(["-S", "-"] if scrolled else []))
        return "\n".join(line.rstrip() for line in shown.rstrip().split("\n")) + "\n"

    def forget(self) -> None:
        """Clears the screen as Ctrl-L does; what scrolled away is not to be seen any more."""
        self.keys("C-l")
        end = time.monotonic() + 20
        while self.cursor()[1] > 0 and time.monotonic() < end:
            time.sleep(0.02)
        self._tmux("clear-history")

    def cursor(self) -> tuple[int, int]:
        """(column, row), from 0."""
        column, row = self._tmux("display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return int(column), int(row)

    def raw(self) -> str:
        """With the escape sequences for colours and the like."""
        return self._tmux("capture-pane", "-p", "-e", "-S", "-")

    def wait(self, wanted: str, seconds: float = 20, times: int = 1) -> str:
        """Until the text was to be seen so many times, perhaps broken into lines; the whole screen
        then."""
        end = time.monotonic() + seconds
        while True:
            shown = self.text(scrolled=True)
            if max(shown.count(wanted), flat(shown).count(wanted)) >= times:
                return shown
            if time.monotonic() > end:
                raise AssertionError(f"{wanted!r} did not come {times} times:\n{shown}")
            time.sleep(0.02)

    def wait_prompt(self, prompt: str = ">", seconds: float = 60) -> str:
        """Until the last line is the prompt, with nothing after it, and the cursor is there."""
        end = time.monotonic() + seconds
        while True:
            shown = self.text()
            lines = shown.rstrip("\n").split("\n")
            if lines[-1] == prompt and self.cursor() == (len(prompt) + 1, len(lines) - 1):
                return shown
            if time.monotonic() > end:
                raise AssertionError(f"no prompt {prompt!r} in:\n{shown}")
            time.sleep(0.02)

    def wait_column(self, column: int, seconds: float = 60) -> None:
        """Until the cursor is in this column, from 0."""
        end = time.monotonic() + seconds
        while self.cursor()[0] != column:
            if time.monotonic() > end:
                raise AssertionError(f"the cursor is at {self.cursor()} in:\n{self.text()}")
            time.sleep(0.02)

    def ended(self, seconds: float = 60) -> int:
        """Waits for the program to end; its exit code."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._code.exists() and self._code.read_text().strip():
                return int(self._code.read_text())
            time.sleep(0.02)
        raise AssertionError("the program did not end:\n" + self.text(scrolled=True))
