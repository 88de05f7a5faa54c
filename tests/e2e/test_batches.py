#!/usr/bin/env python3
"""OpenAI's Batches API: each line is a request of whoever made the batch, with all that holds for
one, and is answered once, whatever becomes of the server meanwhile."""

import json
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from forms import upload
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run, wait_until

KEYS = "server: {api_keys_env: KEYS}\n"
CHAT = "/v1/chat/completions"
ONLY_CLOUD = {"mode": "only-cloud"}
CARD = "My card is 4111 1111 1111 1111."


def key(who):
    return {"Authorization": f"Bearer key-of-{who}"} if who else {}


def serve(cloud, more="", **env):
    names = {"TEST_CLOUD_KEY": "k", "KEYS": "key-of-a,key-of-b", **env}
    return Tandem(edge_first(cloud.base_url) + more, env=names)


def chat(words, **members):
    body = {"model": "auto", "messages": [{"role": "user", "content": words}], "max_tokens": 4}
    return {**body, "tandem": ONLY_CLOUD, **members}


def line(name, body, url=CHAT, **members):
    return json.dumps({"custom_id": name, "method": "POST", "url": url, "body": body, **members})


def begin(tandem, lines, endpoint=CHAT, who=None, **members):
    """A batch of these lines, as it is at first."""
    text = "\n".join(lines) + "\n"
    file = upload(tandem, text, "batch", "in.jsonl", key(who))["id"]
    body = {"input_file_id": file, "endpoint": endpoint, "completion_window": "24h", **members}
    answer = tandem.request("POST", "/v1/batches", body, key(who))
    equal(answer.status, 200, answer.body.decode())
    equal(answer.json["status"], "validating")
    return answer.json


def look(tandem, batch, who=None):
    return tandem.get(f"/v1/batches/{batch['id']}", headers=key(who)).json


def end(tandem, batch, status="completed", who=None, seconds=60):
    wait_until(
        lambda: (
            look(tandem, batch, who)["status"]
            not in ("validating", "in_progress", "finalizing", "cancelling")
        ),
        seconds,
        "the end of the batch",
    )
    ended = look(tandem, batch, who)
    equal(ended["status"], status, str(ended["errors"]))
    return ended


def rows(tandem, batch, name="output_file_id", who=None):
    if batch[name] is None:
        return []
    got = tandem.get(f"/v1/files/{batch[name]}/content", headers=key(who))
    equal(got.status, 200)
    return [json.loads(row) for row in got.body.decode().splitlines()]


def counts(batch):
    return [batch["request_counts"][name] for name in ("total", "completed", "failed")]


@case
def test_each_line_is_answered_in_the_order_of_the_input():
    cloud = ScriptedCloud(Script(echo=True))
    with serve(cloud) as tandem:
        lines = [line(f"n{number}", chat(f"say {number}")) for number in range(20)]
        lines.insert(3, "")
        lines[10] = line("bad", chat(7))
        made = begin(tandem, lines, metadata={"team": "x"})
        equal(
            [made[name] for name in ("object", "endpoint", "completion_window", "metadata")],
            ["batch", CHAT, "24h", {"team": "x"}],
        )
        equal(made["expires_at"] - made["created_at"], 86400)
        ended = end(tandem, made)
        equal(counts(ended), [20, 19, 1])
        output, errors = rows(tandem, ended), rows(tandem, ended, "error_file_id")
        names = [f"n{number}" for number in range(20) if number != 9]
        equal([row["custom_id"] for row in output], names)
        for row in output:
            said = row["response"]["body"]["choices"][0]["message"]["content"]
            equal((row["response"]["status_code"], row["error"]), (200, None))
            assert said.split()[-1] == row["custom_id"][1:], row
            assert row["id"].startswith("batch_req_") and row["response"]["request_id"]
        equal([row["custom_id"] for row in errors], ["bad"])
        equal(errors[0]["response"]["status_code"], 400)
        equal(errors[0]["response"]["body"]["error"]["param"], "messages[0].content")
        equal(len(cloud.calls()), 19)
        listed = tandem.get("/v1/batches").json
        equal((listed["data"], listed["has_more"]), ([ended], False))
        file = tandem.get(f"/v1/files/{ended['output_file_id']}").json
        equal(file["purpose"], "batch_output")
        # A line is an exchange like any other: it is on record.
        wait_until(
            lambda: len(tandem.get("/tandem/v1/exchanges?limit=100").json["data"]) == 19,
            what="the records",
        )


