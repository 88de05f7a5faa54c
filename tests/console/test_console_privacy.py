#!/usr/bin/env python3
"""The console's view of privacy, in the system's Chromium against the real program."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import DESKTOP, PHONE, accessible, fits, open_page

WHY_NOT = browser.use_environment()

from scene import KEYED, KEYS, with_cloud
from xss import LETHAL

from check import case, equal, main
from tandem import Tandem

MASKED = "privacy: {pseudonyms: {on: true}}\n"
MAIL = "Write to billing@northwind-trading.com about it."


def at(rest: str = "") -> str:
    return f"/#/privacy{rest}"


@case
def test_a_pasted_text_shows_what_is_found_and_what_would_be_sent() -> None:
    cloud, tandem = with_cloud(more=MASKED)
    with tandem, open_page(tandem.url, path=at()) as page:
        page.get_by_role("button", name="Try an example").click()
        page.get_by_text("As a whole this text is restricted").wait_for()
        mark = page.locator("mark", has_text="4111 1111 1111 1111")
        assert "Card number" in mark.inner_text(), mark.inner_text()
        assert "restricted" in str(mark.get_attribute("title"))
        row = page.get_by_role("listitem").filter(has_text="in the cloud")
        assert "gets nothing" in row.inner_text(), row.inner_text()
        page.get_by_role("textbox").fill(MAIL)
        page.get_by_text("gets it with values replaced").wait_for()
        masked = page.locator(".masked .checked-text").inner_text()
        assert masked.startswith("Write to ") and "northwind" not in masked, masked
        page.get_by_role("textbox").fill("Good morning.")
        page.get_by_text("Nothing private was found in it.").wait_for()
        page.get_by_role("textbox").fill("")
        page.get_by_role("button", name="Try an example").wait_for()
        equal(cloud.calls(), [], "a check sends nothing")
    cloud.close()


@case
def test_what_left_is_summed_and_its_record_is_proven() -> None:
    cloud, tandem = with_cloud(more=MASKED)
    with tandem, open_page(tandem.url, path=at("/left")) as page:
        page.get_by_text("Nothing has left this device yet").wait_for()
        for text in ("Why is the sky blue?", MAIL):
            tandem.chat(text, {"x-tandem-mode": "prefer-cloud"})
        page.reload()
        page.get_by_text("The record is complete and unchanged").wait_for()
        newest = page.get_by_role("table", name="The newest transfers")
        equal(newest.locator("tbody tr").count(), 2)
        assert "Email address × 1" in newest.inner_text(), newest.inner_text()
        page.get_by_label("Sum by").select_option("classes")
        sums = page.get_by_role("table", name="Where it went")
        assert "public" in sums.inner_text(), sums.inner_text()
        page.get_by_label("Since").select_option("1")
        page.get_by_role("table", name="The newest transfers").wait_for()
        entries = next(tandem.state.rglob("entries.jsonl"))
        entries.write_text(entries.read_text().replace('"cloud"', '"clouD"', 1))
        page.reload()
        page.get_by_text("The record is not sound").wait_for()
        equal(page.get_by_role("table").count(), 0)
    cloud.close()


@case
def test_a_consent_is_given_and_taken_back() -> None:
    with Tandem() as tandem, open_page(tandem.url, path=at("/consents")) as page:
        page.get_by_text("Nobody has given a consent yet").wait_for()
        page.get_by_role("button", name="Give a consent").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("User").fill("anna")
        dialog.get_by_role("button", name="Give a consent").click()
        row = page.get_by_role("row").filter(has_text="anna")
        row.get_by_text("holds").wait_for()
        given = tandem.get("/tandem/v1/consents").json["data"]
        equal([(one["user"], one["scope"]) for one in given], [("anna", "*")])
        row.get_by_role("button", name="Take back").click()
        row.get_by_text("taken back").wait_for()
        equal(tandem.get("/tandem/v1/consents").json["data"][0]["state"], "revoked")


@case
def test_a_user_is_forgotten_once_the_name_was_typed_twice() -> None:
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url, path=at("/forget")) as page:
        for user in ("anna", "anna", "ben"):
            tandem.chat("Good morning.", {"x-tandem-mode": "only-cloud"}, user=user)
        page.get_by_label("Name of the user").fill("anna")
        page.get_by_role("button", name="Forget…").click()
        sure = page.get_by_role("button", name="Forget for good")
        again = page.get_by_label("Type “anna” to confirm")
        assert sure.is_disabled()
        again.fill("ann")
        assert sure.is_disabled()
        page.keyboard.press("Enter")
        again.fill("anna")
        sure.click()
        page.get_by_role("heading", name="Forgotten: anna").wait_for()
        figures = page.locator(".figures").inner_text()
        assert "Exchanges\n2" in figures, figures
        left = tandem.get("/tandem/v1/exchanges").json["data"]
        equal([one["user"] for one in left if one["user"] == "anna"], [])
    cloud.close()


@case
def test_a_viewer_sees_no_record_of_others() -> None:
    cloud, tandem = with_cloud(more=KEYED)
    with tandem, open_page(tandem.url, path=at()) as page:
        page.get_by_label("API key").fill(KEYS["KEYS"])
        page.keyboard.press("Enter")
        page.get_by_role("link", name="Consents").wait_for()
        equal(page.get_by_role("link", name="What left").count(), 0)
    cloud.close()


@case
def test_texts_that_attack_do_nothing() -> None:
    with Tandem() as tandem, open_page(tandem.url, path=at()) as page:
        page.evaluate("() => { window.hit = 0; window.alert = () => { window.hit++ } }")
        page.get_by_role("textbox").fill("\n".join(LETHAL) + "\n" + MAIL)
        page.locator("mark").first.wait_for()
        assert "<script" in page.locator(".checked-text").first.inner_text()
        named = page.evaluate(
            "[...document.querySelectorAll('.sections *')].flatMap(e =>"
            " e.getAttributeNames()).filter(n => n.startsWith('on'))"
        )
        equal((named, page.evaluate("window.hit")), ([], 0))


@case
def test_axe_finds_nothing_to_mend_and_it_fits_a_phone() -> None:
    cloud, tandem = with_cloud(more=MASKED)
    with tandem:
        tandem.chat(MAIL, {"x-tandem-mode": "prefer-cloud"})
        for scheme, size in (("light", DESKTOP), ("dark", PHONE)):
            for rest in ("", "/left", "/consents", "/forget"):
                options: dict[str, Any] = {"color_scheme": scheme, "viewport": size}
                with open_page(tandem.url, path=at(rest), **options) as page:
                    page.get_by_role("heading", level=1, name="Privacy").wait_for()
                    if not rest:
                        page.get_by_role("button", name="Try an example").click()
                        page.get_by_text("As a whole").wait_for()
                    if rest == "/left":
                        page.get_by_text("The newest transfers").first.wait_for()
                    if rest == "/forget":
                        page.get_by_label("Name of the user").fill("anna")
                        page.get_by_role("button", name="Forget…").click()
                    accessible(page)
                    fits(page)
    cloud.close()


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
