"""Requests as the documents of llama-server and of LiteLLM show them: the same members and shapes,
the texts our own. Each names the page that it follows.

From llama.cpp: the endpoints of tools/server/README.md, with their examples and the options that
have one, and docs/function-calling.md. From LiteLLM: pages of its documentation about requests to
models, one row for each shape that a page shows (a page repeats many for another provider or in
another language), the calls of its SDK as the body that its proxy gets. Left out are what operators
call (LiteLLM's keys, teams and budgets; llama-server's metrics, slots and their files, and the
setting of properties and adapters), LiteLLM's pages about speech, transcription, pictures to be
made, fine-tuning, assistants, vector stores and agents' protocols, and most of its pages about one
provider each."""

from typing import Any, NamedTuple


class Example(NamedTuple):
    page: str
    name: str  # unique
    path: str
    body: Any = None  # None: a GET

    @property
    def method(self) -> str:
        return "GET" if self.body is None else "POST"


EXAMPLES: list[Example] = []
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQ"
    "AAAABJRU5ErkJggg=="
)
PICTURE = f"data:image/png;base64,{PIXEL}"
PICTURE_ADDRESS = "https://example.com/harbour.jpg"
RECORDING = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
DOCUMENT = "data:application/pdf;base64,JVBERi0xLjQKJSVFT0YK"
DOCUMENT_ADDRESS = "https://example.com/report.pdf"


def user(content: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": content}]


def told(system: Any, content: Any) -> list[dict[str, Any]]:
    return [{"role": "system", "content": system}, *user(content)]


def words(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def image(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


def function(name: str, *required: str, **parameters: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": f"Does what {name} says",
        "parameters": {
            "type": "object",
            "properties": {key: {"type": "string", **more} for key, more in parameters.items()},
            "required": list(required),
        },
    }


HI = user("Hello, how is it going?")
WEATHER = function(
    "get_weather",
    "place",
    place={"description": "A town and its country, e.g. Oslo, Norway"},
    unit={"enum": ["celsius", "fahrenheit"]},
)
WEATHER_TOOL = {"type": "function", "function": WEATHER}
ASK_WEATHER = user("What is the weather like in Oslo?")
STORY = "Tell a story of two sentences about a lighthouse."
PROMPT = "Bread is baked in five simple steps:"
NAMED_SCHEMA = {
    "name": "solution",
    "schema": {
        "type": "object",
        "properties": {
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"why": {"type": "string"}, "result": {"type": "string"}},
                    "required": ["why", "result"],
                    "additionalProperties": False,
                },
            },
            "answer": {"type": "string"},
        },
        "required": ["steps", "answer"],
        "additionalProperties": False,
    },
    "strict": True,
}


class Page:
    def __init__(self, page: str, model: str) -> None:
        self.page, self.model = page, model

    def get(self, name: str, path: str) -> None:
        EXAMPLES.append(Example(self.page, name, path))

    def post(self, name: str, path: str, body: Any) -> None:
        EXAMPLES.append(Example(self.page, name, path, body))

    def chat(self, name: str, messages: Any = None, **members: Any) -> None:
        body = {"model": self.model, "messages": messages or HI, **members}
        self.post(name, "/v1/chat/completions", body)

    def responses(self, name: str, asked: Any = STORY, **members: Any) -> None:
        self.post(name, "/v1/responses", {"model": self.model, "input": asked, **members})

    def messages(self, name: str, messages: Any = None, **members: Any) -> None:
        body = {"model": self.model, "max_tokens": 100, "messages": messages or HI, **members}
        self.post(name, "/v1/messages", body)

    def embeddings(self, name: str, text: Any, **members: Any) -> None:
        self.post(name, "/v1/embeddings", {"model": self.model, "input": text, **members})
