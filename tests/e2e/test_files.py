#!/usr/bin/env python3
"""OpenAI's Files API: what is uploaded comes back byte for byte, to its owner alone, within limits,
and stands in a request to a model as if it had been sent with it."""

import base64
import json
import os
import random
import shutil
import signal
import socket
import stat
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from forms import BOUNDARY, form, part, post_form, upload
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

KEYS = "server: {api_keys_env: KEYS}\n"
TAKES_ALL = "    modalities: [text, image, audio, file]\n"
CLOUD = {"x-tandem-mode": "only-cloud"}
MAIL = "mary.smith@acme-corp.com"


def key(who):
    return {"Authorization": f"Bearer key-of-{who}"}


def content(tandem, name, headers=None):
    return tandem.get(f"/v1/files/{name}/content", headers=headers)


def leaves(tandem):
    """Names of contents and drafts in the folder."""
    return sorted(
        path.name for path in (tandem.state / "files").iterdir() if "files.db" not in path.name
    )


@case
def test_a_file_is_kept_listed_read_and_deleted():
    data = random.Random(3).randbytes(300_000) + b"\r\n--" + BOUNDARY.encode()[:-1] + b"\r\n-"
    with Tandem() as tandem:
        made = upload(tandem, data, filename="C:\\dir/plan.pdf")
        equal(
            {name: made[name] for name in ("object", "bytes", "filename", "purpose", "status")},
            {
                "object": "file",
                "bytes": len(data),
                "filename": "plan.pdf",
                "purpose": "user_data",
                "status": "processed",
            },
        )
        equal(made["expires_at"] - made["created_at"], 30 * 86400)
        got = content(tandem, made["id"])
        equal((got.status, got.body == data), (200, True))
        equal(tandem.get(f"/v1/files/{made['id']}").json, made)
        second = upload(tandem, b"", "batch", "empty.jsonl")
        equal(
            [row["id"] for row in tandem.get("/v1/files").json["data"]], [second["id"], made["id"]]
        )
        page = tandem.get("/v1/files?limit=1&order=asc").json
        equal((page["data"], page["has_more"]), ([made], True))
        page = tandem.get(f"/v1/files?limit=1&order=asc&after={made['id']}").json
        equal((page["data"], page["has_more"]), ([second], False))
        equal(tandem.get("/v1/files?purpose=batch").json["data"], [second])
        equal(content(tandem, second["id"]).body, b"")
        gone = tandem.request("DELETE", f"/v1/files/{made['id']}")
        equal(gone.json, {"id": made["id"], "object": "file", "deleted": True})
        equal(content(tandem, made["id"]).status, 404)
        equal(tandem.get(f"/v1/files?after={made['id']}").status, 404)
        equal(leaves(tandem), [second["id"]])


@case
def test_files_are_private_on_the_disk_and_outlive_a_crash():
    state = tempfile.mkdtemp(prefix="tandem-files-state-")
    folder = Path(state) / "files"
    try:
        with Tandem(env={"TANDEM_STATE_DIR": state}) as tandem:
            made = upload(tandem, "kept")
            tandem.process.send_signal(signal.SIGKILL)
            tandem.process.wait(20)
        for path in (folder, *folder.iterdir()):
            mode = stat.S_IMODE(path.stat().st_mode)
            equal(mode, 0o700 if path == folder else 0o600, str(path))
        (folder / "draft-1-1").write_text("of a dead process")
        (folder / "file-without-a-row").write_text("of a dead process")
        with Tandem(env={"TANDEM_STATE_DIR": state}) as tandem:
            equal(content(tandem, made["id"]).body, b"kept")
            left = sorted(path.name for path in folder.iterdir() if path.suffix[:3] != ".db")
            equal(left, [made["id"]])
    finally:
        shutil.rmtree(state)


@case
def test_a_form_may_be_cut_anywhere():
    data = b"\r\n--" + BOUNDARY.encode()[:-1] + b"\r\n\r\r\n---"
    body = form(part("file", data, "a.bin"), part("purpose", "vision"), part("other", "ignored"))
    head = (
        f"POST /v1/files HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n"
    ).encode()
    with Tandem() as tandem:
        for chunks in (1, 7, 64):
            coded = b"".join(
                b"%x\r\n" % len(body[at : at + chunks]) + body[at : at + chunks] + b"\r\n"
                for at in range(0, len(body), chunks)
            )
            got = tandem.raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + coded + b"0\r\n\r\n")
            assert got.startswith(b"HTTP/1.1 200"), got
            made = json.loads(got.partition(b"\r\n\r\n")[2])
            equal(content(tandem, made["id"]).body, data)


