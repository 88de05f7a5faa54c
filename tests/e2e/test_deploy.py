#!/usr/bin/env python3
"""The dashboard and the alerts of deploy/ name metrics that a server has, with labels that it gives
them, and Prometheus' own tool reads them."""

import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from check import Skip, case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

DASHBOARD = ROOT / "deploy" / "grafana" / "tandem.json"
PROMETHEUS = ROOT / "deploy" / "prometheus"
NAME = re.compile(r"\btandem_[a-z_]+")
SELECTOR = re.compile(r"\b(tandem_[a-z_]+)\{([^}]*)\}")


def panels():
    return [p for p in json.loads(DASHBOARD.read_text())["panels"] if p["type"] != "row"]


def expressions():
    return [target["expr"] for panel in panels() for target in panel["targets"]]


def rules():
    """The expressions of the alerts."""
    text = (PROMETHEUS / "tandem_alerts.yml").read_text()
    return re.findall(r"(?ms)^        expr: (.*?)^        (?:for|labels):", text)


def promtool(*arguments):
    tool = shutil.which("promtool")
    if not tool:
        raise Skip("no promtool (Debian's package prometheus)")
    done = subprocess.run([tool, *arguments], capture_output=True, text=True, cwd=PROMETHEUS)
    equal(done.returncode, 0, done.stdout + done.stderr)
    return done.stdout


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def live():
    """What a server with everything on has: {sample: its labels' names}."""
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    folder = Path(tempfile.mkdtemp(prefix="tandem-test-"))
    more = f"""
budgets: [{{name: all, usd_per_day: 5}}]
cache: {{answers: all}}
log: {{access: "{folder}/access.log"}}
otlp: {{endpoint: "http://127.0.0.1:{collector.server_address[1]}"}}
privacy: {{pseudonyms: {{on: true, classes: [sensitive]}}}}
"""
    cloud = ScriptedCloud(Script(statuses=[500], echo=True))
    with Tandem(edge_first(cloud.base_url) + more, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for text in ("One?", "Two?", "Write to mary.smith@acme-corp.com."):
            tandem.chat(text, {"x-tandem-mode": "prefer-cloud", "x-tandem-slo-ms": "60000"})
        tandem.chat("Three?", {"x-tandem-mode": "only-local"}, max_tokens=2)
        wait_until(lambda: "tandem_retries_total{" in tandem.get("/metrics").body.decode())
        text = tandem.get("/metrics").body.decode()
    shutil.rmtree(folder)
    found = {name: set() for name in re.findall(r"(?m)^# TYPE (\S+)", text)}
    for kind in re.findall(r"(?m)^# TYPE (\S+) histogram", text):
        found.update({f"{kind}_{part}": set() for part in ("bucket", "sum", "count")})
    for name, labels in re.findall(r"(?m)^(tandem_\w+)\{(.*)\} ", text):
        found[name] |= set(re.findall(r'(\w+)="', labels))
    return found


@case
def test_every_metric_and_label_of_dashboard_and_alerts_is_there():
    found = live()
    texts = [*expressions(), *rules()]
    assert len(expressions()) > 40 and len(rules()) > 10, (len(expressions()), len(rules()))
    for text in texts:
        names = set(NAME.findall(text))
        assert names <= set(found) or not names, (names - set(found), text)
        for name, selector in SELECTOR.findall(text):
            labels = set(re.findall(r"(\w+)(?:=~|!~|!=|=)", selector)) - {"job", "instance"}
            assert not found[name] or labels <= found[name], (name, labels, found[name])
    variables = json.loads(DASHBOARD.read_text())["templating"]["list"]
    for variable in variables[1:]:
        assert set(NAME.findall(variable["definition"])) <= set(found), variable
    used = set(re.findall(r"\$(\w+)", " ".join(expressions()))) - {"__rate_interval"}
    equal(used, {variable["name"] for variable in variables[1:]})


@case
def test_panels_have_names_ids_and_places_of_their_own():
    dashboard = json.loads(DASHBOARD.read_text())
    ids = [panel["id"] for panel in dashboard["panels"]]
    equal(len(ids), len(set(ids)))
    taken = set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24 and panel["title"], panel
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


@case
def test_promtool_reads_the_expressions_of_the_dashboard():
    lines = ["groups:", "  - name: dashboard", "    rules:"]
    for number, text in enumerate(expressions()):
        plain = re.sub(r"\$__rate_interval", "5m", re.sub(r"\$(job|instance|tier)", ".*", text))
        lines += [f"      - record: panel:{number}", f"        expr: {json.dumps(plain)}"]
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        out = promtool("check", "rules", file.name)
    assert f"{len(expressions())} rules found" in out, out


@case
def test_promtool_reads_the_alerts_and_they_fire_when_they_should():
    assert f"{len(rules())} rules found" in promtool("check", "rules", "tandem_alerts.yml")
    promtool("check", "config", "prometheus.yml")
    assert "SUCCESS" in promtool("test", "rules", "tandem_alerts_test.yml")


main()
