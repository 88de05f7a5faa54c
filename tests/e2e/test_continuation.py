#!/usr/bin/env python3
"""A tier that fails in the middle of its answer. Who has seen nothing yet gets the whole answer of
another tier. Who has read a part of it gets the rest from another tier, joined to the letter."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from private_letter import LETTER, PRIVATE
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_events, parse_sse, run, stream_text

ASK = "Name the months of the year."
TEXT = "January, February, March, April, May, June, July and so on to December."
KEY = {"TEST_CLOUD_KEY": "sk-test"}


HARD = "Explain in three sentences why the French revolution began."


def ladder(*clouds, place="cloud", extra="", more=""):
    """A route over these servers, the first of which is asked first."""
    tiers = "".join(
        f"  - {{name: t{i}, kind: openai, model: m{i}, base_url: {cloud.base_url},"
        f" place: {place if i == 0 else 'cloud'}, api_key_env: TEST_CLOUD_KEY,"
        f" completions: true{extra}}}\n"
        for i, cloud in enumerate(clouds)
    )
    names = ", ".join(f"t{i}" for i in range(len(clouds)))
    return Tandem(
        f"{more}tiers:\n{tiers}routes:\n  - {{name: auto, kind: hybrid, tiers: [{names}]}}\n",
        env=KEY,
    )


# How each dialect asks, and where its whole answer has the text.
WHOLE = {
    "/v1/chat/completions": (
        {"messages": [{"role": "user", "content": ASK}]},
        lambda body: body["choices"][0]["message"]["content"],
    ),
    "/v1/completions": ({"prompt": ASK}, lambda body: body["choices"][0]["text"]),
    "/v1/messages": (
        {"messages": [{"role": "user", "content": ASK}], "max_tokens": 500},
        lambda body: body["content"][0]["text"],
    ),
    "/v1/responses": ({"input": ASK}, lambda body: body["output"][0]["content"][0]["text"]),
}


@case
def test_an_unstreamed_answer_that_breaks_off_is_replaced_by_another_tiers():
    broken = ScriptedCloud(Script(text="Broken words of the first tier.", cut_after=3))
    healthy = ScriptedCloud(Script(text=TEXT))
    with ladder(broken, healthy) as tandem:
        for path, (members, text) in WHOLE.items():
            for count in (1, 3):
                broken.script.cut_after = count
                answer = tandem.request("POST", path, {"model": "auto", **members})
                equal((path, count, answer.status), (path, count, 200), answer.body)
                equal(text(answer.json), TEXT)
                equal(answer.json["tandem"]["tier"], "t1")
                assert "Broken" not in answer.body.decode()
                assert "shown" not in (answer.json["tandem"]["disclosure"] or "")


@case
def test_an_unstreamed_failure_says_that_nothing_was_shown():
    broken = ScriptedCloud(Script(text=TEXT, cut_after=3))
    with ladder(broken, broken) as tandem:
        answer = tandem.chat(ASK)
        assert answer.status >= 500, answer.status
        message = answer.json["error"]["message"]
        assert message.startswith("no tier could answer"), message
        assert "x-tandem-tier" not in answer.headers, answer.headers


@case
def test_a_long_unstreamed_answer_of_low_confidence_climbs():
    # Sure enough to begin (g2), not sure enough as a whole (g3).
    edge = ScriptedCloud(Script(text="unsure " * 100, logprob=-0.8))
    cloud = ScriptedCloud(Script(text=TEXT))
    with ladder(edge, cloud, place="device") as tandem:
        answer = tandem.chat(ASK, logprobs=True)
        equal((answer.status, answer.text), (200, TEXT))
        equal((answer.tandem["tier"], answer.tandem["degraded"]), ("t1", False), answer.tandem)
        # And where nobody better can be reached, it is said why.
        cloud.script = Script(status=500)
        answer = tandem.chat(ASK, logprobs=True)
        equal((answer.status, answer.tandem["tier"]), (200, "t0"))
        equal(answer.text, edge.script.text)
        equal(len(answer.json["choices"][0]["logprobs"]["content"]), 101)
        assert "shown" not in answer.tandem["disclosure"], answer.tandem["disclosure"]


@case
def test_a_half_answer_of_the_better_tier_gives_way_to_the_kept_one():
    edge = ScriptedCloud(Script(text="unsure " * 100, logprob=-0.8))
    cloud = ScriptedCloud(Script(text=TEXT, cut_after=5))
    with ladder(edge, cloud, place="device") as tandem:
        answer = tandem.chat(ASK, logprobs=True)
        equal((answer.status, answer.tandem["tier"]), (200, "t0"), answer.body)
        equal(answer.text, edge.script.text)
        assert "t1" in answer.tandem["disclosure"], answer.tandem["disclosure"]


# A hundred tokens and more; words that come twice, letters of several bytes, numbers, a list.
STORY = (
    "Zwölf Monate hat das Jahr: 1. Jänner, 2. Feber, 3. März – und so weiter. Very, very long "
    "days follow; naïve 😀 readers count 31, 28, 31, 30 of them.\n\n- January: cold, very cold\n"
    "- February: cold, too\n- March: mild\n\nThe year has 365 days, or 366. It ends where it "
    "began, and it begins where it ended. 😀😀 That is all there is to say of it: the very end."
)
TOKENS = re.findall(r" ?\w+|[^\w\s]|\s", STORY)
ROUTES = 7  # each with a first tier of its own, which thus fails once


def many_ladders(broken, healthy, extra=""):
    common = f"kind: openai, place: cloud, api_key_env: TEST_CLOUD_KEY, completions: true{extra}"
    tiers = "".join(
        f"  - {{name: b{i}, model: b{i}, base_url: {broken.base_url}, {common}}}\n"
        for i in range(ROUTES)
    )
    tiers += f"  - {{name: good, model: good, base_url: {healthy.base_url}, {common}}}\n"
    routes = "".join(
        f"  - {{name: r{i}, kind: hybrid, tiers: [b{i}, good]}}\n" for i in range(ROUTES)
    )
    return Tandem(f"tiers:\n{tiers}routes:\n{routes}", env=KEY)


def read_chat(body):
    chunks, done = parse_sse(body)
    errors = [chunk["error"] for chunk in chunks if "error" in chunk]
    members = [chunk["tandem"] for chunk in chunks if "tandem" in chunk]
    return stream_text(chunks), members[-1] if members else {}, errors, done


def read_completion(body):
    chunks, done = parse_sse(body)
    errors = [chunk["error"] for chunk in chunks if "error" in chunk]
    text = "".join(c["text"] for chunk in chunks for c in chunk.get("choices", []))
    return text, chunks[-1].get("tandem", {}), errors, done


def read_messages(body):
    events = parse_events(body)
    deltas = [e["delta"] for e in events if e["type"] == "content_block_delta"]
    last = [e for e in events if e["type"] == "message_delta"]
    errors = [e["error"] for e in events if e["type"] == "error"]
    ended = events[-1]["type"] in ("message_stop", "error")
    text = "".join(delta.get("text", "") for delta in deltas)
    return text, last[-1]["tandem"] if last else {}, errors, ended


def read_responses(body):
    events = parse_events(body)
    text = "".join(e["delta"] for e in events if e["type"] == "response.output_text.delta")
    last = events[-1]
    errors = [e for e in events if e["type"] in ("error", "response.failed")]
    if last["type"] == "response.completed":
        whole = last["response"]["output"][0]["content"][0]["text"]
        equal(whole, text, "the text that is repeated at the end")
        return text, last["response"]["tandem"], errors, True
    return text, {}, errors, last["type"] in ("error", "response.failed")


STREAMS = {
    "/v1/chat/completions": read_chat,
    "/v1/completions": read_completion,
    "/v1/messages": read_messages,
    "/v1/responses": read_responses,
}


def ask(server, path, model="auto", **more):
    members, _ = WHOLE[path]
    return server.request("POST", path, {"model": model, **members, "stream": True, **more})


def cut_everywhere(path, goes_on, extra=""):
    """Cuts the first tier's stream after every token; the text must be the whole one each time."""
    assert len(TOKENS) > 100, len(TOKENS)
    broken = ScriptedCloud(Script(pieces=TOKENS))
    healthy = ScriptedCloud(Script(text=STORY, goes_on=goes_on))
    counts = list(range(1, len(TOKENS) + 1))
    for begin in range(0, len(counts), ROUTES):
        with many_ladders(broken, healthy, extra) as tandem:
            for i, count in enumerate(counts[begin : begin + ROUTES]):
                # Without an end, because a reset may also take the last pieces with it.
                broken.script = Script(pieces=TOKENS[:count], no_done=True)
                broken.clear()
                answer = ask(tandem, path, f"r{i}")
                where = (path, goes_on, count, "".join(TOKENS[:count])[-20:])
                text, member, errors, done = STREAMS[path](answer.body)
                equal((errors, done), ([], True), where)
                equal(text, STORY, where)
                equal(len(broken.requests), 1, where)
                seam = member["seams"][0]
                equal((seam["from"], seam["to"]), (f"b{i}", "good"), where)
                equal(seam["at_chars"], len("".join(TOKENS[:count])), where)
                equal((member["tier"], member["degraded"]), ("good", True), where)


