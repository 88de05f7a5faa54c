"""Clients of streams that may be corrected: what one that keeps corrections has in the end, and
what one that knows nothing of them has, in each dialect. Also a receiver of webhooks."""

import base64
import hashlib
import hmac
import http.server
import json
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any


def events_of(lines: Iterable[bytes]) -> Iterator[tuple[float, dict[str, Any]]]:
    """The data of a stream's events as they come, with the time of each."""
    for line in lines:
        if line.startswith(b"data: ") and line.strip() != b"data: [DONE]":
            yield time.monotonic(), json.loads(line[6:])


def delta_of(event: dict[str, Any]) -> str:
    """The visible text of one event of any of the three dialects."""
    if event.get("type") == "response.output_text.delta":
        return str(event["delta"])
    if event.get("type") == "content_block_delta":
        return str(event["delta"].get("text", ""))
    return "".join(c["delta"].get("content") or "" for c in event.get("choices", []))


def extension_of(event: dict[str, Any]) -> dict[str, Any]:
    """What the event says of corrections: the members of `tandem`, or of an event of its own."""
    if str(event.get("type", "")).startswith("tandem."):
        return event
    return event["tandem"] if event.get("choices") == [] and "tandem" in event else {}


class Reader:
    """Keeps the text as a client does that understands corrections."""

    def __init__(self) -> None:
        self.text = ""
        self.first: float | None = None  # when something was visible
        self.corrected: float | None = None
        self.kinds: list[str] = []  # of extension events, in order
        self.verdict: dict[str, Any] = {}

    def take(self, when: float, event: dict[str, Any]) -> None:
        delta = delta_of(event)
        if delta and self.first is None:
            self.first = when
        self.text += delta
        extension = extension_of(event)
        if "correction" in extension:
            self.kinds.append("correction")
            self.corrected = when
            self.text = self.text[: extension["correction"]["from_chars"]]
        for kind in ("commit", "timeout"):
            if kind in extension:
                self.kinds.append(kind)
                self.verdict = extension[kind]

    @classmethod
    def of(cls, body: bytes) -> "Reader":
        reader = cls()
        for when, event in events_of(body.splitlines()):
            reader.take(when, event)
        return reader


class WebhookReceiver:
    """Takes webhooks on this machine and checks their signatures."""

    def __init__(self, secret: str, status: int = 204) -> None:
        self.messages: list[dict[str, Any]] = []
        self.bad: list[str] = []
        key = base64.b64decode(secret.removeprefix("whsec_"))
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                head = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}."
                mac = hmac.new(key, head.encode() + body, hashlib.sha256).digest()
                if self.headers["webhook-signature"] != "v1," + base64.b64encode(mac).decode():
                    receiver.bad.append(self.headers["webhook-signature"])
                receiver.messages.append(json.loads(body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
