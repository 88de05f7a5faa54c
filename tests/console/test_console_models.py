#!/usr/bin/env python3
"""The console's view of models and calibration, in the system's Chromium against the real
program."""

import contextlib
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import DESKTOP, PHONE, accessible, fits, open_page

WHY_NOT = browser.use_environment()

from scene import with_cloud

import gguf
from check import case, equal, main
from intents import calibration_questions
from model_hub import Blob, Hub
from scripted_cloud import Script
from store_scene import BIG, FILE, NANO_DATA, entry, store_env
from tandem import NANO, Tandem, wait_until

WORDS = "move pay freeze cancel my card savings loan rate pin flight hotel music weather".split()
SHADOW = "    start: cloud\n    shadow: {edge_share: 1}\n    ramp: {to: local, steps: [5, 50]}\n"


def at(rest: str = "") -> str:
    return f"/#/models{rest}"


def judge(tandem: Tandem, count: int) -> int:
    """Answers of the device, of which each has feedback. How many were right."""
    draw = random.Random(3)
    right = 0
    for _ in range(count):
        question = "Classify the intent: " + " ".join(draw.choices(WORDS, k=4))
        note = tandem.chat(question, {"x-tandem-mode": "only-local"}, max_tokens=4).tandem
        good = draw.random() < note["confidence"]
        right += good
        tandem.request("POST", "/tandem/v1/feedback", {"id": note["exchange"], "ok": good})
    return right


def answers_of(tandem: Tandem) -> list[Any]:
    answers: list[Any] = tandem.get("/tandem/v1/calibration").json["answers"]
    return answers


@case
def test_each_tier_shows_its_card_and_is_tested() -> None:
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url, path=at()) as page:
        local = page.get_by_role("region", name="local")
        for text in ("tandem-nano", "Q8_0", "ready", "2,048 tokens"):
            assert text in local.inner_text(), (text, local.inner_text())
        page.get_by_role("button", name="Test local").click()
        local.get_by_text("Answered in").wait_for()
        equal(cloud.calls(), [], "only the tier that is tested is asked")
        page.get_by_role("button", name="Test cloud").click()
        page.get_by_role("region", name="cloud").get_by_text("Taxes and bread.").wait_for()
        equal(len(cloud.calls()), 1)
    cloud.close()


@case
def test_a_tier_that_does_not_answer_says_so() -> None:
    cloud, tandem = with_cloud(Script(status=400, error_message="out of order"))
    allowed = ("status of 4", "status of 5")
    with tandem, open_page(tandem.url, path=at(), allowed=allowed) as page:
        page.get_by_role("button", name="Test cloud").click()
        page.get_by_role("alert").get_by_text("out of order").wait_for()
    cloud.close()


@case
def test_judged_answers_become_curves_that_fit_the_server() -> None:
    with Tandem() as tandem:
        with open_page(tandem.url, path=at("/calibration")) as page:
            page.get_by_text("Once five answers of the device are judged").wait_for()
            page.get_by_text("the calibration in its file").wait_for()
            assert "tandem calibrate -m tandem-nano" in page.locator(".command").inner_text()
        right = judge(tandem, 60)
        wait_until(lambda: [row[1] for row in answers_of(tandem)].count(None) == 0)
        answers = answers_of(tandem)
        equal(len(answers), 60)
        equal(sum(row[1] for row in answers), right)
        with open_page(tandem.url, path=at("/calibration")) as page:
            chart = page.get_by_role("img", name="Share of right answers by confidence")
            assert "over 60 answers" in str(chart.get_attribute("aria-label"))
            page.get_by_label("Risk asked for").select_option("0.02")
            risk = page.get_by_role("img", name="How much may stay here?")
            label = str(risk.get_attribute("aria-label"))
            # By the same rule: the most that stays with (n R + 1) / (n + 1) at most 2 %.
            by_confidence = sorted(answers, key=lambda row: -row[0])
            loss, kept = 0.0, 0
            for number, row in enumerate(by_confidence, 1):
                loss += 1 - row[1]
                if (loss + 1) / 61 <= 0.02:
                    kept = number
            text = f"{round(100 * kept / 60)}% can stay" if kept else "do not show that 2%"
            assert text in label, (text, label)


@case
def test_a_model_is_measured_from_the_page_and_decides_by_it_when_wanted() -> None:
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "unknown.gguf"
        gguf.add_metadata(NANO, model, (), without="tandem.calibration.")
        own = Path(folder) / "questions.jsonl"
        own.write_text(calibration_questions())
        with Tandem(env={"TANDEM_MODEL": model}) as tandem:
            with open_page(tandem.url, path=at("/calibration")) as page:
                begin = page.get_by_role("button", name="Measure")
                begin.click()
                page.get_by_role("progressbar", name="Measuring").wait_for()
                page.get_by_text("of 1,104").wait_for()
                accessible(page)
                page.get_by_role("button", name="Cancel").click()
                page.get_by_text("Cancelled. Nothing has changed.").wait_for()
                page.get_by_label("Questions of your own").set_input_files(own)
                begin.click()
                page.get_by_text("of 120 questions right").wait_for(timeout=120000)
                table = page.get_by_role("table", name="Thresholds that were found")
                equal(table.locator("tbody tr").count(), 3)
                equal(table.locator("tbody tr").first.locator("td").nth(1).inner_text(), "–")
                accessible(page)
                page.get_by_role("button", name="Use it").click()
                page.get_by_text("The server decides by it now.").wait_for()
                found = tandem.get("/tandem/v1/calibration").json["tiers"][0]
                equal(found["judged_by"], "calibration")
                judges = page.get_by_role("table", name="How answers are judged")
                judges.get_by_text("a calibration", exact=False).first.wait_for()
            with open_page(tandem.url, path=at("/calibration"), viewport=PHONE) as page:
                page.get_by_text("The server decides by it now.").wait_for()
                fits(page)


