#!/usr/bin/env python3
"""tandem models: pulling from servers that behave well and badly, and the folder of what was
pulled."""

import hashlib
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from certificates import certificate
from check import Skip, case, equal, main
from gguf import split, write_adapter
from model_hub import Blob, Folder, Hub
from tandem import NANO, ROOT, Tandem, clean_environment, run, wait_until

DATA = NANO.read_bytes()
SHA256 = hashlib.sha256(DATA).hexdigest()


def check_whole(folder, name="nano.gguf"):
    equal(folder.models(), [name])
    assert (folder.path / name).read_bytes() == DATA
    equal(folder.parts(), [])


@case
def test_parallel_ranges_make_the_same_file():
    with Hub({"/m/nano.gguf": Blob(DATA)}) as hub, Folder() as folder:
        event = folder.pulled(f"{hub.url}/m/nano.gguf?download=true", "--streams", 4)
        check_whole(folder)
        equal(event["sha256"], SHA256)
        equal(event["verified"], False)
        asked = sorted(
            int(headers["range"].split("=")[1].split("-")[0]) for _, headers in hub.requests[1:]
        )
        assert len(asked) >= 4 and len(set(asked)) == len(asked), asked
        assert all("if-range" in headers for _, headers in hub.requests[1:])


@case
def test_a_server_without_ranges_or_length_is_read_as_one():
    for how in ({"ranges": False}, {"ranges": False, "length": False}, {"etag": None}):
        with Hub({"/nano.gguf": Blob(DATA, **how)}) as hub, Folder() as folder:
            folder.pulled(f"{hub.url}/nano.gguf", "--sha256", SHA256.upper())
            check_whole(folder)
            equal(len(hub.requests), 2)


@case
def test_the_hub_is_asked_as_it_asks_to_be_and_its_hash_counts():
    with Hub({"/cdn/blob": Blob(DATA)}) as cdn:
        wrong = {"X-Linked-ETag": f'"{"0" * 64}"'}
        files = {
            "/org/repo/resolve/main/sub/nano%20v1.gguf": Blob(
                b"", redirect=f"{cdn.url}/cdn/blob?sig=1", headers={"X-Linked-ETag": f'"{SHA256}"'}
            ),
            "/org/repo/resolve/v%2F2/nano.gguf": Blob(
                b"", redirect=f"{cdn.url}/cdn/blob", headers=wrong
            ),
        }
        with Hub(files) as hub, Folder(HF_ENDPOINT=hub.url + "/") as folder:
            event = folder.pulled("hf:org/repo:sub/nano v1.gguf", "--name", "nano")
            equal(event["verified"], True)
            check_whole(folder)
            run("models", "rm", "nano", env=folder.env)
            folder.refused(
                "hf:org/repo@v/2:nano.gguf", words=["SHA-256", SHA256, "0" * 64, "the server says"]
            )
            equal(folder.parts(), [], "parts after a wrong hash")


@case
def test_a_mirror_from_the_configuration_is_asked():
    with Hub({"/o/r/resolve/main/nano.gguf": Blob(DATA)}) as hub, Folder() as folder:
        config = folder.path.parent / "tandem.yaml"
        config.write_text(f"models:\n  mirror: {hub.url}\n  dir: {folder.path}\n")
        del folder.env["TANDEM_MODELS"]
        folder.env["TANDEM_CONFIG"] = str(config)
        folder.pulled("hf:o/r:nano.gguf")
        check_whole(folder)
        code, _out, err = run("tokenize", "-m", "nano", "--json", stdin=b"hello", env=folder.env)
        equal(code, 0, err)


@case
def test_cut_connections_are_taken_up_where_they_broke():
    blob = Blob(DATA, cut_after=200_000, cuts=3)
    with Hub({"/nano.gguf": blob}) as hub, Folder() as folder:
        folder.pulled(f"{hub.url}/nano.gguf", "--streams", 2)
        check_whole(folder)
        equal(blob.cuts, 0)