@case
def test_what_is_no_upload_is_refused_and_leaves_nothing():
    whole = form(part("purpose", "batch"), part("file", "x", "a"))
    with Tandem() as tandem:
        for body, param in (
            (form(part("purpose", "batch")), "file"),
            (form(part("file", "x", "a")), "purpose"),
            (form(part("purpose", "nothing"), part("file", "x", "a")), "purpose"),
            (form(part("purpose", "batch"), part("file", "x")), None),
            (form(part("file", "x", "a"), part("file", "y", "b")), None),
            (form(part("purpose", "batch"), part("purpose", "batch")), None),
            (form(part("purpose", "b" * 100), part("file", "x", "a")), None),
            (form(*[part(f"p{number}", "x") for number in range(100)]), None),
            (
                form(
                    part("purpose", "batch"),
                    part("expires_after[anchor]", "created_at"),
                    part("expires_after[seconds]", "7"),
                    part("file", "x", "a"),
                ),
                "expires_after.seconds",
            ),
            (whole[:-6], None),
            (whole.replace(b"\r\n", b"\n"), None),
            (b"--" + BOUNDARY.encode() + b"\r\n\r\nx", None),
            (b"--" + BOUNDARY.encode() + b"junk\r\n", None),
            (b"--" + BOUNDARY.encode() + b"\r\nA: " + b"a" * 9000, None),
            (b"", None),
        ):
            answer = post_form(tandem, body)
            equal(answer.status, 400, str(body[:200]))
            if param:
                equal(answer.json["error"]["param"], param)
        for kind in ("application/json", "multipart/form-data", "multipart/form-data; boundary="):
            answer = tandem.request("POST", "/v1/files", whole, {"Content-Type": kind})
            equal(answer.status, 400, kind)
        coded = post_form(tandem, whole, {"Content-Encoding": "gzip"})
        equal(coded.status, 415)
        wait_until(lambda: leaves(tandem) == [], what="what was refused is removed")
        equal(tandem.get("/v1/files").json["data"], [])
        for query in ("limit=0", "limit=10001", "limit=x", "order=up", "after=nothing"):
            assert tandem.get(f"/v1/files?{query}").status in (400, 404), query


@case
def test_a_text_of_a_form_has_up_to_63_bytes():
    with Tandem() as tandem:
        for name in ("purpose", "expires_after[anchor]", "expires_after[seconds]"):
            for length, fault in ((63, "must be"), (64, "is too long")):
                texts = {"purpose": "batch", "expires_after[seconds]": "3600"}
                texts[name] = "b" * length
                parts = [part(*text) for text in texts.items()]
                answer = post_form(tandem, form(*parts, part("file", "x", "a")))
                equal(answer.status, 400)
                assert fault in answer.json["error"]["message"], (name, length, answer.body)


@case
def test_a_file_of_20_gb_by_its_header_is_refused_before_it_comes():
    head = (
        f"POST /v1/files HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n"
        f"Content-Length: 20000000000\r\n\r\n"
    ).encode()
    with Tandem() as tandem:
        got = tandem.raw(head + b"--" + BOUNDARY.encode() + b"\r\n")
        assert got.startswith(b"HTTP/1.1 413"), got
        equal(json.loads(got.partition(b"\r\n\r\n")[2])["error"]["code"], "body_too_large")


@case
def test_an_upload_needs_no_memory_and_has_limits():
    piece = random.Random(5).randbytes(1 << 20)
    limits = "files: {file_mb_max: 100, caller_mb_max: 150, mb_max: 200, caller_count_max: 4}\n"
    names = {"KEYS": "key-of-a,key-of-b"}
    with Tandem(KEYS + limits, env=names) as tandem:
        upload(tandem, b"small", headers=key("a"))
        before = tandem.rss_bytes("VmHWM")
        upload(tandem, piece * 90, headers=key("a"))
        grown = tandem.rss_bytes("VmHWM") - before
        assert grown < 8 << 20, f"an upload of 90 MiB took {grown} bytes of memory"
        over = form(part("purpose", "batch"), part("file", b"x" * 100_000_001, "a"))
        refused = post_form(tandem, over, key("b"))
        equal(refused.status, 413)
        assert "files.file_mb_max" in refused.json["error"]["message"], refused.body
        some = form(part("purpose", "batch"), part("file", piece * 60, "a"))
        refused = post_form(tandem, some, key("a"))
        assert "files.caller_mb_max" in refused.json["error"]["message"], refused.body
        upload(tandem, piece * 60, headers=key("b"))
        refused = post_form(tandem, some, key("b"))
        assert "files.mb_max" in refused.json["error"]["message"], refused.body
        upload(tandem, b"x", headers=key("a"))
        upload(tandem, b"x", headers=key("a"))
        refused = post_form(tandem, form(part("file", "x", "a")), key("a"))
        assert "files.caller_count_max" in refused.json["error"]["message"], refused.body
        equal(len(leaves(tandem)), 5)


@case
def test_a_client_that_leaves_in_the_middle_leaves_nothing():
    head = (
        f"POST /v1/files HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n"
        f"Content-Length: 100000\r\n\r\n"
    ).encode()
    with Tandem() as tandem:
        with socket.create_connection(("127.0.0.1", tandem.port), timeout=20) as connection:
            body = form(part("purpose", "batch"), part("file", "x" * 90_000, "a"))
            connection.sendall(head + body[:50_000])
            wait_until(lambda: len(leaves(tandem)) == 1, what="the draft")
        wait_until(lambda: leaves(tandem) == [], what="the draft to go")


