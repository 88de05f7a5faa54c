#!/usr/bin/env python3
"""What the report says of money: what was not answered saves nothing, every attempt costs what it
cost, and `tandem report`, /metrics and the ledger say the same."""

import json
import re
import sqlite3
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import ledger_rows
from scripted_cloud import Script, ScriptedCloud, unused_port
from tandem import Tandem, edge_first, run, wait_until

HARD = "Explain in three sentences why the French revolution began."
EASY = "Classify the intent: play some music"
ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
KEY = {"TEST_CLOUD_KEY": "sk-very-secret"}
INPUT, OUTPUT = 0.15e-6, 0.60e-6  # USD a token, as in edge_first


def server(base_url, extra=""):
    return Tandem(edge_first(base_url, extra), env=KEY)


def report_of(tandem, exchanges):
    """The report when that many exchanges are written, with the text for people."""

    def read():
        code, out, err = run("report", "--json", env=tandem.environment)
        assert code == 0, err
        return json.loads(out)

    wait_until(lambda: read()["exchanges"] >= exchanges, what="the exchanges in the ledger")
    code, out, err = run("report", env=tandem.environment)
    assert code == 0, err
    return read(), out.decode()


def metric(text, name):
    """The sum of a family's series."""
    found = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M)
    return sum(map(float, found)) if found else None


def rows(tandem, sql):
    return ledger_rows(tandem.state / "ledger.db", sql)


def near(got, expected, what=""):
    assert got is not None and abs(got - expected) < 1e-9, f"{what}: {got} is not {expected}"


@case
def test_refusals_behind_a_dead_cloud_save_nothing():
    with server(f"http://127.0.0.1:{unused_port()}/v1") as tandem:
        for number in range(20):
            answer = tandem.chat(f"{HARD} ({number})")
            equal((answer.status, answer.tandem["degraded"]), (200, True))
        report, text = report_of(tandem, 20)
        equal((report["exchanges"], report["degraded"], report["answered"]), (20, 20, 0))
        equal((report["saving_usd"], report["saving_share"]), (0, 0))
        assert report["degraded_all_cloud_cost_usd"] > 0, report
        assert "saved 0.000000 USD" in text and "20 degraded" in text, text


TIMEOUTS = """    timeouts:
      connect_ms: 1000
      first_ms: 600
      idle_ms: 600
"""
PROMPT = len(HARD) // 4 + 4  # as the scripted cloud counts, and as ours does before it learns


def last_attempt(tandem, seen):
    """The newest attempt, once more than `seen` are in the ledger."""
    sql = "SELECT outcome, exact, estimated, prompt_tokens, completion_tokens, cost_usd"
    wait_until(lambda: rows(tandem, "SELECT count(*) FROM attempt")[0][0] > seen, what="attempt")
    return rows(tandem, sql + " FROM attempt ORDER BY exchange DESC, position DESC LIMIT 1")[0]


@case
def test_a_failed_attempt_costs_what_was_sent_and_what_came():
    words = [f"word{i} " for i in range(20)]
    sent = PROMPT * INPUT
    came = sum(map(len, words[:8])) / 4 * OUTPUT
    for name, script, cost in (
        ("refused with 429", Script(status=429, retry_after="60"), 0),
        ("refused with 400", Script(status=400), 0),
        ("failed with 500", Script(status=500), 0),
        ("no answer in time", Script(first_delay=30), sent),
        ("stopped after 8 words", Script(pieces=words, stall_after=8), sent + came),
        ("cut after 8 words", Script(pieces=words, cut_after=8, piece_delay=0.01), sent + came),
    ):
        cloud = ScriptedCloud(script)
        with server(cloud.base_url, TIMEOUTS) as tandem:
            equal((name, tandem.chat(HARD, ONLY_CLOUD).status >= 400), (name, True))
            outcome, exact, estimated, _, _, usd = last_attempt(tandem, 0)
            equal((name, outcome, exact), (name, "failed", 0))
            # Up to a token more: an estimate is rounded up.
            assert cost - 1e-12 <= usd < cost + OUTPUT, (name, usd, cost)
            equal((name, bool(estimated)), (name, cost > 0))
            report, text = report_of(tandem, 1)
            near(report["cost_usd"], usd, name)
            equal((report["unanswered"], report["all_cloud_cost_usd"]), (1, 0), name)
            assert report["saving_usd"] <= 0, (name, report)
            equal("is an estimate" in text, cost > 0, name)
        cloud.close()
    with server(f"http://127.0.0.1:{unused_port()}/v1") as tandem:
        equal(tandem.chat(HARD, ONLY_CLOUD).status >= 400, True)
        equal(last_attempt(tandem, 0), ("failed", 0, 0, 0, 0, 0))