@case
def test_cut_after_every_token_a_tier_that_takes_a_beginning_goes_on():
    cut_everywhere("/v1/chat/completions", "prefill", ", prefill: message")


@case
def test_cut_after_every_token_a_tier_that_begins_anew_is_joined():
    cut_everywhere("/v1/chat/completions", "anew")


@case
def test_cut_after_every_token_a_tier_that_says_the_last_words_again_is_joined():
    cut_everywhere("/v1/chat/completions", "words")


@case
def test_cut_after_every_token_a_completion_goes_on_with_its_text():
    cut_everywhere("/v1/completions", "prefill")


@case
def test_every_dialect_and_every_failure_goes_on():
    broken = ScriptedCloud()
    healthy = ScriptedCloud(Script(text=STORY, goes_on="words"))
    failures = {
        "cut": Script(pieces=TOKENS, cut_after=40),
        "stall": Script(pieces=TOKENS, stall_after=40),
        "garbage": Script(pieces=TOKENS, garbage_after=40),
        "error": Script(pieces=TOKENS, error_after=40),
        "no end": Script(pieces=TOKENS[:40], no_done=True),
    }
    extra = ", timeouts: {idle_ms: 700}"
    for path, read in STREAMS.items():
        healthy.script.goes_on = "prefill" if path == "/v1/completions" else "words"
        with many_ladders(broken, healthy, extra) as tandem:
            for i, (name, script) in enumerate(failures.items()):
                broken.script = script
                text, member, errors, done = read(ask(tandem, path, f"r{i}").body)
                equal((path, name, errors, done), (path, name, [], True))
                equal(text, STORY, (path, name))
                equal(len(member["seams"]), 1, (path, name))
                disclosure = member["disclosure"]
                assert f"Begun by tier b{i} and continued by tier good" in disclosure, disclosure