@case
def test_a_file_is_its_owners_alone():
    with Tandem(KEYS, env={"KEYS": "key-of-a,key-of-b"}) as tandem:
        made = upload(tandem, "mine", headers=key("a"))
        path = f"/v1/files/{made['id']}"
        equal(tandem.get(path, headers=key("a")).status, 200)
        for method, where in (("GET", path), ("GET", path + "/content"), ("DELETE", path)):
            equal(tandem.request(method, where, headers=key("b")).status, 404, where)
        equal(tandem.get("/v1/files", headers=key("b")).json["data"], [])
        body = {
            "input_file_id": made["id"],
            "endpoint": "/v1/embeddings",
            "completion_window": "24h",
        }
        equal(tandem.request("POST", "/v1/batches", body, key("b")).status, 404)
        parts = [{"type": "file", "file": {"file_id": made["id"]}}]
        equal(tandem.chat([{"role": "user", "content": parts}], key("b")).status, 404)
        equal(tandem.get(path, headers=key("a")).json, made)


@case
def test_a_file_id_in_a_request_is_the_file():
    data = random.Random(7).randbytes(60_001)
    coded = base64.b64encode(data).decode()
    pdf, png = f"data:application/pdf;base64,{coded}", f"data:image/png;base64,{coded}"
    cloud = ScriptedCloud(Script(text="A plan."))
    config = edge_first(cloud.base_url, TAKES_ALL)
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        plan = upload(tandem, data, filename="plan.pdf")["id"]
        cat = upload(tandem, data, "vision", "cat.png")["id"]
        held = {"type": "file", "file": {"file_data": pdf, "filename": "plan.pdf"}}
        shown = {"type": "image_url", "image_url": {"url": png}}

        def sent():
            return cloud.requests[-1]["json"]["messages"][0]["content"]

        parts = [{"type": "file", "file": {"file_id": plan}}]
        equal(tandem.chat([{"role": "user", "content": parts}], CLOUD).status, 200)
        equal(sent(), [held])
        items = [{"type": "input_file", "file_id": plan}, {"type": "input_image", "file_id": cat}]
        body = {"model": "auto", "input": [{"role": "user", "content": items}]}
        equal(tandem.request("POST", "/v1/responses", body, CLOUD).status, 200)
        equal(sent(), [held, shown])
        blocks = [
            {"type": "document", "source": {"type": "file", "file_id": plan}, "title": "plan.pdf"},
            {"type": "image", "source": {"type": "file", "file_id": cat}},
        ]
        body = {
            "model": "auto",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": blocks}],
        }
        equal(tandem.request("POST", "/v1/messages", body, CLOUD).status, 200)
        equal(sent(), [held, shown])
        # One of the provider's own stays, and one of ours that is not there is not found.
        parts = [{"type": "file", "file": {"file_id": "file-AbcDefGhiJklMnoPqrStuVwx"}}]
        equal(tandem.chat([{"role": "user", "content": parts}], CLOUD).status, 200)
        equal(sent(), parts)
        parts = [{"type": "file", "file": {"file_id": "file-" + "0" * 24}}]
        lost = tandem.chat([{"role": "user", "content": parts}], CLOUD)
        equal((lost.status, lost.json["error"]["param"]), (404, "file_id"))


@case
def test_a_file_by_its_id_is_scanned_and_counts_as_the_requests():
    cloud = ScriptedCloud()
    config = edge_first(cloud.base_url, TAKES_ALL) + "server: {body_bytes_max: 100000}\n"
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        note = upload(tandem, f"Write to {MAIL} about it.\n" * 20, filename="note.txt")["id"]
        for mode in ("only-cloud", "auto"):
            parts = [{"type": "file", "file": {"file_id": note}}]
            refused = tandem.chat([{"role": "user", "content": parts}], {"x-tandem-mode": mode})
            assert refused.status >= 400, refused.body
        body = [{"role": "user", "content": [{"type": "input_file", "file_id": note}]}]
        body = {"model": "auto", "input": body}
        assert tandem.request("POST", "/v1/responses", body, CLOUD).status >= 400
        equal(bytes(cloud.received), b"")
        large = upload(tandem, os.urandom(90_000), filename="a.png")["id"]
        parts = [{"type": "file", "file": {"file_id": large}}]
        refused = tandem.chat([{"role": "user", "content": parts}], CLOUD)
        equal((refused.status, refused.json["error"]["code"]), (413, "body_too_large"))


@case
def test_where_nothing_is_kept_there_are_no_files():
    for config in ("files: {mb_max: 0}\n", "privacy: {zero_retention: true}\n"):
        with Tandem(config) as tandem:
            body = form(part("purpose", "batch"), part("file", "x", "a"))
            refused = post_form(tandem, body)
            equal((refused.status, refused.json["error"]["code"]), (403, "files_off"))
            for path in ("/v1/files", "/v1/files/file-1", "/v1/batches", "/v1/batches/batch_1"):
                equal(tandem.get(path).status, 403, path)
            equal(tandem.request("POST", "/v1/batches", {}).status, 403)
            assert not (tandem.state / "files").exists()


if __name__ == "__main__":
    main()
