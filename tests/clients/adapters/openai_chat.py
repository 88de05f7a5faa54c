"""OpenAI's client for Python, chat completions."""

import json

import openai
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


def client(ask):
    return openai.OpenAI(base_url=f"{ask.url}/v1", api_key=ask.key, max_retries=0)


def request(ask, content=None):
    return {
        "model": ask.model,
        "messages": [{"role": "user", "content": content or ask.prompt}],
        **ask.sampling,
    }


def chat(ask, content=None):
    answer = client(ask).chat.completions.create(**request(ask, content))
    return {"text": answer.choices[0].message.content}


def stream(ask):
    chunks = client(ask).chat.completions.create(**request(ask), stream=True)
    return {"pieces": [c.choices[0].delta.content or "" for c in chunks if c.choices]}


def tools(ask):
    wanted, calls = request(ask), []
    while True:
        answer = client(ask).chat.completions.create(**wanted, tools=[TOOL])
        message = answer.choices[0].message
        if not message.tool_calls:
            return {"text": message.content, "calls": calls}
        wanted["messages"].append(message)
        for call in message.tool_calls:
            arguments = json.loads(call.function.arguments)
            calls.append([call.function.name, arguments])
            result = {"role": "tool", "tool_call_id": call.id, "content": weather(**arguments)}
            wanted["messages"].append(result)


def structured(ask):
    answer = client(ask).chat.completions.parse(**request(ask), response_format=Weather)
    return {"value": answer.choices[0].message.parsed.model_dump()}


def image(ask):
    picture = {"type": "image_url", "image_url": {"url": ask.data_url}}
    return chat(ask, [{"type": "text", "text": ask.prompt}, picture])


def abort(ask):
    with client(ask).chat.completions.create(**request(ask), stream=True) as chunks:
        for chunk in chunks:
            if chunk.choices and chunk.choices[0].delta.content:
                return {"pieces": [chunk.choices[0].delta.content]}


speak.serve({f.__name__: f for f in (chat, stream, tools, structured, image, abort)})
