#!/usr/bin/env python3
"""The packages for Python and Node: built by their own tools, installed into fresh places, checked
by their type checkers, and used against the installed library and a running server."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent / "support"))
from check import Skip, case, equal, main
from clients import ENVIRONMENTS, FOLDERS, Missing, install_node, install_python, interpreter
from installed import Installed
from scripted_cloud import ScriptedCloud
from tandem import NANO, ROOT, Tandem, edge_first

PACKAGES = HERE / "packages"
BINDINGS = ROOT / "bindings"
PLACE = Path(tempfile.mkdtemp(prefix="tandem-packages-"))
FOLDERS["packages"] = PACKAGES
ENVIRONMENTS["packages"] = ROOT / "build-packages"


def done(command, **options):
    """Runs a command that must work, and gives what it printed."""
    found = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=200, **options
    )
    equal(found.returncode, 0, f"{' '.join(map(str, command))}\n{found.stdout}{found.stderr}")
    return found.stdout


@cache
def servers():
    """One server that answers by itself, one with a cloud behind it, and the installed library."""
    cloud = ScriptedCloud()
    behind = Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"})
    return Tandem(), behind, Installed()


def used(command, *, cwd=None):
    """Runs cases against the servers; each that fails is printed."""
    alone, behind, installed = servers()
    found = subprocess.run(
        [*map(str, command), alone.url, behind.url, str(NANO)],
        cwd=cwd,
        env=installed.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
    )
    closing = re.findall(r"^(\d+) passed, 0 failed", found.stdout, re.MULTILINE)
    assert found.returncode == 0 and closing and int(closing[0]) > 5, found.stdout


def example(command, *, cwd=None):
    alone, _, installed = servers()
    return done(command, cwd=cwd, env={**installed.env, "TANDEM_URL": alone.url})


def version():
    return re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())[1]


def copy_of(language):
    """The sources of a package, with the headers where they look for them: nothing is built in the
    tree."""
    place = PLACE / language
    leave = shutil.ignore_patterns("node_modules", "dist", "build", "*.egg-info", "__pycache__")
    shutil.copytree(BINDINGS / language, place / "bindings" / language, ignore=leave)
    shutil.copytree(ROOT / "include", place / "include")
    return place / "bindings" / language


# --- Python ---


def python_tools():
    try:
        install_python("packages")
    except Missing as why:
        raise Skip(str(why)) from why
    return interpreter("packages")


@cache
def wheel():
    """Built from a source archive, as an index would have it: what that leaves out is missed."""
    source = copy_of("python")
    build = "import sys; from setuptools import build_meta as b; print(b.build_sdist(sys.argv[1]))"
    archive = done([python_tools(), "-c", build, PLACE], cwd=source).splitlines()[-1]
    pip = [python_tools(), "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps"]
    done([*pip, "--wheel-dir", PLACE, PLACE / archive])
    return next(PLACE.glob("tandem_llm-*.whl"))


@cache
def fresh_python():
    """An environment that has the wheel and what it asks for, and nothing else."""
    place, kept = PLACE / "fresh", ENVIRONMENTS["packages"] / "wheels"
    made = wheel()
    pip = [python_tools(), "-m", "pip"]
    if not kept.exists():
        pinned = ["--no-deps", "--require-hashes", "-r", PACKAGES / "requirements.txt"]
        done([*pip, "download", "--quiet", *pinned, "--dest", kept])
    done([python_tools(), "-m", "venv", "--without-pip", place])
    python = place / "bin" / "python"
    here = ["install", "--quiet", "--no-index", "--find-links", kept, made]
    done([*pip, "--python", python, *here])
    return python


@case
def test_the_wheel_serves_every_processor_and_has_types():
    made = wheel()
    equal(made.name, f"tandem_llm-{version()}-py3-none-any.whl")
    files = done([python_tools(), "-m", "zipfile", "-l", made])
    for name in ("py.typed", "_ffi.py", "engine.py", "client.py"):
        assert f"tandem_llm/{name} " in files, files


@case
def test_the_package_and_its_examples_have_strict_types():
    strict = [python_tools(), "-m", "mypy", "--strict", "--cache-dir", PLACE / "mypy"]
    done([*strict, "src", "examples"], cwd=BINDINGS / "python")
    # And so has a program that uses what is installed.
    options = ["--python-executable", fresh_python()]
    (PLACE / "program.py").write_text(
        "from tandem_llm import Client, Engine\n"
        "reveal_type(Client().chat('x').decision.confidence)\n"
        "with Engine('m.gguf') as engine:\n    reveal_type(engine.chat('x').text)\n"
    )
    said = done([*strict, *options, "program.py"], cwd=PLACE)
    assert '"float | None"' in said and '"str"' in said, said


@case
def test_python_examples_answer():
    examples = BINDINGS / "python" / "examples"
    said = example([fresh_python(), examples / "ask.py", "What is 17 * 23?"])
    assert said.startswith("391\nfrom local (device), 0 bytes left\n- "), said
    said = example([fresh_python(), examples / "local.py", NANO, "What is the time?"])
    assert re.search(r"parameters\n(.|\n)+confidence [01]\.\d\d\nthis is an? \w+\n$", said), said


@case
def test_python_programs_use_all_of_it():
    used([fresh_python(), PACKAGES / "use_python.py"])


# --- Node ---


@cache
def fresh_node():
    """A folder that has the packed package and koffi, and nothing else. `npm pack` builds it, with
    the strict types of its tsconfig.json."""
    try:
        install_node(BINDINGS / "node")
    except Missing as why:
        raise Skip(str(why)) from why
    source, place = copy_of("node"), PLACE / "fresh-node"
    (source / "node_modules").symlink_to(BINDINGS / "node" / "node_modules")
    place.mkdir()
    done(["npm", "pack", "--silent", "--pack-destination", place], cwd=source)
    koffi = json.loads((source / "package.json").read_text())["devDependencies"]["koffi"]
    (place / "package.json").write_text('{"private": true, "type": "module"}')
    # koffi brings its binaries as packages; its script would compile one.
    flags = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    packed = f"./tandem-llm-{version()}.tgz"
    done(["npm", "install", *flags, packed, f"koffi@{koffi}"], cwd=place)
    for script in (*(BINDINGS / "node" / "examples").glob("*.mjs"), PACKAGES / "use_node.mjs"):
        shutil.copy(script, place)
    return place


@case
def test_a_program_of_typescript_has_strict_types():
    place = fresh_node()
    (place / "program.mts").write_text(
        'import { Client } from "tandem-llm";\n'
        'import { Engine } from "tandem-llm/engine";\n'
        "const seen: number | null = (await new Client().chat('x')).decision.confidence;\n"
        "const text: string = (await (await Engine.open('m.gguf')).chat('x')).text;\n"
        "// @ts-expect-error: an answer has no such member\n"
        "export default [seen, text, (await new Client().chat('x')).words];\n"
    )
    strict = ["--strict", "--noEmit", "--module", "NodeNext", "--target", "ES2022"]
    done([BINDINGS / "node" / "node_modules" / ".bin" / "tsc", *strict, "program.mts"], cwd=place)


@case
def test_node_examples_answer():
    place = fresh_node()
    said = example(["node", "ask.mjs", "What is 17 * 23?"], cwd=place)
    assert said.startswith("391\nfrom local (device), 0 bytes left\n- "), said
    said = example(["node", "local.mjs", NANO, "What is the time?"], cwd=place)
    assert re.search(r"parameters\n(.|\n)+confidence [01]\.\d\d\nthis is an? \w+\n$", said), said


@case
def test_node_programs_use_all_of_it():
    used(["node", "use_node.mjs"], cwd=fresh_node())


if __name__ == "__main__":
    try:
        main()
    finally:
        if servers.cache_info().currsize:
            for server in servers()[:2]:
                server.stop()
            servers()[2].folder.cleanup()
        shutil.rmtree(PLACE, ignore_errors=True)
