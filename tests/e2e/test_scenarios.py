#!/usr/bin/env python3
"""examples/scenarios: each configuration does what its first lines say, and prints its budget.

What stands in for the world: scripted clouds, a folder in the place of /sys, and sums of times for
the parts of a voice turn that are not Tandem's (recognition 200 ms, synthesis 215 ms). The
technician's day has its questions, its missing link and its restart, but lasts seconds: no clock is
turned."""

import http.client
import json
import re
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from check import case, equal, main
from intents import CLEAR, FOREIGN, INTENTS
from scripted_cloud import Script, ScriptedCloud
from tandem import ROOT, Answer, Tandem, wait_until

FOLDER = ROOT / "examples" / "scenarios"
KEYS = ("VOICE_CLOUD_KEY", "OFFICE_KEY", "HOSPITAL_KEY", "FIELD_KEY", "BURST_KEY", "CAR_KEY")
RECOGNITION_MS, SYNTHESIS_MS = 200, 215
LOCAL = {"tandem": {"mode": "only-local"}}


def serve(name: str, more: str = "", env: dict[str, Any] | None = None, **urls: str) -> Tandem:
    """The example with the addresses of these tiers in the place of its own."""
    text = (FOLDER / f"{name}.yaml").read_text()
    for tier, url in urls.items():
        place = rf"(- name: {tier}\b(?:(?!- name:).)*?base_url: )\S+"
        text, count = re.subn(place, rf"\g<1>{url}", text, flags=re.DOTALL)
        equal(count, 1, f"{tier} in {name}.yaml")
    return Tandem(text + more, env={**dict.fromkeys(KEYS, "k"), **(env or {})})


def budget(scenario: str, **parts: object) -> None:
    print(f"  {scenario}: " + ", ".join(f"{name} {value}" for name, value in parts.items()))


def p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


def at_once(count: int, ask: Any) -> list[tuple[Answer, float]]:
    """The answers of so many requests at the same time, and their milliseconds."""
    got: list[tuple[Answer, float]] = []

    def one(number: int) -> None:
        begin = time.monotonic()
        answer = ask(number)
        got.append((answer, 1000 * (time.monotonic() - begin)))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got


@case
def test_voice_a_turn_of_the_device_begins_before_the_clouds() -> None:
    cloud = ScriptedCloud(Script(text="Of course.", first_delay=0.5))
    with serve("voice", cloud=cloud.base_url) as tandem:

        def turn(model: str) -> float:
            messages = [{"role": "user", "content": CLEAR}]
            body = json.dumps({"model": model, "stream": True, "messages": messages})
            connection = http.client.HTTPConnection("127.0.0.1", tandem.port, timeout=30)
            begin = time.monotonic()
            connection.request(
                "POST", "/v1/chat/completions", body, {"content-type": "application/json"}
            )
            answer = connection.getresponse()
            while not re.search(rb'"content":"[^"]', line := answer.readline()):
                assert line, "no text came"
            first_ms = 1000 * (time.monotonic() - begin)
            connection.close()
            return RECOGNITION_MS + first_ms + SYNTHESIS_MS

        turn("voice")  # the model is in memory
        device = min(turn("voice") for _ in range(5))
        away = min(turn("cloud-voice") for _ in range(2))
        budget("voice turn", device_ms=round(device), cloud_ms=round(away))
        assert device < 500, f"{device:.0f} ms"
        assert away >= 915, f"{away:.0f} ms"
        equal(len(cloud.calls()), 2, "the device asked nobody")


@case
def test_email_stays_and_a_contract_goes_to_the_house_alone() -> None:
    house, cloud = ScriptedCloud(Script(text="Clause 4 is unusual.")), ScriptedCloud()
    with serve("email", house=house.base_url, cloud=cloud.base_url) as tandem:
        mail = tandem.chat(
            "Summarise: the meeting moves to Monday.", {"x-tandem-tags": "mail"}, max_tokens=16
        )
        paper = tandem.chat(
            "Which clause of this contract is unusual? contract-canary",
            {"x-tandem-tags": "contract"},
            max_tokens=64,
        )
        equal((mail.tandem["tier"], paper.tandem["tier"]), ("local", "house"))
        equal(paper.text, "Clause 4 is unusual.")
        equal((mail.tandem["cost_usd"], paper.tandem["data_class"]), (0, "contractual"))
        assert paper.tandem["cost_usd"] > 0
        budget("office", mail_usd=0, contract_usd=paper.tandem["cost_usd"])
        house.script = Script(status=503)
        failed = tandem.chat(
            "And clause 5? contract-canary", {"x-tandem-tags": "contract"}, max_tokens=16
        )
        assert failed.status == 503 or failed.tandem["tier"] == "local", failed.body
        assert b"contract-canary" not in cloud.received, "a contract reached the cloud"


