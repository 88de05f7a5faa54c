#!/usr/bin/env python3
"""Alarms are told to a webhook, once each and without private data, and outlive the process."""

import json
import signal
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud, unused_port
from tandem import Tandem, edge_first, run, wait_until

ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
SECRET = "mary-17"
QUESTION = "Explain in three sentences why the French revolution began."


class Hook:
    """A webhook that keeps what it is told; `codes` are its first answers, then 200."""

    def __init__(self, codes=(), port=0):
        self.told, self.headers, self.calls, self.codes = [], [], 0, list(codes)
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                hook.calls += 1
                code = hook.codes.pop(0) if hook.codes else 200
                if code == 200:
                    hook.told.append(json.loads(body))
                    hook.headers.append(dict(self.headers.items()))
                self.send_response(code)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/alarm"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def config(cloud, hook, usd):
    budget = f"budgets:\n  - {{name: team, usd_per_day: {usd}}}\n"
    watch = f"watch:\n  webhook: {hook}\n  webhook_key_env: TEST_HOOK_KEY\n  resting_s: 2\n"
    return edge_first(cloud.base_url) + budget + watch


def server(cloud, hook, state=None, usd="0.000001"):
    env = {"TEST_CLOUD_KEY": "sk-very-secret", "TEST_HOOK_KEY": "hook-key"}
    if state:
        env["TANDEM_STATE_DIR"] = state
    return Tandem(config(cloud, hook, usd), env=env)


def spend(tandem):
    """The first answer spends the budget; the second finds it spent."""
    for _ in range(2):
        tandem.chat(QUESTION, {"x-tandem-mode": "prefer-cloud"}, user=SECRET)


@case
def test_a_spent_budget_is_told_once_with_its_name_and_nothing_of_requests():
    hook = Hook()
    with server(ScriptedCloud(), hook.url) as tandem:
        spend(tandem)
        wait_until(lambda: hook.told, what="the webhook was told")
        spend(tandem)
        told = hook.told[0]
        equal(
            (told["event"], told["kind"], told["subject"]), ("alarm_begun", "budget_spent", "team")
        )
        assert told["begun"] and told["ended"] is None and "team" in told["text"], told
        equal(hook.headers[0]["Authorization"], "Bearer hook-key")
        assert SECRET not in json.dumps(hook.told) and "caller" not in told
        listed = tandem.get("/tandem/v1/alarms").json["data"]
        equal([(a["kind"], a["subject"]) for a in listed], [("budget_spent", "team")])
        equal(hook.calls, 1)
    hook.close()


@case
def test_a_webhook_that_fails_is_told_later_and_holds_nobody_up():
    hook = Hook(codes=[500, 503])
    with server(ScriptedCloud(), hook.url) as tandem:
        spend(tandem)
        equal(tandem.chat("Hi", {"x-tandem-mode": "only-local"}).status, 200)
        wait_until(lambda: hook.told, what="the webhook was told at last")
        equal((hook.calls, len(hook.told)), (3, 1))
    hook.close()


@case
def test_a_tier_that_does_not_answer_is_an_alarm_until_it_does():
    hook = Hook()
    cloud = ScriptedCloud(Script(cut_at_once=True))
    with server(cloud, hook.url, usd="100") as tandem:

        def asked():
            tandem.chat("Why?", ONLY_CLOUD)
            return hook.told

        wait_until(asked, what="the tier is an alarm")
        equal((hook.told[0]["kind"], hook.told[0]["subject"]), ("tier_resting", "cloud"))
        cloud.script = Script()
        wait_until(lambda: asked() and len(hook.told) > 1, seconds=60, what="the alarm ends")
        ended = hook.told[1]
        equal((ended["event"], ended["alarm"]), ("alarm_ended", hook.told[0]["alarm"]))
        assert ended["ended"], ended
    hook.close()


