#!/usr/bin/env python3
"""The view of what happens now, against the real program."""

import http.client
import json
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import DESKTOP, PHONE, accessible, fits, open_page

WHY_NOT = browser.use_environment()

from scene import HARD, KEYED, KEYS, with_cloud

from check import case, equal, main
from scripted_cloud import Script, ScriptedCloud
from tandem import Tandem, edge_first, wait_until

SUM = "What is 17.5 % of 240?"
HEAP_BYTES_MAX = 100_000_000
# What people feel as at once.
INPUT_MS_MAX = 100
LOST = ("ERR_", "Failed to load resource", "status of 5")


def rows(page: Any, count: int) -> None:
    found = page.locator(".live-last tbody tr")
    wait_until(lambda: found.count() == count, what=f"{count} rows")


def figure(page: Any, name: str) -> str:
    return str(page.locator(".figure", has=page.get_by_text(name, exact=True)).inner_text())


def connected(page: Any) -> None:
    page.get_by_role("status").get_by_text("Connected", exact=True).wait_for()


@case
def test_exchanges_arrive_with_their_sums_and_why_they_went_on() -> None:
    cloud, tandem = with_cloud()
    with tandem:
        tandem.chat(SUM)  # before anybody looks
        with open_page(tandem.url, path="/#/live") as page:
            connected(page)
            rows(page, 1)
            told = tandem.chat(HARD).headers["x-tandem-exchange"]
            rows(page, 2)
            assert "cloud" in page.locator(".live-last tbody tr").first.inner_text()
            assert figure(page, "Exchanges").split()[1] == "2", figure(page, "Exchanges")
            assert "50%" in figure(page, "Answered on this device")
            assert "$0.0000" in figure(page, "Spent"), figure(page, "Spent")
            shares = " ".join(page.locator(".live-shares").inner_text().split())
            assert "local 50%" in shares and "cloud 50%" in shares, shares
            left = page.locator(".live-left li")
            equal(left.count(), 1)
            assert "local to cloud" in left.inner_text() and "not its task" in left.inner_text()
            tiers = page.locator(".live-tiers li")
            assert "ready" in tiers.nth(0).inner_text() and "1 answers" in tiers.nth(1).inner_text()
            device = page.locator(".live-device").inner_text()
            for words in ("Heat", "Battery", "Free memory", "0 running, 0 waiting"):
                assert words in device, device
            assert HARD not in page.locator("main").inner_text()
            left.get_by_role("link").click()
            page.get_by_text(told).wait_for()
            page.get_by_role("heading", name="Why it was answered there").wait_for()
    cloud.close()


@case
def test_a_list_that_is_halted_stays_and_the_sums_go_on() -> None:
    with Tandem() as tandem, open_page(tandem.url, path="/#/live") as page:
        page.get_by_text("Nothing was asked in the last hour").wait_for()
        tandem.chat(SUM)
        rows(page, 1)
        page.get_by_role("button", name="Halt the list").click()
        tandem.chat(SUM)
        wait_until(lambda: "2" in figure(page, "Exchanges").split(), what="the sum")
        rows(page, 1)
        page.get_by_role("button", name="Go on").click()
        rows(page, 2)


@case
def test_a_tenant_sees_its_own_and_nothing_of_others() -> None:
    cloud = ScriptedCloud(Script(text="Taxes."))
    env = {"TEST_CLOUD_KEY": "k", "KEYS": f"{KEYS['KEYS']},another", "BOSS": KEYS["BOSS"]}
    tandem = Tandem(edge_first(cloud.base_url) + KEYED, env=env)
    with tandem, open_page(tandem.url, allowed=("status of 4",), path="/#/live") as page:
        page.get_by_label("API key").fill(KEYS["KEYS"])
        page.keyboard.press("Enter")
        connected(page)
        for name in ("another", KEYS["KEYS"], KEYS["BOSS"]):
            tandem.chat(SUM, {"Authorization": f"Bearer {name}"})
        rows(page, 1)
        page.wait_for_timeout(700)
        rows(page, 1)
        assert "waiting" not in page.locator(".live-device").inner_text()
    cloud.close()


