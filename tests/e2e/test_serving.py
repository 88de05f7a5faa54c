#!/usr/bin/env python3
"""Many requests at once on the local tier: the same answers as alone, second turns, priorities,
what the metrics say."""

import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import Skip, case, equal, main
from tandem import NANO, SHARED, Tandem, run, wait_until

LOCAL = {"x-tandem-mode": "only-local"}
QUESTIONS = [
    "Classify the intent: please transfer one hundred dollars from checking to savings",
    "Classify the intent: what is the weather in Lisbon tomorrow",
    "Classify the intent: wake me at seven",
    "Classify the intent: play some jazz",
    "Classify the intent: how do I say good morning in Spanish",
    "Classify the intent: what is my balance",
    "Classify the intent: book a table for two",
    "Classify the intent: did my flight leave on time",
]


def cached(answer):
    return answer.json["usage"]["prompt_tokens_details"]["cached_tokens"]


def metric(tandem, name):
    for line in tandem.get("/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    raise AssertionError(f"no metric {name}")


@case
def test_answers_do_not_depend_on_company():
    with Tandem() as tandem:
        alone = [
            tandem.chat(question, LOCAL, max_tokens=24, logprobs=True).json["choices"]
            for question in QUESTIONS
        ]
    with Tandem() as tandem, ThreadPoolExecutor(len(QUESTIONS)) as pool:
        together = list(
            pool.map(
                lambda question: tandem.chat(question, LOCAL, max_tokens=24, logprobs=True).json[
                    "choices"
                ],
                QUESTIONS * 3,
            )
        )
    for i, choices in enumerate(together):
        equal(choices, alone[i % len(QUESTIONS)], QUESTIONS[i % len(QUESTIONS)])


@case
def test_a_second_turn_runs_only_what_is_new():
    with Tandem() as tandem:
        first = tandem.chat(QUESTIONS[0] + " and tell me why" * 8, LOCAL, max_tokens=16)
        equal(cached(first), 0)
        before = first.json["usage"]["prompt_tokens"]
        second = tandem.chat(
            [
                {"role": "user", "content": QUESTIONS[0] + " and tell me why" * 8},
                {"role": "assistant", "content": first.text},
                {"role": "user", "content": "thank you"},
            ],
            LOCAL,
            max_tokens=16,
        )
        assert before - 4 <= cached(second) < second.json["usage"]["prompt_tokens"], (
            before,
            second.json["usage"],
        )
        again = tandem.chat(QUESTIONS[0] + " and tell me why" * 8, LOCAL, max_tokens=16)
        equal(again.text, first.text)
        assert cached(again) >= before - 4, again.json["usage"]


@case
def test_both_priorities_are_served_and_a_wrong_one_is_refused():
    with Tandem() as tandem:
        with ThreadPoolExecutor(12) as pool:
            kinds = ["batch", "interactive", "batch"] * 4
            answers = list(
                pool.map(
                    lambda kind: tandem.chat(
                        QUESTIONS[1], {**LOCAL, "x-tandem-priority": kind}, max_tokens=8
                    ),
                    kinds,
                )
            )
        for answer in answers:
            equal(answer.status, 200)
            equal(answer.text, answers[0].text)
        wrong = tandem.chat(QUESTIONS[1], {**LOCAL, "x-tandem-priority": "urgent"})
        equal(wrong.status, 400)
        assert "interactive or batch" in wrong.json["error"]["message"], wrong.json
        equal(
            tandem.chat(QUESTIONS[1], LOCAL, tandem={"priority": "batch"}, max_tokens=8).text,
            answers[0].text,
        )


@case
def test_metrics_tell_what_the_engine_does():
    with Tandem() as tandem:
        equal(metric(tandem, "tandem_engine_passes_total"), 0)
        tandem.chat(QUESTIONS[2], LOCAL, max_tokens=8)
        wait_until(lambda: metric(tandem, "tandem_engine_running") == 0, what="the end of the job")
        passes = metric(tandem, "tandem_engine_passes_total")
        assert passes >= 1
        assert metric(tandem, "tandem_engine_rows_total") >= passes
        assert metric(tandem, "tandem_engine_prompt_tokens_total") > 1
        assert (
            1
            <= metric(tandem, "tandem_engine_kv_pages_used")
            <= metric(tandem, "tandem_engine_kv_pages")
        )
        tandem.chat(QUESTIONS[2], LOCAL, max_tokens=8)
        assert metric(tandem, "tandem_engine_cached_prompt_tokens_total") >= 1


@case
def test_a_draft_model_guesses_ahead_and_changes_nothing():
    stories = SHARED / "golden" / "real" / "stories260K-f32.gguf"
    if not stories.exists():
        raise Skip(f"{stories.name} is not here (golden data)")
    ways = [
        {"temperature": 0},
        {"temperature": 0.8, "seed": 5},
        {"temperature": 0.8, "seed": 6, "top_k": 5},
        {"temperature": 0.7, "seed": 7, "repetition_penalty": 1.1, "stop": ["park"]},
    ]

    def tell(tandem):
        def one(way):
            answer = tandem.request(
                "POST", "/v1/completions", {"prompt": "Once upon a time", "max_tokens": 160, **way}
            )
            equal(answer.status, 200, answer.body)
            return answer.json["choices"]

        alone = [one(way) for way in ways]
        with ThreadPoolExecutor(4) as pool:
            equal(list(pool.map(one, ways)), alone)
        return alone

    engine = f"engine: {{model: {stories}, speculation: %s}}\n"
    with Tandem(engine % "none") as tandem:
        plain = tell(tandem)
    with Tandem(engine % f"draft, draft_model: {stories}") as tandem:
        equal(tell(tandem), plain)
        wait_until(lambda: metric(tandem, "tandem_engine_running") == 0, what="the end of the jobs")
        drafted, accepted = (
            metric(tandem, f"tandem_engine_{kind}_tokens_total") for kind in ("drafted", "accepted")
        )
        assert drafted >= 16 and accepted >= 0.8 * drafted, (drafted, accepted)


@case
def test_draft_speculation_needs_a_draft_model():
    config = Path(tempfile.mkdtemp(prefix="tandem-test-")) / "tandem.yaml"
    try:
        for engine, words in (
            ("speculation: draft", "draft_model"),
            (f"draft_model: {NANO}", "speculation: draft"),
        ):
            config.write_text(f"engine: {{model: {NANO}, {engine}}}\n")
            code, _, err = run("serve", "--config", config, "--listen", "127.0.0.1:0")
            assert code == 1 and words in err, (engine, code, err)
    finally:
        shutil.rmtree(config.parent)


@case
def test_without_a_draft_model_that_fits_answers_are_the_same_and_the_log_says_so():
    question = "Classify the intent: play some music"
    with Tandem() as tandem:
        plain = tandem.chat(question).text
    for draft in ("no-such-model", f"{SHARED}/golden/real/stories260K-f32.gguf"):
        config = f"engine: {{speculation: draft, draft_model: {draft}}}\n"
        with Tandem(config) as tandem:
            equal(tandem.chat(question).text, plain)
            assert "event=draft_model_not_used" in "".join(tandem.log), draft


if __name__ == "__main__":
    main()
