#!/usr/bin/env python3
"""Two keys that fight for a tier get their shares by weight, whichever has more clients: of the
places of a tier with limits.concurrent, and of the local engine's work."""

import contextlib
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from key_store import Store, bearer
from scripted_cloud import Script, ScriptedCloud
from tandem import edge_first

SECONDS = 10
WITHIN = 0.1
ROUNDS = 4


class Crowd:
    """Clients of one key, each of which asks again and again."""

    def __init__(self, tandem, key, count, **members):
        self.tandem, self.headers, self.members = tandem, members.pop("headers"), members
        self.headers = {**bearer(key), **self.headers}
        self.got, self.answers, self.refused, self.other = 0, 0, 0, []
        self.counting, self.over = threading.Event(), threading.Event()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.ask_on, args=(i,)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def ask_on(self, number):
        turn = 0
        while not self.over.is_set():
            turn += 1
            answer = self.tandem.chat(f"Count: {number} {turn}.", self.headers, **self.members)
            counts = self.counting.is_set() and not self.over.is_set()
            with self.lock:
                if answer.status in (429, 503):
                    self.refused += counts
                elif answer.status != 200:
                    self.other.append(answer.body)
                elif counts:
                    self.answers += 1
                    self.got += answer.json["usage"]["completion_tokens"]
            if answer.status != 200:
                time.sleep(0.05)

    def begin(self):
        with self.lock:
            self.got, self.answers, self.refused = 0, 0, 0
        self.counting.set()

    def end(self):
        for thread in self.threads:
            thread.join()
        equal(self.other, [], "answers that are neither an answer nor a refusal")


def told_shares(crowds, shares, measure, what):
    """Whether each had its share of the last seconds, which are told."""
    got = [measure(crowd) for crowd in crowds]
    near = True
    for crowd, have, share in zip(crowds, got, shares, strict=True):
        part = have / max(1, sum(got))
        print(
            f"{what}: {len(crowd.threads)} clients had {part:.3f} of {sum(got)}"
            f" ({crowd.refused} refused), {share:.3f} is due"
        )
        near = near and abs(part / share - 1) < WITHIN
    return near


def fight(crowds, shares, measure, what):
    """The server's shares are those of clients who ask again at once. A busy machine lets some of
    ours wait, so what they had in one of some rounds counts."""
    time.sleep(1)  # until all are at it
    for _ in range(ROUNDS):
        for crowd in crowds:
            crowd.begin()
        time.sleep(SECONDS)
        for crowd in crowds:
            crowd.counting.clear()
        near = told_shares(crowds, shares, measure, what)
        if near:
            break
    for crowd in crowds:
        crowd.over.set()
    for crowd in crowds:
        crowd.end()
    assert near, what


@case
def test_places_of_a_tier_are_shared():
    script = Script(text="Cloud.", first_delay=0.25)
    with Store() as store, contextlib.closing(ScriptedCloud(script)) as cloud:
        config = edge_first(cloud.base_url, "    limits: {concurrent: 4}\n")
        keys = [store.add("many"), store.add("few")]
        with store.serve(config, TEST_CLOUD_KEY="k") as tandem:
            cloudy = {"headers": {"x-tandem-mode": "only-cloud"}, "max_tokens": 4}
            crowds = [Crowd(tandem, keys[0], 12, **cloudy), Crowd(tandem, keys[1], 4, **cloudy)]
            fight(crowds, [0.5, 0.5], lambda crowd: crowd.answers, "a tier, equal weights")
            store.keys("limit", "few", "--weight", "3")
            time.sleep(0.5)
            crowds = [Crowd(tandem, keys[0], 12, **cloudy), Crowd(tandem, keys[1], 8, **cloudy)]
            fight(crowds, [0.25, 0.75], lambda crowd: crowd.answers, "a tier, weights 1 and 3")


@case
def test_the_local_engine_is_shared():
    with Store() as store:
        keys = [store.add("many"), store.add("few", "--weight", "1")]
        with store.serve("engine: {slots: 2, queue: 8}\n") as tandem:
            local = {"headers": {"x-tandem-mode": "only-local"}, "model": "local"}
            crowds = [
                Crowd(tandem, keys[0], 12, max_tokens=24, **local),
                Crowd(tandem, keys[1], 4, max_tokens=24, **local),
            ]
            fight(crowds, [0.5, 0.5], lambda crowd: crowd.got, "tokens of the engine")


if __name__ == "__main__":
    main()
