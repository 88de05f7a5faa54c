"""Requests as LiteLLM's documents show them (peer_requests.py)."""

from typing import Any

from peer_requests import (
    ASK_WEATHER,
    DOCUMENT,
    DOCUMENT_ADDRESS,
    HI,
    NAMED_SCHEMA,
    PICTURE,
    PICTURE_ADDRESS,
    RECORDING,
    WEATHER,
    WEATHER_TOOL,
    Page,
    function,
    image,
    told,
    user,
    words,
)


def litellm(page: str, model: str = "gpt-4o") -> Page:
    return Page(f"litellm docs/{page}", model)


def litellm_input() -> None:
    page = litellm("completion/input.md", "gpt-3.5-turbo")
    shapes: dict[str, Any] = {
        "max_tokens": {"max_tokens": 10},
        "sampling": {
            "temperature": 0.8,
            "top_p": 0.1,
            "presence_penalty": 0.5,
            "frequency_penalty": 0.5,
        },
        "n": {"n": 2},
        "a stream's usage": {"stream": True, "stream_options": {"include_usage": True}},
        "stop": {"stop": ["\n", "END"]},
        "logit_bias": {"logit_bias": {"1503": -100}},
        "user": {"user": "customer-7"},
        "seed": {"seed": 22},
        "logprobs": {"logprobs": True, "top_logprobs": 5},
        "functions": {"functions": [WEATHER], "function_call": "auto"},
        "deployment_id": {"deployment_id": "eu-1"},
        "timeout": {"timeout": 600},
        "num_retries": {"num_retries": 3},
        "context_window_fallback_dict": {"context_window_fallback_dict": {"gpt-4": "gpt-4-32k"}},
        "fallbacks": {"fallbacks": ["gpt-4o"]},
        "metadata": {"metadata": {"trace": "7"}},
        "prices": {"input_cost_per_token": 0.000001, "output_cost_per_token": 0.000002},
        "a template": {
            "initial_prompt_value": "",
            "roles": {"user": {"pre_message": "", "post_message": ""}},
            "final_prompt_value": "",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "hf_model_name": "example/chat",
        },
        "top_k": {"top_k": 3},
        "max_tokens_to_sample": {"max_tokens_to_sample": 200},
        "null": {"temperature": None, "n": None, "stop": None, "tools": None, "seed": None},
    }
    for name, members in shapes.items():
        page.chat(f"input: {name}", **members)
    page.chat("input: tools", ASK_WEATHER, tools=[WEATHER_TOOL], tool_choice="auto")
    page.chat("input: tools one by one", tools=[WEATHER_TOOL], parallel_tool_calls=False)
    chosen = {"type": "function", "function": {"name": "get_weather"}}
    page.chat("input: a tool by name", ASK_WEATHER, tools=[WEATHER_TOOL], tool_choice=chosen)
    page.chat(
        "input: a function's answer",
        [
            *ASK_WEATHER,
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "get_weather", "arguments": '{"place": "Oslo"}'},
            },
            {"role": "function", "name": "get_weather", "content": "It rains."},
        ],
    )
    page = litellm("completion/function_call.md", "gpt-3.5-turbo-0613")
    page.chat("functions", ASK_WEATHER, functions=[WEATHER])
    odd = function("get_weather", "place", place={}, unit={"enum": "['fahrenheit', 'celsius']"})
    page.chat("functions made of a docstring", ASK_WEATHER, functions=[odd])
    page = litellm("completion/stream.md", "gpt-3.5-turbo")
    page.chat("a stream", stream=True)
    page = litellm("completion/drop_params.md", "command-r")
    page.chat("drop_params", drop_params=True, response_format={"type": "text"})
    page.chat("a format without a type", response_format={"key": "value"}, drop_params=True)
    page.chat("additional_drop_params", additional_drop_params=["response_format"])
    described = {
        "name": "search",
        "description": "Searches files",
        "input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
        "input_examples": [{"query": "bread"}],
    }
    page.chat("a tool as Anthropic's", tools=[described])
    page.chat("allowed_openai_params", allowed_openai_params=["tools"])
    page = litellm("completion/provider_specific_params.md", "llama-3-8b-instruct")
    page.chat("an adapter's id", adapater_id="my-adapter")
    page.chat("requestMetadata", requestMetadata={"cost_center": "kitchen"})
    page.chat("labels", labels={"environment": "production"})
    page.chat("metadata with a user", metadata={"user_id": "user123"})


