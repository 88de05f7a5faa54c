#!/usr/bin/env python3
"""Users are not the probes: a tier that cannot be reached, asks to wait or keeps failing costs one
request at most, rests for everybody, and is found again without them. All time-outs are those that
are shipped."""

import json
import signal
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from black_hole import BlackHole
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud, unused_port
from tandem import Tandem, wait_until

CONNECT_MS = 5000  # what is shipped
ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
PREFER_CLOUD = {"x-tandem-mode": "prefer-cloud"}

# The near tier is a scripted server too, so that a thousand answers take no time.
CONFIG = """
tiers:
  - name: near
    kind: openai
    place: device
    model: scripted
    base_url: {near}
    api_key_env: TEST_CLOUD_KEY
  - name: cloud
    kind: openai
    place: cloud
    model: scripted
    base_url: {cloud}
    api_key_env: TEST_CLOUD_KEY
{extra}
routes:
  - name: auto
    kind: hybrid
    tiers: [near, cloud]
"""


def server(near, cloud_url, extra="", **options):
    return Tandem(
        CONFIG.format(near=near.base_url, cloud=cloud_url, extra=extra),
        env={"TEST_CLOUD_KEY": "sk-very-secret", **options},
    )


def chat(tandem, headers=None):
    return tandem.chat("hello there", headers or PREFER_CLOUD)


def at_once(tandem, count, at_a_time, headers=None):
    with ThreadPoolExecutor(at_a_time) as pool:
        return list(pool.map(lambda _: chat(tandem, headers), range(count)))


def attempts(tandem, exchanges):
    """The attempts at the cloud as (outcome, total_ms), when all exchanges are in the ledger."""
    path = next(p for p in tandem.state.rglob("*") if p.suffix in (".db", ".sqlite", ".sqlite3"))
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as base:
        wait_until(
            lambda: base.execute("SELECT count(*) FROM exchange").fetchone()[0] >= exchanges,
            what="the exchanges in the ledger",
        )
        return base.execute(
            "SELECT outcome, total_ms FROM attempt WHERE tier = 'cloud' AND egress_bytes > 0"
        ).fetchall()


def reasons(answer):
    return [reason["text"] for reason in answer.tandem["reasons"] if reason["tier"] == "cloud"]


# --- a cloud that cannot be reached ---


@case
def test_a_thousand_requests_wait_no_longer_than_one_connect_time_out_for_a_black_hole():
    near, hole = ScriptedCloud(), BlackHole()
    with server(near, hole.base_url) as tandem:
        answers = at_once(tandem, 1000, 16)
        equal({(a.status, a.tandem["tier"]) for a in answers}, {(200, "near")})
        waits = attempts(tandem, 1000)
        waited_ms = sum(total_ms for _, total_ms in waits)
        assert waited_ms <= CONNECT_MS, (len(waits), waited_ms)


@case
def test_a_lone_request_pays_for_a_black_hole_once_and_not_again_after_each_rest():
    near, hole = ScriptedCloud(), BlackHole()
    with server(near, hole.base_url) as tandem:
        until = time.monotonic() + 14
        count = 0
        while time.monotonic() < until:
            equal(chat(tandem).tandem["tier"], "near")
            count += 1
            time.sleep(0.2)
        waits = attempts(tandem, count)
        assert len(waits) == 1 and waits[0][1] <= CONNECT_MS + 500, waits


@case
def test_a_cloud_that_takes_connections_and_says_nothing_is_found_within_a_connect_time_out():
    near, hung = ScriptedCloud(), ScriptedCloud(Script(accept_delay=120))
    with server(near, hung.base_url) as tandem:
        until, count = time.monotonic() + 12, 0
        while time.monotonic() < until:
            equal(chat(tandem).tandem["tier"], "near")
            count += 1
            time.sleep(0.2)
        waits = attempts(tandem, count)
        assert len(waits) == 1 and waits[0][1] <= CONNECT_MS, waits


