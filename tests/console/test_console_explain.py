#!/usr/bin/env python3
"""The view that explains an exchange, and what the record says of it."""

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import DESKTOP, PHONE, accessible, ask, fits, last_answer, open_page

WHY_NOT = browser.use_environment()

from scene import HARD, KEYED, KEYS, with_cloud
from xss import LETHAL

from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

MASKED = "privacy: {pseudonyms: {on: true, classes: [sensitive]}}\n"
SUM = "What is 17.5 % of 240?"
CARD = "My card number is 4111 1111 1111 1111. Which network is it?"
NAMED = "Why did Anna Schmidt (anna.schmidt@acmeltd.com) leave, and what should I write to her?"


def exchange(tandem: Tandem, question: str, headers: dict[str, str] | None = None) -> str:
    return str(tandem.chat(question, headers).headers["x-tandem-exchange"])


def section(page: Any, name: str) -> Any:
    heading = page.get_by_role("heading", level=2, name=name, exact=True)
    heading.wait_for()
    return page.locator("section", has=heading)


@case
def test_an_exchange_is_a_ladder_with_its_gates_its_times_and_what_left() -> None:
    cloud, tandem = with_cloud(Script(text="Taxes.", first_delay=0.2))
    with tandem:
        name = exchange(tandem, HARD)
        with open_page(tandem.url, path=f"/#/explain/{name}") as page:
            rungs = section(page, "The ladder").locator(".rung")
            equal(rungs.count(), 2)
            near, far = rungs.nth(0).inner_text(), rungs.nth(1).inner_text()
            for words in ("local", "on this device", "began here", "was not sure enough"):
                assert words in near, near
            for words in ("Is it its task?", "at most 50%", "not good enough"):
                assert words in near, near
            for words in ("cloud", "in the cloud", "gave the answer"):
                assert words in far, far
            times = section(page, "The time it took").get_by_role("listitem")
            equal(times.count(), 2)
            # The cloud was silent for 0.2 s of the whole: its first part is the longest of all.
            wide = page.evaluate(
                "[...document.querySelectorAll('.time-wait')].map(e =>"
                " e.getBoundingClientRect().width / e.parentElement.clientWidth)"
            )
            assert wide[1] > 0.5 > wide[0], wide
            left = section(page, "What left the device").inner_text()
            entry = tandem.get(f"/tandem/v1/exchanges/{name}").json["egress"][0]
            for words in ("cloud", "to be answered", "public", "168 B", entry["sha256"][:10]):
                assert words in left, left
    cloud.close()


@case
def test_removed_rungs_say_why_and_nothing_left() -> None:
    cloud, tandem = with_cloud()
    with tandem:
        name = exchange(tandem, CARD)
        with open_page(tandem.url, path=f"/#/explain/{name}") as page:
            removed = section(page, "The ladder").locator(".rung.removed")
            equal(removed.count(), 1)
            text = removed.inner_text()
            assert "was not allowed" in text and "restricted data may not reach cloud" in text, text
            assert "Nothing." in section(page, "What left the device").inner_text()
            page.get_by_text("Card number").wait_for()  # why it is restricted
            page.get_by_text("Answered by the small on-device model").wait_for()
        record = tandem.get(f"/tandem/v1/exchanges/{name}").json
        equal((record["egress"], record["egress_whole"]), ([], True))
    equal(cloud.calls(), [])
    cloud.close()


@case
def test_kinds_that_were_replaced_are_named_and_their_values_are_not() -> None:
    cloud, tandem = with_cloud(more=MASKED)
    with tandem:
        name = exchange(tandem, NAMED)
        sent = cloud.calls()[-1]["body"]
        assert b"Schmidt" not in sent if isinstance(sent, bytes) else "Schmidt" not in sent
        with open_page(tandem.url, path=f"/#/explain/{name}") as page:
            row = section(page, "What left the device").get_by_role("row").nth(1).inner_text()
            assert "Name of a person" in row and "Email address" in row, row
            assert "Schmidt" not in page.locator("main").inner_text()
    cloud.close()


@case
def test_the_list_is_filtered_and_leads_to_each() -> None:
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url, path="/#/explain") as page:
        page.get_by_text("No question was asked yet").wait_for()
        for question in (SUM, HARD, CARD):
            exchange(tandem, question)
        rows = page.locator("tbody tr")

        def rows_are(count: int) -> None:
            wait_until(lambda: rows.count() == count, what=f"{count} rows")

        again = page.get_by_role("button", name="Look again")
        # The record has them within a moment, so one look may be too soon.
        wait_until(lambda: again.click() or rows.count() == 3, what="3 rows")
        assert "restricted" in rows.nth(0).inner_text()  # the newest first
        for name, value, count in (
            ("Answered by", "cloud", 1),
            ("Answered by", "", 3),
            ("Data", "restricted", 1),
            ("Data", "", 3),
            ("Route", "auto", 3),
        ):
            page.get_by_label(name, exact=True).select_option(value)
            rows_are(count)
        page.get_by_label("Only those that got less").check()
        rows_are(1)
        page.get_by_label("Answered by", exact=True).select_option("cloud")
        page.get_by_text("No exchange is like that").wait_for()
        page.get_by_label("Answered by", exact=True).select_option("local")
        rows.get_by_role("link").click()
        page.get_by_text("restricted data may not reach cloud").first.wait_for()
        page.get_by_role("link", name="All exchanges").click()
        page.get_by_role("heading", level=1, name="Explain").wait_for()
        assert page.get_by_label("Only those that got less").is_checked()  # as it was left
    cloud.close()


