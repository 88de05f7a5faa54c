"""A server over HTTP: chats, vectors, labels, and why an answer came from where it came.

The standard library's HTTP client is enough, so the package needs no other. A Client may be shared
by threads: every call has a connection of its own.
"""

from __future__ import annotations

import http.client
import json
import os
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote, urlsplit

from .errors import APIError, ConnectionFailed, TandemError
from .messages import Message, as_messages

DEFAULT_URL = "http://127.0.0.1:8080"
BODY_BYTES_MAX = 64 << 20
LINE_BYTES_MAX = 8 << 20


@dataclass(frozen=True)
class Reason:
    code: str
    tier: str
    text: str


@dataclass(frozen=True)
class Decision:
    """The `tandem` member of an answer; `raw` has all of it."""

    exchange: str = ""
    tier: str = ""
    place: str = ""
    model: str = ""
    route: str = ""
    confidence: float | None = None
    data_class: str = ""
    degraded: bool = False
    disclosure: str | None = None
    cost_usd: float = 0.0
    egress_bytes: int = 0
    reasons: tuple[Reason, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Self:
        known = {
            name: raw[name]
            for name in cls.__dataclass_fields__
            if name in raw and raw[name] is not None and name not in ("reasons", "raw")
        }
        reasons = tuple(
            Reason(str(row.get("code", "")), str(row.get("tier") or ""), str(row.get("text", "")))
            for row in raw.get("reasons") or ()
        )
        return cls(**known, reasons=reasons, raw=raw)


@dataclass(frozen=True)
class Answer:
    text: str
    finish: str
    decision: Decision
    message: Mapping[str, Any]
    usage: Mapping[str, Any]


@dataclass(frozen=True)
class Classified:
    label: str
    score: float
    scores: Mapping[str, float]


class Stream(Iterator[str]):
    """The pieces of an answer as they come. `text` is what is there so far: where a correction
    replaces what was shown, it is right, and the pieces alone are not. Close it, or use it in a
    `with`, to stop early."""

    def __init__(self, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse):
        self._connection, self._answer = connection, answer
        self.text = ""
        self.finish: str | None = None
        self.decision = Decision()
        self.usage: Mapping[str, Any] = {}

    def _events(self) -> Iterator[dict[str, Any]]:
        while True:
            try:
                line = self._answer.readline(LINE_BYTES_MAX + 1)
            except (OSError, http.client.HTTPException) as error:
                raise ConnectionFailed(f"the answer broke off: {error}") from error
            if len(line) > LINE_BYTES_MAX:
                raise TandemError(f"a line of the answer has more than {LINE_BYTES_MAX} bytes")
            if not line:
                raise ConnectionFailed("the answer broke off before its end")
            if line.strip() == b"data: [DONE]":
                return
            if line.startswith(b"data: "):
                yield _object(line[6:])

    def __next__(self) -> str:
        for event in self._events():
            if "error" in event:
                raise _refused(0, event, None)
            self._take(event.get("tandem") or {})
            self.usage = event.get("usage") or self.usage
            for choice in event.get("choices") or ():
                self.finish = choice.get("finish_reason") or self.finish
                piece = (choice.get("delta") or {}).get("content")
                if piece:
                    self.text += piece
                    return str(piece)
        self.close()
        raise StopIteration

    def _take(self, tandem: Mapping[str, Any]) -> None:
        if "correction" in tandem:
            self.text = self.text[: tandem["correction"]["from_chars"]]
        elif "tier" in tandem:
            self.decision = Decision.of(tandem)

    def close(self) -> None:
        """Leaves; the server ends the answer."""
        self._answer.close()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise TandemError(f"the server's answer is not JSON: {body[:80]!r}") from error
    if not isinstance(found, dict):
        raise TandemError(f"the server's answer is no object: {body[:80]!r}")
    return found


def _refused(status: int, body: Mapping[str, Any], retry_after: str | None) -> APIError:
    error = body.get("error")
    said = error if isinstance(error, dict) else {"message": str(error or "")}
    wait = float(retry_after) if retry_after and retry_after.isdigit() else None
    return APIError(status, str(said.get("message", "")), said.get("code"), said.get("param"), wait)


class Client:
    """Asks a server. The address and the key may come from TANDEM_URL and TANDEM_API_KEY."""

    def __init__(
        self,
        url: str | None = None,
        *,
        api_key: str | None = None,
        timeout_s: float = 600,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._url = urlsplit(url or os.environ.get("TANDEM_URL") or DEFAULT_URL)
        if self._url.scheme not in ("http", "https") or not self._url.hostname:
            raise TandemError(f"{self._url.geturl()!r} is no address such as {DEFAULT_URL}")
        self._base = self._url.path.rstrip("/").removesuffix("/v1")
        self._timeout_s, self._headers = timeout_s, dict(headers or {})
        key = api_key or os.environ.get("TANDEM_API_KEY")
        if key:
            self._headers["Authorization"] = f"Bearer {key}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass  # nothing stays open between calls

    def _connection(self) -> http.client.HTTPConnection:
        host, port = str(self._url.hostname), self._url.port
        if self._url.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(host, port, timeout=self._timeout_s, context=context)
        return http.client.HTTPConnection(host, port, timeout=self._timeout_s)

    def _send(
        self, method: str, path: str, body: Mapping[str, Any] | None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = self._connection()
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **self._headers}
        try:
            connection.request(method, self._base + path, data, headers)
            return connection, connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            where = f"{self._url.hostname}:{self._url.port or self._url.scheme}"
            raise ConnectionFailed(f"{where} cannot be reached: {error}") from error

    def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Any endpoint of docs/api.md: the answer's JSON object, or an APIError."""
        connection, answer = self._send(method, path, body)
        try:
            return self._read(answer)
        finally:
            connection.close()

    def _read(self, answer: http.client.HTTPResponse) -> dict[str, Any]:
        try:
            data = answer.read(BODY_BYTES_MAX + 1)
        except (OSError, http.client.HTTPException) as error:
            raise ConnectionFailed(f"the answer broke off: {error}") from error
        if len(data) > BODY_BYTES_MAX:
            raise TandemError(f"the answer has more than {BODY_BYTES_MAX} bytes")
        found = _object(data) if data else {}
        if answer.status >= 400:
            raise _refused(answer.status, found, answer.getheader("retry-after"))
        return found

    def chat(
        self,
        messages: str | Sequence[Message],
        *,
        model: str = "auto",
        options: Mapping[str, Any] | None = None,
        **members: Any,
    ) -> Answer:
        """The whole answer. `options` is the request's `tandem` object (mode, data_class, ...);
        other keywords are members of the request (temperature, max_tokens, tools, ...)."""
        found = self.request(
            "POST", "/v1/chat/completions", _asked(messages, model, options, members)
        )
        choice = (found.get("choices") or [{}])[0]
        message = choice.get("message") or {}
        return Answer(
            text=message.get("content") or "",
            finish=choice.get("finish_reason") or "",
            decision=Decision.of(found.get("tandem") or {}),
            message=message,
            usage=found.get("usage") or {},
        )

    def stream(
        self,
        messages: str | Sequence[Message],
        *,
        model: str = "auto",
        options: Mapping[str, Any] | None = None,
        **members: Any,
    ) -> Stream:
        """The same, piece by piece."""
        asked = _asked(messages, model, options, {**members, "stream": True})
        connection, answer = self._send("POST", "/v1/chat/completions", asked)
        if answer.status >= 400:
            try:
                self._read(answer)
            finally:
                connection.close()
        return Stream(connection, answer)

    def embed(self, texts: str | Sequence[str]) -> list[list[float]]:
        """One vector for each text."""
        rows = [texts] if isinstance(texts, str) else list(texts)
        found = self.request("POST", "/v1/embeddings", {"model": "auto", "input": rows})
        return [row["embedding"] for row in found["data"]]

    def classify(
        self, texts: str | Sequence[str], labels: Sequence[str] = (), *, label_set: str = ""
    ) -> list[Classified]:
        """Which of the labels, or of a set that the model brings, each text has."""
        body: dict[str, Any] = {"texts": [texts] if isinstance(texts, str) else list(texts)}
        body |= {"set": label_set} if label_set else {"labels": list(labels)}
        found = self.request("POST", "/tandem/v1/classify", body)
        return [
            Classified(
                row["label"],
                row["score"],
                {score["label"]: score["score"] for score in row["scores"]},
            )
            for row in found["data"]
        ]

    def models(self) -> list[str]:
        """Every name that `model` may have."""
        return [row["id"] for row in self.request("GET", "/v1/models")["data"]]

    def capabilities(self) -> dict[str, Any]:
        return self.request("GET", "/tandem/v1/capabilities")

    def explain(self, exchange: str) -> dict[str, Any]:
        """The record of an exchange (Decision.exchange): why it was answered where it was."""
        return self.request("GET", f"/tandem/v1/exchanges/{quote(exchange, safe='')}")

    def feedback(self, exchange: str, ok: bool, comment: str | None = None) -> None:
        """Says whether an answer was right."""
        body: dict[str, Any] = {"id": exchange, "ok": ok}
        self.request(
            "POST", "/tandem/v1/feedback", body | ({"comment": comment} if comment else {})
        )


def _asked(
    messages: str | Sequence[Message],
    model: str,
    options: Mapping[str, Any] | None,
    members: Mapping[str, Any],
) -> dict[str, Any]:
    body = {**members, "model": model, "messages": as_messages(messages)}
    return body | ({"tandem": dict(options)} if options else {})
