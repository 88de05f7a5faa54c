#!/usr/bin/env python3
"""What of a question was replaced before it left, in the playground: chips with the kind, which
show the value to whoever typed it."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import PHONE, accessible, ask, fits, last_answer, open_page

WHY_NOT = browser.use_environment()

from scene import KEYED, KEYS, with_cloud

from check import case, equal, main
from scripted_cloud import Script

MASKED = "privacy: {pseudonyms: {on: true, classes: [sensitive]}}\n"
MAIL = "jo.miller@acmeltd.com"
NAMED = f"\U0001f600 Write to {MAIL} and copy bo.kern@acmeltd.com: why did we leave?"


def ask_masked(page: Any) -> Any:
    """The card of the question, once it says what was replaced."""
    ask(page, NAMED)
    last_answer(page)
    page.locator(".masked-kinds").wait_for()
    return page.get_by_role("article", name="You")


@case
def test_a_replaced_value_is_a_chip_that_shows_it_on_hover_and_focus() -> None:
    cloud, tandem = with_cloud(Script(text="Dear Jo,"), MASKED)
    with tandem, open_page(tandem.url) as page:
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        card = ask_masked(page)
        assert MAIL.encode() not in cloud.received, "the value stays on the device"
        equal(
            page.locator(".masked-kinds").inner_text(),
            "Replaced in what left the device: Email address × 2",
        )
        chips = card.locator(".masked-chip")
        equal(chips.count(), 2)
        visible = "e => [...e.children].filter(c => getComputedStyle(c).visibility === 'visible')"
        shown = visible + ".map(c => c.textContent).join()"
        equal(chips.nth(0).evaluate(shown), "Email address")
        assert "replaced before" in str(chips.nth(0).get_attribute("aria-label"))
        accessible(page)
        width = chips.nth(0).bounding_box()["width"]
        chips.nth(0).hover()
        equal(chips.nth(0).evaluate(shown), MAIL)
        equal(chips.nth(0).bounding_box()["width"], width, "nothing moves")
        chips.nth(1).focus()
        equal(chips.nth(1).get_attribute("aria-label"), "Email address: bo.kern@acmeltd.com")
        accessible(page)
        page.keyboard.press("Escape")
        equal(chips.nth(1).evaluate(shown), "Email address")
    cloud.close()


@case
def test_nothing_is_a_chip_where_nothing_was_replaced() -> None:
    cloud, tandem = with_cloud(Script(text="Dear Jo,"), MASKED)
    with tandem, open_page(tandem.url) as page:
        page.get_by_label("Mode", exact=True).select_option("only-local")
        ask(page, NAMED)
        last_answer(page)
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        ask(page, "Why did the French revolution begin?")  # the whole conversation goes along
        page.locator(".masked-kinds").wait_for()
        equal(page.locator(".masked-kinds").count(), 1)
        first, last = (page.get_by_role("article", name="You").nth(at) for at in (0, 1))
        equal(first.locator(".masked-chip").count(), 0, "it was answered here")
        equal(last.locator(".masked-chip").count(), 0, "the values are in an earlier turn")
    cloud.close()


@case
def test_a_clients_key_sees_the_chips_of_its_own_question() -> None:
    cloud, tandem = with_cloud(Script(text="Dear Jo,"), KEYED + MASKED)
    with tandem, open_page(tandem.url, viewport=PHONE) as page:
        page.get_by_label("API key").fill(KEYS["KEYS"])
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Controls").click()
        page.get_by_label("Mode", exact=True).select_option("only-cloud")
        page.keyboard.press("Escape")
        card = ask_masked(page)
        equal(card.locator(".masked-chip").count(), 2)
        page.set_viewport_size({"width": 360, "height": 740})
        fits(page)
        accessible(page)
    cloud.close()


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