@case
def test_every_endpoint_of_a_batch_answers():
    with Tandem() as tandem:
        for endpoint, body, member in (
            ("/v1/completions", {"model": "local", "prompt": "Hi", "max_tokens": 3}, "choices"),
            ("/v1/embeddings", {"model": "auto", "input": "Hi"}, "data"),
            (
                "/v1/responses",
                {"model": "local", "input": "Hi", "max_output_tokens": 16},
                "output",
            ),
        ):
            ended = end(tandem, begin(tandem, [line("one", body, endpoint)], endpoint))
            (row,) = rows(tandem, ended)
            assert row["response"]["body"][member], row


@case
def test_an_input_that_is_wrong_runs_nothing():
    cloud = ScriptedCloud()
    with serve(cloud) as tandem:
        good = line("a", chat("x"))
        for lines, code, at in (
            ([], "empty_file", None),
            ([good, "{"], "invalid_json_line", 2),
            ([good, "[]"], "invalid_json_line", 2),
            ([good, "", good], "duplicate_custom_id", 3),
            ([line("", chat("x"))], "invalid_custom_id", 1),
            ([line("a" * 600, chat("x"))], "invalid_custom_id", 1),
            ([line("a", chat("x"), method="GET")], "invalid_method", 1),
            ([line("a", chat("x"), "/v1/embeddings")], "invalid_url", 1),
            ([line("a", chat("x"), "http://example.com/")], "invalid_url", 1),
            ([line("a", "x")], "invalid_body", 1),
            ([line("a", chat("x", stream=True))], "invalid_body", 1),
            ([line("a", chat("x", background=True))], "invalid_body", 1),
            ([line(str(number), {}) for number in range(50001)], "too_many_lines", None),
            (["\0\xff"], "invalid_json_line", 1),
        ):
            ended = end(tandem, begin(tandem, lines), "failed")
            fault = ended["errors"]["data"][0]
            equal((fault["code"], fault["line"]), (code, at), str(lines)[:100])
            equal(ended["output_file_id"], None)
        many = end(tandem, begin(tandem, ["{"] * 10000), "failed")
        equal(len(many["errors"]["data"]), 20)
        equal(cloud.calls(), [])


@case
def test_a_batch_that_cannot_be_is_refused():
    with Tandem() as tandem:
        batch = upload(tandem, line("a", {}), "batch")["id"]
        other = upload(tandem, "x")["id"]
        good = {"input_file_id": batch, "endpoint": CHAT, "completion_window": "24h"}
        for members, status, param in (
            ({"input_file_id": other}, 400, "input_file_id"),
            ({"input_file_id": "file-" + "0" * 24}, 404, "input_file_id"),
            ({"input_file_id": None}, 400, "input_file_id"),
            ({"input_file_id": "../files.db"}, 404, "input_file_id"),
            ({"endpoint": "/v1/models"}, 400, "endpoint"),
            ({"endpoint": None}, 400, "endpoint"),
            ({"completion_window": "soon"}, 400, "completion_window"),
            ({"completion_window": "8d"}, 400, "completion_window"),
            ({"completion_window": 24}, 400, "completion_window"),
            ({"completion_window": "0h"}, 400, "completion_window"),
            ({"metadata": [1]}, 400, "metadata"),
            ({"metadata": {"a": 1}}, 400, "metadata"),
            ({"metadata": {"a": "x" * 600}}, 400, "metadata"),
            ({"metadata": {str(number): "x" for number in range(17)}}, 400, "metadata"),
        ):
            answer = tandem.request("POST", "/v1/batches", {**good, **members})
            equal((answer.status, answer.json["error"]["param"]), (status, param), str(members))
        for body in ("[]", "{", "7"):
            equal(tandem.request("POST", "/v1/batches", body).status, 400)
        for query in ("limit=0", "limit=101", "after=nothing"):
            assert tandem.get(f"/v1/batches?{query}").status in (400, 404)
        equal(tandem.get("/v1/batches/batch_1").status, 404)
        equal(tandem.request("POST", "/v1/batches/batch_1/cancel").status, 404)


