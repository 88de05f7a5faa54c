#!/usr/bin/env python3
"""Long documents that stay on the device while a cloud has them read: what leaves of them, what
clients are told in every dialect, and what happens when the cloud does not play its part."""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from corrections import delta_of, events_of
from kept_bytes import has_card
from long_documents import Document, Planner, leaked, ten_documents, unquoted
from scripted_cloud import Script, ScriptedCloud
from tandem import Answer, Tandem, run, wait_until

ALONE = "I have read it myself."
CONFIG = """
tiers:
  - {{name: near, kind: openai, model: small, place: device, base_url: "{near}"}}
  - {{name: cloud, kind: openai, model: large, base_url: "{cloud}", api_key_env: TEST_CLOUD_KEY,
      price: {{input_usd_per_mtok: 1, output_usd_per_mtok: 10}}}}
routes:
  - {{name: auto, kind: hybrid, tiers: [near, cloud], documents: {{stay: device{documents}}}}}
{more}
"""
DOCUMENTS = ten_documents()


class House:
    def __init__(self, cloud: Script, documents: str = "", more: str = "") -> None:
        self.near = ScriptedCloud(Script(text=ALONE))
        self.cloud = ScriptedCloud(cloud)
        config = CONFIG.format(
            near=self.near.base_url, cloud=self.cloud.base_url, documents=documents, more=more
        )
        self.tandem = Tandem(config, env={"TEST_CLOUD_KEY": "k"})

    def __enter__(self) -> "House":
        return self

    def __exit__(self, *_: object) -> None:
        self.tandem.stop()
        self.near.close()
        self.cloud.close()

    def explain(self) -> dict[str, Any]:
        code, out, err = run("explain", "last", "--json", env=self.tandem.environment)
        equal(code, 0, err)
        found: dict[str, Any] = json.loads(out)
        return found

    def outcomes(self) -> list[tuple[str, str]]:
        return [(a["tier"], a["outcome"]) for a in self.explain()["attempts"]]


def asks(document: Document) -> str:
    return f"{document.text}\n\n{document.question}"


def bodies(document: Document) -> dict[str, dict[str, Any]]:
    """The same in three dialects, and in the ways in which people send texts."""
    content = asks(document)
    parts = [{"type": "text", "text": document.text}, {"type": "text", "text": document.question}]
    tagged = f"<document name='a'>\n{document.text}\n</document>\n{document.question}"
    return {
        "/v1/chat/completions": {"messages": [{"role": "user", "content": content}]},
        "/v1/responses": {"instructions": document.text, "input": document.question},
        "/v1/messages": {"messages": [{"role": "user", "content": parts}], "max_tokens": 100},
        "/v1/chat/completions?": {"messages": [{"role": "user", "content": tagged}]},
    }


def text_and_facts(answer: Answer, streamed: bool) -> tuple[str, dict[str, Any]]:
    """The text of any dialect, and its member `tandem`."""
    if not streamed:
        body = answer.json
        if "choices" in body:
            return body["choices"][0]["message"]["content"], body["tandem"]
        blocks = body["output"][0]["content"] if "output" in body else body["content"]
        return blocks[0]["text"], body["tandem"]
    text, facts = "", {}
    for _, event in events_of(answer.body.splitlines()):
        text += delta_of(event)
        for holder in (event, event.get("response") or {}, event.get("message") or {}):
            facts = holder.get("tandem") or facts
    return text, facts


