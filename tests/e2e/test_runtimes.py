#!/usr/bin/env python3
"""A server as the edge tier: its answers are judged by the log-probabilities that it gives, nobody
sees that these were asked for, and where it gives none that is said."""

import itertools
import json
import re
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from intents import ASKED, CLEAR, PLACES
from scripted_cloud import Script, ScriptedCloud
from tandem import (
    Tandem,
    clean_environment,
    parse_events,
    parse_sse,
    run,
    stream_text,
    wait_until,
)

TIER = """
  - name: {name}
    kind: openai
    place: {place}
    model: {model}
    base_url: {url}
    completions: true
"""
UNCLEAR = ASKED + "i need more"  # to the embedded model
SURE, UNSURE = -0.01, -2.5


def ladder(*rungs, more=""):
    """rungs: (name, place, base URL[, model]), the nearest first."""
    tiers = "".join(
        TIER.format(name=name, place=place, url=url, model=(model or ["scripted"])[0])
        for name, place, url, *model in rungs
    )
    names = ", ".join(rung[0] for rung in rungs)
    return f"tiers:{tiers}routes:\n  - {{name: auto, kind: hybrid, tiers: [{names}]}}\n{more}"


def two(edge, cloud, place="device"):
    return ladder(("edge", place, edge.base_url), ("cloud", "cloud", cloud.base_url))


def asked(server):
    """Of each request: whether it asked for log-probabilities."""
    return ["logprobs" in (request["json"] or {}) for request in server.requests]


def metric(tandem, name, **labels):
    for line in tandem.get("/metrics").body.decode().splitlines():
        if line.startswith(name) and all(f'{k}="{v}"' in line for k, v in labels.items()):
            return float(line.rsplit(" ", 1)[1])
    return 0.0


def reasons(tandem):
    return [reason["code"] for reason in tandem.get("/tandem/v1/exchanges/last").json["reasons"]]


@case
def test_a_real_server_is_judged_as_the_local_tier_is():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with Tandem() as runtime:
        edge = ("edge", "device", f"{runtime.url}/v1", "tandem-nano")
        with Tandem(ladder(edge, ("cloud", "cloud", cloud.base_url))) as tandem:
            answer = tandem.chat(CLEAR)
            equal(answer.tandem["tier"], "edge")
            assert answer.tandem["confidence"] > 0.55, answer.tandem
            equal(answer.json["choices"][0]["logprobs"], None)
            equal(tandem.chat(UNCLEAR).tandem["tier"], "cloud")
            _, _, chunks, done = tandem.stream(UNCLEAR)
            equal((stream_text(chunks), done), ("From the cloud.", True))
            _, _, chunks, done = tandem.stream(CLEAR)
            assert done and chunks[-1]["tandem"]["tier"] == "edge", chunks[-1]
            assert all(c["logprobs"] is None for chunk in chunks for c in chunk["choices"])
            code, text, _ = run("explain", env=tandem.environment)
            assert code == 0 and "is at least 0.55" in text.decode(), text


@case
def test_completions_are_judged_too():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    body = {"model": "auto", "prompt": "Say", "temperature": 0, "max_tokens": 8}
    for logprob, tier in [(SURE, "edge"), (UNSURE, "cloud")]:
        edge = ScriptedCloud(Script(text="Yes indeed.", logprob=logprob))
        with Tandem(two(edge, cloud)) as tandem:
            answer = tandem.request("POST", "/v1/completions", body)
            equal((answer.tandem["tier"], answer.json["choices"][0]["logprobs"]), (tier, None))
            equal(edge.requests[0]["json"]["logprobs"], 2)
            answer = tandem.request("POST", "/v1/completions", {**body, "stream": True})
            chunks, done = parse_sse(answer.body)
            assert done and chunks[-1]["tandem"]["tier"] == tier, chunks
            assert all(c["logprobs"] is None for chunk in chunks for c in chunk["choices"])


def plain_of(body):
    """An answer's bytes without what differs from one to the next."""
    text = re.sub(rb"[0-9a-f]{24}", b"ID", body)
    text = re.sub(rb'"(created|created_at|completed_at)":\d+', b'"time":0', text)
    text = re.sub(rb'"tandem":\{.*', b"", text)
    # A stream that was held back begins when its usage is known.
    return re.sub(rb'(message_start.*"usage":\{).*', rb"\1", text)


