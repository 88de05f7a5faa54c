#!/usr/bin/env python3
"""Makes the Debian package of what is built in build/: `make deb`.

    tools/make_deb.py FOLDER        prints the path of the package in FOLDER

The files of the package come from `make install`. The same sources and the same SOURCE_DATE_EPOCH
(default: the last commit's time) give the same package.
"""

import os
import shutil
import socket
import subprocess
import sys
from email.utils import formatdate
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from trees import ROOT

CHANGELOG = """tandem ({version}) unstable; urgency=medium

  * CHANGELOG.md of this package says what is new.

 -- {maintainer}  {date}
"""


def version() -> str:
    lines = (ROOT / "meson.build").read_text().splitlines()
    return next(line for line in lines if "version:" in line).split("version: '")[1].split("'")[0]


def time_of_sources() -> int:
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    done = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return int(done.stdout or (ROOT / "meson.build").stat().st_mtime)


def maintainer() -> str:
    """Whoever makes the package, as Debian's own tools find it."""
    name = os.environ.get("DEBFULLNAME") or "Tandem"
    return f"{name} <{os.environ.get('DEBEMAIL') or 'tandem@' + socket.gethostname()}>"


def make(folder: Path) -> Path:
    source = folder / "tandem"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "packaging" / "debian", source / "debian")
    seconds = time_of_sources()
    who = maintainer()
    control = source / "debian" / "control"
    control.write_text(control.read_text().replace("@maintainer@", who))
    (source / "debian" / "changelog").write_text(
        CHANGELOG.format(version=version(), maintainer=who, date=formatdate(seconds))
    )
    done = subprocess.run(
        ["dpkg-buildpackage", "--build=binary", "--no-sign", "--no-check-builddeps"],
        cwd=source,
        env={**os.environ, "TANDEM_SOURCE": str(ROOT), "SOURCE_DATE_EPOCH": str(seconds)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"make_deb: {done.stdout[-4000:]}{done.stderr[-4000:]}")
    packages = sorted(folder.glob("tandem_*.deb"))
    shutil.rmtree(source)
    return packages[-1]


if __name__ == "__main__":
    print(make(Path(sys.argv[1]).resolve()))
