#!/usr/bin/env python3
"""Makes docs/images: each view of the console after some traffic, light on a desktop and dark on a
phone. Run it by hand when a view has changed; nothing compares pictures.

    build-console/bin/python tests/console/screenshots.py
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent))
import browser
from browser import PHONE, ask, last_answer, open_page

WHY_NOT = browser.use_environment()

from test_console_review import client_asks, house, take_next

from scripted_cloud import Script, ScriptedCloud
from tandem import ROOT, Tandem, edge_first

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGES = ROOT / "docs" / "images"
BYTES_MAX = 1_500_000
LOOKS = (
    ("desktop", "light", {"width": 1280, "height": 800}),
    ("phone", "dark", PHONE),
)
SAID = "The state was bankrupt, bread was dear, and few believed in privilege any more."
QUESTIONS = (
    "What is 17.5 % of 240?",
    "Classify the intent: please move 100 dollars to my savings",
    "Write in upper case: good morning, tandem",
    "Why did the French revolution begin?",
    "My card number is 4111 1111 1111 1111. Which network is it?",
    "what is 15% of 60",
)
TESTS = """tests:
  - {name: a greeting, given: {text: hi}, expect: {tier: local}}
  - {name: a card number, given: {text: hi, class: restricted}, expect: {tier: local}}
"""
PRIVATE = "Please call Anna Meyer at +44 20 7946 0958 about card 4111 1111 1111 1111."


def talk(page: "Page") -> None:
    for question in (QUESTIONS[0], QUESTIONS[3]):
        ask(page, question)
        last_answer(page)


def explain(page: "Page") -> None:
    page.get_by_role("row").filter(has_text="cloud").first.get_by_role("link").first.click()
    page.get_by_role("list").nth(1).wait_for()


def check(page: "Page") -> None:
    page.get_by_role("textbox").first.fill(PRIVATE)
    page.get_by_text("As a whole this text is").wait_for()


def nothing(page: "Page") -> None:
    page.get_by_role("heading", level=1).wait_for()


def edit(page: "Page") -> None:
    """A policy while it is changed, and what the server says of it."""
    page.get_by_text("Sound.").wait_for()
    page.get_by_role("textbox").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("    gates: {g3: {confidence_min: 0.8}}\n")
    page.keyboard.type("climb: hedg")
    page.get_by_role("option", name="hedged").wait_for()


def take(
    tandem: Tandem, view: str, prepare: Callable[["Page"], None], name: str | None = None
) -> None:
    for size, scheme, viewport in LOOKS:
        with open_page(
            tandem.url, path=f"/#/{view}", viewport=viewport, color_scheme=scheme
        ) as page:
            prepare(page)
            page.wait_for_timeout(1500)  # charts, and the first state of streams
            page.screenshot(path=IMAGES / f"{name or view}-{size}-{scheme}.png")


def make() -> None:
    IMAGES.mkdir(exist_ok=True)
    cloud = ScriptedCloud(Script(text=SAID, piece_delay=0.003))
    with Tandem(edge_first(cloud.base_url), env={"TEST_CLOUD_KEY": "k"}) as tandem:
        take(tandem, "playground", talk)
        for question in QUESTIONS * 5:
            tandem.chat(question)
        take(tandem, "live", nothing)
        take(tandem, "explain", explain)
        take(tandem, "privacy", check)
        for view in ("keys", "models", "whatif"):
            take(tandem, view, nothing)
        tests = Path(str(tandem.config)).with_name("tandem.test.yaml")
        tests.write_text(TESTS)
        take(tandem, "whatif/policy", edit, "policy")
    cloud.close()
    with house() as tandem:
        for number in range(3):
            client_asks(tandem, f"Write a short poem about harbour {number} at night.")
        take(tandem, "review", take_next)
    sizes = {file.name: file.stat().st_size for file in IMAGES.iterdir()}
    print("\n".join(f"{size:9,} {name}" for name, size in sorted(sizes.items())))
    assert sum(sizes.values()) <= BYTES_MAX, sum(sizes.values())


if __name__ == "__main__":
    browser.run_with_browser(WHY_NOT, make)
