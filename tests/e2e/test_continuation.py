#!/usr/bin/env python3
"""A tier that fails in the middle of its answer. Who has seen nothing yet gets the whole answer of
another tier."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem

ASK = "Name the months of the year."
TEXT = "January, February, March, April, May, June, July and so on to December."
KEY = {"TEST_CLOUD_KEY": "sk-test"}


def ladder(*clouds, place="cloud", extra=""):
    """A route over these servers, the first of which is asked first."""
    tiers = "".join(
        f"  - {{name: t{i}, kind: openai, model: m{i}, base_url: {cloud.base_url},"
        f" place: {place if i == 0 else 'cloud'}, api_key_env: TEST_CLOUD_KEY,"
        f" completions: true{extra}}}\n"
        for i, cloud in enumerate(clouds)
    )
    names = ", ".join(f"t{i}" for i in range(len(clouds)))
    return Tandem(
        f"tiers:\n{tiers}routes:\n  - {{name: auto, kind: hybrid, tiers: [{names}]}}\n", env=KEY
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


if __name__ == "__main__":
    main()
