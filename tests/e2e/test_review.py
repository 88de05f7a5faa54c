#!/usr/bin/env python3
"""People as the last rung: a question becomes a ticket, each is answered once, and whoever is not
cleared for its class sees it redacted or not at all."""

import base64
import contextlib
import hmac
import http.server
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import postgres
from check import Skip, case, equal, main
from key_store import Store, bearer
from tandem import Tandem, run, stream_text, wait_until

QUESTION = "Write a short poem about the harbour at night."
CANARY = "annacanary@acmeltd.com"
HIGH = {"cost_of_error": 1000000}


def config(review="", tiers="", more=""):
    return f"""tiers:
  - {{name: local, kind: local}}
{tiers}  - name: people
    kind: review
    review: {{minutes: 5, usd_hour: 60, {review}}}
routes:
  - {{name: auto, kind: hybrid, tiers: [local, people]}}
{more}"""


ALONE = "tiers: [{name: local, kind: local}]\n"


def ask(tandem, words=QUESTION, headers=None, **options):
    return tandem.chat(words, headers, max_tokens=8, tandem={**HIGH, **options}, user="ann")


def tickets(tandem, headers=None, state="waiting"):
    answer = tandem.get(f"/tandem/v1/review/tickets?state={state}", headers=headers or {})
    equal(answer.status, 200, answer.body.decode())
    return answer.json["data"]


def configuration(text):
    path = Path(tempfile.mkdtemp()) / "tandem.yaml"
    path.write_text(text)
    return str(path)


def check_config(text):
    return run("policy", "check", configuration(text))


def step(tandem, ticket, verb, body=None, headers=None):
    path = f"/tandem/v1/review/tickets/{ticket}/{verb}"
    return tandem.request("POST", path, body or {}, headers or {})


def final(tandem, exchange, headers=None):
    return tandem.get(f"/tandem/v1/review/answers/{exchange}", headers=headers or {})


def scores(tandem):
    with contextlib.closing(sqlite3.connect(tandem.state / "ledger.db")) as database:
        rows = "SELECT x.id, f.score FROM feedback f JOIN exchange x ON x.seq = f.exchange"
        return database.execute(rows).fetchall()


def codes(answer):
    return [reason["code"] for reason in answer.tandem["reasons"]]


@case
def test_high_stakes_become_a_ticket_and_the_client_gets_an_interim_answer_and_polls():
    with Tandem(config()) as tandem:
        answer = ask(tandem)
        equal(answer.status, 200, answer.body.decode())
        said = answer.tandem
        equal(
            (said["tier"], said["pending"], said["review"], said["degraded"]),
            ("local",) + 3 * (True,),
        )
        assert "Interim answer" in said["disclosure"], said["disclosure"]
        assert "review_pending" in codes(answer), codes(answer)
        assert any(code.startswith("left_") for code in codes(answer)), codes(answer)
        assert said["cost_usd"] >= 5, said["cost_usd"]
        exchange = said["exchange"]
        equal(final(tandem, exchange).json["status"], "pending")
        (row,) = tickets(tandem)
        equal((row["tier"], row["exchange"], row["state"]), ("people", exchange, "open"))
        ticket = tandem.get(f"/tandem/v1/review/tickets/{row['id']}").json
        equal((ticket["shown"], ticket["question"][0]["content"]), ("whole", QUESTION))
        equal(ticket["candidates"][0]["content"], answer.text)
        equal(ticket["review_usd"], 5)
        equal([look["what"] for look in ticket["looks"]][-1], "saw it whole")
        edited = step(tandem, row["id"], "edit", {"candidate": 0, "text": "Better words."})
        equal((edited.status, edited.json["outcome"]), (200, "edited"), edited.body.decode())
        done = final(tandem, exchange).json
        equal((done["status"], done["message"]["content"]), ("answered", "Better words."))
        equal(step(tandem, row["id"], "answer", {"text": "Again."}).status, 409)
        equal(final(tandem, exchange).json["message"]["content"], "Better words.")
        equal(tickets(tandem), [])
        metrics = tandem.get("/metrics").body.decode()
        assert 'tandem_review_ended{tier="people",outcome="edited"} 1' in metrics, metrics
        wait_until(lambda: scores(tandem), what="the verdict as feedback")
        equal(scores(tandem), [(exchange, 0)])