def litellm_media() -> None:
    page = litellm("completion/vision.md", "gpt-4-vision-preview")
    page.chat("vision", user([words("What is in this picture?"), image(PICTURE_ADDRESS)]))
    page = litellm("completion/document_understanding.md", "bedrock-model")
    ask = words("What is this file about?")
    shapes: dict[str, Any] = {
        "a document's address": {"file_id": DOCUMENT_ADDRESS},
        "a document's data": {"file_data": DOCUMENT},
        "a document's format": {"file_id": DOCUMENT_ADDRESS, "format": "application/pdf"},
    }
    for name, file in shapes.items():
        page.chat(name, user([ask, {"type": "file", "file": file}]))
    page = litellm("completion/audio.md", "gpt-4o-audio-preview")
    spoken: dict[str, Any] = {
        "modalities": ["text", "audio"],
        "audio": {"voice": "alloy", "format": "wav"},
    }
    page.chat("an answer that is spoken", user("Is an otter a good pet?"), **spoken)
    heard = {"type": "input_audio", "input_audio": {"data": RECORDING, "format": "wav"}}
    page.chat("a recording, answered aloud", user([words("What is it?"), heard]), **spoken)
    page = litellm("completion/video.md", "bedrock/amazon.nova-pro-v1:0")
    film = [{"type": "input_file", "file_id": "file-6F2k"}, {"type": "input_text", "text": "What?"}]
    page.post(
        "a film's id, as a response's input to a chat",
        "/v1/chat/completions",
        {"model": page.model, "input": user(film)},
    )
    page = litellm("completion/image_generation_chat.md", "gemini-image-gen")
    page.chat("a picture is wanted", user("Draw a pear in a hat."))
    page.chat("a picture is wanted in a stream", user("Draw a pear in a hat."), stream=True)
    page = litellm("completion/computer_use.md", "claude-3-5-sonnet-latest")
    screen = {
        "type": "computer_20241022",
        "name": "computer",
        "display_height_px": 768,
        "display_width_px": 1024,
        "display_number": 0,
    }
    bash = {"type": "bash_20241022", "name": "bash"}
    editor = {"type": "text_editor_20250124", "name": "str_replace_editor"}
    seen = user([words("Tell what you see on the screen."), image(PICTURE)])
    page.chat("a screen", seen, tools=[screen])
    page.chat("a shell", user("List the files here."), tools=[bash])
    page.chat("an editor", user("Write a short script."), tools=[editor])
    page.chat("a screen, a shell and an editor", seen, tools=[screen, bash, editor])


def litellm_formats() -> None:
    page = litellm("completion/json_mode.md", "gpt-4o-mini")
    solve = told("You teach mathematics.", "How is 8x + 7 = -23 solved?")
    named = {"type": "json_schema", "json_schema": NAMED_SCHEMA}
    page.chat("json_object", user("Who won, as JSON?"), response_format={"type": "json_object"})
    page.chat("json_schema", solve, response_format=named)
    page.chat(
        "a schema within json_object",
        solve,
        response_format={"type": "json_object", "response_schema": named},
    )
    page = litellm("completion/predict_outputs.md", "gpt-4o-mini")
    code = "class User:\n    name: str\n"
    page.chat(
        "a prediction",
        [*user("Call the name a title."), *user(code)],
        prediction={"type": "content", "content": code},
    )
    page = litellm("completion/prefix.md", "deepseek/deepseek-chat")
    begun = {"role": "assistant", "content": "Otters", "prefix": True}
    page.chat("an answer that is begun", [*user("Which animals swim?"), begun])
    page = litellm("completion/prompt_caching.md", "gpt-4o")
    law = words("Here are the terms of an agreement." * 40)
    marked = {**law, "cache_control": {"type": "ephemeral"}}
    terms = user([words("What are its main terms?")])
    said = {"role": "assistant", "content": "It lasts one year."}
    page.chat(
        "parts of text over turns",
        [{"role": "system", "content": [law]}, *terms, said, *terms],
        temperature=0.2,
        max_tokens=10,
    )
    page.chat("cache_control", told([words("You read laws."), marked], "What are its terms?"))
    page.chat("turns", [*told("You know history.", "Who was first?"), said, *user("And then?")])


