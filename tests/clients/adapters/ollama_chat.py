"""Ollama's own library for Python."""

import json

import ollama

import speak
from speak import ABOUT, PARAMETERS, SCHEMA, weather

TOOL = {
    "type": "function",
    "function": {"name": "weather", "description": ABOUT, "parameters": PARAMETERS},
}


def client(ask):
    return ollama.Client(host=ask.url, headers={"authorization": f"Bearer {ask.key}"})


def request(ask, **more):
    messages = [{"role": "user", "content": ask.prompt, **more}]
    return {"model": ask.model, "messages": messages, "options": ask.sampling}


def chat(ask, **more):
    return {"text": client(ask).chat(**request(ask, **more)).message.content}


def stream(ask):
    parts = client(ask).chat(**request(ask), stream=True)
    return {"pieces": [part.message.content or "" for part in parts]}


def tools(ask):
    wanted, calls = request(ask), []
    while True:
        message = client(ask).chat(**wanted, tools=[TOOL]).message
        if not message.tool_calls:
            return {"text": message.content, "calls": calls}
        wanted["messages"].append(message)
        for call in message.tool_calls:
            arguments = dict(call.function.arguments)
            calls.append([call.function.name, arguments])
            result = {"role": "tool", "tool_name": "weather", "content": weather(**arguments)}
            wanted["messages"].append(result)


def structured(ask):
    return {"value": json.loads(client(ask).chat(**request(ask), format=SCHEMA).message.content)}


def image(ask):
    return chat(ask, images=[ask.image])


def abort(ask):
    parts = client(ask).chat(**request(ask), stream=True)
    first = next(parts).message.content
    parts.close()
    return {"pieces": [first]}


speak.serve({f.__name__: f for f in (chat, stream, tools, structured, image, abort)})
