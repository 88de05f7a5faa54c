#!/usr/bin/env python3
"""The requests that llama-server's and LiteLLM's documents show are accepted here. What is refused
stands in REFUSED with the reason; what is refused and not listed fails, and so does what is listed
and accepted."""

import collections
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import litellm_requests
import llama_requests
from check import case, equal, main
from peer_requests import EXAMPLES
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first

ACCEPTED_MIN = 0.95
TAKES_ALL = "    modalities: [text, image, audio, file]\n    completions: true\n"
# As these documents have it, an operator says which names stand for which model.
NAMES = '    aliases: ["*"]\nengine:\n  embedding_aliases: ["*"]\n'

# Name of the example: (status, a word of the answer), why.
ONE_TEXT = "a completion here is of one text; /v1/completions takes several"
NO_MODEL = "the engine has no model of this kind: one that decides, or sees pictures"
REFUSED = {
    "completion of two texts": (400, "prompt", ONE_TEXT),
    "completion of many kinds": (400, "prompt", ONE_TEXT),
    "completion with a picture": (400, "prompt", NO_MODEL),
    "completion: less likely words": (400, "logit_bias", "only a tokenizer knows their tokens"),
    "completion: probabilities after sampling": (
        400,
        "post_sampling_probs",
        "the engine does not tell them",
    ),
    "moderation of parts": (400, "input[1]", "pictures are not judged"),
    "an image's file": (400, "image_url.url", "the server's own files are nobody's to read"),
    "a picture's vector": (400, "model", NO_MODEL),
    "typed questions": (404, "unknown_url", NO_MODEL),
    "typed questions of a picture": (404, "unknown_url", NO_MODEL),
    "a film's id, as a response's input to a chat": (400, "messages", "a chat has messages"),
}


def replaced(value, ids):
    """The ids of responses are this server's own."""
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, list):
        return [replaced(item, ids) for item in value]
    if isinstance(value, dict):
        return {key: replaced(item, ids) for key, item in value.items()}
    return value


def asked_before(tandem):
    """What examples go on from."""
    ids = {}
    for name, members in (("$PREVIOUS", {}), ("$BACKGROUND", {"background": True})):
        body = {"model": "auto", "input": "Hello", **members}
        ids[name] = tandem.request("POST", "/v1/responses", body).json["id"]
    return ids


def replay(tandem, example, ids):
    path = example.path
    for name, found in ids.items():
        path = path.replace(name, found)
    return tandem.request(example.method, path, replaced(example.body, ids))


@case
def test_the_peers_documented_requests_are_accepted():
    llama_requests.collect()
    litellm_requests.collect()
    names = collections.Counter(example.name for example in EXAMPLES)
    equal([name for name, count in names.items() if count > 1], [], "names of two examples")
    equal(REFUSED.keys() - names.keys(), set(), "names of no example")
    cloud = ScriptedCloud(Script(text="From the cloud.", usage=True))
    config = edge_first(cloud.base_url, TAKES_ALL) + NAMES
    accepted, wrong = 0, []
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        ids = asked_before(tandem)
        for example in EXAMPLES:
            answer = replay(tandem, example, ids)
            listed = REFUSED.get(example.name)
            ok = answer.status == 200
            accepted += ok
            as_listed = listed and answer.status == listed[0] and listed[1] in answer.body.decode()
            if ok == bool(listed) or (listed and not as_listed):
                wrong.append((example.page, example.name, answer.status, answer.body[:300]))
    for row in wrong:
        print(*row)
    print(f"{accepted} of {len(EXAMPLES)} documented requests accepted")
    equal(len(wrong), 0, "examples that were not answered as listed")
    assert accepted >= ACCEPTED_MIN * len(EXAMPLES), (accepted, len(EXAMPLES))


if __name__ == "__main__":
    main()