@case
def test_what_is_more_than_text_ends_in_an_honest_error():
    call = {
        "tool_calls": [
            {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}
        ]
    }
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    cases = {
        "more than text": ({"tools": [tool]}, {"extra_delta": call}),
        "a form": ({"response_format": {"type": "json_object"}}, {}),
        "log-probabilities": ({"logprobs": True}, {"logprob": -0.01}),
    }
    broken, healthy = ScriptedCloud(), ScriptedCloud(Script(text=STORY, goes_on="anew"))
    with many_ladders(broken, healthy) as tandem:
        for i, (why, (members, script)) in enumerate(cases.items()):
            broken.script = Script(pieces=TOKENS, cut_after=40, **script)
            body = ask(tandem, "/v1/chat/completions", f"r{i}", **members).body
            text, _, errors, done = read_chat(body)
            equal((why, done, len(errors)), (why, True, 1))
            assert STORY.startswith(text), (why, text)
            message = errors[0]["message"]
            assert "broke off" in message and why in message, (why, message)
        equal(healthy.requests, [])


@case
def test_another_answer_is_not_glued_to_the_first():
    broken = ScriptedCloud(Script(pieces=TOKENS[:40], no_done=True))
    other = ScriptedCloud(Script(text=STORY[:60] + "quite another story, told to its end."))
    last = ScriptedCloud(Script(text=STORY, goes_on="words"))
    with ladder(broken, other) as tandem:
        text, _, errors, done = read_chat(ask(tandem, "/v1/chat/completions").body)
        equal((text, len(errors), done), ("".join(TOKENS[:40]), 1, True))
        assert "instead of going on" in errors[0]["message"], errors
    with ladder(broken, other, last) as tandem:
        text, member, errors, done = read_chat(ask(tandem, "/v1/chat/completions").body)
        equal((text, errors, done), (STORY, [], True))
        equal([(s["from"], s["to"]) for s in member["seams"]], [("t0", "t2")])


