"""`llm`, the program: each ability is a command line. It is set up by its own file of models."""

import json
import os
import subprocess
import sys
from pathlib import Path

import speak

PROGRAM = Path(sys.executable).parent / "llm"
FUNCTION = 'def weather(city: str) -> str:\n    "The weather in a city."\n'
FUNCTION += '    return f"Rain in {city}."\n'


class ProgramFailed(Exception):
    """It ended with a status that is not 0."""


def write_models(ask):
    folder = Path(os.environ["HOME"], "llm")
    folder.mkdir(exist_ok=True)
    model = {
        "model_id": ask.model,
        "model_name": ask.model,
        "api_base": f"{ask.url}/v1",
        "api_key_name": "tandem",
        "vision": True,
        "supports_tools": True,
        "supports_schema": True,
    }
    # JSON is YAML too.
    (folder / "extra-openai-models.yaml").write_text(json.dumps([model]))
    (folder / "keys.json").write_text(json.dumps({"tandem": ask.key}))
    return {**os.environ, "LLM_USER_PATH": str(folder)}


def start(ask, *options):
    command = [PROGRAM, "-m", ask.model, *options, ask.prompt]
    if ask.top_p is not None:
        command += ["-o", "top_p", str(ask.top_p)]
    return subprocess.Popen(
        list(map(str, command)),
        env=write_models(ask),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run(ask, *options):
    out, errors = start(ask, *options).communicate(timeout=200)
    if errors:
        raise ProgramFailed(errors.decode())
    return out.decode().strip()


def chat(ask):
    return {"text": run(ask, "--no-stream")}


def stream(ask):
    process, pieces = start(ask), []
    while piece := os.read(process.stdout.fileno(), 1 << 16).decode():
        pieces.append(piece)
    process.wait()
    pieces[-1] = pieces[-1].rstrip("\n")
    return {"pieces": pieces}


def tools(ask):
    return {"text": run(ask, "--no-stream", "--functions", FUNCTION)}


def structured(ask):
    schema = json.dumps(speak.SCHEMA)
    return {"value": json.loads(run(ask, "--no-stream", "--schema", schema))}


def image(ask):
    return {"text": run(ask, "--no-stream", "-a", ask.image)}


def abort(ask):
    process = start(ask)
    first = os.read(process.stdout.fileno(), 100).decode()
    process.terminate()
    process.wait()
    return {"pieces": [first]}


speak.serve({f.__name__: f for f in (chat, stream, tools, structured, image, abort)})
