#!/usr/bin/env python3
"""The console's desk for reviewers: tickets are taken and answered by keys, leases are lost
honestly, and a page of somebody who is not cleared never holds what is private."""

import contextlib
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import DESKTOP, PHONE, accessible, fits, open_page

WHY_NOT = browser.use_environment()

from xss import LETHAL

from check import case, equal, main
from key_store import Store, bearer
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

CANARY = "annacanary@acmeltd.com"
QUESTION = "Write a short poem about the harbour at night."
SAID = "Lanterns **sway** on the tide."
PATH = "/tandem/v1/review/tickets"
HIGH = {"cost_of_error": 1000000}
CONFIG = """
tiers:
  - {{name: near, kind: openai, model: small, place: device, base_url: "{near}"}}
  - {{name: cloud, kind: openai, model: large, base_url: "{far}", api_key_env: TEST_CLOUD_KEY}}
  - {{name: people, kind: review, review: {{minutes: 5, usd_hour: 60}}}}
routes:
  - {{name: auto, kind: hybrid, tiers: [near, cloud, people]}}
"""


@contextlib.contextmanager
def house(store: Store | None = None, script: Script | None = None) -> Iterator[Tandem]:
    """A server whose questions of high stakes reach people, by way of two models."""
    near = ScriptedCloud(script or Script(text="Boats rest."))
    cloud = ScriptedCloud(script or Script(text=SAID))
    config = CONFIG.format(near=near.base_url, far=cloud.base_url)
    env = {"TEST_CLOUD_KEY": "k"}
    with store.serve(config, **env) if store else Tandem(config, env=env) as tandem:
        yield tandem
    near.close()
    cloud.close()


def client_asks(tandem: Tandem, words: str = QUESTION, key: str = "", **options: Any) -> str:
    """Returns the exchange."""
    headers = bearer(key) if key else {}
    answer = tandem.chat(words, headers, max_tokens=8, tandem={**HIGH, **options})
    equal(answer.status, 200, answer.body.decode())
    equal(answer.tandem["pending"], True)
    return str(answer.tandem["exchange"])


def client_gets(tandem: Tandem, exchange: str, key: str = "") -> Any:
    headers = bearer(key) if key else {}
    return tandem.get(f"/tandem/v1/review/answers/{exchange}", headers=headers).json


def waiting(tandem: Tandem, key: str = "") -> Any:
    return tandem.get(PATH, headers=bearer(key) if key else {}).json["data"]


def open_desk(tandem: Tandem, **options: Any) -> Any:
    return open_page(tandem.url, path="/#/review", **options)


