"""Requests as llama.cpp's documents show them (peer_requests.py)."""

from typing import Any

from peer_requests import (
    ASK_WEATHER,
    HI,
    PICTURE,
    PICTURE_ADDRESS,
    PIXEL,
    PROMPT,
    RECORDING,
    STORY,
    WEATHER_TOOL,
    Page,
    function,
    image,
    told,
    user,
    words,
)


def completion(page: Page, name: str, prompt: Any = PROMPT, **members: Any) -> None:
    page.post(name, "/completion", {"prompt": prompt, "n_predict": 8, **members})


def llama_completion() -> None:
    page = Page("llama.cpp tools/server/README.md, POST /completion", "")
    completion(page, "completion", n_predict=128)
    completion(page, "completion of tokens", [12, 34, 56])
    completion(page, "completion of tokens and texts", [12, 34, "bread", 56, 78])
    completion(page, "completion of an object", {"prompt_string": PROMPT})
    completion(
        page,
        "completion with a picture",
        {"prompt_string": "<__media__> shows", "multimodal_data": [PIXEL]},
    )
    completion(page, "completion of two texts", ["Bread is", "Cheese is"])
    completion(page, "completion of many kinds", ["Bread is", [12, 34], {"prompt_string": "So"}])
    settings: dict[str, dict[str, Any]] = {
        "dynamic temperature": {
            "temperature": 0.8,
            "dynatemp_range": 0.0,
            "dynatemp_exponent": 1.0,
        },
        "sampling": {"top_k": 40, "top_p": 0.95, "min_p": 0.05, "typical_p": 1.0},
        "no limit": {"n_predict": -1, "stop": ["\n"]},
        "indent and keep": {"n_indent": 0, "n_keep": -1, "n_cache_reuse": 0},
        "several completions": {"n_cmpl": 2},
        "a stream": {"stream": True},
        "penalties": {
            "repeat_penalty": 1.1,
            "repeat_last_n": 64,
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
        },
        "dry": {
            "dry_multiplier": 0.0,
            "dry_base": 1.75,
            "dry_allowed_length": 2,
            "dry_penalty_last_n": 64,
            "dry_sequence_breakers": ["\n", ":", '"', "*"],
        },
        "xtc": {"xtc_probability": 0.0, "xtc_threshold": 0.1},
        "mirostat": {"mirostat": 2, "mirostat_tau": 5.0, "mirostat_eta": 0.1},
        "a grammar": {"grammar": 'root ::= "north" | "south"'},
        "a schema": {"json_schema": {"items": {"type": "string"}, "minItems": 1, "maxItems": 3}},
        "any JSON": {"json_schema": {}},
        "a random seed": {"seed": -1, "ignore_eos": False},
        "a likelier token": {"logit_bias": [[150, 1.0]]},
        "a less likely token": {"logit_bias": [[150, -1.0]]},
        "a forbidden token": {"logit_bias": [[150, False]]},
        "less likely words": {"logit_bias": [["Hello, World!", -0.5]]},
        "biases as OpenAI's": {"logit_bias": {"150": 1.0}},
        "probabilities": {"n_probs": 2, "min_keep": 0},
        "probabilities after sampling": {"n_probs": 2, "post_sampling_probs": True},
        "a time limit": {"t_max_predict_ms": 0},
        "a slot and its cache": {"id_slot": -1, "cache_prompt": True},
        "its tokens": {"return_tokens": True},
        "samplers": {"samplers": ["dry", "top_k", "typ_p", "top_p", "min_p", "xtc", "temperature"]},
        "timings and progress": {"timings_per_token": True, "return_progress": True},
        "pings": {"stream": True, "sse_ping_interval": -1},
        "chosen fields": {"response_fields": ["content", "generation_settings/n_predict"]},
    }
    for name, members in settings.items():
        completion(page, f"completion: {name}", **members)


def llama_tools_of_the_model() -> None:
    page = Page("llama.cpp tools/server/README.md", "some-model")
    page.get("health", "/health")
    page.get("health with its version", "/v1/health")
    page.post("tokenize", "/tokenize", {"content": "Bread and cheese"})
    options = {"add_special": True, "parse_special": False, "with_pieces": True}
    page.post("tokenize with pieces", "/tokenize", {"content": "á", **options})
    page.post("detokenize", "/detokenize", {"tokens": [12, 34, 56]})
    page.post("apply-template", "/apply-template", {"messages": told("Be brief.", "Hello")})
    page.post("embedding", "/embedding", {"content": "Bread and cheese", "embd_normalize": 2})
    page.post("embeddings without v1", "/embeddings", {"input": "Bread", "model": "some-model"})
    reranked = {
        "model": "some-model",
        "query": "What is an otter?",
        "top_n": 2,
        "documents": ["hi", "it is a tool", "The otter is an animal that swims."],
    }
    for path in ("/reranking", "/rerank", "/v1/rerank", "/v1/reranking"):
        page.post(f"rerank at {path}", path, reranked)
    infill = {"input_prefix": "def add(a, b):\n    return ", "input_suffix": "\n", "n_predict": 8}
    page.post("infill", "/infill", infill)
    extra = [{"filename": "sums.py", "text": "def sub(a, b): return a - b"}]
    page.post("infill with files", "/infill", {**infill, "input_extra": extra, "prompt": "a"})
    page.get("props", "/props")
    page.get("lora-adapters", "/lora-adapters")
    page.get("models", "/v1/models")
    page.get("models without v1", "/models")