@case
def test_low_stakes_and_what_may_not_wait_do_not_reach_people():
    with Tandem(config("cost_of_error: 0.01")) as tandem:
        answer = tandem.chat(QUESTION, max_tokens=8)
        equal(answer.tandem["tier"], "local")
        assert "pending" not in answer.tandem
        soon = ask(tandem, slo_ms=20000)
        assert "removed_too_slow" in codes(soon), codes(soon)
        named = tandem.chat(QUESTION, max_tokens=8, model="people")
        equal((named.tandem["tier"], named.tandem["pending"]), ("people", True))
        assert "/tandem/v1/review/answers/" + named.tandem["exchange"] in named.text, named.text
        equal(len(tickets(tandem)), 1)


@case
def test_a_full_queue_is_a_reason():
    with Tandem(config("queue_max: 1")) as tandem:
        equal(ask(tandem).tandem["pending"], True)
        time.sleep(2)  # requests see a count of a quarter of a second ago
        second = ask(tandem)
        assert "removed_full" in codes(second), codes(second)
        assert "pending" not in second.tandem


@case
def test_a_request_that_is_held_gets_the_persons_answer():
    with Tandem(config("hold_s: 30")) as tandem:
        got = []
        worker = threading.Thread(target=lambda: got.append(ask(tandem)))
        worker.start()
        wait_until(lambda: tickets(tandem), what="a ticket")
        (row,) = tickets(tandem)
        equal(step(tandem, row["id"], "take").json["state"], "taken")
        done = step(tandem, row["id"], "answer", {"text": "From a person."})
        equal(done.status, 200, done.body.decode())
        worker.join(20)
        equal((got[0].text, got[0].tandem["tier"]), ("From a person.", "people"))
        assert "pending" not in got[0].tandem
        exchange = got[0].tandem["exchange"]
        equal(final(tandem, exchange).json["status"], "answered")
        wait_until(
            lambda: tandem.get(f"/tandem/v1/exchanges/{exchange}").json.get("shadows"),
            what="what the device had said, compared",
        )


@case
def test_a_rejected_ticket_leaves_the_best_candidate():
    with Tandem(config("hold_s: 30")) as tandem:
        got = []
        worker = threading.Thread(target=lambda: got.append(ask(tandem)))
        worker.start()
        wait_until(lambda: tickets(tandem), what="a ticket")
        equal(step(tandem, tickets(tandem)[0]["id"], "reject", {"text": "Nonsense."}).status, 200)
        worker.join(20)
        equal(got[0].tandem["tier"], "local")
        assert "rejected" in got[0].tandem["disclosure"], got[0].tandem["disclosure"]
        equal(final(tandem, got[0].tandem["exchange"]).json["status"], "rejected")


@case
def test_bad_answers_are_refused_and_change_nothing():
    with Tandem(config(), env={}) as tandem:
        ask(tandem)
        ticket = tickets(tandem)[0]["id"]
        for verb, body, code in [
            ("answer", {"text": "x" * 2_000_000}, 413),
            ("answer", {"text": "x" * 10_000_000}, 413),
            ("answer", {"text": "  "}, 400),
            ("answer", {}, 400),
            ("answer", {"text": 7}, 400),
            ("answer", {"candidate": 5}, 400),
            ("answer", {"candidate": "0"}, 400),
            ("answer", {"candidate": 0, "text": "and a text"}, 400),
            ("edit", {"text": "of none"}, 400),
            ("edit", {"candidate": 0}, 400),
            ("answer", {"text": "ok", "reviewer": "two words"}, 400),
            ("release", {}, 409),
            ("nothing", {}, 404),
        ]:
            equal(step(tandem, ticket, verb, body).status, code, f"{verb} {str(body)[:60]}")
        for raw in (b'{"text": "\xff\xfe"}', b'{"text": "\\ud800"}', b"[]", b"{"):
            head = f"POST /tandem/v1/review/tickets/{ticket}/answer HTTP/1.1\r\nHost: localhost\r\n"
            head += f"Content-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
            assert b" 400 " in tandem.raw(head.encode() + raw).split(b"\r\n")[0], raw
        equal(step(tandem, "q_none", "answer", {"text": "x"}).status, 404)
        unknown = tandem.get("/tandem/v1/review/tickets?after=zzz")
        equal((unknown.status, unknown.json["error"]["param"]), (404, "after"))
        equal(tandem.get(f"/tandem/v1/review/tickets?after={ticket}").json["data"], [])
        equal(step(tandem, "x" * 200, "answer", {"text": "x"}).status, 404)
        (row,) = tickets(tandem)
        equal((row["state"], row["takes"]), ("open", 0))