def litellm_searches() -> None:
    page = litellm("completion/web_search.md", "openai/gpt-4o-search-preview")
    news = user("What was good news today?")
    for size in ("low", "medium", "high"):
        options: dict[str, Any] = {"search_context_size": size}
        page.chat(f"web_search_options: {size}", news, web_search_options=options)
    place = {"type": "approximate", "approximate": {"city": "Oslo"}}
    options = {"search_context_size": "medium", "user_location": place}
    page.chat("web_search_options with a place", news, web_search_options=options)
    search = {"type": "web_search_preview"}
    page.responses("web_search_preview", "What was good news today?", tools=[search])
    page.responses("web_search_preview of messages", news, tools=[search])
    page.responses(
        "web_search_preview with a size", news, tools=[{**search, "search_context_size": "low"}]
    )
    page = litellm("completion/web_fetch.md", "claude-3-5-sonnet-latest")
    fetch = {"type": "web_fetch_20250910", "name": "web_fetch", "max_uses": 5}
    read = user("Read https://example.com/article and say what it is about.")
    page.chat("web_fetch", read, tools=[fetch])
    editor = {"type": "text_editor_20250124", "name": "str_replace_editor"}
    page.chat("web_fetch and an editor", read, tools=[fetch, editor])
    page.chat(
        "web_fetch with all options",
        read,
        tools=[
            {
                **fetch,
                "allowed_domains": ["example.com"],
                "citations": {"enabled": True},
                "max_content_tokens": 100000,
            }
        ],
    )
    page = litellm("completion/knowledgebase.md", "claude-3-5-sonnet")
    stored = {"type": "file_search", "vector_store_ids": ["T1"]}
    page.chat("file_search", user("What is bread?"), tools=[stored])
    page.chat("vector_store_ids", user("What is bread?"), vector_store_ids=["T1"])


def litellm_reasoning() -> None:
    page = litellm("reasoning_content.md", "anthropic/claude-3-7-sonnet-20250219")
    page.chat("reasoning_effort", reasoning_effort="low")
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": '{"place": "Oslo"}'},
    }
    result = {"role": "tool", "tool_call_id": "call_1", "content": "It rains."}
    page.chat(
        "thinking with tools",
        [*ASK_WEATHER, {"role": "assistant", "tool_calls": [call]}, result],
        thinking={"type": "enabled", "budget_tokens": 1024},
        tools=[WEATHER_TOOL],
    )
    page.chat("effort with tools", ASK_WEATHER, tools=[WEATHER_TOOL], reasoning_effort="low")
    thought = {
        "role": "assistant",
        "content": "I look it up.",
        "tool_calls": [{**call, "index": 2}],
        "function_call": None,
        "reasoning_content": "They ask for the weather.",
        "thinking_blocks": [
            {"type": "thinking", "thinking": "They ask for the weather.", "signature": "EqoBCkgI"}
        ],
        "provider_specific_fields": {
            "reasoningContentBlocks": [{"reasoningText": {"signature": "EqoB", "text": "They ask"}}]
        },
    }
    page.chat(
        "thinking_blocks",
        [*ASK_WEATHER, thought, {**result, "name": "get_weather"}],
        seed=22,
        reasoning_effort="low",
        drop_params=True,
    )


def litellm_proxy() -> None:
    page = litellm("proxy/user_keys.md", "gpt-3.5-turbo")
    page.chat("a key in the body", api_key="my-bad-key")
    page.chat(
        "a server in the body",
        api_key="my-azure-key",
        api_base="my-azure-base",
        api_version="my-azure-version",
    )
    page = litellm("proxy/reliability.md", "zephyr-beta")
    page.chat("mock_testing_fallbacks", user("ping"), mock_testing_fallbacks=True)
    page.chat(
        "mock_testing_content_policy_fallbacks",
        user("ping"),
        mock_testing_content_policy_fallbacks=True,
    )
    page.chat(
        "mock_testing_context_window_fallbacks",
        user("ping"),
        mock_testing_context_window_fallbacks=True,
    )
    page.chat("fallbacks by name", fallbacks=["gpt-3.5-turbo"])
    other = {"model": "claude-3-haiku", "messages": user("What is bread?")}
    page.chat("fallbacks with messages", user([words("Hello")]), fallbacks=[other])
    page = litellm("proxy/tag_routing.md", "gpt-4")
    page.chat("tags: free", tags=["free"])
    page.chat("tags: paid", tags=["paid"])
    page = litellm("text_completion.md", "gpt-4o-instruct")
    shapes: dict[str, Any] = {
        "max_tokens": {"max_tokens": 7},
        "best_of": {"best_of": 1, "n": 1},
        "echo": {"echo": True, "max_tokens": 4},
        "logprobs": {"logprobs": 3, "max_tokens": 4},
        "two choices": {"n": 2, "max_tokens": 4},
        "stop and seed": {"stop": ["\n"], "seed": 7, "user": "customer-7"},
        "a stream": {"stream": True, "max_tokens": 4},
        "suffix": {"suffix": " and cheese.", "max_tokens": 4},
    }
    for name, members in shapes.items():
        body = {"model": page.model, "prompt": "Say that this is a test", **members}
        page.post(f"text completion: {name}", "/completions", body)
    page = litellm("rerank.md", "rerank-english-v3.0")
    page.post(
        "rerank",
        "/rerank",
        {
            "model": page.model,
            "query": "What is the capital of Norway?",
            "documents": ["Bergen lies in the west.", "Oslo is the capital of Norway."],
            "top_n": 1,
        },
    )
    page = litellm("moderation.md", "text-moderation-stable")
    asked: dict[str, Any] = {
        "a text": "Some text",
        "texts": ["Some text", "Another"],
        "parts": [words("Some text"), image(PICTURE_ADDRESS)],
    }
    for name, text in asked.items():
        body = {"input": text, "model": page.model}
        page.post(f"moderation of {name}", "/moderations", body)
    page = litellm("embedding/supported_embedding.md", "text-embedding-ada-002")
    page.embeddings("an embedding", ["good morning from the kitchen"])
    page.embeddings("an embedding for a user", ["good morning"], user="customer-7", timeout=600)
    page.model = "embed-english-v3.0"
    page.embeddings("input_type", ["good morning", "another"], input_type="search_document")


