#!/usr/bin/env python3
"""The Debian package: it installs, serves as its unit says, and leaves nothing but state."""

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from postgres import free_port
from tandem import ROOT

TOOLS = ("dpkg-buildpackage", "dh", "lintian")
ANSWER_SECONDS_MAX = 2  # from the start on, on a machine that starts it for the first time
FOLDER = Path(tempfile.mkdtemp(prefix="tandem-package-"))
# Of the system, not of the package: they change with any package that is installed.
OF_THE_SYSTEM = re.compile(
    r"^/(var/(lib/(dpkg|systemd/deb-systemd-helper-\w+)|cache|log)|etc/ld\.so\.cache|run|tmp|dev|proc)"
)
MOUNTED = """
mount -t tmpfs tmpfs {top}
mkdir {top}/upper {top}/work {top}/root
mount -t overlay overlay -o lowerdir=/,upperdir={top}/upper,workdir={top}/work {top}/root
mount --rbind /proc {top}/root/proc
mount --rbind /dev {top}/root/dev
touch {top}/mounted
exec sleep 1000
"""


def package():
    """The package of the program in build/, made once."""
    if not all(shutil.which(tool) for tool in TOOLS):
        raise Skip("dpkg-dev, debhelper and lintian are not installed")
    made = sorted(FOLDER.glob("tandem_*.deb"))
    if not made:
        done = subprocess.run(
            [sys.executable, ROOT / "tools" / "make_deb.py", FOLDER],
            capture_output=True,
            text=True,
            timeout=600,
        )
        equal(done.returncode, 0, done.stdout + done.stderr)
        made = [Path(done.stdout.splitlines()[-1])]
    return made[0]


class System:
    """This machine's files with a layer above them, in which anything can be installed."""

    def __init__(self, top, process):
        self.top, self.process = top, process

    def run(self, *command, **options):
        return subprocess.run(self.inside(*command), capture_output=True, text=True, **options)

    def inside(self, *command):
        enter = ["nsenter", "-t", str(self.process.pid), "-m", "chroot", str(self.top / "root")]
        return [*enter, *(str(word) for word in command)]

    def changed(self):
        """Files that came into the layer; not the package system's own, nor those taken away."""
        find = "cd $0/upper && find . -type f -o -type l | cut -c2-"
        enter = ["nsenter", "-t", str(self.process.pid), "-m", "sh", "-c", find, str(self.top)]
        done = subprocess.run(enter, capture_output=True, text=True, check=True)
        return {line for line in done.stdout.splitlines() if not OF_THE_SYSTEM.match(line)}


@contextmanager
def system():
    if os.geteuid() != 0:
        raise Skip("needs root, for a file system of its own")
    with tempfile.TemporaryDirectory(prefix="tandem-system-") as folder:
        top = Path(folder) / "top"
        top.mkdir()
        process = subprocess.Popen(
            ["unshare", "-m", "sh", "-ec", MOUNTED.format(top=top)], stderr=subprocess.PIPE
        )
        try:
            mounted = ["nsenter", "-t", str(process.pid), "-m", "test", "-e", f"{top}/mounted"]
            end = time.monotonic() + 20
            while subprocess.run(mounted, capture_output=True).returncode != 0:
                if process.poll() is not None:
                    raise Skip(f"no layer of files here: {process.stderr.read().decode()}")
                assert time.monotonic() < end
                time.sleep(0.05)
            yield System(top, process)
        finally:
            process.kill()
            process.wait()


