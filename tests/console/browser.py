"""The system's Chromium, driven by Playwright, for tests of the console.

Every page is watched: a request to another host than the page's own, an error of a script and a
line of the browser's log that says "error" (a refused style, a blocked script) fail the test that
opened it.
"""

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "clients"))
sys.path.insert(0, str(HERE.parent / "support"))
from clients import Missing, install_python, interpreter

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
# No sandbox: as root Chromium has none. The rest keeps it from asking the internet for anything.
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}


def use_environment() -> str:
    """Starts this program again with the Python that has Playwright; "" when it is that one, else
    why there is none."""
    try:
        install_python("console")
    except Missing as why:
        return str(why)
    if not chromium():
        return "no chromium (tools/install_packages.sh test)"
    python = interpreter("console")
    if Path(sys.prefix).resolve() != python.parent.parent.resolve():
        os.execv(python, [str(python), *sys.argv])
    return ""


def chromium() -> str:
    return next((found for name in CHROMIUM if (found := shutil.which(name))), "")


running: "Browser | None" = None


def run_with_browser(why_not: str, run: Callable[[], None]) -> None:
    """Runs the cases of a file with one browser; a named skip where there is none."""
    global running
    if why_not:
        print(f"SKIP console: {why_not}")
        print("0 passed, 0 failed, 1 skipped")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=chromium(), args=FLAGS)
        try:
            run()
        finally:
            running.close()


class Watch:
    """What a page did that it must not do. allowed: parts of messages that a test provokes."""

    def __init__(self, page: "Page", origin: str, allowed: tuple[str, ...] = ()) -> None:
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.allowed = allowed
        self.origin = origin
        page.on("request", self._request)
        page.on("pageerror", lambda error: self._note(f"script: {error}"))
        page.on("console", self._log)

    def _note(self, text: str) -> None:
        if not any(part in text for part in self.allowed):
            self.faults.append(text)

    def _request(self, request: Any) -> None:
        self.requests.append(request.url)
        if not request.url.startswith((self.origin + "/", "data:", "blob:")):
            self._note(f"asked another host: {request.url}")

    def _log(self, message: Any) -> None:
        if message.type == "error":
            self._note(f"log: {message.text}")


@contextlib.contextmanager
def open_page(
    url: str,
    allowed: tuple[str, ...] = (),
    path: str = "/",
    **context: Any,
) -> Iterator["Page"]:
    """A page of the console in a browser profile of its own."""
    options = {"viewport": DESKTOP, "locale": "en-US", "reduced_motion": "reduce", **context}
    assert running
    profile = running.new_context(**options)
    try:
        page = profile.new_page()
        page.set_default_timeout(60000)  # of a busy machine; nobody waits where it comes
        watch = Watch(page, url, allowed)
        page.goto(url + path)
        yield page
        assert not watch.faults, watch.faults
    finally:
        profile.close()


def ask(page: "Page", text: str) -> None:
    """Types a question and sends it."""
    page.get_by_role("textbox", name="Ask a question").fill(text)
    page.keyboard.press("Enter")


def last_answer(page: "Page") -> Any:
    """The last answer's card, once it is complete."""
    card = page.get_by_role("article", name="Answer").last
    card.and_(page.locator('[aria-busy="false"]')).wait_for()
    return card


def accessible(page: "Page") -> None:
    """axe finds nothing in what is shown now."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def fits(page: "Page") -> None:
    """Nothing in the view is wider than it, from left to right and from right to left. The view
    scrolls in itself, so the document is never too wide."""
    for direction in ("rtl", "ltr"):
        page.evaluate(f"document.documentElement.dir = '{direction}'")
        wide = page.evaluate(
            "(main => main.scrollWidth - main.clientWidth)(document.querySelector('main'))"
        )
        assert wide == 0, (page.viewport_size, direction, wide)
