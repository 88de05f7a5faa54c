"""LlamaIndex's models; whose, is named on the command line."""

import json
import sys

import httpx
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel

import speak


class Weather(BaseModel):
    city: str
    degrees: int


def weather(city: str) -> str:
    """The weather in a city."""
    return speak.weather(city)


TOOL = FunctionTool.from_defaults(weather)


def model(ask, http=None):
    given = {"model": ask.model, "additional_kwargs": ask.sampling, "context_window": 1024}
    if sys.argv[1] == "openai":
        from llama_index.llms.openai_like import OpenAILike

        return OpenAILike(
            api_base=f"{ask.url}/v1",
            api_key=ask.key,
            is_chat_model=True,
            is_function_calling_model=True,
            should_use_structured_outputs=True,
            max_retries=0,
            http_client=http,
            **given,
        )
    from llama_index.llms.ollama import Ollama

    headers = {"authorization": f"Bearer {ask.key}"}
    return Ollama(base_url=ask.url, headers=headers, is_function_calling_model=True, **given)


def chat(ask):
    return {"text": model(ask).chat([ChatMessage(ask.prompt)]).message.content}


def stream(ask):
    parts = model(ask).stream_chat([ChatMessage(ask.prompt)])
    return {"pieces": [part.delta or "" for part in parts]}


def tools(ask):
    llm, history, calls = model(ask), [ChatMessage(ask.prompt)], []
    while True:
        answer = llm.chat_with_tools([TOOL], chat_history=history)
        history.append(answer.message)
        wanted = llm.get_tool_calls_from_response(answer, error_on_no_tool_call=False)
        if not wanted:
            return {"text": answer.message.content, "calls": calls}
        for call in wanted:
            calls.append([call.tool_name, call.tool_kwargs])
            known = {"tool_call_id": call.tool_id, "name": call.tool_name}
            content = weather(**call.tool_kwargs)
            history.append(ChatMessage(content, role="tool", additional_kwargs=known))


def structured(ask):
    answer = model(ask).as_structured_llm(Weather).chat([ChatMessage(ask.prompt)])
    return {"value": json.loads(answer.message.content)}


def image(ask):
    blocks = [TextBlock(text=ask.prompt), ImageBlock(path=ask.image)]
    return {"text": model(ask).chat([ChatMessage(blocks=blocks)]).message.content}


def abort(ask):
    """To close the generator is not enough with OpenAILike: it leaves the connection open."""
    http = httpx.Client()
    parts = model(ask, http).stream_chat([ChatMessage(ask.prompt)])
    first = next(part.delta for part in parts if part.delta)
    parts.close()
    http.close()
    return {"pieces": [first]}


speak.serve({f.__name__: f for f in (chat, stream, tools, structured, image, abort)})
