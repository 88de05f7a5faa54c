#!/usr/bin/env python3
"""A network that wants a sign-in answers in the place of every server: that is noticed from the
requests themselves, said wherever a tier's state is shown, and over when the sign-in is done. The
network is an HTTP proxy here: it answers for a host that is elsewhere."""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Answer, Tandem, edge_first, run, wait_until

CLOUDY = {"x-tandem-mode": "prefer-cloud"}
PAGE = b"<!doctype html><html><title>Welcome</title><p>CANARY Sign in to the hotel's network"
LENGTH = f"Content-Length: {len(PAGE)}\r\n".encode()
PORTALS = {
    "page": b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n" + LENGTH,
    "redirect": b"HTTP/1.1 302 Found\r\nLocation: http://sign.in/\r\n" + LENGTH,
    "511": b"HTTP/1.1 511 Network Authentication Required\r\nContent-Type: text/html\r\n" + LENGTH,
}


def answering(kind: str) -> Script:
    return Script(text="Cloud.", raw=PORTALS[kind] + b"\r\n" + PAGE)


def behind(network: ScriptedCloud) -> Tandem:
    proxy = f"http://127.0.0.1:{network.port}"
    return Tandem(
        edge_first("http://llm.example.com/v1", "    allow_http: true\n"),
        env={"TEST_CLOUD_KEY": "k", "http_proxy": proxy, "ALL_PROXY": proxy},
    )


def code_of(tandem: Tandem) -> str:
    tiers = tandem.get("/tandem/v1/capabilities").json["tiers"]
    code: str = next(tier for tier in tiers if tier["name"] == "cloud")["code"]
    return code


def reasons(answer: Answer) -> str:
    return " ".join(reason["text"] for reason in answer.tandem["reasons"])


@case
def test_a_portal_is_said_everywhere_and_over_after_the_sign_in() -> None:
    for kind in PORTALS:
        network = ScriptedCloud(answering(kind))
        with behind(network) as tandem:
            answer = tandem.chat("Good morning!", CLOUDY)
            equal((answer.tandem["tier"], answer.tandem["degraded"]), ("local", True), kind)
            assert "could not be reached" in answer.tandem["disclosure"], answer.tandem
            assert "captive portal" in answer.tandem["disclosure"], answer.tandem
            assert "CANARY" not in answer.body.decode() + "".join(tandem.log)
            equal(answer.tandem.get("cost_usd", 0), 0)
            equal(code_of(tandem), "captive_portal", kind)
            again = tandem.chat("Good evening!", CLOUDY)
            assert "captive portal" in reasons(again), again.tandem
            reduced = tandem.get("/readyz").json["reduced"]
            assert [row["code"] for row in reduced] == ["captive_portal"], reduced
            asked = len(network.calls())
            time.sleep(2.5)  # health checks find the same page, and nobody is sent to it
            equal(code_of(tandem), "captive_portal", kind)
            equal(len(network.calls()), asked)
            network.script = Script(text="Cloud.")
            wait_until(lambda t=tandem: code_of(t) == "up")
            equal(tandem.chat("Good night!", CLOUDY).tandem["tier"], "cloud")
        network.close()


@case
def test_where_nobody_else_may_answer_the_error_says_it() -> None:
    network = ScriptedCloud(answering("page"))
    with behind(network) as tandem:
        answer = tandem.chat("Good morning!", {"x-tandem-mode": "only-cloud"})
        equal(answer.status // 100, 5)
        assert "captive portal" in answer.json["error"]["message"], answer.body
        streamed = tandem.chat("Hi", {"x-tandem-mode": "only-cloud"}, stream=True)
        assert b"captive portal" in streamed.body, streamed.body
    network.close()


@case
def test_doctor_advises_to_sign_in() -> None:
    for kind in PORTALS:
        network = ScriptedCloud(answering(kind))
        with behind(network) as tandem:
            code, out, _err = run("doctor", "--json", env=tandem.environment)
            equal(code, 1)
            found = next(c for c in json.loads(out)["checks"] if c["name"] == "tier cloud")
            assert "captive portal" in found["text"], found
        network.close()


@case
def test_what_only_looks_like_a_page_is_an_answer_and_a_page_from_here_is_no_portal() -> None:
    message = {"role": "assistant", "content": "Cloud."}
    body = json.dumps(
        {"object": "chat.completion", "choices": [{"message": message, "finish_reason": "stop"}]}
    ).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
    network = ScriptedCloud(Script(raw=head.encode() + body))
    with behind(network) as tandem:
        equal(tandem.chat("Good morning!", CLOUDY).tandem["tier"], "cloud")
        equal(code_of(tandem), "up")
    network.script = answering("page")
    with Tandem(edge_first(network.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        answer = tandem.chat("Good morning!", CLOUDY)
        equal(answer.tandem["tier"], "local")
        assert "captive portal" not in answer.tandem["disclosure"], answer.tandem
    network.close()


if __name__ == "__main__":
    main()
