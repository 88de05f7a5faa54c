"""Climbing together: an answer of the device that a cloud checks while it is shown, and two tiers
that race. And long documents that stay while a cloud has them read: whether the answer is found,
and what leaves; that cloud is a stand-in that knows good words to look for. The device is a
scripted tier on this machine, so that its answer takes no time of the processor; the cloud takes
300 ms to its first token. BENCH_QUICK=1: a tenth of the random runs.

Each part is a function in PARTS."""

import http.client
import json
import os
import random
import statistics
import time
from typing import Any

from corrections import Reader, events_of
from long_documents import Document, Planner, leaked, ten_documents, unquoted
from scripted_cloud import Script, ScriptedCloud
from table import heading, row
from tandem import Tandem

CLOUD_S = 0.3
PAIRS = 25
RUNS = 100 if os.environ.get("BENCH_QUICK") else 1000
RIGHT = "The capital of Australia is Canberra, and it has been since 1913."
WRONG = "The capital of Australia is Sydney, and it has been since 1913."
CONFIG = """
tiers:
  - {{name: near, kind: openai, model: small, place: device, base_url: "{near}"}}
  - {{name: cloud, kind: openai, model: large, base_url: "{cloud}", api_key_env: TEST_CLOUD_KEY,
      price: {{input_usd_per_mtok: 1, output_usd_per_mtok: 10}}}}
routes:
  - {{name: checked, kind: hybrid, tiers: [near, cloud],
      gates: {{g2: {{tokens: 0}}, g3: {{confidence_min: 0}}, commit_tokens: 0,
              g4: {{verify: answer, stakes: high, compare: normalised}}}}}}
  - {{name: unchecked, kind: hybrid, tiers: [near, cloud],
      gates: {{g2: {{tokens: 0}}, g3: {{confidence_min: 0}}, commit_tokens: 0}}}}
  - {{name: only-cloud, kind: cloud-only, tiers: [cloud]}}
  - {{name: raced, kind: hybrid, tiers: [near, cloud], climb: race, settle: first_good,
      gates: {{g2: {{tokens: 0}}, g3: {{confidence_min: 0}}, commit_tokens: 0}}}}
  - {{name: reading, kind: hybrid, tiers: [near, cloud], documents: {{stay: device}}}}
"""


class TimedCloud(ScriptedCloud):
    """Notes when it was asked, and when a client that left was noticed."""

    def __init__(self, script: Script) -> None:
        self.asked: list[float] = []
        self.left: list[float] = []
        super().__init__(script)

    def _answer(self, connection: Any, request: Any) -> bool:
        if request["method"] != "POST":
            return super()._answer(connection, request)
        self.asked.append(time.monotonic())
        try:
            return super()._answer(connection, request)
        except OSError:
            self.left.append(time.monotonic())
            raise


class House:
    def __init__(self, near: str, cloud: str) -> None:
        self.near = TimedCloud(Script(text=near))
        self.cloud = TimedCloud(Script(text=cloud, first_delay=CLOUD_S))
        config = CONFIG.format(near=self.near.base_url, cloud=self.cloud.base_url)
        self.tandem = Tandem(config, env={"TEST_CLOUD_KEY": "k"})
        self.connection = http.client.HTTPConnection("127.0.0.1", self.tandem.port, timeout=60)

    def __enter__(self) -> "House":
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        self.tandem.stop()
        self.near.close()
        self.cloud.close()

    def ask(self, path: str, body: dict[str, Any], corrections: bool) -> tuple[float, Reader, str]:
        """When it began, what the client has, and the tier of the final answer."""
        headers = {"Content-Type": "application/json"}
        if corrections:
            headers["x-tandem-corrections"] = "true"
        reader, tier, begin = Reader(), "", time.monotonic()
        self.connection.request("POST", path, json.dumps({"stream": True, **body}), headers)
        for when, event in events_of(self.connection.getresponse()):
            reader.take(when, event)
            member = event.get("tandem") or event.get("response", {}).get("tandem") or {}
            tier = member.get("tier") or tier
        return begin, reader, tier

    def chat(self, model: str, corrections: bool = True) -> tuple[float, Reader, str]:
        messages = [{"role": "user", "content": "What is the capital of Australia?"}]
        body = {"model": model, "messages": messages}
        return self.ask("/v1/chat/completions", body, corrections)


def first_ms(answer: tuple[float, Reader, str]) -> float:
    begin, reader, _ = answer
    assert reader.first is not None
    return (reader.first - begin) * 1000


def checked() -> None:
    with House(WRONG, RIGHT) as house:
        house.chat("checked")
        plain, shown, late = [], [], []
        for _ in range(PAIRS):
            plain.append(first_ms(house.chat("unchecked")))
            answer = house.chat("checked")
            shown.append(first_ms(answer))
            alone = house.chat("only-cloud")
            assert answer[1].text == RIGHT and answer[1].corrected, answer[1].text
            late.append((answer[1].corrected - answer[0]) * 1000 - first_ms(alone))
        added, after = statistics.median(shown) - statistics.median(plain), statistics.median(late)
        row("time to first text, checked less unchecked", f"{added:.1f} ms", "10 ms", added <= 10)
        row(
            "wrong answer corrected after the cloud's own time",
            f"{after:.1f} ms",
            "50 ms",
            after <= 50,
        )