@case
def test_ten_documents_are_answered_and_nothing_beyond_quotations_leaves():
    ways = [(path, streamed) for path in bodies(DOCUMENTS[0]) for streamed in (False, True)]
    with House(Script()) as house:
        for i, document in enumerate(DOCUMENTS):
            path, streamed = ways[i % len(ways)]
            house.cloud.clear()
            house.cloud.script = Script(thinks=Planner(document))
            body = {"model": "auto", "stream": streamed, **bodies(document)[path]}
            answer = house.tandem.request("POST", path.rstrip("?"), body)
            equal(answer.status, 200, answer.body)
            text, tandem = text_and_facts(answer, streamed)
            assert text.startswith(f"It is {document.answer} ["), (document.name, text)
            facts = tandem["documents"]
            equal((facts["count"], facts["rounds"]), (1, len(document.words)), document.name)
            assert "has not seen the document" in tandem["disclosure"], tandem
            cited = facts["quotes"][int(text.split("[")[1].split("]")[0]) - 1]
            quoted = document.text[cited["from"] : cited["to"]]
            assert document.fact in quoted, (document.fact, quoted)
            received = bytes(house.cloud.received)
            equal(leaked(received, unquoted(document.text, facts["quotes"])), [], document.name)
            left = [c for c in document.canaries if c.encode() in received]
            assert len(left) <= len(facts["quotes"]), (document.name, left)
            equal(house.near.calls(), [])
        equal(facts["quoted_characters"], sum(q["to"] - q["from"] for q in facts["quotes"]))
        _, out, _ = run("egress", "show", "--json", env=house.tandem.environment)
        equal({t["purpose"] for t in json.loads(out)["transfers"]}, {"document"})


@case
def test_each_round_is_charged_and_explained():
    document = DOCUMENTS[4]  # what is asked for first does not stand in it
    with House(Script(thinks=Planner(document))) as house:
        answer = house.tandem.chat(asks(document))
        equal((answer.tandem["documents"]["rounds"], answer.tandem["tier"]), (2, "cloud"))
        found = house.explain()
        equal([a["outcome"] for a in found["attempts"]], ["planned", "planned", "answered"], found)
        cost = sum(a["cost_usd"] for a in found["attempts"])
        assert cost > 0 and abs(found["cost_usd"] - cost) < 1e-9, found
        codes = [r["code"] for r in found["reasons"]]
        equal(codes.count("document"), 4, codes)
        equal(found["signals"]["documents"]["abstained"], 1, found["signals"])
        assert not any(c in json.dumps(found) for c in document.canaries), "content in a record"


@case
def test_private_values_of_a_quotation_are_masked_and_given_back():
    document = ten_documents(seed=2)[0]
    iban = "DE89 3704 0044 0532 0130 00"
    fact = document.fact.replace("1,250 EUR", f"1,250 EUR, to {iban},")
    text = document.text.replace(document.fact, fact) + "\nCard 4111 1111 1111 1111 was lost."

    def thinks(messages: list[dict[str, Any]]) -> str:
        said = "\n".join(str(m["content"]) for m in messages[1:])
        if "The rent amounts" in said:
            return "The account is " + said.split(", to ")[1].split(", and")[0].rstrip(",") + "."
        return '{"jobs": [{"words": ["rent"]}]}'

    masked = "privacy: {pseudonyms: {on: true, classes: [sensitive, restricted]}}"
    with House(Script(thinks=thinks), more=masked) as house:
        answer = house.tandem.chat(f"{text}\n\nWhere does the money go?")
        equal((answer.text, answer.tandem["tier"]), (f"The account is {iban}.", "cloud"))
        received = bytes(house.cloud.received)
        assert b"The rent amounts" in received
        assert iban.encode() not in received and not has_card(received)
    with House(Script(thinks=thinks)) as house:  # nothing may be replaced, so nothing may leave
        answer = house.tandem.chat(f"{text}\n\nWhere does the money go?")
        equal((answer.text, house.cloud.calls()), (ALONE, []))


