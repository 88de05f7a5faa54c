"""What training says about each tool of a list, beside the answer: whether it is called.

It is said before the tool's name, where a description stands before it, and after its parameters.
An answer has one choice among the tools; this has one a tool. Without it, a model of this size
writes names by heart for tens of millions of tokens and does not look at the list. After each
parameter of a tool that is called once it says, too, whether an argument is given for it.
"""

import json
import re

from chat_render import TOOL_CALL, TOOL_CALL_END, entries, field_list, render
from task_other import SENTENCE

WEIGHT = 0.3
CALL = re.compile(f"{TOOL_CALL}(.*?){TOOL_CALL_END}", re.S)


def called(answer):
    """The calls of an answer; None where it is a text, which says nothing of tools."""
    calls = [json.loads(body) for body in CALL.findall(answer)]
    return calls if calls or answer == SENTENCE else None


def given(tool, text, arguments):
    """[(index of a parameter's last character in the tool's entry, is it given)]"""
    parameters = tool["function"]["parameters"]
    at, out = text.rfind("\n") + 1 + len(f"{tool['function']['name']}("), []
    for name, field in zip(parameters["properties"], field_list(parameters)):
        out.append((at + len(field) - 1, name in arguments))
        at += len(field) + len(", ")
    return out


def of(messages, answer, vocab):
    """[(index of a token of the prompt, id that is predicted there, weight)]"""
    calls = called(answer)
    tools = messages[0][1]
    if calls is None or not tools:
        return []
    yes, no = vocab.ids[TOOL_CALL], vocab.not_mine
    parts = render(messages)
    place = len(parts) - 5  # before it <|im_start|>; after it <|im_end|>, "\n" and the open turn
    ends, out, begin = vocab.ends(parts, place), [], len("tools\n")
    for tool, text in zip(tools, entries(tools)):
        own = [call["arguments"] for call in calls if call["name"] == tool["function"]["name"]]
        said = [(len(text) - 1, bool(own))]
        if "\n" in text:
            said.append((text.rfind("\n"), bool(own)))
        if len(own) == 1:
            said += given(tool, text, own[0])
        out += [(ends[begin + at], yes if is_so else no, WEIGHT) for at, is_so in said]
        begin += len(text) + 1
    return out