@case
def test_late_answers_burn_the_objective():
    hook = Hook()
    cloud = ScriptedCloud(Script(first_delay=0.1))
    with Tandem(
        edge_first(cloud.base_url) + f"watch:\n  webhook: {hook.url}\n",
        env={"TEST_CLOUD_KEY": "k-very-secret"},
    ) as tandem:
        for _ in range(6):
            tandem.chat("Why?", ONLY_CLOUD, tandem={"slo_ms": 20})
        wait_until(lambda: hook.told, what="the burn is told")
        equal(hook.told[0]["kind"], "objective_burn")
    hook.close()


@case
def test_alarms_and_what_was_learnt_outlive_the_process():
    hook = Hook()
    cloud = ScriptedCloud()
    with tempfile.TemporaryDirectory() as state:
        with server(cloud, hook.url, state) as tandem:
            spend(tandem)
            wait_until(lambda: hook.told, what="the webhook was told")
            for _ in range(2):
                tandem.chat("Hi", {"x-tandem-mode": "prefer-local"})
            before = tandem.get("/tandem/v1/alarms").json
            assert "tandem_escalation_share" in tandem.get("/metrics").body.decode()
        with server(cloud, hook.url, state) as tandem:
            after = tandem.get("/tandem/v1/alarms").json
            equal(after["data"], before["data"])
            equal(after["escalation_share"], before["escalation_share"])
            spend(tandem)
            begun = [line for line in tandem.log if "alarm_begun" in line]
            equal(begun, [], "the alarm is the one of before")
            assert 'tandem_alarms_total{kind="budget_spent"} 1' in (
                tandem.get("/metrics").body.decode()
            )
        equal(hook.calls, 1)
    hook.close()


@case
def test_what_could_not_be_told_is_told_after_a_restart_also_after_a_kill():
    port = unused_port()
    cloud = ScriptedCloud()
    with tempfile.TemporaryDirectory() as state:
        tandem = server(cloud, f"http://127.0.0.1:{port}/alarm", state)
        spend(tandem)
        wait_until(lambda: (Path(state) / "watch.json").exists(), what="the file is written")
        tandem.stop(signal.SIGKILL)
        hook = Hook(port=port)
        with server(cloud, hook.url, state):
            wait_until(lambda: hook.told, what="the webhook was told")
        equal(hook.told[0]["kind"], "budget_spent")
        hook.close()


@case
def test_what_was_told_is_not_told_again_after_a_kill():
    hook = Hook()
    cloud = ScriptedCloud()
    with tempfile.TemporaryDirectory() as state:
        tandem = server(cloud, hook.url, state)
        spend(tandem)
        wait_until(lambda: hook.told, what="the webhook was told")
        file = Path(state) / "watch.json"
        wait_until(lambda: json.loads(file.read_text())["alarms"][0]["told"], what="it is kept")
        tandem.stop(signal.SIGKILL)
        with server(cloud, hook.url, state) as tandem:
            spend(tandem)
            time.sleep(3)  # a tick is a second
        equal(hook.calls, 1)
    hook.close()


@case
def test_a_damaged_file_is_moved_aside_and_said():
    with tempfile.TemporaryDirectory() as state:
        for text in ("{", '{"version": 1, "usual": 1e300}', '{"version": 7}', "[]", "\0" * 100):
            (Path(state) / "watch.json").write_text(text)
            with server(ScriptedCloud(), "http://127.0.0.1:9/", state) as tandem:
                equal(tandem.get("/tandem/v1/alarms").status, 200)
                wait_until(lambda: any("watch_begins_anew" in line for line in tandem.log))
                equal((Path(state) / "watch.json.bad").read_text(), text)


@case
def test_a_webhook_elsewhere_needs_https():
    for url, fine in (
        ("http://example.com/x", False),
        ("ftp://example.com/x", False),
        ("https://user:word@example.com/x", False),
        ("https://example.com/x", True),
    ):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(f"watch:\n  webhook: {url}\n")
            file.flush()
            code, out, err = run("policy", "check", "--config", file.name)
            equal(code == 0, fine, f"{url}: {out.decode()} {err}")
            assert fine or "watch.webhook" in err + out.decode(), err


main()
