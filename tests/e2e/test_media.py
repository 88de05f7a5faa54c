#!/usr/bin/env python3
"""Images, audio and files reach a tier that takes them byte for byte, in every dialect, and no
other tier. Text, names and addresses beside them are looked at as ever, and their class holds."""

import base64
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

CONTENT = base64.b64encode(random.Random(7).randbytes(300_000)).decode()
PNG = f"data:image/png;base64,{CONTENT}"
PDF = f"data:application/pdf;base64,{CONTENT}"
TAKES_ALL = "    modalities: [text, image, audio, file]\n"
MAIL = "mary.smith@acme-corp.com"
MASKING = "\nprivacy:\n  pseudonyms: {on: true}\n"
CLOUD = {"x-tandem-mode": "only-cloud"}
ADDRESS = "https://example.com/cat.png"

TEXT = {"type": "text", "text": "What is this?"}
IMAGE = {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}}
AUDIO = {"type": "input_audio", "input_audio": {"data": CONTENT, "format": "wav"}}
FILE = {"type": "file", "file": {"file_data": PDF, "filename": "plan.pdf"}}


def server(cloud, tier=TAKES_ALL, more=""):
    return Tandem(edge_first(cloud.base_url, tier) + more, env={"TEST_CLOUD_KEY": "sk-x"})


def user(*parts):
    return [{"role": "user", "content": list(parts)}]


def sent(cloud):
    """The messages that the cloud received last."""
    return json.loads(cloud.requests[-1]["body"])["messages"]


def refusal(tandem, messages, headers=None):
    answer = tandem.chat(messages, headers)
    assert answer.status >= 400, answer.body
    return answer.status, answer.json["error"]


@case
def test_parts_arrive_as_the_client_sent_them():
    cloud = ScriptedCloud(Script(text="A picture."))
    with server(cloud) as tandem:
        for parts in ([IMAGE], [TEXT, IMAGE], [AUDIO, TEXT], [TEXT, FILE, TEXT, IMAGE, AUDIO]):
            history = [{"role": "assistant", "content": "I see."}, {"role": "user", "content": "?"}]
            for messages in (user(*parts), user(*parts) + history):
                answer = tandem.chat(messages)
                equal((answer.status, answer.text), (200, "A picture."), answer.body[:300])
                equal(answer.tandem["tier"], "cloud")
                equal(sent(cloud), messages)


