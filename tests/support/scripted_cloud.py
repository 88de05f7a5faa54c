"""A scripted OpenAI-compatible cloud: the test double for what cannot run here.

It answers /v1/chat/completions, /v1/completions (streamed and not) and /v1/models from a script,
can be slow, wrong or die in every way that matters, and records every byte that it receives. One
thread a connection; raw sockets, so that broken answers can be made exactly.

    cloud = ScriptedCloud(Script(text="Hello there."))
    cloud.base_url, cloud.received (bytes), cloud.requests (list of dict), cloud.script =
    Script(...) cloud.close()
"""

import json
import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

WEATHER = {  # a function that clients offer
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}


@dataclass
class Script:
    """How the next requests are answered. Times in seconds."""

    text: str = "This is the cloud's answer."
    pieces: list | None = None  # text pieces of a stream; default: words
    logprob: float | None = None  # of every token, when the request asks for logprobs
    logprobs: Any = None  # the whole member `logprobs` of every piece, asked for or not
    says: dict = field(default_factory=dict)  # of itself: merged into every chunk of a stream
    refuses: str | None = None  # a member: requests that have it are answered with refuse_status
    refuse_status: int = 400
    refuse_message: str = "unknown field"  # the member's name is not added
    models: list = field(default_factory=lambda: ["scripted"])  # of /models
    models_status: int = 200
    finish: str = "stop"
    status: int = 200
    statuses: list = field(default_factory=list)  # one a request, before `status`
    retry_after: str | None = None
    # Of requests with these keys: {"Bearer KEY": status}; the others are answered.
    refused_keys: dict = field(default_factory=dict)
    error_message: str = "scripted failure"
    error_code: Any = None  # and `param` and `type`, of every error
    error_param: str | None = None
    error_type: str = "scripted"
    accept_delay: float = 0  # before reading anything
    first_delay: float = 0  # before the status line
    think: float = 0  # the same, but a list of models is given at once
    gate: threading.Event | None = None  # until it is set, no answer begins
    piece_delay: float = 0  # between pieces
    stall_after: int | None = None  # pieces, then silence until the client leaves
    cut_after: int | None = None  # pieces, then a reset
    cut_at_once: bool = False  # reset instead of any answer
    garbage_after: int | None = None  # pieces, then a malformed chunk
    garbage: bytes = b'data: {"choices": [{"delta": {"content": \n\n'
    error_after: int | None = None  # pieces, then a chunk with an error member
    no_done: bool = False  # ends without finish_reason and [DONE]
    raw: bytes | None = None  # these bytes instead of any answer, then close
    extra_delta: dict | None = None  # merged into the first delta (tool calls, ...)
    usage: bool = True
    usage_times: int = 1  # a tokenizer that makes so many times as many tokens
    usage_members: dict | None = None  # over what the usage says, true or not
    usage_text: str | None = None  # in its place, JSON or not
    ignore_stream: bool = False  # a JSON answer to a streaming request
    refuses_stream: bool = False  # 400 for `stream: true`
    recorded: dict | None = None  # an answer of support/recorded_answers.py, as it came
    byte_by_byte: bool = False  # every byte in a packet of its own
    crlf: bool = False  # SSE lines end with CR LF
    comments: bool = False  # SSE comments between events
    drips: bytes | None = None  # after `drips_after` pieces, ten times a second without an end
    drips_after: int = 0
    drips_head: bool = False  # the same before the head is whole
    echo: bool = False  # the answer is the last message's text, or the prompt
    echo_whole: bool = False  # with echo: the whole request, as JSON
    echo_tool: bool = False  # with echo: as the argument "text" of a call of the first tool
    piece_chars: int = 0  # with echo: characters a piece; 0 = words
    cut_at: int | None = None  # with echo: two pieces, cut before this character
    # To a request for a verdict on an answer: "right" or "wrong", in the form that it asks for.
    verdict: str | None = None
    # What it makes of the messages of a request, in the place of `text`.
    thinks: Callable[[list[dict[str, Any]]], str] | None = None
    # What it makes of the beginning of an answer that it is sent: "prefill" goes on after it,
    # "words" says its last words again and goes on, "anew" begins `text` again.
    goes_on: str | None = None


REASONS = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


