"""Scripted clouds with APIs of their own, as Anthropic's: stand-ins for what cannot run here.

They are as strict as the providers document: what these refuse, a stand-in refuses with the
provider's own error. A script is that of the OpenAI-compatible
one; `extra` says what only these have."""

import base64
import binascii
import datetime
import hashlib
import hmac
import json
import socket
import struct
import urllib.parse
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
    written = 0  # and that it puts there
    cipher = ""  # of a thought that it does not show
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
            *("service_tier", "cache_control"),
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
        elif kind == "redacted_thinking":
            demand(block["data"] == self.cipher, "Invalid `data` in `redacted_thinking` block")
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
            "cache_creation_input_tokens": self.written,
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
            if self.cipher:
                hidden = {"type": "redacted_thinking", "data": self.cipher}
                yield from self._block(index, hidden, [])
                index += 1
        pieces = [{"type": "text_delta", "text": piece} for piece in self._pieces(script) if piece]
        if pieces:
            yield from self._block(index, {"type": "text", "text": ""}, pieces)
            index += 1
        for number, (name, arguments) in enumerate(self.tool_calls):
            call: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{number}", "input": {}}
            block = {**call, "name": name}
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


class ScriptedGemini(ScriptedProvider):
    """https://ai.google.dev/api/generate-content; with `vertex` its form at Vertex AI."""

    key = "AIzaSecretOfGemini"
    vertex = False
    cached = 0

    def check(self, request: Object) -> None:
        headers, wants = request["headers"], request["json"]
        given = headers.get("authorization" if self.vertex else "x-goog-api-key")
        demand(given == (f"Bearer {self.key}" if self.vertex else self.key), "bad key", 401)
        root = "/v1/projects/p/locations/l/publishers/google" if self.vertex else "/v1beta"
        path, _, query = request["path"].partition("?")
        demand(path.startswith(f"{root}/models/"), "Not found", 404)
        demand(path.endswith(":streamGenerateContent") and query == "alt=sse", "Not found", 404)
        self.model = path.removeprefix(f"{root}/models/").partition(":")[0]
        demand(isinstance(wants, dict), "the request body is empty")
        known = {"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"}
        for name in wants:
            demand(name in known, f'Invalid JSON payload received. Unknown name "{name}"')
        demand(wants.get("contents"), "contents is not specified")
        calls: list[str] = []
        for content in wants["contents"]:
            demand(content["role"] in ("user", "model"), "Please use a valid role: user, model.")
            demand(content["parts"], "parts must not be empty")
            answers = [p for p in content["parts"] if "functionResponse" in p]
            if calls or answers:
                names = [p["functionResponse"]["name"] for p in answers]
                demand(names == calls, "function response parts must equal function call parts")
            for part in content["parts"]:
                self._check_part(part)
            calls = [p["functionCall"]["name"] for p in content["parts"] if "functionCall" in p]
            if calls and "gemini-2" not in self.model:
                first = next(p for p in content["parts"] if "functionCall" in p)
                signed = first.get("thoughtSignature")
                fine = signed in (self.signature, "skip_thought_signature_validator")
                demand(fine, "Function call is missing a thought_signature")
        config = wants.get("generationConfig", {})
        thinking = config.get("thinkingConfig", {})
        both = "thinkingBudget" in thinking and "thinkingLevel" in thinking
        demand(not both, "budget and level are mutually exclusive")

    def _check_part(self, part: Object) -> None:
        data = set(part) & {"text", "inlineData", "fileData", "functionCall", "functionResponse"}
        demand(len(data) == 1, "a part has one kind of data")
        if "inlineData" in part:
            check_base64(part["inlineData"]["data"])
            demand("/" in part["inlineData"]["mimeType"], "mimeType")
        if "functionResponse" in part:
            demand(isinstance(part["functionResponse"]["response"], dict), "response: an object")

    def _event(self, parts: list[Object], **members: Any) -> bytes:
        candidate: Object = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if "finishReason" in members:
            candidate["finishReason"] = members.pop("finishReason")
        value = {"candidates": [candidate], "modelVersion": self.model, "responseId": "resp1"}
        return b"data: " + json.dumps({**value, **members}).encode() + b"\r\n\r\n"

    def items(self, script: Script, wants: Object) -> Items:
        usage = {
            "promptTokenCount": len(json.dumps(wants)) // 4,
            "candidatesTokenCount": len(self._pieces(script)),
            "cachedContentTokenCount": self.cached,
        }
        thinking = wants.get("generationConfig", {}).get("thinkingConfig", {})
        if self.thought and thinking.get("includeThoughts"):
            usage["thoughtsTokenCount"] = 5
            yield "other", self._event([{"text": self.thought, "thought": True}])
        for piece in self._pieces(script):
            if piece:
                yield "piece", self._event([{"text": piece}])
        parts: list[Object] = []
        for name, arguments in self.tool_calls:
            parts.append({"functionCall": {"name": name, "args": json.loads(arguments or "{}")}})
        if parts:
            parts[0]["thoughtSignature"] = self.signature
            yield "piece", self._event(parts)
        usage["totalTokenCount"] = sum(usage.values()) - self.cached
        told = {**usage, **(script.usage_members or {})}
        reason = self.stop or "STOP"
        yield "end", self._event([{"text": ""}], finishReason=reason, usageMetadata=told)

    def error(self, status: int, message: str) -> Object:
        names = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED"}
        kind = "type.googleapis.com/google.rpc."
        details: list[Object] = []
        if message == "bad key":  # what Google says of a wrong key
            details = [{"@type": kind + "ErrorInfo", "reason": "API_KEY_INVALID"}]
            status, message = 400, "API key not valid. Please pass a valid API key."
        if status == 429:
            details = [{"@type": kind + "RetryInfo", "retryDelay": "33s"}]
        name = names.get(status, "UNAVAILABLE")
        return {"error": {"code": status, "message": message, "status": name, "details": details}}

    def _send_json(self, connection: Any, status: int, value: Any, extra: Any = ()) -> bool:
        code = value.get("error", {}).get("code") if isinstance(value, dict) else None
        return super()._send_json(connection, code or status, value, extra)

    def error_item(self, message: str) -> bytes:
        return b"data: " + json.dumps(self.error(503, message)).encode() + b"\r\n\r\n"

    def listed(self) -> Object:
        return {"models": [{"name": f"models/{name}"} for name in self.script.models]}