@case
def test_passing_errors_are_waited_out_and_lasting_ones_named():
    with Hub({"/nano.gguf": Blob(DATA, failures=2)}) as hub, Folder() as folder:
        folder.pulled(f"{hub.url}/nano.gguf")
        check_whole(folder)
    with Hub({"/nano.gguf": Blob(DATA, failures=99)}) as hub, Folder() as folder:
        folder.refused(f"{hub.url}/nano.gguf", "--retries", 1, words="HTTP 503")
    for status, words in (
        (404, "no such file"),
        (401, "HF_TOKEN"),
        (403, "HF_TOKEN"),
        (418, "HTTP 418"),
    ):
        with Hub({"/nano.gguf": Blob(DATA, status=status)}) as hub, Folder() as folder:
            folder.refused(f"{hub.url}/nano.gguf", words=words)
            equal(len(hub.requests), 1)


@case
def test_an_interrupted_pull_is_never_a_model_and_goes_on():
    blob = Blob(DATA, delay=0.05)
    with Hub({"/nano.gguf": blob}) as hub, Folder() as folder:
        process = folder.start(f"{hub.url}/nano.gguf", "--streams", 2)
        part = folder.path / "nano.gguf.part"
        wait_until(
            lambda: part.exists() and part.stat().st_blocks * 512 > 500_000, what="half a megabyte"
        )
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
        equal(process.returncode, 1, err)
        assert "interrupted" in err, err
        equal(folder.models(), [])
        equal(folder.parts(), ["nano.gguf.part", "nano.gguf.part.json"])
        _code, out, _ = run("models", "list", "--json", env=folder.env)
        equal([(m["name"], m["partial"]) for m in json.loads(out)["models"]], [("nano", True)])
        blob.delay = 0
        event = folder.pulled(f"{hub.url}/nano.gguf")
        assert event["resumed_bytes"] >= 400_000, event
        check_whole(folder)


@case
def test_a_killed_pull_starts_clean():
    blob = Blob(DATA, delay=0.05)
    with Hub({"/nano.gguf": blob}) as hub, Folder() as folder:
        process = folder.start(f"{hub.url}/nano.gguf")
        part = folder.path / "nano.gguf.part"
        wait_until(
            lambda: part.exists() and part.stat().st_blocks * 512 > 300_000, what="some bytes"
        )
        code, _, err = folder.pull(f"{hub.url}/nano.gguf")
        assert code == 1 and "another process" in err, err
        process.kill()
        process.communicate(timeout=20)
        blob.delay = 0
        folder.pulled(f"{hub.url}/nano.gguf")
        check_whole(folder)


@case
def test_a_file_that_changed_is_fetched_anew():
    old = bytes(len(DATA))
    # Between two pulls: the part of the old file is not mixed with the new one.
    blob = Blob(old, delay=0.03)
    with Hub({"/nano.gguf": blob}) as hub, Folder() as folder:
        process = folder.start(f"{hub.url}/nano.gguf")
        part = folder.path / "nano.gguf.part"
        wait_until(
            lambda: part.exists() and part.stat().st_blocks * 512 > 300_000, what="some bytes"
        )
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        blob.delay = 0
        blob.replace(DATA)
        equal(folder.pulled(f"{hub.url}/nano.gguf")["resumed_bytes"], 0)
        check_whole(folder)
    # In the middle of one.
    blob = Blob(old)
    blob.on_request = lambda number: blob.replace(DATA) if number == 4 else None
    with Hub({"/nano.gguf": blob}) as hub, Folder() as folder:
        folder.pulled(f"{hub.url}/nano.gguf", "--streams", 1)
        check_whole(folder)
    # A server that changes it all the time is not chased.
    blob = Blob(old)
    blob.on_request = lambda number: blob.replace(number.to_bytes(4, "little") + old[4:])
    with Hub({"/nano.gguf": blob}) as hub, Folder() as folder:
        folder.refused(f"{hub.url}/nano.gguf", "--streams", 1, words="changed")


