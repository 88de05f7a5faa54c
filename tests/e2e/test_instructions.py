#!/usr/bin/env python3
"""What counts in instructions: names that the tagger guesses in system prompts and in descriptions
of tools give a class only where the policy says so. Values that something confirms always do."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

CLOUD = {"x-tandem-mode": "only-cloud"}
NAMES = "privacy: {names: {class: sensitive}%s}\n"
BOTH = ", instructions: {system: without-names, tools: without-names}"
STRICT = ", instructions: {system: all, tools: all}"
PERSON = "You help Nina Kowalczyk in Bogota, Colombia, and the people of Acme Logistics Inc."
STREET = "The bus goes from Old Mill Road to town."  # only the tagger sees that one
ANYWAY = {
    "card": "Test with card 4111 1111 1111 1111.",
    "iban": "Pay to DE89 3704 0044 0532 0130 00.",
    "key": "Use the key sk-proj-Zk39fLq0PxTw7RbN2cVd8YhJ5mGs1AeU.",
    "ssn": "Social security number 536-90-4399.",
    "mail": "Write to nina.kowalczyk@acmeltd.com.",
    "phone": "Call +1 415 555 2671 at night.",
    "ip": "The host is 84.57.12.33.",
    "street": "The patient lives at 742 Evergreen Terrace, Springfield.",
    "record": "Patient: medical record number 48213377.",
}


def server(cloud, privacy=""):
    return Tandem(edge_first(cloud.base_url) + privacy, env={"TEST_CLOUD_KEY": "k"})


def tool(text, **parameter):
    schema = {"type": "object", "properties": {"who": {"type": "string", **parameter}}}
    function = {"name": "look_up", "description": text, "parameters": schema}
    return {"type": "function", "function": function}


class Asker:
    """Each question is another one, so that no conversation goes on."""

    def __init__(self, tandem):
        self.tandem, self.count = tandem, 0

    def question(self):
        self.count += 1
        return {"role": "user", "content": f"What is {self.count} and {self.count}?"}

    def system(self, text, role="system"):
        messages = [{"role": role, "content": text}, self.question()]
        return self.tandem.chat(messages, CLOUD).status

    def tools(self, *tools):
        return self.tandem.chat([self.question()], CLOUD, tools=list(tools)).status

    def messages(self, **more):
        body = {"model": "auto", "max_tokens": 9, "messages": [self.question()], **more}
        return self.tandem.request("POST", "/v1/messages", body, CLOUD).status

    def responses(self, **more):
        body = {"model": "auto", "input": [self.question()], **more}
        return self.tandem.request("POST", "/v1/responses", body, CLOUD).status


@case
def test_by_default_a_system_prompt_counts_whole_and_descriptions_of_tools_without_names():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud, NAMES % "") as tandem:
        ask = Asker(tandem)
        equal(ask.system("You are kind."), 200)
        for role in ("system", "developer", "user"):
            equal(ask.system(PERSON, role), 403, role)
        equal(ask.tools(tool(PERSON)), 200)
        equal(ask.tools(tool("Looks up.", description=PERSON, title="Nina Kowalczyk")), 200)
    with server(cloud) as tandem:  # and names are public until the operator says more
        ask = Asker(tandem)
        equal(ask.system(PERSON), 200)
        equal(ask.system(STREET), 403)
        equal(ask.tools(tool(STREET)), 200)


@case
def test_the_policy_says_what_counts_in_instructions():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud, NAMES % BOTH) as tandem:
        ask = Asker(tandem)
        for text in (PERSON, STREET):
            for role in ("system", "developer"):
                equal(ask.system(text, role), 200, text)
            equal(ask.system([{"type": "text", "text": text}, {"type": "text", "text": "x"}]), 200)
            equal(
                ask.messages(
                    system=text, tools=[{"name": "f", "description": text, "input_schema": {}}]
                ),
                200,
            )
            equal(ask.responses(instructions=text), 200)
            equal(ask.system(text, "user"), 403, text)
            assert text.encode() in cloud.received
    with server(cloud, NAMES % STRICT) as tandem:
        ask = Asker(tandem)
        for text in (PERSON, STREET):
            equal(ask.system(text), 403, text)
            equal(ask.tools(tool(text)), 403, text)
            equal(ask.tools(tool("Looks up.", description=text)), 403, text)


@case
def test_what_is_in_a_schema_as_a_value_counts_with_its_names():
    """A list of patients is data, wherever it stands."""
    cloud = ScriptedCloud(Script(text="Cloud."))
    name = "Nina Kowalczyk"
    with server(cloud, NAMES % BOTH) as tandem:
        ask = Asker(tandem)
        for parameter in (
            {"enum": [name, "Hans Kowalczyk"]},
            {"const": name},
            {"default": name},
            {"default": {"description": name}},
            {"examples": [name]},
            {"examples": [{"title": name}]},
            {"example": {"name": name}},
        ):
            equal(ask.tools(tool("Looks up.", **parameter)), 403, parameter)
        for member in ({"metadata": {"description": name}}, {"user": name}, {"x": {"tools": name}}):
            status = tandem.chat([ask.question()], CLOUD, **member).status
            equal(status, 403, member)
        talk = [ask.question(), {"role": "assistant", "content": name}, ask.question()]
        equal(tandem.chat(talk, CLOUD).status, 403)
        assert name.encode() not in cloud.received


@case
def test_what_something_confirms_counts_in_instructions_whatever_the_policy_says():
    cloud = ScriptedCloud(Script(text="Cloud."))
    filler = "The tool reads a file and answers with its lines, one after the other. " * 200
    for masking in ("", ", pseudonyms: {on: true, classes: [contractual]}"):
        with server(cloud, NAMES % (BOTH + masking)) as tandem:
            ask = Asker(tandem)
            for kind, text in ANYWAY.items():
                for around in ("", filler):  # read whole, and by units that are remembered
                    said = f"{around}{PERSON}\n{text}\n{around}"
                    for _ in range(2):
                        equal(ask.system(said), 403, (kind, masking))
                        equal(ask.tools(tool(said)), 403, (kind, masking))
                    equal(ask.tools(tool("It.", description=said)), 403, (kind, masking))
                    equal(ask.messages(system=said), 403, kind)
                    tools = [{"name": "f", "description": said, "input_schema": {}}]
                    equal(ask.messages(tools=tools), 403, kind)
                    equal(ask.responses(instructions=said), 403, kind)
                equal(ask.tools(tool("It.", title=text)), 403, kind)
            equal(ask.system(f"{filler}{PERSON}\n{filler}"), 200)
    for text in ANYWAY.values():
        assert json.dumps(text)[1:-1].encode() not in cloud.received, text


@case
def test_where_values_are_replaced_the_names_of_instructions_keep_nothing():
    cloud = ScriptedCloud(Script(text="Cloud."))
    masking = ", pseudonyms: {on: true, classes: [restricted], types: [EMAIL_ADDRESS]}"
    mail = "Answer to nina.kowalczyk@acmeltd.com, please."
    with server(cloud, NAMES % (BOTH + masking)) as tandem:
        ask = Asker(tandem)
        messages = [{"role": "system", "content": PERSON}, {"role": "user", "content": mail}]
        answer = tandem.chat(messages, CLOUD, tools=[tool(STREET)])
        equal(answer.status, 200, answer.body)
        assert b"acmeltd" not in cloud.received
        equal(ask.system(PERSON, "user"), 403)


if __name__ == "__main__":
    sys.exit(main())
