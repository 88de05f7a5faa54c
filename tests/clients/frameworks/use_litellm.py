"""LiteLLM's SDK; the provider is named on the command line."""

import gc
import json
import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or it asks another host for prices
import litellm
from pydantic import BaseModel

import speak
from speak import ABOUT, PARAMETERS, weather


class Weather(BaseModel):
    city: str
    degrees: int


TOOL = {
    "type": "function",
    "function": {"name": "weather", "description": ABOUT, "parameters": PARAMETERS},
}
PATHS = {"openai": "/v1", "anthropic": "", "ollama_chat": ""}


def ask_it(ask, content=None, **more):
    return litellm.completion(
        **{
            "model": f"{sys.argv[1]}/{ask.model}",
            "api_base": ask.url + PATHS[sys.argv[1]],
            "api_key": ask.key,
            "messages": [{"role": "user", "content": content or ask.prompt}],
            "num_retries": 0,
            "max_retries": 0,
            **ask.sampling,
            **more,
        }
    )


def chat(ask, content=None):
    return {"text": ask_it(ask, content).choices[0].message.content}


def texts(ask):
    return (chunk.choices[0].delta.content or "" for chunk in ask_it(ask, stream=True))


def stream(ask):
    return {"pieces": list(texts(ask))}


def tools(ask):
    messages, calls = [{"role": "user", "content": ask.prompt}], []
    while True:
        message = ask_it(ask, messages=messages, tools=[TOOL]).choices[0].message
        if not message.tool_calls:
            return {"text": message.content, "calls": calls}
        messages.append(message.model_dump())
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)
            calls.append([call.function.name, arguments])
            result = {"role": "tool", "tool_call_id": call.id, "content": weather(**arguments)}
            messages.append(result)


def structured(ask):
    answer = ask_it(ask, response_format=Weather)
    return {"value": json.loads(answer.choices[0].message.content)}


def image(ask):
    picture = {"type": "image_url", "image_url": {"url": ask.data_url}}
    return chat(ask, [{"type": "text", "text": ask.prompt}, picture])


def abort(ask):
    """Some of its streams can be closed; the others end when nobody holds them."""
    chunks = ask_it(ask, stream=True)
    first = next(c.choices[0].delta.content for c in chunks if c.choices[0].delta.content)
    close = getattr(chunks.completion_stream, "close", None)
    if close:
        close()
    del chunks, close
    gc.collect()
    return {"pieces": [first]}


speak.serve({f.__name__: f for f in (chat, stream, tools, structured, image, abort)})
