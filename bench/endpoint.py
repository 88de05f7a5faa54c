"""Many chats at once through /v1/chat/completions, as any client would send them."""

import http.client
import json
import threading
from collections.abc import Sequence
from typing import Any

from tandem import Tandem

WORKERS = 4
LOCAL_ONLY = "tiers:\n  - {name: local, kind: local}\n"


class Reply:
    """text, calls of tools as (name, arguments), confidence, the exchange's name, finish reason;
    status other than 200: text is empty."""

    calls: list[tuple[str, Any]]

    def __init__(self, status: int, body: Any) -> None:
        self.status, self.text, self.confidence, self.exchange, self.finish = (
            status,
            "",
            0.0,
            "",
            "",
        )
        self.tokens, self.calls = 0, []
        if status != 200:
            self.error = body.get("error", {}).get("message", "")
            return
        choice = body["choices"][0]
        self.text, self.finish = (
            (choice["message"]["content"] or "").strip(),
            choice["finish_reason"],
        )
        for call in choice["message"].get("tool_calls") or []:
            function = call["function"]
            self.calls.append((function["name"], json.loads(function["arguments"])))
        self.confidence = body["tandem"]["confidence"] or 0.0
        self.exchange = body["tandem"]["exchange"]
        self.tokens = body["usage"]["completion_tokens"]


def send(connection: Any, members: Any) -> Reply:
    body = {"model": "local", "temperature": 0, "max_tokens": 256, **members}
    connection.request(
        "POST",
        "/v1/chat/completions",
        json.dumps(body),
        {"Content-Type": "application/json", "x-tandem-mode": "only-local"},
    )
    got = connection.getresponse()
    return Reply(got.status, json.loads(got.read()))


def ask_all(tandem: Tandem, requests: Sequence[dict[str, Any]]) -> list[Any]:
    """requests: members of each body ({"messages": ...} at least). Replies in the same order."""
    replies: list[Any] = [None] * len(requests)
    turn, lock = iter(range(len(requests))), threading.Lock()

    def work() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=120)
        while True:
            with lock:
                at = next(turn, None)
            if at is None:
                return
            replies[at] = send(connection, requests[at])

    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if None in replies:
        raise RuntimeError("a client thread ended early; see above")
    return replies


CLASSIFY_TEXTS = 256  # in one call


def classify_all(tandem: Tandem, texts: Sequence[str], labels: str) -> list[Any]:
    """The rows of /tandem/v1/classify for texts, by a set of labels of the model."""
    rows: list[Any] = []
    for at in range(0, len(texts), CLASSIFY_TEXTS):
        body = {"texts": texts[at : at + CLASSIFY_TEXTS], "set": labels}
        answer = tandem.request("POST", "/tandem/v1/classify", body, timeout=600)
        if answer.status != 200:
            raise RuntimeError(f"status {answer.status}: {answer.text}")
        rows += answer.json["data"]
    return rows


def user(text: str) -> dict:
    return {"messages": [{"role": "user", "content": text}]}


def chat(messages: Any) -> dict:
    """(role, content) pairs as a request."""
    return {"messages": [{"role": role, "content": content} for role, content in messages]}


def recorded(tandem: Tandem, replies: Any, signal: str) -> list:
    """A signal of each reply, as the exchange's record has it; None without one."""
    return [
        (
            tandem.get(f"/tandem/v1/exchanges/{r.exchange}").json["signals"].get(signal)
            if r.exchange
            else None
        )
        for r in replies
    ]
