#!/usr/bin/env python3
"""Traces and metrics for an OpenTelemetry collector: spans of exchanges and attempts in the
caller's trace, histograms by the conventions, no content, and a collector that is away costs nobody
anything. That the bodies are OTLP is what tests/clients/client_otlp.py asks the official
package."""

import http.server
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from black_hole import BlackHole
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import SOON_S, Tandem, edge_first, wait_until

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
ONLY_CLOUD = {"x-tandem-mode": "only-cloud", "traceparent": f"00-{TRACE}-{PARENT}-01"}
ASK = "Why does the canarysecret sing?"


class Collector:
    """Takes what it is sent; `codes` are answered first, one each."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.bytes = b""
        self.codes: list[int] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                code = outer.codes.pop(0) if outer.codes else 200
                outer.bytes += body
                if code == 200:
                    headers = {k.lower(): v for k, v in self.headers.items()}
                    outer.requests.append((self.path, headers, json.loads(body)))
                self.send_response(code)
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spans(self) -> list[dict[str, Any]]:
        return [
            span
            for path, _, body in list(self.requests)
            if path.endswith("/traces")
            for resource in body["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]

    def metrics(self) -> dict[str, dict[str, Any]]:
        """The last of each name."""
        return {
            metric["name"]: metric
            for path, _, body in list(self.requests)
            if path.endswith("/metrics")
            for resource in body["resourceMetrics"]
            for scope in resource["scopeMetrics"]
            for metric in scope["metrics"]
        }


def value_of(attribute: dict[str, Any]) -> Any:
    ((kind, value),) = attribute["value"].items()
    if kind == "intValue":
        return int(value)
    return [value_of({"value": v}) for v in value["values"]] if kind == "arrayValue" else value


def attributes(thing: dict[str, Any]) -> dict[str, Any]:
    return {attribute["key"]: value_of(attribute) for attribute in thing["attributes"]}


def server(cloud, collector, config="", **env):
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "TEST_CLOUD_KEY": "k", **env}
    return Tandem(edge_first(cloud.base_url) + config, env=env)


@case
def test_an_exchange_and_its_attempts_are_spans_of_the_callers_trace():
    cloud, collector = ScriptedCloud(Script(text="It sings canarytoo.")), Collector()
    more = {
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abc,x-tenant=t1",
        "OTEL_SERVICE_NAME": "front-door",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=lab,service.name=ignored",
    }
    with server(cloud, collector, **more) as tandem:
        answer = tandem.chat(ASK, ONLY_CLOUD, user="annacanary")
        equal(answer.status, 200)
        wait_until(lambda: len(collector.spans()) == 2)
    path, headers, body = collector.requests[0]
    equal((path, headers["content-type"]), ("/v1/traces", "application/json"))
    equal((headers["authorization"], headers["x-tenant"]), ("Bearer abc", "t1"))
    resource = attributes(body["resourceSpans"][0]["resource"])
    equal((resource["service.name"], resource["deployment.environment"]), ("front-door", "lab"))
    root, attempt = collector.spans()[:2]
    equal((root["traceId"], root["parentSpanId"], root["kind"]), (TRACE, PARENT, 2))
    own = answer.headers["traceparent"].split("-")[2]
    sent = cloud.calls()[0]["headers"]["traceparent"].split("-")
    equal((root["spanId"], attempt["parentSpanId"], attempt["spanId"]), (own, own, sent[2]))
    equal((root["name"], attempt["name"], attempt["kind"]), ("chat auto", "chat scripted", 3))
    got = attributes(attempt)
    equal(got["gen_ai.operation.name"], "chat")
    equal((got["gen_ai.provider.name"], got["gen_ai.request.model"]), ("openai", "scripted"))
    equal(got["gen_ai.usage.output_tokens"], answer.json["usage"]["completion_tokens"])
    equal(got["gen_ai.response.finish_reasons"], ["stop"])
    equal(attributes(root)["tandem.exchange"], answer.tandem["exchange"])
    begin, end = int(root["startTimeUnixNano"]), int(root["endTimeUnixNano"])
    assert begin < end < begin + 60e9 and abs(end / 1e9 - time.time()) < 60, (begin, end)
    assert (
        begin <= int(attempt["startTimeUnixNano"]) <= int(attempt["endTimeUnixNano"]) <= end + 1e6
    )
    equal(attempt["events"][0]["name"], "first_token")
    for secret in (b"canary", b"Bearer", b"sings"):
        assert secret not in collector.bytes, secret


@case
def test_a_failure_and_a_climb_are_told():
    cloud, collector = ScriptedCloud(Script(status=500)), Collector()
    with server(cloud, collector) as tandem:
        equal(tandem.chat(ASK, ONLY_CLOUD).status, 503)
        wait_until(lambda: len(collector.spans()) >= 2)
    root, attempt = collector.spans()[:2]
    equal((root["status"]["code"], attempt["status"]["code"]), (2, 2))
    equal(attributes(attempt)["error.type"], "500")
    equal(attributes(root)["tandem.end"], "failed")


@case
def test_a_local_attempt_is_internal_and_streams_are_told_too():
    cloud, collector = ScriptedCloud(), Collector()
    with server(cloud, collector) as tandem:
        tandem.stream("Tell me of cats.", {"x-tandem-mode": "only-local"}, max_tokens=4)
        wait_until(lambda: len(collector.spans()) == 2)
    equal([span["kind"] for span in collector.spans()], [2, 1])
    equal(attributes(collector.spans()[1])["gen_ai.provider.name"], "tandem")


@case
def test_who_does_not_want_to_be_sampled_is_not():
    cloud, collector = ScriptedCloud(), Collector()
    with server(cloud, collector, "\nprivacy: {zero_retention: true}\n") as tandem:
        tandem.chat("Unsampled?", ONLY_CLOUD)
    equal(collector.spans(), [])
    with server(cloud, collector) as tandem:
        no = {**ONLY_CLOUD, "traceparent": f"00-{TRACE}-{PARENT}-00"}
        tandem.chat("Unsampled?", no)
        tandem.chat("Sampled?", ONLY_CLOUD)
    equal(len(collector.spans()), 2)


@case
def test_histograms_are_those_of_the_conventions():
    cloud, collector = ScriptedCloud(), Collector()
    with server(cloud, collector, "\notlp: {metrics_interval_s: 1}\n") as tandem:
        for _ in range(3):
            tandem.chat("How long?", ONLY_CLOUD)
        wait_until(lambda: "gen_ai.client.operation.duration" in collector.metrics())
    metrics = collector.metrics()
    equal(
        sorted((metric["name"], metric["unit"]) for metric in metrics.values()),
        [
            ("gen_ai.client.operation.duration", "s"),
            ("gen_ai.client.token.usage", "{token}"),
            ("gen_ai.server.time_to_first_token", "s"),
        ],
    )
    points = metrics["gen_ai.client.token.usage"]["histogram"]["dataPoints"]
    by_type = {attributes(point)["gen_ai.token.type"]: point for point in points}
    equal(sorted(by_type), ["input", "output"])
    for metric in metrics.values():
        equal(metric["histogram"]["aggregationTemporality"], 2)
        for point in metric["histogram"]["dataPoints"]:
            equal(int(point["count"]), 3)
            equal(sum(map(int, point["bucketCounts"])), 3)
            equal(len(point["bucketCounts"]), len(point["explicitBounds"]) + 1)
            assert attributes(point)["gen_ai.operation.name"] == "chat", point
            assert point["sum"] > 0, point


@case
def test_a_collector_that_cannot_take_it_now_gets_it_again():
    cloud, collector = ScriptedCloud(), Collector()
    collector.codes = [503, 429]
    with server(cloud, collector, "\notlp: {metrics: false}\n") as tandem:
        tandem.chat(ASK, ONLY_CLOUD)
        wait_until(lambda: len(collector.spans()) == 2)
        metrics = tandem.get("/metrics").body.decode()
        wait_until(lambda: "tandem_otlp_spans_total 2\n" in tandem.get("/metrics").body.decode())
        assert "tandem_otlp_failures_total 2\n" in metrics, metrics
        equal(sum("otlp_failed" in line for line in tandem.log), 1)
        assert any("otlp_recovered" in line for line in tandem.log)


@case
def test_a_refusal_is_for_good():
    cloud, collector = ScriptedCloud(), Collector()
    collector.codes = [400]
    with server(cloud, collector, "\notlp: {metrics: false}\n") as tandem:
        tandem.chat(ASK, ONLY_CLOUD)
        wait_until(lambda: b"tandem_otlp_spans_dropped_total 2\n" in tandem.get("/metrics").body)
        equal(collector.spans(), [])


@case
def test_a_collector_that_is_away_holds_nobody_up():
    cloud, collector, away = ScriptedCloud(), Collector(), BlackHole()
    config = "\nserver: {shutdown_timeout_ms: 100000}\n"
    address = f"http://127.0.0.1:{away.port}"
    with server(cloud, collector, config, OTEL_EXPORTER_OTLP_ENDPOINT=address) as tandem:
        begin = time.monotonic()
        for _ in range(20):
            equal(tandem.chat(ASK, ONLY_CLOUD).status, 200)
        assert time.monotonic() - begin < SOON_S
        begin = time.monotonic()
        equal(tandem.stop(), 0)
        assert time.monotonic() - begin < SOON_S
    away.close()


@case
def test_what_is_left_is_sent_at_the_end():
    cloud, collector = ScriptedCloud(), Collector()
    with server(cloud, collector) as tandem:
        tandem.chat(ASK, ONLY_CLOUD)
        equal(tandem.stop(), 0)
    equal(len(collector.spans()), 2)
    assert "gen_ai.client.operation.duration" in collector.metrics()


@case
def test_nothing_is_sent_without_an_address_and_a_wrong_one_is_refused():
    cloud, collector = ScriptedCloud(), Collector()
    for env, config in (
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": None}, ""),
        ({"OTEL_SDK_DISABLED": "true"}, ""),
        ({}, "\notlp: {endpoint: none}\n"),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"}, ""),
    ):
        with server(cloud, collector, config, **env) as tandem:
            tandem.chat(ASK, ONLY_CLOUD)
            equal(tandem.stop(), 0)
        equal(collector.requests, [], f"{env} {config}")
    for url in ("localhost:4318", "ftp://a/", "http://user:pw@host/", "http:///x", "http://a b/"):
        try:
            with server(cloud, collector, OTEL_EXPORTER_OTLP_ENDPOINT=url):
                raise AssertionError(f"started with {url}")
        except RuntimeError as why:
            assert "collector" in str(why) and "pw" not in str(why), why
    try:
        with server(cloud, collector, OTEL_EXPORTER_OTLP_HEADERS="a b=c"):
            raise AssertionError("started")
    except RuntimeError as why:
        assert "OTEL_EXPORTER_OTLP_HEADERS" in str(why), why


main()
