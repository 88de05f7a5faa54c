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
        url = f"data:text/plain;base64,{note}"
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
        ({"type": "video_url", "video_url": {"url": "https://a.b/c"}}, f"{at}.type"),
        ({"type": "image_url"}, f"{at}.image_url"),
        ({"type": "image_url", "image_url": PNG}, f"{at}.image_url"),
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
        huge = {"type": "image_url", "image_url": {"url": PNG + CONTENT * 20}}
        equal(refusal(tandem, user(huge))[0], 413)
        equal(tandem.chat("Hello there").status, 200)
    equal(bytes(cloud.received), b"")


if __name__ == "__main__":
    main()