def answers(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    body = '{"model":"auto","messages":[{"role":"user","content":"What is 2 + 3?"}]}'
    connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
    return connection.getresponse().status


@case
def test_lintian_finds_no_error():
    made = package()
    done = subprocess.run(
        ["lintian", "--fail-on", "error", made], capture_output=True, text=True, timeout=300
    )
    equal(done.returncode, 0, done.stdout + done.stderr)


@case
def test_it_serves_as_its_unit_says_and_leaves_nothing_but_state():
    made = package()
    with system() as here:
        done = here.run("dpkg", "-i", made, timeout=120)
        equal(done.returncode, 0, done.stdout + done.stderr)
        files = here.changed()
        for path in (
            "/usr/bin/tandem",
            "/etc/tandem/tandem.yaml",
            "/usr/lib/systemd/system/tandem.service",
            "/usr/share/man/man1/tandem-serve.1.gz",
            "/usr/share/man/man5/tandem.yaml.5.gz",
            "/usr/lib/systemd/system/tandem.socket",
            "/usr/share/bash-completion/completions/tandem.bash",
            "/usr/share/zsh/site-functions/_tandem",
            "/usr/share/fish/vendor_completions.d/tandem.fish",
            "/usr/share/doc/tandem/docs/operations.md.gz",
            "/usr/share/doc/tandem/examples/rust/Cargo.toml",
            "/usr/share/tandem/nano.gguf",
            "/usr/include/tandem/engine.h",
        ):
            assert path in files, path
        unit = here.run("cat", "/lib/systemd/system/tandem.service").stdout
        command = re.search("^ExecStart=(.+)$", unit, re.MULTILINE)[1].split()
        port = free_port()
        environment = ["env", f"TANDEM_LISTEN=127.0.0.1:{port}"]
        environment += ["TANDEM_STATE_DIR=/var/lib/private/tandem", "HOME=/nonexistent"]
        begun = time.monotonic()
        server = subprocess.Popen(
            here.inside(*environment, *command), stdout=subprocess.PIPE, text=True
        )
        try:
            assert "is ready" in server.stdout.readline()
            equal(answers(port), 200)
            took = time.monotonic() - begun
            assert took < ANSWER_SECONDS_MAX, f"the first answer came after {took:.2f} s"
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)
        done = here.run("dpkg", "-r", "tandem", timeout=120)
        equal(done.returncode, 0, done.stdout + done.stderr)
        left = {path for path in here.changed() if not path.startswith("/var/lib/private/tandem/")}
        # As Debian's tools do it, the configuration and whether the service is enabled are kept.
        enabled = "/etc/systemd/system/multi-user.target.wants/tandem.service"
        equal({path for path in left if "tandem" in path}, {"/etc/tandem/tandem.yaml", enabled})
        assert here.run("test", "-e", "/var/lib/private/tandem/ledger.db").returncode == 0
        done = here.run("dpkg", "-P", "tandem", timeout=120)
        equal(done.returncode, 0, done.stdout + done.stderr)
        equal({path for path in here.changed() if "tandem" in path}, set())


@case
def test_shells_read_the_completions():
    made = package()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg", "-x", made, folder], check=True)
        bash = f"{folder}/usr/share/bash-completion/completions/tandem.bash"
        script = (
            f"source {bash}; for line in 'tandem mod' 'tandem models pu' 'tandem serve --lis'; do "
            "COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tandem; "
            'echo "${COMPREPLY[*]}"; done'
        )
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        equal((done.stdout, done.stderr), ("models\npull\n--listen\n", ""))
        for shell, path in (
            ("zsh", "zsh/site-functions/_tandem"),
            ("fish", "fish/vendor_completions.d/tandem.fish"),
        ):
            if shutil.which(shell):
                subprocess.run([shell, "-n", f"{folder}/usr/share/{path}"], check=True)


@case
def test_man_pages_are_well_formed():
    made = package()
    if not shutil.which("man"):
        raise Skip("man is not installed")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["dpkg", "-x", made, folder], check=True)
        pages = sorted(Path(folder, "usr/share/man").glob("man?/*.gz"))
        assert len(pages) > 30
        for page in pages:
            done = subprocess.run(
                ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page],
                env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"},
                capture_output=True,
                text=True,
            )
            equal((done.returncode, done.stderr), (0, ""), page.name)


if __name__ == "__main__":
    main()
