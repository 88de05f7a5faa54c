#!/usr/bin/env python3
"""What the documentation says, a reader can type: every command of README.md and docs/*.md is run,
page by page in a fresh home, and prints what the page shows. What the network would give comes from
stand-ins (support/doc_stand_ins.py). What cannot run here says why, and is counted."""

import re
import shlex
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Case, case, equal, main
from doc_blocks import COMMANDS, Block, blocks, difference, looks_like_commands
from doc_shell import Shell
from doc_stand_ins import STAND_INS
from tandem import ROOT, clean_environment, run

NOT_RUN_MAX = 3
NO_COMMANDS = ("tandem model manifest 1",)  # the first line of a file
# A server commits what it recorded some moments after it has answered. `explain` waits for that
# itself where the id is whole.
READS_THE_LEDGER = re.compile(
    r"tandem (report|egress (show|report)|explain(?! .*\b(ex_|chatcmpl-|msg_|resp_)[0-9a-f]{24}))"
)
PAGES = {
    str(path.relative_to(ROOT)): blocks(path, str(path.relative_to(ROOT)))
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
}


def refuse(problems: list[str]) -> None:
    if problems:
        raise AssertionError("\n     ".join(["", *problems]))


def filled(shell: Shell, block: Block, command: str) -> str:
    """The command with what a reader would put in the place of its blanks."""
    for words in block.marks.get("where", []):
        blank, _, source = words.partition(" = ")
        if blank not in command:
            continue
        code, printed = shell.run(source)
        equal(code, 0, f"{block.where}: {source}: {printed}")
        command = command.replace(blank, printed.strip().split("\n")[-1])
    return command


def do(shell: Shell, block: Block) -> None:
    for name in filter(None, re.split(r", ", block.mark("run with"))):
        STAND_INS[name](shell)
    if block.mark("file"):
        shell.write(block.mark("file"), block.text + "\n")
    if block.language not in COMMANDS:
        return
    commands, printed = block.commands(), ""
    for number, (command, shown) in enumerate(commands, 1):
        whole = filled(shell, block, command)
        expected = int(block.mark("exits") or 0) if number == len(commands) else 0
        until = time.monotonic() + (30 if READS_THE_LEDGER.match(whole) else 0)
        while True:
            code, text = shell.run(whole)
            all_text = printed + text if block.language == "sh" else text
            wrong = difference(shown, all_text) if shown.strip() else ""
            if (code == expected and not wrong) or time.monotonic() > until:
                break
            time.sleep(0.2)
        printed = all_text
        equal(code, expected, f"{block.where}: exit status of {command!r}, which printed\n{text}")
        said = f"--- the page shows\n{shown}\n--- it printed\n{printed}\n--- not there: {wrong}"
        assert not wrong, f"{block.where}: {command}\n{said}"


def case_of(page: str) -> Case:
    def run_page() -> None:
        with Shell() as shell:
            for block in PAGES[page]:
                if not block.mark("not run"):
                    do(shell, block)

    run_page.__name__ = "test_commands_of_" + re.sub(r"\W", "_", page.removesuffix(".md"))
    return run_page


for name, found in PAGES.items():
    if any(block.language in COMMANDS or block.mark("file") for block in found):
        case(case_of(name))


@case
def test_no_command_hides_in_another_kind_of_block():
    refuse(
        [
            f"{block.where}: mark it as `sh`, or as `console` with what it prints"
            for found in PAGES.values()
            for block in found
            if looks_like_commands(block) and not block.mark("file")
        ]
    )


@case
def test_few_blocks_are_not_run_and_each_says_why():
    left = [b for found in PAGES.values() for b in found if b.mark("not run")]
    for block in left:
        assert len(block.mark("not run").split()) > 2, f"{block.where}: say why it is not run"
    refuse([b.where for b in left] if len(left) > NOT_RUN_MAX else [])
    commands = [b for found in PAGES.values() for b in found if b.language in COMMANDS]
    assert len(commands) > 60, "the blocks of commands are not where they were"


# Commands in the comments of what a reader copies, and in pages beside docs/.
BESIDE = [
    path
    for folder in ("bindings", "deploy", "examples", "packaging")
    for pattern in ("README.md", "*.yaml", "*.rs", "*.go", "*.c", "*.in", "Dockerfile")
    for path in sorted((ROOT / folder).rglob(pattern))
    if "node_modules" not in path.parts
]


