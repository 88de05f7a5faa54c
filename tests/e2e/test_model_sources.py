#!/usr/bin/env python3
"""tandem models pull: a name, where it came from and what is in it belong together, and no server
fills the disk."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from model_hub import Blob, Folder, Hub
from tandem import NANO

DATA = NANO.read_bytes()
SHA256 = hashlib.sha256(DATA).hexdigest()


def sha256_of(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def renamed(name="other"):
    """The model's bytes with another name in its metadata, as long as before."""
    at = DATA.index(b"general.name") + len(b"general.name") + 4 + 8
    other = bytearray(DATA)
    other[at : at + 5] = name.encode()
    return bytes(other)


@case
def test_a_name_belongs_to_one_source_and_one_content():
    other = renamed()
    with (
        Hub({"/nano.gguf": Blob(DATA), "/copy.gguf": Blob(DATA)}) as hub,
        Hub({"/nano.gguf": Blob(other)}) as elsewhere,
        Folder() as folder,
    ):
        model = folder.path / "nano.gguf"

        def present(*arguments):
            code, events, err = folder.pull(*arguments)
            equal((code, events and events[-1]["event"]), (0, "present"), err)
            equal(events[-1]["source"], f"{hub.url}/nano.gguf")
            equal(events[-1]["sha256"], SHA256)

        def refused(*arguments, words=()):
            before = sha256_of(model)
            code, events, err = folder.pull(*arguments)
            equal((code, events), (1, []), err)
            for word in ("--force", "--name", *words):
                assert word in err, (word, err)
            equal(sha256_of(model), before, "the model that was there")

        folder.pulled(f"{hub.url}/nano.gguf")
        present(f"{hub.url}/nano.gguf")
        # Another server, another file, another query: another model, until its hash says otherwise.
        refused(f"{elsewhere.url}/nano.gguf", words=[f"{hub.url}/nano.gguf"])
        refused(f"{hub.url}/copy.gguf", "--name", "nano")
        refused(f"{hub.url}/nano.gguf?version=2")
        refused(f"{elsewhere.url}/nano.gguf", "--sha256", hashlib.sha256(other).hexdigest())
        present(f"{hub.url}/copy.gguf", "--name", "nano", "--sha256", SHA256)
        # Two queries of one address are not mixed either.
        folder.pulled(f"{hub.url}/nano.gguf?token=1", "--name", "signed")
        code, events, _ = folder.pull(f"{hub.url}/nano.gguf?token=1", "--name", "signed")
        equal((code, events[-1]["event"]), (0, "present"))
        code, events, err = folder.pull(f"{hub.url}/nano.gguf?token=2", "--name", "signed")
        equal((code, events), (1, []), err)
        # The file of that name is not the one that was recorded.
        model.write_bytes(other)
        refused(f"{hub.url}/nano.gguf", "--sha256", SHA256)
        model.write_bytes(DATA + bytes(64))
        refused(f"{hub.url}/nano.gguf", words=["changed"])
        model.write_bytes(DATA)
        record = folder.path / "nano.gguf.json"
        record.unlink()
        refused(f"{hub.url}/nano.gguf", words=["not known"])
        record.write_text("{broken")
        refused(f"{hub.url}/nano.gguf", words=["not known"])
        folder.pulled(f"{elsewhere.url}/nano.gguf", "--force")
        equal(sha256_of(model), hashlib.sha256(other).hexdigest())
        refused(f"{hub.url}/nano.gguf", words=[f"{elsewhere.url}/nano.gguf"])


@case
def test_a_file_is_its_path_and_its_content():
    with Folder() as folder, tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "mine.gguf"
        source.write_bytes(DATA)
        folder.pulled(source)
        link = Path(temporary) / "link.gguf"
        link.symlink_to(source)
        code, events, err = folder.pull(link, "--name", "mine")
        equal((code, events[-1]["event"]), (0, "present"), err)
        source.write_bytes(renamed())
        code, events, err = folder.pull(source)
        equal((code, events), (1, []), err)
        assert "--force" in err and "another" in err, err
        equal(sha256_of(folder.path / "mine.gguf"), SHA256)
        folder.pulled(source, "--force")
        equal(sha256_of(folder.path / "mine.gguf"), sha256_of(source))


@case
def test_two_pulls_of_one_name_at_once_do_not_mix():
    other = renamed()
    with (
        Hub({"/nano.gguf": Blob(DATA, delay=0.005)}) as hub,
        Hub({"/nano.gguf": Blob(other, delay=0.005)}) as elsewhere,
    ):
        for _ in range(4):
            with Folder() as folder:
                racing = [
                    folder.start(f"{server.url}/nano.gguf", "--json")
                    for server in (hub, elsewhere, hub, elsewhere)
                ]
                ended = [(one.communicate(timeout=60), one.returncode) for one in racing]
                record = json.loads((folder.path / "nano.gguf.json").read_text())
                wanted = DATA if record["source"].startswith(hub.url) else other
                assert (folder.path / "nano.gguf").read_bytes() == wanted, record
                equal(record["sha256"], hashlib.sha256(wanted).hexdigest())
                pulled = [out for (out, _), code in ended if '"event":"pulled"' in out]
                equal(len(pulled), 1, ended)


@case
def test_a_body_without_length_has_an_end():
    how = {"ranges": False, "length": False, "delay": 0.01}
    with Hub({"/nano.gguf": Blob(DATA * 20, **how)}) as hub, Folder() as folder:
        config = folder.path.parent / "tandem.yaml"
        config.write_text("models:\n  file_mb_max: 2\n")
        folder.env["TANDEM_CONFIG"] = str(config)
        seen = []
        process = folder.start(f"{hub.url}/nano.gguf", "--retries", 0)
        part = folder.path / "nano.gguf.part"
        while process.poll() is None:
            seen.append(part.stat().st_size if part.exists() else 0)
            time.sleep(0.002)
        _, err = process.communicate(timeout=20)
        equal((process.returncode, folder.models(), folder.parts()), (1, [], []), err)
        assert "models.file_mb_max" in err and err.count("\n") == 1, err
        assert 0 < max(seen) <= 2_000_000, max(seen)
        # One that says its length is refused before its first byte.
        hub.files["/nano.gguf"] = Blob(DATA)
        folder.refused(f"{hub.url}/nano.gguf", words=("models.file_mb_max", "6.4 MB"))
        equal(folder.parts(), [])
        config.write_text("models:\n  file_mb_max: 7\n")
        folder.pulled(f"{hub.url}/nano.gguf")


@case
def test_a_body_without_length_leaves_room_on_the_disk():
    with tempfile.TemporaryDirectory(prefix="tandem-small-") as small:
        mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", small]
        if subprocess.run(mount, capture_output=True).returncode:
            raise Skip("no right to mount a small file system")
        try:
            how = {"ranges": False, "length": False}
            with Hub({"/nano.gguf": Blob(DATA * 20, **how)}) as hub, Folder(path=small) as folder:
                folder.refused(f"{hub.url}/nano.gguf", "--retries", 0, words=("MB free",))
                equal(folder.parts(), [])
                free = os.statvfs(small)
                assert free.f_bavail * free.f_frsize > 15_000_000, "the bytes are gone again"
                hub.files["/nano.gguf"] = Blob(DATA, **how)
                folder.pulled(f"{hub.url}/nano.gguf")
        finally:
            subprocess.run(["umount", small], check=True)


if __name__ == "__main__":
    main()
