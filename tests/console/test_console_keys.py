#!/usr/bin/env python3
"""The console's costs and keys: a key is shown once and revoked after a question, the report's
figures are those of `tandem report`, it prints on one page, and each sees its own alone."""

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import DESKTOP, PHONE, accessible, fits, open_page

WHY_NOT = browser.use_environment()

from scene import HARD
from xss import LETHAL

from check import case, equal, main
from key_store import Store, bearer
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, clean_environment, edge_first, run, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Page

DENIED = ("status of 401", "status of 403")


def start(store: Store) -> tuple[ScriptedCloud, Tandem]:
    cloud = ScriptedCloud(Script(text="Taxes and bread. " * 20))
    config = edge_first(cloud.base_url).replace("0.15", "2500").replace("0.60", "10000")  # a mtok
    return cloud, store.serve(config, TEST_CLOUD_KEY="k")


def ask_some(tandem: Tandem, key: str = "", user: str = "ann") -> None:
    """One that the device answers, and one for the cloud."""
    for words in ("What is 17.5 % of 240?", HARD):
        answer = tandem.chat(words, bearer(key) if key else {}, user=user)
        equal(answer.status, 200, answer.body.decode())


def report_of(store: Store, *arguments: str) -> Any:
    """What `tandem report --json` prints of the server's ledger."""
    environment = clean_environment(**store.environment)
    code, out, err = run("report", "--since", "7d", "--json", *arguments, env=environment)
    equal(code, 0, err)
    return json.loads(out)


def costs_page(tandem: Tandem, rest: str = "", **options: Any) -> Any:
    return open_page(tandem.url, path=f"/#/keys{rest}", **options)


