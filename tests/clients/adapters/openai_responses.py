"""OpenAI's client for Python, the Responses API. The second turn names the first by its id."""

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
    "name": "weather",
    "description": ABOUT,
    "parameters": PARAMETERS,
    "strict": True,
}


def client(ask):
    return openai.OpenAI(base_url=f"{ask.url}/v1", api_key=ask.key, max_retries=0)


def chat(ask, content=None):
    wanted = content or ask.prompt
    answer = client(ask).responses.create(model=ask.model, input=wanted, **ask.sampling)
    return {"text": answer.output_text}


def texts(events):
    return (event.delta for event in events if event.type == "response.output_text.delta")


def stream(ask):
    events = client(ask).responses.create(model=ask.model, input=ask.prompt, stream=True)
    return {"pieces": list(texts(events))}


def tools(ask):
    wanted, before, calls = ask.prompt, None, []
    while True:
        answer = client(ask).responses.create(
            model=ask.model, input=wanted, tools=[TOOL], previous_response_id=before
        )
        wanted, before = [], answer.id
        for item in answer.output:
            if item.type == "function_call":
                arguments = json.loads(item.arguments)
                calls.append([item.name, arguments])
                output = {"call_id": item.call_id, "output": weather(**arguments)}
                wanted.append({"type": "function_call_output", **output})
        if not wanted:
            return {"text": answer.output_text, "calls": calls}


def structured(ask):
    answer = client(ask).responses.parse(model=ask.model, input=ask.prompt, text_format=Weather)
    return {"value": answer.output_parsed.model_dump()}


def image(ask):
    picture = {"type": "input_image", "image_url": ask.data_url, "detail": "auto"}
    text = {"type": "input_text", "text": ask.prompt}
    return chat(ask, [{"role": "user", "content": [text, picture]}])


def abort(ask):
    with client(ask).responses.create(model=ask.model, input=ask.prompt, stream=True) as events:
        return {"pieces": [next(texts(events))]}


speak.serve({f.__name__: f for f in (chat, stream, tools, structured, image, abort)})
