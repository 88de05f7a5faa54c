#!/usr/bin/env python3
"""The build trees: which there are, how each is configured, and what is built in it.

`build` is the product and its tests, `build-asan` and `build-tsan` the same under a sanitizer,
`build-fuzz` the targets of libFuzzer, `build-aarch64` the product for another processor. Whoever
builds asks here, so that every tool refuses the same mistakes.

Sanitized trees are compiled at -O1 with line numbers only: that halves the time to build them, and
a report still names file and line. Where a file gains much from -O2, its meson.build says so.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
AARCH64_ROOT = ROOT / "build-aarch64-root"
SANITIZED = ["--buildtype=plain", "-Doptimization=1", "-Db_lundef=false"]
# Sanitized code at -O1 makes gcc doubt buffers that it trusts at -O2.
GCC_SANITIZED = [*SANITIZED, "-Dc_args=-g1 -Wno-format-truncation"]
OPTIONS = {
    "build": ["--buildtype=release"],
    "build-asan": [*GCC_SANITIZED, "-Db_sanitize=address,undefined"],
    "build-tsan": [*GCC_SANITIZED, "-Db_sanitize=thread"],
    "build-fuzz": [
        *SANITIZED,
        "-Dc_args=-g1",
        "-Db_sanitize=address,undefined",
        "-Dfuzz=true",
        "-Dtests=false",
    ],
    "build-aarch64": [
        "--buildtype=release",
        f"--cross-file={AARCH64_ROOT / 'root.cross'}",
        "--cross-file=tools/aarch64.cross",
    ],
}


class TreeError(Exception):
    """A tree that cannot be used, or does not build; the text says why and what to do."""


def check_is_ours(tree: str, root: Path = ROOT) -> None:
    """Refuses a build tree that was configured for another checkout.

    Ninja in a copied tree builds the original's sources, and its tests run the original's programs.
    """
    info = root / tree / "meson-info" / "meson-info.json"
    if not info.exists():
        return
    source = Path(json.loads(info.read_text())["directories"]["source"])
    if source.resolve() != root.resolve():
        raise TreeError(
            f"{tree}/ was configured for {source}, not for {root}: a copied build tree builds and"
            " tests the original.\nRemove it and run this again: make clean"
        )


def configure(tree: str) -> None:
    """Makes the tree where it is not there yet."""
    check_is_ours(tree)
    if (ROOT / tree / "build.ninja").exists():
        return
    if tree == "build":
        print("building for the first time; this takes about a minute", flush=True)
    environment = {**os.environ, "CC": "clang"} if tree == "build-fuzz" else None
    flags = os.environ.get("MESON_FLAGS", "").split()
    done = subprocess.run(
        ["meson", "setup", tree, *OPTIONS[tree], *flags],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=environment,
    )
    if done.returncode:
        raise TreeError(f"{tree}/ cannot be configured:\n{(done.stdout + done.stderr)[-4000:]}")


def build(tree: str, targets: Iterable[str] = ()) -> None:
    """Configures the tree where needed and builds the targets, or all."""
    configure(tree)
    done = subprocess.run(
        ["ninja", "-C", tree, "--quiet", *targets], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    if "no work to do" not in done.stdout:
        print(done.stdout, end="", flush=True)
    if done.returncode:
        raise TreeError(f"{tree}/ does not build")
    link = ROOT / "build" / "tandem"
    if tree == "build" and not link.is_symlink():
        link.symlink_to("src/app/tandem")  # build/tandem: what people and tests start


def main() -> int:
    """trees.py TREE [TARGET...]: configures and builds."""
    try:
        build(sys.argv[1], sys.argv[2:])
    except TreeError as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
