#!/usr/bin/env python3
"""Writes man pages and shell completions from the program's own help, so that they cannot differ.

    tools/make_manual.py PROGRAM MAN1 MAN5 BASH ZSH FISH

The first two are folders, the others files. tandem(1) lists the verbs, each verb has a page of its
own with those of its sub-verbs, and tandem.yaml(5) has the keys of the configuration.
"""

import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

OPTION = re.compile(r"^  (?:-(\w), |    )--([\w-]+)(?: ([^ ].*?))?(?:  +(.*))?$")
ROW = re.compile(r"^  ([a-z][\w-]*)((?: \[?[A-Z][^ ]*)*)  +(\S.*)$")


@dataclass
class Option:
    letter: str | None
    name: str
    argument: str | None
    meaning: str


@dataclass
class Verb:
    name: str  # "models pull"
    meaning: str = ""
    usage: str = ""
    text: list[str] = field(default_factory=list)  # paragraphs and tables before the options
    options: list[Option] = field(default_factory=list)
    verbs: list["Verb"] = field(default_factory=list)

    @property
    def last(self) -> str:
        return self.name.rsplit(" ", 1)[-1]


def ask(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def read_options(lines: list[str]) -> list[Option]:
    options: list[Option] = []
    for line in lines:
        found = OPTION.match(line)
        if found:
            letter, name, argument, meaning = found.groups()
            options.append(Option(letter, name, argument, meaning or ""))
        elif options and line.startswith(" " * 20):
            options[-1].meaning = f"{options[-1].meaning} {line.strip()}".strip()
    return options


def read_rows(lines: list[str]) -> list[tuple[str, str]]:
    """(name, meaning) of each verb in a list, whose meanings may have several lines."""
    rows: list[tuple[str, str]] = []
    for line in lines:
        found = ROW.match(line)
        if found:
            rows.append((found[1], found[3]))
        elif rows and re.match(r"^ {10,}\S", line):
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line.strip()}")
    return rows


def read_verb(program: str, name: str, meaning: str) -> Verb:
    shown = ask(program, *name.split(), "--help")
    verb = Verb(name, meaning)
    lines = shown.splitlines()
    assert lines[0].startswith("Usage: "), shown
    verb.usage = lines[0].removeprefix("Usage: ")
    split = lines.index("Options:") if "Options:" in lines else len(lines)
    verb.text = lines[1:split]
    rest = lines[split + 1 :]
    end = rest.index("With --json:") if "With --json:" in rest else len(rest)
    verb.options = read_options(rest[:end])
    verb.text += ["", *rest[end:]] if end < len(rest) else []
    if f"'tandem {name} VERB --help' explains a verb." in lines:
        for below, what in read_rows(verb.text):
            verb.verbs.append(read_verb(program, f"{name} {below}", what))
    return verb


def read_all(program: str) -> list[Verb]:
    rows = read_rows(ask(program, "help").splitlines())
    return [
        Verb(name, meaning, f"tandem {name} [VERB]")
        if name == "help"
        else read_verb(program, name, meaning)
        for name, meaning in rows
    ]


# --- man pages ---