@case
def test_a_usage_that_cannot_be_true_is_replaced_by_an_estimate_and_said():
    cloud = ScriptedCloud()
    with server(cloud.base_url) as tandem:
        for number, lie in enumerate(
            (
                {"prompt_tokens": -1},
                {"completion_tokens": -1},
                {"prompt_tokens": 10**18},
                {"completion_tokens": 10**18},
                {"prompt_tokens": "12"},
                {"completion_tokens": 2.5},
                {"completion_tokens": None},
                {"prompt_tokens_details": {"cached_tokens": 10**6}},
                {"completion_tokens": 0},
            )
        ):
            cloud.script = Script(text="Because bread was dear.", usage_members=lie)
            answer = tandem.chat(HARD, ONLY_CLOUD)
            equal((str(lie), answer.status, answer.text), (str(lie), 200, cloud.script.text))
            *attempt, usd = last_attempt(tandem, number)
            equal(attempt, ["answered", 0, 1, PROMPT, 6], str(lie))
            near(usd, PROMPT * INPUT + 6 * OUTPUT, str(lie))
        metrics = tandem.get("/metrics").body.decode()
        equal(metric(metrics, "tandem_usages_refused_total"), 9)
        assert metric(metrics, "tandem_estimated_cost_usd_total") > 0
        equal(len([line for line in tandem.log if "event=usage_refused" in line]), 9)


@case
def test_cached_tokens_have_their_price_and_without_one_no_discount():
    cached = {"prompt_tokens": 1000, "prompt_tokens_details": {"cached_tokens": 800}}
    cloud = ScriptedCloud(Script(text="One two.", usage_members=cached))
    for price, usd in (("", 1000 * INPUT), (0.05, 200 * INPUT + 800 * 0.05e-6)):
        config = edge_first(cloud.base_url)
        if price:
            config = config.replace(
                "      output_usd",
                f"      cached_input_usd_per_mtok: {price}\n      output_usd",
            )
        with Tandem(config, env=KEY) as tandem:
            answer = tandem.chat(HARD, ONLY_CLOUD)
            near(answer.tandem["cost_usd"], usd + 2 * OUTPUT, f"cached at {price}")
            report, _ = report_of(tandem, 1)
            near(report["saving_usd"], 0, "nothing is saved at the cloud")


