"""How a request names an object that may be another tenant's, for each endpoint of tenants."""

import time
from collections.abc import Callable
from typing import Any

Body = dict[str, Any]

TEXT = "Tell me of the prompt-canary and of annacanary@acmeltd.com in Canaryville, please."


def soon() -> int:
    return int(time.time()) + 600


def chat_body(name: str) -> Body:
    return {
        "model": "local",
        "messages": [{"role": "user", "content": TEXT}],
        "max_tokens": 2,
        "user": name,
        "tandem": {"consent": name},
    }


def prompt_body(name: str) -> Body:
    return {"model": "local", "prompt": TEXT, "max_tokens": 2, "user": name}


def gemini_body(name: str) -> Body:
    config = {"maxOutputTokens": 2}
    return {
        "contents": [{"parts": [{"text": TEXT}]}],
        "generationConfig": config,
        "tandem": {"consent": name},
    }


# How a body names an object, for each endpoint of tenants that takes one: {path: name -> body}. An
# endpoint that is not here fails the walk of test_tenants.py: nobody has said how to attack it.
BODIES: dict[str, Callable[[str], Body]] = {
    "/v1/chat/completions": chat_body,
    "/v1/messages": lambda name: {
        "model": "local",
        "max_tokens": 2,
        "messages": [{"role": "user", "content": TEXT}],
        "metadata": {"user_id": name},
    },
    "/v1/responses": lambda name: {
        "model": "local",
        "input": TEXT,
        "max_output_tokens": 16,
        "user": name,
        "previous_response_id": name,
    },
    "/v1/responses/input_tokens": lambda name: {"input": TEXT, "previous_response_id": name},
    "/v1/responses/compact": lambda name: {"input": TEXT, "previous_response_id": name},
    "/v1/responses/*/cancel": lambda name: {"id": name},
    "/v1/conversations": lambda name: {"items": [{"type": "item_reference", "id": name}]},
    "/v1/conversations/*": lambda _: {"metadata": {}},
    "/v1/conversations/*/items": lambda name: {"items": [{"id": name}]},
    "/v1/completions": prompt_body,
    "/v1/files": lambda name: {"file_id": name},
    "/v1/batches": lambda name: {
        "input_file_id": name,
        "endpoint": "/v1/embeddings",
        "completion_window": "24h",
    },
    "/v1/batches/*/cancel": lambda name: {"id": name},
    "/api/chat": lambda name: {**chat_body(name), "stream": False},
    "/api/generate": lambda name: {**prompt_body(name), "tandem": {"consent": name}},
    "/api/embed": lambda name: {"model": "auto", "input": TEXT, "user": name},
    "/api/embeddings": lambda name: {"model": "auto", "prompt": TEXT, "user": name},
    "/completion": prompt_body,
    "/embedding": lambda name: {"content": TEXT, "user": name},
    "/infill": lambda name: {**prompt_body(name), "input_prefix": TEXT},
    "/v1/embeddings": lambda name: {"model": "auto", "input": TEXT, "user": name},
    "/v1/moderations": lambda name: {"input": TEXT, "user": name},
    "/v1/rerank": lambda name: {"query": TEXT, "documents": [TEXT], "user": name},
    "/v1/models/*:generateContent": gemini_body,
    "/v1/models/*:streamGenerateContent": gemini_body,
    "/v1/models/*:embedContent": lambda _: {"content": {"parts": [{"text": TEXT}]}},
    "/v1/models/*:batchEmbedContents": lambda _: {
        "requests": [{"content": {"parts": [{"text": TEXT}]}}]
    },
    "/v1/deployments/*/chat/completions": chat_body,
    "/v1/deployments/*/completions": prompt_body,
    "/v1/deployments/*/embeddings": lambda name: {"input": TEXT, "user": name},
    "/tandem/v1/classify": lambda name: {"text": TEXT, "set": "intents", "user": name},
    "/tandem/v1/feedback": lambda name: {"id": name, "ok": False, "comment": "of another"},
    "/tandem/v1/consents": lambda name: {"id": name, "scope": "other", "expires": soon()},
    "/tandem/v1/forget": lambda name: {"user": name},
    "/tandem/v1/privacy/check": lambda name: {"text": TEXT, "user": name},
    "/tandem/v1/review/take": lambda name: {"reviewer": name},
    "/tandem/v1/review/tickets/*": lambda name: {"reviewer": name},
}
