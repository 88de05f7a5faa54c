#!/usr/bin/env python3
"""The recorded sessions of docs/sessions/ are what the program does: each is played again, and
compared screen by screen.

TANDEM_RECORD=1 writes them anew. Times, ids, sums that depend on them, and where a line is broken
because of their width are not compared; what no line may have is a width beyond the terminal's."""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from conversations import HARD, LABEL, environment, state
from masks import masked
from model_hub import Blob, Folder, Hub
from screen import Screen
from scripted_cloud import Script, ScriptedCloud
from tandem import BINARY, NANO, ROOT

FOLDER = ROOT / "docs" / "sessions"
POEM = (
    "The sea is a grey page that the wind turns over, and every wave has a line on it that "
    "nobody reads twice."
)
PASTED = "Translate this, please:\n\n  Guten Morgen, 世界.\n  Wie geht es dir?"


class Session:
    """What was to be seen, with what was done before it: the screen, and what has scrolled away."""

    def __init__(self, title: str, screen: Screen | None = None) -> None:
        self.screen = screen
        self.frames: list[tuple[str, str]] = []
        self.title = title

    def shows(self, done: str) -> None:
        assert self.screen
        text = self.screen.text(scrolled=True)
        for line in text.split("\n"):
            wide = len(line) + sum(ord(c) > 0x2E80 for c in line)
            assert wide <= self.screen.columns, f"{wide} columns: {line}"
        self.frames.append((done, text))

    def written(self) -> str:
        out = [f"{self.title}\n"]
        for done, text in self.frames:
            out.append(f"\n----- {done}\n{text}")
        return "".join(out)

    def compare(self, name: str) -> None:
        path = FOLDER / f"{name}.txt"
        if os.environ.get("TANDEM_RECORD"):
            path.write_text(self.written())
        recorded = path.read_text().split("\n----- ")
        equal(recorded[0].strip(), self.title, f"the title of {path.name}")
        equal(len(recorded) - 1, len(self.frames), f"screens of {path.name}")
        for part, (done, text) in zip(recorded[1:], self.frames, strict=True):
            said, _, shown = part.partition("\n")
            equal(said, done, path.name)
            equal(masked(text), masked(shown), f"{path.name}, after: {done}")


def play(name: str, title: str, script: Callable[[Session, Screen], None], **how: object) -> None:
    """Runs `tandem chat`, and compares what was seen."""
    columns, rows = how.pop("size", (80, 24))
    cloud = how.pop("cloud", None)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(state())
        env = environment(folder, cloud)
        screen = stack.enter_context(Screen([str(BINARY), "chat"], env, columns, rows))
        session = Session(f"{title} ({columns} columns, {rows} rows)", screen)
        screen.wait_prompt()
        script(session, screen)
        session.compare(name)


def first_start(session: Session, screen: Screen) -> None:
    session.shows("$ tandem chat")
    screen.say("2 miles in km")
    screen.wait("device]")
    screen.wait_prompt()
    session.shows('types "2 miles in km"')
    screen.say("Write a poem about the sea")
    screen.wait("device]", times=2)
    screen.wait_prompt()
    session.shows('types "Write a poem about the sea"')
    screen.say("/hepl")
    screen.wait("Nothing was sent")
    screen.wait_prompt()
    session.shows('types "/hepl"')


def conversation(session: Session, screen: Screen, cloud: ScriptedCloud) -> None:
    screen.paste(PASTED)
    screen.wait("dir?")
    session.shows("pastes four lines; nothing is sent yet")
    cloud.script = Script(text="Good morning, world. How are you?")
    screen.keys("Enter")
    screen.wait("bytes left the device]")
    screen.wait_prompt()
    session.shows("Enter")
    screen.forget()
    cloud.script = Script(text=POEM, stall_after=12)
    screen.say("Write a long poem about the sea")
    screen.wait("the wind turns")
    screen.keys("C-c")
    screen.wait("[stopped")
    screen.wait_prompt()
    session.shows(
        'Ctrl-L, types "Write a long poem about the sea", and Ctrl-C while the answer comes'
    )
    screen.keys("Up", "Up")
    screen.wait("Wie geht es dir?")
    session.shows("Up, Up: the pasted text is one entry of the history")
    screen.keys("C-c")
    screen.wait_prompt()
    screen.forget()
    screen.say("/clear")
    screen.wait("A new conversation.")
    screen.wait_prompt()
    cloud.script = Script(text="Because bread was dear.")
    screen.say(HARD)
    screen.wait("Because bread was dear.")
    screen.wait_prompt()
    screen.say("/why")
    screen.wait("Attempts:")
    screen.wait_prompt()
    session.shows(f'clears the screen (Ctrl-L), types "/clear", "{HARD}", "/why"')
    screen.forget()
    screen.say("/private")
    screen.wait_prompt("private>")
    screen.say(LABEL)
    screen.wait("play_music")
    screen.wait_prompt("private>")
    screen.say("/cost")
    screen.wait("The cloud alone")
    screen.wait_prompt("private>")
    session.shows(f'Ctrl-L, "/private", "{LABEL}", "/cost"')


@case
def test_the_first_start_is_as_recorded():
    for size in ((80, 24), (120, 40), (20, 24)):
        name = f"first-start-{size[0]}x{size[1]}"
        play(name, "A first start, without a cloud", first_start, size=size)


