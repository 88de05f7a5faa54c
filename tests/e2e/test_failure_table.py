#!/usr/bin/env python3
"""Every way in which a provider fails, before its first byte and in the middle of its answer, with
another tier to go to and without one: each cell of the table in docs/operations.md."""

import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from black_hole import BlackHole
from certificates import expired_certificate
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import ROOT, Tandem, stream_text

ASK = "Name the months of the year."
TEXT = "January, February, March, April, May, June, July and so on to December."
# Of a provider that says nothing, and how long it may take until it is left, a retry included.
SHORT = "timeouts: {connect_ms: 1000, first_ms: 700, idle_ms: 700}", 4.0
# All others are found out by what they say, and not because time is over, which may be short on a
# machine that is busy: they have to be left before a timeout could.
LONG = "timeouts: {connect_ms: 20000, first_ms: 20000, idle_ms: 20000}", 15.0
SILENT = ("black hole", "slow first byte", "stall")
HUGE = b'data: {"choices":[{"index":0,"delta":{"content":"' + b"x" * 100_000_000
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: "
PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>"
MOVED = (
    b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/v1/chat/completions\r\n"
    b"Content-Length: 0\r\n\r\n"
)
NO_TEXT = b'data: {"choices":[{"index":0,"delta":{"content":"\xff\xfe\xc0"}}]}\n\n'


def whole(event):
    return HEAD + str(len(event)).encode() + b"\r\n\r\n" + event


def in_the_middle(**members):
    return Script(text=TEXT, piece_delay=0.02, **members)


def told(status):
    """An error in a stream that says which status it would have had."""
    body = b'{"error":{"message":"scripted failure","type":"scripted","code":%d}}' % status
    return in_the_middle(garbage_after=3, garbage=b"data: " + body + b"\n\n")


# The rows of the table: the fault before the first byte, and the same in the middle of an answer. A
# text is a kind of server; None: it cannot come then.
FAULTS = {
    "refused": ("refused", None),
    "reset": (Script(cut_at_once=True), in_the_middle(cut_after=3)),
    "black hole": ("hole", None),
    "slow first byte": (Script(first_delay=30), None),
    "stall": (Script(stall_after=0), in_the_middle(stall_after=3)),
    "401": (Script(status=401), told(401)),
    "408": (Script(status=408), told(408)),
    "429": (Script(status=429), told(429)),
    "500": (Script(status=500), told(500)),
    "529": (Script(status=529), told(529)),
    "garbage": (Script(raw=b"\x00\xff\x00garbage\r\n\r\n"), in_the_middle(garbage_after=3)),
    "truncated stream": (Script(pieces=[], no_done=True), in_the_middle(no_done=True)),
    "invalid UTF-8": (Script(raw=whole(NO_TEXT)), in_the_middle(garbage_after=3, garbage=NO_TEXT)),
    "wrong content type": (Script(raw=PAGE), None),
    "100 MB": (Script(raw=whole(HUGE)), in_the_middle(garbage_after=3, garbage=HUGE)),
    "redirect": (Script(raw=MOVED), None),
    "expired certificate": ("expired", None),
    "no such host": ("nameless", None),
}


def documented():
    """{fault: [cells]} of the table."""
    text = (ROOT / "docs" / "operations.md").read_text()
    table = text[text.index("| the provider |") :].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0]: row[1:] for row in rows[2:]}


class Fault:
    """A tier with this fault."""

    def __init__(self, fault, folder):
        self.cloud = self.hole = None
        self.more = ""
        if fault == "refused":
            gone = ScriptedCloud()
            self.base_url = gone.base_url
            gone.close()
        elif fault == "hole":
            self.hole = BlackHole()
            self.base_url = self.hole.base_url
        elif fault == "expired":
            files = expired_certificate(folder)
            self.cloud = ScriptedCloud(tls=files)
            self.base_url = self.cloud.base_url
            self.more = f", ca_file: {files[0]}"
        elif fault == "nameless":
            self.base_url = "https://no-such-host.invalid/v1"
        else:
            self.cloud = ScriptedCloud(fault)
            self.base_url = self.cloud.base_url

    def close(self):
        for server in (self.cloud, self.hole):
            if server:
                server.close()


def ladder(faulty, healthy, timeouts):
    urls = [faulty.base_url + faulty.more] + ([healthy.base_url] if healthy else [])
    tiers = "".join(
        f"  - {{name: t{i}, kind: openai, model: m, place: cloud, completions: true,"
        f" api_key_env: KEY, {timeouts}, base_url: {url}}}\n"
        for i, url in enumerate(urls)
    )
    names = ", ".join(f"t{i}" for i in range(len(urls)))
    config = f"tiers:\n{tiers}routes:\n  - {{name: auto, kind: hybrid, tiers: [{names}]}}\n"
    return Tandem(config, env={"KEY": "sk-very-secret"})


def look(tandem, streamed, seconds_max):
    """What a client gets, in the words of the table."""
    begin = time.monotonic()
    if streamed:
        status, _, chunks, done = tandem.stream(ASK)
        done |= status != 200
        errors = [chunk["error"] for chunk in chunks if "error" in chunk]
        text = stream_text(chunks)
        joined = any(chunk.get("tandem", {}).get("seams") for chunk in chunks)
    else:
        answer = tandem.chat(ASK)
        status, done, joined = answer.status, True, False
        errors = [answer.json["error"]] if "error" in answer.json else []
        text = "" if errors else answer.text
    took = time.monotonic() - begin
    assert took < seconds_max, f"took {took:.1f} s"
    assert done, "no end"
    if not errors:
        equal(text, TEXT)
        return "the rest is the next tier's" if joined else "the next tier's answer"
    assert "sk-very-secret" not in str(errors), errors
    assert re.search(r"\bt0\b", errors[0]["message"]), errors
    if status != 200:
        return f"{status} `{errors[0]['code']}`"
    return f"an error event, `{errors[0]['code']}`"


@case
def test_each_cell_is_as_documented():
    table, seen = documented(), {}
    equal(list(table), list(FAULTS), "the rows of the table")
    with tempfile.TemporaryDirectory() as folder:
        for name, moments in FAULTS.items():
            cells = []
            timeouts, seconds_max = SHORT if name in SILENT else LONG
            for fault in moments:
                for other in (True, False):
                    if fault is None:
                        cells.append("-")
                        continue
                    healthy = ScriptedCloud(Script(text=TEXT, goes_on="prefill")) if other else None
                    got = []
                    for streamed in (False, True) if fault is moments[0] else (True,):
                        faulty = Fault(fault, Path(folder))
                        with ladder(faulty, healthy, timeouts) as tandem:
                            try:
                                got.append(look(tandem, streamed, seconds_max))
                            except AssertionError as problem:
                                problem.args = (f"{name}, another tier: {other}, {problem}",)
                                raise
                        faulty.close()
                    equal(len(set(got)), 1, f"{name}: whole and streamed: {got}")
                    cells.append(got[0])
                    if healthy:
                        healthy.close()
            seen[name] = cells
    for name, cells in seen.items():
        equal(cells, table[name], name)


main()
