#!/usr/bin/env python3
"""One trace for each exchange: what a client sends goes in, comes back, reaches the tiers and lies
in the ledger. What is malformed or too large is ignored, and said to be."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, run

HARD = "Explain in three sentences why the French revolution began."
ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
HEADER = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-0[0-3]")
SECRET = "mary.smith@acmeltd.com"


def server(cloud, extra=""):
    return Tandem(edge_first(cloud.base_url) + extra, env={"TEST_CLOUD_KEY": "sk-very-secret"})


def ids(header):
    found = HEADER.fullmatch(header or "")
    assert found, header
    return found.groups()


def explain(tandem, which, *options):
    code, out, err = run("explain", which, *options, env=tandem.environment)
    equal(code, 0, err)
    return out.decode()


@case
def test_the_clients_trace_goes_through_to_tiers_ledger_and_answer():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        headers = {"traceparent": PARENT, "tracestate": "a=b", "x-request-id": "order-17"}
        answer = tandem.chat(HARD, {**headers, **ONLY_CLOUD})
        equal(answer.status, 200)
        trace, own = ids(answer.headers.get("traceparent"))
        equal((trace, answer.headers["x-request-id"]), (TRACE, "order-17"))
        sent = cloud.requests[-1]["headers"]
        trace, span = ids(sent.get("traceparent"))
        equal(trace, TRACE)
        assert len({span, own, "00f067aa0ba902b7"}) == 3, (span, own)
        exchange = answer.headers["x-tandem-exchange"]
        assert sent["x-request-id"].startswith(exchange), sent
        assert b"order-17" not in cloud.received and "tracestate" not in sent
        for which in (TRACE, "order-17", exchange):
            record = tandem.get(f"/tandem/v1/exchanges/{which}").json
            equal((record["id"], record["trace_id"]), (exchange, TRACE))
            equal((record["span_id"], record["parent_span_id"]), (own, "00f067aa0ba902b7"))
            equal((record["request_id"], record["attempts"][0]["span_id"]), ("order-17", span))
            assert TRACE in explain(tandem, which) and "order-17" in explain(tandem, which)


@case
def test_every_attempt_has_a_span_of_its_own_within_one_trace():
    cloud = ScriptedCloud(Script(statuses=[500]))
    with server(cloud) as tandem:
        answer = tandem.chat(HARD, {"traceparent": PARENT})
        equal(answer.status, 200)
        record = tandem.get("/tandem/v1/exchanges/" + TRACE).json
        spans = [attempt["span_id"] for attempt in record["attempts"]]
        equal(len(set(spans)), len(spans))
        assert len(spans) >= 2, record["attempts"]
        assert all(ids(r["headers"]["traceparent"])[0] == TRACE for r in cloud.requests)
        upstream = [r["headers"]["x-request-id"] for r in cloud.requests]
        equal(len(set(upstream)), len(upstream), "request ids upstream")


@case
def test_without_a_trace_one_begins_also_for_streams_errors_and_other_dialects():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        seen = set()
        _, headers, _, done = tandem.stream(HARD)
        assert done
        errors = [
            tandem.request("POST", "/v1/chat/completions", "{"),
            tandem.get("/v1/nowhere"),
            tandem.chat(HARD, model="no-such-model"),
            tandem.request("POST", "/v1/completions", {"model": "auto", "prompt": "Say hi."}),
            tandem.request(
                "POST",
                "/v1/messages",
                {
                    "model": "auto",
                    "max_tokens": 5,
                    "messages": [{"role": "user", "content": "Say hi."}],
                },
            ),
        ]
        for got in [headers, *(answer.headers for answer in errors)]:
            seen.add(ids(got.get("traceparent"))[0])
            assert got["x-request-id"].startswith("req_"), got
        equal(len(seen), 6)
        record = tandem.get("/tandem/v1/exchanges/" + ids(headers["traceparent"])[0]).json
        equal(record["id"], headers["x-tandem-exchange"])


@case
def test_a_malformed_trace_is_ignored_and_said_to_be():
    cloud = ScriptedCloud()
    bad = [
        PARENT.upper(),
        "00-" + 32 * "0" + "-00f067aa0ba902b7-01",
        f"00-{TRACE}-{16 * '0'}-01",
        "ff" + PARENT[2:],
        PARENT + "-more",
        PARENT[:-1],
        "x" * 8000,
        "",
    ]
    with server(cloud) as tandem:
        for header in bad:
            answer = tandem.chat("Say hi.", {"traceparent": header, "x-request-id": SECRET})
            trace, _ = ids(answer.headers["traceparent"])
            assert trace not in (TRACE, 32 * "0"), header
            assert answer.headers["x-request-id"].startswith("req_"), answer.headers
            record = tandem.get("/tandem/v1/exchanges/" + trace).json
            equal((record["parent_span_id"], record["request_id"][:4]), (None, "req_"))
            equal(record["signals"]["trace_restarted"], True)
        assert "began anew" in explain(tandem, "last")
        assert SECRET not in "".join(tandem.log)
        answer = tandem.chat("Say hi.", {"traceparent": "01" + PARENT[2:] + "-later"})
        equal(ids(answer.headers["traceparent"])[0], TRACE, "a later version's own members")


@case
def test_a_header_of_64_kib_is_refused_and_said():
    with server(ScriptedCloud()) as tandem:
        for name in ("traceparent", "tracestate", "x-request-id"):
            answer = tandem.chat("Say hi.", {name: "a" * 65536})
            equal(answer.status, 431)
            assert "header" in answer.json["error"]["message"], answer.body
        equal(tandem.chat("Say hi.").status, 200)


@case
def test_several_exchanges_of_one_trace_are_found_together():
    with server(ScriptedCloud()) as tandem:
        got = [tandem.chat("Say hi.", {"traceparent": PARENT}) for _ in range(3)]
        made = [answer.headers["x-tandem-exchange"] for answer in got]
        equal([tandem.get("/tandem/v1/exchanges/" + one).status for one in made], [200] * 3)
        record = tandem.get("/tandem/v1/exchanges/" + TRACE).json
        equal((record["id"], record["same_trace"]), (made[2], [made[1], made[0]]))
        assert made[0] in explain(tandem, TRACE)


@case
def test_tracestate_goes_only_to_tiers_of_the_house():
    near, far = ScriptedCloud(), ScriptedCloud()
    config = f"""