@case
def test_a_killed_server_goes_on_and_answers_each_line_once():
    cloud = ScriptedCloud(Script(echo=True, first_delay=0.1))
    state = tempfile.mkdtemp(prefix="tandem-batches-state-")
    env = {"TANDEM_STATE_DIR": state}
    total, killed = 40, 0
    try:
        with serve(cloud, **env) as tandem:
            made = begin(
                tandem, [line(f"n{number}", chat(f"say {number}")) for number in range(total)]
            )
            for _ in range(2):
                done = look(tandem, made)["request_counts"]["completed"]
                wait_until(
                    lambda: look(tandem, made)["request_counts"]["completed"] >= done + 8,
                    60,
                    "some answers",
                )
                tandem.process.send_signal(signal.SIGKILL)
                tandem.process.wait(20)
                killed += 1
                tandem = serve(cloud, **env)
            try:
                ended = end(tandem, made)
                equal(counts(ended), [total, total, 0])
                names = [row["custom_id"] for row in rows(tandem, ended)]
                equal(names, [f"n{number}" for number in range(total)])
                asked = [call["json"]["messages"][0]["content"] for call in cloud.calls()]
                # What was under way at a kill is asked again, at most two lines each time.
                assert total <= len(asked) <= total + 2 * killed, len(asked)
                equal(len(set(asked)), total)
            finally:
                tandem.stop()
    finally:
        shutil.rmtree(state, ignore_errors=True)


@case
def test_few_lines_run_at_once_and_others_are_served_beside_them():
    cloud = ScriptedCloud(Script(text="Slow.", first_delay=3))
    with serve(cloud, "files: {batch_lines: 3}\n") as tandem:
        made = begin(tandem, [line(f"n{number}", chat("x")) for number in range(9)])
        wait_until(lambda: len(cloud.calls()) == 3, what="three lines")
        time.sleep(0.4)
        equal(len(cloud.calls()), 3)
        equal(tandem.chat("Hello.", {"x-tandem-mode": "only-local"}, max_tokens=2).status, 200)
        assert counts(look(tandem, made))[1] < 9, "it waited for the end of the batch"
        equal(counts(end(tandem, made)), [9, 9, 0])


@case
def test_a_cancelled_batch_keeps_what_it_has():
    cloud = ScriptedCloud(Script(text="Yes.", first_delay=0.1))
    with serve(cloud) as tandem:
        made = begin(tandem, [line(f"n{number}", chat("x")) for number in range(30)])
        wait_until(lambda: look(tandem, made)["request_counts"]["completed"] >= 2, what="a start")
        file = tandem.request("DELETE", f"/v1/files/{made['input_file_id']}")
        equal((file.status, file.json["error"]["code"]), (409, "file_in_use"))
        cloud.script = Script(text="Never.", first_delay=60)
        answer = tandem.request("POST", f"/v1/batches/{made['id']}/cancel")
        assert answer.json["status"] in ("cancelling", "cancelled"), answer.json
        ended = end(tandem, made, "cancelled")
        output, errors = rows(tandem, ended), rows(tandem, ended, "error_file_id")
        equal(counts(ended), [30, len(output), len(errors)])
        equal(len(output) + len(errors), 30)
        assert {row["error"]["code"] for row in errors} == {"batch_cancelled"}, errors[0]
        again = tandem.request("POST", f"/v1/batches/{made['id']}/cancel")
        equal((again.status, again.json["status"]), (200, "cancelled"))
        equal(tandem.request("DELETE", f"/v1/files/{made['input_file_id']}").status, 200)
        cloud.script = Script(text="Yes.")
        done = end(tandem, begin(tandem, [line("one", chat("x"))]))
        equal(tandem.request("POST", f"/v1/batches/{done['id']}/cancel").status, 409)


@case
def test_a_busy_tier_is_asked_again():
    cloud = ScriptedCloud(Script(text="Yes.", statuses=[429, 429, 503]))
    with serve(cloud) as tandem:
        ended = end(tandem, begin(tandem, [line("one", chat("x")), line("two", chat("y"))]))
        equal(counts(ended), [2, 2, 0])


@case
def test_a_line_may_send_no_more_than_a_request():
    cloud = ScriptedCloud()
    with serve(cloud) as tandem:
        declared = chat("Plain.", tandem={**ONLY_CLOUD, "data_class": "restricted"})
        lines = [line("card", chat(CARD)), line("declared", declared)]
        lines.append(line("home", chat(CARD, tandem={"mode": "auto"})))
        ended = end(tandem, begin(tandem, lines))
        equal(counts(ended), [3, 1, 2])
        errors = rows(tandem, ended, "error_file_id")
        equal([row["response"]["status_code"] for row in errors], [403, 403])
        (home,) = rows(tandem, ended)
        equal(home["response"]["body"]["tandem"]["place"], "device")
        equal(bytes(cloud.received), b"")


