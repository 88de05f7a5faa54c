"""Anthropic's client for Python."""

import json

import anthropic

import speak
from speak import ABOUT, PARAMETERS, SCHEMA, weather

TOOL = {"name": "weather", "description": ABOUT, "input_schema": PARAMETERS}


def client(ask):
    return anthropic.Anthropic(base_url=ask.url, api_key=ask.key, max_retries=0)


def request(ask, content=None):
    messages = [{"role": "user", "content": content or ask.prompt}]
    more = {"extra_body": ask.sampling} if ask.sampling else {}
    return {"model": ask.model, "max_tokens": 200, "messages": messages, **more}


def chat(ask, content=None):
    answer = client(ask).messages.create(**request(ask, content))
    return {"text": answer.content[0].text}


def stream(ask):
    with client(ask).messages.stream(**request(ask)) as events:
        return {"pieces": list(events.text_stream)}


def tools(ask):
    wanted, calls = request(ask), []
    while True:
        answer = client(ask).messages.create(**wanted, tools=[TOOL])
        results = []
        for block in answer.content:
            if block.type == "tool_use":
                calls.append([block.name, block.input])
                result = {"tool_use_id": block.id, "content": weather(**block.input)}
                results.append({"type": "tool_result", **result})
        if not results:
            return {"text": answer.content[0].text, "calls": calls}
        wanted["messages"] += [
            {"role": "assistant", "content": answer.content},
            {"role": "user", "content": results},
        ]


def structured(ask):
    form = {"format": {"type": "json_schema", "schema": SCHEMA}}
    answer = client(ask).messages.create(**request(ask), output_config=form)
    return {"value": json.loads(answer.content[0].text)}


def image(ask):
    source = {"type": "base64", "media_type": "image/png", "data": ask.image_base64}
    return chat(ask, [{"type": "image", "source": source}, {"type": "text", "text": ask.prompt}])


def abort(ask):
    with client(ask).messages.stream(**request(ask)) as events:
        return {"pieces": [next(events.text_stream)]}


speak.serve({f.__name__: f for f in (chat, stream, tools, structured, image, abort)})