def litellm_providers() -> None:
    page = litellm("providers/openai.md")
    file = {"type": "file", "file": {"filename": "plan.pdf", "file_data": DOCUMENT}}
    page.chat("a file by its name", user([file, words("What comes first?")]))
    page.chat("a stream of a provider", user("hi"), stream=True)
    page.chat("calls side by side", user("Weather in Oslo, Rome?"), tools=[WEATHER_TOOL])
    page.embeddings("an embedding of one text", "hello")
    page = litellm("providers/anthropic.md", "claude-3-5-sonnet-20240620")
    page.chat("extra_headers", extra_headers={"anthropic-beta": "max-tokens-3-5-sonnet-2024-07-15"})
    page.chat("tool_choice: auto", ASK_WEATHER, tools=[WEATHER_TOOL], tool_choice="auto")
    forced = {"type": "tool", "name": "get_weather"}
    page.chat("tool_choice as Anthropic's", ASK_WEATHER, tools=[WEATHER_TOOL], tool_choice=forced)
    call = {
        "function": {"arguments": '{"place": "Oslo"}', "name": "get_weather"},
        "id": "toolu_01",
        "type": "function",
    }
    asked = {"content": None, "role": "assistant", "tool_calls": [call], "function_call": None}
    result = {"tool_call_id": "toolu_01", "role": "tool", "name": "get_weather", "content": "Rain"}
    page.chat(
        "a tool's result with its name",
        [*ASK_WEATHER, asked, result],
        tools=[WEATHER_TOOL],
        tool_choice="auto",
    )
    page.chat("vision of JPEG", user([words("What is it?"), image(PICTURE)]))
    begun = {"role": "assistant", "content": "{"}
    page.chat("a prefill", [*user("Say hello in German, as JSON."), begun])
    page = litellm("providers/gemini.md", "gemini/gemini-pro")
    safety = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]
    page.chat("safety_settings", user("Write code that says hi."), safety_settings=safety)
    page = litellm("providers/vllm.md", "vllm/facebook/opt-125m")
    page.chat("api_base", api_base="https://vllm.example.com", temperature=0.2, max_tokens=8)
    page.chat("custom_llm_provider", custom_llm_provider="openai", temperature=0.2, max_tokens=8)
    page = litellm("providers/openrouter.md", "openrouter/google/palm-2-chat-bison")
    page.chat("transforms and route", transforms=[""], route="")
    page.chat("base_url", base_url="https://openrouter.ai/api/v1")
    page = litellm("providers/groq.md", "groq/llama2-70b-4096")
    asked_groq = told("You tell the weather of Oslo.", "What is it like?")
    page.chat("a system's words with tools", asked_groq, tools=[WEATHER_TOOL], tool_choice="auto")
    page.chat("a tool's result without tools", [*asked_groq, asked, result])
    page = litellm("providers/xai.md", "xai/grok-3-mini-beta")
    settings: dict[str, Any] = {
        "max_tokens": 10,
        "response_format": {"type": "json_object"},
        "seed": 123,
        "stop": ["\n\n"],
        "temperature": 0.2,
        "top_p": 0.9,
        "tool_choice": "auto",
        "tools": [],
        "user": "user",
    }
    page.chat("many settings", ASK_WEATHER, **settings)
    page.chat("many settings in a stream", ASK_WEATHER, stream=True, **settings)
    seen = {"type": "image_url", "image_url": {"url": PICTURE_ADDRESS, "detail": "high"}}
    page.chat("an image's detail", user([seen, words("What is it?")]))
    page = litellm("completion/mock_requests.md", "gpt-3.5-turbo")
    page.chat("mock_response", mock_response="It is simple to use")
    page.chat("mock_response in a stream", mock_response="It is simple to use", stream=True)
    page = litellm("completion/batching.md", "gpt-3.5-turbo, bedrock-anthropic-claude-3")
    page.chat("fastest_response of two models", ASK_WEATHER, stream=True, fastest_response=True)
    page = litellm("proxy/customers.md", "azure-gpt-3.5")
    page.chat("a customer", user("What time is it?"), user="ishaan3")
    page = litellm("proxy/guardrails/quick_start.md", "gpt-3.5-turbo")
    guards = ["pre-guard", "post-guard"]
    page.chat("guardrails", user("What is the weather?"), guardrails=guards)
    options = {"pre-guard": {"extra_body": {"success_threshold": 0.9}}}
    page.chat("guardrails with options", guardrails=options)
    page.chat("guardrails with mock_response", guardrails=guards, mock_response="A mock")
    page.chat("guardrails in metadata", metadata={"guardrails": {"hide_secrets": False}})
    page = litellm("proxy/caching.md", "gpt-3.5-turbo")
    page.chat("cached, with a temperature", user("Write a short poem!"), temperature=0.7)
    shapes: dict[str, Any] = {
        "ttl": 300,
        "s-maxage": 600,
        "no-cache": True,
        "no-store": True,
        "namespace": "my-namespace",
    }
    for name, value in shapes.items():
        page.chat(f"cache: {name}", cache={name: value})
    body = {"model": "text-embedding-ada-002", "input": ["a poem"]}
    page.post("an embedding without v1", "/embeddings", body)
    page = litellm("mcp.md", "gpt-4")
    tool = {"type": "function", "function": {**WEATHER, "strict": False}}
    page.chat("a tool of an MCP server", user("What is 3 + 5?"), tools=[tool], tool_choice="auto")
    said = {**asked, "annotations": [], "audio": None, "refusal": None}
    page.chat(
        "an MCP tool's result",
        [*user("What is 3 + 5?"), said, {**result, "content": "8"}],
        tools=[tool],
    )