@case
def test_clients_of_every_dialect_get_what_they_got_without_them():
    chat = {"model": "auto", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9}
    calls = [
        ("/v1/chat/completions", chat),
        ("/v1/chat/completions", {**chat, "stream_options": {"include_usage": True}}),
        ("/v1/completions", {"model": "auto", "prompt": "Hi", "max_tokens": 9}),
        ("/v1/messages", chat),
        ("/v1/responses", {"model": "auto", "input": "Hi"}),
    ]
    tool = [{"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": ""}}]
    for extra in (None, {"reasoning_content": "Hm."}, {"tool_calls": tool}):
        edge = ScriptedCloud(Script(text="One two three.", logprob=SURE, extra_delta=extra))
        cloud = ScriptedCloud()
        alone = ladder(("edge", "cloud", edge.base_url))
        with Tandem(two(edge, cloud)) as judged, Tandem(alone) as plain:
            for (path, body), stream in itertools.product(calls, (False, True)):
                if not stream and "stream_options" in body:
                    continue
                edge.clear()
                one, other = (
                    server.request("POST", path, {**body, "stream": stream})
                    for server in (judged, plain)
                )
                equal((one.status, asked(edge)), (200, [True, False]), path)
                equal(plain_of(one.body), plain_of(other.body), path)
                assert b'"logprob"' not in one.body, one.body


@case
def test_a_client_that_asks_gets_them_as_it_asked():
    edge, cloud = ScriptedCloud(Script(text="One two.", logprob=SURE)), ScriptedCloud()
    with Tandem(two(edge, cloud)) as tandem:
        answer = tandem.chat("Hi", logprobs=True, top_logprobs=5)
        equal([t["logprob"] for t in answer.json["choices"][0]["logprobs"]["content"]], [SURE] * 2)
        equal(edge.requests[0]["json"]["top_logprobs"], 5)
        answer = tandem.chat("Hi", logprobs=False)
        equal((answer.json["choices"][0]["logprobs"], asked(edge)[-1]), (None, True))


@case
def test_only_answers_that_something_judges_are_asked_for():
    edge, cloud = ScriptedCloud(Script(logprob=SURE)), ScriptedCloud(Script(logprob=UNSURE))
    with Tandem(two(edge, cloud)) as tandem:
        tandem.chat("Hi", {"x-tandem-mode": "only-cloud"})
        equal(asked(cloud), [False])
    reviewed = two(edge, cloud).replace("[edge, cloud]", "[edge, cloud], gates: {human_under: 0.5}")
    with Tandem(reviewed) as tandem:
        cloud.clear()
        answer = tandem.chat("Hi", {"x-tandem-mode": "only-cloud"})
        equal((asked(cloud), answer.tandem["review"]), ([True], True))


@case
def test_a_middle_rung_is_judged_like_the_first():
    edge, onprem, cloud = (ScriptedCloud(Script(logprob=UNSURE)) for _ in range(3))
    rungs = (
        ("edge", "device", edge.base_url),
        ("onprem", "premises", onprem.base_url),
        ("cloud", "cloud", cloud.base_url),
    )
    with Tandem(ladder(*rungs)) as tandem:
        equal(tandem.chat("Hi").tandem["tier"], "cloud")
        equal(reasons(tandem).count("left_low_confidence"), 2)
        onprem.script = Script(text="From onprem.", logprob=SURE)
        answer = tandem.chat("Hi")
        equal((answer.tandem["tier"], reasons(tandem)[-1]), ("onprem", "kept_confident"))
        equal(asked(cloud), [False])


@case
def test_a_server_without_them_is_found_out_and_said():
    edge, cloud = ScriptedCloud(Script(text="Fine.")), ScriptedCloud()
    with Tandem(two(edge, cloud)) as tandem:
        for _ in range(3):
            equal(tandem.chat("Hi").tandem["tier"], "edge")
        equal(asked(edge), [True, False, False])
        equal(metric(tandem, "tandem_unjudged_answers_total", tier="edge", reason="no_logprobs"), 3)
        code, text, _ = run("explain", env=tandem.environment)
        assert code == 0 and "edge gave no log-probabilities" in text.decode(), text
        tandem.process.send_signal(signal.SIGHUP)
        wait_until(lambda: any("config_reloaded" in line for line in tandem.log))
        equal(tandem.chat("Hi").status, 200)
        equal(asked(edge)[-1], False)


