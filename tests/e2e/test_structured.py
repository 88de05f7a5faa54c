#!/usr/bin/env python3
"""A format of the answer in every spelling that servers have for it, and what becomes of an answer
that keeps the form and says nothing."""

import json
import re
import sys
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 30}, "sunny": {"type": "boolean"}},
    "required": ["city", "sunny"],
    "additionalProperties": False,
}
TEXT = json.dumps(SCHEMA)
GBNF = 'root ::= "north" | "south"'
ASK = "Extract the city, and whether it is sunny: a sunny day in Oslo."
ONLY_LOCAL = {"x-tandem-mode": "only-local"}
ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}


def forms(**members):
    return {"model": "auto", "messages": [{"role": "user", "content": ASK}], **members}


OBJECTS = [
    {"response_format": {"type": "json_object"}},
    {"structured_outputs": {"json_object": True}},
]
SCHEMAS = [
    {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}},
    {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "a", "schema": SCHEMA, "strict": True},
        }
    },
    {"response_format": {"type": "json_schema", "schema": SCHEMA}},
    {"response_format": {"type": "json_object", "schema": SCHEMA}},
    {"response_format": {"type": "json", "value": SCHEMA}},
    {"json_schema": SCHEMA},
    {"json_schema": TEXT},
    {"guided_json": SCHEMA},
    {"guided_json": TEXT},
    {"structured_outputs": {"json": SCHEMA}},
    {"structured_outputs": {"json": TEXT, "disable_any_whitespace": True}},
]
# members, what the answer matches
TEXTS = [
    ({"response_format": {"type": "grammar", "grammar": GBNF}}, "north|south"),
    ({"grammar": GBNF}, "north|south"),
    ({"ebnf": GBNF}, "north|south"),
    ({"guided_grammar": GBNF}, "north|south"),
    ({"structured_outputs": {"grammar": GBNF}}, "north|south"),
    ({"guided_choice": ["très bien", 'so "so"', "a\nb"]}, 'très bien|so "so"|a\nb'),
    ({"structured_outputs": {"choice": ["yes", "no"]}}, "yes|no"),
    ({"guided_regex": r"[A-Z]{2}-\d{4}"}, r"[A-Z]{2}-\d{4}"),
    ({"regex": r'^("[ab]+"|\\{2})$'}, r'"[ab]+"|\\\\'),
    ({"structured_outputs": {"regex": "(red|blue) car"}}, "(red|blue) car"),
    ({"response_format": {"type": "regex", "pattern": r"\d+ apples"}}, r"\d+ apples"),
]
WRONG = [
    ({"response_format": {"type": "yaml"}}, "response_format.type"),
    ({"response_format": {"type": "json_object", "schema": 7}}, "response_format.schema"),
    ({"response_format": {"type": "grammar"}}, "response_format.grammar"),
    ({"response_format": {"type": "regex", "pattern": 1}}, "response_format.pattern"),
    ({"json_schema": 7}, "json_schema"),
    ({"json_schema": "{"}, "json_schema"),
    ({"guided_json": []}, "guided_json"),
    ({"guided_json": "[1]"}, "guided_json"),
    ({"guided_json": {"type": "nonsense"}}, "guided_json"),
    ({"structured_outputs": {"json": {"type": "nonsense"}}}, "structured_outputs.json"),
    ({"guided_choice": []}, "guided_choice"),
    ({"guided_choice": "yes"}, "guided_choice"),
    ({"guided_choice": ["yes", 1]}, "guided_choice[1]"),
    ({"structured_outputs": {"choice": [None]}}, "structured_outputs.choice[0]"),
    ({"guided_regex": ["a"]}, "guided_regex"),
    ({"guided_regex": r"(a)\1"}, "guided_regex"),
    ({"guided_regex": "(?=a)b"}, "guided_regex"),
    ({"structured_outputs": {"regex": "(a"}}, "structured_outputs.regex"),
    ({"guided_regex": "a" * 2_000_000}, "guided_regex"),
    ({"guided_grammar": "root ::= nothing"}, "guided_grammar"),
    ({"structured_outputs": {"grammar": 1}}, "structured_outputs.grammar"),
    ({"structured_outputs": ["json"]}, "structured_outputs"),
    ({"structured_outputs": {"structural_tag": "x"}}, "structured_outputs.structural_tag"),
    ({"guided_json": SCHEMA, "guided_regex": "a"}, "guided_regex"),
    ({"structured_outputs": {"json": SCHEMA, "choice": ["a"]}}, "structured_outputs.choice"),
    ({"response_format": {"type": "json_object"}, "grammar": GBNF}, "grammar"),
]


def body_of(cloud):
    return json.loads(cloud.requests[-1]["body"])


def chat(tandem, body, headers=None):
    return tandem.request("POST", "/v1/chat/completions", body, headers=headers)


def local(tandem, body, path="/v1/chat/completions"):
    answer = tandem.request("POST", path, {"max_tokens": 200, **body}, headers=ONLY_LOCAL)
    assert answer.status == 200, (str(body)[:400], answer.status, answer.body)
    return answer