@case
def test_a_cloud_that_thinks_for_longer_than_a_connect_time_out_is_waited_for():
    near, slow = ScriptedCloud(), ScriptedCloud(Script(think=7))
    with server(near, slow.base_url) as tandem:
        answers = at_once(tandem, 3, 3)
        equal([a.tandem["tier"] for a in answers], ["cloud"] * 3)
        checks = [r for r in slow.requests if r["method"] == "GET"]
        equal(len(checks), 1)


@case
def test_a_cloud_that_comes_back_is_found_by_a_request_that_holds_no_data():
    near, hole = ScriptedCloud(), BlackHole()
    with server(near, hole.base_url) as tandem:
        first, second = reasons(chat(tandem)), reasons(chat(tandem))
        assert any("no connection within" in text for text in first), first
        assert any("could not be reached lately and is resting" in t for t in second), second
        hole.close()
        cloud = ScriptedCloud(port=hole.port)
        wait_until(lambda: chat(tandem).tandem["tier"] == "cloud", what="the way back")
        assert any(r["method"] == "GET" and not r["body"] for r in cloud.requests), cloud.requests
        log = (tandem.state / "egress" / "entries.jsonl").read_text()
        purposes = [json.loads(line).get("purpose") for line in log.splitlines()]
        assert "health_check" in purposes, purposes


@case
def test_a_refused_connection_is_found_by_one_request():
    near, port = ScriptedCloud(), unused_port()
    with server(near, f"http://127.0.0.1:{port}/v1") as tandem:
        for _ in range(8):
            equal(chat(tandem).tandem["tier"], "near")
        equal(len(attempts(tandem, 8)), 1)


@case
def test_a_tier_that_nobody_asks_for_is_not_probed():
    near, cloud = ScriptedCloud(), ScriptedCloud()
    with server(near, cloud.base_url) as tandem:
        equal(tandem.chat("hello there", {"x-tandem-mode": "prefer-local"}).tandem["tier"], "near")
        time.sleep(2)
        equal((cloud.connections, cloud.requests), (0, []))


@case
def test_readyz_says_which_tiers_are_refused_or_away():
    near, refusing = ScriptedCloud(), ScriptedCloud(Script(status=401))
    for cloud_url, code in (
        (refusing.base_url, "refused"),
        (f"http://127.0.0.1:{unused_port()}/v1", "unreachable"),
    ):
        with server(near, cloud_url) as tandem:
            equal(tandem.get("/readyz").json, {"status": "ready"})
            for _ in range(3):
                equal(chat(tandem).tandem["tier"], "near")
            ready = tandem.get("/readyz")
            (found,) = ready.json["reduced"]
            equal((ready.status, found["tier"], found["code"]), (200, "cloud", code))
            assert "is resting" in found["reason"], found


# --- a cloud that asks to wait, or fails ---


@case
def test_a_429_with_retry_after_holds_for_everyone():
    near, cloud = ScriptedCloud(), ScriptedCloud(Script(status=429, retry_after="60"))
    with server(near, cloud.base_url) as tandem:
        for _ in range(8):
            equal(chat(tandem).tandem["tier"], "near")
        equal(len(cloud.calls()), 1)
        told = reasons(chat(tandem))
        assert any("429" in text and "s" in text for text in told), told
        alone = chat(tandem, ONLY_CLOUD)
        equal((alone.status, len(cloud.calls())), (503, 1))


@case
def test_a_date_in_retry_after_is_understood():
    date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 90))
    near, cloud = ScriptedCloud(), ScriptedCloud(Script(status=503, retry_after=date))
    with server(near, cloud.base_url) as tandem:
        for _ in range(4):
            equal(chat(tandem).tandem["tier"], "near")
        equal(len(cloud.calls()), 1)