@case
def test_a_cloud_that_cannot_plan_is_told_so_once_and_then_left():
    document = DOCUMENTS[0]
    for said in ('{"jobs": "all of it"}', '{"jobs": [{"words": [7]}]}', '{"jobs": [', '"jobs"'):
        with House(Script(text=said)) as house:
            answer = house.tandem.chat(asks(document))
            equal((answer.text, answer.tandem["tier"]), (ALONE, "near"), said)
            assert "its jobs cannot be read" in answer.tandem["disclosure"], answer.tandem
            equal(
                house.outcomes(),
                [("cloud", "planned"), ("cloud", "failed"), ("near", "answered")],
            )
            equal(leaked(bytes(house.cloud.received), [document.text]), [])
    with House(Script(text="It says a hundred.")) as house:  # twice: it needs nothing of it
        equal(house.tandem.chat(asks(document)).text, "It says a hundred.")
        equal(leaked(bytes(house.cloud.received), [document.text]), [])


@case
def test_a_cloud_that_only_asks_gets_no_more_than_a_share():
    document = DOCUMENTS[0]
    words = sorted({w for w in document.text.split() if w.startswith("QZ")})
    jobs = [{"words": words[i : i + 1]} for i in range(16)]
    asked: list[int] = []

    def greedy(messages: list[dict[str, Any]]) -> str:
        asked.append(len(messages))
        return json.dumps(
            {"jobs": [{"words": words[i + 16 * len(asked) : i + 1 + 16 * len(asked)]}
                      for i in range(len(jobs))]}
        )  # fmt: skip

    with House(Script(thinks=greedy), ", rounds: 3, share_max: 0.05") as house:
        answer = house.tandem.chat(asks(document))
        equal((answer.text, len(asked)), (ALONE, 4))
        facts = answer.tandem["documents"]
        assert 0 < facts["quoted_characters"] <= 0.05 * facts["characters"], facts
        equal(leaked(bytes(house.cloud.received), unquoted(document.text, facts["quotes"])), [])


@case
def test_who_may_not_or_cannot_be_asked_gets_nothing_and_the_device_answers():
    document = DOCUMENTS[1]
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    schema = {"type": "json_object"}
    cases: list[tuple[dict[str, Any], dict[str, str], str]] = [
        ({"tools": [tool]}, {}, "the request has tools"),
        ({"response_format": schema}, {}, "an output format"),
        ({"messages": [{"role": "user", "content": document.text}]}, {}, "no question beside it"),
        ({}, {"x-tandem-data-class": "restricted"}, ""),
        ({}, {"x-tandem-mode": "only-local"}, ""),
    ]
    with House(Script(thinks=Planner(document))) as house:
        for more, headers, why in cases:
            messages = [{"role": "user", "content": asks(document)}]
            body = {"model": "auto", "messages": messages, **more}
            answer = house.tandem.request("POST", "/v1/chat/completions", body, headers)
            equal((answer.text, house.cloud.calls()), (ALONE, []), str((more, headers)))
            assert why in str(answer.tandem.get("disclosure")), answer.tandem
        equal(house.tandem.chat("A short text goes as it always did.").status, 200)
    with House(Script(text="Hello.")) as house:
        short = house.tandem.chat("What is this? " * 20, model="cloud")
        equal((short.text, "documents" in short.tandem), ("Hello.", False))


@case
def test_a_deadline_is_kept_while_the_cloud_has_documents_read():
    document = DOCUMENTS[2]
    with House(Script(thinks=Planner(document), first_delay=600)) as house:
        answer = house.tandem.chat(asks(document), headers={"x-tandem-slo-ms": "1500"})
        equal((answer.text, answer.tandem["tier"]), (ALONE, "near"))
        wait_until(lambda: house.cloud.gone_count >= 1, what="the cloud is left")
    half = Script(text='{"jobs": [{"words": ["branch"]}]}', piece_delay=0.4)
    with House(half) as house:  # what has come of a plan is no answer
        answer = house.tandem.chat(asks(document), headers={"x-tandem-slo-ms": "1200"})
        equal((answer.text, answer.tandem["tier"]), (ALONE, "near"))
    with House(Script(status=500)) as house:
        equal(house.tandem.chat(asks(document)).text, ALONE)


if __name__ == "__main__":
    main()
