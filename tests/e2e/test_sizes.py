#!/usr/bin/env python3
"""What the sizes on the wire tell: requests padded to a multiple, and every event of a stream."""

import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, parse_events, parse_sse, run, stream_text

KEY = {"TEST_CLOUD_KEY": "k"}
CLOUD = {"x-tandem-mode": "only-cloud"}


@case
def test_requests_to_a_padded_tier_are_multiples_and_on_record_as_sent():
    cloud = ScriptedCloud(Script(text="Cloud.", statuses=[503]))  # the first one is repeated
    with Tandem(edge_first(cloud.base_url, "    pad_bytes: 512\n"), env=KEY) as tandem:
        for length in (1, 40, 700, 3000):
            equal(tandem.chat("w" * length, CLOUD, stream=length > 100).status, 200)
        bodies = [request["body"] for request in cloud.requests]
        equal(len(bodies), 5)
        equal([len(body) % 512 for body in bodies], [0] * 5)
        equal(bodies[0], bodies[1])
        equal(
            [len(json.loads(body)["messages"][0]["content"]) for body in bodies],
            [1, 1, 40, 700, 3000],
        )
        equal(len(bodies[1]), len(bodies[2]))  # 39 bytes more do not show
        assert all(body.rstrip(b" ").endswith(b"}") for body in bodies)
        code, out, err = run("egress", "show", "--json", env=tandem.environment)
        equal(code, 0, err)
        rows = json.loads(out)["transfers"]
        equal(
            [(row["bytes"], row["sha256"]) for row in rows],
            [(len(body), hashlib.sha256(body).hexdigest()) for body in bodies],
        )


PIECES = [
    "a",
    " word",
    " and one that is very much longer than the others",
    ".",
    "\n\n",
    " \u00fcber",
    "{}",
    " end",
]
TEXT = "".join(PIECES)


def events_of(answer):
    """The bytes of each event but the constant ones."""
    equal(answer.status, 200)
    events = [event + b"\n\n" for event in answer.body.split(b"\n\n")[:-1]]
    return [event for event in events if event != b"data: [DONE]\n\n"]


def check_sizes(answer, multiple):
    """All events are multiples. Gives the sizes of those with a piece of the text."""
    events = events_of(answer)
    equal([len(event) % multiple for event in events], [0] * len(events))
    deltas = [
        len(event)
        for event in events
        if (b'"content":"' in event and b'"role"' not in event) or b"content_block_delta" in event
    ]
    equal(len(deltas), len(PIECES))
    return deltas


@case
def test_a_clients_option_makes_all_chunks_of_one_size():
    with Tandem(
        edge_first(ScriptedCloud(Script(text=TEXT, pieces=PIECES)).base_url), env=KEY
    ) as tandem:
        plain = tandem.chat("Hi", CLOUD, stream=True)
        assert b"obfuscation" not in plain.body
        assert len({len(event) for event in events_of(plain)}) > 4
        for options in ({}, {"include_usage": True}):
            padded = tandem.chat(
                "Hi", CLOUD, stream=True, stream_options={"include_obfuscation": True, **options}
            )
            longest = max(range(len(PIECES)), key=lambda i: len(PIECES[i]))
            equal(
                check_sizes(padded, 256), [512 if i == longest else 256 for i in range(len(PIECES))]
            )
            chunks, done = parse_sse(padded.body)
            assert done and all(isinstance(chunk["obfuscation"], str) for chunk in chunks)
            equal(stream_text(chunks), TEXT)
        whole = tandem.chat("Hi", CLOUD, stream_options={"include_obfuscation": True})
        assert b"obfuscation" not in whole.body and whole.text == TEXT


@case
def test_the_servers_step_holds_for_every_stream_and_dialect():
    cloud = ScriptedCloud(Script(text=TEXT, pieces=PIECES))
    config = (
        edge_first(cloud.base_url, "    completions: true\n")
        + "server:\n  pad_stream_bytes: 1024\n"
    )
    with Tandem(config, env=KEY) as tandem:

        def ask(path, **members):
            return tandem.request("POST", path, {"model": "auto", "stream": True, **members}, CLOUD)

        user = [{"role": "user", "content": "Hi"}]
        for options in ({}, {"stream_options": {"include_obfuscation": False}}):
            chat = ask("/v1/chat/completions", messages=user, **options)
            equal(check_sizes(chat, 1024), [1024] * len(PIECES))
            equal(stream_text(parse_sse(chat.body)[0]), TEXT)
        messages = ask("/v1/messages", messages=user, max_tokens=100)
        equal(check_sizes(messages, 1024), [1024] * len(PIECES))
        equal(
            "".join(
                event["delta"]["text"]
                for event in parse_events(messages.body)
                if event["type"] == "content_block_delta"
            ),
            TEXT,
        )
        responses = ask("/v1/responses", input="Hi")
        equal(
            [len(event) % 1024 for event in events_of(responses)], [0] * len(events_of(responses))
        )
        events = parse_events(responses.body)
        equal(
            "".join(
                event["delta"] for event in events if event["type"] == "response.output_text.delta"
            ),
            TEXT,
        )
        equal([event["sequence_number"] for event in events], list(range(len(events))))
        completion = ask("/v1/completions", prompt="Hi")
        equal(
            [len(event) % 1024 for event in events_of(completion)], [0] * len(events_of(completion))
        )
        equal(
            "".join(
                choice["text"]
                for chunk in parse_sse(completion.body)[0]
                for choice in chunk["choices"]
            ),
            TEXT,
        )


@case
def test_a_stream_that_fails_is_padded_to_its_end():
    script = Script(text=TEXT, pieces=PIECES, error_after=3)
    with Tandem(edge_first(ScriptedCloud(script).base_url), env=KEY) as tandem:
        events = events_of(
            tandem.chat("Hi", CLOUD, stream=True, stream_options={"include_obfuscation": True})
        )
        equal([len(event) % 256 for event in events], [0] * len(events))
        assert b'"error"' in events[-1], events[-1]


if __name__ == "__main__":
    main()
