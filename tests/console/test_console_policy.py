#!/usr/bin/env python3
"""The console's policy editor, in the system's Chromium against the real program."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import DESKTOP, PHONE, accessible, fits, open_page

WHY_NOT = browser.use_environment()

from scene import HARD, KEYED, KEYS, with_cloud

from check import case, equal, main
from tandem import Tandem, wait_until

AT = "/#/whatif/policy"
FAILING = "tests:\n  - {name: the easy one, given: {text: hi}, expect: {tier: cloud}}\n"
BUDGET = "budgets: [{name: all, per: all, usd_per_day: 3}]\n"


def text_of(tandem: Tandem) -> str:
    return Path(str(tandem.config)).read_text()


def field(page: Any) -> Any:
    return page.get_by_role("textbox", name="Configuration")


def findings(page: Any) -> Any:
    return page.get_by_role("region", name="What the server says")


def add(page: Any, text: str) -> None:
    """Types at the end of the text."""
    field(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)


@case
def test_a_change_is_checked_compared_and_put_into_force() -> None:
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url, path=AT) as page:
        before = text_of(tandem)
        findings(page).get_by_text("Sound. Tiers: 2, routes: 1, rules: 0.").wait_for()
        equal(field(page).input_value(), before)
        review = page.get_by_role("button", name="See the change")
        assert review.is_disabled(), "nothing has changed yet"
        add(page, "rotes: 1\n")
        line = before.count("\n") + 1
        findings(page).get_by_text("did you mean 'routes'?").wait_for()
        equal(page.locator(".editor-numbers .bad").inner_text(), str(line))
        assert review.is_disabled(), "a text with a mistake is not applied"
        findings(page).get_by_role("button", name=f"line {line}").click()
        chosen = "e => e.value.slice(e.selectionStart, e.selectionEnd)"
        equal(field(page).evaluate(chosen), "rotes: 1")
        page.get_by_role("button", name="Take all back").click()
        add(page, BUDGET)
        findings(page).get_by_text("Sound.").wait_for()
        review.click()
        dialog = page.get_by_role("dialog", name="See the change")
        dialog.locator(".diff .in code").first.wait_for()
        equal(dialog.locator(".diff .in code").all_inner_texts(), [BUDGET.strip()])
        equal(dialog.locator(".diff .out").count(), 0)
        equal(text_of(tandem), before, "nothing is written before it was seen")
        dialog.get_by_role("button", name="Put into force").click()
        findings(page).get_by_text("It is in force, as policy").wait_for()
        equal(text_of(tandem), before + BUDGET)
        assert review.is_disabled(), "it is the file's text now"
    cloud.close()


@case
def test_the_schema_offers_keys_and_values_at_the_cursor() -> None:
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url, path=AT) as page:
        findings(page).get_by_text("Sound.").wait_for()
        add(page, "shad")
        offers = page.get_by_role("listbox", name="What may stand here")
        offers.get_by_role("option", name="shadow", exact=True).wait_for()
        page.keyboard.press("Enter")
        assert field(page).input_value().endswith("\nshadow: "), field(page).input_value()
        page.keyboard.press("Enter")
        page.keyboard.press("Control+Space")
        offers.get_by_role("option", name="running_max").wait_for()
        accessible(page)
        page.keyboard.press("Escape")
        offers.wait_for(state="detached")
        page.get_by_role("button", name="Take all back").click()
        add(page, "routes:\n- name: b\nkind: clo")
        offers.get_by_role("option", name="cloud-only").click()
        page.keyboard.press("Enter")
        page.keyboard.type("gates: {g3: {conf")
        offers.get_by_role("option", name="confidence_min").wait_for()
        page.keyboard.press("Tab")
        last = field(page).input_value().split("routes:\n")[-1]
        equal(last, "  - name: b\n    kind: cloud-only\n    gates: {g3: {confidence_min: ")
        page.keyboard.press("Control+z")
        assert field(page).input_value().endswith("{conf"), "undo takes an offer back"
    cloud.close()


@case
def test_tests_that_fail_are_said_before_it_is_in_force() -> None:
    cloud, tandem = with_cloud()
    Path(str(tandem.config)).with_name("tandem.test.yaml").write_text(FAILING)
    with tandem, open_page(tandem.url, path=AT) as page:
        findings(page).get_by_text("0 passed, 1 failed in tandem.test.yaml").wait_for()
        findings(page).get_by_text("tier: expected cloud, got local").wait_for()
        add(page, BUDGET)
        page.get_by_role("button", name="See the change").click()
        page.get_by_role("dialog").get_by_text("Tests that fail under it: 1.").wait_for()
    cloud.close()


@case
def test_a_file_that_changed_meanwhile_is_shown_and_compared() -> None:
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url, path=AT, allowed=("409",)) as page:
        findings(page).get_by_text("Sound.").wait_for()
        add(page, BUDGET)
        newer = text_of(tandem) + "# of somebody else\n"
        Path(str(tandem.config)).write_text(newer)
        page.get_by_role("button", name="See the change").click()
        page.get_by_role("button", name="Put into force").click()
        page.get_by_text("Somebody else has changed the file").wait_for()
        equal(text_of(tandem), newer)
        page.get_by_role("button", name="Compare mine with it").click()
        removed = page.get_by_role("dialog").locator(".diff .out code")
        removed.first.wait_for()
        equal(removed.all_inner_texts(), ["# of somebody else"])
    cloud.close()


@case
def test_the_choice_of_the_sliders_goes_into_the_route() -> None:
    cloud, tandem = with_cloud()
    with tandem:
        tandem.chat(HARD, max_tokens=4)
        wait_until(lambda: tandem.get("/tandem/v1/exchanges").json["data"])
        with open_page(tandem.url, path="/#/whatif") as page:
            keep = "Keep an answer of the device from a confidence of"
            page.get_by_label(keep, exact=True).fill("0.9")
            page.get_by_role("link", name="Put it into the configuration").click()
            findings(page).get_by_text("Sound.").wait_for()
            page.get_by_role("button", name="See the change").click()
            page.get_by_role("button", name="Put into force").click()
            findings(page).get_by_text("It is in force").wait_for()
        assert "    gates:\n      g3: {confidence_min: 0.9}\n" in text_of(tandem), text_of(tandem)
        kept = tandem.get("/tandem/v1/calibration").json["tiers"][0]["kept_from"]
        equal(kept, 0.9)
    cloud.close()


@case
def test_who_may_not_change_it_looks_at_it() -> None:
    cloud, tandem = with_cloud(more=KEYED)
    boss = {"Authorization": f"Bearer {KEYS['BOSS']}"}
    with tandem:
        made = tandem.request("POST", "/tandem/v1/keys", {"name": "b", "operator": True}, boss)
        with open_page(tandem.url, path=AT, allowed=("401",)) as page:
            page.get_by_label("API key").fill(made.json["key"])
            page.keyboard.press("Enter")
            page.get_by_text("You can look at it here, not change it").wait_for()
            equal(field(page).get_attribute("readonly"), "")
            equal(page.get_by_role("button", name="See the change").count(), 0)
            accessible(page)
    with Tandem() as plain, open_page(plain.url, path=AT) as page:
        page.get_by_text("This server runs without a configuration file").wait_for()
    cloud.close()


@case
def test_a_name_with_markup_in_the_file_stays_text() -> None:
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url, path=AT) as page:
        findings(page).get_by_text("Sound.").wait_for()
        add(page, '"<img src=x onerror=alert(1)>": 1\n')
        findings(page).get_by_text("<img src=x onerror=alert(1)>").first.wait_for()
        equal(page.locator("main img").count(), 0)
    cloud.close()


@case
def test_axe_finds_nothing_to_mend_and_it_fits_a_phone() -> None:
    cloud, tandem = with_cloud()
    Path(str(tandem.config)).with_name("tandem.test.yaml").write_text(FAILING)
    with tandem:
        for scheme, size in (("light", DESKTOP), ("dark", PHONE)):
            with open_page(tandem.url, path=AT, color_scheme=scheme, viewport=size) as page:
                add(page, BUDGET)
                findings(page).get_by_text("Sound.").wait_for()
                accessible(page)
                fits(page)
                page.get_by_role("button", name="See the change").click()
                page.get_by_role("dialog").locator(".diff").wait_for()
                accessible(page)
                fits(page)
                page.keyboard.press("Escape")
                add(page, "rotes: 1\n")
                findings(page).get_by_text("did you mean").wait_for()
                accessible(page)
                fits(page)
    cloud.close()


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