def sign_in(page: "Page", key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Review", exact=True).wait_for()


def take_next(page: "Page") -> None:
    page.get_by_role("button", name="Take the next").wait_for()
    page.keyboard.press("n")
    page.get_by_role("timer").wait_for()


@case
def test_an_empty_queue_says_how_questions_get_there() -> None:
    with Tandem() as tandem, open_desk(tandem) as page:
        page.get_by_text("No question waits for a person").wait_for()
        page.get_by_text("kind: review").wait_for()


@case
def test_tickets_are_answered_by_keys_one_after_the_other() -> None:
    with house() as tandem:
        asked = [client_asks(tandem, f"{QUESTION} ({n})") for n in range(4)]
        with open_desk(tandem) as page:
            page.get_by_text("Choose a question").wait_for()
            page.keyboard.press("1")  # nothing was taken: no outcome
            take_next(page)
            cards = page.locator(".review-candidate")
            said = cards.all_inner_texts()
            assert len(said) == 2 and "cloud" in said[1] and "Lanterns sway" in said[1], said
            assert "$1,000,000" in page.locator(".figures").inner_text()
            tops = [cards.nth(n).bounding_box()["y"] for n in (0, 1)]
            equal(tops[0], tops[1], "side by side")

            page.keyboard.press("2")
            page.get_by_text("Sent. The next one is yours now.").wait_for()
            got = client_gets(tandem, asked[0])
            equal((got["outcome"], got["message"]["content"]), ("accepted", SAID))

            page.get_by_text(f"{QUESTION} (1)").wait_for()
            page.keyboard.press("e")
            field = page.get_by_role("textbox", name="Your answer")
            equal(field.input_value(), SAID)
            page.keyboard.press("Control+End")
            page.keyboard.type(" And 12 boats sleep.")  # digits are text here
            page.keyboard.press("Control+Enter")
            page.get_by_text(f"{QUESTION} (2)").wait_for()
            got = client_gets(tandem, asked[1])
            equal(got["outcome"], "edited")
            equal(got["message"]["content"], SAID + " And 12 boats sleep.")

            page.keyboard.press("a")
            page.keyboard.type("Please call us.")
            page.keyboard.press("Escape")
            equal(page.get_by_role("textbox").count(), 0)
            page.keyboard.press("a")
            page.keyboard.type("Please write to us.")
            page.keyboard.press("Control+Enter")
            page.get_by_text(f"{QUESTION} (3)").wait_for()
            got = client_gets(tandem, asked[2])
            equal((got["outcome"], got["message"]["content"]), ("answered", "Please write to us."))

            page.keyboard.press("r")
            page.get_by_text("Sent. No other question is open for you.").wait_for()
            equal(client_gets(tandem, asked[3])["status"], "rejected")
            page.get_by_text("No question waits for a person").wait_for()


@case
def test_a_ticket_is_given_back_and_single_keys_can_be_switched_off() -> None:
    with house() as tandem:
        client_asks(tandem)
        with open_desk(tandem) as page:
            take_next(page)
            page.keyboard.press("g")
            page.get_by_role("button", name="Take this one").wait_for()
            wait_until(lambda: waiting(tandem)[0]["state"] == "open", what="given back")
            page.get_by_label("Single keys").uncheck()
            page.keyboard.press("t")
            page.wait_for_timeout(300)
            equal(waiting(tandem)[0]["state"], "open")
            page.get_by_label("Single keys").check()
            page.get_by_label("Single keys").blur()
            page.keyboard.press("t")
            page.get_by_role("timer").wait_for()
            page.keyboard.press("j")
            equal(page.evaluate("document.activeElement.className"), "review-row")


def end_lease(tandem: Tandem) -> None:
    with contextlib.closing(sqlite3.connect(tandem.state / "queues.db")) as database:
        database.execute("UPDATE queued SET lease_s = ? WHERE state = 1", (int(time.time()) - 1,))
        database.commit()


@case
def test_a_lost_lease_is_said_and_what_was_typed_stays() -> None:
    with house() as tandem:
        exchange = client_asks(tandem)
        with open_desk(tandem, allowed=("status of 4",)) as page:
            take_next(page)
            page.keyboard.press("a")
            page.keyboard.type("Half of an ans")
            end_lease(tandem)
            page.get_by_text("Your time has run out").wait_for()
            field = page.get_by_role("textbox", name="Your answer")
            equal(field.input_value(), "Half of an ans")
            page.keyboard.press("Control+Enter")  # does nothing now
            equal(client_gets(tandem, exchange)["status"], "pending")
            page.get_by_role("button", name="Take this one").click()
            page.get_by_role("timer").wait_for()
            equal(field.input_value(), "Half of an ans")

            end_lease(tandem)
            ticket = waiting(tandem)[0]["id"]
            taken = tandem.request("POST", f"{PATH}/{ticket}/take", {"reviewer": "bob"})
            equal(taken.status, 200)
            page.get_by_text("Somebody else has this question now").wait_for()
            equal(page.get_by_role("timer").count(), 0)
            done = tandem.request(
                "POST", f"{PATH}/{ticket}/answer", {"text": "Bob's.", "reviewer": "bob"}
            )
            equal(done.status, 200)
            page.get_by_role("button", name="Take this one").click()
            page.get_by_role("alert").get_by_text("no longer waiting").wait_for()
            equal(client_gets(tandem, exchange)["message"]["content"], "Bob's.")


@case
def test_who_is_at_work_keeps_the_ticket_and_who_is_away_loses_it() -> None:
    """With a clock that the test turns; a lease is fifteen minutes, and the server's stays so."""
    with house() as tandem:
        client_asks(tandem)
        with open_desk(tandem) as page:
            page.clock.install()
            page.reload()
            take_next(page)
            before = waiting(tandem)[0]["lease_until"]
            page.clock.fast_forward(11 * 60 * 1000)
            page.wait_for_timeout(1100)  # a lease ends at a whole second
            page.mouse.click(700, 880)
            page.clock.run_for(1000)
            wait_until(lambda: waiting(tandem)[0]["lease_until"] > before, what="the renewal")
            page.get_by_text("yours for").wait_for()
            page.clock.fast_forward(16 * 60 * 1000)
            page.get_by_text("Your time has run out").wait_for()


@case
def test_the_page_of_who_is_not_cleared_never_holds_what_is_private() -> None:
    with Store() as store:
        store.add("boss", "--operator")
        client = store.add("client", "--tenant", "a")
        low = store.add("low", "--tenant", "a", "--role", "reviewer")
        other = store.add("other", "--tenant", "b", "--role", "reviewer")
        script = Script(text=f"I wrote to {CANARY}.")
        with house(store, script) as tandem:
            client_asks(tandem, "Keep this secret: plumcanary", client, data_class="restricted")
            exchange = client_asks(tandem, f"Write to {CANARY} about the harbour.", client)
            replies: list[Any] = []
            with open_desk(tandem, allowed=("status of 403", "status of 401")) as page:
                page.on("response", lambda reply: replies.append(reply))
                sign_in(page, low)
                equal(page.get_by_role("link", name="Review").count(), 1)
                take_next(page)  # the oldest is withheld, so it is the other
                page.get_by_text("Private values are replaced").wait_for()
                html = page.content()
                assert "canary" not in html, "the page holds a canary"
                stand_in = page.locator(".review-question p").inner_text().split()[2]
                assert "@" in stand_in, stand_in
                page.keyboard.press("a")
                page.keyboard.type(f"I wrote to {stand_in}.")
                page.keyboard.press("Control+Enter")
                page.get_by_text("Sent. No other question is open for you").wait_for()
                page.get_by_text("not for you").wait_for()
                page.locator("[data-row]").click()
                page.get_by_text("above your clearance, so nothing").wait_for()
                equal(page.get_by_role("button", name="Take this one").count(), 0)
                assert "canary" not in page.content()
                seen = [reply.body() for reply in replies if "/tandem/v1/" in reply.url]
                assert seen and not any(b"canary" in body for body in seen)
            got = client_gets(tandem, exchange, client)
            assert got["message"], got
            equal(got["message"]["content"], f"I wrote to {CANARY}.")

            with open_desk(tandem, allowed=("status of 401",)) as page:
                sign_in(page, other)  # of another tenant
                page.get_by_text("No question waits for a person").wait_for()
            with open_desk(tandem, allowed=("status of 401", "status of 403")) as page:
                page.get_by_label("API key").fill(client)
                page.keyboard.press("Enter")
                page.get_by_text("Viewer").wait_for()
                equal(page.get_by_role("link", name="Review").count(), 0)
                status = page.evaluate(
                    f"fetch('{PATH}', {{headers: {{'x-tandem-console': '1'}}}}).then(r => r.status)"
                )
                equal(status, 403, "the server refuses whatever the page shows")


@case
def test_texts_that_attack_do_nothing_to_a_reviewer() -> None:
    whole = "\n\n".join(LETHAL)
    with house(script=Script(text=whole)) as tandem:
        client_asks(tandem, whole[:20000])
        with open_desk(tandem) as page:
            page.evaluate("() => { window.hit = 0; window.alert = () => { window.hit++ } }")
            take_next(page)
            page.keyboard.press("e")
            shown = page.locator(".review-question").inner_text()
            assert "<script>" in shown and "onerror" in shown, shown[:300]
            bad = page.evaluate(
                "[...document.querySelectorAll('.review *')].filter(e =>"
                " /^(script|img|iframe|object|embed|style|link|base|form action)$/i"
                ".test(e.tagName) || e.getAttributeNames().some(n => n.startsWith('on'))"
                " || (e.protocol && !/^(https?|mailto):$/.test(e.protocol))).map(e => e.outerHTML)"
            )
            equal(bad, [])
            page.wait_for_timeout(300)
            equal(page.evaluate("window.hit"), 0)
            equal(page.url, tandem.url + "/#/review")


@case
def test_axe_finds_nothing_to_mend_and_a_phone_has_room() -> None:
    with house() as tandem:
        client_asks(tandem)
        client_asks(tandem)
        for scheme, size in (("light", DESKTOP), ("dark", PHONE)):
            with open_desk(tandem, color_scheme=scheme, viewport=size) as page:
                take_next(page)
                page.keyboard.press("e")
                page.get_by_text("Why is it here?").click()
                page.get_by_text("Who has seen it").click()
                accessible(page)
                fits(page)
                page.keyboard.press("Escape")
                page.keyboard.press("g")
                page.get_by_role("button", name="Take this one").wait_for()


@case
def test_the_desk_speaks_german() -> None:
    with house() as tandem:
        client_asks(tandem)
        with open_desk(tandem, locale="de-DE") as page:
            page.get_by_role("button", name="Nächste nehmen").click()
            page.get_by_text("Was gefragt wurde").wait_for()


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