@case
def test_a_second_break_is_a_second_seam():
    first = ScriptedCloud(Script(pieces=TOKENS[:20], no_done=True))
    second = ScriptedCloud(Script(text=STORY[:150], goes_on="words", no_done=True))
    third = ScriptedCloud(Script(text=STORY, goes_on="anew"))
    with ladder(first, second, third) as tandem:
        text, member, errors, done = read_chat(ask(tandem, "/v1/chat/completions").body)
        equal((text, errors, done), (STORY, [], True))
        places = [len("".join(TOKENS[:20])), 150]
        equal([seam["at_chars"] for seam in member["seams"]], places)
        assert "then tier t2 after 150" in member["disclosure"], member["disclosure"]


@case
def test_a_client_that_takes_corrections_gets_one_whole_answer():
    broken = ScriptedCloud(Script(pieces=TOKENS[:20], no_done=True))
    healthy = ScriptedCloud(Script(text=TEXT))
    with ladder(broken, healthy) as tandem:
        body = ask(tandem, "/v1/chat/completions", tandem={"corrections": True}).body
        text, member, errors, _ = read_chat(body)
        equal((text, errors), ("".join(TOKENS[:20]) + TEXT, []))
        assert b'"correction":{"replaces":"all"' in body and "seams" not in member, body


@case
def test_a_tier_that_goes_on_gets_what_is_left_of_the_clients_limit():
    broken = ScriptedCloud(Script(pieces=TOKENS[:40], no_done=True))
    healthy = ScriptedCloud(Script(text=STORY, goes_on="prefill"))
    for extra, reduced in ((", prefill: prefix", True), ("", False)):
        healthy.clear()
        with ladder(broken, healthy, extra=extra) as tandem:
            ask(tandem, "/v1/chat/completions", max_tokens=500)
        sent = healthy.requests[0]["json"]
        equal(sent["max_tokens"] < 500, reduced, sent)
        roles = [message["role"] for message in sent["messages"]]
        equal(roles, ["user", "assistant"] + ([] if reduced else ["user"]))
        equal(sent["messages"][1].get("prefix", False), reduced)


@case
def test_the_device_goes_on_with_an_answer_of_the_cloud_and_explain_says_so():
    cloud = ScriptedCloud(Script(pieces=TOKENS[:20], no_done=True))
    with Tandem(edge_first(cloud.base_url), env=KEY) as tandem:
        body = tandem.chat(HARD, stream=True, max_tokens=60).body
        text, member, errors, done = read_chat(body)
        equal((errors, done, member["tier"]), ([], True, "local"), body)
        assert text.startswith("".join(TOKENS[:20])), text
        equal([(s["from"], s["to"]) for s in member["seams"]], [("cloud", "local")])
        code, out, _ = run("explain", member["exchange"], env=tandem.environment)
        out = out.decode()
        equal(code, 0, out)
        assert "goes on after" in out and "continued" in out, out
        record = tandem.get(f"/tandem/v1/exchanges/{member['exchange']}").json
        outcomes = [(a["tier"], a["outcome"]) for a in record["attempts"]]
        equal(outcomes[-2:], [("cloud", "failed"), ("local", "continued")])


