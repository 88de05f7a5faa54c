"""What the adapters of Python clients share. An adapter is a program that does, with one client,
what abilities.py asks for: it reads a line of JSON for each thing to do and writes a line with what
came of it. An exception of the client is an answer too: its class is what the judge looks at."""

import json
import os
import sys
import traceback

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "degrees": {"type": "integer"}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
ABOUT = "The weather in a city."


def weather(city):
    return f"Rain in {city}."


class Ask:
    """One thing to do: url (no path), key, model, tier, prompt, image (a file), image_base64 and,
    where wanted, top_p."""

    def __init__(self, members):
        self.top_p = None
        self.__dict__.update(members)

    @property
    def sampling(self):
        return {} if self.top_p is None else {"top_p": self.top_p}

    @property
    def data_url(self):
        return f"data:image/png;base64,{self.image_base64}"


def fault(error):
    """What an exception says of itself, wherever its client keeps that."""
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None)
    return {
        "classes": [kind.__name__ for kind in type(error).__mro__],
        "status": status,
        "message": str(error)[:2000],
        "trace": traceback.format_exc()[-3000:],
    }


def serve(abilities):
    """Does what is asked until there is no more. What clients print themselves goes to stderr."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        ask = json.loads(line)
        do = abilities.get(ask.pop("ability"))
        try:
            said = do(Ask(ask)) if do else {"cannot": True}
        except Exception as error:
            said = {"error": fault(error)}
        out.write(json.dumps(said) + "\n")
        out.flush()