def fits(text):
    value = json.loads(text)
    equal(sorted(value), ["city", "sunny"], value)
    assert isinstance(value["sunny"], bool), value


@case
def test_the_local_tier_keeps_a_schema_in_every_spelling():
    with Tandem() as tandem:
        for members in SCHEMAS:
            fits(local(tandem, forms(**members)).text)
        for members in OBJECTS:
            assert isinstance(json.loads(local(tandem, forms(**members)).text), dict), members
        responses = {"model": "auto", "input": ASK, "max_output_tokens": 200}
        form = {"type": "json_schema", "name": "a", "schema": SCHEMA, "strict": True}
        for members in ({"text": {"format": form}}, {"guided_json": SCHEMA}):
            answer = tandem.request(
                "POST", "/v1/responses", {**responses, **members}, headers=ONLY_LOCAL
            )
            equal(answer.status, 200, answer.body)
            fits(answer.json["output"][0]["content"][0]["text"])
        form = {"type": "json_schema", "schema": SCHEMA}
        for members in (
            {"output_config": {"format": form}},
            {"output_format": form},
            {"structured_outputs": {"json": SCHEMA}},
        ):
            answer = local(tandem, forms(**members), "/v1/messages")
            fits(answer.json["content"][0]["text"])


@case
def test_a_forced_tool_of_anthropics_has_arguments_of_its_schema():
    tool = {"name": "weather", "input_schema": SCHEMA}
    forced = {"tools": [tool], "tool_choice": {"type": "tool", "name": "weather"}}
    with closing(ScriptedCloud()) as cloud, Tandem(edge_first(cloud.base_url)) as tandem:
        answer = tandem.request(
            "POST",
            "/v1/messages",
            forms(max_tokens=200, **forced),
            headers=ONLY_LOCAL,
        )
        if answer.status == 400:  # the model says that the request is not its task
            return
        blocks = [b for b in answer.json["content"] if b["type"] == "tool_use"]
        equal(blocks[0]["name"], "weather")
        fits(json.dumps(blocks[0]["input"]))


@case
def test_the_local_tier_keeps_choices_expressions_and_grammars():
    with Tandem() as tandem:
        for members, wanted in TEXTS:
            text = local(tandem, forms(**members)).text
            assert re.fullmatch(wanted, text), (members, text)
        many = [f"choice {i}" for i in range(10_000)]
        assert local(tandem, forms(guided_choice=many)).text in many
        equal(local(tandem, forms(grammar="", guided_choice=None)).status, 200)
        equal(local(tandem, forms(response_format={"type": "text"})).status, 200)


@case
def test_wrong_values_are_400_and_named():
    with Tandem() as tandem:
        for members, param in WRONG:
            answer = chat(tandem, forms(**members), ONLY_LOCAL)
            place = (str(members)[:200], answer.body)
            equal(answer.status, 400, place)
            equal(answer.json["error"]["param"], param, place)
        for name in ("guided_json", "guided_choice", "structured_outputs", "json_schema", "regex"):
            body = {"model": "auto", "prompt": "a", name: {"a": 1}}
            answer = tandem.request("POST", "/v1/completions", body)
            equal((answer.status, answer.json["error"]["param"]), (400, name))


@case
def test_a_cloud_gets_a_schema_in_the_spelling_that_it_knows():
    with (
        closing(ScriptedCloud(Script(text='{"city": "Oslo", "sunny": true}'))) as cloud,
        Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem,
    ):
        for members in SCHEMAS:
            answer = chat(tandem, forms(**members), ONLY_CLOUD)
            equal(answer.status, 200, answer.body)
            sent = body_of(cloud)
            equal(sent["response_format"]["type"], "json_schema")
            equal(sent["response_format"]["json_schema"]["schema"], SCHEMA)
            others = {"json_schema", "guided_json", "structured_outputs"} & sent.keys()
            assert not others, (members, sent)
        for members in OBJECTS:
            chat(tandem, forms(**members), ONLY_CLOUD)
            equal(body_of(cloud)["response_format"], {"type": "json_object"})
        for members, _ in TEXTS:  # no server is known to keep these
            before = len(cloud.requests)
            answer = chat(tandem, forms(**members), ONLY_CLOUD)
            named = answer.json["error"]["param"].split(".")[0]
            equal((answer.status, named), (400, next(iter(members))), answer.body)
            equal(len(cloud.requests), before)