@case
def test_a_server_that_refuses_the_question_is_asked_again_without_it():
    refusals = [
        {"refuse_message": "logprobs are not supported by this model"},
        {"refuse_message": "You may not request Logprobs from this model", "refuse_status": 403},
        {"refuse_message": "top_logprobs are not built in", "refuse_status": 500},
        {"refuse_message": "extra inputs are not permitted"},
    ]
    for refusal in refusals:
        edge = ScriptedCloud(Script(text="Fine.", refuses="logprobs", **refusal))
        cloud = ScriptedCloud()
        with Tandem(two(edge, cloud)) as tandem:
            for _ in range(3):
                answer = tandem.chat("Hi")
                equal((answer.status, answer.tandem["tier"]), (200, "edge"))
            equal(asked(edge), [True, False, False, False], str(refusal))
            tandem.process.send_signal(signal.SIGHUP)
            wait_until(lambda: any("config_reloaded" in line for line in tandem.log))
            equal(tandem.chat("Hi").status, 200)
            equal(asked(edge)[-1], False)


@case
def test_a_refusal_for_another_cause_teaches_nothing():
    edge, cloud = ScriptedCloud(Script(status=400, logprob=UNSURE)), ScriptedCloud()
    with Tandem(two(edge, cloud)) as tandem:
        tandem.chat("Hi")
        equal(asked(edge), [True, False])
        edge.script = Script(text="Hm.", logprob=UNSURE)
        equal(tandem.chat("Hi").tandem["tier"], "cloud")
        edge.clear()
        edge.script = Script(status=400, logprob=UNSURE)  # it is known to give them
        tandem.chat("Hi")
        equal(asked(edge), [True])


@case
def test_tools_and_chats_are_found_out_apart():
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    edge, cloud = ScriptedCloud(Script(logprob=SURE)), ScriptedCloud()
    with Tandem(two(edge, cloud)) as tandem:
        edge.script = Script(logprob=SURE, refuses="logprobs", refuse_message="logprobs with tools")
        equal(tandem.chat("Hi", tools=tools).status, 200)
        edge.script = Script(logprob=SURE)
        edge.clear()
        equal(tandem.chat("Hi").status, 200)
        equal(tandem.chat("Hi", tools=tools).status, 200)
        equal(asked(edge), [True, False])


def entry(logprob, **more):
    return {"token": "x", "logprob": logprob, **more}


def beyond_json():
    """A stream with a number that no JSON parser takes."""
    choices = [
        '{"delta":{"content":"Hi"},"logprobs":{"content":[{"logprob":1e999}]}}',
        '{"delta":{},"finish_reason":"stop"}',
    ]
    events = "".join(f'data: {{"choices":[{choice}]}}\n\n' for choice in choices)
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    return f"{head}{events}data: [DONE]\n\n".encode()


HOSTILE = {
    "+5": {"content": [entry(5)]},
    "NaN": {"content": [entry(float("nan"))]},
    "-Infinity": {"content": [entry(float("-inf"))]},
    "10^300": {"content": [entry(1e300)]},
    "a text": {"content": [entry("high")]},
    "no number": {"content": [{}]},
    "null": {"content": [None]},
    "not sure": {"content": [entry(-3, top_logprobs=[entry(1e300), entry(-1e300)])]},
}


@case
def test_hostile_numbers_are_bounded_and_cost_no_answer():
    edge, cloud = ScriptedCloud(), ScriptedCloud(Script(text="From the cloud."))
    scripts = {
        (name, pieces): Script(pieces=pieces.split("|"), logprobs=logprobs)
        for name, logprobs in HOSTILE.items()
        for pieces in ("Hi| you", '"logprobs": {"| }')
    }
    with Tandem(two(edge, cloud)) as tandem:
        for name, script in [*scripts.items(), ("beyond JSON", Script(raw=beyond_json()))]:
            edge.script = script
            answer = tandem.chat("Hi")
            equal((name, answer.status, answer.tandem["tier"]), (name, 200, "cloud"))
            equal("odd_logprobs" in reasons(tandem), "not sure" not in name, str(name))
        edge.script = Script(text='A "logprobs": {"x" of NaN.', logprobs=HOSTILE["NaN"])
        answer = tandem.chat("Hi", {"x-tandem-mode": "only-local"})
        equal(answer.text, 'A "logprobs": {"x" of NaN.')


@case
def test_shapes_that_are_none_leave_the_answer_as_it_is():
    cloud, edge = ScriptedCloud(), ScriptedCloud()
    for shape in ([], "no", 7, {"content": "no"}, {"content": {}}, {"tokens": 3}, {}):
        edge.script = Script(pieces=["Hi", " you"], logprobs=shape)
        with Tandem(two(edge, cloud)) as tandem:
            answer = tandem.chat("Hi")
            equal((answer.status, answer.text), (200, "Hi you"), str(shape))