@case
def test_what_was_shown_is_masked_for_the_tier_that_goes_on():
    broken = ScriptedCloud()
    healthy = ScriptedCloud(Script(echo=True))
    pseudonyms = "privacy: {pseudonyms: {on: true, classes: [sensitive, restricted]}}\n"
    with ladder(broken, healthy, extra=", prefill: message", more=pseudonyms) as tandem:
        broken.script = Script(echo=True, piece_chars=7, cut_at=len(LETTER) - 40, no_done=True)
        # The second tier sends back what it was handed, so nothing is new in it, if and only if
        # the same values have the same surrogates.
        body = tandem.chat(LETTER, stream=True).body
        text, member, errors, done = read_chat(body)
        equal((errors, done), ([], True), body)
        equal(len(healthy.requests), 1)
        assert LETTER.startswith(text) and len(text) > 100, text
        equal([(s["from"], s["to"]) for s in member["seams"]], [("t0", "t1")])
        for value in PRIVATE:
            for cloud in (broken, healthy):
                assert value.encode() not in cloud.received, value
        lines = b"".join(
            f.read_bytes() for f in (tandem.state / "egress").glob("**/*") if f.is_file()
        )
        assert b'"continuation"' in lines, lines[-600:]


@case
def test_what_was_shown_raises_the_class_of_what_leaves():
    card = "Your card number is 4111 1111 1111 1111, as you know, and then some more of it."
    broken = ScriptedCloud(Script(text=card, no_done=True))
    healthy = ScriptedCloud(Script(text=card))
    with ladder(broken, healthy) as tandem:
        text, _, errors, done = read_chat(ask(tandem, "/v1/chat/completions").body)
        equal((text, len(errors), done), (card, 1, True))
        equal(healthy.requests, [])
        assert "may not reach it" in errors[0]["message"], errors


@case
def test_a_joined_answer_that_meets_its_deadline_is_cut_and_says_so():
    broken = ScriptedCloud(Script(pieces=TOKENS[:30], no_done=True))
    # Five characters every 100 ms: a story of 370 characters takes seven seconds.
    slow = ScriptedCloud(Script(text=STORY, goes_on="words", piece_delay=0.1))
    with ladder(broken, slow) as tandem:
        body = ask(tandem, "/v1/chat/completions", tandem={"slo_ms": 2000}).body
        text, member, errors, done = read_chat(body)
        equal((errors, done), ([], True), body)
        assert STORY.startswith(text) and len("".join(TOKENS[:30])) < len(text) < len(STORY), text
        disclosure = member["disclosure"]
        assert "continued by tier t1" in disclosure and "deadline of 2000 ms" in disclosure
        record = tandem.get(f"/tandem/v1/exchanges/{member['exchange']}").json
        equal([a["outcome"] for a in record["attempts"]], ["failed", "continued"])


@case
def test_the_cloud_is_said_to_cost_what_all_of_a_joined_answer_would_have():
    """Not only the part that the last tier wrote, and its prompt without what was shown."""
    broken = ScriptedCloud(Script(pieces=TOKENS[:100], no_done=True))
    healthy = ScriptedCloud(Script(text=STORY, goes_on="prefill", usage=False))
    price = ", price: {input_usd_per_mtok: 0, output_usd_per_mtok: 1000}"
    costs = []
    for first in (broken, healthy):
        with ladder(first, healthy, extra=", prefill: message" + price) as tandem:
            text, member, _, _ = read_chat(ask(tandem, "/v1/chat/completions").body)
            equal(text, STORY)
            costs.append(member["all_cloud_cost_usd"])
    assert 0.9 < costs[0] / costs[1] < 1.1, costs


if __name__ == "__main__":
    main()