@case
def test_a_tier_that_is_gone_is_seen_and_so_is_an_alarm() -> None:
    cloud, tandem = with_cloud(more="budgets: [{name: team, usd_per_day: 0.000001}]\n")
    with tandem, open_page(tandem.url, path="/#/live") as page:
        connected(page)
        for _ in range(2):  # the first spends the budget, the second finds it spent
            tandem.chat(HARD)
        page.get_by_text("Alarms: 1").wait_for()
        assert "team" in page.locator(".live-alarms").inner_text()
    cloud.close()
    cloud, tandem = with_cloud()
    with tandem, open_page(tandem.url, path="/#/live") as page:
        connected(page)
        cloud.close()
        tandem.chat(HARD)
        state = page.locator(".live-tiers li", has_text="cloud").locator(".live-state.down")
        state.filter(has_text="cannot be reached").wait_for()


@case
def test_a_server_that_comes_back_is_found_again() -> None:
    first = Tandem()
    with first, open_page(first.url, allowed=LOST, path="/#/live") as page:
        connected(page)
        first.process.send_signal(signal.SIGTERM)
        first.process.wait(20)
        page.get_by_text("Not connected, trying again").wait_for()
        with Tandem(env={"TANDEM_LISTEN": f"127.0.0.1:{first.port}"}) as again:
            again.chat(SUM)  # before the page is back, and after
            connected(page)
            again.chat(SUM)
            rows(page, 2)


class Flood(threading.Thread):
    """Exchanges one after the other, as fast as they go or with a pause after each."""

    def __init__(self, tandem: Tandem, count: int, pause_s: float = 0) -> None:
        super().__init__(daemon=True)
        self.port, self.count, self.pause_s = tandem.port, count, pause_s
        self.start()

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        body = json.dumps({"model": "auto", "input": "x"})
        for _ in range(self.count):
            connection.request("POST", "/v1/embeddings", body, {"Content-Type": "application/json"})
            connection.getresponse().read()
            time.sleep(self.pause_s)


NOTE_DELAYS = """() => { window.delays = [];
document.addEventListener('pointerdown', (event) => requestAnimationFrame(() => setTimeout(() =>
  delays.push(performance.now() - event.timeStamp))), true) }"""


@case
def test_a_flood_leaves_the_page_small_and_quick() -> None:
    """Many times the 10,000 exchanges an hour that it has to bear."""
    count = 3000
    with Tandem() as tandem, open_page(tandem.url, path="/#/live") as page:
        page.get_by_text("Nothing was asked in the last hour").wait_for()
        connected(page)
        page.evaluate(NOTE_DELAYS)
        flood = Flood(tandem, count)
        while flood.is_alive():
            page.mouse.click(700, 60)
            page.wait_for_timeout(200)
        shown = f"{count:,}"
        wait_until(lambda: shown in figure(page, "Exchanges").split(), what="all are counted")
        rows(page, 50)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        session.send("HeapProfiler.collectGarbage")
        found = session.send("Performance.getMetrics")["metrics"]
        metrics = {one["name"]: one["value"] for one in found}
        assert metrics["JSHeapUsedSize"] < HEAP_BYTES_MAX / 4, metrics
        assert metrics["Nodes"] < 5000, metrics
        delays = sorted(page.evaluate("delays"))
        assert delays[len(delays) // 2] < INPUT_MS_MAX, delays


@case
def test_axe_finds_nothing_and_it_fits() -> None:
    cloud, tandem = with_cloud()
    with tandem:
        for scheme, size in (("light", DESKTOP), ("dark", PHONE)):
            with open_page(tandem.url, color_scheme=scheme, viewport=size, path="/#/live") as page:
                connected(page)
                for question in (SUM, HARD):
                    tandem.chat(question)
                page.locator(".live-last tbody tr").first.wait_for()
                page.locator(".live-left li").first.wait_for()
                accessible(page)
                fits(page)
    cloud.close()


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, main)
