#!/usr/bin/env python3
"""Makes a release of what is committed: `make dist`. The same commit gives the same bytes.

    tools/make_dist.py FOLDER           writes into FOLDER
    tools/make_dist.py --check FOLDER --key HEX|FILE.pem

| file | what it is |
|---|---|
| `tandem-VERSION.tar.gz` | the sources of the commit |
| `tandem-VERSION.cdx.json` | what is in the program, as CycloneDX 1.5 says it: libraries that it is
  linked with, with their Debian packages and versions here, and the models of the archive |
| `tandem.rb` | a formula for Homebrew, where DIST_URL says where the archive will be |
| `SHA256SUMS` | the hashes of these files |
| `SHA256SUMS.sig` | 64 bytes: its Ed25519 signature, where DIST_KEY names a private key in PEM |

The check needs nothing but Python. `openssl pkeyutl -verify -rawin` does the same.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parent))
from make_deb import time_of_sources, version
from trees import ROOT
from verify_egress import signature_is_right

SUMS = "SHA256SUMS"
MODELS = ("models/*/*.gguf", "models/names/names.bin", "models/*/*.tdr", "models/*/*.tds")
# What Meson calls them, and Homebrew.
FORMULAE = {
    "jansson": "jansson",
    "libssl": "openssl@3",
    "libevent": "libevent",
    "libcurl": "curl",
    "libnghttp2": "libnghttp2",
    "zlib": "zlib",
    "libzstd": "zstd",
    "sqlite3": "sqlite",
    "libpq": "libpq",
    "hiredis": "hiredis",
    "libseccomp": "libseccomp",
    "libsodium": "libsodium",
    "libpcre2-8": "pcre2",
    "yaml-0.1": "libyaml",
    "libedit": "libedit",
}
UNSIGNED = "`openssl genpkey -algorithm ed25519 -out KEY.pem` makes a key; DIST_KEY=KEY.pem signs"
KEY_HEAD = bytes.fromhex("302a300506032b6570032100")  # RFC 8410: a public key of Ed25519


def fail(words: str) -> NoReturn:
    sys.exit(f"make_dist: {words}")


def ran(*command: str, give: bytes | None = None) -> bytes:
    done = subprocess.run(command, cwd=ROOT, input=give, capture_output=True, check=False)
    if done.returncode:
        fail(f"{command[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def archive(name: str) -> bytes:
    """git writes files in order and with the commit's time; gzip adds no time of its own."""
    tar = ran("git", "archive", "--format=tar", f"--prefix={name}/", "HEAD")
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=6, mtime=0, filename="") as zipped:
        zipped.write(tar)
    return out.getvalue()


def package_of(path: str) -> dict[str, Any]:
    """The Debian package of a file, where dpkg knows one."""
    real = os.path.realpath(path)  # dpkg may know it as /lib, where that is a link to /usr/lib
    asked = ["dpkg-query", "--search", real, real.removeprefix("/usr")]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if not done.stdout:
        return {}
    name = done.stdout.split(": ")[0].split(",")[0]
    shown = ran("dpkg-query", "--show", "--showformat=${Package} ${Version} ${Architecture}", name)
    package, number, processor = shown.decode().split()
    return {"version": number, "purl": f"pkg:deb/debian/{package}@{quote(number)}?arch={processor}"}


def libraries() -> list[dict[str, Any]]:
    """What Meson found and the program is linked with."""
    known = json.loads(ran("meson", "introspect", "--dependencies", "build"))
    libc = ran("cc", "-print-file-name=libc.so.6").decode().strip()
    components = [{"type": "library", "name": "libc", "scope": "required", **package_of(libc)}]
    for row in known:
        shared = [word for word in row["link_args"] if word.endswith(".so")]
        if row["name"] == "threads" or not shared:
            continue
        found = {"version": row["version"], **package_of(shared[0])}
        components.append({"type": "library", "name": row["name"], "scope": "required", **found})
    return sorted(components, key=lambda row: str(row["name"]))


def models() -> list[dict[str, Any]]:
    """As they are in the commit, which may differ from the folder."""
    listed = ran("git", "ls-tree", "-r", "--name-only", "HEAD", "models").decode().split("\n")
    rows = []
    for path in sorted(name for name in listed if any(Path(name).match(m) for m in MODELS)):
        content = hashlib.sha256(ran("git", "show", f"HEAD:{path}")).hexdigest()
        hashes = [{"alg": "SHA-256", "content": content}]
        rows.append({"type": "machine-learning-model", "name": path, "hashes": hashes})
    return rows