@case
def test_wrong_answers_never_become_a_model():
    damaged = bytearray(DATA)
    damaged[100:140] = bytes(40)
    for how, words in (
        ({"wrong_range": True}, "another one"),
        ({"claimed_length": 1 << 62, "ranges": False}, "models.file_mb_max"),
        ({"claimed_length": 999_999_000_000, "ranges": False}, "free"),
        ({"shorter_total": 1000}, ("GGUF", "removed")),
        ({"headers": {"Content-Encoding": "gzip"}}, "compress"),
    ):
        with Hub({"/nano.gguf": Blob(DATA, **how)}) as hub, Folder() as folder:
            folder.refused(f"{hub.url}/nano.gguf", "--retries", 1, words=words)
    for data in (bytes(damaged), DATA[:-5000], b"<html>hello</html>", DATA[:100]):
        with Hub({"/nano.gguf": Blob(data)}) as hub, Folder() as folder:
            folder.refused(f"{hub.url}/nano.gguf", words=("GGUF", "removed"))
            equal(folder.parts(), [])
    with Hub({"/nano.gguf": Blob(b"")}) as hub, Folder() as folder:
        folder.refused(f"{hub.url}/nano.gguf", words="empty")
    flipped = bytearray(DATA)
    flipped[-1000] ^= 1
    with Hub({"/nano.gguf": Blob(bytes(flipped))}) as hub, Folder() as folder:
        folder.refused(
            f"{hub.url}/nano.gguf", "--sha256", SHA256, words=("--sha256", SHA256, "removed")
        )


@case
def test_redirects_are_followed_but_not_without_end_nor_downwards():
    with Hub({}) as hub, Folder() as folder:
        hub.files["/loop"] = Blob(b"", redirect=f"{hub.url}/loop")
        folder.refused(f"{hub.url}/loop", words="redirects")
        hub.files["/file"] = Blob(b"", redirect="file:///etc/passwd")
        folder.refused(f"{hub.url}/file", words="not http or https")
        hub.files["/relative"] = Blob(b"", redirect="/nano.gguf")
        hub.files["/nano.gguf"] = Blob(DATA)
        folder.pulled(f"{hub.url}/relative", "--name", "nano.gguf")
        check_whole(folder)


@case
def test_the_token_goes_to_its_own_host_over_tls_and_nowhere_else():
    token = "hf_secret_1234"
    with tempfile.TemporaryDirectory() as temporary, Hub({"/blob": Blob(DATA)}) as elsewhere:
        cert, key = certificate(Path(temporary))
        with Hub({"/o/r/resolve/main/nano.gguf": Blob(DATA)}, tls=(cert, key)) as hub:
            with Folder(HF_ENDPOINT=hub.url, HF_TOKEN=token) as folder:
                folder.refused("hf:o/r:nano.gguf", "--retries", 0, words="certificate")
                folder.pulled("hf:o/r:nano.gguf", "--ca-file", cert)
                check_whole(folder)
                assert all(
                    headers["authorization"] == f"Bearer {token}" for _, headers in hub.requests
                )
            hub.files["/o/r/resolve/main/down.gguf"] = Blob(b"", redirect=f"{elsewhere.url}/blob")
            with Folder(HF_ENDPOINT=hub.url, HF_TOKEN=token) as folder:
                err = folder.refused("hf:o/r:down.gguf", "--ca-file", cert, words="https to http")
                assert token not in err
        with Hub(
            {"/o/r/resolve/main/nano.gguf": Blob(b"", redirect=f"{elsewhere.url}/blob")}
        ) as hub:
            with Folder(HF_ENDPOINT=hub.url, HF_TOKEN=token) as folder:
                folder.pulled("hf:o/r:nano.gguf")
            for _, headers in hub.requests + elsewhere.requests:
                assert "authorization" not in headers, headers
        # Another port of the same host is another's, and so is the way back from there.
        with (
            Hub({"/blob": Blob(DATA)}, tls=(cert, key)) as neighbour,
            Hub({}, tls=(cert, key)) as hub,
        ):
            hub.files["/o/r/resolve/main/nano.gguf"] = Blob(b"", redirect=f"{neighbour.url}/blob")
            with Folder(HF_ENDPOINT=hub.url, HF_TOKEN=token) as folder:
                folder.pulled("hf:o/r:nano.gguf", "--ca-file", cert)
                check_whole(folder)
            equal(
                [headers.get("authorization") for _, headers in hub.requests], [f"Bearer {token}"]
            )
            assert neighbour.requests and all(
                "authorization" not in headers for _, headers in neighbour.requests
            )
            neighbour.files["/back"] = Blob(b"", redirect=f"{hub.url}/back")
            hub.files = {
                "/o/r/resolve/main/nano.gguf": Blob(b"", redirect=f"{neighbour.url}/back"),
                "/back": Blob(DATA),
            }
            hub.requests.clear()
            with Folder(HF_ENDPOINT=hub.url, HF_TOKEN=token) as folder:
                folder.pulled("hf:o/r:nano.gguf", "--ca-file", cert)
            equal(
                [path for path, headers in hub.requests if "authorization" in headers],
                ["/o/r/resolve/main/nano.gguf"],
            )
            assert [path for path, _ in hub.requests if path == "/back"]
        config = Path(temporary) / "tandem.yaml"
        with Hub({"/o/r/resolve/main/nano.gguf": Blob(DATA)}, tls=(cert, key)) as mirror:
            config.write_text(f"models: {{mirror: '{mirror.url}', ca_file: {cert}}}\n")
            with Folder(HF_TOKEN=token, TANDEM_CONFIG=config) as folder:
                folder.pulled("hf:o/r:nano.gguf")
            assert mirror.requests and all(
                "authorization" not in headers for _, headers in mirror.requests
            )