def raced() -> None:
    with House(WRONG, RIGHT) as house:
        apart, cancelled = [], []
        house.near.script.first_delay = 0.05  # else it is over before the cloud has read a byte
        house.chat("raced", corrections=False)
        for _ in range(PAIRS):
            for times in (house.near.asked, house.cloud.asked, house.cloud.left):
                times.clear()
            _, reader, tier = house.chat("raced", corrections=False)
            assert (tier, reader.text) == ("near", WRONG), (tier, reader.text)
            until = time.monotonic() + 5
            while not house.cloud.left and time.monotonic() < until:
                time.sleep(0.001)
            apart.append(abs(house.cloud.asked[0] - house.near.asked[0]) * 1000)
            cancelled.append((house.cloud.left[0] - (reader.first or 0)) * 1000)
        value = statistics.median(apart)
        row("race: between both being asked", f"{value:.1f} ms", "5 ms", value <= 5)
        value = statistics.median(cancelled)
        row(
            "race: the loser is cancelled after the first text",
            f"{value:.1f} ms",
            "100 ms",
            value <= 100,
        )


def random_text(lots: random.Random) -> str:
    words = ["It", "is", "größer", "nicht", "zwei", "3", "日本", "Canberra"]
    same = lots.randrange(4)
    return " ".join(words[:same] + [lots.choice(words) for _ in range(lots.randrange(1, 6))])


def transcripts() -> None:
    lots = random.Random(21)
    wrong = {True: 0, False: 0}
    corrected = 0
    with House(WRONG, RIGHT) as house:
        for number in range(RUNS):
            corrections = bool(number % 2)
            texts = {"near": random_text(lots), "cloud": random_text(lots)}
            for tier, server in (("near", house.near), ("cloud", house.cloud)):
                server.script = Script(
                    text=texts[tier],
                    first_delay=lots.choice([0, 0, 0.005, 0.02]),
                    piece_delay=lots.choice([0, 0, 0.002]),
                )
            question = "Which?"
            messages = [{"role": "user", "content": question}]
            forms: list[tuple[str, dict[str, Any]]] = [
                ("/v1/chat/completions", {"messages": messages}),
                ("/v1/messages", {"messages": messages, "max_tokens": 100}),
                ("/v1/responses", {"input": question, "store": False}),
            ]
            path, body = lots.choice(forms)
            _, reader, tier = house.ask(path, {"model": "checked", **body}, corrections)
            wrong[corrections] += reader.text != texts[tier] or (
                not corrections and "correction" in reader.kinds
            )
            corrected += "correction" in reader.kinds
    row(
        f"{RUNS} random runs, {corrected} corrected: plain transcripts that differ",
        f"{wrong[False]}",
        "0",
        wrong[False] == 0,
    )
    row("those of clients that keep corrections", f"{wrong[True]}", "0", wrong[True] == 0)


def own_words(document: Document) -> Document:
    """A planner that looks for nothing but the words of the question."""
    words = [word.strip("?") for word in document.question.split() if len(word) > 3]
    return Document(document.name, document.question, [words], document.fact, document.answer)


def documents() -> None:
    texts = ten_documents() + ten_documents(seed=2) + ten_documents(seed=3)
    right = {"reading": 0, "only-cloud": 0, "own words": 0}
    sent = dict.fromkeys(right, 0)
    left, quoted, tokens = 0, 0, dict.fromkeys(right, 0)
    with House(WRONG, RIGHT) as house:
        for document in texts:
            for way in right:
                planner = Planner(own_words(document) if way == "own words" else document)
                house.cloud.script = Script(thinks=planner)
                house.cloud.clear()
                content = f"{document.text}\n\n{document.question}"
                model = "only-cloud" if way == "only-cloud" else "reading"
                answer = house.tandem.chat(content, model=model)
                right[way] += document.answer in answer.text
                sent[way] += answer.tandem["egress_bytes"]
                tokens[way] += answer.json["usage"]["prompt_tokens"]
                if way == "only-cloud":
                    assert leaked(bytes(house.cloud.received), [document.text])
                    continue
                facts = answer.tandem["documents"]
                quoted += facts["quoted_characters"]
                rest = unquoted(document.text, facts["quotes"])
                left += len(leaked(bytes(house.cloud.received), rest))
    whole, count = right["only-cloud"], len(texts)
    value = right["reading"]
    row("documents that stay: right", f"{value} of {count}", f"{whole}", value == whole)
    row("the same by the words of the question alone", f"{right['own words']} of {count}")
    share = quoted / (2 * sum(len(d.text) for d in texts))
    row("of their text that is quoted", f"{100 * share:.1f} %", "20 %", share <= 0.2)
    row("canaries beyond quotations at the tap", f"{left}", "0", left == 0)
    less = sent["only-cloud"] / sent["reading"]
    row("bytes that leave, against the whole text", f"{less:.1f} times fewer")


PARTS = (checked, raced, transcripts, documents)


def run() -> None:
    heading("Climbing together")
    for part in PARTS:
        part()