def reload(tandem, text):
    """The server takes this configuration. Returns its policy's version."""
    tandem.config.write_text(text)
    lines = len(tandem.log)
    tandem.process.send_signal(signal.SIGHUP)

    def told():
        return [line for line in tandem.log[lines:] if "config_reloaded" in line]

    wait_until(told, what="the reload")
    return told()[0].split("policy=")[1].split()[0]


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.got.append((dict(self.headers), body))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def receiving():
    """A receiver of webhooks, and the configuration that names it."""
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    receiver.got = []
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    hook = f"""webhooks:
  - {{name: desk, url: "http://127.0.0.1:{receiver.server_address[1]}/", secret_env: HOOK,
     events: ["review.*"], allow_private: true}}
"""
    try:
        yield receiver, hook
    finally:
        receiver.shutdown()


SECRET = {"HOOK": "whsec_" + base64.b64encode(b"s" * 24).decode()}


@case
def test_a_webhook_tells_of_tickets_and_of_final_answers_signed_and_without_texts():
    with receiving() as (receiver, hook), Tandem(config(more=hook), env=SECRET) as tandem:
        exchange = ask(tandem).tandem["exchange"]
        ticket = tickets(tandem)[0]["id"]
        equal(step(tandem, ticket, "answer", {"candidate": 0}).status, 200)
        wait_until(lambda: len(receiver.got) == 2, what="two events")
    for (headers, body), kind, outcome in zip(
        sorted(receiver.got, key=lambda told: json.loads(told[1])["type"]),
        ["review.created", "review.ended"],
        [None, "accepted"],
        strict=True,
    ):
        headers = {name.lower(): value for name, value in headers.items()}
        event = json.loads(body)
        data = event["data"]
        equal((event["type"], data["exchange"], data["ticket"]), (kind, exchange, ticket))
        equal(data["outcome"], outcome)
        assert b"harbour" not in body, body
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        mark = hmac.new(b"s" * 24, signed, "sha256").digest()
        equal(headers["webhook-signature"], "v1," + base64.b64encode(mark).decode())


@case
def test_a_webhook_is_told_of_the_tickets_of_a_tier_that_came_with_a_reload():
    with receiving() as (receiver, hook), Tandem(ALONE + hook, env=SECRET) as tandem:
        assert "pending" not in ask(tandem).tandem
        reload(tandem, config(more=hook))
        exchange = ask(tandem).tandem["exchange"]
        wait_until(lambda: receiver.got, what="the event")
        event = json.loads(receiver.got[0][1])
        equal((event["type"], event["data"]["exchange"]), ("review.created", exchange))


@case
def test_a_lease_is_one_persons_until_it_ends():
    with Tandem(config()) as tandem:
        ask(tandem)
        ticket = tickets(tandem)[0]["id"]
        taken = tandem.request("POST", "/tandem/v1/review/take", {"reviewer": "ann"})
        equal((taken.json["id"], taken.json["holder"]), (ticket, "operator/ann"))
        equal(tandem.request("POST", "/tandem/v1/review/take", {"reviewer": "bob"}).status, 404)
        equal(step(tandem, ticket, "take", {"reviewer": "bob"}).status, 409)
        equal(step(tandem, ticket, "answer", {"text": "Mine.", "reviewer": "bob"}).status, 409)
        equal(step(tandem, ticket, "renew", {"reviewer": "ann"}).status, 200)
        equal(step(tandem, ticket, "release", {"reviewer": "ann"}).status, 200)
        equal(step(tandem, ticket, "answer", {"text": "Mine.", "reviewer": "bob"}).status, 200)