class ScriptedBedrock(ScriptedProvider):
    """https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html. The
    signature of each request is computed anew and compared."""

    content_type = "application/vnd.amazon.eventstream"
    key_id, secret, token = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", ""
    region = "eu-central-1"
    bearer: str | None = None

    def signature_of(self, request: Object) -> str:
        headers = request["headers"]
        when, path = headers["x-amz-date"], request["path"].partition("?")[0]
        names = ["host", "x-amz-date", *(["x-amz-security-token"] if self.token else [])]
        lines = [f"{name}:{headers[name]}" for name in names]
        quoted = "/".join(urllib.parse.quote(part, safe="-_.~") for part in path.split("/"))
        body = hashlib.sha256(request["body"]).hexdigest()
        signed = ";".join(names)
        canonical = "\n".join([request["method"], quoted, "", *lines, "", signed, body])
        scope = f"{when[:8]}/{self.region}/bedrock/aws4_request"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = f"AWS4-HMAC-SHA256\n{when}\n{scope}\n{digest}"
        key = ("AWS4" + self.secret).encode()
        for step in (when[:8], self.region, "bedrock", "aws4_request"):
            key = hmac.new(key, step.encode(), hashlib.sha256).digest()
        signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        return (
            f"AWS4-HMAC-SHA256 Credential={self.key_id}/{scope}, "
            f"SignedHeaders={signed}, Signature={signature}"
        )

    def check(self, request: Object) -> None:
        headers, wants = request["headers"], request["json"]
        if self.bearer:
            demand(headers.get("authorization") == f"Bearer {self.bearer}", "bad token", 403)
        else:
            demand(headers.get("x-amz-security-token", "") == self.token, "bad token", 403)
            right = headers.get("authorization") == self.signature_of(request)
            demand(right, "The request signature we calculated does not match", 403)
            stamp = datetime.datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ")
            age = abs((datetime.datetime.utcnow() - stamp).total_seconds())
            demand(age < 300, "Signature expired", 403)
        demand(request["path"].startswith("/model/"), "Unknown operation", 404)
        demand(request["path"].endswith("/converse-stream"), "Unknown operation", 404)
        demand(isinstance(wants, dict), "The request body is empty")
        known = {"messages", "system", "inferenceConfig", "toolConfig"}
        for name in wants:
            demand(name in known | {"additionalModelRequestFields"}, f"unknown {name}")
        open_calls: set[str] = set()
        for message in wants["messages"]:
            demand(message["role"] in ("user", "assistant") and message["content"], "a message")
            blocks = [(name, block[name]) for block in message["content"] for name in block]
            given = {value["toolUseId"] for name, value in blocks if name == "toolResult"}
            demand(given == open_calls, "toolResult blocks and toolUse blocks differ")
            open_calls = {value["toolUseId"] for name, value in blocks if name == "toolUse"}
            demand("toolConfig" in wants or not open_calls, "toolConfig must be defined")
            for name, value in blocks:
                if name in ("image", "document"):
                    check_base64(value["source"]["bytes"])
                if name == "reasoningContent":
                    signed = value["reasoningText"]["signature"] == self.signature
                    demand(signed, "Invalid signature")
        demand(0 <= wants.get("inferenceConfig", {}).get("temperature", 0) <= 1, "temperature")

    @staticmethod
    def _frame(kind: str, value: Object, message_type: str = "event") -> bytes:
        name = ":event-type" if message_type == "event" else ":exception-type"
        rows = [
            (":message-type", message_type),
            (name, kind),
            (":content-type", "application/json"),
        ]
        head = b""
        for key, text in rows:
            data = text.encode()
            head += bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(data)) + data
        payload = json.dumps({**value, "p": "abcdefgh"}).encode()
        begin = struct.pack(">II", 16 + len(head) + len(payload), len(head))
        begin += struct.pack(">I", binascii.crc32(begin))
        whole = begin + head + payload
        return whole + struct.pack(">I", binascii.crc32(whole))

    def items(self, script: Script, wants: Object) -> Items:
        yield "other", self._frame("messageStart", {"role": "assistant"})
        index = 0

        def delta(value: Object) -> bytes:
            member = {"contentBlockIndex": index, "delta": value}
            return self._frame("contentBlockDelta", member)

        extra = wants.get("additionalModelRequestFields", {})
        if self.thought and "thinking" in extra:
            yield "other", delta({"reasoningContent": {"text": self.thought}})
            yield "other", delta({"reasoningContent": {"signature": self.signature}})
            yield "other", self._frame("contentBlockStop", {"contentBlockIndex": index})
            index += 1
        for piece in self._pieces(script):
            yield "piece", delta({"text": piece})
        yield "other", self._frame("contentBlockStop", {"contentBlockIndex": index})
        for number, (name, arguments) in enumerate(self.tool_calls):
            index += 1
            use = {"toolUse": {"toolUseId": f"tooluse_{number}", "name": name}}
            start = {"contentBlockIndex": index, "start": use}
            yield "other", self._frame("contentBlockStart", start)
            for at in range(0, len(arguments), 5):
                yield "piece", delta({"toolUse": {"input": arguments[at : at + 5]}})
            yield "other", self._frame("contentBlockStop", {"contentBlockIndex": index})
        reason = self.stop or ("tool_use" if self.tool_calls else "end_turn")
        yield "end", self._frame("messageStop", {"stopReason": reason})
        usage = {"inputTokens": len(json.dumps(wants)) // 4, "cacheReadInputTokens": 3}
        usage["outputTokens"] = len(self._pieces(script)) + 9 * len(self.tool_calls)
        usage["totalTokens"] = usage["inputTokens"] + usage["outputTokens"]
        yield "end", self._frame("metadata", {"usage": {**usage, **(script.usage_members or {})}})

    def error(self, status: int, message: str) -> Object:
        return {"message": message}

    def error_item(self, message: str) -> bytes:
        return self._frame("throttlingException", {"message": message}, "exception")

    def garbage(self) -> bytes:
        return b"\x00\x00\x00\x20" * 8

    def listed(self) -> Object:
        raise Refused("Unknown operation", 404)