@case
def test_an_answer_of_the_playground_leads_to_it() -> None:
    with Tandem() as tandem, open_page(tandem.url) as page:
        ask(page, SUM)
        card = last_answer(page)
        card.get_by_text("Why here?").click()
        card.get_by_role("link").click()
        page.get_by_role("heading", level=1, name="Why it was answered there").wait_for()
        section(page, "The ladder").get_by_text("the answer was computed").first.wait_for()


@case
def test_a_tenant_sees_its_own_alone_and_no_address() -> None:
    cloud = ScriptedCloud(Script(text="Taxes."))
    env = {"TEST_CLOUD_KEY": "k", "KEYS": f"{KEYS['KEYS']},another", "BOSS": KEYS["BOSS"]}
    with Tandem(edge_first(cloud.base_url) + KEYED, env=env) as tandem:
        mine, theirs, boss = (
            {"Authorization": f"Bearer {key}"} for key in (KEYS["KEYS"], "another", KEYS["BOSS"])
        )
        name = exchange(tandem, HARD, mine)
        path = f"/tandem/v1/exchanges/{name}"
        own = tandem.get(path, headers=mine).json["egress"]
        equal([sorted(own[0]).count(key) for key in ("host", "seq", "hash", "bytes")], [0, 0, 0, 1])
        assert tandem.get(path, headers=boss).json["egress"][0]["host"]
        equal(tandem.get(path, headers=theirs).status, 404)
        for query in ("", "?tier=cloud", "?route=auto&class=public"):
            found = tandem.get(f"/tandem/v1/exchanges{query}", headers=theirs).json["data"]
            equal(found, [])
            found = tandem.get(f"/tandem/v1/exchanges{query}", headers=mine).json["data"]
            equal([row["id"] for row in found], [name])
        for query in ("degraded=2", "limit=0", "class=" + "x" * 40, "tier=%zz"):
            answer = tandem.get(f"/tandem/v1/exchanges?{query}", headers=mine)
            equal((query, answer.status), (query, 400))
        with open_page(tandem.url, allowed=("status of 4",), path=f"/#/explain/{name}") as page:
            page.get_by_label("API key").fill("another")
            page.keyboard.press("Enter")
            page.get_by_text("There is no such exchange here").wait_for()
            assert "Taxes" not in page.content()
    cloud.close()


@case
def test_gates_are_recorded_with_what_they_compared() -> None:
    cloud, tandem = with_cloud()
    with tandem:
        kept = tandem.get(f"/tandem/v1/exchanges/{exchange(tandem, SUM)}").json
        (gate,) = kept["signals"]["gates"]
        equal((gate["left_by"], gate["least"]), (None, 0.55))
        assert abs(gate["value"] - kept["confidence"]) < 1e-9, gate
        left = tandem.get(f"/tandem/v1/exchanges/{exchange(tandem, HARD)}").json
        near, far = left["signals"]["gates"]
        equal((near["left_by"], far), ("not_mine", None))
    cloud.close()


@case
def test_axe_finds_nothing_and_it_fits() -> None:
    cloud, tandem = with_cloud(more=MASKED)
    with tandem:
        names = [exchange(tandem, question) for question in (SUM, CARD, NAMED)]
        cloud.script = Script(status=500)
        names.append(exchange(tandem, HARD))
        for scheme, size in (("light", DESKTOP), ("dark", PHONE)):
            with open_page(tandem.url, color_scheme=scheme, viewport=size) as page:
                for name in ["", *names]:
                    page.goto(f"{tandem.url}/#/explain/{name}")
                    page.locator(".table, .rungs").first.wait_for()
                    page.wait_for_timeout(100)
                    accessible(page)
                    fits(page)
    cloud.close()


ATTACKED = """
tiers:
  - {{name: near, kind: openai, model: {model}, place: device, base_url: "{url}"}}
routes:
  - {{name: {route}, kind: hybrid, tiers: [near]}}
ledger: {{store_prompts: true}}
"""


@case
def test_texts_that_attack_do_nothing_here() -> None:
    """In names of models and routes, in questions and answers that are stored, in errors."""
    cloud = ScriptedCloud(Script(text="\n".join(LETHAL[:30])))
    names = [json.dumps(text[:60]) for text in (LETHAL[0], LETHAL[1])]
    config = ATTACKED.format(url=cloud.base_url, model=names[0], route='"auto"')
    with Tandem(config) as tandem:
        told = [exchange(tandem, text) for text in LETHAL[:5]]
        cloud.script = Script(status=400, error_message=LETHAL[2])
        tandem.chat("and?")
        with open_page(tandem.url, path="/#/explain") as page:
            page.evaluate("() => { window.hit = 0; window.alert = () => { window.hit++ } }")
            page.locator("tbody tr").first.wait_for()
            for name in [*told, "last"]:
                page.goto(f"{tandem.url}/#/explain/{name}")
                section(page, "What was said")
                bad = page.evaluate(
                    "[...document.querySelectorAll('main *')].filter(e => e.getAttributeNames()"
                    ".some(n => n.startsWith('on')) || e.tagName === 'SCRIPT' ||"
                    " e.tagName === 'IFRAME').map(e => e.outerHTML)"
                )
                equal(bad, [])
            equal(page.evaluate("window.hit"), 0)
    cloud.close()


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
