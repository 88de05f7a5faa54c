#!/usr/bin/env python3
"""Texts to go on with: /v1/completions by the local tier and by clouds that have it."""

import json
import re
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import has_card
from scripted_cloud import Script, ScriptedCloud
from tandem import NANO, Tandem, edge_first, parse_sse, run, wait_until

LOCAL = "tiers:\n  - {name: local, kind: local}\n"
TEXT = "Classify the intent: play some music, then zażółć gęślą jaźń and \U0001f600 too"


def complete(tandem, prompt, headers=None, **members):
    return tandem.request(
        "POST",
        "/v1/completions",
        {"model": "auto", "prompt": prompt, "temperature": 0, **members},
        headers,
    )


def score(prompt, text):
    code, out, err = run("score", "-m", NANO, "--prompt", prompt, "--text", text, "--json")
    equal(code, 0, err)
    return json.loads(out)


def ids_of(text):
    code, out, err = run("tokenize", "-m", NANO, "--prompt", text, "--json")
    equal(code, 0, err)
    return json.loads(out)


@case
def test_a_scored_prompt_has_the_log_probabilities_of_tandem_score():
    head, tail = TEXT[:8], TEXT[8:] * 12  # several passes of the model
    with Tandem(LOCAL) as tandem:
        scored = score(head, tail)
        for prompt in (head + tail, ids_of(head) + [token["id"] for token in scored["tokens"]]):
            answer = complete(tandem, prompt, max_tokens=0, echo=True, logprobs=1)
            equal(answer.status, 200, answer.body)
            choice, usage = answer.json["choices"][0], answer.json["usage"]
            logprobs = choice["logprobs"]
            equal((choice["text"], choice["finish_reason"]), (head + tail, "length"))
            equal(usage["completion_tokens"], 0)
            equal(
                "".join(
                    logprobs["tokens"]
                    if not any(t.startswith("bytes:") for t in logprobs["tokens"])
                    else [choice["text"]]
                ),
                choice["text"],
            )
            skipped = usage["prompt_tokens"] - len(scored["tokens"])
            equal(len(ids_of(head)), skipped, "the head is tokens of its own")
            equal(logprobs["token_logprobs"][0], None)
            equal(
                logprobs["token_logprobs"][skipped:],
                [token["logprob"] for token in scored["tokens"]],
            )
            for name, value in zip(logprobs["tokens"][1:], logprobs["top_logprobs"][1:]):
                assert name in value and value[name] <= max(value.values()), (name, value)
            for offset, name in zip(logprobs["text_offset"], logprobs["tokens"]):
                if not name.startswith("bytes:"):
                    equal(choice["text"][offset : offset + len(name)], name)


@case
def test_a_prompt_as_long_as_the_context_is_scored_to_its_end():
    code, out, err = run("models", "info", "--json")
    equal(code, 0, err)
    context = json.loads(out)["context_tokens"]
    with Tandem(LOCAL) as tandem:
        whole = complete(tandem, [300] * context, max_tokens=0, echo=True, logprobs=1)
        equal(whole.status, 200, whole.body)
        equal(len(whole.json["choices"][0]["logprobs"]["token_logprobs"]), context)
        for count, tokens_max in ((context, 1), (context + 1, 0)):
            longer = complete(tandem, [300] * count, max_tokens=tokens_max, echo=True)
            equal((longer.status, longer.json["error"]["param"]), (400, "prompt"), longer.body)


@case
def test_what_harnesses_send_has_one_token_behind_each_prompt():
    prompts = [ids_of(TEXT), ids_of("hello"), [5]]
    with Tandem(LOCAL) as tandem:
        both = complete(tandem, prompts, max_tokens=1, echo=True, logprobs=1).json
        equal([choice["index"] for choice in both["choices"]], [0, 1, 2])
        for prompt, choice in zip(prompts, both["choices"]):
            equal(len(choice["logprobs"]["tokens"]), len(prompt) + 1)
            alone = complete(tandem, prompt, max_tokens=0, echo=True, logprobs=1).json["choices"][0]
            equal(choice["logprobs"]["token_logprobs"][:-1], alone["logprobs"]["token_logprobs"])
            equal(choice["tandem"]["tier"], "local")
        equal(both["usage"]["prompt_tokens"], sum(map(len, prompts)))
        for choice in both["choices"]:  # each is in the ledger; the look-up waits for its commit
            record = tandem.get("/tandem/v1/exchanges/" + choice["tandem"]["exchange"]).json
            equal((record["status"], record["tier"]), ("ok", "local"))


