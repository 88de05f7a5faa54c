"""The fenced blocks of the documentation: which are commands, what they print, and how they are
run.

A block whose language is `sh` is commands. One of `console` is commands, each after "$ ", with what
they print below. Any block without a language that follows commands at once is what they print.
HTML comments just before a block say what a reader does not need to know:

    <!-- file: tandem.yaml -->        the block is this file
    <!-- run with: cloud, server -->  stand-ins of doc_stand_ins.py that it needs
    <!-- where: ex_... = COMMAND -->  what a reader would put there: the last line of the output
    <!-- exits: 1 -->                 the exit status of its last command
    <!-- not run: WHY -->             what cannot run here
"""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from masks import masked

MARK = re.compile(r"<!-- (file|run with|where|exits|not run): (.+?) -->")
COMMANDS = ("sh", "console")
# What a command begins with. A block that has such a line must be marked as commands.
PROGRAMS = (
    *("$", "tandem", "build/tandem", "make", "curl", "sudo", "apt", "docker", "podman", "python3"),
    *("pip", "npm", "node", "export", "openssl", "cc", "systemctl", "meson", "ninja", "ollama"),
    *("git", "cat", "echo", "printf", "kill", "scp", "ssh", "brew", "go", "cargo", "jq", "cd"),
)


@dataclass
class Block:
    page: str
    line: int
    language: str
    text: str
    marks: dict[str, list[str]] = field(default_factory=dict)
    printed: str = ""  # what the page shows below `sh`

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"

    def mark(self, name: str) -> str:
        return (self.marks.get(name) or [""])[0]

    def commands(self) -> list[tuple[str, str]]:
        """(command, what the page says it prints). Of `sh` the last one has what all print."""
        if self.language == "sh":
            whole = whole_commands(self.text)
            return [(command, "") for command in whole[:-1]] + [(whole[-1], self.printed)]
        found: list[tuple[list[str], list[str]]] = []
        for line in self.text.split("\n"):
            command, output = found[-1] if found else ([], [])
            if line.startswith("$ "):
                found.append(([line[2:]], []))
            elif line.startswith("> ") and not output:
                command.append(line[2:])
            else:
                output.append(line)
        return [("\n".join(command), "\n".join(output)) for command, output in found]


def whole_commands(text: str) -> list[str]:
    """The commands of a script: lines are joined until a shell can read them."""
    found: list[str] = []
    begun = ""
    for line in text.split("\n"):
        begun += line
        open_end = line.endswith("\\")
        if not open_end:
            read = subprocess.run(["bash", "-n", "-c", begun], capture_output=True, check=False)
            open_end = read.returncode != 0 or b"warning" in read.stderr  # a here-document
        if open_end:
            begun += "\n"
            continue
        if begun.strip() and not begun.lstrip().startswith("#"):
            found.append(begun)
        begun = ""
    return [*found, begun] if begun.strip() else found


def blocks(path: Path, name: str) -> list[Block]:
    found: list[Block] = []
    marks: dict[str, list[str]] = {}
    current: Block | None = None
    follows = False  # nothing stands between this line and the commands before
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = line.strip().startswith("```")
        if fence and current is None:
            current = Block(name, number, line.strip()[3:], "", marks)
            marks = {}
        elif fence and current is not None:
            current.text = current.text.removesuffix("\n")
            if current.language == "" and follows and found[-1].language == "sh":
                found[-1].printed = current.text
            else:
                found.append(current)
            follows, current = True, None
        elif current is not None:
            current.text += line + "\n"
        elif said := MARK.findall(line):
            for kind, words in said:
                marks.setdefault(kind, []).append(words)
        elif line.strip():
            follows, marks = False, {}
    return found


def looks_like_commands(block: Block) -> bool:
    """Of a block that is not marked as commands."""
    first = [line.split(" ")[0] for line in block.text.split("\n")]
    return block.language not in COMMANDS and any(word in PROGRAMS for word in first)


def squeezed(text: str) -> str:
    """Without what differs from run to run, and without white space."""
    text = re.sub(r"\bex_[0-9a-f]{24}\b", "ex_ID", text)
    text = re.sub(r"127\.0\.0\.1:\d{5}", "127.0.0.1:PORT", text)
    return re.sub(r"\s", "", masked(text))


def difference(shown: str, printed: str) -> str:
    """What a page shows and a command does not print, or "". "..." stands for anything."""
    parts = [squeezed(part) for part in re.split(r"\.\.\.|…", shown)]
    text, at = squeezed(printed), 0
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        found = len(text) - len(part) if last and part else text.find(part, at)
        wrong = found < at or (number == 0 and found != 0) or not text.startswith(part, found)
        if wrong:
            return part
        at = found + len(part)
    return ""