# What a part of a configuration does not have, and its page does not show.
ELSEWHERE = re.compile(
    r"unknown (tier|app) |no tier is named|No such file or directory|needs the key"
)


def configurations(block: Block) -> list[str]:
    """The files that a block may be a part of: whole, one tier of several, of a tier or a route."""
    text = re.sub(r"(, )?\.\.\.", "", block.text) + "\n"
    if text.startswith("  - "):
        return ["tiers:\n" + text]
    if text.startswith("    "):
        tier = "tiers:\n  - name: local\n    kind: openai\n"
        route = "routes:\n  - name: auto\n    kind: hybrid\n    tiers: [local, cloud]\n"
        return [tier + text, route + text]
    return [text]


def mistakes(text: str, folder: str) -> list[str]:
    path = Path(folder) / "tandem.yaml"
    path.write_text(text)
    code, _, err = run("policy", "check", path, env=clean_environment(HOME=folder))
    found = [line for line in err.splitlines() if code and not line.startswith("warning")]
    return [line for line in found if not ELSEWHERE.search(line)]


@case
def test_configurations_in_the_pages_are_ones():
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for block in (b for found in PAGES.values() for b in found if b.language == "yaml"):
            if block.mark("file") not in ("", "tandem.yaml"):
                continue  # another kind of file
            count += 1
            wrong = min((mistakes(text, folder) for text in configurations(block)), key=len)
            problems += [f"{block.where}: {line}" for line in wrong]
    assert count > 40, "the configurations are not where they were"
    refuse(problems)


HELP: dict[tuple[str, ...], str] = {}


def help_of(verbs: tuple[str, ...]) -> str:
    """The help of a verb; "" where there is none."""
    if verbs not in HELP:
        code, out, _ = run(*verbs, "--help", env=clean_environment())
        HELP[verbs] = out.decode() if code == 0 else ""
    return HELP[verbs]


def unknown_words(command: str) -> list[str]:
    """What the program does not know of a command in a sentence: its verb, or an option."""
    try:
        words = shlex.split(command, comments=True)[1:]
    except ValueError:
        return [f"{command}: cannot be read"]
    verbs: tuple[str, ...] = ()
    for word in words[:2]:
        if not re.fullmatch(r"[a-z][a-z-]+", word) or not help_of((*verbs, word)):
            break
        if verbs and f"\n  {word} " not in help_of(verbs):
            break
        verbs = (*verbs, word)
    if words and not verbs and re.fullmatch(r"[a-z][a-z-]+", words[0]):
        return [f"{command}: no verb {words[0]}"]
    options = [word.split("=")[0] for word in words if re.match(r"--[a-z]", word)]
    known = help_of(verbs) if verbs else "--help --version"
    return [
        f"{command}: no option {option}"
        for option in options
        if option != "--help" and not re.search(rf"{option}\b(?!-)", known)
    ]


@case
def test_commands_in_sentences_have_verbs_and_options_that_exist():
    problems = []
    goals = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
        for goal in re.findall(r"`(?:[A-Z_]+=\S+ )*make ([a-z-]+)", text):
            problems += [] if goal in goals else [f"{path.name}: make has no goal {goal}"]
        for quoted in re.findall(r"`((?:build/)?tandem [^`]+)`", text):
            if quoted in NO_COMMANDS:
                continue
            command = " ".join(quoted.split("|")[0].split()).replace("[", "").replace("]", "")
            problems += [f"{path.name}: {words}" for words in unknown_words(command)]
    assert len(HELP) > 20, "commands in sentences are not where they were"
    refuse(problems)


@case
def test_commands_beside_the_docs_exist_and_name_files_that_are_there():
    problems, count = [], 0
    begins = r"(?:^\s*(?:#|//|\*) *|`)(?:sudo )?(?:[A-Z_]+=\S+ )*"
    for path in BESIDE:
        for found in re.findall(begins + r"(tandem [a-z][^`\n]*)", path.read_text(), re.MULTILINE):
            command = re.split(r"  +#|[;|]", found.replace("...", "x"))[0].rstrip(" .,")
            wrong = unknown_words(command)
            for named in re.findall(r"(?:examples|docs|tools|tests)/[\w./-]+", command):
                wrong += [] if (ROOT / named).exists() else [f"no file {named}"]
            problems += [f"{path.relative_to(ROOT)}: {words}" for words in wrong]
            count += 1
    assert count > 20, f"the commands are not where they were: {count}"
    refuse(problems)


if __name__ == "__main__":
    main(at_once=4)