@case
def test_a_conversation_with_a_cloud_is_as_recorded():
    for size in ((80, 24), (120, 40)):
        cloud = ScriptedCloud()

        def script(session: Session, screen: Screen, cloud: ScriptedCloud = cloud) -> None:
            conversation(session, screen, cloud)

        name = f"conversation-{size[0]}x{size[1]}"
        play(name, "A conversation, with a cloud", script, size=size, cloud=cloud)


@case
def test_ask_in_pipes_is_as_recorded():
    cloud = ScriptedCloud(Script(text="Mend the fence"))
    session = Session("Questions in pipes")
    lines = (
        (None, 'tandem ask "What is 12 percent of 80?"'),
        (None, 'tandem ask "Write a poem about the sea"'),
        (None, 'head -c 64 /dev/zero | tandem ask "What is this?"; echo "exit status $?"'),
        (None, 'tandem ask < /dev/null; echo "exit status $?"'),
        (cloud, 'printf "+ a new board\\n" | tandem ask "Write a commit message"'),
        (None, 'printf "2+2\\n/cost\\n/nonsense\\n" | tandem chat; echo "exit status $?"'),
    )
    shell(session, lines)
    session.compare("ask")


def shell(session: Session, lines: Sequence[tuple[ScriptedCloud | None, str]]) -> None:
    """Lines for a shell, in a folder that has the program."""
    with state() as folder:
        (folder / "tandem").symlink_to(Path(BINARY).resolve())
        for behind, line in lines:
            env = environment(folder / "state", behind)
            env["PATH"] = f"{folder}:{env['PATH']}"
            done = subprocess.run(
                ["sh", "-c", f"exec 2>&1; {line}"],
                env=env,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
            )
            session.frames.append((f"$ {line}", done.stdout))


def in_terminals(
    name: str, title: str, lines: Sequence[tuple[ScriptedCloud | None, str]], **files: str
) -> None:
    """The same on screens of two sizes, each line on a screen of its own; cloud as for shell()."""
    for columns, rows in ((80, 24), (120, 40)):
        session = Session(f"{title} ({columns} columns, {rows} rows)")
        with state() as folder:
            for file, text in files.items():
                (folder / f"{file}.yaml").write_text(text)
            (folder / "tandem").symlink_to(Path(BINARY).resolve())
            for behind, line in lines:
                env = environment(folder / "state", behind)
                command = f"cd {folder}; PATH={folder}:$PATH; {line}"
                with Screen(["sh", "-c", command], env, columns, rows) as screen:
                    screen.ended()
                    session.frames.append((f"$ {line}", screen.text(scrolled=True)))
        session.compare(f"{name}-{columns}x{rows}")


@case
def test_a_doctor_with_three_faults_is_as_recorded():
    config = """\
server: {listen: "0.0.0.0:8080"}
tiers:
  - {name: local, kind: local}
  - {name: cloud, kind: openai, api_key_env: MY_KEY, model: gpt-6-luna}
webhooks:
  - {name: shop, url: "https://shop.example.com/tandem", secret_env: SHOP_SECRET}
"""
    faults = "awk '/^[a-z]/ {f = /^fail/} f'"
    line = f'tandem doctor -c tandem.yaml > all; echo "exit status $?"; {faults} all'
    in_terminals("doctor", "A doctor that finds three faults", [(None, line)], tandem=config)


@case
def test_explanations_and_reports_are_as_recorded():
    cloud = ScriptedCloud(Script(text="Because bread was dear."))
    lines = (
        (cloud, f'tandem ask "{HARD}"'),
        (cloud, "tandem explain"),
        (cloud, f'tandem ask "{LABEL}"'),
        (cloud, "tandem report"),
        (cloud, "tandem report --by tier"),
    )
    in_terminals("explain-report", "What happened, and what it cost", lines)


@case
def test_a_pull_with_its_bar_is_as_recorded():
    data = NANO.read_bytes()
    entry = {
        "name": "tiny",
        "also": ["tiny:7b"],
        "source": "hf:org/tiny-GGUF:tiny-Q8_0.gguf",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "licence": "apache-2.0",
        "parameters": 0.006,
        "context": 2048,
        "good_at": "labels",
    }
    files = {"/org/tiny-GGUF/resolve/main/tiny-Q8_0.gguf": Blob(data, delay=0.03)}
    for size in ((80, 24), (120, 40)):
        with Hub(files) as hub, Folder(HF_ENDPOINT=hub.url) as folder:
            listed = folder.path.parent / "list.json"
            listed.write_text(json.dumps({"checked": "2026-11-28", "models": [entry]}))
            folder.env["TANDEM_MODELS__CATALOG"] = str(listed)
            title = f"A model by its name ({size[0]} columns, {size[1]} rows)"
            command = [str(BINARY), "models", "pull", "tiny:7b"]
            with Screen(command, folder.env, *size) as screen:
                session = Session(title, screen)
                screen.wait("left")
                session.shows("$ tandem models pull tiny:7b")
                screen.wait("[y/N]")
                session.shows("when it is there")
                screen.say("y")
                screen.wait("none' undoes it.")
                session.shows("y")
                equal(screen.ended(), 0)
            session.compare(f"pull-{size[0]}x{size[1]}")


if __name__ == "__main__":
    main()