def roff(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def paragraphs(lines: list[str]) -> str:
    """Plain lines flow; indented ones stay as they are."""
    out: list[str] = []
    fixed = False
    for line in [*lines, ""]:
        indented = line.startswith(" ")
        if indented != fixed:
            out.append(".nf\n.RS 2" if indented else ".RE\n.fi")
            fixed = indented
        out.append(roff(line.removeprefix("  ")) if line.strip() else ".PP")
    while out and out[-1] == ".PP":
        out.pop()
    return "\n".join(out)


def options_roff(options: list[Option]) -> str:
    out = []
    for option in options:
        letter = f"\\-{option.letter}, " if option.letter else ""
        argument = f" \\fI{roff(option.argument)}\\fR" if option.argument else ""
        out.append(f".TP\n\\fB{letter}\\-\\-{roff(option.name)}\\fR{argument}")
        out.append(roff(option.meaning))
    return "\n".join(out)


def heading(name: str, section: int, version: str) -> str:
    return f'.TH {name.upper()} {section} "" "tandem {version}" "Tandem"\n'


def verb_section(verb: Verb, level: str) -> str:
    out = f".SH {level}\n" + paragraphs(verb.text)
    if verb.options:
        out += f"\n.SH {'OPTIONS' if level == 'DESCRIPTION' else 'OPTIONS OF ' + level}\n"
        out += options_roff(verb.options)
    return out + "\n"


def verb_page(verb: Verb, version: str) -> str:
    page = heading(f"tandem-{verb.name}", 1, version)
    page += f".SH NAME\ntandem\\-{roff(verb.name)} \\- {roff(verb.meaning)}\n"
    page += ".SH SYNOPSIS\n"
    page += "\n.br\n".join(f"\\fB{roff(each.usage)}\\fR" for each in [verb, *verb.verbs]) + "\n"
    page += verb_section(verb, "DESCRIPTION")
    for below in verb.verbs:
        page += verb_section(below, below.name.upper())
    return page + ".SH SEE ALSO\n.BR tandem (1),\n.BR tandem.yaml (5)\n"


def main_page(verbs: list[Verb], version: str) -> str:
    page = heading("tandem", 1, version)
    page += (
        ".SH NAME\ntandem \\- one endpoint for a local model and larger models elsewhere\n"
        ".SH SYNOPSIS\n\\fBtandem\\fR \\fIVERB\\fR [options]\n.SH DESCRIPTION\n"
        "Answers questions with a small model on this device, and sends on to larger models "
        "elsewhere\nwhat it cannot answer well and what may leave the device.\n"
        "\\fBtandem serve\\fR has the OpenAI\\-compatible endpoint, \\fBtandem init\\fR writes its "
        "configuration.\n.SH VERBS\n"
    )
    for verb in verbs:
        page += f".TP\n.BR tandem\\-{roff(verb.name)} (1)\n{roff(verb.meaning)}\n"
    page += (
        ".SH EXIT STATUS\n0 when done, 1 after a failure, 2 when it was used wrongly.\n"
        ".SH SEE ALSO\n.BR tandem.yaml (5)\n"
    )
    return page


def config_page(program: str, version: str) -> str:
    """Sections of keys; each key begins in the third column, its meaning further right."""
    page = heading("tandem.yaml", 5, version)
    page += ".SH NAME\ntandem.yaml \\- configuration of tandem\n.SH DESCRIPTION\n"
    section = re.compile(r"^(\w[\w.\[\]]*): (.*)$")
    for line in ask(program, "help", "config").splitlines():
        key = re.match(r"^  (\S+)(?: +(.*))?$", line)
        if found := section.match(line):
            page += f".SH {roff(found[1])}\n{roff(found[2])}\n"
        elif key:
            page += f".TP\n\\fB{roff(key[1])}\\fR\n{roff(key[2] or '')}\n"
        elif line.strip():
            page += roff(line.strip()) + "\n"
    return page + ".SH SEE ALSO\n.BR tandem (1)\n"


# --- completions ---


def flat(verbs: list[Verb]) -> list[Verb]:
    return [each for verb in verbs for each in (verb, *verb.verbs)]


def names(verb: Verb) -> list[str]:
    return ["--help", *(f"--{option.name}" for option in verb.options)]


def bash(verbs: list[Verb]) -> str:
    cases = "".join(
        f'    "{verb.name}") words="{" ".join([*(v.last for v in verb.verbs), *names(verb)])}" ;;\n'
        for verb in flat(verbs)
    )
    groups = " | ".join(verb.name for verb in verbs if verb.verbs)
    return (
        "# Completion of tandem for bash. Made from the program's help.\n"
        "_tandem()\n{\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words\n"
        f"    case $verb in\n    {groups})\n"
        "        [ $COMP_CWORD -gt 2 ] && [[ ${COMP_WORDS[2]} != -* ]] &&"
        ' verb="$verb ${COMP_WORDS[2]}" ;;\n    esac\n'
        f'    [ $COMP_CWORD -eq 1 ] && verb=\n    case $verb in\n    "") words="'
        f'{" ".join(verb.name for verb in verbs)}" ;;\n{cases}    esac\n'
        '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")\n'
        '    [ ${#COMPREPLY[@]} -eq 0 ] && mapfile -t COMPREPLY < <(compgen -f -- "$current")\n'
        "}\ncomplete -o filenames -F _tandem tandem\n"
    )


def zsh_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]")


