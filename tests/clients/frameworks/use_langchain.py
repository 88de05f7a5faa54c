"""LangChain's chat models; whose, is named on the command line."""

import sys

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

import speak


class Weather(BaseModel):
    city: str
    degrees: int


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return speak.weather(city)


def model(ask):
    given = {"model": ask.model, **ask.sampling}
    if sys.argv[1] == "openai":
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(base_url=f"{ask.url}/v1", api_key=ask.key, max_retries=0, **given)
    if sys.argv[1] == "anthropic":
        from langchain_anthropic import ChatAnthropic

        return ChatAnthropic(
            base_url=ask.url, api_key=ask.key, max_retries=0, max_tokens=200, **given
        )
    from langchain_ollama import ChatOllama

    headers = {"headers": {"authorization": f"Bearer {ask.key}"}}
    return ChatOllama(base_url=ask.url, client_kwargs=headers, **given)


def chat(ask):
    return {"text": model(ask).invoke(ask.prompt).text}


def stream(ask):
    return {"pieces": [chunk.text for chunk in model(ask).stream(ask.prompt)]}


def tools(ask):
    bound, messages, calls = model(ask).bind_tools([weather]), [HumanMessage(ask.prompt)], []
    while True:
        answer = bound.invoke(messages)
        if not answer.tool_calls:
            return {"text": answer.text, "calls": calls}
        messages.append(answer)
        for call in answer.tool_calls:
            calls.append([call["name"], call["args"]])
            messages.append(ToolMessage(speak.weather(**call["args"]), tool_call_id=call["id"]))


def structured(ask):
    return {"value": model(ask).with_structured_output(Weather).invoke(ask.prompt).model_dump()}


def image(ask):
    picture = {"type": "image", "base64": ask.image_base64, "mime_type": "image/png"}
    content = [{"type": "text", "text": ask.prompt}, picture]
    return {"text": model(ask).invoke([HumanMessage(content)]).text}


def abort(ask):
    chunks = model(ask).stream(ask.prompt)
    first = next(chunk.text for chunk in chunks if chunk.text)
    chunks.close()
    return {"pieces": [first]}


speak.serve({f.__name__: f for f in (chat, stream, tools, structured, image, abort)})