def litellm_dialects() -> None:
    page = litellm("response_api.md", "openai/o1-pro")
    page.responses("max_output_tokens", max_output_tokens=100)
    page.responses("a response's stream", stream=True)
    draw = {"type": "image_generation", "partial_images": 2}
    page.responses("image_generation", "Draw a river.", stream=True, tools=[draw])
    page.responses("truncation", "Who are you?", truncation="auto")
    page.responses("a response that goes on", "Tell me more.", previous_response_id="$PREVIOUS")
    page.get("a response by its id", "/v1/responses/$PREVIOUS")
    page.post("a response cancelled", "/v1/responses/$BACKGROUND/cancel", {})
    page = litellm("anthropic_unified.md", "anthropic-claude")
    page.messages("a message of LiteLLM's")
    page.messages("a message's stream", stream=True)
    page.messages("blocks of text", user([words("Hello")]))
    page.messages(
        "a message with all optional members",
        max_tokens=2048,
        metadata={"user_id": "user-7"},
        stop_sequences=["END"],
        system="You help.",
        temperature=0.5,
        thinking={"type": "enabled", "budget_tokens": 1024},
        tools=[{"name": "look", "description": "Looks", "input_schema": {"type": "object"}}],
        tool_choice={"type": "auto"},
        top_k=5,
        top_p=0.7,
    )
    page = litellm("anthropic_unified/structured_output.md", "claude-sonnet")
    order = {
        "type": "object",
        "properties": {"plan": {"type": "string"}, "demo": {"type": "boolean"}},
        "required": ["plan", "demo"],
        "additionalProperties": False,
    }
    page.messages(
        "output_format",
        user("Take out the order: the large plan is wanted, with a demonstration."),
        max_tokens=1024,
        output_format={"type": "json_schema", "schema": order},
    )
    page = litellm("anthropic_count_tokens.md", "claude-3-5-sonnet-20241022")
    turns = [*user("What is bread?"), {"role": "assistant", "content": "A food."}, *user("Why?")]
    for name, said in {"a question": HI, "turns": turns}.items():
        body = {"model": page.model, "messages": said}
        page.post(f"tokens of {name}", "/v1/messages/count_tokens", body)


def collect() -> None:
    litellm_input()
    litellm_media()
    litellm_formats()
    litellm_searches()
    litellm_reasoning()
    litellm_proxy()
    litellm_providers()
    litellm_dialects()
