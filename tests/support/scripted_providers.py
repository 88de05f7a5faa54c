"""Scripted clouds with APIs of their own, as Anthropic's: stand-ins for what cannot run here.

They are as strict as the providers document: what these refuse, a stand-in refuses with the
provider's own error. A script is that of the OpenAI-compatible
one; `extra` says what only these have."""

import base64
import binascii
import json
import socket
from collections.abc import Iterator
from typing import Any

from scripted_cloud import Script, ScriptedCloud

Object = dict[str, Any]
Items = Iterator[tuple[str, bytes]]


class Refused(Exception):
    """What is wrong with a request, as the provider would say it."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def demand(holds: object, message: str, status: int = 400) -> None:
    if not holds:
        raise Refused(message, status)


def check_base64(text: object) -> None:
    try:
        demand(isinstance(text, str) and text, "data is empty")
        base64.b64decode(str(text), validate=True)
    except binascii.Error as failure:
        raise Refused(f"data is no base64: {failure}") from None


class ScriptedProvider(ScriptedCloud):
    """What the stand-ins share: errors, cuts and stalls in the middle of a stream."""

    content_type = "text/event-stream"
    # Of a thought, of calls [(name, arguments)], and the provider's own word for the end.
    thought: str = ""
    signature: str = "c2lnbmF0dXJlLW9mLWEtdGhvdWdodC0x"
    stop: str | None = None
    root: str

    def __init__(self, script: Script | None = None, **options: Any) -> None:
        super().__init__(script, **options)
        self.tool_calls: list[tuple[str, str]] = []
        self.root = self.base_url.removesuffix("/v1")

    def check(self, request: Object) -> None:
        """Raises Refused for what the provider would refuse."""
        raise NotImplementedError

    def items(self, script: Script, wants: Object) -> Items:
        """The answer in its parts, each ("piece" or "other", its bytes)."""
        raise NotImplementedError

    def error(self, status: int, message: str) -> Object:
        raise NotImplementedError

    def error_item(self, message: str) -> bytes:
        raise NotImplementedError

    def listed(self) -> Object:
        raise NotImplementedError

    def garbage(self) -> bytes:
        return b'data: {"type": \n\n'

    def _answer(self, connection: socket.socket, request: Object) -> bool:
        script = self.script
        if script.cut_at_once:
            return self._reset(connection)
        if script.first_delay:
            self._wait(connection, script.first_delay)
        if script.raw is not None:
            connection.sendall(script.raw)
            return False
        with self._lock:
            status = script.statuses.pop(0) if script.statuses else script.status
        message = script.error_message
        try:
            if status == 200 and request["method"] == "GET":
                return self._send_json(connection, 200, self.listed())
            if status == 200:
                self.check(request)
        except Refused as why:
            status, message = why.status, str(why)
        if status != 200:
            extra = [f"Retry-After: {script.retry_after}"] if script.retry_after else []
            return self._send_json(connection, status, self.error(status, message), extra)
        return self._send_items(connection, script, request["json"])

    def _send_items(self, connection: socket.socket, script: Script, wants: Object) -> bool:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {self.content_type}\r\n"
        connection.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")

        def send(data: bytes) -> None:
            size = 1 if script.byte_by_byte else max(1, len(data))
            for at in range(0, len(data), size):
                part = data[at : at + size]
                connection.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")

        number = 0
        for kind, data in self.items(script, wants):
            if kind == "piece":
                if script.stall_after == number:
                    self._wait(connection, 3600)
                if script.cut_after == number:
                    return self._reset(connection)
                if script.garbage_after == number:
                    send(self.garbage())
                if script.error_after == number:
                    send(self.error_item(script.error_message))
                    return False
                if script.piece_delay:
                    self._wait(connection, script.piece_delay)
                number += 1
            elif kind == "end" and script.no_done:
                break
            send(data)
        connection.sendall(b"0\r\n\r\n")
        return True


class ScriptedAnthropic(ScriptedProvider):
    """https://platform.claude.com/docs/en/api/messages"""

    key = "sk-ant-secret"
    cached = 0  # input tokens that come from its cache
    forced_thinking = False

    def check(self, request: Object) -> None:
        headers, wants = request["headers"], request["json"]
        demand(headers.get("x-api-key") == self.key, "invalid x-api-key", 401)
        demand("authorization" not in headers, "two keys", 401)
        demand(
            headers.get("anthropic-version") == "2023-06-01",
            "anthropic-version: header is required",
        )
        demand(request["path"] == "/v1/messages", "Not found", 404)
        demand(isinstance(wants, dict), "the body is no object")
        known = {
            *(
                "model",
                "max_tokens",
                "messages",
                "system",
                "stream",
                "temperature",
                "top_p",
                "top_k",
            ),
            *("stop_sequences", "tools", "tool_choice", "thinking", "output_config", "metadata"),
            "service_tier",
        }
        for name in wants:
            demand(name in known, f"{name}: Extra inputs are not permitted")
        demand(
            isinstance(wants.get("max_tokens"), int) and wants["max_tokens"] > 0,
            "max_tokens: Field required",
        )
        demand(wants.get("stream") is True, "this stand-in streams")
        if "temperature" in wants:
            demand(0 <= wants["temperature"] <= 1, "temperature: range: 0..1")
            demand("top_p" not in wants, "temperature and top_p cannot both be specified")
        thinking = wants.get("thinking", {})
        if thinking.get("type") == "enabled":
            demand(
                thinking["budget_tokens"] < wants["max_tokens"],
                "max_tokens must be greater than budget",
            )
            demand(
                "temperature" not in wants,
                "temperature may only be set to 1 when thinking is enabled",
            )
            choice = wants.get("tool_choice", {}).get("type", "auto")
            demand(
                choice in ("auto", "none"),
                "Thinking may not be enabled when tool_choice forces tool use",
            )
        self._check_messages(wants["messages"], thinking.get("type") == "enabled")
        for block in wants.get("system", []):
            demand(
                block["type"] == "text" and block["text"].strip(), "system: text must be non-empty"
            )
        for tool in wants.get("tools", []):
            demand(
                tool["input_schema"]["type"] == "object", "tools: input_schema must be an object"
            )

    def _check_messages(self, messages: list[Object], budget: bool) -> None:
        demand(messages and messages[0]["role"] == "user", "messages: first must be the user's")
        open_calls: set[str] = set()
        for number, message in enumerate(messages):
            demand(message["role"] in ("user", "assistant"), f"messages.{number}: Unexpected role")
            demand(message["content"], f"messages.{number}: content is empty")
            given = {b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"}
            demand(
                open_calls <= given,
                "tool_use ids were found without tool_result blocks immediately after",
            )
            demand(given <= open_calls, "unexpected tool_use_id found in tool_result blocks")
            for block in message["content"]:
                self._check_block(block, message["role"])
            open_calls = {b["id"] for b in message["content"] if b["type"] == "tool_use"}
            first = message["content"][0]["type"]
            turns = number + 2 >= len(messages)
            if budget and open_calls and turns:
                demand(
                    first in ("thinking", "redacted_thinking"),
                    "Expected `thinking`, but found `tool_use`",
                )

    def _check_block(self, block: Object, role: str) -> None:
        kind = block["type"]
        if kind == "text":
            demand(block["text"].strip(), "messages: text content blocks must be non-empty")
        elif kind in ("image", "document"):
            source = block["source"]
            demand(source["type"] in ("base64", "url"), "unknown source")
            if source["type"] == "base64":
                check_base64(source["data"])
                demand("/" in source["media_type"], "media_type: unknown")
        elif kind == "thinking":
            demand(block["signature"] == self.signature, "Invalid `signature` in `thinking` block")
        elif kind == "tool_use":
            demand(isinstance(block["input"], dict), "tool_use.input: must be an object")
        else:
            demand(kind in ("tool_result", "redacted_thinking"), f"unknown block {kind}")
        demand(
            role == "assistant" or kind not in ("thinking", "tool_use"), f"{kind} is not the user's"
        )

    @staticmethod
    def _event(kind: str, **members: Any) -> bytes:
        data = json.dumps({"type": kind, **members}, ensure_ascii=False)
        return f"event: {kind}\ndata: {data}\n\n".encode()

    def _block(self, index: int, block: Object, deltas: list[Object]) -> Items:
        yield "other", self._event("content_block_start", index=index, content_block=block)
        for delta in deltas:
            yield "piece", self._event("content_block_delta", index=index, delta=delta)
        yield "other", self._event("content_block_stop", index=index)

    def items(self, script: Script, wants: Object) -> Items:
        usage = self._usage(script, wants)
        start = {
            "input_tokens": usage["prompt_tokens"],
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": self.cached,
            "output_tokens": 1,
        }
        message = {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": wants["model"],
            "content": [],
            "stop_reason": None,
            "usage": start,
        }
        yield "other", self._event("message_start", message=message)
        yield "other", self._event("ping")
        index = 0
        if self.thought and wants.get("thinking", {}).get("type") in ("enabled", "adaptive"):
            deltas = [{"type": "thinking_delta", "thinking": self.thought}]
            deltas.append({"type": "signature_delta", "signature": self.signature})
            block = {"type": "thinking", "thinking": "", "signature": ""}
            yield from self._block(index, block, deltas)
            index += 1
        pieces = [{"type": "text_delta", "text": piece} for piece in self._pieces(script) if piece]
        if pieces:
            yield from self._block(index, {"type": "text", "text": ""}, pieces)
            index += 1
        for number, (name, arguments) in enumerate(self.tool_calls):
            block = {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": {}}
            halves = [arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]]
            deltas = [
                {"type": "input_json_delta", "partial_json": half}
                for half in ["", *halves]
                if arguments
            ]
            yield from self._block(index, block, deltas)
            index += 1
        reason = self.stop or ("tool_use" if self.tool_calls else "end_turn")
        stops = wants.get("stop_sequences") or [None]
        delta = {
            "stop_reason": reason,
            "stop_sequence": stops[0] if reason == "stop_sequence" else None,
        }
        told = {"output_tokens": usage["completion_tokens"], **(script.usage_members or {})}
        yield "end", self._event("message_delta", delta=delta, usage=told)
        yield "end", self._event("message_stop")

    def _usage(self, script: Script, wants: Object) -> Object:
        prompt = len(json.dumps(wants)) // 4
        return {
            "prompt_tokens": prompt,
            "completion_tokens": len(self._pieces(script)) + 20 * len(self.tool_calls),
        }

    def error(self, status: int, message: str) -> Object:
        kinds = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error"}
        kinds |= {429: "rate_limit_error", 529: "overloaded_error"}
        return {
            "type": "error",
            "error": {"type": kinds.get(status, "api_error"), "message": message},
        }

    def error_item(self, message: str) -> bytes:
        return self._event("error", error={"type": "overloaded_error", "message": message})

    def listed(self) -> Object:
        return {
            "data": [{"type": "model", "id": name} for name in self.script.models],
            "has_more": False,
        }