@case
def test_what_a_route_does_not_keep_a_batch_does_not():
    cloud = ScriptedCloud()
    more = "routes: [{name: auto, kind: local-only, tiers: [local], zero_retention: true}]\n"
    with Tandem(more) as tandem:
        body = chat("Hello.", tandem={"mode": "only-local"})
        prompt = {"model": "local", "prompt": "Hi", "max_tokens": 3}
        for endpoint, asked in ((CHAT, body), ("/v1/completions", prompt)):
            ended = end(tandem, begin(tandem, [line("one", asked, endpoint)], endpoint))
            (row,) = rows(tandem, ended, "error_file_id")
            equal(row["response"]["status_code"], 403, str(row))
            equal(row["response"]["body"]["error"]["code"], "answer_not_kept")
    cloud.close()


@case
def test_a_batch_is_its_owners_and_runs_as_the_owner():
    cloud = ScriptedCloud(Script(text="Yes."))
    with serve(cloud, KEYS) as tandem:
        made = begin(tandem, [line("one", chat("x")), line("two", chat("y"))], who="a")
        for method, path in (("GET", ""), ("POST", "/cancel")):
            where = f"/v1/batches/{made['id']}{path}"
            equal(tandem.request(method, where, headers=key("b")).status, 404, where)
        equal(tandem.get("/v1/batches", headers=key("b")).json["data"], [])
        ended = end(tandem, made, who="a")
        for name in ("output_file_id", "error_file_id"):
            if ended[name]:
                path = f"/v1/files/{ended[name]}/content"
                equal(tandem.get(path, headers=key("b")).status, 404)
        # What it asked is on record as the owner's.
        wait_until(
            lambda: len(tandem.get("/tandem/v1/exchanges", headers=key("a")).json["data"]) == 2,
            what="the records",
        )
        equal(tandem.get("/tandem/v1/exchanges", headers=key("b")).json["data"], [])


def waits_meanwhile(config, **names):
    """A batch that a key began goes on after a while under `config`, where the key does nothing."""
    cloud = ScriptedCloud(Script(text="Yes.", first_delay=0.2))
    with tempfile.TemporaryDirectory(prefix="tandem-batches-state-") as state:
        env = {"TANDEM_STATE_DIR": state}
        with serve(cloud, KEYS, **env) as tandem:
            made = begin(tandem, [line(f"n{number}", chat("x")) for number in range(20)], who="a")
            wait_until(lambda: cloud.calls(), what="a start")
        asked = len(cloud.calls())
        with serve(cloud, config, **env, **names) as tandem:
            wait_until(
                lambda: any("batch_waits" in row for row in tandem.log), what="the word of it"
            )
            time.sleep(0.5)
            equal(len(cloud.calls()), asked)
        with serve(cloud, KEYS, **env) as tandem:
            equal(counts(end(tandem, made, who="a")), [20, 20, 0])


@case
def test_a_batch_of_a_key_that_is_gone_waits_for_it():
    waits_meanwhile(KEYS, KEYS="key-of-b")


def take_keys(tandem, file, names, known):
    """The server takes these keys; `known`: whether a's is among them."""
    file.write_text("".join(f"key-of-{name}\n" for name in names))
    tandem.process.send_signal(signal.SIGHUP)
    wait_until(
        lambda: (tandem.get("/v1/batches", headers=key("a")).status == 200) == known,
        what="the reload",
    )


@case
def test_a_line_whose_key_is_gone_when_it_is_asked_again_is_asked_when_it_is_back():
    cloud = ScriptedCloud(Script(text="Yes.", statuses=[429] * 4))
    with tempfile.TemporaryDirectory(prefix="tandem-batches-keys-") as folder:
        file = Path(folder) / "keys"
        file.write_text("key-of-a\nkey-of-b\n")
        with serve(cloud, f"server: {{api_keys_file: {file}}}\n") as tandem:
            made = begin(tandem, [line("one", chat("x")), line("two", chat("y"))], who="a")
            wait_until(lambda: cloud.calls(), what="a busy answer")
            take_keys(tandem, file, "b", False)
            wait_until(
                lambda: any("batch_waits" in row for row in tandem.log), what="the word of it"
            )
            time.sleep(3)  # each line that waited has found it out
            take_keys(tandem, file, "ab", True)
            equal(counts(end(tandem, made, who="a")), [2, 2, 0])