class ScriptedCloud:
    def __init__(
        self,
        script: Script | None = None,
        tls: tuple[Path, Path] | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        at_once: int = 1000,
    ) -> None:
        """tls: (certificate file, key file) for HTTPS. port: 0 = a free one. at_once: the others
        wait for their turn."""
        self._turns = threading.BoundedSemaphore(at_once)
        self.script = script or Script()
        self.received = bytearray()
        self.requests: list[dict[str, Any]] = []
        self.connections = 0
        self.more_models: list[dict[str, Any]] = []  # of /models, beside those of the script
        self.gone_count = 0  # clients that were noticed to have left
        self._lock = threading.Lock()
        self._context = None
        if tls:
            self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._context.load_cert_chain(*tls)
        self._listener = socket.create_server((host, port), backlog=256)
        self.port = self._listener.getsockname()[1]
        self.base_url = f"{'https' if tls else 'http'}://{host}:{self.port}/v1"
        self._closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._closed = True
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()

    def calls(self) -> list[dict[str, Any]]:
        """The requests for an answer: not those that only ask whether the server is there."""
        with self._lock:
            return [request for request in self.requests if request["method"] == "POST"]

    def clear(self) -> None:
        with self._lock:
            self.received.clear()
            self.requests.clear()
            self.gone_count = 0

    # -- connection -------------------------------------------------------------------------------

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._context:
                connection = self._context.wrap_socket(connection, server_side=True)
            pending = b""
            while True:
                if self.script.accept_delay:
                    time.sleep(self.script.accept_delay)
                request, pending = self._read_request(connection, pending)
                if request is None:
                    return
                with self._lock:
                    self.requests.append(request)
                with self._turns:
                    goes_on = self._answer(connection, request)
                if not goes_on:
                    return
        except (OSError, ssl.SSLError):
            with self._lock:
                self.gone_count += 1
        finally:
            try:
                connection.close()
            except OSError:
                pass

    def _receive(self, connection: socket.socket) -> bytes:
        data = connection.recv(65536)
        with self._lock:
            self.received += data
        return data

    def _read_request(
        self, connection: socket.socket, pending: bytes
    ) -> tuple[dict[str, Any] | None, bytes]:
        while b"\r\n\r\n" not in pending:
            data = self._receive(connection)
            if not data:
                return None, b""
            pending += data
        head, _, pending = pending.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        method, path, _ = lines[0].split(" ", 2)
        if headers.get("expect", "").lower() == "100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(headers.get("content-length", "0"))
        while len(pending) < length:
            data = self._receive(connection)
            if not data:
                return None, b""
            pending += data
        body, pending = pending[:length], pending[length:]
        request = {
            "method": method,
            "path": path,
            "headers": headers,
            "body": body,
            "time": time.monotonic(),
        }
        try:
            request["json"] = json.loads(body) if body else None
        except ValueError:
            request["json"] = None
        return request, pending

    # -- answers ----------------------------------------------------------------------------------

    def _answer(self, connection: socket.socket, request: dict[str, Any]) -> bool:
        """Answers one request; False when the connection is over."""
        script = self.script
        if script.cut_at_once:
            return self._reset(connection)
        if script.first_delay:
            self._wait(connection, script.first_delay)
        if script.think and request["method"] == "POST":
            self._wait(connection, script.think)
        while script.gate and request["method"] == "POST" and not script.gate.is_set():
            self._wait(connection, 0.02)
        if script.raw is not None:
            connection.sendall(script.raw)
            return False
        with self._lock:
            status = script.statuses.pop(0) if script.statuses else script.status
        refused = script.refused_keys.get(request["headers"].get("authorization"))
        status = refused or status
        message = script.error_message
        if request["path"].rstrip("/").endswith("/models"):
            models = [
                {"id": name, "object": "model", "created": 0, "owned_by": "tests"}
                for name in script.models
            ]
            value: dict[str, Any] = {"object": "list", "data": models + self.more_models}
            models_status = refused or script.models_status
            if models_status != 200:
                value = {"error": {"message": message, "type": "scripted"}}
            return self._send_json(connection, models_status, value)
        if script.refuses and script.refuses in (request["json"] or {}):
            status, message = script.refuse_status, script.refuse_message
        if status != 200:
            error = {
                "error": {
                    "message": message,
                    "type": script.error_type,
                    "param": script.error_param,
                    "code": script.error_code,
                }
            }
            extra = [f"Retry-After: {script.retry_after}"] if script.retry_after else []
            return self._send_json(connection, status, error, extra)
        wants = request["json"] or {}
        if script.refuses_stream and wants.get("stream"):
            refusal = {"message": "streaming is not supported for this model", "param": "stream"}
            return self._send_json(connection, 400, {"error": refusal})
        if script.recorded is not None:
            return self._replay(connection, script, wants)
        if script.thinks:
            script = replace(script, text=script.thinks(wants["messages"]), pieces=None)
        script = self._judging(self._echoing(self._going_on(script, wants), wants), wants)
        if wants.get("stream") and not script.ignore_stream:
            return self._stream(connection, script, wants)
        body = self._with_usage(script, self._completion(script, wants))
        return self._send_body(connection, 200, body)

    def _replay(self, connection: socket.socket, script: Script, wants: dict[str, Any]) -> bool:
        assert script.recorded is not None
        if not wants.get("stream") or script.ignore_stream:
            return self._send_json(connection, 200, script.recorded["whole"])
        events = [json.dumps(chunk, ensure_ascii=False) for chunk in script.recorded["chunks"]]
        body = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"]).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}"
        connection.sendall(f"{head}\r\n\r\n".encode() + body)
        return True

    def _going_on(self, script: Script, wants: dict[str, Any]) -> Script:
        begun = begun_in(wants, script.text) if script.goes_on else ""
        if not begun or script.goes_on == "anew":
            return script
        at = len(begun)
        if script.goes_on == "words":
            at = begun.rfind(" ", 0, max(0, at - 12)) + 1
        rest = script.text[at:]
        return replace(script, text=rest, pieces=[rest[i : i + 5] for i in range(0, len(rest), 5)])

    def _judging(self, script: Script, wants: dict[str, Any]) -> Script:
        first = str(wants.get("messages", [{}])[0].get("content"))
        asked = re.search(r'"check":"([a-p]{16})"', first)
        if not script.verdict or not asked:
            return script
        text = json.dumps({"check": asked[1], "verdict": script.verdict})
        return replace(script, text=text, pieces=None)

    def _echoing(self, script: Script, wants: dict[str, Any]) -> Script:
        if not script.echo:
            return script
        text = wants["prompt"] if "prompt" in wants else wants["messages"][-1]["content"]
        if script.echo_whole:
            text = json.dumps(wants)
        if script.echo_tool:
            text = json.dumps({"text": text})
        size = script.piece_chars
        pieces = [text[i : i + size] for i in range(0, len(text), size)] if size else None
        if script.cut_at is not None:
            pieces = [text[: script.cut_at], text[script.cut_at :]]
        return replace(script, text=text, pieces=pieces)

    def _pieces(self, script: Script) -> list[str]:
        if script.pieces is not None:
            return script.pieces
        words = script.text.split(" ")
        return [word if i == 0 else " " + word for i, word in enumerate(words)]

    def _usage(self, script: Script, wants: dict[str, Any]) -> dict[str, Any]:
        prompt = len(wants.get("prompt", "")) // 4 + sum(
            len(str(m.get("content"))) // 4 + 4 for m in wants.get("messages", [])
        )
        prompt *= script.usage_times
        completion = len(self._pieces(script)) * script.usage_times
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            **(script.usage_members or {}),
        }

    def _with_usage(self, script: Script, value: dict[str, Any]) -> bytes:
        if script.usage_text is None:
            return json.dumps(value).encode()
        text = json.dumps({**value, "usage": "THE USAGE"})
        return text.replace('"THE USAGE"', script.usage_text).encode()

    def _logprobs(self, script: Script, wants: dict[str, Any], piece: str) -> Any:
        if script.logprobs is not None:
            return script.logprobs
        if script.logprob is None or not wants.get("logprobs"):
            return None
        if "prompt" in wants:
            return {
                "tokens": [piece],
                "token_logprobs": [script.logprob],
                "top_logprobs": [{piece: script.logprob}],
                "text_offset": [0],
            }
        return {
            "content": [
                {
                    "token": piece,
                    "logprob": script.logprob,
                    "bytes": list(piece.encode()),
                    "top_logprobs": [],
                }
            ]
        }

    def _completion(self, script: Script, wants: dict[str, Any]) -> dict[str, Any]:
        text = "".join(self._pieces(script))
        answer: dict[str, Any] = {
            "id": "chatcmpl-scripted",
            "object": "chat.completion",
            "created": 1700000000,
            "model": wants.get("model"),
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "logprobs": self._logprobs(script, wants, text),
                    "finish_reason": script.finish,
                }
            ],
        }
        if "prompt" in wants:
            answer["object"] = "text_completion"
            answer["choices"][0]["text"] = answer["choices"][0].pop("message")["content"]
        if script.usage:
            answer["usage"] = self._usage(script, wants)
        return answer

    def _send_json(
        self, connection: socket.socket, status: int, value: Any, extra: Sequence[str] = ()
    ) -> bool:
        return self._send_body(connection, status, json.dumps(value).encode(), extra)

    def _send_body(
        self, connection: socket.socket, status: int, body: bytes, extra: Sequence[str] = ()
    ) -> bool:
        head = [
            f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            *extra,
        ]
        connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + body)
        return True

    def _stream(self, connection: socket.socket, script: Script, wants: dict[str, Any]) -> bool:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        while script.drips is not None and script.drips_head:
            connection.sendall(head + script.drips)
            head = b""
            self._wait(connection, 0.1)
        connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")

        def send(data: bytes) -> None:
            if script.crlf:
                data = data.replace(b"\n", b"\r\n")
            parts = [data[i : i + 1] for i in range(len(data))] if script.byte_by_byte else [data]
            for part in parts:
                connection.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")

        def chunk(
            delta: dict[str, Any], finish: str | None = None, logprobs: Any = None, **extra: Any
        ) -> bytes:
            choice: dict[str, Any] = {
                "index": 0,
                "delta": delta,
                "logprobs": logprobs,
                "finish_reason": finish,
            }
            if "prompt" in wants:
                choice["text"] = choice.pop("delta").get("content", "")
            value = {
                "id": "chatcmpl-scripted",
                "object": "chat.completion.chunk",
                "created": 1700000000,
                "model": wants.get("model"),
                "choices": [choice],
                **script.says,
                **extra,
            }
            return b"data: " + json.dumps(value, ensure_ascii=script.comments).encode() + b"\n\n"

        send(chunk({"role": "assistant", "content": "", **(script.extra_delta or {})}))
        for number, piece in enumerate(self._pieces(script)):
            if script.stall_after == number:
                self._wait(connection, 3600)
            while script.drips is not None and script.drips_after == number:
                send(script.drips)
                self._wait(connection, 0.1)
            if script.cut_after == number:
                return self._reset(connection)
            if script.garbage_after == number:
                send(script.garbage)
            if script.error_after == number:
                error = {"error": {"message": script.error_message, "type": "server_error"}}
                send(b"data: " + json.dumps(error).encode() + b"\n\n")
                return False
            if script.piece_delay:
                self._wait(connection, script.piece_delay)
            if script.comments:
                send(b": keep-alive\n\n")
            send(
                chunk(
                    self._delta(script, wants, number, piece),
                    logprobs=self._logprobs(script, wants, piece),
                )
            )
        if script.no_done:
            connection.sendall(b"0\r\n\r\n")
            return True
        send(chunk({}, script.finish))
        if script.usage and (wants.get("stream_options") or {}).get("include_usage"):
            value: dict[str, Any] = {
                "id": "chatcmpl-scripted",
                "object": "chat.completion.chunk",
                "created": 1700000000,
                "model": wants.get("model"),
                "choices": [],
                "usage": self._usage(script, wants),
            }
            send(b"data: " + self._with_usage(script, value) + b"\n\n")
        send(b"data: [DONE]\n\n")
        connection.sendall(b"0\r\n\r\n")
        return True

    def _delta(
        self, script: Script, wants: dict[str, Any], number: int, piece: str
    ) -> dict[str, Any]:
        if not script.echo_tool:
            return {"content": piece}
        call: dict[str, Any] = {"index": 0, "function": {"arguments": piece}}
        if number == 0:
            call.update(id="call_echo", type="function")
            call["function"]["name"] = wants["tools"][0]["function"]["name"]
        return {"tool_calls": [call]}

    def _wait(self, connection: socket.socket, seconds: float) -> None:
        """Sleeps, but notices a client that leaves (raises ConnectionError)."""
        connection.settimeout(seconds)
        try:
            data = connection.recv(1, socket.MSG_PEEK) if not self._context else connection.recv(1)
            if not data:
                raise ConnectionResetError("the client left")
            time.sleep(seconds)  # a pipelined request waits its turn
        except (TimeoutError, ssl.SSLWantReadError):
            pass
        finally:
            connection.settimeout(None)

    def _reset(self, connection: socket.socket) -> bool:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False


def begun_in(wants: dict[str, Any], text: str) -> str:
    """The beginning of `text` that a request ends with; "" when it asks for all of it."""
    if "prompt" in wants:
        ends = [n for n in range(len(text), 0, -1) if wants["prompt"].endswith(text[:n])]
        return text[: ends[0]] if ends else ""
    said = [m["content"] for m in wants["messages"][-2:] if m["role"] == "assistant"]
    if not said:
        return ""
    assert text.startswith(said[0]), (text, said)
    return said[0]


def unused_port() -> int:
    """A loopback port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


if __name__ == "__main__":
    cloud = ScriptedCloud()
    print(cloud.base_url, flush=True)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        cloud.close()
