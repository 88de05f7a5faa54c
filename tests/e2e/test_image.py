#!/usr/bin/env python3
"""The container image: its root folder, made by the script that deploy/Dockerfile runs, is small,
and serves read-only, as another user and without rights, as a container would."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from postgres import free_port
from tandem import ROOT

RECIPE = (ROOT / "deploy" / "Dockerfile").read_text().replace("\\\n", " ")
BYTES_MAX = 40_000_000  # without the models
PLACE = Path(tempfile.mkdtemp(prefix="tandem-image-"))
# What a container runtime does: the root is read-only, and two folders are not.
MOUNTED = """
mount --bind {root} {root}
mount -o remount,bind,ro {root}
mount -t tmpfs -o mode=0700,uid=65532,gid=65532 tmpfs {root}/var/lib/tandem
mount -t tmpfs tmpfs {root}/tmp
mount --rbind /dev {root}/dev
mount --rbind /proc {root}/proc
exec {command}
"""


def line(word):
    """The rest of the recipe's only line with this instruction, of the image itself."""
    found = re.findall(rf"^{word} (.+)$", RECIPE.partition("FROM scratch\n")[2], re.MULTILINE)
    equal(len(found), 1, word)
    return found[0]


@cache
def image():
    if not shutil.which("busybox"):
        raise Skip("busybox is not installed (Debian: busybox-static)")
    script = "RUN /source/deploy/image_root.sh /out/usr/local /image\n"
    assert script in RECIPE, RECIPE
    install = ["meson", "install", "-C", ROOT / "build", "--no-rebuild", "--quiet", "--destdir"]
    subprocess.run([*install, PLACE / "out"], check=True, stdout=subprocess.DEVNULL)
    prefix = next((PLACE / "out").rglob("bin/tandem")).parent.parent  # /usr after `make deb`
    command = [ROOT / "deploy" / "image_root.sh", prefix, PLACE / "image"]
    done = subprocess.run(command, capture_output=True, text=True)
    equal(done.returncode, 0, done.stderr)
    return PLACE / "image"


@case
def test_it_is_small_and_has_no_more_than_it_runs():
    root = image()
    files = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
    models = root / "usr/local/share/tandem"
    size = sum(path.stat().st_size for path in files if models not in path.parents)
    assert size <= BYTES_MAX, f"{size} bytes without models, at most {BYTES_MAX}"
    programs = {path.name for path in files if os.access(path, os.X_OK) and ".so" not in path.name}
    equal(programs, {"tandem", "busybox"})
    assert not [path for path in files if path.stat().st_mode & 0o6000], "a set-user-id program"


class Container:
    """A process with its own mounts, that knows nothing of the machine's files and has no right."""

    def __init__(self, **environment):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            raise Skip("needs root and setpriv, for a root folder of its own")
        self.root, self.environment = image(), environment
        command = " ".join(map(str, self.entered(*json.loads(line("ENTRYPOINT")))))
        script = MOUNTED.format(root=self.root, command=command)
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            ["unshare", "-m", "sh", "-ec", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def entered(self, *command):
        """The command as the recipe's user, with its environment, below the root."""
        given = dict(word.split("=", 1) for word in line("ENV").split()) | self.environment
        user = line("USER")
        below = [
            "chroot",
            f"--userspec={user}",
            "--groups=",
            self.root,
            "/bin/busybox",
            "env",
            "-i",
        ]
        words = [f"{key}={value}" for key, value in given.items()]
        return ["setpriv", "--no-new-privs", *below, *words, *command]

    def run(self, *command):
        enter = ["nsenter", "-t", str(self.process.pid), "-m", *self.entered(*command)]
        return subprocess.run(enter, capture_output=True, text=True, timeout=20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(getattr(signal, line("STOPSIGNAL")))
        self.code = self.process.wait(30)


@case
def test_it_serves_read_only_without_rights_and_says_that_it_is_well():
    port = free_port()
    check = json.loads(line("HEALTHCHECK").partition("CMD ")[2])
    check = [word.replace(":8080/", f":{port}/") for word in check]
    with Container(CLIENT_KEYS="a-key", TANDEM_LISTEN=f"0.0.0.0:{port}") as container:
        said = container.process.stdout.readline()
        assert "is ready" in said, said + container.process.stdout.read()
        equal(container.run(*check).returncode, 0, "the health check")
        question = '{"messages":[{"role":"user","content":"What is 2 + 3?"}]}'
        ask = ["busybox", "wget", "-q", "-O", "-", "--post-data", question]
        address = f"http://127.0.0.1:{port}/v1/chat/completions"
        done = container.run(*ask, "--header", "Authorization: Bearer a-key", address)
        equal(json.loads(done.stdout)["choices"][0]["message"]["content"], "5")
        assert container.run(*ask, address).returncode != 0, "an answer without a key"
        for path in ("/here", "/etc/tandem/tandem.yaml", "/usr/local/bin/tandem"):
            assert container.run("busybox", "touch", path).returncode != 0, path
        equal(container.run("busybox", "id", "-u").stdout, "65532\n")
        equal(container.run("busybox", "ls", "/var/lib/tandem/ledger.db").returncode, 0)
    equal(container.code, 0)
    equal(container.process.stdout.read().count("level=error"), 0)


@case
def test_without_keys_it_does_not_start_and_says_what_to_do():
    with Container(TANDEM_LISTEN=f"0.0.0.0:{free_port()}") as container:
        said = container.process.stdout.read()
    assert container.code != 0 and "CLIENT_KEYS" in said, said


if __name__ == "__main__":
    try:
        main()
    finally:
        shutil.rmtree(PLACE, ignore_errors=True)