@case
def test_more_of_them_than_the_text_can_have_are_not_counted():
    cloud = ScriptedCloud()
    edge = ScriptedCloud(Script(pieces=["Hi", " you"], logprobs={"content": [entry(-0.1)] * 9000}))
    with Tandem(two(edge, cloud)) as tandem:
        equal(tandem.chat("Hi").text, "Hi you")
        said = "event=logprobs_ignored tier=edge"
        wait_until(lambda: any(said in line for line in tandem.log), what=said)


@case
def test_calls_of_tools_climb_with_their_answer_and_carry_none():
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    script = {"echo": True, "echo_tool": True, "piece_chars": 6}
    cloud = ScriptedCloud(Script(text="From the cloud."))
    for logprob, tier in [(SURE, "edge"), (UNSURE, "cloud")]:
        edge = ScriptedCloud(Script(logprob=logprob, **script))
        with Tandem(two(edge, cloud)) as tandem:
            answer = tandem.chat("Read the letter", tools=tools)
            equal(answer.tandem["tier"], tier)
            if tier == "edge":
                [call] = answer.json["choices"][0]["message"]["tool_calls"]
                equal(json.loads(call["function"]["arguments"]), {"text": "Read the letter"})
            assert b'"logprob"' not in answer.body, answer.body


@case
def test_a_message_and_a_response_climb_as_well():
    edge = ScriptedCloud(Script(text="Hm.", logprob=UNSURE))
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with Tandem(two(edge, cloud)) as tandem:
        message = {"model": "auto", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}]}
        answer = tandem.request("POST", "/v1/messages", message)
        equal(answer.json["content"][0]["text"], "From the cloud.")
        response = {"model": "auto", "input": "Hi", "stream": True}
        done = parse_events(tandem.request("POST", "/v1/responses", response).body)[-1]
        equal(done["response"]["output"][0]["content"][0]["text"], "From the cloud.")


# --- a confidence model of a server's model ---

INTENTS = {
    ASKED + "what is my balance": "balance",
    ASKED + "set an alarm": "alarm",
    ASKED + "play some music": "play_music",
}
VAGUE = ["turn it up {}", "change it {}", "do it with the {}", "it did not go through {}"]


def judged():
    for text, answer in INTENTS.items():
        yield from ({"prompt": text + place, "answer": answer} for place in [*PLACES, " ok"])
    for text in VAGUE:
        yield from (
            {"prompt": ASKED + text.format(word), "right": False} for word in "card bit one".split()
        )
    yield from ({"prompt": f"{ASKED}freeze it {number}", "right": False} for number in range(16))


@case
def test_a_confidence_model_is_fitted_to_a_server_and_used_with_no_other():
    cloud = ScriptedCloud(Script(text="From the cloud."))
    with tempfile.TemporaryDirectory() as folder, Tandem() as runtime:
        lines, fitted, path = (Path(folder) / name for name in ("l", "edge.confidence", "c.yaml"))
        lines.write_text("".join(json.dumps(line) + "\n" for line in judged()))
        edge = ("edge", "device", f"{runtime.url}/v1", "tandem-nano")
        config = ladder(edge, ("cloud", "cloud", cloud.base_url))
        path.write_text(config)
        env = clean_environment(TANDEM_STATE_DIR=folder)
        fit = ["router", "confidence", lines, "-o", fitted, "--json", "-n", 12, "--config", path]
        code, out, err = run(*fit, "--tier", "edge", env=env, timeout=200)
        equal(code, 0, err)
        equal((json.loads(out)["model"], json.loads(out)["answers"]), ("tandem-nano", 55))
        code, _, err = run(*fit, "--tier", "egde", env=env)
        assert code == 1 and "did you mean 'edge'" in err, err
        model = "    model: tandem-nano\n"
        calibrated = config.replace(model, f"{model}    confidence: {fitted}\n")
        with Tandem(config) as raw, Tandem(calibrated) as tandem:
            one, other = (t.chat(ASKED + "play some music ok").tandem for t in (raw, tandem))
            assert one["tier"] == other["tier"] == "edge" and other["confidence"] > 0.55, other
            assert one["confidence"] != other["confidence"], (one, other)
            equal(tandem.chat(UNCLEAR).tandem["tier"], "cloud")
        # The address is the same to the configuration, but the server says that it is another.
        other = ScriptedCloud(Script(text="Hm.", logprob=SURE))
        moved = calibrated.replace(runtime.url, other.base_url.removesuffix("/v1"))
        moved_names = {"model": "tandem-nano-2"}
        with Tandem(moved) as tandem:
            equal(tandem.chat("Hi").status, 200)
            equal("confidence_stale" in reasons(tandem), False)  # it repeats the tier's name
            other.script = Script(text="Hm.", logprob=SURE, says=moved_names)
            equal(tandem.chat("Hi").tandem["confidence"], 0.9900)
            equal("confidence_stale" in reasons(tandem), True)
        renamed = calibrated.replace("model: tandem-nano", "model: another")
        with Tandem(renamed) as tandem:
            line = "event=confidence_stale tier=edge"
            wait_until(lambda: any(line in text for text in tandem.log), what=line)