@case
def test_reviewers_have_a_role_a_tenant_and_a_clearance():
    with Store() as store:
        boss = store.add("boss", "--operator")
        client = store.add("client", "--tenant", "a")
        other = store.add("other", "--tenant", "b", "--role", "reviewer")
        low = store.add("low", "--tenant", "a", "--role", "reviewer")
        high = store.add("high", "--tenant", "a", "--role", "reviewer", "--clearance", "restricted")
        with store.serve(config()) as tandem:
            secret = f"Write to {CANARY} about the harbour."
            exchange = ask(tandem, secret, bearer(client)).tandem["exchange"]
            ask(tandem, QUESTION, bearer(client), data_class="restricted")
            refused = tandem.get("/tandem/v1/review/tickets", headers=bearer(client))
            equal((refused.status, refused.json["error"]["code"]), (403, "reviewer_only"))
            equal(tickets(tandem, bearer(other)), [])
            masked, declared = tickets(tandem, bearer(low))
            equal(len(tickets(tandem, bearer(boss))), 2)
            equal((masked["data_class"], declared["data_class"]), ("sensitive", "restricted"))
            path = f"/tandem/v1/review/tickets/{masked['id']}"
            seen = tandem.get(path, headers=bearer(low))
            equal(seen.json["shown"], "redacted", seen.body.decode())
            assert CANARY.encode() not in seen.body, seen.body
            surrogate = seen.json["question"][0]["content"].split()[2]
            assert "@" in surrogate, seen.body
            hidden = tandem.get(f"/tandem/v1/review/tickets/{declared['id']}", headers=bearer(low))
            equal(hidden.json["shown"], "withheld")
            assert b"harbour" not in hidden.body, hidden.body
            equal(step(tandem, declared["id"], "take", {}, bearer(low)).status, 403)
            equal(step(tandem, declared["id"], "answer", {"text": "x"}, bearer(low)).status, 403)
            equal(tandem.get(path, headers=bearer(other)).status, 404)
            equal(step(tandem, masked["id"], "answer", {"text": "x"}, bearer(other)).status, 404)
            typed = {"text": f"I wrote to {surrogate}."}
            done = step(tandem, masked["id"], "answer", typed, bearer(low))
            equal(done.status, 200, done.body.decode())
            assert CANARY.encode() not in done.body, done.body
            got = final(tandem, exchange, bearer(client)).json
            equal(got["message"]["content"], f"I wrote to {CANARY}.")
            equal(final(tandem, exchange, bearer(other)).status, 404)
            whole = tandem.get(path, headers=bearer(high)).json
            equal(whole["shown"], "whole")
            assert CANARY in whole["question"][0]["content"]
            looks = [(look["who"], look["what"]) for look in whole["looks"]]
            assert "saw it redacted" in [what for _, what in looks], looks
            assert len({who for who, _ in looks}) >= 2, looks


@case
def test_the_next_ticket_is_one_that_the_reviewer_may_see():
    with Store() as store:
        client = store.add("client", "--tenant", "a")
        low = store.add("low", "--tenant", "a", "--role", "reviewer")
        with store.serve(config()) as tandem:
            for data_class in ("restricted", "restricted", "public"):
                ask(tandem, QUESTION, bearer(client), data_class=data_class)
            last = tickets(tandem, bearer(low))[-1]
            equal(last["data_class"], "public")

            def take():
                return tandem.request("POST", "/tandem/v1/review/take", {}, bearer(low))

            taken = take()
            equal((taken.status, taken.json.get("id")), (200, last["id"]), taken.body.decode())
            none = take()
            equal((none.status, none.json["error"]["code"]), (404, "not_found"))
            assert "may see" in none.json["error"]["message"], none.body


@case
def test_the_command_line_works_with_and_without_a_server():
    with Tandem(config()) as tandem:
        exchange = ask(tandem).tandem["exchange"]
        url = ("--url", f"http://127.0.0.1:{tandem.port}")
        code, out, err = run("review", "list", "--json", *url, env=tandem.environment)
        equal(code, 0, err)
        ticket = json.loads(out)["data"][0]["id"]
        code, out, err = run("review", "show", ticket, *url, env=tandem.environment)
        assert code == 0 and QUESTION.encode() in out, (out, err)
        tandem.process.send_signal(signal.SIGTERM)
        tandem.process.wait(20)
        here = tandem.environment
        code, out, err = run("review", "take", "--as", "ann", "--json", env=here)
        equal((code, json.loads(out)["holder"]), (0, "operator/ann"), err)
        code, out, err = run("review", "answer", ticket, "no", "--as", "bob", env=here)
        assert code == 1 and "taken by another" in err, err
        code, out, err = run("review", "answer", ticket, "-n", "0", "--as", "ann", env=here)
        equal(code, 0, err)
        code, out, err = run("review", "list", "--all", env=here)
        assert b"accepted" in out, out
        code, out, err = run("review", "reject", ticket, env=here)
        assert code == 1 and "has ended" in err, err
        code, out, err = run("review", "answer", env=here)
        equal(code, 2, err)
        code, out, err = run("forget", "ann", "--json", env=here)
        equal(json.loads(out)["tickets"], 1, err)
        code, out, err = run("review", "list", "--all", env=here)
        assert b"no ticket waits" in out, out
        assert exchange