@case
def test_hospital_nothing_of_a_patient_leaves_or_stays() -> None:
    cloud = ScriptedCloud(Script(text="Soup."))
    with serve("hospital", cloud=cloud.base_url) as tandem:
        began = time.monotonic()
        for number in range(5):
            words = f"Patient Anna Beispiel-{number}, wardcanary: what is her next step?"
            answer = tandem.chat(words, model="ward", max_tokens=8)
            equal((answer.status, answer.tandem["tier"]), (200, "local"), answer.body.decode())
            equal(answer.tandem["data_class"], "restricted")
        each = 1000 * (time.monotonic() - began) / 5
        menu = tandem.chat(FOREIGN[0].format(1), {"x-tandem-mode": "prefer-cloud"}, model="office")
        equal(menu.tandem["tier"], "cloud")
        assert b"wardcanary" not in cloud.received
        wait_until(
            lambda: len(tandem.get("/tandem/v1/exchanges").json["data"]) == 6, what="records"
        )
        held = b"".join(p.read_bytes() for p in tandem.state.rglob("*") if p.is_file())
        assert b"wardcanary" not in held, "a letter is in a file"
        budget("hospital", letter_ms=round(each), egress_bytes=0)


@case
def test_telecom_what_may_cost_the_line_is_a_persons() -> None:
    with serve("telecom") as tandem:
        plain = tandem.chat(CLEAR, max_tokens=8)
        equal((plain.tandem["tier"], plain.tandem.get("pending")), ("local", None))
        asked = tandem.chat(
            "Is my line cut tomorrow?", max_tokens=8, tandem={"cost_of_error": 4000}
        )
        equal(asked.tandem["pending"], True, asked.body.decode())
        (ticket,) = tandem.get("/tandem/v1/review/tickets").json["data"]
        done = tandem.request(
            "POST", f"/tandem/v1/review/tickets/{ticket['id']}/answer", {"text": "No, it stays."}
        )
        equal(done.status, 200, done.body.decode())
        final = tandem.get(f"/tandem/v1/review/answers/{asked.tandem['exchange']}").json
        equal(final["message"]["content"], "No, it stays.")
        budget("telecom", plain_usd=plain.tandem["cost_usd"], person_usd=asked.tandem["cost_usd"])
        assert asked.tandem["cost_usd"] >= 3


@case
def test_technician_questions_of_a_day_without_a_link_are_answered_once_in_order() -> None:
    root, state = (Path(tempfile.mkdtemp(prefix="tandem-day-")) for _ in range(2))
    (root / "class/net/wlan0/device").mkdir(parents=True)
    link = root / "class/net/wlan0/operstate"
    link.write_text("down\n")
    cloud = ScriptedCloud(Script(echo=True))
    env = {"TANDEM_STATE_DIR": state}
    # 0.0.0.0 leads here, and does not count as here: a server of this machine needs no network.
    url = cloud.base_url.replace("127.0.0.1", "0.0.0.0") + "\n    allow_http: true"
    more = f"  root: {root}\n"
    words = [f"Page {number} of the manual, please" for number in range(6)]
    try:
        with serve("technician", more, env, cloud=url) as tandem:
            known = tandem.chat(CLEAR, max_tokens=8, **LOCAL)
            equal((known.status, known.tandem["tier"]), (200, "local"))
            for text in words[:3]:
                equal(tandem.chat(text, model="manual").status, 202)
        with serve("technician", more, env, cloud=url) as tandem:  # the night
            for text in words[3:]:
                equal(tandem.chat(text, model="manual").status, 202)
            equal(cloud.calls(), [], "asked without a link")
            link.write_text("up\n")
            back = time.monotonic()
            path = "/tandem/v1/deferred?status=answered"
            wait_until(lambda: len(tandem.get(path).json["data"]) == 6, what="six answers")
            seconds = time.monotonic() - back
        asked = [call["json"]["messages"][-1]["content"] for call in cloud.calls()]
        equal(asked, words, "once each, in order")
        budget("technician", waiting=6, restarts=1, answered_after_link_s=round(seconds, 1))
    finally:
        shutil.rmtree(root)
        shutil.rmtree(state)