ASKED = [
    "Answer as JSON with this schema: " + TEXT,
    "Always respond with a JSON object that's compatible with this schema:\n\n" + TEXT,
    "Here's a JSON schema to follow:\n" + TEXT + "\n\nOutput a valid JSON object but do not "
    "repeat the schema.",
    "JSON schema:\n" + TEXT + "\nYou MUST answer with a JSON object that matches the JSON schema "
    "above.",
    "Provide the parsed objects in json that match the following json_schema:\n\n" + TEXT,
    "The output should be formatted as a JSON instance that conforms to the JSON schema below.\n\n"
    'As an example, for the schema {"properties": {"foo": {"type": "string"}}} the object '
    '{"foo": "bar"} is a well-formatted instance.\n\nHere is the output schema:\n```\n'
    + json.dumps({k: v for k, v in SCHEMA.items() if k != "type"})
    + "\n```",
]
NOT_ASKED = [
    "What does this JSON schema allow? " + TEXT,
    "Explain in one word what is wrong with this JSON schema: " + TEXT,
    "Return the required members of this JSON schema: " + TEXT,
    "Write a function that returns JSON which matches this schema: " + TEXT,
    "Answer as JSON with this schema: " + TEXT + "\nOr answer as JSON with this schema: "
    '{"type": "object", "properties": {"b": {"type": "integer"}}}',
]


@case
def test_a_schema_in_the_prompt_is_kept_where_it_is_clear():
    with (
        closing(ScriptedCloud(Script(text="free text"))) as cloud,
        Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem,
    ):
        for asked in ASKED:
            system = [{"role": "system", "content": asked}, {"role": "user", "content": ASK}]
            fits(local(tandem, forms(messages=system)).text)
            fits(local(tandem, forms(messages=[{"role": "user", "content": asked}])).text)
        # A cloud is sent what the client wrote, and is not held to it.
        answer = chat(tandem, forms(messages=system), ONLY_CLOUD)
        equal(answer.text, "free text")
        assert "response_format" not in body_of(cloud)


@case
def test_a_schema_that_is_only_talked_about_is_none():
    with Tandem() as tandem:
        for asked in NOT_ASKED:
            body = forms(messages=[{"role": "user", "content": asked}], max_tokens=24)
            text = chat(tandem, body, ONLY_LOCAL).text
            try:
                fits(text)
            except (AssertionError, ValueError):
                continue
            raise AssertionError((asked, text))


# --- answers that say nothing ---


def only(schema):
    return {"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}


PERSON = {
    "type": "object",
    "properties": {"name": {"type": ["string", "null"]}, "age": {"type": ["integer", "null"]}},
    "required": ["name", "age"],
}
NOTHING = {
    "type": "object",
    "properties": {"name": {"type": "null"}, "age": {"type": "null"}},
    "required": ["name", "age"],
}
INVENTED = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^Zorblax[a-e]{3}$"}},
    "required": ["name"],
}
QUOTED = {
    "type": "object",
    "properties": {"city": {"type": "string", "pattern": "^Os[l]o$"}, "zip": {"type": "null"}},
    "required": ["city", "zip"],
}
TWO_SERVERS = """
tiers:
  - {{name: near, kind: openai, place: premises, model: near, base_url: {near}}}
  - {{name: far, kind: openai, place: cloud, model: far, base_url: {far},
      api_key_env: TEST_CLOUD_KEY}}
routes:
  - {{name: auto, kind: hybrid, tiers: [near, far],
      gates: {{g2: {{confidence_min: 0.3}}, g3: {{confidence_min: 0.5}}}}}}
"""


@case
def test_an_answer_without_a_value_climbs_however_sure_it_is():
    near = closing(ScriptedCloud(Script(logprob=-0.2)))
    far = closing(ScriptedCloud(Script(text='{"name": "Ada", "age": 36}')))
    with near as near, far as far:
        config = TWO_SERVERS.format(near=near.base_url, far=far.base_url)
        with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            for text in ('{"name": null, "age": null}', '{"name": "John Smith", "age": 25}'):
                near.script.text = text
                for stream in (False, True):
                    check_climb(tandem, forms(**only(PERSON), stream=stream))
            near.script.text = '{"name": "Oslo", "age": null}'
            for stream in (False, True):
                answer = chat(tandem, forms(**only(PERSON), stream=stream))
                equal(answer.headers["x-tandem-tier"], "near", answer.body)
            near.script.text = '{"a": null}'  # where no format was asked for, prose is prose
            equal(chat(tandem, forms()).headers["x-tandem-tier"], "near")


def check_climb(tandem, body):
    answer = chat(tandem, body)
    equal(answer.status, 200, answer.body)
    assert b"Ada" in answer.body, answer.body
    assert b"John" not in answer.body, answer.body
    exchange = tandem.get("/tandem/v1/exchanges/" + answer.headers["x-tandem-exchange"]).json
    codes = [reason["code"] for reason in exchange["reasons"]]
    assert "left_values" in codes, exchange["reasons"]


@case
def test_where_nothing_is_above_it_the_disclosure_says_so():
    with Tandem() as tandem:
        for schema, words in ((NOTHING, "null or empty"), (INVENTED, "not in the request")):
            answer = local(tandem, forms(**only(schema)))
            said = answer.tandem
            assert said["degraded"] and words in said["disclosure"], said
            equal(said["confidence"], 0, said)
        answer = local(tandem, forms(**only(QUOTED)))
        assert "null or empty" not in (answer.tandem["disclosure"] or ""), answer.tandem


if __name__ == "__main__":
    main()