tiers:
  - {{name: near, kind: openai, place: premises, model: m, base_url: "{near.base_url}"}}
  - {{name: far, kind: openai, place: cloud, model: m, base_url: "{far.base_url}"}}
routes:
  - {{name: near-only, kind: hybrid, tiers: [near]}}
  - {{name: far-only, kind: cloud-only, tiers: [far]}}
"""
    with Tandem(config) as tandem:
        for route in ("near-only", "far-only"):
            headers = {"traceparent": PARENT, "tracestate": "vendor=17"}
            answer = tandem.chat("Say hi.", headers, model=route)
            equal(answer.status, 200, answer.body.decode())
            long = {"traceparent": PARENT, "tracestate": "vendor=" + "1" * 600}
            equal(tandem.chat("Say hi.", long, model=route).status, 200)
            private = {"traceparent": PARENT, "tracestate": "v=DE89370400440532013000"}
            equal(tandem.chat("Say hi.", private, model=route).status, 200)
        equal([r["headers"].get("tracestate") for r in near.requests], ["vendor=17", None, None])
        equal([r["headers"].get("tracestate") for r in far.requests], [None, None, None])


@case
def test_where_nothing_is_kept_no_id_of_the_client_is():
    with server(ScriptedCloud(), "privacy:\n  zero_retention: true\n") as tandem:
        answer = tandem.chat("Say hi.", {"traceparent": PARENT, "x-request-id": "order-17"})
        equal(answer.headers["x-request-id"], "order-17")
        record = tandem.get("/tandem/v1/exchanges/" + answer.headers["x-tandem-exchange"]).json
        equal((record["trace_id"], record["request_id"]), (None, None))


main()