def bill_of_materials(digest: str) -> bytes:
    """CycloneDX 1.5. Its number follows from the archive, so that it is the same twice."""
    when = datetime.fromtimestamp(time_of_sources(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    main = {
        "type": "application",
        "bom-ref": "tandem",
        "name": "tandem",
        "version": version(),
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "hashes": [{"alg": "SHA-256", "content": digest}],
    }
    parts = [{**row, "bom-ref": row["name"]} for row in libraries() + models()]
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {"timestamp": when, "component": main},
        "components": parts,
        "dependencies": [{"ref": "tandem", "dependsOn": [row["bom-ref"] for row in parts]}],
    }
    return (json.dumps(bill, indent=1) + "\n").encode()


def formula(url: str, digest: str) -> bytes:
    names = sorted(FORMULAE[row["name"]] for row in libraries() if row["name"] in FORMULAE)
    values = {
        "homepage": url.rsplit("/", 1)[0],
        "url": url,
        "sha256": digest,
        "dependencies": "\n".join(f'  depends_on "{name}"' for name in names),
    }
    text = (ROOT / "packaging" / "tandem.rb.in").read_text()
    return re.sub(r"@(\w+)@(?=[\"\n])", lambda found: values[found[1]], text).encode()


def make(folder: Path) -> None:
    name = f"tandem-{version()}"
    if ran("git", "status", "--porcelain"):
        print("make_dist: what is not committed is not in the archive", file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"{name}.tar.gz": archive(name)}
    digest = hashlib.sha256(files[f"{name}.tar.gz"]).hexdigest()
    files[f"{name}.cdx.json"] = bill_of_materials(digest)
    if os.environ.get("DIST_URL"):
        files["tandem.rb"] = formula(os.environ["DIST_URL"], digest)
    rows = [f"{hashlib.sha256(files[file]).hexdigest()}  {file}\n" for file in sorted(files)]
    files[SUMS] = "".join(rows).encode()
    for file, content in files.items():
        (folder / file).write_bytes(content)
    (folder / f"{SUMS}.sig").unlink(missing_ok=True)
    key = os.environ.get("DIST_KEY")
    if key:
        place = folder / SUMS
        signed = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", os.path.abspath(key)]
        ran(*signed, "-in", str(place.resolve()), "-out", str(place.resolve()) + ".sig")
    else:
        print(f"make_dist: not signed. {UNSIGNED}", file=sys.stderr)
    print(folder)


def public_key(given: str) -> bytes:
    """32 bytes, from 64 digits or a PEM file with the public key."""
    if re.fullmatch("[0-9a-fA-F]{64}", given):
        return bytes.fromhex(given)
    try:
        text = Path(given).read_text()
        found = re.search("-----BEGIN PUBLIC KEY-----(.*?)-----END", text, re.S)
        data = base64.b64decode(found[1]) if found else b""
    except (OSError, ValueError) as error:
        fail(f"{given}: {error}")
    if len(data) != len(KEY_HEAD) + 32 or not data.startswith(KEY_HEAD):
        fail(f"{given} is neither 64 digits nor the PEM of an Ed25519 public key")
    return data[len(KEY_HEAD) :]


def check(folder: Path, key: str) -> None:
    """Signature, then every file that it covers; an unsigned file is named, too."""
    try:
        sums, signature = (folder / SUMS).read_bytes(), (folder / f"{SUMS}.sig").read_bytes()
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    if len(signature) != 64 or not signature_is_right(public_key(key), sums, signature):
        fail(f"{folder / SUMS}: the signature is not of this key")
    covered = {SUMS, f"{SUMS}.sig"}
    for row in sums.decode().splitlines():
        digest, name = row.split("  ", 1)
        if "/" in name or not (folder / name).is_file():
            fail(f"{name} is missing")
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            fail(f"{name} is not the file that was signed")
        covered.add(name)
    others = {path.name for path in folder.iterdir()} - covered
    if others:
        fail(f"not signed: {', '.join(sorted(others))}")
    print(f"{len(covered) - 2} files are what was signed")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--check", action="store_true", help="check a release")
    parser.add_argument("--key", help="with --check: the public key, 64 digits or a PEM file")
    arguments = parser.parse_args()
    if not arguments.check:
        make(arguments.folder)
    elif not arguments.key:
        fail("--check needs --key: without one, anybody may have signed")
    else:
        check(arguments.folder, arguments.key)


if __name__ == "__main__":
    main()
