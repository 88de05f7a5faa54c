#!/usr/bin/env python3
"""What a server puts into an answer for its own next turn (a thought signature, a thought in
cipher) comes back to it, and no text of a caller's own takes that way past the scan."""

import base64
import copy
import itertools
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from recorded_answers import load, of_chunks
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_sse

CLOUD = {"x-tandem-mode": "only-cloud"}
PRIVACY = "\nprivacy:\n  pseudonyms: {on: true, classes: [sensitive, restricted]}\n"
MAIL = "mary.smith@acme-corp.com"
KEY = "ghp_" + "a8Kq2Lm9Xz4Vt7Bn1Rp5Ws3Yd6Hf0Jc8Gu2Qe"  # a GitHub token's form
TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}]
# Short ones are taken for keys. These are, and the test of texts that no server sent says so.
TAKEN_FOR_KEYS = (0, 1, 4, 5)
NUMBERS = itertools.count()


def server(cloud, more="", tier="", **env):
    return Tandem(edge_first(cloud.base_url, tier) + more, env={"TEST_CLOUD_KEY": "k", **env})


def ask_why():
    """A question that begins a conversation of its own: the class of another must not matter."""
    return {"role": "user", "content": f"Why are there tides, for the time {next(NUMBERS)}?"}


def signature(seed, size=48):
    return base64.b64encode(random.Random(seed).randbytes(size)).decode()


def signed(text):
    return {"google": {"thought_signature": text}}


def call(text, index=0):
    return {
        "index": index,
        "id": f"call_{index}",
        "type": "function",
        "function": {"name": "look_up", "arguments": "{}"},
        "extra_content": signed(text),
    }


def calling(*texts):
    calls = [call(text, index) for index, text in enumerate(texts)]
    return Script(text="", extra_delta={"tool_calls": calls}, finish="tool_calls")


def ask(tandem, messages, stream=False, **headers):
    body = {"model": "auto", "messages": messages, "tools": TOOLS, "stream": stream}
    return tandem.request("POST", "/v1/chat/completions", body, {**CLOUD, **headers})


def message_of(answer):
    equal(answer.status, 200, answer.body.decode())
    if answer.headers["content-type"].startswith("application/json"):
        return answer.json["choices"][0]["message"]
    message = of_chunks(parse_sse(answer.body)[0])["choices"][0]["message"]
    return {"role": "assistant", **message}


def next_turn(message, question):
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": "{}"}
        for call in message.get("tool_calls") or []
    ]
    return [question, message, *results]


def sent(cloud):
    return cloud.calls()[-1]["json"]["messages"]


@case
def test_a_signature_comes_back_to_its_server_byte_by_byte():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        for stream, first, second in ((False, 0, 1), (True, 4, 5)):
            texts = (signature(first), signature(second), signature(first, 3000))
            question = ask_why()
            cloud.script = calling(*texts)
            message = message_of(ask(tandem, [question], stream))
            cloud.script = Script(text="The moon.")
            turn = next_turn(message, question)
            equal(message_of(ask(tandem, turn, stream))["content"], "The moon.")
            extra = [call["extra_content"] for call in sent(cloud)[1]["tool_calls"]]
            equal(extra, [signed(text) for text in texts])
            # A third turn has it still.
            turn += [{"role": "assistant", "content": "The moon."}, ask_why()]
            equal(ask(tandem, turn).status, 200)


@case
def test_every_recorded_answer_can_be_gone_on_from():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        for name, recorded in load().items():
            for stream in (False, True):
                cloud.script = Script(recorded=recorded)
                question = ask_why()
                message = message_of(ask(tandem, [question], stream))
                cloud.script = Script(text="Well.")
                answer = ask(tandem, next_turn(message, question))
                equal(answer.status, 200, f"{name}, streamed {stream}: {answer.body}")


@case
def test_a_text_that_no_server_sent_is_scanned_where_signatures_stand():
    cloud = ScriptedCloud(Script(text="Well."))
    own = signature(0)
    hidden = base64.b64encode(f"I am {MAIL}, and this is long".encode()).decode()

    def status(message):
        return ask(tandem, next_turn(message, ask_why())).status

    def calls(text):
        return {"role": "assistant", "content": None, "tool_calls": [call(text)]}

    with server(cloud) as tandem:
        for text in (*(signature(seed) for seed in TAKEN_FOR_KEYS), KEY, hidden):
            equal(status(calls(text)), 403, text)
        cloud.script = calling(own)
        message = message_of(ask(tandem, [ask_why()]))
        cloud.script = Script(text="Well.")
        equal(status(message), 200)
        # Nor beside one that a server did send, before it, or after it.
        for text in (KEY, hidden, "sk-" + own, own[1:], signature(1)):
            equal(status(calls(text)), 403, text)
        beside = copy.deepcopy(message)
        beside["tool_calls"][0]["extra_content"]["google"]["note"] = KEY
        equal(status(beside), 403)
    assert KEY.encode() not in cloud.received