@case
def test_autocomplete_continues_here_and_fills_gaps_where_that_was_learnt() -> None:
    coder = ScriptedCloud(Script(text=" a + b"))
    with serve("autocomplete", coder=coder.base_url) as tandem:

        def complete(prompt: str, **members: Any) -> Answer:
            body = {"model": "auto", "prompt": prompt, "max_tokens": 8, **members}
            return tandem.request("POST", "/v1/completions", body)

        complete("x")
        got = at_once(40, lambda number: complete(f"def add{number}(a, b):\n    return"))
        equal([answer.status for answer, _ in got], [200] * 40)
        here = sum(answer.headers["x-tandem-tier"] == "local" for answer, _ in got)
        before = len(coder.calls())
        gap = complete("def add(a, b):\n    return", suffix="\n\nprint(add(1, 2))")
        equal((gap.status, gap.headers["x-tandem-tier"]), (200, "coder"), gap.body.decode())
        equal(coder.calls()[before]["json"]["suffix"], "\n\nprint(add(1, 2))")
        alone = tandem.request(
            "POST", "/v1/completions", {"model": "local", "prompt": "a", "suffix": "b"}
        )
        assert 400 <= alone.status < 500 and b"suffix" in alone.body, alone.body
        budget("autocomplete", here=here, p95_ms=round(p95([ms for _, ms in got])), usd=0)


@case
def test_burst_of_ten_times_the_load_loses_nobody_and_keeps_what_was_agreed() -> None:
    most, now, lock = [0], [0], threading.Lock()

    class Counting(ScriptedCloud):
        def _answer(self, *arguments: Any, **named: Any) -> Any:
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            try:
                return super()._answer(*arguments, **named)
            finally:
                with lock:
                    now[0] -= 1

    cloud = Counting(Script(text="Yes.", first_delay=0.1))
    questions = list(INTENTS)
    with serve("burst", cloud=cloud.base_url) as tandem:

        def ask(number: int) -> Answer:
            return tandem.chat(
                f"{questions[number % len(questions)]} {number}", max_tokens=48, ignore_eos=True
            )

        ask(0)
        usual = at_once(6, ask)
        burst = at_once(60, ask)
        equal([answer.status for answer, _ in burst], [200] * 60)
        away = sum(answer.tandem["tier"] == "cloud" for answer, _ in burst)
        budget(
            "burst",
            usual_p95_ms=round(p95([ms for _, ms in usual])),
            burst_p95_ms=round(p95([ms for _, ms in burst])),
            cloud_answers=away,
            cloud_at_once=most[0],
        )
        assert most[0] <= 4, f"{most[0]} requests at once"


@case
def test_car_a_hot_computer_answers_only_what_stays_in_the_car() -> None:
    root = Path(tempfile.mkdtemp(prefix="tandem-car-"))
    zone = root / "class/thermal/thermal_zone0"
    zone.mkdir(parents=True)
    said = {"type": "cpu", "temp": "25000", "trip_point_0_type": "passive"}
    said["trip_point_0_temp"] = "41400"
    for name, text in said.items():
        (zone / name).write_text(text + "\n")
    cloud = ScriptedCloud(Script(text="Turn left."))
    try:
        with serve("car", f"  root: {root}\n", cloud=cloud.base_url) as tandem:
            equal(tandem.chat(CLEAR).tandem["tier"], "local")
            (zone / "temp").write_text("42000\n")
            begin = time.monotonic()
            wait_until(
                lambda: tandem.chat(CLEAR, max_tokens=4).tandem["tier"] == "cloud", what="the cloud"
            )
            noticed = time.monotonic() - begin
            home = tandem.chat("Drive me home: homecanary", model="navigation", max_tokens=8)
            equal((home.status, home.tandem["tier"]), (200, "local"), home.body.decode())
            assert b"homecanary" not in cloud.received
            budget("car", noticed_after_s=round(noticed, 1), errors=0)
    finally:
        shutil.rmtree(root)


@case
def test_every_scenario_has_a_case_here_and_starts_as_it_is() -> None:
    text = Path(__file__).read_text()
    for path in sorted(FOLDER.glob("*.yaml")):
        assert f'serve("{path.stem}"' in text, path.name
        with serve(path.stem) as tandem:
            equal(tandem.get("/healthz").status, 200, path.name)


if __name__ == "__main__":
    main()
