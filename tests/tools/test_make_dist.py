#!/usr/bin/env python3
"""A release is the same twice, says what it is made of, and whoever changes it is noticed."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from check import Skip, case, equal, main

PLACE = Path(tempfile.mkdtemp(prefix="tandem-dist-"))
KEY, PUBLIC = PLACE / "key.pem", PLACE / "key.pub"
URL = "https://example.org/releases/tandem.tar.gz"


def dist(*arguments, **environment):
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "make_dist.py", *map(str, arguments)],
        env={**os.environ, **{key: str(value) for key, value in environment.items()}},
        capture_output=True,
        text=True,
    )


def new_key(private, public):
    make = ["openssl", "genpkey", "-algorithm", "ed25519", "-out", private]
    subprocess.run(make, check=True, capture_output=True)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)


@cache
def release():
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True)
    if asked.returncode:
        raise Skip("this is no git repository, and a release is made of a commit")
    new_key(KEY, PUBLIC)
    done = dist(PLACE / "one", DIST_KEY=KEY, DIST_URL=URL)
    equal(done.returncode, 0, done.stderr)
    return PLACE / "one"


def file_of(ending):
    return next(release().glob(f"*{ending}"))


@case
def test_it_is_the_same_twice():
    first, second = release(), PLACE / "two"
    equal(dist(second, DIST_KEY=KEY, DIST_URL=URL).returncode, 0)
    files = sorted(path.name for path in first.iterdir())
    equal(sorted(path.name for path in second.iterdir()), files)
    equal(
        [(first / name).read_bytes() == (second / name).read_bytes() for name in files], [True] * 5
    )


@case
def test_it_has_what_was_committed():
    listed = ["git", "ls-tree", "-r", "-z", "--name-only", "HEAD"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    with tarfile.open(file_of(".tar.gz")) as tar:
        files = {entry.name for entry in tar.getmembers() if not entry.isdir()}
        top = {name.split("/")[0] for name in files}
        equal(len(top), 1, str(top))
        equal({name.split("/", 1)[1] for name in files}, set(names.split("\0")) - {""})


@case
def test_the_bill_of_materials_has_every_library_and_model():
    bill = json.loads(file_of(".cdx.json").read_bytes())
    equal((bill["bomFormat"], bill["specVersion"]), ("CycloneDX", "1.5"))
    archive = hashlib.sha256(file_of(".tar.gz").read_bytes()).hexdigest()
    equal(bill["metadata"]["component"]["hashes"][0]["content"], archive)
    rows = {row["name"]: row for row in bill["components"]}
    wanted = set(re.findall(r"= dependency\('([^']+)'", (ROOT / "meson.build").read_text()))
    missing = wanted - set(rows) - {"threads", "libpq", "hiredis"}  # the last two are optional
    equal(missing, set())
    for name in wanted & set(rows) | {"libc"}:
        equal(rows[name]["purl"].startswith("pkg:deb/debian/"), True, name)
    nano = rows["models/nano/nano.gguf"]["hashes"][0]["content"]
    with tarfile.open(file_of(".tar.gz")) as tar:
        entry = next(one for one in tar.getmembers() if one.name.endswith("/nano/nano.gguf"))
        content = tar.extractfile(entry).read()
    equal(hashlib.sha256(content).hexdigest(), nano)
    equal(set(bill["dependencies"][0]["dependsOn"]), set(rows))


@case
def test_the_formula_names_the_archive():
    text = (release() / "tandem.rb").read_text()
    archive = hashlib.sha256(file_of(".tar.gz").read_bytes()).hexdigest()
    assert f'url "{URL}"' in text and f'sha256 "{archive}"' in text, text
    assert 'depends_on "openssl@3"' in text and not re.search(r"@\w+@", text), text
    if shutil.which("ruby"):
        subprocess.run(["ruby", "-c", release() / "tandem.rb"], check=True, capture_output=True)


@case
def test_the_check_takes_what_was_signed_and_openssl_agrees():
    done = dist("--check", release(), "--key", PUBLIC)
    equal((done.returncode, done.stdout), (0, "3 files are what was signed\n"), done.stderr)
    verify = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", PUBLIC]
    sums = release() / "SHA256SUMS"
    subprocess.run([*verify, "-in", sums, "-sigfile", f"{sums}.sig"], check=True, stdout=-3)
    subprocess.run(["sha256sum", "--check", "--quiet", sums], cwd=release(), check=True)


@case
def test_the_check_notices_what_was_changed():
    def refused(change, words, key=PUBLIC):
        copy = PLACE / "changed"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(release(), copy)
        change(copy)
        done = dist("--check", copy, "--key", key)
        assert done.returncode == 1 and words in done.stderr, done.stdout + done.stderr

    def append(name):
        def change(folder):
            with open(folder / name, "ab") as file:
                file.write(b"x")

        return change

    archive = file_of(".tar.gz").name
    refused(append(archive), "is not the file that was signed")
    refused(append("SHA256SUMS"), "the signature is not of this key")
    refused(append("SHA256SUMS.sig"), "the signature is not of this key")
    refused(lambda folder: (folder / archive).unlink(), "is missing")
    refused(lambda folder: (folder / "more").write_text("x"), "not signed: more")
    refused(lambda folder: (folder / "SHA256SUMS.sig").unlink(), "SHA256SUMS.sig")
    other = PLACE / "other.pub"
    new_key(PLACE / "other.pem", other)
    refused(lambda folder: None, "the signature is not of this key", other)
    refused(lambda folder: None, "neither 64 digits nor the PEM", KEY)
    refused(lambda folder: None, "neither 64 digits nor the PEM", ROOT / "README.md")
    assert dist("--check", release()).returncode != 0


@case
def test_without_a_key_nothing_pretends_to_be_signed():
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DIST_")}
    folder = PLACE / "unsigned"
    folder.mkdir()
    (folder / "SHA256SUMS.sig").write_bytes(b"of before")
    command = [sys.executable, ROOT / "tools" / "make_dist.py", folder]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    equal(done.returncode, 0, done.stderr)
    assert "not signed" in done.stderr and not (folder / "SHA256SUMS.sig").exists()
    assert not (folder / "tandem.rb").exists()
    assert dist("--check", folder, "--key", "00" * 32).returncode == 1


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(PLACE, ignore_errors=True)