@case
def test_a_stream_says_what_a_whole_answer_says():
    with Tandem(LOCAL) as tandem:
        for members in (
            {"echo": True, "logprobs": 2},
            {"n": 2, "seed": 7, "temperature": 1},
            {"stop": ["u"]},
        ):
            whole = complete(tandem, [TEXT, "hello there"], max_tokens=6, **members).json
            answer = complete(
                tandem,
                [TEXT, "hello there"],
                max_tokens=6,
                stream=True,
                stream_options={"include_usage": True},
                **members,
            )
            chunks, done = parse_sse(answer.body)
            equal((answer.status, done), (200, True))
            equal(chunks[-1]["usage"]["completion_tokens"], whole["usage"]["completion_tokens"])
            for choice in whole["choices"]:
                own = [
                    c["choices"][0]
                    for c in chunks
                    if c["choices"] and c["choices"][0]["index"] == choice["index"]
                ]
                equal("".join(c["text"] for c in own), choice["text"])
                equal(
                    [c["finish_reason"] for c in own if c["finish_reason"]],
                    [choice["finish_reason"]],
                )
                if choice["logprobs"]:
                    equal(
                        sum((c["logprobs"]["tokens"] for c in own if c["logprobs"]), []),
                        choice["logprobs"]["tokens"],
                    )
                    equal(
                        sum((c["logprobs"]["text_offset"] for c in own if c["logprobs"]), []),
                        choice["logprobs"]["text_offset"],
                    )


@case
def test_a_seed_gives_different_choices_that_come_again():
    with Tandem(LOCAL) as tandem:
        texts = [
            [
                c["text"]
                for c in complete(tandem, "hello", n=4, seed=3, temperature=2, max_tokens=12).json[
                    "choices"
                ]
            ]
            for _ in range(2)
        ]
        equal(texts[0], texts[1])
        assert len(set(texts[0])) > 1, texts


@case
def test_clouds_are_asked_only_when_they_complete_and_the_data_may_leave():
    cloud = ScriptedCloud(Script(text="and so on.", logprob=-0.5))
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        refused = complete(tandem, "Once", {"x-tandem-mode": "only-cloud"})
        assert refused.status == 400 and "only chats" in refused.json["error"]["message"], (
            refused.body
        )
    with Tandem(
        edge_first(cloud.base_url, "    completions: true\n"), env={"TEST_CLOUD_KEY": "k"}
    ) as tandem:
        answer = complete(
            tandem,
            ["Once upon", "a time"],
            {"x-tandem-mode": "only-cloud"},
            logprobs=1,
            max_tokens=9,
        )
        equal([c["text"] for c in answer.json["choices"]], ["and so on."] * 2, answer.body)
        equal(answer.json["choices"][0]["logprobs"]["token_logprobs"], [-0.5] * 3)
        equal({r["path"] for r in cloud.requests}, {"/v1/completions"})
        equal(sorted(r["json"]["prompt"] for r in cloud.requests), ["Once upon", "a time"])
        equal(
            [(r["json"]["logprobs"], r["json"]["max_tokens"]) for r in cloud.requests], [(1, 9)] * 2
        )
        cloud.clear()
        cloud.script = Script(text="whole", ignore_stream=True)
        equal(
            complete(tandem, "Once", {"x-tandem-mode": "only-cloud"}).json["choices"][0]["text"],
            "whole",
        )
        cloud.clear()
        card = "my card is 4111 1111 1111 1111"
        for prompt in (card, ids_of(card), ["nothing", card]):
            answer = complete(tandem, prompt, {"x-tandem-mode": "only-cloud"})
            equal(answer.status, 403, answer.body)
            local = complete(tandem, prompt, max_tokens=2)
            equal(local.status, 200, local.body)
        assert not has_card(cloud.received)
        ids = complete(tandem, ids_of("hello"), {"x-tandem-mode": "only-cloud"})
        assert ids.status == 400 and "token ids" in ids.json["error"]["message"], ids.body