def zsh(verbs: list[Verb]) -> str:
    def options(verb: Verb) -> str:
        rows = []
        for option in verb.options:
            word = zsh_text(option.argument or "").replace(":", " ")
            argument = f":{word}:_files" if option.argument else ""
            rows.append(f"'--{option.name}[{zsh_text(option.meaning)}]{argument}'")
        return " ".join([*rows, "'*:file:_files'"])

    def listed(verbs: list[Verb], indent: str) -> str:
        rows = "".join(
            indent + f"  '{verb.last}:" + zsh_text(verb.meaning).replace(":", "\\:") + "'\n"
            for verb in verbs
        )
        return f"{indent}local -a verbs=(\n{rows}{indent})\n{indent}_describe verb verbs\n"

    cases = ""
    for verb in verbs:
        cases += f"  {verb.name})\n"
        if verb.verbs:
            cases += "    if (( CURRENT == 3 )); then\n" + listed(verb.verbs, "      ") + "    fi\n"
            cases += "    case $words[3] in\n"
            for below in verb.verbs:
                cases += f"    {below.last}) shift 2 words; (( CURRENT -= 2 ))"
                cases += f"; _arguments {options(below)} ;;\n"
            cases += "    esac ;;\n"
        else:
            cases += f"    shift words; (( CURRENT -= 1 )); _arguments {options(verb)} ;;\n"
    return (
        "#compdef tandem\n# Completion of tandem for zsh. Made from the program's help.\n"
        "if (( CURRENT == 2 )); then\n" + listed(verbs, "  ") + "  return\nfi\n"
        f"case $words[2] in\n{cases}esac\n"
    )


def fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(verbs: list[Verb]) -> str:
    out = ["# Completion of tandem for fish. Made from the program's help."]
    for verb in verbs:
        out.append(
            f"complete -c tandem -n __fish_use_subcommand -f -a {verb.name} "
            f"-d {fish_text(verb.meaning)}"
        )
        seen = f"__fish_seen_subcommand_from {verb.name}"
        below = " ".join(each.last for each in verb.verbs)
        for each in verb.verbs:
            out.append(
                f"complete -c tandem -n '{seen}; and not __fish_seen_subcommand_from {below}' -f "
                f"-a {each.last} -d {fish_text(each.meaning)}"
            )
        for each in [verb, *verb.verbs]:
            where = seen if each is verb else f"{seen}; and __fish_seen_subcommand_from {each.last}"
            for option in each.options:
                letter = f"-s {option.letter} " if option.letter else ""
                takes = "-r " if option.argument else ""
                out.append(
                    f"complete -c tandem -n '{where}' {letter}-l {option.name} {takes}"
                    f"-d {fish_text(option.meaning)}"
                )
    return "\n".join(out) + "\n"


def main() -> None:
    program, *outputs = sys.argv[1:]
    man1, man5, bash_file, zsh_file, fish_file = (Path(each) for each in outputs)
    verbs = read_all(program)
    version = ask(program, "version").split()[1]
    for folder in (man1, man5):
        folder.mkdir(parents=True, exist_ok=True)
    (man1 / "tandem.1").write_text(main_page(verbs, version))
    for verb in verbs:
        if verb.name != "help":
            (man1 / f"tandem-{verb.name}.1").write_text(verb_page(verb, version))
    (man5 / "tandem.yaml.5").write_text(config_page(program, version))
    bash_file.write_text(bash(verbs))
    zsh_file.write_text(zsh(verbs))
    fish_file.write_text(fish(verbs))


if __name__ == "__main__":
    main()