@case
def test_an_address_is_recorded_and_printed_without_its_query():
    blob = Blob(DATA, delay=0.05)
    with Hub({"/nano.gguf": blob}) as hub, Folder() as folder:
        source = f"{hub.url}/nano.gguf?signature=SECRET#SECRET"
        process = folder.start(source, "--streams", 2)
        wait_until(
            lambda: (folder.path / "nano.gguf.part").exists() and len(hub.requests) > 2,
            what="some bytes",
        )
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert "SECRET" not in out + err, (out, err)
        assert b"SECRET" not in (folder.path / "nano.gguf.part.json").read_bytes()
        blob.delay = 0
        code, events, err = folder.pull(source)
        equal(code, 0, err)
        assert "SECRET" not in json.dumps(events) + err, (events, err)
        equal((events[-1]["source"], events[-1]["source_cut"]), (f"{hub.url}/nano.gguf", True))
        record = json.loads((folder.path / "nano.gguf.json").read_text())
        equal((record["source"], record["source_cut"]), (f"{hub.url}/nano.gguf", True))
        run("models", "rm", "nano", env=folder.env)
        assert "source_cut" not in folder.pulled(f"{hub.url}/nano.gguf")


@case
def test_a_pull_that_runs_is_not_removed():
    blob = Blob(DATA, delay=0.05)
    with Hub({"/nano.gguf": blob}) as hub, Folder() as folder:
        process = folder.start(f"{hub.url}/nano.gguf")
        wait_until(
            lambda: (folder.path / "nano.gguf.part").exists() and len(hub.requests) > 1,
            what="a part",
        )
        code, _, err = run("models", "rm", "nano", env=folder.env)
        assert code == 1 and "another process" in err, (code, err)
        blob.delay = 0
        _, err = process.communicate(timeout=60)
        equal(process.returncode, 0, err)
        check_whole(folder)


@case
def test_a_full_disk_is_foreseen_or_survived():
    with tempfile.TemporaryDirectory() as small:
        if subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small], capture_output=True
        ).returncode:
            raise Skip("no right to mount a small file system")
        try:
            with Hub({"/nano.gguf": Blob(DATA)}) as hub, Folder(small) as folder:
                size = f"{len(DATA) / 1e6:.1f} MB"
                folder.refused(f"{hub.url}/nano.gguf", words=(size, "free", "TANDEM_MODELS"))
                folder.refused(NANO, words=(size, "free"))
                equal(len(hub.requests), 1)
                # The size is not known beforehand: what comes is counted.
                hub.files["/nano.gguf"] = Blob(DATA, ranges=False, length=False)
                folder.refused(f"{hub.url}/nano.gguf", words=("nano.gguf.part", "MB free"))
        finally:
            subprocess.run(["umount", small], check=True)


