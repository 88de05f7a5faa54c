"""instructor, which gives objects and no text; whose client it wraps is named on the command
line."""

import sys

import instructor
from instructor import Mode
from pydantic import BaseModel

import speak


class Weather(BaseModel):
    city: str
    degrees: int


def client(ask):
    """Its default is a call of a tool; the local model takes none, but it takes a schema."""
    local = ask.tier == "local"
    if sys.argv[1] == "anthropic":
        import anthropic

        made = anthropic.Anthropic(base_url=ask.url, api_key=ask.key, max_retries=0)
        mode = Mode.ANTHROPIC_JSON if local else Mode.ANTHROPIC_TOOLS
        return instructor.from_anthropic(made, mode=mode)
    import openai

    made = openai.OpenAI(base_url=f"{ask.url}/v1", api_key=ask.key, max_retries=0)
    return instructor.from_openai(made, mode=Mode.JSON_SCHEMA if local else Mode.TOOLS)


def request(ask, content=None):
    messages = [{"role": "user", "content": content or ask.prompt}]
    given = {"model": ask.model, "messages": messages, "response_model": Weather, "max_retries": 0}
    if sys.argv[1] == "anthropic":
        given["max_tokens"] = 200
    return {**given, **ask.sampling}


def structured(ask):
    return {"value": client(ask).chat.completions.create(**request(ask)).model_dump()}


def image(ask):
    picture = instructor.Image.from_path(ask.image)
    answer = client(ask).chat.completions.create(**request(ask, [ask.prompt, picture]))
    return {"value": answer.model_dump()}


speak.serve({"structured": structured, "image": image})
