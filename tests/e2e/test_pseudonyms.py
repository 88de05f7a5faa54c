#!/usr/bin/env python3
"""Reversible pseudonyms: private values never reach the cloud, its echo comes back whole, however the stream is
cut, in tool calls' arguments too; what may not be replaced stays on the device."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, stream_text

PRIVACY = """
privacy:
  pseudonyms: {on: true, classes: [sensitive, restricted]}
"""
LETTER = ("Dear Ms. Mary Smith, your card 4111 1111 1111 1111 (mary.smith@acme-corp.com, +1 415-867-5309) was charged "
          "from 81.2.69.160. IBAN DE89 3704 0044 0532 0130 00. Regards, J. Smith")
PRIVATE = ["Mary", "Smith", "4111", "acme-corp", "867-5309", "81.2.69", "DE89", "3704 0044"]
CLOUD = {"x-tandem-mode": "only-cloud"}


def server(cloud, more="", tier=""):
    return Tandem(edge_first(cloud.base_url, tier) + PRIVACY + more, env={"TEST_CLOUD_KEY": "k"})


def nothing_private(cloud):
    for value in PRIVATE:
        assert value.encode() not in cloud.received, f"{value!r} left the device"


def restored(answer):
    return answer.tandem["pseudonyms"]


@case
def test_an_echo_comes_back_whole_and_nothing_private_left():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        answer = tandem.chat(LETTER, CLOUD)
        equal(answer.status, 200, answer.body)
        equal(answer.text, LETTER)
        nothing_private(cloud)
        assert b"your card" in cloud.received, "the tap does not work"
        counts = restored(answer)
        equal(counts["not_restored"], 0)
        assert counts["restored"] >= 8 and counts["sent"] >= 7, counts
        equal(answer.tandem["place"], "cloud")
        metrics = tandem.get("/metrics").body.decode()
        assert f'tandem_pseudonyms_total{{result="restored"}} {counts["restored"]}' in metrics, metrics


@case
def test_streams_cut_anywhere_come_back_whole():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        for size in (1, 2, 3, 5, 7, 11, 1000):
            cloud.script = Script(echo=True, piece_chars=size)
            chunks = tandem.stream(LETTER, CLOUD)[2]
            equal(stream_text(chunks), LETTER, f"pieces of {size}")
        cloud.script = Script(echo=True, piece_chars=4, byte_by_byte=True, comments=True)
        equal(stream_text(tandem.stream(LETTER, CLOUD)[2]), LETTER)
        nothing_private(cloud)


def arguments_of(chunks):
    return "".join(call["function"].get("arguments", "") for chunk in chunks if isinstance(chunk, dict)
                   for choice in chunk["choices"] for call in choice["delta"].get("tool_calls", []))


@case
def test_tool_calls_get_the_values_in_streamed_arguments():
    tools = [{"type": "function", "function": {"name": "send_mail", "parameters": {
        "type": "object", "properties": {"to": {"type": "string"}, "text": {"type": "string"}}}}}]
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        for size in (1, 3, 8, 1000):
            cloud.script = Script(echo=True, echo_tool=True, piece_chars=size, finish="tool_calls")
            chunks = tandem.stream(LETTER, CLOUD, tools=tools)[2]
            equal(json.loads(arguments_of(chunks))["text"], LETTER, f"fragments of {size}")
            answer = tandem.chat(LETTER, CLOUD, tools=tools)
            call = answer.json["choices"][0]["message"]["tool_calls"][0]
            equal(json.loads(call["function"]["arguments"])["text"], LETTER)
        nothing_private(cloud)


@case
def test_a_tools_result_and_the_call_before_it_are_masked_alike():
    cloud = ScriptedCloud(Script(text="Done."))
    arguments = json.dumps({"to": "mary.smith@acme-corp.com"})
    messages = [{"role": "user", "content": "Mail Mary Smith."},
                {"role": "assistant", "content": None, "tool_calls": [{
                    "id": "call_1", "type": "function", "function": {"name": "mail", "arguments": arguments}}]},
                {"role": "tool", "tool_call_id": "call_1", "content": "sent to mary.smith@acme-corp.com"}]
    with server(cloud) as tandem:
        equal(tandem.chat(messages, CLOUD).status, 200)
        nothing_private(cloud)
        sent = cloud.requests[-1]["json"]["messages"]
        to = json.loads(sent[1]["tool_calls"][0]["function"]["arguments"])["to"]
        assert to.split("@")[1].split(".")[1] == "example" and sent[2]["content"] == f"sent to {to}", sent


@case
def test_a_conversation_keeps_its_surrogates_and_another_has_others():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        first = [{"role": "user", "content": "I am mary.smith@acme-corp.com"}]
        tandem.chat(first, CLOUD)
        one = cloud.requests[-1]["json"]["messages"][0]["content"]
        again = first + [{"role": "assistant", "content": "Hello."},
                         {"role": "user", "content": "Who is mary.smith@acme-corp.com?"}]
        tandem.chat(again, CLOUD)
        sent = cloud.requests[-1]["json"]["messages"]
        equal(sent[0]["content"], one)
        assert one.split()[-1] in sent[2]["content"], sent
        tandem.chat("Another: I am mary.smith@acme-corp.com", CLOUD)
        assert one.split()[-1] not in cloud.requests[-1]["json"]["messages"][0]["content"]


@case
def test_retries_and_fallbacks_send_the_same_masked_bytes():
    cloud = ScriptedCloud(Script(echo=True, statuses=[503]))
    with server(cloud) as tandem:
        answer = tandem.chat(LETTER, CLOUD)
        equal((answer.status, answer.text), (200, LETTER), answer.body)
        equal(len(cloud.requests), 2)
        equal(cloud.requests[0]["body"], cloud.requests[1]["body"])
        cloud.script = Script(status=500)
        answer = tandem.chat(LETTER, {"x-tandem-mode": "prefer-cloud"})
        equal(answer.status, 200)
        equal(answer.tandem["place"], "device")
        assert "pseudonyms" not in answer.tandem, answer.tandem
        nothing_private(cloud)


@case
def test_the_local_tier_sees_the_real_text():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with server(cloud) as tandem:
        answer = tandem.chat(LETTER, {"x-tandem-mode": "only-local"})
        equal(answer.status, 200)
        assert "pseudonyms" not in answer.tandem
        equal(len(cloud.requests), 0)


@case
def test_what_no_class_lets_be_replaced_stays_on_the_device():
    cloud = ScriptedCloud(Script(echo=True))
    config = edge_first(cloud.base_url) + "\nprivacy:\n  pseudonyms: {on: true}\n"
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        answer = tandem.chat("My card is 4111 1111 1111 1111", CLOUD)
        equal(answer.status, 403, answer.body)
        answer = tandem.chat("I am mary.smith@acme-corp.com", CLOUD)
        equal((answer.status, answer.text), (200, "I am mary.smith@acme-corp.com"))
        # A caller's word is about the whole text: replacing values does not lower it.
        answer = tandem.chat("A plain text", {**CLOUD, "x-tandem-data-class": "sensitive"})
        equal(answer.status, 403, answer.body)
        nothing_private(cloud)


@case
def test_private_names_of_members_and_numbers_stay():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud) as tandem:
        answer = tandem.chat("Hello", CLOUD, metadata={"mary.smith@acme-corp.com": "x"})
        equal(answer.status, 403, answer.body)
        answer = tandem.chat("Hello", CLOUD, seed=4111111111111111)
        equal(answer.status, 403, answer.body)
        answer = tandem.chat("Hello", CLOUD, user="mary.smith@acme-corp.com", metadata={"to": "mary.smith@acme-corp.com"})
        equal(answer.status, 200, answer.body)
        nothing_private(cloud)
        sent = cloud.requests[-1]["json"]
        equal(sent["user"], sent["metadata"]["to"])


@case
def test_a_tier_or_route_without_pseudonyms_gets_none():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud, tier="    pseudonyms: false\n") as tandem:
        equal(tandem.chat(LETTER, CLOUD).status, 403)
        equal(len(cloud.requests), 0)


@case
def test_completions_are_masked_too():
    cloud = ScriptedCloud(Script(echo=True))
    with server(cloud, tier="    completions: true\n") as tandem:
        for stream in (False, True):
            answer = tandem.request("POST", "/v1/completions", {
                "prompt": LETTER, "max_tokens": 200, "stream": stream}, CLOUD)
            equal(answer.status, 200, answer.body)
            if not stream:
                equal(answer.json["choices"][0]["text"], LETTER)
        nothing_private(cloud)


if __name__ == "__main__":
    main()