@case
def test_a_forgotten_users_tickets_are_gone():
    with Tandem(config()) as tandem:
        exchange = ask(tandem).tandem["exchange"]
        gone = tandem.request("POST", "/tandem/v1/forget", {"user": "ann"})
        equal(gone.json["tickets"], 1, gone.body.decode())
        equal(final(tandem, exchange).status, 404)


@case
def test_a_forgotten_users_tickets_are_gone_when_their_tier_is_gone():
    state = Path(tempfile.mkdtemp(prefix="tandem-review-"))
    env = {"TANDEM_STATE_DIR": state}

    def forget(tandem):
        return tandem.request("POST", "/tandem/v1/forget", {"user": "ann"}).json["tickets"]

    try:
        with Tandem(config(), env=env) as tandem:
            ask(tandem)
            reload(tandem, ALONE)
            equal(forget(tandem), 1)
            reload(tandem, config())
            exchange = ask(tandem).tandem["exchange"]
        with Tandem(ALONE, env=env) as tandem:
            equal(final(tandem, exchange).json["status"], "pending")
            equal(forget(tandem), 1)
            equal((forget(tandem), final(tandem, exchange).status), (0, 404))
    finally:
        shutil.rmtree(state)


@case
def test_a_replay_of_the_same_policy_knows_people():
    def policy(queue_max):
        start = "kind: hybrid, tiers: [local, people], start: people"
        text = config(f"queue_max: {queue_max}").split("routes:")[0]
        return f"""{text}routes:
  - {{name: auto, {start}}}
"""

    form = {"type": "json_object"}
    with Tandem(policy(1)) as tandem:
        equal(tandem.chat(QUESTION, max_tokens=8).tandem["pending"], True)
        time.sleep(2)  # requests see a count of a quarter of a second ago
        for answer, code in [
            (tandem.chat(QUESTION, max_tokens=8), "removed_full"),
            (tandem.chat(QUESTION, max_tokens=8, response_format=form), "removed_capability"),
            (tandem.chat(QUESTION, max_tokens=8, tandem={"slo_ms": 20000}), "removed_too_slow"),
        ]:
            equal(answer.tandem["tier"], "local")
            assert code in codes(answer), (code, codes(answer))

        def replay(queue_max):
            other = tandem.state / "other.yaml"
            other.write_text(policy(queue_max))
            code, out, err = run("replay", "--policy", other, "--json", env=tandem.environment)
            equal(code, 0, err)
            return json.loads(out)

        wait_until(lambda: replay(1)["exchanges"] == 4, what="four records")
        same = replay(1)
        equal((same["start_changed"], same["refused"]), (0, 0), same)
        equal(replay(5)["start_changed"], 1)  # the one that found the queue full
        versions = [reload(tandem, policy(queue_max)) for queue_max in (1, 2, 1)]
        assert versions[0] == versions[2] != versions[1], versions


@case
def test_a_configuration_of_people_is_checked():
    for text, words in [
        (config().replace("[local, people]", "[people, local]"), "people are the last to ask"),
        (config("place: cloud"), "place"),
        (config("cost_of_error: 5").replace("usd_hour: 60, ", ""), "review.usd_hour"),
        (config("interim: none"), "interim"),
    ]:
        server = Tandem(text, wait=False)
        with server:
            assert server.ended() != 0, text
            assert any(words in line for line in server.log), server.log