@case
def test_what_cannot_be_honoured_is_refused_by_name():
    bad = [
        ({}, "prompt"),
        ({"prompt": ""}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": [1, "a"]}, "prompt"),
        ({"prompt": ["a", 5]}, "prompt[1]"),
        ({"prompt": [[1], [-1]]}, "prompt[1]"),
        ({"prompt": {"a": 1}}, "prompt"),
        ({"prompt": "a", "suffix": "b"}, "suffix"),
        ({"prompt": "a", "best_of": 2}, "best_of"),
        ({"prompt": "a", "n": 0}, "n"),
        ({"prompt": ["a"] * 9, "n": 100}, "prompt"),
        ({"prompt": "a", "logprobs": 6}, "logprobs"),
        ({"prompt": "a", "logprobs": True}, "logprobs"),
        ({"prompt": "a", "echo": 1}, "echo"),
        ({"prompt": "a", "max_tokens": -1}, "max_tokens"),
        ({"prompt": "a", "grammar": "root ::= [a]"}, "grammar"),
        ({"prompt": "a", "model": "nobody"}, "model"),
        ({"prompt": "word " * 9000}, "prompt"),
    ]
    with Tandem(LOCAL) as tandem:
        for body, param in bad:
            answer = tandem.request("POST", "/v1/completions", body)
            equal(
                (str(body)[:60], answer.status, answer.json["error"]["param"]),
                (str(body)[:60], 404 if param == "model" else 400, param),
            )
            assert answer.json["error"]["code"], body
        equal(complete(tandem, "a", max_tokens=1).status, 200)


@case
def test_members_that_say_nothing_are_taken_and_kept_from_clouds():
    neutral = {
        "suffix": "",
        "grammar": "",
        "tools": [],
        "response_format": {"type": "text"},
        "best_of": 1,
        "seed": None,
    }
    cloud = ScriptedCloud(Script(text="and so on."))
    with Tandem(
        edge_first(cloud.base_url, "    completions: true\n"), env={"TEST_CLOUD_KEY": "k"}
    ) as tandem:
        for mode in ("only-local", "only-cloud"):
            answer = complete(tandem, "Once", {"x-tandem-mode": mode}, max_tokens=2, **neutral)
            equal(answer.status, 200, answer.body)
        equal(set(neutral) & set(cloud.requests[0]["json"]), {"seed"})


@case
def test_the_bodies_of_many_choices_are_not_all_in_memory_at_once():
    with Tandem(LOCAL) as tandem:
        answer = complete(
            tandem, ["hi", "ho"], n=128, max_tokens=1, metadata={"x": "x" * 3_000_000}
        )
        equal(answer.status, 200, answer.body)
        equal(len(answer.json["choices"]), 256)
        assert tandem.rss_bytes("VmHWM") < 400 << 20, tandem.rss_bytes(
            "VmHWM"
        )  # one body each: 768 MB


@case
def test_an_adapter_that_is_not_there_is_named_by_the_member_that_asked_for_it():
    with Tandem(LOCAL) as tandem:
        for members, param in (
            ({"lora": [{"name": "none"}]}, "lora"),
            ({"tandem": {"adapters": ["none"]}}, "tandem.adapters"),
        ):
            answer = tandem.request("POST", "/v1/completions", {"prompt": "hi", **members})
            equal((answer.status, answer.json["error"]["param"]), (400, param), answer.body)


@case
def test_no_prompt_is_sent_when_another_one_fails_the_whole_request():
    cloud = ScriptedCloud(Script(text="Cloud."))
    config = edge_first(cloud.base_url, "    completions: true\n")
    harmless = [f"harmless question {i}" for i in range(12)]
    card = "my card is 4111 1111 1111 1111"
    huge = "words " * 100000  # more than any tier's context
    only_cloud = {"x-tandem-mode": "only-cloud"}
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        for bad, code in ((card, 403), (huge, 400)):
            for prompts in (
                [harmless[0], bad],
                [bad, harmless[0]],
                [*harmless, bad],
                [*harmless[:5], bad, *harmless[5:]],
            ):
                for extra in ({}, {"n": 2}, {"stream": True}):
                    body = {"model": "auto", "prompt": prompts, "max_tokens": 5, **extra}
                    answer = tandem.request("POST", "/v1/completions", body, only_cloud)
                    equal((len(prompts), extra, answer.status), (len(prompts), extra, code))
                    assert "choices" not in answer.json
        equal(cloud.requests, [], "what reached the cloud")
        # Without the bad one all are answered, in the order of the prompts.
        body = {"model": "auto", "prompt": harmless, "max_tokens": 5, "echo": True}
        answer = tandem.request("POST", "/v1/completions", body, only_cloud)
        equal(answer.status, 200)
        equal([choice["index"] for choice in answer.json["choices"]], list(range(12)))


ONLY_CLOUD = {"x-tandem-mode": "only-cloud"}
PROMPTS = [f"harmless question {i}" for i in range(12)]  # more than run at once


def records(tandem):
    """The records of all exchanges, once all of them have ended."""
    wait_until(lambda: b"\ntandem_exchanges_in_flight 0\n" in tandem.get("/metrics").body)
    metrics = tandem.get("/metrics").body.decode()
    ended = sum(int(n) for n in re.findall(r"^tandem_exchanges_total\{.*\} (\d+)$", metrics, re.M))
    found = []

    def all_written():
        found[:] = tandem.get("/tandem/v1/exchanges?limit=100").json["data"]
        return len(found) >= ended

    wait_until(all_written, what=f"{ended} records")
    return [tandem.get("/tandem/v1/exchanges/" + row["id"]).json for row in found]


@case
def test_no_answer_of_a_request_that_failed_is_recorded_as_given():
    for durable in ("", "ledger: {durable: answer}\n"):
        cloud = ScriptedCloud(Script(text="Cloud.", statuses=[200] * 8, status=400))
        config = edge_first(cloud.base_url, "    completions: true\n") + durable
        with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
            answer = complete(tandem, PROMPTS, ONLY_CLOUD)
            assert answer.status >= 400 and "choices" not in answer.json, answer.body
            found = records(tandem)
            equal({row["status"] for row in found} - {"failed", "cancelled"}, set())
            equal({row["standing"] for row in found if row["status"] == "failed"}, {"none"})
            kept_back = [row for row in found if "not_given" in [r["code"] for r in row["reasons"]]]
            assert kept_back, found
            for row in kept_back:
                equal((row["status"], row["attempts"][-1]["outcome"]), ("failed", "answered"))
                assert row["attempts"][-1]["cost_usd"] > 0, row  # it was paid for all the same
            metrics = tandem.get("/metrics").body.decode()
            assert 'route="auto",status="ok"' not in metrics, metrics
            # When all come, all are given.
            cloud.script = Script(text="Cloud.")
            answer = complete(tandem, PROMPTS, ONLY_CLOUD)
            equal((answer.status, len(answer.json["choices"])), (200, 12), answer.body)
            given = [row for row in records(tandem) if row["status"] == "ok"]
            equal(len(given), 12)
            equal({row["standing"] for row in given}, {"full"})


@case
def test_no_answer_is_recorded_as_given_to_a_client_that_left_before_the_others_came():
    cloud = ScriptedCloud(Script(text="Cloud.", first_delay=0.3), at_once=1)
    config = edge_first(cloud.base_url, "    completions: true\n")
    body = json.dumps({"model": "auto", "prompt": PROMPTS}).encode()
    head = (
        b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nx-tandem-mode: only-cloud\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    )
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        with socket.create_connection(("127.0.0.1", tandem.port)) as connection:
            connection.sendall(head + body)
            wait_until(lambda: len(cloud.calls()) >= 9, what="an answer, and one request more")
            cloud.script = Script(first_delay=60)
        found = records(tandem)
        assert len(found) >= 9, found
        equal({row["status"] for row in found}, {"cancelled"})


if __name__ == "__main__":
    main()
