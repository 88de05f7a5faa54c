#!/usr/bin/env python3
"""tandem drill: a running server rehearses each cell of docs/failures.md, and nobody notices."""

import http.server
import json
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from check import case, equal, main
from failure_ladder import CLASSES, Machine, documented
from tandem import ROOT, Tandem, run

DRILL = "/tandem/v1/drill"
KEYS = "server: {api_keys_env: CLIENT, operator_keys_env: BOSS}\n"


def told(cell: Any) -> str:
    """A cell in the words of the table."""
    if cell["status"] != 200:
        assert cell["error"]["message"], cell
        return f"{cell['status']} `{cell['error']['code']}`"
    if not cell["degraded"]:
        return cell["tier"]
    assert cell["disclosure"], cell
    return f"{cell['tier']}, disclosed"


def listing() -> list[str]:
    """The faults as the program names them, in the order of the table."""
    code, out, err = run("drill", "--fault", "nothing")
    equal((code, out), (2, b""), err)
    text = (ROOT / "docs" / "failures.md").read_text()
    rows = text[text.index("| `--fault` |") :].split("\n\n")[0].splitlines()[2:]
    return [row.split("`")[1] for row in rows]


@case
def test_each_cell_of_the_table_is_rehearsed_and_says_the_same() -> None:
    machine = Machine(away=True)
    try:
        code, out, err = run("drill", "--json", "--url", machine.tandem.url)
        equal(code, 0, err)
        result = json.loads(out)
        table = documented()
        equal((result["passed"], result["failed"]), (len(table) * 4, 0))
        cells = result["cells"]
        rows = {
            cells[i]["fault"]: [told(cell) for cell in cells[i : i + 4]]
            for i in range(0, len(cells), 4)
        }
        equal([cell["data_class"] for cell in cells[:4]], list(CLASSES))
        equal(list(rows), listing())
        for (name, expected), seen in zip(table.items(), rows.values(), strict=True):
            equal(seen, expected, name)
        code, out, _ = run("drill", "--url", machine.tandem.url, "--fault", "http_429")
        equal(code, 0)
        assert b"4 passed, 0 failed" in out and b"HTTP 429" in out, out
    finally:
        machine.close()


@case
def test_a_drill_leaves_no_trace_in_what_others_use() -> None:
    machine = Machine()
    try:
        before = machine.tandem.get("/metrics").body.decode()
        code, _, err = run("drill", "--url", machine.tandem.url)
        equal(code, 0, err)
        equal((machine.house.received, machine.cloud.received), (b"", b""), "something was sent")
        equal(machine.tandem.get("/tandem/v1/exchanges").json["data"], [])
        after = machine.tandem.get("/metrics").body.decode()
        for name in ("tandem_exchanges_total", "tandem_attempts_total", "tandem_cost_usd"):
            lines = [
                [line for line in text.splitlines() if line.startswith(name)]
                for text in (before, after)
            ]
            equal(lines[1], lines[0], name)
        # All tiers are asked as before: none rests after the failures of the drill.
        equal(machine.ask("elsewhere", "public").tandem["tier"], "house")
        equal(machine.ask("auto", "public").tandem["tier"], "local")
        left = [path.name for path in machine.tandem.state.iterdir() if "drill" in path.name]
        equal(left, [], "files of the drill")
        assert any("event=drill" in line and "passed=1" in line for line in machine.tandem.log)
    finally:
        machine.close()


@case
def test_only_an_operator_drills_and_bad_drills_are_refused() -> None:
    with Tandem(KEYS, env={"CLIENT": "of-a-client", "BOSS": "of-the-boss"}) as tandem:
        body = {"fault": "timeout", "data_class": "public"}

        def post(body: Any, key: str = "of-the-boss") -> Any:
            return tandem.request("POST", DRILL, body, {"Authorization": f"Bearer {key}"})

        equal(post(body, "of-a-client").status, 403)
        alone = post(body).json
        equal((alone["tier"], alone["passed"]), ("local", True), str(alone))
        for wrong in (
            {},
            {**body, "fault": "fire"},
            {**body, "fault": 7},
            {**body, "data_class": "secret"},
            {**body, "data_class": None},
            {**body, "model": "x" * 300},
        ):
            equal(post(wrong).status, 400, str(wrong)[:60])
        equal(post({**body, "model": "no-such-route"}).status, 404)
        code, _, err = run("drill", "--url", tandem.url)
        equal(code, 1)
        assert "key" in err, err


class Failing(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        wish = json.loads(self.rfile.read(int(self.headers["content-length"])))
        passed = wish["data_class"] != "sensitive"
        cell = {**wish, "status": 200, "tier": "cloud", "passed": passed, "why": "it may not"}
        text = json.dumps(cell).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        pass


@case
def test_a_cell_that_fails_is_named_and_gives_the_exit_code() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    code, out, _ = run("drill", "--fault", "offline", "--url", url)
    equal(code, 1)
    assert b"FAIL offline, sensitive data: it may not" in out, out
    assert b"3 passed, 1 failed" in out, out
    code, out, _ = run("drill", "--json", "--fault", "offline", "--url", url)
    equal((code, json.loads(out)["failed"]), (1, 1))
    server.shutdown()


if __name__ == "__main__":
    main()