def llama_openai() -> None:
    page = Page("llama.cpp tools/server/README.md, OpenAI's endpoints", "gpt-3.5-turbo")
    page.post(
        "text completion",
        "/v1/completions",
        {"model": "davinci-002", "prompt": "The reason why is", "max_tokens": 8},
    )
    page.chat("a system's words", told("You help with writing.", "Write a rhyme about errors."))
    as_json = user("Name a city, as JSON.")
    page.chat("JSON", as_json, response_format={"type": "json_object"})
    text_schema = {"type": "string", "minLength": 10, "maxLength": 100}
    page.chat(
        "JSON by a schema beside it",
        as_json,
        response_format={"type": "json_object", "schema": text_schema},
    )
    event = {"properties": {"title": {"title": "Title", "type": "string"}}}
    page.chat(
        "a schema beside its type",
        as_json,
        response_format={"type": "json_schema", "schema": event},
    )
    page.chat("mirostat in a chat", mirostat=2, mirostat_tau=5.0)
    page.chat("template arguments", chat_template_kwargs={"enable_thinking": False})
    page.chat("no reasoning", reasoning_effort="none")
    page.chat("raw reasoning", reasoning_format="none")
    page.chat("reasoning that may be ended", reasoning_control=True)
    page.chat("calls one by one", ASK_WEATHER, tools=[WEATHER_TOOL], parallel_tool_calls=False)
    page.chat("an image's address", user([words("What is it?"), image(PICTURE_ADDRESS)]))
    page.chat("an image's data", user([words("What is it?"), image(PICTURE)]))
    page.chat("an image in base64", user([words("What is it?"), image(PIXEL)]))
    page.chat("an image's file", user([words("What is it?"), image("file:///media/a.png")]))
    heard: dict[str, dict[str, Any]] = {
        "a recording": {"type": "input_audio", "input_audio": {"data": RECORDING}},
        "a recording's address": {
            "type": "input_audio",
            "input_audio": {"url": "https://example.com/a.wav"},
        },
        "a film": {"type": "input_video", "input_video": {"data": RECORDING}},
        "a film's address": {
            "type": "input_video",
            "input_video": {"url": "https://example.com/a.mp4"},
        },
    }
    for name, part in heard.items():
        page.chat(name, user([words("What is it?"), part]))
    page.post(
        "control of a chat",
        "/v1/chat/completions/control",
        {"id": "chatcmpl-none", "action": "reasoning_end"},
    )
    page.responses("a response", instructions="You help with writing.")
    page.model = "GPT-4"
    page.embeddings("a vector", "hello", encoding_format="float")
    page.embeddings("two vectors", ["hello", "world"], encoding_format="float")
    shown = {"content": [image(PICTURE), words("Describe it")]}
    page.post(
        "a picture's vector",
        "/v1/embeddings",
        {"input": [shown, {"content": [words("hello")]}], "encoding_format": "float"},
    )
    asked: dict[str, Any] = {"model": "gpt-4.1", "input": STORY}
    page.post("a response's tokens", "/v1/responses/input_tokens", asked)
    asked = {"model": "gpt-4.1", "messages": HI}
    page.post("a chat's tokens", "/v1/chat/completions/input_tokens", asked)


def llama_others() -> None:
    page = Page("llama.cpp tools/server/README.md, Anthropic's endpoints", "gpt-4")
    page.messages("a message", max_tokens=1024, system="You help.")
    page.messages(
        "a message with all options",
        system=[words("You help.")],
        temperature=1.0,
        top_p=1.0,
        top_k=40,
        stop_sequences=["END"],
        stream=True,
        tools=[{"name": "look", "input_schema": {"type": "object"}}],
        tool_choice={"type": "auto"},
    )
    page.post("a message's tokens", "/v1/messages/count_tokens", {"model": "gpt-4", "messages": HI})
    page = Page("llama.cpp tools/server/README.md, POST /v1/systemone", "")
    questions: dict[str, Any] = {
        "team": {
            "type": "choice",
            "instructions": "Whose is it?",
            "criteria": {"billing": None, "shipping": None},
        },
        "angry": {"type": "noul", "instructions": "Is the writer angry?"},
        "haste": {"type": "score", "instructions": "How urgent?", "criteria": ["later", "now"]},
    }
    asked = {"state": "I paid twice for a parcel.", "questions": questions}
    page.post("typed questions", "/v1/systemone", asked)
    page.post("typed questions of a picture", "/v1/systemone", {**asked, "images": [PICTURE]})
    page = Page("llama.cpp docs/function-calling.md", "gpt-3.5-turbo")
    python = {"type": "function", "function": function("python", "code", code={})}
    page.chat("a tool that runs code", user("Print a greeting."), tools=[python])
    page.chat(
        "a tool for the weather",
        told("You use tools.", "What is the weather in Oslo?"),
        tools=[WEATHER_TOOL],
    )
    page.chat("a tool's stream", ASK_WEATHER, tools=[WEATHER_TOOL], stream=True)


def collect() -> None:
    llama_completion()
    llama_tools_of_the_model()
    llama_openai()
    llama_others()