@case
def test_a_batch_waits_while_its_key_is_another_tenants():
    moved = KEYS + "apps: [{name: app, key_env: APP_KEY, tenant: others}]\n"
    waits_meanwhile(moved, APP_KEY="key-of-a")


@case
def test_time_runs_out_and_says_so():
    cloud = ScriptedCloud(Script(text="Yes.", first_delay=100))
    state = tempfile.mkdtemp(prefix="tandem-batches-state-")
    env = {"TANDEM_STATE_DIR": state}
    import sqlite3

    try:
        with serve(cloud, "server: {shutdown_timeout_ms: 0}\n", **env) as tandem:
            made = begin(tandem, [line("one", chat("x")), line("two", chat("y"))])
            wait_until(lambda: cloud.calls(), what="a start")
        with sqlite3.connect(f"{state}/files/files.db") as database:
            database.execute("UPDATE batch SET expires_s = created_s")
        database.close()
        with serve(cloud, **env) as tandem:
            ended = end(tandem, made, "expired")
            errors = rows(tandem, ended, "error_file_id")
            equal([row["custom_id"] for row in errors], ["one", "two"])
            equal({row["error"]["code"] for row in errors}, {"batch_expired"})
            equal((counts(ended), errors[0]["response"]), ([2, 0, 2], None))
    finally:
        shutil.rmtree(state, ignore_errors=True)


@case
def test_forgetting_a_user_removes_the_batches_that_name_it():
    cloud = ScriptedCloud(Script(text="Yes."))
    with serve(cloud) as tandem:
        ann = end(tandem, begin(tandem, [line("a", chat("annacanary", user="annalisa"))]))
        bob = end(tandem, begin(tandem, [line("b", chat("bobcanary", user="bob"))]))
        waiting = upload(tandem, line("c", chat("annacanary", user="annalisa")), "batch")
        code, out, err = run(
            "forget", "annalisa", "--json", "--url", tandem.url, env=tandem.environment
        )
        equal((code, json.loads(out)["files"]), (0, 3), err)
        equal(tandem.get(f"/v1/batches/{ann['id']}").status, 404)
        for name in (ann["input_file_id"], ann["output_file_id"], waiting["id"]):
            equal(tandem.get(f"/v1/files/{name}").status, 404)
        equal(look(tandem, bob)["status"], "completed")
        equal(len(rows(tandem, bob)), 1)
        held = b"".join(path.read_bytes() for path in tandem.state.rglob("*") if path.is_file())
        for canary in (b"annacanary", b"annalisa"):
            assert canary not in held, f"{canary} is still in a file"


@case
def test_answers_whose_requests_were_deleted_go_with_any_user_who_is_forgotten():
    with serve(ScriptedCloud(Script(text="Yes."))) as tandem:
        ann = end(tandem, begin(tandem, [line("a", chat("hello", user="annalisa"))]))
        equal(tandem.request("DELETE", f"/v1/files/{ann['input_file_id']}").status, 200)
        answer = tandem.request("POST", "/tandem/v1/forget", {"user": "annalisa"})
        equal((answer.status, answer.json["files"]), (200, 1))
        equal(tandem.get(f"/v1/files/{ann['output_file_id']}/content").status, 404)


@case
def test_a_batch_whose_input_is_lost_ends():
    cloud = ScriptedCloud(Script(text="Yes.", first_delay=0.3))
    with serve(cloud) as tandem:
        batch = begin(tandem, [line(f"n{number}", chat("hello")) for number in range(40)])
        wait_until(lambda: counts(look(tandem, batch))[1] > 0, what="the first answer")
        for path in tandem.state.rglob(batch["input_file_id"]):
            path.unlink()
        equal(tandem.request("POST", f"/v1/batches/{batch['id']}/cancel", {}).status, 200)
        ended = end(tandem, batch, "cancelled")
        answered = len(rows(tandem, ended))
        assert 0 < answered < 40, answered
        total, completed, failed = counts(ended)
        equal((total, completed + failed), (40, 40))


if __name__ == "__main__":
    main(at_once=4)
