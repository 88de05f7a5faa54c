#!/usr/bin/env python3
"""The main job: answered locally, escalated by confidence, disclosed without a cloud; explained
each time."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud, unused_port
from tandem import Tandem, edge_first, parse_events, parse_sse, run, stream_text

EASY = "Classify the intent: please transfer one hundred dollars from checking to savings"
HARD = "Explain in three sentences why the French revolution began."


def with_cloud(script=None, **options):
    cloud = ScriptedCloud(script)
    return cloud, Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "sk-test"}, **options)


@case
def test_the_text_that_ended_an_answer_is_told():
    ask = {
        "model": "auto",
        "max_tokens": 20,
        "messages": [{"role": "user", "content": "5 km in m"}],
    }
    with Tandem() as tandem:
        for headers in ({}, {"x-tandem-class": "restricted"}):  # here, and in the confined worker
            for stops, text, reason, stop in (
                (["x", "00"], "5", "stop_sequence", "00"),
                (["0 m", "x"], "500", "stop_sequence", "0 m"),
                (["x"], "5000 m", "end_turn", None),
            ):
                body = {**ask, "stop_sequences": stops}
                answer = tandem.request("POST", "/v1/messages", body, headers)
                equal(answer.status, 200, answer.body.decode())
                equal(answer.json["content"][0]["text"], text)
                equal((answer.json["stop_reason"], answer.json["stop_sequence"]), (reason, stop))
                streamed = tandem.request("POST", "/v1/messages", {**body, "stream": True}, headers)
                delta = next(e for e in parse_events(streamed.body) if e["type"] == "message_delta")
                equal(delta["delta"], {"stop_reason": reason, "stop_sequence": stop})
        body = {"prompt": "5 km in m is 5000 m and 6 km in m is", "n_predict": 9, "stop": [" "]}
        answer = tandem.request("POST", "/completion", body).json
        equal((answer["stop_type"], answer["stopping_word"]), ("word", " "))


@case
def test_easy_question_is_answered_locally():
    cloud, tandem = with_cloud()
    with tandem:
        answer = tandem.chat(EASY)
        equal(answer.status, 200)
        equal(answer.text, "transfer")
        equal(answer.tandem["tier"], "local")
        equal(answer.tandem["place"], "device")
        equal(answer.headers["x-tandem-tier"], "local")
        assert float(answer.headers["x-tandem-confidence"]) > 0.5
        equal(answer.tandem["degraded"], False)
        assert answer.json["usage"]["completion_tokens"] >= 1
        equal(answer.json["choices"][0]["finish_reason"], "stop")
        equal(len(cloud.requests), 0, "requests that reached the cloud")
        easy = tandem.get(f"/tandem/v1/exchanges/{answer.tandem['exchange']}").json["signals"][
            "not_mine"
        ]
        hard = tandem.get(f"/tandem/v1/exchanges/{tandem.chat(HARD).tandem['exchange']}").json[
            "signals"
        ]["not_mine"]
        assert 0 <= easy < 0.5 < hard <= 1, (easy, hard)


COMPUTED = {
    "what is 12*7": "84",
    "10 miles in km": "16.09 km",
    "what day is 10 days after 3 March 2024?": "13 March 2024",
    'turn "user login count" into snake_case': "user_login_count",
}


@case
def test_what_code_can_compute_is_not_left_to_the_weights():
    cloud, tandem = with_cloud()
    with tandem:
        for question, right in COMPUTED.items():
            answer = tandem.chat(question)
            equal(answer.text, right)
            equal(answer.tandem["tier"], "local")
            equal(answer.tandem["confidence"], 1.0)
            assert "computed" in [r["code"] for r in answer.tandem["reasons"]], answer.tandem
            streamed = tandem.chat(question, stream=True)
            equal(stream_text(parse_sse(streamed.body)[0]), right)
        equal(tandem.chat("12*7", max_tokens=1).json["choices"][0]["finish_reason"], "length")
        equal(len(cloud.requests), 0, "requests that reached the cloud")
        # A system prompt that says what to do with the message is not overruled.
        answer = tandem.chat(
            [
                {"role": "system", "content": "Translate the message to French."},
                {"role": "user", "content": "12*7"},
            ]
        )
        assert "computed" not in [r["code"] for r in answer.tandem["reasons"]], answer.tandem


@case
def test_a_label_comes_only_where_one_is_asked_for():
    asked = "what is my checking balance"
    with Tandem() as tandem:
        for question in (asked, "how many calories are in an apple", "what time is it"):
            answer = tandem.chat(question)
            assert answer.text.startswith("That is outside"), (question, answer.text)
        equal(tandem.chat("Classify the intent: " + asked).text, "balance")
        for system in (
            "Reply with the intent of the message.",
            "Label the message with its intent.",
        ):
            messages = [{"role": "system", "content": system}, {"role": "user", "content": asked}]
            equal(tandem.chat(messages).text, "balance")


@case
def test_several_things_are_not_answered_with_one_of_them():
    asked = "extract the date and the amount: Invoice of 3 May 2026 over 120 EUR"
    _cloud, tandem = with_cloud(Script(text="date: 3 May 2026, amount: 120 EUR"))
    with tandem:
        answer = tandem.chat(asked)
        equal(answer.text, "date: 3 May 2026, amount: 120 EUR")
        assert "left_not_mine" in [r["code"] for r in answer.tandem["reasons"]], answer.tandem
    with Tandem() as tandem:
        system = {"role": "system", "content": "Extract the date and the amount."}
        text = {"role": "user", "content": "Invoice of 3 May 2026 over 120 EUR"}
        for messages in (asked, [system, text]):
            answer = tandem.chat(messages)
            assert answer.text.startswith("That is outside"), answer.text
            equal(answer.tandem["confidence"], 0)
            assert "computed" not in [r["code"] for r in answer.tandem["reasons"]], answer.tandem
        equal(tandem.chat(asked.replace(" and the amount", "")).text, "3 May 2026")
        # Behind a system prompt with a task the message is material.
        system = {"role": "system", "content": "Classify the message. Labels: billing, shipping."}
        text = {"role": "user", "content": "Give me the name and the address of the driver"}
        equal(tandem.chat([system, text]).text, "shipping")
        for system, said, declined in (
            ("Make everything lower case.", "GIVE ME THE NAME AND THE DATE", False),
            ("Reply with the language of the message.", "Gib mir das Datum und den Betrag.", False),
            ("Be concise.", asked, True),
            ("Answer in English.", asked, True),
        ):
            messages = [{"role": "system", "content": system}, {"role": "user", "content": said}]
            answer = tandem.chat(messages)
            equal((system, answer.tandem["confidence"] == 0), (system, declined))


@case
def test_hard_question_escalates_invisibly():
    cloud, tandem = with_cloud(Script(text="Bread was dear and the treasury empty."))
    with tandem:
        answer = tandem.chat(HARD)
        equal(answer.text, "Bread was dear and the treasury empty.")
        equal(answer.tandem["tier"], "cloud")
        equal(answer.headers["x-tandem-place"], "cloud")
        assert any(r["code"].startswith("left_") for r in answer.tandem["reasons"]), answer.tandem
        assert answer.tandem["cost_usd"] > 0
        equal(len(cloud.requests), 1)
        equal(cloud.requests[0]["headers"]["authorization"], "Bearer sk-test")
        equal(cloud.requests[0]["json"]["model"], "scripted")
        assert "tandem" not in cloud.requests[0]["json"]


@case
def test_streams_carry_the_same_and_end_well():
    _cloud, tandem = with_cloud(Script(text="Bread was dear.", piece_delay=0.01))
    with tandem:
        for prompt, tier in ((EASY, "local"), (HARD, "cloud")):
            status, headers, chunks, done = tandem.stream(
                prompt, stream_options={"include_usage": True}
            )
            equal(status, 200)
            equal(headers["x-tandem-tier"], tier)
            assert done, "no [DONE]"
            equal(stream_text(chunks), "transfer" if tier == "local" else "Bread was dear.")
            equal(chunks[0]["choices"][0]["delta"].get("role"), "assistant")
            equal(chunks[0]["tandem"]["tier"], tier)
            finishes = [c["choices"][0]["finish_reason"] for c in chunks if c["choices"]]
            equal(finishes[-1], "stop")
            equal(chunks[-1]["choices"], [])
            assert chunks[-1]["usage"]["total_tokens"] > 0
            assert any("confidence" in c.get("tandem", {}) for c in chunks[-2:]), chunks[-2:]


@case
def test_without_a_cloud_the_local_answer_is_disclosed():
    with Tandem(
        edge_first(f"http://127.0.0.1:{unused_port()}/v1"), env={"TEST_CLOUD_KEY": "k"}
    ) as tandem:
        answer = tandem.chat(HARD)
        equal(answer.status, 200)
        equal(answer.tandem["tier"], "local")
        equal(answer.tandem["degraded"], True)
        assert "cloud" in answer.tandem["disclosure"]
        equal(answer.headers["x-tandem-disclosure"], answer.tandem["disclosure"])
        assert answer.text.strip(), "an empty answer is silence"


@case
def test_without_any_configuration_it_serves_and_says_that_no_cloud_is_there():
    with Tandem() as tandem:
        equal(tandem.chat(EASY).text, "transfer")
        answer = tandem.chat(HARD)
        equal(answer.tandem["degraded"], True)
        assert "OPENAI_API_KEY" in answer.tandem["disclosure"], answer.tandem["disclosure"]


@case
def test_openai_environment_configures_the_cloud():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with Tandem(env={"OPENAI_API_KEY": "sk-env", "OPENAI_BASE_URL": cloud.base_url}) as tandem:
        answer = tandem.chat(HARD)
        equal(answer.text, "From the cloud.")
        equal(cloud.requests[0]["headers"]["authorization"], "Bearer sk-env")


@case
def test_a_server_of_ones_own_needs_no_key():
    cloud = ScriptedCloud(Script(text="From the other room."))
    with Tandem(env={"OPENAI_BASE_URL": cloud.base_url}) as tandem:
        equal(tandem.chat(HARD).text, "From the other room.")
        assert "authorization" not in cloud.requests[0]["headers"]


@case
def test_the_start_page_names_this_server():
    with Tandem() as tandem:
        page = tandem.get("/").body.decode()
        assert f"curl -s {tandem.url}/v1/chat/completions" in page, page
        page = tandem.get("/", headers={"Host": "a<script>"}).body.decode()
        assert "<script>" not in page


@case
def test_modes_decide_the_tier():
    _cloud, tandem = with_cloud(Script(text="Cloud."))
    with tandem:
        for mode, prompt, tier in (
            ("only-local", HARD, "local"),
            ("only-cloud", EASY, "cloud"),
            ("prefer-cloud", EASY, "cloud"),
            ("prefer-local", EASY, "local"),
            ("auto", EASY, "local"),
        ):
            answer = tandem.chat(prompt, {"x-tandem-mode": mode})
            equal((mode, answer.tandem["tier"]), (mode, tier))
            answer = tandem.chat(prompt, tandem={"mode": mode})
            equal((mode, answer.tandem["tier"]), (mode, tier), "mode in the body")


@case
def test_tier_and_model_names_select_the_tier():
    _cloud, tandem = with_cloud(Script(text="Cloud."))
    with tandem:
        for model, tier in (("local", "local"), ("cloud", "cloud"), ("scripted", "cloud")):
            equal(tandem.chat(EASY, model=model).tandem["tier"], tier)
        answer = tandem.chat(EASY, model="no-such-model")
        equal(answer.status, 404)
        equal(answer.json["error"]["code"], "model_not_found")
        listed = [m["id"] for m in tandem.get("/v1/models").json["data"]]
        assert {"auto", "local", "cloud"} <= set(listed), listed


@case
def test_each_answer_is_explained():
    _cloud, tandem = with_cloud(Script(text="Cloud."))
    with tandem:
        for prompt, tier in ((EASY, "local"), (HARD, "cloud")):
            answer = tandem.chat(prompt)
            record = tandem.get("/tandem/v1/exchanges/" + answer.tandem["exchange"]).json
            equal(record["tier"], tier)
            assert record["reasons"] and all(r["code"] and r["text"] for r in record["reasons"])
            equal(len(record["attempts"]), 1 if tier == "local" else 2)
            code, out, err = run("explain", answer.tandem["exchange"], env=tandem.environment)
            equal(code, 0, err)
            assert tier in out.decode(), out
        equal(tandem.get("/tandem/v1/exchanges/ex_none").status, 404)
        code, out, _ = run("report", "--json", env=tandem.environment)
        totals = json.loads(out)
        equal(totals["exchanges"], 2)
        assert totals["all_cloud_cost_usd"] > totals["cost_usd"] > 0, totals


@case
def test_local_logprobs_stops_seed_and_limits():
    with Tandem() as tandem:
        answer = tandem.chat(EASY, logprobs=True, top_logprobs=3).json
        entries = answer["choices"][0]["logprobs"]["content"]
        assert entries and all(e["logprob"] <= 0 and len(e["top_logprobs"]) == 3 for e in entries)
        assert "".join(e["token"] for e in entries).startswith("transfer")
        text = "Convert to JSON:\nname: Ada\ncity: London"
        full = tandem.chat(text).text
        assert full.startswith("{"), full
        equal(tandem.chat(text, stop=["name"]).text, full.split("name")[0])
        short = tandem.chat(text, max_tokens=3).json
        equal(short["choices"][0]["finish_reason"], "length")
        equal(short["usage"]["completion_tokens"], 3)
        sampled = [
            tandem.chat(HARD, {"x-tandem-mode": "only-local"}, temperature=1.5, seed=7).text
            for _ in range(3)
        ]
        equal(len(set(sampled)), 1, "answers from one seed")


@case
def test_cloud_gets_members_that_are_not_ours_untouched():
    call = {
        "tool_calls": [
            {
                "index": 0,
                "id": "call_1",
                "type": "function",
                "function": {"name": "weather", "arguments": "{}"},
            }
        ]
    }
    cloud, tandem = with_cloud(Script(text="", pieces=[], extra_delta=call, finish="tool_calls"))
    tools = [
        {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    ]
    with tandem:
        _, _, chunks, done = tandem.stream("Weather?", {"x-tandem-mode": "only-cloud"}, tools=tools)
        assert done
        equal(cloud.requests[0]["json"]["tools"], tools)
        calls = [
            c
            for chunk in chunks
            for choice in chunk["choices"]
            for c in choice["delta"].get("tool_calls", [])
        ]
        equal(calls[0]["function"]["name"], "weather")
        answer = tandem.chat("Weather?", {"x-tandem-mode": "only-cloud"}, tools=tools).json
        equal(answer["choices"][0]["message"]["tool_calls"][0]["id"], "call_1")
        equal(answer["choices"][0]["finish_reason"], "tool_calls")


@case
def test_router_split_sends_long_prompts_to_the_cloud_at_once():
    cloud = ScriptedCloud(Script(text="Cloud."))
    config = (
        edge_first(cloud.base_url)
        + """    gates:
      g0:
        tokens_over: 50
"""
    )
    with Tandem(config, env={"TEST_CLOUD_KEY": "k"}) as tandem:
        answer = tandem.chat("word " * 100)
        equal(answer.tandem["tier"], "cloud")
        record = tandem.get("/tandem/v1/exchanges/" + answer.tandem["exchange"]).json
        equal(len(record["attempts"]), 1, "no local token is wasted")


@case
def test_example_policies_serve():
    examples = Path(__file__).resolve().parent.parent.parent / "examples"
    cloud = ScriptedCloud(Script(text="Cloud."))
    for name in ("edge-first.yaml", "router-split.yaml", "rollout.yaml"):
        with Tandem(
            (examples / name).read_text(),
            env={"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": cloud.base_url},
        ) as tandem:
            equal(tandem.chat(EASY).status, 200, name)


if __name__ == "__main__":
    main()