# --- the doctor ---


def doctor(config):
    """What the doctor says of the tiers: {name: [(status, text, advice)]}; and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tandem.yaml"
        path.write_text(config)
        env = clean_environment(TANDEM_STATE_DIR=folder, TANDEM_LISTEN="127.0.0.1:0")
        code, out, _ = run("doctor", "--json", "--config", path, env=env)
    said: dict[str, list[tuple[str, str, str]]] = {}
    for check in json.loads(out)["checks"]:
        row = (check["status"], check["text"], check["advice"] or "")
        said.setdefault(check["name"], []).append(row)
    return said, code


def alone(server, more=""):
    return ladder(("edge", "cloud", f"{server.base_url}{more}"))


@case
def test_the_doctor_finds_what_cannot_work():
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<ht>"
    model = {"models": ["llama", "qwen", "a\x1b[2Jb", *map(str, range(9))]}
    cases = [
        (Script(models_status=401), "", "fail", "401, and the tier has no API key", "api_key_env"),
        (Script(models_status=403), "", "fail", "403: it refuses this API key", "rights"),
        (Script(models_status=429), "", "warn", "429: it is overloaded", "limits"),
        (Script(models_status=503), "", "warn", "503: it is there, but fails", "log"),
        (Script(models_status=404, status=404), "", "fail", "OpenAI's API is not there", "/v1"),
        (Script(models_status=404, status=401), "", "fail", "401", "api_key_env"),
        (Script(models_status=404, status=400), "", "ok", "answers chats, but has no list", ""),
        (Script(**model), "", "warn", "the model scripted; it has llama, qwen, a?[2Jb, 0, ...", ""),
        (Script(models=[]), "", "warn", "it has none", "model"),
        (Script(raw=page), "", "warn", "with no list of models", "/v1"),
        (Script(), "/", "ok", "has the model scripted", ""),
    ]
    for script, more, status, text, advice in cases:
        server = ScriptedCloud(script)
        said, code = doctor(alone(server, more))
        [row] = said["tier edge"]
        assert row[0] == status and text in row[1] and advice in row[2], (script, row)
        equal(code, 1 if status == "fail" else 0, text)
        assert not any(request["body"] for request in server.requests), server.requests


@case
def test_the_doctor_says_whose_answers_no_gate_judges():
    cloud = ScriptedCloud()
    for script, status, text in [
        (Script(logprob=SURE), "ok", "gives log-probabilities: gates judge its answers"),
        (Script(), "warn", "gives no log-probabilities: no gate judges its answers"),
        (Script(refuses="logprobs", refuse_message="no logprobs"), "warn", "no gate judges"),
        (Script(status=404, error_message="no such model"), "fail", "404: no such model"),
    ]:
        edge = ScriptedCloud(script)
        said, code = doctor(two(edge, cloud))
        equal([row[0] for row in said["tier edge"]], ["ok", status], str(script))
        assert text in said["tier edge"][1][1], said
        equal((len(said["tier cloud"]), code), (1, int(status == "fail")))
    edge = ScriptedCloud(Script())
    off = "[edge, cloud], gates: {g2: {tokens: 0}, g3: {confidence_min: 0}}"
    said, _ = doctor(two(edge, cloud).replace("[edge, cloud]", off))
    assert "no gate judges its answers" in said["route auto"][0][1], said
    equal(len(said["tier edge"]), 1)


@case
def test_the_doctor_and_a_real_server():
    with Tandem() as runtime:
        edge = ("edge", "device", f"{runtime.url}/v1", "tandem-nano")
        said, code = doctor(ladder(edge, ("cloud", "cloud", ScriptedCloud().base_url)))
        equal(([row[0] for row in said["tier edge"]], code), (["ok", "ok"], 0), str(said))
        wrong = ("edge", "device", f"{runtime.url}/api", "tandem-nano")
        said, code = doctor(ladder(wrong))
        equal((said["tier edge"][0][0], code), ("fail", 1), str(said))


if __name__ == "__main__":
    sys.exit(main())