@case
def test_what_is_no_source_is_refused_with_the_reason():
    with Folder() as folder:
        for source, words in (
            ("hf:nobody", "ORG/REPO"),
            ("hf:a:f.gguf", "ORG/REPO"),
            ("hf:a/../b:f.gguf", "ORG/REPO"),
            ("hf:a/b:../f.gguf", "not a file"),
            ("hf:a/b:f.gguf@", "revision"),
            ("ftp://x/y.gguf", "neither"),
            ("/nowhere.gguf", "neither"),
            ("https://user:pw@127.0.0.1/x.gguf", "user name or password"),
            ("http://127.0.0.1:1/", "--name"),
            ("http://127.0.0.1:1/a%00b.gguf", "--name"),
            ("http://127.0.0.1:1/%2e%2e%2fx", "--name"),
        ):
            folder.refused(source, words=words)
        folder.refused(NANO, "--name", "../up", words="--name")
        code, _, err = folder.pull(NANO, "--sha256", "12")
        assert code == 2 and "--sha256 needs 64 hex digits" in err, err
        folder.refused("http://127.0.0.1:1/x.gguf", "--retries", 0, words="127.0.0.1")
    code, _, err = run("models", "pull")
    assert code == 2 and "hf:ORG/REPO" in err, err
    code, _, err = run("models", "pul")
    assert code == 2 and "'pull'" in err, err


def sparse_model(path, layers):
    """A model whose weights are a hole in the file: as large as wanted, and nothing on the disk."""
    sys.path.insert(0, str(ROOT / "bench"))
    import make_synthetic_gguf as synthetic

    shape = {
        "layers": layers,
        "wide": 4096,
        "heads": 32,
        "kv_heads": 8,
        "ffn": 65536,
        "vocab": 512,
        "base": 1e4,
        "context": 4096,
    }
    tensors = [
        (name, rows, cols, synthetic.F16 if rows else kind)
        for name, rows, cols, kind in synthetic.tensors(shape, "f16")
    ]
    pairs = synthetic.metadata("sparse", shape)
    with open(path, "wb") as out:
        out.write(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs))
        offset = 0
        for name, rows, cols, kind in tensors:
            dims = [cols, rows] if rows else [cols]
            out.write(
                synthetic.string(name)
                + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)
            )
            size = synthetic.byte_count(rows, cols, kind)
            offset += size + synthetic.padding(size)
        out.write(bytes(synthetic.padding(out.tell())))
        out.truncate(out.tell() + offset)
    return offset


