#!/usr/bin/env python3
"""Bursts over real sockets: what would wait too long for the local slots starts on the cloud, what
would wait too long for the cloud starts on the device, and what must stay does.

The engine runs the reference kernels on one thread, so that a handful of prompts keeps its only
slot busy for seconds. Everything else is as shipped."""

import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from kept_bytes import has_card
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem

SLOW_ENGINE = "engine: {slots: 1, cpu: ref, threads: 1}\n"
BURST = 60
EASY = "Classify the intent: please transfer one hundred dollars from checking to savings"


def served(cloud, config=SLOW_ENGINE):
    """A server with the default tiers and route, whose cloud is the scripted one."""
    env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": cloud.base_url}
    return Tandem(config, env=env)


def burst(tandem, count=BURST, text="What is {} + 30?", every=0.0, **options):
    """The answers of that many requests at the same time, or one each `every` seconds. Each has
    its time in `seconds`."""
    answers = []

    def ask(number):
        begin = time.monotonic()
        answer = tandem.chat(text.format(number), timeout=120, **options)
        answer.seconds = time.monotonic() - begin
        answers.append(answer)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
        if every:
            time.sleep(every)
    for thread in threads:
        thread.join()
    equal([answer.status for answer in answers], [200] * count)
    return answers


def codes(answer):
    return [reason["code"] for reason in answer.tandem["reasons"]]


def overflows(answers):
    return [answer for answer in answers if "overflow" in codes(answer)]


@case
def test_a_burst_beyond_the_local_slot_goes_to_the_cloud():
    cloud = ScriptedCloud(Script(first_delay=0.2))
    with served(cloud) as tandem:
        answers = burst(tandem)
        moved = overflows(answers)
        assert BURST // 3 <= len(moved) < BURST, len(moved)
        for answer in moved:
            equal((answer.tandem["tier"], answer.tandem["degraded"]), ("openai", False))
            said = answer.tandem["reasons"][0]
            assert said["code"] == "overflow" and "s of waiting on local" in said["text"], said
        alone = tandem.chat("What is 12 + 30?")
        assert not overflows([alone]), codes(alone)
    cloud.close()


@case
def test_nobody_waits_for_the_whole_queue():
    """One after the other they would take as long as all of them take alone together."""
    cloud = ScriptedCloud(Script(first_delay=0.2))
    with served(cloud) as tandem:
        alone = burst(tandem, 5, every=0.5, headers={"x-tandem-mode": "only-local"})
        usual = sorted(answer.seconds for answer in alone)[2]
        longest = max(answer.seconds for answer in burst(tandem))
        assert longest < max(BURST * usual / 2, 4), (longest, usual)
    cloud.close()


@case
def test_what_must_stay_waits():
    cloud = ScriptedCloud(Script())
    with served(cloud) as tandem:
        beside = threading.Thread(target=burst, args=(tandem, 30))
        beside.start()
        asked = burst(tandem, 8, headers={"x-tandem-mode": "only-local"})
        private = burst(tandem, 8, "My card is 4111 1111 1111 1111, item {}.")
        beside.join()
        for answer in asked + private:
            equal(answer.tandem["tier"], "local", codes(answer))
        assert not has_card(cloud.received)
    cloud.close()


@case
def test_batch_work_waits():
    """No gate is on, so nothing but impatience could send it to the cloud."""
    cloud = ScriptedCloud(Script())
    gates = "gates: {g2: {tokens: 0}, g3: {confidence_min: 0}}"
    route = f"routes: [{{name: auto, kind: hybrid, tiers: [local, openai], {gates}}}]\n"
    with served(cloud, SLOW_ENGINE + route) as tandem:
        answers = burst(tandem, 24, headers={"x-tandem-priority": "batch"}, max_tokens=4)
        equal([answer.tandem["tier"] for answer in answers], ["local"] * 24)
        equal(cloud.requests, [])
        assert overflows(burst(tandem, 24, max_tokens=4)), "nor did anybody else overflow"
    cloud.close()


@case
def test_money_that_is_not_there_is_not_spent_on_impatience():
    cloud = ScriptedCloud(Script())
    gates = "gates: {g2: {tokens: 0}, g3: {confidence_min: 0}}"
    more = (
        f"routes: [{{name: auto, kind: hybrid, tiers: [local, openai], {gates}}}]\n"
        "budgets: [{name: day, usd_per_day: 0.000001}]\n"
    )
    with served(cloud, SLOW_ENGINE + more) as tandem:
        answers = burst(tandem, 24, max_tokens=4)
        equal([answer.tandem["tier"] for answer in answers], ["local"] * 24)
        equal(cloud.requests, [])
    cloud.close()


@case
def test_an_operator_may_let_everybody_wait():
    cloud = ScriptedCloud(Script())
    route = "routes: [{name: auto, kind: hybrid, tiers: [local, openai], overflow_after_ms: 0}]\n"
    with served(cloud, SLOW_ENGINE + route) as tandem:
        equal(overflows(burst(tandem, 30)), [])
    cloud.close()


@case
def test_a_full_queue_goes_to_the_cloud():
    cloud = ScriptedCloud(Script())
    route = "routes: [{name: auto, kind: hybrid, tiers: [local, openai], overflow_after_ms: 0}]\n"
    config = "engine: {slots: 1, queue: 1, cpu: ref, threads: 1}\n" + route
    with served(cloud, config) as tandem:
        answers = burst(tandem, 20)
        full = [answer for answer in answers if "left_error" in codes(answer)]
        assert full, "the queue was never full"
        equal({answer.tandem["tier"] for answer in full}, {"openai"})
    cloud.close()


@case
def test_a_burst_beyond_the_cloud_goes_to_the_device_and_says_so():
    cloud = ScriptedCloud(Script(first_delay=0.3), at_once=1)
    route = "routes: [{name: auto, kind: hybrid, tiers: [local, openai], start: openai}]\n"
    with served(cloud, route) as tandem:
        answers = burst(tandem, 70, EASY, every=0.1)
        moved = overflows(answers)
        assert moved, "all waited for the cloud"
        local = [answer for answer in moved if answer.tandem["tier"] == "local"]
        assert local, [answer.tandem["tier"] for answer in moved]
        for answer in local:
            assert answer.tandem["degraded"], answer.tandem
            assert "tier openai is busy" in answer.tandem["disclosure"], answer.tandem
        for answer in answers:
            if answer.tandem["tier"] == "openai":
                assert not answer.tandem["degraded"], answer.tandem
        alone = tandem.chat(EASY)
        equal((alone.tandem["tier"], overflows([alone])), ("openai", []), alone.tandem)
    cloud.close()


if __name__ == "__main__":
    main()