@case
def test_a_signature_is_its_callers_alone():
    more = "server: {api_keys_env: KEYS}\n"
    cloud = ScriptedCloud(calling(signature(0)))
    with server(cloud, more, KEYS="key-a,key-b") as tandem:
        a, b = ({"authorization": f"Bearer key-{name}"} for name in "ab")
        message = message_of(ask(tandem, [ask_why()], **a))
        cloud.script = Script(text="Well.")
        equal(ask(tandem, next_turn(message, ask_why()), **b).status, 403)
        equal(ask(tandem, next_turn(message, ask_why()), **a).status, 200)


@case
def test_a_masked_conversation_keeps_its_signature_and_its_mask():
    cloud = ScriptedCloud(calling(signature(0)))
    question = {"role": "user", "content": f"Who is {MAIL}?"}
    with server(cloud, PRIVACY) as tandem:
        message = message_of(ask(tandem, [question]))
        cloud.script = Script(text="Well.")
        answer = ask(tandem, next_turn(message, question))
        equal(answer.status, 200, answer.body.decode())
        equal(sent(cloud)[1]["tool_calls"][0]["extra_content"], signed(signature(0)))
    assert MAIL.encode() not in cloud.received


@case
def test_a_server_gets_no_private_value_by_signing_with_its_surrogate():
    cloud = ScriptedCloud(Script(echo=True))
    question = {"role": "user", "content": f"My key is {KEY}"}
    with server(cloud, PRIVACY) as tandem:
        equal(message_of(ask(tandem, [question]))["content"], question["content"])
        surrogate = sent(cloud)[0]["content"].removeprefix("My key is ")
        assert surrogate.startswith("ghp_") and surrogate != KEY, surrogate
        cloud.script = calling(surrogate)
        message = message_of(ask(tandem, [question]))
        cloud.script = Script(text="Well.")
        ask(tandem, next_turn(message, question))
    assert KEY.encode() not in cloud.received


@case
def test_a_signature_has_the_class_of_what_its_server_was_told():
    house, cloud = ScriptedCloud(calling(signature(0))), ScriptedCloud(Script(text="Well."))
    tier = f"""  - name: house
    kind: openai
    place: premises
    model: other
    base_url: {house.base_url}
"""
    with server(cloud, tier=tier) as tandem:

        def ask_house(messages):
            body = {"model": "house", "messages": messages, "tools": TOOLS}
            return tandem.request("POST", "/v1/chat/completions", body)

        question = {"role": "user", "content": f"I am {MAIL}"}
        message = message_of(ask_house([question]))
        # In a conversation of its own, where nothing else is private.
        equal(ask(tandem, next_turn(message, ask_why())).status, 403)
        house.script = Script(text="Well.")
        equal(ask_house(next_turn(message, question)).status, 200)
        # What was told nothing private may go on anywhere.
        house.script = calling(signature(1))
        message = message_of(ask_house([ask_why()]))
        equal(ask(tandem, next_turn(message, ask_why())).status, 200)
    equal(len(cloud.calls()), 1)


@case
def test_clients_of_gemini_send_it_back_in_another_alphabet():
    cloud = ScriptedCloud()
    path = "/v1beta/models/auto:generateContent"
    with server(cloud) as tandem:
        # A long one gets the alphabet back that its server has.
        for seed, size, same in ((0, 48, False), (1, 48, False), (0, 600, True), (1, 601, True)):
            own = signature(seed, size)
            cloud.script = calling(own)
            asked = {"role": "user", "parts": [{"text": ask_why()["content"]}]}
            answer = tandem.request("POST", path, {"contents": [asked]}, CLOUD)
            equal(answer.status, 200, answer.body.decode())
            content = answer.json["candidates"][0]["content"]
            part = content["parts"][0]
            equal(part["thoughtSignature"], own)
            for_urls = base64.urlsafe_b64encode(base64.b64decode(own)).decode()
            part["thoughtSignature"] = for_urls
            cloud.script = Script(text="The moon.")
            result = {"functionResponse": {"name": "look_up", "response": {}}}
            turn = {"contents": [asked, content, {"role": "user", "parts": [result]}]}
            answer = tandem.request("POST", path, turn, CLOUD)
            equal(answer.status, 200, answer.body.decode())
            extra = sent(cloud)[1]["tool_calls"][0]["extra_content"]
            equal(extra, signed(own if same else for_urls))
            part["thoughtSignature"] = KEY
            refused = tandem.request("POST", path, turn, CLOUD)
            equal(refused.status, 403)
    assert KEY.encode() not in cloud.received


if __name__ == "__main__":
    main()