@case
def test_nodes_share_the_queue_and_what_is_restricted_stays_out():
    if why := postgres.missing():
        raise Skip(why)
    with postgres.Postgres() as db:
        more = f"state: {db.url}\ncluster: {{key_env: CLUSTER_KEY}}\n"
        env = {"CLUSTER_KEY": "5e" * 32}
        with (
            Tandem(config("hold_s: 30", more=more), env={**env, "TANDEM_NODE": "a"}) as a,
            Tandem(config("hold_s: 30", more=more), env={**env, "TANDEM_NODE": "b"}) as b,
        ):
            got = []
            worker = threading.Thread(target=lambda: got.append(ask(a)))
            worker.start()
            wait_until(lambda: tickets(b), what="the other node's ticket")
            ticket = tickets(b)[0]["id"]
            equal(step(b, ticket, "take", {"reviewer": "ann"}).status, 200)
            equal(step(a, ticket, "answer", {"text": "No.", "reviewer": "bob"}).status, 409)
            done = step(b, ticket, "answer", {"text": "From b.", "reviewer": "ann"})
            equal((done.status, done.json["outcome"]), (200, "answered"), done.body.decode())
            worker.join(20)
            equal(got[0].text, "From b.")
            equal(final(b, got[0].tandem["exchange"]).json["status"], "answered")
            equal(step(a, ticket, "reject").status, 409)
            metrics = a.get("/metrics").body.decode()
            assert 'tandem_review_ended{tier="people",outcome="answered"} 1' in metrics
            kept = ask(a, data_class="restricted")
            assert "removed_class" in codes(kept), codes(kept)
            gone = a.request("POST", "/tandem/v1/forget", {"user": "ann"})
            equal(gone.json["tickets"], 1, gone.body.decode())


@case
def test_a_streamed_answer_is_held_and_then_a_persons():
    with Tandem(config("hold_s: 30")) as tandem:
        got = []
        options = {"max_tokens": 8, "tandem": HIGH}
        worker = threading.Thread(target=lambda: got.append(tandem.stream(QUESTION, **options)))
        worker.start()
        wait_until(lambda: tickets(tandem), what="a ticket")
        equal(step(tandem, tickets(tandem)[0]["id"], "answer", {"text": "Streamed."}).status, 200)
        worker.join(20)
        _, _, chunks, done = got[0]
        equal((stream_text(chunks), done), ("Streamed.", True))


@case
def test_a_server_that_is_killed_loses_no_ticket_and_answers_none_twice():
    """REVIEW_KILLS=100 is the whole of it (make bench-together); here a few."""
    rounds = int(os.environ.get("REVIEW_KILLS", "4"))
    rng = random.Random(7)
    asked, answered = set(), {}
    folder = tempfile.mkdtemp(prefix="tandem-review-")
    env = {"TANDEM_STATE_DIR": folder}
    tandem = Tandem(config("queue_max: 100000"), env=env)
    try:
        for number in range(rounds):
            before = len(answered)

            def work(tandem=tandem, number=number):
                for turn in range(1, 10000):
                    try:
                        got = tandem.chat(
                            f"{QUESTION} {number} {turn}", max_tokens=2, model="people"
                        )
                        if got.status == 200:
                            asked.add(got.tandem["exchange"])
                        row = tickets(tandem)[0]
                        text = f"answer {number} {turn}"
                        done = step(tandem, row["id"], "answer", {"text": text})
                        if done.status == 200:
                            assert row["exchange"] not in answered, row
                            answered[row["exchange"]] = text
                    except IndexError:
                        continue
                    except (OSError, ValueError, AssertionError) as failure:
                        if isinstance(failure, AssertionError) and "exchange" in str(failure):
                            raise
                        return

            worker = threading.Thread(target=work)
            worker.start()
            wait_until(lambda count=before: len(answered) > count, what="the first answer")
            time.sleep(rng.uniform(0, 1.2))
            tandem.process.kill()
            tandem.process.wait(60)
            worker.join(60)
            tandem.stop()
            tandem = Tandem(config("queue_max: 100000"), env=env)
        waiting = {row["exchange"] for row in tickets(tandem)}
        for exchange in asked:
            found = final(tandem, exchange)
            equal(found.status, 200, exchange)
            if exchange in answered:
                equal(found.json["message"]["content"], answered[exchange])
                assert exchange not in waiting
            else:
                assert found.json["status"] in ("pending", "answered"), found.json
        assert len(asked) >= rounds and answered, (asked, answered)
    finally:
        tandem.stop()
        shutil.rmtree(folder)