@case
def test_the_clouds_own_count_of_tokens_is_learnt_and_kept():
    cloud = ScriptedCloud(Script(text="word " * 19 + "word", usage_times=3))
    with server(cloud.base_url) as tandem:
        before = tandem.chat(EASY)
        equal(before.tandem["tier"], "local")
        for number in range(6):
            tandem.chat(f"{HARD} Part {number}.", ONLY_CLOUD)
        after = tandem.chat(EASY + ".")
        equal(after.tandem["tier"], "local")
        answer_ratio = 3 * 20 / (len(cloud.script.text) / 4)
        estimate = (len(EASY + ".") // 4 + 4) * 3 * INPUT
        estimate += len(after.text) / 4 * answer_ratio * OUTPUT
        near(after.tandem["all_cloud_cost_usd"], estimate, "by the learnt ratios")
        assert before.tandem["all_cloud_cost_usd"] < estimate / 2, before.tandem
        report, text = report_of(tandem, 8)
        (counts,) = report["token_counts"]
        equal((counts["tier"], counts["usages"]), ("cloud", 6))
        near(counts["prompt"]["ratio"], 3, "ratio of prompts")
        assert counts["answer"]["low"] <= answer_ratio + 1e-9, counts
        equal(
            {k: v["exchanges"] for k, v in report["all_cloud_basis"].items()},
            {"cloud": 6, "ratio": 1, "prior": 1},
        )
        assert "stands for the cloud alone" in text and "told 6 usages" in text, text
        # A new process has learnt it, too: the ledger is its memory.
        config = tandem.config.read_text() + f"ledger: {{path: {tandem.state}/ledger.db}}\n"
        with Tandem(config, env=KEY) as second:
            again = second.chat(EASY + ".")
            near(again.tandem["all_cloud_cost_usd"], estimate, "after a restart")


MIXED = """
tiers:
  - {{name: local, kind: local}}
  - {{name: cloud, kind: openai, place: cloud, model: scripted, base_url: "{first}",
      api_key_env: TEST_CLOUD_KEY, price: {{input_usd_per_mtok: 1000, output_usd_per_mtok: 2000}},
      timeouts: {{first_ms: 2000, idle_ms: 500}}}}
  - {{name: second, kind: openai, place: cloud, model: scripted, base_url: "{second}",
      api_key_env: TEST_CLOUD_KEY, price: {{input_usd_per_mtok: 500, output_usd_per_mtok: 700}}}}
routes:
  - {{name: auto, kind: hybrid, tiers: [local, cloud],
      shadow: {{edge_share: 1, cloud_share: 1}}}}
  - {{name: hedged, kind: cloud-only, tiers: [cloud, second], climb: hedged,
      hedge: {{after_ms: 50, requests_share: 1}}}}
shadow: {{usd_per_day: 1000}}
"""


def mixed_traffic(tandem, cloud, second):
    """Every kind of end, paid or not; the number of exchanges."""
    words = [f"w{i} " for i in range(30)]
    count = 0
    fine = Script(text="Bread was dear.")
    for script in (
        fine,
        Script(text="So it was.", usage_members={"completion_tokens": 10**18}),
        Script(text="No usage at all.", usage=False),
        Script(pieces=words, cut_after=9, piece_delay=0.01),
        fine,
        Script(pieces=words, stall_after=5),
        fine,
        Script(status=500),
        fine,
        fine,
    ):
        cloud.script = script
        tandem.chat(f"{HARD} {count}")
        tandem.chat(f"{HARD} {count}", ONLY_CLOUD)
        tandem.stream(f"{EASY} {count}")
        count += 3
    cloud.script = Script(text="Late.", first_delay=1)
    for number in range(3):
        tandem.chat(f"{HARD} {number}", model="hedged")
        count += 1
    cloud.script = Script(pieces=words, piece_delay=0.2)
    body = json.dumps(
        {"model": "cloud", "messages": [{"role": "user", "content": HARD}], "stream": True}
    ).encode()
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    tandem.raw(head.encode() + body, timeout=1)  # leaves in the middle of the answer
    return count + 1


@case
def test_metrics_report_and_ledger_agree_to_the_cent():
    cloud = ScriptedCloud()
    second = ScriptedCloud(Script(text="The second one answers."))
    config = MIXED.format(first=cloud.base_url, second=second.base_url)
    with Tandem(config, env=KEY) as tandem:
        count = mixed_traffic(tandem, cloud, second)
        wait_until(lambda: rows(tandem, "SELECT count(*) FROM exchange")[0][0] == count)
        ended = "tandem_shadows_(?:compared|failed|dropped)_total"
        text = ""
        for _ in range(600):  # until the last shadow has ended and is written
            time.sleep(0.1)
            text, before = tandem.get("/metrics").body.decode(), text
            if metric(text, ended) == metric(before, ended) and before:
                time.sleep(0.5)
                if metric(tandem.get("/metrics").body.decode(), ended) == metric(text, ended):
                    break
        report, said = report_of(tandem, count)
        money = {
            "cost_usd": "tandem_cost_usd_total",
            "all_cloud_cost_usd": "tandem_all_cloud_cost_usd_total",
            "degraded_all_cloud_cost_usd": "tandem_degraded_all_cloud_cost_usd_total",
            "estimated_cost_usd": "tandem_estimated_cost_usd_total",
            "shadow_cost_usd": "tandem_shadows_cost_usd_total",
        }
        for member, name in money.items():
            near(metric(text, name), report[member], member)
            assert report[member] > 0, (member, report)
        for sql, expected in (
            ("SELECT total(cost_usd) FROM attempt", report["cost_usd"]),
            ("SELECT total(cost_usd) FROM exchange", report["cost_usd"]),
            ("SELECT total(cost_usd) FROM shadow", report["shadow_cost_usd"]),
        ):
            near(rows(tandem, sql)[0][0], expected, sql)
        near(sum(tier["cost_usd"] for tier in report["tiers"]), report["cost_usd"], "tiers")
        spent = report["cost_usd"] + report["shadow_cost_usd"]
        near(report["saving_usd"], report["all_cloud_cost_usd"] - spent, "saving")
        assert report["saving_low"] <= report["saving_share"] <= report["saving_high"], report
        equal(report["answered"] + report["degraded"] + report["unanswered"], count)
        assert f"saved {report['saving_usd']:.6f} USD" in said, said
    cloud.close()
    second.close()


@case
def test_an_accepted_answer_has_its_cost():
    cloud = ScriptedCloud(Script(text="One two three.", usage_members={"prompt_tokens": 1000}))
    with server(cloud.base_url) as tandem:
        ids = [tandem.chat(f"{HARD} {n}", ONLY_CLOUD).tandem["exchange"] for n in range(10)]
        report_of(tandem, 10)
        for number, exchange in enumerate(ids[:8]):
            feedback = {"id": exchange, "ok": number < 4}
            equal(tandem.request("POST", "/tandem/v1/feedback", feedback).status, 200)
        wait_until(lambda: report_of(tandem, 10)[0]["feedback"] == 8, what="feedback")
        report, text = report_of(tandem, 10)
        (of,) = report["accepted"]
        equal((of["tier"], of["judged"], of["accepted"], of["by_feedback"]), ("cloud", 8, 4, 8))
        one = 1000 * INPUT + 3 * OUTPUT
        near(of["cost_per_accepted_usd"], 2 * one, "two are paid for one that is accepted")
        assert of["cost_per_accepted_low"] < 2 * one < of["cost_per_accepted_high"], of
        assert "4 of 8 judged answers were accepted" in text, text


@case
def test_a_ledger_of_an_older_version_is_taken_over():
    schema = (
        Path(__file__).resolve().parent.parent.parent / "src" / "ledger" / "database" / "schema"
    )
    with Tandem(edge_first(f"http://127.0.0.1:{unused_port()}/v1"), env=KEY) as tandem:
        path = tandem.state / "old.db"
        database = sqlite3.connect(path)
        for script in sorted(schema.glob("00[123]_*.sql")):
            database.executescript(script.read_text())
        insert = (
            "INSERT INTO exchange (id, wall_ms, tier, place, status, prompt_tokens,"
            " completion_tokens, cost_usd, all_cloud_cost_usd, degraded, streamed)"
            " VALUES (?, ?, 'local', 'device', ?, 10, 5, 0, 0.25, ?, 0)"
        )
        now = int(time.time() * 1000)
        for number, (status, degraded) in enumerate(
            [("ok", 0), ("ok", 0), ("ok", 1), ("failed", 0), ("cancelled", 0)]
        ):
            database.execute(insert, (f"ex_{number:024d}", now, status, degraded))
        database.execute("PRAGMA application_id=0x544E444D")
        database.execute("PRAGMA user_version=3")
        database.commit()
        database.close()
        config = tandem.config.read_text() + f"ledger: {{path: {path}}}\n"
        tandem.config.write_text(config)
        code, _, err = run("report", env=tandem.environment)  # it only reads, so it changes nothing
        assert code == 1 and "has schema version 3" in err, err
        assert "start 'tandem serve' once, which brings the ledger up to date" in err, err
        with Tandem(config, env=KEY) as newer:
            equal(newer.chat(EASY).status, 200)
            report, text = report_of(newer, 6)
        equal((report["answered"], report["degraded"], report["unanswered"]), (3, 1, 2))
        equal(report["all_cloud_basis"]["older"], {"exchanges": 2, "usd": 0.5})
        equal(report["degraded_all_cloud_cost_usd"], 0.25)
        assert "recorded by an older version" in text, text


if __name__ == "__main__":
    main()
