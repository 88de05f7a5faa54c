"""The console as a browser sees it: how soon it paints and can be used, and what a page that shows
an hour of 10,000 exchanges holds and how fast it answers. It needs Playwright and Chromium:

    python3 tools/run_tests.py --only console/      (makes build-console)
"""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from table import ROOT, heading, row

PYTHON = ROOT / "build-console" / "bin" / "python"
LOADS = 10
EXCHANGES = 1000 if os.environ.get("BENCH_QUICK") else 10_000
PAUSE_S = 0.006  # 10,000 in two minutes or so: thirty times as many as in an hour
PAINT_MS, USABLE_MS, HEAP_MB, INPUT_MS = 300, 1000, 100, 100

TIMES = """() => { const paint = performance.getEntriesByName('first-contentful-paint')[0];
return [paint.startTime, window.usableAt, window.shifted, performance.getEntriesByType('resource')
  .concat(performance.getEntriesByType('navigation')).reduce((s, e) => s + e.transferSize, 0)] }"""
# Usable: the box for a question is there, and the main thread has had time for it.
WATCH = """window.shifted = 0;
new PerformanceObserver((list) => { for (const e of list.getEntries())
  if (!e.hadRecentInput) shifted += e.value }).observe({type: 'layout-shift', buffered: true});
const look = () => document.querySelector('textarea')
  ? setTimeout(() => { window.usableAt = performance.now() }) : requestAnimationFrame(look);
look()"""


def loads(browser: Any, url: str) -> list[list[float]]:
    """Each in a profile of its own: nothing is in a cache."""
    found = []
    for _ in range(LOADS):
        profile = browser.new_context()
        page = profile.new_page()
        page.add_init_script(WATCH)
        page.goto(url)
        page.locator("textarea").first.wait_for()
        page.wait_for_timeout(500)  # for what may shift, and for Chromium to write the paint
        found.append(page.evaluate(TIMES))
        profile.close()
    return found


def heap_mb(page: Any) -> float:
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    session.send("HeapProfiler.collectGarbage")
    found = session.send("Performance.getMetrics")["metrics"]
    return float({one["name"]: one["value"] for one in found}["JSHeapUsedSize"]) / 1e6


def measure() -> dict[str, Any]:
    """In the Python that has Playwright."""
    from playwright.sync_api import sync_playwright

    sys.path.insert(0, str(ROOT / "tests" / "console"))
    import browser as chromium
    from test_console_live import NOTE_DELAYS, Flood

    from tandem import Tandem

    with sync_playwright() as play, Tandem() as tandem:
        browser = play.chromium.launch(executable_path=chromium.chromium(), args=chromium.FLAGS)
        times = loads(browser, tandem.url)
        page = browser.new_page()
        page.goto(tandem.url + "/#/live")
        page.get_by_role("status").get_by_text("Connected", exact=True).wait_for()
        before = heap_mb(page)
        page.evaluate(NOTE_DELAYS)
        flood = Flood(tandem, EXCHANGES, PAUSE_S)
        while flood.is_alive():
            page.mouse.click(700, 60)
            page.wait_for_timeout(100)
        page.wait_for_timeout(1000)
        found = {
            "times": times,
            "heap": [before, heap_mb(page)],
            "delays": sorted(page.evaluate("delays")),
        }
        browser.close()
    return found


def run() -> None:
    heading("Console")
    if not PYTHON.exists():
        sys.exit("no Playwright: run python3 tools/run_tests.py --only console/ first")
    done = subprocess.run([str(PYTHON), __file__], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    found = json.loads(done.stdout.splitlines()[-1])
    paints, usable, shifts, sizes = zip(*found["times"], strict=True)
    for what, values, goal in (
        ("first paint on loopback, empty cache", paints, PAINT_MS),
        ("a question can be typed", usable, USABLE_MS),
    ):
        text = f"{statistics.median(values):.0f} / {max(values):.0f} ms"
        row(
            f"{what}, median / slowest",
            text,
            f"goal <= {goal} ms",
            statistics.median(values) <= goal,
        )
    row("over the wire", f"{max(sizes) / 1000:.0f} kB", "goal <= 250 kB", max(sizes) <= 250_000)
    row("layout shift", f"{max(shifts):.3f}", "good <= 0.1", max(shifts) <= 0.1)
    before, after = found["heap"]
    row(
        f"Live after {EXCHANGES:,} exchanges: heap, before / after",
        f"{before:.1f} / {after:.1f} MB",
        f"goal < {HEAP_MB} MB",
        after < HEAP_MB,
    )
    delays = found["delays"]
    p95 = delays[int(0.95 * (len(delays) - 1))]
    row(
        f"the same: a click is answered, {len(delays)} times, p50 / p95",
        f"{statistics.median(delays):.0f} / {p95:.0f} ms",
        f"goal <= {INPUT_MS} ms",
        p95 <= INPUT_MS,
    )


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
    print(json.dumps(measure()))
