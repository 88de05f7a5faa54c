#!/usr/bin/env python3
"""A gap in a text, filled by the engine here: with a model whose file names the three tokens for
that. The other model has none, says so, and another tier fills."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import gguf
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import NANO, Answer, Tandem, edge_first, parse_sse

FOLDER = Path(tempfile.mkdtemp(prefix="tandem-infill-"))
BEFORE, AFTER = "def add(a, b):\n    return ", "\n\nprint(add(1, 2))"
PREFIX, SUFFIX, MIDDLE = 900, 901, 902
GAP = {"prompt": BEFORE, "suffix": AFTER, "max_tokens": 12, "temperature": 0}
LOCAL = {"x-tandem-mode": "only-local"}


def coder() -> Path:
    """The default model, as if three of its tokens had been trained for gaps."""
    path = FOLDER / "coder.gguf"
    if not path.exists():
        marks = zip(("pre", "suf", "mid"), (PREFIX, SUFFIX, MIDDLE), strict=True)
        gguf.add_metadata(
            NANO, path, [(f"tokenizer.ggml.fim_{name}_token_id", number) for name, number in marks]
        )
    return path


def serve(model: Path, extra: str = "") -> Tandem:
    return Tandem("server: {}\n" + extra, env={"TANDEM_MODEL": str(model)})


def complete(tandem: Tandem, path: str = "/v1/completions", **members: Any) -> Answer:
    return tandem.request("POST", path, {"model": "auto", **members}, LOCAL)


def tokens(tandem: Tandem, text: str) -> list[int]:
    ids: list[int] = tandem.request("POST", "/tokenize", {"content": text}).json["tokens"]
    return ids


def text_of(answer: Answer) -> str:
    equal(answer.status, 200, answer.body.decode())
    text: str = answer.json["choices"][0]["text"]
    return text


@case
def test_the_model_reads_prefix_suffix_and_middle_in_that_order() -> None:
    with serve(coder()) as tandem:
        gap = complete(tandem, **GAP, logprobs=2)
        ids = [PREFIX, *tokens(tandem, BEFORE), SUFFIX, *tokens(tandem, AFTER), MIDDLE]
        same = complete(tandem, prompt=ids, max_tokens=12, temperature=0, logprobs=2)
        equal(text_of(gap), text_of(same))
        equal(gap.json["usage"]["prompt_tokens"], len(ids))
        other = complete(tandem, **{**GAP, "suffix": "another end"}, logprobs=2)
        numbers = [a.json["choices"][0]["logprobs"]["token_logprobs"] for a in (gap, same, other)]
        equal(numbers[0], numbers[1])
        assert numbers[0] != numbers[2], numbers
        by_ids = complete(tandem, **{**GAP, "prompt": tokens(tandem, BEFORE)})
        equal(text_of(by_ids), text_of(gap))


@case
def test_a_stream_and_the_other_dialects_fill_it_too() -> None:
    with serve(coder()) as tandem:
        whole = text_of(complete(tandem, **GAP))
        events, _ = parse_sse(complete(tandem, **GAP, stream=True).body)
        equal("".join(e["choices"][0]["text"] for e in events if e.get("choices")), whole)
        llama = {"input_prefix": BEFORE, "input_suffix": AFTER, "n_predict": 12, "temperature": 0}
        equal(complete(tandem, "/infill", **llama).json["content"], whole)
        settings = {"temperature": 0, "num_predict": 12}
        ollama = {"prompt": BEFORE, "suffix": AFTER, "stream": False, "options": settings}
        equal(complete(tandem, "/api/generate", **ollama).json["response"], whole)


@case
def test_the_confined_worker_fills_it_too() -> None:
    with serve(coder()) as tandem:
        card = f"card = '4111 1111 1111 1111'\n{BEFORE}"
        gap = complete(tandem, **{**GAP, "prompt": card})
        equal(gap.json["tandem"]["data_class"], "restricted")
        ids = [PREFIX, *tokens(tandem, card), SUFFIX, *tokens(tandem, AFTER), MIDDLE]
        equal(text_of(gap), text_of(complete(tandem, prompt=ids, max_tokens=12, temperature=0)))


@case
def test_without_the_tokens_it_is_refused_by_name_or_another_tier_fills_it() -> None:
    with serve(NANO) as tandem:
        for path, ask, member in (
            ("/v1/completions", GAP, "suffix"),
            ("/infill", {"input_prefix": BEFORE, "input_suffix": AFTER}, "input_suffix"),
            ("/api/generate", {"prompt": BEFORE, "suffix": AFTER}, "suffix"),
        ):
            refused = complete(tandem, path, **ask)
            equal(refused.status, 400, refused.body.decode())
            for words in (f"a gap ({member})", "tokenizer.ggml.fim_pre_token_id"):
                assert words in refused.body.decode(), (path, refused.body)
    cloud = ScriptedCloud(Script(text="a + b"))
    config = edge_first(cloud.base_url, "    completions: true\n")
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        answer = tandem.request("POST", "/v1/completions", GAP)
        equal((text_of(answer), answer.headers["x-tandem-tier"]), ("a + b", "cloud"))
        equal(json.loads(cloud.requests[-1]["body"])["suffix"], AFTER)
        reasons = tandem.get("/tandem/v1/exchanges/last").json["reasons"]
        assert any("fim_pre_token_id" in reason["text"] for reason in reasons), reasons
    cloud.close()


@case
def test_a_private_suffix_counts_as_the_prompt_does() -> None:
    with serve(coder()) as tandem:
        gap = complete(tandem, **{**GAP, "suffix": "\ncard = '4111 1111 1111 1111'"})
        equal((gap.status, gap.json["tandem"]["data_class"]), (200, "restricted"))


@case
def test_odd_gaps_are_answered_or_refused_by_name() -> None:
    with serve(coder()) as tandem:
        equal(text_of(complete(tandem, **{**GAP, "suffix": ""}))[:0], "")
        for members, word in (
            ({"suffix": 5}, "suffix"),
            ({"suffix": "b", "echo": True}, "suffix with echo"),
            ({"suffix": "word " * 20000}, "limit"),
        ):
            refused = complete(tandem, **{**GAP, **members})
            equal(refused.status // 100, 4, refused.body.decode())
            assert word in refused.body.decode(), members if len(str(members)) < 99 else word


if __name__ == "__main__":
    main()