WAV = base64.b64encode(b"RIFF\0\0\0\0WAVE" + b"\0" * 300).decode()
BARE_PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + random.Random(9).randbytes(300)
).decode()
# What peers accept, and what a server elsewhere then gets.
SPELLINGS = (
    (
        {"type": "image_url", "image_url": ADDRESS},
        {"type": "image_url", "image_url": {"url": ADDRESS}},
    ),
    (
        {"type": "image_url", "image_url": {"url": BARE_PNG}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BARE_PNG}"}},
    ),
    (
        {"type": "input_audio", "input_audio": {"data": WAV}},
        {"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}},
    ),
    (
        {"type": "input_audio", "input_audio": {"url": "https://example.com/a.wav"}},
        {"type": "input_audio", "input_audio": {"url": "https://example.com/a.wav"}},
    ),
    (
        {"type": "audio_url", "audio_url": {"url": "https://example.com/a.wav"}},
        {"type": "audio_url", "audio_url": {"url": "https://example.com/a.wav"}},
    ),
    (
        {"type": "video_url", "video_url": {"url": "https://example.com/a.mp4"}},
        {"type": "video_url", "video_url": {"url": "https://example.com/a.mp4"}},
    ),
    (
        {"type": "input_video", "input_video": {"data": CONTENT}},
        {"type": "input_video", "input_video": {"data": CONTENT}},
    ),
)


@case
def test_the_spellings_of_peers_arrive_as_servers_know_them():
    cloud = ScriptedCloud(Script(text="A picture."))
    with server(cloud) as tandem:
        for part, settled in SPELLINGS:
            answer = tandem.chat(user(TEXT, part))
            equal(answer.status, 200, answer.body[:300])
            equal(sent(cloud), user(TEXT, settled))
    cloud = ScriptedCloud()
    with server(cloud, "") as tandem:
        for part, _ in SPELLINGS:
            _, error = refusal(tandem, user(TEXT, part))
            assert "and cloud takes none" in error["message"], error
        private = "https://example.com/?mail=" + MAIL
        for part in (
            {"type": "image_url", "image_url": private},
            {"type": "input_audio", "input_audio": {"url": private}},
            {"type": "video_url", "video_url": {"url": private}},
        ):
            refusal(tandem, user(TEXT, part))
    equal(bytes(cloud.received), b"")


@case
def test_an_answer_in_sounds_comes_from_a_tier_that_takes_them():
    spoken = {"id": "audio_1", "data": "UklGRg==", "transcript": "Hello.", "expires_at": 1}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None, "audio": spoken},
        "finish_reason": "stop",
    }
    whole = {"id": "c", "object": "chat.completion", "created": 1, "choices": [choice]}
    delta = {"role": "assistant", "audio": spoken}
    part = {"id": "c", "object": "chat.completion.chunk", "created": 1}
    chunks = [
        {**part, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**part, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ]
    cloud = ScriptedCloud(Script(recorded={"whole": whole, "chunks": chunks}))
    wish = {"modalities": ["text", "audio"], "audio": {"voice": "alloy", "format": "wav"}}
    with server(cloud) as tandem:
        answer = tandem.chat("Say hello.", **wish)
        equal((answer.status, answer.tandem["tier"]), (200, "cloud"), answer.body[:300])
        equal(answer.json["choices"][0]["message"]["audio"], spoken)
        asked = cloud.requests[-1]["json"]
        equal({name: asked[name] for name in wish}, wish)
        said = {"role": "assistant", "audio": {"id": "audio_1"}}
        history = [{"role": "user", "content": "Hi"}, said, {"role": "user", "content": "Again?"}]
        equal(tandem.chat(history, **wish).status, 200)
        equal(sent(cloud), history)
    with server(cloud, "") as tandem:
        answer = tandem.chat("Say hello.", **wish)
        assert answer.status >= 400 and b"takes none" in answer.body, answer.body


@case
def test_photos_as_phones_make_them_fit_by_default():
    cloud = ScriptedCloud(Script(text="A harbour."))
    photo = base64.b64encode(random.Random(8).randbytes(7_000_000)).decode()
    part = {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{photo}"}}
    with server(cloud) as tandem:
        answer = tandem.chat(user(TEXT, part), CLOUD, model="cloud")
        equal(answer.status, 200, answer.body[:300])
        equal(sent(cloud), user(TEXT, part))
        head = b"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n"
        limit = 32 << 20
        assert tandem.raw(head % (limit + 1), 2).startswith(b"HTTP/1.1 413 ")
        equal(tandem.raw(head % limit + b"{", 0.3), b"", "the rest is awaited")


@case
def test_tiers_that_take_none_are_removed_with_that_reason():
    cloud = ScriptedCloud()
    with server(cloud, "") as tandem:
        for part, word in ((IMAGE, "an image"), (AUDIO, "audio"), (FILE, "a file")):
            _, error = refusal(tandem, user(TEXT, part))
            for tier in ("local", "cloud"):
                assert f"the request has {word} and {tier} takes none" in error["message"], error
    equal(cloud.connections, 0)


@case
def test_the_class_holds_and_nothing_leaves():
    cloud = ScriptedCloud()
    messages = user(TEXT, IMAGE)
    with server(cloud) as tandem:
        _, error = refusal(tandem, messages, {"x-tandem-data-class": "restricted"})
        assert "restricted data may not reach cloud" in error["message"], error
        card = {"type": "text", "text": "Is 4111 1111 1111 1111 my card's number here?"}
        refusal(tandem, user(card, IMAGE))
        # Nor in what names the content.
        for part in (
            {"type": "image_url", "image_url": {"url": f"https://example.com/?mail={MAIL}"}},
            {"type": "file", "file": {"file_data": PDF, "filename": f"for {MAIL}.pdf"}},
        ):
            refusal(tandem, user(TEXT, part))
        # A file of text is no secret from the detectors.
        note = base64.b64encode(f"Write to {MAIL} about it.\n".encode() * 20).decode()
        for url in (f"data:text/plain;base64,{note}", f"data:image/png;base64,{note}", note):
            refusal(tandem, user(TEXT, {"type": "file", "file": {"file_data": url}}))
    with server(cloud, more="\nprivacy: {media_class: sensitive}\n") as tandem:
        _, error = refusal(tandem, messages)
        assert "sensitive data may not reach cloud" in error["message"], error
    with server(cloud, more=MASKING + "  media_class: sensitive\n") as tandem:
        refusal(tandem, messages)
    equal(bytes(cloud.received), b"")


@case
def test_text_beside_it_is_masked_and_the_content_is_not():
    cloud = ScriptedCloud()
    turns = "\nprivacy:\n  minimise: {turns: 1}\n  pseudonyms: {on: true}\n"
    for more in (MASKING, turns):
        with server(cloud, more=more) as tandem:
            text = {"type": "text", "text": f"Write to {MAIL} about it."}
            messages = user(TEXT) + [{"role": "assistant", "content": "A cat."}] + user(text, IMAGE)
            answer = tandem.chat(messages, CLOUD)
            equal(answer.status, 200, answer.body[:300])
            assert MAIL.encode() not in cloud.received
            equal(sent(cloud)[-1]["content"][1], IMAGE)
            assert "@" in sent(cloud)[-1]["content"][0]["text"]
        cloud.clear()


def base64_source(media_type):
    return {"type": "base64", "media_type": media_type, "data": CONTENT}


HELD_IMAGE = {"type": "image_url", "image_url": {"url": PNG}}
HELD_FILE = {"type": "file", "file": {"filename": "plan.pdf", "file_data": PDF}}
# A block of Anthropic's dialect, and the parts that a cloud receives.
BLOCKS = (
    ({"type": "image", "source": base64_source("image/png")}, [HELD_IMAGE]),
    (
        {"type": "image", "source": {"type": "url", "url": ADDRESS}},
        [{"type": "image_url", "image_url": {"url": ADDRESS}}],
    ),
    (
        {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
        [{"type": "file", "file": {"file_id": "file_1"}}],
    ),
    (
        {
            "type": "document",
            "title": "plan.pdf",
            "context": "It is old.",
            "source": base64_source("application/pdf"),
        },
        [{"type": "text", "text": "It is old."}, HELD_FILE],
    ),
    (
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x y"}},
        [{"type": "text", "text": "x y"}],
    ),
    (
        {
            "type": "document",
            "source": {
                "type": "content",
                "content": [
                    {"type": "text", "text": "A page."},
                    {"type": "image", "source": base64_source("image/png")},
                ],
            },
        },
        [{"type": "text", "text": "A page."}, HELD_IMAGE],
    ),
)
# A part of the Responses API, and that of a chat.
PARTS = (
    ({"type": "input_image", "image_url": PNG, "detail": "low"}, IMAGE),
    (
        {"type": "input_image", "file_id": "file_1"},
        {"type": "file", "file": {"file_id": "file_1"}},
    ),
    ({"type": "input_file", "file_data": PDF, "filename": "plan.pdf"}, HELD_FILE),
    (
        {"type": "input_file", "file_url": ADDRESS},
        {"type": "file", "file": {"file_data": ADDRESS}},
    ),
    (AUDIO, AUDIO),
)


def anthropic(messages):
    return {"model": "auto", "max_tokens": 99, "messages": messages}


@case
def test_the_other_dialects_blocks_arrive_as_a_chats_parts():
    cloud = ScriptedCloud()
    with server(cloud) as tandem:
        for block, parts in BLOCKS:
            body = anthropic(user(TEXT, block))
            answer = tandem.request("POST", "/v1/messages", body, CLOUD)
            equal(answer.status, 200, answer.body[:300])
            equal(sent(cloud), user(TEXT, *parts))
        for part, held in PARTS:
            said = {"type": "input_text", "text": TEXT["text"]}
            body = {"model": "auto", "input": user(said, part)}
            answer = tandem.request("POST", "/v1/responses", body, CLOUD)
            equal(answer.status, 200, answer.body[:300])
            equal(sent(cloud), user(TEXT, held))


@case
def test_what_tools_show_follows_their_answers():
    cloud = ScriptedCloud()
    block, said = BLOCKS[0][0], [{"type": "text", "text": "Two of them."}]
    calls = [{"type": "tool_use", "id": f"t{i}", "name": "look", "input": {}} for i in range(2)]
    results = [
        {"type": "tool_result", "tool_use_id": f"t{i}", "content": [*said, block]} for i in range(2)
    ]
    items = [
        {"type": "function_call", "call_id": f"t{i}", "name": "look", "arguments": "{}"}
        for i in range(2)
    ] + [
        {
            "type": "function_call_output",
            "call_id": f"t{i}",
            "output": [
                {"type": "input_text", "text": "Two of them."},
                {"type": "input_image", "image_url": PNG},
            ],
        }
        for i in range(2)
    ]
    with server(cloud) as tandem:
        for path, body in (
            (
                "/v1/messages",
                anthropic(
                    [
                        {"role": "user", "content": "Look."},
                        {"role": "assistant", "content": calls},
                        *user(*results),
                    ]
                ),
            ),
            ("/v1/responses", {"model": "auto", "input": [*user(), *items][1:]}),
        ):
            answer = tandem.request("POST", path, body, CLOUD)
            equal(answer.status, 200, answer.body[:300])
            *_, first, second, shown = sent(cloud)
            for i, message in enumerate((first, second)):
                expected = {"role": "tool", "content": "Two of them.", "tool_call_id": f"t{i}"}
                equal(message, expected)
            equal(shown, user(HELD_IMAGE, HELD_IMAGE)[0])


@case
def test_what_is_malformed_is_named_in_the_clients_own_words():
    cloud = ScriptedCloud()
    at = "messages[0].content[0]"
    blocks = (
        ({"type": "image"}, f"{at}.source"),
        ({"type": "image", "source": {"type": "tape"}}, f"{at}.source.type"),
        (
            {"type": "image", "source": {**base64_source("image/png"), "data": "A"}},
            f"{at}.source.data",
        ),
        ({"type": "image", "source": base64_source("my card")}, f"{at}.source.media_type"),
        ({"type": "image", "source": {"type": "url", "url": "ftp://a/b"}}, f"{at}.source.url"),
        ({"type": "document", "source": {"type": "content", "content": 5}}, "source.content"),
        (
            {**BLOCKS[3][0], "citations": {"enabled": True}},
            f"{at}.citations",
        ),
        # New parts go on as text, but what may be media is not text that detectors can read.
        ({"type": "search_result", "data": "A" * 256}, f"{at}.type"),
    )
    at = "input[0].content[0]"
    parts = (
        ({"type": "input_image"}, at),
        ({"type": "input_image", "image_url": "data:,"}, f"{at}.image_url"),
        ({"type": "input_image", "image_url": {"url": PNG}}, f"{at}.image_url"),
        ({"type": "input_file", "filename": "a.pdf"}, at),
        ({"type": "input_audio", "input_audio": "A"}, f"{at}.input_audio.data"),
        ({"type": "input_video", "data": "A" * 256}, f"{at}.type"),
    )
    with server(cloud) as tandem:
        for path, ask, rows in (
            ("/v1/messages", anthropic, blocks),
            ("/v1/responses", lambda messages: {"model": "auto", "input": messages}, parts),
        ):
            for part, param in rows:
                answer = tandem.request("POST", path, ask(user(part)), CLOUD)
                equal(answer.status, 400, answer.body[:300])
                assert answer.json["error"]["param"].endswith(param), answer.json["error"]
    equal(bytes(cloud.received), b"")


@case
def test_a_rule_may_ask_for_media():
    cloud = ScriptedCloud()
    rules = "\nrules:\n- {name: no-pictures, when: {media: true}, then: {deny: no pictures}}\n"
    with server(cloud, more=rules) as tandem:
        _, error = refusal(tandem, user(TEXT, IMAGE))
        assert "no pictures" in error["message"], error
        equal(tandem.chat("Hello there").status, 200)
    equal(bytes(cloud.received), b"")


@case
def test_what_is_malformed_is_named():
    cloud = ScriptedCloud()
    at = "messages[0].content[1]"
    bad = (
        ({"type": "film_url", "film_url": {"url": "https://a.b/c"}}, f"{at}.type"),
        ({"type": "image_url"}, f"{at}.image_url"),
        ({"type": "image_url", "image_url": [PNG]}, f"{at}.image_url"),
        ({"type": "video_url", "video_url": {"url": "file:///etc/passwd"}}, f"{at}.video_url.url"),
        ({"type": "input_audio", "input_audio": {"url": "file:///a.wav"}}, f"{at}.input_audio.url"),
        ({"type": "image_url", "image_url": {"url": 5}}, f"{at}.image_url.url"),
        ({"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, f"{at}.image_url.url"),
        ({"type": "image_url", "image_url": {"url": PNG + "!"}}, f"{at}.image_url.url"),
        ({"type": "image_url", "image_url": {"url": "data:,my card"}}, f"{at}.image_url.url"),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;name=Mary;base64,AAAA"}},
            f"{at}.image_url.url",
        ),
        ({"type": "image_url", "image_url": {"url": [IMAGE]}}, f"{at}.image_url.url"),
        (
            {"type": "image_url", "image_url": {"url": "https://a.b/" + "c" * 9000}},
            f"{at}.image_url.url",
        ),
        ({"type": "input_audio", "input_audio": {"data": "AAA", "format": "wav"}}, "data"),
        ({"type": "input_audio", "input_audio": {"data": "AAAA"}}, f"{at}.input_audio.format"),
        ({"type": "file", "file": {"filename": "a.pdf"}}, f"{at}.file.file_data"),
        ({"type": "file", "file": {"file_data": "n o"}}, f"{at}.file.file_data"),
    )
    with server(cloud) as tandem:
        for part, param in bad:
            status, error = refusal(tandem, user(TEXT, part))
            equal(status, 400, error)
            assert error["param"].endswith(param), (part if len(str(part)) < 200 else param, error)
        status, error = refusal(tandem, [{"role": "system", "content": [IMAGE]}, *user(TEXT)])
        equal((status, error["param"]), (400, "messages[0].content[0].type"))
        many = [dict(IMAGE, image_url={"url": PNG[:1022]}) for _ in range(101)]
        status, error = refusal(tandem, user(*many))
        equal(status, 400, error)
        equal(tandem.chat("Hello there").status, 200)
    equal(bytes(cloud.received), b"")


if __name__ == "__main__":
    main()