def sign_in(page: "Page", key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Costs").wait_for()


def dollars(text: str) -> float:
    found = re.search(r"-?\$[\d,]+(?:\.\d+)?", text)
    assert found, text
    return float(found[0].replace("$", "").replace(",", ""))


def figures(page: "Page") -> dict[str, str]:
    page.locator(".figure").first.wait_for()
    return {
        figure.locator("dt").inner_text(): figure.locator("dd").inner_text()
        for figure in page.locator(".figure").all()
    }


def rows(page: "Page") -> list[list[str]]:
    page.locator(".table tbody tr").first.wait_for()
    return [
        [cell.inner_text() for cell in row.locator("td").all()]
        for row in page.locator(".table tbody tr").all()
    ]


def check_figures(page: "Page", want: dict[str, Any]) -> None:
    shown = figures(page)
    for name, member in (
        ("Saved", "saving_usd"),
        ("Spent", "cost_usd"),
        ("Cloud alone", "all_cloud_cost_usd"),
    ):
        assert abs(dollars(shown[name]) - want[member]) <= 0.006, (name, shown, want[member])
    equal(shown["Requests"].split("\n")[0], str(want["exchanges"]))


# --- keys ---


@case
def test_keys_are_made_limited_and_revoked_and_shown_once() -> None:
    with Store() as store:
        cloud, tandem = start(store)
        with tandem, costs_page(tandem, "/keys", allowed=DENIED) as page:
            page.get_by_text("There is no key yet").wait_for()
            page.get_by_role("button", name="Add a key").click()
            page.get_by_text("This is the first operator’s key").wait_for()
            page.get_by_label("Name").fill("boss")
            page.get_by_role("button", name="Make the key").click()
            boss = page.locator(".command code").inner_text()
            assert re.fullmatch(r"sk-tandem-[0-9a-f]{48}", boss), boss
            equal(tandem.get("/v1/models").status, 401)
            equal(tandem.get("/tandem/v1/keys", headers=bearer(boss)).status, 200)
            page.get_by_role("button", name="I have it").click()
            page.locator(
                ".key-name", has_text="boss"
            ).wait_for()  # the page goes on with the new key
            assert boss not in page.content()

            page.get_by_role("button", name="Add a key").click()
            page.get_by_label("Name").fill("shop")
            page.get_by_label("Tenant").fill("team")
            page.get_by_text("Limits", exact=True).last.click()
            page.get_by_label("US dollars a day").fill("5")
            page.get_by_label("Models").fill("auto, gpt-*")
            page.get_by_role("button", name="Make the key").click()
            shop = page.locator(".command code").inner_text()
            page.keyboard.press("Escape")
            page.get_by_text("US dollars a day: $5.00 · Models: auto, gpt-*").wait_for()
            assert shop not in page.content()

            ask_some(tandem, shop)
            page.get_by_text(re.compile(r"^\$\d+\.\d\d of \$5.00$")).wait_for()
            page.get_by_role("button", name="Limits of shop").click()
            equal(page.get_by_label("US dollars a day").input_value(), "5")
            page.get_by_label("US dollars a day").fill("")
            page.get_by_label("Requests a minute").fill("60")
            page.get_by_label("When a budget is spent").select_option("local")
            page.get_by_role("button", name="Save").click()
            page.get_by_text("Requests a minute: 60").wait_for()
            (kept,) = [key for key in store.keys("list")["data"] if key["name"] == "shop"]
            equal((kept["requests_per_minute"], kept["when_spent"]), (60, "local"))
            assert "usd_per_day" not in kept, kept

            page.get_by_role("button", name="Limits of team").click()
            page.get_by_label("US dollars a month").fill("500")
            page.get_by_role("button", name="Save").click()
            page.get_by_text("US dollars a month: $500.00").wait_for()

            page.get_by_role("button", name="Revoke shop").click()
            page.get_by_role("heading", name="Revoke the key of shop?").wait_for()
            page.get_by_role("button", name="Cancel").click()
            equal(tandem.get("/v1/models", headers=bearer(shop)).status, 200)
            page.get_by_role("button", name="Revoke shop").click()
            page.get_by_role("button", name="Revoke it").click()
            page.get_by_text("revoked", exact=True).wait_for()
            equal(tandem.get("/v1/models", headers=bearer(shop)).status, 401)
        cloud.close()


@case
def test_what_the_server_refuses_is_said() -> None:
    with Store() as store:
        boss = store.add("boss", "--operator")
        with store.serve() as tandem, costs_page(tandem, allowed=(*DENIED, "status of 4")) as page:
            sign_in(page, boss)
            page.get_by_role("link", name="Keys", exact=True).click()
            page.get_by_role("button", name="Add a key").click()
            page.get_by_label("Name").fill("shop")
            page.get_by_text("Limits", exact=True).last.click()
            page.get_by_label("Tiers").fill("moon")
            page.get_by_role("button", name="Make the key").click()
            page.get_by_role("alert").get_by_text("moon").wait_for()
            equal(len(store.keys("list")["data"]), 1)


# --- the report ---


@case
def test_the_reports_figures_are_those_of_the_command_line() -> None:
    with Store() as store:
        boss = store.add("boss", "--operator")
        keys = {name: store.add(name, "--tenant", name) for name in ("shop", "bar")}
        cloud, tandem = start(store)
        with tandem:
            ask_some(tandem, keys["shop"])
            ask_some(tandem, keys["bar"], "bob")
            ask_some(tandem, keys["bar"], "cid")
            wait_until(lambda: report_of(store)["exchanges"] == 6, what="the ledger")
            whole = report_of(store)
            assert whole["saving_usd"] != 0 and whole["cost_usd"] > 1, whole
            with costs_page(tandem, allowed=DENIED) as page:
                sign_in(page, boss)
                check_figures(page, whole)
                for by, name in (("user", "User"), ("route", "Route"), ("model", "Model")):
                    page.get_by_label("Table by").select_option(by)
                    page.get_by_role("columnheader", name=name).wait_for()
                    want = report_of(store, "--by", by)["groups"]
                    shown = rows(page)
                    equal([row[0] for row in shown], [group["name"] for group in want])
                    equal([row[1] for row in shown], [str(group["exchanges"]) for group in want])
                    for row, group in zip(shown, want, strict=True):
                        assert abs(dollars(row[3]) - group["cost_usd"]) <= 0.006, (row, group)
                        cloud_usd = group["all_cloud_cost_usd"]
                        assert abs(dollars(row[4]) - cloud_usd) <= 0.006, (row, group)
                page.get_by_label("Table by").select_option("key")
                page.get_by_role("cell", name="bar").wait_for()  # by its name, not its id
                ids = {key["name"]: key["id"] for key in store.keys("list")["data"]}
                page.get_by_label("Key", exact=True).select_option(ids["bar"])
                page.get_by_role("cell", name="shop").wait_for(state="detached")
                want = report_of(store, "--by", "day", "--key", ids["bar"])
                equal(want["exchanges"], 4)
                check_figures(page, want)
                label = page.locator(".chart").get_attribute("aria-label") or ""
                assert abs(dollars(label) - want["cost_usd"]) <= 0.006, label
                for period in ("month", "quarter", "year"):
                    page.get_by_label("Period").select_option(period)
                    page.wait_for_timeout(300)
                    check_figures(page, want)
                page.get_by_label("Period").select_option("w1")
                page.get_by_text("Nothing was asked in this time").wait_for()
        cloud.close()


@case
def test_a_viewer_sees_its_own_tenant_alone() -> None:
    with Store() as store:
        store.add("boss", "--operator")
        keys = {name: store.add(name, "--tenant", name) for name in ("shop", "bar")}
        cloud, tandem = start(store)
        with tandem:
            ask_some(tandem, keys["shop"], "annashopcanary")
            ask_some(tandem, keys["bar"], "bobbarcanary")
            ids = {key["name"]: key["id"] for key in store.keys("list")["data"]}
            wait_until(lambda: report_of(store)["exchanges"] == 4, what="the ledger")
            with costs_page(tandem, "/keys", allowed=DENIED) as page:
                replies: list[Any] = []
                page.on("response", lambda reply: replies.append(reply))
                sign_in(page, keys["bar"])
                equal(figures(page)["Requests"].split("\n")[0], "2")
                equal(page.get_by_role("link", name="Keys", exact=True).count(), 0)
                equal(page.get_by_role("link", name="Review").count(), 0)
                page.get_by_label("Table by").select_option("user")
                page.get_by_role("cell", name="bobbarcanary").wait_for()
                assert "shopcanary" not in page.content()
                assert ids["shop"] not in page.content()
                seen = [reply.body() for reply in replies if "/tandem/v1/" in reply.url]
                assert seen and not any(b"shopcanary" in body for body in seen)
                for path, want in (
                    ("keys", 403),
                    ("keys/" + ids["shop"], 403),
                ):
                    status = page.evaluate(
                        f"fetch('/tandem/v1/{path}', {{headers: {{'x-tandem-console': '1'}}}})"
                        ".then(r => r.status)"
                    )
                    equal((path, status), (path, want))
            for query, exchanges in (("", 2), ("?by=user", 2), (f"?key_id={ids['shop']}", 0)):
                report = tandem.get(f"/tandem/v1/report{query}", headers=bearer(keys["bar"]))
                assert b"canary" not in report.body or b"bobbar" in report.body, report.body
                equal((report.json["exchanges"], "tiers" in report.json), (exchanges, False))
        cloud.close()


@case
def test_the_report_prints_on_one_page() -> None:
    with Store() as store:
        cloud, tandem = start(store)
        with tandem:
            for n in range(12):
                ask_some(tandem, user=f"user-{n}")
            wait_until(lambda: report_of(store)["exchanges"] == 24, what="the ledger")
            for scheme in ("light", "dark"):
                with costs_page(tandem, color_scheme=scheme) as page:
                    page.get_by_label("Table by").select_option("user")
                    page.get_by_role("cell", name="user-1", exact=True).wait_for()
                    page.emulate_media(media="print")
                    equal(page.get_by_role("button", name="Print").is_visible(), False)
                    assert page.locator(".printed").is_visible()
                    pdf = page.pdf(prefer_css_page_size=True)
                    equal(len(re.findall(rb"/Type\s*/Page\b", pdf)), 1)
                    assert b"595." in pdf or b"594." in pdf, "A4"
        cloud.close()


# --- everybody ---


@case
def test_texts_that_attack_do_nothing_here() -> None:
    with Store() as store:
        cloud, tandem = start(store)
        with tandem:
            texts = [text for text in LETHAL if text.isprintable()][:60]
            for text in texts:
                tandem.chat("What is 17.5 % of 240?", {"x-tandem-app": text[:60]}, user=text[:120])
            with costs_page(tandem) as page:
                page.evaluate("() => { window.hit = 0; window.alert = () => { window.hit++ } }")
                page.get_by_label("Table by").select_option("user")
                page.get_by_role("columnheader", name="User").wait_for()
                assert any("<" in row[0] for row in rows(page))
                tags = page.evaluate(
                    "[...document.querySelectorAll('.table *')].map(e => e.tagName.toLowerCase())"
                )
                equal(set(tags) - {"caption", "thead", "tbody", "tr", "th", "td"}, set())
                page.wait_for_timeout(200)
                equal(page.evaluate("window.hit"), 0)
        cloud.close()


@case
def test_axe_finds_nothing_to_mend_and_a_phone_has_room() -> None:
    with Store() as store:
        boss = store.add("boss", "--operator")
        shop = store.add("shop", "--tenant", "team", "--usd-per-day", 5, "--models", "auto")
        cloud, tandem = start(store)
        with tandem:
            ask_some(tandem, shop)
            for scheme, size in (("light", DESKTOP), ("dark", PHONE)):
                with costs_page(tandem, allowed=DENIED, color_scheme=scheme, viewport=size) as page:
                    sign_in(page, boss)
                    figures(page)
                    accessible(page)
                    page.get_by_role("link", name="Keys", exact=True).click()
                    page.locator(".key-name", has_text="shop").wait_for()
                    accessible(page)
                    fits(page)
                    page.get_by_role("button", name="Limits of shop").click()
                    accessible(page)
        cloud.close()


@case
def test_costs_and_keys_speak_german() -> None:
    with Tandem() as tandem, costs_page(tandem, locale="de-DE") as page:
        page.get_by_text("In dieser Zeit wurde nichts gefragt").wait_for()
        page.get_by_role("link", name="Schlüssel", exact=True).click()
        page.get_by_text("Es gibt noch keinen Schlüssel").wait_for()


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
