"""The official package of OTLP's messages (opentelemetry-proto, pinned in requirements.txt) reads
what a collector is sent: run by test_python.py inside the environment that has it. It refuses
members, types and enumerations that OTLP has not."""

import base64
import http.server
import re
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"
IDS = re.compile(r'"(traceId|spanId|parentSpanId)":"([0-9a-f]+)"')


def collect():
    """(address, bodies by path)"""
    bodies = {"/v1/traces": [], "/v1/metrics": []}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            text = self.rfile.read(int(self.headers["content-length"])).decode()
            bodies[self.path].append(text)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}", bodies


def as_protobuf(text):
    """OTLP writes ids in hexadecimal digits, where protobuf's own JSON has base64."""
    return IDS.sub(lambda m: f'"{m[1]}":"{base64.b64encode(bytes.fromhex(m[2])).decode()}"', text)


@case
def test_the_official_messages_read_traces_and_metrics():
    url, bodies = collect()
    cloud = ScriptedCloud(Script(text="Answer.", statuses=[500]))
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": url + "/", "TEST_CLOUD_KEY": "k"}
    with Tandem(edge_first(cloud.base_url), env=environment) as tandem:
        headers = {"x-tandem-mode": "only-cloud", "traceparent": f"00-{TRACE}-{PARENT}-01"}
        equal(tandem.chat("One?", headers).status, 200)
        tandem.stream("Two?", {"x-tandem-mode": "only-local"}, max_tokens=3)
        tandem.request("POST", "/v1/completions", {"model": "auto", "prompt": "A", "max_tokens": 2})
        equal(tandem.stop(), 0)
    spans = [
        span
        for body in bodies["/v1/traces"]
        for resource in Parse(as_protobuf(body), ExportTraceServiceRequest()).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    first = [span for span in spans if span.trace_id.hex() == TRACE]
    assert len(spans) >= 6 and len(first) >= 2, spans
    equal(first[0].kind, Span.SPAN_KIND_SERVER)
    equal((len(first[0].span_id), first[0].parent_span_id.hex()), (8, PARENT))
    for span in spans:
        assert span.end_time_unix_nano >= span.start_time_unix_nano > 1e18, span
    names = set()
    for body in bodies["/v1/metrics"]:
        for resource in Parse(body, ExportMetricsServiceRequest()).resource_metrics:
            for metric in resource.scope_metrics[0].metrics:
                names.add(metric.name)
                for point in metric.histogram.data_points:
                    equal(point.count, sum(point.bucket_counts))
    equal(len(names), 3)


main()
