#!/usr/bin/env python3
"""Two tiers beside each other in the playground: both are asked at once, each says where it is from
or why it may not answer, and the conversation goes on with the one that is kept."""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import PHONE, accessible, ask, fits, last_answer, open_page

WHY_NOT = browser.use_environment()

from scene import HARD, KEYED, KEYS, tier_of, with_cloud

from check import case, equal, main
from scripted_cloud import Script
from tandem import Tandem

CARD = "My card number is 4111 1111 1111 1111. Which network is it?"


def turn_on(page: Any) -> None:
    toggle = page.get_by_role("button", name="Side by side")
    toggle.click()
    equal(toggle.get_attribute("aria-pressed"), "true")


def both(page: Any) -> list[Any]:
    """The two answers of the last pair, once they are complete."""
    pair = page.get_by_role("region", name="Side by side").last
    cards = pair.get_by_role("article", name="Answer")
    for side in (0, 1):
        cards.nth(side).and_(page.locator('[aria-busy="false"]')).wait_for()
    return [cards.nth(side) for side in (0, 1)]


@case
def test_two_tiers_answer_one_question_and_the_kept_one_goes_on() -> None:
    # Far apart, so that a busy browser does not see all pieces at once: then there is no speed.
    cloud, tandem = with_cloud(Script(text="Taxes and bread.", piece_delay=0.5))
    with tandem, open_page(tandem.url) as page:
        turn_on(page)
        ask(page, HARD)
        here, there = both(page)
        assert "local" in tier_of(here) and "on this device" in tier_of(here), tier_of(here)
        assert "cloud" in tier_of(there) and "in the cloud" in tier_of(there), tier_of(there)
        assert "Taxes and bread." in there.inner_text()
        for card in (here, there):
            for fact in ("Confidence", "First text", "Cost"):
                assert fact in card.locator(".facts dl").inner_text(), card.inner_text()
        assert "tokens/s" in there.inner_text(), there.inner_text()
        accessible(page)
        # Nothing goes on before one is chosen.
        box = page.get_by_role("textbox", name="Ask a question")
        box.fill("And then?")
        assert page.get_by_role("button", name="Send").is_disabled()
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Keep the answer of cloud").click()
        equal(page.get_by_role("region", name="Side by side").count(), 0)
        assert box.evaluate("e => e === document.activeElement")
        page.get_by_role("button", name="Show what local (on this device) said").click()
        equal(page.locator(".before .answer").count(), 1)
        accessible(page)
        page.get_by_role("button", name="Side by side").click()
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        ask(page, "And then?")
        last_answer(page)
        sent = json.loads(cloud.calls()[-1]["body"])["messages"]
        equal(
            [(one["role"], one["content"]) for one in sent],
            [("user", HARD), ("assistant", "Taxes and bread."), ("user", "And then?")],
        )
    cloud.close()


@case
def test_what_may_not_go_to_a_tier_says_why_in_its_column() -> None:
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url, allowed=("status of 403",)) as page:
        turn_on(page)
        ask(page, CARD)
        here, there = both(page)
        assert "on this device" in tier_of(here)
        why = there.get_by_role("alert").inner_text()
        assert "restricted data may not reach cloud" in why, why
        assert "in the cloud" in tier_of(there), "the column says whose it is"
        equal(cloud.calls(), [])
        # Only one has answered, so nothing has to be chosen.
        page.get_by_role("textbox", name="Ask a question").fill("Thanks.")
        assert page.get_by_role("button", name="Send").is_enabled()
        accessible(page)
    cloud.close()


@case
def test_both_are_asked_again_and_stopped_together() -> None:
    cloud, tandem = with_cloud(Script(pieces=["slow "] * 200, piece_delay=0.1))
    with tandem, open_page(tandem.url) as page:
        turn_on(page)
        ask(page, HARD)
        page.get_by_text("slow slow").wait_for()
        page.get_by_role("button", name="Stop").click()
        _, there = both(page)
        assert "Stopped" in there.inner_text(), there.inner_text()
        cloud.script = Script(text="Quick now.")
        page.get_by_role("button", name="Ask both again").click()
        page.get_by_text("Quick now.").wait_for()
        both(page)
        equal(len(cloud.calls()), 2)
        # The tiers can be exchanged, and one cannot be asked twice.
        left = page.get_by_role("group", name="Side by side").get_by_role("combobox").first
        left.select_option("cloud")
        chosen = page.locator(".beside-choice select").evaluate_all("all => all.map(e => e.value)")
        equal(chosen, ["cloud", "local"])
    cloud.close()


@case
def test_an_answer_that_only_calls_a_tool_is_kept_and_goes_on() -> None:
    cloud, tandem = with_cloud(Script(text='{"city": "Bern"}', echo_tool=True, finish="tool_calls"))
    with tandem, open_page(tandem.url) as page:
        page.get_by_role("button", name="Put in an example").click()
        turn_on(page)
        ask(page, HARD)
        both(page)
        page.get_by_role("button", name="Keep the answer of cloud").click()
        cloud.script = Script(text="It is sunny.")
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        page.get_by_role("button", name="Side by side").click()
        page.get_by_label("What it gives back").fill("sun")
        page.get_by_role("button", name="Give it back and go on").click()
        page.get_by_text("It is sunny.").wait_for()
        sent = json.loads(cloud.calls()[-1]["body"])["messages"]
        equal([one["role"] for one in sent], ["user", "assistant", "tool"])
    cloud.close()


@case
def test_a_phone_has_them_below_each_other() -> None:
    cloud, tandem = with_cloud(more=KEYED)
    with tandem, open_page(tandem.url, viewport=PHONE) as page:
        page.get_by_label("API key").fill(KEYS["KEYS"])
        page.keyboard.press("Enter")
        turn_on(page)
        ask(page, HARD)
        boxes = [card.bounding_box() for card in both(page)]
        assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"], boxes
        page.set_viewport_size({"width": 360, "height": 740})
        fits(page)
        accessible(page)
    cloud.close()


@case
def test_one_tier_alone_has_nothing_beside_it() -> None:
    config = "tiers: [{name: local, kind: local}]\n"
    config += "routes: [{name: auto, kind: hybrid, tiers: [local]}]\n"
    with Tandem(config) as tandem, open_page(tandem.url) as page:
        page.get_by_role("heading", name="Ask something").wait_for()
        equal(page.get_by_role("button", name="Side by side").count(), 0)


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