@case
def test_a_kept_response_has_the_persons_answer_and_takes_its_ticket_along():
    with Tandem(config()) as tandem:

        def respond(**more):
            body = {"model": "auto", "input": QUESTION, "max_output_tokens": 16, "tandem": HIGH}
            answer = tandem.request("POST", "/v1/responses", {**body, **more})
            equal(answer.status, 200, answer.body)
            path = "/v1/responses/" + answer.json["id"]
            wait_until(lambda: tandem.get(path).json["status"] == "completed", what="an answer")
            return path

        def words(path):
            return tandem.get(path).json["output"][-1]["content"][0]["text"]

        for more in ({}, {"background": True}):
            path = respond(**more)
            equal(tandem.get(path).json["tandem"]["pending"], True)
            interim = words(path)
            (row,) = tickets(tandem)
            step(tandem, row["id"], "edit", {"candidate": 0, "text": "From a person."})
            assert interim != "From a person."
            equal(words(path), "From a person.")
            body = tandem.get(path).json
            equal((body["tandem"]["pending"], len(body["output"])), (False, 1), body)
            events = tandem.get(path + "?stream=true").body
            assert b"From a person." in events and interim.encode() not in events, events
        before = respond()
        (row,) = tickets(tandem)
        equal(tandem.request("DELETE", before).json["deleted"], True)
        equal((tickets(tandem), tandem.get(before).status), ([], 404))
        equal(final(tandem, row["exchange"]).status, 404)
        equal(tandem.request("DELETE", before).status, 404)


@case
def test_where_a_rule_asks_people_first_nobody_below_answers_in_their_place():
    rule = """rules:
  - {name: ask-people, when: {tag: legal}, then: {start: people}}
"""
    with Tandem(config(more=rule)) as tandem:
        answer = ask(tandem, tags=["legal"])
        said = answer.tandem
        equal((said["tier"], said["pending"]), ("people", True), answer.body.decode())
        assert answer.text.startswith("A person will answer this."), answer.text
        (row,) = tickets(tandem)
        equal(tandem.get(f"/tandem/v1/review/tickets/{row['id']}").json["candidates"], [])


@case
def test_what_cannot_be_meant_of_people_and_webhooks_is_refused_with_its_reason():
    cloud = "  - {name: cloud, kind: openai, model: m, base_url: https://example.com/v1}\n"
    hook = "webhooks:\n  - {name: app, secret_env: HOOK, "
    route = "kind: hybrid, tiers: [local, cloud, people]"
    cases = [
        (f"{route}, settle: agreement", "", "add climb: race"),
        (f"{route}, zero_retention: true", "", "no ticket could be made"),
        (route, "privacy: {zero_retention: true}", "(privacy.zero_retention)"),
        (f"{route}, gates: {{g4: {{verify: answer, tier: people}}}}", "", "where people answer"),
        (
            "kind: hybrid, tiers: [local, people], gates: {g4: {verify: answer}}",
            "",
            "one tier that is no people",
        ),
        (
            route,
            hook + 'url: "https://example.com/", events: [answer.corected]}',
            "did you mean 'answer.corrected'",
        ),
        (route, hook + 'url: "https://example.com/", events: ["reviews.*"]}', "is no event"),
    ]
    private = (
        "10.0.0.7",
        "127.1",
        "[::1]:8443",
        "[fd00::1]",
        "localhost",
        "10.1.1.1:443",
        "0x7f.1",
    )
    cases += [(route, hook + f'url: "https://{host}/x"}}', "own network") for host in private]
    for body, more, why in cases:
        text = config(tiers=cloud).split("routes:")[0] + f"routes:\n  - {{name: auto, {body}}}\n"
        code, _, err = check_config(text + more)
        assert code != 0 and why in err, (body, more, why, err)
    sound = config(tiers=cloud).split("routes:")[0] + f"routes:\n  - {{name: auto, {route}}}\n"
    for url in ("https://example.com/x", "https://93.184.216.34/x"):
        events = 'events: ["answer.*", review.created, "*"]'
        code, _, err = check_config(sound + hook + f'url: "{url}", {events}}}')
        equal(code, 0, err)
    code, out, err = run("config", "show", configuration(sound))
    equal((code, str(out).count("review:")), (0, 1), f"{err}{out}")


if __name__ == "__main__":
    main(at_once=4)