@case
def test_comparisons_and_ramps_are_shown_and_begin_again() -> None:
    cloud, tandem = with_cloud(more=SHADOW)
    with tandem:
        tandem.chat("Classify the intent: pay my card", max_tokens=4)
        wait_until(lambda: tandem.get("/tandem/v1/shadows").json["data"])
        with open_page(tandem.url, path=at("/rollout")) as page:
            row = page.get_by_role("table", name="Comparisons").locator("tbody tr")
            assert "cloud" in row.inner_text() and "local" in row.inner_text(), row.inner_text()
            ramp = page.get_by_role("region", name="auto")
            assert "5% of the users start on local" in ramp.inner_text(), ramp.inner_text()
            assert "Step 1 of 2" in ramp.inner_text()
            ramp.get_by_role("button", name="Begin again").click()
            ramp.get_by_text("runs").wait_for()
    with Tandem() as plain, open_page(plain.url, path=at("/rollout")) as page:
        page.get_by_text("Nothing was compared yet").wait_for()
        page.get_by_text("No ramp is set up").wait_for()
    cloud.close()


@case
def test_axe_finds_nothing_to_mend_and_it_fits_a_phone() -> None:
    with Tandem() as tandem:
        judge(tandem, 20)
        for scheme, size in (("light", DESKTOP), ("dark", PHONE)):
            for rest, text in (("", "tandem-nano"), ("/calibration", "By"), ("/rollout", "Ramps")):
                options: dict[str, Any] = {"color_scheme": scheme, "viewport": size}
                with open_page(tandem.url, path=at(rest), **options) as page:
                    page.get_by_text(text).first.wait_for(state="attached")
                    accessible(page)
                    fits(page)


@contextlib.contextmanager
def store(blob: Blob, *entries: dict[str, Any]) -> Iterator[Tandem]:
    """A server without models of its own, and a hub that has one."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Hub({FILE: blob}) as hub,
        Tandem(env=store_env(Path(folder), hub.url, *entries)) as tandem,
    ):
        yield tandem


@case
def test_the_first_card_leads_to_a_model_that_is_pulled_and_made_the_default() -> None:
    huge = entry({"name": "huge", "also": [], "bytes": 1 << 40, "parameters": 7000})
    with store(Blob(NANO_DATA), entry(), huge) as tandem, open_page(tandem.url) as page:
        page.get_by_role("link", name="Choose one and pull it").click()
        rows = page.get_by_role("row")
        for words in ("tiny", "best that fits", "labels", "mit", "tokens/s"):
            assert words in rows.nth(1).inner_text(), (words, rows.nth(1).inner_text())
        assert "needs more memory" in rows.nth(2).inner_text(), rows.nth(2).inner_text()
        accessible(page)
        page.get_by_role("button", name="Pull tiny").click()
        page.get_by_role("heading", name="tiny is here").wait_for()
        page.get_by_text("tandem serve -m tiny").wait_for()
        accessible(page)
        page.get_by_role("region", name="tiny is here").get_by_role("button").first.click()
        page.get_by_text("This server takes it with its next start.").wait_for()
        rows.nth(1).get_by_text("the default").wait_for()
        equal(tandem.get("/tandem/v1/store").json["default"], "tiny")


@case
def test_a_pull_shows_how_far_it_is_and_goes_on_after_its_end() -> None:
    slow = Blob(BIG, delay=0.2)
    with store(slow, entry(BIG)) as tandem, open_page(tandem.url, path=at("/get")) as page:
        page.get_by_role("button", name="Pull tiny").click()
        bar = page.get_by_role("progressbar", name="Pulling tiny")
        bar.wait_for()
        wait_until(lambda: bar.evaluate("e => e.position > 0"))
        page.get_by_text(" left").wait_for()  # how long it will take
        size = f"{len(BIG) / 1e6:.0f} MB"
        assert f"of {size}" in page.get_by_role("region", name="Pulling tiny").inner_text()
        accessible(page)
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("heading", name="The pull of tiny was ended").wait_for()
        page.reload()  # the server knows it, not the page
        page.get_by_role("heading", name="The pull of tiny was ended").wait_for()
        page.get_by_role("button", name="Go on where it stopped").click()
        page.get_by_text("were here already").wait_for()
        slow.delay = 0
        page.get_by_role("heading", name="tiny is here").wait_for()


@case
def test_what_goes_wrong_with_a_pull_is_said_in_words() -> None:
    with store(Blob(NANO_DATA + b"x")) as tandem:
        phone = {"viewport": {"width": 360, "height": 740}}
        with open_page(tandem.url, path=at("/get"), **phone) as page:
            page.get_by_role("button", name="Pull tiny").click()
            page.get_by_role("heading", name="tiny did not come").wait_for()
            assert "SHA-256" in page.locator(".pull .note").inner_text()
            fits(page)
            accessible(page)
            page.get_by_label("Another one from the hub").fill("hf:<img src=x>/b:Q4_0")
            page.keyboard.press("Enter")
            page.get_by_role("heading", name="hf:<img src=x>/b:Q4_0 did not come").wait_for()
            equal(page.locator("main img").count(), 0)


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
