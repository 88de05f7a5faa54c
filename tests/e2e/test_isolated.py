#!/usr/bin/env python3
"""engine.isolated: the engine is a process of its own, and its death ends no request that another
tier may go on with."""

import http.client
import json
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from engine_process import engines
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, check_prompt, edge_first, stream_text, wait_until

ISOLATED = "engine: {isolated: true, queue: 256, threads: 1}\n"
# Whatever the device says is kept.
KEPT = (
    "    gates: {g0: {gain_over: 0, p_local_under: 0}, g2: {tokens: 0}, g3: {confidence_min: 0}}\n"
)
LONG = "Write down a long story about a lighthouse and the sea."


def serve(base_url: str, gates: str = "") -> Tandem:
    config = edge_first(base_url).rstrip("\n") + "\n" + gates + ISOLATED
    return Tandem(config, env={"TEST_CLOUD_KEY": "k"})


@case
def test_answers_come_from_the_other_process_as_they_would_from_this_one():
    cloud = ScriptedCloud(Script(text="Cloud."))
    with (
        serve(cloud.base_url) as tandem,
        Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as plain,
    ):
        for words in ("Hello", "What is the capital of France?", "7 * 6"):
            here, there = (
                server.chat(words, {"x-tandem-mode": "prefer-local"}, max_tokens=20)
                for server in (tandem, plain)
            )
            equal(here.status, 200, here.body.decode())
            equal((here.text, here.tandem["tier"]), (there.text, there.tandem["tier"]))
            for member in ("confidence", "degraded"):
                equal(here.tandem.get(member), there.tandem.get(member), member)
        equal(len(engines(tandem)), 1)
        equal(len(engines(plain)), 0)


@case
def test_200_requests_at_once_outlive_the_engine():
    cloud = ScriptedCloud(Script(text="the rest of it from the cloud.", piece_delay=0.005))
    with serve(cloud.base_url, KEPT) as tandem:
        equal(tandem.chat("Hello", {"x-tandem-mode": "only-local"}).status, 200)
        (engine,) = engines(tandem)
        answers: list[tuple[str, int, list, bool, float]] = []
        lock = threading.Lock()
        killed = [0.0]

        def ask(number: int) -> None:
            restricted = number % 10 == 9
            headers = {"x-tandem-data-class": "restricted" if restricted else "public"}
            status, _, chunks, done = tandem.stream(
                f"{LONG} Number {number}.",
                {"x-tandem-mode": "prefer-local", **headers},
                max_tokens=60,
                ignore_eos=True,
            )
            with lock:
                kind = "restricted" if restricted else "public"
                answers.append((kind, status, chunks, done, time.monotonic()))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(200)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(answers) >= 5, 60, "the first answers")
        killed[0] = time.monotonic()
        os.kill(engine, signal.SIGKILL)
        for thread in threads:
            thread.join(200)
        equal(len(answers), 200, "answers")
        seams = broken = 0
        for kind, status, chunks, done, _ in answers:
            errors = [chunk["error"] for chunk in chunks if "error" in chunk]
            if errors:
                equal(kind, "restricted", str(errors))
                assert "worker ended" in errors[0]["message"], errors
                broken += 1
                continue
            equal((status, done), (200, True))
            assert stream_text(chunks), chunks
            told = [chunk["tandem"] for chunk in chunks if chunk.get("tandem", {}).get("seams")]
            for own in told:
                (seam,) = own["seams"]
                equal((kind, seam["from"], seam["to"]), ("public", "local", "cloud"))
                assert own["degraded"] and "continued by tier cloud" in own["disclosure"], own
                seams += 1
        # Eight sequences run at once; all others had not begun, and go to the next process.
        assert 0 < seams + broken <= 8, (seams, broken)
        assert len(cloud.calls()) <= 8, len(cloud.calls())
        for call in cloud.calls():
            assert "restricted" not in str(call), call
        assert engines(tandem) and engine not in engines(tandem)
        equal(tandem.chat("Hello", {"x-tandem-mode": "only-local"}).status, 200)


@case
def test_a_stream_goes_on_elsewhere_within_a_second_of_the_engines_death():
    cloud = ScriptedCloud(Script(text="the rest of it from the cloud."))

    def seam():
        """How long a stream stood still when its engine died, in seconds."""
        equal(tandem.chat("Hello", {"x-tandem-mode": "only-local"}).status, 200)
        (engine,) = engines(tandem)
        body = {"model": "auto", "stream": True, "max_tokens": 2000, "ignore_eos": True}
        body["messages"] = [{"role": "user", "content": LONG}]
        headers = {"content-type": "application/json", "x-tandem-mode": "prefer-local"}
        connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=60)
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        answer = connection.getresponse()
        while not re.search(rb'"content":"[^"]', line := answer.readline()):
            assert line, "no text of the device"
        os.kill(engine, signal.SIGKILL)  # it goes on with 2,000 tokens
        died = time.monotonic()
        while b'"content":"rest' not in (line := answer.readline()).replace(b" ", b""):
            assert line and b"[DONE]" not in line, "no text of the cloud"
        seconds = time.monotonic() - died
        rest = answer.read()
        assert b'"seams":[{' in rest and b"[DONE]" in rest, rest[-2000:]
        print(f"  the seam came {1000 * seconds:.0f} ms after the engine's death")
        return seconds

    with serve(cloud.base_url, KEPT) as tandem:
        check_prompt(seam, 1)


if __name__ == "__main__":
    main()