@case
def test_a_retry_after_of_a_trillion_seconds_is_bounded():
    near = ScriptedCloud()
    for value in ("1000000000000", "99999999999999999999999", "-5", "soon", "Mon, 99 Foo 2026"):
        cloud = ScriptedCloud(Script(status=429, retry_after=value))
        with server(near, cloud.base_url) as tandem:
            answers = [chat(tandem) for _ in range(6)]
            equal({a.tandem["tier"] for a in answers}, {"near"})
            assert len(cloud.calls()) <= 8, (value, len(cloud.calls()))


@case
def test_a_tier_that_failed_is_tried_again_by_one_request_alone():
    near, cloud = ScriptedCloud(), ScriptedCloud(Script(status=500))
    with server(near, cloud.base_url) as tandem:
        for _ in range(6):
            chat(tandem)
        cloud.clear()
        cloud.script = Script(status=500, first_delay=1.5)
        time.sleep(2.2)  # the first rests are 1 s and 2 s
        answers = at_once(tandem, 12, 12)
        equal({(a.status, a.tandem["tier"]) for a in answers}, {(200, "near")})
        equal(len(cloud.calls()), 1)


@case
def test_a_reload_does_not_forget_who_rests():
    near, cloud = ScriptedCloud(), ScriptedCloud(Script(status=429, retry_after="60"))
    with server(near, cloud.base_url) as tandem:
        chat(tandem)
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any("config_reloaded" in line for line in tandem.log), what="a reload")
        for _ in range(4):
            equal(chat(tandem).tandem["tier"], "near")
        equal(len(cloud.calls()), 1)
        tandem.config.write_text(tandem.config.read_text().replace("scripted\n", "other\n"))
        tandem.log.clear()
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any("config_reloaded" in line for line in tandem.log), what="a reload")
        chat(tandem)
        equal(len(cloud.calls()), 2, "another model is another tier")


@case
def test_retries_add_at_most_a_tenth_to_what_the_cloud_is_asked():
    near, cloud = ScriptedCloud(), ScriptedCloud()
    statuses = [500 if i % 10 in (2, 5, 9) else 200 for i in range(1000)]
    cloud.script = Script(statuses=statuses)
    with server(near, cloud.base_url) as tandem:
        answers = at_once(tandem, 400, 8)
        equal({a.status for a in answers}, {200})
        asked = len(attempts(tandem, 400))
        assert asked >= 300, asked
        assert len(cloud.calls()) <= 1.1 * asked, (asked, len(cloud.calls()))
        assert len(cloud.calls()) > asked, "some retries there are"


# --- limits ---


@case
def test_what_is_beyond_a_tiers_limits_goes_to_the_next_tier_with_that_reason():
    near = ScriptedCloud()
    for key, value in (("concurrent", 3), ("requests_per_minute", 5), ("tokens_per_minute", 60)):
        cloud = ScriptedCloud(Script(first_delay=0.7 if key == "concurrent" else 0))
        with server(near, cloud.base_url, f"    limits:\n      {key}: {value}\n") as tandem:
            answers = at_once(tandem, 12, 12 if key == "concurrent" else 1)
            equal({a.status for a in answers}, {200})
            there = [a for a in answers if a.tandem["tier"] == "cloud"]
            equal(len(there), len(cloud.calls()))
            if key == "tokens_per_minute":
                assert 2 <= len(there) <= 6, there
            else:
                equal(len(there), value)
            told = [str(reasons(a)) for a in answers if a.tandem["tier"] == "near"]
            assert told and all(f"limits.{key}" in text for text in told), (key, told)
            alone = chat(tandem, ONLY_CLOUD)
            equal(alone.status, 200 if key == "concurrent" else 503, key)


@case
def test_limits_that_are_no_numbers_are_refused():
    near = ScriptedCloud()
    for value in ("-1", "many", "1.5", "99999999999999999999"):
        limits = f"    limits:\n      concurrent: {value}\n"
        tandem = None
        try:
            tandem = server(near, near.base_url, limits)
        except RuntimeError as error:
            assert "concurrent" in str(error), error
        assert tandem is None, value


if __name__ == "__main__":
    main(at_once=4)