@case
def test_a_model_larger_than_memory_is_refused_before_it_is_touched():
    ram = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.gguf"
        weights = sparse_model(path, layers=ram // 1_600_000_000 + 2)
        assert weights > ram
        for command in (
            ["generate", "-m", path, "-p", "hello", "-n", 1],
            ["bench", "engine", "-m", path],
            ["serve", "-m", path, "--listen", "127.0.0.1:0"],
        ):
            code, _, err = run(*command, env=clean_environment(TANDEM_STATE_DIR=folder))
            equal(code, 1, err)
            assert re.search(r"weights (of )?\d+ MiB.*, \d+ MiB are free", err), err
        equal(path.stat().st_blocks * 512 < 1 << 20, True, "nothing was written")
        # The most that any program of this test had in memory: pages of weights would be gigabytes.
        resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        assert resident < 1 << 30, f"{resident >> 20} MiB"


@case
def test_an_adapter_is_shown_as_one():
    changes = [(f"blk.{layer}.ffn_down.weight", 704, 256) for layer in range(5)]
    with Folder() as folder:
        source = folder.path.parent / "law.gguf"
        write_adapter(source, changes, seed=1, rank=6)
        code, out, err = run("models", "pull", source, env=folder.env)
        assert code == 0 and b"LoRA adapter for llama, rank 6, 10 tensors" in out, (out, err)
        event = folder.pulled(source, "--name", "again")
        facts = {
            "type": "lora",
            "base_architecture": "llama",
            "rank": 6,
            "matrices": 5,
            "tensors": 10,
        }
        for command in (["models", "list"], ["models", "info", "law"]):
            code, out, err = run(*command, env=folder.env)
            assert code == 0 and b"LoRA adapter for llama" in out and b"cannot" not in out, (
                out,
                err,
            )
        listed = json.loads(run("models", "list", "--json", env=folder.env)[1])["models"]
        info = json.loads(run("models", "info", "law", "--json", env=folder.env)[1])
        for shown in (event, *listed, info):
            equal(shown["kind"], "adapter")
            equal({key: shown["adapter"][key] for key in facts}, facts)
            assert shown.get("usable", True) and "problem" not in shown, shown


@case
def test_what_a_file_says_does_not_steer_the_terminal():
    def text(value):
        return struct.pack("<Q", len(value)) + value

    key, name = text(b"general.architecture"), b"red\x1b[31m"
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + key + struct.pack("<I", 8) + text(name)
    with Folder() as folder:
        folder.path.mkdir(exist_ok=True)
        (folder.path / "red.gguf").write_bytes(head)
        for command in (["models", "list"], ["models", "info", "red"]):
            code, out, err = run(*command, env=folder.env)
            assert code == 0 and b"red\xef\xbf\xbd[31m" in out and b"\x1b" not in out, (out, err)


@case
def test_list_info_rm_and_use_by_name():
    with Folder() as folder:
        for names in (["models", "list"], ["list"], ["ls"]):
            code, out, err = run(*names, env=folder.env)
            assert code == 0 and b"no models" in out, (names, out, err)
        equal(folder.pulled(NANO, "--name", "mine")["sha256"], SHA256)
        code, events, _ = folder.pull(NANO, "--name", "mine")
        equal((code, events[-1]["event"], events[-1]["sha256"]), (0, "present", SHA256))
        code, _, err = folder.pull(NANO, "--name", "mine", "--sha256", "1" * 64)
        assert code == 1 and "--force" in err, err
        folder.pulled(NANO, "--name", "mine", "--force")
        (folder.path / "broken.gguf").write_bytes(b"GGUF")
        (folder.path / "notes.txt").write_text("not a model")
        _, out, _ = run("models", "list", "--json", env=folder.env)
        listed = {model["name"]: model for model in json.loads(out)["models"]}
        equal(sorted(listed), ["broken", "mine"])
        equal(
            (listed["mine"]["usable"], listed["mine"]["sha256"], listed["broken"]["usable"]),
            (True, SHA256, False),
        )
        _, out, _ = run("models", "info", "mine", "--json", env=folder.env)
        info = json.loads(out)
        equal(info["sha256"], SHA256)
        # 6 layers, 2 KV heads of 64, keys and values, two bytes each; and what the probe keeps of a
        # page of 16 tokens, 256 floats
        values, probe = 6 * 2 * 64 * 2, 256 * 4 // 16
        equal(info["kv_bytes_per_token"], 2 * values + probe)
        equal(
            info["memory_bytes"], len(DATA) + (2 * values + probe) * info["memory_context_tokens"]
        )
        # Q8_0: 34 bytes for 32 elements; Q4_0: 18
        equal(
            [(cache["type"], cache["bytes_per_token"]) for cache in info["kv_caches"]],
            [
                ("f16", 2 * values + probe),
                ("q8_0", values // 32 * 34 + probe),
                ("q4_0", values // 32 * 18 + probe),
            ],
        )
        equal(
            info["kv_caches"][1]["memory_bytes"],
            len(DATA) + (values // 32 * 34 + probe) * info["memory_context_tokens"],
        )
        equal(sum(entry["bytes"] for entry in info["types"]) > 0.9 * len(DATA), True)
        code, out, err = run(
            "generate", "-m", "mine", "-p", "hello", "-n", 2, "--temp", 0, "--json", env=folder.env
        )
        equal(code, 0, err)
        code, _, err = run("generate", "-m", "yours", "-p", "hello", env=folder.env)
        assert code == 1 and "models list" in err and str(folder.path) in err, err
        with Tandem(
            env={"TANDEM_MODELS": folder.path}, arguments=["--model", "mine.gguf"]
        ) as server:
            equal(server.chat("hello", max_tokens=2).status, 200)
        code, out, err = run("models", "rm", "mine", "--json", env=folder.env)
        equal((code, json.loads(out)["removed"]), (0, "mine"), err)
        equal(folder.models(), ["broken.gguf"])
        code, _, err = run("models", "rm", "mine", env=folder.env)
        assert code == 1 and "no model" in err, err
        code, _, err = run("models", "rm", "../x", env=folder.env)
        assert code == 2 and "'../x' is not a model's name" in err, err


@case
def test_a_model_in_several_files_is_one_model():
    with Folder() as folder:
        source = folder.path.parent
        files = split(NANO, source, "big", 3)
        # Any of the files stands for the whole.
        code, events, err = folder.pull(files[1])
        equal(code, 0, err)
        equal(
            [event["name"] for event in events if event["event"] == "pulled"],
            [f"big-0000{i}-of-00003" for i in (1, 2, 3)],
        )
        _, out, _ = run("models", "list", "--json", env=folder.env)
        listed = json.loads(out)["models"]
        equal(
            [(model["name"], model["usable"]) for model in listed], [("big-00001-of-00003", True)]
        )
        equal(listed[0]["bytes"], sum(file.stat().st_size for file in files))
        code, out, err = run("models", "info", "big-00002-of-00003", "--json", env=folder.env)
        equal(code, 0, err)
        types = json.loads(out)["types"]
        _, out, _ = run("models", "info", NANO, "--json", env=folder.env)
        equal(types, json.loads(out)["types"])
        arguments = ("-p", "hello", "-n", 8, "--temp", 0, "--json")
        whole = run("generate", "-m", NANO, *arguments, env=folder.env)[1]
        parts = run("generate", "-m", "big-00003-of-00003", *arguments, env=folder.env)[1]
        equal(json.loads(parts)["text"], json.loads(whole)["text"])
        # Named and refused: a part that is missing, one that is another, one under a wrong name.
        (folder.path / files[1].name).rename(source / "away.gguf")
        code, _, err = run("generate", "-m", "big-00001-of-00003", "-p", "x", env=folder.env)
        assert code == 1 and "part 2 of 3" in err and "is missing" in err, err
        _, out, _ = run("models", "list", "--json", env=folder.env)
        equal([model["usable"] for model in json.loads(out)["models"]], [False])
        (folder.path / files[1].name).write_bytes(files[2].read_bytes())
        code, _, err = run("generate", "-m", "big-00001-of-00003", "-p", "x", env=folder.env)
        assert code == 1 and "says part 3 of 3" in err, err
        (source / "away.gguf").rename(folder.path / "alone.gguf")
        code, _, err = run("generate", "-m", "alone", "-p", "x", env=folder.env)
        assert code == 1 and "NAME-00001-of-00003.gguf" in err, err
        code, out, err = run("models", "rm", "big-00003-of-00003", env=folder.env)
        equal((code, folder.models()), (0, ["alone.gguf"]), err)


@case
def test_the_files_of_a_model_are_pulled_from_a_hub_under_one_name():
    with Folder() as folder:
        files = split(NANO, folder.path.parent, "big", 2)
        with Hub({f"/{file.name}": Blob(file.read_bytes()) for file in files}) as hub:
            code, _, err = folder.pull(f"{hub.url}/{files[0].name}?download=true", "--name", "mine")
            equal(code, 0, err)
        equal(folder.models(), ["mine-00001-of-00002.gguf", "mine-00002-of-00002.gguf"])
        err = folder.pull(files[0], "--name", "other", "--sha256", "1" * 64)[2]
        assert "--sha256 is of one file" in err, err


@case
def test_what_came_with_the_program_is_known_by_name_and_what_was_pulled_goes_first():
    with Folder() as folder:

        def path_of(name):
            code, out, err = run("models", "info", name, "--json", env=folder.env)
            equal(code, 0, err)
            return json.loads(out)["path"]

        equal(path_of("nano"), str(NANO))
        folder.pulled(NANO, "--name", "nano")
        equal(path_of("nano"), str(folder.path / "nano.gguf"))
        code, _, err = run("models", "info", "nanoo", env=folder.env)
        equal(code, 1)
        assert str(folder.path) in err and "beside the program" in err, err


if __name__ == "__main__":
    main()
