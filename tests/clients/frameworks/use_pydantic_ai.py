"""pydantic-ai; the API is named on the command line."""

import asyncio
import sys

from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, NativeOutput

import speak


class Weather(BaseModel):
    city: str
    degrees: int


def model(ask):
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(base_url=f"{ask.url}/v1", api_key=ask.key, max_retries=0)
    kind = OpenAIChatModel if sys.argv[1] == "chat" else OpenAIResponsesModel
    return kind(ask.model, provider=OpenAIProvider(openai_client=client))


def agent(ask, **more):
    return Agent(model(ask), model_settings=ask.sampling or None, **more)


def chat(ask):
    return {"text": agent(ask).run_sync(ask.prompt).output}


async def pieces(ask, wanted):
    """The first `wanted` pieces; then it leaves."""
    got = []
    async with agent(ask).run_stream(ask.prompt) as answer:
        async for piece in answer.stream_text(delta=True, debounce_by=None):
            got.append(piece)
            if len(got) == wanted:
                break
    return {"pieces": got}


def stream(ask):
    return asyncio.run(pieces(ask, 0))


def tools(ask):
    calls = []

    def weather(city: str) -> str:
        """The weather in a city."""
        calls.append(["weather", {"city": city}])
        return speak.weather(city)

    text = agent(ask, tools=[weather]).run_sync(ask.prompt).output
    return {"text": text, "calls": calls}


def structured(ask):
    """Its default is a call of a tool; the local model takes none, but it takes a schema."""
    kind = NativeOutput(Weather) if ask.tier == "local" else Weather
    return {"value": agent(ask, output_type=kind).run_sync(ask.prompt).output.model_dump()}


def image(ask):
    with open(ask.image, "rb") as file:
        picture = BinaryContent(file.read(), media_type="image/png")
    return {"text": agent(ask).run_sync([ask.prompt, picture]).output}


def abort(ask):
    return asyncio.run(pieces(ask, 1))


speak.serve({f.__name__: f for f in (chat, stream, tools, structured, image, abort)})
