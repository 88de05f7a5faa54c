"""OpenAI's Agents SDK; the API is named on the command line. Its traces go nowhere."""

import asyncio
import sys

import openai
from pydantic import BaseModel

import agents
import speak

agents.set_tracing_disabled(True)


class Weather(BaseModel):
    city: str
    degrees: int


def agent(ask, **more):
    client = openai.AsyncOpenAI(base_url=f"{ask.url}/v1", api_key=ask.key, max_retries=0)
    chat = sys.argv[1] == "chat"
    kind = agents.OpenAIChatCompletionsModel if chat else agents.OpenAIResponsesModel
    model = kind(model=ask.model, openai_client=client)
    settings = agents.ModelSettings(**ask.sampling)
    return agents.Agent(name="tests", model=model, model_settings=settings, **more)


def run(ask, wanted=None, **more):
    return agents.Runner.run_sync(agent(ask, **more), wanted or ask.prompt).final_output


def chat(ask):
    return {"text": run(ask)}


async def pieces(ask, wanted):
    """The first `wanted` pieces; then it leaves."""
    got = []
    answer = agents.Runner.run_streamed(agent(ask), ask.prompt)
    async for event in answer.stream_events():
        data = getattr(event, "data", None)
        if getattr(data, "type", "") == "response.output_text.delta":
            got.append(data.delta)
            if len(got) == wanted:
                answer.cancel()
    return {"pieces": got}


def stream(ask):
    return asyncio.run(pieces(ask, 0))


def tools(ask):
    calls = []

    @agents.function_tool
    def weather(city: str) -> str:
        """The weather in a city."""
        calls.append(["weather", {"city": city}])
        return speak.weather(city)

    return {"text": run(ask, tools=[weather]), "calls": calls}


def structured(ask):
    return {"value": run(ask, output_type=Weather).model_dump()}


def image(ask):
    picture = {"type": "input_image", "image_url": ask.data_url, "detail": "auto"}
    text = {"type": "input_text", "text": ask.prompt}
    return {"text": run(ask, [{"role": "user", "content": [text, picture]}])}


def abort(ask):
    return asyncio.run(pieces(ask, 1))


speak.serve({f.__name__: f for f in (chat, stream, tools, structured, image, abort)})
